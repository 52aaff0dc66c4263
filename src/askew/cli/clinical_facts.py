"""The facts of texts, printed, as JSON and as a graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from askew.cli.clinical_extractors import Asked, print_summary
from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError
from askew.report.words import clean

if TYPE_CHECKING:
    from askew.cli.clinical_texts import Text
    from askew.graphs.rules import RuleSet
    from askew.vignettes import Facts, Triplet

_FORMS = (".json", ".graphml", ".svg")
_BREAK = re.compile(r"[.?!]\s+|\n+")  # near enough for showing where a fact stands
_COLUMNS = ("relation", "value", "status", "experiencer", "span", "rule", "score")
_FOLDED = ("value", "rule")
_FOLDED_WIDTH = 8  # characters; narrower columns cannot be read
_PICTURES = 50  # one file a text; more than anybody looks at


def extract_file(
    file: Path,
    rule_sets: Sequence[RuleSet],
    asked: Asked,
    field: str,
    whole: bool,
    graph: Path | None,
    explain: bool,
    *,
    json: bool,
) -> None:
    """Print the facts of a file's texts, and write their graph where one is wanted."""
    from askew.cli.clinical_texts import read_texts

    if len(rule_sets) > 1:
        raise ConfigError("--rules all compares rule sets: use it with --score or --ablation.")
    _check_graph(graph)
    texts = read_texts(file, field, whole=whole)
    rules = rule_sets[0]
    found = list(zip(texts, asked.facts([one.text for one in texts], rules), strict=True))
    if json:
        from askew.runfolder import json_text

        typer.echo(json_text(_document(found, rules, asked)), nl=False)
    else:
        for text, facts in found:
            _print_facts(text, facts, explain=explain, alone=len(found) == 1)
        print_summary(asked)
    if graph is not None:
        for path in _write_graph(graph, found):
            echo(f"wrote {shown(path)}", stderr=True)


def _document(
    found: Sequence[tuple[Text, Facts]], rules: RuleSet, asked: Asked
) -> dict[str, object]:
    document: dict[str, object] = {
        "extractor": asked.name,
        "texts": [
            {
                "id": text.id,
                "line": text.line,
                "text": text.text,
                "triplets": [_row(triplet) for triplet in facts.triplets],
                "left_out": [_row(triplet) for triplet in facts.left_out],
                "cues": [
                    {
                        "kind": cue.kind,
                        "value": cue.value,
                        "status": cue.status.value,
                        "span": list(cue.span),
                        "rule": cue.rule,
                    }
                    for cue in facts.cues
                ],
            }
            for text, facts in found
        ],
    }
    if asked.name == "rules":
        document |= {"rules": rules.name, "theta": rules.theta}
    return document | ({"replies": asked.summary} if asked.summary else {})


def _row(triplet: Triplet) -> dict[str, object]:
    """A triplet as JSON; what only ages and families have stands only there."""
    row: dict[str, object] = {
        "head": "patient",
        "relation": triplet.relation.value,
        "value": triplet.value,
        "status": triplet.status.value,
        "experiencer": triplet.experiencer,
        "span": None if triplet.span is None else list(triplet.span),
        "evidence": triplet.evidence,
        "rule": triplet.rule,
        "score": triplet.score,
    }
    extra = {
        "unit": triplet.unit,
        "qualifier": triplet.qualifier,
        "range": None if triplet.years is None else list(triplet.years),
        "relative": triplet.relative,
    }
    return row | {key: value for key, value in extra.items() if value is not None}


def _print_facts(text: Text, facts: Facts, *, explain: bool, alone: bool) -> None:
    if not alone:
        echo(f"\n{text.id}")
    if not facts.triplets:
        echo("no facts about a patient were found")
    else:
        console().print(_table(facts.triplets))
    if not explain:
        return
    for triplet in facts.triplets:
        echo(f"\n{_said(triplet)}")
        echo(f"  {_sentence(text.text, triplet)}")
        echo(f"  why: {_why(triplet)}")
    if facts.left_out:
        echo("\nleft out, as R(e) is not above theta:")
        for triplet in facts.left_out:
            echo(f"  {_said(triplet)}: R(e) = {triplet.score:g}; {_why(triplet)}")
    if facts.cues:
        echo("\nwhat limits the changes of age and gender:")
        for cue in facts.cues:
            evidence = text.text[cue.span.start : cue.span.end]
            echo(f"  {cue.kind}: {cue.value} ({cue.status.value}), read in “{evidence}”")


