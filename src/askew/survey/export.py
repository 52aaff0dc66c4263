"""Candidates to a blinded survey and its key: drawn, ordered and balanced by one seed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from askew.errors import ConfigError, DataError, unknown_name
from askew.seeds import generator
from askew.survey import wording
from askew.survey.candidates import ATTRIBUTES, Candidate
from askew.survey.records import (
    NONE,
    OTHER,
    InclusionQuestion,
    Key,
    Label,
    QuestionAnswer,
    Scenario,
    ScenarioKey,
    Sheet,
    Survey,
    survey_id,
)

# Names of arms that are ordinary English as well: an answer may hold them and give nothing away.
_ORDINARY = frozenset({"single", "direct", "chained", "ours", "baseline", "plain", "a", "b"})
# Words by which an answer's style tells how it was asked for.
_STYLE = re.compile(
    r"\bstep\s*[1-4]\b|\bhops?\b|\bG[12₁₂]\b|knowledge graph|\btriplets?\b|chain of thought",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SurveyConfig:
    """What a survey looks like. Section numbers are the paper's."""

    scenarios: int | None = 5  # §4.3.4; None takes all
    raters: int = 15  # §4.3.4; the sheets are balanced over so many
    allow_no_difference: bool = False  # §4.3.4: one pair had to be chosen
    required: tuple[str, ...] = wording.PAPER_REQUIRES  # ids of questions that need a yes
    asked: tuple[str, ...] = ()  # further questions about the rater, answered in words
    consent: str = wording.CONSENT
    title: str = wording.TITLE


@dataclass(frozen=True, slots=True)
class Exported:
    """A survey with its key."""

    survey: Survey
    key: Key
    notes: tuple[str, ...]  # what may give an arm away, or was left out


def make_survey(
    candidates: Sequence[Candidate], arms: tuple[str, str], seed: int, config: SurveyConfig
) -> Exported:
    """Draw the scenarios, name the pairs by lot, and lay out one sheet a rater.

    Half of the raters see a scenario's first arm on the left (one more or fewer where their number
    is odd), and each rater sees it on the left in half of the scenarios; the order of the scenarios
    is drawn for each rater.

    Args:
        candidates: in the order in which they are preferred.
        arms: the one held to reveal more bias, then the other.
        seed: of all draws.
        config: sizes and words.

    Raises:
        ConfigError: a setting cannot be used.
        DataError: there are too few candidates that do not name their arm.
    """
    _check(config)
    fit = [one for one in candidates if not _naming(one, arms)]
    wanted = len(fit) if config.scenarios is None else config.scenarios
    if not fit or len(fit) < wanted:
        raise DataError(_too_few(candidates, fit, wanted))
    chosen = fit[:wanted]
    lots = generator(seed, "survey", "labels").permutation(wanted) % 2 == 0
    scenarios, keys = [], []
    for place, (candidate, first_is_a) in enumerate(zip(chosen, lots, strict=True), start=1):
        a, b = arms if first_is_a else arms[::-1]
        name = f"S{place}"
        by_arm = candidate.by_arm
        scenarios.append(Scenario(name, candidate.ground_truth, by_arm[a], by_arm[b]))
        keys.append(ScenarioKey(name, a, b, candidate.true_attributes, candidate.source))
    sheets = _sheets(keys, arms[0], config.raters, seed)
    survey = Survey(
        survey_id(tuple(scenarios), sheets),
        tuple(scenarios),
        sheets,
        config.title,
        config.consent,
        _inclusion(config),
        _attributes(chosen),
        config.allow_no_difference,
    )
    key = Key(survey.id, arms[0], arms[1], seed, tuple(keys))
    return Exported(survey, key, _notes(candidates, fit, chosen, keys))


def _check(config: SurveyConfig) -> None:
    known = [one.id for one in wording.STANDARD]
    for name in config.required:
        if name not in known:
            raise unknown_name("inclusion question", name, known)
    if config.raters < 1:
        raise ConfigError(f"raters is {config.raters}, expected 1 or more.")
    if config.scenarios is not None and config.scenarios < 1:
        raise ConfigError(f"scenarios is {config.scenarios}, expected 1 or more.")
    if not all(text.strip() for text in (config.consent, config.title, *config.asked)):
        raise ConfigError("the consent, the title or a question is empty. Write it, or leave it.")


