"""SKOS to a graph: lines of skos:broader, whatever else the file holds."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import DataError
from askew.graphs.skos import read_skos

SKOS = "http://www.w3.org/2004/02/skos/core#"
CATEGORY = "http://dbpedia.org/resource/Category:"


def triple(child: str, parent: str, base: str = CATEGORY, predicate: str = "broader") -> str:
    return f"<{base}{child}> <{SKOS}{predicate}> <{base}{parent}> .\n"


BASE = triple("Physics", "Science") + triple("Optics_(light)", "Physics")
EDGES = {("Physics", "Science"), ("Optics (light)", "Physics")}


def written(folder: Path, text: str | bytes, name: str = "skos.nt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def edges(path: Path, **options: str) -> set[tuple[str, str]]:
    graph = read_skos(path, **options).graph
    return {
        (graph.title(child), graph.title(int(parent)))
        for child in range(graph.size)
        for parent in graph.parents(child)
    }


def test_other_statements_comments_and_blank_lines_are_skipped_and_counted(tmp_path):
    text = (
        "# started 2020-01-01\n\n"
        + BASE
        + f'<{CATEGORY}Physics> <{SKOS}prefLabel> "Physics <a> . # \'x\' \\" "@en .\n'
        + triple("Physics", "Chemistry", predicate="related")
        + f"<{CATEGORY}Physics> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        f"<{SKOS}Concept> .\r\n" + "# completed 2020-01-01\n"
    )
    read = read_skos(written(tmp_path, text))
    assert edges(tmp_path / "skos.nt") == EDGES
    counts = read.counts
    assert (counts["broader_statements"], counts["other_statements"]) == (2, 3)
    assert (counts["comment_lines"], counts["blank_lines"], counts["lines"]) == (2, 1, 8)
    assert read.notes == ()


NAME = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8).map(
    lambda name: "".join(one for one in name if one not in '<>"{}|^`\\%_') or "x"
)


@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(NAME, NAME), min_size=1, max_size=8), data=st.data())
def test_names_with_percent_signs_escapes_and_as_they_are_are_one(pairs, data, tmp_path_factory):
    apart = {pair for pair in pairs if pair[0] != pair[1]}
    ways = st.sampled_from(
        [
            lambda name: name,
            lambda name: quote(name, safe=""),
            lambda name: "".join(f"\\U{ord(one):08X}" for one in name),
        ]
    )
    lines = [triple(*(data.draw(ways)(name) for name in pair)) for pair in pairs]
    path = written(tmp_path_factory.mktemp("skos"), "".join(lines))
    if not apart:
        with pytest.raises(DataError, match="no link between two topics is left"):
            read_skos(path, maintenance="keep")
        return
    read = read_skos(path, maintenance="keep")
    assert edges(path, maintenance="keep") == apart
    assert read.graph.size == len({name for pair in pairs for name in pair})
    loops = sum(child == parent for child, parent in pairs)
    assert read.counts["self_loops"] == loops
    assert read.counts["duplicate_links"] == len(pairs) - loops - len(apart)


@pytest.mark.parametrize(
    "base",
    [
        "http://de.dbpedia.org/resource/Kategorie:",
        "http://fr.dbpedia.org/resource/Cat%C3%A9gorie:",
        "http://fr.dbpedia.org/resource/Catégorie:",
        "https://example.org/vocabulary#",
        "https://example.org/concepts/",
    ],
)
def test_other_languages_and_vocabularies_are_read(base, tmp_path):
    text = triple("Physics", "Science", base) + triple("Optics_(light)", "Physics", base)
    assert edges(written(tmp_path, text)) == EDGES


def test_names_of_several_hosts_stay_apart_and_are_noted(tmp_path):
    text = BASE + triple("Physics", "Science", "http://de.dbpedia.org/resource/Kategorie:")
    read = read_skos(written(tmp_path, text))
    assert read.graph.titles().count("Physics") == 2
    assert any("several hosts" in note for note in read.notes)


@pytest.mark.parametrize("pack", [gzip, bz2])
def test_packed_files_are_read_and_cut_ones_are_errors(pack, tmp_path):
    packed = pack.compress((BASE * 50).encode())
    assert edges(written(tmp_path, packed, "skos.nt.bz2")) == EDGES
    for cut in (len(packed) // 2, len(packed) - 1):
        with pytest.raises(DataError, match=r"skos\.nt\.bz2: the file is damaged or cut off"):
            read_skos(written(tmp_path, packed[:cut], "skos.nt.bz2"))


@pytest.mark.parametrize("host", ["http://[x", "http://[::1", "urn:x", "http://a\uff0fb"])
def test_no_name_of_a_host_is_too_odd(host, tmp_path):
    text = triple("A", "B", f"{host}/resource/Category:")
    assert edges(written(tmp_path, text)) == {("A", "B")}


def test_a_file_that_ends_in_mid_line_or_mid_statement_is_an_error(tmp_path):
    for cut in range(2, len(triple("Optics_(light)", "Physics")) - 1):
        with pytest.raises(DataError, match=r"skos\.nt(:2)?: the file ends .*cut off"):
            read_skos(written(tmp_path, BASE[:-cut]))
    assert edges(written(tmp_path, BASE[:-1])) == EDGES  # the last line's end may be missing
    read = read_skos(written(tmp_path, "# started 2020\n" + BASE))
    assert any("completed" in note for note in read.notes)


def test_lines_of_more_than_one_piece_and_a_byte_order_mark_are_read(tmp_path):
    label = "x" * 3_000_000
    text = f'\ufeff{BASE}<{CATEGORY}Physics> <{SKOS}prefLabel> "{label}"@en .\n'
    text += triple("Sound", "Physics")
    assert edges(written(tmp_path, text)) == EDGES | {("Sound", "Physics")}


def test_bad_lines_are_counted_and_named_and_nothing_else_is_lost(tmp_path):
    bad = [
        b"garbage\n",
        triple("%FF", "Science").encode(),
        b"<a> <b>\xff <c> .\n",
        f'<{CATEGORY}A> <{SKOS}broader> "text" .\n'.encode(),
        triple("", "Science").encode(),
        triple("\\uD800", "Science").encode(),
        b"dbc:A skos:broader dbc:B .\n",
        b"<a> <b> .\n",
    ]
    good = [triple(f"Topic_{number}", "Science").encode() for number in range(len(bad))]
    data = b"".join(one for pair in zip(bad, good, strict=True) for one in pair)
    read = read_skos(written(tmp_path, data))
    assert read.counts["bad_lines"] == len(bad)
    assert read.counts["broader_statements"] == len(good)
    assert read.graph.edges == len(good)
    (note,) = read.notes
    assert f"{len(bad)} lines could not be read" in note
    assert "line 1 (not N-Triples or plain Turtle at column 1): 'garbage'" in note
    assert "line 3 " in note
    assert "line 5 (not UTF-8)" in note
    with pytest.raises(DataError, match=r"too little skos:broader.*bad lines 8.*line 1 \("):
        read_skos(written(tmp_path, b"".join([*bad, *good[:7]])))


def test_plain_turtle_with_prefixes_and_lists_is_read(tmp_path):
    text = f"""@prefix skos: <{SKOS}> .
