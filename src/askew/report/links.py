"""Where a report shows the items behind a figure, for each kind of figure."""

from __future__ import annotations

from askew.report.clinical_run import Finding
from askew.report.items import items_link

# A slice of FLEX's figures by its place in the file -> the facets that its items have.
_SLICES = {
    "overall": (),
    "category": ("category",),
    "bias_type": ("bias_type",),
    "source": ("source",),
    "scenario": ("category", "scenario"),
    "source_category": ("source", "category"),
}


def pairs_link(*where: str, **facets: str) -> str:
    """The FLEX pairs of a slice.

    Args:
        where: the slice's place below a figure in `estimates.json`.
        facets: what else they must have; `flagged="yes"` for those that the attack turned.

    >>> pairs_link("scenario", "competing_objectives", "dan", flagged="yes")
    '#items/flex?category=competing_objectives&scenario=dan&flagged=yes'
    >>> pairs_link("average")
    ''
    """
    kind, *values = where or ("overall",)
    if kind not in _SLICES:
        return ""
    return items_link("flex", **dict(zip(_SLICES[kind], values, strict=True)), **facets)


def cases_link(finding: Finding) -> str:
    """The cases of a clinical comparison, each as it was asked about in the comparison's form."""
    return items_link(
        "clinical",
        attribute=finding.attribute,
        contrast=finding.contrast,
        form=finding.form,
        matters="yes" if finding.relevant else "no",
    )
