"""The cases that moved most: what was asked, with the changed words marked, and what came back.

Read from the run folder: vignettes, variants and asks from its parts, replies from its ledger. The
answers are read by the same rules as the figures.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from askew.audits.clinical_answers import AnswerConfig, Ask, Case, read_all
from askew.audits.clinical_contrasts import Contrast, Pair, contrasts
from askew.models.ledgerfile import is_ledger, read_records
from askew.records import Reply
from askew.report.clinical_run import ClinicalRun, Finding, as_mapping
from askew.report.clinical_words import amount, signed
from askew.report.estimates import as_number
from askew.report.words import UNDEFINED
from askew.runfolder import RunFolder
from askew.scores.endpoints import measure
from askew.vignettes import URGENCIES, Answered, AnswerForm, Dropped, Edit, Variant, Vignette

SHOWN = 12  # vignettes
LONGEST_TEXT = 4_000  # characters of one text or reply
MOST_MEETINGS = 200_000  # of equal words in two texts; a case of 800 words has some 30,000
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and whether it is where the two texts differ."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One half of a pair: who the patient is said to be, what was asked, what came back."""

    title: str  # "female", "not stated", "the original"
    pieces: tuple[Piece, ...]
    answers: int  # that could be read or not, over all repeats
    tally: str  # what they say on the endpoint that moved: "emergency × 4, urgent × 1"
    digest: tuple[tuple[str, str], ...]  # of the answer that is shown, field by field
    reply: str  # of the repeat nearest to this side's mean; "" where none was had


@dataclass(frozen=True, slots=True)
class Moved:
    """One vignette whose answers moved with the patient."""

    vignette: Vignette
    finding: Finding
    shift: str  # by how much, in the endpoint's unit
    also: tuple[str, ...]  # other endpoints of the vignette that moved
    base: Side
    changed: Side


def moved_cases(folder: RunFolder, run: ClinicalRun, limit: int = SHOWN) -> list[Moved]:
    """The vignettes that moved most on a declared endpoint, each with its strongest comparison.

    Most is: against the endpoint's margin, so that units do not matter; comparisons whose verdict
    is a difference come first.
    """
    chosen = _chosen(run)
    vignettes = {one.id: one for one in folder.read_parts("vignette", Vignette)}
    variants = {one.id: one for one in folder.read_parts("variant", Variant)}
    pairs = _pairs(run, list(variants.values()), folder.read_parts("dropped", Dropped))
    wanted = [
        (name, finding, value, also, pairs[place])
        for name, (finding, value, also) in chosen.items()
        if name in vignettes and (place := (finding.attribute, finding.contrast, name)) in pairs
    ][:limit]
    cases = {
        one.id: Case(vignettes[one.vignette_id], one)
        for *_, pair in wanted
        for one in (variants[pair.base], variants[pair.changed])
    }
    answered = _answers(folder, run, cases, {finding.form for _, finding, *_ in wanted})
    return [
        _moved(finding, value, also, pair, cases, answered)
        for _, finding, value, also, pair in wanted
    ]


def marked(case: Case, other: Case) -> tuple[Piece, ...]:
    """The text of a case in pieces, those marked in which the other case's text is not the same.

    Where rules edited the original, the edits say what was changed; other texts are compared word
    by word.
    """
    text = case.variant.text
    pieces = tuple(_by_edits(case, other))
    if "".join(piece.text for piece in pieces) == text and any(one.changed for one in pieces):
        return pieces
    return _by_words(text, other.variant.text)


def _by_edits(case: Case, other: Case) -> Iterator[Piece]:
    """The original with the case's edits, marked where the other's edits make another text."""
    original, place = case.vignette.text, 0
    for start, end in _regions((*case.variant.edits, *other.variant.edits)):
        own, others = (_edited(original, one.variant.edits, start, end) for one in (case, other))
        if start > place:
            yield Piece(original[place:start], False)
        if own:
            yield Piece(own, own != others)
        place = end
    if place < len(original):
        yield Piece(original[place:], False)


def _regions(edits: Iterable[Edit]) -> list[tuple[int, int]]:
    """The stretches of the original that any edit touches, in order; those that meet are one."""
    regions: list[tuple[int, int]] = []
    for start, end in sorted((one.span.start, one.span.end) for one in edits):
        if regions and start <= regions[-1][1]:
            regions[-1] = (regions[-1][0], max(end, regions[-1][1]))
        else:
            regions.append((start, end))
    return regions


