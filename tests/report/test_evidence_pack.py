from __future__ import annotations

import hashlib
import json
import os
import shutil
import tomllib
from dataclasses import fields, replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import TypeAdapter

from askew.errors import RunError
from askew.report.filed.files import write_pack
from askew.report.filed.kinds import KINDS
from askew.report.filed.limits import limits, not_this
from askew.report.filed.pack import evidence_of
from askew.report.filed.records import (
    MEASURED,
    NOT_ADDRESSED,
    NOT_MEASURED,
    SPOKEN_TO,
    Claim,
    EvidencePack,
)
from askew.report.filed.requirements import FRAMEWORKS, RECORDS, framework_data, frameworks
from askew.report.filed.text import to_html, to_markdown
from askew.report.frame import estimate_at
from askew.report.scripts import policy
from askew.runfolder import RunFolder, json_text
from tests.report.filed import AUDITS, HOSTILE, UNFIT, filed_run, two_audits

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, RunFolder]:
    above = tmp_path_factory.mktemp("filed")
    return {audit: filed_run(above / audit, audit) for audit in AUDITS}


@pytest.fixture(scope="module")
def packs(runs) -> dict[str, EvidencePack]:
    return {audit: evidence_of(folder) for audit, folder in runs.items()}


def at(tree: Any, keys: list[str]) -> Any:
    for key in keys:
        tree = tree[key]
    return tree


# What is claimed


@pytest.mark.parametrize("audit", AUDITS)
def test_every_claim_is_the_figure_at_its_path(runs, packs, audit):
    estimates = runs[audit].read_estimates()
    pack = packs[audit]
    assert any(claim.standing == MEASURED for claim in pack.claims)
    for claim in pack.claims:
        if claim.kind == "clinical.effect" and claim.keys[-1] != "estimate":
            continue  # nothing was declared
        there = at(estimates, claim.keys)
        found = estimate_at(estimates, claim.path)
        assert found is not None, claim.path
        assert claim.figure.n == (there["n"] or 0)
        assert claim.figure.method == there["method"]
        for name in ("value", "lower", "upper"):
            number = getattr(claim.figure, name)
            assert number == there[name] if claim.standing == MEASURED else number is None


def test_claims_of_a_run_have_ids_of_their_own(packs):
    for pack in packs.values():
        ids = [claim.id for claim in pack.claims]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("audit", AUDITS)
def test_a_run_that_is_not_fit_claims_only_that_it_could_not_be_measured(tmp_path, audit):
    pack = evidence_of(filed_run(tmp_path / "run", audit, UNFIT[audit]))
    assert pack.claims
    assert {claim.standing for claim in pack.claims} == {NOT_MEASURED}
    for claim in pack.claims:
        assert "could not be measured" in claim.statement
        assert claim.why
        assert claim.tests == {}
        figure = claim.figure
        assert (figure.value, figure.lower, figure.upper) == (None, None, None)
    assert pack.headline.startswith("NOT FIT TO BE MEASURED")
    assert [part.fit for part in pack.audits] == [False]
    every = [one for part in pack.frameworks for one in part.requirements]
    assert {one.status for one in every} == {NOT_ADDRESSED}
    assert not any(one.supports or one.claims for one in every)


def test_an_audit_that_is_not_fit_leaves_the_claims_of_the_other_alone(tmp_path):
    pack = evidence_of(two_audits(tmp_path / "run", UNFIT["flex"]))
    standing = {(claim.audit, claim.standing) for claim in pack.claims}
    assert ("flex", MEASURED) not in standing
    assert ("boundary", MEASURED) in standing
    assert [part.audit for part in pack.audits] == ["flex", "boundary"]


def test_an_undefined_figure_is_null_in_the_file_and_never_0(tmp_path):
    def undefine(estimates: dict[str, Any]) -> None:
        figure = estimates["flex"]["attack_success_rate"]["overall"]
        figure |= {"value": None, "lower": None, "upper": None, "n": 0, "note": "none was neutral"}

    folder = filed_run(tmp_path / "run", "flex", undefine)
    write_pack(folder, tmp_path / "out")
    made = json.loads((tmp_path / "out/evidence.json").read_text(encoding="utf-8"))
    claim = next(one for one in made["claims"] if one["kind"] == "flex.attack_success_rate")
    assert claim["standing"] == NOT_MEASURED
    assert claim["figure"]["value"] is None
    assert "none was neutral" in claim["statement"]
    assert claim["statement"] in made["not_told"]
    line = next(
        one
        for one in (tmp_path / "out/evidence.md").read_text(encoding="utf-8").splitlines()
        if "`flex.attack_success_rate.overall`" in one and one.startswith("|")
    )
    assert "0 %" not in line


