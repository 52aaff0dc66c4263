"""What the tests of this folder share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from askew.graphs import extract
from askew.perturb import Perturbed, PerturbPlan, perturb
from askew.records import Provenance
from askew.seeds import generator
from askew.vignettes import Variant, Vignette

HERE = Path(__file__).parent


def vignette(text: str, **fields: Any) -> Vignette:
    return Vignette("test/1", "test", text, Provenance("test.jsonl", 1), **fields)


def made(text: str, plan: PerturbPlan, seed: int = 0, **fields: Any) -> Perturbed:
    """The twins of a text, by the real extractor."""
    return perturb(vignette(text, **fields), extract(text), plan, generator(seed, "perturb"))


def arms(result: Perturbed) -> dict[str, Variant]:
    return {one.arm: one for one in result.variants}


def reasons(result: Perturbed) -> dict[str, tuple[str, str]]:
    return {one.arm: (one.kind, one.reason) for one in result.dropped}


def own_gate() -> list[dict[str, Any]]:
    lines = (HERE / "own_gate.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
