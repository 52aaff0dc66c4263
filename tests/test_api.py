"""askew from Python: a script, a notebook's running loop, and what comes back."""

from __future__ import annotations

import asyncio
import csv
import json
import math
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import askew
from askew.errors import ConfigError, DataError, MissingDependency, RunError
from askew.models.ledgerfile import State, read_records
from askew.models.python_app import PythonApp
from tests.audits.planted import NEUTRAL, leaning
from tests.models.servers import FaultServer

HERE = Path(__file__).parent
PLANTED = HERE / "audits"
SMALL: dict[str, Any] = {"items": 8, "controls": 0, "prompt": "flex", "progress": False}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PLANTED))
    return tmp_path


def python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


# What is imported, and what it costs


def test_import_askew_takes_neither_time_nor_memory():
    code = """
        import resource, sys, time
        before, began = set(sys.modules), time.process_time()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        import askew
        took = time.process_time() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        print(took, memory * (1 if sys.platform == "darwin" else 1024))
        print(*(set(sys.modules) - before))
    """
    ran = [python(code).stdout.splitlines() for _ in range(3)]
    costs = [tuple(map(float, lines[0].split())) for lines in ran]
    assert min(seconds for seconds, _ in costs) < 0.05
    assert min(memory for _, memory in costs) < 10e6
    assert ran[0][1].split() == ["askew"]


def test_items_are_read_without_the_libraries_of_an_audit():
    code = """
        import sys, askew
        assert askew.load_items("starter")
        print(*{"torch", "transformers", "pandas", "scipy", "pydantic"} & set(sys.modules))
    """
    assert python(code).stdout.split() == []


def test_a_star_import_brings_the_documented_names_and_no_others():
    names: dict[str, object] = {}
    exec("from askew import *", names)
    assert set(names) - {"__builtins__"} == set(askew.__all__)
    assert all(names[name] is getattr(askew, name) for name in askew.__all__)
    assert set(askew.__all__) <= set(dir(askew))


def test_no_module_of_askews_hides_a_name_that_it_offers():
    modules = {path.stem for path in Path(askew.__file__).parent.iterdir()}
    assert not modules & set(askew.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'felx'"):
        askew.felx  # noqa: B018


# Data sets

MINE = "id,bias_type,question,option_a,option_b,option_c,neutral\n"
ROW = "{id},team,Who lost?,Reds,Blues,Unknown,{neutral}\n"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(MINE + ROW.format(id=1, neutral="c") + ROW.format(id=2, neutral="x"))
    return path


def test_a_set_is_named_or_given_as_a_file(mine):
    assert [item.id for item in askew.load_items("starter")][:1] == ["starter/age-001"]
    for named in (mine, str(mine), "mine.csv", "own=mine.csv", {"name": "own", "path": "mine.csv"}):
        assert [item.id for item in askew.load_items(named, lenient=True)] == ["mine/1"]
    for named in ("own", askew.DataSpec("own")):
        loaded = askew.load(named, path=mine, lenient=True, source="ours")
        assert [item.id for item in loaded.items] == ["ours/1"]
        assert len(loaded.rejected) == 1


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("bqq", {}, "unknown data set 'bqq'. Known: bbq"),
        ("bqq=folder", {}, "unknown data set 'bqq'"),
        ("starter", {"categories": ["Age"]}, "has no option 'categories'"),
        (Path(), {}, "folder.*Name the set"),
        ({"name": "own", "file": "mine.csv"}, {}, "'path'"),
        (3, {}, "int, expected a name"),
    ],
)
def test_what_is_no_data_set_is_a_clear_error(data, options, message):
    with pytest.raises(ConfigError, match=message):
        askew.load_items(data, **options)


def test_records_that_cannot_be_used_are_listed_unless_left_out(mine):
    with pytest.raises(DataError, match=r"mine\.csv:3"):
        askew.load_items(mine)


# The same run as on the command line


def command(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-c", "from askew.cli import main; main()", *arguments],
        env={**os.environ, "PYTHONPATH": str(PLANTED)},
        capture_output=True,
        check=True,
        timeout=120,
    )


