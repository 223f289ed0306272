# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tiebreak``."""

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from tiebreak.cli.signals import finish, listen

    listen()
    from tiebreak.cli.app import app

    try:
        app()
    except SystemExit as end:
        finish(end.code)
