# SPDX-License-Identifier: BSD-3-Clause
"""Speed and memory as ratios against named peers; ``python -m benchmarks.run``."""
