# SPDX-License-Identifier: BSD-3-Clause
"""Write fitted models to files, and read them without running code from the file.

A model file is a zip archive in the format of skops, with one more member,
``tiebreak.json``, that holds the version of this format. What may be in it, and why
reading it is safe, is in :mod:`tiebreak.persistence.checks`.
"""

import copy
import io
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile, ZipInfo

import sklearn
import skops.io
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_is_fitted

from tiebreak.data.atomic import atomic_path
from tiebreak.data.messages import TiebreakWarning, warn_user
from tiebreak.persistence.checks import (
    FORMAT,
    META,
    SCHEMA,
    TRUSTED,
    RefusedError,
    check_arrays,
    check_content,
    parts_of,
    read_schema,
)


def write_archive(model: Any) -> bytes:
    """Give the content of a file: what skops writes, the same for the same model."""
    numbers: dict[str, list[str]] = {}  # of the parts that have a file of skops
    count = 0

    def renumber(node: dict[str, Any]) -> dict[str, Any]:
        nonlocal count
        if isinstance(node.get("__loader__"), str):
            node.pop("__id__", None)
            if "file" in node:
                name = f"{count}{Path(node['file']).suffix}"
                numbers.setdefault(node["file"], []).append(name)
                node["file"], count = name, count + 1
        return node

    content = io.BytesIO()
    with (
        ZipFile(io.BytesIO(skops.io.dumps(_portable(model)))) as source,
        ZipFile(content, "w") as archive,
    ):
        schema = json.loads(source.read(SCHEMA), object_hook=renumber)
        archive.writestr(ZipInfo(META), json.dumps({"format": FORMAT}))
        archive.writestr(ZipInfo(SCHEMA), json.dumps(schema, separators=(",", ":")))
        for file, names in numbers.items():
            for name in names:
                archive.writestr(ZipInfo(name), source.read(file))
    return content.getvalue()


def read_archive(stream: IO[bytes], vouched: list[str], max_bytes: int) -> Any:
    """Check the content of a model file, then build the model."""
    with ZipFile(stream) as archive:
        check_content(archive, vouched, max_bytes)
    model = skops.io.load(stream, trusted=[*TRUSTED, *vouched])
    if not any(map(is_ours, steps(model))):
        raise RefusedError(f"holds a {type(model).__name__}, no model of tiebreak.")
    check_fitted(model)
    check_arrays(model, max_bytes)
    for part in parts_of(model):
        if isinstance(part, BaseEstimator):
            requests = vars(part).pop("_metadata_request", {})
            with sklearn.config_context(enable_metadata_routing=True):
                for method, names in requests.items():
                    getattr(part, f"set_{method}_request")(**names)
    return model


def steps(model: Any) -> Iterator[Any]:
    """Yield the model itself, or the steps of a Pipeline, also of inner ones."""
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


