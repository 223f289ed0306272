# SPDX-License-Identifier: BSD-3-Clause
"""Tools of the developers; nothing here is a part of the package."""
