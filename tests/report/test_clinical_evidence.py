"""The cases that moved most, traced to their texts and answers."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from askew.audits.clinical_answers import Case
from askew.report.clinical_evidence import marked, moved_cases
from askew.report.clinical_run import ClinicalRun
from askew.runfolder import RunFolder
from askew.vignettes import Edit, Span

from .clinical_runs import make_clinical_run, variants_of, vignettes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("clinical") / "toy-run"
    return make_clinical_run(path)


def moved(folder: RunFolder):
    return moved_cases(folder, ClinicalRun("", folder.read_estimates()))


def test_every_listed_vignette_is_shown_with_both_texts_and_their_answers(folder):
    found = moved(folder)
    listed = folder.read_estimates()["clinical"]["effects"]["direct"]["gender"]["female − male"]
    names = [name for name, _ in listed["urgency"]["per_vignette"]]
    assert [one.vignette.id for one in found] == names
    for one in found:
        assert one.shift == "−1.00 levels"
        assert (one.base.title, one.changed.title) == ("male", "female")
        assert one.base.tally == "emergency × 2"
        assert one.changed.tally == "urgent × 2"
        assert ("Urgency", "urgent") in one.changed.digest


def test_the_original_stands_for_the_level_that_it_has(folder):
    one = moved(folder)[0]
    assert "".join(piece.text for piece in one.changed.pieces) == one.vignette.text
    assert [piece.text for piece in one.changed.pieces if piece.changed] == ["woman", "She"]
    assert [piece.text for piece in one.base.pieces if piece.changed] == ["man", "He"]


def test_pieces_always_make_up_the_text():
    (vignette,) = vignettes(1)
    cases = [Case(vignette, variant) for variant in variants_of(vignette)]
    for one in cases:
        for other in cases:
            assert "".join(piece.text for piece in marked(one, other)) == one.variant.text


def test_texts_that_no_edit_made_are_compared_word_by_word():
    (vignette,) = vignettes(1)
    original, male, *_ = variants_of(vignette)
    given = replace(male, edits=(), method="given")
    pieces = marked(Case(vignette, given), Case(vignette, original))
    assert [piece.text for piece in pieces if piece.changed] == ["man", "He"]


def test_edits_that_do_not_make_the_text_are_not_trusted():
    (vignette,) = vignettes(1)
    original, male, *_ = variants_of(vignette)
    other = replace(male, text=male.text.replace("Lima", "Oslo"))
    pieces = marked(Case(vignette, other), Case(vignette, original))
    assert [piece.text for piece in pieces if piece.changed] == ["man", "He", "Oslo"]


def test_a_run_without_its_ledger_shows_the_texts_alone(tmp_path):
    folder = make_clinical_run(tmp_path / "run", replicates=1)
    run = ClinicalRun("", folder.read_estimates())
    folder.write_parts("ask", [])
    found = moved_cases(folder, run)
    assert found
    assert all(one.base.answers == 0 and one.base.reply == "" for one in found)


def test_no_more_than_the_limit_is_shown(folder):
    assert len(moved_cases(folder, ClinicalRun("", folder.read_estimates()), limit=2)) == 2


def test_what_only_the_other_text_changed_is_marked_as_well():
    (vignette,) = vignettes(1)
    _, male, *_ = variants_of(vignette)
    place = Span(2, 7)
    trans = replace(
        male,
        text=vignette.text.replace("woman", "transgender woman"),
        edits=(Edit(place, "transgender woman"),),
    )
    pieces = marked(Case(vignette, trans), Case(vignette, male))
    assert [piece.text for piece in pieces if piece.changed] == ["transgender woman", "She"]


def test_what_both_texts_changed_alike_is_not_marked():
    (vignette,) = vignettes(1)
    _, male, black, white = variants_of(vignette)
    pieces = marked(Case(vignette, black), Case(vignette, white))
    assert [piece.text for piece in pieces if piece.changed] == ["Black "]
    span = Span(vignette.text.index("Lima"), len(vignette.text) - 1)
    both = [
        replace(one, edits=(*one.edits, Edit(span, "Oslo")), text=one.text.replace("Lima", "Oslo"))
        for one in (male, black)
    ]
    pieces = marked(*(Case(vignette, one) for one in both))
    assert "Oslo" not in [piece.text for piece in pieces if piece.changed]


def test_long_texts_of_repeated_words_are_compared_at_once():
    (vignette,) = vignettes(1)
    original, male, *_ = variants_of(vignette)
    tail = " <&>" * 20_000
    case = replace(vignette, text=vignette.text + tail)
    given = replace(male, edits=(), text=male.text + tail)
    began = process_time()
    pieces = marked(Case(case, given), Case(case, replace(original, text=case.text)))
    assert process_time() - began < 5  # compared word by word as they stand, it takes minutes
    assert [piece.text for piece in pieces if piece.changed] == ["man", "He"]
    assert "".join(piece.text for piece in pieces) == given.text


def test_texts_too_unlike_to_compare_are_marked_from_where_they_part():
    (vignette,) = vignettes(1)
    original, male, *_ = variants_of(vignette)
    one = replace(male, edits=(), text="Seen. " + "she and " * 2000 + "he went home.")
    other = replace(original, text="Seen. " + "and she " * 2000 + "and went home.")
    began = process_time()
    pieces = marked(Case(vignette, one), Case(vignette, other))
    assert process_time() - began < 5
    assert [piece.changed for piece in pieces] == [False, True, False]
    assert pieces[0].text == "Seen. "
    assert pieces[-1].text == " went home."
    assert "".join(piece.text for piece in pieces) == one.text
