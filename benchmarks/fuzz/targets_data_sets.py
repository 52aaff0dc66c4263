"""Readers of data sets: fairness sets, vignettes, gold triplets, packed files."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import itertools
import json
import zlib
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass

from harness import Target, law
from places import written

from askew.datasets import bbq, crows_pairs, flex, own, own_vignettes, stereoset
from askew.datasets.base import DataSpec, Report
from askew.datasets.collect import Items
from askew.datasets.files import csv_rows, json_document, json_lines, unpacked
from askew.datasets.flex_built import parquet_records, read_built
from askew.datasets.flex_form import RELEASED_COLUMNS, SOURCES
from askew.datasets.gold_triplets import read_gold
from askew.datasets.packed import Packed
from askew.datasets.vignette_records import Vignettes
from askew.datasets.vignettes import load as load_vignettes
from askew.survey.from_file import candidates_of_file

JSON_WORDS = (
    b'{"',
    b'": ',
    b"[",
    b"]",
    b"}",
    b'","',
    b"null",
    b"true",
    b"NaN",
    b"1e999",
    b"\\ud800",
)
CSV_WORDS = (
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"\r\n",
    b"\n",
    b'\n"',
    b"\xef\xbb\xbf",
    b"nan",
    b"7.0",
)
PACK_WORDS = (b"\x1f\x8b\x08", b"BZh9", b"1AY&SY", b"\x00" * 8, b"\x17rE8P\x90")


def text_in(value: object) -> Iterable[str]:
    """Every text in a record, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(map(text_in, (*value, *value.values())))
    elif isinstance(value, tuple | list):
        yield from itertools.chain.from_iterable(map(text_in, value))
    elif is_dataclass(value):
        for one in fields(value):
            yield from text_in(getattr(value, one.name))


def writable(records: Iterable[object]) -> None:
    """A run folder holds UTF-8: no record may carry half a character into it."""
    for record in records:
        for text in text_in(record):
            try:
                text.encode()
            except UnicodeEncodeError:
                law(False, "every text that was read is UTF-8", text)


def accounted(data: bytes, report: Report, kept: int) -> None:
    """Each line of a file of JSON lines became a record or is spoken of."""
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    told = {problem.line for problem in report.problems if problem.kind != "note"}
    law(kept + len(told) == lines, "every line is kept or spoken of", kept, len(told), lines)


def short(report: Report) -> None:
    """A message is for reading, whatever stands in the file."""
    for problem in report.problems:
        law(len(str(problem)) < 2000, "a message is short", len(str(problem)))


def json_files(data: bytes) -> None:
    """datasets.files.json_lines and json_document: lines and whole documents."""
    report = Report()
    file = unpacked("x.jsonl", data)
    records = list(json_lines(file, report))
    writable(record.fields for record in records)
    accounted(file.data, report, len(records))
    short(report)
    json_document(file)


def csv_files(data: bytes) -> None:
    """datasets.files.csv_rows: rows with their physical lines."""
    report = Report()
    file = unpacked("x.csv", data)
    records = list(csv_rows(file, report, ()))
    writable(record.fields for record in records)
    places = [record.line for record in records]
    law(places == sorted(set(places)), "lines ascend", places[:20])
    law(all(0 < line <= file.data.count(b"\n") + 1 for line in places), "lines are in the file")
    short(report)


def bbq_lines(data: bytes) -> None:
    """datasets.bbq.read_category: items of BBQ, with the targets of the metadata."""
    report = Report()
    items = Items(report)
    targets = bbq.read_targets(unpacked("m.csv", _BBQ_TARGETS), report)
    file = unpacked("Age.jsonl", data)
    bbq.read_category(file, targets, items, report)
    kept = list(items)
    accounted(file.data, report, len(kept))
    writable(kept)
    short(report)


