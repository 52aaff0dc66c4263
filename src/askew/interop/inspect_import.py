"""A log of Inspect's, of the task `askew/flex`, as a run folder.

It is read through `inspect_ai.log`. Replies are read again by our rules: what a log says about its
scores is not looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from askew.audits.flex import Asked
from askew.errors import RunError, missing_extra
from askew.interop.foreign import ForeignAnswer, Origin, record_foreign
from askew.interop.inspect_samples import (
    ENDINGS,
    REPLY,
    SETTINGS,
    SOLVER,
    TASK_MODEL,
    asked_of,
    run_of,
)
from askew.models.callkey import reply_from_json
from askew.models.imported import INSPECT
from askew.models.inspect_ai import reply_of
from askew.records import (
    AttackCategory,
    Condition,
    Finish,
    Item,
    Message,
    Prompt,
    Reply,
    Scenario,
)
from askew.runfile import SERVERS_OWN, ModelTable, RunFile
from askew.runfolder import RunFolder, without_surrogates

_CANCELLED = "CancelledError("  # of a sample that was under way when the evaluation was stopped
SHOWN_CHARACTERS = 500  # of an error
_SAMPLE_ID = re.compile(
    r"/(?:(?P<condition>source|control)"
    rf"|(?P<category>{'|'.join(AttackCategory)})\.(?P<scenario>.+))/(?P<order>[012]{{3}})",
    re.DOTALL,
)
_UNREAD = {"events", "store", "timelines", "events_data"}  # large, and nothing of ours


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a log."""

    folder: RunFolder
    missing: int  # questions of which the log has no reply
    errors: int
    ended_early: bool  # the evaluation was stopped, or asked a part of its pairs
    remarks: tuple[str, ...]


def import_log(log: Path, out: Path) -> Imported:
    """Make a run folder of a log of `askew/flex`, or of one that `export_log` has written.

    A log that is not whole (cut short, cancelled, still being written) gives what it holds.

    Args:
        log: a file that `inspect eval` has written, `.eval` or `.json`.
        out: the run folder; an empty one is taken over.

    Raises:
        MissingDependency: Inspect is not installed.
        RunError: the file is no log, one of another task, or one that does not hold together;
            something is at `out` already.
    """
    read = _read(log)
    spec = read.eval
    settings = (spec.metadata or {}).get(SETTINGS)
    if not isinstance(settings, Mapping):
        raise RunError(
            f"{log} is a log of the task {spec.task!r}. Only logs of `inspect eval askew/flex` and "
            "those that `askew export inspect` has written can be imported: other tasks do not say "
            "which option is neutral, nor which samples are a pair."
        )
    run = _run_of(run_of(settings, str(log)), read, log)
    answers, skipped = _answers(read.samples or [], spec, run, log)
    if not answers:
        raise RunError(
            f"{log} (status {read.status!r}) holds no sample. Run the evaluation again, or have "
            "Inspect restore what it can: `inspect log recover`."
        )
    remarks = tuple(_remarks(read, answers, skipped))
    ended_early = read.status != "success" or _pairs_left_out(read, answers) is not None
    stopped = " ".join(remarks) if ended_early else None
    origin = Origin(
        tool=INSPECT,
        files=[log],
        identity={"provider": "inspect", "model": spec.model},
        data=_table(spec, "askew_data"),
        record=_facts(read),
        notes=remarks,
        stopped=stopped,
        left_out=_table(spec, "askew_left_out"),
        problems=_table(spec, "askew_problems"),
    )
    folder = record_foreign(out, run, answers, origin)
    replies = [answer.reply for answer in answers]
    return Imported(
        folder,
        replies.count(None),
        _errors(replies),
        ended_early,
        remarks,
    )


def _errors(replies: Sequence[Reply | None]) -> int:
    return sum(reply is not None and reply.finish is Finish.ERROR for reply in replies)


def _table(spec: Any, name: str) -> dict[str, str | int]:
    """A table of words and counts out of the metadata; what else stands there is not askew's."""
    found = (spec.metadata or {}).get(name)
    return _plain(found) if isinstance(found, Mapping) else {}


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        without_surrogates(name): without_surrogates(value) if isinstance(value, str) else value
        for name, value in table.items()
        if isinstance(value, str | int | float)
    }


def _read(log: Path) -> Any:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as trouble:
        raise missing_extra("inspect-ai", "inspect") from trouble
    if not log.is_file():
        raise RunError(f"{log} is not there. Name a log that `inspect eval` has written.")
    if log.suffix not in ENDINGS:
        raise RunError(f"{log}: Inspect's logs end in .eval or .json. Name one of those.")
    try:
        return read_eval_log(str(log), resolve_attachments="core", exclude_fields=_UNREAD)
    except Exception as trouble:  # whatever zip, JSON and pydantic raise
        raise RunError(
            f"{log} cannot be read as a log of Inspect: {type(trouble).__name__}: "
            f"{_one_line(trouble)}. If it was cut off while it was written, `inspect log recover` "
            "may restore it."
        ) from trouble


