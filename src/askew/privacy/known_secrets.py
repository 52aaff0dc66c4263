"""The secrets that this process has read, and taking them out of what is written or said.

A server may send a key back: in an error, in a header, in a reply. So every key is remembered as it
is read, and starred out of replies, errors and log lines before anything keeps them, as it stands
and as it is written in URLs, JSON, HTML, hexadecimal digits and base64.
"""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from askew.privacy.spellings import SHORTEST, Spellings, by_chance, looks_like_a_key

STARS = "***"

_NAMES = re.compile(
    r"(API_?KEY|ACCESS_KEY|_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.I
)
_USERINFO = re.compile(r"//[^/\s@'\"]+@")
_remembered: dict[str, str] = {}  # value -> name


class _Known(NamedTuple):
    """What is looked for, by where it is looked for."""

    everywhere: Spellings
    in_replies: Spellings


_known: _Known | None = None  # None: to be made anew


def remember(value: str, name: str) -> None:
    """Keep a secret out of replies, errors and logs from now on.

    Args:
        value: the secret; one that is shorter than eight characters is not looked for.
        name: what to call it, such as the variable that it was read from.
    """
    global _known
    if len(value) >= SHORTEST and value not in _remembered:
        _remembered[value] = name
        _known = None
        _mask_log_lines()


def named_secrets(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The secrets to look for, name -> value: those read so far, and those of the environment.

    A variable counts by the end of its name (…_KEY, …_TOKEN, …_SECRET, …_PASSWORD); the path of a
    file does not.
    """
    found = os.environ if environment is None else environment
    named = {
        name: value.strip()
        for name, value in found.items()
        if _NAMES.search(name) and len(value.strip()) >= SHORTEST and not _is_path(value)
    }
    return {**named, **{name: value for value, name in _remembered.items()}}


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a child process that needs no key; pip's own settings stay."""
    return {
        name: value
        for name, value in environment.items()
        if not _NAMES.search(name) or name.startswith(("PIP_", "UV_"))
    }


def mask(text: str) -> str:
    """The text with every known secret starred out: for errors and log lines."""
    return _looked_for().everywhere.out_of(text, STARS)


def mask_reply(text: str) -> str:
    """What a model said with the keys starred out that no honest reply holds by chance.

    A key may be a word, such as "anything" for a server that wants none, and the variable of some
    other program may hold one. To star words out would change what is read, and so the figures.
    """
    return _looked_for().in_replies.out_of(text, STARS)


def mask_beginning(text: str, length: int) -> str:
    """The first characters of a text with every known secret starred out.

    A secret that the cut would go through is starred out whole.

    Args:
        text: to be cut.
        length: in characters.
    """
    return _looked_for().everywhere.beginning(text, length, STARS)


def mask_these(text: str, secrets: Iterable[str]) -> str:
    """The text with these secrets starred out, in every form."""
    return Spellings(secrets).out_of(text, STARS)


def mask_urls(text: str) -> str:
    """The text with users and passwords of its URLs starred out, and every known secret.

    >>> mask_urls("no route to http://me:secret@proxy:3128/")
    'no route to http://***@proxy:3128/'
    """
    return mask(_USERINFO.sub(f"//{STARS}@", text))


def _looked_for() -> _Known:
    # A change of the environment after this counts once another secret is read.
    global _known
    if _known is None:
        values = list(named_secrets().values())
        certain = [
            one
            for one in values
            if (not by_chance(one) if one in _remembered else looks_like_a_key(one))
        ]
        _known = _Known(Spellings(values), Spellings(certain))
    return _known


def _is_path(value: str) -> bool:
    return value.strip().startswith(("/", "./", "../", "~")) or ":\\" in value


def _mask_log_lines() -> None:
    """Star secrets out of whatever any package logs in this process."""
    made = logging.getLogRecordFactory()
    if getattr(made, "masks_secrets", False):
        return

    def masked(*args: object, **kwargs: object) -> logging.LogRecord:
        record: logging.LogRecord = made(*args, **kwargs)
        try:
            said = record.getMessage()
        except Exception:  # a line that cannot be formatted is for the handler to complain of
            return record
        if (clean := mask(said)) != said:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_info[0] is not None:
            told = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (clean := mask(told)) != told:
                record.exc_info, record.exc_text = None, clean
        return record

    masked.masks_secrets = True  # type: ignore[attr-defined]  # the mark that it is ours
    logging.setLogRecordFactory(masked)
