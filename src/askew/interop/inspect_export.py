"""A run folder as a log that Inspect's viewer and data frames read, and `inspect_import` again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from askew import __version__
from askew.audits.flex import Asked
from askew.errors import RunError, missing_extra
from askew.interop.inspect_samples import (
    ENDINGS,
    REPLY,
    SCORER,
    SETTINGS,
    VALUES,
    figures_of,
    metadata_of,
    metric_arguments,
    sample_id,
    score_fields,
    settings_of,
    shown_options,
    target_of,
)
from askew.models.callkey import reply_to_json
from askew.models.conversation import messages_of
from askew.models.inspect_ai import as_chat
from askew.models.ledgerfile import read_records
from askew.records import Finish, Message, Prompt, Reply, Score
from askew.report.items.redacted import redaction_of
from askew.report.which_audit import part_of
from askew.runfile import RunFile, read_run_file
from askew.runfolder import RunFolder, canonical_hash, whole_file, without_surrogates

_STOP_REASONS = {
    Finish.STOP: "stop",
    Finish.REFUSAL: "stop",
    Finish.LENGTH: "max_tokens",
    Finish.BLOCKED: "content_filter",
}


def export_log(run: Path, out: Path) -> int:
    """Write a run as a log that Inspect's viewer and data frames read; a whole file or none.

    Returns:
        The number of samples, each epoch counted.

    Raises:
        MissingDependency: Inspect is not installed.
        RunError: the run cannot be read, or the file cannot be written.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError as trouble:
        raise missing_extra("inspect-ai", "inspect") from trouble
    if out.suffix not in ENDINGS:
        raise RunError(f"{out}: Inspect's logs end in .eval or .json. Name one of those.")
    folder = RunFolder.open(run)
    if redaction_of(folder) is not None:
        raise RunError(
            f"{run} has rules of redaction, and Inspect's logs hold every text as it was. Write "
            "its rows instead, which are redacted: askew export RUN OUT.csv."
        )
    settings = read_run_file(folder.settings).part("flex").settled()
    log = _log_of(folder, settings)
    with whole_file(out) as part:
        write_eval_log(log, str(part), format="json" if out.suffix == ".json" else "eval")
    return len(log.samples)


