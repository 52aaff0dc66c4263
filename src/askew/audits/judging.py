"""Puts the judge's questions and reads what it says; nothing it says is clamped or made up.

A reply that cannot be read is asked for again, as a new draw, and counted. What a budget or an
interrupt leaves unasked is marked so, and every judgement can be read again from the ledger alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from askew.audits.judge_questions import JudgeTask
from askew.errors import ConfigError
from askew.models.base import Ability, Model
from askew.models.callkey import call_key
from askew.models.runner import Progress, Runner
from askew.prompts.marked import mark_of, texts_of
from askew.records import Call, Prompt, Reply, Sampling
from askew.scores.judge_hops import gpt_score_of, read_hops
from askew.scores.judge_own import DICTATED, dictated, own_part
from askew.scores.judge_pair import (
    DIFFERENCE,
    JUSTIFIED,
    LevelReading,
    read_level,
    read_preference,
)
from askew.scores.judge_reading import SERVER_FAULTS, Fault
from askew.scores.judge_scores import BIAS, QUALITY, JudgeReading, read_scores

# Re-asks of a question are replicates of their own, numbered from here on.
RE_ASKS_FROM = 1_000_000
# The paper's own (§4.1).
SAMPLING = Sampling(temperature=0.5, max_tokens=400)
_TURNED = {"less": "more", "more": "less", "A": "B", "B": "A"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said to one question.

    Either `scores` or `level` is there, or `fault` says why neither is.
    """

    task: JudgeTask
    judge: str  # the model's name
    # Bias by dimension, quality by criterion, the shares of edges that hold, GPTScore.
    scores: Mapping[str, float] | None = None
    level: str | None = None  # of a pair in the order "ab", however it was shown
    fault: Fault | None = None  # of the last attempt
    detail: str = ""
    quote: str = ""
    faults: tuple[Fault, ...] = field(default=())  # of every attempt that could not be read
    attempts: int = 0  # replies that were had

    @property
    def read(self) -> bool:
        """Whether there is a verdict."""
        return self.fault is None


