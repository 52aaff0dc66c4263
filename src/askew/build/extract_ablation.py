"""The perturbed questions that follow from a rule set's facts, and which of them make sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from askew.datasets.gold_triplets import GoldRecord
from askew.graphs import extract
from askew.graphs.ablation import Questions
from askew.graphs.rules import RuleSet
from askew.perturb import AGE, PLACE, Attribute, PerturbPlan, perturb
from askew.perturb.engine import check
from askew.records import Provenance
from askew.seeds import generator
from askew.vignettes import Facts, Vignette

# §4.1: four age bands, female or male, place; one attribute at a time.
GENDER = Attribute(name="gender", kind="gender", levels=("female", "male"))
PLAN = PerturbPlan(attributes=(AGE, GENDER, PLACE), arms=("each",))


def questions_asker(
    texts: Sequence[str],
    gold: Sequence[GoldRecord] | None = None,
    plan: PerturbPlan = PLAN,
    seed: int = 0,
    told: Callable[[str, int], None] | None = None,
) -> Callable[[int, Facts, RuleSet], Questions]:
    """What `graphs.ablation.ablation` asks for the questions of a text.

    A rule set's own facts decide which twins are made. Whether a twin makes sense is decided by
    the full rules and, where there is gold, by the changes that it calls impossible or odd.

    Args:
        texts: shape (texts,).
        gold: shape (texts,); None where the texts have none.
        plan: the twins that are tried.
        seed: of the ages that are drawn; one and the same draw for every rule set.
        told: is told the rule set and the place of each text before its questions are made.
    """
    # Rule sets make many twins in common, and each is judged by the same facts.
    read = cache(extract)
    verdicts: dict[tuple[int, str, str], bool] = {}

    def ask(place: int, facts: Facts, rules: RuleSet) -> Questions:
        if told is not None:
            told(rules.name, place)
        text = texts[place]
        plain = Vignette(f"text-{place}", "ablation", text, Provenance("", 0))
        judged = plain
        if gold is not None:
            judged = replace(plain, impossible=gold[place].impossible, odd=gold[place].odd)
        found = perturb(
            plain,
            facts,
            plan,
            generator(seed, "ablation", str(place)),
            extract=lambda changed: extract(changed, rules),
        )
        for variant in found.variants:
            key = (place, variant.arm, variant.text)
            if key not in verdicts:
                why = check(judged, read(text), variant.levels, variant.text, extract=read)
                verdicts[key] = why is None
        coherent = sum(verdicts[place, one.arm, one.text] for one in found.variants)
        return Questions(len(found.variants), coherent)

    return ask
