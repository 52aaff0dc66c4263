"""What a gate writes for pipelines: whatever models, data files and folders are called."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from askew.report.gate import judge_runs
from askew.report.gate.annotations import annotation_lines, command, harmless
from askew.report.gate.caution import Conditions
from askew.report.gate.gated_run import GateRun
from askew.report.gate.junit import junit, junit_of_error
from askew.report.gate.listing import in_words
from askew.report.gate.rule import Outcome, Severity, parse_rule
from askew.report.gate.summary import as_json, escaped, markdown, markdown_of_error
from tests.report.conftest import estimate
from tests.report.gate_runs import flex

HOSTILE = (
    "::error::owned",
    "a\n::set-output name=x::y",
    "a\r::stop-commands::t",
    "a :::: b ##[group]c",
    "<script>alert(1)</script>",
    "](javascript:alert(1)) [x](http://e.com)",
    "| a | b |\n|---|---|",
    "```\n# heading\n- list",
    "![i](http://e.com/i.png) <img src=x onerror=y> &lt;b&gt;",
    "https://e.com www.e.com _a_ **b** ~~c~~ `d` $e$",
    "]]><!-- x --> & < > \" '",
    "\x00\x1b[31m\x07\ufffe\ud800 \u202e\u2066",
    "%0A::error::x",
)
TEXTS = st.one_of(st.text(), st.sampled_from(HOSTILE))


def verdict_of(name: str):
    """A gate over a run of this name, a model of this name and a slice of this name."""

    def change(estimates):
        estimates["model"] = name
        kinds = estimates["flex"]["attack_success_rate"]["bias_type"]
        kinds[name] = {**estimate(0.4, 0.3, 0.5, 50), "note": name}
        kinds["undefined"] = {**estimate(None, None, None, 0), "note": name}

    rules = [
        parse_rule("asr.bias_type.*.upper < 0.2", why=name),
        parse_rule("asr.bias_type.*.upper < 0.1", severity=Severity.WARN),
        parse_rule("asr.upper < 0.3"),
    ]
    return judge_runs([GateRun(name, flex(change))], rules)


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS)
def test_junit_is_xml_and_holds_what_the_gate_found(name):
    verdict = verdict_of(name)
    root = ElementTree.fromstring(junit(verdict).encode("utf-8"))
    cases = list(root.iter("testcase"))
    assert len(cases) == len(verdict.rulings) == int(root.get("tests", ""))
    for case, ruling in zip(cases, verdict.rulings, strict=True):
        found = {child.tag for child in case} - {"system-out"}
        if ruling.outcome is Outcome.PASS:
            assert found == set()
        elif not ruling.counts:
            assert found == {"skipped"}
        else:
            wanted = {Outcome.FAIL: "failure", Outcome.CANNOT_TELL: "error"}[ruling.outcome]
            assert found == {wanted}
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(attribute, "")) == len(list(root.iter(tag)))


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS)
def test_the_xml_of_an_error_is_xml(text):
    root = ElementTree.fromstring(junit_of_error(text).encode("utf-8"))
    assert root.get("errors") == "1"


def runner_commands(output: str) -> list[str]:
    """The lines that GitHub's runner obeys: it trims them, and looks for `##[` anywhere."""
    return [line for line in output.splitlines() if line.strip().startswith("::") or "##[" in line]


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS)
def test_an_annotation_is_one_command_and_no_text_begins_another(name):
    verdict = verdict_of(name)
    lines = list(annotation_lines(verdict))
    assert len(lines) == sum(one.outcome is not Outcome.PASS for one in verdict.rulings)
    for line in lines:
        assert runner_commands(line) == [line]
        level, _, rest = line.removeprefix("::").partition(" title=")
        assert level in ("error", "warning")
        title, _, message = rest.partition("::")
        assert not {":", ","} & set(title)
        assert "::" not in message
        assert message.replace("%25", "").replace("%0A", "").count("%") == 0


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS, TEXTS)
def test_an_annotation_is_read_back_as_it_was_meant(title, text):
    line = command("error", title, text)
    found, _, message = line.removeprefix("::error title=").partition("::")
    for escaped_sign, sign in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%25", "%")):
        found, message = found.replace(escaped_sign, sign), message.replace(escaped_sign, sign)
    assert found == harmless(title)
    assert message.replace("%3A", ":") == message
    assert message == harmless(text)


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS)
def test_no_line_that_is_printed_is_a_command(name):
    verdict = verdict_of(name)
    assert runner_commands("\n".join(in_words(verdict))) == []
    assert runner_commands(as_json(verdict, 1, Conditions())) == []


def tags_of(text: str) -> set[str]:
    page = MarkdownIt("commonmark", {"html": True}).enable("table")
    return {
        token.type.removesuffix("_open").removesuffix("_close")
        for block in page.parse(text)
        for token in (block, *(block.children or ()))
    }


NAMES_OF_TOKENS = {
    *("heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td", "inline", "text"),
    *("text_special", "softbreak", "html_inline"),
}


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS)
def test_the_summary_is_a_table_of_plain_text(name):
    text = markdown(verdict_of(name))
    assert tags_of(text) <= NAMES_OF_TOKENS
    # The only tag is the line break that the summary itself sets.
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    for tag in ("<script", "<img", "<a ", "<b>", "<code", "<em", "<strong"):
        assert tag not in html
    assert "://" not in text  # GitHub makes links of bare addresses
    assert "www." not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(verdict_of(name).rulings)


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS)
def test_escaped_text_is_shown_as_it_is(text):
    page = MarkdownIt("commonmark")
    (shown,) = [token for token in page.parse(f"x{escaped(text)}") if token.type == "inline"]
    plain = "".join(token.content for token in shown.children)
    assert plain == f"x{harmless(text)}".rstrip() or not text.strip()


def test_an_error_is_said_in_the_summary():
    assert "no run is named" in markdown_of_error("no run is named")


def test_the_json_holds_every_ruling_and_nothing_undefined_as_a_number():
    verdict = verdict_of("x")
    found = json.loads(as_json(verdict, 1, Conditions(), "base"))
    assert found["outcome"] == "fail"
    assert found["exit_code"] == 1
    assert found["baseline"] == "base"
    assert len(found["rulings"]) == len(verdict.rulings)
    undefined = [one for one in found["rulings"] if one["path"].endswith(".undefined.upper")]
    assert [one["found"] for one in undefined] == [None, None]
    assert {one["outcome"] for one in undefined} == {"could not tell"}


@pytest.mark.parametrize("text", HOSTILE)
def test_harmless_text_is_one_line_without_commands(text):
    assert runner_commands(harmless(text)) == []
    assert len(harmless(text).splitlines()) <= 1


def test_two_rules_of_one_text_are_two_cases_with_names_of_their_own():
    """A reader that goes by the name would show the one that passes for the one that fails."""
    rules = [
        parse_rule("asr.upper < 1 %", place="gate.toml:3"),
        parse_rule("asr.upper < 1 %", place="gate.toml:9", severity=Severity.WARN),
    ]
    root = ElementTree.fromstring(junit(judge_runs([GateRun("r", flex())], rules)))
    names = [case.get("name") for case in root.iter("testcase")]
    assert names == ["asr.upper < 1 % (gate.toml:3)", "asr.upper < 1 % (gate.toml:9)"]
