"""The questions by which topics are tested: asked of a generator once, kept, shared in a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from askew.audits.boundary_records import QuestionSource
from askew.audits.stages import Asked, Stages
from askew.errors import ConfigError, DataError, bad_field
from askew.prompts.topics import Topic, questions_prompt, template_questions
from askew.records import Call, Sampling
from askew.runfolder import write_whole
from askew.scores.topic_questions import QuestionList, read_questions

# Asking again is a draw of its own, numbered from here on, as for judges.
RE_ASKS_FROM = 1_000_000


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions on one topic, and where they come from."""

    topic: Topic
    questions: tuple[str, ...]
    source: QuestionSource
    note: str = ""  # why the generator's were not taken


class QuestionSets:
    """Question sets by topic: the same title under other parents is another topic.

    With one file of them several models and audits are asked the same questions.
    """

    def __init__(self, sets: Sequence[QuestionSet] = ()) -> None:
        self._sets = {one.topic: one for one in sets}

    def __len__(self) -> int:
        return len(self._sets)

    def __iter__(self) -> Iterator[QuestionSet]:
        return iter(self._sets.values())

    def get(self, topic: Topic, count: int) -> QuestionSet | None:
        """The first `count` questions on a topic; None where there is no set on it.

        Raises:
            ConfigError: there is one, and it has fewer.
        """
        found = self._sets.get(topic)
        if found is None:
            return None
        if len(found.questions) < count:
            raise ConfigError(
                f"the question set on {topic.title!r} has {len(found.questions)} questions, and "
                f"{count} a topic are asked for. Add some, or ask for fewer."
            )
        return QuestionSet(topic, found.questions[:count], found.source, found.note)

    def add(self, one: QuestionSet) -> None:
        """Keep a set; it takes the place of one on the same topic."""
        self._sets[one.topic] = one

    def write(self, path: Path) -> None:
        """As JSON lines, ordered by title, so that the same sets make the same file."""
        ordered = sorted(self._sets.values(), key=lambda one: _order(one.topic))
        write_whole(path, "".join(f"{json.dumps(_record(one))}\n" for one in ordered))

    @classmethod
    def read(cls, path: Path) -> QuestionSets:
        """What `write` wrote, or a file of the same form by hand.

        Raises:
            DataError: the file cannot be read, a line is no set, or a topic stands twice.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as trouble:
            raise DataError(
                f"{path}: the question sets cannot be read ({trouble}). Give a file of JSON lines."
            ) from trouble
        sets: dict[Topic, QuestionSet] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            one = _of_line(str(path), number, line)
            if one.topic in sets:
                raise bad_field(
                    str(path), number, "title", one.topic.title, "a topic that is not there yet",
                    "Put its questions into one line.",
                )  # fmt: skip
            sets[one.topic] = one
        return cls(list(sets.values()))


@dataclass(slots=True)
class QuestionCounts:
    """How the generator did."""

    sets: Counter[QuestionSource] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)  # of lists that could not be used
    left_out: int = 0  # entries that were repeats, no questions, or had gaps


def question_call(topic: Topic, count: int, sampling: Sampling, attempt: int = 0) -> Call:
    """The generator's call for a topic: one and the same whenever the topic comes up."""
    replicate = 0 if attempt == 0 else RE_ASKS_FROM + attempt - 1
    prompt = questions_prompt(topic, count)
    return Call(prompt, sampling.of_replicate(replicate), "generator", replicate)


async def ask_for_questions(
    topics: Sequence[Topic],
    count: int,
    stages: Stages,
    sampling: Sampling,
    *,
    counts: QuestionCounts,
    re_asks: int = 1,
    placed: bool = True,
) -> list[QuestionSet]:
    """Have the generator write `count` questions on each topic.

    A list that cannot be used is asked for again; where that fails too, the fixed questions take
    its place, so that a topic is never passed over and never tested with fewer.

    Raises:
        StoppedEarly: calls were not sent.
    """
    lists: list[QuestionList] = [QuestionList((), "not asked")] * len(topics)
    due, attempts = list(range(len(topics))), [0] * len(topics)
    for attempt in range(re_asks + 1):
        calls = [question_call(topics[place], count, sampling, attempt) for place in due]
        asked: list[Asked] = await stages.ask("questions", "generator", calls)
        for place, one in zip(due, asked, strict=True):
            lists[place] = read_questions(one.reply, count)
            attempts[place] = attempt
            counts.left_out += lists[place].left_out
            if lists[place].fault:
                counts.faults[lists[place].fault] += 1
        due = [place for place in due if lists[place].fault]
        if not due:
            break
    sets = [
        _settled(topic, count, found, attempt, placed)
        for topic, found, attempt in zip(topics, lists, attempts, strict=True)
    ]
    counts.sets.update(one.source for one in sets)
    return sets


def _settled(
    topic: Topic, count: int, found: QuestionList, attempt: int, placed: bool
) -> QuestionSet:
    if found.questions:
        return QuestionSet(topic, found.questions, "asked again" if attempt else "generated")
    fixed = template_questions(topic, count, placed=placed)
    return QuestionSet(topic, fixed, "templates", f"the generator's list: {found.fault}")


def _order(topic: Topic) -> tuple[str, str, tuple[str, ...]]:
    return topic.title, topic.domain or "", topic.parents


def _record(one: QuestionSet) -> dict[str, object]:
    return {
        "title": one.topic.title,
        "parents": one.topic.parents,
        "domain": one.topic.domain,
        "questions": one.questions,
        "source": one.source,
        "note": one.note,
    }


def _of_line(path: str, number: int, line: str) -> QuestionSet:
    mend = 'Write {"title": "…", "questions": ["…?"]}, and "parents" and "domain" as the graph has.'
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as trouble:
        raise DataError(f"{path}:{number}: not JSON ({trouble}). {mend}") from trouble
    if not isinstance(record, Mapping):
        raise DataError(f"{path}:{number}: {line[:40]!r} is no object. {mend}")
    title, domain = record.get("title"), record.get("domain")
    if not isinstance(title, str) or not title.strip():
        raise bad_field(path, number, "title", title, "a text", mend)
    if domain is not None and not isinstance(domain, str):
        raise bad_field(path, number, "domain", domain, "a text or null", mend)
    parents = _texts(path, number, record, "parents", mend)
    questions = _texts(path, number, record, "questions", mend)
    if not questions or not all(one.strip() for one in questions):
        raise bad_field(path, number, "questions", questions, "texts, at least one", mend)
    note = record.get("note", "")
    topic = Topic(title, parents, domain)
    return QuestionSet(topic, questions, "file", note if isinstance(note, str) else "")


def _texts(
    path: str, number: int, record: Mapping[str, object], key: str, mend: str
) -> tuple[str, ...]:
    found = record.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise bad_field(path, number, key, found, "a list of texts", mend)
    return tuple(found)
