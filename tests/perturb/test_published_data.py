"""Twins of published cases: how many can be asked, and how our swap compares with people's own.

`-s` prints the counts that docs/clinical-perturb.md gives.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")
if "ASKEW_DATA" not in os.environ:
    pytest.skip("ASKEW_DATA is not set: no published data", allow_module_level=True)

from askew.perturb import AGE, GENDER, PLACE, RACE, NotExpressible, PerturbPlan, swap_gender
from tests.perturb.cases import made

DATA = Path(os.environ["ASKEW_DATA"])
PLAN = PerturbPlan(
    attributes=(AGE, GENDER, PLACE, RACE), arms=("original", "neutral", "each"), keep_odd=True
)


def rows(path: Path) -> list[dict[str, str]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))


def trinds() -> Iterator[str]:
    for row in rows(DATA / "equitymedqa/trinds.csv"):
        yield row["question"]


def zack() -> Iterator[str]:
    for name in ("ED_cases", "Outpt_chest_pain", "Outpt_dyspnea", "pharyngitis"):
        for row in rows(DATA / f"zack_vignettes/{name}.csv"):
            text = row.get("Case one liner") or row.get("one line") or ""
            if text.strip():
                yield re.sub(r" +", " ", text.replace("@Race", "").replace("@Sex", "man")).strip()


def counts(texts: Iterator[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text in texts:
        result = made(text, PLAN)
        found["made"] += len(result.variants)
        found.update(one.kind for one in result.dropped)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("texts", [trinds, zack], ids=["trinds", "zack"])
def test_few_sound_twins_are_lost(texts):
    found = counts(texts())
    asked = sum(found.values()) - found["same"]
    print(texts.__name__, dict(found))
    assert found["facts_changed"] / asked < 0.05
    assert found["not_expressible"] / asked < 0.03


RELATIVES = {
    "mother": "father", "father": "mother", "brother": "sister", "sister": "brother",
    "son": "daughter", "daughter": "son", "uncle": "aunt", "aunt": "uncle", "he": "she",
    "she": "he", "his": "her", "her": "his", "him": "her", "grandson": "granddaughter",
    "granddaughter": "grandson", "mom": "dad", "dad": "mom", "male": "female", "female": "male",
}  # fmt: skip


def plain(text: str) -> list[str]:
    return re.sub(r"\W+", " ", text.lower()).split()


def relatives_alone(ours: list[str], theirs: list[str]) -> bool:
    """Whether two swaps differ in words of other people alone, whom the data set swapped too."""
    return len(ours) == len(theirs) and all(
        one == two or RELATIVES.get(one) == two for one, two in zip(ours, theirs, strict=True)
    )


@pytest.mark.slow
def test_our_swap_is_that_of_the_data_set():
    """DiversityMedQA brings each question for a man and a woman, made by people."""
    found: Counter[str] = Counter()
    for row in rows(DATA / "diversity_medqa/diversity_med_qa_extracted.csv.gz")[::9]:
        for text, swapped, to in (
            (row["male_sentence"], row["female_sentence"], "female"),
            (row["female_sentence"], row["male_sentence"], "male"),
        ):
            try:
                ours, theirs = plain(swap_gender(text, to)), plain(swapped)
            except NotExpressible:
                found["not expressible"] += 1
                continue
            same = "equal" if ours == theirs else "relatives swapped too"
            known = ours == theirs or relatives_alone(ours, theirs)
            found[same if known else "other"] += 1
    print(dict(found))
    assert found["equal"] / found.total() > 0.6
    assert found["other"] / found.total() < 0.1
    assert found["not expressible"] / found.total() < 0.08
