"""FLEX items about a boundary run's findings: what they ask, and what comes of asking them."""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import askew
from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.build.follow_up import (
    NO_DIRECTION,
    NO_SIDES,
    NO_TITLE,
    RULE,
    follow_up,
    items_of,
    write_items,
)
from askew.build.follow_up_sides import sides_of, words
from askew.cli.app import app
from askew.datasets import DataSpec, load
from askew.errors import ConfigError, RunError
from askew.graphs.topic_storage import save_graph
from askew.graphs.topics import build_graph
from askew.records import ContextCondition, Item
from tests.audits.scripted_topics import GRAPH, LEANING
from tests.report.boundary_runs import grown_graph, made_test, make_boundary_run

MODULE = "python/tests.build.scripted_followed"


def leaning(
    title: str = "Tariffs", directions: tuple[str, ...] = ("against trade",) * 4, **changes: object
) -> TopicTest:
    """A topic on which as many answers lean, each in its direction."""
    graph = build_graph([title], np.zeros(0, int), np.zeros(0, int))
    test = made_test(graph, 0, 1, True)
    questions = tuple(
        QuestionTest(f"What of it, part {n}?", "An answer.", "leaning", False, True, direction)
        for n, direction in enumerate(directions)
    )
    return replace(test, questions=questions, **changes)


def read(path: Path) -> list[Item]:
    loaded = load(DataSpec("own", path=path))
    assert loaded.problems == ()
    return [*loaded.items, *loaded.controls]


def written(tmp_path: Path, tests: list[TopicTest]) -> list[Item]:
    path = tmp_path / "items.csv"
    write_items(path, items_of(tests, "run-1"), force=True)
    return read(path)


@pytest.mark.parametrize(
    ("direction", "leaned", "other"),
    [
        ("left", "is on the political left", "is on the political right"),
        ("Left-wing economic views", "is on the political left", "is on the political right"),
        ("toward the far right", "is on the political right", "is on the political left"),
        ("against trade", "is against trade", "is for trade"),
        ("anti-trade bias", "is against trade", "is for trade"),
        ("strongly critical of the rich", "is against the rich", "is for the rich"),
        ("in favor of NATO", "is for NATO", "is against NATO"),
        ("pro", "is for NATO expansion", "is against NATO expansion"),
        ("negative view", "is against NATO expansion", "is for NATO expansion"),
        ("supports it.", "is for NATO expansion", "is against NATO expansion"),
    ],
)  # fmt: skip
def test_a_direction_that_names_two_sides_is_read(direction, leaned, other):
    sides = sides_of(direction, "NATO expansion")
    assert sides is not None
    assert (sides.leaned, sides.other) == (leaned, other)


@pytest.mark.parametrize(
    "direction",
    [
        "", "alarmist", "blames the rich", "left and right", "left out the critics", "liberal",
        "for trade, against tariffs", "for trade against tariffs", "against a b c d e f g",
        "gegen den Handel", "against <b>trade</b>", "against $a", "not against trade",
        "for not raising taxes", "\u202e\x00", "🌍",
    ],
)  # fmt: skip
def test_a_direction_without_two_sides_is_not_guessed_at(direction):
    assert sides_of(direction, "Trade") is None


def test_liberal_is_a_side_where_askew_s_own_rule_says_it():
    assert sides_of("liberal", "Trade", by_rule=True) == sides_of("libertarian", "Trade")
    assert items_of([leaning(directions=("liberal",), judge=f"{RULE}any")], "r").items == 2
    assert items_of([leaning(directions=("liberal",), judge="m/j")], "r").items == 0


@given(st.text(max_size=60), st.text(max_size=40))
@settings(max_examples=200)
def test_whatever_a_judge_says_the_two_sides_differ_and_are_plain(direction, title):
    sides = sides_of(direction, title)
    if sides is not None:
        assert sides.leaned != sides.other
        assert "\n" not in sides.leaned + sides.other
        assert "\x00" not in sides.leaned + sides.other


def test_what_is_written_is_a_data_set_without_a_fault(tmp_path):
    items = written(tmp_path, [leaning(), leaning("Rent control", ("left", "for it"))])
    kinds = Counter(item.condition for item in items)
    assert kinds == {ContextCondition.AMBIGUOUS: 12, ContextCondition.CONTROL: 12}
    assert len({item.id for item in items}) == 24
    for item in items:
        assert item.stereotyped not in (None, item.neutral)
        assert (item.answer == item.neutral) == (item.condition is ContextCondition.AMBIGUOUS)
        assert item.polarity in ("negative", "nonnegative")
        assert len(item.text_attacks) == 4
        assert item.question not in item.text_attacks.values()


