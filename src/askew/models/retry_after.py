"""How long a server asks us to wait, read from its headers. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 600.0  # seconds; who asks for more is not obeyed to the letter

_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


@dataclass(frozen=True, slots=True)
class Wait:
    """The server's word, or None where it gave none that can be used; `remark` says why."""

    seconds: float | None
    remark: str = ""


def read_wait(headers: Mapping[str, str], clock: float) -> Wait:
    """The wait that `retry-after-ms` or `retry-after` asks for (RFC 9110, §10.2.3).

    Args:
        headers: names in any case.
        clock: seconds since 1970 by this machine; used for an HTTP date where the server's own
            Date header is missing, as its clock and ours may differ by more than the wait.

    >>> read_wait({"retry-after": "3"}, clock=0.0)
    Wait(seconds=3.0, remark='')
    """
    headers = {name.lower(): value for name, value in headers.items()}
    if _NUMBER.fullmatch(milliseconds := headers.get("retry-after-ms", "").strip()):
        return _capped(float(milliseconds) / 1000)
    text = headers.get("retry-after", "").strip()
    if not text:
        return Wait(None)
    if _NUMBER.fullmatch(text):
        return _capped(float(text))
    until = _http_date(text)
    if until is None:
        return Wait(None, f"its Retry-After {text[:40]!r} cannot be read")
    now = _http_date(headers.get("date", ""))
    return _capped(max(0.0, until - (clock if now is None else now)))


def _capped(seconds: float) -> Wait:
    if seconds <= LONGEST_WAIT:
        return Wait(seconds)
    return Wait(None, f"it asks to wait {seconds:.0f} s, more than the {LONGEST_WAIT:.0f} s kept")


def _http_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        # "-0000" and asctime's form come without a zone; HTTP dates are in UTC.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
