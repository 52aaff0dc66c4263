"""Megabytes a CPU-second: askew's reader of Wikipedia's SQL dumps beside one regex per row.

Writes a made-up dump in each of the three layouts that `categorylinks` has had: a fifth of the sort
keys hold `),(`, quotes, backslashes, line ends, NUL or bytes that are no UTF-8. Then, in one run:

- askew reads the subcategory rows of `categorylinks`, uncompressed; so does a reader with one
  regular expression a row. What both give must be equal, row by row, over the whole file.
- A reader that goes byte by byte in plain Python must give the same on the first megabytes.
- `read_dump` makes the graph; its edges must be those that were written.

Times are CPU times of this process, for askew's readers the best of three, as other work on the
machine only ever adds; the machine code was loaded before. What it takes to compile it, once after
an installation, and to load it is printed apart. The files are deleted afterwards.

    python benchmarks/speed/dump.py                     # 1 GB a layout; 1.1 GB of disk
    python benchmarks/speed/dump.py --megabytes 50
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from askew.datasets.sql_rows import SqlTable
from askew.graphs.wikipedia_dump import read_dump
from askew.seeds import generator

AIM = 150.0  # MB a CPU-second
LAYOUTS = {
    "old": "cl_from cl_to cl_sortkey cl_timestamp cl_sortkey_prefix cl_collation cl_type",
    "transitional": "cl_from cl_to cl_sortkey cl_timestamp cl_sortkey_prefix cl_collation cl_type "
    "cl_collation_id cl_target_id",
    "new": "cl_from cl_sortkey cl_timestamp cl_sortkey_prefix cl_type cl_collation_id cl_target_id",
}
SUBCATEGORIES = 0.1  # of the rows; the English Wikipedia's share is a quarter of that
TRICKY = 0.2  # of the sort keys
ROWS_A_STATEMENT = 10_000
FIRST_TARGET = 5_000_000_000  # more than 32 bits hold
PLAIN_MEGABYTES = 8
_ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}
_NASTY = (
    b"),(",
    b"'",
    b"\\",
    b"\\'",
    b'"',
    b"\n",
    b"\r\n",
    b"\x00",
    b"\x1a",
    b";\n",
    b",'subcat',",
    b"\xe6\x97",
    b"\xff\xfe",
    b"(7,'x')",
    b"INSERT INTO `categorylinks` VALUES (1,'",
    b"-- ",
    b"NULL",
)

VALUE = rb"-?[\d.]+|NULL|'[^'\\]*+(?:\\.[^'\\]*+)*+'"
ONE_ROW = re.compile(rb"\((?P<row>(?:" + VALUE + rb")(?:,(?:" + VALUE + rb"))*+)\)", re.S)
ONE_VALUE = re.compile(VALUE, re.S)
UNESCAPE = re.compile(rb"\\(.)", re.S)
MEANING = {b"0": b"\x00", b"n": b"\n", b"r": b"\r", b"Z": b"\x1a", b"t": b"\t", b"b": b"\x08"}

Result = TypeVar("Result")
Row = tuple[int, int | None, bytes | None]  # cl_from, cl_target_id, cl_to


def quoted(raw: bytes) -> bytes:
    """A string as mysqldump writes it."""
    return b"'" + b"".join(_ESCAPES.get(byte, bytes([byte])) for byte in raw) + b"'"


def sort_keys(random: np.random.Generator, count: int) -> list[bytes]:
    """Sort keys, escaped and quoted: mostly 20 to 60 bytes above 31, a share of them tricky."""
    keys = []
    for _ in range(count):
        key = random.integers(32, 256, random.integers(8, 50), dtype=np.uint8).tobytes()
        if random.random() < TRICKY:
            pieces = [_NASTY[place] for place in random.integers(len(_NASTY), size=3)]
            cut = int(random.integers(len(key)))
            key = key[:cut] + b"".join(pieces) + key[cut:]
        else:
            key = key.translate(None, b"'\"\\")
        keys.append(quoted(key))
    return keys


def write_dump(folder: Path, layout: str, megabytes: float, seed: int) -> int:
    """Write page, linktarget and categorylinks; the last one `megabytes` large.

    Returns:
        How many different subcategory links lead from one category to another.
    """
    random = generator(seed, "dump", layout)
    categories = max(int(megabytes * 400), 50)
    titles = [b"Topic_%d_(it's),(here)" % number for number in range(categories)]
    rows = (
        b"(%d,14,%s,0,0,0.%d,'20260101000000',NULL,%d,30,'wikitext',NULL)"
        % (number + 1, quoted(title), number + 1, number + 9)
        for number, title in enumerate(titles)
    )
    page = (
        "page_id page_namespace page_title page_is_redirect page_is_new page_random page_touched "
        "page_links_updated page_latest page_len page_content_model page_lang"
    )
    _write(folder / "page.sql", "page", page, rows)
    if layout != "old":
        rows = (
            b"(%d,14,%s)" % (FIRST_TARGET + number, quoted(title))
            for number, title in enumerate(titles)
        )
        _write(folder / "linktarget.sql", "linktarget", "lt_id lt_namespace lt_title", rows)
    edges: set[tuple[int, int]] = set()
    keys, names = sort_keys(random, 20_000), [quoted(title) for title in titles]
    rows = itertools.chain.from_iterable(_links(layout, random, keys, names, edges))
    _write(folder / "categorylinks.sql", "categorylinks", LAYOUTS[layout], rows, megabytes)
    return len(edges)


def _links(
    layout: str,
    random: np.random.Generator,
    keys: list[bytes],
    names: list[bytes],
    edges: set[tuple[int, int]],
) -> Iterator[list[bytes]]:
    """Rows of categorylinks without end, a statement's worth at a time."""
    size = len(names)
    while True:
        key = random.integers(len(keys), size=ROWS_A_STATEMENT).tolist()
        draws = random.random(ROWS_A_STATEMENT)
        kinds = np.where(draws < SUBCATEGORIES, 0, np.where(draws < 0.95, 1, 2)).tolist()
        ends = random.integers(size, size=(ROWS_A_STATEMENT, 2)).tolist()
        rows = []
        for place, (child, parent), kind in zip(key, ends, kinds, strict=True):
            if kind == 0:
                if child != parent:
                    edges.add((child, parent))
            else:
                child += 10_000_000  # an article
            word = (b"'subcat'", b"'page'", b"'file'")[kind]
            if layout == "old":
                row = b"(%d,%s,%s,'2026-01-01 10:00:00','*','uca-default-u-kn',%s)" % (
                    child + 1,
                    names[parent],
                    keys[place],
                    word,
                )
            elif layout == "transitional":
                target = b"NULL" if place % 3 == 0 else b"%d" % (FIRST_TARGET + parent)
                row = b"(%d,%s,%s,'2026-01-01 10:00:00','*','uca-default-u-kn',%s,1,%s)" % (
                    child + 1,
                    names[parent],
                    keys[place],
                    word,
                    target,
                )
            else:
                row = b"(%d,%s,'2026-01-01 10:00:00','*',%s,1,%d)" % (
                    child + 1,
                    keys[place],
                    word,
                    FIRST_TARGET + parent,
                )
            rows.append(row)
        yield rows


