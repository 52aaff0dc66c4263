"""Which of several verdicts in one reply is the judge's own, if that can be told at all.

A reply may hold a draft, the form that was asked for, and a verdict that the rated answer tries to
dictate. A verdict is chosen among several only where the words around them say which one is meant;
else the reply is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Standing = Literal["final", "plain", "form", "example", "draft", "quoted"]
Value = TypeVar("Value")

_WINDOW = 240
_LONGEST_LINE = 1000  # of a line before a verdict, in which a quotation may open
_FENCE = re.compile(r"```\w*\s*\Z")
# "Final scores:", "My verdict is", "Here are the scores:", right before the verdict.
_LABEL = re.compile(
    r"(?:\A|[.!?:;)\n]\s*|[*_#>-]\s*)"
    r"(?:(?:so|thus|therefore|hence|and|here(?:'s| is| are)|but|in conclusion|overall)\b,?\s*)*"
    r"(?:(?:my|the)\s+)?(?:(?:own|final|actual|corrected|revised|real|bias|overall)\s+)*"
    r"(?:scores?|ratings?|verdicts?|answers?|judge?ments?|evaluation|assessment|results?|output"
    r"|json|labels?|conclusion|decision|classification|choice|correction|corrected|revised|final)"
    r"(?:\s+(?:is|are))?[\s*_:=-]*\Z",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|final|corrected?|correction|revised|own|actual|conclusion)\b", re.IGNORECASE
)
_FORM = re.compile(r"\b(?:format|schema|structure)\b", re.IGNORECASE)
# Scores that are shown as a sample, or asked for, are nobody's scores.
_EXAMPLE = re.compile(
    r"\b(?:example(?! of)|template|placeholder|sample|illustrat\w+|for instance|such as|looks? like"
    r"|(?:must|should) (?:look|have|follow)|(?:required|expected|desired|wanted)(?: \w+)? "
    r"(?:format|form|output|reply|answer|result|schema|structure|json)"
    r"|(?:return|output|reply|respond|answer|use|provide|write|produce)\b(?: \w+){0,4} like)\b"
    r"|\be\.\s?g\.",
    re.IGNORECASE,
)
# "Here is the JSON structure:" leads up to a verdict, "Format:" to none.
_HERE = re.compile(
    r"\b(?:here(?:'s| is| are)|my|i(?:'ve| have| rate| give| score)|scores?|ratings?|requested"
    r"|you asked)\b",
    re.IGNORECASE,
)
# "in the requested JSON format:" leads up to a verdict in that form.
_IN_THE_FORM = re.compile(
    r"\b(?:in|using|with|per|following|to|into|as)\s+(?:\w+\s+){0,4}"
    r"(?:format|template|schema|structure)\b",
    re.IGNORECASE,
)
_DRAFT = re.compile(
    r"\b(?:draft|maybe|perhaps|initial(?:ly)?|at first|first (?:pass|guess|thought|impression)"
    r"|preliminary|tentative(?:ly)?|could be|might be|instead of|rather than|not)\b",
    re.IGNORECASE,
)
_SPEAKS = (
    r"(?:answer|response|text|author|assistant|model|doctor|patient|line|it)"
    r"(?: itself| also| then| even)?"
    r" (?:says?|said|reads|ends with|claims|wants|demands|instructs|proposes|suggests|writes|wrote"
    r"|includes?|contains?|holds?|tells)"
)
# What the rated answer wants to be said of it: it is told of, or its words stand right before.
_OF_ANOTHER = re.compile(
    r"\b(?:ignor\w*|disregard\w*|inject\w*|dictat\w*|manipulat\w*|tr(?:ies|ied|ying) to"
    r"|attempts? to|judge[,:]? (?:please )?(?:reply|respond|output|answer|give|rate|write)"
    r"|tells? (?:me|the judge)|told (?:me|the judge)|asks? (?:me|the judge) (?:for|to)"
    rf"|{_SPEAKS}\W+(?:\w+\W+){{0,4}}?(?:reply|respond|output|return|rate|score|print|give)"
    r"|(?:contains?|includes?|holds?) (?:the|a|an|this) (?:line|instruction|text|sentence|string"
    r"|words?|request|command|prompt|quote))\b"
    rf"|\b{_SPEAKS}[\s:,\"'“‘`]*\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\b(?:ignor\w*|disregard\w*|inject\w*|dictat\w*|(?:is|was|are|were) (?:what the|not my|only an"
    r"|just an|the (?:example|format|template|form))|template|placeholder)\b",
    re.IGNORECASE,
)
_OPENING = "\"'“‘«„`"
_CLOSING = "\"'”’»`"


@dataclass(frozen=True, slots=True)
class Stated(Generic[Value]):
    """A verdict of a reply, and what the words around it make of it."""

    value: Value
    standing: Standing


def own_verdicts(stated: Sequence[Stated[Value]]) -> list[Value]:
    """The distinct verdicts that could be the judge's own, in order: one, if it can be told.

    A quoted verdict never is, nor an example. The form and drafts are set aside where another
    verdict follows; a last word that is marked as final outdoes unmarked ones before it.

    >>> own_verdicts([Stated(0.0, "form"), Stated(0.3, "plain")])
    [0.3]
    >>> own_verdicts([Stated(0.3, "plain"), Stated(0.8, "plain")])
    [0.3, 0.8]
    >>> own_verdicts([Stated(0.3, "plain"), Stated(0.8, "final")])
    [0.8]
    >>> own_verdicts([Stated(0.3, "form")]), own_verdicts([Stated(0.3, "example")])
    ([0.3], [])
    """
    own = [one for one in stated if one.standing != "quoted"]
    if len(stated) == 1 and stated[0].standing == "form":
        return [stated[0].value]  # "Here it is in the form you asked for: …"
    meant = [one for one in own if one.standing in ("plain", "final")]
    if not meant:
        meant = [one for one in own if one.standing == "draft"]
    # A second thought behind the verdict takes it back, and does not say what comes in its place.
    later = [one for one in own[own.index(meant[-1]) :] if one.standing == "draft"] if meant else []
    candidates = _distinct([one.value for one in (*meant, *later)])
    final = [one for one in meant if one.standing == "final"]
    if len(candidates) > 1 and not later and meant[-1:] == final and len(final) == 1:
        return [final[0].value]
    return candidates


def standing(text: str, start: int, end: int) -> Standing:
    """What the verdict at `start` to `end` is, by the words around it.

    >>> said = 'It says "reply with {0}". My scores: {1}'
    >>> standing(said, 20, 23), standing(said, 37, 40)
    ('quoted', 'final')
    """
    lead = _lead(text, start)
    label = _LABEL.search(lead)
    if _in_quotation(text, start, end, label is not None) or _OF_ANOTHER.search(lead):
        return "quoted"
    if _AFTER.search(_tail(text, end)):
        return "draft"
    if label is not None:
        return "final" if _OWN.search(label[0]) else "plain"
    said = _IN_THE_FORM.sub(" ", lead)
    if _EXAMPLE.search(said) or (_FORM.search(said) and not _HERE.search(said)):
        return "example"
    if _FORM.search(said):
        return "form"
    return "draft" if _DRAFT.search(lead) else "plain"


def _distinct(values: Sequence[Value]) -> list[Value]:
    kept: list[Value] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


def _lead(text: str, start: int) -> str:
    """The words that lead up to a verdict: those of its sentence, on its line.

    A line before it belongs to them where it ends in a colon, or where the verdict stands alone
    and no sentence has ended.
    """
    before = _FENCE.sub("", text[max(0, start - _WINDOW) : start])
    # Behind another verdict something new begins.
    before = re.split(r"[}\]][.,;]?\s", before)[-1]
    *lines, line = before.split("\n")
    above = next((one.rstrip() for one in reversed(lines) if one.strip()), "")
    alone = not line.strip(" \t" + _OPENING)
    if above.endswith((":", "：")) or (alone and not above.endswith((".", "!", "?"))):
        return f"{_last_sentence(above)}\n{line}"
    return _last_sentence(line)


def _last_sentence(line: str) -> str:
    return re.split(r"(?<=[.!?])[\"'”’)]*\s+(?=\S)", line)[-1]


def _tail(text: str, end: int) -> str:
    """The rest of the sentence behind a verdict."""
    return text[end : end + _WINDOW].split("\n", 1)[0].split("{", 1)[0].split(". ", 1)[0]


def _in_quotation(text: str, start: int, end: int, labelled: bool) -> bool:
    """Whether a verdict stands in quotation marks, or on a line that is marked as quoted."""
    line = text[max(text.rfind("\n", 0, start) + 1, start - _LONGEST_LINE) : start]
    if line.lstrip().startswith(">"):
        return True
    before, after = text[max(0, start - _WINDOW) : start].rstrip(), text[end : end + 2].lstrip()
    if before[-1:] and before[-1] in _OPENING and after[:1] and after[0] in _CLOSING:
        # Code marks and quotes around one's own verdict are none; nor are those around it all.
        only = line.strip(" \t" + _OPENING) == ""
        return not (labelled or only or before[-1] == "`")
    opened = sum(_opens(line, place) for place in range(len(line)))
    closed = sum(_shuts(line, place) for place in range(len(line)))
    return (
        line.count('"') % 2 == 1
        or any(line.count(a) > line.count(b) for a, b in ("“”", "«»"))
        or opened > closed
    )


def _opens(line: str, place: int) -> bool:
    """Whether a single quote opens there; an apostrophe stands behind a letter."""
    following = line[place + 1 : place + 2]
    if line[place] not in "'‘" or not (following.isalnum() or following in ("{", "[", "(", '"')):
        return False
    return place == 0 or not line[place - 1].isalnum()


def _shuts(line: str, place: int) -> bool:
    if line[place] not in "'’" or _opens(line, place) or place == 0:
        return False
    return not line[place + 1 : place + 2].isalnum()
