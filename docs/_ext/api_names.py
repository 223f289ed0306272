# SPDX-License-Identifier: BSD-3-Clause
"""Document names of a module: a table of them, and the docstring of each.

A page of the API lists them, and what they are is looked up::

    ```{api} tiebreak
    RankSVM l1_path
    ```
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_BLOCK = re.compile(r"^```\{api\} (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTIONS = {
    "CorrectedStrengths": ":members: table",
    "JudgesReport": ":members: to_dict",
    "WithoutTies": ":exclude-members: +score",
}


def _directive(module: str, name: str) -> list[str]:
    value = getattr(importlib.import_module(module), name)
    options = [_OPTIONS[name]] if name in _OPTIONS else []
    if inspect.isclass(value):
        kind = "autoclass"
        if issubclass(value, Exception):
            kind, options = "autoexception", [":no-members:"]
    elif callable(value):
        kind = "autofunction"
    else:
        kind, options = "autodata", [":no-value:"]
    return [f".. {kind}:: {name}", *(f"   {option}" for option in options)]


def document_names(module: str, names: list[str]) -> str:
    """Return the directives of Sphinx that document names.

    Examples
    --------
    >>> print(document_names("tiebreak", ["save", "DataWarning"]))
    ```{eval-rst}
    .. currentmodule:: tiebreak
    <BLANKLINE>
    .. autosummary::
       :nosignatures:
    <BLANKLINE>
       save
       DataWarning
    <BLANKLINE>
    .. autofunction:: save
    .. autoexception:: DataWarning
       :no-members:
    ```
    """
    lines = ["```{eval-rst}", f".. currentmodule:: {module}", ""]
    lines += [".. autosummary::", "   :nosignatures:", ""]
    lines += [*(f"   {name}" for name in names), ""]
    for name in names:
        lines += _directive(module, name)
    return "\n".join([*lines, "```"])


def _read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = _BLOCK.sub(
        lambda found: document_names(found[1], found[2].split()), source[0]
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
