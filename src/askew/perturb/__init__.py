"""A vignette to its counterfactual twins, and which of them make sense; asks no model."""

from askew.perturb.attributes import (
    AGE,
    GENDER,
    GENDERS,
    NEUTRAL,
    PLACE,
    RACE,
    STANDARD,
    Attribute,
    band,
)
from askew.perturb.edits import NotExpressible, apply
from askew.perturb.engine import Perturbed, check, perturb, swap_gender
from askew.perturb.gate import Verdict, coherent
from askew.perturb.mask import mask_demographics
from askew.perturb.plan import (
    PAPER_DIMENSIONS,
    PAPER_PERTURBATIONS,
    PAPER_PLAN,
    PerturbPlan,
)

__all__ = [
    "AGE",
    "GENDER",
    "GENDERS",
    "NEUTRAL",
    "PAPER_DIMENSIONS",
    "PAPER_PERTURBATIONS",
    "PAPER_PLAN",
    "PLACE",
    "RACE",
    "STANDARD",
    "Attribute",
    "NotExpressible",
    "PerturbPlan",
    "Perturbed",
    "Verdict",
    "apply",
    "band",
    "check",
    "coherent",
    "mask_demographics",
    "perturb",
    "swap_gender",
]
