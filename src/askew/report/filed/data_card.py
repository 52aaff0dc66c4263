"""The data card of a run: what it put to the model, where that came from, and under which licence.

Made from the run folder alone: counts, names and checksums, no item. What the run did not record is
said to be unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from askew.datasets.pins import PUBLISHED
from askew.records import Item
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import ClinicalRun
from askew.report.estimates import Run, as_number
from askew.report.filed.card_parts import OWN_LICENCE, licence_of, size_category
from askew.report.filed.claims import run_of
from askew.report.filed.model_card import data_names
from askew.report.filed.pack import evidence_of, faults
from askew.report.filed.records import EvidencePack
from askew.report.markup import bullets, code, front_matter, name, prose, table
from askew.report.which_audit import Audit, part_of
from askew.report.words import UNDEFINED, counted, label, listed
from askew.runfolder import RunFolder

_TASKS: Mapping[Audit, list[str]] = {
    "flex": ["multiple-choice", "question-answering"],
    "clinical": ["question-answering", "text-generation"],
    "boundary": ["question-answering", "text-generation"],
}
_UNIT: Mapping[Audit, str] = {"flex": "item", "clinical": "vignette", "boundary": "topic"}
_HF = {"equitymedqa": "cc-by-4.0"}  # of sets whose items do not carry the licence by their source
_NEVER = (
    "Do not train a model on these items that is to be measured on them again, and pass on nothing "
    "whose licence does not allow it. Items speak of stereotypes about people; vignettes may be "
    "patients', whose texts have rules of their own."
)


def data_card(folder: RunFolder) -> str:
    """The card, front matter first.

    Raises:
        RunError: the run has no figures yet, or cannot be read.
    """
    pack = evidence_of(folder)
    told = _Told(folder, pack)
    parts = [
        front_matter(told.metadata()),
        f"# The data that {code(pack.model)} was asked about",
        *(f"**{prose(one)}**" for one in faults(pack.audits, pack.incomplete, pack.altered or [])),
        f"**Content warning.** {_NEVER}",
        f"What the run {code(pack.run)} put to the model. The card holds counts, names and "
        "checksums, and no item.",
        "## What is in it",
        *(table_ for audit in told.runs for table_ in told.contents(audit)),
        "## Licences, as far as askew knows them",
        bullets(told.licences(), "No data set is recorded."),
        "## Files",
        bullets(
            (f"{code(one)}: sha256 {code(sha)}" for one, sha in pack.provenance.data.items()),
            "The run recorded no checksums.",
        ),
        "## What was made, and by what",
        bullets(one for audit in told.runs for one in told.made(audit)),
        "## Sensitive attributes",
        bullets(one for audit in told.runs for one in told.attributes(audit)),
        "## Known faults",
        bullets(
            (one for audit in told.runs for one in told.faults(audit)),
            "None is recorded; that none was looked for is possible.",
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def metadata_of(folder: RunFolder) -> dict[str, object]:
    """What stands in the card's front matter.

    Raises:
        RunError: the run has no figures yet, or cannot be read.
    """
    return _Told(folder, evidence_of(folder)).metadata()


class _Told:
    """What a run says of its data, audit by audit."""

    def __init__(self, folder: RunFolder, pack: EvidencePack) -> None:
        estimates = folder.read_estimates()
        audits = [part.audit for part in pack.audits]
        self.pack = pack
        self.runs = {audit: run_of(part_of(estimates, audit), audit) for audit in audits}
        self.names = data_names(folder, pack)
        self.items = list(folder.read_items().values()) if "flex" in audits else []

    def metadata(self) -> dict[str, object]:
        """For Hugging Face."""
        size = sum(self.size(audit) or 0 for audit in self.runs)
        # Of vignettes and topics no language is recorded, and none is guessed.
        languages = sorted({_language(item.language) for item in self.items} - {""})
        known = {hf for hf, _ in self._licences().values()} or {OWN_LICENCE[0]}
        tasks = sorted({task for audit in self.runs for task in _TASKS[audit]})
        tags = ["askew", "bias", "evaluation", "fairness", "not-for-all-audiences"]
        return {
            "pretty_name": f"What {self.pack.model} was asked about ({self.pack.run})",
            "license": sorted(known),
            "language": languages,
            "task_categories": tasks,
            "size_categories": [size_category(size)] if size else [],
            "tags": [*tags, *(f"askew-{audit}" for audit in self.runs)],
        }

    def size(self, audit: Audit) -> int | None:
        """How many items, vignettes or topics were asked about; None where that is not told."""
        run = self.runs[audit]
        if isinstance(run, ClinicalRun):
            return run.count("study", "vignettes")
        if isinstance(run, BoundaryRun):
            return run.tested or None
        return len(self.items) or None

    def contents(self, audit: Audit) -> list[str]:
        """How many of what, from where."""
        run, size = self.runs[audit], self.size(audit)
        total = UNDEFINED if size is None else counted(size, _UNIT[audit])
        sets = listed([code(one) for one in self.names[audit]]) or "not recorded"
        lead = f"**{audit}.** {total}; data sets: {sets}."
        if isinstance(run, ClinicalRun):
            arms = _counts(run.part("study", "arms"))
            return [
                lead,
                _table("vignettes by source", _counts(run.part("study", "sources"))),
                _table("texts by what was changed", arms),
            ]
        if isinstance(run, BoundaryRun):
            return [
                lead,
                _table("topics", _counts(run.part("topics"))),
                _table("questions by where they came from", _counts(run.part("questions"))),
            ]
        sources, types = _items_by(self.items)
        controls = sum(item.answer != item.neutral for item in self.items)
        return [
            f"{lead} {controls:,} of them are controls, whose context gives the answer.",
            _table("items by source", sources),
            _table("items by bias type", types),
            _table("pairs asked by attack", _counts(run.part("pairs", "category"))),
        ]

    def licences(self) -> list[str]:
        """A line a data set or a source of items."""
        return [f"{name(one)}: {prose(words)}" for one, (_, words) in self._licences().items()]

    def made(self, audit: Audit) -> list[str]:
        """What askew or a model made of the data."""
        run = self.runs[audit]
        if isinstance(run, ClinicalRun):
            backend = run.setting("backend")
            made = sum(
                n for arm, n in _counts(run.part("study", "arms")).items() if arm != "original"
            )
            by = "not recorded" if backend is None else code(str(backend))
            return [f"{counted(made, 'counterfactual twin')} of vignettes, made by: {by}"]
        if isinstance(run, BoundaryRun):
            asked = _counts(run.part("questions"))
            return [f"questions {prose(origin)}: {n:,}" for origin, n in asked.items() if n]
        attacks = sum(bool(item.text_attacks) for item in self.items)
        changed = f"{counted(attacks, 'item')} with changed questions that came with the data"
        return ["scenarios: personas and objectives in askew's own wordings", changed]

    def attributes(self, audit: Audit) -> list[str]:
        """What of people the data speak of."""
        run = self.runs[audit]
        if isinstance(run, ClinicalRun):
            named = run.setting("attributes")
            levels = [prose(str(one)) for one in named] if isinstance(named, list) else []
            return [
                f"changed attributes of patients: {listed(levels) or 'not recorded'}",
                "health: vignettes describe illness, invented or not",
            ]
        if isinstance(run, BoundaryRun):
            return [
                f"topics of the domains {listed(_domains(run)) or 'not recorded'}, opinions on "
                "which may be political or religious"
            ]
        types = [prose(label(one)) for one in _items_by(self.items)[1]]
        return [f"stereotypes by {listed(types) or 'types that are not recorded'}"]

    def faults(self, audit: Audit) -> list[str]:
        """What is known to be wrong with the data or with how they were used."""
        run = self.runs[audit]
        said = [
            f"{prose(PUBLISHED[one].title)}: {prose(PUBLISHED[one].note)}"
            for one in self.names[audit]
            if one in PUBLISHED and PUBLISHED[one].note
        ]
        problems = _counts(run.part("problems"))
        said += [f"records {prose(kind)}: {n:,}" for kind, n in problems.items() if n]
        if isinstance(run, ClinicalRun):
            dropped = _counts(run.part("study", "dropped"))
            said += [
                f"twins not asked about, {prose(kind)}: {n:,}"
                for kind, n in dropped.items()
                if kind != "same"  # as the text had it already: nothing is wrong with those
            ]
        elif isinstance(run, Run):
            if unchanged := run.count("unchanged_text_attacks"):
                said.append(f"{counted(unchanged, 'text attack')} change nothing in the question")
            if undirected := run.count("undirected", "overall"):
                said.append(
                    f"{counted(undirected, 'pair')} of items that do not say which option is the "
                    "stereotype"
                )
            said += [f"no scenario fits {prose(one)}" for one in run.part("left_out")]
        return said

    def _licences(self) -> dict[str, tuple[str, str]]:
        """Licence by data set, and by source of FLEX items, which may come from several sets."""
        found: dict[str, tuple[str, str]] = {}
        for one in (one for names in self.names.values() for one in names):
            if one in PUBLISHED:
                hugging_face = _HF.get(one, licence_of(one)[0])
                found[one] = (hugging_face, PUBLISHED[one].licence)
            else:
                found[one] = licence_of(one.removeprefix("graph "))
        for source in sorted({item.source for item in self.items}):
            found.setdefault(source, licence_of(source))
        return found


def _items_by(items: Iterable[Item]) -> tuple[dict[str, int], dict[str, int]]:
    """How many items a source, and a bias type, in order."""
    sources, types = Counter[str](), Counter[str]()
    for item in items:
        sources[item.source] += 1
        types[item.bias_type] += 1
    return dict(sorted(sources.items())), dict(sorted(types.items()))


def _counts(part: Mapping[str, object]) -> dict[str, int]:
    """The whole numbers of a part of the figures."""
    numbers = {str(key): as_number(value) for key, value in part.items()}
    return {key: int(value) for key, value in numbers.items() if value == value}


def _table(title: str, counts: Mapping[str, int]) -> str:
    rows = [[name(key), f"{n:,}"] for key, n in counts.items()]
    return table([title, "count"], rows) if rows else ""


def _domains(run: BoundaryRun) -> list[str]:
    return [prose(one) for one in run.part("by_domain")]


def _language(tag: str) -> str:
    """The language alone, without region or script, as Hugging Face wants it."""
    primary = tag.replace("_", "-").partition("-")[0].casefold()
    return primary if primary.isascii() and primary.isalpha() else ""
