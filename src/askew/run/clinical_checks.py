"""What would stop a clinical run, or spoil it, after its calls are paid for; refused before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec

from askew.audits.clinical_study import Study
from askew.errors import ConfigError, missing_extra
from askew.models.base import Model
from askew.models.embedder import load_embedder
from askew.runfile import RunFile
from askew.runfile.clinical import NO_EMBEDDER
from askew.runfolder import json_line


def check_judges(run: RunFile, models: Mapping[str, Model]) -> None:
    """Refuse one judge under two names: its replies would be taken for agreement of two.

    Raises:
        ConfigError: there is one.
    """
    assert run.clinical is not None
    first: dict[str, str] = {}
    for role in run.judges:
        asked = json_line([dict(models[role].identity()), asdict(run.models[role].sampling())])
        if (other := first.setdefault(asked, role)) != role:
            raise ConfigError(
                f"[models.{other}] and [models.{role}] are the same judge, so that their replies "
                "would be the same ones. Name another model, or give one of them another seed."
            )


def check_measures(run: RunFile, study: Study) -> None:
    """Refuse what could not be measured once all is paid for.

    Raises:
        ConfigError: there is no such embedder.
        MissingDependency: a package is not there that the measures of this run need.
    """
    assert run.clinical is not None
    if run.clinical.embedder != NO_EMBEDDER:
        load_embedder(run.clinical.embedder)
    needed = {"krippendorff": bool(run.judges)}
    # Answers are held to a reference word by word.
    needed["rouge_score"] = "reference" in run.models or any(
        one.reference for one in study.vignettes
    )
    for package, wanted in needed.items():
        if wanted and find_spec(package) is None:
            raise missing_extra(package.replace("_", "-"), "clinical")
