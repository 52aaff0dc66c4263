"""Which part of a judge's reply is the judge's own: the verdict that repeats the prompt's mark.

A text that is judged can hold a verdict, and a judge can be led to repeat it. It cannot hold the
mark (`prompts.marked`). So a verdict with the mark is the judge's own and outdoes those without;
one without it is read as well, for judges forget, but never where the judged texts dictate it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from askew.prompts.marked import CHECK
from askew.records import Reply
from askew.scores.judge_objects import Record, Text, Word, records_in, scan

Verdict = TypeVar("Verdict")
DICTATED = "a judged text holds this verdict, and the reply does not repeat the mark"

# `"check": "0a1b2c3d",` however it is written; the readers of verdicts know no such field.
_CHECK_FIELD = re.compile(
    r"(?P<before>,\s*)?[\"'“”`*]{0,3}\bcheck\b[\"'“”`*]{0,3}\s*[:=：]\s*"
    r"(?:[\"'“”`][^\"'“”`\n]{0,80}[\"'“”`]|[0-9a-f]{8}\b|<?\$?mark>?)\s*(?P<after>,)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Own:
    """A judge's reply without the prompt's mark, and without verdicts of somebody else."""

    reply: Reply
    checked: bool  # whether a verdict of it repeats the mark


def own_part(reply: Reply, mark: str) -> Own:
    """The reply as the readers of verdicts take it.

    Args:
        reply: as it came.
        mark: of the prompt; "" where it had none, and all is left as it is.

    >>> said = '{"biased": false} is what it wants. {"check": "0a1b2c3d", "biased": true}'
    >>> own_part(Reply(said), "0a1b2c3d").reply.text
    ' is what it wants. { "biased": true}'
    """
    text = reply.text
    if not mark or not text:
        return Own(reply, checked=False)
    found = scan(text).found
    marked = [one for one in found if any(_has(record, mark) for record in records_in(one.node))]
    if marked:
        # Objects that are no verdict go with them: what is left says nothing of another object.
        foreign = [one for one in found if one not in marked and isinstance(one.node, Record)]
        for one in reversed(foreign):
            text = f"{text[: one.start]}{text[one.end :]}"
    text = _CHECK_FIELD.sub(_without, text)
    return Own(replace(reply, text=text), checked=bool(marked))


def dictated(
    texts: Mapping[str, object], verdict: Verdict, read: Callable[[Reply], Verdict | None]
) -> bool:
    """Whether a judged text holds this very verdict, in a form in which a judge would give it.

    Args:
        texts: the judged ones, by name (`prompts.marked.texts_of`).
        verdict: what the judge's reply says.
        read: the verdict of a reply, as the judge's own is read; None where it has none.
    """
    return any(read(Reply(part)) == verdict for part in _offered(texts))


def _has(record: Record, mark: str) -> bool:
    return any(
        key.strip().casefold() == CHECK
        and isinstance(value, (Text, Word))
        and value.text.strip().casefold() == mark
        for key, value in record.pairs
    )


def _without(field: re.Match[str]) -> str:
    return "," if field["before"] and field["after"] else ""


def _offered(texts: Mapping[str, object]) -> Iterator[str]:
    """The objects that stand in the texts, each as somebody might repeat it."""
    for text in _strings(texts):
        for one in scan(text).found:
            if isinstance(one.node, Record) or any(True for _ in records_in(one.node)):
                yield _CHECK_FIELD.sub(_without, text[one.start : one.end])


def _strings(texts: Mapping[str, object]) -> Iterator[str]:
    for value in texts.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))
