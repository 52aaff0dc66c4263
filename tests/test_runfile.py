"""Run files: what they say comes back, and what is wrong with them is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from askew.build.settings import BuildFile
from askew.cli.settings import assignment
from askew.errors import ConfigError, DataError
from askew.runfile import RunFile, checked, read_run_file, read_toml, reading, write_run_file

TARGET = '[models.target]\nname = "builtin/smollm2"\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "audit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_resolved_run_file_gives_the_same_run_back(tmp_path):
    values = {
        "seed": 7,
        "models": {"target": {"name": "openai/toy", "base_url": "http://127.0.0.1:1/v1"}},
        "budget": {"calls": 10, "roles": {"target": {"tokens": 5}}},
        "flex": {"data": ["starter"], "shots": 2, "wording": {"personas": {"team": ["rival"]}}},
    }
    run = checked(values).settled()
    again = read_run_file(written(tmp_path, write_run_file(run)))
    assert again == run
    assert again.flex_config() == run.flex_config()


@pytest.mark.parametrize("given", [0, 0.7, "0.7", 2, "default", None])
@pytest.mark.parametrize("kind", [RunFile, BuildFile])
def test_a_temperature_comes_back_as_it_was_and_default_is_the_servers_own(tmp_path, given, kind):
    run = kind.model_validate({"models": {"target": {"name": "a/b", "temperature": given}}})
    values, _ = read_toml(written(tmp_path, write_run_file(run.settled())), "")
    again = kind.model_validate(values)
    assert again.settled() == run.settled()
    own = given in (None, "default")
    assert run.settled().target.sampling().temperature == (None if own else float(given))
    assert ('temperature = "default"' in write_run_file(run)) == own


def test_the_servers_own_temperature_can_be_set_from_the_command_line():
    name, value = assignment("models.target.temperature=default")
    run = checked({"models": {"target": {"name": "a/b"}}}, {name: value})
    assert run.target.sampling().temperature is None


@pytest.mark.parametrize("given", [-1, "hot", float("nan"), float("inf"), [0], "Default"])
def test_what_is_no_temperature_is_refused_with_what_is(given):
    with pytest.raises(ConfigError, match=r'temperature is .*a number from 0 up, or "default"'):
        checked({"models": {"target": {"name": "a/b", "temperature": given}}})


def test_auto_is_settled_by_what_the_provider_can_do():
    def scoring(name: str) -> tuple[str, bool | None]:
        flex = checked({"models": {"target": {"name": name}}}).settled().flex
        return flex.scoring, flex.list_options

    assert scoring("builtin/smollm2") == ("texts", False)
    assert scoring("local/some/folder") == ("letters", True)
    assert scoring("openai/gpt-4o") == ("reply", True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{TARGET}[flex]\nshotz = 2\n", ":4: flex.shotz"),
        (f"{TARGET}[flex]\nshots = 9\n", ":4: flex.shots is 9"),
        (f'{TARGET}[flex]\nscoring = "letter"\n', ":4: flex.scoring is 'letter'"),
        ("seed = 1\n", "models is missing. Add it."),
        ('[models.target]\nname = "gpt-4o"\n', ":2: models.target.name is 'gpt-4o'"),
        ('[models.judge]\nname = "a/b"\n', "[models.target]"),
        ("seed = = 1\n", "line 1"),
    ],
)
def test_a_fault_names_file_line_key_and_mend(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as trouble:
        read_run_file(path)
    assert str(path) in str(trouble.value)
    assert said in str(trouble.value)


def test_options_go_before_the_file(tmp_path):
    path = written(tmp_path, f"seed = 1\n{TARGET}[flex]\nshots = 1\n")
    run = read_run_file(path, {"seed": 2, "flex.shots": 3})
    assert (run.seed, run.flex.shots) == (2, 3)


def test_paths_are_meant_from_the_file(tmp_path):
    path = written(tmp_path, f'{TARGET}[flex]\ndata = [{{ name = "own", path = "mine.csv" }}]\n')
    assert read_run_file(path).flex.data[0].path == tmp_path / "mine.csv"


def test_how_replies_are_read_is_no_part_of_the_questions():
    def key(**flex: object) -> dict[str, object]:
        return checked({"models": {"target": {"name": "a/b"}}, "flex": flex}).questions_key()

    assert key(non_answers="wrong", normalise="bytes") == key()
    assert key(shots=1) != key()


def test_the_documented_run_file_holds_the_defaults():
    path = Path(__file__).parent.parent / "src" / "askew" / "cli" / "run_file.toml"
    assert read_run_file(path) == checked({"models": {"target": {"name": "builtin/smollm2"}}})


def test_the_documented_run_file_names_every_setting():
    path = Path(__file__).parent.parent / "src" / "askew" / "cli" / "run_file.toml"
    text = path.read_text(encoding="utf-8")
    run: RunFile = read_run_file(path)
    for table in (run, run.target, run.budget, run.flex, run.flex.wording):
        for name in type(table).model_fields:
            if name != "record":  # written by a run, never by hand
                assert name in text, name


@pytest.mark.parametrize("text", ["flex.shots", "=3", ""])
def test_an_assignment_without_key_or_value_is_refused(text):
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        assignment(text)


def test_what_is_read_lies_beside_the_file_and_options_and_out_are_meant_from_the_working_folder(
    tmp_path, monkeypatch
):
    here, beside = tmp_path / "here", tmp_path / "beside"
    for folder in (here, beside):
        folder.mkdir()
    monkeypatch.chdir(here)
    top = 'prices = "p.toml"\nreuse = ["old"]\nout = "run"\n'
    path = written(beside, f'{top}{TARGET}[flex.wording]\npublished = "x"\n')
    run = read_run_file(path)
    assert (run.prices, run.reuse) == (beside / "p.toml", (beside / "old",))
    assert run.flex.wording.published == beside / "x"
    assert run.out == here / "run"
    given = {"prices": Path("q.toml"), "reuse": [Path("new")], "out": "other"}
    run = read_run_file(path, given)
    assert (run.prices, run.reuse, run.out) == (here / "q.toml", (here / "new",), here / "other")


def test_a_run_file_in_a_run_folder_means_that_folder(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(f'out = "elsewhere"\n{TARGET}', encoding="utf-8")
    (tmp_path / "run.sqlite").touch()
    assert read_run_file(path).out == tmp_path
    assert read_run_file(path, {"out": tmp_path / "new"}).out == tmp_path / "new"
    assert read_run_file(written(tmp_path, TARGET)).out is None


def test_replies_are_read_without_the_published_wording(tmp_path):
    gone = {"flex.wording.published": tmp_path / "gone"}
    run = checked({"models": {"target": {"name": "a/b"}}}, gone).settled()
    with pytest.raises(DataError):
        run.flex_config()
    assert run.reading_config().scores.tie == "tied"


def test_what_is_wrong_with_an_option_is_blamed_on_the_command_line(tmp_path):
    path = written(tmp_path, f'{TARGET}[flex]\nnon_answers = "wrong"\nshots = 9\n')
    with pytest.raises(ConfigError) as trouble:
        read_run_file(path, {"flex.non_answers": "bogus"})
    assert "command line: flex.non_answers is 'bogus'" in str(trouble.value)
    assert f"{path}:5: flex.shots is 9" in str(trouble.value)


def test_a_key_below_a_value_is_refused():
    with pytest.raises(ConfigError, match="'seed' is no table"):
        checked({"seed": 1, "models": {"target": {"name": "a/b"}}}, {"seed.deep": 2})


MODELS = {"target": {"name": "a/b"}}


def faults(values, overrides=None):
    with pytest.raises(ConfigError) as trouble:
        checked({"models": MODELS, **values}, overrides)
    return str(trouble.value).split("\n")


@pytest.mark.parametrize(
    ("values", "goes"),
    [
        ({"data": [{"name": "own"}]}, "[[flex.data]] or [[clinical.data]]"),
        ({"data": [{"name": "own"}], "clinical": {}}, "[[clinical.data]]"),
        ({"data": [{"name": "own"}], "flex": {}}, "[[flex.data]]"),
        ({"shots": 2}, "[flex] or [clinical]"),
        ({"adjective": "bad"}, "[flex.wording]"),
        ({"phrase": "{}"}, "[[clinical.declared]]"),
        ({"temperature": 1}, "[models.NAME]"),
        ({"roles": {}}, "[budget.roles.NAME]"),
        ({"target": {"name": "a/b"}}, "[models.target]"),
        ({"judge": {"name": "a/b"}}, "[models.judge]"),
        ({"judge": {"repeats": 2}}, "[clinical.judge]"),
        ({"flex": {"prices": "p.toml"}}, "the top of the file"),
        ({"flex": {"calls": 3}}, "[budget] or [budget.roles.NAME]"),
        ({"models": {"target": {"name": "a/b", "adjective": "x"}}}, "[flex.wording]"),
    ],
)
def test_a_setting_in_another_table_is_told_where_it_goes(values, goes):
    (said,) = faults(values)
    assert said.endswith(f" is no setting. It belongs to {goes}.")


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ({"sead": 1}, "Did you mean 'seed'?"),
        ({"flex": {"shotz": 1}}, "Did you mean 'shots'?"),
        ({"models": {"target": {"name": "a/b", "temprature": 0}}}, "Did you mean 'temperature'?"),
        ({"clinical": {"judge": {"item": 1}}}, "Did you mean 'items'?"),
        ({"zzz": 1}, "Check the spelling in the settings table."),
    ],
)
def test_a_setting_that_no_table_has_is_told_what_it_may_be(values, meant):
    (said,) = faults(values)
    assert said.endswith(f" is no setting. {meant}")


def test_what_stands_under_an_unknown_key_is_not_shown():
    (said,) = faults({"api_key": "sk-secret"})
    assert "sk-secret" not in said


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"models": {"target": {"name": "gpt"}}}, "name is 'gpt': expected provider/model, such"),
        ({"models": {"target": "a/b"}}, "models.target is 'a/b': expected a table."),
        ({"seed": "x"}, "seed is 'x': expected a whole number."),
        ({"flex": {"shots": 1.5}}, "flex.shots is 1.5: expected a whole number."),
        ({"flex": {"shots": -1}}, "flex.shots is -1: expected a number from 0 up."),
        ({"flex": {"shots": 9}}, "flex.shots is 9: expected a number of at most 5."),
        ({"flex": {"lenient": "maybe"}}, "flex.lenient is 'maybe': expected true or false."),
        ({"flex": {"data": 3}}, "flex.data is 3: expected a list."),
        ({"flex": {"wording": {"adjective": 3}}}, "adjective is 3: expected text."),
        ({"clinical": {"answers": []}}, "clinical.answers is []: expected at least 1 entry."),
        ({"clinical": {"levels": {"int": 3}}}, "clinical.levels.int is 3: expected a list."),
        (
            {"clinical": {"judge": {"items": "x"}}},
            "clinical.judge.items is 'x': expected a whole number or 'all'.",
        ),
        (
            {"clinical": {"declared": [{"name": "a+b", "levels": ["x", "y"], "phrase": "{}"}]}},
            "clinical.declared.0.name is 'a+b': expected a name without any of + = | / #.",
        ),
    ],
)
def test_a_wrong_value_is_told_what_is_expected_in_plain_words(values, said):
    (fault,) = faults(values)
    assert said in fault


def test_every_pattern_of_a_setting_has_words():
    fields = json.dumps([RunFile.model_json_schema(), BuildFile.model_json_schema()])
    patterns = {json.loads(f'"{one}"') for one in re.findall(r'"pattern": "(.*?)"[,}]', fields)}
    assert patterns
    assert patterns <= reading._PATTERNS.keys()


def test_a_list_is_not_called_too_short_where_an_entry_of_it_is_wrong():
    (said,) = faults({}, {"clinical.answers": ["chain"]})
    assert said == (
        "command line: clinical.answers.0 is 'chain': expected 'direct', 'single' or 'chained'."
    )
    declared = {"name": "insurance", "levels": [3], "phrase": "{}"}
    said = faults({"clinical": {"declared": [declared]}})
    assert len(said) == 2  # one entry is wrong, and one was too few all along
