"""Which twins of a vignette are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

from askew.errors import ConfigError
from askew.perturb.attributes import AGE, GENDER, PLACE, Attribute

Arm = Literal["original", "neutral", "each", "pairs", "all"]
ARMS: tuple[Arm, ...] = ("original", "neutral", "each", "pairs", "all")

# Table 3: the five bias dimensions of the paper, as sets of attributes that change together.
PAPER_DIMENSIONS = (
    ("age",),
    ("gender",),
    ("age", "gender"),
    ("place",),
    ("age", "gender", "place"),
)
# Figure 5 (RQ5): what was perturbed, from one attribute to all three.
PAPER_PERTURBATIONS = (("place",), ("age", "gender"), ("age", "gender", "place"))


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbPlan:
    """The attributes to change, and which of their levels together.

    Every arm but `original` changes each of its attributes away from what the text tells.
    """

    attributes: tuple[Attribute, ...] = (AGE, GENDER, PLACE)  # §4.1, in the paper's order
    arms: tuple[Arm, ...] = ("original", "neutral", "each")
    combinations: tuple[tuple[str, ...], ...] = ()  # names of attributes that change together
    backend: Literal["edit", "template"] = "edit"
    # What to do with a vignette of which some twin cannot be made without a guess: leave that twin
    # out, or build every arm of the vignette from its attributes, the original as well, so that
    # its arms differ in nothing else.
    unsure: Literal["drop", "template"] = "drop"
    template: Literal["askew", "paper"] = "askew"
    keep_odd: bool = False  # ask about twins that a clinician would find odd, marked as such
    # At most this many twins a vignette, drawn at random; `original` and `neutral` come on top.
    sample: int | None = None  # §4.1 has 4, which makes 84 questions of 21 cases

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes]
        if not names or len(set(names)) != len(names):
            raise ConfigError(f"attributes are {names}. Name one or more, each once.")
        if strange := set(self.arms) - set(ARMS):
            raise ConfigError(f"unknown arms {sorted(strange)}. Known: {', '.join(ARMS)}.")
        for together in self.combinations:
            if not together or len(set(together)) != len(together) or set(together) - set(names):
                raise ConfigError(
                    f"combination {list(together)} is no set of the plan's attributes. "
                    f"Known: {', '.join(names)}."
                )
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"sample is {self.sample}, expected 1 or more, or none for all.")

    def attribute(self, name: str) -> Attribute:
        """The attribute of a name."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise ConfigError(f"the plan has no attribute {name!r}")

    def sets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of attributes that change together, each once, smaller ones first.

        >>> PerturbPlan(arms=("each", "all")).sets()
        (('age',), ('gender',), ('place',), ('age', 'gender', 'place'))
        """
        names = [attribute.name for attribute in self.attributes]
        found: list[tuple[str, ...]] = []
        if "each" in self.arms:
            found += [(name,) for name in names]
        if "pairs" in self.arms:
            found += combinations(names, 2)
        if "all" in self.arms:
            found.append(tuple(names))
        order = {name: place for place, name in enumerate(names)}
        found += [tuple(sorted(together, key=order.__getitem__)) for together in self.combinations]
        return tuple(sorted(dict.fromkeys(found), key=len))

    def level_sets(self) -> Iterator[Mapping[str, str]]:
        """Attribute -> level, for every arm beside `original` and `neutral`."""
        for together in self.sets():
            levels = [self.attribute(name).levels for name in together]
            for chosen in product(*levels):
                yield dict(zip(together, chosen, strict=True))


PAPER_PLAN = PerturbPlan(arms=("original",), combinations=PAPER_DIMENSIONS, sample=4)
