# SPDX-License-Identifier: BSD-3-Clause
"""Write the reference of all commands and options into the page that asks for it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import typer

from tiebreak.cli.app import app
from tiebreak.options import RankOptions, ReadOptions

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARK = "```{command-reference}\n```"
_SHARED = {one.name for kind in (RankOptions, ReadOptions) for one in fields(kind)}
_HELP = ("help", "help_all")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    value = f" {parameter.metavar}" if parameter.metavar else ""
    return f"`{', '.join(parameter.opts)}{value}`"


def _table(parameters: list[Any], in_python: bool = False) -> list[str]:
    if not parameters:
        return []
    head = ["option", "in Python", "what it is"]
    rows = [[_name(p), f"`{p.name}`", _cell(p.help or "")] for p in parameters]
    if not in_python:
        head, rows = [head[0], head[2]], [[row[0], row[2]] for row in rows]
    lines = [head, ["---"] * len(head), *rows]
    return ["", *(f"| {' | '.join(line)} |" for line in lines)]


def _is_shared(parameter: Any) -> bool:
    # Other commands may have an option of the same name, which has no panel.
    has_panel = getattr(parameter, "rich_help_panel", None) is not None
    return parameter.name in _SHARED and has_panel


def _panels(parameters: list[Any]) -> dict[str, list[Any]]:
    panels: dict[str, list[Any]] = {}
    for parameter in parameters:
        if _is_shared(parameter):
            panels.setdefault(parameter.rich_help_panel, []).append(parameter)
    return panels


def _command(name: str, command: Any, panels: dict[str, list[Any]]) -> list[str]:
    if subcommands := getattr(command, "commands", None):
        inner = [_command(f"{name} {sub}", c, panels) for sub, c in subcommands.items()]
        return [line for lines in inner for line in lines]
    own = [p for p in command.params if not _is_shared(p) and p.name not in _HELP]
    places = [p.metavar for p in own if p.param_type_name == "argument"]
    lines = ["", f"## {name}", "", f"`{' '.join(['tiebreak', name, *places])}`"]
    lines += ["", " ".join((command.help or "").split()), *_table(own)]
    shared = []
    for panel, some in _panels(command.params).items():
        which = ", ".join(f"`{parameter.opts[0]}`" for parameter in some)
        complete = len(some) == len(panels[panel])
        shared.append(f"{panel}: {'all' if complete else which}")
    if shared:
        lines += ["", f"[Shared options](#shared-options): {'; '.join(shared)}."]
    return lines


def command_reference() -> str:
    """Return all commands with their options, as Markdown."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    panels = _panels(commands["rank"].params)
    sections = [_command(name, one, panels) for name, one in commands.items()]
    lines = [line for section in sections for line in section]
    lines += ["", "## Shared options", "", "They are arguments of `tiebreak.rank` too."]
    for panel, parameters in panels.items():
        lines += ["", f"### {panel}", *_table(parameters, in_python=True)]
    return "\n".join(lines).lstrip("\n")


def _read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, command_reference())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
