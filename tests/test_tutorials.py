"""The tutorials, done as a reader does them: each in an empty folder, block after block.

A block of Python or TOML whose first line is `# NAME` is saved under that name; a block of `sh` is
run. It has to end well, unless its last line says otherwise: `# exits with 4`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parent.parent / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w.-]+\.\w+)\n")
EXIT = re.compile(r"# exits with (\d+)\s*\Z")
# What a tutorial needs beside the core, as its first paragraph says.
NEEDS = {
    "your-own-vignettes": ("spacy",),
    "black-box-in-a-budget": ("numba", "torch"),
}


def blocks(tutorial: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page, as language and text."""
    return BLOCK.findall(tutorial.read_text(encoding="utf-8"))


@pytest.mark.parametrize("tutorial", sorted(TUTORIALS.glob("*.md")), ids=lambda path: path.stem)
def test_every_command_of_a_tutorial_ends_as_it_says(tutorial: Path, tmp_path: Path) -> None:
    for module in NEEDS.get(tutorial.stem, ()):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed; the tutorial needs it")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    commands = 0
    for language, text in blocks(tutorial):
        if (named := NAMED.match(text)) is not None:
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
        if language != "sh":
            continue
        commands += 1
        said = EXIT.search(text)
        done = subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        shown = f"{text}\n--- ended with {done.returncode} ---\n{done.stdout}\n{done.stderr}"
        print(shown)
        assert done.returncode == (int(said[1]) if said else 0), shown
    assert commands, "the tutorial has no command"


def test_a_block_that_fails_is_seen() -> None:
    said = EXIT.search("askew gate runs/x --rules gate.toml   # exits with 1\n")
    assert said is not None
    assert said[1] == "1"
    assert EXIT.search("askew gate runs/x   # exits with 1\naskew ls\n") is None
