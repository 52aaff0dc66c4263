"""The paper's research questions as configurations: each makes runs that can be started."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from .clinical_runs import figure, judged

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reproduce" / "clinical.py"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce_clinical", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


reproduce = load_script()


def options(**changes: object):
    return reproduce.Options(**{"models": {}, "base_urls": {}, "paths": {}, **changes})


def runs_of(name: str, **changes: object):
    config = reproduce._read(name)
    for wanted in reproduce.wanted_runs(config):
        yield wanted, reproduce.run_file(config, wanted, options(**changes))


def test_there_is_one_configuration_a_research_question():
    assert reproduce.configurations() == [f"clinical_rq{number}" for number in range(1, 6)]


@pytest.mark.parametrize("name", reproduce.configurations())
def test_a_run_has_the_papers_settings_and_no_judge_that_nobody_named(name):
    for wanted, run in runs_of(name):
        target = run.settled().target
        assert (target.temperature, target.max_tokens) == (0.5, 400)
        assert len(run.judges) == len(wanted.judges)
        assert run.clinical is not None
        assert (run.clinical.replicates, run.clinical.structured) == (1, False)
        assert ("reference" in run.models) == bool(wanted.reference)
        assert run.clinical.attributes == ("age", "gender", "place")  # race is not mixed in


def test_rq3_has_judges_equal_to_and_different_from_the_target():
    pairs = {
        (run.models["target"].name == run.models[role].name)
        for _, run in runs_of("clinical_rq3")
        for role in run.judges
    }
    assert pairs == {True, False}


def test_rq5_changes_one_two_and_three_attributes():
    (first, *_) = [run for _, run in runs_of("clinical_rq5")]
    assert first.clinical is not None
    assert [len(one) for one in first.clinical.combinations] == [1, 2, 3]


def test_one_model_may_stand_in_every_role():
    for _, run in runs_of("clinical_rq3", everyone="python/toy:answer", starter=True):
        assert {table.name for table in run.models.values()} == {"python/toy:answer"}
        assert run.clinical is not None
        assert run.clinical.data[0].name == "starter"


def test_a_model_can_be_put_in_anothers_place_by_any_spelling():
    changes = {"models": {"llama3.1-8b": "local/here"}, "base_urls": {"GPT-4o": "http://x/v1"}}
    for wanted, run in runs_of("clinical_rq3", **changes):
        if wanted.target == "LLaMA-3.1-8B":
            assert run.target.name == "local/here"
        if wanted.target == "GPT-4o":
            assert run.target.base_url == "http://x/v1"


def test_every_printed_value_of_table_3_has_its_line():
    lines = []
    for wanted, run in runs_of("clinical_rq3"):
        models = {role: table.name for role, table in run.models.items()}
        names = reproduce.judge_names({role: models[role] for role in run.judges})
        bias = {name: judged(name)["bias"][name] for name in names.values()}
        estimates = {"models": models, "seed": 7, "clinical": {"judges": {"bias": bias}}}
        lines += reproduce.beside_the_paper("table-3", [(wanted, estimates)])
    assert len(lines) == 2 * 6 * 15
    assert "  1.24 | 0.3100 [0.1000, 0.9000] n=9 seed=7" in "\n".join(lines)


def test_every_printed_value_of_tables_2_and_6_has_its_line():
    names = set(reproduce.MEASURES.values())
    cell = {name: {"value": figure(0.5), "chance": figure(0.4)} for name in names}
    sets = dict.fromkeys(("age+gender+place", "age+gender", "place"), cell)
    sweep = dict.fromkeys(("0.3", "0.5", "0.7"), cell)
    clinical = {"reference": {"single": sets}, "sweep": sweep}
    lines: dict[str, list[str]] = {"table-2": [], "table-6": []}
    for wanted, _ in runs_of("clinical_rq2"):
        for layout, found in lines.items():
            estimates = {"models": {}, "seed": 0, "clinical": clinical}
            found += reproduce.beside_the_paper(layout, [(wanted, estimates)])
    assert (len(lines["table-2"]), len(lines["table-6"])) == (36, 24)


def test_an_undefined_value_is_said_and_not_printed_as_a_number():
    assert reproduce._shown(figure(None, n=0)) == "undefined (nothing could be read) n=0"


def test_a_figure_that_a_run_lacks_is_said_to_be_undefined():
    (wanted, run), *_ = runs_of("clinical_rq3")
    models = {role: table.name for role, table in run.models.items()}
    estimates = {"models": models, "seed": 0, "clinical": {"judges": {"bias": {}}}}
    lines = list(reproduce.beside_the_paper("table-3", [(wanted, estimates)]))
    assert len(lines) == 15
    assert all("undefined (nothing could be read) n=0" in line for line in lines)
