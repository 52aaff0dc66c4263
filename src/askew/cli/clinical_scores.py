"""Extraction against gold triplets, and the ablation of the rule sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askew.cli.clinical_extractors import Asked, print_summary
from askew.cli.terminal import console, echo, shown
from askew.errors import DataError

if TYPE_CHECKING:
    from askew.datasets.gold_triplets import GoldRecord
    from askew.graphs.ablation import AblationRow
    from askew.graphs.rules import RuleSet
    from askew.graphs.scoring import Counts, Scoring

LISTED = 20  # errors of a score that are printed; --json has all


def score_gold(path: Path, rule_sets: Sequence[RuleSet], asked: Asked, *, json: bool) -> None:
    """Print how well a gold file's triplets are found."""
    from askew.datasets.gold_triplets import read_gold
    from askew.graphs import score

    gold = read_gold(path)
    texts = [record.text for record in gold]
    scorings = {rules.name: score(asked.facts(texts, rules), gold) for rules in rule_sets}
    if json:
        from askew.runfolder import json_text

        documents = {name: _scoring(scoring) for name, scoring in scorings.items()}
        only = next(iter(documents.values()))
        document: dict[str, object] = only if len(documents) == 1 else {"rule_sets": documents}
        if asked.summary:
            document["replies"] = asked.summary
        typer.echo(json_text(document), nl=False)
        return
    echo(f"{shown(path)}: {len(gold):,} texts")
    for name, scoring in scorings.items():
        _print_scoring(name if asked.name == "rules" else asked.name, scoring)
    print_summary(asked)


def _scoring(scoring: Scoring) -> dict[str, object]:
    return {
        "overall": _figures(scoring.overall),
        "per_relation": {
            relation.value: _figures(counts) for relation, counts in scoring.per_relation.items()
        },
        "ignoring_status": {
            "overall": _figures(scoring.overall_ignoring_status),
            "per_relation": {
                relation.value: _figures(counts)
                for relation, counts in scoring.per_relation_ignoring_status.items()
            },
        },
        "by_tag": {tag: _figures(counts) for tag, counts in scoring.by_tag.items()},
        "relations": scoring.relations,
        "errors": list(scoring.errors),
    }


def _figures(counts: Counts) -> dict[str, float]:
    """Undefined is NaN here and null in JSON, never 0."""
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "hits": counts.hits,
        "false": counts.false,
        "missed": counts.missed,
    }


def _print_scoring(name: str, scoring: Scoring) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(name)
    for column in ("precision", "recall", "F1", "F1 ignoring status", "found", "wrong", "missed"):
        table.add_column(column, justify="right")
    loose = scoring.per_relation_ignoring_status
    for relation, counts in scoring.per_relation.items():
        table.add_row(relation.value, *_cells(counts, loose.get(relation)))
    table.add_row("all", *_cells(scoring.overall, scoring.overall_ignoring_status), style="bold")
    typer.echo("")
    console().print(table)
    if scoring.errors:
        echo(f"\n{len(scoring.errors):,} errors:")
        for error in scoring.errors[:LISTED]:
            echo(f"  {error}")
        if len(scoring.errors) > LISTED:
            echo(f"  and {len(scoring.errors) - LISTED:,} more: see --json")


def _cells(counts: Counts, loose: Counts | None) -> list[str]:
    figures = [counts.precision, counts.recall, counts.f1, loose.f1 if loose else float("nan")]
    return [*map(_two, figures), str(counts.hits), str(counts.false), str(counts.missed)]


def _two(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def compare_rule_sets(path: Path, rule_sets: Sequence[RuleSet], field: str, *, json: bool) -> None:
    """Print what each rule set extracts, and which questions follow."""
    from askew.build.extract_ablation import questions_asker
    from askew.graphs.ablation import ablation

    texts, gold = _ablated(path, field)
    page = console(quiet=json, stderr=True)
    with page.status("reading") as status:
        asker = questions_asker(
            texts,
            gold,
            told=lambda name, place: status.update(f"{name}: text {place + 1} of {len(texts)}"),
        )
        rows = ablation(texts, rule_sets, gold, asker)
    if json:
        from askew.runfolder import json_text

        document = {
            "texts": len(texts),
            "rule_sets": {row.rules: _ablation_row(row) for row in rows},
        }
        typer.echo(json_text(document), nl=False)
    else:
        _print_ablation(rows, len(texts), gold is not None)


def _ablated(path: Path, field: str) -> tuple[list[str], tuple[GoldRecord, ...] | None]:
    """The texts of a file, with their gold where it is a gold file."""
    from askew.cli.clinical_texts import read_texts
    from askew.datasets.gold_triplets import read_gold

    if _is_gold(path):
        gold = read_gold(path)
        return [record.text for record in gold], gold
    return [one.text for one in read_texts(path, field)], None


def _is_gold(path: Path) -> bool:
    """Whether the first record brings triplets; a broken gold file is then said to be one."""
    from askew.datasets.base import Report
    from askew.datasets.files import json_lines, read_file

    if Path(path.name.removesuffix(".gz")).suffix.lower() not in (".jsonl", ".ndjson"):
        return False
    try:
        first = next(json_lines(read_file(path), Report()), None)
    except DataError:
        return False
    return first is not None and "triplets" in first.fields


def _ablation_row(row: AblationRow) -> dict[str, object]:
    found: dict[str, object] = {"relations": row.relations}
    if row.scoring is not None:
        figures = _figures(row.scoring.overall)
        found |= {name: figures[name] for name in ("precision", "recall", "f1")}
    if row.questions is not None:
        found |= {
            "questions": row.questions.made,
            "coherent": row.questions.coherent,
            "coherent_share": row.coherent_share,
        }
    return found


def _print_ablation(rows: Sequence[AblationRow], texts: int, with_gold: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("rules")
    scores = ("precision", "recall", "F1") if with_gold else ()
    for column in ("relations", *scores, "questions", "coherent", "share"):
        table.add_column(column, justify="right")
    for row in rows:
        cells = [row.rules, f"{row.relations:,}"]
        if row.scoring is not None:
            overall = row.scoring.overall
            cells += map(_two, (overall.precision, overall.recall, overall.f1))
        if row.questions is not None:
            cells += [
                f"{row.questions.made:,}",
                f"{row.questions.coherent:,}",
                _two(row.coherent_share),
            ]
        table.add_row(*cells)
    echo(f"{texts:,} texts; questions: one of age, gender and place changed in each")
    console().print(table)
    if not with_gold:
        echo("no gold: how many of the relations are right is not known")
