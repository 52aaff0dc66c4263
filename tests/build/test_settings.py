"""Build files: what they say comes back, what is left open is settled, what is wrong is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from askew.build.select import Rule
from askew.build.settings import BuildFile, checked, read_build_file
from askew.errors import ConfigError
from askew.runfile import write_run_file

TARGET = '[models.target]\nname = "openai/toy"\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "my_build.toml"
    path.write_text(text, encoding="utf-8")
    return path


def settled(**build: object) -> BuildFile:
    return checked({"models": {"target": {"name": "openai/toy"}}, "build": build}).settled()


def test_the_defaults_are_the_papers():
    config = settled().config()
    assert config.rule == Rule(replies=5, biased_from=3)
    assert config.source_replies == 1
    assert config.estimate_replies == 5
    assert config.sampled
    assert config.sampling.temperature == 1.0


def test_rotations_need_replies_in_threes_and_take_six():
    config = settled(rotations="all").config()
    assert config.rule == Rule(replies=6, biased_from=4)
    assert (config.source_replies, config.estimate_replies) == (3, 6)
    for name in ("replies", "source_replies", "estimate_replies"):
        with pytest.raises(ConfigError, match=f"{name} is 5.*multiple of 3"):
            settled(rotations="all", **{name: 5})


def test_the_threshold_follows_the_replies_unless_it_is_given():
    assert settled(replies=9).config().rule == Rule(9, 5)
    assert settled(replies=5, biased_from=4).config().rule == Rule(5, 4)
    assert settled(replies=9, estimate_replies=2).config().estimate_replies == 2


def test_what_scores_options_keeps_the_temperature_of_a_run_so_that_calls_are_shared():
    scored = checked({"models": {"target": {"name": "builtin/smollm2"}}}).settled()
    assert scored.build.scoring == "texts"
    assert scored.target.temperature == 0.0
    assert not scored.config().sampled


def test_a_temperature_that_is_given_stays():
    values = {"models": {"target": {"name": "openai/toy", "temperature": 0.0}}}
    assert checked(values).settled().target.temperature == 0.0


def test_a_resolved_file_gives_the_same_build_back(tmp_path):
    values = {
        "seed": 7,
        "models": {
            "target": {"name": "openai/toy"},
            "attacker": {"name": "openai/other"},
            "judge": {"name": "openai/third"},
        },
        "budget": {"calls": 10, "roles": {"judge": {"tokens": 5}}},
        "build": {"sources": ["starter"], "rotations": "all", "wording": {"adjective": "rude"}},
    }
    file = checked(values).settled()
    again = read_build_file(written(tmp_path, write_run_file(file)))
    assert again.settled() == file
    assert again.questions_key() == file.questions_key()
    assert again.settled().config() == file.config()


def test_what_changes_no_choice_does_not_make_another_build():
    key = settled().questions_key({})
    assert settled(exhaustive=True, ahead=7).questions_key({}) == key
    assert settled(replies=7).questions_key({}) != key
    moved = checked({"models": {"target": {"name": "openai/toy", "concurrency": 3}}}).settled()
    assert moved.questions_key({}) == key


def test_paths_are_meant_from_the_files_own_folder(tmp_path):
    text = f'{TARGET}[[build.sources]]\nname = "own"\npath = "mine.csv"\n'
    file = read_build_file(written(tmp_path, text))
    assert file.build.sources[0].path == tmp_path / "mine.csv"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{TARGET}[build]\nrepliez = 2\n", ":4: build.repliez"),
        (f"{TARGET}[build]\nreplies = 0\n", ":4: build.replies is 0"),
        (f"{TARGET}[build]\nbiased_from = 6\n", "biased_from is 6 of 5 replies"),
        (f'{TARGET}[build]\ncategories = ["text_attack", "text_attack"]\n', "name each once"),
        (f"{TARGET}[build]\ncategories = []\n", "build.categories"),
        (f"{TARGET}[build]\nsimilarity_from = 2\n", ":4: build.similarity_from is 2"),
        (f"{TARGET}[budget.roles.referee]\ncalls = 1\n", "budget.roles names 'referee'"),
        ('[models.judge]\nname = "a/b"\n', "[models.target]"),
        ("seed = = 1\n", "line 1"),
    ],
)
def test_a_fault_names_file_line_key_and_mend(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as trouble:
        read_build_file(path)
    assert said in str(trouble.value)
    assert "my_build.toml" in str(trouble.value)


def test_a_missing_file_is_answered_with_the_way_to_one(tmp_path):
    with pytest.raises(ConfigError, match=r"no such file.*docs/build\.md"):
        read_build_file(tmp_path / "none.toml")


def test_how_often_a_shared_question_is_attacked_is_a_setting():
    assert settled().build.variants == 10
    assert settled(variants=4).build.variants == 4
    for wrong in (0, 1_001):
        with pytest.raises(ConfigError, match="variants"):
            settled(variants=wrong)
