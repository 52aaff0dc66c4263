"""The docs hold together: their links lead somewhere, and the commands they name exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from askew.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
COMMANDS = get_command(app)

FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
SHELL = {"", "sh", "text", "console", "bash"}
INLINE = re.compile(r"`(askew [^`]+)`")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_code(text: str) -> str:
    """The prose of a page; links are not looked for in code."""
    return CODE.sub("", FENCE.sub("", text))


def anchor(heading: str) -> str:
    """The anchor that a code host gives a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    """Those of all headings of a page, repeated ones numbered."""
    found: list[str] = []
    for heading in re.findall(r"^#{1,6} (.+)$", FENCE.sub("", path.read_text()), re.MULTILINE):
        name = anchor(heading)
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return set(found)


def links(text: str) -> list[str]:
    """The relative links of a page's prose."""
    return [
        target
        for target in LINK.findall(without_code(text))
        if not re.match(r"[a-z][a-z0-9+.-]*:", target)
    ]


def broken(page: Path, root: Path = ROOT) -> list[str]:
    """The links of a page that lead nowhere."""
    faults = []
    for target in links(page.read_text(encoding="utf-8")):
        path, _, part = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            faults.append(f"{target}: there is no such file")
        elif not there.is_relative_to(root):
            faults.append(f"{target}: leads out of the repository")
        elif part and part not in anchors(there):
            faults.append(f"{target}: no such heading there")
    return faults


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_heading_that_exist(page: Path) -> None:
    assert not broken(page)


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# The form of `it.json`\n[here](#the-form-of-itjson), `[code](a.md)`, [site](https://d.e),\n"
        "[gone](gone.md), [no heading](page.md#none), [out](..)\n```\n[in code](b.md)\n```\n"
    )
    assert broken(page, tmp_path) == [
        "gone.md: there is no such file",
        "page.md#none: no such heading there",
        "..: leads out of the repository",
    ]
    assert anchor("Paper says / askew does / why") == "paper-says--askew-does--why"


def shell_lines(text: str) -> list[str]:
    """The askew commands of a page, in blocks and in running text, continued lines joined."""
    found = []
    for language, block in BLOCK.findall(text):
        if language not in SHELL:
            continue
        lines = re.sub(r"\\\n\s*", " ", block).splitlines()
        found += [part for line in lines for part in re.split(r"&&|;|\|", line)]
    found += INLINE.findall(FENCE.sub("", text))
    return [line.strip().removeprefix("$ ") for line in found if re.match(r"\s*(\$ )?askew ", line)]


def unknown(line: str) -> str:
    """What of a command line the program does not know; empty where all is known."""
    try:
        words = shlex.split(line, comments=True)[1:]
    except ValueError as fault:
        return f"cannot be read: {fault}"
    command: Any = COMMANDS
    while words and hasattr(command, "commands"):
        word = words[0]
        if word.startswith("-") or word in {"…", "..."} or word.isupper():
            break
        if word not in command.commands:
            return f"no command {word!r}"
        command = command.commands[words.pop(0)]
    known = {"--help", "-h"} | {
        name for param in command.params for name in (*param.opts, *param.secondary_opts)
    }
    for word in words:
        if re.match(r"--?[A-Za-z]", word) and word.partition("=")[0] not in known:
            return f"no option {word!r}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    faults = [f"{line}: {fault}" for line in shell_lines(text) if (fault := unknown(line))]
    assert not faults


def test_a_command_that_does_not_exist_is_seen() -> None:
    assert unknown("askew run --model a/b -o out") == ""
    assert unknown("askew ran --model a/b") == "no command 'ran'"
    assert unknown("askew boundary graph fold x") == "no command 'fold'"
    assert unknown("askew run --modell a/b") == "no option '--modell'"
    assert shell_lines("```\naskew run \\\n    --yes\n```\nand `askew ls`") == [
        "askew run  --yes",
        "askew ls",
    ]


def test_every_command_has_its_place_in_the_reference() -> None:
    named = re.findall(r"```\{askew-commands\} (.*)", "\n".join(page.read_text() for page in PAGES))
    assert sorted(" ".join(named).split()) == sorted(COMMANDS.commands)


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
    reason="the site's tools are not installed: pip install 'askew[docs]'",
)
def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
            *("-d", tmp_path / "trees", DOCS, site),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in PAGES[1:]:
        assert (site / page.relative_to(DOCS).with_suffix(".html")).is_file()
    asset = re.compile(
        r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data|srcset)="
        r"[\"'](?:https?:)?//|<link\b[^>]*\bhref=[\"'](?:https?:)?//"
    )
    for path in site.rglob("*.html"):
        assert not asset.search(path.read_text(encoding="utf-8")), path
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(\s*[\"']?|@import\s+[\"'])(?:https?:)?//", text), path
    commands = (site / "reference" / "commands-ask.html").read_text(encoding="utf-8")
    assert "--budget-calls" in commands
