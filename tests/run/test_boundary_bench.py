"""The bench of policies on folders: who trains, who is searched, what the JSON holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from askew.cli.listed import listed
from askew.errors import ConfigError, DataError
from askew.run import boundary_graph
from askew.run.boundary_bench import BenchConfig, BenchDone, run_bench
from askew.runfolder import json_text

TOPICS = 60


@pytest.fixture(autouse=True)
def hashed_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder: it would take longer than all games together."""
    monkeypatch.setattr(boundary_graph, "embedder_available", lambda: False)


def folder(
    path: Path, models: Sequence[str], leaning: Mapping[str, int] | None = None, seed: int = 0
) -> Path:
    """A tree with some shortcuts; of each model every n-th topic leans, 0: none."""
    path.mkdir(parents=True)
    random = np.random.default_rng(seed)
    nodes = [f"{node}\tTopic {random.integers(10**6)}" for node in range(TOPICS)]
    edges = [f"{node}\t{random.integers(node)}" for node in range(1, TOPICS)]
    (path / "nodes.tsv").write_text("\n".join(["id\ttitle", *nodes]) + "\n")
    (path / "edges.tsv").write_text("\n".join(["child\tparent", *edges]) + "\n")
    rows = ["model\tnode\tlabel"]
    for model in models:
        every = (leaning or {}).get(model, 5)
        rows += [
            f"{model}\t{node}\t{int(every > 0 and node % every == 0)}" for node in range(TOPICS)
        ]
    (path / "labels.tsv").write_text("\n".join(rows) + "\n")
    return path


def bench(*folders: Path, train: str = "", test: str = "", **settings: object) -> BenchDone:
    """A short one, of two policies that train nothing."""
    given = {"policies": ("uniform", "neighbour_share"), "queries": 30, "starts": 2, **settings}
    return run_bench(
        BenchConfig(folders=folders, train_models=listed(train), test_models=listed(test), **given)
    )


def test_the_json_has_every_figure_by_name(tmp_path):
    done = bench(folder(tmp_path / "g", ["a", "b"]))
    read = json.loads(json_text(done.plain()))
    assert read["games"] == 2
    assert read["settings"]["queries"] == 30
    assert read["settings"]["folders"] == [str(tmp_path / "g")]
    by_name = {one["policy"]: one for one in read["policies"]}
    assert set(by_name["uniform"]["cover_rate"]) == {"25", "30"}
    beside = by_name["neighbour_share"]["against"]["uniform"]["30"]
    for figure in (beside["ratio"], beside["difference"]):
        assert {"value", "lower", "upper", "level", "method", "n", "coverage"} <= set(figure)
    ours, theirs = (by_name[name]["cover_rate"]["30"]["value"] for name in by_name)
    assert abs(beside["difference"]["value"]) == pytest.approx(abs(ours - theirs))


def test_the_same_seed_is_the_same_bench(tmp_path):
    graph = folder(tmp_path / "g", ["a", "b"])
    assert json_text(bench(graph).plain()) == json_text(bench(graph).plain())


def test_a_model_that_is_searched_on_one_graph_trains_on_none(tmp_path):
    one = folder(tmp_path / "one", ["a", "b", "c"])
    other = folder(tmp_path / "other", ["c", "a", "b"], seed=1)
    done = bench(one, other)
    assert done.test_worlds == ["one / b", "one / c", "other / c", "other / b"]
    assert done.train_worlds == ["one / a", "other / a"]


def test_a_model_may_be_labelled_on_some_of_the_graphs(tmp_path):
    one, other = folder(tmp_path / "one", ["a", "b"]), folder(tmp_path / "other", ["b", "c"])
    done = bench(one, other, train="a", test="c")
    assert (done.train_worlds, done.test_worlds) == (["one / a"], ["other / c"])
    done = bench(one, other, test="b")
    assert done.train_worlds == ["one / a", "other / c"]
    with pytest.raises(ConfigError, match="unknown model 'd'"):
        bench(one, other, test="d")


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [("a", "a", "named for training and for the search"), ("a,b", "", "none is left")],
)
def test_a_split_that_leaves_nothing_honest_is_refused(tmp_path, train, test, said):
    with pytest.raises(ConfigError, match=said):
        bench(folder(tmp_path / "g", ["a", "b"]), train=train, test=test)


def test_names_with_commas_blanks_and_slashes_can_be_named(tmp_path):
    graph = folder(tmp_path / "g", ["org/a, 7B", "b c", "d"])
    done = bench(graph, train="d", test='"org/a, 7B",b c')
    assert done.test_worlds == ["g / org/a, 7B", "g / b c"]


def test_a_quote_that_is_not_closed_is_refused():
    with pytest.raises(ConfigError, match="no list of names"):
        listed('"a, b')


def test_folders_of_the_same_name_are_kept_apart(tmp_path):
    one, other = folder(tmp_path / "x" / "g", ["a"]), folder(tmp_path / "y" / "g", ["a"], seed=1)
    done = bench(one, other)
    assert len(set(done.test_worlds)) == 2
    figure = (
        done.standings[0]
        .against["uniform" if done.standings[0].policy != "uniform" else "neighbour_share"][30]
        .difference
    )
    assert "graph" in figure.method
    with pytest.raises(ConfigError, match="named twice"):
        bench(one, one.parent / "." / "g")


def test_a_model_without_leaning_topics_is_left_out_and_said(tmp_path):
    graph = folder(tmp_path / "g", ["a", "none", "b"], {"none": 0})
    done = bench(graph, test="none,b")
    assert done.test_worlds == ["g / b"]
    assert any("g / none: no topic leans" in note for note in done.notes)
    with pytest.raises(ConfigError, match="nothing to find"):
        bench(graph, test="none")


def test_learned_is_played_as_it_comes_where_no_model_can_teach_it(tmp_path):
    graph = folder(tmp_path / "g", ["none", "b"], {"none": 0})
    done = bench(graph, test="b", policies=("uniform", "learned"))
    assert any("weights that come with askew were played" in note for note in done.notes)
    alone = bench(folder(tmp_path / "h", ["b"]), policies=("learned",))
    assert alone.train_worlds == []


def test_topics_without_a_label_are_counted(tmp_path):
    graph = folder(tmp_path / "g", ["a", "b"])
    labels = graph / "labels.tsv"
    labels.write_text("".join(line + "\n" for line in labels.read_text().split("\n")[:-5] if line))
    done = bench(graph)
    assert any("topics have no label of b and count as clean" in note for note in done.notes)


def test_a_folder_without_labels_is_named(tmp_path):
    graph = folder(tmp_path / "g", ["a", "b"])
    (graph / "labels.tsv").unlink()
    with pytest.raises(DataError, match=r"g: has no labels\.tsv"):
        bench(graph)
