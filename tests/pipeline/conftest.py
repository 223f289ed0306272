# SPDX-License-Identifier: BSD-3-Clause
"""Some answers of the pipeline are compared with those of the command."""

from tests.cli.conftest import processes, run

__all__ = ["processes", "run"]
