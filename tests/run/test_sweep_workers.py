"""Cells on Ray's workers: the same figures to the bit, whatever dies and whoever stops it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from askew.models.ledgerfile import read_records
from askew.run.sweep import SweepDone, run_sweep
from askew.run.sweep_plan import plan_sweep
from askew.run.sweep_progress import SweepProgress
from askew.run.sweep_whole import Where
from tests.run.test_sweep import figures, states, sweep

pytestmark = pytest.mark.slow
FREE = "options = { paid = false }\n"


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cluster for all tests here; workers read the environment that it was started with."""
    pytest.importorskip("ray")
    from askew.engines.ray_start import ray_session

    marker = tmp_path_factory.mktemp("marker") / "died"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKEW_TEST_MARKER", str(marker))
        with ray_session(cpus=2):
            yield marker


def model(name: str, label: str) -> str:
    return f'[[models]]\nname = "python/tests.run.{name}"\nlabel = "{label}"\n{FREE}'


def over_ray(folder: Path, text: str) -> SweepDone:
    place = Where("ray", workers=2)
    return place.run(place.plan(sweep(folder, text)))


def test_figures_are_the_same_to_the_bit_though_a_worker_dies(tmp_path, cluster):
    text = model("slow_auditee:deadly", "deadly") + model("scripted_auditee:stubborn", "calm")
    wanted = f"seeds = [0, 1]\n{text}"
    # Planning asks models that cost nothing: the plan must not be what dies.
    cluster.touch()
    planned = plan_sweep(sweep(tmp_path / "there", wanted), 2, alone=False)
    cluster.unlink()
    done = Where("ray", workers=2).run(planned)
    assert cluster.exists()
    assert [one.why for one in done.cells] == [""] * 4
    assert max(one.starts for one in done.cells) >= 2  # a busy machine kills workers too
    here = sweep(tmp_path / "here", wanted)
    alone = Where().run(Where().plan(here))
    assert not alone.incomplete
    for name in states(done):
        assert figures(done.out / name) == figures(alone.out / name)


def test_a_sweep_that_is_stopped_on_workers_ends_cleanly_and_goes_on(tmp_path):
    text = f"seeds = [0, 1]\n{model('slow_auditee:slow', 'slow')}"
    wanted = sweep(tmp_path, text)
    planned = plan_sweep(wanted, 2, alone=False)
    stopped: list[SweepProgress] = []

    def stop(now: SweepProgress) -> None:
        if now.calls_done and not stopped:
            stopped.append(now)
            signal.raise_signal(signal.SIGINT)

    from askew.run.sweep_workers import on_workers

    with on_workers(2, None) as (cells, at_once):
        done = run_sweep(replace(planned, at_once=at_once), cells, stop)
    assert done.interrupted
    assert "not finished" in states(done).values()
    again = over_ray(tmp_path, text)
    assert set(states(again).values()) == {"complete"}
    for name in states(again):
        records = list(read_records(again.out / name / "run.sqlite"))
        assert all(one.attempts <= 1 for one in records)