def bbq_metadata(data: bytes) -> None:
    """datasets.bbq.read_targets: the file of stereotyped groups."""
    report = Report()
    found = bbq.read_targets(unpacked("m.csv", data), report)
    law(all(one.option in (None, 0, 1, 2) for one in found.values()), "a target is an option")
    short(report)


def _items(read: Callable[[Items, Report], None]) -> None:
    report = Report()
    items = Items(report)
    read(items, report)
    kept = list(items)
    writable(kept)
    short(report)
    for item in kept:
        law(item.neutral in (0, 1, 2) and item.answer in (0, 1, 2), "answers are options")
        law(item.stereotyped in (None, 0, 1, 2), "the stereotyped option is one")
        law(item.stereotyped != item.neutral, "the neutral option is not the stereotyped one")


def crows(data: bytes) -> None:
    """datasets.crows_pairs.read_pairs."""
    _items(
        lambda items, report: crows_pairs.read_pairs(unpacked("c.csv", data), items, report, seed=1)
    )


def stereo(data: bytes) -> None:
    """datasets.stereoset.read_document."""
    _items(
        lambda items, report: stereoset.read_document(
            unpacked("d.json", data), items, report, seed=1
        )
    )


def flex_rows(data: bytes) -> None:
    """datasets.flex.read_rows, and read_demonstrations: the release's CSVs."""
    file = unpacked("FLEX_bbq.csv", data)
    questions = {"word": {"1": "What now?"}}
    for source in SOURCES.values():
        _items(
            lambda items, report, source=source: flex.read_rows(
                file, source, questions, items, report
            )
        )


def flex_texts(data: bytes) -> None:
    """datasets.flex.read_text_attack: the maps of changed questions."""
    writable([flex.read_text_attack(unpacked("1_word.json", data))])


def built(data: bytes) -> None:
    """datasets.flex_built.read_built: a set that askew built, CSV or Parquet."""
    _items(lambda items, report: read_built(unpacked("FLEX_bbq.csv", data), items, report))


def parquet(data: bytes) -> None:
    """datasets.flex_built.parquet_records: a built set as Parquet."""
    for record in parquet_records(unpacked("selected.parquet", data)):
        law(record.line == 0, "rows of Parquet have no lines")


def own_lines(data: bytes) -> None:
    """datasets.own.read_items: the user's own set as JSON lines."""
    report = Report()
    items = Items(report)
    file = unpacked("own.jsonl", data)
    own.read_items(file, "own", items, report)
    kept = list(items)
    accounted(file.data, report, len(kept))
    writable(kept)
    short(report)


def own_table(data: bytes) -> None:
    """datasets.own.read_items: the user's own set as CSV."""
    _items(lambda items, report: own.read_items(unpacked("own.csv", data), "own", items, report))


def _own_vignettes(name: str, data: bytes) -> None:
    report = Report()
    vignettes = Vignettes(report)
    own_vignettes.read_vignettes(unpacked(name, data), "own", vignettes, report)
    writable(vignettes)
    short(report)


def vignette_lines(data: bytes) -> None:
    """datasets.own_vignettes.read_vignettes: the user's own cases as JSON lines."""
    _own_vignettes("own.jsonl", data)


def vignette_table(data: bytes) -> None:
    """datasets.own_vignettes.read_vignettes: the user's own cases as CSV."""
    _own_vignettes("own.csv", data)


def vignette_text(data: bytes) -> None:
    """datasets.own_vignettes.read_vignettes: the user's own cases as plain text."""
    _own_vignettes("own.txt", data)


def gold(data: bytes) -> None:
    """datasets.gold_triplets.read_gold: vignettes with their facts."""
    for record in read_gold(written("gold.jsonl", data)):
        writable([record])
        for triplet in record.triplets:
            if triplet.span is not None:
                start, end = triplet.span.start, triplet.span.end
                law(0 <= start <= end <= len(record.text), "a span lies in its text", start, end)


