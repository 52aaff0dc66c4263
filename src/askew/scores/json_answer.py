"""The value under an answer key of a JSON object or Python dict inside a reply."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping

_ANSWER_KEYS = (
    "final_answer", "answer", "choice", "option", "selected_option", "selected", "selection",
    "correct_answer", "correct_option", "correct", "letter", "label", "prediction", "response",
    "result", "output", "final", "antwort", "réponse", "reponse", "respuesta", "risposta",
    "resposta", "ответ", "答案", "答え", "정답",
)  # fmt: skip
_MOST_OBJECTS = 16
_LONGEST_DICT = 4000
_NO_TEXT = "-"
_DECODER = json.JSONDecoder(strict=False)  # line breaks inside strings are common


def json_answer(text: str) -> str | None:
    """The value of the last object that has an answer key; None if no object has one.

    A value that is no text (null, a number) comes back as "-": an answer was formed, and is empty.
    {"A": false, "B": true} is the answer "b".

    >>> json_answer('{"reasoning": "A is tempting", "answer": "C"}')
    'C'
    >>> json_answer("{'choice': 'B'}"), json_answer("no object")
    ('B', None)
    """
    values = [value for record in _records(text) if (value := _keyed(record)) is not None]
    return values[-1] if values else None


def _records(text: str) -> Iterator[Mapping[object, object]]:
    """The outermost objects in a text, in order."""
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return
        record, end = _record_at(text, start)
        if isinstance(record, Mapping):
            yield record
        start = text.find("{", end)


def _record_at(text: str, start: int) -> tuple[object, int]:
    """The object that opens at `start`, and where it ends; (None, next place) if it is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass  # no JSON: perhaps quotes escaped by a double encoder, perhaps a Python dict
    closing = text.find("}", start, start + _LONGEST_DICT)
    for literal in (text[start : closing + 1], text[start : closing + 1].replace('\\"', '"')):
        try:
            return ast.literal_eval(literal), closing + 1
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None, start + 1


def _keyed(record: Mapping[object, object]) -> str | None:
    folded = {str(key).strip().casefold().replace(" ", "_"): value for key, value in record.items()}
    for key in _ANSWER_KEYS:
        if key in folded:
            return _as_text(folded[key])
    flags = {key: value for key, value in folded.items() if isinstance(value, bool)}
    chosen = [key for key, value in flags.items() if value]
    lettered = len(flags) > 1 and all(len(key) == 1 for key in flags)
    return chosen[0] if lettered and len(chosen) == 1 else None


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value or _NO_TEXT
    if isinstance(value, list):
        return ", ".join(map(_as_text, value)) or _NO_TEXT
    if isinstance(value, Mapping):
        return _keyed(value) or _NO_TEXT
    return _NO_TEXT
