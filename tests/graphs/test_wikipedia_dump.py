"""Wikipedia's dumps to a graph: three layouts, one graph; whatever is left out is counted."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba", reason="numba is not installed: the extra askew[boundary]")

from askew.errors import ConfigError, DataError
from askew.graphs.topics import ImportedGraph, TopicGraph
from askew.graphs.wikipedia_dump import read_dump
from tests.datasets.sql_dumps import Row, dump, write

PAGE = [
    *("page_id", "page_namespace", "page_title", "page_is_redirect", "page_is_new"),
    *("page_random", "page_touched", "page_links_updated", "page_latest", "page_len"),
    *("page_content_model", "page_lang"),
]
LINKS = {
    "old": "cl_from cl_to cl_sortkey cl_timestamp cl_sortkey_prefix cl_collation cl_type",
    # As MediaWiki's own SQL creates it.
    "own": "cl_from cl_to cl_sortkey cl_sortkey_prefix cl_timestamp cl_collation cl_type",
    "transitional": "cl_from cl_to cl_sortkey cl_timestamp cl_sortkey_prefix cl_collation cl_type "
    "cl_collation_id cl_target_id",
    "new": "cl_from cl_sortkey cl_timestamp cl_sortkey_prefix cl_type cl_collation_id cl_target_id",
}
TARGET = ["lt_id", "lt_namespace", "lt_title"]
FIRST_TARGET = 2**33
KEYS = (b"ABC", b"),(7,'x','subcat')", b"\xe6\x97", b"\\", b"it's\n;", b"")


def page(number: int | None, title: bytes, *, namespace: int = 14, redirect: int = 0) -> Row:
    return (
        number, namespace, title, redirect, 0, 0.25, b"20260101000000", None, 9, 30, b"wikitext",
        None,
    )  # fmt: skip


class Wiki:
    """A made-up wiki, written as a dump of any layout."""

    def __init__(self) -> None:
        self.pages: list[Row] = []
        self.links: list[tuple[int, bytes, bytes]] = []  # from, to, type
        self.hidden: list[int] = []
        self.redirects: list[Row] = []
        self.subcategories: list[Row] = []

    def add(self, number: int, title: bytes, *parents: bytes, redirect: int = 0) -> Wiki:
        """A category and what it stands under."""
        self.pages.append(page(number, title, redirect=redirect))
        self.links += [(number, parent, b"subcat") for parent in parents]
        return self

    def write(self, folder: Path, layout: str = "new", name: str = "{}.sql", null: int = 0) -> Path:
        """All files; every `null`-th link of the transitional layout has no target id."""
        columns = LINKS[layout].split()
        titles = sorted({parent for _, parent, _ in self.links})
        targets = {title: FIRST_TARGET + place for place, title in enumerate(titles)}
        rows = []
        for place, (child, parent, kind) in enumerate(self.links):
            values = {
                "cl_from": child,
                "cl_to": parent,
                "cl_sortkey": KEYS[place % len(KEYS)],
                "cl_timestamp": b"2026-01-01 10:00:00",
                "cl_sortkey_prefix": b"*",
                "cl_collation": b"uca-default-u-kn",
                "cl_type": kind,
                "cl_collation_id": 1,
                "cl_target_id": None if null and place % null == 0 else targets[parent],
            }
            rows.append(tuple(values[name] for name in columns))
        tables: dict[str, tuple[list[str], list[Row]]] = {
            "page": (PAGE, self.pages),
            "categorylinks": (columns, rows),
        }
        if "cl_target_id" in columns:
            tables["linktarget"] = (
                TARGET,
                [
                    *((number, 14, title) for title, number in targets.items()),
                    *((7 + place, 0, title) for place, title in enumerate(titles)),
                ],
            )
        if self.hidden:
            tables["page_props"] = (
                ["pp_page", "pp_propname", "pp_value", "pp_sortkey"],
                [
                    *((number, b"hiddencat", b"", None) for number in self.hidden),
                    (1, b"defaultsort", b"hiddencat", None),
                ],
            )
        if self.redirects:
            tables["redirect"] = (
                ["rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"],
                self.redirects,
            )
        if self.subcategories:
            tables["category"] = (["cat_id", "cat_title", "cat_subcats"], self.subcategories)
        for table, (names, some) in tables.items():
            data = dump(table, names, some)
            path = folder / name.format(table)
            write(path, gzip.compress(data) if path.suffix == ".gz" else data)
        return folder


@pytest.fixture
def wiki() -> Wiki:
    found = Wiki().add(1, b"Topics").add(2, b"Women's_rights", b"Topics")
    found.add(3, b"Births_in_Paris,_(Texas)", b"Topics", b"Women's_rights")
    found.pages.append(page(9, b"Women's_rights", namespace=0))
    found.links.append((9, b"Topics", b"page"))
    return found


BASE = {
    ("Women's rights", "Topics"),
    ("Births in Paris, (Texas)", "Topics"),
    ("Births in Paris, (Texas)", "Women's rights"),
}


def edges(read: ImportedGraph | TopicGraph) -> set[tuple[str, str]]:
    graph = read.graph if isinstance(read, ImportedGraph) else read
    return {
        (graph.title(child), graph.title(int(parent)))
        for child in range(graph.size)
        for parent in graph.parents(child)
    }


@pytest.mark.parametrize("layout", LINKS)
@pytest.mark.parametrize("name", ["{}.sql", "enwiki-20260101-{}.sql.gz", "wiki.{}.sql"])
def test_each_layout_and_name_gives_the_same_graph(wiki, layout, name, tmp_path):
    read = read_dump(wiki.write(tmp_path, layout, name, null=2 if layout == "transitional" else 0))
    assert edges(read) == BASE
    assert read.graph.ids.tolist() == [1, 2, 3]
    assert read.counts["categorylinks_rows"] == 4
    assert read.counts["subcategory_links"] == 3
    assert read.counts["topics"] == 3
    assert read.counts["edges"] == 3


TITLES = st.lists(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).map(
        lambda title: title.replace(" ", "_").encode()
    ),
    min_size=2,
    max_size=6,
    unique_by=lambda title: title.replace(b"_", b" "),
)


@settings(max_examples=40, deadline=None)
@given(titles=TITLES, layout=st.sampled_from(list(LINKS)), data=st.data())
def test_whatever_the_titles_and_links_the_graph_has_them(titles, layout, data, tmp_path_factory):
    places = st.integers(0, len(titles) - 1)
    pairs = data.draw(st.lists(st.tuples(places, places), min_size=1, max_size=9))
    wiki = Wiki()
    for number, title in enumerate(titles):
        wiki.add(number + 1, title)
    wiki.links = [(child + 1, titles[parent], b"subcat") for child, parent in pairs]
    folder = wiki.write(tmp_path_factory.mktemp("wiki"), layout)
    apart = {(child, parent) for child, parent in pairs if child != parent}
    if not apart:
        with pytest.raises(DataError, match=r"no link between two categories is left.*self loops"):
            read_dump(folder, maintenance="keep")
        return
    read = read_dump(folder, maintenance="keep")
    names = [title.decode().replace("_", " ") for title in titles]
    assert read.graph.titles() == names
    assert edges(read) == {(names[child], names[parent]) for child, parent in apart}
    loops = sum(child == parent for child, parent in pairs)
    assert read.counts["self_loops"] == loops
    assert read.counts["duplicate_links"] == len(pairs) - loops - len(apart)


def test_a_target_id_is_no_page_id_and_the_name_counts_where_it_is_empty(wiki, tmp_path):
    wiki.add(FIRST_TARGET, b"Decoy").add(FIRST_TARGET + 1, b"Other_decoy")
    for null in (1, 2, 3):
        folder = wiki.write(tmp_path / str(null), "transitional", null=null)
        assert edges(read_dump(folder)) == BASE


def test_red_categories_are_counted_and_kept_on_demand(wiki, tmp_path):
    wiki.add(4, b"Bridges", b"No_such_page", b"Topics").add(5, b"Tunnels", b"No_such_page")
    for layout in ("old", "new"):
        folder = wiki.write(tmp_path / layout, layout)
        read = read_dump(folder)
        assert (read.counts["red_categories"], read.counts["links_to_red_categories"]) == (1, 2)
        assert edges(read) == BASE | {("Bridges", "Topics")}
        assert read.counts["topics_without_links"] == 1  # Tunnels stands under nothing else
        read = read_dump(folder, keep_red=True)
        assert ("Tunnels", "No such page") in edges(read)
        assert read.graph.ids.tolist()[-1] == -1


def test_links_without_an_end_are_counted(wiki, tmp_path):
    wiki.links.append((777, b"Topics", b"subcat"))
    folder = wiki.write(tmp_path)
    path = folder / "linktarget.sql"
    assert read_dump(folder).counts["links_from_missing_pages"] == 1
    path.write_bytes(
        path.read_bytes().replace(b",14,'Women\\'s_rights'", b",10,'Women\\'s_rights'")
    )
    read = read_dump(folder)
    assert read.counts["links_without_linktarget"] == 1
    assert edges(read) == BASE - {("Births in Paris, (Texas)", "Women's rights")}


def test_titles_that_are_no_utf8_are_left_out_and_named(wiki, tmp_path):
    wiki.add(4, b"Caf\xe9", b"Topics").add(5, b"", b"Topics").add(
        6, b"Cafes", b"Caf\xe9", b"Topics"
    )
    read = read_dump(wiki.write(tmp_path))
    assert read.counts["bad_titles"] == 2
    assert any("b'Caf\\xe9', b''" in note for note in read.notes)
    assert read.counts["links_from_missing_pages"] == 2
    assert read.counts["links_to_red_categories"] == 1
    assert edges(read) == BASE | {("Cafes", "Topics")}
    kept = read_dump(tmp_path, keep_red=True)
    assert kept.counts["bad_red_titles"] == 1
    assert kept.graph.equals(read.graph)


def test_hidden_and_maintenance_categories_are_left_out_on_demand(wiki, tmp_path):
    wiki.add(4, b"Obscure", b"Topics").add(5, b"Songs", b"Obscure", b"Topics")
    wiki.add(6, b"CS1_errors:_dates", b"Topics").add(7, b"Rivers", b"Topics")
    wiki.add(8, b"Wikipedia_soft_redirected_categories").add(
        10, b"Streams", b"Rivers", b"Wikipedia_soft_redirected_categories"
    )
    wiki.hidden = [4]
    folder = wiki.write(tmp_path)
    read = read_dump(folder)
    left = {("Songs", "Topics"), ("Rivers", "Topics")}
    assert edges(read) == BASE | left
    assert (read.counts["hidden"], read.counts["maintenance"]) == (1, 3)
    assert read.counts["links_of_dropped_categories"] == 5
    assert ("Songs", "Obscure") in edges(read_dump(folder, hidden="keep"))
    assert ("CS1 errors: dates", "Topics") in edges(read_dump(folder, maintenance="keep"))
    assert edges(read_dump(folder, drop_below=["Women's rights"])) == left
    with pytest.raises(DataError, match="no link between two topics is left"):
        read_dump(folder, drop_below=["Topics"])
    with pytest.raises(DataError, match="no topic is called 'Topicz'"):
        read_dump(folder, drop_below=["Topicz"])
    with pytest.raises(ConfigError, match="hidden is 'no', expected 'drop' or 'keep'"):
        read_dump(folder, hidden="no")


def test_without_page_props_a_note_says_that_hidden_categories_are_in(wiki, tmp_path):
    read = read_dump(wiki.write(tmp_path))
    assert any("page_props" in note for note in read.notes)
    assert "hidden" not in read.counts


def test_page_props_that_mark_no_category_as_hidden_get_a_note(wiki, tmp_path):
    wiki.hidden = [9]  # an article
    read = read_dump(wiki.write(tmp_path))
    assert any("None of the 2 rows of page_props" in note for note in read.notes)
    wiki.add(4, b"Obscure", b"Topics")
    wiki.hidden = [4]
    assert not any("page_props" in note for note in read_dump(wiki.write(tmp_path)).notes)


def test_redirects_are_left_out_or_followed_and_counted(wiki, tmp_path):
    wiki.add(4, b"Womens_rights", redirect=1).add(5, b"Rights_of_women", b"Topics", redirect=1)
    wiki.add(6, b"Loop", redirect=1).add(7, b"Away", redirect=1).add(8, b"Nowhere", redirect=1)
    wiki.add(10, b"Suffrage", b"Rights_of_women", b"Loop").add(11, b"Abroad", b"Away", b"Nowhere")
    read = read_dump(wiki.write(tmp_path / "without"))
    assert edges(read) == BASE
    assert any("No file of redirect" in note for note in read.notes)
    assert read.counts["redirect_pages"] == 5
    assert read.counts["links_to_redirects_dropped"] == 4
    wiki.redirects = [
        (4, 14, b"Women's_rights", b"", b""),
        (5, 14, b"Womens_rights", b"", b""),
        (6, 14, b"Loop", b"", b""),
        (7, 14, b"Topics", b"commons", b""),
        (8, 0, b"Topics", b"", b""),
    ]
    read = read_dump(wiki.write(tmp_path / "with"))
    assert edges(read) == BASE | {("Suffrage", "Women's rights")}
    assert read.counts["links_to_redirects_followed"] == 1
    assert read.counts["links_to_redirects_dropped"] == 3
    assert read.counts["links_from_redirects"] == 1
    assert "Loop" not in read.graph.titles()


@pytest.mark.parametrize("numbers", [(3, 4, 5, 6), (6, 5, 4, 3), (4, 6, 3, 5)])
def test_a_chain_of_redirects_is_followed_to_its_end_whatever_its_order(numbers, tmp_path):
    names = [b"R%d" % number for number in numbers]
    wiki = Wiki().add(1, b"Topics").add(2, b"End", b"Topics").add(7, b"Child", names[0], b"Topics")
    for number, name in sorted(zip(numbers, names, strict=True)):
        wiki.add(number, name, redirect=1)
    for number, end in zip(numbers, [*names[1:], b"End"], strict=True):
        wiki.redirects.append((number, 14, end, b"", b""))
    read = read_dump(wiki.write(tmp_path / "chain"))
    assert edges(read) == {("End", "Topics"), ("Child", "Topics"), ("Child", "End")}
    wiki.redirects[-1] = (numbers[-1], 14, names[1], b"", b"")  # it bites its tail
    read = read_dump(wiki.write(tmp_path / "circle"))
    assert edges(read) == {("End", "Topics"), ("Child", "Topics")}
    assert read.counts["links_to_redirects_dropped"] == 1


def test_a_link_target_without_a_title_never_becomes_a_topic(wiki, tmp_path):
    wiki.links.append((3, b"", b"subcat"))
    for layout in ("old", "transitional", "new"):
        read = read_dump(wiki.write(tmp_path / layout, layout), keep_red=True)
        assert edges(read) == BASE
        lost = read.counts["links_without_linktarget"] + read.counts.get("bad_red_titles", 0)
        assert lost == 1


def test_hidden_categories_are_known_in_a_dump_with_hexadecimal_strings(wiki, tmp_path):
    wiki.add(4, b"Obscure", b"Topics")
    wiki.hidden = [4]
    path = wiki.write(tmp_path) / "page_props.sql"
    path.write_bytes(path.read_bytes().replace(b"'hiddencat'", b"0x68696464656E636174"))
    read = read_dump(tmp_path)
    assert read.counts["hidden"] == 1
    assert edges(read) == BASE


def test_cycles_stay_and_are_counted_and_named(wiki, tmp_path):
    wiki.links += [(1, b"Women's_rights", b"subcat"), (3, b"Births_in_Paris,_(Texas)", b"subcat")]
    read = read_dump(wiki.write(tmp_path))
    assert edges(read) == BASE | {("Topics", "Women's rights")}
    assert (read.counts["cycles"], read.counts["topics_on_cycles"]) == (1, 2)
    assert read.counts["self_loops"] == 1
    assert any("in a circle" in note and "'Topics'" in note for note in read.notes)


def test_pages_and_links_that_stand_twice_count_once(wiki, tmp_path):
    wiki.pages += [page(2, b"Women's_rights"), page(8, b"Topics")]
    wiki.links += [(2, b"Topics", b"subcat")] * 2
    read = read_dump(wiki.write(tmp_path))
    assert edges(read) == BASE
    assert (read.counts["duplicate_pages"], read.counts["duplicate_links"]) == (2, 2)


def test_hostile_titles_stay_as_they_are(wiki, tmp_path):
    hostile = "<script>alert(1)</script>\x1b[31m\n‮"
    wiki.add(4, hostile.encode(), b"Topics")
    read = read_dump(wiki.write(tmp_path))
    assert hostile in read.graph.titles()
    wiki.links.append((1, hostile.encode(), b"subcat"))
    notes = read_dump(wiki.write(tmp_path)).notes
    assert not any(mark in note for note in notes for mark in ("\x1b", "\n", "‮"))


def _without(table: str) -> Callable[[Path], None]:
    return lambda folder: (folder / f"{table}.sql").unlink()


def _cut(table: str) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        path = folder / f"{table}.sql"
        path.write_bytes(path.read_bytes()[:-90])

    return cut


def _of(table: str, data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / f"{table}.sql").write_bytes(data)


def _also(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_without("page"), r"no file of the table `page`.*Add .*-page\.sql\.gz"),
        (_without("categorylinks"), r"no file of the table `categorylinks`"),
        (_without("linktarget"), r"cl_target_id.*Add .*-linktarget\.sql\.gz.*or linktarget\.sql"),
        (_cut("page"), r"page\.sql.*cut off"),
        (_cut("categorylinks"), r"categorylinks\.sql.*cut off"),
        (_cut("linktarget"), r"linktarget\.sql.*cut off"),
        (_of("page", b""), r"page\.sql: the file is empty"),
        (_of("page", dump("page", PAGE, [])), r"page\.sql: no category .* among 0 pages"),
        (_of("page", dump("page", PAGE, [page(1, b"A", namespace=0)])), r"among 1 pages"),
        (_of("page", dump("page", PAGE, [page(8, b"A")])), r"3 of them from pages that are no"),
        (
            _of("page", dump("page", PAGE, [page(1, b"A"), page(1, b"B")])),
            r"page_id 1 belongs to two categories, b'A' and b'B'",
        ),
        (_of("page", dump("page", PAGE[1:], [])), r"has no column 'page_id'"),
        (_of("page", dump("page", PAGE, [page(None, b"A")])), r"'page_id' is NULL in a row"),
        (_of("linktarget", dump("linktarget", TARGET, [])), "3 to"),
        (_of("linktarget", dump("linktarget", TARGET, [(None, 14, b"A")])), "'lt_id' is NULL"),
        (
            _of("linktarget", dump("linktarget", TARGET, [(5, 14, b"A"), (5, 14, b"B")])),
            r"lt_id 5 belongs to two categories, b'A' and b'B'",
        ),
        (_of("categorylinks", dump("categorylinks", LINKS["new"].split(), [])), "of 0 rows 0 are"),
        (
            _of("categorylinks", dump("categorylinks", ["cl_from", "cl_type", "cl_sortkey"], [])),
            r"`categorylinks` has no column 'cl_target_id'\. It has: 'cl_from', 'cl_type'",
        ),
        (_also("page.sql.gz"), r"two files hold the table `page`: page\.sql and page\.sql\.gz"),
        (_also("enwiki-20260101-page.sql"), r"two files hold the table `page`"),
    ],
)
def test_missing_empty_cut_and_foreign_files_are_errors(wiki, spoil, message, tmp_path):
    folder = wiki.write(tmp_path)
    spoil(folder)
    with pytest.raises(DataError, match=message):
        read_dump(folder)


def test_the_file_to_add_is_named_like_the_others(wiki, tmp_path):
    folder = wiki.write(tmp_path, name="dewiki-20260301-{}.sql.gz")
    (folder / "dewiki-20260301-linktarget.sql.gz").unlink()
    with pytest.raises(DataError, match=r"Add dewiki-20260301-linktarget\.sql\.gz"):
        read_dump(folder)


def test_files_of_two_wikis_are_an_error_and_of_two_days_a_note(wiki, tmp_path):
    wiki.write(tmp_path, name="enwiki-20260101-{}.sql")
    links = tmp_path / "enwiki-20260101-categorylinks.sql"
    links = links.rename(tmp_path / "enwiki-20260201-categorylinks.sql")
    read = read_dump(tmp_path)
    assert any("different days" in note for note in read.notes)
    links.rename(tmp_path / "simplewiki-20260101-categorylinks.sql")
    with pytest.raises(DataError, match="files of different wikis"):
        read_dump(tmp_path)


def test_files_may_be_listed_and_a_folder_may_hold_other_files(wiki, tmp_path):
    folder = wiki.write(tmp_path)
    (folder / "README.txt").write_text("not SQL")
    (folder / "enwiki-20260101-pagelinks.sql.gz").write_bytes(b"not gzip")
    listed = [folder / f"{table}.sql" for table in ("page", "linktarget", "categorylinks")]
    assert read_dump(listed).graph.equals(read_dump(str(folder)).graph)
    with pytest.raises(DataError, match=r"pagelinks.*the name names no table"):
        read_dump([*listed, folder / "enwiki-20260101-pagelinks.sql.gz"])
    with pytest.raises(DataError, match="no such file"):
        read_dump([folder / "nothing" / "page.sql"])
    with pytest.raises(DataError, match="no such folder"):
        read_dump(folder / "nothing")
    with pytest.raises(DataError, match="not a folder"):
        read_dump(listed[0])
    with pytest.raises(DataError, match="no file of the table `page`"):
        read_dump([])


def test_mediawikis_own_count_shows_a_file_that_is_cut_between_statements(wiki, tmp_path):
    wiki.subcategories = [(1, b"Topics", 2), (2, b"Women's_rights", 1), (3, b"Odd", -1)]
    read = read_dump(wiki.write(tmp_path))
    assert read.counts["subcategories_told"] == 3
    assert not any("table category" in note for note in read.notes)
    wiki.subcategories[0] = (1, b"Topics", 200)
    assert any("table category" in note for note in read_dump(wiki.write(tmp_path)).notes)


def test_a_whole_database_in_one_file_is_not_taken_for_a_table(wiki, tmp_path):
    folder = wiki.write(tmp_path)
    tables = ["page", "linktarget", "categorylinks"]
    whole = b"".join((folder / f"{table}.sql").read_bytes() for table in tables)
    for table in tables:
        (folder / f"{table}.sql").write_bytes(whole)
    assert edges(read_dump(folder)) == BASE
