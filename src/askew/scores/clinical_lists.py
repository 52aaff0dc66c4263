"""Names of diagnoses, tests and treatments: one taken out of a line, several out of a phrase."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LONGEST_NAME = 120  # characters
MOST_WORDS = 14
MOST_NAMES = 50

# Formatting that stands for itself; "<diagnosis>" is a gap that was not filled.
_TAGS = re.compile(
    r"</?(?:b|i|u|p|br|em|li|ol|ul|td|sub|sup|span|strong|mark)(?:\s[^<>]{0,100})?/?>", re.I
)
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
    r"(?:none|nil|nothing|\.{2,}|…|<.*>|\[.*\]|n/?a|not (?:stated|specified|available|applicable"
    r"|given)|unknown|unclear|undetermined|unspecified|etc|others?"
    r"|strings?|diagnos[ei]s(?: ?\d)?|(?:(?:first|second|third|fourth|fifth"
    r"|next|most|more|less|top|primary|main|another) )*"
    r"(?:likely(?: (?:diagnosis|cause))?|diagnosis)(?: ?\d)?|(?:test|treatment"
    r"|condition|cause|disease|option|item) ?\d?|name(?: of .*)?|your .*|lists?(?: of .*)?"
    r"|placeholder)"
    r"\.?",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"^(?:I|we|you|it|this|there)\b|\b(?:cannot|can't|unable|insufficient|not enough)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:(?:none|nil|nothing)\W{0,2}\s(?:until|for now|unless|pending|currently|yet)\b.*"
    r"|none|nil|nothing|no|-|—|(?:no|none)\s(?:\w+\s){0,3}(?:tests?|treatments?"
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
# Keys of one entry that name nothing: {"gout": "high"} is told from {"diagnosis": "gout"} by them.
_ABOUT_AN_ENTRY = re.compile(
    r"likel|probab|confiden|certain|rank|score|reason|rationale|explan|evidence|support|why|urgen"
    r"|priorit|icd|code|purpose|dose|dosage|route|frequency|duration|category|type|comment|note"
    r"|feature"
    r"|finding|justif|order|position|#|percent|notes|against|pros|cons"
)
_SHORT_KEYS = (
    "dx", "ddx", "disorder", "illness", "syndrome", "exam", "study", "procedure", "agent",
    "intervention", "action", "recommendation", "problem", "hypothesis", "impression", "etiology",
    "aetiology", "measure", "possibility",
)  # fmt: skip
# Words of keys that say the place or the kind of what stands under them.
_MAY_STAND_IN_A_KIND = """
first second third fourth fifth most more less least likely likeliest probable possible top
leading main primary secondary other others alternative alternatives additional further next
common rare serious dangerous differential differentials diagnosis diagnoses cause causes
condition conditions infectious infective noninfectious non inflammatory autoimmune neoplastic
malignant vascular metabolic endocrine cardiac cardiovascular pulmonary respiratory
gastrointestinal neurological neurologic musculoskeletal psychiatric psychological lab labs
laboratory blood urine bedside imaging radiology radiological test tests testing investigation
investigations study studies immediate initial early late long short term line acute chronic
supportive symptomatic definitive specific general medical surgical pharmacological
pharmacologic pharmacotherapy nonpharmacological nonpharmacologic medication medications drug
drugs lifestyle measures self care therapy therapies treatment treatments management urgent
routine emergency if as needed recommended advised and or basic advanced option options
"""
_KINDS = frozenset(_MAY_STAND_IN_A_KIND.split())
_RANKS = ("rank", "order", "position", "#")


def name_of(line: str) -> str | None:
    """The name in a list item, as worded, without what explains it; None if there is none.

    >>> name_of("1. **Malaria** (P. falciparum): likely after the rains")
    'Malaria'
    >>> name_of("Community-acquired pneumonia - 60 %"), name_of("...")
    ('Community-acquired pneumonia', None)
    """
    text = _NUMBER.sub("", _MARKS.sub("", _TAGS.sub("", line[:600])).strip(), count=1).strip()
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
    return tuple(unique(name for one in _ranked(value) for name in _names_of_entry(one))) or None


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
    if any(str(key).casefold() in _KEYS for key in value):
        return tuple(_names_of_entry(value)) or None
    kinds = [_is_kind(str(key)) for key in value]
    if all(kinds) and not any(_is_reason(one) for one in value.values()):
        # {"1": "gout", "2": "sprain"}, {"most likely": "gout", "others": ["sprain"]} or
        # {"laboratory": ["CBC"], "imaging": ["chest X-ray"]}
        lists = [
            names_of_value(one if isinstance(one, list | str | Mapping) else [one])
            for one in value.values()
        ]
        if lists and all(names == () for names in lists):
            return ()
        return tuple(unique(name for names in lists for name in names or ())) or None
    if any(kinds) and any(isinstance(one, list) for one in value.values()):
        return None  # a kind beside a name: which of the two the lists hold, nobody can tell
    # {"gout": "one joint", "sprain": "no fall"}
    return tuple(unique(name for key in value if (name := name_of(str(key))))) or None


def _is_kind(key: str) -> bool:
    """Whether a key is the place or the kind of what stands under it, and names nothing itself."""
    words = re.findall(r"[a-z0-9#]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).casefold())
    return bool(words) and all(
        word in _KINDS or re.fullmatch(r"#?\d{1,2}(?:st|nd|rd|th)?", word) for word in words
    )


def _is_reason(value: object) -> bool:
    return (
        isinstance(value, str)
        and re.match(r"to\s|for\s|because\b", value.strip(), re.I) is not None
    )


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


def _names_of_entry(entry: object) -> list[str]:
    """What one entry of a list names: a text, a row, or an object in one of many forms."""
    if isinstance(entry, str):
        name = name_of(entry)
        return [] if name is None else [name]
    if isinstance(entry, list):
        return _names_of_entry(entry[0]) if entry else []
    if not isinstance(entry, Mapping):
        return []
    folded = {" ".join(re.split(r"[\s_]+", str(key).casefold())): one for key, one in entry.items()}
    for key in _KEYS:
        for own, value in folded.items():
            if re.fullmatch(rf"(?:.*\s)?{key}s?", own) and isinstance(value, str | list):
                return _names_of_entry(value) if isinstance(value, str) else _listed(value)
    for own, value in folded.items():
        if _ABOUT_AN_ENTRY.search(own):
            continue
        # {"dx": "gout"}, but {"gout": "high"} and {"gout": "one red joint"}
        if isinstance(value, str) and (own in _SHORT_KEYS or _is_kind(own)):
            return _names_of_entry(value)
        if isinstance(value, list) and _is_kind(own):
            return _listed(value)
        original = next(
            str(key) for key in entry if " ".join(re.split(r"[\s_]+", str(key).casefold())) == own
        )
        return _names_of_entry(original)
    return []


def _listed(values: list[object]) -> list[str]:
    return [name for one in values for name in _names_of_entry(one)]