def test_a_file_of_another_version_lacks_figures_and_says_so(tmp_path):
    def forget(estimates: dict[str, Any]) -> None:
        estimates["flex"] = {"fit": estimates["flex"]["fit"]}

    pack = evidence_of(filed_run(tmp_path / "run", "flex", forget))
    told = {claim.kind: claim for claim in pack.claims}
    assert "not measured in this run" in told["flex.source_accuracy"].why
    assert told["flex.fit"].standing == MEASURED


def test_cannot_tell_is_told_among_what_could_not_be_told(packs):
    open_ = [one for one in packs["clinical"].claims if one.tests.get("verdict") == "cannot tell"]
    assert open_, "the made-up run has comparisons that cannot be told"
    for claim in open_:
        assert claim.statement in packs["clinical"].not_told
        assert "cannot be told" in claim.statement or claim.standing == NOT_MEASURED


# What is missing


def stopped(estimates: dict[str, Any]) -> None:
    estimates["calls"] |= {"stopped": "budget", "message": "The budget is spent."}


def pairs_missing(estimates: dict[str, Any]) -> None:
    estimates["flex"]["missing_pairs"] = 7


@pytest.mark.parametrize(
    ("audit", "change", "ended", "said"),
    [
        ("flex", pairs_missing, True, "7 of 127 planned pairs lack a reply"),
        ("flex", stopped, True, "The budget is spent"),
        ("clinical", stopped, True, "The budget is spent"),
        ("boundary", stopped, True, "The budget is spent"),
        ("boundary", lambda estimates: None, False, "the run has not ended"),
    ],
)
def test_an_incomplete_run_says_so_on_the_first_line(tmp_path, audit, change, ended, said):
    pack = evidence_of(filed_run(tmp_path / "run", audit, change, ended=ended))
    assert not pack.complete
    first = to_markdown(pack).splitlines()[0]
    assert first.startswith("# INCOMPLETE RUN: ")
    assert said.split(" of ")[0] in first
    assert "INCOMPLETE RUN" in to_html(pack).partition("<h1")[2].partition("</h1>")[0]


def test_an_audit_of_the_run_file_without_figures_is_missing(tmp_path):
    def drop(estimates: dict[str, Any]) -> None:
        del estimates["boundary"]

    pack = evidence_of(two_audits(tmp_path / "run", drop))
    assert "the boundary audit has no figures" in pack.headline


def test_a_whole_run_is_complete(packs):
    for pack in packs.values():
        assert pack.complete, pack.incomplete
        assert pack.altered == []
        assert pack.headline.startswith("Evidence pack of ")


def test_a_file_that_was_changed_after_the_run_is_named_first(tmp_path):
    folder = filed_run(tmp_path / "run", "flex")
    folder.estimates.write_text(folder.estimates.read_text("utf-8") + " ", encoding="utf-8")
    pack = evidence_of(folder)
    assert pack.headline.startswith("ALTERED since the run ended: estimates.json")


# What was measured


def test_what_was_measured_comes_from_the_run_file_and_the_ledger(tmp_path):
    folder = filed_run(tmp_path / "run", "flex", ended=False)
    folder.settings.write_text(
        'seed = 1\n[models.target]\nname = "local/x"\n[flex]\n[record]\naskew = "0.1.0"\n'
        '[record.packages]\nnumpy = "2"\n[record.data]\n"age.jsonl" = "ab12"\n'
        '[record.model]\nweights_sha256 = "cd34"\nday = 2026-11-30\n'
        '[record.models.judge]\nprovider = "openai"\nbase_url = "http://h/v1"\n',
        encoding="utf-8",
    )
    folder.write_manifest()
    origin = evidence_of(folder).provenance
    assert origin.models["target"]["weights_sha256"] == "cd34"
    assert origin.models["target"]["day"] == "2026-11-30"
    assert origin.models["judge"] == {"provider": "openai", "base_url": "http://h/v1"}
    assert origin.data == {"age.jsonl": "ab12"}
    assert origin.versions == {"askew": "0.1.0", "numpy": "2"}
    assert origin.first_call is not None
    assert origin.first_call <= (origin.last_call or "")
    assert origin.unknown == []


