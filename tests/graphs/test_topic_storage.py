"""A graph comes back from its folder as it went in; a folder that was meddled with is refused."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings

from askew.errors import DataError
from askew.graphs import topic_storage
from askew.graphs.topic_storage import META, check_place, is_graph_folder, open_graph, save_graph
from askew.graphs.topics import build_graph
from tests.graphs.topic_graphs import graph_of, graphs

ARRAYS = (
    "ids",
    "starts",
    "neighbours",
    "direction",
    "title_bytes",
    "title_starts",
    "domain_of",
)

LAW = settings(deadline=None, max_examples=30)  # other work may share the cores


@pytest.fixture
def stored(tmp_path):
    folder = tmp_path / "graph"
    save_graph(graph_of("a > b", "c > b", "d > c"), folder, source="by hand", counts={"edges": 3})
    return folder


@LAW
@given(graphs())
def test_a_graph_comes_back_as_it_went_in(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("stored") / "graph"
    save_graph(graph, folder, source="drawn", counts={"self_loops": 2}, notes=("a note",))
    found = open_graph(folder, verify=True)
    assert found.graph.equals(graph)
    assert found.checksum == graph.checksum
    assert (found.source, found.counts, found.notes) == ("drawn", {"self_loops": 2}, ("a note",))
    shutil.rmtree(folder.parent)


def test_nothing_but_the_graph_is_left_beside_it(stored):
    assert [path.name for path in stored.parent.iterdir()] == ["graph"]
    assert {path.name for path in stored.iterdir()} == {META, *(f"{one}.npy" for one in ARRAYS)}


def test_a_large_array_stays_on_disk(stored):
    neighbours = open_graph(stored).graph.neighbours
    assert isinstance(neighbours.base, np.memmap)
    assert not neighbours.flags.writeable


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("harm", ["missing", "cut", "longer", "flipped", "empty", "text", "folder"])
def test_a_file_that_was_harmed_is_named_with_the_mend(stored, name, harm):
    path = stored / f"{name}.npy"
    data = path.read_bytes()
    path.unlink()
    match harm:
        case "cut":
            path.write_bytes(data[:-1])
        case "longer":
            path.write_bytes(data + b"\0")
        case "flipped":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_bytes(b"x" * len(data))
        case "folder":
            path.mkdir()
    with pytest.raises(DataError, match=rf"{name}\.npy.*(build|Check)"):
        open_graph(stored)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_file_of_another_graph_of_the_same_size_is_refused(stored, tmp_path, name):
    other = graph_of("e > f", "e > g", "f > h")
    save_graph(other, tmp_path / "other", source="by hand")
    ours, theirs = stored / f"{name}.npy", tmp_path / "other" / f"{name}.npy"
    if ours.read_bytes() == theirs.read_bytes():
        pytest.skip("both graphs have the same")
    shutil.copy(theirs, ours)
    with pytest.raises(DataError, match=f"{name}.npy"):
        open_graph(stored)


def test_harm_in_the_middle_of_a_large_file_is_seen_by_verifying(tmp_path):
    graph = graph_of(*(f"{'x' * 40} {number}" for number in range(5_000)))
    save_graph(graph, tmp_path / "large", source="by hand")
    path = tmp_path / "large" / "title_bytes.npy"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    open_graph(tmp_path / "large")
    with pytest.raises(DataError, match="not as they were written"):
        open_graph(tmp_path / "large", verify=True)


META_HARM = {
    "no JSON": b"{",
    "no object": b"[]",
    "of something else": b'{"kind": "a run"}',
    "deep": b"[" * 100_000,
    "bytes": b"\xff\xfe",
}


@pytest.mark.parametrize("name", META_HARM)
def test_a_description_that_cannot_be_read_is_named(stored, name):
    (stored / META).write_bytes(META_HARM[name])
    with pytest.raises(DataError, match=r"meta\.json: .*build"):
        open_graph(stored)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 2),
        ("nodes", -1),
        ("nodes", 5),
        ("nodes", 2**40),
        ("nodes", True),
        ("edges", 99),
        ("checksum", None),
        ("source", 3),
        ("counts", {"edges": "many"}),
        ("notes", "one"),
        ("domains", [1]),
        ("arrays", {}),
        ("arrays", None),
        ("arrays", {name: {"shape": 3, "bytes": 1, "print": 1} for name in ARRAYS}),
        ("arrays", {name: {"shape": [3], "bytes": "1", "print": 1} for name in ARRAYS}),
    ],
)
def test_a_field_of_the_description_that_cannot_be_right_is_refused(stored, field, value):
    meta = json.loads((stored / META).read_text())
    meta[field] = value
    (stored / META).write_text(json.dumps(meta))
    with pytest.raises(DataError, match="build"):
        open_graph(stored)


def test_what_is_no_graph_says_how_to_make_one(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        assert not is_graph_folder(path)
        with pytest.raises(DataError, match=r"no topic graph.*askew boundary graph build"):
            open_graph(path)


def test_a_graph_is_replaced_only_when_asked(stored):
    other = graph_of("x > y")
    with pytest.raises(DataError, match="--force"):
        save_graph(other, stored, source="by hand")
    save_graph(other, stored, source="by hand", overwrite=True)
    assert open_graph(stored).graph.equals(other)
    assert [path.name for path in stored.parent.iterdir()] == ["graph"]


def test_an_open_graph_outlives_its_replacement(stored):
    before = open_graph(stored).graph
    save_graph(graph_of("x > y"), stored, source="by hand", overwrite=True)
    assert before.titles() == ["a", "b", "c", "d"]


def test_a_graph_beside_other_things_is_never_replaced(stored):
    (stored / "thesis.txt").write_text("mine")
    before = open_graph(stored).graph
    with pytest.raises(DataError, match=r"other files \('thesis\.txt'\), which would be lost"):
        save_graph(graph_of("x > y"), stored, source="by hand", overwrite=True)
    assert (stored / "thesis.txt").read_text() == "mine"
    assert open_graph(stored, verify=True).graph.equals(before)


def test_a_graph_that_came_in_between_is_not_replaced(stored, tmp_path, monkeypatch):
    other, place, flush = graph_of("x > y"), tmp_path / "place", topic_storage._flushed

    def also(path, data):
        flush(path, data)
        if not place.exists():
            shutil.copytree(stored, place)

    monkeypatch.setattr(topic_storage, "_flushed", also)
    with pytest.raises(DataError, match="holds a graph already"):
        save_graph(other, place, source="by hand")
    assert open_graph(place, verify=True).graph.titles() == ["a", "b", "c", "d"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "place"]


def test_a_link_to_a_folder_stays_a_link(stored, tmp_path):
    (tmp_path / "link").symlink_to(stored)
    save_graph(graph_of("x > y"), tmp_path / "link", source="by hand", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert open_graph(stored).graph.titles() == ["x", "y"]


def test_a_folder_with_other_things_is_never_touched(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty"):
        save_graph(graph_of("x > y"), tmp_path, source="by hand", overwrite=True)
    with pytest.raises(DataError, match="no folder"):
        check_place(tmp_path / "thesis.txt", overwrite=True)
    with pytest.raises(DataError, match="Name another folder"):
        check_place(tmp_path / ("long" * 100))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        save_graph(graph_of("x > y"), tmp_path / "file" / "graph", source="by hand")


def test_a_failed_write_leaves_the_old_graph(stored, monkeypatch):
    before = open_graph(stored).graph.titles()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("askew.graphs.topic_storage.os.fsync", full)
    with pytest.raises(DataError, match="No space left"):
        save_graph(graph_of("x > y"), stored, source="by hand", overwrite=True)
    assert open_graph(stored, verify=True).graph.titles() == before
    assert [path.name for path in stored.parent.iterdir()] == ["graph"]


@pytest.mark.parametrize("header", [b"{'shape': (6,", b"{'descr': '|O'}", b"[" * 118, b"\xff" * 9])
def test_an_array_whose_header_is_no_literal_is_refused(tmp_path, header):
    save_graph(build_graph(["a", "b"], [0], [1]), tmp_path / "graph", source="own")
    path = tmp_path / "graph" / "ids.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.ljust(118) + bytes(16))
    meta = json.loads((tmp_path / "graph" / META).read_text())
    meta["arrays"]["ids"] |= {"bytes": path.stat().st_size, "print": topic_storage._print(path)}
    (tmp_path / "graph" / META).write_text(json.dumps(meta))
    with pytest.raises(DataError, match=r"ids\.npy: (not a NumPy file|holds)"):
        open_graph(tmp_path / "graph")
