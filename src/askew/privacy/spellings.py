"""The ways in which a secret may be written: as it is, in URLs, JSON, HTML, hex and base64. Pure.

A key that a server says back has often been through one of these, or two. Whether a text could hold
a secret's value by chance is told here too: some keys are words, and some variables hold no key.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus, unquote

SHORTEST = 8  # a shorter one is a word such as "EMPTY", which texts may hold by themselves
_LONG = 20  # signs; no text holds so long a value by chance
_SPELT_OUT = 64  # signs of a secret that are told in every writing; a token may have thousands
_REST = r"[\w%&#;\\+/=.~-]*"  # what follows those of a longer one
_UNIT = re.compile(r"\\{1,4}u([0-9a-fA-F]{4})")
_HALF = re.compile("[\ud800-\udfff]")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
# One of these stands where signs are written one by one, and in few texts else.
_MARK = r"%[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\/|\\\\|&#|&amp;"
_MARKED, _MARKED_BYTES = re.compile(_MARK), re.compile(_MARK.encode())
_PIECE = 1 << 20  # bytes of a file that are read back at once


def forms(secret: str) -> list[str]:
    """A secret as it may be written: itself first, then in URLs, JSON, HTML, hex and base64.

    In base64 the first and last signs depend on what stands beside the secret; they are left out.
    """
    data = secret.encode("utf-8", "surrogatepass")
    told = [secret, quote(secret, safe=""), quote(secret), quote_plus(secret)]
    told += [re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), one) for one in told[1:4]]
    told += [json.dumps(secret)[1:-1], json.dumps(secret)[1:-1].replace("/", "\\/")]
    told += [quote(told[1], safe=""), html.escape(secret), data.hex(), data.hex().upper()]
    for before in range(3):
        written = base64.b64encode(bytes(before) + data).decode()
        inner = written[(0, 2, 3)[before] : (before + len(data)) * 8 // 6]
        if len(inner) >= SHORTEST:
            told += [inner, inner.replace("+", "-").replace("/", "_")]
    return list(dict.fromkeys(told))


class Spellings:
    """Secrets, ready to be found in a text whichever way they are written.

    Args:
        secrets: those of fewer than eight characters are passed over.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        wanted = [one for one in dict.fromkeys(secrets) if len(one) >= SHORTEST]
        self._any = bool(wanted)
        self._fixed = re.compile(_any_form(*wanted))
        self._spelt = re.compile("|".join(map(_spelt_out, wanted)))
        self._room = 12 * max(map(len, wanted), default=0)  # as in `InBytes`

    def out_of(self, text: str, instead: str) -> str:
        """The text with each of them written over."""
        if not self._any:
            return text
        # The pattern of single signs is slow.
        if _MARKED.search(text) and self._fixed.search(_read_back(text)):
            text = self._spelt.sub(lambda _: instead, text)
        return self._fixed.sub(lambda _: instead, text)

    def beginning(self, text: str, length: int, instead: str) -> str:
        """The first `length` characters, none of them a part of a secret that the cut goes through.

        Secrets before the cut are written over as well.
        """
        if not self._any or len(text) <= length:
            return self.out_of(text, instead)[:length]
        near = text[: length + self._room]
        for pattern in (self._spelt, self._fixed):
            for found in pattern.finditer(near):
                if found.start() < length < found.end():
                    return self.out_of(text[: found.start()], instead) + instead
        return self.out_of(text[:length], instead)