def test_a_run_of_the_command_line_and_one_of_python_are_the_same_run(tmp_path):
    command("run", "--model", "python/planted:leaning", "--prompt", "flex", "--items", "8",
            "--set", "flex.controls=0", "--seed", "3", "--yes")  # fmt: skip
    (folder,) = (tmp_path / "runs").iterdir()
    planned = askew.plan("python/planted:leaning", seed=3, **_without_progress())
    assert planned.path == folder
    assert (planned.calls.new, planned.pairs, planned.items) == (0, 24, 8)
    run = askew.flex("python/planted:leaning", seed=3, **SMALL)
    assert run.path == folder
    assert run.figures["calls"]["asked"] == 0

    # and a function that a module holds is the one of that name
    import planted

    again = askew.flex(planted.leaning, seed=3, **SMALL)
    assert (again.path, again.figures["calls"]["asked"]) == (folder, 0)


def _without_progress() -> dict[str, Any]:
    return {name: value for name, value in SMALL.items() if name != "progress"}


def test_a_run_file_is_read_and_what_is_given_goes_before_it(tmp_path):
    file = tmp_path / "audit.toml"
    file.write_text(
        'seed = 3\n[models.target]\nname = "python/planted:leaning"\n'
        '[flex]\nitems = 4\ncontrols = 0\nprompt = "flex"\n[budget]\ntokens = 100000\n'
    )
    command("run", str(file), "--yes")
    run = askew.flex(file=file, progress=False)
    assert run.figures["calls"]["asked"] == 0
    run = askew.flex(file=file, budget={"calls": 100}, progress=False)
    text = (run.path / "run.toml").read_text()
    assert "tokens = 100000" in text  # a limit that is not named is not lifted
    assert "calls = 100\n" in text
    assert askew.plan(file="audit.toml", items=2).items == 2
    assert askew.plan(file=file, items=None).items == 4
    assert askew.plan(file=file, progress=False).items == 4  # what `flex` takes, `plan` takes


