"""Asks a list of calls of a model, through the ledger and within the budget."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from askew.errors import ConfigError
from askew.models.base import Ability, Model
from askew.models.budget import Cost, Limits, Price, cost_of_call
from askew.models.callkey import canonical_json, key_of, request_json
from askew.models.dispatch import Dispatch, RunnerSettings, Stop
from askew.models.engine import Engine, Sending
from askew.models.interrupts import Interrupts
from askew.models.ledger import Entry, Ledger, Wanted
from askew.models.ledgerfile import Hit, State, find_replies
from askew.models.pace import Pace
from askew.records import Call, Reply

_MOST_CONCURRENCY = 64
_REPORT_SECONDS = 0.1
_PORTION = 10_000  # calls that are planned in one transaction
_TOKENS_BEFORE_A_CHOICE = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What asking would take; nothing was sent or written.

    `new` calls would be sent. `unknown` ones may have been answered and billed before; they are
    sent, and among the new ones, only if the settings say so or the model costs nothing.
    """

    calls: int
    new: int
    reused: int
    duplicates: int
    unknown: int
    prompt_tokens: int
    completion_tokens_at_most: int
    money_at_most: float | None  # None: no price is known
    seconds: float | None  # None: this run has no reply of this model to judge by


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an `ask` has come. Counts are distinct calls; cost and tokens are the ask's own."""

    done: int  # answered, failed, unknown or reused
    total: int
    reused: int
    failed: int
    unknown: int
    calls_per_second: float
    seconds_left: float | None
    cost: float | None  # None: no price is known
    tokens: int
    concurrency: int
    waiting: str = ""  # what is waited for and why, where nothing can be sent for a while


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of an `ask`.

    A reply whose finish is `error` says that it is known that none was had. None: the call was not
    sent, or its outcome is unknown.
    """

    replies: list[Reply | None]  # replies[k] answers calls[k]
    asked: int  # distinct calls answered now
    reused: int  # distinct calls answered before, here or in another run
    duplicates: int
    failed: int
    unknown: int
    stopped: str | None = None  # a StopKind: "budget", "interrupted", …; None: it ran to its end
    message: str = ""  # why it stopped and the mend, one line
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many places in `replies` hold none."""
        return self.replies.count(None)

    def summary(self) -> dict[str, object]:
        """The counts and remarks, without the replies."""
        return {
            "calls": len(self.replies),
            "asked": self.asked,
            "reused": self.reused,
            "duplicates": self.duplicates,
            "failed": self.failed,
            "unknown": self.unknown,
            "missing": self.missing,
            "stopped": self.stopped,
            "message": self.message,
            "notes": list(self.notes),
        }


