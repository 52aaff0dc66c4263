"""The boundary audit from Python: a script, a notebook's running loop, and what comes back."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import askew
from askew.audits.boundary import Found
from askew.errors import ConfigError, RunError
from askew.graphs.starter_topics import starter_graph
from tests.audits.scripted_leanings import LEANING, SLANTED, target

ROOT = Path(__file__).parent.parent
TOPICS = "python/tests.audits.scripted_leanings"
SMALL: dict[str, Any] = {
    "domains": "economy",
    "policy": "neighbour_share",
    "start": "Economy",
    "queries": 4,
    "questions": 2,
    "vectors": "hashed",
    "slant_by": "words",
    "progress": False,
}
BY_RULE = {**SMALL, "slant": "any"}
BY_JUDGE = {**SMALL, "judge": f"{TOPICS}:judge"}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    return tmp_path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> askew.Run:
    out = tmp_path_factory.mktemp("run") / "run"
    return askew.boundary(
        f"{TOPICS}:target",
        generator=f"{TOPICS}:generator",
        out=out,
        **{**BY_JUDGE, "queries": 16},
    )


def plain(prompt: str) -> str:
    """Takes no side, whatever is asked."""
    return "There are several views of it, and each has its reasons and its critics."


# The same run as on the command line


def test_a_run_of_the_command_line_and_one_of_python_are_the_same_run(tmp_path):
    options = [
        "--model", f"{TOPICS}:target", "--slant", "any", "--domain", "economy",
        "--policy", "neighbour_share", "--start", "Economy", "--queries", "4", "--questions", "2",
        "--set", "boundary.vectors=hashed", "--set", "boundary.slant_by=words",
        "--set", "models.target.options.paid=false", "--json",
    ]  # fmt: skip
    subprocess.run(
        [
            sys.executable,
            "-c",
            "from askew.cli import main; main()",
            "boundary",
            "search",
            *options,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=240,
    )
    (folder,) = (tmp_path / "runs").iterdir()
    settings = {**BY_RULE, "options": {"paid": False}}
    planned = askew.plan_boundary(f"{TOPICS}:target", **settings)
    assert (planned.path, planned.calls.new, planned.paid) == (folder, 0, False)
    run = askew.boundary(f"{TOPICS}:target", **settings)
    assert run.path == folder
    assert run.figures["calls"]["by_role"]["target"]["reused"] == 4 * 2


def test_a_plan_asks_nothing_and_bounds_what_a_run_then_asks(tmp_path):
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return plain(prompt)

    planned = askew.plan_boundary(model, revision="1", **BY_RULE)
    assert asked == []
    assert list(tmp_path.iterdir()) == []
    assert (planned.tests, planned.topics) == (4, 83)
    assert planned.models == {"target": planned.model}
    run = askew.boundary(model, revision="1", **BY_RULE)
    assert run.path == planned.path
    assert len(asked) == planned.calls.new == 4 * 2
    assert askew.plan_boundary(model, revision="1", **BY_RULE).calls.new == 0


def test_a_run_goes_further_where_more_is_wanted_and_asks_nothing_again():
    first = askew.boundary(f"{TOPICS}:target", **BY_RULE)
    further = askew.boundary(f"{TOPICS}:target", **{**BY_RULE, "queries": 6})
    assert further.path == first.path
    assert further.figures["calls"]["by_role"]["target"]["asked"] == 2 * 2
    assert [row["title"] for row in further.rows()][: 4 * 2 : 2] == list(
        dict.fromkeys(row["title"] for row in further.rows() if row["step"] <= 4)
    )


def test_a_run_file_is_read_and_what_is_given_goes_before_it(tmp_path):
    file = tmp_path / "boundary.toml"
    file.write_text(
        f'seed = 3\n[models.target]\nname = "{TOPICS}:target"\n[boundary]\nqueries = 9\n'
        'domains = ["economy"]\npolicy = "bfs"\nquestions = 2\nvectors = "hashed"\n'
        'slant = "any"\nslant_by = "words"\n'
    )
    run = askew.boundary(file=file, queries=3, probes=0.0, progress=False)
    settings = run.figures["boundary"]["settings"]
    assert (settings["queries"], settings["probes"], settings["policy"]) == (3, 0.0, "bfs")
    assert run.figures["seed"] == 3


def test_an_audit_is_not_run_by_the_file_of_another(tmp_path):
    files = {}
    for audit, table in (("flex", ""), ("clinical", "[clinical]\n"), ("boundary", "[boundary]\n")):
        files[audit] = tmp_path / f"{audit}.toml"
        files[audit].write_text(f'[models.target]\nname = "a/b"\n{table}')
    for call in (askew.boundary, askew.plan_boundary):
        with pytest.raises(ConfigError, match=r"no \[boundary\] table.*askew\.flex"):
            call(file=files["flex"])
        with pytest.raises(ConfigError, match=r"clinical audit.*askew\.clinical"):
            call(file=files["clinical"])
    for call in (askew.flex, askew.plan, askew.clinical, askew.plan_clinical):
        with pytest.raises(ConfigError, match=r"boundary audit.*askew\.boundary"):
            call(file=files["boundary"])


# Settings, other roles, graphs


def test_the_models_of_roles_are_named_or_given_as_tables():
    planned = askew.plan_boundary(
        f"{TOPICS}:target",
        judge={"name": f"{TOPICS}:judge", "temperature": 0.5},
        models={"generator": f"{TOPICS}:generator"},
        **SMALL,
    )
    assert planned.models == {
        "target": f"{TOPICS}:target",
        "judge": f"{TOPICS}:judge",
        "generator": f"{TOPICS}:generator",
    }
    assert {one.role for one in planned.calls.roles} == set(planned.models)
    assert planned.paid  # a function may cost something unless it is said not to


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"query": 2}, r"no setting 'query'. Did you mean queries"),
        ({"judges": "a/b"}, r"no setting 'judges'. Did you mean judge\b"),
        ({"thresholds": 2}, r"Did you mean threshold.*`askew boundary init`"),
        ({"shots": 2}, "no setting 'shots'"),  # FLEX's
        ({"data": "starter"}, "no setting 'data'"),
        ({"policy": "bsf"}, "unknown policy 'bsf'"),
        ({"domains": "sports"}, "no domain is called 'sports'"),
        ({"queries": 0}, r"^boundary\.queries is 0"),
        ({"queries": "many"}, r"^boundary\.queries is 'many'"),
        ({"judge": plain}, r"role 'judge' is function.*python/my_module:judge"),
        ({"generator": [3]}, "role 'generator' is list"),
        ({"judge": "a/b", "models": {"judge": "a/c"}}, "given twice"),
        ({"judge": "a/b", "models.judge.name": "a/c"}, r"models\.judge\.name is given twice"),
        ({"models": "a/b"}, "models is str, expected a table of models by role"),
        ({"models": {"critic": "a/b"}}, r"not \[models.critic\]"),
        ({"graph": 3}, "graph is int, expected 'starter' or the folder"),
        ({"graph": starter_graph()}, "graph is TopicGraph, .*save_graph"),
        ({"graph": "nowhere"}, "nowhere: there is no such file or folder"),
        ({"variant": None}, "variant is None, .* Leave it out for 'frontier'"),
        ({"domains": ["economy", None]}, r"domains\.1 is None"),
        ({"slant": ""}, "nobody judges the answers"),
        ({"judge": f"{TOPICS}:judge"}, "only one of them can judge"),
        ({"file": "none.toml"}, r"none.toml: no such file.*askew boundary init"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings, message):
    with pytest.raises(askew.AskewError, match=message):
        askew.plan_boundary(**{**BY_RULE, **settings})


def test_a_secret_that_is_no_setting_is_not_shown():
    with pytest.raises(ConfigError, match="Did you mean api_key_env") as raised:
        askew.plan_boundary("openai/x", api_key="sk-very-secret")
    assert "sk-very-secret" not in str(raised.value)


def test_a_graph_is_named_or_the_folder_of_one(tmp_path):
    from askew.graphs.topic_storage import save_graph

    size = starter_graph().size
    save_graph(starter_graph(), tmp_path / "mine", source="the starter graph")
    whole = {**BY_RULE, "domains": None}
    for graph in (None, "starter", "mine", Path("mine")):
        assert askew.plan_boundary(f"{TOPICS}:target", graph=graph, **whole).topics == size


# Loops, progress, stopping


async def test_it_runs_where_a_loop_is_running_already():
    assert asyncio.get_running_loop().is_running()
    assert askew.boundary(f"{TOPICS}:target", **BY_RULE).missing == 0


def test_progress_is_told_topic_by_topic_in_the_calling_thread():
    told: list[Found] = []
    run = askew.boundary(f"{TOPICS}:target", **{**BY_JUDGE, "progress": told.append})
    last = told[-1]
    assert (last.tested, last.queries) == (4, 4)
    assert last.leaning == run.figures["boundary"]["topics"]["leaning"] > 0


def test_what_cannot_be_told_of_progress_is_refused_before_a_call(tmp_path):
    with pytest.raises(ConfigError, match="progress is str, expected True, False or a function"):
        askew.boundary(f"{TOPICS}:target", **{**BY_RULE, "progress": "yes"})
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_says_that_the_same_call_goes_on_and_it_does():
    def stop(now: Found) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="the same call goes on from there"):
        askew.boundary(f"{TOPICS}:target", **{**BY_RULE, "queries": 12, "progress": stop})
    whole = askew.boundary(f"{TOPICS}:target", **{**BY_RULE, "queries": 12})
    assert whole.missing == 0


def test_what_is_missing_is_said_and_the_same_call_goes_on():
    with pytest.warns(askew.IncompleteRun, match=r"stopped early \(budget\) after 1 topics"):
        cut = askew.boundary(f"{TOPICS}:target", budget={"calls": 3}, **BY_RULE)
    assert cut.missing == 4 - 1
    assert len(cut.rows()) == 2
    assert any("stopped before its end" in one for one in html_paragraphs(cut))
    whole = askew.boundary(f"{TOPICS}:target", **BY_RULE)
    assert (whole.path, whole.missing) == (cut.path, 0)


def html_paragraphs(run: askew.Run) -> list[str]:
    return run._repr_html_().split("<p>")


def test_calls_that_fail_are_counted_and_the_first_error_is_shown():
    def broken(prompt: str) -> str:
        raise ValueError("no word today")

    with pytest.warns(askew.IncompleteRun, match="calls failed, the first with: .*no word today"):
        run = askew.boundary(broken, revision="1", **BY_RULE)
    assert run.failed == len(run.rows()) == 4 * 2
    assert run.missing == 0
    assert "none could be judged" in run.sentence


# What comes back


def test_what_was_planted_is_found_and_had_by_its_path(run):
    pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    found = run.figures["boundary"]["findings"]
    assert found
    for one in found:
        assert any(word in one["title"].casefold() for word in LEANING)
    assert "16 topics" in run.sentence
    share = run.estimate("boundary.by_domain.economy.leaning_share")
    assert (share.value, share.n) == (len(found) / 16, 16)
    table = run.table().set_index("path")
    assert table.index.is_unique
    row = table.loc["boundary.by_domain.economy.leaning_share"]
    assert (row["figure"], row["by"], row["slice"]) == ("leaning_share", "domain", "economy")
    assert row["value"] == share.value
    with pytest.raises(ConfigError, match=r"Near it: boundary\.leaning_share"):
        run.estimate("boundary.leaning_shares")


def test_rows_frame_and_file_are_one(run, tmp_path):
    pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    frame, rows = run.frame(), run.rows()
    assert len(rows) == 16 * 2
    assert list(frame.columns) == list(rows[0])
    assert list(frame.question) == [row["question"] for row in rows]
    assert (frame.score.dtype, frame.step.dtype, frame.probe.dtype) == (
        "float64",
        "Int64",
        "boolean",
    )
    leaning = frame[frame.verdict == "leaning"]
    assert set(leaning.answer) == {SLANTED}
    assert set(leaning.title) == {one["title"] for one in run.figures["boundary"]["findings"]}
    written = run.export(tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["answer_key"] for line in written] == list(frame.answer_key)


def test_reading_again_takes_the_audits_own_settings(run):
    before = run.figures["boundary"]["topics"]
    read = run.score(threshold=1.0).figures["boundary"]
    assert read["settings"]["threshold"] == 1.0
    run.score(threshold=0.5)
    assert run.figures["boundary"]["topics"] == before
    with pytest.raises(ConfigError, match=r"^boundary\.non_answers is no setting"):
        run.score(non_answers="wrong")
    with pytest.raises(RunError, match="would change what is asked"):
        run.score(policy="bfs")


def test_a_question_is_put_to_the_tested_topics_and_no_model(run):
    tested = run.rows()[0]["question"]
    answer = run.ask(str(tested))
    assert answer.verdict == "leaning"
    assert answer.decided_by[0].test.title == "Economy"
    assert run.ask("Who invented the bicycle?").verdict == "unknown"
    with pytest.raises(ConfigError, match="question is empty"):
        run.ask(" ")


def test_what_another_audit_has_says_so(run):
    for ask in (run.pairs, run.turned, run.effects):
        with pytest.raises(RunError, match=r"boundary audit: `rows\(\)`.*`ask\(\)`"):
            ask()
    flex = askew.flex(lambda prompt: "(A)", revision="1", items=1, controls=0, progress=False)
    with pytest.raises(RunError, match=r"no ask\(\).*run of FLEX: `pairs\(\)`"):
        flex.ask("What of trade?")
    with pytest.raises(RunError, match=r"`pairs\(\)`"):
        flex.effects()


def test_a_run_is_opened_and_shown_without_script(run):
    html = askew.open_run(run.path)._repr_html_()
    assert run.sentence.split(";")[0] in html
    assert "<table>" in html
    assert "economy" in html
    assert str(run.report) in html
    assert "<script" not in html


def test_texts_of_models_and_of_a_graph_are_shown_as_texts(tmp_path):
    import numpy as np

    from askew.graphs.topic_storage import save_graph
    from askew.graphs.topics import build_graph

    bad = "<img src=x onerror=alert(1)>"
    graph = build_graph([bad, f"=1+1 {bad}"], np.array([1]), np.array([0]), domains=[bad, "value"])
    save_graph(graph, tmp_path / "mine", source="a test")

    def model(prompt: str) -> str:
        return bad + " " + SLANTED

    settings = {**BY_RULE, "domains": None, "start": None, "graph": "mine"}
    run = askew.boundary(model, revision=bad, **settings)
    assert "<img" not in run._repr_html_()
    assert run.estimate(f"boundary.by_domain.{bad}.leaning_share").n == 1
    assert run.estimate("boundary.by_domain.value.leaning_share").n == 1
    assert {row["title"] for row in run.rows()} == {bad, f"=1+1 {bad}"}
    written = run.export(tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert "'=1+1" in written
    assert ",=1+1" not in written


def test_the_scripted_target_leans_by_the_words_of_its_rule():
    assert target("What of taxes?") == SLANTED  # what the tests above rest on
