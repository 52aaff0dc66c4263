"""What comes of reading a judge's reply: a value, or the fault for which there is none.

A fault is never turned into a number. It is counted, the judge is asked again, and the figures say
how many replies they do without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from askew.models.reasoning import split_reasoning
from askew.records import Finish, Reply
from askew.scores.judge_objects import records_in, scan
from askew.scores.reading import LONGEST_ANSWER
from askew.scores.refusals import is_refusal, is_reluctance


class Fault(StrEnum):
    """Why a judge's reply gives no verdict."""

    EMPTY = "empty"
    REFUSED = "refused"
    NO_VERDICT = "no_verdict"  # nothing in it has the form that was asked for
    MISSING = "missing"  # a part of what was asked for
    NOT_NUMERIC = "not_numeric"  # a word, a range, null, NaN, true
    NOT_A_LEVEL = "not_a_level"  # a word that none of the named levels is
    NOT_WHOLE = "not_whole"  # 3.5 where whole numbers are asked for
    OUT_OF_RANGE = "out_of_range"
    AMBIGUOUS = "ambiguous"  # two verdicts that disagree
    NOT_QUOTED = "not_quoted"  # the sentence that it quotes is not in the answer
    DICTATED = "dictated"  # a judged text holds this very verdict, and the mark is not there
    TRUNCATED = "truncated"
    BLOCKED = "blocked"
    ERROR = "error"
    NOT_ASKED = "not_asked"  # budget, interrupt, or a judge that cannot be asked this


# These are not the judge's: they are left out of its invalid rate, and show in the coverage.
SERVER_FAULTS = frozenset({Fault.BLOCKED, Fault.ERROR, Fault.NOT_ASKED})


@dataclass(frozen=True, slots=True)
class Faulty:
    """A reply that gives no verdict."""

    fault: Fault
    detail: str


# Judges that were told to think in sections of their own; the common tags of reasoning models are
# known to `models.reasoning`.
_SECTION = re.compile(
    r"<(?P<name>analysis|reflection|draft|rationale|plan|notes?|critique|inner_monologue"
    r"|chain_of_thought|cot)>(?:.*?</(?P=name)>|.*\Z)",
    re.DOTALL | re.IGNORECASE,
)
# A proxy's error page: whatever is in it, the judge did not say it.
_PAGE = re.compile(
    r"[\s\ufeff]*(?:<\?xml\b[^>]{0,200}\?>\s*)?<(?:!doctype\s+html|html|head|body|error)\b",
    re.IGNORECASE,
)
_TAG_OPENS = re.compile(
    r"[<\[◁](?=/?(?:\|?(?:seed:)?think|thought|reasoning|scratchpad|unused9))", re.I
)
_MASK = {"<": "\ue000", "[": "\ue001", "◁": "\ue002"}
_UNMASK = str.maketrans({mask: sign for sign, mask in _MASK.items()})


def text_of(reply: Reply | str | None) -> str | Faulty:
    """What a judge said, without its reasoning; or why there is nothing to be read.

    >>> text_of("<think>Maybe 0.9?</think> 0.3")
    '0.3'
    >>> text_of("  ").fault.value
    'empty'
    """
    if isinstance(reply, Reply):
        if fault := _of_server(reply):
            return fault
        text = reply.text
    else:
        text = reply
    if text is None or not text.strip():
        if isinstance(reply, Reply) and reply.finish is Finish.LENGTH:
            return Faulty(Fault.TRUNCATED, "the reply was cut off before its answer began")
        return Faulty(Fault.EMPTY, "the reply holds no text")
    if _PAGE.match(text):
        return Faulty(Fault.NO_VERDICT, "a web page came in place of a reply")
    answer = split_reasoning(_masked(text)).answer
    if answer is None:
        return Faulty(Fault.TRUNCATED, "the reply ended inside its reasoning")
    answer = _SECTION.sub(" ", answer).translate(_UNMASK).strip("\ufeff \t\r\n")
    if not answer:
        return Faulty(Fault.EMPTY, "the reply holds nothing besides its reasoning")
    if len(answer) > LONGEST_ANSWER:
        return Faulty(Fault.NO_VERDICT, f"the reply is longer than {LONGEST_ANSWER:,} characters")
    return answer


def nothing_found(text: str, cut_off: bool) -> Faulty:
    """The fault of a reply in which no verdict was found."""
    if is_refusal(text) or is_reluctance(text) or _DECLINES.search(text):
        return Faulty(Fault.REFUSED, "the judge declines")
    if cut_off:
        return Faulty(Fault.TRUNCATED, "the reply was cut off before a verdict was complete")
    return Faulty(Fault.NO_VERDICT, "the reply holds nothing of the form that was asked for")


# "I can't rate medical content": rating is what judges decline, and no option is chosen here.
_DECLINES = re.compile(
    r"\b(?:can(?:no|')t|cannot|can not|won't|will not|unable to|not able to|refuse to|decline to)"
    r"\s(?:\w+\s){0,2}?(?:rate|score|judge|assess|evaluate|grade|rank|compare|help|assist)",
    re.IGNORECASE,
)


def was_cut(reply: Reply | str | None) -> bool:
    """Whether the server says that the token limit ended the reply."""
    return isinstance(reply, Reply) and reply.finish is Finish.LENGTH


def _of_server(reply: Reply) -> Faulty | None:
    if reply.finish is Finish.ERROR:
        return Faulty(Fault.ERROR, reply.error or "no reply could be had")
    if reply.finish is Finish.BLOCKED:
        return Faulty(Fault.BLOCKED, "a content filter stopped the prompt or the reply")
    if reply.finish is Finish.REFUSAL:
        return Faulty(Fault.REFUSED, "the server's own refusal")
    return None


def _masked(text: str) -> str:
    """The text with tags inside the objects' strings hidden from whoever cuts out reasoning.

    An object that is no JSON to the letter may hold "<think>" in a string as well.
    """
    if _TAG_OPENS.search(text) is None:
        return text
    signs = list(text)
    for found in scan(text).found:
        if not any(True for _ in records_in(found.node)):
            continue  # "[THINK]" is itself a list of one word
        for tag in _TAG_OPENS.finditer(text, found.start, found.end):
            signs[tag.start()] = _MASK[tag[0]]
    return "".join(signs)
