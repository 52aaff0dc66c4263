"""Eq. (2): from one vignette to its counterfactual twins, with what was left out and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from numpy.random import Generator

from askew.graphs import extract as extract_facts
from askew.perturb import gate, statements, template
from askew.perturb.attributes import NEUTRAL, STANDARD, Attribute, Kind, band
from askew.perturb.edits import NotExpressible, apply, settle
from askew.perturb.mentions import PRONOUNS_OF, People
from askew.perturb.people import find_people
from askew.perturb.plan import PerturbPlan
from askew.perturb.rewrite import rewrite
from askew.perturb.survive import difference
from askew.perturb.wording import Target
from askew.vignettes import Dropped, Edit, Facts, Variant, Vignette, arm_name

Extract = Callable[[str], Facts]
Method = Literal["original", "edit", "template", "generator", "attacker", "given"]
DropKind = Literal["impossible", "odd", "not_expressible", "facts_changed", "same", "unreadable"]


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The twins of one vignette, and what was left out."""

    variants: tuple[Variant, ...]
    dropped: tuple[Dropped, ...]


def perturb(
    vignette: Vignette,
    facts: Facts,
    plan: PerturbPlan,
    rng: Generator,
    extract: Extract = extract_facts,
) -> Perturbed:
    """The arms of a plan for one vignette (the paper's Eq. 2).

    A twin is made by edits of the original text, passes the coherence gate, and is read again:
    where a fact beside the changed ones has moved, it is left out.

    Args:
        vignette: the case.
        facts: what was found in `vignette.text`.
        plan: which attributes change to which levels, and together with which.
        rng: draws the ages and, with `plan.sample`, the twins.
        extract: finds the facts of a text; `askew.graphs.extract` by default.

    Returns:
        The original first (where asked for), then the neutral text, the data's own twins and the
        rest in the plan's order. Everything that is not there is in `dropped`, with its reason.
    """
    maker = _Maker(vignette, facts, plan, rng, extract)
    maker.run()
    if maker.unsure and plan.backend == "edit" and plan.unsure == "template":
        maker = _Maker(vignette, facts, plan, rng, extract, ages=maker.ages)
        maker.by_template = True
        maker.run()
    return Perturbed(tuple(maker.variants), tuple(maker.dropped))


