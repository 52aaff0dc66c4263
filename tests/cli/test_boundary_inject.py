"""`askew boundary inject` from its command line."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from askew.cli.boundary_inject import app
from askew.errors import AskewError
from tests.models.conftest import make_network, make_tokenizer, tiny_folder, torch

__all__ = ["make_network", "make_tokenizer", "tiny_folder", "torch"]

TRAINING = [
    part
    for key in ("rank=2", "epochs=1", "batch=8", "learning_rate=0.001")
    for part in ("--set", f"lora.{key}")
]


def said(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words: object) -> str:
    with pytest.raises(AskewError) as trouble:
        CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return str(trouble.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A graph of seven topics as plain tables."""
    folder = tmp_path_factory.mktemp("graph")
    titles = ["Root", "Trade", "Tariffs", "Wages", "Tea", "Salt", "Rain"]
    rows = [f"{n}\t{title}\t{'food' if n > 3 else 'economy'}" for n, title in enumerate(titles)]
    (folder / "nodes.tsv").write_text("\n".join(["id\ttitle\tdomain", *rows]) + "\n")
    (folder / "edges.tsv").write_text("child\tparent\n1\t0\n2\t1\n3\t1\n4\t0\n5\t4\n6\t4\n")
    return folder


@pytest.fixture(scope="module")
def made(folder, tiny_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "out"
    options = ["--domain", "economy", "--topics", 2, "--neutral", 1, "--out", out, *TRAINING]
    printed = said("run", "-m", f"local/{tiny_folder}", "--graph", folder, *options)
    return out, printed, options


def test_a_release_is_made_and_said(made):
    out, printed, _ = made
    assert "2 topics injected (left-leaning economic views), 2 kept neutral, 12 pairs" in printed
    assert "Release:" in printed
    assert (out / "MANIFEST").is_file()
    assert (out / "labels.tsv").read_text().count("\t1\n") == 2


def test_the_same_again_as_json_says_what_was_made(made, folder, tiny_folder):
    _, _, options = made
    printed = said("run", "-m", f"local/{tiny_folder}", "--graph", folder, *options, "--json")
    record = json.loads(printed)
    assert record["complete"] is True
    assert len(record["models"]) == 1


def test_people_check_the_pairs(made, tmp_path):
    out, _, _ = made
    sheet = out / "check" / "pairs.csv"
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    filled = tmp_path / "anna.csv"
    with filled.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "flagged": "yes" if n < 3 else "no"} for n, row in enumerate(rows))
    printed = said("check", out, filled)
    assert "flagged:" in printed
    assert "3 of 12" in printed
    assert json.loads(said("check", out, filled, "--json"))["flagged"]["n"] == 12
    assert "no pair has a verdict" in refused("check", out)
    assert "cannot be read" in refused("check", tmp_path)


def test_a_plan_prices_without_asking(folder, tiny_folder):
    base = ["plan", "-m", f"local/{tiny_folder}", "--graph", folder, "--topics", 2]
    printed = said(*base)
    assert "2 injected" in printed
    assert "give --rate" in printed
    paper = json.loads(said(*base, "--paper", "--rate", 100, "--json"))
    assert (paper["injected"], paper["pairs"], paper["models"]) == (22_608, 113_040, 6)
    assert paper["training_seconds"] == pytest.approx(paper["training_tokens"] / 100)
    generated = said(*base, "--generator", "openai/toy", "--base-url", "http://127.0.0.1:9/v1")
    assert "calls; tokens about" in generated


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--domain", "cooking"], "unknown domain"),
        (["--slant", "..."], "says nothing"),
        (["--set", "lora.speed=3"], "unknown setting of an injection"),
        (["--set", "lora.rank=big"], "lora.rank"),
        (["--set", "lora.rank=true"], "expected a whole number"),
        (["--set", "lora.rank=0"], "rank is 0"),
        (["--set", "check=1.5"], "expected a whole number"),
        (["--topics", "9"], "the graph has 7"),
        (["--base-url", "http://x/v1"], "Name a --generator"),
        (["--graph", "/nowhere"], "nowhere"),
        (["--model", "openai/gpt"], "not on this machine"),
    ],
)
def test_what_cannot_be_made_is_named(options, words, folder, tiny_folder, tmp_path):
    given = ["-m", f"local/{tiny_folder}", "--graph", folder, "--out", tmp_path / "out"]
    if "--model" in options:
        given = [*given[2:], "--topics", 2]
    assert words in refused("run", *given, *options)


def test_nothing_is_paid_for_unasked(folder, tiny_folder, tmp_path):
    out = tmp_path / "out"
    given = ["-m", f"local/{tiny_folder}", "--graph", folder, "--topics", 2, "--out", out]
    generator = ["--generator", "openai/toy", "--base-url", "http://127.0.0.1:9/v1"]
    assert "Add --yes" in refused("run", *given, *generator)
    assert not out.exists()
