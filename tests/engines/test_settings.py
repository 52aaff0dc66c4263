"""Where calls are sent from, as a run file, the command line and Python say it."""

from __future__ import annotations

import pytest

from askew.api.settings import chosen
from askew.cli.boundary_settings import boundary_settings
from askew.cli.clinical_settings import clinical_settings
from askew.cli.settings import run_settings
from askew.errors import ConfigError
from askew.models.engine import EngineSettings
from askew.run.common import engine_of
from askew.runfile import checked, read_run_file, write_run_file

TOY = {"models": {"target": {"name": "openai/toy"}}}


def test_without_a_table_calls_are_sent_from_this_process():
    run = checked(dict(TOY))
    assert run.engine is None
    with engine_of(run) as engine:
        assert engine is None


def test_the_questions_do_not_depend_on_the_engine(tmp_path):
    here = checked(dict(TOY)).settled()
    over = checked({**TOY, "engine": {"name": "ray", "workers": 7, "shard": 3}}).settled()
    assert here.questions_key({}) == over.questions_key({})
    (tmp_path / "run.toml").write_text(write_run_file(over), encoding="utf-8")
    again = read_run_file(tmp_path / "run.toml", {"engine.name": "local"})
    assert again.engine.settings() is None
    assert again.questions_key({}) == over.questions_key({})


@pytest.mark.parametrize("gather", [run_settings, clinical_settings, boundary_settings])
def test_the_options_say_the_same_as_the_file(gather):
    run = gather(model="openai/toy", engine="ray", workers=3, ray_address="10.0.0.7:6379")
    assert run.engine.settings() == EngineSettings(address="10.0.0.7:6379", workers=3)


def test_in_python_a_word_or_a_table_will_do():
    assert chosen("openai/toy", None, None, {"engine": "ray"}).run.engine.name == "ray"
    table = {"name": "ray", "workers": 5}
    assert chosen("openai/toy", None, None, {"engine": table}).run.engine.workers == 5


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"workers": 4}, "of no use without engine.name"),
        ({"name": "dask"}, "engine.name is 'dask'"),
        ({"name": "ray", "workers": 0}, "engine.workers is 0"),
        ({"name": "ray", "gpus_per_worker": -1}, "engine.gpus_per_worker is -1"),
        ({"name": "ray", "shard": 0}, "engine.shard is 0"),
        ({"name": "ray", "cpus": 2}, "engine.cpus is no setting"),
    ],
)
def test_what_is_no_setting_of_an_engine_is_named(table, said):
    with pytest.raises(ConfigError) as trouble:
        checked({**TOY, "engine": table})
    assert said in str(trouble.value)


@pytest.mark.parametrize("address", ["ray://10.0.0.7:10001", "somewhere"])
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_asked(address):
    pytest.importorskip("ray")
    run = checked({**TOY, "engine": {"name": "ray", "address": address}})
    with pytest.raises(ConfigError, match="Ray address"), engine_of(run):
        pass
