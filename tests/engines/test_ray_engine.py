"""Calls over a real Ray: the same answers as in one process, through every death.

One cluster serves the whole module.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from askew.engines import ray_start
from askew.engines.ray_start import ray_session
from askew.errors import ConfigError
from askew.models.base import ModelSpec
from askew.models.dispatch import RunnerSettings
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.ledgerfile import State, read_records
from askew.models.python_app import PythonApp
from askew.models.registry import load_model
from askew.models.runner import Runner
from tests.engines import ray_runs
from tests.engines.ray_runs import (
    CONCURRENCY,
    asking,
    check_against_server,
    engine_of,
    lines_of,
    seen_in,
    wait_until,
)
from tests.models.killing import answer_to, calls_for, server
from tests.models.servers import Answer, FaultServer, chat_body, error

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

CALLS = 300
KEY = "sk-not-to-be-seen-0123456789abcdef"


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKEW_API_KEY", KEY)
        with ray_session(cpus=4) as session:
            yield session


@pytest.fixture(scope="module")
def engine(cluster):
    engine = engine_of()
    yield engine
    engine.close()


@pytest.fixture
def endpoint(tmp_path):
    log = tmp_path / "seen.jsonl"
    log.touch()
    with server(log, 0.01) as port:
        yield log, port


def ask(runner, model, number, progress=None):
    return asyncio.run(runner.ask(model, calls_for(number), progress))


def test_the_same_replies_as_in_one_process_and_a_second_ask_waits_for_no_start(
    engine, endpoint, tmp_path
):
    log, port = endpoint
    told = []
    with asking(tmp_path / "run.sqlite", port, engine) as (runner, model):
        first = ask(runner, model, CALLS, told.append)
        workers = set(engine.workers())
        second = ask(runner, model, CALLS + 5)
        assert set(engine.workers()) == workers
        assert runner.ledger.spending.total.calls == CALLS + 5
        # What the ledger is asked while it is lent, it answers.
        assert runner.ledger.received() == {"target": CALLS + 5}
    with asking(tmp_path / "local" / "run.sqlite", port, None) as (runner, model):
        undisturbed = ask(runner, model, CALLS)
    assert first.replies == undisturbed.replies
    assert (first.asked, first.missing, first.stopped) == (CALLS, 0, None)
    assert (second.asked, second.reused) == (5, CALLS)
    assert told[-1].done == CALLS
    assert set(seen_in(log).values()) == {1, 2}
    assert not (tmp_path / "run.sqlite.owner").exists()
    with Ledger.open(tmp_path / "run.sqlite") as ledger:
        assert ledger.unknowns() == []


@pytest.fixture(autouse=True)
def _folder_of_the_local_run(tmp_path):
    (tmp_path / "local").mkdir()


@pytest.mark.parametrize("unknown", ["retry", "skip"])
def test_workers_and_owner_are_killed_at_random_moments(engine, endpoint, tmp_path, unknown):
    log, port = endpoint
    rng = random.Random(unknown)
    kills = [rng.choice(["worker", "owner"]) for _ in range(3)] + ["worker", "owner"]
    budget = CALLS + len(kills) * CONCURRENCY
    ledger = tmp_path / "run.sqlite"

    async def disturbed(runner, model):
        asked = asyncio.ensure_future(runner.ask(model, calls_for(CALLS)))
        for victim in kills:
            lines = lines_of(log) + rng.randrange(5, CALLS // (len(kills) + 2))
            while lines_of(log) < lines and not asked.done():
                await asyncio.sleep(0.005)
            await asyncio.sleep(rng.uniform(0, 0.02))
            await _kill(engine, victim, rng)
        return await asked

    with asking(ledger, port, engine, unknown, budget) as (runner, model):
        answers = asyncio.run(disturbed(runner, model))
    counts = check_against_server(ledger, log, budget)
    assert answers.stopped is None
    assert counts["doubts"] <= kills.count("worker") * CONCURRENCY
    if unknown == "retry":
        assert counts["missing"] == 0
    else:
        assert counts["repeats"] == 0
        assert counts["missing"] == counts["doubts"] == answers.unknown


async def _kill(engine, victim, rng):
    while True:
        if victim == "owner":
            (actor,) = engine._owners.values()
        else:
            actor = rng.choice(list(engine.workers().values()))
        # The one that was killed last may not be missed yet: then another is chosen.
        with suppress(ray.exceptions.RayError):
            os.kill(await actor.pid.remote(), signal.SIGKILL)
            return
        await asyncio.sleep(0.05)


def test_the_driver_is_killed_and_the_run_goes_on(cluster, endpoint, tmp_path):
    log, port = endpoint
    ledger, budget = tmp_path / "run.sqlite", CALLS + 4 * CONCURRENCY
    terms = (port, CALLS, "retry", budget, 2)
    command = [sys.executable, ray_runs.__file__, cluster.address, ledger, *terms]
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": ray_start._TOKEN,
        "PYTHONPATH": str(Path(ray_runs.__file__).parents[2]),
    }
    driver = subprocess.Popen(list(map(str, command)), env=environment)
    wait_until(lambda: lines_of(log) > 40 or driver.poll() is not None)
    driver.kill()
    driver.wait()
    # Owner and workers see it, and end; until then nobody opens the ledger.
    with Ledger.open(ledger) as opened:
        in_doubt = len(opened.unknowns())
        booked = opened.spending.total.calls
        seen = lines_of(log)
        received = opened.received()["target"]
    assert seen <= booked
    assert received >= 1
    assert in_doubt <= 2 * CONCURRENCY
    with asking(ledger, port, None, "retry", budget) as (runner, model):
        answers = ask(runner, model, CALLS)
    assert answers.missing == 0
    counts = check_against_server(ledger, log, budget)
    assert counts["repeats"] <= in_doubt


def test_a_budget_of_calls_answers_the_first_ones(engine, endpoint, tmp_path):
    _, port = endpoint
    with asking(tmp_path / "run.sqlite", port, engine, budget=37) as (runner, model):
        answers = ask(runner, model, CALLS)
    assert answers.stopped == "budget"
    assert "budget of 37 calls is spent" in answers.message
    assert [reply is not None for reply in answers.replies] == [True] * 37 + [False] * (CALLS - 37)


def test_an_interrupt_lets_what_is_under_way_end(engine, endpoint, tmp_path):
    log, port = endpoint
    interrupts = Interrupts()

    def stop(progress):
        if progress.done > 20 and not interrupts.count:
            interrupts.arrived()

    path = tmp_path / "run.sqlite"
    with asking(path, port, engine, interrupts=interrupts) as (runner, model):
        answers = ask(runner, model, CALLS, stop)
    assert answers.stopped == "interrupted"
    assert 20 < answers.asked < CALLS
    assert answers.unknown == 0
    assert seen_in(log).total() == answers.asked


def test_an_endpoint_that_refuses_the_key_stops_the_run(engine, tmp_path):
    path = tmp_path / "run.sqlite"
    with (
        FaultServer(lambda seen: error(401, "no such key")) as refusing,
        asking(path, refusing.port, engine) as (runner, model),
    ):
        answers = ask(runner, model, 50)
    assert answers.stopped == "fatal"
    assert answers.unknown == answers.failed == 0
    states = {one.state for one in read_records(tmp_path / "run.sqlite")}
    assert states == {State.PLANNED}


def test_faults_of_the_endpoint_are_met_as_in_one_process(engine, tmp_path):
    def flaky(seen):
        number = int(seen.prompt.rpartition(" ")[2])
        if number % 7 == 0 and number not in failed:
            failed.add(number)
            return error(500, "out of order")
        return Answer(chat_body(answer_to(seen.prompt)))

    failed: set[int] = set()
    with FaultServer(flaky) as endpoint:
        with asking(tmp_path / "run.sqlite", endpoint.port, engine) as (runner, model):
            answers = ask(runner, model, 60)
        assert [reply.text for reply in answers.replies] == [
            answer_to(f"question {k}") for k in range(60)
        ]
        assert len(endpoint.seen) == 60 + len(failed)


def test_a_model_that_the_workers_cannot_load_is_named(engine, tmp_path):
    spec = ModelSpec(name="python/__main__:here", revision="1")
    model = PythonApp(spec, lambda prompt: "B")
    with Ledger.open(tmp_path / "run.sqlite") as ledger:
        runner = Runner(ledger, reuse=(), engine=engine.of(spec))
        with pytest.raises(ConfigError):
            ask(runner, model, 3)


def test_the_key_stands_in_none_of_rays_files(engine, endpoint, tmp_path, cluster, monkeypatch):
    _, port = endpoint
    monkeypatch.setenv("ASKEW_API_KEY", KEY)
    with asking(tmp_path / "run.sqlite", port, engine) as (runner, model):
        assert ask(runner, model, 20).asked == 20
    folder, _ = ray_start._folders[cluster.address]
    assert folder.stat().st_mode & 0o077 == 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert KEY.encode() not in (tmp_path / "run.sqlite").read_bytes()


def test_local_scoring_gives_the_same_figures_and_loads_no_weights_here(
    engine, tmp_path, tiny_folder
):
    from askew.models.local import LocalModel
    from askew.records import Call, Prompt, Sampling

    spec = ModelSpec(name=f"local/{tiny_folder}")
    calls = [
        Call(Prompt(text=f"Question {k}: the answer is", choices=(" A", " B", " C")), Sampling())
        for k in range(40)
    ]
    replies = []
    for name, over in (("local", None), ("ray", engine.of(spec))):
        model = LocalModel(spec)
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        with Ledger.open(place / "run.sqlite") as ledger:
            runner = Runner(ledger, reuse=(), engine=over)
            answers = asyncio.run(runner.ask(model, calls))
        assert ("_loaded" in vars(model)) is (over is None)
        asyncio.run(model.close())
        replies.append([reply.log_probabilities for reply in answers.replies])
    for one, other in zip(*replies, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
        assert one.index(max(one)) == other.index(max(other))


def test_a_call_that_kills_each_worker_ends_as_failed_or_ends_the_run(engine, tmp_path):
    spec = ModelSpec(name="python/tests.engines.deadly:app")
    model = load_model(spec)
    with Ledger.open(tmp_path / "run.sqlite") as ledger:
        settings = RunnerSettings(unknown="retry", max_attempts=2)
        runner = Runner(ledger, reuse=(), settings=settings, engine=engine.of(spec))
        answers = ask(runner, model, 1)
    assert (answers.asked, answers.failed, answers.stopped) == (0, 1, None)
    (reply,) = answers.replies
    assert reply.error == "failed: 2 workers ended while they asked it"


def test_a_connection_of_the_users_own_is_used_only_where_it_is_named(cluster, monkeypatch):
    monkeypatch.setattr(ray_start, "_users", 0)
    monkeypatch.setattr(ray_start, "_session", None)
    with pytest.raises(ConfigError, match="which askew does not use unasked"), ray_session():
        pass
    with (
        pytest.raises(ConfigError, match="can be to one cluster only"),
        ray_session("127.0.0.1:1"),
    ):
        pass
    with ray_session(cluster.address) as session:
        assert not session.own
    assert ray.is_initialized()  # it stays