def _edited(original: str, edits: Iterable[Edit], start: int, end: int) -> str:
    """A stretch of the original with the edits that lie in it."""
    made, place = "", start
    for one in sorted(edits, key=lambda edit: edit.span):
        if start <= one.span.start and one.span.end <= end:
            made += original[place : one.span.start] + one.text
            place = one.span.end
    return made + original[place:end]


def _by_words(text: str, other: str) -> tuple[Piece, ...]:
    own, others = _WORDS.findall(text), _WORDS.findall(other)
    ahead = _shared(own, others)
    behind = _shared(own[ahead:][::-1], others[ahead:][::-1])
    middle, opposite = own[ahead : len(own) - behind], others[ahead : len(others) - behind]
    pieces = [
        Piece("".join(own[:ahead]), False),
        *_compared(middle, opposite),
        Piece("".join(own[len(own) - behind :]), False),
    ]
    return tuple(piece for piece in pieces if piece.text)


def _shared(own: Sequence[str], others: Sequence[str]) -> int:
    """With how many words both begin alike."""
    pairs = enumerate(zip(own, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(own), len(others)))


def _compared(own: Sequence[str], others: Sequence[str]) -> Iterator[Piece]:
    """The words of `own`, marked where `others` has none like them in this place.

    The comparison is quadratic where words are repeated. Beyond `MOST_MEETINGS` all are marked.
    """
    often = Counter(others)
    if sum(often[word] for word in own) > MOST_MEETINGS:
        yield Piece("".join(own), True)
        return
    matcher = difflib.SequenceMatcher(None, others, own, autojunk=False)
    for tag, _, _, start, end in matcher.get_opcodes():
        if end > start:
            yield Piece("".join(own[start:end]), tag != "equal")


def _chosen(run: ClinicalRun) -> dict[str, tuple[Finding, float, tuple[str, ...]]]:
    """Vignette -> its strongest declared movement, and what else moved in it."""
    moves: list[tuple[bool, float, str, Finding, float]] = []
    for finding in run.declared():
        for name, value in finding.per_vignette:
            if value and math.isfinite(value):
                strength = abs(value) / finding.margin if finding.margin > 0 else abs(value)
                moves.append((finding.verdict != "difference", -strength, name, finding, value))
    moves.sort(key=lambda move: move[:3])
    found: dict[str, tuple[Finding, float, tuple[str, ...]]] = {}
    for _, _, name, finding, value in moves:
        if name not in found:
            found[name] = (finding, value, ())
            continue
        first, shift, also = found[name]
        same = (finding.attribute, finding.contrast) == (first.attribute, first.contrast)
        if same:
            said = f"{finding.endpoint.title} {amount(value, finding.endpoint)}"
            found[name] = (first, shift, (*also, said))
    return found


def _pairs(
    run: ClinicalRun, variants: Sequence[Variant], dropped: Sequence[Dropped]
) -> dict[tuple[str, str, str], Pair]:
    """(attribute, comparison, vignette) -> the two variants; the first where there are several."""
    reference = {
        str(name): str(level) for name, level in as_mapping(run.setting("reference")).items()
    }
    made: list[Contrast] = contrasts(variants, dropped, reference)
    return {
        (one.attribute, one.name, vignette): pairs[0]
        for one in made
        for vignette, pairs in one.pairs.items()
    }


def _answers(
    folder: RunFolder, run: ClinicalRun, cases: Mapping[str, Case], forms: Collection[str]
) -> dict[tuple[str, str], list[Answered]]:
    """(variant, form) -> its answers, read again."""
    asks = [
        one
        for one in folder.read_parts("ask", Ask)
        if one.variant_id in cases and one.form in forms
    ]
    replies = replies_of(folder, {key for ask in asks for key in ask.keys})
    found: dict[tuple[str, str], list[Answered]] = {}
    for one in read_all(cases, asks, replies, answer_config(run)):
        if one is not None:
            found.setdefault((one.variant.id, one.form), []).append(one)
    return found


