# SPDX-License-Identifier: BSD-3-Clause
"""From a table to a ranked, checked and reported answer."""
