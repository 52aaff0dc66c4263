"""Replies that another tool has had, written down as a run folder of askew's.

The folder is like any other: `askew score`, `table`, `calls`, `verify` and `export` read it.
`askew run` refuses it, as `[record.imported]` of its run file says who has asked.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from askew import __version__
from askew.audits.flex import Asked
from askew.durable import sync_folder, sync_tree
from askew.errors import RunError
from askew.models.budget import NOTHING, Limits
from askew.models.callkey import call_key, reply_to_json, request_json
from askew.models.ledger import Ledger, Settlement, Wanted
from askew.models.ledgerfile import Hit, State
from askew.models.runner import Answers
from askew.records import Call, Finish, Reply
from askew.run import rescore
from askew.runfile import RunFile, write_run_file
from askew.runfolder import (
    Question,
    RunFolder,
    cannot_make,
    is_taken,
    without_surrogates,
    write_whole,
)


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """One question as the other tool put it, and what came back.

    Attributes:
        asked: the question.
        reply: None where the tool has none, not even an error: the pair is missing then.
        source: where the reply stands, for the ledger.
        call: what tells its call from others with the same prompt and replicate number. Those that
            nothing tells apart are one call, of which the first reply counts.
        prompt_known: False where nobody has seen the prompt, and `asked` has a stand-in.
    """

    asked: Asked
    reply: Reply | None
    source: str
    call: str = ""
    prompt_known: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where the replies come from.

    Attributes:
        tool: its name in `models.imported`.
        files: what was read; the run file keeps their names and checksums.
        identity: of the model that was asked; JSON values, no secret and no None among them.
        data: checksums of the data sets, by file, as far as they are known.
        record: further facts for the run file's `[record.imported]`; no None among them.
        notes: remarks for the report, as `askew run` has them.
        stopped: why the tool ended early; None: it did not.
        left_out: what has no place among the figures -> why.
        problems: kinds of trouble with the data -> how often.
    """

    tool: str
    files: Sequence[Path]
    identity: Mapping[str, object]
    data: Mapping[str, object] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    notes: Sequence[str] = ()
    stopped: str | None = None
    left_out: Mapping[str, object] = field(default_factory=dict)
    problems: Mapping[str, object] = field(default_factory=dict)


def record_foreign(
    path: Path, run: RunFile, answers: Sequence[ForeignAnswer], origin: Origin
) -> RunFolder:
    """Make the run folder at `path`: items, questions, calls, scores by our rules, figures, report.

    The folder appears whole or not at all.

    Args:
        path: where; an empty folder there is taken over.
        run: the settings by which the questions were made and the replies are read.
        answers: in the order of the questions.
        origin: where they come from.

    Raises:
        RunError: there is something at `path`, or the folder cannot be made.
    """
    path = path.resolve()
    if is_taken(path):
        raise RunError(f"{path} is there already. Name another folder with --out, or delete it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that half an import is never taken for a run, and under its own
        # name, which is printed in the report.
        with TemporaryDirectory(prefix=".importing-", dir=path.parent) as temporary:
            folder = RunFolder.create(Path(temporary) / path.name)
            _write(folder, run.settled(), answers, origin)
            sync_tree(folder.path)
            folder.path.replace(path)
            sync_folder(path.parent)
    except OSError as trouble:
        raise cannot_make(path, trouble) from trouble
    return RunFolder(path)


def _write(
    folder: RunFolder, run: RunFile, answers: Sequence[ForeignAnswer], origin: Origin
) -> None:
    settled = run.model_copy(update={"record": _record(origin), "out": None})
    write_whole(folder.settings, write_run_file(settled))
    calls = [_call(answer, run, origin) for answer in answers]
    items = {answer.asked.item.id: answer.asked.item for answer in answers}
    folder.write_questions(items.values(), _questions(answers, calls))
    replies = {
        call.key: (answer.reply, answer.source)
        # The first of several is the last to be entered.
        for call, answer in reversed(list(zip(calls, answers, strict=True)))
        if answer.reply is not None
    }
    wanted = {
        call.key: call for call, answer in zip(calls, answers, strict=True) if answer.prompt_known
    }
    with Ledger.open(folder.database) as ledger:
        _write_calls(ledger, run.target.name, list(wanted.values()), replies)
    # What no reply decides; `rescore` keeps it and makes the rest.
    kept = {"left_out": dict(origin.left_out), "problems": dict(origin.problems)}
    folder.write_estimates({"calls": _summary(calls, replies, origin), "flex": kept})
    rescore(folder.path)


def _record(origin: Origin) -> dict[str, object]:
    read = {
        without_surrogates(file.name): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in origin.files
    }
    return {
        "askew": __version__,
        "python": platform.python_version(),
        "data": dict(origin.data),
        "model": dict(origin.identity),
        "imported": {"tool": origin.tool, **origin.record, "files": read},
    }


def _call(answer: ForeignAnswer, run: RunFile, origin: Origin) -> Wanted:
    call = Call(answer.asked.prompt, run.target.sampling(), replicate=answer.asked.replicate)
    # Its tool keeps the key from being that of a call of askew's own.
    identity = {"tool": origin.tool, "model": dict(origin.identity), "call": answer.call}
    return Wanted(call_key(identity, call), request_json(call), call)


def _questions(answers: Sequence[ForeignAnswer], calls: Sequence[Wanted]) -> list[Question]:
    return [
        Question(
            asked.item.id, asked.condition, asked.order, call.key, asked.scenario, asked.replicate
        )
        for call, asked in zip(calls, (answer.asked for answer in answers), strict=True)
    ]


def _write_calls(
    ledger: Ledger,
    model: str,
    calls: Sequence[Wanted],
    replies: Mapping[str, tuple[Reply, str]],
) -> None:
    """Each reply as one that was received elsewhere, each error as a call that failed.

    What has no reply stays planned. A call that askew has not made has cost this run nothing.
    """
    hits = {
        key: Hit(key, reply_to_json(reply), without_surrogates(source))
        for key, (reply, source) in replies.items()
        if reply.finish is not Finish.ERROR
    }
    entries = ledger.plan(model, calls, lambda call: NOTHING, lambda keys: hits)
    failed = [entry for entry in entries if entry.key in replies and entry.key not in hits]
    ledger.arm(failed)
    ledger.reserve_and_mark_sent(failed, Limits())
    ledger.settle(
        [
            Settlement(entry, State.FAILED, NOTHING, reply, reply.error)
            for entry, (reply, _) in ((entry, replies[entry.key]) for entry in failed)
        ]
    )


def _summary(
    calls: Sequence[Wanted], replies: Mapping[str, tuple[Reply, str]], origin: Origin
) -> dict[str, object]:
    """The `calls` part of `estimates.json`: nothing was asked here, everything was copied."""
    failed = sum(reply.finish is Finish.ERROR for reply, _ in replies.values())
    found = [replies.get(call.key) for call in calls]
    return Answers(
        replies=[None if one is None else one[0] for one in found],
        asked=0,
        reused=len(replies) - failed,
        duplicates=len(calls) - len({call.key for call in calls}),
        failed=failed,
        unknown=0,
        stopped=None if origin.stopped is None else "imported",
        message=origin.stopped or "",
        notes=tuple(origin.notes),
    ).summary()
