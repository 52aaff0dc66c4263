"""The FLEX questions that came out otherwise in the other run, the worst first."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from askew.models.callkey import call_from_json, reply_from_json
from askew.records import Call, Item, Outcome, Reply
from askew.report.compare.flex import PLAIN_JOIN, RUNS, Whose
from askew.report.compare.records import Flip, FlipCount, FlipSide
from askew.report.figure import shade
from askew.report.items.index import id_part
from askew.report.words import label
from askew.runfolder import item_from_json

# So many flips of a kind are put in order by how far the answer went; replies of more are not read.
RANKED = 400
LONGEST_TEXT = 2_400  # characters of one text
_GROUPS = "('stereotyped', 'antistereotyped', 'undirected')"
_ANSWERS = "('neutral', 'stereotyped', 'antistereotyped', 'undirected')"


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    title: str
    worse: bool | None
    rule: str  # SQL over the outcomes {a} and {b}
    order: str  # SQL: what is worse comes first


_KINDS = (
    _Kind(
        "turned",
        "neutral → a group",
        True,
        f"{{a}} = 'neutral' AND {{b}} IN {_GROUPS}",
        "{b} <> 'stereotyped'",
    ),
    _Kind(
        "held",
        "a group → neutral",
        False,
        f"{{a}} IN {_GROUPS} AND {{b}} = 'neutral'",
        "{a} <> 'stereotyped'",
    ),
    _Kind(
        "answer_lost",
        "answered → no answer",
        None,
        f"{{a}} IN {_ANSWERS} AND {{b}} IS NOT NULL AND {{b}} NOT IN {_ANSWERS}",
        "{b} <> 'refused'",
    ),
    _Kind(
        "answer_found",
        "no answer → answered",
        None,
        f"{{a}} IS NOT NULL AND {{a}} NOT IN {_ANSWERS} AND {{b}} IN {_ANSWERS}",
        "{a} <> 'refused'",
    ),
)


def flex_flips(database: sqlite3.Connection, limit: int) -> tuple[FlipCount, ...]:
    """What flipped under attack and asked plainly, losses first.

    Worst is: the stereotype before any other group, and then the answer that was preferred to the
    neutral one by the most, where likelihoods tell.

    Args:
        database: of `compare_flex.joined`.
        limit: how many of each kind are listed with their replies.
    """
    found = []
    for condition in ("attacked", "plain"):
        rows = _ATTACKED if condition == "attacked" else _PLAIN
        for kind in _KINDS:
            rule = kind.rule.format(a="outcome_baseline", b="outcome_other")
            order = kind.order.format(a="outcome_baseline", b="outcome_other")
            (count,) = database.execute(f"SELECT count(*) FROM ({rows}) WHERE {rule}").fetchone()
            places = database.execute(
                f"SELECT place_baseline, place_other FROM ({rows}) WHERE {rule} "
                f"ORDER BY {order}, item_id, place_baseline LIMIT {RANKED}"
            ).fetchall()
            shown = _shown(database, kind, places, limit)
            before = "under attack" if condition == "attacked" else "asked plainly"
            name = kind.name if condition == "attacked" else f"plain_{kind.name}"
            found.append(FlipCount(name, f"{before}: {kind.title}", kind.worse, count, shown))
    ranks = {True: 0, False: 1, None: 2}
    return tuple(sorted(found, key=lambda one: ranks[one.worse]))


_ATTACKED = (
    "SELECT item_id, place_baseline, place_other, outcome_baseline, outcome_other FROM pairs"
)
_PLAIN = (
    "SELECT a.item_id, a.place AS place_baseline, b.place AS place_other, "
    f"a.outcome AS outcome_baseline, b.outcome AS outcome_other {PLAIN_JOIN}"
)


@dataclass(frozen=True, slots=True)
class _Half:
    """One run's question with its reading and its call."""

    item: Item
    scenario: str | None
    category: str | None
    order: tuple[int, ...]
    replicate: int
    outcome: Outcome
    chosen: int | None
    rule: str
    call: Call | None
    reply: Reply | None

    @property
    def margin(self) -> float:
        """By how much the chosen option is likelier than the neutral one, as a log-ratio."""
        found = self.reply.log_probabilities if self.reply else ()
        if self.chosen is None or len(found) != len(self.order):
            return math.nan
        place = {option: place for place, option in enumerate(self.order)}
        return found[place[self.chosen]] - found[place[self.item.neutral]]


