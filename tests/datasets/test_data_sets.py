"""The registry: names, plug-ins, what a missing set says, and how fast it is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from askew.datasets import BUILT_IN, DataSpec, Loaded, load, names
from askew.errors import AskewError, ConfigError, DataError


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(
        ConfigError, match=r"'bqq'.*bbq, crows_pairs, flex, own, starter, stereoset"
    ):
        load(DataSpec("bqq"))


@pytest.mark.parametrize("name", ["bbq", "crows_pairs", "flex", "stereoset"])
def test_a_set_that_is_not_here_says_how_to_get_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=rf"askew data get {name}.*{name}=FOLDER"):
        load(DataSpec(name))
    with pytest.raises(DataError, match="holds no"):
        load(DataSpec(name, tmp_path))
    with pytest.raises(DataError, match="no such file or folder"):
        load(DataSpec(name, tmp_path / "nowhere"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_misspelt_option_is_not_ignored(name, tmp_path):
    with pytest.raises(ConfigError, match="no option 'splitt'"):
        load(DataSpec(name, tmp_path, {"splitt": "dev"}))


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Install a package that has a data set by an entry point, as pip would."""
    (tmp_path / "their_sets.py").write_text(
        "from askew.datasets import Loaded\n"
        "def load(spec, *, seed, lenient):\n"
        "    return Loaded(f'{spec.name} {seed} {lenient}', ())\n"
        "def wrong(spec, *, seed, lenient):\n"
        "    return []\n"
        "def fails(spec, *, seed, lenient):\n"
        "    raise KeyError('mood')\n"
        "number = 7\n"
    )
    info = tmp_path / "their_sets-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-sets\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[askew.datasets]\ntheirs = their_sets:load\nwrong = their_sets:wrong\n"
        "fails = their_sets:fails\nlost = their_sets:lost\nnumber = their_sets:number\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("their_sets", None)


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_adds_a_data_set_by_its_entry_point():
    assert {"theirs", "bbq"} <= set(names())
    assert load(DataSpec("theirs"), seed=5, lenient=True) == Loaded("theirs 5 True", ())


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_that_returns_something_else_is_an_error_that_names_it():
    with pytest.raises(DataError, match="'wrong' returned list"):
        load(DataSpec("wrong"))


@pytest.mark.usefixtures("plug_in")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "'fails' failed: KeyError: 'mood'"),
        ("lost", r"'lost' \(their_sets:lost\) cannot be imported: AttributeError"),
        ("number", r"'number' \(their_sets:number\) is a int"),
    ],
)
def test_a_plug_in_that_fails_is_named(name, message):
    with pytest.raises(AskewError, match=message):
        load(DataSpec(name))


def test_importing_the_package_imports_no_reader_and_nothing_heavy():
    code = (
        "import sys, askew.datasets; "
        "heavy = {'numpy', 'csv', 'urllib.request', 'askew.datasets.bbq'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
