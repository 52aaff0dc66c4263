"""The owner of a ledger: leases, deaths, repeated and late words, restarts. No Ray needed."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from askew.engines.leases import LedgerOwner
from askew.engines.messages import Exchanged, Item, Kind, Lease, Terms
from askew.errors import RunError
from askew.models.budget import Budget, Cost, Limits
from askew.models.callkey import canonical_json, key_of, request_json
from askew.models.ledger import Entry, Ledger, Wanted
from askew.models.ledgerfile import State, read_records
from askew.models.ledgerowner import Attempt, OwnedLedger, Result
from askew.models.runlock import wait_for_owner
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling

BOUND = Cost(1, 14, None)
ONE_CALL = Cost(1, 4, None)


def calls_for(number: int) -> list[Call]:
    return [
        Call(Prompt(messages=(Message("user", f"question {k}"),)), Sampling(max_tokens=4))
        for k in range(number)
    ]


def planned(ledger: Ledger, number: int) -> list[Entry]:
    identity = canonical_json({"model": "toy"})
    wanted = [
        Wanted(key_of(identity, request_json(call)), request_json(call), call)
        for call in calls_for(number)
    ]
    return ledger.plan("toy", wanted, lambda call: BOUND)


class Lent:
    """A run that is open here, with its ledger in the hands of an owner that may be killed."""

    def __init__(self, folder: Path, number: int, limits: Limits, *, asks_unknown: bool) -> None:
        self.path = folder / "run.sqlite"
        self.ledger = Ledger.open(self.path)
        self.entries = planned(self.ledger, number)
        items = [
            Item(entry.id, entry.call.role, entry.bound, attempts)
            for entry, attempts in zip(
                self.entries, self.ledger.attempts(self.entries), strict=True
            )
        ]
        self.terms = Terms(items, limits, asks_unknown, max_deaths=3, shard=4)
        self.owner = LedgerOwner(OwnedLedger.open(self.path))
        self.ledger.lend(lambda: self.owner.close())

    def begin(self, held: dict[str, list[int]]) -> None:
        self.owner.begin("job", self.terms, held)

    def kill_owner(self) -> None:
        """As `kill -9` does: nothing more is written, the system drops its lock and connection."""
        ledger = self.owner._ledger
        ledger._database.close()
        ledger._lock._file.close()  # the lock file stays
        self.owner = LedgerOwner(OwnedLedger.open(self.path))

    def states(self) -> dict[int, State]:
        rows = self.owner._ledger.rows([entry.id for entry in self.entries])
        return {id_: row.state for id_, row in rows.items()}

    def close(self) -> None:
        self.ledger.close()


@pytest.fixture
def lent(tmp_path):
    opened = []

    def make(number=20, limits=None, *, asks_unknown=False):
        one = Lent(tmp_path, number, limits or Limits(), asks_unknown=asks_unknown)
        opened.append(one)
        return one

    yield make
    for one in opened:
        one.close()


def wanted(lease: Lease) -> list[Attempt]:
    return [Attempt(call.id, call.attempts + 1) for call in lease.calls]


def answered(attempt: Attempt, text: str = "B") -> Result:
    reply = Reply(text=text, finish=Finish.STOP, prompt_tokens=3, completion_tokens=1)
    return Result(attempt, State.RECEIVED, ONE_CALL, reply, None)


def test_leases_go_out_in_order_and_nobody_else_is_given_them(lent):
    run = lent(30)
    run.begin({"a": [], "b": []})
    first = run.owner.lease("job", "a", 1, 100, False)
    second = run.owner.lease("job", "b", 1, 100, False)
    ids = [entry.id for entry in run.entries]
    assert [call.id for call in first.calls] == ids[:4]
    assert [call.id for call in second.calls] == ids[4:8]


def test_a_question_asked_twice_is_answered_the_same(lent):
    run = lent()
    run.begin({"a": []})
    lease = run.owner.lease("job", "a", 1, 4, False)
    assert run.owner.lease("job", "a", 1, 4, False) == lease
    attempts = wanted(lease)
    once = run.owner.exchange("job", "a", [], attempts)
    assert run.owner.exchange("job", "a", [], attempts) == once
    assert run.owner._ledger.spending.total.calls == 4
    results = [answered(attempt) for attempt in attempts]
    run.owner.exchange("job", "a", results, [])
    run.owner.exchange("job", "a", results, [])
    assert run.owner.status("job").spent["target"] == Cost(4, 16, None)
    assert run.owner.status("job").tally == {State.RECEIVED: 4}


def test_a_budget_of_calls_goes_to_the_first_ones_in_order(lent):
    run = lent(20, Limits(Budget(calls=6)))
    run.begin({"a": [], "b": []})
    leases = {name: run.owner.lease("job", name, 1, 4, False) for name in ("a", "b")}
    assert [len(lease.calls) for lease in leases.values()] == [4, 2]
    # What is held back for others is not given away.
    assert run.owner.lease("job", "b", 2, 4, False).kind is Kind.WAIT
    for name, lease in leases.items():
        results = [answered(one) for one in wanted(lease)]
        assert not run.owner.exchange("job", name, [], wanted(lease)).reserved.refusal
        run.owner.exchange("job", name, results, [])
    refused = run.owner.lease("job", "a", 2, 4, True)
    assert refused.kind is Kind.REFUSED
    assert "budget of 6 calls is spent" in refused.message


def test_what_a_dead_worker_held_goes_to_others_and_what_it_had_sent_is_in_doubt(lent):
    run = lent(12)
    run.begin({"a": [], "b": []})
    lease = run.owner.lease("job", "a", 1, 4, False)
    run.owner.exchange("job", "a", [], wanted(lease)[:2])
    run.owner.gone("a")
    states = [run.states()[call.id] for call in lease.calls]
    assert states == [State.UNKNOWN, State.UNKNOWN, State.PLANNED, State.PLANNED]
    given = run.owner.lease("job", "b", 1, 4, False)
    assert [call.id for call in given.calls][:2] == [call.id for call in lease.calls][2:]
    late = [answered(attempt) for attempt in wanted(lease)[:2]]
    assert run.owner.exchange("job", "a", late, wanted(lease)[2:]).kind is Kind.GONE
    assert [run.states()[call.id] for call in lease.calls[:2]] == [State.RECEIVED] * 2


def test_a_late_reply_is_kept_and_the_second_attempt_costs_what_it_costs(lent):
    run = lent(2, asks_unknown=True)
    run.begin({"a": [], "b": []})
    first = wanted(run.owner.lease("job", "a", 1, 1, False))
    run.owner.exchange("job", "a", [], first)
    run.owner.gone("a")
    again = wanted(run.owner.lease("job", "b", 1, 1, False))
    assert again == [Attempt(first[0].id, 2)]
    run.owner.exchange("job", "b", [], again)
    run.owner.exchange("job", "a", [answered(first[0], "first")], [])
    fault = Result(again[0], State.FAILED, ONE_CALL, Reply(finish=Finish.ERROR, error="x"), "x")
    run.owner.exchange("job", "b", [fault], [])
    (record,) = [one for one in read_records(run.path) if one.reply is not None]
    assert record.reply.text == "first"
    assert (record.state, record.attempts, record.doubts) == (State.RECEIVED, 2, 1)
    assert record.cost == BOUND + ONE_CALL  # the first attempt's reservation, the second's cost


def test_an_answer_that_came_late_is_not_asked_for_again(lent):
    run = lent(2, asks_unknown=True)
    run.begin({"a": [], "b": []})
    first = wanted(run.owner.lease("job", "a", 1, 1, False))
    run.owner.exchange("job", "a", [], first)
    run.owner.gone("a")
    again = wanted(run.owner.lease("job", "b", 1, 1, False))
    run.owner.exchange("job", "a", [answered(first[0])], [])
    exchanged = run.owner.exchange("job", "b", [], again)
    assert exchanged.reserved.answered == again
    assert exchanged.reserved.accepted == []


def test_an_attempt_whose_worker_dies_after_a_late_reply_is_under_way_no_more(lent):
    run = lent(2, Limits(Budget(calls=2)), asks_unknown=True)
    run.begin({"a": [], "b": []})
    first = wanted(run.owner.lease("job", "a", 1, 1, False))
    run.owner.exchange("job", "a", [], first)
    run.owner.gone("a")
    again = wanted(run.owner.lease("job", "b", 1, 1, False))
    run.owner.exchange("job", "b", [], again)
    run.owner.exchange("job", "a", [answered(first[0])], [])
    run.owner.gone("b")
    run.owner.join("c")
    # Nobody can give anything back: whoever asks is refused, and does not wait for ever.
    assert run.owner.lease("job", "c", 1, 1, True).kind is Kind.REFUSED
    (record,) = [one for one in read_records(run.path) if one.reply is not None]
    assert record.cost == BOUND + BOUND
    assert run.owner.status("job").tally == {State.RECEIVED: 1}


def test_work_waits_for_what_other_work_may_give_back(lent):
    run = lent(4, Limits(Budget(tokens=BOUND.tokens)))
    other = Terms(run.terms.items[1:], run.terms.limits, asks_unknown=False, shard=4)
    run.begin({"a": [], "b": []})
    run.owner.begin("other", other, {})
    first = wanted(run.owner.lease("job", "a", 1, 1, False))
    assert run.owner.lease("other", "b", 1, 1, True).kind is Kind.WAIT
    run.owner.exchange("job", "a", [], first)
    run.owner.exchange("job", "a", [answered(first[0])], [])
    run.owner.leave("job", "a")
    assert run.owner.lease("other", "b", 2, 1, True).kind is Kind.REFUSED


def test_a_call_over_which_every_worker_dies_fails_and_the_others_go_on(lent):
    run = lent(2, asks_unknown=True)
    run.begin({})
    first = run.entries[0].id
    for death in range(3):
        run.owner.join(f"w{death}")
        lease = run.owner.lease("job", f"w{death}", 1, 1, False)
        assert [call.id for call in lease.calls] == [first]
        run.owner.exchange("job", f"w{death}", [], wanted(lease))
        run.owner.gone(f"w{death}")
    assert run.states()[first] is State.FAILED
    run.owner.join("b")
    assert [c.id for c in run.owner.lease("job", "b", 1, 1, False).calls] == [run.entries[1].id]


def test_nobody_opens_a_ledger_while_an_owner_writes_to_it(lent):
    run = lent(2)
    with pytest.raises(RunError, match="a process of an earlier start still writes"):
        wait_for_owner(run.path, wait_seconds=0.1)
    run.close()
    wait_for_owner(run.path, wait_seconds=0.1)
    run.owner = LedgerOwner(OwnedLedger.open(run.path))  # `close` is idempotent for the fixture
    run.owner.close()
    run.close = lambda: None


def test_while_a_ledger_is_lent_its_run_sends_nothing(lent):
    run = lent(2)
    with pytest.raises(RuntimeError, match="another process sends"):
        run.ledger.reserve_and_mark_sent(run.entries, Limits())


class Worker:
    """What one worker knows: the calls it may send, and the replies that it has had."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers: dict[int, int] = {}
        self.flying: dict[int, Attempt] = {}
        self.untold: list[Result] = []
        self.questions = 0
        self.dead = False  # to the owner; it may live on


