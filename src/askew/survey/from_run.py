"""A clinical run folder to candidates: the original's and one twin's answers under two arms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from askew.audits.clinical_answers import FORMS, AnswerConfig, Ask, Case, read_all
from askew.errors import ConfigError, DataError, unknown_name
from askew.models.ledgerfile import read_records
from askew.perturb.attributes import NEUTRAL
from askew.report.items.redacted import redacted, redaction_of
from askew.runfile import read_run_file
from askew.runfolder import RunFolder
from askew.seeds import generator
from askew.survey.candidates import Candidate, shown_attribute
from askew.survey.records import QuestionAnswer
from askew.vignettes import URGENCIES, Answered, AnswerForm, ClinicalAnswer, Variant, Vignette

MULTI_HOP = "multi_hop"  # whichever of the two multi-hop forms the run has, the paper's own first
_NOT_TWINS = ("original", "neutral")
LAYOUTS = ("auto", "text", "fields")

Key = tuple[str, AnswerForm]  # the variant's id and the form
Answers = Mapping[Key, list[Answered]]  # answered replicates, in their order


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the pairs of a run are drawn from."""

    arms: tuple[str, str]
    forms: tuple[AnswerForm, AnswerForm]  # behind the arms
    answers: Answers
    keys: Mapping[tuple[str, AnswerForm, int], tuple[str, ...]]  # of the calls
    fields: bool  # whether answers are laid out by field
    seed: int


def candidates_of_run(
    folder: RunFolder, arms: tuple[str, str], seed: int, layout: str = "auto"
) -> list[Candidate]:
    """One candidate for each vignette that has a twin answered under both arms.

    A pair is the original with one twin, both answered under one arm (§4.3.4: two pairs a
    scenario); the other arm's pair has the same two questions. Which twin, and which of several
    replicates, is drawn; twins are chosen so that as many different sets of attributes as possible
    are changed, since an attribute that is changed everywhere has no false detections.

    Args:
        folder: of a clinical run, finished or not.
        arms: two of "multi_hop", "single", "chained", "direct"; the first is held to reveal more.
        seed: of the draws.
        layout: how an answer is shown. "text": as the model wrote it; "fields": its diagnoses,
            urgency, tests and treatments, laid out alike for both arms, which hides the style
            that tells arms apart; "auto": fields where the run asked for them.

    Returns:
        In a drawn order, those with a ground truth first.

    Raises:
        ConfigError: an arm is not known or not in the run, or both are one.
        DataError: the run has no vignettes or no answers that fit.
    """
    rules = redaction_of(folder)
    vignettes = {one.id: one for one in folder.read_parts("vignette", Vignette)}
    variants = folder.read_parts("variant", Variant)
    asks = folder.read_parts("ask", Ask)
    if not vignettes or not asks:
        raise DataError(
            f"{folder.path}: it holds no clinical answers. Name the folder of a clinical run: "
            "`askew run FILE.toml` with a [clinical] table."
        )
    forms = _forms(arms, {ask.form for ask in asks})
    config = _answer_config(folder)
    cases = {one.id: Case(vignettes[one.vignette_id], one) for one in variants}
    replies = {record.key: record.reply for record in read_records(folder.database)}
    wanted = [ask for ask in asks if ask.form in forms]
    answered = read_all(cases, wanted, replies, config)
    fields = layout == "fields" or (layout == "auto" and config.structured)
    keys = {(ask.variant_id, ask.form, ask.replicate): ask.keys for ask in wanted}
    source = _Source(arms, forms, _usable(answered, fields), keys, fields, seed)
    used: Counter[tuple[str, ...]] = Counter()
    found: list[Candidate] = []
    for vignette in _drawn_order(list(vignettes.values()), seed):
        texts = [one for one in variants if one.vignette_id == vignette.id]
        pair = _pair(vignette, texts, source, used)
        if pair is not None:
            found.append(redacted(_candidate(vignette, pair, source), rules))
    if not found:
        raise DataError(
            f"{folder.path}: no vignette has the original and a twin answered under both "
            f"{arms[0]} and {arms[1]}. Finish the run, or compare other arms."
        )
    return found


def _forms(arms: tuple[str, str], there: set[AnswerForm]) -> tuple[AnswerForm, AnswerForm]:
    """The run's forms of answer behind the names of the arms."""
    known = [MULTI_HOP, *FORMS]
    forms: list[AnswerForm] = []
    for arm in arms:
        if arm not in known:
            raise unknown_name("arm", arm, known)
        form = next((one for one in FORMS if one in there and _stands_for(arm, one)), None)
        if form is None:
            raise ConfigError(
                f"the run has no {arm} answers. It has: {', '.join(sorted(there))}. "
                "Compare two of those."
            )
        forms.append(form)
    first, second = forms
    if first == second:
        raise ConfigError(f"both arms are {first}: there is nothing to compare. Name two.")
    return first, second


def _stands_for(arm: str, form: AnswerForm) -> bool:
    return form == arm or (arm == MULTI_HOP and form != "direct")


