# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tiebreak``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from tiebreak.cli.signals import finish, listen

    listen()
    import gc

    # Imports make many objects that stay; looking for garbage among them takes a tenth
    # of the time that a small file needs.
    gc.set_threshold(100_000)
    from tiebreak.cli.app import app

    try:
        app()
    except SystemExit as end:
        finish(end.code)
