# SPDX-License-Identifier: BSD-3-Clause
"""Published files, where they are at hand."""

from tests.datasets.conftest import published

__all__ = ["published"]
