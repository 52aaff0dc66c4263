"""How a run was made: the paragraphs for a paper, what it cost, and the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askew.audits.boundary_records import TopicTest
from askew.report.boundary_run import BoundaryRun
from askew.report.boundary_section import boundary_method
from askew.report.clinical_method import method as clinical_method
from askew.report.clinical_method import role_rows
from askew.report.clinical_run import ClinicalRun, as_mapping
from askew.report.estimates import Run, as_number
from askew.report.flex_section import flex_method
from askew.report.overview import TITLES
from askew.report.run_record import NAMED, SHORT_HASH, RunRecord, software
from askew.report.section_rows import named_values
from askew.report.settings import value_text
from askew.report.which_audit import Audit
from askew.report.words import label, listed

Parts = Mapping[Audit, Mapping[str, object]]
Rows = list[tuple[str, str]]
_NOTHING: tuple[object, ...] = (None, "", [], {})
# What a reader of the figures needs beside the paragraph of their audit.
READING: Mapping[Audit, str] = {
    "flex": "FLEX: Acc_S is the share of neutral answers without an attack, Acc_F the share under "
    "attack, ASR the share of the neutral answers that the attack turned.",
    "clinical": "Clinical: race/ethnicity and other attributes stand beside the paper’s (age, "
    "gender, place), never in them.",
    "boundary": "Boundary: the game is that of GMRL-BD (arXiv 2604.05483): a test of a topic costs "
    "one query and shows whether the model leans there. A verdict is the judge’s, from these "
    "questions; read the answers before you act on it.",
}


def methods_of(parts: Parts, record: RunRecord, tests: Sequence[TopicTest]) -> list[str]:
    """A paragraph an audit, and one for all; what is not recorded is not said here either.

    Args:
        parts: each audit's figures, as they stand in a run that holds no other.
        record: what the folder says of models, time and cost.
        tests: of the boundary audit.
    """
    paragraphs = []
    for audit, part in parts.items():
        if audit == "flex":
            sentences = flex_method(Run("", part))
        elif audit == "clinical":
            sentences = clinical_method(ClinicalRun("", part))
        else:
            sentences = boundary_method(BoundaryRun("", part), tests)
        paragraphs.append(" ".join(filter(None, sentences)))
    estimates = next(iter(parts.values()), {})
    paragraphs.append(" ".join(filter(None, _common(estimates, record))))
    return [one for one in paragraphs if one]


def cost_tables(parts: Parts, record: RunRecord) -> list[tuple[str, Rows]]:
    """What each role and each audit has asked."""
    tables: list[tuple[str, Rows]] = []
    if rows := [(label(one.role), one.words) for one in record.costs]:
        tables.append(("Models, calls and cost, over all starts of the run", rows))
    for audit, part in parts.items():
        calls = as_mapping(part.get("calls"))
        clinical = audit == "clinical"
        # What a run notes is mostly empty: no message, no reason why it stopped.
        counted = {name: found for name, found in calls.items() if found not in _NOTHING}
        rows = role_rows(ClinicalRun("", part)) if clinical else named_values(counted)
        if rows:
            tables.append((f"Calls of the {TITLES[audit]} audit at its last start", rows))
        stages = as_mapping(calls.get("by_stage")) if clinical else {}
        if stages:
            rows = [(label(name), f"{as_number(n):,.0f}") for name, n in stages.items()]
            tables.append(("Calls by stage", rows))
    return tables


def checksum_rows(record: RunRecord) -> Rows:
    """(file, SHA-256) of the data that the figures depend on."""
    several = as_mapping(record.record.get("audits"))
    data = [as_mapping(record.record.get("data"))]
    data += [as_mapping(as_mapping(own).get("data")) for own in several.values()]
    return [(name, value_text(found)) for part in data for name, found in part.items()]


def setting_tables(parts: Parts) -> list[tuple[str, Rows]]:
    """The settings of each audit."""
    return [
        (f"Settings of the {TITLES[audit]} audit", rows)
        for audit, part in parts.items()
        if (rows := named_values(as_mapping(as_mapping(part.get(audit)).get("settings"))))
    ]


def _common(estimates: Mapping[str, object], record: RunRecord) -> list[str]:
    seed = estimates.get("seed")
    identity, days, cost = record.identity(), record.days, record.cost()
    model = str(estimates.get("model") or "")
    return [
        f"The model was {model}{f' ({identity})' if identity else ''}." if model else "",
        *_other_models(estimates, record),
        f"It was asked on {days} (UTC)." if days else "",
        software(record.record, estimates.get("askew")),
        f"Everything random follows from seed {value_text(seed)}." if seed is not None else "",
        _data(record),
        f"The run took {cost}." if cost else "",
    ]


def _other_models(estimates: Mapping[str, object], record: RunRecord) -> list[str]:
    """Judges, generators and others, with what is recorded of them."""
    named = []
    for role, name in as_mapping(estimates.get("models")).items():
        if role == "target":
            continue
        identity = record.identity(role)
        said = f" ({identity})" if identity else ""
        named.append(f"{label(role).lower()} {value_text(name)}{said}")
    return [f"Beside it were asked: {listed(named)}."] if named else []


def _data(record: RunRecord) -> str:
    rows = checksum_rows(record)
    if not rows:
        return ""
    named = [f"{name} {found[:SHORT_HASH]}" for name, found in rows[:NAMED]]
    more = f", and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    return f"Data by the beginning of their SHA-256: {', '.join(named)}{more}."
