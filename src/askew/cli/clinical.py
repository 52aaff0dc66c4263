"""`askew clinical`: extract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError, DataError
from askew.report.words import clean

if TYPE_CHECKING:
    from askew.cli.clinical_texts import Text
    from askew.datasets.gold_triplets import GoldRecord
    from askew.graphs.ablation import AblationRow
    from askew.graphs.rules import RuleSet
    from askew.graphs.scoring import Counts, Scoring
    from askew.models.base import Model
    from askew.vignettes import Facts, Triplet

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

ALL = "all"
DEFAULT_RULES = "full"
LISTED = 20  # errors of a score that are printed; --json has all
_PICTURES = 50  # one file a text; more than anybody looks at


@app.callback()
def clinical() -> None:
    """The clinical audit: facts of a case, counterfactual patients, judged answers."""


@app.command()
def extract(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Text (blank lines part several), JSONL, JSON, CSV; - is the standard input.",
        ),
    ] = None,
    rules: Annotated[
        str,
        typer.Option(help="ner, patterns, context or full; full-context takes a rule off; all."),
    ] = DEFAULT_RULES,
    theta: Annotated[
        float | None, typer.Option(help="The threshold of Eq. (1), from 0 to 1. [the rules' own]")
    ] = None,
    field: Annotated[
        str, typer.Option(help="Of JSON and CSV: the field that holds the text.")
    ] = "text",
    whole: Annotated[
        bool, typer.Option("--whole", help="A text file is one text, blank lines and all.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the sentence of each fact, and why it is one.")
    ] = False,
    graph: Annotated[
        Path | None, typer.Option(help="Write the graph: OUT.json, OUT.graphml or OUT.svg.")
    ] = None,
    score: Annotated[
        Path | None, typer.Option(metavar="GOLD", help="Score against gold triplets: no FILE.")
    ] = None,
    ablation: Annotated[
        Path | None,
        typer.Option(metavar="FILE|GOLD", help="Compare the rule sets, with what follows: no FILE."),
    ] = None,
    extractor: Annotated[
        str, typer.Option(help="rules, llm (with --model), gliner, medspacy or a plug-in's.")
    ] = "rules",
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="With llm: who is asked, provider/model.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the model's OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds its key.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="With llm: where replies are kept. [extractions/MODEL]"),
    ] = None,
    budget_calls: Annotated[int | None, typer.Option(help="At most so many calls.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Find the facts of texts: who the patient is, what they have, take, feel and deny.

    Each fact has a status, the characters it was read from and the rule that fired.
    """
    _one_job(file, score, ablation)
    asked = _Asked(extractor, model, base_url, api_key_env, out, budget_calls, yes)
    if extractor != "rules" and (theta is not None or rules != DEFAULT_RULES or ablation):
        raise ConfigError(
            f"--rules, --theta and --ablation are of askew's own rules, not of {extractor!r}. "
            "Leave them out, or leave out --extractor."
        )
    if (score or ablation) and (graph or explain):
        raise ConfigError("--graph and --explain are about the facts of a FILE. Name one instead.")
    if score is not None:
        _score(score, _rule_sets(rules, theta), asked, json=json)
    elif ablation is not None:
        chosen = ALL if rules == DEFAULT_RULES else rules
        _ablation(ablation, _rule_sets(chosen, theta), field, json=json)
    elif file is not None:
        _extract(file, _rule_sets(rules, theta), asked, field, whole, graph, explain, json=json)


def _one_job(file: Path | None, score: Path | None, ablation: Path | None) -> None:
    given = [one for one in (file, score, ablation) if one is not None]
    if len(given) != 1:
        raise ConfigError(
            f"{'two jobs are' if given else 'nothing is'} named. Give FILE, --score GOLD or "
            "--ablation FILE: one of them."
        )


def _rule_sets(rules: str, theta: float | None) -> list[RuleSet]:
    from askew.graphs import RULE_SETS, rule_set

    names = list(RULE_SETS) if rules == ALL else [rules]
    chosen = [rule_set(name) for name in names]
    return chosen if theta is None else [one.at(theta) for one in chosen]


