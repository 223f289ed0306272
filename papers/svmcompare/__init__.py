# SPDX-License-Identifier: BSD-3-Clause
"""Venuto, Hocking, Sphanurattana and Sugiyama, "Support vector comparison machines"."""
