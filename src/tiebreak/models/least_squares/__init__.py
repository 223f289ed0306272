# SPDX-License-Identifier: BSD-3-Clause
"""Least squares on differences of grades."""
