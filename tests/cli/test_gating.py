"""`askew gate`: what it prints, writes and exits with."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from askew.cli import ERROR, INCOMPLETE, main
from askew.cli.app import app
from askew.cli.gating import FAILED
from askew.report.gate import judge_runs
from askew.report.gate.gated_run import read_run
from askew.report.gate.listing import listing
from askew.report.gate.rule import parse_rule
from tests.report.gate_runs import TOML, asr, flex, write

EXAMPLES = Path(__file__).parents[2] / "examples" / "gate"


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "run", flex(), TOML)


def gate(*arguments: object):
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


@dataclass(frozen=True)
class Ended:
    """What a pipeline sees of a command."""

    returncode: object
    stdout: str
    stderr: str


def through_main(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ended:
    """As the `askew` command does it."""
    before, sys.argv = sys.argv, ["askew", "gate", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    return Ended(ended.value.code, *capsys.readouterr())


def test_the_exit_code_says_what_the_gate_came_to(folder, tmp_path):
    def unfit(estimates):
        estimates["flex"]["fit"]["meaningful"] = False

    other = write(tmp_path / "unfit", flex(unfit))
    kept, missed = ("--rule", "asr.upper < 30 %"), ("--rule", "asr.upper < 10 %")
    assert gate(folder, *kept).exit_code == 0
    assert gate(folder, *missed).exit_code == FAILED == 1
    assert gate(other, *kept).exit_code == INCOMPLETE == 4
    assert gate(folder, other, *kept).exit_code == INCOMPLETE
    assert gate(folder, other, *missed).exit_code == FAILED  # one run fails, the other cannot tell
    assert gate(folder / "estimates.json", *kept).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["RUN", "--rule", "asr.uper < 0.2"], "Close to it: asr.upper"),
        (["RUN", "--rule", "asr.upper 0.2"], "there is no comparison"),
        (["RUN"], "nothing would be checked"),
        (["--rule", "asr.upper < 0.2"], "no run is named"),
        (["/nowhere", "--rule", "asr.upper < 0.2"], "is not there"),
        (["RUN", "--rules", "/nowhere.toml"], "cannot be read"),
        (["RUN", "--no-such-option"], "No such option"),
        (["RUN", "--undecided", "maybe"], "Invalid value"),
        (["RUN", "--rule", "asr.upper < 1", "--min-coverage", "90"], "90 %"),
        (["RUN", "--rule", "asr.upper < 1", "--margin", "0.1"], "--no-worse-than"),
        (["RUN", "--no-worse-than", "RUN", "--margin", "0"], "margin"),
        (["RUN", "--rule", "asr.upper < baseline.asr.upper"], "--baseline"),
        (["--all", "--list"], "Name one"),
        (["RUN", "RUN", "--write-baseline", "/tmp/never.json"], "made of one run"),
        (["RUN", "--rule", "asr.upper < 1", "--junit", "/nowhere/x.xml"], "cannot be written"),
        (["RUN", "--rule", "asr.upper < 1", "--summary", "/nowhere/x.md"], "cannot be written"),
    ],
)
def test_every_error_exits_with_three_and_says_the_mend(folder, arguments, said, capsys):
    done = through_main(capsys, *(str(folder) if one == "RUN" else one for one in arguments))
    assert done.returncode == ERROR == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_run_is_an_error(tmp_path):
    (tmp_path / "empty").mkdir()
    for path, said in ((tmp_path / "empty", "askew score"), (tmp_path, "no estimates.json")):
        done = gate(path, "--rule", "asr.upper < 1")
        assert done.exit_code == 1  # the class of error; `main` turns it into 3
        assert said in str(done.exception)


def test_it_prints_figure_interval_n_and_reason(folder):
    done = gate(folder, "--rule", "asr.upper < 30 %", "--rule", "asr.upper < 10 %")
    text = " ".join(done.output.split())
    assert "PASS asr.upper < 30 % 10 % 5 to 20 % 100" in text
    assert "FAIL asr.upper < 10 % 10 % 5 to 20 % 100" in text
    assert "the upper end, 20 %, is not below 10 %" in text
    assert "The gate failed: of 2 checks, 1 passed, 1 failed." in text


def test_rules_of_a_file_stand_beside_those_of_the_command_line(folder, tmp_path):
    rules = tmp_path / "gate.toml"
    rules.write_text(
        'min_coverage = 0.9\n[[rule]]\nrule = "asr.upper < 10 %"\nreason = "why so"\n'
        'severity = "warn"\n',
        encoding="utf-8",
    )
    done = gate(folder, "--rules", rules, "--rule", "fit == true")
    assert done.exit_code == 0  # it only warns
    assert "WARN" in done.output
    assert "Reason for the rule: why so" in " ".join(done.output.split())
    assert "1 warning" in done.output


def test_options_go_before_what_the_file_says(folder, tmp_path):
    rules = tmp_path / "gate.toml"
    rules.write_text(
        'undecided = "cannot-tell"\n[[rule]]\nrule = "asr.upper < 15 %"\n', encoding="utf-8"
    )
    assert gate(folder, "--rules", rules).exit_code == INCOMPLETE
    assert gate(folder, "--rules", rules, "--undecided", "fail").exit_code == FAILED


def test_init_writes_rules_for_the_audits_of_the_run_and_overwrites_none(folder, tmp_path):
    rules = tmp_path / "gate.toml"
    assert gate(folder, "--init", "--rules", rules).exit_code == 0
    text = rules.read_text(encoding="utf-8")
    assert "asr.upper" in text
    assert "declared" not in text
    assert "there already" in str(gate("--init", "--rules", rules).exception)
    assert gate("--init", "--rules", rules, "--force").exit_code == 0
    assert gate(folder, "--rules", rules).exit_code in (0, FAILED)


def test_list_shows_names_paths_and_the_runs_figures(folder):
    alone, with_run = gate("--list").output, gate(folder, "--list").output
    assert "asr = flex.attack_success_rate.overall" in alone
    assert "declared" in alone
    assert "declared" not in with_run  # the run holds no clinical audit
    assert "10 %, interval 5 to 20 %, n = 100" in with_run
    everything = gate(folder, "--list", "--all").output
    assert "flex.attack_success_rate.category.text_attack" in everything
    found = json.loads(gate(folder, "--list", "--json").output)
    assert {"asr", "fit", "coverage"} <= {one["name"] for one in found}


def test_everything_that_is_listed_can_be_named_in_a_rule(folder):
    rules = {
        **dict.fromkeys(("reach", "p value"), "{} < 1"),
        **dict.fromkeys(("count", "share", "setting"), "{} >= 0"),
        "figure": "{}.upper < 1",
        "yes or no": "{} == true",
        "word": "{} == 'x'",
    }
    run = read_run(folder)
    for one in listing(run, everything=True):
        for name in {one.name, one.path} - {""}:
            assert judge_runs([run], [parse_rule(rules[one.kind].format(name))]).rulings


def test_json_alone_is_on_standard_output(folder, capsys):
    done = through_main(capsys, folder, "--rule", "asr.upper < 10 %", "--json", "--github")
    assert json.loads(done.stdout)["exit_code"] == done.returncode == FAILED
    assert done.stderr.startswith("::error title=")


def test_every_output_at_once(folder, tmp_path):
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    rules = ("--rule", "asr.upper < 10 %", "--rule", "fit == true")
    done = gate(folder, *rules, "--junit", junit, "--summary", summary, "--github")
    assert done.exit_code == FAILED
    assert ElementTree.parse(junit).getroot().get("failures") == "1"
    assert summary.read_text(encoding="utf-8").startswith("before\n### ❌ askew gate: fail")
    (line,) = [one for one in done.output.splitlines() if one.startswith("::")]
    assert line.startswith("::error title=fairness gate failed%3A run::asr.upper < 10 %25")


def test_an_error_replaces_what_an_earlier_gate_left(folder, tmp_path, capsys):
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    outputs = ("--junit", junit, "--summary", summary, "--github")
    assert gate(folder, "--rule", "asr.upper < 30 %", *outputs).exit_code == 0
    done = through_main(capsys, folder, "--rule", "asr.uper < 30 %", *outputs)
    assert done.returncode == ERROR
    assert ElementTree.parse(junit).getroot().get("errors") == "1"
    assert "askew gate: error" in summary.read_text(encoding="utf-8")
    assert done.stdout.startswith("::error title=askew gate%3A error::")


def test_a_hostile_name_in_an_error_is_no_command_of_the_runner(tmp_path, capsys):
    def change(estimates):
        kinds = estimates["flex"]["attack_success_rate"]["bias_type"]
        kinds["age\n::stop-commands::x\n##[group]"] = kinds["age"]

    folder = write(tmp_path / "run", flex(change))
    rule = "flex.attack_success_rate.bias_type.aeg\n::stop-commands::x.upper < 0.2"
    done = through_main(capsys, folder, "--rule", rule, "--github")
    printed = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    commands = [one for one in printed if one.strip().startswith("::") or "##[" in one]
    assert len(commands) == 1
    assert commands[0].startswith("::error title=askew gate%3A error::")


def test_a_baseline_is_written_and_compared_with(folder, tmp_path):
    base = tmp_path / "baseline.json"
    assert gate(folder, "--write-baseline", base).exit_code == 0
    rule = ("--rule", "asr.upper < baseline.asr.upper + 1 %")
    assert gate(folder, *rule, "--baseline", base).exit_code == 0
    worse = write(tmp_path / "worse", flex(asr(0.2, 0.4, 0.3)), TOML)
    assert gate(worse, *rule, "--baseline", base).exit_code == FAILED
    assert gate(worse, *rule, "--baseline", folder).exit_code == FAILED
    other = write(tmp_path / "other", flex(), TOML.replace("aaaa", "bbbb"))
    done = gate(other, *rule, "--baseline", base)
    assert done.exit_code == INCOMPLETE
    assert "other data" in " ".join(done.output.split())
    assert gate(folder, "--no-worse-than", base, "--margin", "50 %").exit_code == 0
    assert gate(worse, "--no-worse-than", base, "--margin", "10 %").exit_code == FAILED


def test_runs_of_one_name_are_told_apart(tmp_path):
    one = write(tmp_path / "a" / "run", flex())
    two = write(tmp_path / "b" / "run", flex(asr(0.2, 0.4, 0.3)))
    found = json.loads(gate(one, two, "--rule", "asr.upper < 30 %", "--json").output)
    assert [(ruling["run"], ruling["outcome"]) for ruling in found["rulings"]] == [
        (str(one), "pass"),
        (str(two), "fail"),
    ]


# The workflow files that stand ready.


def askew_commands(path: Path) -> list[list[str]]:
    """Every call of askew in a pipeline's scripts, as the shell would part it."""
    scripts: list[str] = []

    def look(tree: object) -> None:
        if isinstance(tree, dict):
            for key, value in tree.items():
                if key in ("run", "script", "before_script", "after_script"):
                    scripts.extend(value if isinstance(value, list) else [value])
                look(value)
        elif isinstance(tree, list):
            for one in tree:
                look(one)

    look(yaml.safe_load(path.read_text(encoding="utf-8")))
    lines = "\n".join(scripts).replace("\\\n", " ").splitlines()
    parted = [shlex.split(line.partition("||")[0], comments=True) for line in lines]
    return [words[1:] for words in parted if words[:1] == ["askew"]]


