"""Samples of the real harness as run folders, and every way in which they can be spoilt.

The harness's own "dummy" model answers with random figures, so that its files are the real ones
and cost no model.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askew.cli.app import app
from askew.errors import ConfigError, DataError, RunError
from askew.interop.lm_eval_export import export_tasks
from askew.interop.lm_eval_import import import_samples
from askew.interop.lm_eval_results import find_runs
from askew.models.ledgerfile import State, read_records
from askew.run import prepare, rescore
from askew.runfile import checked, read_run_file
from askew.runfolder import RunFolder
from tests.interop import odd_items
from tests.interop.harness import Output, lm_eval

pytest.importorskip("lm_eval", reason="askew[lm-eval] is not installed")

SOURCE = "askew_flex_starter_all_categories_source"
CONTROL = "askew_flex_control"


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    """A folder with `tasks` and what the harness wrote of them in `out`."""
    folder = tmp_path_factory.mktemp("harness")
    odd = odd_items.write(folder / "odd.jsonl")
    flex = {
        "data": [{"name": "starter"}, {"name": "own", "path": str(odd)}],
        "items": 4,
        "controls": 2,
        "scoring": "texts",
        "normalise": "bytes",
    }
    settings = checked({"models": {"target": {"name": "builtin/smollm2"}}, "flex": flex})
    export_tasks(settings, folder / "tasks")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    lm_eval(
        *("--include_path", "../tasks", "--tasks", "askew_flex", "--model", "dummy"),
        *("--output_path", "../out", "--log_samples"),
        folder=elsewhere,
    )
    return folder


@pytest.fixture
def output(ran, tmp_path) -> Output:
    return Output.copy(ran / "out", tmp_path / "out")


@pytest.fixture
def bring(ran, output, tmp_path) -> Callable[..., Any]:
    """Import the (spoilt) output into the folder `run`."""
    return lambda *paths, **options: import_samples(
        paths or [output.path], ran / "tasks", tmp_path / "run", **options
    )


def test_a_run_folder_comes_out_that_every_command_takes(bring, ran, tmp_path):
    made = bring()
    folder = made.folder
    assert (made.missing, made.aside) == (0, ())
    assert folder.verify() == []
    questions, scores = folder.read_questions(), folder.read_scores()
    assert all(score is not None for score in scores)
    assert made.answered == len(questions) == 38  # 6 controls, 8 items in 4 prompts each
    figures = folder.read_estimates()
    assert figures["model"] == "lm-eval/dummy"
    assert figures["calls"]["asked"] == 0
    assert rescore(folder.path).read_estimates() == figures
    assert "lm-eval/dummy" in folder.report.read_text()
    records = list(read_records(folder.database))
    assert {record.state for record in records} == {State.RECEIVED}
    assert all("lm_eval 0.4.13, samples_askew_flex_" in record.origin for record in records)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "run"}


def test_accuracy_is_the_harness_s_own(bring, output):
    """Whatever the figures are: `acc_bytes` of a task is the share that askew counts as right."""
    told = json.loads(output.results.read_text())["results"]
    folder = bring().folder
    estimates = folder.read_estimates()["flex"]
    for category in ("persona_injection", "competing_objectives", "text_attack"):
        task = told[f"askew_flex_starter_{category}_attacked"]
        ours = estimates["flex_accuracy"]["source_category"]["starter"][category]
        assert ours["value"] == pytest.approx(task["acc_bytes,none"], abs=1e-12)
    source = estimates["source_accuracy"]["source"]["starter"]["value"]
    assert source == pytest.approx(told[SOURCE]["acc_bytes,none"], abs=1e-12)


def test_samples_of_one_prompt_are_one_call(bring):
    """An attack that changes nothing is the source prompt, which the dummy has answered twice."""
    calls = bring().folder.read_estimates()["calls"]
    assert calls["duplicates"] > 0
    assert calls["reused"] + calls["duplicates"] == calls["calls"]
    assert any("asked more than once" in note for note in calls["notes"])


def test_the_model_cannot_be_asked_again(bring):
    folder = bring().folder
    with pytest.raises(ConfigError, match=r"had by lm-evaluation-harness.*askew score"):
        prepare(read_run_file(folder.settings))
    with pytest.raises(ConfigError, match=r"lm-eval/dummy: the replies were had by lm-eval"):
        prepare(read_run_file(folder.settings, {"out": None}))


def test_a_folder_in_use_is_left_alone(bring, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("")
    with pytest.raises(RunError, match="is there already"):
        bring()


# What is missing


def test_missing_tasks_and_lines_are_missing_pairs(bring, output):
    """As after --limit or --tasks: fewer samples, and results that say so."""
    path = output.samples(SOURCE)
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(lines[1:]), encoding="utf-8")
    output.samples(CONTROL).unlink()
    output.change_results(lambda text: text["n-samples"][SOURCE].update(effective=3))
    made = bring()
    assert made.missing == 1 + 6
    estimates = made.folder.read_estimates()
    assert estimates["calls"]["missing"] == 7
    assert estimates["flex"]["missing_pairs"] == 3
    assert estimates["flex"]["flex_accuracy"]["overall"]["coverage"] < 1
    planned = [one for one in read_records(made.folder.database) if one.state is State.PLANNED]
    assert len(planned) == 7


def test_a_file_that_was_cut_is_not_taken_for_a_limit(bring, output):
    path = output.samples(SOURCE)
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(lines[1:]), encoding="utf-8")
    with pytest.raises(DataError, match=r"holds 3 samples.*4 were written"):
        bring()


def test_a_line_that_was_cut_is_named(bring, output):
    path = output.samples(CONTROL)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"control_.*\.jsonl:6: the line is cut off.*run lm_eval"):
        bring()


@pytest.mark.parametrize("line", ["not json", "[1, 2]", "[" * 100_000, "\ufeff{}"])
def test_a_line_that_is_no_sample_is_named(bring, output, line):
    path = output.samples(CONTROL)
    path.write_text(line + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(DataError, match=r"\.jsonl:1: "):
        bring()


def test_blank_lines_and_windows_line_ends_change_nothing(bring, output):
    path = output.samples(CONTROL)
    path.write_bytes(b"\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert bring().missing == 0


# What does not fit


def spoilt(field: str, value: object) -> Callable[[Any], None]:
    *path, last = field.split(".")

    def change(sample: Any) -> None:
        for name in path:
            sample = sample[int(name) if name.isdigit() else name]
        if value is None:
            del sample[last]
        else:
            sample[int(last) if last.isdigit() else last] = value

    return change


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("doc", None, "doc"),
        ("doc.place", None, r"doc\.place"),
        ("doc.place", 5000, r"doc\.place"),
        ("doc.place", "0", r"doc\.place"),
        ("doc.place", 3, r"doc\."),
        ("doc.item_id", "another", r"doc\.item_id"),
        ("doc.target", True, r"doc\.target"),
        ("doc.choices", ["a", "b", "c"], r"doc\.choices"),
        ("doc.new", 1, r"doc\.new"),
        ("doc.replicate", None, r"doc\.replicate"),
        ("doc_hash", "0" * 64, "doc_hash"),
        ("prompt_hash", "0" * 64, "prompt_hash"),
        ("target", "x", "target"),
        ("filter", "strict", "filter"),
        ("arguments", None, "arguments"),
        ("arguments.gen_args_3", {"arg_0": "", "arg_1": ""}, "arguments"),
        ("arguments.gen_args_0.arg_0", "Hello", r"arguments\.gen_args_0\.arg_0"),
        ("arguments.gen_args_2.arg_1", "x", r"arguments\.gen_args_2\.arg_1"),
        ("arguments.gen_args_1", "x", r"arguments\.gen_args_1\.arg_0"),
        ("resps", None, "resps"),
        ("resps", [[["-1.0", "False"]]], "resps"),
        ("resps.0", [["nan", "False"]], r"resps\[0\].*dtype=float32"),
        ("resps.1", [["0.5", "False"]], r"resps\[1\]"),
        ("resps.1", [["inf", "False"]], r"resps\[1\]"),
        ("resps.2", [], r"resps\[2\]"),
        ("resps.2", "0", r"resps\[2\]"),
        ("resps.2", [[False, "False"]], r"resps\[2\]"),
        ("resps.2", [["many", "False"]], r"resps\[2\]"),
        ("resps", [[["0.0", "True"]]] * 3, "measured nothing"),
        ("resps", [[["-inf", "False"]]] * 3, "measured nothing"),
    ],
)
def test_a_sample_that_does_not_fit_names_file_line_and_field(bring, output, field, value, named):
    output.change_line(CONTROL, spoilt(field, value), line=2)
    with pytest.raises(DataError, match=rf"samples_askew_flex_control_\S+\.jsonl:2: .*{named}"):
        bring()


def test_figures_that_do_not_belong_to_the_verdict_are_refused(bring, output):
    """Log-likelihoods divided by length are not askew's; the harness's `acc` beside them tells."""

    def change(sample: Any) -> None:
        right = int(sample["target"])
        sample["resps"] = [[["-9.0", "False"]] for _ in range(3)]
        sample["resps"][right] = [["-1.0", "False"]]
        sample["acc"] = 0.0

    output.change_line(CONTROL, change)
    with pytest.raises(DataError, match=r"jsonl:1: field 'acc' is 0\.0, expected 1\.0"):
        bring()


@pytest.mark.parametrize(
    ("setting", "option"),
    [("chat_template", "--apply_chat_template"), ("system_instruction", "--system_instruction")],
)
def test_what_changed_the_prompts_is_said(bring, output, setting, option):
    output.change_results(lambda text: text.update({setting: "{{ messages }}"}))
    change = spoilt("arguments.gen_args_0.arg_0", "<|user|>Hello")
    output.change_line(CONTROL, change)
    with pytest.raises(DataError, match=rf"was run with {option}\. Run it without"):
        bring()


def test_two_samples_of_a_document_are_refused(bring, output):
    path = output.samples(CONTROL)
    first = path.read_text(encoding="utf-8").split("\n")[0]
    path.write_text(path.read_text(encoding="utf-8") + first + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"jsonl:7: field 'doc\.place' is 0, which .*jsonl:1 has"):
        bring()


def test_a_document_in_the_wrong_file_is_refused(bring, output):
    line = output.samples(SOURCE).read_text(encoding="utf-8").split("\n")[0]
    path = output.samples(CONTROL)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"jsonl:7: field 'doc\.place' is .*askew_flex_control"):
        bring()


def test_samples_of_another_export_are_refused(bring, output, ran, tmp_path):
    settings = checked(
        {"models": {"target": {"name": "builtin/smollm2"}}, "flex": {"items": 3, "controls": 2}}
    )
    export_tasks(settings, tmp_path / "other")
    with pytest.raises(DataError, match=r"results_.*askew_export.*another export"):
        import_samples([output.path], tmp_path / "other", tmp_path / "run")


# Which run of the harness


def test_samples_of_other_tasks_are_left_alone(bring, output):
    other = output.samples(CONTROL).with_name("samples_hellaswag_2026-01-01T00-00-00.000001.jsonl")
    other.write_text("{}")
    assert bring().aside == (other,)
    with pytest.raises(DataError, match="'hellaswag', which is none of these tasks"):
        bring(other)


def test_files_may_be_named_one_by_one_and_twice(bring, output):
    files = sorted(output.path.rglob("samples_*.jsonl"))
    assert bring(*files, output.path, files[0]).missing == 0


def test_what_is_not_there_or_not_the_harness_s_is_said(bring, output, tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        bring(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="--log_samples"):
        bring(tmp_path / "empty")
    renamed = output.samples(CONTROL).rename(tmp_path / "samples_mine.jsonl")
    with pytest.raises(DataError, match="not named as"):
        bring(renamed)


def test_without_its_results_nobody_knows_the_model(bring, output):
    output.results.unlink()
    with pytest.raises(DataError, match=r"results_\S+\.json is not beside it"):
        bring()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"config": 3}'])
def test_damaged_results_are_named(bring, output, text):
    output.results.write_text(text)
    with pytest.raises(DataError, match=r"results_\S+\.json"):
        bring()


def test_an_output_path_that_is_a_file_names_the_results_after_it(bring, output):
    output.results.rename(output.results.with_name(output.results.name.replace("results", "mine")))
    assert bring().missing == 0


def as_model(**arguments: object) -> Callable[[Any], None]:
    return lambda text: text["config"].update(model="hf", model_args=arguments)


def test_samples_of_two_models_have_to_be_chosen_from(bring, ran, output, tmp_path):
    output.change_results(as_model(pretrained="org/small", dtype="float32"))
    second = Output.copy(ran / "out", output.path / "second")
    second.change_results(as_model(pretrained="/models/large", dtype="float32"))
    second.rename_date("2026-02-03T04-05-06.000007")
    with pytest.raises(DataError, match=r"more than one model.*hf/large.*hf/org/small.*--model"):
        bring()
    with pytest.raises(DataError, match=r"fits --model medium.*org/small"):
        bring(model="medium")
    assert bring(model="large").folder.read_estimates()["model"] == "lm-eval/hf/large"


def test_two_runs_of_one_model_are_put_together_unless_they_overlap(bring, ran, output, tmp_path):
    first = output.results.stem.rpartition("_")[2]
    second = Output.copy(ran / "out", output.path / "second")
    second.rename_date("2027-02-03T04-05-06.000007")
    with pytest.raises(DataError, match=r"choose one run with --date"):
        bring()
    for path in second.path.rglob("samples_*"):
        if SOURCE not in path.name:
            path.unlink()
    for path in output.path.rglob(f"samples_{SOURCE}_{first}*"):
        path.unlink()
    assert bring().missing == 0
    shutil.rmtree(tmp_path / "run")
    assert bring(date=first[:10]).missing == 4


def test_secrets_and_addresses_are_not_kept(bring, output):
    output.change_results(
        as_model(
            pretrained="org/small",
            token="hunter2",
            api_key="hunter2",
            header={"Authorization": "hunter2"},
            apikey="hunter2",
            authToken=["hunter2"],
            password=42042042,
            rope_theta=float("inf"),
            add_bos_token=True,
            nothing=None,
            base_url="http://user:hunter2@127.0.0.1:8000/v1/completions?key=hunter2",
        )
    )
    folder = bring().folder
    kept = b"".join(path.read_bytes() for path in folder.path.iterdir())
    assert b"hunter2" not in kept
    assert b"42042042" not in kept
    assert read_run_file(folder.settings).record["model"]["model_args"] == {
        "pretrained": "org/small",
        "add_bos_token": True,
        "rope_theta": "inf",
        "base_url": "http://127.0.0.1:8000/v1/completions",
    }


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"model": "hf", "model_args": "pretrained=org/small,dtype=float32"}, "hf/org/small"),
        ({"model": "hf", "model_args": {"pretrained": "/a b/my model/"}}, "hf/my-model"),
        ({"model": "hf", "model_args": {"pretrained": "C:\\m\\x", "peft": "/l/y"}}, "hf/x+y"),
        ({"model": "/models/in python", "model_args": None}, "in-python"),
        ({"model": None, "model_args": 3}, "unknown"),
        ({"model": "\ud800\x1b[2J", "model_args": {}}, "ud800\x1b[2J"),
    ],
)
def test_a_model_is_called_what_the_harness_was_told(bring, output, config, name):
    output.change_results(lambda text: text.update(config=config))
    folder = bring().folder
    assert folder.read_estimates()["model"] == f"lm-eval/{name}"
    assert read_run_file(folder.settings).target.name == f"lm-eval/{name}"


def test_found_runs_know_their_versions_and_dates(output):
    (run,), aside = find_runs([output.path], {SOURCE, CONTROL})
    assert run.version == "0.4.13"
    assert set(run.samples) == {SOURCE, CONTROL}
    assert len(aside) == len(list(output.path.rglob("samples_*"))) - 2


# The commands


def test_the_commands_say_what_they_did_and_end_with_the_right_code(ran, output, tmp_path, capsys):
    from typer.testing import CliRunner

    arguments = ["import", "lm-eval", str(output.path), "--tasks", str(ran / "tasks")]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "one")])
    assert done.exit_code == 0, done.output
    assert "lm-eval/dummy" in done.stdout
    assert "report.html" in done.stdout
    output.samples(CONTROL).unlink()
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "two"), "--json"])
    assert done.exit_code == 4
    assert json.loads(done.stdout)["calls"]["missing"] == 6
    assert "6 of 38 prompts have no sample" in done.stderr
    assert RunFolder.open(tmp_path / "two").verify() == []


def test_export_takes_its_folder_before_a_run_file(tmp_path):
    from typer.testing import CliRunner

    file = tmp_path / "mine.toml"
    file.write_text('[models.target]\nname = "local/x"\n[flex]\nitems = 2\ncontrols = 0\n')
    done = CliRunner().invoke(app, ["export", "lm-eval", str(tmp_path / "tasks"), str(file)])
    assert done.exit_code == 0, done.output
    assert "6 pairs (2 source prompts), 0 controls" in done.stdout
    assert "lm_eval --include_path" in done.stdout