def test_settings_are_found_by_their_name_or_by_their_dotted_key(tmp_path):
    run = askew.flex(
        "python/planted:leaning",
        ["starter"],
        shots=1,
        max_tokens=32,
        adjective="rude",
        wording={"personas": {"age": ["grandmother"]}},
        budget={"calls": 100},
        out="here",
        **{"models.target.seed": 5},
        **SMALL,
    )
    assert run.path == tmp_path / "here"
    text = (run.path / "run.toml").read_text()
    for line in ("shots = 1", "max_tokens = 32", 'adjective = "rude"', "calls = 100", "seed = 5"):
        assert line in text
    assert '"grandmother"' in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shot": 2}, r"no setting 'shot'. Did you mean shots"),
        ({"progres": False}, "Did you mean progress"),
        ({"adjectiv": "rude"}, "Did you mean adjective"),
        ({"flex.shot": 2}, r"flex\.shot"),
        ({"data": []}, "data is empty"),
        ({"adjective": "rude", "wording": {"adjective": "kind"}}, "adjective is given twice"),
        ({"model": "openai/x", "models.target.name": "openai/y"}, "name is given twice"),
        ({"items": 0}, r"^flex\.items is 0"),
        ({"temperature": None}, "temperature is None, .* Leave it out for 0.0"),
        ({"options": {"body": {"stop": None}}}, r"options\.body\.stop is None"),
        ({"options": {"hook": print}}, "cannot be kept"),
        ({"model": 3}, "model is int"),
        ({"data": 3}, "data is int"),
        ({"budget": 5}, "budget is 5"),
        ({"file": "none.toml"}, "none.toml: no such file"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        askew.plan(**settings)


def test_a_secret_that_is_no_setting_is_not_shown():
    with pytest.raises(ConfigError, match="Did you mean api_key_env") as raised:
        askew.plan("openai/x", api_key="sk-very-secret")
    assert "sk-very-secret" not in str(raised.value)


# Functions as models


def counted(function: Callable[[str], str]) -> tuple[Callable[[str], str], list[str]]:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return function(prompt)

    return answer, asked


def test_a_function_of_no_module_needs_a_revision_and_goes_on_with_it():
    answer, asked = counted(leaning)
    with pytest.raises(ConfigError, match="revision='1'"):
        askew.flex(answer, **SMALL)
    assert not asked
    with pytest.warns(askew.IncompleteRun):
        askew.flex(answer, revision="1", budget={"calls": 5}, out="run", **SMALL)
    run = askew.flex(answer, revision="1", out="run", **SMALL)
    assert len(asked) == len(set(asked)) == 32
    assert run.missing == 0


def test_replies_of_another_function_are_never_taken():
    def one(prompt: str) -> str:
        return "(A)"

    def other(prompt: str) -> str:
        return "(B)"

    other.__name__, other.__qualname__ = one.__name__, one.__qualname__
    first = askew.flex(one, revision="1", **SMALL)
    assert {row["reply"] for row in first.rows()} == {"(A)"}
    second = askew.flex(other, revision="1", **SMALL)
    assert {row["reply"] for row in second.rows()} == {"(B)"}
    third = askew.flex(other, revision="2", **SMALL)
    assert third.path != second.path
    assert third.figures["calls"]["asked"] == 32


def test_a_function_that_is_wrapped_up_is_known_by_what_is_in_it():
    def bot(prompt: str, say: str) -> str:
        return say

    for say in ("(A)", "(B)"):
        run = askew.flex(partial(bot, say=say), revision="1", **{**SMALL, "items": 1})
        assert {row["reply"] for row in run.rows()} == {say}
        assert "test_api-bot" in run.path.name


def test_lambdas_methods_and_conversations_are_asked():
    class Bot:
        def answer(self, messages: list[dict[str, str]]) -> str:
            return f"({messages[-1]['content'].count('(A)')})"

    few: dict[str, Any] = {**SMALL, "items": 1, "revision": "1"}
    assert askew.flex(lambda prompt: "(A)", **few).missing == 0
    assert {row["reply"] for row in askew.flex(Bot().answer, **few).rows()} == {"(1)"}


# Event loops, threads, and Ctrl-C


async def test_it_runs_where_a_loop_is_running_already():
    assert asyncio.get_running_loop().is_running()
    assert askew.flex("python/planted:leaning", **SMALL).missing == 0


async def test_what_an_async_function_keeps_serves_the_next_run_as_well():
    loops = set()

    async def answer(prompt: str) -> str:
        loops.add(asyncio.get_running_loop())
        return leaning(prompt)

    askew.flex(answer, revision="1", **SMALL)
    askew.flex(answer, revision="2", **SMALL)
    assert len(loops) == 1
    assert asyncio.get_running_loop() not in loops


async def test_an_endpoint_is_asked_by_one_run_after_another():
    with FaultServer() as server:
        for seed in (1, 2):
            run = askew.flex("openai/small", base_url=server.url, seed=seed, **SMALL)
            assert (run.missing, run.failed) == (0, 0)
        seen = len(server.seen)
        again = askew.flex("openai/small", base_url=server.url, seed=2, **SMALL)
        assert (again.path, len(server.seen)) == (run.path, seen)


def test_two_threads_may_audit_at_once():
    found: dict[str, askew.Run] = {}

    def audit(name: str) -> None:
        found[name] = askew.flex("python/planted:leaning", out=name, **SMALL)

    threads = [threading.Thread(target=audit, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[name].missing for name in ("one", "two")] == [0, 0]


def test_an_audit_within_an_audit_is_refused_rather_than_waited_for():
    async def answer(prompt: str) -> str:
        askew.flex("python/planted:leaning", **SMALL)
        return "(A)"

    with pytest.warns(askew.IncompleteRun, match="would wait for itself"):
        run = askew.flex(answer, revision="1", **{**SMALL, "items": 1})
    assert run.failed == 4


def test_a_function_that_wants_to_end_everything_ends_no_later_audit():
    """What leaves the loop must not leave the caller waiting for it."""
    code = """
        import askew, asyncio, sys, warnings
        few = dict(items=1, controls=0, prompt="flex", progress=False)
        warnings.simplefilter("error", askew.IncompleteRun)

        def exits(prompt):
            sys.exit("no key")

        def interrupts(prompt):
            raise KeyboardInterrupt

        async def interrupts_later(prompt):
            raise KeyboardInterrupt

        async def stops(prompt):
            asyncio.get_running_loop().stop()
            return "(A)"

        for answer in (exits, interrupts, interrupts_later, stops):
            try:
                print(askew.flex(answer, revision="1", **few).missing)
            except (askew.IncompleteRun, KeyboardInterrupt) as end:
                print(type(end).__name__, end)
            later = askew.flex(lambda prompt: "(A)", revision=answer.__name__, **few)
            print("later", later.missing)
    """
    said = python(code).stdout.splitlines()
    assert "4 calls failed, the first with: SystemExit: no key" in said[0]
    assert [line.partition(" ")[0] for line in said[2:6:2]] == ["KeyboardInterrupt"] * 2
    assert said[1::2] == ["later 0"] * 4
    assert said[6] == "0"


def test_progress_is_told_in_the_calling_thread():
    steps, threads = [], set()

    def tell(now):
        steps.append((now.done, now.total))
        threads.add(threading.current_thread())

    askew.flex("python/planted:leaning", **{**SMALL, "progress": tell})
    assert steps[-1] == (32, 32)
    assert threads == {threading.current_thread()}


def test_what_cannot_be_told_of_progress_is_refused_before_a_call():
    answer, asked = counted(leaning)
    with pytest.raises(ConfigError, match="progress is str, expected True, False or a function"):
        askew.flex(answer, revision="1", **{**SMALL, "progress": "yes"})
    assert not asked


def test_a_program_without_a_console_is_not_told(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert askew.flex("python/planted:leaning", **{**SMALL, "progress": True}).missing == 0


@pytest.mark.parametrize("error", [ValueError("the widget is gone"), KeyboardInterrupt()])
def test_a_run_whose_progress_cannot_be_told_stops_cleanly(error):
    answer, asked = counted(lambda prompt: time.sleep(0.02) or leaning(prompt))

    def tell(now):
        if now.done >= 3:
            raise error

    with pytest.raises(type(error)):
        askew.flex(answer, revision="1", out="run", **{**SMALL, "progress": tell})
    states = [record.state for record in read_records(Path("run/run.sqlite"))]
    assert State.UNKNOWN not in states
    assert 3 <= len(asked) < 32
    run = askew.flex(answer, revision="1", out="run", **SMALL)
    assert len(asked) == len(set(asked)) == 32
    assert run.missing == 0


SCRIPT = """
    import askew, sys, time
    def answer(prompt):
        print("asked", flush=True)
        time.sleep(0.3)
        return "(A)"
    askew.flex(answer, revision="1", items=8, controls=0, prompt="flex", out="run")
    print("the next line")
"""


def test_ctrl_c_stops_a_script_and_keeps_what_was_paid(tmp_path):
    script = tmp_path / "audit.py"
    script.write_text(textwrap.dedent(SCRIPT))
    started = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    for _ in range(3):
        assert started.stdout.readline() == "asked\n"
    started.send_signal(signal.SIGINT)
    said, errors = started.communicate(timeout=60)
    assert started.returncode in (130, -signal.SIGINT)
    assert "the next line" not in said
    assert "KeyboardInterrupt: stopped." in errors
    states = [record.state for record in read_records(tmp_path / "run" / "run.sqlite")]
    assert states.count(State.RECEIVED) == 3 + said.count("asked")
    assert set(states) == {State.RECEIVED, State.PLANNED}
    assert askew.open_run("run").missing == 32 - states.count(State.RECEIVED)


def test_a_second_ctrl_c_does_not_wait_and_lists_the_call_as_unknown(tmp_path):
    script = tmp_path / "audit.py"
    script.write_text(textwrap.dedent(SCRIPT).replace("0.3", "8"))
    started = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    started.stdout.readline()
    began = time.monotonic()
    for _ in range(2):
        started.send_signal(signal.SIGINT)
        time.sleep(0.5)
    run = tmp_path / "run"
    while not (run / "MANIFEST").is_file() and time.monotonic() < began + 7:
        time.sleep(0.05)
    assert time.monotonic() < began + 7
    states = [record.state for record in read_records(run / "run.sqlite")]
    assert states.count(State.UNKNOWN) == 1
    started.kill()
    started.communicate(timeout=30)


def test_a_forked_process_has_a_loop_of_its_own():
    code = """
        import os, askew
        os.environ["PYTHONWARNINGS"] = "ignore"
        few = dict(items=1, controls=0, prompt="flex", revision="1", progress=False)
        askew.flex(lambda prompt: "(A)", **few)
        child = os.fork()
        if child == 0:
            askew.flex(lambda prompt: "(B)", **few)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    python(code)


# What comes back


@pytest.fixture(scope="module")
def planted_run(tmp_path_factory: pytest.TempPathFactory) -> askew.Run:
    folder = tmp_path_factory.mktemp("run")
    return askew.flex(leaning, revision="1", out=folder / "run", **SMALL)


def moody(seed: int) -> Callable[[str], str | None]:
    """Answers, refuses and says nothing to be read, as chance has it."""

    def answer(prompt: str) -> str | None:
        luck = random.Random(f"{seed} {prompt}")
        neutral = NEUTRAL.search(prompt)
        assert neutral is not None
        readable = [f"({neutral['letter']})", "(A)", "(B)"]
        return luck.choice([*readable, f"({neutral['letter']})", "I cannot help with that.", "…"])

    return answer


@pytest.mark.parametrize("seed", [1, 2])
def test_the_mean_of_turned_is_the_attack_success_rate_of_every_slice(seed):
    run = askew.flex(moody(seed), revision=str(seed), **{**SMALL, "items": 20})
    for non_answers in ("left_out", "wrong"):
        run.score(non_answers=non_answers)
        pairs, figures = run.pairs(), run.table()
        assert len(pairs) == run.figures["flex"]["pairs"]["overall"]
        rates = figures[figures.figure == "attack_success_rate"]
        for column in ("category", "bias_type", "source"):
            means = pairs.groupby(column).turned.mean().astype("float64")
            for _, rate in rates[rates.by == column].iterrows():
                assert means[rate["slice"]] == pytest.approx(rate["value"], nan_ok=True)
                assert pairs[pairs[column] == rate["slice"]].turned.count() == rate["n"]
        assert pairs.turned.mean() == pytest.approx(
            run.estimate("flex.attack_success_rate.overall").value
        )


def test_the_rows_are_those_that_are_exported(planted_run, tmp_path):
    written = planted_run.export(tmp_path / "rows.csv")
    with written.open(newline="", encoding="utf-8") as file:
        exported = list(csv.DictReader(file))
    frame = planted_run.frame()
    assert list(frame.columns) == list(exported[0])
    assert list(frame.item_id) == [row["item_id"] for row in exported]
    assert list(frame.outcome) == [row["outcome"] for row in exported]
    assert frame.right.sum() == sum(row["right"] == "True" for row in exported)
    assert len(planted_run.rows()) == len(exported) == 32
    with pytest.raises(RunError, match=r"rows\.xls: the ending is none of"):
        planted_run.export(tmp_path / "rows.xls")


def test_the_table_has_every_figure_that_has_an_interval(planted_run):
    table = planted_run.table().set_index("path")
    assert table.index.is_unique
    for path, row in table.iterrows():
        estimate = planted_run.estimate(path)
        assert estimate.n == row["n"]
        assert estimate.value == row["value"] or (
            math.isnan(estimate.value) and row.isna()["value"]
        )
    row = table.loc["flex.attack_success_rate.source_category.starter.persona_injection"]
    assert (row["figure"], row["by"]) == ("attack_success_rate", "source_category")
    assert row["slice"] == "starter / persona_injection"
    assert json.loads((planted_run.path / "estimates.json").read_text()) == planted_run.figures


def test_what_is_undefined_is_nan_and_never_zero():
    with warnings.catch_warnings(record=True) as said:
        for _ in range(2):  # the same line of code is not silent the second time
            run = askew.flex(leaning, revision="1", budget={"calls": 0}, **SMALL)
    assert [one.category for one in said] == [askew.IncompleteRun] * 2
    assert "0 calls is spent" in str(said[0].message)
    assert (run.missing, run.failed) == (32, 0)
    assert math.isnan(run.estimate("flex.attack_success_rate.overall").value)
    rates = run.table().query("figure == 'attack_success_rate'")
    assert rates["value"].isna().all()
    assert run.pairs()[["outcome_source", "outcome_attacked", "turned"]].isna().all(axis=None)
    assert run.frame()[["outcome", "chosen", "right", "reply"]].isna().all(axis=None)
    assert "nothing can be said" in run._repr_html_() or "not meaningful" in run._repr_html_()


def test_a_short_name_stands_for_a_figure_as_it_does_in_a_gate(planted_run):
    overall = planted_run.estimate("flex.attack_success_rate.overall")
    assert planted_run.estimate("asr") == overall
    persona = "flex.attack_success_rate.category.persona_injection"
    assert planted_run.estimate("asr.category.persona_injection") == planted_run.estimate(persona)


def test_a_figure_that_is_not_there_is_answered_with_near_ones(planted_run):
    with pytest.raises(ConfigError, match=r"Near it: flex\.attack_success_rate\.overall"):
        planted_run.estimate("flex.attack_success_rate.overal")
    with pytest.raises(ConfigError, match=r"^flex\.non_answer is no setting"):
        planted_run.score(non_answer="wrong")


def test_turned_pairs_show_both_sides(planted_run):
    pair = planted_run.turned(limit=1)[0]
    assert pair.source.outcome.value == "neutral"
    assert "Speak like" in pair.attacked.prompt[0][1]
    assert "Speak like" not in pair.source.prompt[0][1]


def test_a_text_of_the_data_or_of_a_model_is_shown_as_text_and_kept_whole(tmp_path):
    bad = "<img src=x onerror=alert(1)>"
    path = tmp_path / "mine.csv"
    path.write_text(MINE + f"1,{bad},Who lost?,Reds,Blues,Unknown,c\n")
    run = askew.flex(lambda prompt: f"{bad} \ud83d", path, revision=bad, out="run", **SMALL)
    html = run._repr_html_()
    assert "<img" not in html
    assert "<script" not in html
    frame = run.frame()
    assert set(frame.bias_type) == {bad}
    assert set(frame.reply) == {f"{bad} \\ud83d"}
    assert run.pairs().reply_source.iloc[0].startswith(bad)
    assert run.estimate(f"flex.source_accuracy.bias_type.{bad}").n == 0


def test_a_bias_type_may_have_dots_in_its_name(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(MINE + "1,v1.0 beta,Who lost?,Reds,Blues,Unknown.,c\n")
    run = askew.flex(leaning, path, revision="1", **SMALL)
    assert run.estimate("flex.source_accuracy.bias_type.v1.0 beta").n == 1


def test_a_run_that_was_moved_is_opened_where_it_is(planted_run, tmp_path):
    import shutil

    moved = shutil.copytree(planted_run.path, tmp_path / "moved")
    run = askew.open_run("moved")
    assert run.path == moved
    assert run.figures == planted_run.figures
    with pytest.raises(RunError, match="not a run folder"):
        askew.open_run(tmp_path)


def test_a_run_without_figures_says_how_to_get_them(planted_run, tmp_path):
    import shutil

    moved = shutil.copytree(planted_run.path, tmp_path / "moved")
    (moved / "estimates.json").unlink()
    run = askew.open_run(moved)
    assert "askew score" in run._repr_html_()
    with pytest.raises(RunError, match="askew score"):
        _ = run.figures
    rate = "flex.attack_success_rate.overall"
    assert run.score().estimate(rate) == planted_run.estimate(rate)


def test_without_pandas_the_rows_are_there_and_frames_name_the_extra(planted_run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert planted_run.rows()
    for frame in (planted_run.frame, planted_run.pairs, planted_run.table):
        with pytest.raises(MissingDependency, match=r"askew\[notebook\]"):
            frame()


def test_no_file_of_its_own_can_make_a_function_pass_for_another(tmp_path, monkeypatch):
    """A file that is edited while its function is in use cannot lend it its new digest."""
    module = tmp_path / "edited_app.py"
    module.write_text("def answer(prompt):\n    return '(A)'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    askew.flex("python/edited_app:answer", out="run", **SMALL)
    module.write_text("def answer(prompt):\n    return '(B)'\n")
    with pytest.raises(ConfigError, match=r"has changed since it was imported.*importlib\.reload"):
        askew.flex("python/edited_app:answer", out="run", **SMALL)


def test_the_model_of_a_function_says_that_its_code_is_what_it_is_known_by():
    from askew.models.base import ModelSpec

    spec = ModelSpec(name="python/__main__:leaning", revision="1")
    identity = PythonApp(spec, leaning).identity()
    assert identity["code_sha256"]
    assert "source_sha256" not in identity
