# SPDX-License-Identifier: BSD-3-Clause
"""Kamishima, Kazawa and Akaho, "Supervised ordering: an empirical survey"."""
