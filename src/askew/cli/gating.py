"""`askew gate`: whether runs keep the rules that a release is decided by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli import INCOMPLETE
from askew.cli.terminal import console, echo, workflow_command
from askew.errors import AskewError, ConfigError, RunError

if TYPE_CHECKING:
    from askew.report.gate.baseline import Baseline
    from askew.report.gate.caution import Conditions
    from askew.report.gate.gated_run import GateRun
    from askew.report.gate.rule import Rule
    from askew.report.gate.rules_file import RuleFile
    from askew.report.gate.ruling import Verdict

FAILED = 1  # a rule does not hold
RULES_FILE = Path("gate.toml")


class Undecided(StrEnum):
    """What becomes of a rule whose bound lies within the interval."""

    FAIL = "fail"
    CANNOT_TELL = "cannot-tell"


def gate(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN...", help="Run folders, or their estimates.json."),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(help="A rule, e.g. 'asr.upper < 20 %'; may be given again."),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rules from a file, e.g. gate.toml.")
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE|RUN", help="What `baseline.…` in a rule stands for."),
    ] = None,
    no_worse_than: Annotated[
        Path | None,
        typer.Option(metavar="FILE|RUN", help="No main figure may be worse than there."),
    ] = None,
    margin: Annotated[
        str | None, typer.Option(help="By how much it may be worse, e.g. 0.03 or '3 %'. [3 %]")
    ] = None,
    min_coverage: Annotated[
        str | None, typer.Option(help="The least coverage that decides anything. [50 %]")
    ] = None,
    max_missing: Annotated[
        str | None, typer.Option(help="The largest share of what was planned to be missing. [0]")
    ] = None,
    accept_unchecked: Annotated[
        bool,
        typer.Option("--accept-unchecked", help="Accept a model whose fitness is not known."),
    ] = False,
    undecided: Annotated[
        Undecided | None, typer.Option(help="Where the interval holds the bound. [fail]")
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the run's main figures for review.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='Append Markdown, e.g. to "$GITHUB_STEP_SUMMARY".'),
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List what a rule can name, with a run's figures.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="With --list: everything, not the short names alone.")
    ] = False,
    init: Annotated[
        bool, typer.Option("--init", help="Write a file of rules to begin with: --rules FILE.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file of rules.")] = False,
) -> None:
    """Hold runs to rules on the ends of intervals, for a pipeline to act on.

    Exits with 0 if every rule holds in every run, 1 if one does not, 4 if none fails and one could
    not be told, 3 for an error.
    """
    with _one_line_errors(junit, summary, github=github):
        opened = _open(runs or [])
        if list_:
            _list(opened, everything=all_, json=json)
            return
        if init:
            _init(rules or RULES_FILE, opened, force=force)
            return
        from askew.report.gate import judge_runs
        from askew.report.gate.rules_file import RuleFile, read_rules

        file = read_rules(rules) if rules else RuleFile(())
        wanted = [*file.rules, *_parsed(rule or [])]
        if write_baseline:
            _write_baseline(write_baseline, opened, wanted)
            if not wanted and no_worse_than is None:
                return
        if not opened:
            raise ConfigError("no run is named. Name a run folder, or its estimates.json.")
        terms = _terms(file, min_coverage, max_missing, undecided, accept=accept_unchecked)
        before = _baseline(baseline or file.baseline)
        held = _baseline(no_worse_than or file.no_worse_than)
        if held is None and margin is not None:
            raise ConfigError("--margin is of --no-worse-than, which is not given. Leave it out.")
        if held is None:
            verdict = judge_runs(opened, wanted, baseline=before, terms=terms)
        else:
            verdict = _judged(opened, wanted, before, held, _margin(margin, file), terms)
        code = _code(verdict)
        _write(verdict, junit, summary)
        _print(verdict, code, terms, before or held, json=json, github=github)
    raise typer.Exit(code)


@contextmanager
def _one_line_errors(junit: Path | None, summary: Path | None, *, github: bool) -> Iterator[None]:
    """Say an error on one line, wherever the pipeline looks; names in it may be anybody's.

    A file that an earlier gate left must not stand as this one's result.
    """
    try:
        yield
    except AskewError as trouble:
        from askew.report.gate.annotations import command, harmless

        text = harmless(str(trouble))
        if github:
            workflow_command(command("error", "askew gate: error", text))
        if junit:
            from askew.report.gate.junit import junit_of_error
            from askew.runfolder import write_whole

            write_whole(junit, junit_of_error(text))
        if summary:
            from askew.report.gate.summary import markdown_of_error

            _append(summary, markdown_of_error(text))
        raise type(trouble)(text) from trouble


def _open(paths: Sequence[Path]) -> list[GateRun]:
    """The runs, each once; two of one name are told apart by their paths."""
    from askew.report.gate.gated_run import read_run

    runs = [read_run(path) for path in paths]
    names = [run.name for run in runs]
    return [
        replace(run, name=str(path)) if names.count(run.name) > 1 else run
        for path, run in zip(paths, runs, strict=True)
    ]


def _parsed(texts: Sequence[str]) -> list[Rule]:
    from askew.report.gate.rule import parse_rule

    return [parse_rule(text) for text in texts]


def _share(option: str, text: str | None) -> float | None:
    """A share as it is typed: 0.9 or 90 %."""
    from askew.report.gate.rule import read_number

    if text is None:
        return None
    number = read_number(text)
    if number is None or not 0 <= number.value <= 1:
        raise ConfigError(f"{option} {text}: no share. Write 0.9 or 90 %.")
    return number.value


def _terms(
    file: RuleFile,
    min_coverage: str | None,
    max_missing: str | None,
    undecided: Undecided | None,
    *,
    accept: bool,
) -> Conditions:
    """The conditions of the file, where an option does not say otherwise."""
    given = {
        "min_coverage": _share("--min-coverage", min_coverage),
        "max_missing": _share("--max-missing", max_missing),
        "accept_unchecked": True if accept else None,
        "undecided_fails": None if undecided is None else undecided is Undecided.FAIL,
    }
    return replace(file.conditions(), **{key: one for key, one in given.items() if one is not None})  # type: ignore[arg-type]  # each is of its field's type


def _margin(text: str | None, file: RuleFile) -> float:
    from askew.report.compare.verdict import MARGIN

    found = _share("--margin", text)
    found = file.margin if found is None else found
    found = MARGIN if found is None else found
    if not 0 < found < 1:
        raise ConfigError(f"the margin is {found:g}. Write a share above 0 and below 1, e.g. 3 %.")
    return found


def _baseline(path: Path | None) -> Baseline | None:
    from askew.report.gate.baseline import read_baseline

    return None if path is None else read_baseline(path)


def _judged(
    runs: Sequence[GateRun],
    rules: Sequence[Rule],
    baseline: Baseline | None,
    held: Baseline,
    margin: float,
    terms: Conditions,
) -> Verdict:
    """The rules and the comparison with a baseline; the rules may then be none."""
    from askew.report.gate import judge_runs
    from askew.report.gate.no_worse import no_worse
    from askew.report.gate.ruling import Verdict

    compared = tuple(one for run in runs for one in no_worse(run, held, margin, terms))
    ruled = judge_runs(runs, rules, baseline=baseline, terms=terms).rulings if rules else ()
    return Verdict((*ruled, *compared), {run.name: run.model for run in runs})


def _code(verdict: Verdict) -> int:
    from askew.report.gate.rule import Outcome

    return {Outcome.PASS: 0, Outcome.FAIL: FAILED, Outcome.CANNOT_TELL: INCOMPLETE}[verdict.outcome]


def _write_baseline(path: Path, runs: Sequence[GateRun], rules: Sequence[Rule]) -> None:
    from datetime import UTC, datetime

    from askew.report.gate.baseline import write_baseline

    if len(runs) != 1:
        raise ConfigError(f"a baseline is made of one run, and {len(runs)} are named. Name one.")
    count = write_baseline(path, runs[0], rules, datetime.now(UTC).date())
    echo(f"Wrote {count:,} figures of {_plain(runs[0].name)} to {path}", stderr=True)


def _init(path: Path, runs: Sequence[GateRun], *, force: bool) -> None:
    from askew.report.gate.rules_file import starter
    from askew.report.which_audit import audits_in
    from askew.runfolder import write_whole

    if path.exists() and not force:
        raise ConfigError(f"{path} is there already. Name another with --rules, or add --force.")
    held = dict.fromkeys(audit for run in runs for audit in audits_in(run.estimates))
    write_whole(path, starter(path.name, tuple(held) or ("flex",)))
    echo(f"Wrote {path}. Set its bounds, then: askew gate RUN --rules {path}")


def _list(runs: Sequence[GateRun], *, everything: bool, json: bool) -> None:
    from askew.report.gate.listing import as_json, lines, listing

    if len(runs) > 1:
        raise ConfigError(f"{len(runs)} runs are named. List the figures of one.")
    if everything and not runs:
        raise ConfigError("--all lists the figures of a run. Name one.")
    rows = listing(runs[0] if runs else None, everything=everything)
    if json:
        typer.echo(as_json(rows))
        return
    for line in lines(rows):
        echo(line)
    echo("A rule names an end of a figure, e.g. 'asr.upper < 20 %', or a fact, 'fit == true'.")


def _write(verdict: Verdict, junit: Path | None, summary: Path | None) -> None:
    if junit:
        from askew.report.gate.junit import junit as as_junit
        from askew.runfolder import write_whole

        write_whole(junit, as_junit(verdict))
    if summary:
        from askew.report.gate.summary import markdown

        _append(summary, markdown(verdict))


def _append(path: Path, text: str) -> None:
    from askew.runfolder import without_surrogates

    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(without_surrogates(text))
    except OSError as trouble:
        raise RunError(
            f"{path} cannot be written: {trouble.strerror or trouble}. Name another with --summary."
        ) from trouble


def _print(
    verdict: Verdict,
    code: int,
    terms: Conditions,
    baseline: Baseline | None,
    *,
    json: bool,
    github: bool,
) -> None:
    from askew.report.gate.annotations import annotation_lines
    from askew.report.gate.summary import as_json, sentence

    if json:
        typer.echo(as_json(verdict, code, terms, baseline.name if baseline else ""), nl=False)
    else:
        from askew.report.gate.listing import in_words, to_table

        console().print(to_table(verdict))
        for line in in_words(verdict):
            echo(line)
        echo(sentence(verdict))
    if github:
        for line in annotation_lines(verdict):
            # Both streams are read by the runner; JSON has the first to itself.
            workflow_command(line, stderr=json)


def _plain(text: str) -> str:
    from askew.report.gate.annotations import harmless

    return harmless(text)
