"""What laws, frameworks and standards ask, and which claims of a run speak to it.

The mapping is data: `frameworks/*.toml`, one file a framework, each requirement in askew's words
with its source. A claim that speaks to a requirement does not meet it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from askew.report.filed.records import (
    MEASURED,
    NOT_ADDRESSED,
    SPOKEN_TO,
    Claim,
    Framework,
    Requirement,
)

# The order in which they stand in a pack.
FRAMEWORKS = ("eu_ai_act", "nist_ai_rmf", "nist_ai_600_1", "iso_42001", "nyc_ll144")
# Parts of a pack that bear on a requirement beside its claims.
RECORDS = {
    "data": "provenance.data: the files of the test, by checksum",
    "manifest": "files and the run's MANIFEST: hashes that show a change",
    "model": "provenance.models: which model was asked",
    "settings": "run.toml: every setting, version and seed",
}


@cache
def framework_data(name: str) -> dict[str, Any]:
    """One framework's file, parsed."""
    place = files("askew.report.filed").joinpath("frameworks", f"{name}.toml")
    return tomllib.loads(place.read_text(encoding="utf-8"))


def frameworks(claims: Sequence[Claim]) -> list[Framework]:
    """Every framework, its requirements held against the claims of a run."""
    return [_framework(framework_data(name), claims) for name in FRAMEWORKS]


def _framework(data: dict[str, Any], claims: Sequence[Claim]) -> Framework:
    return Framework(
        id=data["id"],
        name=data["name"],
        text=data["text"],
        source=data["source"],
        read=data["read"],
        checked=data["checked"],
        requirements=[_requirement(one, claims) for one in data["requirement"]],
    )


def _requirement(data: dict[str, Any], claims: Sequence[Claim]) -> Requirement:
    related = [claim for claim in claims if claim.kind in data["claims"]]
    measured = [claim.id for claim in related if claim.standing == MEASURED]
    return Requirement(
        id=data["id"],
        place=data["place"],
        title=data["title"],
        asks=data["asks"],
        status=SPOKEN_TO if measured else NOT_ADDRESSED,
        claims=measured,
        could_not=[claim.id for claim in related if claim.standing != MEASURED],
        records=[RECORDS[name] for name in data["records"]],
        supports=data["supports"] if measured else "",
        does_not=data["not"],
        source=data["source"],
    )
