"""Names in one option, with commas between them."""

from __future__ import annotations

import csv

from askew.errors import ConfigError


def listed(text: str | None) -> tuple[str, ...]:
    """The names, each once; one with a comma in it stands in double quotes.

    >>> listed('a, b,"c, 7B"')
    ('a', 'b', 'c, 7B')
    """
    try:
        rows = list(csv.reader([text or ""], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise ConfigError(
            f"{text!r} is no list of names: {error}. Put commas between names, and double quotes "
            "around one with a comma in it."
        ) from error
    return tuple(dict.fromkeys(name.strip() for row in rows for name in row if name.strip()))
