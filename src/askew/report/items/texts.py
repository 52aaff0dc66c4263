"""The texts of items: calls as they were sent and answered; of endless texts both ends."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime

from askew.models.ledgerfile import (
    SELECT_RECORDS,
    CallRecord,
    State,
    as_run_error,
    chunks,
    is_ledger,
    marks,
    open_to_read,
    record_of,
)
from askew.records import Finish
from askew.report.items import CALL, Turn
from askew.runfolder import RunFolder

LONGEST = 100_000  # characters of one text; a prompt with many demonstrations has some thousands
SHORT_KEY = 12  # signs of a call's key, as `askew calls` prints it

_STATES = {
    State.PLANNED: "the question was not asked yet",
    State.SENT: "nobody knows whether the question was answered",
    State.UNKNOWN: "nobody knows whether the question was answered",
    State.FAILED: "the call failed",
}
_ENDINGS = {
    Finish.LENGTH: "cut off by the token limit",
    Finish.REFUSAL: "refused by the server",
    Finish.BLOCKED: "stopped by a content filter",
    Finish.ERROR: "failed",
}


def calls_of(folder: RunFolder, keys: Iterable[str]) -> dict[str, CallRecord]:
    """The calls of a run's ledger with these keys; those that it lacks are left out.

    Raises:
        RunError: the ledger is damaged.
    """
    wanted = list(dict.fromkeys(key for key in keys if key))
    if not wanted or not is_ledger(folder.database):
        return {}
    with closing(open_to_read(folder.database)) as database, as_run_error(folder.database):
        return {
            record.key: record
            for chunk in chunks(wanted)
            for record in map(
                record_of,
                database.execute(f"{SELECT_RECORDS} WHERE key IN ({marks(chunk)})", tuple(chunk)),
            )
        }


def prompt_turns(record: CallRecord) -> tuple[Turn, ...]:
    """What was sent, message by message."""
    prompt = record.call.prompt
    if prompt.messages:
        return tuple(turn(message.role, message.content) for message in prompt.messages)
    return (turn("prompt", prompt.text or ""),)


def reply_turns(record: CallRecord | None) -> tuple[Turn, ...]:
    """What came back: the reasoning, where it was told, and the reply; () for likelihoods alone."""
    reply = record.reply if record else None
    if reply is None:
        return ()
    said = (("reasoning", reply.reasoning), ("reply", reply.text))
    return tuple(turn(who, text) for who, text in said if text)


def ending(record: CallRecord | None) -> tuple[tuple[str, str], ...]:
    """How the reply ended where it did not end by itself, or why there is none: as facts."""
    if record is None:
        return (("No reply", "the ledger does not hold this call"),)
    reply = record.reply
    if reply is None:
        why = _STATES.get(record.state, "the ledger holds no reply")
        return (("No reply", f"{why}: {record.error}" if record.error else why),)
    facts = []
    if reply.finish is not Finish.STOP:
        facts.append(("Ended", _ENDINGS[reply.finish]))
    if reply.error:
        facts.append(("Error", reply.error))
    if reply.adapted:
        facts.append(("Asked differently", "; ".join(reply.adapted)))
    return tuple(facts)


def call_facts(record: CallRecord | None) -> tuple[tuple[str, str], ...]:
    """How to find the call in `askew calls`, when it was sent, what it took and who answered."""
    if record is None:
        return ()
    told = [record.key[:SHORT_KEY]]
    if record.sent_at is not None:
        told.append(f"{datetime.fromtimestamp(record.sent_at, UTC):%Y-%m-%d %H:%M} UTC")
    reply = record.reply
    if reply is not None:
        tokens = ((reply.prompt_tokens, "tokens in"), (reply.completion_tokens, "out"))
        told += [f"{number:,} {what}" for number, what in tokens if number is not None]
        if reply.served_model:
            told.append(f"served as {reply.served_model}")
    if record.origin is not None:
        told.append("from an earlier run")
    return ((CALL, ", ".join(told)),)


def turn(who: str, text: str, marked: tuple[tuple[int, int], ...] = ()) -> Turn:
    r"""A text of a conversation; of one longer than `LONGEST` both ends, and how much is missing.

    >>> turn("reply", "a" * 60_000 + "b" * 60_000).text[49_999:50_040]
    'a\n… 20,000 characters left out …\nbbbbbbbb'
    """
    if len(text) <= LONGEST:
        return Turn(who, text, marked)
    half = LONGEST // 2
    missing = len(text) - 2 * half
    said = f"\n… {missing:,} characters left out …\n"
    late = half + len(said) - (len(text) - half)  # by how much what is behind the gap moves
    head = [(start, min(end, half)) for start, end in marked if start < half]
    tail = [
        (max(start, len(text) - half) + late, end + late)
        for start, end in marked
        if end > len(text) - half
    ]
    return Turn(who, text[:half] + said + text[-half:], (*head, *tail))