class Leases(RuleBasedStateMachine):
    """Workers lease, send, are answered, die and come back late; the owner is killed and restarts.

    The server is paid for each attempt that leaves. The laws: two attempts of a call never live at
    once while nobody was given up over it; the calls sent are never more than the budget; a call
    is sent again only after it was in doubt or known to have failed; every reply that reached a
    worker and was told is kept.
    """

    budget = 14

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.paid: Counter[int] = Counter()
        self.excused: Counter[int] = Counter()  # attempts that may be followed by another
        self.told: set[int] = set()  # calls whose reply was acknowledged
        self.workers: list[Worker] = []
        self.number = 0

    @initialize(asks_unknown=st.booleans())
    def open(self, asks_unknown: bool) -> None:
        self.asks_unknown = asks_unknown
        self.run = Lent(
            self.folder, 10, Limits(Budget(calls=self.budget)), asks_unknown=asks_unknown
        )
        self.run.begin({})

    @property
    def living(self) -> list[Worker]:
        return [worker for worker in self.workers if not worker.dead]

    @precondition(lambda self: len(self.workers) < 6)
    @rule()
    def a_worker_comes(self) -> None:
        worker = Worker(f"w{len(self.workers)}")
        self.workers.append(worker)
        self.run.owner.join(worker.name)

    @precondition(lambda self: self.living)
    @rule(pick=st.randoms(use_true_random=False), room=st.integers(1, 5), twice=st.booleans())
    def it_leases(self, pick, room: int, twice: bool) -> None:
        worker = pick.choice(self.living)
        worker.questions += 1
        idle = not (worker.flying or worker.untold)
        if idle:
            worker.numbers.clear()
        for _ in range(1 + twice):
            lease = self.run.owner.lease("job", worker.name, worker.questions, room, idle)
        assert lease.kind is not Kind.GONE
        for call in lease.calls:
            for other in self.living:
                assert other is worker or call.id not in other.numbers, "leased twice"
            worker.numbers[call.id] = call.attempts

    @precondition(lambda self: any(worker.numbers for worker in self.living))
    @rule(pick=st.randoms(use_true_random=False), lost=st.booleans())
    def it_sends(self, pick, lost: bool) -> None:
        """`lost`: the owner is killed after it has written, before its word arrives."""
        worker = pick.choice([worker for worker in self.living if worker.numbers])
        ended = {one.attempt.id for one in worker.untold if one.state is not State.PLANNED}
        ready = [id_ for id_ in worker.numbers if id_ not in {*worker.flying, *ended}]
        chosen = sorted(ready)[: pick.randint(1, 3)]
        self._exchange(worker, chosen, lost)

    def _exchange(self, worker: Worker, chosen: list[int], lost: bool) -> None:
        attempts = [Attempt(id_, worker.numbers[id_] + 1) for id_ in chosen]
        results, worker.untold = worker.untold, []
        if lost:
            self.run.owner.exchange("job", worker.name, results, attempts)
            self._restart()
        exchanged = self.run.owner.exchange("job", worker.name, results, attempts)
        for result in results:
            if result.state is State.RECEIVED:
                self.told.add(result.attempt.id)
            if result.state is not State.PLANNED:  # held until it is told, as a worker does
                worker.numbers.pop(result.attempt.id)
        self._left(worker, exchanged)

    def _left(self, worker: Worker, exchanged: Exchanged) -> None:
        assert exchanged.kind is Kind.GRANTED
        for attempt in exchanged.reserved.accepted:
            assert self.paid[attempt.id] <= self.excused[attempt.id], "paid twice without a doubt"
            for other in self.living:
                assert attempt.id not in other.flying, "two attempts of one call live"
            self.paid[attempt.id] += 1
            worker.numbers[attempt.id] = attempt.number
            worker.flying[attempt.id] = attempt
        for attempt in exchanged.reserved.answered:
            worker.numbers.pop(attempt.id)

    @precondition(lambda self: any(worker.flying for worker in self.workers))
    @rule(
        pick=st.randoms(use_true_random=False),
        outcome=st.sampled_from([State.RECEIVED, State.PLANNED, State.FAILED]),
    )
    def an_attempt_ends(self, pick, outcome: State) -> None:
        """Also one of a worker that was given up and does not know it."""
        worker = pick.choice([worker for worker in self.workers if worker.flying])
        attempt = worker.flying.pop(pick.choice(sorted(worker.flying)))
        if outcome is State.RECEIVED:
            result = answered(attempt, f"reply to {attempt.id}")
        elif outcome is State.PLANNED:
            result = Result(attempt, State.PLANNED, ONE_CALL, None, "out of order")
        else:
            reply = Reply(finish=Finish.ERROR, error="no")
            result = Result(attempt, State.FAILED, ONE_CALL, reply, "no")
        if outcome is not State.RECEIVED:
            self.excused[attempt.id] += 1
        worker.untold.append(result)

    @precondition(lambda self: any(worker.untold for worker in self.workers))
    @rule(pick=st.randoms(use_true_random=False), lost=st.booleans())
    def it_tells(self, pick, lost: bool) -> None:
        worker = pick.choice([worker for worker in self.workers if worker.untold])
        if not worker.dead:
            self._exchange(worker, [], lost)
            return
        results, worker.untold = worker.untold, []
        self.run.owner.exchange("job", worker.name, results, [])
        self.told |= {r.attempt.id for r in results if r.state is State.RECEIVED}

    @precondition(lambda self: self.living)
    @rule(pick=st.randoms(use_true_random=False))
    def it_is_given_up(self, pick) -> None:
        worker = pick.choice(self.living)
        worker.dead = True
        for id_ in worker.flying:
            self.excused[id_] += 1  # in doubt: listed as unknown before it is sent again
        self.excused.update(result.attempt.id for result in worker.untold if result.reply)
        self.run.owner.gone(worker.name)

    @rule()
    def the_owner_is_killed(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self.run.kill_owner()
        self.run.begin({worker.name: list(worker.numbers) for worker in self.living})

    @invariant()
    def the_budget_holds(self) -> None:
        if hasattr(self, "run"):
            assert sum(self.paid.values()) <= self.run.owner._ledger.spending.total.calls
            assert self.run.owner._ledger.spending.total.calls <= self.budget

    @invariant()
    def what_was_told_is_kept(self) -> None:
        if hasattr(self, "run"):
            states = self.run.states()
            assert all(states[id_] is State.RECEIVED for id_ in self.told)

    def teardown(self) -> None:
        if hasattr(self, "run"):
            for id_, state in self.run.states().items():
                assert self.paid[id_] or state in (State.PLANNED,), "settled without being sent"
            self.run.close()
            doubts = {}
            for entry, record in zip(self.run.entries, read_records(self.run.path), strict=True):
                doubts[entry.id] = record.doubts
                if record.state is State.RECEIVED:
                    assert record.reply.text == f"reply to {entry.id}"
                # The file says of itself how often each call was sent.
                assert record.attempts == self.paid[entry.id]
        shutil.rmtree(self.folder)


Leases.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
test_leases_deaths_and_restarts = Leases.TestCase