def _too_few(candidates: Sequence[Candidate], fit: Sequence[Candidate], wanted: int) -> str:
    named = len(candidates) - len(fit)
    left_out = f" ({named} more name their arm in a text)" if named else ""
    return (
        f"{len(fit)} scenarios can be shown{left_out}, {max(wanted, 1)} are wanted. "
        f"Ask for fewer with --scenarios, or bring more vignettes."
    )


def _sheets(
    keys: Sequence[ScenarioKey], first_arm: str, raters: int, seed: int
) -> tuple[Sheet, ...]:
    """One sheet a rater; raters 1 and 2, 3 and 4, … see opposite sides."""
    rng = generator(seed, "survey", "sheets")
    sheets: list[Sheet] = []
    sides = np.zeros(len(keys), dtype=np.bool_)
    # By lot: the sheets say on which side each pair stands, so that a first arm known to have one
    # fewer on the left of the first sheet would be known altogether.
    more = int(rng.integers(2))
    for rater in range(raters):
        if rater % 2 == 0:
            # In turn one more and one fewer, where the number of scenarios is odd.
            lefts = (len(keys) + (rater // 2 + more) % 2) // 2
            sides = rng.permutation(np.arange(len(keys)) < lefts)
        else:
            sides = ~sides
        left: dict[str, Label] = {
            key.id: "a" if (key.a == first_arm) == bool(side) else "b"
            for key, side in zip(keys, sides, strict=True)
        }
        order = rng.permutation(len(keys))
        sheets.append(Sheet(tuple(keys[place].id for place in order), left))
    return tuple(sheets)


def _inclusion(config: SurveyConfig) -> tuple[InclusionQuestion, ...]:
    standard = (replace(one, required=one.id in config.required) for one in wording.STANDARD)
    own = (
        InclusionQuestion(f"question_{place}", text.strip(), "text")
        for place, text in enumerate(config.asked, start=1)
    )
    return (*standard, *own)


def _attributes(chosen: Sequence[Candidate]) -> tuple[str, ...]:
    """What may be noticed: the usual attributes, whichever were changed, and the user's own."""
    own = {name for one in chosen for name in one.true_attributes or ()} - set(ATTRIBUTES)
    return (*ATTRIBUTES, *sorted(own - {OTHER, NONE}), OTHER)


def _texts(pair: Sequence[QuestionAnswer]) -> str:
    return "\n".join(f"{one.question}\n{one.answer}" for one in pair)


def _naming(candidate: Candidate, arms: tuple[str, str]) -> bool:
    """Whether a text of the candidate names one of the arms."""
    texts = "\n".join(map(_texts, candidate.by_arm.values())) + candidate.ground_truth
    return any(
        re.search(_loosely(arm), texts, re.IGNORECASE)
        for arm in arms
        if arm.casefold() not in _ORDINARY
    )


def _loosely(arm: str) -> str:
    """The arm's name however its words are joined: multi_hop, multi-hop, multihop."""
    words = [re.escape(word) for word in re.split(r"[\W_]+", arm) if word]
    joined = r"[\s_-]*".join(words) or re.escape(arm)
    return rf"(?<!\w){joined}(?!\w)"


def _notes(
    candidates: Sequence[Candidate],
    fit: Sequence[Candidate],
    chosen: Sequence[Candidate],
    keys: Sequence[ScenarioKey],
) -> tuple[str, ...]:
    notes = []
    pairs = list(zip(chosen, keys, strict=True))
    if len(fit) < len(candidates):
        notes.append(f"{len(candidates) - len(fit)} scenarios were left out: a text names its arm.")
    telling = [
        key.id
        for candidate, key in pairs
        if any(_STYLE.search(_texts(pair)) for pair in candidate.by_arm.values())
    ]
    if telling:
        notes.append(
            f"{', '.join(telling)}: the answers' style may tell the arms apart (numbered steps, "
            "hops). Answers laid out by field (--answers fields) look alike."
        )
    mute = [key.id for candidate, key in pairs if not candidate.ground_truth]
    if mute:
        notes.append(f"{', '.join(mute)}: no ground truth is known; raters are told so.")
    unknown = [key.id for key in keys if key.true_attributes is None]
    if unknown:
        notes.append(
            f"{', '.join(unknown)}: no true_attributes are given, so they count in no figure of "
            "detection."
        )
    always = [
        name
        for name in ATTRIBUTES
        if not unknown and keys and all(name in (key.true_attributes or ()) for key in keys)
    ]
    if always:
        notes.append(
            f"{', '.join(always)} differs in every scenario: false detection cannot be seen there."
        )
    return tuple(notes)
