"""An evidence pack for people: Markdown, and a page that prints and needs nothing else.

Both are made from the pack alone. Whatever a model, a data file or a folder's name has written is
escaped: in Markdown by `markup.prose` and `markup.code`, on the page by the template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askew.report.filed.records import (
    SPOKEN_TO,
    AuditPart,
    Claim,
    EvidencePack,
    Figure,
    Framework,
    Requirement,
    Unit,
)
from askew.report.html_page import styles, template
from askew.report.markup import bullets, code, prose, table
from askew.report.scripts import policy
from askew.report.settings import value_text
from askew.report.words import UNDEFINED, percent, percent_range, points, points_range

PRIVACY = (
    "The report and the ledger (report.html, run.sqlite) are bundled only where somebody asked for "
    "them: see the list of files. They hold prompts and replies, which are texts of data and "
    "models, may be offensive, and may be about patients: see who may read them before they are "
    "filed. Nothing else of this pack holds any."
)
RECOMPUTE = (
    "`askew verify RUN` says whether the run folder is as the run left it; `askew score RUN` reads "
    "the recorded replies again, asks no model, and writes every figure anew into "
    "`RUN/estimates.json`, where it stands at the path given. RUN is the run folder, or the folder "
    "`run` of a pack that was made with its calls."
)
_HEAD = ["claim", "figure", "interval", "n", "coverage", "method", "path"]


def to_html(pack: EvidencePack) -> str:
    """The pack as one page without scripts."""
    html: str = template("evidence.html.j2").render(
        pack=pack,
        policy=policy(None),
        style=styles("evidence.css"),
        privacy=PRIVACY,
        recompute=RECOMPUTE.replace("`", ""),
        rows=[(claim, *cells(claim)) for claim in pack.claims],
        identity=identity,
        spoken_to=SPOKEN_TO,
        value_text=value_text,
    )
    return html


def to_markdown(pack: EvidencePack) -> str:
    """The pack as Markdown; its headline is the first line."""
    parts = [
        f"# {prose(pack.headline)}",
        f"Made by {pack.made_by} from the run {code(pack.run)}. What is claimed stands below with "
        "its interval, what it rests on and what it cannot say. `evidence.json` holds the same for "
        "machines.",
        f"> {PRIVACY}",
        "## What was found",
        *(_audit(part) for part in pack.audits),
        "## Claims",
        _claims(pack.claims),
        RECOMPUTE,
        "## What could not be told",
        bullets(map(prose, pack.not_told), "Nothing that was to be told."),
        "## What askew is not",
        bullets(map(prose, pack.not_this)),
        "## What was measured, when and with what",
        _provenance(pack),
        "## How",
        *(f"**{part.audit}.** {prose(' '.join(part.methods))}" for part in pack.audits),
        *(_settings(part) for part in pack.audits),
        "## What the figures cannot say",
        bullets(f"{prose(one.says)} ({prose(one.stated_by)}; `{one.id}`)" for one in pack.limits),
        "## What somebody asks, and what speaks to it",
        "A claim that speaks to a requirement does not meet it. No conformity is claimed, and this "
        "is no legal advice.",
        *(part for one in pack.frameworks for part in _framework(one)),
        "## Files",
        _files(pack),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def cells(claim: Claim) -> tuple[str, str, str, str, str]:
    """Value, interval, n, coverage and method of a claim, for people."""
    figure = claim.figure
    value, interval = _numbers(figure, claim.unit)
    coverage = UNDEFINED if figure.coverage is None else percent(figure.coverage)
    return value, interval, f"{figure.n:,}", coverage, figure.method or UNDEFINED


def identity(found: Mapping[str, object]) -> list[tuple[str, str]]:
    """A model's identity as names and values."""
    return [(name.replace("_", " "), value_text(value)) for name, value in found.items()]