def _table(triplets: Iterable[Triplet]) -> Any:
    from rich.table import Table

    from askew.graphs.export import value_text

    rows = []
    for one in triplets:
        span = "" if one.span is None else f"{one.span.start}-{one.span.end}"
        cells = (
            one.relation.value,
            value_text(one),
            one.status.value,
            one.experiencer,
            span,
            one.rule,
        )
        rows.append((*map(clean, cells), f"{one.score:.2f}"))
    # What may fold is the value and the rule. Names that are looked for stay whole, unless the
    # terminal is so narrow that something would be cut off then.
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    screen, gaps = console().width, len(_COLUMNS) - 1
    kept = sum(width for name, width in zip(_COLUMNS, widths, strict=True) if name not in _FOLDED)
    whole = kept + gaps + len(_FOLDED) * _FOLDED_WIDTH <= screen
    table = Table(box=None, pad_edge=False, collapse_padding=sum(widths) + 2 * gaps > screen)
    for name in _COLUMNS:
        table.add_column(
            name,
            overflow="fold",
            no_wrap=whole and name not in _FOLDED,
            justify="right" if name == "score" else "left",
        )
    for row in rows:
        table.add_row(*row)
    return table


def _said(triplet: Triplet) -> str:
    from askew.graphs.export import value_text

    whose = f" of the {triplet.relative}" if triplet.relative else ""
    return f"{triplet.relation.value} {value_text(triplet)}{whose} ({triplet.status.value})"


def _why(triplet: Triplet) -> str:
    from askew.graphs import explain

    return explain(triplet.rule) or triplet.rule


def _sentence(text: str, triplet: Triplet) -> str:
    """The sentence that a fact was read in, with the words themselves in brackets."""
    if triplet.span is None:
        return "(the extractor did not say where)"
    start, end = triplet.span
    first = max((found.end() for found in _BREAK.finditer(text, 0, start)), default=0)
    after = _BREAK.search(text, end)
    last = after.start() + 1 if after else len(text)
    said = f"{text[first:start]}[{text[start:end]}]{text[end:last]}"
    return " ".join(said.split())


def _check_graph(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in _FORMS:
        raise ConfigError(
            f"--graph {path}: the form is told by the ending. Known: {', '.join(_FORMS)}."
        )


def _write_graph(path: Path, found: Sequence[tuple[Text, Facts]]) -> list[Path]:
    """Write one file, or one picture a text."""
    from askew.graphs.export import graph_of, graphml, node_link
    from askew.graphs.picture import picture
    from askew.runfolder import json_text, without_surrogates

    form = path.suffix.lower()
    if form == ".svg":
        if len(found) > _PICTURES:
            raise ConfigError(
                f"--graph {path}: {len(found):,} texts would be as many pictures. Name a file with "
                f"at most {_PICTURES} texts, or write .graphml or .json."
            )
        files = {
            path if len(found) == 1 else path.with_stem(f"{path.stem}-{number}"): picture(
                facts, f"What text {text.id} says about its patient"
            )
            for number, (text, facts) in enumerate(found, start=1)
        }
    else:
        graph = graph_of((text.id, facts) for text, facts in found)
        files = {path: graphml(graph) if form == ".graphml" else json_text(node_link(graph))}
    for one, content in files.items():
        try:
            one.write_text(without_surrogates(content), encoding="utf-8")
        except OSError as trouble:
            raise ConfigError(
                f"{one}: cannot be written: {trouble.strerror}. Name another place with --graph."
            ) from trouble
    return list(files)
