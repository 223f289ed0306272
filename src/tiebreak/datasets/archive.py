# SPDX-License-Identifier: BSD-3-Clause
"""Reading named members of a ZIP archive that nobody vouches for.

Nothing is extracted to disk: members are read by the names that are expected, so a
member called ``../../somewhere`` is never looked at, and never more bytes than
expected are unpacked, whatever the archive says about itself.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence


def read_members(archive: bytes, names: Sequence[str], limit: int) -> list[bytes]:
    """Read members of a ZIP archive.

    Parameters
    ----------
    archive : bytes
        The archive.
    names : sequence of str
        The members wanted, as the archive names them.
    limit : int
        Number of unpacked bytes, of all of them together, that is not exceeded.

    Returns
    -------
    list of bytes
        The contents, in the order of `names`.

    Raises
    ------
    ValueError
        If it is no archive, is damaged, lacks a member or unpacks to more.
    """
    contents = []
    left = limit
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            present = set(opened.namelist())
            absent = [name for name in names if name not in present]
            if absent:
                raise ValueError(
                    f"the archive has no {', '.join(map(repr, absent))}; it has "
                    f"{', '.join(map(repr, sorted(present)[:10])) or 'nothing'}"
                )
            for name in names:
                with opened.open(name) as member:
                    content = member.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise ValueError(
                        f"the archive unpacks to more than {limit:,} bytes, which is "
                        "more than was expected"
                    )
                contents.append(content)
    # An unknown method of packing, or a password, is a NotImplementedError or a
    # RuntimeError of zipfile.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ValueError(f"it cannot be read as a ZIP archive ({error})") from error
    return contents
