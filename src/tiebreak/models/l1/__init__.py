# SPDX-License-Identifier: BSD-3-Clause
"""Ranking with the 1-norm: utilities of few features."""
