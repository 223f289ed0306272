# SPDX-License-Identifier: BSD-3-Clause
"""Who imports whom inside the package, read from the text of its files.

Modules are named as in ``tiebreak.data.pairs``, packages as in
``tiebreak.data.__init__``.
"""

import ast
from collections.abc import Iterator

from tests.meta.sources import PACKAGE, parse

INIT = ".__init__"


def package_texts() -> dict[str, str]:
    """Read every file of the package: the name of its module, and its text.

    What the package itself exports stands in its stub.
    """
    texts = {}
    for path in (*sorted(PACKAGE.rglob("*.py")), PACKAGE / "__init__.pyi"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        texts[".".join(parts)] = path.read_text(encoding="utf-8")
    return texts


def importers(texts: dict[str, str]) -> dict[str, set[str]]:
    """Find for every module those that import it, or a name that it defines.

    A name that a package re-exports is followed to the module that defines it.
    """
    imports = {module: list(_imports(module, text)) for module, text in texts.items()}
    found: dict[str, set[str]] = {module: set() for module in texts}
    for module, pairs in imports.items():
        for home, name in pairs:
            target = _defining(home, name, imports)
            if target is not None and target != module:
                found[target].add(module)
    return found


def single_importers(texts: dict[str, str]) -> dict[str, str]:
    """Find modules that one other module imports and nobody else, with that module.

    What the ``__init__`` of a package imports is offered to everybody.
    """
    found = {}
    for module, users in importers(texts).items():
        if len(users) == 1 and not module.endswith(INIT):
            (user,) = users
            if not user.endswith(INIT):
                found[module] = user
    return found


def _imports(module: str, text: str) -> Iterator[tuple[str, str | None]]:
    """Give what a module imports: from where, and the name, if it takes one."""
    package = module.split(".")[:-1]
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            home = ".".join([*base, *filter(None, [node.module])])
            yield from ((home, alias.name) for alias in node.names)


def _defining(
    home: str, name: str | None, imports: dict[str, list[tuple[str, str | None]]]
) -> str | None:
    """Give the module that is meant by an import, or None if it is not of ours."""
    if home in imports:
        return home
    package = home + INIT
    if package not in imports:
        return None
    if name is None:
        return package
    for module in (f"{home}.{name}", f"{home}.{name}{INIT}"):
        if module in imports:
            return module
    for inner, exported in imports[package]:
        if exported == name and inner != home:
            return _defining(inner, name, imports)
    return package
