"""In what two runs were not asked or read alike: field by field, from `run.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from askew.report.compare.records import SettingDifference, Weight
from askew.report.settings import value_text
from askew.report.which_audit import AUDITS, Audit

NOT_WRITTEN = "not written down"
# What decides how a prompt reads or how a reply is read: with another, the same item is another.
_REFUSED: dict[Audit, tuple[str, ...]] = {
    "flex": (
        "prompt",
        "scoring",
        "list_options",
        "attack_role",
        "normalise",
        "non_answers",
        "paraphrase",
        "wording",
    ),
    "clinical": ("structured", "first_hop", "steps", "template", "rules", "reference"),
    "boundary": (
        "threshold",
        "fewest_judged",
        "cut_answers",
        "slant",
        "slant_references",
        "slant_by",
    ),
}
# What changes answers without making another question of it, or what the run was made of.
_WARNED: dict[Audit, tuple[str, ...]] = {
    "flex": ("shots", "shot_kind"),
    "clinical": ("backend", "margins", "primary", "shots", "replicates", "levels", "declared"),
    "boundary": ("graph", "question_sets"),
}
_JUDGED: tuple[Audit, ...] = ("clinical", "boundary")


def audit_settings(
    audit: Audit, baseline: Mapping[str, object], other: Mapping[str, object]
) -> tuple[SettingDifference, ...]:
    """The settings of one audit, and its data, in which two run files differ.

    Args:
        audit: that both runs hold.
        baseline: the baseline's `run.toml`, parsed; may be empty.
        other: the other run's.
    """
    both = [_flat(_table(run.get(audit))) for run in (baseline, other)]
    found = _differing(both, f"{audit}.", lambda name: _weight(audit, name))
    if audit == "boundary":
        judges = [{"name": _judge(run)} for run in (baseline, other)]
        found += _differing(judges, "models.judge.", lambda name: "refused")
    data = [_data(run, audit) for run in (baseline, other)]
    found += _differing(data, "record.data.", lambda name: "warning")
    return tuple(sorted(found, key=lambda one: _ORDER[one.weight]))


def shared_settings(
    baseline: Mapping[str, object], other: Mapping[str, object]
) -> tuple[SettingDifference, ...]:
    """What the runs differ in as a whole: models, sampling, seed, versions."""
    found = []
    models = [_flat(_table(_table(run.get("models")).get("target"))) for run in (baseline, other)]
    found += _differing(models, "models.target.", _of_target)
    tops = [{name: run.get(name) for name in ("seed",) if name in run} for run in (baseline, other)]
    found += _differing(tops, "", lambda name: "note")
    made = [_made_by(run) for run in (baseline, other)]
    found += _differing(made, "record.", lambda name: "note")
    return tuple(sorted(found, key=lambda one: _ORDER[one.weight]))


_ORDER: dict[Weight, int] = {"refused": 0, "warning": 1, "note": 2}
# Settings that move answers; the model's name and address are what is compared.
_SAMPLING = ("temperature", "max_tokens", "top_p", "stop", "system")


def _of_target(name: str) -> Weight:
    return "warning" if name in _SAMPLING else "note"


def _weight(audit: Audit, name: str) -> Weight:
    top = name.partition(".")[0]
    if top in _REFUSED[audit]:
        return "refused"
    return "warning" if top in _WARNED[audit] else "note"


def _differing(
    both: Sequence[Mapping[str, object]], above: str, weight: Callable[[str], Weight]
) -> list[SettingDifference]:
    baseline, other = both
    names = dict.fromkeys([*baseline, *other])
    found = []
    for name in names:
        if baseline.get(name) == other.get(name):
            continue
        own = weight(name)
        if name not in baseline or name not in other:
            # A file of another version may lack a setting: what it was is not known.
            own = max(own, "warning", key=_ORDER.__getitem__)
        found.append(
            SettingDifference(f"{above}{name}", _text(baseline, name), _text(other, name), own)
        )
    return found


def _text(settings: Mapping[str, object], name: str) -> str:
    return value_text(settings[name]) if name in settings else NOT_WRITTEN


def _table(found: object) -> Mapping[str, object]:
    return found if isinstance(found, Mapping) else {}


def _flat(table: Mapping[str, object], above: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{above}{name}.")
        else:
            found[f"{above}{name}"] = value
    return found


def _data(run: Mapping[str, object], audit: Audit) -> Mapping[str, object]:
    """The checksums of the audit's data: its own where the run holds several, else the run's."""
    record = _table(run.get("record"))
    own = _table(_table(record.get("audits")).get(audit))
    return _table(own.get("data")) or _table(record.get("data"))


def _judge(run: Mapping[str, object]) -> object:
    return _table(_table(run.get("models")).get("judge")).get("name", "")


def _made_by(run: Mapping[str, object]) -> dict[str, object]:
    record = _table(run.get("record"))
    return {name: record[name] for name in ("askew",) if name in record}


def audits_missing(baseline: tuple[Audit, ...], other: tuple[Audit, ...]) -> tuple[str, ...]:
    """The audits that only one of two runs holds, in words."""
    return tuple(
        f"the {audit} audit is in {'the baseline' if audit in baseline else 'the other run'} alone"
        for audit in AUDITS
        if (audit in baseline) is not (audit in other)
    )