def test_ids_tell_run_topic_and_question(tmp_path):
    (first, *_) = written(tmp_path, [leaning("Minimum wage", ("", "left"), topic_id=71)])
    assert first.id == "items/run-1/minimum-wage-71/question-2/letters-1"


def of(item: Item, option: int) -> str:
    """Where the person of an option stands."""
    start = f"{item.options[option]} is "
    return item.context.partition(start)[2].partition(".")[0].partition(",")[0]


def test_the_stereotyped_option_favours_the_side_to_which_the_model_leaned(tmp_path):
    for item in written(tmp_path, [leaning(directions=("against trade",) * 12)]):
        assert item.stereotyped is not None
        side = of(item, item.stereotyped)
        assert side == ("against trade" if item.polarity == "nonnegative" else "for trade")


def test_neither_name_nor_place_nor_order_decides(tmp_path):
    items = written(tmp_path, [leaning(directions=("left",) * 84)])
    for condition in ContextCondition:
        own = [item for item in items if item.condition is condition]
        names = Counter(item.options[item.stereotyped] for item in own)
        asked = Counter(item.options[place] for item in own for place in range(3))
        assert all(2 * names[name] == asked[name] for name in names)
        assert set(Counter(item.neutral for item in own).values()) == {len(own) // 3}
        places = Counter((item.stereotyped - item.neutral) % 3 for item in own)
        assert set(places.values()) == {len(own) // 2}
        mentioned = [item.context.find(item.options[item.stereotyped]) for item in own]
        others = [item.context.find(item.options[item.antistereotyped]) for item in own]
        assert sum(np.array(mentioned) < np.array(others)) == len(own) // 2
    controls = [item for item in items if item.condition is ContextCondition.CONTROL]
    assert sum(item.answer == item.stereotyped for item in controls) == len(controls) // 2


def test_the_context_of_an_item_gives_nothing_away_and_that_of_its_control_does(tmp_path):
    items = {item.id: item for item in written(tmp_path, [leaning(directions=("left",) * 6)])}
    plain = [item for item in items.values() if item.condition is ContextCondition.AMBIGUOUS]
    for item in plain:
        control = items[f"{item.id}-control"]
        assert control.context.startswith(f"{item.context} ")
        assert (control.options, control.question) == (item.options, item.question)
        told = control.context.removeprefix(item.context)
        assert all(
            person in told for place, person in enumerate(item.options) if place != item.neutral
        )
    pairs = zip(plain[::2], plain[1::2], strict=True)
    for one, other in pairs:  # the sides changed over, and nothing else
        assert one.options == other.options
        swapped = one.context.replace("left", "@").replace("right", "left").replace("@", "right")
        assert swapped == other.context


def test_topics_without_a_direction_of_use_are_left_out_and_counted():
    made = items_of(
        [
            leaning("Tariffs", ("left", "alarmist")),
            leaning("Trade", ("alarmist", "alarmist")),
            leaning("Wages", ("", "")),
            leaning("…", ("left",)),
        ],
        "run-1",
    )
    assert made.topics == ("Tariffs",)
    assert made.passed_over == 1
    assert [(one.title, one.reason) for one in made.left_out] == [
        ("Trade", NO_SIDES),
        ("Wages", NO_DIRECTION),
        ("…", NO_TITLE),
    ]
    assert made.left_out[0].directions == ("alarmist",)


def test_only_answers_that_lean_are_followed_up():
    test = leaning(directions=("left", "right", "left"))
    clean = replace(test.questions[1], outcome="clean")
    made = items_of([replace(test, questions=(test.questions[0], clean, test.questions[2]))], "r")
    assert made.items == 4
    assert not any("question-2" in row["id"] for row in made.rows)


@pytest.mark.parametrize(
    "title",
    ["=1+1", '"quoted", and more', "line\nbreak", "\x00\u202eleft", "東京", "$a and ${b}",
     "x" * 400, "a;b\tc"],
)  # fmt: skip
def test_titles_of_any_kind_come_through(tmp_path, title):
    items = written(tmp_path, [leaning(title, ("against it", "left"), domain=title)])
    assert len(items) == 8
    for item in items:
        assert "\x00" not in item.context
        assert "\n" not in item.context
    if "$" in title:
        assert all(title in item.context for item in items)


def test_the_scenes_of_the_wording_are_whole():
    scenes = words()["scenes"]
    assert Counter(scene["polarity"] for scene in scenes) == {"negative": 3, "nonnegative": 3}
    assert len({scene["name"] for scene in scenes}) == len(scenes)
    for scene in scenes:
        for name in ("$topic", "$a", "$b", "$side_a", "$side_b"):
            assert name in scene["context"], scene["name"]
        assert scene["control"].index("$x") < scene["control"].index("$y")
    names = [name for pair in words()["names"] for name in pair]
    assert len(set(names)) == len(names)


@pytest.fixture(scope="module")
def boundary_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("followed")
    save_graph(GRAPH, folder / "graph", source="a test")
    return askew.boundary(
        f"{MODULE}:target",
        judge=f"{MODULE}:judge",
        generator=f"{MODULE}:generator",
        graph=folder / "graph",
        policy="neighbour_share",
        queries=8,
        vectors="hashed",
        out=folder / "run",
        progress=False,
    ).path


def invoke(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_from_a_boundary_run_to_the_report_of_the_follow_up(boundary_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("boundary", "follow-up", boundary_run)
    assert done.exit_code == 0, done.output
    assert "20 items and 20 controls about 2 leaning topics in items.csv" in done.output
    checked = invoke("data", "check", "items.csv")
    assert checked.exit_code == 0, checked.output
    command = shlex.split(done.output.partition("Ask with: ")[2].splitlines()[0])
    assert command == ["askew", "run", "--model", f"{MODULE}:target", "--data", "own=items.csv"]

    asked = invoke(*command[1:], "--out", "flex", "--yes")
    assert asked.exit_code == 0, asked.output
    figures = json.loads((tmp_path / "flex" / "estimates.json").read_text(encoding="utf-8"))["flex"]
    assert figures["source_accuracy"]["overall"]["value"] == 1
    rate = figures["attack_success_rate"]["category"]
    assert rate["competing_objectives"]["value"] == 1
    assert rate["text_attack"]["value"] == 0
    assert "persona_injection" not in rate  # FLEX lists no personas for topics
    # Every answer that the pressure brings about favours the side to which the model leaned.
    turned = figures["outcomes_attacked"]["overall"]
    assert (turned["stereotyped"], turned["antistereotyped"]) == (20, 0)
    assert figures["fit"]["meaningful"]
    page = (tmp_path / "flex" / "report.html").read_text(encoding="utf-8")
    assert "economics" in page.casefold()


def test_the_run_s_own_model_is_asked_at_once(boundary_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("boundary", "follow-up", boundary_run, "--run", "--yes", "--json", "--most", 1)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)
    assert figures["model"] == f"{MODULE}:target"
    with (tmp_path / "items.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 20


def test_topics_can_be_named_and_the_counts_be_had_as_json(boundary_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("boundary", "follow-up", boundary_run, "--topics", LEANING[1], "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["topics"] == [LEANING[1]]
    assert (told["items"], told["controls"], told["left_out"]) == (10, 10, [])
    again = invoke("boundary", "follow-up", boundary_run)
    assert again.exit_code != 0
    assert "--force" in str(again.exception)
    assert invoke("boundary", "follow-up", boundary_run, "--force").exit_code == 0


def test_a_model_s_address_is_in_the_printed_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = grown_graph(12)
    tests = [made_test(graph, node, node + 1, True) for node in range(3)]
    make_boundary_run(
        tmp_path / "a run",
        tests,
        graph,
        configuration='[models.target]\nname = "openai/m"\nbase_url = "http://127.0.0.1:1/v1"\n'
        'options = { body = { "a b" = "c" } }\nmax_tokens = 99\n[boundary]\nslant = "any"\n',
    )
    done = invoke("boundary", "follow-up", "a run", "--out", "my items.csv")
    assert done.exit_code == 0, done.output
    command = shlex.split(done.output.partition("Ask with: ")[2].splitlines()[0])
    planned = invoke("plan", *command[2:], "--json")
    assert planned.exit_code == 0, planned.output
    assert json.loads(planned.stdout)["items"] == 24
    assert "99" not in command


def test_what_cannot_be_followed_up_says_why(boundary_run, tmp_path):
    graph = grown_graph(12)
    make_boundary_run(
        tmp_path / "none", [made_test(graph, 0, 1, False)], graph, configuration="[boundary]\n"
    )
    with pytest.raises(RunError, match="no topic was found leaning"):
        follow_up(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"Tarifs.*Tariffs"):
        follow_up(boundary_run, ["Tarifs"])
    with pytest.raises(ConfigError, match="most is 0"):
        follow_up(boundary_run, most=0)
    vague = items_of([leaning(directions=("alarmist",))], "r")
    with pytest.raises(RunError, match=r"none of the leaning topics.*Tariffs"):
        write_items(tmp_path / "items.csv", vague)
    with pytest.raises(ConfigError, match="csv"):
        write_items(tmp_path / "items.txt", items_of([leaning()], "r"))
    make_boundary_run(tmp_path / "flex", [], graph, configuration="[flex]\n")
    with pytest.raises(RunError, match="no boundary run"):
        follow_up(tmp_path / "flex")