def _write(
    path: Path, table: str, columns: str, rows: Iterator[bytes], megabytes: float = float("inf")
) -> None:
    head = f"-- MySQL dump 10.19\n-- It's a header; INSERT INTO `{table}` VALUES (9,'no');\n"
    head += f"CREATE TABLE `{table}` (\n"
    head += ",\n".join(f"  `{name}` varbinary(255) NOT NULL DEFAULT ''" for name in columns.split())
    head += f"\n) ENGINE=InnoDB;\nLOCK TABLES `{table}` WRITE;\n"
    written = 0
    with path.open("wb") as file:
        file.write(head.encode())
        while written < megabytes * 1e6 and (
            some := list(itertools.islice(rows, ROWS_A_STATEMENT))
        ):
            statement = f"INSERT INTO `{table}` VALUES ".encode() + b",".join(some) + b";\n"
            written += file.write(statement)
            if written >= megabytes * 1e6:
                break
        file.write(b"UNLOCK TABLES;\n-- Dump completed on 2026-01-01  0:00:00\n")


def by_machine(path: Path, columns: list[str]) -> list[Row]:
    """The reader that is measured."""
    found: list[Row] = []
    numbers = tuple(name for name in ("cl_from", "cl_target_id") if name in columns)
    names = ("cl_to",) if "cl_to" in columns else ()
    table = SqlTable(path, "categorylinks")
    for batch in table.batches(integers=numbers, texts=names, where=("cl_type", b"subcat")):
        targets: list[int | None] = [None] * batch.rows
        if "cl_target_id" in columns:
            null = batch.missing["cl_target_id"]
            targets = np.where(null, None, batch.integers["cl_target_id"].astype(object)).tolist()
        titles = list(batch.texts["cl_to"]) if names else [None] * batch.rows
        found += zip(batch.integers["cl_from"].tolist(), targets, titles, strict=True)
    return found


def by_regex(path: Path, columns: list[str]) -> list[Row]:
    """One regular expression a row, and one a value of the rows wanted."""
    found: list[Row] = []
    kind = columns.index("cl_type")
    with path.open("rb") as file:
        for line in file:
            if not line.startswith(b"INSERT INTO"):
                continue
            for row in ONE_ROW.finditer(line, line.index(b"VALUES")):
                values = ONE_VALUE.findall(row["row"])
                if values[kind] == b"'subcat'":
                    found.append(_row(dict(zip(columns, values, strict=True))))
    return found


