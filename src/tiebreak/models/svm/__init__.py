# SPDX-License-Identifier: BSD-3-Clause
"""Support vector machines for comparisons, grades and orders."""
