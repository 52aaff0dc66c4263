"""Names of diagnoses, tests and treatments: one taken out of a line, several out of a phrase."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LONGEST_NAME = 120  # characters
MOST_WORDS = 14
MOST_NAMES = 50

_MARKS = re.compile(r"[*`\"“”#]|__|^[\s>\-•–◦▪●]+|[✅❌]")
_NUMBER = re.compile(
    r"^\s*\(?(?:\d{1,2}[.)]|[A-Za-z]\)|(?-i:[A-G]\.(?=\s+[A-Z(])))\)?\s+|^\s*(?:most"
    r"|next most) likely\s*:\s*",
    re.I,
)
# Where the name ends and the explanation begins.
_EXPLANATION = re.compile(
    r"\s*:(?=\s|$)|\s+[-–—]{1,2}\s+|\s*—\s*|\s*[(\[]|\s*->\s*|(?<!\b[A-Z])\.\s|\s*\n|;\s"
)
_CLAUSE = re.compile(
    r",?\s\b(?:which|because|given|since|based on|as (?:the|he|she|they|it|this|these"
    r"|evidenced|suggested)"
    r"|although|considering|especially|particularly|to (?:assess|check|confirm"
    r"|evaluate|rule|exclude|look|identify|detect|determine|see|reduce|relieve|treat"
    r"|prevent|help|manage)\b"
    r"|while|whereas|until|unless|if\b|in order)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"[\s,:-]*[~<>≈]?\s?\d{1,3}(?:\.\d+)?\s?%(?:\s(?:likely|likelihood|probability|chance))?\s*$"
)
_ARTICLE = re.compile(r"^(?:an?|the|some|any)\s+", re.IGNORECASE)
_HEDGE = re.compile(
    r"^(?:(?:possible|possibly|probable|probably|likely|suspected|potential"
    r"|potentially|perhaps|presumed|also|maybe|even|another|other)\s+)+(?=\w)",
    re.I,
)
_NO_NAME = re.compile(
    r"(?:\.{2,}|…|<.*>|\[.*\]|n/?a|not (?:stated|specified|available|applicable"
    r"|given)|unknown|unclear|undetermined|unspecified|etc|others?"
    r"|strings?|diagnos[ei]s(?: ?\d)?|(?:(?:first|second|third|fourth|fifth"
    r"|next|most|more|less|top|primary|main|another) )*"
    r"(?:likely(?: (?:diagnosis|cause))?|diagnosis)(?: ?\d)?|(?:test|treatment"
    r"|condition|cause|disease|option|item) ?\d?|name(?: of .*)?|your .*|placeholder)"
    r"\.?",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"^(?:I|we|you|it|this|there)\b|\b(?:cannot|can't|unable|insufficient|not enough)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:none|nil|nothing|no|-|—|(?:no|none)\s(?:\w+\s){0,3}(?:tests?|treatments?"
    r"|investigations?|needed|required|indicated|necessary|recommended|at this time"
    r"|advised|imaging|workup|medications?)(?:\s(?:are|is))?(?:\s(?:needed|required"
    r"|indicated|necessary|recommended|at this time|advised))*"
    r"|not (?:needed|required|indicated|necessary))[.\s]*",
    re.IGNORECASE,
)
# Names that hold an "and" or a comma.
_WHOLE = re.compile(
    r"hand,?\s(?:foot,?\s(?:and|&)\smouth)|ear,?\snose,?\s(?:and|&)\sthroat|head\sand\sneck"
    r"|nausea\sand\svomiting|bites?\sand\sstings?|drug\sand\salcohol|type\s[iv1-9]+\sand\s[iv1-9]+"
    r"|history\sand\sphysical|incision\sand\sdrainage|dilation\sand\scurettage"
    r"|culture\sand\ssensitivity"
    r"|physical\sand\soccupational|fluids?\sand\selectrolytes?|(?:ova|eggs)\sand\sparasites?"
    r"|thick\sand\sthin|tonsils\sand\sadenoids|sickle\scell\sand|slipped\sand\sfallen",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"\s*;\s*|,?\s+(?:and/or|as well as|followed by|and then|then|versus|vs\.?)\s+"
    r"|,\s*(?:and|or)\s+|,\s+|\s+(?:and|or|&)\s+",
    re.IGNORECASE,
)
_KEYS = (
    "diagnosis", "name", "condition", "disease", "cause", "test", "treatment", "investigation",
    "medication", "drug", "therapy", "item", "title", "label", "value", "text", "description",
)  # fmt: skip
_RANKS = ("rank", "order", "position", "#")


def name_of(line: str) -> str | None:
    """The name in a list item, as worded, without what explains it; None if there is none.

    >>> name_of("1. **Malaria** (P. falciparum): likely after the rains")
    'Malaria'
    >>> name_of("Community-acquired pneumonia - 60 %"), name_of("...")
    ('Community-acquired pneumonia', None)
    """
    text = _NUMBER.sub("", _MARKS.sub("", line[:600]).strip(), count=1).strip()
    text = text.lstrip("([") if text.startswith(("(", "[")) else text
    end = _EXPLANATION.search(text)
    text = text[: end.start()] if end and end.start() > 0 else text
    clause = _CLAUSE.search(text)
    text = text[: clause.start()] if clause and clause.start() > 2 else text
    text = _SHARE.sub("", text).strip(" \t.,;:-–—_'!?)]")
    text = re.sub(r"\s(?:and|or|but)$", "", text)
    text = _HEDGE.sub("", _ARTICLE.sub("", text))
    text = " ".join(_ARTICLE.sub("", text).split())
    if _NO_NAME.fullmatch(text) or _DECLINES.search(text) or not re.search(r"[^\W\d_]{2}", text):
        return None
    return text if len(text) <= LONGEST_NAME and len(text.split()) <= MOST_WORDS else None


def names_in(phrase: str) -> list[str]:
    """The names that a phrase lists, in order.

    >>> names_in("malaria, dengue (both endemic), and hand, foot and mouth disease")
    ['malaria', 'dengue', 'hand, foot and mouth disease']
    """
    phrase = re.sub(r"\([^()\n]{0,200}\)", " ", phrase[:2000])
    # A comma or "and" inside a name is hidden from the separator, and shown again afterwards.
    hidden = _WHOLE.sub(lambda found: re.sub(r"\s", "\x00", found[0].replace(",", "\x01")), phrase)
    parts = (part.replace("\x01", ",").replace("\x00", " ") for part in _SEPARATOR.split(hidden))
    return unique(name for part in parts if (name := name_of(part)) is not None)


def unique(names: Iterable[str]) -> list[str]:
    """The names without repeats, upper and lower case aside; at most 50."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.casefold(), name)
    return list(first.values())[:MOST_NAMES]


