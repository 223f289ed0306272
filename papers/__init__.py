# SPDX-License-Identifier: BSD-3-Clause
"""The papers reproduced, and what their experiments need beyond the library."""
