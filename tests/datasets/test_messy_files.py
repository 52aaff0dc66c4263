"""Files with the troubles of the field, each with its gold: what must come of every record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askew.datasets import DataSpec, load
from askew.datasets.phrases import is_unknown_phrase


def messy(cases_folder: Path, form: str) -> list[tuple[Path, object]]:
    pairs = []
    for gold in sorted((cases_folder / "inputs").glob(f"{form}_messy*.gold.json")):
        stem = gold.name.removesuffix(".gold.json")
        (path,) = (p for p in gold.parent.glob(f"{stem}.*") if p != gold)
        pairs.append((path, json.loads(gold.read_text(encoding="utf-8"))))
    if not pairs:
        pytest.skip(f"ASKEW_CASES holds no {form}_messy file")
    return pairs


def test_messy_bbq_lines(cases_folder):
    for path, gold in messy(cases_folder, "bbq"):
        loaded = load(DataSpec("bbq", path), lenient=True)
        by_line = {item.provenance.line: item for item in (*loaded.items, *loaded.controls)}
        kinds = {problem.line: problem for problem in loaded.problems if problem.line}
        assert by_line.keys() | kinds.keys() == {expected["line"] for expected in gold}
        for expected in gold:
            line, result = expected["line"], expected["result"]
            if result == "accept":
                item = by_line[line]
                assert item.id.endswith(f"/{expected['example_id']}")
                assert item.neutral == expected["unknown_index"]
                assert line not in kinds
            else:
                assert line not in by_line
                kind = {"skip": "skipped", "duplicate": "duplicate"}.get(result, "rejected")
                assert kinds[line].kind == kind
                if "of_line" in expected:
                    assert f"line {expected['of_line']} " in kinds[line].message


def test_messy_crows_pairs_rows(cases_folder):
    for path, gold in messy(cases_folder, "crows"):
        loaded = load(DataSpec("crows_pairs", path), lenient=True)
        items = {item.provenance.record: item for item in loaded.items}
        kinds = {problem.record: problem for problem in loaded.problems}
        for expected in gold:
            row = str(expected["row"])
            if expected["result"] == "accept":
                assert items[row].stereotyped is not None
                assert items[row].answer == items[row].neutral
                assert all(option == option.strip() for option in items[row].options)
            else:
                assert row not in items
                kind = "duplicate" if expected["result"] == "duplicate" else "rejected"
                assert kinds[row].kind == kind
        assert len(items) == sum(expected["result"] == "accept" for expected in gold)


def test_messy_stereoset_items(cases_folder):
    for path, gold in messy(cases_folder, "stereoset"):
        loaded = load(DataSpec("stereoset", path), lenient=True)
        items = {item.provenance.record: item for item in loaded.items}
        accepted = [expected for expected in gold if expected["result"] == "accept"]
        assert [item.provenance.record for item in loaded.items] == [e["id"] for e in accepted]
        for expected in accepted:
            item = items[expected["id"]]
            if "stereotype" in expected:
                assert item.options[item.stereotyped] == expected["stereotype"]
                assert item.options[item.antistereotyped] == expected["anti"]
            assert item.context.strip().casefold() not in ("nan", "none", "null")
            assert item.context_before_options == bool(item.context)
            assert "BLANK" not in "".join(item.options)
        kinds = [(problem.record, problem.kind) for problem in loaded.problems]
        names = {"reject": "rejected", "duplicate": "duplicate"}
        assert kinds == [(e["id"], names[e["result"]]) for e in gold if e["result"] != "accept"]


def test_messy_flex_rows(cases_folder):
    for path, gold in messy(cases_folder, "flex"):
        loaded = load(DataSpec("flex", path))
        categories = {
            "persona": "persona_injection",
            "refusal_suppression": "competing_objectives",
            "text": "text_attack",
        }
        found = {item.provenance.record: item for item in loaded.items}
        assert {row: item.assigned.category for row, item in found.items()} == {
            row: categories[attack] for row, attack in gold["attacked"].items()
        }
        unattacked = [p.record for p in loaded.problems if p.kind == "no_attack"]
        assert unattacked == gold["no_attack"]
        for row, letter in gold["unknown_option"].items():
            if row in found:
                assert "abc"[found[row].neutral] == letter
                assert is_unknown_phrase(found[row].options[found[row].neutral])
        for row, texts in gold["option_text_after_strip"].items():
            for letter, text in texts.items():
                assert found[row].options["abc".index(letter)] == text
