"""The clinical vignettes of Zack et al. (Lancet Digital Health, 2024): nurse items, 21 cases, CAD.

The repository has no licence, so nothing of it comes with askew or is fetched: name its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from askew.datasets import fields
from askew.datasets.base import BadRecord, DataSpec, Report, check_options, list_option
from askew.datasets.diversity_medqa import list_of_texts
from askew.datasets.files import File, Record, csv_rows, read_file
from askew.datasets.locate import checksum_name, find_file, root_of
from askew.datasets.vignette_records import (
    Vignettes,
    collect,
    excerpt,
    not_here,
    note_other_version,
)
from askew.datasets.vignettes import LoadedVignettes
from askew.datasets.zack_nurse import Cell, nurse_vignettes
from askew.errors import ConfigError, DataError
from askew.records import Provenance
from askew.vignettes import GivenVariant, Vignette

_FOLDERS = (
    "",
    "zack_vignettes",
    "data_to_share/nursing_bias",
    "data_to_share/healer_cases/ED_cases",
    "data_to_share/healer_cases/chest_pain",
    "data_to_share/healer_cases/dyspnea",
    "data_to_share/healer_cases/DDx_pharyngitis_Figure_2",
    "data_to_share/prompts",
)
_NURSE_FILES = ("unconscious_bias_nurses_final.csv", "unconscious_bias_nurses.csv")
_NURSE_COLUMNS = ("case", "gender", "race", "text", "prompt", "options")
_CASE_FILES = ("ED_cases.csv", "Outpt_chest_pain.csv", "Outpt_dyspnea.csv", "pharyngitis.csv")
_CAD_FILES = {"male": "CAD_vignette_1_male.txt", "female": "CAD_vignette_1_female.txt"}
_PARTS = ("cases", "cad")

# As the nurse file writes them -> the levels that askew names.
_GENDERS = {"m": "male", "f": "female"}
_RACES = {
    "caucasian": "White",
    "white": "White",
    "african-american": "Black",
    "black": "Black",
    "hispanic": "Hispanic",
    "asian": "Asian",
}
_SLOTS = re.compile(r"(?P<article>\b[Aa]n?\s+)?@Race\s+@Sex\b\s*")
# The slots' own words, as the recorded replies name their groups: "Male_Caucasian".
_SLOT_RACES = {"White": "Caucasian", "Black": "Black", "Hispanic": "Hispanic", "Asian": "Asian"}
_PRONOUNS = {
    "male": {"his": "his", "he": "he", "him": "him"},
    "female": {"his": "her", "he": "she", "him": "her"},
    "neutral": {"his": "their", "him": "them"},
}
_PRONOUN = re.compile(r"\b(his|him|he)\b", re.IGNORECASE)


def load_nurse(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read the nurse items: one vignette a case and question, its eight cells as `given` twins.

    `text` is the cell that the file lists first (a white man in all eight cases): the file has no
    neutral form. There is no right answer, so `answer` is None.

    Args:
        spec: its path is the CSV or a folder that holds it; no options.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ())
    root = root_of(spec)
    path = root if root.is_file() else _first(root, _NURSE_FILES)
    if path is None:
        raise not_here(spec, _NURSE_FILES[0])
    file = read_file(path)
    report = Report()
    note_other_version(file, _NURSE_FILES[0], spec.name, report)
    cells = _cells(csv_rows(file, report, _NURSE_COLUMNS), file.label, report)
    vignettes = tuple(nurse_vignettes(cells, file.label, spec.name, report))
    checksums = {checksum_name(path, root): file.sha256}
    return LoadedVignettes(spec.name, vignettes, report.finish(lenient=lenient), checksums)


def load_cases(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read the 21 diagnostic cases with their reference differentials.

    Each case is one sentence with the slots @Race and @Sex. `text` says "patient" in their place;
    `given` fills them with four races and two genders.

    Args:
        spec: its path is one of the CSV files or a folder that holds them. Its option `parts`
            names what is read: `cases` (the default) and `cad`, the vignette on coronary disease,
            which has a male and a female text and no reference.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ("parts",))
    parts = list_option(spec, "parts") or ("cases",)
    unknown = sorted(set(parts) - set(_PARTS))
    if unknown:
        raise ConfigError(
            f"data set {spec.name!r} has no part {unknown[0]!r}. It has: {', '.join(_PARTS)}."
        )
    root = root_of(spec)
    report = Report()
    vignettes = Vignettes(report)
    checksums: dict[str, str] = {}
    if "cases" in parts:
        for path in _case_files(spec, root, report):
            file = read_file(path)
            checksums[checksum_name(path, root)] = file.sha256
            note_other_version(file, path.name.removesuffix(".gz"), spec.name, report)
            _read_cases(file, spec.name, vignettes, report)
    if "cad" in parts:
        files = _cad_files(spec, root)
        checksums |= {checksum_name(Path(file.label), root): file.sha256 for file in files.values()}
        vignettes.add(_cad(files, spec.name))
    return LoadedVignettes(spec.name, tuple(vignettes), report.finish(lenient=lenient), checksums)


def _first(root: Path, names: Iterable[str]) -> Path | None:
    found = (find_file(root, _FOLDERS, name) for name in names)
    return next((path for path in found if path is not None), None)


def _cells(rows: Iterable[Record], path: str, report: Report) -> Iterator[Cell]:
    for record in rows:
        try:
            yield _cell(record)
        except BadRecord as bad:
            report.add(
                "rejected",
                bad.message,
                path=path,
                line=record.line,
                record=excerpt(record.fields["case"]),
                field=bad.field,
            )


def _cell(record: Record) -> Cell:
    row = record.fields
    text, prompt = fields.text(row, "text"), fields.text(row, "prompt")
    options = list_of_texts(row, "options")
    _, found, asked = prompt.partition(text)
    if not found:
        raise BadRecord("does not hold the text of the vignette", "prompt")
    question = asked.partition("\n" + options[0])[0].strip()
    if not question:
        raise BadRecord("asks nothing after the text", "prompt")
    return Cell(
        line=record.line,
        case=fields.text(row, "case"),
        gender=_level(row, "gender", _GENDERS),
        race=_level(row, "race", _RACES),
        text=text,
        question=question,
        options=options,
    )


def _level(row: Mapping[str, Any], name: str, known: Mapping[str, str]) -> str:
    word = fields.text(row, name)
    level = known.get(word.casefold())
    if level is None:
        raise BadRecord(f"is {excerpt(word)!r}, expected {', '.join(known)}", name)
    return level


def _case_files(spec: DataSpec, root: Path, report: Report) -> list[Path]:
    if root.is_file():
        return [root]
    found = {name: find_file(root, _FOLDERS, name) for name in _CASE_FILES}
    for name, path in found.items():
        if path is None:
            report.add("note", f"holds no {name}: its cases are left out", path=str(root))
    files = [path for path in found.values() if path is not None]
    if not files:
        raise not_here(spec, _CASE_FILES[0])
    return files


def _read_cases(file: File, source: str, vignettes: Vignettes, report: Report) -> None:
    stem = re.split(r"[\\/]", file.label)[-1].partition(".")[0]
    # The header's names differ from file to file: title or Case, "Case one liner" or "one line".
    rows = (
        Record(record.line, {_column(name): value for name, value in record.fields.items()})
        for record in csv_rows(file, report, ("DDx",))
    )

    def make(record: Record) -> Vignette:
        return _case(record, stem, file.label, source)

    collect(rows, make, vignettes, report, path=file.label, name_field="title")


def _column(name: str) -> str:
    word = name.strip().casefold()
    if word in ("case one liner", "one line"):
        return "text"
    return {"case": "title", "ddx": "DDx"}.get(word, word)


def _case(record: Record, stem: str, path: str, source: str) -> Vignette:
    title, line = fields.text(record.fields, "title"), fields.text(record.fields, "text")
    if _SLOTS.search(line) is None:
        raise BadRecord(f"is {excerpt(line)!r}, expected the slots @Race @Sex in it", "text")
    return Vignette(
        id=f"{source}/{stem.casefold()}-{_number(title)}",
        source=source,
        text=fill_slots(line, None, None),
        provenance=Provenance(path, record.line, title),
        reference=_differential(record.fields),
        given=tuple(
            GivenVariant({"gender": gender, "race": race}, fill_slots(line, gender, race))
            for gender in ("male", "female")
            for race in _SLOT_RACES
        ),
    )


def _number(title: str) -> str:
    """What names a case in its file: the complaint and the number, without the author's notes.

    >>> _number("Chest pain - 15 - Iron deficiency anemia - A. Author"), _number("Pharyngitis 03")
    ('chest-pain-15', 'pharyngitis-03')
    """
    numbered = re.match(r"(?P<complaint>.*?)[\s-]*(?P<number>\d+)", title)
    words = f"{numbered['complaint']} {numbered['number']}" if numbered else title
    return "-".join(re.findall(r"\w+", words.casefold()))


def fill_slots(line: str, gender: str | None, race: str | None) -> str:
    """A case's sentence with its slots filled; None for both says "patient".

    A pronoun in the sentence follows the gender, as one sentence of the release has "his" for
    every patient. Typing faults of blanks are mended; no other character is touched.

    >>> fill_slots("A 54- year- old @Race @Sex  has pain in his back. ", None, None)
    'A 54-year-old patient has pain in their back.'
    >>> fill_slots("A @Race @Sex has pain in his back.", "female", "Asian")
    'An Asian female has pain in her back.'
    """
    filled = "patient" if gender is None or race is None else f"{_SLOT_RACES[race]} {gender}"

    def put(slots: re.Match[str]) -> str:
        if not slots["article"]:
            return filled + " "
        # "A" or "An" stood for a race that was not chosen yet.
        return f"{slots['article'][0]}{'n' if filled[0] in 'AEIOU' else ''} {filled} "

    text = " ".join(_SLOTS.sub(put, line).split())
    text = re.sub(r"(\d+)- ?year- ?old", r"\1-year-old", text)
    text = re.sub(r" (?=[,.;:])", "", text)
    forms = _PRONOUNS[gender if gender in _PRONOUNS and race is not None else "neutral"]

    def follow(pronoun: re.Match[str]) -> str:
        word = forms.get(pronoun[0].casefold(), pronoun[0])
        return word.capitalize() if pronoun[0][0].isupper() else word

    return _PRONOUN.sub(follow, text)


def _differential(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The DDx in its order: one diagnosis a line, with commas that may or may not be there."""
    text = fields.text(row, "DDx")
    lines = text.split("\n") if "\n" in text else text.split(",")
    diagnoses = tuple(line.strip(" \t\r,") for line in lines if line.strip(" \t\r,"))
    if not diagnoses:
        raise BadRecord("holds no diagnosis", "DDx")
    return diagnoses


def _cad_files(spec: DataSpec, root: Path) -> dict[str, File]:
    files: dict[str, File] = {}
    for gender, name in _CAD_FILES.items():
        path = None if root.is_file() else find_file(root, _FOLDERS, name)
        if path is None:
            raise not_here(spec, name)
        files[gender] = read_file(path)
    return files


def _cad(files: Mapping[str, File], source: str) -> Vignette:
    """The vignette on coronary artery disease; `text` is its male side, as in the nurse items."""
    texts = {}
    for gender, file in files.items():
        try:
            texts[gender] = file.data.decode("utf-8-sig").replace("\r\n", "\n").strip()
        except UnicodeDecodeError as error:
            raise DataError(f"{file.label}: not UTF-8. Save the file as UTF-8.") from error
    return Vignette(
        id=f"{source}/cad-1",
        source=source,
        text=texts["male"],
        provenance=Provenance(files["male"].label, 1, "cad-1"),
        given=tuple(GivenVariant({"gender": gender}, text) for gender, text in texts.items()),
        relevance={"gender": "relevant"},
    )
