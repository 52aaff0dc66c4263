"""What a clinical audit asks about: vignettes, their facts, and their counterfactual twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from askew import graphs, perturb
from askew.datasets import DataSpec, Problem
from askew.datasets.vignettes import load
from askew.errors import DataError
from askew.seeds import generator
from askew.vignettes import Dropped, Facts, Variant, Vignette, arm_name

Told = Callable[[str, int, int], None]  # what is done, how many, of how many


@dataclass(frozen=True, slots=True)
class Study:
    """The vignettes as they were read, with what was found in them."""

    vignettes: tuple[Vignette, ...]
    facts: Mapping[str, Facts]  # by the vignette's id
    problems: tuple[Problem, ...]
    checksums: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Twins:
    """Every text that is put to the model, and those that are not."""

    variants: tuple[Variant, ...]
    dropped: tuple[Dropped, ...]

    def with_more(self, other: Twins) -> Twins:
        """These and those."""
        return Twins((*self.variants, *other.variants), (*self.dropped, *other.dropped))


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyConfig:
    """What is read, and which rules read it."""

    data: tuple[DataSpec, ...] = (DataSpec("starter"),)
    lenient: bool = False
    vignettes: int | None = None  # at most so many a source, drawn by the seed
    rules: str = "full"
    plan: perturb.PerturbPlan = field(default_factory=perturb.PerturbPlan)


def load_study(config: StudyConfig, seed: int, told: Told | None = None) -> Study:
    """Read the data, draw the vignettes and find their facts.

    Raises:
        DataError: a file cannot be read (`lenient` skips bad records), two sets give different
            vignettes one id, or nothing is left to ask about.
    """
    sets = [load(spec, seed=seed, lenient=config.lenient) for spec in config.data]
    problems = tuple(problem for loaded in sets for problem in loaded.problems)
    drawn: dict[str, Vignette] = {}
    for loaded in sets:
        for vignette in _draw(loaded.vignettes, config.vignettes, seed):
            if drawn.setdefault(vignette.id, vignette) != vignette:
                raise DataError(
                    f"two data sets have a vignette {vignette.id!r}, and they differ. Give one of "
                    "the sets another name (option `source`), or one of the vignettes another id."
                )
    if not drawn:
        names = ", ".join(spec.name for spec in config.data)
        raise DataError(f"no vignette in {names}: there is nothing to audit.")
    # By id, so that figures do not depend on the order in which the sets are named.
    vignettes, again = _each_once([drawn[name] for name in sorted(drawn)])
    problems += again
    checksums = {
        f"{loaded.name}/{file}": digest
        for loaded in sets
        for file, digest in loaded.checksums.items()
    }
    return Study(vignettes, dict(_facts(vignettes, config.rules, told)), problems, checksums)


def make_twins(study: Study, config: StudyConfig, seed: int) -> Twins:
    """The variants of every vignette that edits, the template or the data themselves give."""
    made = [
        _twins_of(vignette, study.facts[vignette.id], config, seed) for vignette in study.vignettes
    ]
    return Twins(
        tuple(variant for one in made for variant in one.variants),
        tuple(dropped for one in made for dropped in one.dropped),
    )


def _twins_of(vignette: Vignette, facts: Facts, config: StudyConfig, seed: int) -> Twins:
    # Twins are read again by the rules that read the original, or they would seem to differ.
    extract = partial(graphs.extract, rules=config.rules)

    def twins(plan: perturb.PerturbPlan) -> Twins:
        rng = generator(seed, "perturb", vignette.id)
        found = perturb.perturb(vignette, facts, plan, rng, extract)
        return Twins(found.variants, found.dropped)

    plan = config.plan
    names = [attribute.name for attribute in plan.attributes]
    whole = twins(plan)
    if "neutral" not in plan.arms or plan.backend != "edit":
        return whole
    if len(names) == 1:
        return _named(whole, names[0])
    # The neutral text lacks every attribute; a level is held against the text that lacks its own.
    for attribute in plan.attributes:
        alone = replace(plan, attributes=(attribute,), arms=("neutral",), combinations=())
        whole = whole.with_more(_named(_neutral_of(twins(alone)), attribute.name))
    return whole


def _neutral_of(twins: Twins) -> Twins:
    """Without what the data have given on top."""
    return Twins(
        tuple(one for one in twins.variants if one.arm == perturb.NEUTRAL),
        tuple(one for one in twins.dropped if one.arm == perturb.NEUTRAL),
    )


def _named(twins: Twins, attribute: str) -> Twins:
    """The neutral arm under the name that says what was taken out: "gender=neutral"."""
    arm = arm_name({attribute: perturb.NEUTRAL})
    return Twins(
        tuple(
            replace(one, id=f"{one.vignette_id}/{arm}", arm=arm)
            if one.arm == perturb.NEUTRAL
            else one
            for one in twins.variants
        ),
        tuple(
            replace(one, arm=arm) if one.arm == perturb.NEUTRAL else one for one in twins.dropped
        ),
    )


def originals(study: Study) -> Twins:
    """The vignettes as they are: what a model is asked where other models make the twins."""
    plan = replace(perturb.PerturbPlan(), arms=("original",))
    return make_twins(study, StudyConfig(plan=plan), 0)


def _draw(vignettes: Sequence[Vignette], most: int | None, seed: int) -> Sequence[Vignette]:
    """At most so many, drawn by the seed and kept in the order of the file."""
    if most is None or len(vignettes) <= most:
        return vignettes
    rng = generator(seed, "vignettes", vignettes[0].source)
    chosen = sorted(rng.choice(len(vignettes), size=most, replace=False))
    return [vignettes[place] for place in chosen]


def _each_once(
    vignettes: Sequence[Vignette],
) -> tuple[tuple[Vignette, ...], tuple[Problem, ...]]:
    """Cases that ask the same are one case: a model's answers to them are the same answers."""
    first: dict[tuple[str, str, tuple[str, ...]], Vignette] = {}
    again: list[Problem] = []
    for one in vignettes:
        asked = (" ".join(one.text.split()), " ".join(one.question.split()), one.options)
        known = first.setdefault(asked, one)
        if known is not one:
            where = one.provenance
            message = f"asks what {known.id!r} asks; counted once"
            again.append(Problem(where.path, where.line, one.id, "", "duplicate", message))
    return tuple(first.values()), tuple(again)


def _facts(
    vignettes: Sequence[Vignette], rules: str, told: Told | None
) -> Iterator[tuple[str, Facts]]:
    found = graphs.extract_many([vignette.text for vignette in vignettes], rules)
    for place, (vignette, facts) in enumerate(zip(vignettes, found, strict=True), start=1):
        if told is not None:
            told("reading facts", place, len(vignettes))
        yield vignette.id, facts
