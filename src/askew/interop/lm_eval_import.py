"""Samples of lm-evaluation-harness -> a run folder like askew's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askew.audits.flex import Asked
from askew.interop.foreign import ForeignAnswer, Origin, record_foreign
from askew.interop.lm_eval_folder import (
    Document,
    ExportedTasks,
    condition_of,
    read_tasks,
    scenario_of,
)
from askew.interop.lm_eval_results import HarnessRun, choose, find_runs
from askew.interop.lm_eval_samples import Sample, read_samples
from askew.models.imported import LM_EVAL
from askew.records import Prompt, Reply
from askew.run import default_folder
from askew.runfile import RunFile
from askew.runfolder import RunFolder


@dataclass(frozen=True, slots=True)
class Imported:
    """The run, and what a user has to be told."""

    folder: RunFolder
    answered: int  # questions with a sample
    missing: int  # questions without one
    aside: tuple[Path, ...]  # samples of other tasks that were found and left alone


def import_samples(
    paths: Sequence[Path],
    tasks: Path,
    out: Path | None = None,
    *,
    model: str | None = None,
    date: str | None = None,
) -> Imported:
    """Make a run folder of what the harness has logged; it appears when all of it is written.

    Args:
        paths: the harness's output folders, or samples files.
        tasks: the folder of the export that was run.
        out: the run folder; None names it as `askew run` would.
        model: whose samples, where there are several models.
        date: the beginning of the date in the files' names, where a model ran several times.

    Raises:
        DataError: the samples cannot be used; names file, line, field and mend.
        RunError: the run folder is in use, or cannot be written.
    """
    exported = read_tasks(tasks)
    runs, aside = find_runs(paths, exported.tasks)
    runs = choose(runs, model, date)
    samples = read_samples(runs, exported)
    run = _settings(exported, runs)
    answers = [
        _answer(document, samples.get(place), exported, runs[0])
        for place, document in enumerate(exported.documents)
    ]
    folder = record_foreign(
        out or default_folder(run, exported.run.record["data"]),
        run,
        answers,
        _origin(exported, samples, runs),
    )
    missing = len(exported.documents) - len(samples)
    return Imported(folder, len(samples), missing, tuple(aside))


def _settings(exported: ExportedTasks, runs: Sequence[HarnessRun]) -> RunFile:
    """The exported settings, with the model that the harness has asked."""
    first = runs[0]
    dtype, revision = first.identity.get("dtype"), first.identity.get("revision")
    target = exported.run.target.model_copy(
        update={
            "name": first.name,
            "base_url": None,
            "api_key_env": None,
            "adapter": None,
            "dtype": str(dtype).removeprefix("torch.") if dtype else None,
            "revision": str(revision) if revision else None,
            "options": {},
        }
    )
    return exported.run.model_copy(update={"models": {"target": target}})


def _answer(
    document: Document, sample: Sample | None, exported: ExportedTasks, run: HarnessRun
) -> ForeignAnswer:
    first, second, third = document["order"]
    choices = tuple(f" {choice}" for choice in document["choices"])
    asked = Asked(
        exported.items[document["item_id"]],
        condition_of(document),
        (first, second, third),
        Prompt(text=document["prompt"], choices=choices),
        scenario_of(document),
        document["replicate"],
    )
    if sample is None:
        return ForeignAnswer(asked, None, "")
    reply = Reply(log_probabilities=sample.log_probabilities, served_model=run.name)
    source = f"lm_eval {run.version}, {sample.path.name}:{sample.line}"
    return ForeignAnswer(asked, reply, source)


def _origin(
    exported: ExportedTasks, samples: Mapping[int, Sample], runs: Sequence[HarnessRun]
) -> Origin:
    first = runs[0]
    dates = ", ".join(run.date for run in runs)
    notes = [f"imported: asked by {LM_EVAL} {first.version} ({dates})"]
    twice, apart = _asked_twice(exported.documents, samples)
    if twice:
        notes.append(
            f"{twice:,} prompts were asked more than once, in several documents; the first reply "
            f"counts (log-likelihoods up to {apart:.1e} apart)"
        )
    return Origin(
        tool=LM_EVAL,
        files=[path for run in runs for path in (run.results, *run.samples.values())],
        identity=first.identity,
        data=exported.run.record["data"],
        record={"version": first.version, "export": exported.checksum},
        notes=notes,
        left_out=exported.notes.get("left_out", {}),
        problems=exported.notes.get("problems", {}),
    )


def _asked_twice(documents: Sequence[Document], samples: Mapping[int, Sample]) -> tuple[int, float]:
    """How many samples repeat an earlier one's call, and how far their figures are apart."""
    first: dict[object, Sample] = {}
    twice, apart = 0, 0.0
    for place, sample in sorted(samples.items()):
        document = documents[place]
        call = (document["prompt"], tuple(document["choices"]), document["replicate"])
        before = first.setdefault(call, sample)
        if before is not sample:
            twice += 1
            pairs = zip(before.log_probabilities, sample.log_probabilities, strict=True)
            apart = max(apart, *(abs(one - other) for one, other in pairs if one != other), 0.0)
    return twice, apart