@dataclass(slots=True)
class _Maker:
    """The work on one vignette."""

    vignette: Vignette
    facts: Facts
    plan: PerturbPlan
    rng: Generator
    extract: Extract
    ages: dict[str, int] = field(default_factory=dict)  # level of age -> the age drawn for it
    by_template: bool = False
    unsure: bool = False  # whether some twin could not be made without a guess
    variants: list[Variant] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    people: People = field(init=False)
    attributes: dict[str, Attribute] = field(init=False)

    def __post_init__(self) -> None:
        self.people = find_people(self.vignette.text, self.facts)
        self.attributes = {one.name: one for one in self.plan.attributes}
        self.by_template = self.plan.backend == "template"
        if not self.ages:
            self._draw_ages()

    def run(self) -> None:
        if "original" in self.plan.arms:
            self._original()
        if "neutral" in self.plan.arms:
            self._twin(dict.fromkeys(self.attributes, NEUTRAL))
        given = self._given()
        wanted = [levels for levels in self.plan.level_sets() if arm_name(levels) not in given]
        if self.plan.sample is None:
            for levels in wanted:
                self._twin(levels)
            return
        self._sample(wanted)

    def _sample(self, wanted: list[Mapping[str, str]]) -> None:
        """Twins in a random order until there are enough; they are listed in the plan's order."""
        made: dict[int, Variant] = {}
        for place in self.rng.permutation(len(wanted)):
            if len(made) == self.plan.sample:
                break
            before = len(self.variants)
            self._twin(wanted[place])
            if len(self.variants) > before:
                made[int(place)] = self.variants.pop()
        self.variants += [made[place] for place in sorted(made)]

    def _draw_ages(self) -> None:
        """One age per band, the same in every arm of the vignette, of those that the case allows.

        A draw is made for every band, so that the ages do not depend on what the gate finds.
        """
        for attribute in self.plan.attributes:
            for level in attribute.levels if attribute.kind == "age" else ():
                youngest, oldest = band(level)
                allowed = gate.allowed_ages(self.facts, youngest, oldest)
                ages = allowed or range(youngest, oldest + 1)
                self.ages[level] = int(ages[int(self.rng.random() * len(ages))])

    def _original(self) -> None:
        if self.by_template:
            self._add("original", {}, self._built({}), "template", "")
        else:
            self._add("original", {}, self.vignette.text, "original", "")

    def _given(self) -> set[str]:
        """The twins that the data bring, past the gate; the names of the arms they fill."""
        names = {name.casefold(): name for name in self.attributes}
        arms = set()
        for given in self.vignette.given:
            levels = {
                names.get(name.casefold(), name): level for name, level in given.levels.items()
            }
            if not levels or set(levels) - set(self.attributes):
                continue  # of an attribute that the plan does not ask about
            levels = {name: self._spelled(name, level) for name, level in levels.items()}
            arm = arm_name(levels)
            if arm in arms:
                continue
            arms.add(arm)
            if given.text == self.vignette.text:
                self._drop(arm, "same", "the data's own twin has the text of the original")
            elif (odd := self._passes(arm, levels, given.text)) is not None:
                self._add(arm, levels, given.text, "given", odd)
        return arms

    def _spelled(self, name: str, level: str) -> str:
        """A level of the data in the plan's spelling: "black" as "Black"."""
        for known in self.attributes[name].levels:
            if known.casefold() == level.casefold():
                return known
        return level

    def _twin(self, levels: Mapping[str, str]) -> None:
        neutral = set(levels.values()) == {NEUTRAL}
        arm = "neutral" if neutral else arm_name(levels)
        same = [name for name, level in levels.items() if self._is_already(name, level)]
        if same and (not neutral or len(same) == len(levels)):
            told = ", ".join(f"{name} is {levels[name]!r}" for name in same)
            self._drop(arm, "same", f"{told} in the original already")
            return
        odd = self._passes(arm, levels, "")
        if odd is None:
            return
        if self.by_template:
            self._add(arm, levels, self._built(levels), "template", odd)
            return
        try:
            edits = self._edits(levels)
        except NotExpressible as reason:
            self.unsure = True
            self._drop(arm, "not_expressible", str(reason))
            return
        self._edited(arm, levels, edits, odd)

    def _edited(
        self, arm: str, levels: Mapping[str, str], edits: tuple[Edit, ...], odd: str
    ) -> None:
        text = apply(self.vignette.text, edits)
        if text == self.vignette.text:
            self._drop(arm, "same", "no edit changes the text", text)
            return
        changed = difference(self.facts, self.extract(text), levels, self.attributes)
        if changed:
            self._drop(arm, "facts_changed", changed, text)
            return
        self._add(arm, levels, text, "edit", odd, edits)

    def _passes(self, arm: str, levels: Mapping[str, str], text: str) -> str | None:
        """Why the twin is odd, "" where it is fine; None, and a note, where it is not asked."""
        verdict = gate.coherent(self.facts, self._exact(levels), self.vignette)
        if verdict.kind == "impossible" or (verdict.kind == "odd" and not self.plan.keep_odd):
            self._drop(arm, verdict.kind, verdict.reason, text)
            return None
        return verdict.reason

    def _exact(self, levels: Mapping[str, str]) -> dict[str, str]:
        """The levels by the names that the gate knows: the kind of the attribute."""
        kinds = {name: self.attributes[name].kind for name in levels}
        return {
            (kind if kind != "declared" else name): levels[name] for name, kind in kinds.items()
        }

    def _is_already(self, name: str, level: str) -> bool:
        """Whether the text tells the level already; of "neutral", whether it is mute."""
        now = current_level(self.people, self.facts, self.attributes[name])
        if level == NEUTRAL:
            return now is None
        if self.attributes[name].kind == "age" and self.people.ages:
            years = self.people.years or 0.0
            youngest, oldest = band(level)
            return youngest <= years < oldest + 1
        return now is not None and now.casefold() == level.casefold()

    def _edits(self, levels: Mapping[str, str]) -> tuple[Edit, ...]:
        """All edits of one twin, with the sentences for what the text is mute about."""
        kinds: dict[Kind, str] = {self.attributes[name].kind: name for name in levels}
        target = self._target(levels, kinds)
        edits = rewrite(self.people, target)
        sentences = []
        for name, level in levels.items():
            attribute = self.attributes[name]
            own = self._statement(attribute, level)
            edits += own
            if not own and level != NEUTRAL and self._has_to_be_put_in(attribute):
                word = str(self.ages[level]) if attribute.kind == "age" else level
                sentences.append(attribute.sentence(word))
        edits += statements.insertion(self.people, sentences)
        return settle(self.vignette.text, edits)

    def _target(self, levels: Mapping[str, str], kinds: Mapping[Kind, str]) -> Target:
        age = levels[kinds["age"]] if "age" in kinds else ""
        return Target(
            gender=levels[kinds["gender"]] if "gender" in kinds else None,
            years=None if age in {"", NEUTRAL} else self.ages[age],
            ageless=age == NEUTRAL,
            now=self.people.years,
        )

    def _statement(self, attribute: Attribute, level: str) -> list[Edit]:
        if attribute.kind == "place":
            return statements.place_edits(self.vignette.text, self.facts, attribute, level)
        if attribute.kind == "race":
            return statements.race_edits(self.people, attribute, level)
        if attribute.kind == "declared":
            return statements.declared_edits(self.vignette.text, attribute, level)
        return []

    def _has_to_be_put_in(self, attribute: Attribute) -> bool:
        """Whether the text has no word of the attribute to edit, so that a sentence is needed.

        The gender of a text that tells it by pronouns alone is put in for every level of a plan
        in which some level needs saying, so that the arms differ in the level and nothing else.
        """
        if attribute.kind == "age":
            return not self.people.ages
        if attribute.kind == "gender":
            spoken = {PRONOUNS_OF[level] for level in attribute.levels}
            by_pronouns = self.people.gender is not None and len(spoken) == len(attribute.levels)
            return not self.people.states_gender and not (
                by_pronouns and "neutral" not in spoken and self._has_pronouns()
            )
        return True

    def _has_pronouns(self) -> bool:
        return any(mention.kind == "pronoun" for mention in self.people.of("patient"))

    def _built(self, levels: Mapping[str, str]) -> str:
        """The template's question for the levels; what is not changed is as in the original."""
        values: dict[str, str | int | None] = {}
        more = []
        for kind, attribute in {**STANDARD, **self.attributes}.items():
            level = levels.get(kind) or current_level(self.people, self.facts, attribute)
            if attribute.kind == "declared":
                if level not in {None, NEUTRAL}:
                    more.append(attribute.sentence(str(level)))
            elif attribute.kind == "age" and level in self.ages:
                values["age"] = self.ages[str(level)]
            else:
                worded = (
                    level
                    if attribute.kind == "gender" or level is None
                    else (NEUTRAL if level == NEUTRAL else attribute.worded(level))
                )
                values[attribute.kind] = worded
        return template.build(
            self.facts, values, more, form=self.plan.template, question=self.vignette.question
        )

    def _add(
        self,
        arm: str,
        levels: Mapping[str, str],
        text: str,
        method: Method,
        odd: str,
        edits: tuple[Edit, ...] = (),
    ) -> None:
        name = f"{self.vignette.id}/{arm}"
        self.variants.append(
            Variant(name, self.vignette.id, arm, dict(levels), text, edits, method, odd)
        )

    def _drop(self, arm: str, kind: DropKind, reason: str, text: str = "") -> None:
        self.dropped.append(Dropped(self.vignette.id, arm, kind, reason, text))


