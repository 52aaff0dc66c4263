"""What a key looks like, and where settings hold one in plain text. Pure.

Settings are written to the run folder, so a key in them would be kept there and sent on with it. A
key is known by its form (those of the usual services), by the name of its setting, or by its place
in a URL. What no rule knows, a key of no form in a setting of any name, is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

VARIABLE = re.compile(r"\$\{(\w+)\}")

# The boundary keeps forms out of the midst of base64, in which chance writes all of the short ones.
_FORMS = {
    "a key of OpenAI's form (sk-…)": r"[sprw]k[-_](?=[\w-]*\d)[\w-]{16,}",
    "a key of Groq": r"gsk_\w{20,}",
    "a key of xAI": r"xai-\w{20,}",
    "a token of Hugging Face": r"hf_[A-Za-z0-9]{20,}",
    "a key of Nvidia": r"nvapi-[\w-]{20,}",
    "a token of Replicate": r"r8_\w{20,}",
    "a key of Google": r"AIza[\w-]{30,}",
    "a key of AWS": r"(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a token of GitHub": r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})",
    "a token of GitLab": r"glpat-[\w-]{20,}",
    "a token of Slack": r"xox[abprs]-[\w-]{10,}",
    "a token of PyPI": r"pypi-[\w-]{40,}",
    "a JSON web token": r"eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a bearer token": r"Bearer (?=\S*\d)[\w.~+/=-]{16,}",
    "a user and password in base64": r"Basic (?=\S*[\d=])[A-Za-z0-9+/]{12,}={0,2}",
}
KEY_FORM = re.compile(
    r"(?<![\w+/=-])(?:"
    + "|".join(f"(?P<f{i}>{form})" for i, form in enumerate(_FORMS.values()))
    + ")"
)
_KINDS = tuple(_FORMS)

# Names under which nothing but a secret stands.
_SECRET_NAME = re.compile(
    r"api[_-]?key$|secret|passw|passphrase|credential|^authori[sz]ation$|^proxy-authorization$"
    r"|^cookie$|(access|auth|session|bearer|refresh|subscription)[_-]?(key|token)$"
    r"|^x-.*(key|token)$",
    re.IGNORECASE,
)
# Names under which one may stand.
_MAYBE_NAME = re.compile(r"(^|[_-])(key|token|auth|bearer|pwd|pass)$", re.IGNORECASE)
_QUERY_NAME = re.compile(r"key|token|secret|passw|auth|credential|^(code|sig|signature)$", re.I)
_PLACE = re.compile(r"\{(prompt|system|messages)\}")
_SCHEME = re.compile(r"\b(bearer|basic|token|apikey|api-key|key)\b", re.IGNORECASE)
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class Literal(NamedTuple):
    """A secret in plain text: where it stands, and what it was known by."""

    place: tuple[str, ...]
    what: str


def form_of(text: str) -> str | None:
    """What kind of key stands in a text; None where none of a known form does.

    >>> form_of("as sk-test-000011112222333344 says"), form_of("sk-learn is a package")
    ("a key of OpenAI's form (sk-…)", None)
    """
    found = KEY_FORM.search(text)
    if found is None:
        return None
    return next(kind for i, kind in enumerate(_KINDS) if found[f"f{i}"])


def literals(settings: Mapping[str, object]) -> Iterator[Literal]:
    """The secrets in plain text in the settings of a run file; `${NAME}` stands for none.

    Args:
        settings: as TOML gives them. What a run has recorded of itself (`record`) is left out.
    """
    for place, value in _texts({key: one for key, one in settings.items() if key != "record"}):
        if what := _known_by(place, value):
            yield Literal(place, what)


def is_variable_name(text: str) -> bool:
    """Whether a text names an environment variable, rather than being the key itself.

    >>> is_variable_name("OPENAI_API_KEY"), is_variable_name("0f3a9c77d2e14b6f8a5590cd1e2f3a4b")
    (True, False)
    """
    if not _VARIABLE_NAME.fullmatch(text) or form_of(text):
        return False
    return not any(_looks_drawn(part) for part in text.split("_"))


def plain_secret(name: str, value: str) -> str | None:
    """Why a setting of this name holds a secret in plain text; None where it does not.

    >>> plain_secret("X-Api-Key", "Bearer ${MY_KEY}") is None
    True
    """
    if kind := form_of(VARIABLE.sub(" ", value)):
        return kind
    left = _PLACE.sub("", VARIABLE.sub("", value))
    left = _SCHEME.sub("", left).strip(" :;,=\"'")
    if not left:
        return None
    sure = bool(_SECRET_NAME.search(name))
    if not sure and not _MAYBE_NAME.search(name):
        return None
    if VARIABLE.search(value):  # the secret is in it; what stands beside it is no part of one
        sure = False
    drawn = any(_looks_drawn(part) for part in re.split(r"[\s=:;,]+", left))
    return f"what {name!r} holds" if sure or drawn else None


def _texts(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(one, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one, place)


def _known_by(place: tuple[str, ...], value: str) -> str | None:
    name = place[-1]
    if name == "api_key_env":
        return None if is_variable_name(value) else "what looks like the key itself"
    if what := _in_url(value):
        return what
    if place[0] == "models" and name not in ("api_key_keyring", "key_header"):
        return plain_secret(name, value)
    return form_of(value)


def _in_url(value: str) -> str | None:
    """A secret in a URL's userinfo or query."""
    if not _URL.match(value.strip()):
        return None
    try:
        parts = urlsplit(value.strip())
    except ValueError:  # no URL after all; whoever reads it says so
        parts = urlsplit("")
    userinfo = parts.netloc.rpartition("@")[0]
    if VARIABLE.sub("", userinfo).strip(":"):
        return "a user or password in its address"
    for name, given in parse_qsl(parts.query, keep_blank_values=True):
        left = VARIABLE.sub("", given)
        if left and (_QUERY_NAME.search(name) or _looks_drawn(left)):
            return f"a key in its address ({name}=…)"
    return None


def _looks_drawn(text: str) -> bool:
    """Whether a word looks drawn at random: long, of letters and digits mixed."""
    return (
        len(text) >= 16
        and bool(re.search(r"\d", text))
        and bool(re.search(r"[A-Za-z]", text))
        and not re.search(r"\s", text)
    )