class Runner:
    """Asks models on behalf of one run.

    Args:
        ledger: open for as long as the runner is used.
        limits: what the run and its roles may spend, earlier starts of the same run included.
        price_of: the price of a model by its name, or None where none is known.
        reuse: other runs to copy replies from, folders or ledgers; None = the folders beside.
        settings: how calls are sent and repeated.
        interrupts: counts what asks the run to stop; None = signals alone, where they arrive.
        engine: sends the calls from elsewhere; None = they are sent from this process.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        limits: Limits | None = None,
        price_of: Callable[[str], Price | None] | None = None,
        reuse: Sequence[Path] | None = None,
        settings: RunnerSettings | None = None,
        interrupts: Interrupts | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.ledger = ledger
        self._engine = engine
        self.settings = settings or RunnerSettings()
        self._limits = limits or Limits()
        self._price_of = price_of or (lambda name: None)
        self._reuse = reuse
        self._interrupts = interrupts or Interrupts()
        self._claims: dict[str, asyncio.Future[None]] = {}
        self._dispatches: set[Sending] = set()
        # Waits need no seed: they change when a call is sent and never what is asked.
        self._rng = random.Random()

    def plan(self, model: Model, calls: Sequence[Call]) -> Plan:
        """What asking these calls would take.

        Raises:
            ConfigError: the model cannot do what a call asks for, or a money budget has no price.
        """
        price = self._check(model, calls)
        wanted = _distinct(_keys(model, calls), calls)
        states = self.ledger.states(list(wanted))
        open_keys = [key for key in wanted if states.get(key) is not State.RECEIVED]
        hits = self._find(open_keys)
        left = [key for key in open_keys if key not in hits]
        unknown = [key for key in left if states.get(key) is State.UNKNOWN]
        if not self._asks_unknown(model):
            left = [key for key in left if states.get(key) is not State.UNKNOWN]
        new = [wanted[key] for key in left]
        prompt_tokens = [model.tokens(call) for call in new]
        completion_tokens = [_completion_bound(call) for call in new]
        money = None
        if price is not None:
            money = sum(map(price.cost, prompt_tokens, completion_tokens))
        seconds_a_call = self.ledger.seconds_a_call(model.name)
        at_once = min(model.parallel, self._most_concurrency(model)) * model.batch
        return Plan(
            calls=len(calls),
            new=len(new),
            reused=len(wanted) - len(open_keys) + len(hits),
            duplicates=len(calls) - len(wanted),
            unknown=len(unknown),
            prompt_tokens=sum(prompt_tokens),
            completion_tokens_at_most=sum(completion_tokens),
            money_at_most=money,
            seconds=None if seconds_a_call is None else seconds_a_call * len(new) / at_once,
        )

    async def ask(
        self,
        model: Model,
        calls: Sequence[Call],
        progress: Callable[[Progress], None] | None = None,
    ) -> Answers:
        """Have every call answered once, from the ledgers where they can and else by the model.

        Several may run at the same time on one runner; a call that two of them want is sent by one.

        Args:
            model: who is asked.
            calls: in the order of the replies; the same call twice is asked once.
            progress: told how far it has come, ten times a second at most and at the end.

        Raises:
            ConfigError: the model cannot do what a call asks for, or a money budget has no price.
            WriteFailed: the disk is full, and not even the last replies could be written.
        """
        price = self._check(model, calls)
        keys = _keys(model, calls)
        wanted = _distinct(keys, calls)
        elsewhere = [self._claims[key] for key in wanted if key in self._claims]
        mine = {key: call for key, call in wanted.items() if key not in self._claims}
        claim = asyncio.get_running_loop().create_future()
        self._claims.update((key, claim) for key in mine)
        try:
            entries = self._plan(model, mine, price)
            sent = {entry.key for entry in entries if self._is_to_be_sent(entry, model)}
            to_send = [entry for entry in entries if entry.key in sent]
            stop = await self._send(model, entries, to_send, price, progress)
        finally:
            for key in mine:
                del self._claims[key]
            claim.set_result(None)
        if elsewhere:
            await asyncio.wait(set(elsewhere))
            owned = {entry.key for entry in entries}
            others = {key: call for key, call in wanted.items() if key not in owned}
            entries += self._plan(model, others, price)
        return _answers(keys, entries, sent, stop)

    def _check(self, model: Model, calls: Sequence[Call]) -> Price | None:
        """The model's price; raises if the model or the budget does not fit the calls."""
        for choices, ability, name in (
            (False, Ability.REPLY, "write a reply"),
            (True, Ability.CHOICE_LOG_PROBABILITIES, "give log-probabilities of choices"),
        ):
            wants = any(bool(call.prompt.choices) is choices for call in calls)
            if wants and ability not in model.abilities:
                raise ConfigError(
                    f"{model.name} cannot {name}. Ask it the other way, or name another model."
                )
        price = self._price_of(model.name)
        roles = {call.role for call in calls}
        if price is None and any(map(self._limits.wants_price, roles)):
            raise ConfigError(
                f"a money budget needs the price of {model.name}, and none is known. Add it to "
                "prices.toml, or bound calls or tokens instead."
            )
        return price

    def _find(self, keys: Sequence[str]) -> Mapping[str, Hit]:
        """The replies that other runs have."""
        if self._reuse is None:
            # A folder beside may hold anything, and may go while this run is on; a run that was
            # named has to be one.
            return find_replies(self.ledger.siblings(), keys, strict=False)
        file = self.ledger.path.name
        return find_replies([p / file if p.is_dir() else p for p in self._reuse], keys)

    def _asks_unknown(self, model: Model) -> bool:
        return self.settings.unknown == "retry" or not model.paid

    def _is_to_be_sent(self, entry: Entry, model: Model) -> bool:
        if entry.state is State.UNKNOWN:
            return self._asks_unknown(model)
        return entry.state in (State.PLANNED, State.FAILED)

    def _most_concurrency(self, model: Model) -> int:
        if self.settings.concurrency is not None:
            return self.settings.concurrency
        return max(_MOST_CONCURRENCY, model.parallel) if model.parallel > 1 else 1

    def _plan(self, model: Model, wanted: Mapping[str, Call], price: Price | None) -> list[Entry]:
        def bound(call: Call) -> Cost:
            return cost_of_call(price, model.tokens(call), _completion_bound(call))

        entries: list[Entry] = []
        rest = iter(wanted.items())
        # A portion at a time, so that a million requests never lie in memory as text, nor in one
        # transaction in the database's log.
        while portion := list(islice(rest, _PORTION)):
            asked = [Wanted(key, request_json(call), call) for key, call in portion]
            entries += self.ledger.plan(model.name, asked, bound, self._find)
        return entries

    async def _send(
        self,
        model: Model,
        entries: Sequence[Entry],
        to_send: Sequence[Entry],
        price: Price | None,
        progress: Callable[[Progress], None] | None,
    ) -> Stop | None:
        dispatch = self._sending(model, to_send, price)
        report = _Reporter(entries, len(to_send), dispatch, self.ledger, progress)
        self._dispatches.add(dispatch)
        try:
            with self._interrupts.watch(dispatch.wake):
                await dispatch.run(report)
        finally:
            self._dispatches.remove(dispatch)
            self._wake_all()
        report(last=True)
        return dispatch.stop

    def _sending(self, model: Model, to_send: Sequence[Entry], price: Price | None) -> Sending:
        most = self._most_concurrency(model)
        if self._engine is not None and to_send:
            return self._engine.sending(
                model,
                to_send,
                ledger=self.ledger,
                limits=self._limits,
                price=price,
                settings=self.settings,
                most=most,
                interrupts=self._interrupts,
            )
        return Dispatch(
            model,
            to_send,
            ledger=self.ledger,
            limits=self._limits,
            price=price,
            settings=self.settings,
            pace=Pace(model.parallel, most, self.settings.pace, self._rng),
            interrupts=self._interrupts,
            settled=self._wake_all,
        )

    def _wake_all(self) -> None:
        # Another ask may wait for what this one has given back to the budget.
        if len(self._dispatches) > 1:
            for dispatch in self._dispatches:
                dispatch.wake()


