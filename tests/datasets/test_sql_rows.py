"""The reader of SQL dumps: equal to a plain one on what mysqldump can write, loud on the rest."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba", reason="numba is not installed: the extra askew[boundary]")

from askew.datasets.packed import Packed
from askew.datasets.sql_rows import SqlTable
from askew.errors import DataError
from tests.datasets.sql_dumps import FOOTER, dump, literal, plain_rows, write

COLUMNS = ("a_id", "b_text", "c_float", "d_id", "e_text")
NASTY = st.sampled_from(
    [
        b"),(",
        b"'",
        b"\\",
        b"\\'",
        b"\\\\'",
        b'"',
        b"\n",
        b"\x00\x1a\r\t\x08",
        b";\n",
        b"INSERT INTO `t` VALUES (1,'",
        b"-- ",
        b"/*",
        b"\xff\xfe\xe6\x97",
        b"NULL",
        b",'subcat',",
        b"`",
        b"#",
    ]
)
TEXT = st.lists(NASTY | st.binary(max_size=6), max_size=6).map(b"".join)
WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
ROW = st.tuples(
    WHOLE, TEXT, st.floats(allow_nan=False, allow_infinity=False), WHOLE | st.none(),
    TEXT | st.none(),
)  # fmt: skip
STYLE = st.fixed_dictionaries(
    {
        "rows_a_statement": st.integers(1, 4),
        "one_line": st.booleans(),
        "listed": st.booleans(),
        "doubled": st.booleans(),
    }
)


def read(path: Path, where: tuple[str, bytes] | None = None, **options: int) -> list[tuple]:
    """All wanted values, NULL as None."""
    found: list[tuple] = []
    table = SqlTable(path, "t", **options)
    for batch in table.batches(integers=("a_id", "d_id"), texts=("b_text", "e_text"), where=where):
        columns = {name: list(texts) for name, texts in batch.texts.items()}
        columns |= {name: values.tolist() for name, values in batch.integers.items()}
        for name, missing in batch.missing.items():
            for row in np.flatnonzero(missing):
                columns[name][row] = None
        found += zip(*(columns[name] for name in sorted(columns)), strict=True)
    return found


def small(path: Path, body: bytes, columns: str = "`a` int, `b` text") -> Path:
    return write(path, b"CREATE TABLE `t` (" + columns.encode() + b");\n" + body)


def values(path: Path, **options: int) -> list[tuple[int, bytes]]:
    return [
        pair
        for batch in SqlTable(path, "t", **options).batches(integers=("a",), texts=("b",))
        for pair in zip(batch.integers["a"].tolist(), batch.texts["b"], strict=True)
    ]


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(ROW, max_size=9), style=STYLE, piece=st.integers(40, 400))
def test_the_reader_equals_the_plain_one_wherever_its_pieces_are_cut(
    rows, style, piece, tmp_path_factory
):
    data = dump("t", COLUMNS, rows, **style)
    path = write(tmp_path_factory.getbasetemp() / "t.sql", data)
    plain = [(a, b, d, e) for a, b, _, d, e in plain_rows(data, "t")]
    assert plain == [(a, b, d, e) for a, b, _, d, e in rows]
    assert read(path, piece=piece) == plain


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=9), style=STYLE, piece=st.integers(40, 400))
def test_only_rows_with_the_wanted_value_are_kept_and_all_are_counted(
    rows, style, piece, tmp_path_factory
):
    wanted = rows[0][0]
    path = write(tmp_path_factory.getbasetemp() / "t.sql", dump("t", COLUMNS, rows, **style))
    kept = read(path, ("a_id", literal(wanted)), piece=piece)
    assert kept == [(a, b, d, e) for a, b, _, d, e in rows if a == wanted]
    table = SqlTable(path, "t", piece=piece)
    list(table.batches(integers=("d_id",), where=("a_id", literal(wanted))))
    assert table.rows_read == len(rows)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=6), style=STYLE, data=st.data())
def test_a_dump_that_is_cut_off_anywhere_before_its_end_is_an_error(
    rows, style, data, tmp_path_factory
):
    whole = dump("t", COLUMNS, rows, **style)
    cut = data.draw(st.integers(0, len(whole) - len(FOOTER) + len(b"UNLOCK TABLES")))
    path = write(tmp_path_factory.getbasetemp() / "t.sql", whole[:cut])
    with pytest.raises(DataError, match=r"t\.sql"):
        read(path)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=6), pack=st.sampled_from([gzip, bz2]), data=st.data()
)
def test_a_packed_dump_is_read_like_a_plain_one_and_a_cut_one_is_an_error(
    rows, pack, data, tmp_path_factory
):
    whole = dump("t", COLUMNS, rows)
    packed = pack.compress(whole)
    path = write(tmp_path_factory.getbasetemp() / "t.sql.gz", packed)
    assert read(path) == [(a, b, d, e) for a, b, _, d, e in rows]
    cut = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(DataError, match=r"t\.sql\.gz"):
        read(write(path, packed[:cut]))


def test_gzip_of_several_members_is_read_to_its_end(tmp_path):
    whole = dump("t", COLUMNS, [(number, b"x", 0.5, number, None) for number in range(30)])
    members = [gzip.compress(whole[at : at + 100]) for at in range(0, len(whole), 100)]
    assert len(read(write(tmp_path / "t.sql.gz", b"".join(members)))) == 30
    with pytest.raises(DataError, match="damaged or cut off"):
        read(write(tmp_path / "t.sql.gz", b"".join(members[:-1]) + members[-1][:-4]))


@pytest.mark.parametrize("tail", [b"garbage", b"BZ", b"BZh9", b"BZh9" + bytes(40)])
def test_bzip2_of_several_streams_is_read_to_its_end_and_no_damage_passes_for_it(tail, tmp_path):
    whole = dump("t", COLUMNS, [(number, b"x", 0.5, number, None) for number in range(30)])
    streams = [bz2.compress(whole[at : at + 100]) for at in range(0, len(whole), 100)]
    path = tmp_path / "t.sql.bz2"
    assert len(read(write(path, b"".join(streams)))) == 30
    assert len(read(write(path, b"".join(streams) + bytes(7)))) == 30  # filled up with zeros
    for count in (2, len(streams)):
        with pytest.raises(DataError, match="damaged or cut off"):
            read(write(path, b"".join(streams[:count]) + tail))
    harmed = bytearray(streams[1])
    harmed[20] ^= 0xFF
    with pytest.raises(DataError, match="damaged or cut off"):
        read(write(path, streams[0] + bytes(harmed) + b"".join(streams[2:])))


def test_a_damaged_gzip_stream_is_an_error(tmp_path):
    packed = bytearray(
        gzip.compress(dump("t", COLUMNS, [(1, bytes(range(256)), 0.5, 1, None)] * 99))
    )
    packed[-6] ^= 0xFF  # the checksum at the end
    with pytest.raises(DataError, match=r"damaged or cut off.*Fetch it again"):
        read(write(tmp_path / "t.sql.gz", bytes(packed)))


def test_columns_are_found_by_name_whatever_their_order(tmp_path):
    rows = [(1, b"one", 0.5, 2, b"two")]
    turned = tuple(tuple(reversed(row)) for row in rows)
    one = write(tmp_path / "one.sql", dump("t", COLUMNS, rows))
    other = write(tmp_path / "other.sql", dump("t", COLUMNS[::-1], turned))
    assert read(one) == read(other)
    assert SqlTable(other, "t").columns() == COLUMNS[::-1]


def test_a_list_of_columns_counts_for_its_own_statement(tmp_path):
    body = b"INSERT INTO t (b,a) VALUES ('x',1);INSERT INTO `t` (`a`,`b`) VALUES (2,'y'),(3,'z');"
    assert values(small(tmp_path / "t.sql", body)) == [(1, b"x"), (2, b"y"), (3, b"z")]
    alone = write(tmp_path / "alone.sql", body)  # no CREATE TABLE
    assert values(alone) == [(1, b"x"), (2, b"y"), (3, b"z")]
    assert SqlTable(alone, "t").columns() == ("b", "a")


@pytest.mark.parametrize(
    "body",
    [
        b"INSERT INTO `t` VALUES (1,'x');",
        b"insert into `t` values (1,'x') ;",
        b"INSERT IGNORE INTO `wiki`.`t` VALUES\n(1,'x')\n;\n",
        b"REPLACE INTO t VALUES( 1 , 'x' );",
        b"-- it's\n--it's; no\n# it's\nINSERT INTO `t` VALUES (1,'x');",
        b"/* it's; INSERT INTO `t` VALUES (7,'no'); */ INSERT INTO `t` VALUES (1,'x');",
        b"INSERT INTO `t` VALUES (1,_binary 'x');",
        b"INSERT INTO `t` VALUES ('1',0x78);",
        b"INSERT INTO `other` VALUES (5,'a;b''),(6','c',7);INSERT INTO `t` VALUES (1,'x');",
        b"SET @x = 'INSERT INTO `t` (5);';INSERT INTO `t` VALUES (1,'x');-- no line end; it's",
        b"INSERT INTO `t` VALUES (1,'x');\n-- Dump completed",
        b"INSERT INTO `t` VALUES /* it's (7,'no'), */ (1,'x') -- it's;\n# (7,'no')\n;",
    ],
)
def test_ways_to_write_one_row(body, tmp_path):
    for piece in (32, 1 << 20):
        assert values(small(tmp_path / "t.sql", body), piece=piece) == [(1, b"x")]


@pytest.mark.parametrize("piece", [32, 1 << 20])
def test_a_list_of_columns_does_not_count_for_the_statement_behind_it(piece, tmp_path):
    body = b"INSERT INTO t (b,a) VALUES (2,1),(4,3);INSERT INTO t VALUES (5,6);"
    path = small(tmp_path / "t.sql", body, "`a` int, `b` int")
    found = [
        pair
        for batch in SqlTable(path, "t", piece=piece).batches(integers=("a", "b"))
        for pair in zip(batch.integers["a"].tolist(), batch.integers["b"].tolist(), strict=True)
    ]
    assert found == [(1, 2), (3, 4), (5, 6)]


@pytest.mark.parametrize(
    "definition",
    [
        b"CREATE TABLE /*!32312 IF NOT EXISTS*/ `t` (`a` int, `b` text);",
        b"CREATE TABLE t (\n-- the id\n`a` int, /* it's, (a text) */ `b` text);",
        b"CREATE TABLE `o` (`b` int);CREATE TABLE `t` (`a` int, # (\n `b` text);",
    ],
)
def test_comments_in_a_definition_hide_no_column(definition, tmp_path):
    path = write(tmp_path / "t.sql", definition + b"INSERT INTO `t` VALUES (1,'x');")
    assert values(path) == [(1, b"x")]


@pytest.mark.parametrize("mark", [b"/*!40000 ", b"/*M!100000 ", b"/*! "])
def test_rows_in_a_comment_that_mysql_runs_are_an_error(mark, tmp_path):
    body = b"INSERT INTO `t` VALUES (1,'x');\n" + mark + b"INSERT INTO `t` VALUES (2,'y')*/;"
    with pytest.raises(DataError, match="rows inside a comment"):
        values(small(tmp_path / "t.sql", body))
    inside = b"INSERT INTO `t` VALUES (1,'x') " + mark + b",(2,'y')*/;"
    with pytest.raises(DataError, match="expected a row"):
        values(small(tmp_path / "t.sql", inside))


def test_strings_written_as_hexadecimal_digits_are_compared_as_bytes(tmp_path):
    body = b"INSERT INTO `t` VALUES (1,0x78),(2,0x79),(3,'x'),(4,0x7),(5,'0x78'),(6,'yz');"
    table = SqlTable(small(tmp_path / "t.sql", body), "t")
    batches = table.batches(integers=("a",), where=("b", b"x"))
    assert [value for batch in batches for value in batch.integers["a"].tolist()] == [1, 3]


def test_the_backslash_of_a_like_pattern_stays_as_in_mysql(tmp_path):
    body = rb"INSERT INTO `t` VALUES (1,'50\%\_\\_\a');"
    assert values(small(tmp_path / "t.sql", body)) == [(1, rb"50\%\_\_a")]


def test_a_table_without_rows_is_no_error_here(tmp_path):
    path = write(tmp_path / "t.sql", dump("t", COLUMNS, []))
    assert read(path) == []


def test_a_row_of_many_megabytes_is_read(tmp_path):
    long = b"x'" * 3_000_000
    path = small(tmp_path / "t.sql", b"INSERT INTO `t` VALUES (1," + literal(long) + b");")
    assert values(path, piece=1 << 16) == [(1, long)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"INSERT INTO `t` VALUES (1,'x',2);", r"not as many values .*\(2\)"),
        (b"INSERT INTO `t` VALUES (1);", r"not as many values .*\(2\)"),
        (b"INSERT INTO `t` VALUES (1,'x'),;", r"expected a row .*: b';'"),
        (b"INSERT INTO `t` VALUES (1,'x') (2,'y');", r"expected a row"),
        (b"INSERT INTO `t` VALUES (,'x');", r"no value that mysqldump writes"),
        (b"INSERT INTO `t` VALUES (1,'x'y);", r"no value that mysqldump writes"),
        (b"INSERT INTO `t` VALUES (1.5,'x');", r"'a' is b'1\.5', expected a whole number"),
        (b"INSERT INTO `t` VALUES (9223372036854775808,'x');", r"whole number below 2\*\*63"),
        (b"INSERT INTO `t` VALUES (1,2);", r"'b' is b'2', expected a string"),
        (b"INSERT INTO `t` VALUES (1,x'78');", r"'b' is .*expected a string"),
        (b"INSERT INTO `t` VALUES (1,0x7);", r"'b' is b'0x7', expected a string"),
        (b"INSERT INTO `t` SELECT 1;", r"ends inside a statement"),
        (b"INSERT INTO `t` VALUES (1,'x'),", r"ends inside an INSERT"),
        (b"INSERT INTO `t` VALUES (1,'x", r"ends inside an INSERT"),
        (b"hello", r"ends inside a statement that begins at byte"),
        (b"INSERT INTO `t` VALUES (1,'x') ON DUPLICATE KEY UPDATE a=1;", r"expected .* `;` behind"),
        (b"INSERT INTO `t` VALUES (1,'x') /* (2,'y');", r"ends inside an INSERT"),
        (b"INSERT INTO `t` VALUES (1,'x') -", r"ends inside an INSERT"),
    ],
)
def test_what_is_no_dump_of_the_table_is_an_error_that_names_file_and_place(
    body, message, tmp_path
):
    with pytest.raises(DataError, match=r"t\.sql.*" + message):
        values(small(tmp_path / "t.sql", body))


def test_a_column_that_is_not_there_is_an_error_that_lists_those_that_are(tmp_path):
    for body in (b"", b"INSERT INTO `t` VALUES (1,'x');"):
        with pytest.raises(DataError, match=r"`t` has no column 'b'\. It has: 'a', 'c'"):
            values(small(tmp_path / "t.sql", body, "`a` int, `c` text"))


def test_no_file_an_empty_file_and_another_table_are_errors(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        values(tmp_path / "t.sql")
    with pytest.raises(DataError, match="the file is empty"):
        values(write(tmp_path / "t.sql", b""))
    other = write(tmp_path / "t.sql", dump("page_restrictions", COLUMNS, [(1, b"", 0.5, 1, b"")]))
    with pytest.raises(DataError, match=r"no CREATE TABLE `t`.*found: `page_restrictions`"):
        values(other)
    with pytest.raises(DataError, match=r"come before its CREATE TABLE"):
        values(write(tmp_path / "t.sql", b"INSERT INTO t VALUES (1,'x');"))
    with pytest.raises(DataError, match="cannot be read"):
        values(tmp_path)
    with pytest.raises(DataError, match="the file is UTF-16"):
        values(write(tmp_path / "t.sql", "CREATE TABLE `t` (`a` int);".encode("utf-16")))


def test_a_dump_without_its_closing_line_is_told(tmp_path):
    whole = dump("t", COLUMNS, [(1, b"", 0.5, 1, b"")])
    table = SqlTable(write(tmp_path / "t.sql", whole), "t")
    list(table.batches(integers=("a_id",)))
    assert table.closing_line
    table = SqlTable(write(tmp_path / "t.sql", whole[: whole.index(b"-- Dump completed")]), "t")
    list(table.batches(integers=("a_id",)))
    assert not table.closing_line
    assert table.bytes_read == (tmp_path / "t.sql").stat().st_size


def test_progress_reaches_the_size_of_the_file(tmp_path):
    path = write(tmp_path / "t.sql.gz", gzip.compress(dump("t", COLUMNS, [(1, b"", 0.5, 1, b"")])))
    told: list[tuple[Path, int, int]] = []
    list(SqlTable(path, "t", progress=lambda *one: told.append(one)).batches(integers=("a_id",)))
    assert told[-1] == (path, path.stat().st_size, path.stat().st_size)


def test_a_file_that_is_closed_early_leaves_nothing_open(tmp_path):
    path = write(tmp_path / "t.sql", dump("t", COLUMNS, [(1, b"", 0.5, 1, b"")] * 9))
    rows = SqlTable(path, "t", piece=64).batches(integers=("a_id",))
    next(rows)
    rows.close()  # pytest turns an unclosed file into an error
    with Packed(path) as file:
        assert file.fill(memoryview(bytearray(4))) == 4


def test_without_numba_the_error_says_what_to_install(tmp_path):
    path = small(tmp_path / "t.sql", b"")
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from pathlib import Path\n"
        "from askew.datasets.sql_rows import SqlTable\n"
        "from askew.errors import MissingDependency\n"
        f"try: list(SqlTable(Path({str(path)!r}), 't').batches(integers=('a',)))\n"
        "except MissingDependency as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numba is not installed" in done.stdout
    assert "askew[boundary]" in done.stdout