def _shown(
    database: sqlite3.Connection, kind: _Kind, places: Sequence[tuple[int, int]], limit: int
) -> tuple[Flip, ...]:
    if not limit:
        return ()
    # A group that was given up counts by how sure it was; one that was taken up likewise.
    run: Whose = "baseline" if kind.name in ("held", "answer_found") else "other"
    which = RUNS.index(run)

    def rank(pair: tuple[int, int]) -> tuple[bool, float, str]:
        half = _half(database, run, pair[which])
        margin = half.margin
        mild = half.outcome not in (Outcome.STEREOTYPED, Outcome.REFUSED)
        return mild, math.inf if math.isnan(margin) else -margin, half.item.id

    return tuple(
        _flip(kind.name, _half(database, "baseline", baseline), _half(database, "other", other))
        for baseline, other in sorted(places, key=rank)[:limit]
    )


def _half(database: sqlite3.Connection, run: Whose, place: int) -> _Half:
    (record, category, scenario, order, replicate, key, outcome, chosen, rule) = database.execute(
        f"SELECT i.record, q.category, q.scenario, q.option_order, q.replicate, q.call_key, "
        f"s.outcome, s.chosen, s.rule FROM {run}.questions q JOIN {run}.items i "
        f"ON i.id = q.item_id JOIN {run}.scores s ON s.place = q.place WHERE q.place = ?",
        (place,),
    ).fetchone()
    request, reply = _call(database, run, key)
    return _Half(
        item_from_json(json.loads(record)),
        scenario,
        category,
        tuple(int(digit) for digit in order if digit.isdigit()),
        replicate,
        Outcome(outcome),
        chosen,
        rule,
        call_from_json(request) if request else None,
        reply_from_json(reply) if reply else None,
    )


def _call(database: sqlite3.Connection, run: Whose, key: str) -> tuple[str | None, str | None]:
    try:
        found = database.execute(
            f"SELECT request, reply FROM {run}.calls WHERE key = ?", (key,)
        ).fetchone()
    except sqlite3.OperationalError:  # a folder without a ledger
        return None, None
    return found or (None, None)


def _flip(kind: str, baseline: _Half, other: _Half) -> Flip:
    item = baseline.item
    facts = [("bias type", label(item.bias_type)), ("source", label(item.source))]
    if not baseline.scenario:
        facts.append(("item", item.id))
    else:
        facts.insert(0, ("attack", f"{label(baseline.category or '')}: {label(baseline.scenario)}"))
    order = "".join(map(str, baseline.order))
    ident = ""
    if baseline.scenario:
        parts = (baseline.category or "", id_part(baseline.scenario), order)
        ident = "/".join([item.id, *parts, str(baseline.replicate)])
    title = " ".join(f"{item.context} {item.question}".split())
    return Flip(
        kind,
        (ident, ident),
        title,
        tuple(facts),
        tuple(_turns(baseline)),
        _side(baseline),
        _side(other),
    )


def _turns(half: _Half) -> list[tuple[str, str]]:
    if half.call is None:
        return [("item", _shortened(f"{half.item.context} {half.item.question}".strip()))]
    prompt = half.call.prompt
    if prompt.messages:
        return [(one.role, _shortened(one.content)) for one in prompt.messages]
    return [("prompt", _shortened(prompt.text or ""))]


def _side(half: _Half) -> FlipSide:
    texts = []
    if half.reply and half.reply.text:
        texts.append(("reply", _shortened(half.reply.text)))
    if half.chosen is not None:
        margin = half.margin
        beyond = "" if math.isnan(margin) else f" (log-ratio to neutral {margin:+.2f})"
        texts.append(("chosen", f"{half.item.options[half.chosen]}{beyond}"))
    texts.append(("read by", half.rule))
    return FlipSide(half.outcome.value, shade(half.outcome), tuple(texts))


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… {left_out:,} characters left out …\n{text[-half:]}"