async def judge(
    tasks: Sequence[JudgeTask],
    judges: Mapping[str, Model],
    runner_of: Callable[[Model], Runner],
    sampling: Sampling = SAMPLING,
    *,
    re_asks: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> list[Judgement]:
    """Put every task to every judge.

    Args:
        tasks: in the order of the result.
        judges: name -> model.
        runner_of: who asks it, through the run's ledger and within its budget (role "judge").
        sampling: of every call; its seed, if any, is moved on by the replicate.
        re_asks: how often a reply that cannot be read is asked for again.
        progress: told how far each round of calls has come.

    Returns:
        Judge by judge, each with all tasks in order. What was not asked, because the calls were
        stopped or the judge cannot do it, has the fault `not_asked`.

    Raises:
        ConfigError: there is no judge.
    """
    if not judges:
        raise ConfigError("there is no judge. Name at least one model for the role 'judge'.")
    judged: list[Judgement] = []
    interrupted = False
    for name, model in judges.items():
        rounds = _Rounds(tasks, name, sampling, re_asks, model.abilities)
        while not interrupted and (calls := rounds.calls()):
            answers = await runner_of(model).ask(model, list(calls), progress)
            rounds.take(answers.replies, partial(_answer_tokens, model))
            if answers.stopped:
                # A budget or an endpoint may be one judge's own; an interrupt is for all.
                interrupted = answers.stopped == "interrupted"
                break
        judged += rounds.judgements()
    return judged


def reread(
    tasks: Sequence[JudgeTask],
    judges: Mapping[str, Mapping[str, object]],
    recorded: Mapping[str, Reply],
    sampling: Sampling = SAMPLING,
    *,
    re_asks: int = 1,
) -> list[Judgement]:
    """The judgements of a run from its recorded replies alone; asks no model.

    Args:
        tasks: as they were asked.
        judges: name -> `Model.identity()` as it was when they were asked.
        recorded: call key -> reply, of the run's ledger.
        sampling: as it was.
        re_asks: as it was; a smaller number takes the first attempts alone.

    Returns:
        What `judge` returned, but for GPTScore per token, which needs the judge's tokens.
    """
    judged: list[Judgement] = []
    for name, identity in judges.items():
        rounds = _Rounds(tasks, name, sampling, re_asks, ~Ability(0))
        while calls := rounds.calls():
            replies = [recorded.get(call_key(identity, call)) for call in calls]
            rounds.take(replies, lambda call: None)
        judged += rounds.judgements()
    return judged


def calls_of(
    tasks: Sequence[JudgeTask], sampling: Sampling = SAMPLING, attempt: int = 0
) -> list[Call]:
    """The calls of one attempt at the tasks, for planning and for looking replies up."""
    return [_call(task, sampling, attempt) for task in tasks]


def read(task: JudgeTask, reply: Reply, judge: str = "", tokens: int | None = None) -> Judgement:
    """What one reply to one task says; a verdict that a judged text dictates is none."""
    own = own_part(reply, mark_of(task.prompt))
    judged = _read(task, own.reply, judge, tokens)
    if own.checked or not judged.read or not (texts := texts_of(task.prompt)):
        return judged

    def said(other: Reply) -> object:
        return _verdict(_read(task, other, judge, tokens))

    if dictated(texts, _verdict(judged), said):
        return Judgement(task, judge, fault=Fault.DICTATED, detail=DICTATED)
    return judged


def _verdict(judged: Judgement) -> object:
    """What two replies have to share to say the same."""
    return judged.level if judged.scores is None else dict(judged.scores)


def _read(task: JudgeTask, reply: Reply, judge: str, tokens: int | None) -> Judgement:
    match task.kind:
        case "bias":
            return _of_scores(task, judge, read_scores(reply, BIAS))
        case "quality":
            return _of_scores(task, judge, read_scores(reply, QUALITY))
        case "consistency":
            return _of_hops(task, judge, reply)
        case "gpt_score":
            return _of_gpt_score(task, judge, reply, tokens)
        case "pairwise":
            shown = (task.a, task.b) if task.order != "ba" else (task.b, task.a)
            return _of_level(task, judge, read_preference(reply, a=shown[0], b=shown[1]))
        case "difference":
            sources = dict.fromkeys(("less", "more"), f"{task.a}\n{task.b}")
            return _of_level(task, judge, read_level(reply, DIFFERENCE, quoted_from=sources))
        case "justified":
            return _of_level(task, judge, read_level(reply, JUSTIFIED))


class _Rounds:
    """One judge's tasks: which calls are due, and what came of those that were made."""

    def __init__(
        self,
        tasks: Sequence[JudgeTask],
        judge: str,
        sampling: Sampling,
        re_asks: int,
        abilities: Ability,
    ) -> None:
        self._tasks = tasks
        self._judge = judge
        self._sampling = sampling
        self._re_asks = re_asks
        self._attempt = 0
        self._faults: list[tuple[Fault, ...]] = [() for _ in tasks]
        self._attempts = [0 for _ in tasks]
        self._last: list[Judgement | None] = [
            None if _can(abilities, task) else _not_asked(task, judge, _NO_LOG_PROBABILITIES)
            for task in tasks
        ]
        self._due = [place for place, last in enumerate(self._last) if last is None]

    def calls(self) -> list[Call]:
        """The calls of the next round; none when all is read or asked often enough."""
        return [_call(self._tasks[place], self._sampling, self._attempt) for place in self._due]

    def take(
        self, replies: Iterable[Reply | None], tokens_of: Callable[[Call], int | None]
    ) -> None:
        """Read a round's replies; what cannot be read is due again."""
        due: list[int] = []
        calls = self.calls()
        for place, call, reply in zip(self._due, calls, replies, strict=True):
            task = self._tasks[place]
            if reply is None:
                if self._last[place] is None:
                    self._last[place] = _not_asked(task, self._judge, "no reply is recorded")
                continue
            tokens = tokens_of(call) if task.kind == "gpt_score" else None
            judged = read(task, reply, self._judge, tokens)
            self._last[place] = judged
            self._attempts[place] += 1
            if judged.fault is not None:
                self._faults[place] = (*self._faults[place], judged.fault)
                # A server's fault was tried again by the runner; a figure does not change.
                if judged.fault not in SERVER_FAULTS and task.kind != "gpt_score":
                    due.append(place)
        self._attempt += 1
        self._due = due if self._attempt <= self._re_asks else []

    def judgements(self) -> list[Judgement]:
        """One a task, in order."""
        return [
            replace(
                last or _not_asked(task, self._judge, "the calls were stopped before"),
                faults=faults,
                attempts=attempts,
            )
            for task, last, faults, attempts in zip(
                self._tasks, self._last, self._faults, self._attempts, strict=True
            )
        ]


_NO_LOG_PROBABILITIES = "this judge gives no log-probabilities"


def _can(abilities: Ability, task: JudgeTask) -> bool:
    wanted = Ability.CHOICE_LOG_PROBABILITIES if task.prompt.choices else Ability.REPLY
    return wanted in abilities


def _not_asked(task: JudgeTask, judge: str, why: str) -> Judgement:
    return Judgement(task, judge, fault=Fault.NOT_ASKED, detail=why)


def _call(task: JudgeTask, sampling: Sampling, attempt: int) -> Call:
    replicate = task.replicate + attempt * RE_ASKS_FROM
    return Call(task.prompt, sampling.of_replicate(replicate), role="judge", replicate=replicate)


def _answer_tokens(model: Model, call: Call) -> int | None:
    """How many tokens the scored answer has; None where the model only bounds them."""
    if model.identity().get("provider") not in ("local", "builtin"):
        return None
    prompt = call.prompt
    whole = Call(Prompt(text=f"{prompt.text}{prompt.choices[0]}"), call.sampling)
    begun = Call(Prompt(text=prompt.text), call.sampling)
    return max(1, model.tokens(whole) - model.tokens(begun))


def _of_scores(task: JudgeTask, judge: str, reading: JudgeReading) -> Judgement:
    return Judgement(task, judge, scores=reading.scores, fault=reading.fault, detail=reading.detail)


def _of_hops(task: JudgeTask, judge: str, reply: Reply) -> Judgement:
    reading = read_hops(reply, *task.edges)
    if reading.first is None or reading.second is None or reading.supported is None:
        return Judgement(task, judge, fault=reading.fault, detail=reading.detail)
    scores = {"supported": float(reading.supported)}
    for name, flags in (("first", reading.first), ("second", reading.second)):
        if flags:  # a hop without an edge has no share
            scores[name] = sum(flags) / len(flags)
    return Judgement(task, judge, scores=scores)


def _of_gpt_score(task: JudgeTask, judge: str, reply: Reply, tokens: int | None) -> Judgement:
    score = gpt_score_of(reply, task.a, tokens)
    if score.fault is not None:
        return Judgement(task, judge, fault=score.fault, detail=score.detail)
    scores = {"per_byte": score.per_byte}
    if tokens is not None:
        scores["per_token"] = score.per_token
    return Judgement(task, judge, scores=scores)


def _of_level(task: JudgeTask, judge: str, reading: LevelReading) -> Judgement:
    level = reading.level
    if level is not None and task.order == "ba":
        level = _TURNED.get(level, level)
    return Judgement(
        task,
        judge,
        level=level,
        fault=reading.fault,
        detail=reading.detail,
        quote=reading.quote,
    )
