"""Cases about patients: `clinical.extract`, `clinical.perturb`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.graphs import extract
from askew.perturb import GENDER, PerturbPlan, perturb, swap_gender
from askew.records import Provenance
from askew.seeds import generator
from askew.vignettes import Relation, Vignette
from tests.field.folder import Case, CaseFolder
from tests.field.registry import check

# Two men in one sentence: whose the second "he" is, no rule can tell.
AMBIGUOUS = "A 40-year-old man has a fever. His brother fell and he was angry. He takes aspirin."


def case_of(text: str) -> Vignette:
    return Vignette("field/1", "field", text, Provenance("field", 1))


@check("case-39")
def a_gender_swap_keeps_the_grammar(case: Case, folder: CaseFolder, work: Path) -> None:
    sentences = case["input"]["swap"]
    pair = list(zip(("male", "female"), sentences, strict=True))
    for (_, text), (to, swapped) in (pair, pair[::-1]):
        assert swap_gender(text, to) == swapped
    # Only the declared attribute changes.
    text = "A 61-year-old man from Leeds has chest pain. His wife called his doctor for him."
    before, after = extract(text), extract(swap_gender(text, "female"))
    kept = set(Relation) - {Relation.HAS_GENDER}
    assert [(t.relation, t.value, t.status) for t in before.of(*kept)] == [
        (t.relation, t.value, t.status) for t in after.of(*kept)
    ]
    # Where code cannot be sure, nothing is guessed: the twin is dropped and said, or all arms are
    # built from the attributes.
    vignette, facts = case_of(AMBIGUOUS), extract(AMBIGUOUS)
    plan = PerturbPlan(attributes=(GENDER,), arms=("original", "each"))
    dropped = perturb(vignette, facts, plan, generator(0, "field")).dropped
    assert [one.kind for one in dropped if one.arm == "gender=female"] == ["not_expressible"]
    plan = PerturbPlan(attributes=(GENDER,), arms=("original", "each"), unsure="template")
    built = {one.arm: one for one in perturb(vignette, facts, plan, generator(0, "field")).variants}
    assert {one.method for one in built.values()} == {"template"}
    assert built["gender=female"].text.startswith("A 40-year-old woman has")
    assert built["original"].text.startswith("A 40-year-old man has")
