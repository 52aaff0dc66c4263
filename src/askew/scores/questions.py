"""What the Generator and the Attacker wrote: one question, or variants with their levels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from askew.models.reasoning import split_reasoning
from askew.records import Finish, Reply
from askew.scores.clean import own_turn, unescaped
from askew.scores.loose_json import loose_objects

LONGEST_QUESTION = 4_000  # characters
_LONGEST_REPLY = 50_000
_FENCE = re.compile(r"```[\w-]{0,20}[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_LEAD = re.compile(
    r"\A(?:(?:sure|certainly|of course|okay|ok|absolutely|great)\b[^\n?]{0,80}?[!,.:]\s*)?"
    r"(?:[^\n?]{0,80}\b(?:question|here it is|version|prompt|output)"
    r"\b[^\n?:]{0,40}:\s*|\**(?:question|q)\**\s*:\s*)",
    re.IGNORECASE,
)
_MARK = re.compile(r"[?？؟]")
_ENDS_ASKING = re.compile(r"[?？؟][\s\"'”’»*_`)]*\Z")
_ITEM = re.compile(
    r"^\s*(?:[-*•]\s+)?(?:\**\(?(?:variant|version|question|q)?\s?#?\d{1,2}[.):]\)?\**)\s*",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTES = ('""', "“”", "''", "«»", "**", "__", "``")
_QUESTION_KEYS = (
    "question", "changed_question", "modified_question", "perturbed_question", "variant", "text",
    "version", "prompt",
)  # fmt: skip
_LEVEL_KEYS = {
    "age": "age", "age_band": "age", "age_range": "age", "age_group": "age", "ages": "age",
    "gender": "gender", "sex": "gender", "genders": "gender",
    "place": "place", "location": "place", "lives_in": "place", "residence": "place",
    "city": "place", "country": "place", "places": "place",
}  # fmt: skip
_PLACEHOLDER = re.compile(r"\.{2,}|…|<[^>]*>|\[[^\]]*\]|\{[^}]*\}")
# "[age]", "{age}", "<location>", "[unknown]": what was to be filled in and was not.
_GAP = re.compile(
    r"[\[{<](?:age|gender|sex|symptoms?|location|place|city|country|name|insert [^\]}>]{0,60}"
    r"|your [^\]}>]{0,60}|unknown|unspecified|not (?:stated|specified|known|given|provided)|n/a)"
    r"[\]}>]",
    re.IGNORECASE,
)
# What a model asks of its user, and not of the patient.
_OF_THE_USER = re.compile(
    r"\b(?:would you like|do you want|shall i|should i (?:write|make|add|create)|can i help"
    r"|is there anything|let me know|does this (?:work|help|meet)|anything else|another version)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^[\s*_-]{0,8}(?:\d{1,2}[.)]\s{1,4})?[*_]{0,2}(?P<key>[A-Za-z][A-Za-z _]{1,30}?)"
    r"\**\s*[:=]\s*\**\s*(?P<value>\S.*?)\s*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class GeneratedVariant:
    """One question of the Attacker, with the levels that it says it has set."""

    text: str
    levels: Mapping[str, str]  # "age", "gender", "place" -> level, as worded


def read_question(reply: Reply) -> str | None:
    r"""The one question in the Generator's reply; None where there is none, or more than one.

    The question may run over several sentences and has to end by asking. Lead-ins, quotes, fences
    and remarks after it are taken off.

    >>> read_question(Reply('Sure! Here is the question:\n"A patient has a cough. Why?"'))
    'A patient has a cough. Why?'
    >>> read_question(Reply("A patient has a cough.")) is None
    True
    """
    text = _reply_text(reply)
    if text is None:
        return None
    found = [
        value for one in loose_objects(text) if (value := _question_of(one.fields)) is not None
    ]
    if found:
        return _whole(found[0]) if len(set(found)) == 1 else None
    fences = _FENCE.findall(text)
    if len(fences) == 1 and fences[0].strip():
        text = fences[0].strip()
    items = [part for part in _ITEM.split(text) if _MARK.search(part)]
    if len(items) > 1:
        return None
    return _whole(_asking_part(_ITEM.sub("", text, count=1) if items else text))


def read_variants(reply: Reply, n: int) -> list[GeneratedVariant]:
    """The variants in the Attacker's reply that are whole, at most n, never filled up to n.

    A variant needs a question and at least one named level. Repeats of a text, unfilled
    placeholders and what a token limit cut off are left out: fewer than n come back, and the
    caller counts them.

    Args:
        reply: a JSON list of objects, or blocks of "age: …", "gender: …", "question: …".
        n: how many were asked for.

    >>> [one] = read_variants(Reply('[{"sex": "female", "question": "A woman coughs. Why?"}]'), 4)
    >>> one.text, one.levels
    ('A woman coughs. Why?', {'gender': 'female'})
    """
    text = _reply_text(reply)
    if text is None:
        return []
    found = _json_variants(text) or _labelled_variants(text, cut=reply.finish is Finish.LENGTH)
    first: dict[str, GeneratedVariant] = {}
    for variant in found:
        first.setdefault(" ".join(variant.text.casefold().split()), variant)
    return list(first.values())[:n]


def _reply_text(reply: Reply) -> str | None:
    if reply.finish in (Finish.ERROR, Finish.BLOCKED, Finish.REFUSAL):
        return None
    answer = split_reasoning((reply.text or "")[:_LONGEST_REPLY]).answer
    text = own_turn(unescaped(answer or "")).strip()
    return text or None


def _json_variants(text: str) -> list[GeneratedVariant]:
    records: list[Mapping[str, object]] = []
    for one in loose_objects(text):
        nested = [value for value in one.fields.values() if isinstance(value, list)]
        inner = [entry for entries in nested for entry in entries if isinstance(entry, dict)]
        if inner:
            records += inner
        elif one.state == "whole":
            records.append(one.fields)
    return [variant for record in records if (variant := _variant(record)) is not None]


def _variant(record: Mapping[str, object]) -> GeneratedVariant | None:
    question = _question_of(record)
    whole = _whole(question) if question is not None else None
    levels = _levels(record)
    return GeneratedVariant(whole, levels) if whole is not None and levels else None


def _levels(record: Mapping[str, object]) -> dict[str, str]:
    levels: dict[str, str] = {}
    nested = [value for value in record.values() if isinstance(value, dict)]
    for source in (record, *nested):
        for key, value in source.items():
            name = _LEVEL_KEYS.get(str(key).strip().casefold().replace(" ", "_"))
            stated = str(value).strip() if isinstance(value, str | int) else ""
            if name and stated and not _PLACEHOLDER.search(stated):
                levels.setdefault(name, stated)
    return levels


def _labelled_variants(text: str, *, cut: bool) -> list[GeneratedVariant]:
    """Blocks of labelled lines; a new block begins where a label comes again."""
    blocks: list[dict[str, object]] = [{}]
    last_end = 0
    for line in _LABELLED.finditer(text):
        key = re.sub(
            r"^(?:changed|modified|new)_", "", line["key"].strip().casefold().replace(" ", "_")
        )
        if key in blocks[-1]:
            blocks.append({})
        blocks[-1][key] = line["value"].strip("*_ ")
        last_end = line.end()
    if cut and last_end == len(text):
        blocks.pop()
    return [variant for block in blocks if (variant := _variant(block)) is not None]


def _question_of(record: Mapping[str, object]) -> str | None:
    folded = {str(key).strip().casefold().replace(" ", "_"): value for key, value in record.items()}
    for key in _QUESTION_KEYS:
        if isinstance(folded.get(key), str):
            return str(folded[key])
    return None


def _asking_part(text: str) -> str:
    """The text from its lead-in to its last paragraph that asks."""
    text = _LEAD.sub("", text, count=1).strip()
    paragraphs = re.split(r"\n\s*\n", text)
    asking = [
        place
        for place, one in enumerate(paragraphs)
        if _MARK.search(one) and not _OF_THE_USER.search(one)
    ]
    if not asking:
        return text
    # What follows the question in its own paragraph's lines is a remark on it.
    kept = "\n\n".join(paragraphs[: asking[-1] + 1]).split("\n")
    while kept and not _MARK.search(kept[-1]):
        kept.pop()
    return "\n".join(kept)


def _whole(text: str) -> str | None:
    """The question without the quotes around it; None if it is none, or has gaps left to fill."""
    text = text.strip()
    while len(text) > 1 and any(
        text.startswith(pair[0]) and text.endswith(pair[1]) and pair[0] not in text[1:-1]
        for pair in _QUOTES
    ):
        text = text[1:-1].strip()
    text = text.removeprefix("**").removesuffix("**").strip()
    if not text or len(text) > LONGEST_QUESTION or not _ENDS_ASKING.search(text):
        return None
    if _GAP.search(text):
        return None
    words = re.findall(r"\w+", text)
    return text if len(words) >= 4 else None
