"""`askew boundary init`: the run file that explains every setting of the boundary audit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from askew.cli import boundary_running
from askew.errors import ConfigError, RunError
from askew.runfile import checked, read_run_file
from askew.runfile.boundary import BoundaryTable

DEFAULTS = {"models": {"target": {"name": "builtin/smollm2"}}, "boundary": {}}


@pytest.fixture
def written(tmp_path) -> Path:
    path = tmp_path / "boundary.toml"
    boundary_running.init(path)
    return path


def test_the_file_holds_the_defaults(written):
    assert read_run_file(written).settled() == checked(dict(DEFAULTS)).settled()


def test_it_names_every_setting(written):
    text = written.read_text(encoding="utf-8")
    run = read_run_file(written)
    assert run.boundary is not None
    named = [
        name
        for table in (run, run.target, run.budget, run.boundary)
        for name in type(table).model_fields
    ]
    for name in named:
        if name not in ("record", "flex", "clinical"):  # written by a run; other audits'
            assert re.search(rf"\b{name}\b", text), name


def test_what_is_commented_out_can_be_put_in_as_it_stands(written):
    """Every example is a setting that the file takes, and says something else than the default."""
    text = written.read_text(encoding="utf-8")
    setting = re.compile(r"^# (?=\[|[a-z_0-9]+ = )", re.MULTILINE)
    values = tomllib.loads(setting.sub("", text))
    given = set(values["boundary"])
    run = checked(values)
    assert set(run.models) == {"target", "judge", "generator"}
    assert run.boundary is not None
    assert given == set(BoundaryTable.model_fields)
    assert run.boundary.start == "Trade policy"
    assert run.budget.roles["target"].calls == 8000


def test_every_setting_has_a_comment_of_its_own(written):
    for line in written.read_text(encoding="utf-8").splitlines():
        name = line.removeprefix("# ").partition(" = ")[0]
        plain = {"calls", "tokens", "name", "base_url"}  # their table or neighbour is explained
        if re.match(r"(?:# )?[a-z_0-9]+ = ", line) and name not in plain:
            assert re.search(r"  ?# \S+", line.removeprefix("# ")), line


def test_it_does_not_overwrite_a_file_unless_told_to(written):
    written.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="is there already"):
        boundary_running.init(written)
    assert written.read_text(encoding="utf-8") == "mine"
    boundary_running.init(written, force=True)
    assert "[boundary]" in written.read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(RunError, match=r"nowhere.*cannot be written"):
        boundary_running.init(tmp_path / "nowhere" / "boundary.toml")