def is_ours(model: Any) -> bool:
    """Return whether this is an estimator of tiebreak, or derived from one."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    return isinstance(model, BaseEstimator) and "tiebreak" in packages


def _portable(value: Any) -> Any:
    """Copy the estimators, not their arrays, with metadata requests as plain dicts."""
    # A request (``set_fit_request``) refers back to its estimator, and a file holds a
    # tree.
    if isinstance(value, BaseEstimator):
        copied = copy.copy(value)
        vars(copied).update(_portable(vars(value)))
        return copied
    if isinstance(value, MetadataRequest):
        methods = {k: getattr(v, "requests", None) for k, v in vars(value).items()}
        return {method: dict(names) for method, names in methods.items() if names}
    if type(value) is dict:
        return {key: _portable(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_portable, value))
    return value


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted model to a file that `load` reads without running code from it.

    Parameters
    ----------
    model : estimator
        A fitted model of tiebreak, or a fitted scikit-learn Pipeline that contains one.
    path : str or path-like
        The file; an existing one is replaced once the new one is complete.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    TypeError, ValueError, sklearn.exceptions.NotFittedError
        If `model` is something else, not fitted, or contains what cannot be stored,
        such as a callable kernel.

    See Also
    --------
    load : Read the model again.

    Notes
    -----
    Types that `load` does not trust, such as your own transformer, are stored with a
    warning that names them for its ``trusted``. The same model gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tiebreak import Pairs, RankSVM, load, save
    >>> pairs = Pairs(None, ["Ada", "Bo"], ["Bo", "Cy"])
    >>> model = RankSVM(kernel="linear").fit(pairs, [-1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, Path(folder) / "players.tiebreak")
    ...     again = load(path)
    >>> again
    RankSVM(kernel='linear')
    >>> bool((again.utility(["Cy", "Ada"]) == model.utility(["Cy", "Ada"])).all())
    True
    """
    path = Path(path)
    _check_model(model)
    try:
        content = write_archive(model)
        with ZipFile(io.BytesIO(content)) as archive:
            foreign = sorted(read_schema(archive.read(SCHEMA))[0])
        if foreign:
            read_archive(io.BytesIO(content), foreign, 1 << 62)
    except Exception as error:
        raise ValueError(
            f"{type(model).__name__} has parts that cannot be stored in a file and "
            f"restored from it: {_one_line(error)} Functions and classes must be "
            "importable by name; lambdas and local ones are not."
        ) from error
    with atomic_path(os.path.realpath(path)) as temporary:
        temporary.write_bytes(content)
    if foreign:
        warn_user(
            f"{path} contains types that load does not trust by itself; read it with "
            f"load(path, trusted={foreign}).",
            TiebreakWarning,
        )
    return path


def load(
    path: str | os.PathLike[str], *, trusted: Iterable[str] = (), max_bytes: int = 2**30
) -> Any:
    """Read a model that `save` wrote, without running code from the file.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : iterable of str, default=()
        Qualified names, such as ``"mypackage.steps.LogScaler"``, of types that the file
        may contain besides models of tiebreak, usual transformers of scikit-learn and
        arrays. Name only what you would also run: the file decides how it is filled.
    max_bytes : int, default=2**30
        Largest unpacked size to read, which takes about twice that memory.

    Returns
    -------
    estimator
        The model, which predicts as the saved one to the last bit, with equal versions.

    Raises
    ------
    ValueError
        If it is not a model file, is damaged, has another format, is too large, or
        contains types that are not trusted.

    See Also
    --------
    save : Write a model.

    Examples
    --------
    Anything but a model file is refused:

    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> from tiebreak import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.pkl"
    ...     _ = path.write_bytes(pickle.dumps({"C": 1.0}))
    ...     load(path)
    Traceback (most recent call last):
    ...
    ValueError: ...model.pkl is damaged, or was not made by tiebreak.save: ...
    """
    path, names = Path(path), list(trusted)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError(f"{path} is not a regular file; load reads only these.")
    with open(path, "rb") as stream:
        try:
            return read_archive(stream, names, max_bytes)
        except (MemoryError, Warning):
            raise
        except RefusedError as error:
            raise ValueError(f"{path} {error}") from None
        except Exception as error:
            raise ValueError(
                f"{path} is damaged, or was not made by tiebreak.save: "
                f"{_one_line(error)}"
            ) from error


def _one_line(error: Exception) -> str:
    """Describe an error in one printable sentence, with its period."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text[:200].rstrip(".") + "."


def _check_model(model: Any) -> None:
    if not any(map(is_ours, steps(model))):
        hint = "; try its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise TypeError(
            "save takes a fitted model of tiebreak, or a Pipeline that contains one, "
            f"got {type(model).__name__}{hint}."
        )
    check_fitted(model)
    for part in parts_of(model):
        if isinstance(part, BaseEstimator) and callable(getattr(part, "kernel", None)):
            raise ValueError(
                f"{type(part).__name__} has a function as kernel, which cannot be "
                "stored in a file that must not run code. Use a named kernel "
                "('linear', 'poly' or 'rbf'), or 'precomputed' with its values."
            )