def _log_of(folder: RunFolder, run: RunFile) -> Any:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalPlan,
        EvalSpec,
        EvalStats,
    )
    from inspect_ai.model import GenerateConfig

    rows = list(_rows(folder, run))
    model = run.target.name.removeprefix("inspect/")  # as Inspect itself names it
    samples = [_sample(row, model) for row in rows]
    sampling = run.target.sampling()
    whole = all(row.reply is not None for row in rows) and not _ended_early(folder)
    times = [row.received_at for row in rows if row.received_at is not None]
    packages = {"askew": __version__}
    return EvalLog(
        status="success" if whole else "cancelled",
        eval=EvalSpec(
            created=_time(min(times, default=0.0)),
            task="flex",
            run_id=_digest(folder),
            task_id=_digest(folder),
            dataset=EvalDataset(
                name=", ".join(source.name for source in run.flex.data),
                samples=len({sample.id for sample in samples}),
                sample_ids=list(dict.fromkeys(sample.id for sample in samples)),
            ),
            model=model,
            config=EvalConfig(epochs=run.flex.replicates),
            packages=packages,
            metadata={SETTINGS: settings_of(run), **_study(folder, run)},
            # So that Inspect can score the log again as it scores its own.
            scorers=[{"name": f"askew/{SCORER}", "options": {"paraphrase": run.flex.paraphrase}}],
            metrics=[
                {"name": f"askew/{group}", "options": metric_arguments(run, _pairs(samples))}
                for group in VALUES
            ],
        ),
        plan=EvalPlan(
            name="askew run",
            config=GenerateConfig(
                temperature=sampling.temperature,
                max_tokens=sampling.max_tokens,
                top_p=sampling.top_p,
                seed=sampling.seed,
                stop_seqs=list(sampling.stop) or None,
            ),
        ),
        results=_results(samples, run),
        stats=EvalStats(
            started_at=_time(min(times, default=0.0)), completed_at=_time(max(times, default=0.0))
        ),
        samples=samples,
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One question of a run with what became of it."""

    asked: Asked
    place: int  # the same for all replicates
    reply: Reply | None
    score: Score | None
    received_at: float | None


def _rows(folder: RunFolder, run: RunFile) -> Iterator[_Row]:
    items = folder.read_items()
    records = {record.key: record for record in read_records(folder.database)}
    places: dict[object, int] = {}
    for question, score in zip(folder.read_questions(), folder.read_scores(), strict=True):
        record = records.get(question.call_key)
        asked = Asked(
            items[question.item_id],
            question.condition,
            question.order,
            # Imported runs know no prompt of what was never asked.
            record.call.prompt if record else Prompt(text="(not asked)"),
            question.scenario,
            question.replicate,
        )
        reply = record.reply if record else None
        place = places.setdefault(sample_id(asked), len(places))
        yield _Row(asked, place, reply, score, record.received_at if record else None)


def _sample(row: _Row, model: str) -> Any:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.model import GenerateConfig
    from inspect_ai.scorer import Score as InspectScore

    asked, reply = row.asked, row.reply
    shown = as_chat(
        [
            Message(message.role, without_surrogates(message.content))
            for message in messages_of(asked.prompt)
        ]
    )
    output = _output(reply, model)
    scores = {} if row.score is None else {SCORER: InspectScore(**score_fields(row.score))}
    # Inspect's message frames and its transcript are made of events.
    asking = ModelEvent(
        model=model,
        input=shown,
        tools=[],
        tool_choice="none",
        config=GenerateConfig(),
        output=output,
        error=output.error if reply and reply.finish is Finish.ERROR else None,
    )
    return EvalSample(
        id=sample_id(asked),
        epoch=asked.replicate + 1,
        input=shown,
        choices=shown_options(asked),
        target=target_of(asked),
        messages=[*shown, *(choice.message for choice in output.choices)],
        output=output,
        scores=scores,
        metadata=metadata_of(asked, row.place),
        model_usage={} if output.usage is None else {model: output.usage},
        completed_at=None if row.received_at is None else _time(row.received_at),
        error=_error(reply),
        events=[] if reply is None else [asking],
    )


def _output(reply: Reply | None, model: str) -> Any:
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ContentReasoning,
        ContentText,
        ModelOutput,
        ModelUsage,
    )

    if reply is None:
        return ModelOutput(model=model)
    kept = {REPLY: reply_to_json(reply)}
    if reply.finish is Finish.ERROR:
        return ModelOutput(model=model, metadata=kept, error=_storable(reply.error))
    # Half a surrogate pair would keep the log from being written; `kept` has it as JSON escapes it.
    text = without_surrogates(reply.text or "")
    content = [ContentText(text=text, refusal=reply.finish is Finish.REFUSAL or None)]
    if reply.reasoning:
        content.insert(0, ContentReasoning(reasoning=without_surrogates(reply.reasoning)))
    message = ChatMessageAssistant(content=content, model=model, source="generate")
    prompt_tokens, completion_tokens = reply.prompt_tokens, reply.completion_tokens
    usage = None
    if prompt_tokens is not None and completion_tokens is not None:
        usage = ModelUsage(
            input_tokens=prompt_tokens,
            output_tokens=completion_tokens,
            total_tokens=prompt_tokens + completion_tokens,
        )
    return ModelOutput(
        model=reply.served_model or model,
        choices=[ChatCompletionChoice(message=message, stop_reason=_STOP_REASONS[reply.finish])],
        usage=usage,
        metadata=kept,
        error=_storable(reply.error),
    )


def _storable(text: str | None) -> str | None:
    return None if text is None else without_surrogates(text)


def _error(reply: Reply | None) -> Any:
    from inspect_ai.log import EvalError

    if reply is None or reply.finish is not Finish.ERROR:
        return None
    # Inspect keeps tracebacks; a server's words are all there is.
    said = _storable(reply.error) or "no reply could be had"
    return EvalError(message=said, traceback=said, traceback_ansi=said)


def _results(samples: Sequence[Any], run: RunFile) -> Any:
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    scored = [
        (sample.metadata, sample.scores[SCORER]) for sample in samples if SCORER in sample.scores
    ]
    figures = figures_of(scored, **metric_arguments(run, _pairs(samples)))
    metrics = {
        name: EvalMetric(name=name, group=group, value=value)
        for group, values in VALUES.items()
        for name, value in values(figures).items()
    }
    return EvalResults(
        total_samples=len(samples),
        completed_samples=sum(sample.error is None for sample in samples),
        scores=[
            EvalScore(
                name=SCORER,
                scorer=SCORER,
                scored_samples=len(scored),
                unscored_samples=len(samples) - len(scored),
                metrics=metrics,
            )
        ],
    )


def _pairs(samples: Sequence[Any]) -> int:
    """The pairs that are planned in one epoch."""
    return len({sample.id for sample in samples if sample.metadata["condition"] == "attacked"})


def _ended_early(folder: RunFolder) -> bool:
    return bool(_figures(folder, "calls").get("stopped"))


def _figures(folder: RunFolder, part: str) -> Mapping[str, object]:
    whole = folder.read_estimates() if folder.estimates.is_file() else {}
    found = part_of(whole, "flex").get(part) if "flex" in whole else None
    return found if isinstance(found, Mapping) else {}


def _study(folder: RunFolder, run: RunFile) -> dict[str, object]:
    flex = _figures(folder, "flex")
    return {
        "askew_left_out": flex.get("left_out", {}),
        "askew_problems": flex.get("problems", {}),
        "askew_data": run.record.get("data", {}),
    }


def _digest(folder: RunFolder) -> str:
    """An id that is the same whenever the same run is written."""
    keys = [question.call_key for question in folder.read_questions()]
    return canonical_hash(keys)[:22]


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