class _Asked:
    """Which extractor, with what it needs to be asked."""

    def __init__(
        self,
        name: str,
        model: str | None,
        base_url: str | None,
        api_key_env: str | None,
        out: Path | None,
        budget_calls: int | None,
        yes: bool,
    ) -> None:
        if (name == "llm") != (model is not None):
            raise ConfigError(
                "a model extracts with both --extractor llm and --model provider/model. "
                + ("Name the model." if name == "llm" else "Add --extractor llm.")
            )
        self.name, self.model = name, model
        self.base_url, self.api_key_env = base_url, api_key_env
        self.out, self.budget_calls, self.yes = out, budget_calls, yes
        self.summary: dict[str, object] = {}  # of a model's replies: unreadable, rejected

    def facts(self, texts: Sequence[str], rules: RuleSet) -> list[Facts]:
        """The facts of each text, by whoever was chosen."""
        from askew.graphs.extractor_base import RuleExtractor, load_extractor

        if self.name == "rules":
            return RuleExtractor(rules).extract_many(texts)
        if self.name == "llm":
            return self._by_model(texts)
        return list(load_extractor(self.name).extract_many(texts))

    def _by_model(self, texts: Sequence[str]) -> list[Facts]:
        import asyncio

        from askew.models.base import ModelSpec
        from askew.models.registry import load_model

        assert self.model is not None
        model = load_model(ModelSpec(self.model, self.base_url, self.api_key_env))
        _confirm(model, len(texts), yes=self.yes)
        folder = self.out or Path("extractions") / self.model.replace("/", "-")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as trouble:
            raise ConfigError(
                f"{folder} cannot be made: {trouble.strerror}. Name another folder with --out."
            ) from trouble
        return asyncio.run(self._read(model, texts, folder))

    async def _read(self, model: Model, texts: Sequence[str], folder: Path) -> list[Facts]:
        from askew.build.extract_model import ModelExtractor
        from askew.models.budget import Budget, Limits
        from askew.models.ledger import Ledger
        from askew.models.runner import Runner

        with Ledger.open(folder / "run.sqlite") as ledger:
            runner = Runner(ledger, limits=Limits(Budget(calls=self.budget_calls)))
            reader = ModelExtractor(model, runner)
            try:
                reader.readings = await reader.read(texts)
            finally:
                await model.close()
        self.summary = {"model": model.name, "folder": str(folder), **reader.summary()}
        for number, reading in enumerate(reader.readings, start=1):
            if reading.fault:
                echo(f"askew: text {number}: no facts: {reading.fault}", stderr=True)
        return [reading.facts for reading in reader.readings]


def _confirm(model: Model, texts: int, *, yes: bool) -> None:
    """Ask before money is spent; where nobody can answer, `--yes` has to be given."""
    import sys

    from askew.build.extract_model import TRIES

    if yes or not model.paid:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"up to {texts * TRIES:,} paid calls are planned and nobody can be asked. Add --yes, "
            "and perhaps a budget."
        )
    typer.confirm(f"Make up to {texts * TRIES:,} paid calls?", abort=True)


# One file: its facts


def _extract(
    file: Path,
    rule_sets: Sequence[RuleSet],
    asked: _Asked,
    field: str,
    whole: bool,
    graph: Path | None,
    explain: bool,
    *,
    json: bool,
) -> None:
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
        _print_summary(asked)
    if graph is not None:
        for path in _write_graph(graph, found):
            echo(f"wrote {shown(path)}", stderr=True)


def _document(
    found: Sequence[tuple[Text, Facts]], rules: RuleSet, asked: _Asked
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

    table = Table(box=None, pad_edge=False)
    for column in ("relation", "value", "status", "experiencer", "span", "rule"):
        table.add_column(column, overflow="fold")
    table.add_column("score", justify="right")
    for one in triplets:
        span = "" if one.span is None else f"{one.span.start}-{one.span.end}"
        cells = (one.relation.value, value_text(one), one.status.value, one.experiencer, span, one.rule)
        table.add_row(*map(clean, cells), f"{one.score:.2f}")
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
    first = max(text.rfind(mark, 0, start) + len(mark) for mark in (". ", "? ", "! ", "\n"))
    first = 0 if first < 2 and not text.startswith((". ", "\n")) else first
    ends = [text.find(mark, end) for mark in (". ", "? ", "! ", "\n")]
    last = min((place + 1 for place in ends if place >= 0), default=len(text))
    said = f"{text[first:start]}[{text[start:end]}]{text[end:last]}"
    return " ".join(said.split())


def _print_summary(asked: _Asked) -> None:
    if not asked.summary:
        return
    rejected = asked.summary["rejected"]
    assert isinstance(rejected, dict)
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(rejected.items()))
    echo(
        f"\n{asked.summary['texts']} texts asked of {asked.summary['model']}, "
        f"{asked.summary['unreadable']} replies unreadable; triplets rejected: {listed or 'none'}"
    )


# The graph

_FORMS = (".json", ".graphml", ".svg")


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


# A gold file: the score


def _score(path: Path, rule_sets: Sequence[RuleSet], asked: _Asked, *, json: bool) -> None:
    from askew.datasets.gold_triplets import read_gold
    from askew.graphs import score

    gold = read_gold(path)
    texts = [record.text for record in gold]
    scorings = {rules.name: score(asked.facts(texts, rules), gold) for rules in rule_sets}
    if json:
        from askew.runfolder import json_text

        documents = {name: _scoring(scoring) for name, scoring in scorings.items()}
        only = next(iter(documents.values()))
        document = only if len(documents) == 1 else {"rule_sets": documents}
        if asked.summary:
            document = document | {"replies": asked.summary}
        typer.echo(json_text(document), nl=False)
        return
    echo(f"{shown(path)}: {len(gold):,} texts")
    for name, scoring in scorings.items():
        _print_scoring(name if asked.name == "rules" else asked.name, scoring)
    _print_summary(asked)


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


# The ablation


def _ablation(path: Path, rule_sets: Sequence[RuleSet], field: str, *, json: bool) -> None:
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

        document = {"texts": len(texts), "rule_sets": {row.rules: _ablation_row(row) for row in rows}}
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
    """Whether the first record brings triplets: a broken gold file is then read as one, and said."""
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
            cells += [f"{row.questions.made:,}", f"{row.questions.coherent:,}", _two(row.coherent_share)]
        table.add_row(*cells)
    echo(f"{texts:,} texts; questions: one of age, gender and place changed in each")
    console().print(table)
    if not with_gold:
        echo("no gold: how many of the relations are right is not known")
