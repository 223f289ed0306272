# SPDX-License-Identifier: BSD-3-Clause
"""Would the claims of a leaderboard survive? Fewest votes, other choices, and chance."""
