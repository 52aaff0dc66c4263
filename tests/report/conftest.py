"""What the report's tests share: one run folder of the starter set, and figures made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from askew.runfolder import RunFolder
from tests.report.runs import make_run, starter_items
from tests.report.several_runs import all_three


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path: Path = tmp_path_factory.mktemp("runs") / "starter-run"
    return make_run(path, starter_items())


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run that holds the three audits."""
    path: Path = tmp_path_factory.mktemp("runs") / "three"
    return all_three(path)


def estimate(value: float | None, lower: float | None = None, upper: float | None = None, n=10):
    """An estimate as `estimates.json` holds it."""
    return {"value": value, "lower": lower, "upper": upper, "n": n, "coverage": 1.0, "note": ""}


def tiny(model: str = "toy/one", turned: float | None = 0.5, **settings: Any) -> dict[str, Any]:
    """A tiny `estimates.json`: two pairs of each category, one bias type, one scenario."""
    categories = ("persona_injection", "competing_objectives", "text_attack")
    share = {"source_accuracy": 0.8, "flex_accuracy": 0.4, "attack_success_rate": turned}
    flex: dict[str, Any] = {
        figure: {
            "overall": estimate(value, 0.1, 0.9),
            "average": estimate(value, 0.1, 0.9),
            "category": {category: estimate(value, 0.1, 0.9) for category in categories},
            "source": {"bbq": estimate(value, 0.1, 0.9)},
            "source_category": {
                "bbq": {category: estimate(value, 0.1, 0.9) for category in categories}
            },
            "source_average": {"bbq": estimate(value, 0.1, 0.9)},
            "bias_type": {"age": estimate(value, 0.1, 0.9)},
            "scenario": {"competing_objectives": {"dan": estimate(value, 0.1, 0.9)}},
        }
        for figure, value in share.items()
    }
    flex["fit"] = {"meaningful": True, "reason": "", "accuracy": estimate(0.8, 0.7, 0.9, 70)}
    flex["settings"] = {"shots": 0, "shot_kind": "positive", **settings}
    return {"askew": "0.1.0", "model": model, "seed": 1, "flex": flex}
