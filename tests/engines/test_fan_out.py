"""The same function over many items: the results do not depend on who works them out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.engines.fan_out import DEATHS, FanOut, Serial, check_engine, fan_out
from askew.errors import ConfigError, DataError, RunError
from askew.run import boundary_graph
from askew.run.boundary_bench import BenchConfig, _untrained, run_bench
from askew.runfolder import json_text
from askew.search.contest import contest
from askew.search.simulate import simulate_many
from askew.search.training import TrainingSettings, train
from askew.search.worlds import World
from tests.run.test_boundary_bench import folder

TINY = TrainingSettings(rounds=2, games=3, queries=25, epochs=1)


def halved(array: np.ndarray) -> np.ndarray:
    """Writes into what it is handed: so it must be its own."""
    array /= 2
    return array


def dies_once(folder: str, item: int) -> int:
    """The first that comes takes its process down with it."""
    marker = Path(folder) / "died"
    if item == 3 and not marker.exists():
        marker.touch()
        os._exit(1)
    return item * item


def dies(item: int) -> int:
    os._exit(1)


def refuses(item: int) -> int:
    if item >= 2:
        raise DataError(f"item {item} cannot be used")
    return item


def threads_of(item: int) -> str:
    return os.environ["OMP_NUM_THREADS"]


@pytest.fixture(scope="module")
def over_ray() -> Iterator[FanOut]:
    pytest.importorskip("ray")
    with fan_out("ray", workers=2) as made:
        yield made


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return list(islice(simulate_many(5), 2))


@given(st.lists(st.integers()))
def test_in_this_process_it_is_a_map(items):
    told = []
    assert Serial().map(str, items, lambda done, of: told.append((done, of))) == [
        str(item) for item in items
    ]
    assert told == [(done + 1, len(items)) for done in range(len(items))]


@pytest.mark.parametrize(
    ("engine", "workers", "address", "said"),
    [
        ("spark", None, None, "unknown engine 'spark'. Known: local, ray"),
        ("local", 2, None, "engine is local"),
        ("local", None, "10.0.0.1:6379", "engine is local"),
        ("ray", 0, None, "workers is 0"),
    ],
)
def test_engines_that_are_not_there_and_settings_they_have_not_are_refused(
    engine, workers, address, said
):
    with pytest.raises(ConfigError, match=said):
        check_engine(engine, workers, address)


@pytest.mark.slow
def test_results_come_in_order_and_progress_ends_with_all(over_ray):
    told: list[tuple[int, int]] = []
    items = list(range(100))
    assert over_ray.map(str, items, lambda done, of: told.append((done, of))) == list(
        map(str, items)
    )
    assert told[-1] == (100, 100)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert over_ray.map(str, []) == []


@pytest.mark.slow
def test_arrays_arrive_whole_and_may_be_written_to(over_ray):
    arrays = [np.arange(200_000, dtype=np.float64) + number for number in range(3)]
    found = over_ray.map(halved, arrays)
    for number, array in enumerate(found):
        assert array.tobytes() == ((np.arange(200_000, dtype=np.float64) + number) / 2).tobytes()
        array[0] = 1.0  # what comes back too


@pytest.mark.slow
def test_what_the_function_raises_is_raised_here(over_ray):
    with pytest.raises(DataError, match="item 2 cannot be used"):
        over_ray.map(refuses, [0, 1, 2])


@pytest.mark.slow
def test_a_worker_that_dies_costs_no_result(over_ray, tmp_path):
    found = over_ray.map(partial(dies_once, str(tmp_path)), list(range(8)))
    assert (tmp_path / "died").exists()
    assert found == [item * item for item in range(8)]


@pytest.mark.slow
def test_work_that_kills_every_worker_ends_with_an_error(over_ray, monkeypatch):
    monkeypatch.setattr("askew.engines.fan_out.DEATHS", 1)
    assert DEATHS > 1
    with pytest.raises(RunError, match="its worker died each time"):
        over_ray.map(dies, [1])


@pytest.mark.slow
def test_a_worker_has_as_many_threads_as_this_process(over_ray, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert over_ray.map(threads_of, [1]) == ["3"]


@pytest.mark.slow
def test_ctrl_c_ends_the_work_and_leaves_the_cluster_as_it_was(over_ray):
    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        over_ray.map(str, list(range(40)), interrupt)
    assert over_ray.map(str, [1, 2]) == ["1", "2"]


@pytest.mark.slow
def test_a_bench_with_trained_policies_is_the_same_to_the_letter(over_ray, tmp_path, monkeypatch):
    monkeypatch.setattr(boundary_graph, "embedder_available", lambda: False)
    graph = folder(tmp_path / "g", ["a", "b", "c"])
    config = BenchConfig(
        folders=(graph,),
        test_models=("c",),
        policies=("learned", "hop2_text", "neighbour_share"),
        queries=20,
        starts=2,
    )
    assert json_text(run_bench(config, None, over_ray).plain()) == json_text(
        run_bench(config).plain()
    )


@pytest.mark.slow
def test_games_and_trainings_are_the_same_to_the_bit(over_ray, worlds):
    entrants = {name: partial(_untrained, name) for name in ("hop2", "learned")}
    here = contest(worlds, entrants, queries=25, starts=2)
    there = contest(worlds, entrants, queries=25, starts=2, fan_out=over_ray)
    assert repr(there) == repr(here)  # repr tells every digit, and NaN is NaN
    first, second = train(worlds, TINY, 1), train(worlds, TINY, 1, fan_out=over_ray)
    assert first.meta == second.meta
    assert {name: one.tobytes() for name, one in first.tensors.items()} == {
        name: one.tobytes() for name, one in second.tensors.items()
    }
