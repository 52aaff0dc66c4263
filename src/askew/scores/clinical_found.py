"""What was found in a reply, field by field, before it becomes a `ClinicalAnswer`."""

from __future__ import annotations

from dataclasses import dataclass, field

from askew.scores.clinical_lists import MOST_NAMES, unique


@dataclass(slots=True)
class Found:
    """Fields as they turn up; None = the reply has not settled it."""

    leading: list[str] = field(default_factory=list)  # named as the likeliest, so they come first
    listed: list[str] | None = None
    others: list[str] = field(default_factory=list)  # named as less likely, so they come last
    urgency: int | None = None
    tests: list[str] | None = None
    treatments: list[str] | None = None
    referral: bool | None = None
    cut_list: bool = False  # the reply broke off within the list of diagnoses
    rules: list[str] = field(default_factory=list)  # how they were read

    @property
    def differential(self) -> tuple[str, ...]:
        """All diagnoses, likeliest first."""
        return tuple(unique([*self.leading, *(self.listed or []), *self.others])[:MOST_NAMES])

    @property
    def given(self) -> frozenset[str]:
        """The fields of a `ClinicalAnswer` that are settled."""
        settled = {
            "differential": bool(self.differential),
            "urgency": self.urgency is not None,
            "tests": self.tests is not None,
            "treatments": self.treatments is not None,
            "referral": self.referral is not None,
        }
        return frozenset(name for name, is_settled in settled.items() if is_settled)

    def diagnoses(self) -> Found:
        """The diagnoses alone."""
        return Found(self.leading, self.listed, self.others, rules=self.rules)

    def completed_by(self, other: Found) -> Found:
        """These fields, and those of `other` that are missing here.

        A diagnosis that only `other` calls the likeliest comes first all the same.
        """
        own = bool(self.differential)
        missing = other.given - self.given
        return Found(
            leading=(self.leading or self._as_listed(other.leading)) if own else other.leading,
            listed=self.listed if own else other.listed,
            others=self.others if own else other.others,
            urgency=self.urgency if self.urgency is not None else other.urgency,
            tests=self.tests if self.tests is not None else other.tests,
            treatments=self.treatments if self.treatments is not None else other.treatments,
            referral=self.referral if self.referral is not None else other.referral,
            rules=[*self.rules, *(other.rules if missing else [])],
        )

    def _as_listed(self, names: list[str]) -> list[str]:
        """The names in the words of the list, where it holds them in a longer or shorter form."""
        listed = self.listed or []
        return [next((own for own in listed if _same(own, name)), name) for name in names]


def _same(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one
