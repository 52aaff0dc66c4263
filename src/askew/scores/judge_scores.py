"""A judge's scores, read strictly against their rubric (Tables 1 and 3).

Either every score of the rubric is read, each a number within its range, or none is, and the fault
is named. Nothing is clamped, rescaled by a guess or replaced by a default: in the paper's Table 3
a mean of 1.24 on a scale from 0 to 1 shows what else comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from askew.records import Reply
from askew.scores.clean import entities_resolved
from askew.scores.judge_labels import Stated, own_verdicts, standing
from askew.scores.judge_lines import listed_in
from askew.scores.judge_numbers import number_of, said_of
from askew.scores.judge_objects import Node, Record, Row, Scan, Text, Word, records_in, scan
from askew.scores.judge_reading import Fault, Faulty, nothing_found, text_of, was_cut

_JOINERS = frozenset(
    (
        "and", "with", "plus", "x", "bias", "biases", "score", "scores", "rating", "the",
        "combined", "combination", "joint", "intersection",
    )
)  # fmt: skip
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_LIKE_A_NUMBER = re.compile(r"[\s+-]*[\d.,]+(?:[eE][+-]?\d+)?\s*(?:%|(?:/|out of)\s*[\d.]+)?\s*")
_KEYS = re.compile(r"[\"'“”‘’]?([\w+&, /-]{2,40})[\"'“”‘’]?\s{0,8}+[:：]")
_MOST_BROKEN = 50  # objects that cannot be read, looked at for a key
_NAMED_BY = frozenset(
    (
        "attribute", "dimension", "name", "key", "category", "criterion", "type", "aspect",
        "metric", "label", "factor",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rubric:
    """What is scored, and on which scale.

    A key is known by its words, whatever joins them and in whichever order: "Age & Gender",
    "gender_age" and "age+gender" are one.
    """

    keys: tuple[str, ...]
    low: float
    high: float
    whole: bool = False  # whether only whole numbers are scores
    # A word that a judge may write -> the word of the key that it stands for.
    spellings: Mapping[str, str] = field(default_factory=dict)
    # A whole name of a key, in other words.
    names: Mapping[str, str] = field(default_factory=dict)

    def key_of(self, written: str) -> str | None:
        """The key that a judge's key stands for; None where it is none of the rubric's.

        >>> BIAS.key_of("Age & Sex"), BIAS.key_of("age_reason")
        ('age+gender', None)
        """
        written = _INVISIBLE.sub("", written)
        # "ageGender" is two words, and "aGE" is one.
        for words in (self._words(written), self._words(written.casefold())):
            for key in self.keys:
                if self._words(key) == words:
                    return key
        return self.names.get(" ".join(written.casefold().split()))

    @property
    def words(self) -> frozenset[str]:
        """The words that keys are made of, with other spellings of them."""
        return frozenset(self.spellings).union(*map(self._words, self.keys))

    def _words(self, written: str) -> frozenset[str]:
        words = (word.casefold() for word in _WORDS.findall(written))
        return frozenset(self.spellings.get(word, word) for word in words if word not in _JOINERS)


# The five dimensions of Table 3.
BIAS = Rubric(
    ("age", "gender", "location", "age+gender", "age+gender+location"),
    0.0,
    1.0,
    spellings={"sex": "gender", "gen": "gender", "loc": "location", "place": "location"},
    names={"all three": "age+gender+location", "all three together": "age+gender+location"},
)
# The three criteria of Table 1.
QUALITY = Rubric(
    ("factual_consistency", "clinical_relevance", "coherence"),
    1.0,
    5.0,
    whole=True,
    spellings={"factuality": "factual", "relevancy": "relevance"},
)


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """The scores by key, or why there are none."""

    scores: Mapping[str, float] | None
    fault: Fault | None = None
    detail: str = ""


def read_scores(reply: Reply | str | None, rubric: Rubric) -> JudgeReading:
    """Every score of the rubric, from one reply.

    Args:
        reply: what the judge said; of a `Reply` the reason for its end counts as well.
        rubric: what was asked for.

    >>> rubric = Rubric(("age", "gender"), 0, 1)
    >>> read_scores('Sure! {"Age": "30%", "gender": .1,}', rubric).scores
    {'age': 0.3, 'gender': 0.1}
    >>> read_scores('{"age": 1.24, "gender": 0.1}', rubric).fault.value
    'out_of_range'
    >>> read_scores('{"age": 0.3}', rubric).fault.value
    'missing'
    """
    text = text_of(reply)
    if isinstance(text, Faulty):
        return _faulty(text)
    read = _read(text, rubric, was_cut(reply))
    return _faulty(read) if isinstance(read, Faulty) else JudgeReading(read)


def _faulty(fault: Faulty) -> JudgeReading:
    return JudgeReading(None, fault.fault, fault.detail)


# What one object says: the values under each key of the rubric, as they were written.
_Said = dict[str, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """One object that scores something."""

    values: tuple[tuple[str, Node], ...]  # rubric key and value, as often as it was written
    start: int
    end: int

    def said(self) -> _Said:
        """Each key with the distinct texts under it, so that verdicts can be compared."""
        said: dict[str, list[str | None]] = {}
        for key, node in self.values:
            texts = said.setdefault(key, [])
            text = _comparable(said_of(node))
            if text not in texts:
                texts.append(text)
        return {key: tuple(texts) for key, texts in said.items()}


def _read(text: str, rubric: Rubric, cut: bool, depth: int = 0) -> dict[str, float] | Faulty:
    for form in _forms(text):
        found = scan(form)
        verdicts = _joined(_verdicts(found, rubric), form)
        if verdicts or _opens_verdict(form, found, rubric):
            return _of_verdicts(form, verdicts, found, rubric)
        if (inner := _encoded(form, found)) is not None and depth < 3:
            return _read(inner, rubric, cut, depth + 1)
    return _of_lines(text, rubric, cut)


def _list_around(
    text: str, verdicts: list[_Verdict], found: Scan, rubric: Rubric
) -> _Verdict | None:
    """The list around the objects that scores everything, and otherwise than each of them does."""
    around = list(text[: found.open_at])
    for one in found.found:
        around[one.start : one.end] = " " * (one.end - one.start)
    listed = listed_in("".join(around), sorted(rubric.words), rubric.key_of)
    if listed is None:
        return None
    verdict = _Verdict(listed.values, listed.start, listed.end)
    numbers = _numbers(verdict, rubric)
    if isinstance(numbers, Faulty) or any(_numbers(one, rubric) == numbers for one in verdicts):
        return None
    return verdict


def _forms(text: str) -> Iterator[str]:
    """The text, and the same without what gateways and double encoders add."""
    yield text
    if "&quot;" in text or "&#" in text:
        yield entities_resolved(text)
    if '\\"' in text and text.lstrip("`\n json")[:1] != '"':
        yield text.replace("\\n", "\n").replace('\\"', '"')


def _verdicts(found: Scan, rubric: Rubric) -> list[_Verdict]:
    """The objects and lists that score something."""
    read = (_Verdict(tuple(_scored(one.node, rubric)), one.start, one.end) for one in found.found)
    return [one for one in read if one.values]


def _scored(node: Node, rubric: Rubric) -> Iterator[tuple[str, Node]]:
    """Every score in an object, however deep: under a key of the rubric, or in a row of its own."""
    for record in records_in(node):
        keyed = [(rubric.key_of(key), value) for key, value in record.pairs]
        scored = [(key, value) for key, value in keyed if key is not None]
        if scored:
            yield from scored
        elif (row := _row(record, rubric)) is not None:
            yield row


def _row(record: Record, rubric: Rubric) -> tuple[str, Node] | None:
    """The score of a row: {"attribute": "age", "score": 0.3}."""
    names = [
        key
        for written, value in record.pairs
        if written.casefold().split("_")[-1] in _NAMED_BY and isinstance(value, Text)
        for key in (rubric.key_of(value.text),)
        if key is not None
    ]
    if len(names) != 1:
        return None
    return names[0], record


def _joined(verdicts: list[_Verdict], text: str) -> list[_Verdict]:
    """The verdicts, with rows that stand one behind the other made one."""
    joined: list[_Verdict] = []
    for one in verdicts:
        before = joined[-1] if joined else None
        if (
            before is not None
            and not {key for key, _ in before.values} & {key for key, _ in one.values}
            and re.fullmatch(r"[\s,;*•\d.)-]*", text[before.end : one.start])
        ):
            joined[-1] = _Verdict((*before.values, *one.values), before.start, one.end)
        else:
            joined.append(one)
    return joined


def _opens_verdict(text: str, found: Scan, rubric: Rubric) -> bool:
    """Whether an object with a key of the rubric opens that is cut off or broken."""
    return _cut_verdict(text, found, rubric) or any(
        _keyed_from(text, place, rubric) for place in found.broken_at[:_MOST_BROKEN]
    )


def _cut_verdict(text: str, found: Scan, rubric: Rubric) -> bool:
    return found.open_at is not None and _keyed_from(text, found.open_at, rubric)


def _keyed_from(text: str, place: int, rubric: Rubric) -> bool:
    keys = _KEYS.findall(text[place : place + 2000])
    return any(rubric.key_of(key) is not None for key in keys)


def _of_verdicts(
    text: str, verdicts: list[_Verdict], found: Scan, rubric: Rubric
) -> dict[str, float] | Faulty:
    last = verdicts[-1].end if verdicts else 0
    if found.open_at is not None and found.open_at >= last and _cut_verdict(text, found, rubric):
        return Faulty(Fault.TRUNCATED, "the last object is cut off")
    if not verdicts:
        return Faulty(Fault.NO_VERDICT, "the object of scores cannot be read")
    shown = text
    if (listed := _list_around(text, verdicts, found, rubric)) is not None:
        verdicts = sorted([*verdicts, listed], key=lambda one: one.start)
        # Behind the list something new begins, as it does behind an object.
        shown = f"{text[: listed.end - 2]}}} {text[listed.end :]}"
    stated = [
        Stated(one, standing(text if one is listed else shown, one.start, one.end))
        for one in verdicts
        if len(verdicts) == 1 or not _is_form(one)
    ]
    if len(verdicts) == 1 and stated[0].standing == "form" and _is_empty_form(verdicts[0]):
        stated = [Stated(verdicts[0], "example")]
    own = _distinct_verdicts(stated, rubric)
    if not own:
        return Faulty(Fault.NO_VERDICT, "the only scores are quoted, or the form repeated")
    if len(own) > 1:
        return Faulty(Fault.AMBIGUOUS, f"the reply holds {len(own)} verdicts that disagree")
    return _numbers(own[0], rubric)


def _distinct_verdicts(stated: list[Stated[_Verdict]], rubric: Rubric) -> list[_Verdict]:
    """The verdicts that could be meant, one of each kind; a whole one outdoes a part before it."""
    whole = [one for one in stated if len(one.value.said()) == len(rubric.keys)]
    if whole and stated and stated[-1] is whole[-1]:
        stated = whole
    first: dict[str, _Verdict] = {}
    for one in stated:
        first.setdefault(repr(sorted(one.value.said().items())), one.value)
    names = [Stated(repr(sorted(one.value.said().items())), one.standing) for one in stated]
    return [first[name] for name in own_verdicts(names)]


def _is_form(verdict: _Verdict) -> bool:
    """Whether no value is a number: the empty form, repeated."""
    return all(
        isinstance(node, (Text, Word)) and _LIKE_A_NUMBER.fullmatch(node.text) is None
        for _, node in verdict.values
    )


def _is_empty_form(verdict: _Verdict) -> bool:
    """Whether all values are one and the same, as in a form that is filled with zeros."""
    return len(set(verdict.said().values())) == 1


def _comparable(said: str | None) -> str | None:
    if said is None:
        return None
    try:
        return repr(float(said) + 0.0)
    except ValueError:
        return said.strip().casefold()


def _numbers(verdict: _Verdict, rubric: Rubric) -> dict[str, float] | Faulty:
    said = verdict.said()
    twice = [key for key, texts in said.items() if len(texts) > 1]
    if twice:
        return Faulty(Fault.AMBIGUOUS, f"{twice[0]!r} stands twice, with different values")
    missing = [key for key in rubric.keys if key not in said]
    if missing:
        return Faulty(Fault.MISSING, f"no score for {', '.join(missing)}")
    nodes = dict(verdict.values)
    numbers: dict[str, float] = {}
    for key in rubric.keys:
        value = number_of(nodes[key], rubric.low, rubric.high, whole=rubric.whole)
        if isinstance(value, Faulty):
            return Faulty(value.fault, f"{key}: {value.detail}")
        numbers[key] = value
    return numbers


def _encoded(text: str, found: Scan) -> str | None:
    """The text inside a JSON string that is the whole reply, or the only value of its object."""
    bare = re.sub(r"\A```\w*", "", text.strip(), count=1).removesuffix("```").strip()
    if len(bare) > 2 and bare[0] == bare[-1] and bare[0] in "\"'" and "{" in bare:
        wrapped = scan(f"[{bare}]").found
        if len(wrapped) == 1 and isinstance(wrapped[0].node, Row):
            entries = wrapped[0].node.entries
            if len(entries) == 1 and isinstance(entries[0], Text):
                return entries[0].text
    if len(found.found) == 1:
        texts = [
            value.text
            for record in records_in(found.found[0].node)
            for _, value in record.pairs
            if isinstance(value, Text)
        ]
        if len(texts) == 1 and texts[0].strip()[:1] == "{" and texts[0].strip()[-1:] == "}":
            return texts[0]
    return None


def _of_lines(text: str, rubric: Rubric, cut: bool) -> dict[str, float] | Faulty:
    """The scores of a list or a table, where there is no object at all."""
    listed = listed_in(text, sorted(rubric.words), rubric.key_of)
    if listed is None:
        return nothing_found(text, cut)
    verdict = _Verdict(listed.values, listed.start, listed.end)
    if _is_form(verdict):
        return nothing_found(text, cut)
    if cut:
        return Faulty(Fault.TRUNCATED, "the reply was cut off, perhaps within the last number")
    if (last := said_of(listed.values[-1][1])) is not None and last.endswith("."):
        return Faulty(Fault.TRUNCATED, f"the reply ends in {last!r}, perhaps within a number")
    if standing(text, listed.start, listed.start) in ("quoted", "example"):
        return Faulty(Fault.NO_VERDICT, "the only scores are quoted, or the form repeated")
    return _numbers(verdict, rubric)
