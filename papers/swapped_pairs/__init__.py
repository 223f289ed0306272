# SPDX-License-Identifier: BSD-3-Clause
"""A support vector method that minimizes swapped pairs, and its two rivals."""
