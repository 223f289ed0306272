# SPDX-License-Identifier: BSD-3-Clause
"""The local page that asks people for comparisons, ties included.

`tiebreak ask` is its only user; nothing here is imported before it runs.
"""
