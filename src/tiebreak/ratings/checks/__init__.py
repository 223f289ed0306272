# SPDX-License-Identifier: BSD-3-Clause
"""What comparisons can support, and what misleads."""
