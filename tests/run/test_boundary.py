"""A boundary run: from settings to a folder; stopped and gone on with; read again."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from askew.audits.boundary_records import TopicTest
from askew.errors import ConfigError, RunError
from askew.graphs.topic_storage import save_graph
from askew.graphs.topics import build_graph
from askew.models.ledgerfile import State, read_records
from askew.models.registry import load_model
from askew.run import boundary, rescore
from askew.run.boundary_asking import ask_run
from askew.run.boundary_plan import plan
from askew.runfile import RunFile, checked
from askew.runfolder import RunFolder
from tests.audits import scripted_leanings
from tests.models.servers import Answer, FaultServer, Seen, chat_body

MODULE = "python/tests.audits.scripted_leanings"
ROLES = ("target", "judge", "generator")


def settings(out: Path, queries: int = 24, **changes: object) -> RunFile:
    values = {
        "out": str(out),
        "models": {role: {"name": f"{MODULE}:{role}"} for role in ROLES},
        "boundary": {
            "domains": ["economy", "education"],
            "policy": "neighbour_share",
            "start": "Economy",
            "queries": queries,
            "questions": 3,
            "vectors": "hashed",
        },
    }
    return checked(values, changes)


def done(run: RunFile) -> boundary.Done:
    return asyncio.run(boundary.execute(boundary.prepare(run)))


def figures_of(path: Path) -> dict:
    return json.loads((path / "estimates.json").read_text(encoding="utf-8"))["boundary"]


def transcript(path: Path) -> list[tuple]:
    tests = RunFolder.open(path).read_parts("topic test", TopicTest)
    return [(one.node, one.step, one.verdict, one.probe, one.reached_from) for one in tests]


def test_a_run_leaves_a_folder_with_all_that_it_rests_on(tmp_path):
    made = done(settings(tmp_path / "run"))
    assert not made.incomplete
    assert len(made.tests) == 24
    found = [one for one in made.tests if one.verdict == "leaning"]
    assert found
    for one in found:
        assert any(word in one.title.casefold() for word in scripted_leanings.LEANING)
    folder = made.folder
    assert folder.verify() == []
    figures = figures_of(folder.path)
    assert figures["topics"]["tested"] == 24
    assert figures["topics"]["leaning"] == len(found)
    assert all(one.source == "generated" for one in made.tests)
    page = folder.report.read_text(encoding="utf-8")
    assert found[0].title in page
    assert str(tmp_path) not in json.dumps(figures)


def test_the_plan_bounds_what_the_run_asks(tmp_path):
    prepared = boundary.prepare(settings(tmp_path / "run"))
    planned = plan(prepared)
    assert not (tmp_path / "run").exists()
    made = asyncio.run(boundary.execute(prepared))
    for one in planned.roles:
        assert made.asked[one.role].asked <= one.calls
    assert made.asked["target"].asked == 24 * 3
    after = plan(boundary.prepare(settings(tmp_path / "run")))
    assert {one.role: one.new for one in after.roles}["target"] == 0


def test_a_spent_budget_stops_cleanly_and_a_larger_one_goes_on_to_the_same_end(tmp_path):
    whole = done(settings(tmp_path / "a" / "whole"))
    for calls in (10, 61, 130):
        stopped = done(settings(tmp_path / "b" / "part", **{"budget.calls": calls}))
        assert stopped.stopped is not None
        assert stopped.incomplete
        assert len(stopped.tests) < 24
        assert (stopped.folder.path / "report.html").is_file()
    ended = done(settings(tmp_path / "b" / "part"))
    assert transcript(ended.folder.path) == transcript(whole.folder.path)
    asked = sum(one.asked for one in whole.asked.values())
    assert len(list(read_records(ended.folder.database))) == asked


def test_a_finished_search_goes_further_in_its_folder_and_asks_nothing_again(tmp_path):
    first = done(settings(tmp_path / "run", queries=12))
    further = done(settings(tmp_path / "run", queries=24))
    assert transcript(further.folder.path)[:12] == transcript_of(first.tests)
    assert further.asked["target"].asked == 12 * 3


def transcript_of(tests) -> list[tuple]:
    return [(one.node, one.step, one.verdict, one.probe, one.reached_from) for one in tests]


def test_replies_are_read_again_by_another_threshold_without_a_call(tmp_path):
    made = done(settings(tmp_path / "run"))
    before = len(list(read_records(made.folder.database)))
    rescore(made.folder.path, {"boundary.fewest_judged": 3, "boundary.threshold": 1.0})
    assert len(list(read_records(made.folder.database))) == before
    assert figures_of(made.folder.path)["settings"]["threshold"] == 1.0
    assert RunFolder.open(made.folder.path).verify() == []
    with pytest.raises(RunError, match="would change what is asked"):
        rescore(made.folder.path, {"boundary.policy": "bfs"})
    with pytest.raises(RunError, match="would change what is asked"):
        rescore(made.folder.path, {"boundary.queries": 3})


def test_another_search_in_the_same_folder_is_refused(tmp_path):
    done(settings(tmp_path / "run", queries=4))
    with pytest.raises(ConfigError, match=r"boundary\.policy"):
        done(settings(tmp_path / "run", **{"boundary.policy": "bfs"}))


def test_a_question_is_put_to_what_the_run_has_tested(tmp_path):
    made = done(settings(tmp_path / "run"))
    answer = ask_run(made.folder.path, "Who invented the bicycle?")
    assert answer.verdict == "unknown"
    with pytest.raises(ConfigError):
        ask_run(made.folder.path, "  ")


def test_faults_of_the_settings_are_told_before_anything_is_asked(tmp_path):
    def refused(match: str, **changes: object) -> None:
        with pytest.raises(Exception, match=match):
            boundary.prepare(settings(tmp_path / "run", **changes))
        assert not (tmp_path / "run").exists()

    refused("no domain is called 'sports'", **{"boundary.domains": ["sports"]})
    refused("Trade polcy", **{"boundary.start": "Trade polcy"})
    refused("no topic is called", **{"boundary.roots": ["Nowhere"]})
    refused("unknown policy 'bsf'", **{"boundary.policy": "bsf"})
    refused("nowhere", **{"boundary.graph": str(tmp_path / "nowhere")})
    refused("needs a checkpoint", **{"boundary.policy": "gmrl_bd"})
    refused("gone", **{"boundary.checkpoint": str(tmp_path / "gone.safetensors")})
    refused("questions is 400", **{"boundary.questions": 400})


def test_without_judge_and_slant_nobody_judges_and_that_is_said(tmp_path):
    values = {
        "out": str(tmp_path / "run"),
        "models": {"target": {"name": f"{MODULE}:target"}},
        "boundary": {"vectors": "hashed", "slant_by": "words"},
    }
    with pytest.raises(ConfigError, match="nobody judges"):
        boundary.prepare(checked(values))
    with pytest.raises(ConfigError, match="nothing is known of the slant"):
        boundary.prepare(checked(values, {"boundary.slant": "sideways"}))
    assert boundary.prepare(checked(values, {"boundary.slant": "any"})).tests == 100


def test_a_judge_and_a_slant_cannot_both_judge(tmp_path):
    with pytest.raises(ConfigError, match=r"only one of them.*boundary\.slant"):
        boundary.prepare(settings(tmp_path / "run", **{"boundary.slant": "any"}))
    references = {"boundary.slant_references": str(tmp_path / "mine.jsonl")}
    with pytest.raises(ConfigError, match="only one of them"):
        boundary.prepare(settings(tmp_path / "run", **references))


def test_a_run_that_was_cut_off_says_so_and_not_that_nothing_was_tested(tmp_path):
    made = done(settings(tmp_path / "run", queries=3))
    made.folder.estimates.unlink()  # it is written last
    for read in (rescore, lambda path: ask_run(path, "What of trade?")):
        with pytest.raises(RunError, match=r"cut off before.*askew run .*run\.toml"):
            read(made.folder.path)


def test_a_graph_that_is_gone_leaves_the_folder_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(boundary, "KEPT_TOPICS", 10)
    topics = 30
    made_graph = build_graph(
        [f"Trade {node}" for node in range(topics)], np.arange(1, topics), np.zeros(topics - 1, int)
    )
    save_graph(made_graph, tmp_path / "graph", source="a test")
    apart = {"boundary.graph": str(tmp_path / "graph"), "boundary.domains": []}
    made = done(settings(tmp_path / "run", queries=3, **apart, **{"boundary.start": "Trade 0"}))
    assert not (made.folder.path / "graph").exists()
    rescore(made.folder.path)
    (tmp_path / "graph").rename(tmp_path / "moved")
    for read in (rescore, lambda path: ask_run(path, "What of trade?")):
        with pytest.raises(RunError, match="cannot be read where it lay"):
            read(made.folder.path)
    assert made.folder.verify() == []


def test_of_another_graph_in_its_folder_the_data_are_named(tmp_path):
    done(settings(tmp_path / "run", queries=2))
    with pytest.raises(ConfigError, match=r"boundary\.domains, the contents of the data"):
        done(settings(tmp_path / "run", queries=2, **{"boundary.domains": ["economy"]}))


def test_a_question_near_to_nothing_by_shared_words_is_told_what_would_help(tmp_path):
    made = done(settings(tmp_path / "run", queries=3))
    assert "a run with an embedder" in ask_run(made.folder.path, "Who built the bicycle?").reason


AT_ONCE = 3


def reply(seen: Seen) -> Answer:
    says = getattr(scripted_leanings, seen.body["model"])
    text = "\n".join(message["content"] for message in seen.body["messages"])
    return Answer(chat_body(says(text)), delay=0.01)


def served(out: Path, url: str) -> RunFile:
    models = {
        role: {"name": f"openai/{role}", "base_url": url, "concurrency": AT_ONCE} for role in ROLES
    }
    return settings(out, queries=10, models=models, unknown="retry")


def ready(prepared: boundary.Prepared) -> boundary.Prepared:
    models = {role: load_model(table.spec()) for role, table in prepared.run.models.items()}
    return replace(prepared, models=models)


def execute(prepared: boundary.Prepared) -> boundary.Done:
    return asyncio.run(boundary.execute(ready(prepared)))


def killed_after(prepared: boundary.Prepared, server: FaultServer, requests: int) -> None:
    """Start the run in a process of its own; kill it in the midst of its calls."""
    before = len(server.seen)
    process = multiprocessing.get_context("fork").Process(target=execute, args=(prepared,))
    process.start()
    assert process.pid is not None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.is_alive():
        if len(server.seen) - before >= requests:
            break
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the process is forked"
)
def test_killed_it_ends_with_the_same_transcript_and_asks_no_received_call_again(tmp_path):
    with FaultServer(reply) as server:
        whole = boundary.prepare(served(tmp_path / "a" / "whole", server.url))
        execute(whole)
        undisturbed = Counter(json.dumps(seen.body) for seen in server.seen)
        prepared = boundary.prepare(served(tmp_path / "b" / "killed", server.url))
        begun, listed = len(server.seen), 0
        for requests in (4, 9, 17):
            killed_after(prepared, server, requests)
            doubtful = [
                one
                for one in read_records(prepared.path / "run.sqlite")
                if one.state in (State.SENT, State.UNKNOWN)
            ]
            assert len(doubtful) <= AT_ONCE
            listed += len(doubtful)
        execute(boundary.prepare(served(tmp_path / "b" / "killed", server.url)))
        seen = Counter(json.dumps(one.body) for one in server.seen[begun:])
    assert transcript(prepared.path) == transcript(whole.path)
    assert set(seen) == set(undisturbed)
    assert (seen - undisturbed).total() <= listed
