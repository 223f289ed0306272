# SPDX-License-Identifier: BSD-3-Clause
"""Finished cells on disk: one line of JSON each, kept as soon as it is known.

A line is written by one call and its end is its newline. What a killed writer leaves
is at most a last line without one, which readers drop and the next writer cuts off.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from papers.experiment import Experiment, Settings, cell_key

__all__ = ["Results", "results_folder"]


def results_folder(quick: bool) -> Path:
    """Give the folder of full results, which is part of the project, or quick ones."""
    folder = Path(__file__).parent / "results"
    return folder / "quick" if quick else folder


class Results:
    """The finished cells of an experiment.

    Parameters
    ----------
    experiment : Experiment
        Whose cells.
    quick : bool
        Whether those of the small run.
    folder : Path, optional
        Where the file is; by default in the project.
    """

    def __init__(
        self, experiment: Experiment, quick: bool, folder: Path | None = None
    ) -> None:
        self.experiment, self.quick = experiment, quick
        folder = results_folder(quick) if folder is None else folder
        self.path = folder / f"{experiment.name}.jsonl"
        self._found = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self.path.exists():
            return {}
        whole = self.path.read_bytes()
        lines = whole[: whole.rfind(b"\n") + 1].decode().splitlines()
        cells = [json.loads(line) for line in lines]
        return {cell_key(cell["settings"]): cell["result"] for cell in cells}

    def missing(self) -> list[Settings]:
        """Give the settings of the cells that are still to be computed."""
        wanted = self.experiment.cells(self.quick)
        return [settings for settings in wanted if cell_key(settings) not in self]

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def add(self, settings: Settings, result: dict[str, Any]) -> None:
        """Keep a cell."""
        line = json.dumps(
            {"settings": settings, "result": _plain(result)}, allow_nan=False
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            size = os.lseek(handle, 0, os.SEEK_END)
            os.lseek(handle, 0, os.SEEK_SET)
            kept = os.read(handle, size).rfind(b"\n") + 1 if size else 0
            os.ftruncate(handle, kept)
            os.lseek(handle, kept, os.SEEK_SET)
            os.write(handle, line.encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)
        self._found[cell_key(settings)] = json.loads(line)["result"]

    def table(self) -> list[dict[str, Any]]:
        """List settings and results together, in the order of the experiment.

        Cells that are not finished are left out.
        """
        rows = []
        for settings in self.experiment.cells(self.quick):
            result = self._found.get(cell_key(settings))
            if result is not None:
                rows.append(settings | result)
        return rows


def _plain(value: Any) -> Any:
    """Turn NumPy values into those of JSON; numbers that are not finite into None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