def _published(name: str, file: str, data: bytes) -> None:
    loaded = load_vignettes(DataSpec(name, written(file, data)), lenient=True)
    writable(loaded.vignettes)
    for problem in loaded.problems:
        law(len(str(problem)) < 2000, "a message is short", len(str(problem)))


def diversity(data: bytes) -> None:
    """datasets.diversity_medqa: gender pairs with options as Python writes a list."""
    _published("diversity_medqa", "diversity.csv", data)


def equity(data: bytes) -> None:
    """datasets.equitymedqa: TRINDS, with a header or without."""
    _published("equitymedqa", "trinds.csv", data)


def nurse(data: bytes) -> None:
    """datasets.zack: the nurse items, eight cells a case."""
    _published("zack_nurse", "nurse.csv", data)


def zack_cases(data: bytes) -> None:
    """datasets.zack: the diagnostic cases with slots."""
    _published("zack_cases", "cases.csv", data)


def survey_pairs(data: bytes) -> None:
    """survey.from_file: pairs of answers to show to people."""
    name = "pairs.csv" if data[:1] != b"{" else "pairs.jsonl"
    writable(candidates_of_file(written(name, data), ("ours", "theirs")))


def packed(data: bytes) -> None:
    """datasets.packed.Packed: gzip, bzip2 or plain, in pieces."""
    out = bytearray()
    piece = bytearray(1 << 12)
    with Packed(written("packed", data)) as file:
        while count := file.fill(memoryview(piece)):
            out += piece[:count]
            if len(out) > 1 << 22:
                return
    if data.startswith(b"\x1f\x8b"):
        law(out == gzip.decompress(data), "gzip unpacks as Python's whole-file reader does")
    elif data.startswith(b"BZh"):
        law(out == bz2.decompress(data.rstrip(b"\0") + b"\0" * 8), "bzip2 unpacks as Python's does")
    else:
        law(out == data, "a plain file is as it stands")


def unpack(data: bytes) -> None:
    """datasets.files.unpacked: a whole file, gzip or plain."""
    file = unpacked("x", data)
    if not data.startswith(b"\x1f\x8b"):
        law(file.data == data, "a plain file is as it stands")
        return
    try:
        expected = gzip.GzipFile(fileobj=io.BytesIO(data)).read()
    except (EOFError, OSError, zlib.error):
        law(False, "what Python's reader refuses is refused")
        return
    law(file.data == expected, "gzip unpacks as Python's own reader does")


def _lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _table(*rows: Iterable[object]) -> bytes:
    text = io.StringIO()
    import csv

    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


