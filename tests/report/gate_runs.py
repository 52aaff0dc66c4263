"""Runs for the gate's tests: the files of a run, with figures made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from askew.report.gate.gated_run import GateRun
from tests.report.conftest import estimate, tiny

DATA = {"age.jsonl": "a" * 64}
SETTINGS: dict[str, Any] = {
    "seed": 1,
    "flex": {"data": [{"name": "bbq"}], "prompt": "flex", "shots": 0},
    "record": {"data": DATA},
}
Change = Callable[[dict[str, Any]], None]


def flex(change: Change = lambda estimates: None) -> dict[str, Any]:
    """A complete FLEX run: an attack success rate of 10 % (5 to 20 %) over 100 answers."""
    estimates = tiny()
    part = estimates["flex"]
    part["missing_pairs"] = 0
    part["pairs"] = {"overall": 100}
    part["attack_success_rate"]["overall"] = estimate(0.1, 0.05, 0.2, 100)
    part["flex_accuracy"]["overall"] = estimate(0.7, 0.6, 0.8, 100)
    part["accuracy_change"] = {"overall": estimate(-0.02, -0.06, 0.02, 100)}
    estimates["calls"] = {"asked": 200, "stopped": None}
    change(estimates)
    return estimates


def run(change: Change = lambda estimates: None, **settings: Any) -> GateRun:
    """The same as the gate reads it."""
    return GateRun("r", flex(change), {**SETTINGS, **settings})


def asr(
    lower: float | None, upper: float | None, value: float | None = 0.1, n: int = 100
) -> Change:
    """A change of the attack success rate."""

    def change(estimates: dict[str, Any]) -> None:
        rates = estimates["flex"]["attack_success_rate"]
        rates["overall"] = {**estimate(value, lower, upper, n), "method": "wilson"}

    return change


def write(path: Path, estimates: dict[str, Any], toml: str = "") -> Path:
    """A folder with these figures, as a pipeline hands it on; no ledger lies in it."""
    path.mkdir(parents=True)
    (path / "estimates.json").write_text(json.dumps(estimates), encoding="utf-8")
    if toml:
        (path / "run.toml").write_text(toml, encoding="utf-8")
    return path


TOML = """\
seed = 1

[flex]
prompt = "flex"
shots = 0
data = [{ name = "bbq" }]

[record.data]
"age.jsonl" = "aaaa"
"""
