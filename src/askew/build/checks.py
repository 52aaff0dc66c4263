"""`askew flex check`: every rule on every set below a path, the published one included.

A rule is a function from a set to its findings; a new one is written beside the others and named
in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from askew.build.check_built import (
    checksums,
    map_unlike_rows,
    no_baseline,
    no_instruction,
    number_unlike_scenario,
    other_items,
    same_as_baseline,
    unfinished,
    unlike_parquet,
    unlike_report,
)
from askew.build.check_counts import below_threshold, impossible_counts, no_fresh_replies
from askew.build.check_fewshot import (
    fewshot_attack,
    fewshot_label,
    fewshot_refused,
    fewshot_tested,
)
from askew.build.check_finding import Finding, Severity
from askew.build.check_rows import (
    blanks,
    duplicates,
    label,
    missing_columns,
    no_personas,
    no_rows,
    no_source_task,
    no_such_scenario,
    other_sentence,
    paper_counts,
    refused,
    religion_as_persona,
    self_cipher,
    unattacked,
    unreadable_files,
)
from askew.build.check_set import FlexSet, read_sets
from askew.build.check_texts import (
    keys_without_rows,
    no_question,
    shared_maps,
    text_attacks,
    unreadable_maps,
)

Rule = Callable[[FlexSet], list[Finding]]

# In the order in which findings of one severity are printed.
RULES: tuple[Rule, ...] = (
    unreadable_files,
    no_rows,
    missing_columns,
    refused,
    unattacked,
    label,
    other_sentence,
    no_such_scenario,
    no_personas,
    no_question,
    text_attacks,
    below_threshold,
    impossible_counts,
    duplicates,
    unreadable_maps,
    keys_without_rows,
    shared_maps,
    fewshot_refused,
    fewshot_label,
    fewshot_attack,
    fewshot_tested,
    religion_as_persona,
    self_cipher,
    blanks,
    no_source_task,
    paper_counts,
    checksums,
    unlike_parquet,
    unlike_report,
    map_unlike_rows,
    number_unlike_scenario,
    no_instruction,
    no_fresh_replies,
    no_baseline,
    other_items,
    same_as_baseline,
    unfinished,
)
SEVERITIES: tuple[Severity, ...] = ("fault", "caution", "note")


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and everything that was found."""

    path: Path
    sets: tuple[FlexSet, ...]
    findings: tuple[Finding, ...]  # faults first, in the order of the rules

    @property
    def faults(self) -> int:
        """How many findings are faults."""
        return sum(finding.severity == "fault" for finding in self.findings)


def check(path: Path | None) -> Checked:
    """Read the sets below a path and apply every rule.

    Args:
        path: see `check_set.read_sets`.

    Raises:
        DataError: there is no set in FLEX's form, or a file cannot be read.
    """
    sets = read_sets(path)
    found = [
        # What has no source is about the build as a whole.
        replace(one_finding, set_name=one.name if any(one_finding.by_source) else "")
        for one in sets
        for rule in RULES
        for one_finding in rule(one)
    ]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Checked(sets[0].root, tuple(sets), tuple(found))


def as_json(checked: Checked) -> dict[str, Any]:
    """Everything found, as plain values."""
    return {
        "path": str(checked.path),
        "sets": [
            {
                "name": one.name,
                "built": one.built,
                "rows": {sheet.name: len(sheet.rows) for sheet in one.sheets},
            }
            for one in checked.sets
        ],
        "faults": checked.faults,
        "findings": [asdict(finding) for finding in checked.findings],
    }
