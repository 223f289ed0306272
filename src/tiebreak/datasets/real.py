# SPDX-License-Identifier: BSD-3-Clause
"""Find published data sets on disk.

Published data never ship with the package. A file is looked for in the folder named by
the environment variable ``TIEBREAK_DATA``, then in the user's cache folder; the first
hit wins. The layout below either folder is ``<set>/<file>``, for example
``football/results.csv.gz``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath

__all__ = ["cache_dir", "data_path"]

VARIABLE = "TIEBREAK_DATA"

# Where each set's publisher describes it, for the message of a missing file.
_PUBLISHERS = {
    "chess_fide2011": "https://www.kaggle.com/c/ChessRatings2",
    "chess_kaggle2010": "http://konect.cc/networks/chess/",
    "football": "https://github.com/martj42/international_results",
    "jester": "https://eigentaste.berkeley.edu/dataset/",
    "llmfao": "https://dustalov.github.io/llmfao/",
    "lm_arena_140k": (
        "https://huggingface.co/datasets/lmarena-ai/arena-human-preference-140k"
    ),
    "sushi": "https://www.kamishima.net/sushi/ (the archive sushi3-2016)",
    "tennis_atp": "https://github.com/JeffSackmann/tennis_atp",
}


def cache_dir() -> Path:
    r"""Return the folder in which the user's copies of published data sets are kept.

    ``$XDG_CACHE_HOME/tiebreak`` when that variable holds an absolute path (a relative
    one is ignored, as the XDG base directory specification asks). Otherwise
    ``~/Library/Caches/tiebreak`` on macOS, ``%LOCALAPPDATA%\tiebreak`` on Windows and
    ``~/.cache/tiebreak`` elsewhere. The folder is not created.

    Returns
    -------
    pathlib.Path
        An absolute path, which may not exist.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        if sys.platform == "darwin":
            base = str(Path.home() / "Library" / "Caches")
        elif sys.platform == "win32":
            local = Path.home() / "AppData" / "Local"
            base = os.environ.get("LOCALAPPDATA") or str(local)
        else:
            base = str(Path.home() / ".cache")
    return Path(base) / "tiebreak"


def data_path(name: str) -> Path:
    """Return the path of a published file or folder, which exists.

    Parameters
    ----------
    name : str
        Path below the data folder with forward slashes, such as
        ``"football/results.csv.gz"`` or ``"sushi"``.

    Returns
    -------
    pathlib.Path
        ``$TIEBREAK_DATA/<name>`` when it exists, else ``<cache_dir()>/<name>``.

    Raises
    ------
    ValueError
        If `name` is empty, absolute, or leaves the data folder by ``..``.
    FileNotFoundError
        If neither folder has it. The message lists where it was looked for and where
        the set is published.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name:
        raise ValueError(
            f"name must be a path below the data folder, got {name!r}. Expected "
            "something like 'football/results.csv.gz', with forward slashes."
        )
    tried = []
    root = os.environ.get(VARIABLE)
    if root:
        tried.append(Path(root).expanduser().joinpath(*parts))
    tried.append(cache_dir().joinpath(*parts))
    for path in tried:
        if path.exists():
            return path
    raise FileNotFoundError(_missing(name, parts[0], tried, root))


def _missing(name: str, dataset: str, tried: list[Path], root: str | None) -> str:
    lines = [f"{name!r} was not found. Looked for:"]
    lines += [f"  {path}" for path in tried]
    if not root:
        lines.append(f"The environment variable {VARIABLE} is not set.")
    elif not Path(root).expanduser().is_dir():
        lines.append(f"{VARIABLE} is {root!r}, which is not a folder.")
    if dataset in _PUBLISHERS:
        lines.append(f"The set is published at {_PUBLISHERS[dataset]}.")
    lines.append(
        f"Put the file at one of the places above, or set {VARIABLE} to the folder "
        f"that contains {dataset!r}."
    )
    return "\n".join(lines)
