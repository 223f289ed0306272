# SPDX-License-Identifier: BSD-3-Clause
"""The smooth comparer, on whole data and on streams."""
