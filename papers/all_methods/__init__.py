# SPDX-License-Identifier: BSD-3-Clause
"""All methods of the library that learn from graded items, on twelve data sets."""