def current_level(people: People, facts: Facts, attribute: Attribute) -> str | None:
    """What the text tells of an attribute: a level, an age or place as worded; None where mute."""
    if attribute.kind == "age":
        if not people.ages:
            return None
        age = people.ages[0]
        return f"{age.value}-{age.unit_name}-old"
    if attribute.kind == "gender":
        return people.gender
    if attribute.kind == "place":
        found = statements.place_triplets(facts, attribute)
        return found[0][0] if found else None
    if attribute.kind == "race":
        race = statements.stated_race(people)
        return race[0] if race else None
    stated = statements.stated_level(people.text, attribute)
    return stated[0] if stated else None


def check(
    vignette: Vignette,
    facts: Facts,
    levels: Mapping[str, str],
    text: str,
    attributes: Mapping[str, Attribute] = STANDARD,
    extract: Extract = extract_facts,
) -> Dropped | None:
    """Whether a text that another back end made may be asked: the gate, then the facts.

    Args:
        vignette: the original.
        facts: what was found in the original.
        levels: attribute -> level that the text is meant to tell.
        text: what a generator or attacker model has written.
        attributes: the attributes by name.
        extract: finds the facts of a text; `askew.graphs.extract` by default.

    Returns:
        Why it is not asked; None where it may be. `odd` twins are returned as well: the caller
        keeps them or not.
    """
    arm = arm_name(levels)

    def dropped(kind: DropKind, reason: str) -> Dropped:
        return Dropped(vignette.id, arm, kind, reason, text)

    if not text.strip():
        return dropped("unreadable", "the text is empty")
    if text.strip() == vignette.text.strip():
        return dropped("same", "the text is that of the original")
    kinds = {
        attributes[name].kind if attributes[name].kind != "declared" else name: level
        for name, level in levels.items()
    }
    verdict = gate.coherent(facts, kinds, vignette)
    if verdict.kind == "impossible":
        return dropped("impossible", verdict.reason)
    changed = difference(facts, extract(text), levels, attributes)
    if changed:
        return dropped("facts_changed", changed)
    return dropped("odd", verdict.reason) if verdict.kind == "odd" else None


def swap_gender(text: str, to: str, facts: Facts | None = None) -> str:
    """A text with the patient's gender changed, and nothing else.

    Args:
        text: about one patient.
        to: a level of gender.
        facts: what was found in the text; extracted where not given.

    Raises:
        NotExpressible: a word may mean the patient or somebody else.

    >>> swap_gender("His wife took him to his doctor; the choice was his.", "female")
    'Her husband took her to her doctor; the choice was hers.'
    """
    people = find_people(text, facts if facts is not None else extract_facts(text))
    return apply(text, settle(text, rewrite(people, Target(gender=to, now=people.years))))
