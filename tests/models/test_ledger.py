"""The ledger: keys, budgets, the lock, and what is left after a crash."""

from __future__ import annotations

import math
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from askew.errors import ConfigError, RunError
from askew.models import ledger as ledger_module
from askew.models.budget import NOTHING, Budget, Cost, Limits, cost_of_call
from askew.models.callkey import (
    call_from_json,
    call_key,
    key_of,
    reply_from_json,
    reply_to_json,
    request_json,
)
from askew.models.ledger import Entry, Ledger, Settlement, Wanted
from askew.models.ledgerfile import State, WriteFailed, find_replies, is_ledger, read_records
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling

IDENTITY = {"provider": "toy", "model": "m1"}
BOUND = Cost(1, 30, None)
NO_LIMITS = Limits()


def call(number: int, role: str = "target") -> Call:
    return Call(Prompt(text=f"question {number}"), role=role)


def wanted(calls: Sequence[Call]) -> list[Wanted]:
    return [Wanted(call_key(IDENTITY, one), request_json(one), one) for one in calls]


def plan(ledger: Ledger, calls: Sequence[Call], reuse: Sequence[Path] = ()) -> list[Entry]:
    return ledger.plan(
        "toy/m1", wanted(calls), lambda _: BOUND, lambda keys: find_replies(reuse, keys)
    )


def send(ledger: Ledger, entries: Sequence[Entry], limits: Limits = NO_LIMITS) -> list[Entry]:
    ledger.arm(entries)
    return ledger.reserve_and_mark_sent(entries, limits)[0]


def answer(ledger: Ledger, entries: Sequence[Entry], text: str = "B") -> None:
    ledger.settle(
        [
            Settlement(entry, State.RECEIVED, Cost(1, 10, None), Reply(text=text))
            for entry in entries
        ]
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "one"
    folder.mkdir(parents=True)
    return folder / "run.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path) as opened:
        yield opened


# Keys


def test_whatever_changes_the_answer_changes_the_key():
    base = Call(
        Prompt(messages=(Message("user", "Who?"),), choices=("A", "B")),
        Sampling(temperature=0.0, max_tokens=16),
    )

    def with_prompt(prompt: Prompt) -> Call:
        return Call(prompt, base.sampling)

    def with_sampling(**changes: object) -> Call:
        return Call(base.prompt, Sampling(**{"temperature": 0.0, "max_tokens": 16, **changes}))

    keys = [
        call_key(IDENTITY, base),
        call_key({**IDENTITY, "model": "m2"}, base),
        call_key({**IDENTITY, "base_url": "http://other/v1"}, base),
        call_key({**IDENTITY, "revision": "r2"}, base),
        call_key(IDENTITY, with_sampling(temperature=1.0)),
        call_key(IDENTITY, with_sampling(max_tokens=5)),
        call_key(IDENTITY, with_sampling(top_p=0.5)),
        call_key(IDENTITY, with_sampling(seed=1)),
        call_key(IDENTITY, with_sampling(stop=("\n",))),
        call_key(IDENTITY, Call(base.prompt, base.sampling, role="judge")),
        call_key(IDENTITY, Call(base.prompt, base.sampling, replicate=1)),
        call_key(IDENTITY, with_prompt(Prompt(text="Who?", choices=("A", "B")))),
        call_key(IDENTITY, with_prompt(Prompt(messages=(Message("system", "Who?"),)))),
        call_key(IDENTITY, with_prompt(Prompt(messages=base.prompt.messages, choices=(" A", "B")))),
        call_key(IDENTITY, with_prompt(Prompt(messages=base.prompt.messages))),
    ]
    assert len(set(keys)) == len(keys)


def test_equal_calls_have_one_key_however_their_numbers_are_written():
    one = Call(Prompt(text="x"), Sampling(temperature=0, top_p=1))
    other = Call(Prompt(text="x"), Sampling(temperature=-0.0, top_p=1.0))
    assert one == other
    assert call_key({"b": 1, "a": 2}, one) == call_key({"a": 2, "b": 1}, other)


texts = st.text(st.characters(), max_size=20)  # lone surrogates as well
calls = st.builds(
    Call,
    st.one_of(
        st.builds(Prompt, text=texts, choices=st.lists(texts, max_size=3).map(tuple)),
        st.builds(
            Prompt,
            messages=st.lists(
                st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts),
                min_size=1,
                max_size=3,
            ).map(tuple),
        ),
    ),
    st.builds(
        Sampling,
        temperature=st.none() | st.floats(0, 2),
        max_tokens=st.integers(1, 4096),
        top_p=st.none() | st.floats(0, 1),
        seed=st.none() | st.integers(0, 2**63),
        stop=st.lists(texts, max_size=2).map(tuple),
    ),
    role=texts,
    replicate=st.integers(0, 99),
)