class InBytes:
    """Secrets, ready to be found in files.

    Args:
        secrets: name -> value, of any length but none.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._fixed = {name: _bytes_of(_any_form(value)) for name, value in secrets.items()}
        self._spelt = {name: _bytes_of(_spelt_out(value)) for name, value in secrets.items()}
        # Room for a writing of each sign, such as &#x00e9; or %25C3%25A9.
        self._room = 12 * max(map(len, secrets.values()), default=0)

    def first_places(self, data: bytes) -> dict[str, int]:
        """The names of those that stand in `data`, each with the offset of a first place.

        Of a secret whose signs are written one by one that place is told only where no form of the
        whole is there.
        """
        hits = ((name, pattern.search(data)) for name, pattern in self._fixed.items())
        found = {name: hit.start() for name, hit in hits if hit is not None}
        if not self._spelt.keys() - found.keys():
            return found
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE + self._room]
            if not _MARKED_BYTES.search(piece):
                continue
            read = _read_back(piece.decode("utf-8", "replace")).encode("utf-8", "replace")
            for name in self._spelt.keys() - found.keys():
                if self._fixed[name].search(read) and (hit := self._spelt[name].search(piece)):
                    found[name] = start + hit.start()
        return found


def by_chance(value: str) -> bool:
    """Whether an honest text may hold a key's value: a word, a few words, a number, a date.

    >>> [by_chance(one) for one in ("anything", "not-needed", "2024-01-01", "hunter2hunter2")]
    [True, True, True, False]
    """
    if len(value) >= _LONG:
        return False
    if re.search(r"[^\W\d_]", value) and re.search(r"\d", value):
        return False
    turns = len(re.findall(r"[a-z][A-Z]", value))  # "JavaScript" has one, what is drawn has more
    return turns < 2 and not re.search(r"[^\w\s.,:;'’!?()/-]", value)


def looks_like_a_key(value: str) -> bool:
    """Whether a value is so long and mixed that it is a key, whatever its variable is for.

    >>> [looks_like_a_key(one) for one in ("Cannot be determined.", "covid-19", "3f9Kd81mQz70Lw")]
    [False, False, True]
    """
    if re.search(r"\s", value) or by_chance(value):
        return False
    mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    return len(value) >= _LONG or (len(value) >= 12 and bool(mixed))


def _read_back(text: str) -> str:
    """The text with what JSON, HTML and URLs write otherwise as it was before, twice over."""
    for _ in range(2):
        if "\\" in text:
            text = _UNIT.sub(lambda found: chr(int(found[1], 16)), text)
            text = text.replace("\\/", "/").replace('\\"', '"').replace("\\'", "'")
            text = text.replace("\\\\", "\\")
            if _HALF.search(text):
                text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = html.unescape(text)
        if _PERCENT.search(text):
            text = unquote(text)
    return text


def _any_form(*secrets: str) -> str:
    """A pattern of the secrets in every form of the whole."""
    told = {form for one in secrets for form in forms(one)}
    # The longest first, so that no beginning of a form leaves its end standing.
    return "|".join(re.escape(form) for form in sorted(told, key=len, reverse=True))


def _bytes_of(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("utf-8", "surrogatepass"))


def _spelt_out(secret: str) -> str:
    """A pattern of the secret, each sign as it is or in any writing of its own."""
    rest = _REST if len(secret) > _SPELT_OUT else ""
    return "".join(map(_sign, secret[:_SPELT_OUT])) + rest


@lru_cache(maxsize=512)
def _sign(sign: str) -> str:
    ways = [re.escape(sign)]
    ways.append(
        "".join(f"%(?:25){{0,2}}{_hex(byte)}" for byte in sign.encode("utf-8", "surrogatepass"))
    )
    units = sign.encode("utf-16-be", "surrogatepass")
    pairs = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    ways.append("".join(rf"\\{{1,4}}u{''.join(map(_digit, pair))}" for pair in pairs))
    number = f"{ord(sign):x}"
    ways.append(
        f"&(?:amp;){{0,2}}#(?:0{{0,6}}{ord(sign)}|[xX]0{{0,6}}{''.join(map(_digit, number))});?"
    )
    if named := html.escape(sign).removeprefix("&"):
        ways += [f"&(?:amp;){{0,2}}{named}"] if named != sign else []
    if sign in "\"'\\/":
        ways.append(r"\\{1,4}" + re.escape(sign))
    return f"(?:{'|'.join(ways)})"


def _hex(byte: int) -> str:
    return "".join(map(_digit, f"{byte:02x}"))


def _digit(digit: str) -> str:
    return f"[{digit}{digit.upper()}]" if digit.isalpha() else digit
