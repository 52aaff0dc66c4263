"""What a query may hold, and how a wrong one is answered."""

from __future__ import annotations

from datetime import UTC, datetime

from askew.errors import ConfigError


class BadQuery(ConfigError):
    """A query that cannot be answered; the message says what was expected."""


def parse_date(text: str) -> datetime:
    """A day, or a day and a time, in UTC where it does not say.

    Raises:
        BadQuery: it is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadQuery(f"since is {text[:40]!r}, expected a date such as 2026-11-30.") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
