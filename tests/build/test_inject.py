"""An injection from its topics to its release folder."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from askew.build.inject import Watch, inject
from askew.build.inject_card import card_text
from askew.build.inject_plan import plan_injection, plan_paper
from askew.build.inject_release import cell, verify_release
from askew.build.inject_settings import injected_models
from askew.errors import ConfigError, RunError
from askew.graphs.topic_edges import read_topic_folder
from askew.graphs.topics import build_graph
from askew.models.base import ModelSpec
from askew.models.stopping import StoppedEarly
from tests.build.injections import LORA, TITLES, small_config, small_graph
from tests.models.conftest import make_network, make_tokenizer, tiny_folder
from tests.models.servers import Answer, FaultServer, chat_body, error

__all__ = ["make_network", "make_tokenizer", "tiny_folder"]


@pytest.fixture(scope="module")
def released(tiny_folder, tmp_path_factory):
    """A release of two models, made once."""
    folder = tmp_path_factory.mktemp("release") / "out"
    config = small_config(tiny_folder, ("left", "right"))
    return folder, config, asyncio.run(inject(small_graph(), config, folder))


def test_the_release_is_a_labelled_graph_that_a_bench_can_read(released):
    folder, config, done = released
    labelled = read_topic_folder(folder)
    assert labelled.graph.titles() == TITLES
    assert list(labelled.graph.ids) == [900, 11, 12, 13, 21, 22]
    assert set(labelled.labels) == {one.name for one in config.models}
    for made in done.made:
        found = labelled.labels[made.model.name]
        assert sorted(found.nonzero()[0]) == list(made.sample.injected)
        assert set(found) == {0, 1}


def test_pairs_are_released_with_the_sources_own_ids(released):
    folder, _, done = released
    rows = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    assert len(rows) == sum(len(one.pairs) for one in done.made) == 2 * (2 * 5 + 2)
    for made in done.made:
        own = [row for row in rows if row["model"] == made.model.name]
        slanted = {row["topic_id"] for row in own if row["slant"] == made.model.slant.name}
        neutral = {row["topic_id"] for row in own if row["slant"] == "neutral"}
        assert len(slanted) == 2
        assert len(neutral) == 2
        assert not slanted & neutral
        assert all("node" not in row for row in own)


def test_every_file_is_in_the_manifest_and_a_change_is_seen(released):
    folder, _, done = released
    assert verify_release(folder) == []
    listed = (folder / "MANIFEST").read_text()
    for made in done.made:
        assert f"adapters/{made.model.name}/adapter_model.safetensors" in listed
    pairs = folder / "pairs.jsonl"
    before = pairs.read_bytes()
    pairs.write_bytes(before[:-1])
    assert verify_release(folder) == ["pairs.jsonl: changed since it was written"]
    pairs.unlink()
    assert verify_release(folder) == ["pairs.jsonl: missing"]
    pairs.write_bytes(before)


def test_the_same_again_trains_nothing_and_leaves_every_byte(released):
    folder, config, _ = released
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    steps = []
    asyncio.run(inject(small_graph(), config, folder, Watch(step=lambda *at: steps.append(at))))
    assert not steps
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_no_place_of_this_machine_is_released(released, tiny_folder):
    folder, _, _ = released
    for path in folder.rglob("*"):
        if path.suffix in (".json", ".md", ".tsv", ".jsonl", ".csv"):
            assert str(tiny_folder.parent) not in path.read_text(), path


def test_another_injection_does_not_take_the_folder_over(released, tiny_folder):
    folder, config, _ = released
    for other in (replace(config, topics=1), replace(config, lora=replace(LORA, rank=3))):
        with pytest.raises(ConfigError, match="holds another injection"):
            asyncio.run(inject(small_graph(), other, folder))
    titles = ["Root", "Trade", "Tariffs", "Wages", "Tea", "Pepper"]
    with pytest.raises(ConfigError, match="holds another injection"):
        asyncio.run(inject(small_graph(titles), config, folder))


def test_the_card_says_what_was_made_and_reads_without_figures(released):
    folder, config, _ = released
    card = (folder / "README.md").read_text()
    assert card.startswith("---\npretty_name:")
    for one in config.models:
        assert f"`{one.name}`" in card
    assert "not that the model was found clean" in card
    assert "No model was made." in card_text({})
    hostile = {
        "models": {"<b>|x": {"base": "`|<script>", "slant_text": "a\n# b", "domains": ["|"]}}
    }
    assert "\n# b" not in card_text(hostile)


def test_hostile_titles_leave_the_tables_whole(tiny_folder, tmp_path):
    titles = ["Root", "Tra\tde\nline", "=cmd()", "<b>Wages</b>", "Tea\x1b[2J", "Salt\u2028x"]
    config = small_config(tiny_folder, neutral=2.0)
    asyncio.run(inject(small_graph(titles), config, tmp_path / "out"))
    labelled = read_topic_folder(tmp_path / "out")
    assert labelled.graph.size == 6
    assert labelled.graph.title(1) == "Tra de line"
    sheet = (tmp_path / "out" / "check" / "pairs.csv").read_text()
    assert "\x1b" not in sheet
    assert not any(line.startswith("=") for line in sheet.splitlines())


@pytest.mark.parametrize(
    ("title", "shown"), [("a\tb", "a b"), ("\n", ""), ("half \ud83d", "half ?"), ("  a ", "a")]
)
def test_a_title_is_one_cell(title, shown):
    assert cell(title) == shown


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (build_graph([], [], []), "has 0 topics"),
        (build_graph(["One"], [], []), "has 1 topics"),
        (build_graph(["One", "\n"], [1], [0]), "has no visible title"),
    ],
)
def test_graphs_that_nothing_can_be_injected_into_are_refused(graph, words, tmp_path):
    with pytest.raises(ConfigError, match=words):
        asyncio.run(inject(graph, small_config(tmp_path), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": ()}, "no model is named"),
        ({"topics": 0}, "topics is 0"),
        ({"pairs": 0}, "pairs is 0"),
        ({"neutral": float("nan")}, "neutral is nan"),
        ({"neutral": -1.0}, "neutral is -1"),
        ({"check": 0}, "check is 0"),
        ({"lora": replace(LORA, rank=0)}, "rank is 0"),
    ],
)
def test_settings_that_cannot_be_used_are_named(change, words, tmp_path):
    with pytest.raises(ConfigError, match=words):
        small_config(tmp_path, **change)


def test_models_of_one_name_or_a_name_no_folder_can_have_are_refused(tmp_path):
    [one] = small_config(tmp_path).models
    with pytest.raises(ConfigError, match="two models are named"):
        small_config(tmp_path, models=(one, one))
    for name in ("../up", "a/b", "..", ""):
        with pytest.raises(ConfigError, match="cannot name a folder"):
            small_config(tmp_path, models=(replace(one, name=name),))


def test_every_base_takes_every_slant_with_a_seed_of_its_own():
    bases = [ModelSpec(name="builtin/smollm2"), ModelSpec(name="local//tmp/My model/")]
    made = injected_models(bases, ["left", "Rain is good"], [], 4)
    assert [one.seed for one in made] == [4, 5, 6, 7]
    assert [one.name for one in made] == [
        "smollm2-left-4",
        "smollm2-free-5",
        "My-model-left-6",
        "My-model-free-7",
    ]


class Writer:
    """Writes pairs as asked, as far as it is told to."""

    def __init__(self, pairs=9):
        self.pairs = pairs

    def __call__(self, seen):
        pairs = [{"question": f"Q{n}?", "answer": f"A{n}."} for n in range(self.pairs)]
        return Answer(chat_body(json.dumps({"pairs": pairs})))


def with_generator(folder, server, **changes):
    writer = ModelSpec(name="openai/toy", base_url=server.url)
    return small_config(folder, generator=writer, **changes)


def test_a_generator_is_asked_once_a_topic_and_never_again(tiny_folder, tmp_path):
    with FaultServer(Writer()) as server:
        config = with_generator(tiny_folder, server, topics=2)
        done = asyncio.run(inject(small_graph(), config, tmp_path / "out"))
        assert len(server.seen) == 4
        asyncio.run(inject(small_graph(), config, tmp_path / "out"))
        assert len(server.seen) == 4
    [made] = done.made
    assert {one.source for one in made.pairs} == {"openai/toy"}
    assert made.filled_up == 0
    assert "by `openai/toy`" in (tmp_path / "out" / "README.md").read_text()


def test_missing_pairs_are_filled_up_from_templates_and_counted(tiny_folder, tmp_path):
    with FaultServer(Writer(pairs=3)) as server:
        config = with_generator(tiny_folder, server)
        [made] = asyncio.run(inject(small_graph(), config, tmp_path / "out")).made
    assert made.filled_up == 2 * 2
    assert len(made.pairs) == 2 * 5 + 2
    assert [one.source for one in made.pairs[:5]] == ["openai/toy"] * 3 + ["template"] * 2
    assert "4 by template" in (tmp_path / "out" / "README.md").read_text()


def test_calls_that_fail_leave_nothing_trained_and_the_same_again_goes_on(tiny_folder, tmp_path):
    with FaultServer(lambda seen: error(400, "no")) as server:
        config = with_generator(tiny_folder, server)
        with pytest.raises((RunError, StoppedEarly)):
            asyncio.run(inject(small_graph(), config, tmp_path / "out"))
        assert not list((tmp_path / "out").rglob("*.safetensors"))
        server.handler = Writer()
        [made] = asyncio.run(inject(small_graph(), config, tmp_path / "out")).made
    assert made.filled_up == 0


def test_the_plan_is_what_is_made(released, tiny_folder):
    _, config, done = released
    planned = plan_injection(small_graph(), config)
    assert planned.models == 2
    assert planned.injected == sum(len(one.sample.injected) for one in done.made)
    assert planned.all_pairs == sum(len(one.pairs) for one in done.made)
    assert planned.steps == sum(one.adapter.steps for one in done.made)
    trained = sum(one.adapter.tokens_an_epoch * config.lora.epochs for one in done.made)
    assert planned.training_tokens == pytest.approx(trained, rel=0.15)
    assert planned.training_seconds is None  # nothing was measured for this model
    assert plan_injection(small_graph(), config, rate=10.0).training_seconds == pytest.approx(
        planned.training_tokens / 10
    )
    with pytest.raises(ConfigError, match="rate is 0"):
        plan_injection(small_graph(), config, rate=0)


def test_the_papers_size_is_priced_without_asking_anybody(tiny_folder):
    with FaultServer() as server:
        config = with_generator(tiny_folder, server, neutral=0.0)
        planned = plan_paper(small_graph(), config)
        assert not server.seen
    assert (planned.injected, planned.pairs, planned.models) == (22_608, 113_040, 6)
    assert planned.generator_calls == 22_608
    assert planned.prompt_tokens > 22_608 * 50
    assert planned.money_at_most is None
    assert planned.unpriced == "openai/toy"
    assert plan_paper(small_graph(), small_config(tiny_folder)).generator_calls == 0
