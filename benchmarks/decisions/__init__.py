# SPDX-License-Identifier: BSD-3-Clause
"""One script per recorded decision: what was compared, and how to run it again."""
