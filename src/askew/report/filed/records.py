"""What an evidence pack holds, as `evidence.json` has it.

Every text in it may come from a model, a data file or a folder's name: nobody has escaped it. What
is undefined or not known is None, which is null in the file; it is never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from askew.report.which_audit import Audit

FORMAT = "askew evidence pack"
VERSION = 1
Standing = Literal["measured", "could not be measured"]
MEASURED: Standing = "measured"
NOT_MEASURED: Standing = "could not be measured"
Status = Literal["spoken to", "not addressed by this run"]
SPOKEN_TO: Status = "spoken to"
NOT_ADDRESSED: Status = "not addressed by this run"
Unit = Literal["share", "change of a share", "topics", "difference", "difference of shares"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval.

    Attributes:
        value, lower, upper: None where undefined, or where the run is not fit to claim it.
        level: of the interval.
        n: what the figure is taken over.
        coverage: the share of what was asked that `n` is; None where it does not apply.
        method: of the interval.
        seed: of a random method.
        note: why a value is undefined.
    """

    value: float | None
    lower: float | None
    upper: float | None
    level: float
    n: int
    coverage: float | None
    method: str
    seed: int | None
    note: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that the run supports, or that it could not measure.

    Attributes:
        id: the dotted path of the figure; tells it from the others of the pack.
        kind: one of `askew.report.filed.kinds.KINDS`.
        statement: the claim in one sentence, made from the figure by fixed rules.
        why: why it could not be measured; "" where it was.
        tests: p values, margins, smallest visible effects and verdicts that belong to it.
        keys: the path in `estimates.json`, key by key, as names may hold dots.
        limits: ids of what the figure cannot say.
        recompute: how to make the figure again, in order; RUN is the run folder.
    """

    id: str
    kind: str
    audit: Audit
    standing: Standing
    statement: str
    why: str
    unit: Unit
    figure: Figure
    tests: dict[str, float | str | None]
    path: str
    keys: list[str]
    limits: list[str]
    recompute: list[str]


@dataclass(frozen=True, slots=True)
class AuditPart:
    """One audit of the run.

    Attributes:
        fit: whether the model was fit to be measured; None where that was not told.
        sentence: what was found, in one sentence.
        warnings: what stands between the figures and their use.
        methods: how it measures, in short, with the source.
        settings: as they stand in `estimates.json`.
    """

    audit: Audit
    fit: bool | None
    sentence: str
    warnings: list[str]
    methods: list[str]
    settings: dict[str, object]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure cannot say. `stated_by` is the paper, or "askew"."""

    id: str
    audit: str
    stated_by: str
    says: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was measured, when and with what.

    Attributes:
        models: by role, each with its identity: provider, name, checksum of the weights, endpoint.
        first_call, last_call: when replies came in (UTC, ISO 8601); None where no call was asked.
        versions: of askew, Python, the platform and the packages.
        data: sha256 by file.
        calls: what was asked and what it cost.
        unknown: what the run did not record.
    """

    models: dict[str, dict[str, object]]
    first_call: str | None
    last_call: str | None
    seed: int | None
    versions: dict[str, str]
    data: dict[str, str]
    calls: dict[str, object]
    unknown: list[str]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement of a framework, and what of this run speaks to it.

    Attributes:
        asks: in askew's words.
        status: whether a measured claim of this run speaks to it.
        claims: ids of the measured claims that do.
        could_not: ids of claims that would, and could not be measured.
        records: parts of the pack that bear on it beside the claims.
        supports: what the claims support, where the status is "spoken to".
        does_not: what neither they nor the records support.
    """

    id: str
    place: str
    title: str
    asks: str
    status: Status
    claims: list[str]
    could_not: list[str]
    records: list[str]
    supports: str
    does_not: str
    source: str


@dataclass(frozen=True, slots=True)
class Framework:
    """A law, framework or standard, the text that was used and how it was checked."""

    id: str
    name: str
    text: str
    source: str
    read: str
    checked: str
    requirements: list[Requirement]


@dataclass(frozen=True, slots=True)
class BundledFile:
    """A file of the pack.

    Attributes:
        path: below the pack's folder.
        what: what it is.
        holds: whose texts it may hold.
    """

    path: str
    sha256: str
    bytes: int
    what: str
    holds: str


@dataclass(frozen=True, slots=True)
class EvidencePack:
    """The whole pack.

    Attributes:
        headline: the first line of every form of the pack: what it is of, and what is wrong.
        complete: whether the run ended and nothing is missing.
        incomplete: what is missing.
        altered: files that differ from the run's MANIFEST; None where there is none to check.
        not_told: what could not be told, and why.
        not_this: what askew is not.
    """

    format: str
    version: int
    made_by: str
    headline: str
    run: str
    model: str
    complete: bool
    incomplete: list[str]
    altered: list[str] | None
    audits: list[AuditPart]
    claims: list[Claim]
    not_told: list[str]
    limits: list[Limit]
    not_this: list[str]
    frameworks: list[Framework]
    provenance: Provenance
    files: list[BundledFile]
