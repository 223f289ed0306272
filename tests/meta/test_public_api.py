# SPDX-License-Identifier: BSD-3-Clause
"""Every public name exists, says where it lives, and documents its parameters."""

import dataclasses
import enum
import importlib
import inspect
import re
import subprocess
import sys

import pytest

import tiebreak

# What users import from. The other packages are internal, except for the names that
# docs/extending teaches and docs/api/extending.md lists.
SUBPACKAGES = [
    f"tiebreak.{name}"
    for name in (
        *("data", "datasets", "io", "metrics", "models", "outofcore", "persistence"),
        *("ratings", "report", "selection"),
    )
]
TAUGHT = [
    *(
        ("tiebreak.losses", name)
        for name in (
            *("LINKS", "Davidson", "GradeHinge", "GradeSquaredHinge", "GradeTree"),
            *("LinearObjective", "OutcomeLink", "UtilityLoss"),
        )
    ),
    ("tiebreak.models.base", "UtilityMixin"),
    *(
        ("tiebreak.solvers", name)
        for name in (
            *("NewtonSolution", "StronglyConvex", "conjugate_gradients"),
            *("minimize_newton", "minimize_truncated"),
        )
    ),
]
PUBLIC = [
    *((tiebreak.__name__, name) for name in tiebreak.__all__),
    *(
        (package, name)
        for package in SUBPACKAGES
        for name in importlib.import_module(package).__all__
    ),
    *TAUGHT,
]


def _public(kind, names=PUBLIC):
    """Give every public object of a kind once, with the name it is imported by."""
    found = {}
    for package, name in names:
        value = getattr(importlib.import_module(package), name, None)
        if kind(value) and not any(value is seen for seen in found.values()):
            found[f"{package}.{name}"] = value
    return [pytest.param(value, id=name) for name, value in found.items()]


def _has_parameters(value):
    if inspect.isclass(value):
        is_protocol = getattr(value, "_is_protocol", False)
        return not (is_protocol or issubclass(value, enum.Enum | BaseException))
    return inspect.isfunction(value)


def documented_names(docstring, section):
    """Read the names in one section of a numpydoc docstring, in order.

    >>> text = '''Compare.
    ...
    ... Parameters
    ... ----------
    ... left, right : ndarray
    ...     Items.
    ... **options
    ...     More.
    ...
    ... Returns
    ... -------
    ... int
    ... '''
    >>> documented_names(text, "Parameters")
    ['left', 'right', 'options']
    >>> documented_names(text, "Attributes")
    []
    """
    text = inspect.cleandoc(docstring or "")
    pattern = rf"^{section}\n-{{{len(section)}}}\n(.*?)(?=^\S[^\n]*\n-{{3,}}$|\Z)"
    found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^\S.*$", found.group(1), re.MULTILINE) if found else []
    return [
        name.strip().lstrip("*")
        for entry in entries
        for name in entry.split(" : ")[0].split(",")
    ]


@pytest.mark.parametrize("package", ["tiebreak", *SUBPACKAGES])
def test_all_is_a_list_of_strings_that_exist(package):
    module = importlib.import_module(package)
    assert module.__all__
    assert all(isinstance(name, str) for name in module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_importing_the_package_imports_no_library():
    code = (
        "import sys, tiebreak; print({'numba', 'polars', 'sklearn'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")


@pytest.mark.parametrize("name", tiebreak.__all__)
def test_a_class_lives_in_the_package_it_is_imported_from(name):
    value = getattr(tiebreak, name)
    if inspect.isclass(value):
        assert value.__module__ == "tiebreak"


@pytest.mark.parametrize("value", _public(callable))
def test_has_a_docstring_of_its_own(value):
    assert (value.__doc__ or "").strip()


# What only comparisons with papers need is documented after all else.
OF_PAPERS = ["prefit", "indices", "objective", "reduction", "adjacent", "cuts"]


# Type hints say the parameters of what is taught.
@pytest.mark.parametrize("value", _public(_has_parameters, PUBLIC[: -len(TAUGHT)]))
def test_documents_its_parameters_in_order(value):
    parameters = list(inspect.signature(value).parameters)
    documented = documented_names(value.__doc__, "Parameters")
    if dataclasses.is_dataclass(value) and not documented:
        # What is mostly read, and seldom made by a caller, lists its fields instead.
        documented = documented_names(value.__doc__, "Attributes")[: len(parameters)]
    assert documented == sorted(parameters, key=lambda name: name in OF_PAPERS)