@given(calls, calls)
def test_a_call_comes_back_from_its_json_and_only_equal_calls_share_a_key(one, other):
    assert call_from_json(request_json(one)) == one
    assert (call_key(IDENTITY, one) == call_key(IDENTITY, other)) is (one == other)
    assert key_of('{"model":"m1","provider":"toy"}', request_json(one)) == call_key(IDENTITY, one)


@given(
    st.builds(
        Reply,
        text=st.none() | texts,
        reasoning=st.none() | texts,
        finish=st.sampled_from(Finish),
        log_probabilities=st.lists(st.floats(max_value=0), max_size=3).map(tuple),
        prompt_tokens=st.none() | st.integers(0, 10**6),
        completion_tokens=st.none() | st.integers(0, 10**6),
        served_model=st.none() | texts,
        fingerprint=st.none() | texts,
        error=st.none() | texts,
        adapted=st.lists(texts, max_size=2).map(tuple),
    )
)
def test_a_reply_comes_back_from_its_json(reply):
    # repr, as NaN is not equal to itself.
    assert repr(reply_from_json(reply_to_json(reply))) == repr(reply)


def test_json_of_a_reply_holds_no_nan_and_no_infinity():
    text = reply_to_json(Reply(log_probabilities=(math.nan, -math.inf, -1.5)))
    assert '"log_probabilities":[null,"-inf",-1.5]' in text


# Planning, sending, settling


def test_a_call_goes_from_planned_over_sent_to_received(ledger, path):
    (entry,) = plan(ledger, [call(1)])
    assert entry.state is State.PLANNED
    send(ledger, [entry])
    assert entry.state is State.SENT
    answer(ledger, [entry])
    assert entry.state is State.RECEIVED
    (record,) = read_records(path)  # by another connection, while this one is open
    assert (record.call, record.state, record.attempts) == (call(1), State.RECEIVED, 1)
    assert record.reply == Reply(text="B")
    assert record.cost == Cost(1, 10, None)
    assert ledger.replies([entry.key, "nowhere", entry.key]) == [record.reply, None, record.reply]


def test_a_call_that_was_not_armed_cannot_be_sent(ledger):
    entries = plan(ledger, [call(1)])
    with pytest.raises(RuntimeError, match="armed"):
        ledger.reserve_and_mark_sent(entries, NO_LIMITS)


def test_a_received_call_is_found_again_and_a_failed_one_is_open(path):
    with Ledger.open(path) as first:
        entries = send(first, plan(first, [call(1), call(2)]))
        error = Reply(finish=Finish.ERROR, error="half a pair \ud800")
        answer(first, entries[:1])
        first.settle([Settlement(entries[1], State.FAILED, Cost(1, 0, None), error, error.error)])
    with Ledger.open(path) as again:
        one, two = plan(again, [call(1), call(2)])
        assert (one.state, one.reply) == (State.RECEIVED, Reply(text="B"))
        assert (two.state, two.reply) == (State.FAILED, error)
        assert [r.attempts for r in again.records()] == [1, 1]


def test_settling_gives_back_what_was_not_used_and_an_unknown_cost_keeps_the_reservation(ledger):
    one, two, three = send(ledger, plan(ledger, [call(1), call(2), call(3, role="judge")]))
    assert ledger.spending.total == Cost(3, 90, None)
    ledger.settle(
        [
            Settlement(one, State.RECEIVED, Cost(1, 10, None), Reply(text="B")),
            Settlement(two, State.UNKNOWN, None, error="no answer"),
            Settlement(three, State.PLANNED, NOTHING, error="slow down"),
        ]
    )
    assert ledger.spending.total.tokens == 10 + 30
    assert ledger.spending.of("target").calls == 2
    assert ledger.spending.of("judge").calls == 0
    (unknown,) = ledger.unknowns()
    assert (unknown.call, unknown.cost, unknown.error) == (call(2), BOUND, "no answer")