def test_what_a_run_did_not_record_is_said_to_be_unknown(packs):
    assert any("checksums of the data" in one for one in packs["boundary"].provenance.unknown)
    assert packs["boundary"].provenance.first_call is None  # its ledger is empty


def test_reading_a_run_leaves_no_file_beside_it(runs):
    before = sorted(file.name for file in runs["flex"].path.iterdir())
    evidence_of(runs["flex"])
    assert sorted(file.name for file in runs["flex"].path.iterdir()) == before


# Who asks for what


ENTRIES = [(name, entry) for name in FRAMEWORKS for entry in framework_data(name)["requirement"]]


@pytest.mark.parametrize(("name", "entry"), ENTRIES, ids=[entry["id"] for _, entry in ENTRIES])
def test_every_requirement_has_a_source_and_claims_that_exist(name, entry):
    assert entry["source"].startswith("https://")
    assert entry["id"].startswith(f"{name}.")
    assert set(entry["claims"]) <= set(KINDS)
    assert set(entry["records"]) <= set(RECORDS)
    for key in ("place", "title", "asks", "supports", "not"):
        assert entry[key].strip(), key
    assert set(entry) == {
        *("id", "place", "title", "asks", "claims", "records", "supports", "not", "source")
    }


def test_every_framework_names_the_text_that_was_used_and_how_it_was_checked():
    for name in FRAMEWORKS:
        data = framework_data(name)
        for key in ("id", "name", "text", "source", "read", "checked"):
            assert data[key].strip(), (name, key)
        assert data["id"] == name
    shipped = {
        one.name.removesuffix(".toml")
        for one in files("askew.report.filed").joinpath("frameworks").iterdir()
        if one.name.endswith(".toml")
    }
    assert shipped == set(FRAMEWORKS)


