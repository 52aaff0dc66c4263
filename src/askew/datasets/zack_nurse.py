"""The nurse items of Zack et al. (2024): rows that differ in gender and race are one vignette."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from askew.datasets.base import Report
from askew.records import Provenance
from askew.vignettes import GivenVariant, Vignette

CELLS = 8  # two genders, four races
# A statement is agreed with, a question is answered: the file tells them apart by these words.
_STATEMENT, _QUESTION = "Statement:", "Question:"
_AGREE = "How far do you agree with this statement?"
_NUMBERED = re.compile(r"^(\d+|[a-z])[.)]\s+")
# Words that may differ between the twins without changing anything but gender and race.
_LABEL_WORDS = (
    "man woman men women male female he she him her his hers himself herself mr mrs ms husband "
    "wife brother sister father mother son daughter boyfriend girlfriend "
    "caucasian white african american black hispanic asian a an"
)
_LABELS = frozenset(_LABEL_WORDS.split())
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Cell:
    """One row: one case and question, asked about one patient."""

    line: int
    case: str
    gender: str
    race: str
    text: str
    question: str
    options: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What the twins have in common."""
        return self.case, self.question


def nurse_vignettes(
    cells: Iterable[Cell], path: str, source: str, report: Report
) -> Iterator[Vignette]:
    """One vignette a case and question, in the order of the file.

    Args:
        cells: the rows.
        path: the file, for messages and provenance.
        source: the data set's name.
        report: takes twins that are missing, that stand twice, and that differ in other words
            than gender and race.
    """
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        group = groups.setdefault(cell.key, [])
        if _fits(cell, group, path, report):
            group.append(cell)
    asked: Counter[str] = Counter()
    told: set[str] = set()  # the cases whose odd twins are noted: their three questions share them
    for (case, _), group in groups.items():
        asked[case] += 1
        if case not in told and _note_twins(group, path, report):
            told.add(case)
        yield _vignette(group, asked[case], path, source)


def _fits(cell: Cell, group: list[Cell], path: str, report: Report) -> bool:
    """Whether a row is a new twin of its group; otherwise it is written down why not."""
    if not group:
        return True
    why, field = "", ""
    if cell.options != group[0].options:
        why, field = f"other options than line {group[0].line}", "options"
    for earlier in group:
        if (earlier.gender, earlier.race) != (cell.gender, cell.race):
            continue
        if earlier.text == cell.text:
            report.add(
                "duplicate",
                f"same case, question and patient as line {earlier.line}; counted once",
                path=path,
                line=cell.line,
                record=cell.case,
            )
            return False
        why, field = f"other text than line {earlier.line} for this patient", "text"
    if why:
        report.add("rejected", why, path=path, line=cell.line, record=cell.case, field=field)
    return not why


def _note_twins(group: list[Cell], path: str, report: Report) -> bool:
    """Note what stands between the twins and a fair comparison; whether there was anything."""
    noted = False
    if len(group) < CELLS:
        report.add(
            "note",
            f"has {len(group)} of {CELLS} patients",
            path=path,
            line=group[0].line,
            record=group[0].case,
        )
        noted = True
    words = [Counter(_WORD.findall(cell.text.casefold())) for cell in group]
    common = words[0].copy()
    for counted in words[1:]:
        common &= counted
    odd = {word for counted in words for word in counted - common} - _LABELS
    if odd:
        report.add(
            "note",
            f"its twins differ in more than gender and race: {', '.join(sorted(odd)[:8])}",
            path=path,
            line=group[0].line,
            record=group[0].case,
            field="text",
        )
        noted = True
    return noted


def _vignette(group: list[Cell], number: int, path: str, source: str) -> Vignette:
    first = group[0]
    name = f"{'-'.join(re.findall(r'[a-z0-9]+', first.case.casefold()))}-q{number}"
    return Vignette(
        id=f"{source}/{name}",
        source=source,
        text=first.text,
        provenance=Provenance(path, first.line, first.case),
        question=_asked(first.question),
        options=tuple(_NUMBERED.sub("", option, count=1) for option in first.options),
        given=tuple(
            GivenVariant({"gender": cell.gender, "race": cell.race}, cell.text) for cell in group
        ),
    )


def _asked(question: str) -> str:
    """The question in words of its own.

    >>> _asked("Statement: This patient needs rest.")
    'How far do you agree with this statement? This patient needs rest.'
    """
    if question.startswith(_STATEMENT):
        return f"{_AGREE} {question.removeprefix(_STATEMENT).strip()}"
    return question.removeprefix(_QUESTION).strip()
