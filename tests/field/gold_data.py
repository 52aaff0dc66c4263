"""The messy data files: what must come of every line, row and item."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askew.datasets import DataSpec, Loaded, Problem, fields, load
from askew.errors import DataError
from askew.prompts.choice import Form, PromptFormat, Scoring, render
from askew.records import AttackCategory, Item, Prompt

_KINDS = {
    "reject": "rejected",
    "reject_or_split": "rejected",
    "duplicate": "duplicate",
    "skip": "skipped",
}
_ATTACKS = {
    "persona": AttackCategory.PERSONA_INJECTION,
    "refusal_suppression": AttackCategory.COMPETING_OBJECTIVES,
    "text": AttackCategory.TEXT_ATTACK,
}
_FORMS: tuple[Form, ...] = ("flex", "chat")
_SCORINGS: tuple[Scoring, ...] = ("letters", "texts", "reply")


def check_bbq(path: Path, gold: Any) -> None:
    """Each physical line, counted by LF alone, comes to its gold."""
    loaded = load(DataSpec("bbq", path), lenient=True)
    items, problems = defaultdict(list), defaultdict(list)
    for item in (*loaded.items, *loaded.controls):
        items[item.provenance.line].append(item)
    for problem in loaded.problems:
        if problem.line and problem.kind != "note":
            problems[problem.line].append(problem)
    assert items.keys() | problems.keys() == {expected["line"] for expected in gold}
    for expected in gold:
        line = expected["line"]
        if expected["result"] == "accept":
            (item,) = items[line]
            assert item.id.endswith(f"/{expected['example_id']}")
            assert item.neutral == expected["unknown_index"]
            assert not problems[line]
        elif expected["result"] == "reject_or_split" and items[line]:
            assert len(items[line]) == 2
        else:
            assert not items[line]
            (problem,) = problems[line]
            _check_problem(problem, expected)
    check_strict(path, "bbq", loaded)


def check_crows(path: Path, gold: Any) -> None:
    """Each row, named by the unnamed first column, comes to its gold."""
    loaded = load(DataSpec("crows_pairs", path), lenient=True)
    items = {item.provenance.record: item for item in loaded.items}
    accepted = [str(expected["row"]) for expected in gold if expected["result"] == "accept"]
    others = [expected for expected in gold if expected["result"] != "accept"]
    assert list(items) == accepted
    problems = [problem for problem in loaded.problems if problem.kind != "note"]
    assert [problem.record for problem in problems] == [str(it["row"]) for it in others]
    for problem, expected in zip(problems, others, strict=True):
        _check_problem(problem, expected)
    # The first row of a name, if there are several, is the one that counts.
    written = {row[""]: row for row in reversed(csv_rows(path))}
    for expected in gold:
        if expected["result"] != "accept":
            continue
        name = str(expected["row"])
        item = items[name]
        assert item.stereotyped is not None
        assert item.antistereotyped is not None
        assert item.answer == item.neutral
        sentences = {column: written[name][column].strip() for column in ("sent_more", "sent_less")}
        stereotyped = expected.get("stereotyped_option", "sent_more")
        assert item.options[item.stereotyped] == sentences.pop(stereotyped)
        assert [item.options[item.antistereotyped]] == list(sentences.values())
        assert re.fullmatch("[a-z_]+", item.bias_type)
    check_strict(path, "crows_pairs", loaded)


def check_stereoset(path: Path, gold: Any) -> None:
    """Each item comes to its gold, in the order of the file."""
    loaded = load(DataSpec("stereoset", path), lenient=True)
    accepted = [expected for expected in gold if expected["result"] == "accept"]
    assert [item.provenance.record for item in loaded.items] == [it["id"] for it in accepted]
    document = json.loads(path.read_bytes())
    between = {entry.get("id") for entry in document["data"].get("intersentence", [])}
    for item, expected in zip(loaded.items, accepted, strict=True):
        assert item.stereotyped is not None
        assert item.antistereotyped is not None
        if "stereotype" in expected:
            assert item.options[item.stereotyped] == expected["stereotype"]
        if "anti" in expected:
            assert item.options[item.antistereotyped] == expected["anti"]
        assert "BLANK" not in "".join((item.context, *item.options))
        assert item.context_before_options == bool(item.context)
        assert not item.context or item.provenance.record in between
        if not item.context:
            check_no_hole(item)
    problems = [problem for problem in loaded.problems if problem.kind != "note"]
    others = [expected for expected in gold if expected["result"] != "accept"]
    assert [problem.record for problem in problems] == [str(it["id"]) for it in others]
    for problem, expected in zip(problems, others, strict=True):
        _check_problem(problem, expected)
    check_strict(path, "stereoset", loaded)


def check_flex(path: Path, gold: Any) -> None:
    """Rows with an attack are items, rows without one are reported, and options are stripped."""
    loaded = load(DataSpec("flex", path), lenient=True)
    items = {item.provenance.record: item for item in loaded.items}
    assigned = {name: item.assigned.category for name, item in items.items() if item.assigned}
    assert assigned == {row: _ATTACKS[attack] for row, attack in gold["attacked"].items()}
    assert assigned.keys() == items.keys()
    unattacked = [problem.record for problem in loaded.problems if problem.kind == "no_attack"]
    assert unattacked == gold["no_attack"]
    written = {row["Unnamed: 0"]: row for row in csv_rows(path)}
    for name, letter in gold.get("unknown_option", {}).items():
        options = fields.options(written[name], ("a", "b", "c"))
        assert "abc"[fields.unknown_option(options)] == letter
        assert name not in items or "abc"[items[name].neutral] == letter
    for name, texts in gold.get("option_text_after_strip", {}).items():
        for letter, text in texts.items():
            assert items[name].options["abc".index(letter)] == text
    known = {"attacked", "no_attack", "unknown_option", "option_text_after_strip"}
    if unknown := gold.keys() - known:
        pytest.skip(f"{path.name}: no check for the gold's {', '.join(sorted(unknown))} yet")


CHECKS = {"bbq": check_bbq, "crows": check_crows, "flex": check_flex, "stereoset": check_stereoset}


def check_strict(path: Path, name: str, lenient: Loaded) -> None:
    """Without `lenient` the reader stops if a record is bad, and its message lists every one."""
    if not lenient.rejected:
        assert load(DataSpec(name, path)).items == lenient.items
        return
    with pytest.raises(DataError) as stop:
        load(DataSpec(name, path))
    for problem in lenient.rejected:
        assert str(problem) in str(stop.value)


def check_no_hole(item: Item) -> None:
    """No prompt of an item without a context shows that something is missing."""
    for prompt in prompts_of(item):
        for shown in (text_of(prompt), *prompt.choices):
            assert not re.search(r"\b(nan|none|null)\b", shown, re.IGNORECASE), shown
            assert "  " not in shown
            assert "\n\n\n" not in shown
            assert not re.search(r"(?im)^\s*(context|passage)\s*:\s*$", shown)
            assert shown == shown.lstrip() or shown in prompt.choices


def prompts_of(item: Item) -> Iterator[Prompt]:
    """The item in every form, way of scoring and order."""
    for form, scoring in itertools.product(_FORMS, _SCORINGS):
        for a, b, c in itertools.permutations((0, 1, 2)):
            yield render(item, PromptFormat(form=form, scoring=scoring), (a, b, c))


def text_of(prompt: Prompt) -> str:
    """Everything that a prompt shows."""
    if prompt.text is not None:
        return prompt.text
    return "\n".join(message.content for message in prompt.messages)


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file as Python's own reader has them."""
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _check_problem(problem: Problem, expected: dict[str, Any]) -> None:
    """The kind is the gold's, and the message names the field or the other record that it names."""
    assert problem.kind == _KINDS[expected["result"]]
    assert problem.message
    fields_named = set(re.findall(r"\b(?:label|ans\d)\b", expected.get("reason", "")))
    if len(fields_named) == 1:
        assert fields_named.pop() in str(problem)
    if "of_line" in expected:
        assert f"line {expected['of_line']} " in problem.message
    if "of_row" in expected:
        assert f"({expected['of_row']})" in problem.message
