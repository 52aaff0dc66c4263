"""People look at a sample of the pairs: how many of the answers do they hold to be biased?

GMRL-BD (§4.1) had 300 pairs annotated and reports 11 with biased content, of answers that were all
contaminated on purpose; what was asked is not said. Here slanted and neutral pairs stand together,
unmarked and in a drawn order, and each share is reported apart: of the slanted ones as many as
possible should be flagged, of the neutral ones none. What tells them apart lies in a key file that
raters do not get.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from askew.build.inject_pairs import NEUTRAL, TopicPair
from askew.errors import DataError, bad_field
from askew.records import Estimate
from askew.report.sheet_cells import sheet_cell
from askew.report.words import clean
from askew.runfolder import canonical_hash, json_line, json_text, write_whole
from askew.seeds import generator
from askew.stats.intervals import wilson

FOLDER = "check"
SHEET = "pairs.csv"
LINES = "pairs.jsonl"
KEY = "key.json"
FORMAT = "askew injection check 1"
COLUMNS = ("id", "question", "answer", "flagged", "remark")
_YES = frozenset(("yes", "y", "1", "true", "flagged", "biased"))
_NO = frozenset(("no", "n", "0", "false", "clean"))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sample, in the order in which raters see it."""

    pairs: tuple[tuple[str, TopicPair], ...]  # id for raters, and the pair
    models: tuple[str, ...]  # the model of each
    of: int  # different pairs that it was drawn from

    @property
    def check(self) -> str:
        """What binds sheets and key together."""
        return canonical_hash([[name, one.question, one.answer] for name, one in self.pairs])[:16]


@dataclass(frozen=True, slots=True)
class Checked:
    """What raters said."""

    flagged: Estimate  # of all pairs with a verdict; the paper prints 11 of 300
    slanted: Estimate  # of those that were contaminated
    neutral: Estimate  # of those that were to stay neutral
    raters: int
    unanswered: int  # pairs that nobody judged
    undecided: int  # pairs on which as many said yes as no: in none of the shares
    agreement: float  # of two raters on a pair, the mean share that agree; NaN for fewer than two


def draw(by_model: Mapping[str, Sequence[TopicPair]], most: int, seed: int) -> Drawn:
    """A sample of the pairs of all models; a pair that stands in several is drawn once.

    Raises:
        DataError: there are no pairs.
    """
    distinct: dict[tuple[str, str], tuple[str, TopicPair]] = {}
    for model, pairs in by_model.items():
        for pair in pairs:
            distinct.setdefault((pair.question, pair.answer), (model, pair))
    if not distinct:
        raise DataError("there are no pairs to draw a sample from. Make some first.")
    rows = list(distinct.values())
    chosen = generator(seed, "inject", "check").permutation(len(rows))[:most]
    width = len(str(len(chosen)))
    named = tuple(
        (f"P{place:0{width}}", rows[int(index)][1]) for place, index in enumerate(chosen, start=1)
    )
    return Drawn(named, tuple(rows[int(index)][0] for index in chosen), len(rows))


def write_check(folder: Path, drawn: Drawn) -> list[Path]:
    """Write the sheet for raters, as CSV and JSON lines, and the key.

    A sheet that raters have begun to fill in is not written over.

    Raises:
        RunError: a file cannot be written.
    """
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, pair in drawn.pairs:
        writer.writerow([name, _cell(pair.question), _cell(pair.answer), "", ""])
    lines = [
        json_line({"id": name, "question": pair.question, "answer": pair.answer, "flagged": None})
        for name, pair in drawn.pairs
    ]
    key = {
        "format": FORMAT,
        "check": drawn.check,
        "drawn_from": drawn.of,
        "pairs": [
            {"id": name, "model": model, "topic_id": pair.topic_id, "slant": pair.slant}
            for (name, pair), model in zip(drawn.pairs, drawn.models, strict=True)
        ],
    }
    written = []
    for file, content in (
        (SHEET, text.getvalue()),
        (LINES, "".join(f"{line}\n" for line in lines)),
        (KEY, json_text(key)),
    ):
        path = target / file
        if file == KEY or not path.exists():
            write_whole(path, content)
        written.append(path)
    return written


