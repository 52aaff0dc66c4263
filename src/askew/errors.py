"""What askew raises: a few classes, and the helpers that word them.

Every message names the file, the line and the field where they are known, and ends with the mend.
"""

from __future__ import annotations


class AskewError(Exception):
    """Base of every error that askew raises on purpose; its text is meant for the user."""


class DataError(AskewError, ValueError):
    """A record that askew cannot use."""


class ConfigError(AskewError, ValueError):
    """A setting that askew cannot use: a run file, an option, a model's name."""


class MissingDependency(AskewError, ImportError):
    """A part of askew was used whose optional packages are not installed."""


class ModelError(AskewError):
    """A model could not be asked; what kind of trouble is said by the children in `models.base`."""


class RunError(AskewError):
    """A run folder that cannot be read, resumed or scored."""


def shortened(text: str, most: int = 300) -> str:
    """A text for a message: its beginning, where it is as long as a file without line ends.

    >>> shortened("abcdef", 4)
    'abcd… (6 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def bad_field(
    path: str, line: int, field: str, found: object, expected: str, mend: str
) -> DataError:
    """The error for one field of one record.

    >>> str(bad_field("Age.jsonl", 41, "label", 3, "0, 1 or 2", "See the BBQ release."))
    "Age.jsonl:41: field 'label' is 3, expected 0, 1 or 2. See the BBQ release."
    """
    return DataError(
        f"{path}:{line}: field {shortened(field)!r} is {shortened(repr(found))}, expected "
        f"{expected}. {mend}"
    )


def missing_extra(package: str, extra: str) -> MissingDependency:
    """The error for an optional package that is not there.

    >>> str(missing_extra("torch", "local"))
    "torch is not installed. Install it with: pip install 'askew[local]'"
    """
    return MissingDependency(
        f"{package} is not installed. Install it with: pip install 'askew[{extra}]'"
    )


def unknown_name(kind: str, found: str, known: list[str]) -> ConfigError:
    """The error for a name that no registry holds; it lists the names that are there.

    >>> str(unknown_name("data set", "bqq", ["bbq", "starter"]))
    "unknown data set 'bqq'. Known: bbq, starter."
    """
    return ConfigError(f"unknown {kind} {found!r}. Known: {', '.join(sorted(known))}.")
