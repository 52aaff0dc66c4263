"""What is handed out: versions are pinned, archives build to the same bytes and work alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import util
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
# What pip itself brings, and what no constraint can name.
UNPINNED = {"askew", "pip", "setuptools", "wheel"}


def loaded(name: str) -> ModuleType:
    spec = util.spec_from_file_location(f"release_{name}", ROOT / "release" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sbom, release, audit = loaded("sbom"), loaded("build"), loaded("audit")


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    found = [re.fullmatch(r"([\w.-]+)==(\S+)", line) for line in lines if not line.startswith("#")]
    assert all(found), "a line of constraints.txt pins no version"
    return {sbom.canonical(one[1]): one[2] for one in found if one}


def test_everything_that_make_test_installs_is_pinned_and_of_that_version():
    makefile = (ROOT / "Makefile").read_text()
    installed = re.search(r"-e '\.\[([\w,]+)\]'\n\t# The built-in", makefile)
    assert installed is not None
    needed = sbom.closure(installed[1].split(","))
    assert len(needed) > 100
    pinned = pins()
    unpinned = sorted(needed.keys() - pinned.keys() - UNPINNED)
    other = {
        name: (one.version, pinned[name])
        for name, (one, _) in needed.items()
        if name in pinned and one.version.partition("+")[0] != pinned[name]
    }
    assert unpinned == []
    assert other == {}


def test_the_bill_of_materials_names_each_package_once_and_is_the_same_twice():
    made = sbom.sbom(["all"])
    assert json.dumps(made) == json.dumps(sbom.sbom(["all"]))
    names = [one["name"] for one in made["components"]]
    assert len(names) == len(set(names))
    assert {"numpy", "aiohttp", "torch"} <= set(names) | {"torch"}
    references = {one["bom-ref"] for one in made["components"]}
    references.add(made["metadata"]["component"]["bom-ref"])
    for one in made["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= references
    assert all(one["version"] and one["purl"].startswith("pkg:pypi/") for one in made["components"])


def test_the_bill_of_materials_is_cyclonedx():
    validation = pytest.importorskip("cyclonedx.validation.json")
    schema = pytest.importorskip("cyclonedx.schema")
    try:
        validator = validation.JsonStrictValidator(schema.SchemaVersion.V1_6)
        fault = validator.validate_str(json.dumps(sbom.sbom(["all"])))
    except Exception as trouble:
        if type(trouble).__name__ == "MissingOptionalDependencyException":
            pytest.skip("the validator of CycloneDX has not all it needs here")
        raise
    assert fault is None


def test_a_licence_is_known_of_nearly_every_package():
    components = sbom.sbom(["all"])["components"]
    unknown = [one["name"] for one in components if "licenses" not in one]
    assert len(unknown) <= len(components) // 10, unknown


def test_the_readme_and_the_project_agree_on_the_extras():
    text = (ROOT / "pyproject.toml").read_text()
    (everything,) = re.findall(r'^all = \["askew\[([\w,-]+)\]"\]', text, re.MULTILINE)
    for extra in everything.split(","):
        assert re.search(rf"^{extra} = \[", text, re.MULTILINE), extra


def test_security_md_says_whom_to_tell():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for heading in ("## Reporting", "## Who attacks", "## What is promised", "## What is not"):
        assert heading in text


def has(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


ALONE = """
import askew, json, pathlib, sys
assert "site" in askew.__file__ or "lib" in askew.__file__, askew.__file__
from importlib.resources import files
root = pathlib.Path(askew.__file__).parent
print(json.dumps(sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file()
                        and "__pycache__" not in one.parts)))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not (has("build") and has("hatchling")), reason="askew[release] is not installed"
)
def test_two_builds_are_the_same_bytes_and_the_wheel_works_outside_the_repository(tmp_path):
    made = release.reproduced(tmp_path / "work")
    with zipfile.ZipFile(made["wheel"]) as packed:
        names = {one for one in packed.namelist() if ".dist-info/" not in one}
    source = {
        f"askew/{one.relative_to(ROOT / 'src' / 'askew').as_posix()}"
        for one in (ROOT / "src" / "askew").rglob("*")
        if one.is_file() and "__pycache__" not in one.parts and not one.name.startswith(".")
    }
    assert names == source
    with tarfile.open(made["sdist"]) as packed_source:
        inside = {one.name.partition("/")[2] for one in packed_source}
    assert {"SECURITY.md", "CHANGELOG.md", "LICENSE", "README.md", "constraints.txt"} <= inside
    assert not any("__pycache__" in one or one.startswith(("tests", ".")) for one in inside)

    alone = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(alone)], check=True)
    (site,) = alone.glob("lib/python*/site-packages")
    with zipfile.ZipFile(made["wheel"]) as packed:
        packed.extractall(site)
    # Its dependencies are those of this Python, but not this project's own sources.
    depends = Path(next(one for one in sys.path if one.endswith("site-packages")))
    for one in depends.iterdir():
        if "askew" not in one.name and not (site / one.name).exists() and one.suffix != ".pth":
            (site / one.name).symlink_to(one)
    python = next(one for one in (alone / "bin").glob("python3*"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def ran(*arguments: str) -> str:
        command = [str(python), *arguments]
        done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    there = {f"askew/{one}" for one in json.loads(ran("-c", ALONE))}
    assert there == source
    (elsewhere / "toy.py").write_text("def ask(prompt):\n    return '(A)'\n")
    cli = "import sys; from askew.cli import main; sys.exit(main())"
    ran("-c", cli, "data", "list")
    ran("-c", cli, "init", "a.toml")
    target = ("--model", "python/toy:ask", "--prompt", "flex", "--scoring", "reply")
    ran("-c", cli, "run", *target, "--items", "2", "--out", "run", "--yes")
    assert (elsewhere / "run" / "report.html").stat().st_size > 50_000
    shutil.rmtree(alone)


@pytest.mark.parametrize(
    ("dependencies", "status", "said"),
    [
        ([], 3, "NOTHING WAS AUDITED"),
        ([{"name": "a", "skip_reason": "not found"}], 3, "NOTHING WAS AUDITED: none of 1"),
        (
            [
                {"name": "a", "version": "1", "vulns": []},
                {"name": "b", "skip_reason": "not found"},
            ],
            3,
            "NOT AUDITED: 1 of 2 packages: b",
        ),
        ([{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}], 1, "a 1: PYSEC-1"),
        ([{"name": "a", "version": "1", "vulns": []}], 0, "audited: 1 packages, 0 with"),
    ],
)
def test_an_audit_that_looked_nothing_up_is_no_clean_bill(dependencies, status, said):
    ended, lines = audit.verdict({"dependencies": dependencies})
    assert ended == status
    assert said in "\n".join(lines)
