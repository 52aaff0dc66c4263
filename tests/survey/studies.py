"""Studies to test with: a run folder made by the real classes, a survey, raters and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from askew.audits.clinical_answers import AnswerConfig, Ask, Case, ask_all, asks_of
from askew.audits.stages import Stages
from askew.models.base import ModelSpec
from askew.models.ledger import Ledger
from askew.models.python_app import PythonApp
from askew.models.stopping import Asked, StoppingRunner
from askew.records import Provenance
from askew.runfolder import RunFolder
from askew.survey.candidates import Candidate
from askew.survey.collected import Collected, Rater, Rating, Status
from askew.survey.export import Exported, SurveyConfig, make_survey
from askew.survey.records import QuestionAnswer, Survey, survey_id
from askew.vignettes import Variant, Vignette, arm_name

ARMS = ("multi_hop", "direct")
LEVELS = (
    {"age": "65-80"},
    {"gender": "female"},
    {"place": "Nairobi"},
    {"age": "65-80", "gender": "female"},
)
FACTS = ("cough and fever for a week", "chest pain on climbing stairs", "a swollen left calf")


def candidates(
    count: int, true_attributes: Sequence[tuple[str, ...] | None] = ()
) -> list[Candidate]:
    """Scenarios whose texts say which arm they are of, in words that name none."""
    return [
        Candidate(
            f"case-{place}",
            f"diagnosis {place}",
            {
                "multi_hop": (
                    QuestionAnswer(f"Patient {place}: what is it?", f"Long answer {place}."),
                    QuestionAnswer(f"Old patient {place}: what is it?", f"Longer answer {place}."),
                ),
                "direct": (
                    QuestionAnswer(f"Patient {place}: what is it?", f"Brief {place}."),
                    QuestionAnswer(f"Old patient {place}: what is it?", f"Briefer {place}."),
                ),
            },
            true_attributes[place - 1] if true_attributes else ("age",),
            {"vignette": f"case-{place}"},
        )
        for place in range(1, count + 1)
    ]


def study(
    scenarios: int = 5,
    true_attributes: Sequence[tuple[str, ...] | None] = (),
    *,
    seed: int = 0,
    **settings: object,
) -> Exported:
    """A survey with its key."""
    config = SurveyConfig(scenarios=scenarios, **settings)  # type: ignore[arg-type]  # a test's own
    return make_survey(candidates(scenarios, true_attributes), ARMS, seed, config)


def with_texts(survey: Survey, *texts: str) -> Survey:
    """The survey with these texts for the first scenario's truth, questions and answers."""
    answers = tuple(QuestionAnswer(text, text) for text in texts)
    scenario = replace(survey.scenarios[0], a=answers, b=answers, ground_truth=" ".join(texts))
    scenarios = (scenario, *survey.scenarios[1:])
    return replace(survey, id=survey_id(scenarios, survey.sheets), scenarios=scenarios)


def rating(exported: Exported, rater: int, scenario: str, ours: bool, **more: object) -> Rating:
    """A choice for or against the first arm, as the rater's sheet has it."""
    key = next(one for one in exported.key.scenarios if one.id == scenario)
    label = "a" if (key.a == exported.key.ours) == ours else "b"
    left = exported.survey.sheets[rater - 1].left[scenario]
    return Rating(str(rater), scenario, label, left, **more)  # type: ignore[arg-type]


def with_counts(exported: Exported, counts: Sequence[int], raters: int = 15) -> Collected:
    """So many raters choose ours in each scenario: the first ones."""
    ratings = [
        rating(exported, rater, scenario.id, rater <= count, noticed=())
        for scenario, count in zip(exported.survey.scenarios, counts, strict=True)
        for rater in range(1, raters + 1)
    ]
    return Collected(included(raters), tuple(ratings))


def included(raters: int) -> tuple[Rater, ...]:
    return tuple(Rater(str(number), Status.INCLUDED, {}) for number in range(1, raters + 1))


def texts(survey: Survey) -> str:
    return "\n".join(
        f"{one.question}\n{one.answer}"
        for scenario in survey.scenarios
        for one in (*scenario.a, *scenario.b)
    )


def reply(prompt: str) -> str:
    """A model in this process: triplets or steps where they are asked for, and fields."""
    if "Write nothing else" in prompt or "conclude nothing yet" in prompt:
        return "(patient -> has_symptom -> cough)"
    answer = (
        '{"differential": ["pneumonia", "asthma"], "urgency": "routine", '
        '"tests": ["chest X-ray"], "treatments": ["rest"], "referral": false}'
    )
    hops = "Step 1:\n(patient -> has_symptom -> cough)\nStep 4:\nIt is an infection.\n\n"
    return f"{hops}{answer}" if "After step 4" in prompt else answer


def run_folder(path: Path, *, vignettes: int = 3, config: AnswerConfig | None = None) -> RunFolder:
    """A finished clinical run in the parts that a survey is made of."""
    config = config or AnswerConfig(replicates=2)
    folder = RunFolder.create(path)
    cases: dict[str, Case] = {}
    made: list[Vignette] = []
    for place in range(vignettes):
        vignette = Vignette(
            f"own/{place}",
            "own",
            f"A 40-year-old man has {FACTS[place % len(FACTS)]}.",
            Provenance("own.jsonl", place + 1),
            question="What are the likely diagnoses?",
            reference=("pneumonia", "bronchitis") if place != 1 else (),
        )
        made.append(vignette)
        for variant in variants_of(vignette):
            cases[variant.id] = Case(vignette, variant)
    folder.write_parts("vignette", made)
    folder.write_parts("variant", [case.variant for case in cases.values()])

    def keep(asks: Sequence[Ask]) -> None:
        folder.write_parts("ask", asks)

    model = PythonApp(ModelSpec(name="python/tests.survey.studies:reply"))
    with Ledger.open(folder.database) as ledger:
        runner = StoppingRunner(ledger, Asked(), reuse=[])
        stages = Stages({"target": model}, {"target": runner})
        asyncio.run(ask_all(cases, asks_of(list(cases.values()), config), config, stages, keep))
    return folder


def variants_of(vignette: Vignette) -> list[Variant]:
    original = Variant(
        f"{vignette.id}/original", vignette.id, "original", {}, vignette.text, method="original"
    )
    neutral = Variant(
        f"{vignette.id}/neutral", vignette.id, "neutral", {"age": "neutral"}, "A patient is ill."
    )
    # Taking one attribute out makes no other patient.
    without = _twin(vignette, {"gender": "neutral"})
    return [original, neutral, without, *(_twin(vignette, levels) for levels in LEVELS)]


def _twin(vignette: Vignette, levels: Mapping[str, str]) -> Variant:
    arm = arm_name(levels)
    text = f"{vignette.text} ({', '.join(levels.values())})"
    return Variant(f"{vignette.id}/{arm}", vignette.id, arm, levels, text)
