"""`askew clinical`: extract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.clinical_extractors import Asked
from askew.cli.clinical_facts import extract_file
from askew.cli.clinical_scores import compare_rule_sets, score_gold
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.graphs.rules import RuleSet

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

ALL = "all"
DEFAULT_RULES = "full"


@app.callback()
def clinical() -> None:
    """The clinical audit: facts of a case, counterfactual patients, judged answers."""


@app.command()
def extract(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Text (blank lines part several), JSONL, JSON, CSV; - is the standard input.",
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="ner, patterns, context, full or all; full-context takes a rule off. "
            "Default: full; all with --ablation."
        ),
    ] = None,
    theta: Annotated[
        float | None,
        typer.Option(help="The threshold of Eq. (1), from 0 to 1. Default: that of the rules."),
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
        typer.Option(
            metavar="FILE|GOLD", help="Compare the rule sets, with what follows: no FILE."
        ),
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
        typer.Option(
            "--out", "-o", help="With llm: where replies are kept. Default: extractions/MODEL."
        ),
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
    asked = Asked(extractor, model, base_url, api_key_env, out, budget_calls, yes)
    if extractor != "rules" and (theta is not None or rules is not None or ablation):
        raise ConfigError(
            f"--rules, --theta and --ablation are of askew's own rules, not of {extractor!r}. "
            "Leave them out, or leave out --extractor."
        )
    if (score or ablation) and (graph or explain):
        raise ConfigError("--graph and --explain are about the facts of a FILE. Name one instead.")
    if score is not None:
        score_gold(score, _rule_sets(rules or DEFAULT_RULES, theta), asked, json=json)
    elif ablation is not None:
        compare_rule_sets(ablation, _rule_sets(rules or ALL, theta), field, json=json)
    elif file is not None:
        extract_file(
            file,
            _rule_sets(rules or DEFAULT_RULES, theta),
            asked,
            field,
            whole,
            graph,
            explain,
            json=json,
        )


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
