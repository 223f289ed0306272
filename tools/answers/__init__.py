# SPDX-License-Identifier: BSD-3-Clause
"""Do two versions give the same answers? For large changes that must not change any."""