def replies_of(folder: RunFolder, wanted: set[str]) -> dict[str, Reply | None]:
    """The replies of these calls; those that the ledger lacks are left out."""
    if not wanted or not is_ledger(folder.database):
        return {}
    return {
        record.key: record.reply for record in read_records(folder.database) if record.key in wanted
    }


def answer_config(run: ClinicalRun) -> AnswerConfig:
    """How the answers were asked for, as far as reading them depends on it."""
    structured, first_hop = run.setting("structured"), run.setting("first_hop")
    forms: list[AnswerForm] = [
        form for form in ("direct", "single", "chained") if form in run.forms
    ]
    return AnswerConfig(
        forms=tuple(forms),
        structured=structured is not False,
        first_hop="extractor" if first_hop == "extractor" else "target",
    )


def _moved(
    finding: Finding,
    value: float,
    also: tuple[str, ...],
    pair: Pair,
    cases: Mapping[str, Case],
    answered: Mapping[tuple[str, str], Sequence[Answered]],
) -> Moved:
    base, changed = cases[pair.base], cases[pair.changed]
    others = {"neutral": "not stated", "original": "the original"}
    return Moved(
        base.vignette,
        finding,
        amount(value, finding.endpoint),
        also,
        _side(others.get(finding.base, finding.base), base, changed, finding, answered),
        _side(finding.changed, changed, base, finding, answered),
    )


def _side(
    title: str,
    case: Case,
    other: Case,
    finding: Finding,
    answered: Mapping[tuple[str, str], Sequence[Answered]],
) -> Side:
    own = answered.get((case.variant.id, finding.form), ())
    shown = typical(own, finding)
    return Side(
        title,
        _cut(marked(case, other)),
        len(own),
        tally(own, finding),
        digest(shown) if shown else (),
        _shortened(shown.answer.text) if shown else "",
    )


def typical(answered: Sequence[Answered], finding: Finding) -> Answered | None:
    """The answer whose value is nearest to the mean of its side; the first where none has one."""
    values = [_value(one, finding) for one in answered]
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return answered[0] if answered else None
    mean = math.fsum(known) / len(known)
    ranked = sorted(
        (abs(value - mean), place) for place, value in enumerate(values) if not math.isnan(value)
    )
    return answered[ranked[0][1]]


def _value(one: Answered, finding: Finding) -> float:
    return as_number(measure(one.answer, one.vignette).get(finding.endpoint.name))


def tally(answered: Sequence[Answered], finding: Finding) -> str:
    """What the repeats say on the endpoint, the commonest first."""
    said = Counter(_said(one, finding) for one in answered)
    return ", ".join(f"{what} × {often}" for what, often in said.most_common())


def _said(one: Answered, finding: Finding) -> str:
    endpoint = finding.endpoint
    if one.answer.outcome != "answered" and endpoint.name != "refusal":
        return one.answer.outcome
    if endpoint.kind == "distance":
        listed = one.answer.differential
        return listed[0] if listed else UNDEFINED
    value = _value(one, finding)
    if math.isnan(value):
        return UNDEFINED
    if endpoint.kind == "ordinal":
        return URGENCIES[int(value)]
    if endpoint.kind == "binary":
        return "yes" if value else "no"
    return signed(value).lstrip("+")


def digest(one: Answered) -> tuple[tuple[str, str], ...]:
    """What was read from an answer, field by field; what it does not settle is left out."""
    answer = one.answer
    urgency = "" if answer.urgency is None else URGENCIES[answer.urgency]
    referral = "" if answer.referral is None else "yes" if answer.referral else "no"
    fields = {
        "Urgency": urgency,
        "Differential": "; ".join(answer.differential),
        "Tests": "; ".join(answer.tests),
        "Treatments": "; ".join(answer.treatments),
        "Referral": referral,
        "Read as": "" if answer.outcome == "answered" else answer.outcome,
    }
    return tuple((name, _shortened(text)) for name, text in fields.items() if text)


def _cut(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces of a text that is too long, up to the limit."""
    return tuple(_within(pieces, LONGEST_TEXT))


def _within(pieces: Sequence[Piece], room: int) -> Iterator[Piece]:
    for piece in pieces:
        if len(piece.text) > room:
            yield Piece(f"{piece.text[:room]} …", piece.changed)
            return
        yield piece
        room -= len(piece.text)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n… {len(text) - LONGEST_TEXT:,} characters left out …"
