# SPDX-License-Identifier: BSD-3-Clause
"""The items to ask about: a folder of files, a table, or a list of texts.

An item has a name and one or more views, such as an image or a text: with a column of
prompts one for each. A table can name files in its own folder only.
"""

import hashlib
import io
import warnings
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.io.columns import COLUMN_WORDS, find_columns
from tiebreak.io.formats import detect_format
from tiebreak.io.items import find_items
from tiebreak.io.result import FileError, ReadOptions, first_of, plural
from tiebreak.io.table import Table, TableFile

MEDIA_TYPES = {
    ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
    ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
    ".bmp": "image/bmp", ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
    ".oga": "audio/ogg", ".opus": "audio/ogg", ".m4a": "audio/mp4",
    ".flac": "audio/flac", ".aac": "audio/aac",
    ".mp4": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg",
    ".m4v": "video/mp4", ".mov": "video/quicktime",
}  # fmt: skip
_TEXTS = {".txt": "text", ".md": "markdown", ".markdown": "markdown"}
_FOREIGN = (".heic", ".heif", ".tif", ".tiff", ".psd", ".raw", ".cr2", ".nef")
_UNCHECKED = (".svg", ".avif")  # images that Pillow may not know
# What a column of a table holds, by its name.
_CONTENTS = {
    "file": ("file", "path", "filename", "image", "img", "photo", "picture", "audio",
             "sound", "video", "image_path", "file_path"),
    "markdown": ("markdown", "md"),
    "text": ("text", "answer", "response", "output", "completion", "content",
             "sentence", "caption", "description", "body"),
    "link": ("link", "url", "address", "website"),
}  # fmt: skip
_PROMPTS = {
    "prompt": ("prompt", "question", "instruction", "input", "context", "query")
}
_DRAWN, _MOST_DRAWN = 96, 200  # pixels of a thumbnail, and how many
_EDGE = 1 << 16  # of a file, so many bytes at each end are in its hash


class View(NamedTuple):
    """What a person sees: kind is text, markdown, link, image, audio or video."""

    kind: str
    content: str | Path
    prompt: str | None = None


@dataclass(frozen=True)
class Item:
    """An item, its views, and a hash of what they hold."""

    name: str
    views: tuple[View, ...]
    hash: str


@dataclass
class Items:
    """All items, and sentences about what was found."""

    items: list[Item]
    sentences: list[str] = field(default_factory=list)

    @property
    def prompts(self) -> dict[str, list[str | None]]:
        """Prompts of each item."""
        return {item.name: [v.prompt for v in item.views] for item in self.items}


def read_items(source: Path) -> Items:
    """Read a folder, a table, or a text file of one item per line."""
    if source.is_dir():
        items = _read_folder(source)
    elif source.suffix.lower() in (".txt", ".text") and source.is_file():
        items = _read_lines(source)
    else:
        items = _read_table(source)
    if len(items.items) < 2:
        reasons = [
            f"{plural(len(items.items), 'item')} to ask about; expected at least two "
            "images, sounds, videos or texts.",
            *items.sentences,
        ]
        raise FileError(source, " ".join(reasons))
    items.sentences += _say_same(items.items)
    return items


def read_features(path: Path, names: Sequence[str]) -> NDArray[np.float64]:
    """Features of named items from a table, shape (N, p)."""
    _, table, rows = find_items(ReadOptions(items=path), names, [])
    return table.take(rows).dense()


def draw_thumbnails(source: Path) -> dict[str, str]:
    """Small pictures of the items that are images, as data URIs by name."""
    from PIL import Image, ImageOps

    drawn: dict[str, str] = {}
    for item in read_items(source).items:
        content = item.views[0].content
        if item.views[0].kind != "image" or not isinstance(content, Path):
            continue
        if content.suffix.lower() in _UNCHECKED or len(drawn) == _MOST_DRAWN:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(content) as whole:
                small = ImageOps.exif_transpose(whole).convert("RGB")
        small.thumbnail((_DRAWN, _DRAWN))
        file = io.BytesIO()
        small.save(file, "JPEG", quality=80)
        drawn[item.name] = (
            f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}"
        )
    return drawn