def _one_line(trouble: BaseException) -> str:
    return " ".join(str(trouble).split())[:300]


def _run_of(run: RunFile, log: Any, path: Path) -> RunFile:
    """The settings with what the log says about the model; replicates are the log's epochs."""
    changes: dict[str, Any] = {}
    if run.target.name == TASK_MODEL:
        config = log.plan.config
        changes = {
            "name": re.sub(r"\s+", "-", f"inspect/{log.eval.model}"),
            "temperature": SERVERS_OWN if config.temperature is None else config.temperature,
            "top_p": config.top_p,
            "seed": config.seed,
            "stop": tuple(config.stop_seqs or ()),
        }
        if config.max_tokens is not None:
            changes["max_tokens"] = config.max_tokens
    try:
        target = ModelTable.model_validate({**run.target.model_dump(), **changes})
    except ValidationError as trouble:
        raise RunError(
            f"{path}: what the log says of the model cannot be used: {_one_line(trouble)}. "
            "Import the log as Inspect wrote it."
        ) from trouble
    flex = run.flex.model_copy(update={"replicates": max(1, log.eval.config.epochs or 1)})
    return run.model_copy(update={"models": {"target": target}, "flex": flex})


def _facts(log: Any) -> dict[str, object]:
    spec, config = log.eval, log.plan.config
    return {
        "status": log.status,
        "task": spec.task,
        "model": spec.model,
        "eval_id": spec.eval_id,
        "created": str(spec.created),
        "packages": dict(spec.packages),
        # Not its tables: further headers may hold a key.
        "config": _plain(config.model_dump(mode="json")),
    }


# From samples to answers


def _answers(
    samples: Sequence[Any], spec: Any, run: RunFile, log: Path
) -> tuple[list[ForeignAnswer], Counter[str]]:
    """One answer a question and replicate, in the order of the run, and what was passed over."""
    skipped: Counter[str] = Counter()
    found: dict[tuple[int, int], ForeignAnswer] = {}
    items: dict[str, Item] = {}
    for sample in samples:
        place, answer = _answer(sample, run, log)
        item = answer.asked.item
        if items.setdefault(item.id, item) != item:
            raise RunError(
                f"{log}: sample {sample.id!r} and one before it have two different items "
                f"{item.id!r}. Import the log as Inspect wrote it."
            )
        if sample.invalidation is not None:
            skipped["samples were declared invalid, and count as missing"] += 1
            answer = replace(answer, reply=None)
        if other := found.get((place, answer.asked.replicate)):
            raise RunError(
                f"{log}: the samples {other.call!r} and {answer.call!r} (ID#EPOCH) stand for one "
                "question. Import the log as Inspect wrote it."
            )
        found[place, answer.asked.replicate] = answer
    _fill_epochs(found, run.flex.replicates)
    answers = [found[key] for key in sorted(found)]
    known = {_sample_of(answer) for answer in answers}
    for name in map(str, spec.dataset.sample_ids or ()):
        if name in known:
            continue
        absent = _absent(name, items, run.flex.replicates)
        answers += absent
        if not absent:
            skipped["planned samples belong to items of which the log holds nothing"] += 1
    return answers, skipped


def _answer(sample: Any, run: RunFile, log: Path) -> tuple[int, ForeignAnswer]:
    shown = sample.input
    try:
        if sample.epoch < 1:
            raise ValueError(f"the epoch {sample.epoch}")
        messages = (
            [Message("user", shown)]
            if isinstance(shown, str)
            else [Message(one.role, one.text) for one in shown]
        )
        asked = asked_of(sample.metadata, messages, sample.epoch - 1, run)
        place = int(sample.metadata["place"])
        reply = _reply(sample)
    except (LookupError, TypeError, ValueError, AttributeError) as trouble:
        raise RunError(
            f"{log}: sample {sample.id!r} is not as askew and Inspect write it "
            f"({type(trouble).__name__}: {_one_line(trouble)}). Import the log as Inspect wrote it."
        ) from trouble
    return place, ForeignAnswer(
        asked, reply, f"inspect_ai: {log.name}", _call(sample.id, sample.epoch)
    )


def _call(sample_id: object, epoch: int) -> str:
    """What Inspect calls a call; two samples with one prompt are two calls there."""
    return f"{sample_id}#{epoch}"


def _sample_of(answer: ForeignAnswer) -> str:
    return answer.call.rpartition("#")[0]


def _reply(sample: Any) -> Reply | None:
    """What the model said; None where it was not asked to the end."""
    output = sample.output
    kept = (output.metadata or {}).get(REPLY)
    if kept is not None:
        return _kept_reply(kept, output)
    if output.choices:  # also where the scorer failed afterwards
        return reply_of(output)
    if sample.error is not None and not sample.error.message.startswith(_CANCELLED):
        return Reply(finish=Finish.ERROR, error=_end(sample.error.message))
    if sample.limit is not None:
        return Reply(finish=Finish.ERROR, error=f"stopped by Inspect's limit: {sample.limit.type}")
    return None


