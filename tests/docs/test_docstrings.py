# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings of public names and their methods are complete, as numpydoc judges it.

tests/meta checks that the parameters of every public name are documented, in order, and
knows dataclasses; this goes on with the methods, the returned values and the form.
"""

import importlib
import inspect

import pytest

import tiebreak
from tests.meta.test_public_api import PUBLIC

validate = pytest.importorskip(
    "numpydoc.validate", reason="the docs extra is not installed: no numpydoc"
)

# What numpydoc would like and the house does not ask for.
NOT_ASKED = {
    "ES01": "one line is enough where it says everything",
    "EX01": "asked for below, of the names that users import first",
    "PR04": "several parameters that are 'as in fit' share one entry",
    "PR08": "a description may begin with a symbol, such as α",
    "RT02": "a returned value may have a name",
    "RT03": "where the first line says what is returned, it is not said twice",
    "RT04": "as PR08",
    "SA01": "not everything has a neighbor",
    "SS02": "a first line may begin with a symbol or a number",
    "SS05": "a first line may be a noun, such as 'Utilities of items'",
    "YD01": "a context manager may give nothing",
}
OF_TESTS_META = {"PR01", "PR02", "PR03"}
# Layers below the models: their short methods follow a protocol whose class says what
# the arguments are, so that one line each is asked for.
INNER = (
    "tiebreak.kernels",
    "tiebreak.losses",
    "tiebreak.outofcore",
    "tiebreak.solvers",
)
IN_FULL_FOR_USERS = {"PR01", "PR07", "RT01"}


def _objects():
    """Give every public class and function once, by the shortest name."""
    found = {}
    for package, name in PUBLIC:
        value = getattr(importlib.import_module(package), name)
        if inspect.isclass(value) or inspect.isfunction(value):
            found.setdefault(value, f"{package}.{name}")
    return list(found.values())


def _methods(path):
    """Give the names of the public methods and properties that tiebreak wrote."""
    package, _, name = path.rpartition(".")
    owner = getattr(importlib.import_module(package), name)
    if not inspect.isclass(owner):
        return []
    members = []
    for attribute in dir(owner):
        home = next((c for c in owner.__mro__ if attribute in vars(c)), object)
        value = inspect.unwrap(getattr(owner, attribute, None) or (lambda: None))
        is_ours = getattr(value, "__qualname__", attribute).split(".")[-1] == attribute
        if home.__module__.startswith("tiebreak") and not attribute.startswith("_"):
            kinds = (property, classmethod, staticmethod)
            static = inspect.getattr_static(owner, attribute)
            if isinstance(static, kinds) or (inspect.isfunction(static) and is_ours):
                members.append(f"{path}.{attribute}")
    return members


class _Validator(validate.Validator):
    """Numpydoc's, without the line of a definition, which only its own remarks need.

    Public classes say that they are of tiebreak, and Python looks for them there.
    """

    source_file_def_line = None

    def __init__(self, obj_name):
        super().__init__(validate.get_doc_object(self._load_obj(obj_name)))


def findings(path, not_asked):
    """List what numpydoc finds in one docstring, but for what is not asked."""
    return [
        f"{path}: {code} {message}"
        for code, message in validate.validate(path, _Validator)["errors"]
        if code not in not_asked
    ]


def wrong_with(path):
    """List what is wrong with a public name and its methods."""
    of_methods = set(NOT_ASKED)
    if path.startswith(INNER):
        of_methods |= IN_FULL_FOR_USERS
    wrong = findings(path, OF_TESTS_META | set(NOT_ASKED))
    for method in _methods(path):
        wrong += findings(method, of_methods)
    return wrong


@pytest.mark.parametrize("path", _objects())
def test_docstring_is_complete(path):
    wrong = wrong_with(path)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(tiebreak.__all__))
def test_what_users_import_first_has_an_example(name):
    value = getattr(tiebreak, name)
    is_warning = inspect.isclass(value) and issubclass(value, Warning)
    if (inspect.isclass(value) or inspect.isfunction(value)) and not is_warning:
        assert ">>>" in value.__doc__