def read_check(key: Path, sheets: Sequence[Path]) -> Checked:
    """What raters said of the sample; the majority decides on a pair.

    Args:
        key: the key file.
        sheets: one a rater, CSV or JSON lines as they were exported, with `flagged` filled in.

    Raises:
        DataError: no key, a sheet of another sample, a field that cannot be read, no verdict at
            all.
    """
    slant_of = _read_key(key)
    if not sheets:
        raise DataError("no sheet is named. Name what raters have filled in.")
    said: defaultdict[str, list[bool]] = defaultdict(list)
    raters = 0
    for sheet in sheets:
        found = _read_sheet(sheet, slant_of)
        raters += bool(found)
        for name, flagged in found.items():
            said[name].append(flagged)
    if not said:
        raise DataError(
            f"{sheets[0]}: no pair has a verdict. Fill in the column 'flagged' with yes or no."
        )
    verdict = {
        name: 2 * sum(votes) > len(votes)
        for name, votes in said.items()
        if 2 * sum(votes) != len(votes)
    }
    kinds = {
        kind: [flag for name, flag in verdict.items() if (slant_of[name] == NEUTRAL) is is_neutral]
        for kind, is_neutral in (("slanted", False), ("neutral", True))
    }
    of_kind = {
        kind: sum((slant == NEUTRAL) is (kind == "neutral") for slant in slant_of.values())
        for kind in kinds
    }
    return Checked(
        flagged=_share(list(verdict.values()), len(slant_of)),
        slanted=_share(kinds["slanted"], of_kind["slanted"]),
        neutral=_share(kinds["neutral"], of_kind["neutral"]),
        raters=raters,
        unanswered=len(slant_of) - len(said),
        undecided=len(said) - len(verdict),
        agreement=_agreement(list(said.values())),
    )


def as_json(checked: Checked) -> dict[str, object]:
    """The figures as they are kept."""
    return asdict(checked)


def _share(flags: Sequence[bool], asked: int) -> Estimate:
    hits, trials = sum(flags), len(flags)
    lower, upper = wilson(hits, trials)
    return Estimate(
        value=hits / trials if trials else math.nan,
        lower=lower,
        upper=upper,
        n=trials,
        coverage=trials / asked if asked else math.nan,
        method="wilson",
        note="" if trials else "no pair of the kind has a verdict",
    )


def _agreement(votes: Sequence[Sequence[bool]]) -> float:
    shares = []
    for one in votes:
        if len(one) > 1:
            yes, no = sum(one), len(one) - sum(one)
            shares.append((yes * (yes - 1) + no * (no - 1)) / (len(one) * (len(one) - 1)))
    return sum(shares) / len(shares) if shares else math.nan


def _read_key(path: Path) -> dict[str, str]:
    mend = "Name the key.json that was written with the sheets."
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as trouble:
        raise DataError(f"{path}: cannot be read: {trouble.strerror}. {mend}") from trouble
    except (ValueError, RecursionError) as trouble:
        raise DataError(f"{path}: not JSON: {trouble}. {mend}") from trouble
    found = values.get("format") if isinstance(values, dict) else None
    if found != FORMAT:
        raise DataError(f"{path}: field 'format' is {found!r}, expected {FORMAT!r}. {mend}")
    rows = values.get("pairs")
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{path}: field 'pairs' holds no pairs. {mend}")
    slants: dict[str, str] = {}
    for row in rows:
        name, slant = (row.get(k) if isinstance(row, dict) else None for k in ("id", "slant"))
        if not isinstance(name, str) or not isinstance(slant, str) or name in slants:
            raise DataError(f"{path}: field 'pairs' holds {row!r}, which is no entry. {mend}")
        slants[name] = slant
    return slants


def _read_sheet(path: Path, known: Mapping[str, str]) -> dict[str, bool]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as trouble:
        raise DataError(f"{path}: cannot be read: {trouble.strerror}. Check the path.") from trouble
    except UnicodeDecodeError as trouble:
        raise DataError(f"{path}: not UTF-8: {trouble}. Save it as UTF-8.") from trouble
    rows = _json_rows(path, text) if text.lstrip().startswith("{") else _csv_rows(path, text)
    found: dict[str, bool] = {}
    for line, name, value in rows:
        if name not in known:
            raise bad_field(
                str(path), line, "id", name, "an id of this check", "Name the sheets of one check."
            )
        plain = str(value).strip().casefold() if value is not None else ""
        if not plain:
            continue
        if plain not in _YES | _NO:
            raise bad_field(str(path), line, "flagged", value, "yes, no or nothing", "Mend it.")
        if name in found:
            raise bad_field(
                str(path), line, "id", name, "each id once", "Give each rater a sheet of their own."
            )
        found[name] = plain in _YES
    return found


def _csv_rows(path: Path, text: str) -> list[tuple[int, str, object]]:
    # A spreadsheet may have saved it with semicolons.
    head = text.partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    if missing := [one for one in ("id", "flagged") if one not in (reader.fieldnames or ())]:
        raise DataError(
            f"{path}: its header has no column {missing[0]!r}. Fill in the sheet that was exported."
        )
    try:
        return [
            (reader.line_num, (row["id"] or "").strip(), row["flagged"])
            for row in reader
            if any(isinstance(cell, str) and cell.strip() for cell in row.values())
        ]
    except csv.Error as trouble:
        raise DataError(f"{path}:{reader.line_num}: not CSV: {trouble}. Mend it.") from trouble


def _json_rows(path: Path, text: str) -> list[tuple[int, str, object]]:
    rows: list[tuple[int, str, object]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as trouble:
            raise DataError(f"{path}:{number}: not JSON: {trouble}. Mend it.") from trouble
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            raise bad_field(str(path), number, "id", record, "an object with an id", "Mend it.")
        rows.append((number, record["id"], record.get("flagged")))
    return rows


def _cell(text: str) -> str:
    return sheet_cell(clean(text))