def _digest(parts: Sequence[str | bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _item(name: str, views: Sequence[View]) -> Item:
    """Make an item; of a file, size and both ends are hashed."""
    parts: list[str | bytes] = []
    for view in views:
        parts += [view.kind, view.prompt or ""]
        if isinstance(view.content, str):
            parts.append(view.content)
            continue
        with open(view.content, "rb") as stream:
            size = view.content.stat().st_size
            parts += [str(size), stream.read(_EDGE)]
            stream.seek(max(_EDGE, size - _EDGE))
            parts.append(stream.read())
    return Item(name, tuple(views), _digest(parts))


def _say_same(items: Sequence[Item]) -> list[str]:
    first: dict[str, Item] = {}
    pairs = [(first.setdefault(item.hash, item), item) for item in items]
    same = [f"{a.name} and {b.name}" for a, b in pairs if a is not b]
    if not same:
        return []
    return [f"The same content under two names: {first_of(same, 5)}."]


def _file_view(root: Path, path: Path, prompt: str | None = None) -> View | str:
    """View of a file below a folder; if it cannot be shown, why."""
    path = path.resolve()
    ending = path.suffix.lower()
    if not path.is_relative_to(root):
        return "outside the folder"
    if not path.is_file():
        return "no such file"
    if ending in _FOREIGN:
        return "browsers cannot show it; save it as JPEG or PNG"
    if ending not in (*MEDIA_TYPES, *_TEXTS):
        return "no image, sound, video or text"
    try:
        if not path.stat().st_size:
            return "the file is empty"
        if ending in _TEXTS:
            text = path.read_text(encoding="utf-8")
            blank = not text.strip()
            return "the text is blank" if blank else View(_TEXTS[ending], text, prompt)
        kind = MEDIA_TYPES[ending].partition("/")[0]
        if kind == "image" and ending not in _UNCHECKED:
            from PIL import Image

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Image.open(path).close()
    except UnicodeDecodeError:
        return "it is not UTF-8 text"
    except Exception as error:
        return getattr(error, "strerror", None) or "the image cannot be read"
    return View(kind, path, prompt)


def _read_folder(folder: Path) -> Items:
    root = folder.resolve()
    views: dict[Path, View] = {}
    bad, others = [], 0
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if any(part.startswith(".") for part in within.parts) or not path.is_file():
            continue
        if path.suffix.lower() not in (*MEDIA_TYPES, *_TEXTS, *_FOREIGN):
            others += 1
            continue
        view = _file_view(root, path)
        if isinstance(view, str):
            bad.append(f"{within.as_posix()} ({view})")
        else:
            views[within] = view
    sentences = []
    if bad:
        sentences.append(f"{plural(len(bad), 'file')} left out: {first_of(bad, 5)}.")
    if others:
        sentences.append(
            f"{plural(others, 'other file')} not looked at; items are images, sounds, "
            "videos, .txt and .md files."
        )
    names = [path.with_suffix("").as_posix() for path in views]
    if len(set(names)) < len(names):
        names = [path.as_posix() for path in views]
    items = [_item(n, [view]) for n, view in zip(names, views.values(), strict=True)]
    return Items(items, sentences)


def _read_lines(path: Path) -> Items:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FileError(path, "this is not UTF-8 text; save it again so.") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    texts = [line.strip() for line in lines if line.strip()]
    kept = list(dict.fromkeys(texts))
    items = Items([_item(text, [View("text", text)]) for text in kept])
    if repeated := len(texts) - len(kept):
        items.sentences.append(f"{plural(repeated, 'line')} repeated, taken once.")
    return items


def _read_table(path: Path) -> Items:
    detected = detect_format(path)
    if not detected.is_table:
        raise FileError(
            path, "expected a folder, a table of items (CSV, TSV, JSON Lines, Parquet) "
            "or a .txt file with one item per line."
        )  # fmt: skip
    table = Table([TableFile(path, detected, fewest=1)])
    usual = {**_CONTENTS, **_PROMPTS, "name": COLUMN_WORDS["name"]}
    if len(table.columns) == 1 and not any(
        find_columns(role, table.columns, usual) for role in usual
    ):  # a list, whose first line is an item
        detected = replace(detected, names=("item",))
        table = Table([TableFile(path, detected, fewest=1)])
    columns = {kind: find_columns(kind, table.columns, _CONTENTS) for kind in _CONTENTS}
    kind, content = next(((k, c[0]) for k, c in columns.items() if c), ("text", None))
    prompt = next(iter(find_columns("prompt", table.columns, _PROMPTS)), None)
    free = [c for c in table.columns if c not in (content, prompt)]
    name = next(iter(find_columns("name", free)), content)
    if name is None and len(table.columns) == 1:  # in a format that names columns
        name = table.columns[0]
    content = content or name
    if name is None or content is None:
        raise table.error(
            "no column names items (item, name, id, model, …) or holds what to show "
            f"(file, image, text, markdown, url). {table.list_columns()}"
        )
    wanted = list(dict.fromkeys([name, content, *([prompt] if prompt else [])]))
    read = table.read(text=wanted)
    read.note_missing("value", *wanted)
    read.refuse_broken()
    texts = {column: read.text[column].per_row(str, None).tolist() for column in wanted}
    prompts = texts[prompt] if prompt else [None] * len(texts[name])
    with_prompt = f" with its {prompt}" if prompt else ""
    sentences = [f"Items are named by {name}, and {content} is shown{with_prompt}."]
    views: dict[str, dict[str | None, View]] = {}  # by name and prompt
    bad: list[str] = []
    for label, cell, question in zip(texts[name], texts[content], prompts, strict=True):
        view = _cell_view(path.resolve().parent, kind, cell, question)
        if isinstance(view, str):
            bad.append(f"{cell} ({view})")
            continue
        if question in views.setdefault(label, {}):
            raise table.error(
                f"{label!r} names two rows{' of one prompt' if prompt else ''}."
            )
        views[label][question] = view
    if bad:
        sentences.append(f"{plural(len(bad), 'row')} left out: {first_of(bad, 5)}.")
    times = Counter(chain(*views.values()))
    if len(views) > 1 and max(times.values()) == 1:
        raise table.error(
            f"no two items have the same {prompt}; expected a row for each of both."
        )
    items = [_item(label, list(some.values())) for label, some in views.items()]
    return Items(items, sentences)


def _cell_view(root: Path, kind: str, value: str, prompt: str | None) -> View | str:
    """View of a cell of a table; if it cannot be shown, why."""
    if kind == "link" or (kind == "file" and "://" in value):
        fine = value.startswith(("https://", "http://"))
        return View("link", value, prompt) if fine else "not an http address"
    if kind == "file":
        return _file_view(root, root / value, prompt)
    return View(kind, value, prompt)