def byte_by_byte(path: Path, columns: list[str], megabytes: float) -> list[Row]:
    """A plain reader that looks at each byte; up to the statement in which `megabytes` end."""
    found: list[Row] = []
    with path.open("rb") as file:
        for line in file:
            if not line.startswith(b"INSERT INTO"):
                continue
            values: list[bytes] = []
            value, inside, escaped = bytearray(), False, False
            for byte in line[line.index(b"VALUES") + 6 :]:
                if inside:
                    value.append(byte)
                    if escaped:
                        escaped = False
                    elif byte == ord("\\"):
                        escaped = True
                    elif byte == ord("'"):
                        inside = False
                elif byte in b",)":
                    if value:
                        values.append(bytes(value))
                        value.clear()
                    if byte == ord(")"):
                        row = dict(zip(columns, values, strict=True))
                        values.clear()
                        if row["cl_type"] == b"'subcat'":
                            found.append(_row(row))
                elif byte not in b"( ;\n":
                    value.append(byte)
                    inside = byte == ord("'")
            if file.tell() > megabytes * 1e6:
                break
    return found


def _row(values: dict[str, bytes]) -> Row:
    target, title = values.get("cl_target_id"), values.get("cl_to")
    if title is not None:
        title = UNESCAPE.sub(lambda found: MEANING.get(found[1], found[1]), title[1:-1])
    return int(values["cl_from"]), None if target in (None, b"NULL") else int(target), title


def best(run: Callable[[], Result]) -> tuple[float, Result]:
    """The fewest CPU-seconds of three runs, and what the last one gave."""
    fewest = float("inf")
    for _ in range(3):
        began = time.process_time()
        result = run()
        fewest = min(fewest, time.process_time() - began)
    return fewest, result


def measure(layout: str, megabytes: float, seed: int, folder: Path) -> tuple[float, float]:
    """Write, read and compare one layout; megabytes a CPU-second of askew and of the regex."""
    edges = write_dump(folder, layout, megabytes, seed)
    path, columns = folder / "categorylinks.sql", LAYOUTS[layout].split()
    size = path.stat().st_size / 1e6
    seconds, rows = best(lambda: by_machine(path, columns))
    ours = size / seconds
    began = time.process_time()
    plain = by_regex(path, columns)
    theirs = size / (time.process_time() - began)
    assert rows == plain, f"{layout}: the rows differ from those of the regex"
    first = byte_by_byte(path, columns, PLAIN_MEGABYTES)
    assert rows[: len(first)] == first, f"{layout}: the rows differ from the plain reader's"
    del plain
    whole = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    seconds, imported = best(lambda: read_dump(folder))
    assert imported.graph.edges == edges, f"{layout}: {imported.graph.edges} edges, not {edges}"
    print(
        f"{layout:13} {size:6.0f} MB, {len(rows):,} subcategory rows: askew {ours:5.0f} MB/s, "
        f"regex {theirs:4.0f} MB/s ({ours / theirs:.1f}x); rows equal, the first {len(first):,} "
        f"to the plain reader too; graph of {imported.graph.size:,} topics and {edges:,} edges "
        f"from {whole:.0f} MB in {seconds:.1f} s ({whole / seconds:.0f} MB/s)",
        flush=True,
    )
    return ours, theirs


def first_use(layout: str, seed: int) -> tuple[float, float]:
    """CPU-seconds of a tiny import in a new process: one that compiles, and the next."""
    code = (
        "import sys, time; began = time.process_time()\n"
        "from askew.graphs.wikipedia_dump import read_dump\n"
        "read_dump(sys.argv[1]); print(time.process_time() - began)"
    )
    with tempfile.TemporaryDirectory(prefix="askew-dump-") as folder:
        write_dump(Path(folder), layout, 0.01, seed)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "machine code")}
        first, then = (
            float(
                subprocess.run(
                    [sys.executable, "-c", code, folder],
                    check=True,
                    capture_output=True,
                    text=True,
                    env=environment,
                ).stdout
            )
            for _ in range(2)
        )
        read_dump(folder)  # and in this process
    return first, then


def main() -> int:
    """Measure and print; 1 where a layout falls short of the aim."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--megabytes", type=float, default=1000.0, help="of categorylinks")
    arguments.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    first, then = first_use(chosen.layouts[0], chosen.seed)
    print(f"a tiny import in a new process: {first:.1f} CPU-s to compile, then {then:.1f}")
    short = False
    for layout in chosen.layouts:
        with tempfile.TemporaryDirectory(prefix="askew-dump-") as folder:
            ours, _ = measure(layout, chosen.megabytes, chosen.seed, Path(folder))
            short = short or ours < AIM
    return int(short)


if __name__ == "__main__":
    raise SystemExit(main())