PREFIX dbc: <{CATEGORY}>
dbc:Physics a skos:Concept ;
    skos:prefLabel "Physics; see dbc:X ."@en, 'x'^^skos:y ; # a comment; with . marks
    skos:broader dbc:Science , <{CATEGORY}Women's_rights> ;
    .
dbc:Optics_\\(light\\) skos:broader dbc:Physics.
"""
    assert edges(written(tmp_path, text, "skos.ttl")) == EDGES | {("Physics", "Women's rights")}
    with pytest.raises(DataError, match="the file ends inside a statement"):
        read_skos(written(tmp_path, text[: text.index("    .\n")], "skos.ttl"))


def test_maintenance_and_what_is_named_go(tmp_path):
    text = BASE + triple("CS1_errors", "Science") + triple("Sound", "Optics_(light)")
    path = written(tmp_path, text)
    assert ("CS1 errors", "Science") not in edges(path)
    assert ("CS1 errors", "Science") in edges(path, maintenance="keep")
    assert edges(path, drop_below=["Optics (light)"]) == {("Physics", "Science")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no skos:broader in the file: it is empty"),
        ("# started\n# completed\n", "no skos:broader in the file: lines 2"),
        (triple("A", "B", predicate="related"), "no skos:broader.*other statements 1"),
        ("INSERT INTO `page` VALUES (1);\n", r"no skos:broader.*line 1 \(not N-Triples"),
        (triple("A", "A"), "no link between two topics is left.*self loops 1"),
    ],
)
def test_a_file_without_links_is_an_error(text, message, tmp_path):
    with pytest.raises(DataError, match=rf"skos\.nt.*{message}"):
        read_skos(written(tmp_path, text))


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"skos\.nt: cannot be read"):
        read_skos(tmp_path / "skos.nt")
