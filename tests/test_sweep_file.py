"""Sweep files: which cells a file has, what each asks, and which files are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.runfile.sweep import in_a_folder, read_sweep

BASE = """
seed = 7
[models.target]
name = "builtin/smollm2"
temperature = 0.3
base_url = "http://base.example/v1"
[flex]
items = 4
controls = 3
"""


def written(folder: Path, text: str, base: str = BASE) -> Path:
    (folder / "run.toml").write_text(base, encoding="utf-8")
    (folder / "s.toml").write_text(f'base = "run.toml"\n{text}', encoding="utf-8")
    return folder / "s.toml"


def names(folder: Path, text: str, **more: str) -> list[str]:
    return [cell.name for cell in read_sweep(written(folder, text, **more)).cells]


def test_a_file_with_a_base_alone_has_one_cell(tmp_path):
    (cell,) = read_sweep(written(tmp_path, "")).cells
    assert (cell.name, cell.seed, cell.data) == ("builtin-smollm2.seed-7", 7, "")
    assert cell.run.flex.items == 4


def test_every_combination_is_a_cell_model_by_model_data_by_data_seed_by_seed(tmp_path):
    assert names(
        tmp_path,
        """
seeds = [0, 1]
[[models]]
name = "openai/a"
[[models]]
name = "openai/b"
label = "big b"
[[data]]
label = "few"
flex.items = 2
[[data]]
label = "more"
flex.items = 9
""",
    ) == [
        f"{model}.{data}.seed-{seed}"
        for model in ("openai-a", "big b")
        for data in ("few", "more")
        for seed in (0, 1)
    ]


def test_a_cell_is_the_base_with_its_model_seed_and_data_put_in(tmp_path):
    sweep = read_sweep(
        written(
            tmp_path,
            """
seeds = [3]
[[models]]
name = "openai/a"
max_tokens = 5
[[data]]
label = "mine"
flex.items = 2
flex.data = [{ name = "flex-csv", path = "rows.csv" }]
""",
        )
    )
    (cell,) = sweep.cells
    run = cell.run
    assert (run.seed, run.flex.items, run.flex.controls) == (3, 2, 3)
    assert run.flex.data[0].path == tmp_path / "rows.csv"
    assert run.out == sweep.out / cell.name
    # How replies are drawn is the experiment's; where a model is served is the model's own.
    assert (run.target.temperature, run.target.max_tokens) == (0.3, 5)
    assert run.target.base_url is None


def test_adding_models_or_seeds_leaves_the_names_of_cells_as_they_were(tmp_path):
    before = names(tmp_path, 'seeds = [1]\n[[models]]\nname = "openai/a"')
    after = names(
        tmp_path, 'seeds = [1, 2]\n[[models]]\nname = "openai/b"\n[[models]]\nname = "openai/a"'
    )
    assert set(before) < set(after)


def test_the_folder_is_named_by_the_file_unless_it_says_or_the_caller_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, "")
    assert read_sweep(file).out == tmp_path / "sweeps" / "s"
    assert read_sweep(written(tmp_path, 'out = "there"')).out == tmp_path / "there"
    assert read_sweep(file, {"out": tmp_path / "x"}).out == tmp_path / "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seeds = [1, 1]", "seeds holds '1' twice"),
        ("seeds = [-1]", r"s.toml:2: seeds.0 is -1"),
        ('[[models]]\nname = "openai/a"\n[[models]]\nname = "openai/a"', "'openai-a' twice"),
        ('[[models]]\nname = "openai/a"\n[[models]]\nname = "openai/A"', "'openai-a' twice"),
        ('[[models]]\nname = "noslash"', "models.0.name is 'noslash'"),
        ('[[models]]\nname = "openai/a"\nlabel = "../../etc"', "label is '../../etc'"),
        ('[[data]]\nlabel = ".."', "label is '..'"),
        ('[[data]]\nlabel = "a\\u0000b"', "label is"),
        ("[[data]]\nflex.items = 3", "data.0.label is missing"),
        ('[[data]]\nlabel = "a"\nflex.itmes = 3', r"cell builtin-smollm2\.a\.seed-7: .*itmes"),
        ("at_once = 0", "at_once is 0"),
        ("tries = 0", "tries is 0"),
        ("sedes = [1]", "sedes is no setting. Did you mean 'seeds'"),
        ("[budget]\ncalls = -1", "budget.calls is -1"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place(tmp_path, text, said):
    with pytest.raises(ConfigError, match=said):
        read_sweep(written(tmp_path, text))


def test_what_a_sweep_says_of_every_cell_goes_before_the_base(tmp_path):
    text = 'unknown = "retry"\nlocal_only = true\nseeds = [0, 1]'
    for cell in read_sweep(written(tmp_path, text)).cells:
        assert (cell.run.unknown, cell.run.local_only) == ("retry", True)


def test_two_combinations_with_one_folder_are_refused(tmp_path):
    text = """
[[models]]
name = "openai/a"
label = "a.b"
[[models]]
name = "openai/b"
label = "a"
[[data]]
label = "c"
[[data]]
label = "b.c"
"""
    with pytest.raises(ConfigError, match=r"same folder, a\.b\.c\.seed-7"):
        read_sweep(written(tmp_path, text))


def test_a_missing_or_broken_base_is_told_by_its_own_name(tmp_path):
    file = written(tmp_path, "")
    (tmp_path / "run.toml").write_text("[models.target]\nname = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"cell .*: .*run\.toml:2: models\.target\.name is 3"):
        read_sweep(file)
    (tmp_path / "run.toml").unlink()
    with pytest.raises(ConfigError, match=r"run\.toml: no such file"):
        read_sweep(file)


@given(st.text(min_size=1))
def test_a_models_name_never_leads_out_of_the_folder(name):
    made = in_a_folder(f"provider/{name}")
    assert made not in ("", ".", "..")
    assert not {"/", "\\", ":", "\x00", "\n"} & set(made)
    assert len(made) <= 60
    assert Path("folder") / made == Path("folder", made)
