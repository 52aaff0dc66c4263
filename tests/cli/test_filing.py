from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from askew.cli.app import app
from askew.runfolder import RunFolder
from tests.report.filed import filed_run


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A real run: an application that answers, asked through the command line."""
    above = tmp_path_factory.mktemp("filing")
    (above / "polite.py").write_text(
        'def reply(prompt: str) -> str:\n    return "I cannot know that."\n', encoding="utf-8"
    )
    (above / "run.toml").write_text(
        'seed = 3\nout = "run"\n[models.target]\nname = "python/polite:reply"\n'
        '[flex]\ndata = [{name = "starter"}]\ncontrols = 10\nscoring = "reply"\n',
        encoding="utf-8",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(above)
        patch.syspath_prepend(str(above))
        invoke("run", "run.toml", "--yes")
    return above / "run"


def invoke(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done.stdout


def test_a_real_run_is_filed_from_end_to_end(run, tmp_path):
    said = invoke("export", "evidence", run, tmp_path / "pack")
    assert "Evidence pack of python/polite:reply" in said
    assert "requirements are not addressed by this run" in said
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=tmp_path / "pack",
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    made = json.loads((tmp_path / "pack/evidence.json").read_text(encoding="utf-8"))
    target = made["provenance"]["models"]["target"]
    assert target["name"] == "python/polite:reply"
    assert made["provenance"]["data"], "the run recorded checksums"
    assert made["provenance"]["seed"] == 3


def test_every_claim_is_made_again_by_scoring_the_bundled_run(run, tmp_path):
    invoke("export", "evidence", run, tmp_path / "pack", "--with-calls")
    bundled = tmp_path / "pack/run"
    invoke("verify", bundled)
    made = json.loads((tmp_path / "pack/evidence.json").read_text(encoding="utf-8"))
    (bundled / "estimates.json").unlink()
    invoke("score", bundled)
    again = RunFolder.open(bundled).read_estimates()
    assert made["claims"]
    for claim in made["claims"]:
        found = again
        for key in claim["keys"]:
            found = found[key]
        if claim["standing"] == "measured":
            assert found["value"] == claim["figure"]["value"]
            assert found["lower"] == claim["figure"]["lower"]


def test_the_pack_as_json_for_a_script(run, tmp_path):
    said = json.loads(invoke("export", "evidence", run, tmp_path / "p.zip", "--json"))
    assert said["complete"] is True
    assert said["altered"] == []
    assert {one["path"] for one in said["files"]} >= {"run/run.toml", "run/MANIFEST"}
    assert "nyc_ll144.bias_audit" in said["not_addressed"]
    assert zipfile.is_zipfile(tmp_path / "p.zip")


def test_the_report_is_left_out_where_that_is_wanted(run, tmp_path):
    invoke("export", "evidence", run, tmp_path / "pack", "--no-report")
    assert not (tmp_path / "pack/run/report.html").exists()
    assert not (tmp_path / "pack/run/run.sqlite").exists()


def test_cards_are_printed_or_written_and_their_metadata_is_json(run, tmp_path):
    for command in ("model-card", "data-card"):
        printed = invoke("export", command, run)
        invoke("export", command, run, tmp_path / f"{command}.md")
        assert (tmp_path / f"{command}.md").read_text(encoding="utf-8") == printed
        metadata = json.loads(invoke("export", command, run, "--json"))
        front = yaml.safe_load(printed.split("---\n", 2)[1])
        assert front["tags"] == metadata["tags"]


def test_faults_are_told_without_a_trace(tmp_path):
    folder = filed_run(tmp_path / "run", "flex", ended=False)
    folder.estimates.unlink()
    runner = CliRunner()
    for arguments in (
        ["export", "evidence", str(folder.path), str(tmp_path / "out")],
        ["export", "model-card", str(folder.path)],
        ["export", "data-card", str(tmp_path / "nowhere")],
    ):
        done = runner.invoke(app, arguments)
        assert done.exit_code != 0
        assert "estimates.json" in str(done.exception) or "run.sqlite" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_rows_are_still_what_export_writes_by_default(run, tmp_path):
    assert "rows" in invoke("export", run, tmp_path / "rows.csv")
