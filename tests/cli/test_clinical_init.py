"""`askew clinical init`: the run file that explains every setting of the clinical audit."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from askew.cli import clinical_running
from askew.errors import ConfigError, RunError
from askew.runfile import checked, read_run_file
from askew.runfile.clinical import AttributeTable, ClinicalTable

DEFAULTS = {"models": {"target": {"name": "builtin/smollm2"}}, "clinical": {}}


@pytest.fixture
def written(tmp_path) -> Path:
    path = tmp_path / "clinical.toml"
    clinical_running.init(path)
    return path


def test_the_file_holds_the_defaults(written):
    assert read_run_file(written).settled() == checked(dict(DEFAULTS)).settled()


def test_it_names_every_setting(written):
    text = written.read_text(encoding="utf-8")
    run = read_run_file(written)
    assert run.clinical is not None
    tables = (run, run.target, run.budget, run.clinical, run.clinical.judge)
    named = [name for table in tables for name in type(table).model_fields]
    for name in (*named, *AttributeTable.model_fields):
        if name not in ("record", "flex", "boundary"):  # written by a run; other audits'
            assert re.search(rf"\b{name}\b", text), name


def test_what_is_commented_out_can_be_put_in_as_it_stands(written):
    """Every example is a setting that the file takes, and says something else than the default."""
    text = written.read_text(encoding="utf-8")
    setting = re.compile(r"^# (?=\[|[a-z_0-9]+ = )", re.MULTILINE)
    values = tomllib.loads(setting.sub("", text))
    run = checked(values)
    assert set(run.models) == {"target", "judge", "reference", "generator", "attacker"}
    assert run.clinical is not None
    assert (run.clinical.vignettes, run.clinical.sample, run.clinical.preset) == (20, 4, "paper")
    assert run.clinical.declared[0].attribute().worded("Medicaid") == "the state"
    assert run.budget.roles["target"].calls == 8000
    plain = ClinicalTable()
    given = {name for name in ClinicalTable.model_fields if name in values["clinical"]}
    assert given == set(ClinicalTable.model_fields)
    assert run.clinical.backend == plain.backend


def test_every_setting_has_a_comment_of_its_own(written):
    for line in written.read_text(encoding="utf-8").splitlines():
        if re.match(r"(?:# )?[a-z_0-9]+ = ", line) and not _in_a_table_that_is_explained(line):
            assert re.search(r" # \S+|  # \S+", line.removeprefix("# ")), line


def _in_a_table_that_is_explained(line: str) -> bool:
    """The levels of [clinical.reference], limits, and examples of tables with a comment above."""
    name = line.removeprefix("# ").partition(" = ")[0]
    return name in {
        "gender", "race", "age", "calls", "tokens", "name", "levels", "phrase", "base_url"
    }  # fmt: skip


def test_it_does_not_overwrite_a_file_unless_told_to(written):
    written.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="is there already"):
        clinical_running.init(written)
    assert written.read_text(encoding="utf-8") == "mine"
    clinical_running.init(written, force=True)
    assert "[clinical]" in written.read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(RunError, match=r"nowhere.*cannot be written"):
        clinical_running.init(tmp_path / "nowhere" / "clinical.toml")


def test_as_a_command_it_writes_what_comes_with_the_package(tmp_path, monkeypatch):
    app = typer.Typer()
    app.command()(clinical_running.init)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0, done.output
    assert "askew run clinical.toml" in done.output
    packaged = files("askew.cli").joinpath("clinical_file.toml").read_text(encoding="utf-8")
    assert (tmp_path / "clinical.toml").read_text(encoding="utf-8") == packaged
