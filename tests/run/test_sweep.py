"""Sweeps: cells as they would be alone, one budget over all, failures that hold nobody up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError, RunError
from askew.models.ledgerfile import read_records
from askew.models.runlock import RunLock
from askew.run.sweep import CellState, SweepDone
from askew.run.sweep_budget import Leases, Wish, spent_in_cells, taken
from askew.run.sweep_cells import Outcome
from askew.run.sweep_whole import Where, swept_cells
from askew.runfile import BudgetTable
from askew.runfile.sweep import Sweep, read_sweep
from tests.models.servers import Answer, FaultServer, Seen, answers_b, chat_body, error
from tests.run.test_audit import done as run_alone
from tests.run.test_audit import settings

MODULE = "python/tests.run.scripted_auditee"
BASE = """
[models.target]
name = "python/tests.run.scripted_auditee:target"
[flex]
items = 4
controls = 4
prompt = "flex"
scoring = "reply"
"""
TWO = f"""
[[models]]
name = "{MODULE}:target"
label = "leans"
[[models]]
name = "{MODULE}:stubborn"
label = "stubborn"
"""


def sweep(folder: Path, text: str, base: str = BASE, **changes: object) -> Sweep:
    folder.mkdir(exist_ok=True)
    (folder / "run.toml").write_text(base, encoding="utf-8")
    (folder / "s.toml").write_text(f'base = "run.toml"\n{text}', encoding="utf-8")
    return read_sweep(folder / "s.toml", {"out": str(folder / "out"), **changes})


def run(wanted: Sweep) -> SweepDone:
    place = Where()
    return place.run(place.plan(wanted))


def states(done: SweepDone) -> dict[str, str]:
    return {one.plan.cell.name: one.state.value for one in done.cells}


def served(server: FaultServer, *models: str) -> str:
    return "".join(
        f'[[models]]\nname = "openai/{model}"\nbase_url = "{server.url}"\n'
        f'api_key_env = "ASKEW_TEST_KEY"\ntemperature = 0.0\n'
        for model in models
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("ASKEW_TEST_KEY", "k")
    with FaultServer() as made:
        yield made


def attempts(done: SweepDone) -> int:
    return sum(
        record.attempts
        for one in done.cells
        if (ledger := done.out / one.plan.cell.name / "run.sqlite").is_file()
        for record in read_records(ledger)
    )


def figures(path: Path) -> object:
    return json.loads((path / "estimates.json").read_text(encoding="utf-8"))["flex"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SweepDone:
    return run(sweep(tmp_path_factory.mktemp("sweep"), f"seeds = [0, 1]\n{TWO}"))


def test_each_cell_is_a_run_with_the_figures_that_it_has_alone(whole, tmp_path):
    assert set(states(whole).values()) == {"complete"}
    alone = run_alone(
        settings(
            tmp_path / "alone",
            only=("flex",),
            seed=1,
            **{"flex.items": 4, "flex.controls": 4, "models.target.name": f"{MODULE}:stubborn"},
        )
    )
    assert figures(whole.out / "stubborn.seed-1") == figures(alone.folder.path)


def test_cells_take_answers_from_one_another(whole):
    assert attempts(whole) < sum(one.plan.new for one in whole.cells)
    origins = [
        record.origin
        for record in read_records(whole.out / "leans.seed-1" / "run.sqlite")
        if record.origin
    ]
    assert origins
    assert all("leans.seed-0" in origin for origin in origins)


def test_the_same_sweep_again_asks_nothing_and_changes_no_figure(whole):
    before = {name: figures(whole.out / name) for name in states(whole)}
    made = attempts(whole)
    wanted = sweep(whole.out.parent, f"seeds = [0, 1]\n{TWO}")
    place = Where()
    planned = place.plan(wanted)
    assert planned.new == 0
    again = place.run(planned)
    assert not again.incomplete
    assert attempts(again) == made
    assert {name: figures(whole.out / name) for name in states(whole)} == before


def test_a_sweep_that_grows_goes_on_in_its_folders(whole):
    wanted = sweep(whole.out.parent, f"seeds = [0, 1, 2]\n{TWO}")
    planned = Where().plan(wanted)
    assert [one.cell.name for one in planned.cells if one.new] == [
        "leans.seed-2",
        "stubborn.seed-2",
    ]


def test_no_call_is_made_beyond_the_budget_and_what_lacks_is_said(tmp_path, server):
    text = f"at_once = 3\n[budget]\ncalls = 50\n{served(server, 'a', 'b', 'c')}"
    done = run(sweep(tmp_path, text))
    assert len(server.seen) == 50
    assert spent_in_cells([done.out / name for name in states(done)]).total.calls == 50
    assert done.incomplete
    whys = [one.why for one in done.cells if one.state is not CellState.COMPLETE]
    assert whys
    assert all("50 calls is spent" in why or "calls is spent" in why for why in whys)
    # With more budget the same sweep goes on, and pays for nothing twice.
    more = run(sweep(tmp_path, f"at_once = 3\n{served(server, 'a', 'b', 'c')}"))
    assert not more.incomplete
    assert max(server.counts.values()) == 3  # once a model


def test_a_budget_over_calls_without_a_price_is_refused_before_anything_is_asked(tmp_path, server):
    with pytest.raises(ConfigError, match="needs the prices of cell openai-a"):
        Where().plan(sweep(tmp_path, f"[budget]\nmoney = 5.0\n{served(server, 'a')}"))
    assert not server.seen


def test_seeds_of_one_paid_model_never_pay_for_an_answer_twice(tmp_path, server):
    done = run(sweep(tmp_path, f"at_once = 4\nseeds = [0, 1, 2]\n{served(server, 'a')}"))
    assert not done.incomplete
    assert max(server.counts.values()) == 1


def test_one_paid_model_under_two_labels_is_paid_for_once(tmp_path, server):
    server.handler = lambda seen: Answer(chat_body("B"), delay=0.02)
    two = "".join(f'{served(server, "a")}label = "{label}"\n' for label in ("one", "two"))
    done = run(sweep(tmp_path, f"at_once = 2\n{two}"))
    assert not done.incomplete
    assert max(server.counts.values()) == 1


def test_cells_of_different_served_models_are_under_way_at_once(tmp_path, server):
    server.handler = lambda seen: Answer(chat_body("B"), delay=0.02)
    done = run(sweep(tmp_path, f"at_once = 2\n{served(server, 'a', 'b')}"))
    assert not done.incomplete
    models = [seen.body["model"] for seen in server.seen]
    first, second = models[0], ({"a", "b"} - {models[0]}).pop()
    assert models.index(second) < len(models) - 1 - models[::-1].index(first)


def test_a_cell_that_fails_is_begun_again_then_named_and_the_others_go_on(tmp_path, server):
    def refuses_bad(seen: Seen) -> Answer:
        if seen.body.get("model") == "bad":
            return error(401, "no such key")
        return answers_b(seen)

    server.handler = refuses_bad
    done = run(sweep(tmp_path, f"tries = 2\n{served(server, 'good', 'bad', 'fine')}"))
    assert states(done) == {
        "openai-good.seed-0": "complete",
        "openai-bad.seed-0": "failed",
        "openai-fine.seed-0": "complete",
    }
    (bad,) = [one for one in done.cells if one.state is CellState.FAILED]
    assert bad.starts == 2
    assert "stopped (fatal)" in bad.why


def test_a_cell_that_failed_once_is_complete_in_the_end(tmp_path, server):
    server.script(error(401, "not yet"))
    done = run(sweep(tmp_path, served(server, "a")))
    assert states(done) == {"openai-a.seed-0": "complete"}
    assert done.cells[0].starts == 2


def test_a_cell_that_cannot_be_run_is_named_before_anything_is_asked(tmp_path, server):
    text = served(server, "a") + f'[[models]]\nname = "{MODULE}:nobody"\nlabel = "missing"\n'
    with pytest.raises(ConfigError, match=r"cell missing\.seed-0: .*nobody"):
        Where().plan(sweep(tmp_path, text))
    assert not server.seen


def test_two_sweeps_in_one_folder_are_kept_apart(tmp_path):
    wanted = sweep(tmp_path, "")
    planned = Where().plan(wanted)
    wanted.out.mkdir()
    lock = RunLock(wanted.out / "sweep")
    try:
        with pytest.raises(RunError, match="in use by another askew process"):
            Where().run(planned)
    finally:
        lock.release()
    assert not Where().run(planned).incomplete


def test_several_audits_and_their_figures_stand_in_a_cell(tmp_path):
    base = settings(tmp_path / "unused")
    from askew.runfile import write_run_file

    text = write_run_file(base.model_copy(update={"out": None}))
    done = run(sweep(tmp_path, "", base=text))
    assert states(done) == {next(iter(states(done))): "complete"}
    (cell,) = swept_cells(done)
    assert {"flex", "clinical", "boundary"} <= set(cell.estimates)


def test_an_error_of_a_models_own_code_is_the_cells_and_not_the_sweeps():
    assert Outcome(error=True, message="x").incomplete
    assert not Outcome().incomplete


# The law of leases, over ledgers that are not there: nothing was spent before.


class _Ledgers:
    """Cells that spend up to their lease, in any order."""

    def __init__(self, folder: Path, bound: int, wishes: list[int]) -> None:
        self.wishes = [Wish(wish, 0, 0.0, wish) for wish in wishes]
        paths = [folder / str(number) for number in range(len(wishes))]
        self.leases = Leases(BudgetTable(calls=bound), paths)


@given(st.integers(0, 60), st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_leases_that_are_out_never_exceed_the_budget(bound, wishes):
    made = _Ledgers(Path("there-is-no-such-folder"), bound, wishes)
    out = []
    for number, wish in enumerate(made.wishes):
        lease = made.leases.lease(number, wish, BudgetTable())
        if lease is None:
            assert sum(out) + wish.calls > bound  # it waits because what is out is in the way
            break
        assert lease.calls <= wish.calls
        out.append(lease.calls)
    assert sum(out) <= bound


def test_a_lease_is_never_more_than_the_cells_own_budget_allows():
    leases = Leases(BudgetTable(calls=100), [Path("none")])
    lease = leases.lease(0, Wish(50, 10, None, 0), BudgetTable(calls=7, tokens=3))
    assert (lease.calls, lease.tokens, lease.money) == (7, 3, None)


def test_a_folder_without_a_ledger_has_taken_nothing(tmp_path):
    assert taken(tmp_path).ended == 0
    assert taken(tmp_path / "nowhere").spending.total.calls == 0