def _numbers(figure: Figure, unit: Unit) -> tuple[str, str]:
    value, lower, upper = figure.value, figure.lower, figure.upper
    if value is None:
        return UNDEFINED, UNDEFINED
    ends = lower is not None and upper is not None
    level = f"{figure.level * 100:g} %: "
    low, high = lower or 0.0, upper or 0.0  # shown only where both are there
    match unit:
        case "share":
            return percent(value), level + percent_range(low, high) if ends else "none"
        case "topics":
            return f"{value:,.0f}", f"{level}{low:,.0f} to {high:,.0f}" if ends else "none"
        case "difference":
            shown = f"{level}{low:+.3g} to {high:+.3g}".replace("-", "−") if ends else "none"
            return f"{value:+.3g}".replace("-", "−"), shown
        case _:
            shown = f"{level}{points_range(low, high)}" if ends else "none"
            return f"{points(value)} points", shown


def _audit(part: AuditPart) -> str:
    lines = [f"**{part.audit}.** {prose(part.sentence)}"]
    if part.warnings:
        lines += ["", *(f"- Warning: {prose(one)}" for one in part.warnings)]
    return "\n".join(lines)


def _claims(claims: Sequence[Claim]) -> str:
    rows = []
    for claim in claims:
        value, interval, size, coverage, method = cells(claim)
        said = prose(claim.statement)
        rows.append([said, value, interval, size, coverage, prose(method), code(claim.path)])
    return table(_HEAD, rows)


def _provenance(pack: EvidencePack) -> str:
    origin = pack.provenance
    lines = []
    for role, found in origin.models.items():
        told = "; ".join(f"{prose(name)} {code(value)}" for name, value in identity(found))
        lines.append(f"{prose(role)}: {told}")
    if origin.first_call:
        lines.append(f"replies came in from {origin.first_call} to {origin.last_call}")
    lines.append(f"seed: {UNDEFINED if origin.seed is None else origin.seed}")
    versions = ", ".join(f"{prose(name)} {code(one)}" for name, one in origin.versions.items())
    lines.append(f"versions: {versions or UNDEFINED}")
    lines += [f"data {code(name)}: sha256 {code(sha)}" for name, sha in origin.data.items()]
    lines += [f"not recorded: {prose(one)}" for one in origin.unknown]
    if pack.altered is None:
        lines.append("MANIFEST: there is none")
    else:
        lines.append(
            f"MANIFEST: {prose('; '.join(pack.altered)) or 'every file is as the run left it'}"
        )
    return bullets(lines)


def _settings(part: AuditPart) -> str:
    rows = [[code(name), code(value_text(value))] for name, value in part.settings.items()]
    return f"Settings of the {part.audit} audit:\n\n{table(['setting', ''], rows)}" if rows else ""


def _framework(one: Framework) -> list[str]:
    return [
        f"### {one.name}",
        f"{one.text}. Source: <{one.source}>, read {one.read}. {one.checked}",
        *(_requirement(wanted) for wanted in one.requirements),
    ]


def _requirement(one: Requirement) -> str:
    lines = [
        f"**{one.place}: {one.title}.** {one.asks}",
        "",
        f"- Status: {one.status}.",
    ]
    if one.claims:
        lines.append(f"- Claims that speak to it: {', '.join(map(code, one.claims))}.")
        lines.append(f"- What they support: {one.supports}")
    if one.could_not:
        lines.append(f"- Could not be measured: {', '.join(map(code, one.could_not))}.")
    if one.records:
        lines.append(f"- Records that bear on it: {'; '.join(one.records)}.")
    lines.append(f"- What they do not support: {one.does_not}")
    return "\n".join(lines)


def _files(pack: EvidencePack) -> str:
    rows = [
        [code(one.path), code(one.sha256), f"{one.bytes:,}", prose(one.what), prose(one.holds)]
        for one in pack.files
    ]
    head = ["file", "sha256", "bytes", "what it is", "whose texts it may hold"]
    return f"{table(head, rows)}\n\n`SHA256SUMS` has every file, for `sha256sum --check`."
