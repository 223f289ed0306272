# SPDX-License-Identifier: BSD-3-Clause
"""Write the pictures of the model pages: ``python -m docs.pictures [names]``."""

import argparse
from pathlib import Path

from . import PICTURES
from .style import save_picture

FOLDER = Path(__file__).parent.parent / "images" / "models"


def main() -> None:
    """Draw what the command line names, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    # argparse checks the empty list of no names against the choices too.
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="name")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    for name in options.names or PICTURES:
        path = save_picture(PICTURES[name], options.folder / f"{name}.svg")
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