def test_what_an_unknown_call_may_have_cost_stays_spent_when_it_is_asked_again(path):
    with Ledger.open(path) as first:
        send(first, plan(first, [call(1)]))
    with Ledger.open(path) as again:
        (entry,) = plan(again, [call(1)])
        assert entry.state is State.UNKNOWN
        send(again, [entry])
        answer(again, [entry])
        assert again.spending.total == Cost(2, 30 + 10, None)
    with Ledger.open(path) as third:
        assert third.spending.total == Cost(2, 40, None)
        (record,) = third.records()
        assert (record.attempts, record.doubts, record.cost) == (2, 1, Cost(2, 40, None))


def test_a_transaction_that_fails_changes_nothing(ledger):
    entries = plan(ledger, [call(1), call(2)])
    send(ledger, entries[:1])
    ledger.arm(entries[1:])
    before = ledger.spending.total

    def settle_and_fail() -> None:
        with ledger.transaction():
            answer(ledger, entries[:1])
            ledger.reserve_and_mark_sent(entries[1:], NO_LIMITS)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        settle_and_fail()
    assert [entry.state for entry in entries] == [State.SENT, State.PLANNED]
    assert [record.state for record in ledger.records()] == [State.SENT, State.PLANNED]
    assert ledger.spending.total == before
    answer(ledger, entries[:1])
    assert ledger.spending.total.tokens == 10
    assert not ledger.under_way


def test_a_full_disk_is_a_clear_error_and_nothing_is_half_written(ledger, path):
    entries = send(ledger, plan(ledger, [call(1)]))
    (pages,) = ledger._database.execute("PRAGMA page_count").fetchone()
    ledger._database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(WriteFailed, match=r"run\.sqlite: database or disk is full\. Free some"):
        answer(ledger, entries, text="B" * 100_000)
    assert entries[0].state is State.SENT
    ledger._database.execute(f"PRAGMA max_page_count = {10 * pages + 100}")
    answer(ledger, entries, text="B" * 100_000)
    assert entries[0].state is State.RECEIVED


# Budgets


@pytest.mark.parametrize("name", ["calls", "tokens", "money"])
def test_a_budget_below_nothing_is_refused(name):
    with pytest.raises(ConfigError, match=rf"{name} is -1, expected a number from 0 up"):
        Budget(**{name: -1})


def test_sending_stops_at_the_first_call_that_does_not_fit(ledger):
    entries = plan(ledger, [call(k) for k in range(5)])
    ledger.arm(entries)
    sent, refusal = ledger.reserve_and_mark_sent(entries, Limits(Budget(tokens=100)))
    assert sent == entries[:3]
    assert refusal == "the run's budget of 100 tokens has 10 left, and the next call may take 30"
    assert [entry.state for entry in entries] == [State.SENT] * 3 + [State.PLANNED] * 2


def test_a_role_has_its_own_budget(ledger):
    entries = plan(ledger, [call(1), call(2, "judge"), call(3, "judge")])
    ledger.arm(entries)
    limits = Limits(Budget(calls=10), {"judge": Budget(calls=1)})
    sent, refusal = ledger.reserve_and_mark_sent(entries, limits)
    assert len(sent) == 2
    assert refusal == "the budget of role 'judge' of 1 calls is spent"


def test_money_is_summed_without_error(path):
    class TenthOfACent:
        def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
            return 0.001

    bound = cost_of_call(TenthOfACent(), 1, 1)
    with Ledger.open(path) as ledger:
        entries = ledger.plan("toy/m1", wanted([call(k) for k in range(1001)]), lambda _: bound)
        ledger.arm(entries)
        sent, refusal = ledger.reserve_and_mark_sent(entries, Limits(Budget(money=1.0)))
        assert len(sent) == 1000  # ten tenths in binary floating point are not one
        assert refusal is not None
        assert ledger.spending.total.money == 1.0