_BBQ_TARGETS = _table(
    ("category", "question_index", "example_id", "target_loc"),
    ("Age", "1", "0", "0"),
    ("Age", "1", "1", "NA"),
)
_BBQ_ROW = {
    "example_id": 0,
    "question_index": "1",
    "question_polarity": "neg",
    "context_condition": "ambig",
    "category": "Age",
    "answer_info": {"ans0": ["Ann", "old"], "ans1": ["Ben", "nonOld"], "ans2": ["x", "unknown"]},
    "additional_metadata": {"stereotyped_groups": ["old"], "version": "a", "source": "x"},
    "context": "Ann and Ben took the bus.",
    "question": "Who was late?",
    "ans0": "Ann",
    "ans1": "Ben",
    "ans2": "Cannot be determined",
    "label": 2,
}
_OWN_ROW = {
    "id": "a-1",
    "bias_type": "age",
    "condition": "ambiguous",
    "context": "Two people took the bus.",
    "question": "Who was late?",
    "option_a": "The pensioner",
    "option_b": "The student",
    "option_c": "Cannot be determined.",
    "neutral": "c",
    "stereotyped": "a",
    "answer": "c",
    "polarity": "negative",
    "language": "en",
}
_CASE_ROW = {
    "id": "c-1",
    "text": "A 54-year-old woman has had a cough for two weeks.",
    "question": "What is the most likely diagnosis?",
    "options": ["Bronchitis", "Pneumonia"],
    "answer": 0,
    "reference": ["bronchitis"],
    "must_not_miss": ["pneumonia"],
    "relevance": {"gender": "not_relevant", "age": "relevant"},
    "impossible": {"gender": ["male"], "age": ["1-10", "65-80"]},
}
_GOLD_ROW = {
    "id": "g-1",
    "text": "A 54-year-old woman from Kenya has a cough.",
    "source": "own",
    "tags": ["age"],
    "triplets": [
        {"r": "has_age", "t": 54, "unit": "years", "status": "present", "span": [2, 13],
         "evidence": "54-year-old", "range": [50, 59], "alt": ["54"], "r_alt": ["has_gender"]},
        {"r": "has_symptom", "t": "cough", "status": "negated", "span": [37, 42]},
    ],
    "perturb": {"impossible_gender": ["male"], "implausible_age": ["5"], "reason": "why"},
}  # fmt: skip
_STEREO = {
    "data": {
        "intersentence": [
            {
                "id": "i1",
                "bias_type": "race",
                "context": "He came in.",
                "sentences": [
                    {"sentence": "He was loud.", "gold_label": "stereotype"},
                    {"sentence": "He was calm.", "gold_label": "anti-stereotype"},
                    {"sentence": "Cars.", "gold_label": "unrelated"},
                ],
            }
        ],
        "intrasentence": [],
    }
}
_FLEX_ROW = {
    "Unnamed: 0": "1", "Unnamed: 0.1": "0", "ctx": "Two people.", "context": "", "q_text": "Who?",
    "sent_more": "Ann", "sent_less": "Ben", "bias_type": "age", "a": "Ann", "b": "Ben",
    "c": "Unknown", "attack_type": "0", "attack_success": "1", "attack": "persona", "label": "2",
    "item_id": "x/1", "source": "bbq", "language": "en", "category": "persona_injection",
    "scenario": "aim", "instruction": "", "attacked_question": "", "polarity": "",
    "text_attacks": '{"word": "Whoo?"}',
}  # fmt: skip
_RELEASED = _table(RELEASED_COLUMNS, [_FLEX_ROW[name] for name in RELEASED_COLUMNS])
_BUILT = _table(_FLEX_ROW, _FLEX_ROW.values())
_NURSE = _table(
    ("case", "text", "prompt", "gender", "race", "options"),
    ("pain", "A man has pain.", "A man has pain.\nIs it real?\nYes\nNo", "male", "caucasian",
     "['Yes', 'No']"),
    ("pain", "A woman has pain.", "A woman has pain.\nIs it real?\nYes\nNo", "female", "black",
     '["Yes", "No"]'),
)  # fmt: skip


def _parquet() -> tuple[bytes, ...]:
    if importlib.util.find_spec("pyarrow") is None:
        return (b"PAR1",)
    import pyarrow
    from pyarrow import parquet as files

    out = io.BytesIO()
    files.write_table(pyarrow.table({name: [text] for name, text in _FLEX_ROW.items()}), out)
    return (out.getvalue(),)


