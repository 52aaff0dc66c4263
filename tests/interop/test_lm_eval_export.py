"""Tasks for lm-evaluation-harness: what they hold, and what cannot be exported."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.audits import flex
from askew.audits.flex import Asked
from askew.errors import ConfigError, DataError, RunError
from askew.interop.lm_eval_export import export_tasks, likelihood_settings
from askew.interop.lm_eval_folder import checksums, read_tasks
from askew.interop.lm_eval_tasks import ROOT, groups_of, source_names, tasks_of
from askew.records import (
    AttackCategory,
    ContextCondition,
    Item,
    Prompt,
    Provenance,
    Scenario,
)
from askew.runfile import RunFile, checked
from tests.interop import odd_items


def settings(**flex: object) -> RunFile:
    values = {"items": 4, "controls": 3, "prompt": "flex", "scoring": "letters", **flex}
    return checked({"models": {"target": {"name": "builtin/smollm2"}}, "flex": values})


def documents(folder: Path) -> list[dict[str, object]]:
    found = [
        json.loads(line)
        for path in folder.glob("askew_flex_*.jsonl")
        for line in path.read_text(encoding="utf-8").split("\n")
        if line
    ]
    return sorted(found, key=lambda document: document["place"])


def asked_by(run: RunFile) -> list[Asked]:
    config = run.flex_config()
    return flex.questions(flex.load_study(config, run.seed), config, run.seed)


@pytest.mark.parametrize("scoring", ["letters", "texts"])
def test_documents_are_what_askew_asks_to_the_letter(tmp_path, scoring):
    odd = odd_items.write(tmp_path / "odd.jsonl")
    run = settings(
        scoring=scoring,
        data=[{"name": "own", "path": str(odd), "options": {"source": "odd: ü"}}],
        items=None,
        rotations="all",
        shots=1,
        option_order="shuffled",
    )
    export_tasks(run, tmp_path / "tasks")
    asked = asked_by(run.settled())
    found = documents(tmp_path / "tasks")
    assert [one.prompt.text for one in asked] == [document["prompt"] for document in found]
    assert [list(one.prompt.choices) for one in asked] == [
        [f" {choice}" for choice in document["choices"]] for document in found
    ]
    for one, document in zip(asked, found, strict=True):
        assert one.order[document["target"]] == one.item.answer


def test_every_task_and_group_is_there_and_the_sums_hold(tmp_path):
    export_tasks(settings(data=["starter"]), tmp_path / "tasks")
    lines = (tmp_path / "tasks" / "SHA256SUMS").read_text().splitlines()
    sums = dict(line.split("  ")[::-1] for line in lines)
    files = {
        path.name: path for path in (tmp_path / "tasks").iterdir() if path.name != "SHA256SUMS"
    }
    assert sums == {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()
    }
    names = {name.removesuffix(".yaml") for name in files if name.endswith(".yaml")}
    assert {ROOT, "askew_flex_source", "askew_flex_attacked", "askew_flex_control"} <= names
    assert {f"{ROOT}_{category}" for category in AttackCategory} <= names


def test_the_harness_reads_every_task_and_group_as_it_is_meant(tmp_path):
    tasks = pytest.importorskip("lm_eval.tasks", reason="askew[lm-eval] is not installed")
    export_tasks(settings(scoring="texts"), tmp_path / "tasks")
    manager = tasks.TaskManager(include_defaults=False, include_path=str(tmp_path / "tasks"))
    loaded = manager.load([ROOT])
    by_name = loaded["tasks"]
    assert set(by_name) == read_tasks(tmp_path / "tasks").tasks
    for task in by_name.values():
        assert task.higher_is_better() == {"acc": True, "acc_norm": True, "acc_bytes": True}
    for document in documents(tmp_path / "tasks"):
        task = next(task for task in by_name.values() if document in list(task.eval_docs))
        requests = task.construct_requests(
            document, task.fewshot_context(document, 0), metadata=(task.task_name, 0, 1)
        )
        assert [request.args for request in requests] == [
            (document["prompt"], f" {choice}") for choice in document["choices"]
        ]
        assert task.doc_to_target(document) == document["target"]
    aggregated = {name for name, group in loaded["groups"].items() if group.has_aggregation}
    assert f"{ROOT}_text_attack_attacked" in aggregated
    assert ROOT not in aggregated  # a mean over source and attacked prompts says nothing


def test_what_is_read_back_is_what_was_written(tmp_path):
    run = settings(scenarios="all", replicates=2)
    export_tasks(run, tmp_path / "tasks")
    exported = read_tasks(tmp_path / "tasks")
    asked = asked_by(run.settled())
    for one in asked:
        item = exported.items[one.item.id]
        assert replace(item, provenance=one.item.provenance) == one.item
        assert item.provenance.path == Path(one.item.provenance.path).name
    assert exported.run.flex == run.settled().flex
    assert len(exported.documents) == len(asked)


def test_a_changed_file_is_found(tmp_path):
    export_tasks(settings(), tmp_path / "tasks")
    path = tmp_path / "tasks" / "askew_flex_control.jsonl"
    path.write_text(path.read_text().replace("(A)", "(a)", 1))
    with pytest.raises(DataError, match=r"SHA256SUMS:\d+: field 'askew_flex_control\.jsonl'"):
        read_tasks(tmp_path / "tasks")


@pytest.mark.parametrize("lost", ["SHA256SUMS", "askew_flex.json"])
def test_a_folder_that_is_no_export_is_named(tmp_path, lost):
    export_tasks(settings(), tmp_path / "tasks")
    (tmp_path / "tasks" / lost).unlink()
    with pytest.raises(DataError, match="askew export lm-eval"):
        read_tasks(tmp_path / "tasks")


def test_sums_that_were_cut_are_found(tmp_path):
    export_tasks(settings(), tmp_path / "tasks")
    sums = tmp_path / "tasks" / "SHA256SUMS"
    sums.write_text("".join(sums.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(DataError, match=r"SHA256SUMS does not name askew_items\.jsonl: it was cut"):
        read_tasks(tmp_path / "tasks")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: '{"place": 3}\n', "damaged"),
        (lambda text: text.replace("(A)", "(a)", 1), "checksum"),
        (lambda text: text.replace('"target": ', '"target": 1', 1), "checksum"),
    ],
)
def test_a_tampered_export_with_fitting_sums_is_an_error_too(tmp_path, change, told):
    folder = tmp_path / "tasks"
    export_tasks(settings(), folder)
    path = folder / "askew_flex_control.jsonl"
    path.write_text(change(path.read_text()))
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "SHA256SUMS"}
    (folder / "SHA256SUMS").write_text(checksums(files))
    with pytest.raises(DataError, match=told):
        read_tasks(folder)


@pytest.mark.parametrize(
    ("flex", "told"),
    [({"prompt": "chat"}, "chat template"), ({"scoring": "reply"}, "--scoring letters")],
)
def test_what_a_likelihood_task_cannot_ask_is_refused_by_name(tmp_path, flex, told):
    with pytest.raises(ConfigError, match=told):
        export_tasks(settings(**flex), tmp_path / "tasks")
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_open_is_the_plain_form_and_letters():
    table = likelihood_settings(settings(prompt="auto", scoring="auto")).flex
    assert (table.prompt, table.scoring, table.list_options) == ("flex", "letters", True)


def test_nothing_to_attack_is_an_error(tmp_path):
    odd = odd_items.write(tmp_path / "odd.jsonl")
    lines = [json.loads(line) for line in odd.read_text().split("\n") if line]
    bare = [{k: v for k, v in line.items() if not k.startswith("attack")} for line in lines]
    odd.write_text("\n".join(map(json.dumps, bare)))
    run = settings(data=[{"name": "own", "path": str(odd)}], categories=["text_attack"])
    with pytest.raises(ConfigError, match="no attacked questions"):
        export_tasks(run, tmp_path / "tasks")


def test_a_folder_in_use_is_left_alone(tmp_path, monkeypatch):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.yaml").write_text("task: mine")
    (tmp_path / "file").write_text("")
    for place in (taken, tmp_path / "file"):
        with pytest.raises(RunError, match="is there already"):
            export_tasks(settings(), place)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    with pytest.raises(RunError, match="is there already"):
        export_tasks(settings(), Path())
    monkeypatch.chdir(tmp_path)
    export_tasks(settings(), empty)
    assert read_tasks(empty).documents


def test_nothing_of_the_model_or_the_machine_is_handed_on_with_the_tasks(tmp_path, monkeypatch):
    monkeypatch.setenv("HUNTER", "hunter2")
    odd_items.write(tmp_path / "mine.jsonl")
    values = {
        "models": {
            "target": {
                "name": "openai/x",
                "base_url": "http://${HUNTER}:${HUNTER}@127.0.0.1:1/v1",
                "options": {"headers": {"X": "${HUNTER}"}},
            }
        },
        "prices": "prices.toml",
        "flex": {"data": [{"name": "own", "path": str(tmp_path / "mine.jsonl")}], "controls": 0},
    }
    export_tasks(checked(values), tmp_path / "tasks")
    written = b"".join(path.read_bytes() for path in (tmp_path / "tasks").iterdir())
    assert b"hunter2" not in written
    assert b"HUNTER" not in written
    assert str(tmp_path).encode() not in written
    assert b"prices.toml" not in written


def test_two_exports_of_one_study_are_one(tmp_path):
    export_tasks(settings(), tmp_path / "one")
    export_tasks(settings(normalise="bytes"), tmp_path / "other")
    assert read_tasks(tmp_path / "one").checksum == read_tasks(tmp_path / "other").checksum


# Laws of the layout


sources = st.lists(
    st.one_of(
        st.text(max_size=50),
        st.sampled_from(["a", "A", "a!", "source", "a_source", "control", "set_2", "text_attack"]),
    ),
    max_size=6,
)


@given(sources)
def test_names_of_data_sets_are_distinct_and_fit_into_a_task_name(found):
    names = source_names(found)
    assert list(names) == list(dict.fromkeys(found))
    assert len(set(names.values())) == len(names)
    assert all(name.isascii() and name.replace("_", "a").isalnum() for name in names.values())


@st.composite
def studies(draw: st.DrawFn) -> list[Asked]:
    asked = []
    for number in range(draw(st.integers(1, 6))):
        item = _item(number, draw(st.sampled_from(["a", "a_text_attack", "text_attack", "b c"])))
        scenarios = draw(st.lists(st.sampled_from(list(AttackCategory)), min_size=1, max_size=4))
        for scenario in [None, *(Scenario(category, "s") for category in scenarios)]:
            condition = "source" if scenario is None else "attacked"
            asked.append(Asked(item, condition, (0, 1, 2), Prompt("Q"), scenario))
    if draw(st.booleans()):
        asked.append(Asked(_item(99, "controls"), "control", (0, 1, 2), Prompt("Q")))
    return asked


@given(studies())
def test_every_question_is_in_one_task_and_no_group_counts_one_twice(asked):
    tasks = tasks_of(asked)
    places = [place for task in tasks for place in task.places]
    assert sorted(places) == list(range(len(asked)))
    groups = groups_of(tasks)
    names = [part.name for part in (*tasks, *groups)]
    assert len(set(names)) == len(names)
    by_name = {task.name: task for task in tasks}
    assert {member for group in groups for member in group.members} <= set(names)
    for group in groups:
        if not group.aggregated:
            continue
        parts = [by_name[member] for member in group.members]
        assert len({part.condition for part in parts}) == 1
        assert len(set(group.members)) == len(group.members)
    for category in AttackCategory:
        wanted = {
            place
            for place, one in enumerate(asked)
            if one.scenario is not None and one.scenario.category is category
        }
        attacked = next((g for g in groups if g.name == f"{ROOT}_{category}_attacked"), None)
        members = attacked.members if attacked else ()
        assert {place for name in members for place in by_name[name].places} == wanted


def _item(number: int, source: str) -> Item:
    return Item(
        id=f"{source}/{number}",
        source=source,
        bias_type="age",
        context="",
        question="Who?",
        options=("x", "y", "z"),
        neutral=2,
        answer=2,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance("made up", 0),
    )
