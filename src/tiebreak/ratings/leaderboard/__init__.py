# SPDX-License-Identifier: BSD-3-Clause
"""Leaderboards: ratings, ranks, their uncertainty, and what to compare next."""
