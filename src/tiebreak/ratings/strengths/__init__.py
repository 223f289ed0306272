# SPDX-License-Identifier: BSD-3-Clause
"""Strengths of items, by maximum likelihood, and how sure they are."""
