"""A model card of a run: what Hugging Face reads as metadata, and a section for people.

Made from the evidence pack alone, so that card and pack cannot differ. A figure that could not be
measured has no entry in `model-index`, which knows no undefined value; the text names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from askew.report.filed.pack import evidence_of, faults
from askew.report.filed.records import MEASURED, AuditPart, Claim, EvidencePack
from askew.report.filed.text import cells, identity
from askew.report.markup import bullets, code, front_matter, prose, table
from askew.report.which_audit import Audit, settings_of
from askew.report.words import UNDEFINED, listed
from askew.runfolder import RunFolder

# Task identifiers of Hugging Face.
_TASKS: Mapping[Audit, tuple[str, str]] = {
    "flex": ("multiple-choice", "Fairness under adversarial prompts (FLEX)"),
    "clinical": ("text-generation", "Clinical answers to counterfactual patients"),
    "boundary": ("text-generation", "Topics on which answers lean"),
}
_TAGS = ["askew", "bias", "evaluation", "fairness"]


def model_card(folder: RunFolder) -> str:
    """The card, front matter first.

    Raises:
        RunError: the run has no figures yet, or cannot be read.
    """
    pack = evidence_of(folder)
    parts = [
        front_matter(_metadata(pack, data_names(folder, pack))),
        f"# Where {code(pack.model)} leans",
        *(f"**{prose(one)}**" for one in faults(pack.audits, pack.incomplete, pack.altered or [])),
        "Measured with askew. Items, prompts and replies speak of stereotypes about people and of "
        "patients, and may be offensive; none of them stands here.",
        "## What was measured",
        bullets(_measured(pack)),
        "## Results",
        *(_results(part, pack) for part in pack.audits),
        "## What could not be told",
        bullets(map(prose, pack.not_told), "Nothing that was to be told."),
        "## What the figures cannot say",
        bullets(f"{prose(one.says)} ({prose(one.stated_by)})" for one in pack.limits),
        "## What this is not",
        bullets(map(prose, pack.not_this)),
        "## How to make it again",
        _again(pack),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def metadata_of(folder: RunFolder) -> dict[str, object]:
    """What stands in the card's front matter.

    Raises:
        RunError: the run has no figures yet, or cannot be read.
    """
    pack = evidence_of(folder)
    return _metadata(pack, data_names(folder, pack))


def data_names(folder: RunFolder, pack: EvidencePack) -> dict[Audit, list[str]]:
    """The data sets of each audit by name, as the run file has them."""
    settings = settings_of(folder)
    return {
        part.audit: sets_named(settings.get(part.audit)) or sets_named(part.settings)
        for part in pack.audits
    }


def sets_named(settings: object) -> list[str]:
    """The names of the data sets, or of the graph, in an audit's settings; empty where none is."""
    if not isinstance(settings, Mapping):
        return []
    data = settings.get("data")
    sets = data if isinstance(data, list) else []
    named = [one.get("name") for one in sets if isinstance(one, Mapping)]
    graph = settings.get("graph")
    if isinstance(graph, str):
        named.append(f"graph {PurePath(graph).name}")  # it may be a path of somebody's machine
    return [str(name) for name in named if name is not None]


def _metadata(pack: EvidencePack, data: Mapping[Audit, list[str]]) -> dict[str, object]:
    unfit = [part.audit for part in pack.audits if part.fit is False]
    tags = [*_TAGS, *(f"askew-{part.audit}" for part in pack.audits)]
    tags += ["not-fit-to-be-measured"] if unfit else []
    tags += [] if pack.complete else ["incomplete"]
    results = [
        _result(part.audit, pack, data[part.audit])
        for part in pack.audits
        if any(one.audit == part.audit and one.standing == MEASURED for one in pack.claims)
    ]
    found: dict[str, object] = {"tags": sorted(tags)}
    if results:
        found["model-index"] = [{"name": pack.model, "results": results}]
    return found


def _result(audit: Audit, pack: EvidencePack, data: list[str]) -> dict[str, object]:
    task, title = _TASKS[audit]
    named = listed(data) or "not recorded"
    metrics = [
        _metric(claim)
        for claim in pack.claims
        if claim.audit == audit and claim.standing == MEASURED
    ]
    return {
        "task": {"type": task, "name": title},
        "dataset": {
            "type": data[0] if len(data) == 1 else "mixed" if data else "not-recorded",
            "name": named,
            "args": {f"sha256 of {name}": sha for name, sha in _data_of(audit, pack)},
        },
        "metrics": metrics,
    }


def _data_of(audit: Audit, pack: EvidencePack) -> list[tuple[str, str]]:
    """The checksums of the audit's own data, where the run tells them apart."""
    others = tuple(f"{one.audit}: " for one in pack.audits if one.audit != audit)
    return [
        (name.removeprefix(f"{audit}: "), sha)
        for name, sha in pack.provenance.data.items()
        if not (others and name.startswith(others))
    ]


def _metric(claim: Claim) -> dict[str, object]:
    """A metric: the value as a number, its interval in the name that is shown and in the args."""
    figure = claim.figure
    _, interval, *_ = cells(claim)
    return {
        "type": claim.kind,
        "value": figure.value,
        "name": claim.statement.rstrip("."),
        "args": {
            "path": claim.path,
            "unit": claim.unit,
            "interval": interval,
            "lower": figure.lower,
            "upper": figure.upper,
            "level": figure.level,
            "n": figure.n,
            "coverage": figure.coverage,
            "method": figure.method,
            **claim.tests,
        },
    }


def _measured(pack: EvidencePack) -> list[str]:
    lines = []
    for role, found in pack.provenance.models.items():
        told = "; ".join(f"{prose(name)} {code(value)}" for name, value in identity(found))
        lines.append(f"{prose(role)}: {told or UNDEFINED}")
    if pack.provenance.first_call:
        lines.append(
            f"replies came in from {pack.provenance.first_call} to {pack.provenance.last_call}"
        )
    lines += [f"not recorded: {prose(one)}" for one in pack.provenance.unknown]
    return lines


def _results(part: AuditPart, pack: EvidencePack) -> str:
    claims = [one for one in pack.claims if one.audit == part.audit]
    rows = [[prose(one.statement), *map(prose, cells(one))] for one in claims]
    head = ["", "figure", "interval", "n", "coverage", "interval's method"]
    warned = bullets(f"Warning: {prose(one)}" for one in part.warnings)
    said = [f"**{part.audit}.** {prose(part.sentence)}", warned, table(head, rows)]
    return "\n\n".join(one for one in said if one)


def _again(pack: EvidencePack) -> str:
    seed = pack.provenance.seed
    found = pack.provenance.versions.items()
    versions = ", ".join(f"{prose(name)} {code(one)}" for name, one in found)
    data = [f"data {code(one)}: sha256 {code(sha)}" for one, sha in pack.provenance.data.items()]
    return bullets(
        [
            "`askew run run.toml` with the `run.toml` of the run folder, which holds every setting",
            f"seed {UNDEFINED if seed is None else seed}; {versions}",
            *data,
            "`askew score RUN` reads the recorded replies again, `askew verify RUN` checks them",
        ]
    )
