"""A judge's word on the hops of a multi-hop answer, and GPTScore from its log-probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

from askew.records import Finish, Reply
from askew.scores.judge_labels import Stated, own_verdicts, standing
from askew.scores.judge_objects import Node, Record, Row, Text, Word, records_in, scan
from askew.scores.judge_reading import Fault, Faulty, nothing_found, text_of, was_cut

_TRUE = frozenset(("true", "yes", "1"))
_FALSE = frozenset(("false", "no", "0"))


@dataclass(frozen=True, slots=True)
class HopsReading:
    """Which edges hold, in their order, and whether the answer is supported; or the fault."""

    first: tuple[bool, ...] | None = None  # each triplet of G₁: the text says it
    second: tuple[bool, ...] | None = None  # each edge of G₂: it follows
    supported: bool | None = None
    fault: Fault | None = None
    detail: str = ""


def read_hops(reply: Reply | str | None, first: int, second: int) -> HopsReading:
    """A judge's word on each edge and on the answer.

    Args:
        reply: what the judge said.
        first: how many triplets of G₁ it was shown; a list of another length is a fault.
        second: how many edges of G₂.

    >>> read_hops('{"first": [true], "second": [], "supported": "no"}', 1, 0).supported
    False
    >>> read_hops('{"first": [true], "second": [], "supported": true}', 2, 0).fault.value
    'missing'
    """
    text = text_of(reply)
    if isinstance(text, Faulty):
        return HopsReading(fault=text.fault, detail=text.detail)
    found = scan(text)
    stated = [
        Stated(record, standing(text, one.start, one.end))
        for one in found.found
        for record in records_in(one.node)
        if {"first", "second", "supported"} & {key.strip().casefold() for key, _ in record.pairs}
    ]
    own = own_verdicts(stated)
    if not own:
        fault = nothing_found(text, was_cut(reply) or found.open_at is not None)
        return HopsReading(fault=fault.fault, detail=fault.detail)
    if len(own) > 1:
        return HopsReading(fault=Fault.AMBIGUOUS, detail="the reply holds two different verdicts")
    return _of_record(own[0], first, second)


def _of_record(record: Record, first: int, second: int) -> HopsReading:
    keys = [key.strip().casefold() for key, _ in record.pairs]
    values = dict(zip(keys, (value for _, value in record.pairs), strict=True))
    missing = [key for key in ("first", "second", "supported") if key not in values]
    if missing:
        return HopsReading(fault=Fault.MISSING, detail=f"no field {', '.join(missing)}")
    if any(keys.count(key) > 1 for key in ("first", "second", "supported")):
        return HopsReading(fault=Fault.AMBIGUOUS, detail="a field stands twice")
    ones, twos = _flags(values["first"], first), _flags(values["second"], second)
    supported = _flag(values["supported"])
    for name, read in (("first", ones), ("second", twos)):
        if isinstance(read, Faulty):
            return HopsReading(fault=read.fault, detail=f"{name}: {read.detail}")
    if supported is None:
        return HopsReading(fault=Fault.NOT_A_LEVEL, detail="'supported' is neither true nor false")
    assert not isinstance(ones, Faulty)
    assert not isinstance(twos, Faulty)
    return HopsReading(ones, twos, supported)


def _flags(node: Node, count: int) -> tuple[bool, ...] | Faulty:
    if not isinstance(node, Row):
        return Faulty(Fault.NOT_A_LEVEL, "not a list")
    flags = [_flag(entry) for entry in node.entries]
    if len(flags) != count:
        return Faulty(Fault.MISSING, f"{len(flags)} values for {count} relationships")
    known = tuple(flag for flag in flags if flag is not None)
    if len(known) != len(flags):
        return Faulty(Fault.NOT_A_LEVEL, "a value is neither true nor false")
    return known


def _flag(node: Node) -> bool | None:
    if not isinstance(node, (Text, Word)):
        return None
    said = node.text.strip().casefold()
    return True if said in _TRUE else False if said in _FALSE else None


@dataclass(frozen=True, slots=True)
class GptScore:
    """How likely a judge finds an answer; the fault where it gave no figure."""

    per_token: float  # mean natural log-probability of a token; NaN where tokens are not counted
    per_byte: float  # the same per UTF-8 byte, which judges with other tokens can be compared by
    fault: Fault | None = None
    detail: str = ""


def gpt_score_of(reply: Reply, answer: str, tokens: int | None) -> GptScore:
    """GPTScore (Fu et al., 2023, Eq. 1): the mean log-probability of the answer's tokens.

    Args:
        reply: to `prompts.judging.gpt_score`, with one log-probability summed over the tokens.
        answer: the text that was scored.
        tokens: how many tokens of the judge it has; None where that is not known.

    >>> gpt_score_of(Reply(log_probabilities=(-6.0,)), "Rest.", 3).per_token
    -2.0
    """
    if reply.finish is Finish.ERROR:
        return GptScore(math.nan, math.nan, Fault.ERROR, reply.error or "no reply could be had")
    summed = reply.log_probabilities[0] if reply.log_probabilities else math.nan
    size = len(answer.strip().encode("utf-8", "replace"))
    # A whole answer at probability 1 is what a server says that fills in figures it does not have.
    if not math.isfinite(summed) or summed >= 0 or not size:
        detail = f"the log-probability is {summed}, expected a number below 0"
        return GptScore(math.nan, math.nan, Fault.NOT_NUMERIC, detail)
    return GptScore(summed / tokens if tokens else math.nan, summed / size)
