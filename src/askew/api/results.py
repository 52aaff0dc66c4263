"""A run folder as Python sees it: figures, rows, pairs, comparisons, and a notebook's card.

Runs of all audits are a `Run`; what an audit has not says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from askew.errors import ConfigError, RunError
from askew.records import Estimate, Outcome

if TYPE_CHECKING:
    import pandas

    from askew.audits.boundary_ask import AskAnswer
    from askew.report.clinical_run import ClinicalRun
    from askew.report.evidence import Turned
    from askew.report.which_audit import Audit
    from askew.runfolder import RunFolder

# What a run is that lacks what another audit has, and what it has itself.
_HAS: Mapping[Audit, str] = {
    "flex": "run of FLEX: `pairs()` has its pairs, `table()` its figures",
    "clinical": "run of the clinical audit: `effects()` has its comparisons, `rows()` its answers",
    "boundary": "run of the boundary audit: `rows()` has its questions and answers, `ask()` what "
    "they say of another question",
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run, read from its folder each time it is asked.

    Attributes:
        path: the run folder.
    """

    path: Path

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self._folder.report

    @property
    def figures(self) -> Mapping[str, object]:
        """`estimates.json`, parsed: nested mappings, None where a figure is undefined.

        Raises:
            RunError: the run has no figures yet.
        """
        return self._folder.read_estimates()

    @property
    def sentence(self) -> str:
        """What was found, and whether the model's answers are worth anything, audit by audit."""
        from askew.report import boundary_summary, clinical_summary, summary
        from askew.report.which_audit import parts_of

        said = {
            "clinical": clinical_summary.sentence,
            "boundary": boundary_summary.sentence,
            "flex": summary.sentence,
        }
        return " ".join(said[audit](part) for audit, part in parts_of(self.figures).items())

    @property
    def missing(self) -> int:
        """How many questions have no reply; of a clinical run, how many answers were never had.

        Of a boundary run, how many topics were still to be tested. A run of several audits has the
        sum; an audit of it that was not started has no figures yet, and so no number.
        """
        counts = {
            "clinical": lambda: self._clinical.missing,
            "boundary": lambda: self._untested,
            "flex": lambda: self._folder.read_scores().count(None),
        }
        return sum(counts[audit]() for audit in self._measured)

    @property
    def failed(self) -> int:
        """How many questions have an error in place of a reply."""
        from askew.report.clinical_summary import outcome_counts

        found = 0
        for audit in self._measured:
            if audit == "clinical":
                found += outcome_counts(self._clinical).get("error", 0)
            elif audit == "boundary":
                found += sum(row["outcome"] == "error" for row in self.rows("boundary"))
            else:
                scores = self._folder.read_scores()
                found += sum(one is not None and one.outcome is Outcome.ERROR for one in scores)
        return found

    def estimate(self, path: str) -> Estimate:
        """One figure with its interval, by its path in `estimates.json`.

        Args:
            path: a short name as `askew gate --list` has them ("asr"), or
                "flex.attack_success_rate.category.persona_injection", or
                "clinical.effects.direct.gender.female - male.urgency", or
                "boundary.by_domain.economy.leaning_share".

        Returns:
            The figure; NaN where it is undefined, with the reason in its note.

        Raises:
            ConfigError: no figure with an interval stands there; the message names near ones.
        """
        from askew.report.frame import estimate_at, figure_rows

        figures = self.figures
        found = estimate_at(figures, path) or self._by_short_name(path)
        if found is None:
            known = [str(row["path"]) for row in figure_rows(figures)]
            near = get_close_matches(path, known, n=3, cutoff=0.3)
            raise ConfigError(
                f"{self.path} has no figure {path!r}. Near it: {', '.join(near) or 'nothing'}. "
                "`table()` lists all that have an interval, `figures` holds everything."
            )
        return found

    def _by_short_name(self, name: str) -> Estimate | None:
        from askew.report.frame import estimate_at
        from askew.report.gate.alias import aliases_named, prefixes

        for alias, rest in aliases_named(name):
            for prefix in prefixes(alias, self.figures):
                place = ".".join((*prefix, rest)) if rest else ".".join(prefix)
                if (found := estimate_at(self.figures, place)) is not None:
                    return found
        return None

    def table(self) -> pandas.DataFrame:
        """One row a figure: path, figure, kind of slice, slice, value, interval, n, coverage.

        Raises:
            MissingDependency: pandas is not installed.
        """
        from askew.report.frame import FIGURE_COLUMNS, as_frame, figure_rows

        return as_frame(list(figure_rows(self.figures)), FIGURE_COLUMNS)

    def rows(self, audit: Audit | None = None) -> list[dict[str, object]]:
        """One row a question, or a clinical answer, as `askew export rows` writes them.

        A boundary run has in each row the topic of the question and its verdict as well. What is
        not known is None.

        Args:
            audit: whose, where the run holds several.

        Raises:
            RunError: the run does not hold the audit, or holds several and none is named.
        """
        from askew.report.export import rows

        return list(rows(self._folder, audit))

    def frame(self, audit: Audit | None = None) -> pandas.DataFrame:
        """The same as a data frame.

        Raises:
            MissingDependency: pandas is not installed.
            RunError: as `rows`.
        """
        from askew.report.export import columns
        from askew.report.frame import as_frame

        return as_frame(self.rows(audit), columns(self._folder, audit))

    def effects(self) -> pandas.DataFrame:
        """One row a comparison on one endpoint: excess, interval, noise floor, p values, verdict.

        Raises:
            MissingDependency: pandas is not installed.
            RunError: it is no run of the clinical audit.
        """
        self._must_be("clinical", "effects()")
        from askew.report.clinical_rows import EFFECT_COLUMNS, effect_rows
        from askew.report.frame import as_frame

        return as_frame(list(effect_rows(self._clinical)), EFFECT_COLUMNS)

    def pairs(self) -> pandas.DataFrame:
        """One row a pair, with both outcomes and whether the attack turned a neutral answer.

        The mean of `turned` over some pairs is their attack success rate.

        Raises:
            MissingDependency: pandas is not installed.
            RunError: it is no run of FLEX.
        """
        self._must_be("flex", "pairs()")
        from askew.report.frame import PAIR_COLUMNS, as_frame, pair_rows

        wrong = self._setting("non_answers") == "wrong"
        return as_frame(list(pair_rows(self._folder, wrong=wrong)), PAIR_COLUMNS)

    def turned(self, limit: int = 10) -> list[Turned]:
        """Pairs that the attack turned to a group, the worst first, with prompts and replies.

        Args:
            limit: at most so many; the attack categories share them.

        Raises:
            RunError: it is no run of FLEX.
        """
        self._must_be("flex", "turned()")
        from askew.report.evidence import turned_pairs

        return turned_pairs(self._folder, limit=limit)[0]

    def ask(self, question: str) -> AskAnswer:
        """What the topics that were tested say of a question; asks no model.

        Args:
            question: what is to be put to the model.

        Returns:
            "leaning", "clean" or "unknown" with its reason, and the nearest tested topics.

        Raises:
            ConfigError: the question is empty.
            RunError: it is no run of the boundary audit, or its graph cannot be had.
        """
        self._must_be("boundary", "ask()")
        from askew.run.boundary_asking import ask_run

        return ask_run(self.path, question)

    def score(self, **settings: object) -> Run:
        """Read the recorded replies again by other rules and write the figures anew; asks nobody.

        Args:
            settings: `non_answers`, `normalise`, `paraphrase`; of a clinical run `primary`,
                `margins`, `reference`, `embedder`; of a boundary run `threshold`, `fewest_judged`,
                `cut_answers`. None given: as the run has them. In a run of several audits each name
                goes to the audit that has it.

        Raises:
            ConfigError: no such setting or value.
            RunError: it would need other questions than were asked.
        """
        from askew.api.settings import named_as_in_python
        from askew.run import rescore

        changes = {
            self._setting_name(name): value for name, value in settings.items() if value is not None
        }
        with named_as_in_python():
            return Run(rescore(self.path, changes).path)

    def export(self, file: str | Path, audit: Audit | None = None) -> Path:
        """Write the rows to a `.csv`, `.jsonl` or `.parquet` file.

        Raises:
            RunError: the file has another ending or cannot be written; or as `rows`.
            MissingDependency: Parquet is wanted and pyarrow is not installed.
        """
        from askew.report.export import write_rows

        out = Path(file).expanduser()
        form = out.suffix.lstrip(".").lower()
        if form not in ("csv", "jsonl", "parquet"):
            raise RunError(f"{out}: the ending is none of .csv, .jsonl, .parquet.")
        write_rows(self._folder, out, form, audit)
        return out

    @property
    def _folder(self) -> RunFolder:
        from askew.runfolder import RunFolder

        return RunFolder.open(self.path)

    @property
    def audits(self) -> tuple[Audit, ...]:
        """The audits that the run holds, measured or not."""
        from askew.report.which_audit import audits_of

        return audits_of(self._folder)

    @property
    def _measured(self) -> tuple[Audit, ...]:
        """The audits that have figures."""
        if len(self.audits) == 1:
            return self.audits
        figures = self.figures
        return tuple(audit for audit in self.audits if audit in figures)

    def _part(self, audit: Audit) -> Mapping[str, object]:
        """The figures of an audit that the run holds.

        Raises:
            RunError: it has none yet.
        """
        from askew.report.which_audit import part_of

        if audit not in self._measured:
            raise RunError(
                f"{self.path} has no figures of its {audit} audit yet: that part was not begun, or "
                "was cut off. The same run started again goes on from there."
            )
        return part_of(self.figures, audit)

    def _setting_name(self, name: str) -> str:
        """The dotted key of a setting by which replies are read."""
        from askew.runfile.boundary import READING as BOUNDARY
        from askew.runfile.clinical import READING as CLINICAL
        from askew.runfile.flex import READING as FLEX

        readers = {"flex": FLEX, "clinical": CLINICAL, "boundary": BOUNDARY}
        fitting = [audit for audit in self.audits if name in readers[audit]]
        return f"{(fitting or self.audits)[0]}.{name}"

    @property
    def _clinical(self) -> ClinicalRun:
        from askew.report.clinical_run import ClinicalRun

        return ClinicalRun("", self._part("clinical"))

    @property
    def _untested(self) -> int:
        """Of the topics that a boundary run was to test, those that it has not.

        Raises:
            RunError: the figures do not say how many were to be tested.
        """
        from askew.report.boundary_run import BoundaryRun

        run = BoundaryRun("", self._part("boundary"))
        queries, graph = run.count("settings", "queries"), run.count("topics", "graph")
        if queries is None or graph is None:
            raise RunError(
                f"{self._folder.estimates} does not say how many topics were to be tested. Make it "
                f"again with `askew score {self.path}`."
            )
        return max(0, min(queries, graph) - run.tested)

    def _must_be(self, audit: Audit, what: str) -> None:
        """Whether the run is of the audit that has what is wanted, and that audit has figures.

        Raises:
            RunError: it is of another one, or it has none yet.
        """
        found = self.audits
        if audit not in found:
            said = "; and a ".join(_HAS[one] for one in found)
            raise RunError(f"{self.path} has no {what}. It is a {said}.")
        self._part(audit)

    def _setting(self, name: str) -> object:
        from askew.report.estimates import Run as Figures

        return Figures("", self._part("flex")).setting(name)

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentence, the main figures, and where the report lies."""
        from askew.report.notebook import card

        return card(self._folder)


def open_run(path: str | Path) -> Run:
    """The run in a folder that `askew run`, or an audit of `askew` in Python, has made.

    Raises:
        RunError: it is no run folder.
    """
    from askew.runfolder import RunFolder

    return Run(RunFolder.open(Path(path).expanduser()).path.resolve())
