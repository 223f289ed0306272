# SPDX-License-Identifier: BSD-3-Clause
"""Write fitted models to files, and read them without running code from the file.

A model file is a zip archive in the format of skops, with one more member,
``tiebreak.json``, that holds the version of this format. What may be in it, and why
reading it is safe, is in :mod:`tiebreak.persistence.checks`.
"""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

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
    MOST_JSON,
    SCHEMA,
    TRUSTED,
    RefusedError,
    check_content,
    check_state,
    foreign_types,
    one_line,
)


def compose(model: Any, version: str) -> tuple[bytes, list[str]]:
    """Return the archive, the same for the same model, and the types not trusted."""
    names = list[str]()
    with ZipFile(io.BytesIO(skops.io.dumps(_portable(model)))) as source:
        schema = _tidy(json.loads(source.read(SCHEMA)), names)
        files = [(Path(name).suffix, source.read(name)) for name in names]
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        meta = {"format": FORMAT, "tiebreak": version}
        _add(archive, META, json.dumps(meta).encode())
        described = json.dumps(schema, separators=(",", ":")).encode()
        if len(described) > MOST_JSON:
            raise ValueError(
                f"The model cannot be saved: its names and parts take "
                f"{len(described):,} bytes, and at most {MOST_JSON:,} are read again. "
                "Fit it on features without names, as X.to_numpy() gives them."
            )
        _add(archive, SCHEMA, described)
        for number, (suffix, data) in enumerate(files):
            data = _uncompressed(data) if suffix == ".npz" else data
            _add(archive, f"{number}{suffix}", data)
    return content.getvalue(), foreign_types(schema)


def restore(stream: IO[bytes], vouched: list[str]) -> Any:
    """Check the content of a model file, then build the model."""
    check_content(stream, vouched)
    model = skops.io.load(stream, trusted=[*TRUSTED, *vouched])
    if not any(map(is_ours, steps(model))):
        raise RefusedError(
            f"holds an object of type {type(model).__name__}, which is not a model of "
            "tiebreak."
        )
    check_fitted(model)
    for part in estimators(model):
        check_state(part)
    _restore_requests(model)
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


def estimators(value: Any) -> Iterator[BaseEstimator]:
    """Return every estimator in a value, the outer before the inner."""
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
    """Leave out object numbers and number the files, so that bytes are reproducible."""
    # ``files`` gets the file of each part, once for every part that has it, so that no
    # part of the new file stands for another and no two share a file.
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


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted model to a file that `load` reads without running code from it.

    Parameters
    ----------
    model : estimator
        A fitted model of tiebreak, or a fitted scikit-learn Pipeline that contains one.
    path : str or path-like
        Where to. An existing file is replaced in one step once the new one is complete.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    TypeError
        If `model` is something else.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    ValueError
        If it contains what cannot be stored, above all a callable kernel.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : Read the model again.

    Notes
    -----
    Types that `load` does not trust by itself, such as a transformer of your own, are
    stored with a warning that names them; `load` then needs these names in ``trusted``.
    Nothing is compressed, and the same model gives the same bytes.

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
    target = _target(path)
    try:
        content, foreign = compose(model, _version())
        if foreign:
            restore(io.BytesIO(content), foreign)
    except Exception as error:
        raise ValueError(
            f"{type(model).__name__} has parts that cannot be stored in a file and "
            f"restored from it, so it was not saved: {one_line(error)} Functions and "
            "classes must be importable by name; lambdas and local ones are not."
        ) from error
    _replace(target, content)
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
        Size of the largest file to read, which takes about twice that memory. 1 GiB
        holds a million support items of 100 features.

    Returns
    -------
    estimator
        The model, which predicts as the saved one to the last bit, with equal versions.

    Raises
    ------
    OSError
        If the file does not exist, is not a regular file or cannot be opened.
    ValueError
        If it is not a model file, is damaged, has another format, is
        compressed or too large, or contains types that are not trusted.

    See Also
    --------
    save : Write a model.

    Examples
    --------
    Anything but a model file is refused, and why is said:

    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> from tiebreak import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.pkl"
    ...     _ = path.write_bytes(pickle.dumps({"C": 1.0}))
    ...     load(path)
    Traceback (most recent call last):
    ...
    ValueError: ...model.pkl is not a model file but looks like a pickle, ...
    """
    if isinstance(trusted, str | bool):
        raise TypeError(
            f"trusted={trusted!r} is not a list of qualified names; expected for "
            "example trusted=['mypackage.steps.LogScaler']."
        )
    path, names = Path(path), list(trusted)
    with _open(path, max_bytes) as stream:
        try:
            return restore(stream, names)
        except (MemoryError, Warning):
            raise
        except RefusedError as error:
            raise ValueError(f"{path} {error}") from None
        except Exception as error:
            raise ValueError(
                f"{path} is damaged, or was not made by tiebreak.save: "
                f"{one_line(error)} Try another copy of it."
            ) from error


def _version() -> str:
    # The package is above this layer, which may not import it, but it is always there.
    return str(sys.modules["tiebreak"].__version__)


def _check_model(model: Any) -> None:
    if isinstance(model, type):
        raise TypeError(
            f"save takes a fitted model, got the class {model.__name__} itself; try "
            f"save({model.__name__}(...).fit(pairs, y), path)."
        )
    if not any(map(is_ours, steps(model))):
        hint = "; try its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise TypeError(
            "save takes a fitted model of tiebreak, or a Pipeline that contains one, "
            f"got {type(model).__name__}{hint}."
        )
    check_fitted(model)
    for part in estimators(model):
        kernel = getattr(part, "kernel", None)
        if callable(kernel):
            raise ValueError(
                f"{type(part).__name__} has the function "
                f"{getattr(kernel, '__name__', kernel)!r} as kernel, and a function "
                "cannot be stored in a file that must not run code. Use a named kernel "
                "('linear', 'poly' or 'rbf'), or 'precomputed' with the values of this "
                "function."
            )


def _target(path: Path) -> Path:
    """Find the file to replace, through links, and refuse what is not a file."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "Is a folder; save needs the name of a file", str(path)
        )
    if target.exists() and not target.is_file():
        raise FileExistsError(
            errno.EEXIST, "Is not a regular file, so it is not replaced", str(path)
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(
            errno.EACCES, "Is write-protected, so it is not replaced", str(path)
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "There is no such folder; create it first", str(path.parent)
        )
    return target


def _replace(target: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    try:
        with atomic_path(target) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}; the model was not saved, and what was there before is "
            "unchanged",
            str(target),
        ) from error


def _open(path: Path, max_bytes: int) -> IO[bytes]:
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, "There is no such model file; check the path", str(path)
        ) from None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(
            errno.EISDIR, "Is a folder; load needs the name of a model file", str(path)
        )
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a regular file; load reads only these.")
    if status.st_size > max_bytes:
        raise ValueError(
            f"{path} has {status.st_size} bytes, more than max_bytes={max_bytes}. If "
            f"you expect a model of this size, try load(path, "
            f"max_bytes={status.st_size})."
        )
    return open(path, "rb")
