"""Which check belongs to which case, and why the other cases have none here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.field.folder import Case, CaseFolder

# A check gets the case, its folder and an empty folder to work in; it fails by an assertion.
Check = Callable[[Case, CaseFolder, Path], None]

CHECKS: dict[str, Check] = {}

# A case's part -> why this version has nothing to check.
LATER: dict[str, str] = {}


def check(case_id: str) -> Callable[[Check], Check]:
    """Register the decorated function as the check of one case."""

    def register(function: Check) -> Check:
        CHECKS[case_id] = function
        return function

    return register


def why_later(part: str) -> str | None:
    """Why a part is not covered by this version; None where it is."""
    return LATER.get(part)