class _Reporter:
    """Tells how far an `ask` has come, not too often."""

    def __init__(
        self,
        entries: Sequence[Entry],
        to_send: int,
        dispatch: Sending,
        ledger: Ledger,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._total = len(entries)
        self._reused = sum(entry.state is State.RECEIVED for entry in entries)
        self._to_send = to_send
        self._dispatch = dispatch
        self._ledger = ledger
        self._spent_before = ledger.spending.total
        self._progress = progress
        self._began = time.monotonic()
        self._next = self._began

    def __call__(self, *, last: bool = False) -> None:
        """Report if it is time to, or if this is the last one."""
        now = time.monotonic()
        if self._progress is None or (now < self._next and not last):
            return
        self._next = now + _REPORT_SECONDS
        try:
            self._progress(self._now(now - self._began))
        except OSError:
            self._progress = None  # who watched has hung up; what was asked is waited for

    def _now(self, elapsed: float) -> Progress:
        tally = self._dispatch.tally
        ended = tally.total()
        skipped = self._total - self._reused - self._to_send  # unknown, and not to be asked again
        rate = ended / elapsed if elapsed > 0 else 0.0
        spent = self._ledger.spending.total - self._spent_before
        return Progress(
            done=self._reused + skipped + ended,
            total=self._total,
            reused=self._reused,
            failed=tally[State.FAILED],
            unknown=skipped + tally[State.UNKNOWN],
            calls_per_second=rate,
            seconds_left=(self._to_send - ended) / rate if rate else None,
            cost=spent.money,
            tokens=spent.tokens,
            concurrency=self._dispatch.concurrency,
            waiting=self._dispatch.waiting,
        )


def _keys(model: Model, calls: Sequence[Call]) -> list[str]:
    """The calls' keys, in order."""
    identity = canonical_json(dict(model.identity()))
    return [key_of(identity, request_json(call)) for call in calls]


def _distinct(keys: Sequence[str], calls: Sequence[Call]) -> dict[str, Call]:
    """The calls by key, each once, in the order of their first mention."""
    distinct: dict[str, Call] = {}
    for key, call in zip(keys, calls, strict=True):
        distinct.setdefault(key, call)
    return distinct


def _completion_bound(call: Call) -> int:
    """The most tokens that a reply may hold."""
    if choices := call.prompt.choices:
        # One for each scored text, or one letter with what may stand before it.
        return max(_TOKENS_BEFORE_A_CHOICE, len(choices))
    return call.sampling.max_tokens


def _answers(
    keys: Sequence[str],
    entries: Sequence[Entry],
    sent: Set[str],
    stop: Stop | None,
) -> Answers:
    """What came of each call, by the calls' keys in order."""
    by_key = {entry.key: entry for entry in entries}
    received = [entry for entry in entries if entry.state is State.RECEIVED]
    states = Counter(entry.state for entry in entries)
    asked = sum(entry.key in sent for entry in received)
    return Answers(
        replies=[by_key[key].reply for key in keys],
        asked=asked,
        reused=len(received) - asked,
        duplicates=len(keys) - len(entries),
        failed=states[State.FAILED],
        unknown=states[State.UNKNOWN],
        stopped=stop.kind.value if stop else None,
        message=stop.message if stop else "",
        notes=(*_served_notes(received), *_adapted_notes(received)),
    )


def _served_notes(received: Sequence[Entry]) -> Iterator[str]:
    """A remark if not all replies came from one served model with one fingerprint."""
    served = Counter(
        " ".join(filter(None, (reply.served_model, reply.fingerprint)))
        for entry in received
        if (reply := entry.reply) is not None
    )
    served.pop("", None)
    if len(served) > 1:
        counts = ", ".join(f"{name} ({count:,} replies)" for name, count in served.most_common())
        yield f"the served model changed in the course of the run: {counts}"


def _adapted_notes(received: Sequence[Entry]) -> Iterator[str]:
    """A remark for each way in which calls were changed to be served at all."""
    adapted = Counter(
        change for entry in received if entry.reply is not None for change in entry.reply.adapted
    )
    for change, count in adapted.most_common():
        yield f"{change} (in {count:,} {'reply' if count == 1 else 'replies'})"
