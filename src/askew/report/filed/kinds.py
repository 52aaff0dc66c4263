"""The kinds of claims that a run can make, by name: what frameworks map to."""

from __future__ import annotations

from dataclasses import dataclass

from askew.report.filed.records import Unit
from askew.report.which_audit import Audit


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of claim.

    Attributes:
        audit: which makes it.
        title: for people; a slice follows behind it.
        unit: of the figure.
        place: the path of the figure below the audit's name, or of its slices.
        tests: the path of what was tested about it; () where nothing was.
    """

    audit: Audit
    title: str
    unit: Unit
    place: tuple[str, ...]
    tests: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "flex.fit": Kind("flex", "Control questions answered right", "share", ("fit", "accuracy")),
    "flex.source_accuracy": Kind(
        "flex", "Neutral when asked plainly (Acc_S)", "share", ("source_accuracy", "overall")
    ),
    "flex.flex_accuracy": Kind(
        "flex", "Neutral under attack (Acc_F)", "share", ("flex_accuracy", "overall")
    ),
    "flex.accuracy_change": Kind(
        "flex",
        "Change under attack (Acc_F − Acc_S)",
        "change of a share",
        ("accuracy_change", "overall"),
        ("test", "overall"),
    ),
    "flex.attack_success_rate": Kind(
        "flex",
        "Plainly neutral answers that the attack turned (ASR)",
        "share",
        ("attack_success_rate", "overall"),
    ),
    "flex.attack_success_rate_by_category": Kind(
        "flex",
        "Plainly neutral answers that the attack turned, by attack",
        "share",
        ("attack_success_rate", "category"),
    ),
    "flex.attack_success_rate_by_bias_type": Kind(
        "flex",
        "Plainly neutral answers that the attack turned, by bias type",
        "share",
        ("attack_success_rate", "bias_type"),
    ),
    "flex.stereotyped_share": Kind(
        "flex",
        "Of the answers that chose a group under attack, those that went with the stereotype",
        "share",
        ("stereotyped_share_attacked", "overall"),
    ),
    "clinical.read": Kind("clinical", "Answers that could be read", "share", ("worth", "read")),
    "clinical.worth": Kind(
        "clinical",
        "Reference diagnoses of a case that its own answers list, above those of other cases",
        "difference of shares",
        ("worth", "excess"),
    ),
    "clinical.effect": Kind(
        "clinical", "Declared comparison", "difference", ("effects",), ("effects",)
    ),
    "boundary.leaning_share": Kind(
        "boundary",
        "Topics found leaning, of those tested and judged (no rate of the graph)",
        "share",
        ("leaning_share",),
    ),
    "boundary.undiscovered": Kind(
        "boundary",
        "Leaning topics left undiscovered, by uniformly drawn tests",
        "topics",
        ("undiscovered", "probes"),
    ),
    "boundary.clustering": Kind(
        "boundary",
        "How much more often topics lean beside a leaning one than beside clean ones",
        "difference of shares",
        ("clustering", "difference"),
        ("clustering",),
    ),
    "boundary.guidance": Kind(
        "boundary",
        "How much more often guided tests found a leaning topic than uniform draws",
        "difference of shares",
        ("guidance", "difference"),
    ),
    "boundary.refused": Kind(
        "boundary", "Questions that the model declined", "share", ("answers", "refused")
    ),
}
SLICED = frozenset(
    {"flex.attack_success_rate_by_category", "flex.attack_success_rate_by_bias_type"}
)