@pytest.mark.parametrize("name", ["github.yml", "gitlab-ci.yml"])
def test_every_command_of_a_workflow_is_one_of_askews(name):
    commands = askew_commands(EXAMPLES / name)
    assert {"run", "gate"} <= {words[0] for words in commands}
    group = typer.main.get_command(app)
    for words in commands:
        # Parsing raises where an option or a command does not exist; nothing is run.
        command = group.commands[words[0]]
        context = command.make_context("askew", list(words[1:]), resilient_parsing=False)
        assert context.params


def test_the_github_workflow_is_one():
    flow = yaml.safe_load((EXAMPLES / "github.yml").read_text(encoding="utf-8"))
    assert flow[True] or flow["on"]  # YAML 1.1 reads a bare `on` as true
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    for step in steps:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", step["uses"])
    assert flow["permissions"] == {"contents": "read"}
    text = (EXAMPLES / "github.yml").read_text(encoding="utf-8")
    inside = [step["run"] for step in steps if "run" in step]
    assert not any("${{" in script for script in inside)  # what others write stays out of scripts
    assert "GITHUB_STEP_SUMMARY" in text
    assert "--budget-calls" in text


def test_the_gitlab_pipeline_lets_four_be_seen_and_keeps_the_report():
    flow = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text(encoding="utf-8"))
    (job,) = [job for job in flow.values() if isinstance(job, dict) and "script" in job]
    assert job["artifacts"]["when"] == "always"
    assert job["artifacts"]["reports"]["junit"]


def test_the_rules_of_the_examples_are_rules():
    from askew.report.gate.rules_file import read_rules

    assert len(read_rules(EXAMPLES / "gate.toml").rules) > 2
