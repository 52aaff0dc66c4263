"""Reading the options of a model: what one provider knows beside the fields of `ModelSpec`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from askew.errors import ConfigError, unknown_name
from askew.models.base import Fatal

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)


def check_known(options: Mapping[str, object], known: tuple[str, ...], provider: str) -> None:
    """Refuse a misspelt option, which would otherwise be left out in silence."""
    for name in options:
        if name not in known:
            raise unknown_name(f"option of {provider}/", name, list(known))


def whole_number(options: Mapping[str, object], name: str, default: int) -> int:
    """An option that is a whole number of 1 or more."""
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"option {name!r} is {value!r}, expected a whole number from 1 on.")
    return value


def text(options: Mapping[str, object], name: str, default: str | None = None) -> str | None:
    """An option that is a non-empty text."""
    value = options.get(name, default)
    if value is None or (isinstance(value, str) and value):
        return value
    raise ConfigError(f"option {name!r} is {value!r}, expected a text.")


def flag(options: Mapping[str, object], name: str, default: bool) -> bool:
    """An option that is true or false."""
    value = options.get(name, default)
    if not isinstance(value, bool):
        raise ConfigError(f"option {name!r} is {value!r}, expected true or false.")
    return value


def table(options: Mapping[str, object], name: str) -> dict[str, object]:
    """An option that is a table; empty where it is not given."""
    value = options.get(name, {})
    if not isinstance(value, Mapping):
        raise ConfigError(f"option {name!r} is {value!r}, expected a table.")
    return {str(key): entry for key, entry in value.items()}


def header_templates(options: Mapping[str, object]) -> dict[str, str]:
    """The option `headers`: names to texts in which "${NAME}" stands for an environment variable.

    The templates are written to the run folder, so a header that carries a secret by its name has
    to take it from the environment.

    Raises:
        ConfigError: a value is no text, or a secret stands in it.
    """
    templates: dict[str, str] = {}
    for name, value in table(options, "headers").items():
        if not isinstance(value, str):
            raise ConfigError(f"header {name!r} is {value!r}, expected a text.")
        if _SECRET_HEADER.search(name) and not _VARIABLE.search(value):
            raise ConfigError(
                f"header {name!r} holds its secret in plain text, which the run folder would "
                'keep. Put it in an environment variable and write "${VARIABLE}" instead.'
            )
        templates[name] = value
    return templates


def filled_headers(templates: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The headers with their variables filled in, and the values that were secret.

    Raises:
        Fatal: a variable is not set.
    """
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        secrets.append(variable(match[1]))
        return secrets[-1]

    headers = {name: _VARIABLE.sub(fill, value) for name, value in templates.items()}
    return headers, tuple(secrets)


def variable(name: str) -> str:
    """The value of an environment variable that a setting names.

    Raises:
        Fatal: it is not set, or no header can carry it.
    """
    value = os.environ.get(name, "").strip()  # a key pasted into a file ends in a line break
    if not value:
        raise Fatal(f"the environment variable {name} is not set. Set it: export {name}=…")
    if not value.isascii() or not value.isprintable():
        raise Fatal(
            f"the environment variable {name} holds characters that no HTTP header takes. "
            "Copy the key again."
        )
    return value
