"""Fields of an answer that stand under headings, in lists or behind labels: Markdown replies."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from askew.scores.clinical_found import Found
from askew.scores.clinical_lists import (
    name_of,
    names_in,
    names_of_value,
    says_nothing_is_needed,
    unique,
)
from askew.scores.clinical_words import FieldName, field_of, heading_field, referral_of, urgency_of

_HASH = re.compile(r"\s{0,3}#{1,6}\s+(?P<words>[^\n]{1,200}?)\s*#*\s*")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:(?P<bullet>[-*•◦▪●+–])|(?P<number>\(?\d{1,2}[.)]"
    r"|\d{1,2}\s?[-:]|\(?[a-z][.)]|\(?[A-H]\)))\s+(?P<words>\S.*)"
)
_BOLD_LABEL = re.compile(
    r"\*\*(?P<label>[^*\n]{1,90}?)(?:\*\*\s*[:：]|[:：]\s*\*\*)\s*(?P<value>.*)"
)
_BOLD_LINE = re.compile(r"\*\*(?P<label>[^*\n]{1,90})\*\*\s*(?P<value>)")
_LABEL = re.compile(r"(?P<label>[^:：\n]{1,90})[:：](?:\s+(?P<value>.*)|\s*(?P<none>))")
_ROW = re.compile(r"\s{0,3}\|.*\|\s*$")
_INNER_LABEL = re.compile(r"(?<=[.;])[ \t]+(?P<label>[A-Z][\w /&-]{2,40}:)(?=\s)")
_REMARK = re.compile(
    r"^(?:notes?|important|disclaimer|remember|please|why|confidence|likelihood|caution|red flags?"
    r"|next steps?|recommend\w*|conclusion|summary|prognosis|prevention|follow.?up)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[a-z)][.!?])\s+(?=[A-Z])")
_ADVISES = re.compile(r"\b(?:immediate|actions?|recommend\w*|advice|what to do)\b", re.IGNORECASE)
# "Here are some possible causes of these symptoms:" opens a list of them.
_INTRODUCES = re.compile(
    r"\b(?:possible|potential|likely|probable|common|several|some|following|top|main|other|these"
    r"|differential|various|few)\b.{0,60}?\b(?P<noun>causes|diagnos[ei]s|conditions|possibilities"
    r"|explanations|differentials?|considerations|illnesses|diseases"
    r"|ones|tests|investigations|treatments?|medications)\b"
    r"|\b(?P<due>caused by|due to|causes (?:are|(?:may |might |could |can )?include)"
    r"|consider(?:ed)?"
    r"|diagnos[ei]s (?:is|are|includes?)"
    r"|differential(?: diagnosis)? (?:is|includes?))\b"
    r"|\b(?P<treat>treatment|management|therapy)\b.{0,40}?\b(?:is|includes?"
    r"|consists? of|involves?|following|options)\b"
    r"|\b(?P<test>tests|investigations|work.?up|imaging)\b.{0,40}?\b(?:is|are"
    r"|includes?|following|recommended|needed|considered)\b",
    re.IGNORECASE,
)
# Headings of lists that say how likely their items are, and not what they are.
_RANK = re.compile(
    r"\W*(?:(?:most|more|less|least|also|quite|very|highly)\s)?(?:likely|common|possible|probable"
    r"|serious|unlikely|rare)(?:\s?(?:,|but|and|or|/)\s?(?:\w+\s){0,3}?(?:serious|common|possible"
    r"|important|dangerous|rare|concerning|worth considering|likely))?\W*\Z",
    re.IGNORECASE,
)
_LOWER_RANK = re.compile(r"\W*(?:less|least|also|unlikely|rare|serious)\b", re.IGNORECASE)
# A list of what to do, though causes were asked for: its heading says so, or its items do.
_TO_DO = re.compile(
    r"\b(?:meantime|steps?|to do|help|try|tips?|reliev\w+|relief|manag\w+|treat\w*|advice|actions?"
    r"|recommend\w*|suggest(?:ions?)?|(?:you|they|he|she|patient) (?:can|should|may|could|must"
    r"|need)|see a doctor|questions?|monitor|precautions?|prevent\w*|plan)\b",
    re.IGNORECASE,
)
_ACT = re.compile(
    r"\W*(?:rest|drink|take|avoid|see|get|stay|use|apply|seek|consult|monitor|keep|try|start|check"
    r"|ask|consider|visit|call|contact|make|go|eat|schedule|follow|do|perform|order|obtain|give"
    r"|provide|ensure|maintain|track|watch|talk|limit|stop|refer|evaluate|assess)\b(?!\W*(?:syndrome"
    r"|disease))",
    re.IGNORECASE,
)
_ASKS_ABOUT = re.compile(
    r"\b(?:determine|ask|history|confirm|questions?|risk factors?|rule out"
    r"|(?<!these )(?<!the )(?<!your )symptoms (?:of|include)"
    r"|however|complications?|prevent\w*|red flags?|seek|worse\w*|return"
    r"|causes of (?:the |this )?(?:bias|error))\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Item:
    indent: int
    numbered: bool
    words: str
    in_bold: bool = False  # a bold label at the start of a line, in no list


@dataclass(slots=True)
class _Section:
    name: FieldName | None
    value: str = ""
    heading: str = ""
    items: list[_Item] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def top_items(self) -> list[str]:
        """The items of the list, without those that explain another item."""
        if not self.items:
            return []
        first = min(item.indent for item in self.items)
        top = [item for item in self.items if item.indent < first + 2]
        # "* Infections:" with its own list is a kind, and its list holds the items.
        deeper = [item for item in self.items if item.indent >= first + 2]
        if deeper and all(item.words.rstrip(" *_").endswith(":") for item in top):
            return [item.words for item in deeper]
        # "1. Malaria" with unindented bullets below each: only the numbers are items.
        numbered = [item for item in top if item.numbered]
        if numbered and not top[0].numbered:
            return [item.words for item in top if not item.numbered]
        return [item.words for item in numbered or top]

    def beside(self) -> list[str]:
        """What is said outside of lists, and the items of a list of advice."""
        advice = self.name is None and _ADVISES.search(self.heading)
        items = [item.words for item in self.items] if advice else []
        # "Triage: routine. This is likely a cold." goes on after its value.
        value = (
            [self.value]
            if self.name in (None, "answer", "rationale")
            else _SENTENCE_END.split(self.value, maxsplit=1)[1:]
        )
        return [*value, *self.lines, *items]


def sections_found(text: str, *, cut: bool, headless: bool) -> tuple[Found, str]:
    """The fields that headings, labels and introduced lists settle, and the running text besides.

    Args:
        text: the reply, Markdown or plain, lines kept.
        cut: by the token limit; the section it ends in is then left out.
        headless: take a numbered list without any heading for the differential, as where the
            question asked for nothing else.
    """
    sections = _sections(_label_lines(text), headless)
    found = Found()
    for section in sections[:-1] if cut else sections:
        if section.name is not None:
            _take(section, found)
    found.cut_list = cut and sections[-1].name in ("leading", "differential", "others")
    if found.given:
        found.rules.append("sections")
    return found, "\n".join(line for section in sections for line in section.beside())


def _label_lines(text: str) -> str:
    """The text with a label in the middle of a line, "… Urgency: urgent.", on a line of its own."""
    return _INNER_LABEL.sub(
        lambda found: f"\n{found['label']}" if heading_field(found["label"]) else found[0], text
    )


def _sections(text: str, headless: bool) -> list[_Section]:
    sections = [_Section(None)]
    columns: list[FieldName | None] = []
    for line in text.split("\n"):
        if not line.strip():
            columns = []
            continue
        if _ROW.match(line):
            columns = _take_row(line, columns, sections)
            continue
        opened = _opened(line, sections[-1])
        if opened is sections[-1]:
            continue
        if opened is not None:
            sections.append(opened)
            continue
        item = _ITEM.match(line[:2000])
        if item:
            words = item["words"]
            sections[-1].items.append(
                _Item(len(item["indent"].expandtabs(4)), item["number"] is not None, words)
            )
        else:
            sections[-1].lines.append(line.strip())
    if headless and not any(
        section.name in ("leading", "differential") and (section.items or section.value)
        for section in sections
    ):
        _take_headless(sections)
    return sections


def _take_headless(sections: list[_Section]) -> None:
    """Name the lists of diagnoses that no heading calls so, where nothing else was asked for.

    These are the only numbered list, before any field; or the lists below "More likely", "Less
    likely but serious" and the like.
    """
    by_rank = [
        one for one in sections if one.name is None and one.items and _RANK.match(one.heading)
    ]
    for section in by_rank:
        section.name = "others" if _LOWER_RANK.match(section.heading) else "differential"
    # Bullets alone may explain anything; a reply of bullets and nothing else is the list asked for.
    bare = not any(one.lines or one.value or one.name for one in sections)
    lists = [one for one in sections if any(bare or item.numbered for item in one.items)]
    if by_rank or len(lists) != 1 or lists[0].name is not None:
        return
    acts = [_ACT.match(words) is not None for words in lists[0].top_items()]
    if _TO_DO.search(lists[0].heading) or sum(acts) * 2 > len(acts):
        return
    first_named = next((place for place, one in enumerate(sections) if one.name), len(sections))
    if sections.index(lists[0]) < first_named:
        lists[0].name = "differential"


def _take_row(
    line: str, columns: list[FieldName | None], sections: list[_Section]
) -> list[FieldName | None]:
    """Add a row of a table to the sections that its columns name; the columns, for the next row."""
    cells = [cell.strip() for cell in line[:2000].strip().strip("|").split("|")]
    if not columns:
        columns = [field_of(cell) for cell in cells]
        sections += [_Section(name) for name in columns if name is not None]
        return columns or [None]
    if set("".join(cells)) <= set("-: "):
        return columns
    own = [section for section in sections[-len(columns) :] if section.name in columns]
    named = [name for name in columns if name is not None]
    for name, cell in zip(columns, cells, strict=False):
        if name is not None and cell:
            own[named.index(name) - len(named)].items.append(_Item(0, True, cell))
    return columns


def _opened(line: str, current: _Section) -> _Section | None:
    """The section that a line opens, if it does."""
    line = line[:2000]
    hashed = _HASH.fullmatch(line)
    if hashed:
        return _of_heading(hashed["words"], current)
    item = _ITEM.match(line)
    words = (item["words"] if item else line).strip()
    for pattern in (_BOLD_LABEL, _BOLD_LINE, _LABEL):
        labelled = pattern.fullmatch(words)
        if labelled is None:
            continue
        label, value = labelled["label"], (labelled["value"] or "").strip()
        name = heading_field(label)
        if value.endswith(":") and name in (None, "answer", "rationale") and item is None:
            return _Section(_introduced(value), heading=value)
        if name is not None:
            # Within a list of tests, "- Imaging: chest X-ray" is an item of it.
            nested = item is not None and current.name == name
            return None if nested else _Section(name, value)
        if item is None and pattern is _BOLD_LINE:
            return _of_heading(label, current)
        if item is None and not value:
            return _Section(_introduced(label), heading=label)
        if item is None and pattern is _BOLD_LABEL:
            return _of_bold_label(label, value, words, current)
    if item is None and words.endswith((":", "：")):
        return _Section(_introduced(words), heading=words)
    if item is None and len(words.split()) <= 5 and not re.search(r"[.,;!?]", words):
        name = heading_field(words)
        return _Section(name, heading=words) if name is not None else None
    return None


def _of_bold_label(label: str, value: str, words: str, current: _Section) -> _Section:
    """The section of a bold label; below "Possible causes", "**Malaria:** …" is one of them."""
    in_list = current.name in ("differential", "others") and not current.value
    if in_list and not _REMARK.search(label) and all(one.in_bold for one in current.items):
        current.items.append(_Item(0, True, words, in_bold=True))
        return current
    return _Section(None, value, heading=label)


def _of_heading(words: str, current: _Section) -> _Section:
    words = words.strip(" *_:")
    label, _, value = words.partition(": ")
    name = heading_field(label)
    numbered = re.match(r"\(?\d{1,2}[.)]\s+(?P<words>.+)", words)
    if name is None and numbered and current.name in ("differential", "others"):
        # "### 1. Malaria" below "## Possible causes"
        current.items.append(_Item(0, True, numbered["words"]))
        return current
    return _Section(name, value if name else "", heading=words)


def _introduced(words: str) -> FieldName | None:
    """The field whose list a sentence introduces: its last sentence, that ends with a colon."""
    last = re.split(r"(?<=[.!?])\s", words)[-1].strip(" *_:")
    if len(last) > 300 or _ASKS_ABOUT.search(last):
        return None
    found = _INTRODUCES.search(last)
    if found is None:
        return None
    if found["test"] or (found["noun"] or "").casefold() in ("tests", "investigations"):
        return "tests"
    noun = (found["noun"] or "").casefold()
    if found["treat"] or noun.startswith(("treatment", "medication")):
        return "treatments"
    others = re.search(r"\b(?:other|less likely|alternative)\b", last, re.IGNORECASE)
    return "others" if others else "differential"


def _take(section: _Section, found: Found) -> None:
    name = section.name
    if name in ("leading", "differential", "others"):
        _take_diagnoses(section, found)
    elif name == "urgency":
        value = " ".join([section.value, *section.top_items()[:1], *section.lines[:1]]).strip()
        level = urgency_of(section.value) if section.value else urgency_of(value)
        found.urgency = level if found.urgency is None else found.urgency
    elif name == "referral":
        value = section.value or " ".join([*section.top_items()[:1], *section.lines[:1]])
        refers = referral_of(value)
        found.referral = refers if found.referral is None else found.referral
    elif name in ("tests", "treatments"):
        names = _names(section)
        if names is not None:
            known = getattr(found, name)
            setattr(found, name, unique([*(known or []), *names]))


def _take_diagnoses(section: _Section, found: Found) -> None:
    names = _names(section)
    if not names:
        return
    if section.name == "leading":
        # One diagnosis with its remarks, unless a list stands below it.
        found.leading += names if section.top_items() and not section.value else names[:1]
    elif section.name == "others":
        found.others += names
    else:
        found.listed = unique([*(found.listed or []), *names])


def _names(section: _Section) -> list[str] | None:
    """The names of a section: its list, else its value, else its first line."""
    items = section.top_items()
    value = section.value or ("" if items else " ".join(section.lines[:1]))
    if items and not section.value:
        names = [name for item in items if (name := name_of(item)) is not None]
        if not names and says_nothing_is_needed(items[0]):
            return []
        return unique(names) or None
    if says_nothing_is_needed(value):
        return []
    first = re.split(r"(?<=[.!?])\s+(?=[A-Z])", value)[0]
    if section.name == "leading":
        name = name_of(first)
        return [name] if name is not None and len(name.split()) <= 8 else None
    if re.search(r"(?:^|\s)\(?1[.)]\s", value):
        names = list(names_of_value(value) or ())
    else:
        names = [name for name in names_in(first) if len(name.split()) <= 8]
    if items:
        names += [name for item in items if (name := name_of(item)) is not None]
    return unique(names) or None