def says_nothing_is_needed(text: str) -> bool:
    """Whether a value says that there is nothing to list.

    >>> says_nothing_is_needed("None needed."), says_nothing_is_needed("Nonsteroidals")
    (True, False)
    """
    return _NOTHING.fullmatch(text.strip()) is not None


def names_of_value(value: object) -> tuple[str, ...] | None:
    """The names under a JSON key: a list, a text, or an object; None where it names nothing.

    An empty list, or a text such as "none needed", is the empty tuple: it was settled.

    >>> names_of_value([{"rank": 2, "diagnosis": "gout"}, {"rank": 1, "diagnosis": "sprain"}])
    ('sprain', 'gout')
    >>> names_of_value("none needed"), names_of_value(None)
    ((), None)
    """
    if isinstance(value, str):
        return _names_of_text(value)
    if isinstance(value, Mapping):
        return _names_of_mapping(value)
    if not isinstance(value, list):
        return None
    if not value:
        return ()
    if len(value) == 1 and isinstance(value[0], str) and says_nothing_is_needed(value[0]):
        return ()
    found = unique(name for one in _ranked(value) if (name := _name_of_entry(one)) is not None)
    return tuple(found) or None


def _names_of_text(value: str) -> tuple[str, ...] | None:
    if says_nothing_is_needed(value):
        return ()
    lines = [line for line in value.split("\n") if line.strip()]
    if len(lines) > 1:
        return tuple(unique(name for line in lines if (name := name_of(line)) is not None)) or None
    numbered = re.split(r"(?:^|[\s;,])\(?\d{1,2}[.)]\s", value)
    if len(numbered) > 2:
        return tuple(unique(name for part in numbered if (name := name_of(part)))) or None
    return tuple(names_in(value)) or None


def _names_of_mapping(value: Mapping[object, object]) -> tuple[str, ...] | None:
    entry = _name_of_entry(dict(value))
    if entry is not None and any(str(key).casefold() in _KEYS for key in value):
        return (entry,)
    if all(
        re.search(r"\d|likely|first|second|third|other|primary|alternative", str(key), re.I)
        for key in value
    ):
        # {"1": "gout", "2": "sprain"} or {"most likely": "gout", "others": ["sprain"]}
        lists = [names_of_value(one if isinstance(one, list) else [one]) for one in value.values()]
        return tuple(unique(name for names in lists for name in names or ())) or None
    # {"gout": "one joint", "sprain": "no fall"}
    return tuple(unique(name for key in value if (name := name_of(str(key))))) or None


def _ranked(entries: list[object]) -> list[object]:
    ranks = [_rank(entry) for entry in entries]
    numbers = [rank for rank in ranks if rank is not None]
    if len(numbers) < len(entries) or len(set(numbers)) < len(numbers):
        return entries
    return [
        entry for _, entry in sorted(zip(numbers, entries, strict=True), key=lambda two: two[0])
    ]


def _rank(entry: object) -> int | None:
    if not isinstance(entry, Mapping):
        return None
    for key, value in entry.items():
        if str(key).casefold() in _RANKS and re.fullmatch(r"\d{1,2}", str(value)):
            return int(str(value))
    return None


def _name_of_entry(entry: object) -> str | None:
    if isinstance(entry, str):
        return name_of(entry)
    if isinstance(entry, list):
        return _name_of_entry(entry[0]) if entry else None
    if not isinstance(entry, Mapping):
        return None
    folded = {str(key).casefold(): value for key, value in entry.items()}
    for key in _KEYS:
        for own, value in folded.items():
            if (own == key or own.endswith(("_" + key, " " + key))) and isinstance(value, str):
                return name_of(value)
    texts = [value for value in folded.values() if isinstance(value, str)]
    if not texts and len(folded) == 1:
        return name_of(str(next(iter(entry))))  # {"gout": 0.7}
    return name_of(texts[0]) if texts else None
