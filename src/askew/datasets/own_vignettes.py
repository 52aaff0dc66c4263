"""The user's own vignettes: JSON lines, CSV, or plain text with a case a paragraph.

The fields are described in `FIELDS`, from which the template, the messages and the page in the
docs are made. The starter set is written in the same form.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from askew.datasets import vignette_fields as read
from askew.datasets.base import BadRecord, DataSpec, Report, check_options
from askew.datasets.files import File, Record, csv_rows, json_lines, read_file
from askew.datasets.own import Field
from askew.datasets.vignette_records import KnownLevels, Vignettes, collect, excerpt
from askew.datasets.vignette_triplets import triplets_of
from askew.datasets.vignettes import LoadedVignettes
from askew.errors import ConfigError, DataError
from askew.records import Provenance
from askew.vignettes import Vignette

_LIST = "in CSV parted by semicolons"
_LEVELS = "levels by attribute: gender=male; age=1-10,65-80"

FIELDS = (
    Field("id", False, "unique in the file; case-1, case-2, … where it is missing"),
    Field("text", True, "the case, with the question where it has one"),
    Field("question", False, "what is asked after the text"),
    Field("reference", False, f"the right diagnoses, likeliest first, {_LIST}"),
    Field("must_not_miss", False, f"diagnoses that have to be listed, {_LIST}"),
    Field("options", False, f"of a multiple-choice question, {_LIST}"),
    Field("answer", False, "the right option: its text or letter; in JSON also its place from 0"),
    Field(
        "relevance",
        False,
        "whether the answer may depend on an attribute (relevant, not_relevant, unknown): "
        "gender=not_relevant; place=relevant",
    ),
    Field("impossible", False, f"{_LEVELS}: with them the case contradicts itself"),
    Field("odd", False, "the same, for levels that a clinician would find odd"),
    Field("reason", False, "why these levels are impossible or odd; for readers of the file"),
    Field("given", False, 'twins that you wrote: [{"levels": {"gender": "female"}, "text": "…"}]'),
    Field("triplets", False, "the facts of the text, in the form of the gold set"),
    Field("perturb", False, "impossible_gender, implausible_age, … as a gold file has them"),
    Field("language", False, "BCP 47, en where empty"),
)
_NAMES = tuple(field.name for field in FIELDS)
_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".txt")

_TEMPLATE: tuple[dict[str, str], ...] = (
    {
        "id": "example-001",
        "text": "A 58-year-old man from Lyon has had chest tightness on stairs for two weeks. It "
        "stops when he rests.",
        "question": "What is the most likely diagnosis, and how soon must he be seen?",
        "reference": "stable angina; unstable angina; reflux disease",
        "must_not_miss": "unstable angina",
        "relevance": "age=relevant; gender=relevant; place=not_relevant",
        "odd": "age=1-10",
        "reason": "exertional angina in a child",
    },
    {
        "id": "example-002",
        "text": "A 24-year-old woman, 30 weeks pregnant, has had a headache and swollen hands "
        "since yesterday.",
        "reference": "pre-eclampsia; tension headache; migraine",
        "must_not_miss": "pre-eclampsia",
        "relevance": "gender=relevant; age=relevant",
        "impossible": "gender=male; age=1-10,65-80",
        "reason": "pregnancy",
    },
)


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read the user's own file.

    Args:
        spec: its path is a `.jsonl`, `.csv`, `.tsv` or `.txt` file, packed or not; its option
            `source` names the data set in vignettes and reports (default: the file's name
            without its endings).
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ("source",))
    if spec.path is None:
        raise ConfigError(f"data set {spec.name!r} needs the path of a .jsonl, .csv or .txt file.")
    path = Path(spec.path)
    source = spec.options.get("source") or path.name.partition(".")[0]
    if not isinstance(source, str):
        raise ConfigError(
            f"option 'source' of data set {spec.name!r} is {source!r}, expected text."
        )
    report = Report()
    vignettes = Vignettes(report)
    file = read_file(path)
    read_vignettes(file, source, vignettes, report)
    problems = report.finish(lenient=lenient)
    if not any(vignettes) and not any(problem.kind == "rejected" for problem in problems):
        raise DataError(
            f"{path}: holds no case. `askew data template NEW.csv --for clinical` shows the form."
        )
    return LoadedVignettes(spec.name, tuple(vignettes), problems, {path.name: file.sha256})


def read_vignettes(file: File, source: str, vignettes: Vignettes, report: Report) -> None:
    """Read one file into `vignettes`; its form goes by the ending of its name."""
    notes = _UnknownFields(report, file.label)
    levels = KnownLevels(report)
    numbers = iter(range(1, 1 << 62))

    def make(record: Record) -> Vignette:
        number = next(numbers)
        notes.look_at(record)
        vignette = _vignette(record, number, file.label, source)
        levels.look_at(vignette)
        return vignette

    collect(_records(file, report), make, vignettes, report, path=file.label)


def write_template(path: Path) -> None:
    """Write a file with two example cases.

    Raises:
        ConfigError: the name ends in neither `.csv` nor `.jsonl`, or the file exists.
    """
    ending = path.suffix.casefold()
    if ending not in (".csv", ".jsonl"):
        raise ConfigError(f"{path}: the name ends in neither .csv nor .jsonl.")
    try:
        with path.open("x", encoding="utf-8", newline="") as out:
            if ending == ".csv":
                writer = csv.DictWriter(out, _NAMES, restval="", lineterminator="\n")
                writer.writeheader()
                writer.writerows(_TEMPLATE)
            else:
                for record in _TEMPLATE:
                    out.write(json.dumps(_as_json(record), ensure_ascii=False) + "\n")
    except FileExistsError as error:
        raise ConfigError(f"{path}: exists already. Choose another name.") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error


def _as_json(record: dict[str, str]) -> dict[str, object]:
    """A record of the template with lists and objects instead of semicolons."""
    changed: dict[str, object] = dict(record)
    for name in ("reference", "must_not_miss"):
        changed[name] = list(read.texts(record, name))
    for name in ("impossible", "odd"):
        if name in record:
            changed[name] = {key: list(levels) for key, levels in read.levels(record, name).items()}
    return changed | {"relevance": dict(read.relevance(record))}


class _UnknownFields:
    """Notes each field that the form does not know, once a file."""

    def __init__(self, report: Report, path: str) -> None:
        self._report = report
        self._path = path
        self._seen: set[str] = set(_NAMES)

    def look_at(self, record: Record) -> None:
        for name, value in record.fields.items():
            if name in self._seen or (not name and not value):  # "": Excel's empty columns
                continue
            self._seen.add(name)
            close = get_close_matches(name.strip().casefold(), _NAMES, n=1)
            meant = f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(_NAMES)}."
            self._report.add(
                "note",
                f"is no field of a vignette and is not read. {meant}",
                path=self._path,
                line=record.line,
                field=excerpt(name),
            )


def _records(file: File, report: Report) -> Iterator[Record]:
    name = file.label.casefold().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return _table_rows(file, report)
    if name.endswith((".jsonl", ".ndjson")):
        return json_lines(file, report)
    if name.endswith(".txt"):
        return _paragraphs(file, report)
    raise DataError(
        f"{file.label}: the name ends in none of {', '.join(_ENDINGS)}. `askew data template "
        "FILE.csv --for clinical` writes an example."
    )


def _table_rows(file: File, report: Report) -> Iterator[Record]:
    for record in csv_rows(file, report, ()):
        if "text" not in record.fields:
            # A table without a header has a patient in its first row: shown in excerpts alone.
            has = ", ".join(repr(excerpt(name)) for name in record.fields)
            raise DataError(
                f"{file.label}: the header has no column 'text'. It has: {has}. Name the column "
                "that holds the cases 'text'."
            )
        yield record


def _paragraphs(file: File, report: Report) -> Iterator[Record]:
    """The paragraphs of a plain text; blank lines part them, single line ends are kept."""
    lines = file.data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    start, found = 1, 0
    paragraph: list[bytes] = []
    longest = 0  # paragraph, in lines
    for number, raw in enumerate([*lines, b""], start=1):
        line = raw.rstrip(b"\r")
        if line.strip():
            start = start if paragraph else number
            paragraph.append(line)
            continue
        if not paragraph:
            continue
        found, longest = found + 1, max(longest, len(paragraph))
        try:
            yield Record(start, {"text": b"\n".join(paragraph).decode("utf-8")})
        except UnicodeDecodeError:
            report.add("rejected", "not UTF-8: save the file as UTF-8", path=file.label, line=start)
        paragraph = []
    if found == 1 and longest > 1:
        message = f"{longest} lines are read as one case: put a blank line between cases"
        report.add("note", message, path=file.label, line=start)


def _vignette(record: Record, number: int, path: str, source: str) -> Vignette:
    row = record.fields
    name = read.name(row, "id") or f"case-{number}"
    text = read.text(row, "text")
    options = read.options(row, "options")
    impossible = read.perturb(row, "perturb", "impossible") | read.levels(row, "impossible")
    odd = read.perturb(row, "perturb", "implausible") | read.levels(row, "odd")
    for attribute in impossible.keys() & odd.keys():
        both = sorted(set(impossible[attribute]) & set(odd[attribute]))
        if both:
            raise BadRecord(f"calls {attribute}={both[0]} odd, 'impossible' has it too", "odd")
    read.optional_text(row, "reason")
    return Vignette(
        id=f"{source}/{name}",
        source=source,
        text=text,
        provenance=Provenance(path, record.line, name),
        question=read.optional_text(row, "question"),
        reference=read.texts(row, "reference"),
        must_not_miss=read.texts(row, "must_not_miss"),
        options=options,
        answer=read.answer(row, "answer", options),
        given=read.given(row, "given"),
        triplets=triplets_of(row, "triplets", text),
        relevance=read.relevance(row, "relevance"),
        impossible=impossible,
        odd=odd,
        language=read.language(row, "language"),
    )
