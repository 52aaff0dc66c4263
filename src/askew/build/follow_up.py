"""A boundary run's findings as FLEX items: does the lean show when a question has to be answered?

For every leaning answer whose judge named a direction with two sides, two people stand on these
sides, and a question is asked that the context does not answer. Each question comes twice, with the
sides of the two people changed over, and each of the two once more as a control whose context does
answer: neither name nor place decides. The option that favours the side to which the model leaned
is the item's stereotyped one.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from askew.audits.boundary_figures import strongest
from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.build.follow_up_sides import Sides, sides_of, words
from askew.datasets import DataSpec, load
from askew.datasets.own import FIELDS
from askew.errors import ConfigError, RunError, unknown_name
from askew.prompts.topics import visible
from askew.report.which_audit import audits_of
from askew.report.words import clean
from askew.run.boundary import kept_tests
from askew.runfolder import RunFolder, write_whole

NO_DIRECTION = "the judge named no direction"
NO_SIDES = "no direction names two sides"
NO_TITLE = "its title has no letter and no digit"
BIAS_TYPE = "leaning topic"  # of topics without a domain
RULE = "stance/"  # how the name of a judge begins that asks no model
_LETTERS = "abc"
_SLUG = 40  # characters of a title in an id


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A leaning topic without items."""

    title: str
    reason: str
    directions: tuple[str, ...]  # what the judge said


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The items of a follow-up, and of what they could not be made.

    Attributes:
        rows: in the schema of a user's own data set (`datasets.own.FIELDS`); controls among them.
        topics: the titles of the topics that they are about, the strongest finding first.
        left_out: the leaning topics that they are not about.
        passed_over: leaning answers of the topics in `topics` whose direction was of no use.
    """

    rows: tuple[Mapping[str, str], ...]
    topics: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    passed_over: int

    @property
    def items(self) -> int:
        """The items whose context does not answer."""
        return sum(row["condition"] == "ambiguous" for row in self.rows)


def follow_up(path: Path, topics: Collection[str] = (), most: int | None = None) -> FollowUp:
    """Items about the leaning topics of a finished boundary run; asks no model.

    Args:
        path: the run folder.
        topics: titles of the leaning topics that are wanted; () for all.
        most: at most so many topics, those whose findings rest on most.

    Raises:
        RunError: the folder holds no boundary run, or no topic was found leaning.
        ConfigError: a topic that is wanted was not found leaning, or `most` is below 1.
    """
    folder = RunFolder.open(path)
    if "boundary" not in audits_of(folder):
        raise RunError(f"{path} is no boundary run. Name one of `askew boundary search`.")
    if most is not None and most < 1:
        raise ConfigError(f"most is {most}, expected 1 or more.")
    leaning = strongest([test for test in kept_tests(folder) if test.verdict == "leaning"])
    if not leaning:
        raise RunError(f"{path}: no topic was found leaning, so there is nothing to follow up.")
    titles = [test.title for test in leaning]
    for title in topics:
        if title not in titles:
            raise unknown_name("leaning topic of this run", title, titles)
    wanted = [test for test in leaning if not topics or test.title in topics]
    return items_of(wanted[:most], path.resolve().name)


def items_of(leaning: Sequence[TopicTest], run: str) -> FollowUp:
    """Items about topics that were found leaning.

    The same tests give the same items.

    Args:
        leaning: the topics, in the order of the items.
        run: the name of the run, for the items' ids.
    """
    rows: list[Mapping[str, str]] = []
    titles, left_out, passed_over = [], [], 0
    for test in leaning:
        found = [(n, one) for n, one in enumerate(test.questions, 1) if one.outcome == "leaning"]
        usable = [(n, sides) for n, one in found if (sides := _sides(one, test)) is not None]
        if not usable:
            said = tuple(dict.fromkeys(one.direction for _, one in found if one.direction))
            reason = NO_SIDES if said else NO_DIRECTION
            left_out.append(LeftOut(test.title, reason if _titled(test) else NO_TITLE, said))
            continue
        titles.append(test.title)
        passed_over += len(found) - len(usable)
        for number, sides in usable:
            rows += _items(test, number, sides, run, len(rows) // 4)
    return FollowUp(tuple(rows), tuple(titles), tuple(left_out), passed_over)


def write_items(path: Path, made: FollowUp, *, force: bool = False) -> None:
    """Write the items as CSV, and read them back as `askew data check` does.

    Raises:
        ConfigError: the name does not end in `.csv`, or the file exists and `force` is not given.
        RunError: there is nothing to write, or it cannot be written.
        DataError: what was written is not a data set; the fault is askew's.
    """
    if path.suffix.casefold() != ".csv":
        raise ConfigError(f"{path}: the name does not end in .csv.")
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already. Name another file, or add --force.")
    if not made.rows:
        reasons = ", ".join(f"{one.title!r}: {one.reason}" for one in made.left_out[:5])
        raise RunError(f"none of the leaning topics can be followed up ({clean(reasons)}).")
    text = io.StringIO()
    writer = csv.DictWriter(text, [one.name for one in FIELDS], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(made.rows)
    write_whole(path, text.getvalue())
    load(DataSpec("own", path=path))


def _sides(one: QuestionTest, test: TopicTest) -> Sides | None:
    if not one.direction or not _titled(test):
        return None
    return sides_of(one.direction, test.title, by_rule=test.judge.startswith(RULE))


def _titled(test: TopicTest) -> bool:
    return any(map(str.isalnum, visible(test.title)))


def _items(
    test: TopicTest, number: int, sides: Sides, run: str, count: int
) -> Iterator[dict[str, str]]:
    """Two items and their two controls for one leaning answer.

    Args:
        test: the topic.
        number: of the question that was answered with a lean, from 1.
        sides: where the two people stand.
        run: the run's name.
        count: how many leaning answers had items before: scenes, names and orders go round with it.
    """
    table = words()
    scene = table["scenes"][count % len(table["scenes"])]
    first, second = table["names"][count % len(table["names"])]
    neutral = table["neutral"][count % len(table["neutral"])]
    place = count % 3  # of the neutral option
    people = [first, second] if count // 3 % 2 == 0 else [second, first]
    options = [*people[:place], neutral, *people[place:]]
    answer = people[count % 2]  # of both controls: once on the one side, once on the other
    other = people[1 - count % 2]
    for turn, leaned in enumerate((first, second)):
        against = second if leaned == first else first
        favoured = leaned if scene["polarity"] == "nonnegative" else against
        stands = {leaned: sides.leaned, against: sides.other}
        context = Template(scene["context"]).substitute(
            topic=visible(test.title),
            a=first,
            b=second,
            side_a=stands[first],
            side_b=stands[second],
        )
        row = {
            "id": f"{_slug(run)}/{_slug(test.title)}-{test.topic_id}/question-{number}/"
            f"{scene['name']}-{turn + 1}",
            "bias_type": _bias_type(test),
            "condition": "ambiguous",
            "context": context,
            "question": scene["question"],
            **{f"option_{letter}": text for letter, text in zip(_LETTERS, options, strict=True)},
            "neutral": _LETTERS[place],
            "stereotyped": _LETTERS[options.index(favoured)],
            "polarity": scene["polarity"],
            "language": "en",
            **{name: scene[name] for name in scene if name.startswith("attack_")},
        }
        yield row
        told = Template(scene["control"]).substitute(x=answer, y=other)
        yield {
            **row,
            "id": f"{row['id']}-control",
            "condition": "control",
            "context": f"{context} {told}",
            "answer": _LETTERS[options.index(answer)],
        }


def _bias_type(test: TopicTest) -> str:
    domain = " ".join(clean(test.domain or "").split())
    return domain if any(map(str.isalpha, domain)) else BIAS_TYPE


def _slug(text: str) -> str:
    r"""What an id holds of a name: letters, digits and hyphens.

    >>> _slug("Minimum wage (UK)/1999\n"), _slug("…")
    ('minimum-wage-uk-1999', 'x')
    """
    parts = re.findall(r"[^\W_]+", text.casefold())
    return "-".join(parts)[:_SLUG].rstrip("-") or "x"
