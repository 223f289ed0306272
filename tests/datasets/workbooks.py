# SPDX-License-Identifier: BSD-3-Clause
"""Writing small workbooks in the old binary format of Excel, for tests of the reader.

Written from the published description of compound files and of BIFF 8.
"""

import struct

SECTOR = 512
FREE, END, TABLE, MORE_TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFC


def record(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def number(row, column, value):
    return record(0x0203, struct.pack("<HHHd", row, column, 0, value))


def formula(row, column, result):
    return record(0x0006, struct.pack("<HHH", row, column, 0) + result + bytes(8))


def label(row, column):
    return record(0x00FD, struct.pack("<HHHI", row, column, 0, 0))


def rk(row, column, packed):
    return record(0x027E, struct.pack("<HHHI", row, column, 0, packed))


def many_rk(row, column, packed):
    cells = b"".join(struct.pack("<HI", 0, each) for each in packed)
    last = struct.pack("<H", column + len(packed) - 1)
    return record(0x00BD, struct.pack("<HH", row, column) + cells + last)


def rk_of_hundredths(hundredths):
    """Pack a number of hundredths, as Excel does with -7.82."""
    return (hundredths << 2 | 3) & 0xFFFFFFFF


END_OF_PART = record(0x000A)


def workbook(cells, *, version=0x0600, padding=5000, name="Workbook", end=END_OF_PART):
    """Write a workbook with one sheet; padding is inside of it and means nothing."""
    begin = record(0x0809, struct.pack("<HHHHII", version, 5, 0, 0, 0, 0))
    title = b"\x05\x00Sheet"
    size = len(begin) + 4 + 6 + len(title) + 4
    known = record(0x0085, struct.pack("<IH", size, 0) + title)
    sheet = record(0x0809, struct.pack("<HHHHII", version, 16, 0, 0, 0, 0))
    blank = b"".join(
        record(0x1234, bytes(min(8000, padding - at))) for at in range(0, padding, 8000)
    )
    stream = begin + known + END_OF_PART + sheet + blank + cells + end
    return compound_file({"Root Entry": b"", name: stream})


def compound_file(streams):
    """Write a compound file; the sectors of a stream follow each other backwards."""
    sectors, follows, entries = [], [], b""
    for name, stream in streams.items():
        blocks = [stream[at : at + SECTOR] for at in range(0, len(stream), SECTOR)]
        first = len(sectors) + len(blocks) - 1 if blocks else END
        for block in reversed(blocks):
            follows.append(
                END if not follows or block is blocks[-1] else len(sectors) - 1
            )
            sectors.append(block.ljust(SECTOR, b"\0"))
        text = name.encode("utf-16-le") + b"\0\0"
        entry = bytearray(128)
        entry[: len(text)] = text
        struct.pack_into("<HB", entry, 64, len(text), 2 if blocks else 5)
        struct.pack_into("<II", entry, 116, first, len(stream))
        entries += entry
    directory = len(sectors)
    sectors.append(entries.ljust(SECTOR, b"\0"))
    follows.append(END)
    # The table describes itself too, so its size is found by trying.
    n_tables = n_lists = 0
    while True:
        total = len(sectors) + n_tables + n_lists
        needed = -(-total * 4 // SECTOR)
        lists = -(-max(0, needed - 109) // (SECTOR // 4 - 1))
        if (needed, lists) == (n_tables, n_lists):
            break
        n_tables, n_lists = needed, lists
    first_table = len(sectors)
    first_list = first_table + n_tables
    follows += [TABLE] * n_tables + [MORE_TABLE] * n_lists
    follows += [FREE] * (n_tables * SECTOR // 4 - len(follows))
    table = struct.pack(f"<{len(follows)}I", *follows)
    sectors += [table[at : at + SECTOR] for at in range(0, len(table), SECTOR)]
    places = list(range(first_table, first_table + n_tables))
    rest = places[109:]
    for number_of_list in range(n_lists):
        part, rest = rest[:127], rest[127:]
        following = first_list + number_of_list + 1 if rest else END
        part += [FREE] * (127 - len(part))
        sectors.append(struct.pack("<128I", *part, following))
    header = bytearray(SECTOR)
    header[:8] = bytes.fromhex("d0cf11e0a1b11ae1")
    struct.pack_into("<HHHHH", header, 24, 62, 3, 0xFFFE, 9, 6)
    struct.pack_into("<II", header, 44, n_tables, directory)
    struct.pack_into("<IIIII", header, 56, 4096, END, 0, END, 0)
    if n_lists:
        struct.pack_into("<II", header, 68, first_list, n_lists)
    shown = places[:109] + [FREE] * (109 - len(places[:109]))
    struct.pack_into("<109I", header, 76, *shown)
    return bytes(header) + b"".join(sectors)