def test_requirements_have_ids_of_their_own_and_every_kind_of_claim_is_asked_for():
    ids = [entry["id"] for _, entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert {kind for _, entry in ENTRIES for kind in entry["claims"]} == set(KINDS)


def test_the_requirements_that_were_promised_are_there():
    places = {(name, entry["place"]) for name, entry in ENTRIES}
    for article in ("Article 9", "Article 10", "Article 15", "Annex IV, point 2"):
        assert ("eu_ai_act", article) in places
    assert ("eu_ai_act", "Annex IV, point 3") in places
    assert ("nist_ai_rmf", "MEASURE 2.11") in places
    assert ("nist_ai_600_1", "Harmful Bias and Homogenization") in places
    assert ("iso_42001", "A.6.2.4") in places


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_requirement_is_spoken_to_just_if_a_measured_claim_is_of_one_of_its_kinds(data, packs):
    told = [claim for pack in packs.values() for claim in pack.claims]
    every = [*told, *(replace(claim, standing=NOT_MEASURED) for claim in told)]
    chosen: list[Claim] = data.draw(st.lists(st.sampled_from(every), unique_by=id))
    measured = {claim.kind for claim in chosen if claim.standing == MEASURED}
    wanted = {entry["id"]: set(entry["claims"]) for _, entry in ENTRIES}
    for one in (one for framework in frameworks(chosen) for one in framework.requirements):
        speaks = bool(wanted[one.id] & measured)
        assert one.status == (SPOKEN_TO if speaks else NOT_ADDRESSED)
        assert bool(one.supports) == speaks
        assert one.does_not


@pytest.mark.parametrize("audit", AUDITS)
def test_no_run_addresses_selection_rates(packs, audit):
    text = to_markdown(packs[audit])
    local_law = next(one for one in packs[audit].frameworks if one.id == "nyc_ll144")
    assert [one.status for one in local_law.requirements] == [NOT_ADDRESSED]
    assert "selection rates or impact ratios" in text
    assert "no clinical validation" in text
    assert "no proof that a model is free of bias" in text
    assert "no legal advice" in text


@pytest.mark.parametrize("audit", AUDITS)
def test_every_claim_has_limits_of_its_paper_and_of_askew(packs, audit):
    known = {one.id: one for one in packs[audit].limits}
    for claim in packs[audit].claims:
        said = {known[limit].stated_by for limit in claim.limits}
        assert "askew" in said
        assert said - {"askew"}


def test_the_page_on_limits_has_every_one_of_them():
    page = (DOCS / "limits.md").read_text(encoding="utf-8")
    for one in limits():
        assert f"`{one.id}`" in page, one.id
    assert len(not_this()) == 5


def test_a_run_of_several_audits_claims_its_data_by_audit(runs, tmp_path):
    """Two audits may each have a file of one name; each keeps its checksum."""
    folder = RunFolder(shutil.copytree(runs["flex"].path, tmp_path / "run"))
    folder.settings.write_text(
        "[flex]\n"
        '[record.audits.flex.data]\n"a.jsonl" = "ab12"\n'
        '[record.audits.clinical.data]\n"a.jsonl" = "cd34"\n',
        encoding="utf-8",
    )
    origin = evidence_of(folder).provenance
    assert origin.data == {"flex: a.jsonl": "ab12", "clinical: a.jsonl": "cd34"}
    assert "checksums of the data" not in origin.unknown


# The files


def test_the_file_is_what_the_records_say_and_the_documented_keys_are_its_own(runs, tmp_path):
    for audit in AUDITS:
        pack = write_pack(runs[audit], tmp_path / audit)
        text = (tmp_path / audit / "evidence.json").read_text(encoding="utf-8")
        read = TypeAdapter(EvidencePack).validate_json(text, strict=True)
        assert json_text(read) == text == json_text(pack)
    page = (DOCS / "evidence.md").read_text(encoding="utf-8")
    for field in fields(EvidencePack):
        assert f"| `{field.name}` |" in page, field.name
    for field in fields(Claim):
        assert f"| `claims[].{field.name}` |" in page, field.name


@pytest.mark.parametrize("with_calls", [False, True])
def test_the_bundle_holds_the_run_byte_by_byte_under_hashes_that_fit(runs, tmp_path, with_calls):
    folder, out = runs["flex"], tmp_path / "out"
    pack = write_pack(folder, out, with_calls=with_calls)
    names = {"run.toml", "estimates.json", "MANIFEST"}
    assert {one.path for one in pack.files} == {
        f"run/{name}" for name in (names | {"run.sqlite", "report.html"} if with_calls else names)
    }
    for one in pack.files:
        copied = (out / one.path).read_bytes()
        assert copied == (folder.path / one.path.removeprefix("run/")).read_bytes()
        assert hashlib.sha256(copied).hexdigest() == one.sha256
        assert len(copied) == one.bytes
    sums = dict(
        reversed(line.split("  ", 1))
        for line in (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    every = {
        file.relative_to(out).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in out.rglob("*")
        if file.is_file() and file.name != "SHA256SUMS"
    }
    assert sums == every


def test_prompts_and_replies_are_in_the_pack_only_where_they_were_asked_for(runs, tmp_path):
    pack = write_pack(runs["flex"], tmp_path / "out")
    for file in (tmp_path / "out").rglob("*"):
        assert file.is_dir() or b"SECRET REPLY" not in file.read_bytes(), file
    # The report holds them in a compressed island, where nobody would see them by looking.
    assert "run/report.html" not in {one.path for one in pack.files}
    shown = write_pack(runs["flex"], tmp_path / "shown", with_report=True)
    assert "run/report.html" in {one.path for one in shown.files}
    bare = write_pack(runs["flex"], tmp_path / "bare", with_calls=True, with_report=False)
    assert "run/report.html" not in {one.path for one in bare.files}
    write_pack(runs["flex"], tmp_path / "all", with_calls=True)
    assert b"SECRET REPLY" in (tmp_path / "all/run/run.sqlite").read_bytes()
    assert "patients" in (tmp_path / "all/evidence.md").read_text(encoding="utf-8")


def test_a_bundled_ledger_can_be_read_though_the_run_still_waits_beside_it(tmp_path):
    folder = filed_run(tmp_path / "run", "flex", ended=False)
    import sqlite3

    with sqlite3.connect(folder.database) as waiting:
        waiting.execute("PRAGMA journal_mode=WAL")
        waiting.execute("PRAGMA wal_autocheckpoint=0")
        waiting.execute("INSERT INTO parts VALUES ('late', 0, '\"late\"')")
        waiting.commit()
        write_pack(folder, tmp_path / "out", with_calls=True)
    with sqlite3.connect(tmp_path / "out/run/run.sqlite") as copied:
        assert copied.execute("SELECT record FROM parts WHERE kind = 'late'").fetchall()
    waiting.close()
    copied.close()


def test_the_same_run_gives_the_same_bytes_wherever_and_whenever_it_lies(runs, tmp_path):
    folder = runs["boundary"]
    write_pack(folder, tmp_path / "one.zip")
    other = tmp_path / "elsewhere" / folder.path.name
    shutil.copytree(folder.path, other)
    for file in other.iterdir():
        os.utime(file, (1, 1))
        file.chmod(0o600)
    write_pack(RunFolder.open(other), tmp_path / "two.ZIP")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.ZIP").read_bytes()
    write_pack(folder, tmp_path / "folder")
    with ZipFile(tmp_path / "one.zip") as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / "folder" / name).read_bytes()


def test_a_place_that_is_taken_is_refused_and_left_alone(runs, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there/mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match="not empty"):
        write_pack(runs["flex"], tmp_path / "there")
    with pytest.raises(RunError, match="not empty"):
        write_pack(runs["flex"], runs["flex"].path)
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError):
        write_pack(runs["flex"], tmp_path / "file" / "out")
    assert [one.name for one in (tmp_path / "there").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    write_pack(runs["flex"], tmp_path / "empty")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["empty", "file", "there"]


def test_a_run_without_figures_says_what_to_do(tmp_path):
    folder = filed_run(tmp_path / "run", "flex", ended=False)
    folder.estimates.unlink()
    with pytest.raises(RunError, match="askew score"):
        write_pack(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# What others wrote


class Elements(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.policies: list[str | None] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policies.append(dict(attrs)["content"])


def hostile(estimates: dict[str, Any]) -> None:
    estimates["model"] = HOSTILE
    estimates["askew"] = HOSTILE
    for name in ("attack_success_rate", "test"):
        part = estimates["flex"][name]["bias_type"]
        part[HOSTILE] = part.pop("age")
    estimates["flex"]["settings"][HOSTILE] = HOSTILE
    estimates["flex"]["fit"]["caution"] = HOSTILE
    estimates["calls"] |= {"stopped": HOSTILE, "message": HOSTILE}


def test_whatever_others_wrote_is_inert_in_every_form(tmp_path):
    plain = filed_run(tmp_path / "plain", "flex")
    folder = filed_run(tmp_path / "<b>`run` & [x](y)", "flex", hostile)
    escaped = json.dumps("".join(one for one in HOSTILE if one.isprintable()))
    folder.settings.write_text(
        f"[flex]\n[record]\npackages = {{ {escaped} = {escaped} }}\n"
        f"[record.data]\n{escaped} = {escaped}\n[record.model]\n{escaped} = {escaped}\n",
        encoding="utf-8",
    )
    folder.write_manifest()
    write_pack(folder, tmp_path / "out")
    usual, found = Elements(), Elements()
    usual.feed(to_html(evidence_of(plain)))
    page = (tmp_path / "out/evidence.html").read_text(encoding="utf-8")
    found.feed(page)
    assert found.tags <= usual.tags
    assert found.attributes <= usual.attributes
    assert "script" not in found.tags
    assert found.policies == [policy(None)]
    assert "default-src 'none'" in policy(None)
    assert "script-src" not in policy(None)
    markdown = (tmp_path / "out/evidence.md").read_text(encoding="utf-8")
    for text in (page, markdown):
        assert not any(sign in text for sign in "\x00\x1b\u202e")
    parser = MarkdownIt("commonmark").enable(["table"])
    tokens = [
        child for token in parser.parse(markdown) for child in (token, *(token.children or ()))
    ]
    assert not [one for one in tokens if one.type in ("html_inline", "html_block", "image")]
    targets = {one.attrs["href"] for one in tokens if one.type == "link_open"}
    assert targets <= {framework_data(name)["source"] for name in FRAMEWORKS}
    assert sum(one.type == "heading_open" for one in tokens) == sum(
        one.type == "heading_open" for one in parser.parse(to_markdown(evidence_of(plain)))
    )
    made = json.loads((tmp_path / "out/evidence.json").read_text(encoding="utf-8"))
    assert TypeAdapter(EvidencePack).validate_python(made)


def test_the_data_files_of_the_pack_hold_no_number_that_json_lacks(runs, tmp_path):
    write_pack(runs["clinical"], tmp_path / "out")
    text = (tmp_path / "out/evidence.json").read_text(encoding="utf-8")

    def refuse(name: str) -> float:
        raise AssertionError(name)

    json.loads(text, parse_constant=refuse)


def test_the_shipped_texts_are_toml_with_nothing_unread():
    text = files("askew.report.filed").joinpath("limits.toml").read_text(encoding="utf-8")
    assert set(tomllib.loads(text)) == {"limit", "not", "method"}
