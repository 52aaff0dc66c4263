"""The plug-in of the docs, installed: what its entry points offer is there by name."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "plug_in"
PLANTED = ROOT / "tests" / "audits"

Askew = Callable[..., subprocess.CompletedProcess[str]]


def install(site: Path) -> Path:
    """The package in `site`, as pip leaves it: its files, and what its pyproject.toml says."""
    shutil.copytree(EXAMPLE / "askew_canteen", site / "askew_canteen")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = site / f"askew_canteen-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))


@pytest.fixture
def askew(site: Path, tmp_path: Path) -> Askew:
    def run(*arguments: str, on_path: Path = site) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from askew.cli import main; main()", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{on_path}{os.pathsep}{PLANTED}", "COLUMNS": "160"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


RUSH = ("--set", 'flex.wording.plug_ins=["rush"]')
RUN = (
    *("run", "--model", "python/planted:leaning", "--prompt", "flex", "--scoring", "reply"),
    *("--data", "canteen", "--scenarios", "all", "--set", "flex.controls=2", "--yes"),
)


def test_the_data_set_is_listed_and_checked(askew):
    listed = json.loads(askew("data", "list", "--json").stdout)
    assert next(row for row in listed if row["name"] == "canteen")["from"] == "a plug-in"
    checked = askew("data", "check", "canteen", "--json")
    assert checked.returncode == 0, checked.stderr
    found = json.loads(checked.stdout)
    assert (found["items"], found["controls"], found["problems"]) == (2, 2, [])
    assert list(found["checksums"]) == ["canteen.json"]


def test_the_set_and_the_scenario_family_are_asked_about(askew, tmp_path):
    done = askew(*RUN, *RUSH, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert askew("export", "run", "rows.csv").returncode == 0
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    asked = [row for row in rows if row["source"] == "canteen" and row["condition"] == "attacked"]
    assert {row["item_id"] for row in asked} == {"canteen/trays", "canteen/dishes"}
    assert {"kid", "dan", "rush"} <= {row["scenario"] for row in asked}
    assert {row["category"] for row in asked if row["scenario"] == "rush"} == {
        "competing_objectives"
    }
    figures = json.loads((tmp_path / "run" / "estimates.json").read_text())["flex"]
    rate = figures["attack_success_rate"]["scenario"]["competing_objectives"]["rush"]
    assert (rate["value"], rate["n"]) == (0.0, 2)
    # Told apart by what the file holds, as every other set is.
    assert "canteen.json" in (tmp_path / "run" / "run.toml").read_text()


def test_a_family_that_is_not_named_moves_nothing(askew, tmp_path):
    assert askew(*RUN, "--out", "run").returncode == 0
    figures = json.loads((tmp_path / "run" / "estimates.json").read_text())["flex"]
    assert "rush" not in figures["attack_success_rate"]["scenario"]["competing_objectives"]


def test_what_is_not_installed_is_a_clear_error(askew, tmp_path):
    elsewhere = tmp_path / "nothing"
    elsewhere.mkdir()
    no_set = askew("data", "check", "canteen", on_path=elsewhere)
    assert no_set.returncode == 3
    assert "unknown data set 'canteen'. Known: bbq" in no_set.stderr
    no_family = askew("plan", "--data", "starter", *RUSH, on_path=elsewhere)
    assert no_family.returncode == 3
    assert "unknown scenario family 'rush'. Known: dan" in no_family.stderr


def test_a_bad_record_of_the_plug_in_is_named_or_left_out(askew, tmp_path):
    broken = install(tmp_path / "broken")
    file = broken / "askew_canteen" / "canteen.json"
    records = json.loads(file.read_text())
    del records[0]["other"]
    file.write_text(json.dumps(records))
    strict = askew(*RUN, "--out", "strict", on_path=broken)
    assert strict.returncode == 3
    assert "canteen.json: record 'number 1': KeyError('other')" in strict.stderr
    checked = askew("data", "check", "canteen", on_path=broken)
    assert checked.returncode == 1
    assert "KeyError('other')" in checked.stdout
    assert askew(*RUN, "--lenient", "--out", "lenient", on_path=broken).returncode == 0


# The page in the docs


def shown() -> dict[str, str]:
    """File -> what docs/plug-ins.md shows of it."""
    page = (ROOT / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))


def test_the_page_shows_every_file_of_the_example_as_it_is():
    files = {
        str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8")
        for path in EXAMPLE.rglob("*")
        if path.suffix in (".py", ".toml", ".json") and path.name != "__init__.py"
    }
    assert files
    assert shown() == files