def _answer_config(folder: RunFolder) -> AnswerConfig:
    """How the run asked for answers; the defaults where it left no settings."""
    if not folder.settings.is_file():
        return AnswerConfig()
    whole = read_run_file(folder.settings)
    if "clinical" not in whole.audits:
        raise DataError(f"{folder.path} is no clinical run. Name the folder of one.")
    run = whole.part("clinical").settled()
    assert run.clinical is not None
    return run.clinical.answer_config(run.target.sampling())


def _usable(answered: Sequence[Answered | None], fields: bool) -> Answers:
    """Answers that say something; refused, cut and unreadable ones have nothing to be judged."""
    found: dict[Key, list[Answered]] = defaultdict(list)
    for one in answered:
        if one is None or one.answer.outcome != "answered":
            continue
        if not fields or _fields(one):
            found[one.variant.id, one.form].append(one)
    return found


def _drawn_order(vignettes: Sequence[Vignette], seed: int) -> list[Vignette]:
    order = generator(seed, "survey", "vignettes").permutation(len(vignettes))
    return sorted((vignettes[place] for place in order), key=lambda one: not _ground_truth(one))


def _pair(
    vignette: Vignette, texts: Sequence[Variant], source: _Source, used: Counter[tuple[str, ...]]
) -> tuple[Variant, Variant] | None:
    """The original and the twin to show beside it; None where there is none with all answers."""
    there = [
        one for one in texts if all(source.answers.get((one.id, form)) for form in source.forms)
    ]
    original = next((one for one in there if one.arm == "original"), None)
    fit = [one for one in there if one.arm not in _NOT_TWINS and not one.odd and one.levels]
    if original is None or not fit:
        return None
    # Where an attribute is only taken out, there is no other patient to compare with.
    fit = [one for one in fit if NEUTRAL not in one.levels.values()] or fit
    fewest = min(used[_changed(one)] for one in fit)
    sets = sorted({_changed(one) for one in fit if used[_changed(one)] == fewest})
    rng = generator(source.seed, "survey", "twin", vignette.id)
    chosen = sets[int(rng.integers(len(sets)))]
    used[chosen] += 1
    same = [one for one in fit if _changed(one) == chosen]
    return original, same[int(rng.integers(len(same)))]


def _changed(variant: Variant) -> tuple[str, ...]:
    return tuple(sorted(shown_attribute(name) for name in variant.levels))


def _candidate(vignette: Vignette, texts: tuple[Variant, Variant], source: _Source) -> Candidate:
    by_arm: dict[str, tuple[QuestionAnswer, ...]] = {}
    origins: dict[str, object] = {}
    for arm, form in zip(source.arms, source.forms, strict=True):
        rng = generator(source.seed, "survey", "replicate", vignette.id, form)
        drawn = [_drawn(source.answers[text.id, form], rng) for text in texts]
        by_arm[arm] = tuple(
            QuestionAnswer(_question(one), _fields(one) if source.fields else one.answer.text)
            for one in drawn
        )
        origins[arm] = [
            {
                "replicate": one.replicate,
                "keys": source.keys[one.variant.id, form, one.replicate],
            }
            for one in drawn
        ]
    about = {
        "vignette": vignette.id,
        "variants": [text.id for text in texts],
        "forms": dict(zip(source.arms, source.forms, strict=True)),
        "answers": origins,
    }
    return Candidate(vignette.id, _ground_truth(vignette), by_arm, _changed(texts[1]), about)


def _drawn(replicates: Sequence[Answered], rng: np.random.Generator) -> Answered:
    return replicates[int(rng.integers(len(replicates)))]


def _ground_truth(vignette: Vignette) -> str:
    if vignette.reference:
        return "; ".join(vignette.reference)
    return "" if vignette.answer is None else vignette.options[vignette.answer]


def _question(one: Answered) -> str:
    options = [f"{chr(ord('A') + place)}. {text}" for place, text in enumerate(_options(one))]
    parts = (one.variant.text.strip(), one.vignette.question.strip(), "\n".join(options))
    return "\n\n".join(part for part in parts if part)


def _options(one: Answered) -> tuple[str, ...]:
    return one.vignette.options


def _fields(one: Answered) -> str:
    """The answer's fields, each on a line of its own; "" where it settles none of them.

    The order and the words are the same whatever the arm: a reply that is shown as it was written
    tells by its headings how it was asked for.
    """
    return "\n".join(f"{name}: {said}" for name, said in _lines(one.answer, _options(one)) if said)


def _lines(answer: ClinicalAnswer, options: tuple[str, ...]) -> list[tuple[str, str]]:
    ranked = (f"{rank}. {name}" for rank, name in enumerate(answer.differential, start=1))
    listed = {
        name: ", ".join(getattr(answer, name)) or "none"
        for name in ("tests", "treatments")
        if name in answer.given
    }
    referral = {None: "", True: "yes", False: "no"}[answer.referral]
    return [
        ("Choice", "" if answer.chosen is None else options[answer.chosen]),
        ("Diagnoses", " ".join(ranked)),
        ("How soon to be seen", "" if answer.urgency is None else URGENCIES[answer.urgency]),
        ("Tests", listed.get("tests", "")),
        ("Treatments", listed.get("treatments", "")),
        ("Referral", referral),
    ]