def _kept_reply(kept: Any, output: Any) -> Reply:
    """Our reply as `export_log` has put it beside what Inspect shows, which has to be the same."""
    reply = reply_from_json(kept)
    if reply.finish is Finish.ERROR:
        same = not output.choices
    else:
        shown = [choice.message.text for choice in output.choices]
        same = shown == [without_surrogates(reply.text or "")]
    if not same:
        raise ValueError(f"its output and the {REPLY} in its metadata are different texts")
    return reply


def _end(message: str) -> str:
    """The end of an error: Inspect puts the whole request before what the provider said."""
    said = " ".join(message.split())
    return said if len(said) <= SHOWN_CHARACTERS else f"…{said[-SHOWN_CHARACTERS:]}"


def _fill_epochs(found: dict[tuple[int, int], ForeignAnswer], epochs: int) -> None:
    """Epochs of a sample that are not in the log were planned, and are missing.

    Not those of controls, which askew asks once: Inspect asks every sample in every epoch.
    """
    firsts = {
        place: answer
        for (place, _), answer in reversed(found.items())
        if answer.asked.condition != "control"
    }
    for place, first in firsts.items():
        for replicate in range(epochs):
            asked = replace(first.asked, replicate=replicate)
            absent = ForeignAnswer(asked, None, "", _call(_sample_of(first), replicate + 1))
            found.setdefault((place, replicate), absent)


def _absent(name: str, items: Mapping[str, Item], epochs: int) -> list[ForeignAnswer]:
    """The answers that a planned sample lacks; none where the log does not hold its item."""
    fitting = [item for item in items.values() if name.startswith(f"{item.id}/")]
    found = _SAMPLE_ID.fullmatch(name[len(max((i.id for i in fitting), key=len, default="")) :])
    if not fitting or found is None:
        return []
    item = max(fitting, key=lambda one: len(one.id))
    first, second, third = (int(digit) for digit in found["order"])
    category = found["category"]
    # The pattern of the id lets no other word through.
    condition: Condition = "attacked" if category else found["condition"]  # type: ignore[assignment]
    asked = Asked(
        item,
        condition,
        (first, second, third),
        Prompt(text="(not asked)"),
        Scenario(AttackCategory(category), found["scenario"]) if category else None,
    )
    return [
        ForeignAnswer(
            replace(asked, replicate=replicate),
            None,
            "",
            _call(name, replicate + 1),
            prompt_known=False,
        )
        for replicate in range(1 if condition == "control" else epochs)
    ]


def _remarks(
    log: Any, answers: Sequence[ForeignAnswer], skipped: Mapping[str, int]
) -> Iterator[str]:
    """What the reader of the figures has to know about the log."""
    replies = [answer.reply for answer in answers]
    missing, failed = replies.count(None), _errors(replies)
    if log.status != "success":
        why = f": {_one_line(log.error.message)}" if log.error is not None else ""
        yield (
            f"Inspect's log has the status {log.status!r}{why}. To {len(answers):,} questions it "
            f"holds {len(answers) - missing - failed:,} replies and {failed:,} errors."
        )
    elif missing or failed:
        yield (
            f"of {len(answers):,} questions {missing:,} have no reply in the log, and {failed:,} "
            "came to an error."
        )
    for what, count in skipped.items():
        yield f"{count:,} {what}."
    if whole := _pairs_left_out(log, answers):
        yield whole
    yield from _other_prompts(log)


def _pairs_left_out(log: Any, answers: Sequence[ForeignAnswer]) -> str | None:
    """A remark where pairs of the task are not even in the log as missing ones."""
    here = {_sample_of(answer) for answer in answers if answer.asked.condition == "attacked"}
    planned = (log.eval.metadata or {}).get("askew_pairs")
    if not isinstance(planned, int) or len(here) >= planned:
        return None
    return (
        f"the task plans {planned:,} pairs an epoch, and the log holds nothing of "
        f"{planned - len(here):,} of them (--limit, --sample-id, or it ended early); the figures "
        f"and their coverage speak of the other {len(here):,}."
    )


def _other_prompts(log: Any) -> Iterator[str]:
    """Remarks where something was told to the model that the samples' prompts do not show."""
    if log.plan.config.system_message:
        yield (
            "Inspect put a system message of its own before every prompt (--system-message); the "
            "prompts here do not show it, and the figures are those under it."
        )
    solvers = [step.solver for step in log.plan.steps if step.solver != SOLVER]
    if solvers:
        yield (
            f"the questions were put by the solver {', '.join(solvers)}, not by {SOLVER}; the "
            "prompts here may not be what the model saw."
        )
