"""Samples of lm-evaluation-harness, read strictly: each is of an exported document, or an error."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from askew.errors import DataError, bad_field
from askew.interop.lm_eval_folder import Document, ExportedTasks
from askew.interop.lm_eval_results import HarnessRun

_SHOWN = 60  # characters of a value in an error
_RUN_AGAIN = "Run lm_eval again on the exported tasks."


@dataclass(frozen=True, slots=True)
class Sample:
    """One document as the harness has asked it."""

    place: int  # of its question in the study
    log_probabilities: tuple[float, ...]
    path: Path
    line: int


def read_samples(runs: Sequence[HarnessRun], exported: ExportedTasks) -> dict[int, Sample]:
    """The samples by place; places without one are not in it.

    Raises:
        DataError: a line is damaged; a sample is of other documents, was asked in other words, or
            holds figures that cannot be log-likelihoods; a document has two samples; a file has
            fewer samples than the harness has written.
    """
    samples: dict[int, Sample] = {}
    for run in runs:
        for task, path in sorted(run.samples.items()):
            _check_export(run, task, exported)
            before = len(samples)
            for sample in _read_file(path, task, run, exported):
                first = samples.setdefault(sample.place, sample)
                if first is not sample:
                    _refuse_second(sample, first, exported.documents[sample.place])
            _check_whole(run, task, path, len(samples) - before)
    return samples


def _check_export(run: HarnessRun, task: str, exported: ExportedTasks) -> None:
    made_of = run.exports.get(task, exported.checksum)
    if made_of != exported.checksum:
        raise DataError(
            f"{run.results}: field 'configs.{task}.metadata.askew_export' is "
            f"{_shown(made_of)}, expected {exported.checksum!r}: lm_eval ran another export of "
            "these tasks. Name that export's folder with --tasks."
        )


def _refuse_second(sample: Sample, first: Sample, document: Document) -> NoReturn:
    raise DataError(
        f"{sample.path}:{sample.line}: field 'doc.place' is {sample.place}, which "
        f"{first.path}:{first.line} has already (item {document['item_id']!r}, "
        f"{document['condition']}). Where lm_eval ran twice, choose one run with --date or by "
        "naming its files; else remove one of the two lines."
    )


def _check_whole(run: HarnessRun, task: str, path: Path, found: int) -> None:
    """Refuse a file that was cut: what the harness asked and lost is not the same as --limit."""
    counts = run.text.get("n-samples")
    told = counts.get(task) if isinstance(counts, Mapping) else None
    written = told.get("effective") if isinstance(told, Mapping) else None
    if isinstance(written, int) and found < written:
        raise DataError(
            f"{path}: holds {found} samples, and {run.results.name} says that {written} were "
            "written (field 'n-samples'). Copy the whole file, or run lm_eval again."
        )


def _read_file(path: Path, task: str, run: HarnessRun, exported: ExportedTasks) -> Iterator[Sample]:
    try:
        # By LF alone, as the harness writes: a text may hold other line separators.
        with path.open("rb") as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    record = _parsed(path, line, text)
                    yield _Reader(path, line, record).sample(task, run, exported)
    except OSError as trouble:
        raise DataError(f"{path} cannot be read: {trouble.strerror or trouble}.") from trouble


def _parsed(path: Path, line: int, text: bytes) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as trouble:
        cut = not text.endswith(b"\n")
        raise DataError(
            f"{path}:{line}: {'the line is cut off' if cut else f'no JSON ({trouble})'}. "
            "Copy the whole file, or run lm_eval again."
        ) from trouble
    if not isinstance(record, dict):
        raise DataError(f"{path}:{line}: {_shown(record)} is no sample. {_RUN_AGAIN}")
    return record


@dataclass(frozen=True, slots=True)
class _Reader:
    """One line of a samples file."""

    path: Path
    line: int
    record: Mapping[str, Any]

    def sample(self, task: str, run: HarnessRun, exported: ExportedTasks) -> Sample:
        """The sample, once everything in it fits the exported document."""
        document = self._document(task, exported)
        self._check_hash("doc_hash", json.dumps(self.record["doc"], indent=2, ensure_ascii=False))
        self._check_arguments(document, run)
        self._check_hash("prompt_hash", document["prompt"])
        self._expect("target", self.record.get("target"), str(document["target"]))
        self._expect("filter", self.record.get("filter", "none"), "none")
        figures = self._log_likelihoods(len(document["choices"]))
        self._check_metrics(figures, document)
        return Sample(document["place"], figures, self.path, self.line)

    def _document(self, task: str, exported: ExportedTasks) -> Document:
        """The exported document that the sample's is, field by field."""
        doc = self.record.get("doc")
        if not isinstance(doc, dict):
            self._refuse("doc", doc, "an exported document")
        place = doc.get("place")
        if not isinstance(place, int) or not 0 <= place < len(exported.documents):
            self._refuse("doc.place", place, f"a number below {len(exported.documents)}")
        document = exported.documents[place]
        for field in sorted({*document, *doc}):
            mend = "It was asked of other documents. Name their export with --tasks."
            self._expect(f"doc.{field}", doc.get(field), document.get(field), mend)
        if exported.task_of[place] != task:
            self._refuse("doc.place", place, f"a document of the task {task!r}")
        return document

    def _check_hash(self, field: str, text: str) -> None:
        found = self.record.get(field)
        expected = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if found is not None:
            self._expect(field, found, expected, f"The line has been changed. {_RUN_AGAIN}")

    def _check_arguments(self, document: Document, run: HarnessRun) -> None:
        """The prompt and the continuations have to be askew's to the letter."""
        arguments = self.record.get("arguments")
        expected = len(document["choices"])
        if not isinstance(arguments, dict) or len(arguments) != expected:
            found = len(arguments) if isinstance(arguments, dict) else arguments
            self._refuse("arguments", found, f"{expected} continuations")
        cause = run.what_changed_the_prompts
        why = f"lm_eval was run with {cause}. Run it without." if cause else _RUN_AGAIN
        for place, choice in enumerate(document["choices"]):
            name = f"gen_args_{place}"
            pair = arguments.get(name)
            pair = pair if isinstance(pair, dict) else {}
            field = f"arguments.{name}"
            self._expect(f"{field}.arg_0", pair.get("arg_0"), document["prompt"], why)
            self._expect(f"{field}.arg_1", pair.get("arg_1"), f" {choice}", why)

    def _log_likelihoods(self, count: int) -> tuple[float, ...]:
        """One natural log-probability a continuation, summed over its tokens."""
        responses = self.record.get("resps")
        if not isinstance(responses, list) or len(responses) != count:
            self._refuse("resps", responses, f"{count} log-likelihoods")
        figures = tuple(
            self._log_likelihood(f"resps[{place}]", response)
            for place, response in enumerate(responses)
        )
        if all(figure == 0.0 for figure in figures) or all(map(math.isinf, figures)):
            self._refuse(
                "resps", figures, "log-likelihoods", "The model has measured nothing. " + _RUN_AGAIN
            )
        return figures

    def _log_likelihood(self, field: str, response: object) -> float:
        match response:
            # With whether it is the greedy continuation; both are texts.
            case [[str() | float() as told, str() | bool()]]:
                pass
            case _:
                self._refuse(field, response, "a log-likelihood")
        try:
            figure = float(told)
        except ValueError:
            self._refuse(field, response, "a log-likelihood")
        if math.isnan(figure):
            mend = f"The model's numbers overflowed. {_RUN_AGAIN[:-1]} with dtype=float32."
            self._refuse(field, figure, "a log-likelihood", mend)
        # As in `scores.likelihood`: rounding may leave a little above 0.
        if figure > 1e-6:
            self._refuse(field, figure, "a log-likelihood, which is at most 0")
        return figure

    def _check_metrics(self, figures: Sequence[float], document: Document) -> None:
        """The harness's own verdict has to follow from the log-likelihoods beside it."""
        for metric, lengths in _lengths(document["choices"]).items():
            told = self.record.get(metric)
            if told is None:
                continue
            values = [figure / length for figure, length in zip(figures, lengths, strict=True)]
            right = float(values.index(max(values)) == document["target"])
            if told != right:
                self._refuse(
                    metric,
                    told,
                    f"{right}, as the log-likelihoods in 'resps' have it",
                    f"They are normalised or were changed. {_RUN_AGAIN}",
                )

    def _expect(self, field: str, found: object, expected: object, mend: str = _RUN_AGAIN) -> None:
        # True == 1 in Python, and no document holds either for the other.
        if found != expected or isinstance(found, bool) != isinstance(expected, bool):
            self._refuse(field, found, _shown(expected, beside=found), mend)

    def _refuse(self, field: str, found: object, expected: str, mend: str = _RUN_AGAIN) -> NoReturn:
        shown = _Shown(_shown(found, beside=expected))
        raise bad_field(str(self.path), self.line, field, shown, expected, mend)


def _lengths(choices: Sequence[str]) -> dict[str, list[int]]:
    """What each metric of the harness divides a log-likelihood by."""
    return {
        "acc": [1 for _ in choices],
        "acc_norm": [len(choice) for choice in choices],
        "acc_bytes": [len(choice.encode("utf-8", "surrogatepass")) for choice in choices],
    }


class _Shown(str):
    """A text that stands for a value in an error, without further quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(value: object, beside: object = None) -> str:
    """The value for an error; of a long text the part where it parts from `beside`."""
    if isinstance(value, str) and isinstance(beside, str) and len(value) > _SHOWN:
        pairs = enumerate(zip(value, beside, strict=False))
        parting = (place for place, (one, other) in pairs if one != other)
        same = next(parting, min(len(value), len(beside)))
        start = max(0, same - _SHOWN // 3)
        part = value[start : start + _SHOWN]
        return f"{'…' if start else ''}{part!r}{'…' if start + _SHOWN < len(value) else ''}"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
