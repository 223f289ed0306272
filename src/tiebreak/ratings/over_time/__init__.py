# SPDX-License-Identifier: BSD-3-Clause
"""Ratings that follow the games: Elo, Glicko and Glicko-2."""