TARGETS = [
    Target(
        "data_json",
        json_files,
        (_lines(_OWN_ROW, {"a": [1, {"b": None}]}), b'{"a": 1}'),
        JSON_WORDS,
    ),
    Target(
        "data_csv", csv_files, (b'a,b\n1,"x\ny"\n2,z\n', b"\xef\xbb\xbfa;b\r\n1;2\r\n"), CSV_WORDS
    ),
    Target("data_bbq", bbq_lines, (_lines(_BBQ_ROW, {**_BBQ_ROW, "example_id": 1}),), JSON_WORDS),
    Target("data_bbq_metadata", bbq_metadata, (_BBQ_TARGETS,), CSV_WORDS),
    Target(
        "data_crows_pairs",
        crows,
        (
            _table(
                ("", "sent_more", "sent_less", "bias_type"),
                (0, "Old are slow.", "Young are slow.", "age"),
            ),
        ),
        CSV_WORDS,
    ),
    Target("data_stereoset", stereo, (json.dumps(_STEREO).encode(),), JSON_WORDS),
    Target("data_flex", flex_rows, (_RELEASED,), CSV_WORDS),
    Target("data_flex_texts", flex_texts, (b'{"1": ["Who?"], "2": ["What?"]}',), JSON_WORDS),
    Target("data_flex_built", built, (_BUILT,), (*CSV_WORDS, *JSON_WORDS)),
    Target(
        "data_parquet",
        parquet,
        _parquet(),
        (b"PAR1", b"\xff\xff\xff\x7f", b"\x15\x00"),
        longest=16384,
        seconds=5.0,
        megabytes=512.0,
    ),
    Target("data_own_lines", own_lines, (_lines(_OWN_ROW, {**_OWN_ROW, "id": "a-2"}),), JSON_WORDS),
    Target("data_own_table", own_table, (_table(_OWN_ROW, _OWN_ROW.values()),), CSV_WORDS),
    Target(
        "data_vignette_lines",
        vignette_lines,
        (_lines(_CASE_ROW, {**_CASE_ROW, "id": 2}),),
        JSON_WORDS,
    ),
    Target(
        "data_vignette_table",
        vignette_table,
        (
            _table(
                ("id", "text", "question", "answer", "reference", "relevance", "impossible"),
                (
                    "1",
                    "A man of 54 has pain.",
                    "What is it?",
                    "0",
                    "a; b",
                    "gender=relevant; age=relevant",
                    "gender=male; age=1-10,65-80",
                ),
            ),
        ),
        CSV_WORDS,
    ),
    Target("data_vignette_text", vignette_text, (b"A man of 54 has pain.\n\nA woman coughs.\n",)),
    Target(
        "data_gold_triplets", gold, (_lines(_GOLD_ROW, {**_GOLD_ROW, "id": "g-2"}),), JSON_WORDS
    ),
    Target(
        "data_diversity_medqa",
        diversity,
        (
            _table(
                ("male_sentence", "female_sentence", "options", "correct_option"),
                ("He coughs.", "She coughs.", "['a', 'b']", "1"),
            ),
        ),
        (*CSV_WORDS, b"['", b"']", b"((((", b"-1", b"{1:", b"'\\x"),
    ),
    Target(
        "data_equitymedqa",
        equity,
        (_table(("record_id", "question"), ("1", "Where is it common?")), b"Where, then?\nWhy?\n"),
        CSV_WORDS,
    ),
    Target("data_zack_nurse", nurse, (_NURSE,), (*CSV_WORDS, b"['", b"']")),
    Target(
        "data_zack_cases",
        zack_cases,
        (
            _table(
                ("title", "Case one liner", "DDx"),
                ("Pain 1", "A 54-year-old @Race @Sex has pain.", "a\nb"),
            ),
        ),
        (*CSV_WORDS, b"@Race", b"@Sex", b"A @Race @Sex"),
    ),
    Target(
        "data_survey_pairs",
        survey_pairs,
        (
            _table(
                ("scenario", "question", "a", "b", "true_attributes"),
                ("s1", "Who?", "One.", "Two.", "age, gender"),
            ),
            _lines(
                {
                    "scenario": "s1",
                    "question": "Who?",
                    "a": "x",
                    "b": "y",
                    "true_attributes": ["age"],
                }
            ),
        ),
        (*CSV_WORDS, *JSON_WORDS),
    ),
    Target(
        "data_packed",
        packed,
        (
            gzip.compress(b"hello " * 50) + gzip.compress(b"x"),
            bz2.compress(b"hello " * 50) * 2,
            b"plain",
        ),
        PACK_WORDS,
    ),
    Target(
        "data_gzip", unpack, (gzip.compress(b"hello " * 50), gzip.compress(b"") * 3), PACK_WORDS
    ),
]
