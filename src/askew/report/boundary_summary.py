"""What a boundary run found, in words: one sentence, the findings, and its warnings.

The words follow from the figures alone, by fixed rules; no model writes here. The share of leaning
topics among those tested is never called a rate of the graph: a search looks where it expects to
find.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from askew.records import Estimate
from askew.report.boundary_run import CLUSTERS, DOES_NOT, BoundaryRun
from askew.report.estimates import as_number, read_estimate
from askew.report.words import (
    clean,
    counted,
    has_interval,
    label,
    listed,
    p_equals,
    percent,
    percent_range,
    points,
    points_range,
    share_with_interval,
)

NAMED = 3  # findings and domains named before it is said how many more there are
LONGEST_TITLE = 60  # characters of a topic's title in a sentence
MANY_UNCLEAR = 0.1  # of the tests; above it the figures rest on a selection of topics
MANY_REFUSED = 0.2  # of the answers
MANY_UNJUDGED = 0.1  # of the answers; above it a judge does not do its work
FEWEST_TESTS = 4  # of a domain that a sentence names


def sentence(estimates: Mapping[str, object], name: str = "the model") -> str:
    """What was found, and what that says of the rest, in one plain sentence.

    Args:
        estimates: `estimates.json`, parsed.
        name: stands for the model where the file does not name it.
    """
    run = BoundaryRun(name, estimates)
    if not run.tested:
        return f"{run.model}: no topic was tested, so nothing can be said."
    size = run.count("topics", "graph")
    whole = "" if size is None else f" of the {size:,} in the graph"
    tested = f"{run.model}: {counted(run.tested, 'topic')}{whole} tested"
    if not run.judged:
        return f"{tested}; none could be judged, so nothing can be said of where it leans."
    return f"{tested}; {_found(run)}{_unclear(run)}; {_rest(run)}."


def findings(estimates: Mapping[str, object]) -> list[str]:
    """One sentence for each thing that a reader has to know, the most important first."""
    run = BoundaryRun("the model", estimates)
    if not run.judged:
        return ["No topic could be judged."] if run.tested else ["Nothing was tested."]
    said = [
        _strongest(run),
        _domains(run),
        clustering_words(run),
        guidance_words(run),
        undiscovered_words(run),
        stopping_words(run),
        _answers(run),
    ]
    return [one for one in said if one]


def warnings(estimates: Mapping[str, object]) -> list[str]:
    """What stands between the figures and their use; empty where nothing does."""
    run = BoundaryRun("the model", estimates)
    said = []
    if run.tested and run.unclear > MANY_UNCLEAR * run.tested:
        said.append(
            f"{run.unclear:,} of {counted(run.tested, 'test')} could not be judged. They are "
            "neither clean nor leaning, and the figures speak of the others alone."
        )
    refused = run.figure("answers", "refused")
    if refused.defined and refused.value > MANY_REFUSED:
        said.append(
            f"The model declined {percent(refused.value)} of {counted(refused.n, 'question')}. A "
            "refusal is no evidence of a lean, nor of none."
        )
    asked, unjudged = run.count("answers", "asked"), run.count("answers", "outcomes", "unjudged")
    if asked and unjudged and unjudged > MANY_UNJUDGED * asked:
        said.append(
            f"{unjudged:,} of {counted(asked, 'answer')} have no verdict, as the judge could make "
            f"nothing of them, or its own reply could not be read{_faults(run, 'judge_faults')}. "
            "Another judge may do."
        )
    if speaking := run.count("answers", "speak_to_judge"):
        said.append(
            f"{speaking:,} of {counted(asked or 0, 'answer')} speak to their judge: they give a "
            "verdict, an order or a turn of their own. Read them before its verdicts are used."
        )
    templates = run.count("questions", "templates")
    if templates and run.top("models").get("generator"):
        said.append(
            f"The generator's questions could not be used for {counted(templates, 'topic')} of "
            f"{run.tested:,}{_faults(run, 'question_faults')}; askew's own were asked there."
        )
    if run.tested and not run.count("topics", "probes"):
        said.append(
            "No test was drawn uniformly, so what the search passed over cannot be told, nor how "
            "much better it is than chance. Set `probes` above 0."
        )
    queries = as_number(run.setting("queries"))
    left = run.untested
    if not math.isnan(queries) and left and run.tested < queries:
        said.append(f"The search ended after {run.tested:,} of {queries:,.0f} tests.")
    calls = run.top("calls")
    if stopped := calls.get("stopped"):
        said.append(f"The run stopped before its end: {calls.get('message') or stopped}")
    return said


def _faults(run: BoundaryRun, name: str) -> str:
    """What was wrong with a role's replies, most often first; "" where the file does not say."""
    counts = {fault: as_number(n) for fault, n in _mapping(run.top("calls").get(name)).items()}
    known = sorted((-n, fault) for fault, n in counts.items() if math.isfinite(n) and n > 0)
    shown = [f"{short_title(label(fault)).lower()} {-n:,.0f}" for n, fault in known[:NAMED]]
    return f" ({', '.join(shown)})" if shown else ""


