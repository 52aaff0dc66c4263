"""The registry of clinical data sets: names, plug-ins, and what a missing set says."""

from __future__ import annotations

import sys

import pytest

from askew.datasets.vignettes import BUILT_IN, DataSpec, LoadedVignettes, load, names
from askew.errors import AskewError, ConfigError, DataError

FROM_FOLDER = ("equitymedqa", "diversity_medqa", "zack_cases", "zack_nurse")


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'zack'.*diversity_medqa, equitymedqa, own, starter"):
        load(DataSpec("zack"))


@pytest.mark.parametrize("name", FROM_FOLDER)
def test_a_set_that_is_not_here_says_that_its_folder_has_to_be_named(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=rf"not fetched.*licence.*--data {name}=FOLDER"):
        load(DataSpec(name))
    with pytest.raises(DataError, match="holds no"):
        load(DataSpec(name, tmp_path))
    with pytest.raises(DataError, match="no such file or folder"):
        load(DataSpec(name, tmp_path / "nowhere"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_misspelt_option_is_not_ignored(name, tmp_path):
    with pytest.raises(ConfigError, match="no option 'sourse'"):
        load(DataSpec(name, tmp_path, {"sourse": "x"}))


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Install a package that has clinical sets by entry points, as pip would."""
    (tmp_path / "their_cases.py").write_text(
        "from askew.datasets.vignettes import LoadedVignettes\n"
        "def load(spec, *, seed, lenient):\n"
        "    return LoadedVignettes(f'{spec.name} {seed} {lenient}', ())\n"
        "def wrong(spec, *, seed, lenient):\n"
        "    return []\n"
        "def fails(spec, *, seed, lenient):\n"
        "    raise KeyError('ward')\n"
        "number = 7\n"
    )
    info = tmp_path / "their_cases-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-cases\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[askew.vignettes]\ntheirs = their_cases:load\nwrong = their_cases:wrong\n"
        "fails = their_cases:fails\nlost = their_cases:lost\nnumber = their_cases:number\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("their_cases", None)


@pytest.mark.usefixtures("plug_in")
def test_an_installed_plug_in_is_there_by_name():
    assert "theirs" in names()
    assert load(DataSpec("theirs"), seed=3, lenient=True) == LoadedVignettes("theirs 3 True", ())


@pytest.mark.usefixtures("plug_in")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrong", "returned list, expected .*LoadedVignettes"),
        ("fails", "failed: KeyError: 'ward'"),
        ("lost", "cannot be imported: AttributeError"),
        ("number", "is a int"),
    ],
)
def test_a_plug_in_that_fails_is_named(name, message):
    with pytest.raises(AskewError, match=message) as caught:
        load(DataSpec(name))
    assert repr(name) in str(caught.value)
