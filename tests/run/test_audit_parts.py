"""Parts of one run beside each other: what they share, what each has alone, what a plan bounds."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import askew
from askew.errors import ConfigError, RunError
from askew.models.base import ModelSpec
from askew.models.ledgerfile import read_records
from askew.models.python_app import PythonApp
from askew.report.which_audit import part_of
from askew.run import audit, rescore
from askew.run.audit_models import spent_in, within_budget
from askew.runfile import RunFile, checked
from tests.models.servers import FaultServer
from tests.run import scripted_auditee
from tests.run.test_audit import AUDITS, MODULE, done, estimates, settings

PRICES = """
[[model]]
name = "python/*"
input_per_million = 3.0
output_per_million = 5.0
date = 2026-01-01
source = "made up"
"""


def judged(out: Path, **changes: object) -> RunFile:
    """A judge for the clinical and the boundary part, and a price for every call."""
    prices = out.parent / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    values = settings(out).model_dump(mode="json", exclude_unset=True)
    values["models"]["judge"] = {"name": f"{MODULE}:judge"}
    values["boundary"] = {
        name: one for name, one in values["boundary"].items() if "slant" not in name
    }
    few = {"clinical.judge.items": 1, "clinical.judge.controls": 1, "clinical.judge.repeats": 1}
    return checked(values, {"prices": str(prices), **few, **changes})


def planned(run: RunFile) -> dict[str, audit.PartPlan]:
    return {one.audit: one for one in audit.plan(audit.prepare(run))}


def test_no_part_spends_more_than_its_plan_and_none_counts_what_another_has(tmp_path):
    run = judged(tmp_path / "run")
    before = planned(run)
    done(run, only=("flex",))
    done(run, only=("boundary",))
    # The target of FLEX and the judge of the boundary audit are those of the clinical audit too.
    again = planned(run)
    assert again["flex"].new == 0
    assert again["clinical"].new == before["clinical"].new
    assert again["clinical"].prompt_tokens == before["clinical"].prompt_tokens
    assert not done(run).incomplete
    for name in AUDITS:
        spent = part_of(estimates(tmp_path / "run"), name)["calls"]
        if name == "flex":
            assert spent["asked"] + spent["reused"] <= before[name].calls
        else:
            assert sum(one["calls"] for one in spent["spent"].values()) <= before[name].new
    whole = spent_in([tmp_path / "run"]).total
    assert whole.calls <= sum(one.new for one in before.values())
    assert whole.tokens <= sum(one.prompt_tokens + one.completion_tokens for one in before.values())
    assert whole.money <= sum(one.money for one in before.values())


def test_a_model_that_costs_nothing_needs_no_price_in_the_plan(tmp_path):
    run = judged(tmp_path / "run")
    free = run.models["target"].model_copy(
        update={"name": f"{MODULE}:stubborn", "options": {"paid": False}}
    )
    prices = PRICES.replace("python/*", f"{MODULE}:judge")
    (tmp_path / "prices.toml").write_text(prices, encoding="utf-8")
    found = planned(run.model_copy(update={"models": {**run.models, "target": free}}))
    assert found["flex"].money == 0.0
    assert found["clinical"].money > 0
    assert found["boundary"].money > 0


ASKED: Counter[str] = Counter()


def counting(text: str) -> str:
    """The scripted target; counts what it is asked."""
    ASKED[text] += 1
    return scripted_auditee.target(text)


def test_the_time_of_a_free_model_is_measured_with_few_calls_and_leaves_nothing(tmp_path):
    run = settings(
        tmp_path / "not" / "yet" / "run",
        **{
            "models.target.name": "python/tests.run.test_audit_parts:counting",
            "models.target.options": {"paid": False},
        },
    )
    prepared = audit.prepare(run)
    plans = audit.plan(prepared)
    assert [one.seconds for one in plans] == [None, None, None]
    ASKED.clear()
    timed = asyncio.run(audit.timed(prepared, plans))
    assert all(one.seconds > 0 and "just now" in one.basis for one in timed)
    # One of each part's calls is asked once more; every other call once.
    assert sum(ASKED.values()) - len(ASKED) <= len(AUDITS)
    assert len(ASKED) <= 8 + 2 * audit.SAMPLED
    assert list(tmp_path.iterdir()) == []
    assert not asyncio.run(audit.execute(prepared)).incomplete


def test_a_free_endpoint_is_timed_and_asked_and_one_that_is_down_has_no_time(tmp_path):
    free: dict[str, object] = {
        "models.target.name": "openai/toy",
        "models.target.options": {"paid": False},
    }
    with FaultServer() as server:
        free["models.target.base_url"] = server.url
        prepared = audit.prepare(settings(tmp_path / "run", only=("flex",), **free))
        (timed,) = asyncio.run(audit.timed(prepared, audit.plan(prepared)))
        assert timed.seconds > 0
        # On another loop, as the command line does it.
        assert not asyncio.run(audit.execute(prepared)).incomplete
    prepared = audit.prepare(settings(tmp_path / "down" / "run", only=("flex",), **free))
    (timed,) = asyncio.run(audit.timed(prepared, audit.plan(prepared)))
    assert timed.new > 0
    assert timed.seconds is None


def test_a_plan_counts_no_answers_that_the_run_would_not_find(tmp_path, monkeypatch):
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    done(settings(elsewhere / "other", only=("flex",)))
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    (plan,) = audit.plan(audit.prepare(settings(tmp_path / "not" / "yet", only=("flex",))))
    assert plan.new == plan.calls > 0


def test_a_model_that_is_given_answers_every_part(tmp_path):
    spec = ModelSpec(name=f"{MODULE}:target")
    model = PythonApp(spec, scripted_auditee.target)
    made = asyncio.run(audit.execute(audit.prepare(settings(tmp_path / "run"), target=model)))
    assert [(part.audit, part.failed) for part in made.parts] == [(name, 0) for name in AUDITS]
    assert not made.incomplete


def test_a_part_that_is_not_run_keeps_the_settings_that_its_figures_were_read_by(tmp_path):
    out = tmp_path / "run"
    done(settings(out, **{"flex.non_answers": "left_out"}))
    done(settings(out, **{"flex.non_answers": "wrong", "boundary.queries": 9}), only=("boundary",))
    written = tomllib.loads((out / "run.toml").read_text(encoding="utf-8"))
    assert written["flex"]["non_answers"] == "left_out"
    assert written["flex"]["non_answers"] == estimates(out)["flex"]["settings"]["non_answers"]
    assert written["boundary"]["queries"] == 9


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """A run of three audits of which FLEX alone was begun."""
    out = tmp_path_factory.mktemp("begun") / "run"
    done(settings(out), only=("flex",))
    return out


def test_reading_again_leaves_alone_what_was_not_begun(begun):
    rescore(begun)
    assert [name for name in AUDITS if name in estimates(begun)] == ["flex"]
    with pytest.raises(RunError, match=r"boundary\.threshold: the boundary audit was not begun"):
        rescore(begun, {"boundary.threshold": 0.9})


def test_nothing_is_read_again_unless_all_can_be(begun):
    before = estimates(begun)
    for change in ({"flex.items": 3}, {"clinical.margins.urgency": 0.3}):
        with pytest.raises(RunError, match=r"would change what is asked|was not begun"):
            rescore(begun, {"flex.non_answers": "wrong", **change})
    assert estimates(begun) == before


def test_a_run_in_python_says_what_was_not_begun(begun):
    run = askew.open_run(begun)
    for method in (run.effects, lambda: run.ask("Is tax theft?")):
        with pytest.raises(RunError, match=r"no figures of its (clinical|boundary) audit yet"):
            method()
    assert len(run.pairs()) > 0
    assert run.missing == run.failed == 0


def test_a_search_that_was_cut_off_is_not_read_as_one_of_no_topic(begun, tmp_path):
    out = tmp_path / "run"
    run = settings(out)
    done(run, only=("flex",))
    prepared = audit.prepare(run)

    def killed(found: object) -> None:
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        asyncio.run(audit.execute_part(prepared, "boundary", killed))
    assert any(one.call.role == "target" for one in read_records(out / "run.sqlite"))
    before = estimates(out)
    with pytest.raises(RunError, match="cut off before it wrote its tests down"):
        rescore(out, {"flex.non_answers": "wrong"})
    assert estimates(out) == before


def test_the_budget_of_a_role_is_that_of_all_models_together(tmp_path):
    first = done(settings(tmp_path / "first", only=("flex",))).folder
    spent = spent_in([first.path]).of("target").calls
    second = audit.prepare(
        settings(tmp_path / "second", only=("flex",), **{"budget.roles.target.calls": 100})
    )
    share = within_budget(second, [first.path])
    assert share.run.budget.roles["target"].calls == 100 - spent
    assert share.run.budget.calls is None


def test_no_other_process_comes_in_between_two_parts(tmp_path):
    """Nor changes the settings of the run that is on: planning would be enough to end it."""
    run = settings(tmp_path / "run")
    code = (
        "import sys\nfrom pathlib import Path\nfrom askew.models.ledger import Ledger\n"
        "Ledger.open(Path(sys.argv[1]) / 'run.sqlite').close()"
    )
    refused = []

    @contextmanager
    def meddled(part: str) -> Iterator[None]:
        other = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "run"], capture_output=True, text=True
        )
        refused.append("in use by another askew process" in other.stderr)
        with pytest.raises(RunError, match="in use by another askew process"):
            asyncio.run(audit.execute(audit.prepare(run)))
        yield None

    prepared = audit.prepare(run)

    async def whole() -> audit.Done:
        return await audit.execute(prepared, in_a_thread)

    @contextmanager
    def in_a_thread(part: str) -> Iterator[None]:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(lambda: meddled(part).__enter__()).result()
        yield None

    assert not asyncio.run(whole()).incomplete
    assert refused == [True] * len(AUDITS)
    assert not (tmp_path / "run" / "run.sqlite.lock").exists()


def test_names_of_audits_in_one_text_are_refused_in_python():
    with pytest.raises(ConfigError, match=r"audits is a text.*\['flex'\]"):
        askew.plan_audit(f"{MODULE}:target", audits="flex")