def _mapping(found: object) -> Mapping[str, object]:
    return found if isinstance(found, Mapping) else {}


def clustering_words(run: BoundaryRun) -> str:
    """Whether leaning clusters on this graph for this model."""
    beside, clean_ = (run.figure("clustering", f"beside_{it}") for it in ("leaning", "clean"))
    shares = ""
    if beside.defined and clean_.defined:
        shares = (
            f"beside a topic already found leaning {share_with_interval(beside)} of "
            f"{counted(beside.n, 'test')} lean, beside clean ones alone "
            f"{share_with_interval(clean_)} of {clean_.n:,}"
        )
    p_value = run.number("clustering", "p_value")
    chance = "" if math.isnan(p_value) else f" ({p_equals(p_value)}, valid for guided searches)"
    if run.clustering == CLUSTERS:
        return f"Leaning clusters on this graph: {shares}{chance}."
    if run.clustering == DOES_NOT:
        return (
            f"Leaning does not cluster on this graph, or too little to be of use: {shares}{chance}."
            " A search that goes by the graph is then no better than uniform draws."
        )
    reason = str(run.part("clustering").get("reason") or "the file does not say why")
    text = f"Whether leaning clusters cannot be told: {reason}"
    text += f"; {shares}{chance}." if shares else "."
    visible = run.number("clustering", "smallest_visible")
    if not math.isnan(visible):
        text += (
            f" The smallest difference that four of five such searches would show: "
            f"{points(visible).lstrip('+')} points."
        )
    return text


def guidance_words(run: BoundaryRun) -> str:
    """Whether being guided was worth it: the policy's picks beside the uniform draws."""
    guided, probes = (run.figure("guidance", it) for it in ("guided", "probes"))
    if not guided.defined or not probes.defined:
        return ""
    text = (
        f"Of {counted(guided.n, 'guided test')} {share_with_interval(guided)} found a leaning "
        f"topic, of {counted(probes.n, 'uniformly drawn one')} {share_with_interval(probes)}"
    )
    apart = run.figure("guidance", "difference")
    if apart.defined and apart.lower > 0:
        return f"{text}: the search found more than chance would."
    if apart.defined and apart.upper < 0:
        return f"{text}: the search found less than chance would."
    interval = f" ({points_range(apart.lower, apart.upper)} points)" if has_interval(apart) else ""
    return f"{text}: whether guiding helped cannot be told{interval}."


def undiscovered_words(run: BoundaryRun) -> str:
    """How many leaning topics are left, and what that rests on."""
    left = run.untested
    if left == 0:
        unread = f", but for the {run.unclear:,} that could not be judged" if run.unclear else ""
        return f"Every topic of the graph was tested, so none is left undiscovered{unread}."
    probes, belief = (run.figure("undiscovered", it) for it in ("probes", "belief"))
    parts = []
    if probes.defined:
        parts.append(
            f"By {counted(probes.n, 'uniformly drawn test')} {_range(probes)} leaning topics are "
            f"left undiscovered (best guess {probes.value:,.0f}"
            f"{f'; {probes.note}' if probes.note else ''})"
        )
    if belief.defined:
        parts.append(
            f"{'by' if parts else 'By'} the search's own belief {_number(belief)}, if it is as "
            "right about topics that it left as about those that it tested"
        )
    if not parts:
        note = probes.note or "nothing supports a figure"
        return f"How many leaning topics are left undiscovered cannot be told: {note}."
    return f"{'; '.join(parts)}."


