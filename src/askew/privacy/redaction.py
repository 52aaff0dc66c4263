"""Blacking out what tells who somebody is, in texts that leave a run folder.

By rule: patterns, names that are given, and a few kinds that have a form (addresses of e-mail,
telephone numbers, dates, record numbers). What has no form and is on no list stays: a rule is no
reader, and no text is anonymous because of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from askew.errors import ConfigError

Kind = Literal["email", "phone", "date", "record_number", "ip", "url"]

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_KINDS: Mapping[str, str] = {
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "phone": (
        r"(?<![\w.])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,5}){1,4}(?!\w)"
    ),
    "date": (
        r"\b(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})"
        rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})\.?,? \d{{4}}"
        rf"|(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}})\b"
    ),
    "record_number": (
        r"\b(?:mrn|nhs|ssn|patient|record|case|chart|insurance|policy|hospital|id)"
        r"(?:[ _-]?(?:no|nr|number|id))?\.?[ :#-]{1,4}(?=[\w-]*\d)[\w-]{3,24}(?: \d{2,6}\b){0,4}"
        r"|\b\d{3}-\d{2}-\d{4}\b|\b\d{3} \d{3} \d{4}\b|\b\d{7,12}\b"
    ),
    "ip": r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
    "url": r"\bhttps?://[^\s\"'<>]{1,2000}",
}
# Where two kinds fit the same signs, the narrower one is named.
_ORDER = ("url", "email", "ip", "date", "record_number", "phone")


@dataclass(frozen=True, slots=True)
class Redaction:
    """Rules, ready for use.

    Attributes:
        rules: (what is written in the place, what is looked for), in the order of trying.
    """

    rules: tuple[tuple[str, re.Pattern[str]], ...]

    @classmethod
    def of(
        cls,
        kinds: Iterable[str] = (),
        names: Iterable[str] = (),
        names_file: Path | None = None,
        patterns: Iterable[str] = (),
    ) -> Redaction:
        """The rules of a run file.

        Raises:
            ConfigError: a pattern is no regular expression or fits the empty text, or the file of
                names cannot be read.
        """
        rules: list[tuple[str, re.Pattern[str]]] = []
        wanted = set(kinds)
        listed = [*names, *(() if names_file is None else _names_in(names_file))]
        if listed := [name for name in map(str.strip, listed) if name]:
            rules.append(("[name]", _any_name(tuple(listed))))
        for number, pattern in enumerate(patterns, start=1):
            try:
                made = re.compile(pattern)
            except re.error as trouble:
                raise ConfigError(
                    f"redact.patterns: the {number}. is no regular expression: {trouble}. Mend it, "
                    "or write names below redact.names."
                ) from None
            if made.fullmatch(""):
                raise ConfigError(f"redact.patterns: the {number}. fits the empty text. Narrow it.")
            rules.append(("[redacted]", made))
        rules += [
            (f"[{kind.replace('_', ' ')}]", re.compile(_KINDS[kind], re.IGNORECASE))
            for kind in _ORDER
            if kind in wanted
        ]
        return cls(tuple(rules))

    def __call__(self, text: str) -> str:
        """The text with what the rules find written over.

        >>> Redaction.of(["email"], ["Ada Byron"])("Ada  Byron <ada@example.org> aged 36")
        '[name] <[email]> aged 36'
        """
        for instead, pattern in self.rules:
            text = pattern.sub(instead.replace("\\", r"\\"), text)
        return text

    def within(self, value: object) -> object:
        """The same for every text in a JSON value; keys stay."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {key: self.within(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.within(one) for one in value]
        return value


@lru_cache(maxsize=8)
def _any_name(names: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all names, whole words alone, whatever the case and the blanks between."""
    written = [r"\s+".join(map(re.escape, name.split())) for name in names]
    longest_first = sorted(set(written), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)", re.IGNORECASE)


def _names_in(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as trouble:
        raise ConfigError(
            f"{file}: the names to redact cannot be read ({trouble}). Save it as UTF-8 text, one "
            "name a line."
        ) from trouble
