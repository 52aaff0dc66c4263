"""The secrets that this process has read, and taking them out of what is written or said.

A server may send a key back: in an error, in a header, in a reply. So every key is remembered as it
is read, and starred out of replies, errors and log lines before anything keeps them, as it stands
and as it is written in URLs, JSON, HTML, hexadecimal digits and base64.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import re
import traceback
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

STARS = "***"
SHORTEST = 8  # a shorter one is a word such as "EMPTY", which texts may hold by themselves

_NAMES = re.compile(
    r"(API_?KEY|ACCESS_KEY|_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.I
)
_USERINFO = re.compile(r"//[^/\s@'\"]+@")
_remembered: dict[str, str] = {}  # value -> name
_pattern: re.Pattern[str] | None = None
_stale = True


def remember(value: str, name: str) -> None:
    """Keep a secret out of replies, errors and logs from now on.

    Args:
        value: the secret; one that is shorter than eight characters is not looked for.
        name: what to call it, such as the variable that it was read from.
    """
    global _stale
    if len(value) >= SHORTEST and value not in _remembered:
        _remembered[value] = name
        _stale = True
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
    """The text with every known secret starred out."""
    global _pattern, _stale
    if _stale:
        # A change of the environment after this counts once another secret is read.
        _pattern, _stale = _matching(named_secrets().values()), False
    return text if _pattern is None else _pattern.sub(STARS, text)


def mask_these(text: str, secrets: Iterable[str]) -> str:
    """The text with these secrets starred out, in every form."""
    pattern = _matching(secrets)
    return text if pattern is None else pattern.sub(STARS, text)


def mask_urls(text: str) -> str:
    """The text with users and passwords of its URLs starred out, and every known secret.

    >>> mask_urls("no route to http://me:secret@proxy:3128/")
    'no route to http://***@proxy:3128/'
    """
    return mask(_USERINFO.sub(f"//{STARS}@", text))


def forms(secret: str) -> list[str]:
    """A secret as it may be written: itself first, then in URLs, JSON, HTML, hex and base64.

    In base64 the first and last signs depend on what stands beside the secret; they are left out.
    """
    data = secret.encode("utf-8", "surrogatepass")
    told = [secret, quote(secret, safe=""), quote(secret), quote_plus(secret)]
    told += [re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), one) for one in told[1:4]]
    told += [json.dumps(secret)[1:-1], html.escape(secret), data.hex(), data.hex().upper()]
    for before in range(3):
        written = base64.b64encode(bytes(before) + data).decode()
        inner = written[(0, 2, 3)[before] : (before + len(data)) * 8 // 6]
        if len(inner) >= SHORTEST:
            told += [inner, inner.replace("+", "-").replace("/", "_")]
    return list(dict.fromkeys(told))


def _matching(secrets: Iterable[str]) -> re.Pattern[str] | None:
    told = {form for one in secrets if len(one) >= SHORTEST for form in forms(one)}
    if not told:
        return None
    # The longest first, so that no beginning of a form leaves its end standing.
    return re.compile("|".join(map(re.escape, sorted(told, key=len, reverse=True))))


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