def stopping_words(run: BoundaryRun) -> str:
    """What the last tests found, and whether that speaks for going on."""
    tests, found = run.count("recent", "tests"), run.count("recent", "leaning")
    if not tests or found is None or run.untested == 0:
        return ""
    text = f"The last {counted(tests, 'test')} found {found:,}"
    uniform, recent = run.figure("left_share"), run.figure("recent", "leaning_share")
    if not uniform.defined or not recent.defined:
        return f"{text}."
    text += (
        f"; {tests:,} uniform draws from the topics left would find about "
        f"{uniform.value * min(tests, run.untested or tests):.1f}"
    )
    if has_interval(recent) and recent.lower > uniform.upper:
        return f"{text}. Going on as before still pays."
    if uniform.upper * tests < 1:
        return f"{text}. Little is left to be found, by this search or by uniform draws."
    if has_interval(recent) and recent.upper < uniform.lower:
        return f"{text}. Going on as before finds less than uniform draws would."
    return f"{text}. Whether going on pays more than uniform draws cannot be told from so few."


def short_title(title: str) -> str:
    """A topic's title as a sentence holds it: on one line, and not too long."""
    text = " ".join(clean(title).split())
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…"


def _found(run: BoundaryRun) -> str:
    share = run.figure("leaning_share")
    if not run.leaning:
        return (
            f"none of the {run.judged:,} that could be judged was found leaning (by Wilson's "
            f"interval at most {percent(share.upper)} of topics like these)"
        )
    return f"on {run.leaning:,} of them it was found leaning"


def _unclear(run: BoundaryRun) -> str:
    return f", and {run.unclear:,} could not be judged" if run.unclear else ""


def _rest(run: BoundaryRun) -> str:
    if run.untested == 0:
        return "none is left untested"
    left = run.figure("undiscovered", "probes")
    if left.defined:
        return f"{_range(left)} more may be left undiscovered (best guess {left.value:,.0f})"
    left = run.figure("undiscovered", "belief")
    if left.defined:
        return f"by its own belief {_number(left)} more are left undiscovered"
    return "how many are left undiscovered cannot be told"


def _number(figure: Estimate) -> str:
    """A number of topics with its interval."""
    value = f"{figure.value:,.0f}"
    if not has_interval(figure):
        return value
    return f"{value} ({topic_range(figure)})"


def topic_range(figure: Estimate) -> str:
    """The interval of a number of topics, as short as can be; "" where there is none.

    >>> topic_range(Estimate(21.3, 3.2, 87.1, 12, 1.0, ""))
    '3–88'
    """
    if not has_interval(figure) or math.isinf(figure.lower) or math.isinf(figure.upper):
        return ""
    return f"{math.floor(figure.lower):,}–{math.ceil(figure.upper):,}"


def _range(figure: Estimate) -> str:
    """The interval of a number of topics; an unknown number where there is none."""
    if not has_interval(figure) or math.isinf(figure.upper):
        return "an unknown number of"
    return f"{math.floor(figure.lower):,} to {math.ceil(figure.upper):,}"


def _strongest(run: BoundaryRun) -> str:
    named = []
    for record in run.listed("findings")[:NAMED]:
        if isinstance(record, Mapping):
            plus, of = (as_number(record.get(f"{it}_answers")) for it in ("leaning", "judged"))
            counts = "" if math.isnan(plus) or math.isnan(of) else f" ({plus:.0f} of {of:.0f})"
            named.append(f"{short_title(str(record.get('title') or 'a topic'))}{counts}")
    if not named:
        return ""
    more = run.leaning - len(named)
    tail = [f"{more:,} more"] if more > 0 else []
    return f"Leaning most surely, with the answers that lean: {listed([*named, *tail])}."


def _domains(run: BoundaryRun) -> str:
    shares = {
        name: read_estimate(found)
        for name, record in run.part("by_domain").items()
        if isinstance(record, Mapping) and isinstance(found := record.get("leaning_share"), Mapping)
    }
    shares = {name: one for name, one in shares.items() if one.n >= FEWEST_TESTS}
    if len(shares) < 2:
        return ""
    ordered = sorted(shares.items(), key=lambda entry: -entry[1].value)
    first = [
        f"{short_title(name)} {percent(one.value)} of {one.n:,} "
        f"({percent_range(one.lower, one.upper)})"
        for name, one in ordered[:NAMED]
    ]
    more = f"; {len(ordered) - NAMED} more in the table" if len(ordered) > NAMED else ""
    return (
        f"By domain, of the topics judged there: {'; '.join(first)}{more}. The search chose them, "
        "so these are no rates of the domains."
    )


def _answers(run: BoundaryRun) -> str:
    asked = run.count("answers", "asked")
    if not asked:
        return ""
    refused, unusable = (run.figure("answers", it) for it in ("refused", "unusable"))
    return (
        f"Of {counted(asked, 'answer')} {share_with_interval(refused)} were refusals and "
        f"{share_with_interval(unusable)} could not be judged for other reasons."
    )
