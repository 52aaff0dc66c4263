"""What goes into a reader of a data set and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from askew.errors import ConfigError, DataError, shortened
from askew.records import ContextCondition, Item

ProblemKind = Literal["rejected", "duplicate", "skipped", "no_attack", "note"]
# Characters: a field may be as long as its file, and a thousand messages are kept.
_LONGEST_MESSAGE, _LONGEST_NAME = 800, 200


@dataclass(frozen=True, slots=True)
class DataSpec:
    """A data set as the user names it.

    `options` holds what only one set knows: `categories` of bbq, `split` of stereoset, `sources`
    of flex, `source` of own.
    """

    name: str
    path: str | Path | None = None  # a file or folder; None = the download cache
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that a reader has to say about one record, or about a whole file.

    Kinds: `rejected` (cannot be used; an error unless lenient), `duplicate` (counted once),
    `skipped` (nothing there to read), `no_attack` (a FLEX row that no scenario worked on), `note`.
    """

    path: str
    line: int  # counted from 1, by LF alone; 0 where the file has no lines or all of it is meant
    record: str  # the record's own name; "" where it could not be read
    field: str  # "" where no single field is meant
    kind: ProblemKind
    message: str

    def __str__(self) -> str:
        """File, line, record and field, as far as they are known, then what is wrong."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        record = f"record {self.record!r}: " if self.record else ""
        field_name = f"field {self.field!r}: " if self.field else ""
        return f"{place}: {record}{field_name}{self.message}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A data set, read."""

    name: str
    items: tuple[Item, ...]  # ambiguous: the neutral option is right
    controls: tuple[Item, ...] = ()  # the context gives the answer
    demonstrations: tuple[Item, ...] = ()  # for few-shot prompts; some may be test items too
    problems: tuple[Problem, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)  # file -> sha256 as it is stored

    @property
    def rejected(self) -> tuple[Problem, ...]:
        """The problems that cost a record."""
        return tuple(problem for problem in self.problems if problem.kind == "rejected")


def by_condition(
    name: str,
    items: Iterable[Item],
    problems: tuple[Problem, ...],
    checksums: Mapping[str, str],
) -> Loaded:
    """What was read, with ambiguous items and controls apart."""
    apart: dict[ContextCondition, list[Item]] = {condition: [] for condition in ContextCondition}
    for item in items:
        apart[item.condition].append(item)
    return Loaded(
        name=name,
        items=tuple(apart[ContextCondition.AMBIGUOUS]),
        controls=tuple(apart[ContextCondition.CONTROL]),
        problems=problems,
        checksums=checksums,
    )


class BadRecord(Exception):
    """One record cannot be used; the reader of the file turns it into a `Problem`."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message = shortened(message, _LONGEST_MESSAGE)
        self.field = shortened(field, _LONGEST_NAME)


class Report:
    """Collects problems while files are read, so that the user sees all of them at once."""

    LISTED = 20  # a longer list hides its own point

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(
        self,
        kind: ProblemKind,
        message: str,
        *,
        path: str,
        line: int = 0,
        record: str = "",
        field: str = "",
    ) -> None:
        """Write one problem down."""
        record, field = shortened(record, _LONGEST_NAME), shortened(field, _LONGEST_NAME)
        message = shortened(message, _LONGEST_MESSAGE)
        self.problems.append(Problem(path, line, record, field, kind, message))

    def finish(self, *, lenient: bool) -> tuple[Problem, ...]:
        """All problems, in the order of reading.

        Raises:
            DataError: records were rejected and `lenient` is off; the message lists them.
        """
        rejected = [problem for problem in self.problems if problem.kind == "rejected"]
        if rejected and not lenient:
            lines = [f"  {problem}" for problem in rejected[: self.LISTED]]
            if len(rejected) > self.LISTED:
                lines.append(f"  … and {len(rejected) - self.LISTED} more")
            count = "1 record" if len(rejected) == 1 else f"{len(rejected)} records"
            raise DataError(
                f"{count} cannot be used:\n"
                + "\n".join(lines)
                + "\nMend them in the file, or read leniently: they are left out then, and listed."
            )
        return tuple(self.problems)


def check_options(spec: DataSpec, known: tuple[str, ...]) -> None:
    """Refuse an option that the data set does not have, so that a misspelt one is not ignored."""
    unknown = sorted(set(spec.options) - set(known))
    if unknown:
        has = f"It has: {', '.join(known)}." if known else "It has none."
        raise ConfigError(f"data set {spec.name!r} has no option {unknown[0]!r}. {has}")


def list_option(spec: DataSpec, name: str) -> tuple[str, ...] | None:
    """An option that is a list of words (one word alone will do); None where it is not given."""
    value = spec.options.get(name)
    if value is None:
        return None
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise ConfigError(
            f"option {name!r} of data set {spec.name!r} is {value!r}, expected a list of words."
        )
    if not words:
        raise ConfigError(
            f"option {name!r} of data set {spec.name!r} is empty. Leave it out to read everything."
        )
    return tuple(words)
