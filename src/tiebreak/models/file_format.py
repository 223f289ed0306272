# SPDX-License-Identifier: BSD-3-Clause
"""From a model to the content of its file, and back.

A model file is a zip archive in the format of skops, with one more member,
``tiebreak.json``, that tells the version of this format. What may be in it, and why
reading it is safe, is in :mod:`tiebreak.models.file_checks`.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import sklearn
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_is_fitted

from tiebreak.models.file_checks import (
    FORMAT,
    META,
    SCHEMA,
    TRUSTED,
    RefusedError,
    check_content,
    foreign_types,
)

__all__ = ["check_fitted", "compose", "estimators", "is_ours", "restore", "steps"]


def compose(model: Any, version: str) -> tuple[bytes, list[str]]:
    """Make the content of a model file.

    Parameters
    ----------
    model : estimator
        The model.
    version : str
        Version of tiebreak.

    Returns
    -------
    content : bytes
        The archive; the same for the same model.
    foreign : list of str
        Names of the types in it that are not trusted.
    """
    import skops.io  # late, because it imports the whole of scikit-learn

    dumped = skops.io.dumps(_portable(model))
    content, files = io.BytesIO(), list[str]()
    with ZipFile(io.BytesIO(dumped)) as source, ZipFile(content, "w") as archive:
        schema = _tidy(json.loads(source.read(SCHEMA)), files)
        meta = {"format": FORMAT, "tiebreak": version}
        _add(archive, META, json.dumps(meta).encode())
        _add(archive, SCHEMA, json.dumps(schema, separators=(",", ":")).encode())
        for number, old in enumerate(files):
            data, new = source.read(old), f"{number}{Path(old).suffix}"
            _add(archive, new, _uncompressed(data) if new.endswith(".npz") else data)
    return content.getvalue(), foreign_types(schema)


def restore(stream: IO[bytes], vouched: list[str]) -> Any:
    """Check the content of a model file, then build the model.

    Parameters
    ----------
    stream : binary file
        The archive.
    vouched : list of str
        Qualified names that are trusted besides `TRUSTED`.

    Returns
    -------
    estimator

    Raises
    ------
    RefusedError
        With the reason, where it is known. Content that is damaged in other ways
        raises whatever the libraries that read it raise.
    """
    check_content(stream, vouched)
    import skops.io

    model = skops.io.load(stream, trusted=[*TRUSTED, *vouched])
    if not any(map(is_ours, steps(model))):
        raise RefusedError(
            f"holds an object of type {type(model).__name__}, which is not a model of "
            "tiebreak."
        )
    check_fitted(model)
    _restore_requests(model)
    return model


def steps(model: Any) -> Iterator[Any]:
    """Give the model itself, or the steps of a Pipeline and of Pipelines inside it."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        yield from steps(step)


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError if the model or a step is not fitted."""
    for step in steps(model):
        if isinstance(step, BaseEstimator):
            check_is_fitted(step)


def estimators(value: Any) -> Iterator[BaseEstimator]:
    """Give every estimator in a value, the outer before the inner."""
    if isinstance(value, BaseEstimator):
        yield value
        value = vars(value)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple | set):
        return
    for part in value:
        yield from estimators(part)


def is_ours(model: Any) -> bool:
    """Whether this is an estimator of tiebreak, or of a class derived from one."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    return isinstance(model, BaseEstimator) and "tiebreak" in packages


def _portable(value: Any) -> Any:
    """Copy the estimators, not their arrays, with metadata requests as plain dicts.

    A request (``set_fit_request``) refers back to its estimator, and a file holds a
    tree.
    """
    if isinstance(value, BaseEstimator):
        copied = copy.copy(value)
        vars(copied).update(_portable(vars(value)))
        return copied
    if isinstance(value, MetadataRequest):
        asked = {k: getattr(part, "requests", None) for k, part in vars(value).items()}
        return {method: dict(names) for method, names in asked.items() if names}
    if type(value) is dict:
        return {key: _portable(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_portable, value))
    return value


def _restore_requests(model: Any) -> None:
    for part in estimators(model):
        requests = vars(part).pop("_metadata_request", {})
        with sklearn.config_context(enable_metadata_routing=True):
            for method, names in requests.items():
                getattr(part, f"set_{method}_request")(**names)


def _tidy(value: Any, files: list[str]) -> Any:
    """Leave out object numbers and number the files, so that bytes are reproducible.

    ``files`` gets the file of each part, once for every part that has it, so that no
    part of the new file stands for another and no two share a file.
    """
    if isinstance(value, list):
        return [_tidy(part, files) for part in value]
    if not isinstance(value, dict):
        return value
    tidy = {key: _tidy(part, files) for key, part in value.items()}
    if isinstance(value.get("__loader__"), str):
        tidy.pop("__id__", None)
        if "file" in tidy:
            tidy["file"] = f"{len(files)}{Path(value['file']).suffix}"
            files.append(value["file"])
    return tidy


def _add(archive: ZipFile, name: str, data: bytes) -> None:
    info = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    archive.writestr(info, data, ZIP_STORED)


def _uncompressed(npz: bytes) -> bytes:
    content = io.BytesIO()
    with ZipFile(io.BytesIO(npz)) as source, ZipFile(content, "w") as archive:
        for name in source.namelist():
            _add(archive, name, source.read(name))
    return content.getvalue()
