"""Reading the options of a model: what one provider knows beside the fields of `ModelSpec`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from askew.errors import ConfigError, missing_extra, unknown_name
from askew.models.base import Fatal
from askew.privacy.key_forms import is_variable_name, plain_secret
from askew.privacy.known_secrets import remember

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_LONGEST_WORD = 12  # beside a variable: "Bearer", "session="; what is longer may be a part of a key


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
            # What stands there is not shown: it may be a key that was put into a list.
            raise ConfigError(
                f'header {name!r} is no text, expected a text such as "${{VARIABLE}}".'
            )
        if _holds_secret(name, value):
            raise ConfigError(
                f"header {name!r} holds its secret in plain text, which the run folder would "
                'keep. Put it in an environment variable and write "${VARIABLE}" instead.'
            )
        templates[name] = value
    return templates


def _holds_secret(name: str, value: str) -> bool:
    """Whether a header carries a secret that is written out."""
    if not _SECRET_HEADER.search(name):
        return plain_secret(name, value) is not None
    words = re.split(r"[\s=:;,]+", _VARIABLE.sub("", value))
    return not _VARIABLE.search(value) or any(len(word) > _LONGEST_WORD for word in words)


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


def filled(value: object) -> object:
    """A JSON value in whose texts the variables "${NAME}" are filled in.

    Raises:
        Fatal: a variable is not set.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: variable(found[1]), value)
    if isinstance(value, Mapping):
        return {name: filled(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [filled(entry) for entry in value]
    return value


def variable(name: str) -> str:
    """The value of an environment variable that a setting names.

    Raises:
        Fatal: it is not set, or no header can carry it.
    """
    value = os.environ.get(name, "").strip()  # a key pasted into a file ends in a line break
    if not value:
        if not is_variable_name(name):  # it may be the key itself, which no message may show
            raise Fatal(
                "api_key_env names the environment variable that holds the key, and what stands "
                "there looks like the key itself. Set a variable (export OPENAI_API_KEY=…) and "
                "write its name."
            )
        raise Fatal(f"the environment variable {name} is not set. Set it: export {name}=…")
    return _as_header(value, f"the environment variable {name}", name)


def keyring_secret(entry: str) -> str:
    """The secret that the system's keyring holds for "service/user".

    Raises:
        ConfigError: the entry is not written so.
        MissingDependency: the package keyring is not installed.
        Fatal: there is no keyring, or it holds no such entry.
    """
    service, slash, user = entry.rpartition("/")
    if not slash or not service or not user:
        raise ConfigError(f'api_key_keyring is {entry!r}, expected "service/user".')
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise missing_extra("keyring", "keyring") from None
    try:
        found = keyring.get_password(service, user)
    except KeyringError as trouble:
        raise Fatal(
            f"the keyring could not be asked for {entry} ({type(trouble).__name__}: {trouble}). "
            "Unlock it, or name an environment variable with api_key_env."
        ) from trouble
    if not found or not found.strip():
        raise Fatal(
            f"the keyring holds nothing for {entry}. Put it there: keyring set {service} {user}"
        )
    return _as_header(found.strip(), f"the keyring's entry {entry}", entry)


def _as_header(value: str, where: str, name: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise Fatal(f"{where} holds characters that no HTTP header takes. Copy the key again.")
    remember(value, name)
    return value
