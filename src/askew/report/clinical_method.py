"""How a clinical run was made, as a paragraph for a paper, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping

from askew.report.clinical_run import ClinicalRun, as_mapping
from askew.report.clinical_words import attribute_words, form_words, size
from askew.report.estimates import as_number
from askew.report.settings import value_text
from askew.report.words import counted, listed

NANOS = 1e9  # of a currency's unit
_BACKENDS = {
    "edit": "edits of the original text at the places of the facts, so that every other character "
    "stayed",
    "template": "a question template filled from the extracted facts",
    "model": "a generator and an attacker model from the extracted facts",
}


def method(run: ClinicalRun) -> list[str]:
    """The paragraph, sentence by sentence; what the file does not say is not said here either."""
    return [
        part
        for part in (
            _data(run),
            _twins(run),
            _asked(run),
            _measured(run),
            _tests(run),
            _judges(run),
        )
        if part
    ]


def role_rows(run: ClinicalRun) -> list[tuple[str, str]]:
    """Role -> its model and what was asked of it, for a table."""
    calls = run.top("calls")
    by_role, spent = as_mapping(calls.get("by_role")), as_mapping(calls.get("spent"))
    models = run.top("models") or {"target": run.model}
    rows = []
    for role, model in models.items():
        counts, cost = as_mapping(by_role.get(role)), as_mapping(spent.get(role))
        said = [str(model)]
        for name, words in (
            ("asked", "calls made"),
            ("reused", "replies taken from earlier runs"),
            ("failed", "failed"),
            ("unknown", "whose outcome is unknown"),
        ):
            number = as_number(counts.get(name))
            if number > 0 or (name == "asked" and number == 0):
                said.append(f"{number:,.0f} {words}")
        if (tokens := as_number(cost.get("tokens"))) > 0:
            said.append(f"{tokens:,.0f} tokens")
        said.append(_money(cost))
        rows.append((role.replace("_", " ").capitalize(), "; ".join(said)))
    return rows


def setting_rows(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    """The settings, for a table."""
    return [
        (name.replace("_", " ").capitalize(), value_text(value)) for name, value in settings.items()
    ]


def _money(cost: Mapping[str, object]) -> str:
    nanos = as_number(cost.get("nanos"))
    if nanos >= 0:
        return f"cost {nanos / NANOS:,.4f}"
    return "no price is known, so no cost is given"


def _data(run: ClinicalRun) -> str:
    vignettes = run.count("study", "vignettes")
    if vignettes is None:
        return ""
    rules = run.setting("rules")
    by = f" by fixed rules (rule set “{rules}”)" if rules else ""
    return (
        f"{counted(vignettes, 'clinical vignette')} ({run.data}) were read, and facts about the "
        f"patient were extracted from each{by} as (patient, relation, value) triplets."
    )


def _twins(run: ClinicalRun) -> str:
    attributes = run.setting("attributes")
    variants = run.count("study", "variants")
    if not isinstance(attributes, list) or variants is None:
        return ""
    declared = run.setting("declared")
    own = (
        [str(as_mapping(one).get("name")) for one in declared] if isinstance(declared, list) else []
    )
    names = listed([attribute_words(str(one)).lower() for one in [*attributes, *own]])
    gone = sum(
        int(as_number(n))
        for name, n in run.part("study", "dropped").items()
        if name != "same" and as_number(n) > 0
    )
    made = _BACKENDS.get(str(run.setting("backend")), "counterfactual editing")
    return (
        f"Counterfactual twins that differ in {names} were made by {made}; twins that are "
        "clinically impossible or odd, or in which another fact would have changed on "
        f"re-extraction, were dropped ({gone:,}), which left {variants:,} texts."
    )


def _asked(run: ClinicalRun) -> str:
    replicates, heat = as_number(run.setting("replicates")), run.setting("temperature")
    if not replicates > 0:
        return ""
    forms = listed([form_words(form) for form in run.forms])
    often = "once" if replicates == 1 else f"{replicates:.0f} times"
    how = []
    if heat is not None:
        how.append(f"temperature {value_text(heat)}")
    if (tokens := run.setting("max_tokens")) is not None:
        how.append(f"at most {value_text(tokens)} tokens")
    said = f" ({', '.join(how)})" if how else ""
    shape = "structured answers" if run.setting("structured") is not False else "free text"
    return f"{run.model} was given each text {often}, {forms}{said}, in {shape}."


def _measured(run: ClinicalRun) -> str:
    if not run.primary:
        return ""
    said = []
    margins = as_mapping(run.setting("margins"))
    for name in run.primary:
        endpoint = run.endpoint(name)
        margin = as_number(margins.get(name))
        if not margin > 0:
            margin = run.number("endpoints", name, "margin")
        within = f" (margin {size(margin, endpoint)})" if margin > 0 else ""
        said.append(f"{endpoint.title.lower()}{within}")
    return (
        f"Declared endpoints, between levels of one attribute and on answers "
        f"{form_words(run.forms[0]) if run.forms else 'asked directly'}: {listed(said)}. Distances "
        "are reported in excess of those between two answers to the same prompt."
    )


def _tests(run: ClinicalRun) -> str:
    if not run.primary:
        return ""
    return (
        "The unit of analysis is the vignette: repeats were averaged within it. Differences were "
        "tested by permutation within vignettes (sign flips, or exchange of the two arms' "
        "labels), with Holm’s correction over the declared comparisons and "
        "Benjamini and Hochberg’s over all others; intervals are 95 % over vignettes. "
        "Equivalence was tested by two one-sided tests against the margin. A comparison is called "
        "“difference” with corrected p < 0.05, “equivalent within the margin” where both one-sided "
        "tests have p < 0.05, and “cannot tell” otherwise, with the smallest effect that four of "
        "five such studies would see."
    )


def _judges(run: ClinicalRun) -> str:
    if not run.judges:
        return ""
    judge = as_mapping(run.setting("judge"))
    repeats = as_number(judge.get("repeats"))
    often = f", each question {repeats:.0f} times" if repeats > 0 else ""
    return (
        f"Model judges ({listed(run.judges)}) were asked{often}; replies out of range or "
        "unreadable were asked again, counted, and never replaced by a number. Every judge was "
        "given placebo pairs, planted bias and pairs that differ in the stated patient alone, and "
        "its rates were corrected by Rogan and Gladen’s method."
    )
