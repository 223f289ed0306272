# SPDX-License-Identifier: BSD-3-Clause
"""Tsivtsivadze and Heskes, ranking pursuit: sparse preference learning."""
