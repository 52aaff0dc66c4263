"""The data card of a built set: `README.md`, with the front matter that Hugging Face reads.

`card_template.md` holds the words. Every figure comes from `build.json`; what that does not hold is
said not to be measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template
from typing import Any

from askew.build.statistics import Table4Row, printed_rows, printed_sources
from askew.report.filed.card_parts import OWN_LICENCE, licence_of, size_category
from askew.report.markup import (
    NOT_MEASURED,
    at,
    change,
    code,
    count,
    mapping,
    name,
    said,
    share,
    table,
    texts,
    yaml_list,
    yaml_text,
)
from askew.report.words import UNDEFINED, counted, label, listed
from askew.runfolder import json_text

_SETS = ("selected", "random")
_SOURCES = {"bbq": "BBQ", "crows_pairs": "CrowS-Pairs", "stereoset": "StereoSet"}
_FUNNEL = {
    "items": "items",
    "neutral": "neutral without an attack",
    "with_a_scenario": "with a scenario",
    "without_a_scenario": "no scenario worked",
    "undecided": "undecided",
}
_Report = Mapping[str, Any]


def card_text(report: Mapping[str, object]) -> str:
    """The card, front matter first.

    Args:
        report: what `build.json` holds (`build.figures` lists the keys), parsed or about to be
            written; any part may be missing.
    """
    plain: _Report = json.loads(json_text(report))
    settings = mapping(plain.get("settings"))
    rows = at(plain, "table_4", "selected", "all")
    replies = ("source_replies", "replies", "biased_from", "estimate_replies")
    template = files("askew.build").joinpath("card_template.md").read_text(encoding="utf-8")
    return Template(template).substitute(
        {key: said(settings.get(key)) for key in replies},
        front_matter=_front_matter(plain),
        model=code(_model(plain)),
        size=counted(rows, "item") if isinstance(rows, int) else "Items",
        fit=_fit(plain),
        funnel=_funnel(plain),
        text_attacks=_text_attacks(plain),
        figures=_figures(plain),
        accuracy=_accuracy(plain),
        table_4=_table_4(plain),
        licences=_licences(plain),
        reproduction=_reproduction(plain),
    )


def _front_matter(report: _Report) -> str:
    rows = at(report, "table_4", "selected", "all")
    size = [size_category(rows)] if isinstance(rows, int) else []
    licences = sorted({licence_of(one)[0] for one in _sources(report)}) or [OWN_LICENCE[0]]
    lines = [
        f"pretty_name: {yaml_text(f'FLEX selected on {_model(report)}')}",
        *yaml_list("license", licences),
        *yaml_list("language", _languages(report)),
        *yaml_list("task_categories", ["multiple-choice", "question-answering"]),
        *yaml_list("size_categories", size),
        *yaml_list("tags", ["fairness", "bias", "robustness", "flex", "askew"]),
        "configs:",
    ]
    for one in _SETS:
        lines += [f"- config_name: {one}", "  data_files:", "  - split: test"]
        lines.append(f"    path: data/{one}.parquet")
        if one == "selected":
            lines.append("  default: true")
    return "\n".join(["---", *lines, "---"])


def _fit(report: _Report) -> str:
    model, fit = code(_model(report)), report.get("fit")
    if not isinstance(fit, Mapping):
        parts = [f"Whether {model} is fit to be measured: {NOT_MEASURED}."]
    elif fit.get("meaningful"):
        parts = [
            f"{model} is fit to be measured. Control questions, whose context gives the answer, "
            f"answered rightly: {share(fit.get('accuracy'))}."
        ]
    else:
        parts = [
            f"**{model} is not fit to be measured, and what was selected on it may be noise**: "
            f"{code(said(fit.get('reason')))}. Control questions answered rightly: "
            f"{share(fit.get('accuracy'))}."
        ]
    if report.get("complete") is False:
        parts.append("**The build is not complete: replies are missing.**")
    # The reason why a model is not fit stands above already.
    reason = "" if at(fit, "meaningful") else str(at(fit, "reason") or "")
    cautions = texts(report.get("cautions")) or texts([at(fit, "caution")])
    new = [one for one in cautions if one and not (reason and reason in one)]
    return "\n\n".join([*parts, *(f"Caution: {code(one)}" for one in new)])


def _funnel(report: _Report) -> str:
    by_source = mapping(at(report, "funnel", "source"))
    rows = [
        [_source(source), *(count(at(found, key)) for key in _FUNNEL)]
        for source, found in sorted(by_source.items())
    ]
    if not rows:
        return f"How many items came through: {NOT_MEASURED}."
    rows.append(["**all**", *(count(at(report, "funnel", "overall", key)) for key in _FUNNEL)])
    return table(["source", *_FUNNEL.values()], rows)


def _text_attacks(report: _Report) -> str:
    made = mapping(report.get("text_attacks"))
    if not made:
        words = "No text attack was made for this set."
        return f"{words} Any that it has came with a source, unchecked."
    rows = [
        [
            name(kind),
            *(count(at(found, key)) for key in ("wanted", "passed", "tries")),
            ", ".join(
                f"{name(reason)} {count(number)}"
                for reason, number in mapping(at(found, "rejected")).items()
            )
            or UNDEFINED,
        ]
        for kind, found in sorted(made.items())
    ]
    attacker = said(report.get("attacker"))
    maker = "rules, without a model" if attacker == "rules" else code(attacker)
    checks = [
        "by rule",
        _check(report, "embedder", "by the likeness of sentence vectors"),
        _check(report, "judge", "by a judge"),
    ]
    words = (
        f"Made by {maker}. They change the question only, never context or options. Each was "
        f"checked {listed(checks)}, and made again where it failed. Attacks that came with a "
        "source are not checked."
    )
    return f"{words}\n\n{table(['kind', 'wanted', 'passed', 'tries', 'refused'], rows)}"


def _check(report: _Report, role: str, how: str) -> str:
    checker = report.get(role)
    return f"{how} ({code(said(checker))})" if checker else f"not {how}"


def _figures(report: _Report) -> str:
    selecting = at(report, "selection", "attack_success_rate")
    fresh = at(report, "fresh", "selected", "attack_success_rate")
    random = at(report, "fresh", "random", "attack_success_rate")
    curse, gain = report.get("winners_curse"), report.get("selected_minus_random")
    slices: list[tuple[str, tuple[str, ...]]] = [("**all**", ("overall",))]
    slices += [(name(one), ("category", one)) for one in _slices([selecting, fresh], "category")]
    slices += [(_source(one), ("source", one)) for one in _slices([selecting, fresh], "source")]
    rows = [
        [
            shown,
            share(at(selecting, *keys)),
            share(at(fresh, *keys)),
            change(at(curse, *keys)),
            # Its own figures by category go by the random scenario, not by the selected one.
            UNDEFINED if keys[0] == "category" else share(at(random, *keys)),
            change(at(gain, *keys)),
        ]
        for shown, keys in slices
    ]
    head = [
        "",
        "replies that selected",
        "fresh replies",
        "winner's curse, points",
        "random baseline, fresh",
        "selected − random, points",
    ]
    return table(head, rows)


def _accuracy(report: _Report) -> str:
    measures = (("Acc_S", "source_accuracy"), ("Acc_F", "flex_accuracy"))
    return listed(
        [
            f"{shown} {share(at(report, 'fresh', 'selected', key, 'overall'))}"
            for shown, key in measures
        ]
    )


def _table_4(report: _Report) -> str:
    parts = []
    for one in _SETS:
        counts = at(report, "table_4", one)
        if not isinstance(at(counts, "all"), int):
            parts.append(f"`{one}`: {NOT_MEASURED}.")
            continue
        sources = printed_sources(counts)
        rows = [
            [_row_name(row), f"{row.total:,}", *(_cell(row, source) for source in sources)]
            for row in printed_rows(counts)
        ]
        parts += [f"`{one}`:", table(["", "all", *map(_source, sources)], rows)]
    return "\n\n".join(parts)


def _row_name(row: Table4Row) -> str:
    if not row.category:
        return "**all**"
    category = label(row.category)
    return f"{category}: {name(row.detail)}" if row.detail else f"**{category}**"


def _cell(row: Table4Row, source: str) -> str:
    return f"{row.by_source[source]:,}" if source in row.by_source else UNDEFINED


def _licences(report: _Report) -> str:
    lines = [f"- {_source(source)}: {licence_of(source)[1]}" for source in _sources(report)]
    return "\n".join(lines) or f"Sources: {NOT_MEASURED}."


def _reproduction(report: _Report) -> str:
    calls = mapping(report.get("calls"))
    costs = [
        f"{code(role)} {_cost(mapping(cost))}"
        for role, cost in sorted(mapping(calls.get("roles")).items())
    ]
    lines = [
        f"askew {code(said(report.get('askew')))}, seed {code(said(report.get('seed')))}; every "
        "setting, package version and checksum of a source: `build.toml`",
        f"calls answered {count(_answered(calls))}, failed "
        f"{count(calls.get('failed'))}, unknown {count(calls.get('unknown'))}; cost: "
        f"{'; '.join(costs) or NOT_MEASURED}",
        "every call: `run.sqlite`; every figure: `build.json`; every file: `SHA256SUMS`, for "
        "`sha256sum --check`",
        *map(code, texts(calls.get("notes"))),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _answered(calls: _Report) -> object:
    """In all starts together, so that one start more leaves the card as it is."""
    asked, reused = calls.get("asked"), calls.get("reused")
    return asked + reused if isinstance(asked, int) and isinstance(reused, int) else None


def _cost(cost: _Report) -> str:
    money = cost.get("money")
    # Without a price list it is 0 or null, and neither is a price.
    paid = f", {money:.2f} by the price list" if isinstance(money, int | float) and money else ""
    return f"{count(cost.get('calls'))} calls, {count(cost.get('tokens'))} tokens{paid}"


def _slices(figures: Iterable[object], kind: str) -> list[str]:
    """The names of the slices of a kind, over all figures, in order."""
    return sorted({one for figure in figures for one in mapping(at(figure, kind))})


def _model(report: _Report) -> str:
    return str(report.get("model") or "an unnamed model")


def _sources(report: _Report) -> list[str]:
    return sorted({*mapping(report.get("sources")), *mapping(at(report, "funnel", "source"))})


def _source(source: str) -> str:
    return _SOURCES.get(source, code(source))


def _languages(report: _Report) -> list[str]:
    """Hugging Face wants the language alone, without region or script."""
    tags = report.get("languages")
    named = list(tags) if isinstance(tags, list | Mapping) else []
    primary = {str(tag).replace("_", "-").partition("-")[0].casefold() for tag in named}
    return sorted(tag for tag in primary if tag.isascii() and tag.isalpha())