class BudgetMachine(RuleBasedStateMachine):
    """Random plans, sendings, outcomes and crashes; the budget holds at every moment."""

    @initialize(number=st.integers(0, 12), tokens=st.integers(0, 300), judge=st.integers(0, 5))
    def begin(self, number, tokens, judge):
        # tempfile rather than a fixture: every example needs a folder of its own.
        import tempfile

        self.folder = Path(tempfile.mkdtemp())
        self.limits = Limits(Budget(calls=number, tokens=tokens), {"judge": Budget(calls=judge)})
        self.ledger = Ledger.open(self.folder / "run.sqlite")
        self.entries: list[Entry] = []
        self.attempts = 0  # that reached the server, as the world sees it
        self.tokens = 0

    @rule(
        first=st.integers(0, 20),
        number=st.integers(1, 5),
        role=st.sampled_from(["target", "judge"]),
    )
    def plan(self, first, number, role):
        new = [call(k, role) for k in range(first, first + number)]
        known = {entry.key for entry in self.entries}
        fresh = [one for one in new if call_key(IDENTITY, one) not in known]
        self.entries += plan(self.ledger, fresh)

    @rule(data=st.data())
    def send(self, data):
        ready = [e for e in self.entries if e.state not in (State.SENT, State.RECEIVED)]
        if ready:
            chosen = data.draw(st.lists(st.sampled_from(ready), unique=True, min_size=1))
            self.attempts += len(send(self.ledger, chosen, self.limits))

    @rule(
        data=st.data(),
        state=st.sampled_from([State.RECEIVED, State.FAILED, State.UNKNOWN, State.PLANNED]),
        tokens=st.none() | st.integers(0, 30),
    )
    def settle(self, data, state, tokens):
        under_way = [entry for entry in self.entries if entry.state is State.SENT]
        if not under_way:
            return
        entry = data.draw(st.sampled_from(under_way))
        if state is State.PLANNED:  # the server did nothing
            self.attempts -= 1
            cost = NOTHING
        elif state is State.UNKNOWN or tokens is None:
            self.tokens += 30  # at worst
            cost = None
        else:
            self.tokens += tokens
            cost = Cost(1, tokens, None)
        self.ledger.settle([Settlement(entry, state, cost, Reply(text="B"))])

    @rule()
    def crash(self):
        self.tokens += 30 * sum(entry.state is State.SENT for entry in self.entries)
        self.ledger._database.close()  # nothing is tidied up
        self.ledger._lock.release()
        self.ledger = Ledger.open(self.folder / "run.sqlite")
        again = [entry.call for entry in self.entries]
        self.entries = plan(self.ledger, again)

    @invariant()
    def budget_holds(self):
        if not hasattr(self, "ledger"):
            return
        spent, judge = self.ledger.spending.total, self.ledger.spending.of("judge")
        assert spent.calls <= self.limits.run.calls
        assert spent.tokens <= self.limits.run.tokens
        assert judge.calls <= self.limits.roles["judge"].calls
        assert self.attempts <= spent.calls
        assert self.tokens <= spent.tokens

    def teardown(self):
        if hasattr(self, "ledger"):
            self.ledger.close()
            shutil.rmtree(self.folder)


TestBudget = BudgetMachine.TestCase
TestBudget.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


# Reuse


