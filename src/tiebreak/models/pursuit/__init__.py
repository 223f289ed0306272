# SPDX-License-Identifier: BSD-3-Clause
"""Sparse utilities, one kernel function at a time."""
