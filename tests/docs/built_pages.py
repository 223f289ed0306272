# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with built pages: links to nowhere, and things from other hosts."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements that load something, with the attribute that says from where. A link that a
# reader may follow is none of them.
LOADS = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "image": "href",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "use": "href",
    "video": "src",
}
_CSS_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


@dataclass
class Page(HTMLParser):
    """The anchors of one page, where its links lead, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)
        self._in_style = False

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADS.get(tag) in given:
            self.loads.append(given[LOADS[tag]])
        if "srcset" in given:
            self.loads.extend(part.split()[0] for part in given["srcset"].split(","))
        self.loads.extend(_CSS_ADDRESS.findall(given.get("style", "")))

    def handle_data(self, data):
        if self._in_style:
            self.loads.extend(_CSS_ADDRESS.findall(data))

    def handle_endtag(self, tag):
        self._in_style = False


def read_page(text: str) -> Page:
    """Parse one page."""
    page = Page()
    page.feed(text)
    page.close()
    return page


def read_site(folder: Path) -> dict[Path, Page]:
    """Parse all pages below a folder."""
    return {
        path.relative_to(folder): read_page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }


def is_elsewhere(address: str) -> bool:
    """Say whether an address leads to another host, or is no address of a file."""
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)


def broken_links(folder: Path, pages: dict[Path, Page]) -> list[str]:
    """List links and loads inside the site whose file or anchor does not exist."""
    anchors = {(folder / path).resolve(): pages[path].anchors for path in pages}
    broken = []
    for path, page in pages.items():
        for address in page.links + page.loads:
            if is_elsewhere(address) or not address:
                continue
            parts = urlsplit(address)
            beside = (folder / path).parent / unquote(parts.path)
            target = (beside if parts.path else folder / path).resolve()
            anchor = unquote(parts.fragment)
            leads_nowhere = anchor and anchor not in anchors.get(target, {anchor})
            if leads_nowhere or not target.is_file():
                broken.append(f"{path}: {address}")
    return broken


def loads_from_elsewhere(folder: Path, pages: dict[Path, Page]) -> list[str]:
    """List what pages and style sheets load from other hosts."""
    found = {path: page.loads for path, page in pages.items()}
    for path in sorted(folder.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        found[path.relative_to(folder)] = _CSS_ADDRESS.findall(text)
    return [
        f"{path}: {address}"
        for path, addresses in found.items()
        for address in addresses
        if is_elsewhere(address) and not address.startswith("data:")
    ]