def run_with(path: Path, numbers: Sequence[int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with Ledger.open(path) as ledger:
        answer(
            ledger, send(ledger, plan(ledger, [call(k) for k in numbers])), text=path.parent.name
        )


def test_replies_of_other_runs_are_copied_with_their_origin_and_cost_nothing(ledger, path):
    one, two = path.parent.parent / "two/run.sqlite", path.parent.parent / "three/run.sqlite"
    run_with(one, [1, 2])
    run_with(two, [2, 3])
    entries = plan(ledger, [call(k) for k in (1, 2, 3, 4)], reuse=[one, two])
    assert [entry.origin for entry in entries] == [str(one), str(one), str(two), None]
    assert [entry.state for entry in entries] == [State.RECEIVED] * 3 + [State.PLANNED]
    assert ledger.spending.total == NOTHING
    assert [record.origin for record in ledger.records()] == [str(one), str(one), str(two), None]


def test_a_copy_of_a_copy_names_the_run_that_asked(ledger, path):
    first, second = path.parent.parent / "two/run.sqlite", path.parent.parent / "three/run.sqlite"
    run_with(first, [1])
    second.parent.mkdir()
    with Ledger.open(second) as between:
        plan(between, [call(1)], reuse=[first])
    (entry,) = plan(ledger, [call(1)], reuse=[second])
    assert entry.origin == str(first)


def test_errors_are_not_copied_and_flags_are_kept(ledger, path):
    other = path.parent.parent / "two/run.sqlite"
    other.parent.mkdir()
    flagged = [
        (State.FAILED, Reply(finish=Finish.ERROR, error="no")),
        (State.RECEIVED, Reply(finish=Finish.BLOCKED)),
        (State.RECEIVED, Reply(text="The ans", finish=Finish.LENGTH)),
        (State.UNKNOWN, None),
    ]
    with Ledger.open(other) as theirs:
        entries = send(theirs, plan(theirs, [call(k) for k in range(4)]))
        theirs.settle(
            [
                Settlement(entry, state, BOUND, reply)
                for entry, (state, reply) in zip(entries, flagged, strict=True)
            ]
        )
    found = plan(ledger, [call(k) for k in range(4)], reuse=[other])
    assert [entry.state.value for entry in found] == ["planned", "received", "received", "planned"]
    assert [entry.reply and entry.reply.finish for entry in found[1:3]] == ["blocked", "length"]


def test_siblings_are_the_ledgers_of_the_folders_beside(ledger, path):
    run_with(path.parent.parent / "two/run.sqlite", [1])
    (path.parent.parent / "notes").mkdir()
    assert ledger.siblings() == [path.parent.parent / "two/run.sqlite"]


def test_looking_into_another_run_leaves_no_trace_in_its_folder(ledger, path):
    other = path.parent.parent / "two/run.sqlite"
    run_with(other, [1])
    before = sorted(other.parent.iterdir())
    other.parent.chmod(0o555)
    try:
        assert len(find_replies([other], [call_key(IDENTITY, call(1))])) == 1
    finally:
        other.parent.chmod(0o755)
    assert sorted(other.parent.iterdir()) == before == [other]


# The file


@pytest.mark.parametrize(
    "rot", [b"not a database, only text " * 50, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_file_that_is_no_ledger_is_a_clear_error_and_is_left_alone(path, rot):
    path.write_bytes(rot)
    with pytest.raises(RunError, match=r"run\.sqlite cannot be read as a ledger: .*\. If it is"):
        Ledger.open(path)
    assert path.read_bytes() == rot
    with pytest.raises(RunError, match="cannot be read as a ledger"):
        find_replies([path], ["key"])
    assert not is_ledger(path)
    assert find_replies([path, path.parent / "gone"], ["key"], strict=False) == {}
    path.unlink()
    Ledger.open(path).close()  # the lock was given back
    assert is_ledger(path)


def test_a_database_with_other_tables_of_that_name_is_refused(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE calls (number TEXT)")
    with pytest.raises(RunError, match="cannot be read as a ledger: no such column"):
        Ledger.open(path)


def test_a_ledger_of_a_newer_askew_is_refused(path):
    Ledger.open(path).close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE ledger_meta SET value = '99' WHERE name = 'version'")
    with pytest.raises(RunError, match="written by a newer askew"):
        Ledger.open(path)


def test_other_tables_of_the_run_are_left_alone(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE items (id TEXT)")
        database.execute("INSERT INTO items VALUES ('kept')")
    run_with(path, [1])
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT id FROM items").fetchall() == [("kept",)]


def test_a_missing_file_or_folder_is_a_clear_error(tmp_path):
    with pytest.raises(RunError, match="is not a folder"):
        Ledger.open(tmp_path / "nowhere" / "run.sqlite")
    with pytest.raises(RunError, match="is not there"):
        list(read_records(tmp_path / "run.sqlite"))


# The lock and the crash


def start_holder(path: Path, body: str) -> subprocess.Popen[str]:
    """A process that opens the ledger, does `body`, says so and waits."""
    program = (
        "import sys, time; from pathlib import Path; from askew.models.ledger import Ledger\n"
        "from askew.models.ledger import Wanted; from askew.models.budget import Cost, Limits\n"
        "from askew.models.callkey import call_key, request_json\n"
        "from askew.records import Call, Prompt\n"
        "ledger = Ledger.open(Path(sys.argv[1]))\n"
        f"{body}\nprint('ready', flush=True)\ntime.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    return holder


SEND_THREE = f"""
calls = [Call(Prompt(text=f"question {{k}}")) for k in range(5)]
wanted = [Wanted(call_key({IDENTITY!r}, c), request_json(c), c) for c in calls]
entries = ledger.plan("toy/m1", wanted, lambda c: Cost(1, 30, None))
ledger.arm(entries)
ledger.reserve_and_mark_sent(entries[:3], Limits())
"""


def end(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    assert holder.stdout is not None
    holder.stdout.close()


def test_a_second_process_is_told_who_has_the_run_and_a_killed_one_holds_nobody_up(path):
    holder = start_holder(path, "")
    try:
        with pytest.raises(
            RunError, match=rf"in use by another askew process \(pid {holder.pid}\)"
        ):
            Ledger.open(path)
    finally:
        end(holder)
    Ledger.open(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["run.sqlite"]


def test_after_a_kill_what_was_sent_is_unknown_and_what_was_only_armed_is_planned(path):
    end(start_holder(path, SEND_THREE))
    with Ledger.open(path) as ledger:
        states = [record.state.value for record in ledger.records()]
        assert states == ["unknown"] * 3 + ["planned"] * 2
        assert ledger.spending.total == Cost(3, 90, None)
        assert [record.error for record in ledger.unknowns()] == [
            "askew ended before the reply was written"
        ] * 3


def test_after_a_power_failure_what_was_armed_is_unknown_and_keeps_a_reservation(path, monkeypatch):
    end(start_holder(path, SEND_THREE))
    monkeypatch.setattr(ledger_module, "_boot_id", lambda: "the next boot")
    with Ledger.open(path) as ledger:
        assert [record.state.value for record in ledger.records()] == ["unknown"] * 5
        assert ledger.spending.total == Cost(5, 150, None)
    monkeypatch.setattr(ledger_module, "_boot_id", lambda: "and the one after")
    with Ledger.open(path) as ledger:  # a clean end leaves nothing armed
        assert [record.doubts for record in ledger.records()] == [1] * 5


def test_a_log_cut_anywhere_opens_and_nothing_synced_is_lost(tmp_path, monkeypatch):
    """A torn write-ahead log: what a power failure leaves of the commits since the last sync."""
    source = tmp_path / "source"
    source.mkdir()
    path = source / "run.sqlite"
    ledger = Ledger.open(path)
    entries = plan(ledger, [call(k) for k in range(40)])
    answer(ledger, send(ledger, entries[:10]))
    ledger.arm(entries[10:20], ahead=entries[20:30])  # synced: ten replies and twenty armed
    log = path.with_name("run.sqlite-wal")
    synced = log.stat().st_size
    ledger.reserve_and_mark_sent(entries[10:20], NO_LIMITS)
    answer(ledger, entries[10:15], text="C" * 3000)
    ledger.reserve_and_mark_sent(entries[20:25], NO_LIMITS)
    sizes = [*random.Random(0).sample(range(synced, log.stat().st_size), 15), synced]
    early = random.Random(1).sample(range(synced), 5)  # what no honest disk forgets
    monkeypatch.setattr(ledger_module, "_boot_id", lambda: "the next boot")
    for size in [*sizes, *early]:
        torn = tmp_path / f"torn{size}"
        torn.mkdir()
        shutil.copy(path, torn / "run.sqlite")
        (torn / "run.sqlite-wal").write_bytes(log.read_bytes()[:size])
        with Ledger.open(torn / "run.sqlite") as left:
            assert left._database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            states = {record.call: record.state for record in left.records()}
            assert all(state is not State.SENT for state in states.values())
            if size < synced:
                continue
            in_order = [states[call(k)] for k in range(40)]
            assert in_order[:10] == [State.RECEIVED] * 10
            assert set(in_order[10:15]) <= {State.RECEIVED, State.UNKNOWN}
            assert in_order[15:30] == [State.UNKNOWN] * 15
            assert in_order[30:] == [State.PLANNED] * 10
    ledger.close()


def test_sync_is_due_after_64_commits_or_a_tenth_of_a_second(ledger, monkeypatch):
    ledger.sync()
    assert ledger.sync_due_in() is None
    clock = [1000.0]
    monkeypatch.setattr(ledger_module.time, "monotonic", lambda: clock[0])
    entries = plan(ledger, [call(1)])
    assert ledger.sync_due_in() == pytest.approx(0.1)
    clock[0] += 0.2
    assert ledger.sync_due_in() == 0.0
    send(ledger, entries)
    clock[0] = 1000.0
    ledger.sync()
    for _ in range(64):
        ledger.settle([])
    assert ledger.sync_due_in() == 0.0
