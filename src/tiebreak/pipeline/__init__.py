# SPDX-License-Identifier: BSD-3-Clause
"""From a table to a ranked, checked and reported answer.

Read (`read`, `source`), check and measure quality (`held_out`), choose and
tune a model (`models`), rank (`rank`, `leaderboard`), report (`report`), and use a
model file again (`saved_model`).
"""
