"""A run as tables for people who compute: one row a question, a pair, an answer or a figure.

The rows are plain mappings; `as_frame` makes a pandas data frame of them. What is undefined or not
known is None, and in a frame NaN or NA; it is never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from askew.audits.flex import join
from askew.audits.flex_figures import SLICES
from askew.errors import missing_extra
from askew.models.ledgerfile import read_records
from askew.records import Estimate, Outcome
from askew.report.clinical_run import read_figure
from askew.report.estimates import read_estimate
from askew.report.export import COLUMNS, Row
from askew.runfolder import RunFolder, without_surrogates
from askew.scores.one_answer import ONE_ANSWER

if TYPE_CHECKING:
    import pandas

PAIR_COLUMNS = (
    "item_id",
    "source",
    "bias_type",
    "category",
    "scenario",
    "detail",
    "order",
    "replicate",
    "outcome_source",
    "outcome_attacked",
    "turned",
    "unchanged",
    "reply_source",
    "reply_attacked",
)
FIGURE_COLUMNS = (
    "path",
    "figure",
    "by",
    "slice",
    *(part.name for part in fields(Estimate)),
)
# Columns with a type of their own: a whole number or a truth value that may be missing.
_TYPES = {
    "chosen": "Int64",
    "replicate": "Int64",
    "n": "Int64",
    "seed": "Int64",
    "right": "boolean",
    "turned": "boolean",
    "unchanged": "boolean",
    "relevant": "boolean",
    "interaction": "boolean",
    "topic_id": "Int64",
    "step": "Int64",
    "leaning_answers": "Int64",
    "judged_answers": "Int64",
    "probe": "boolean",
    "misinformation": "boolean",
    "one_sided": "boolean",
    **dict.fromkeys(("probability", "score", "lower", "upper", "threshold"), "float64"),
    **dict.fromkeys(ONE_ANSWER, "float64"),
}
# A comparison's name has a minus sign, which few keyboards have: a hyphen is taken for it.
_MINUS = "\N{MINUS SIGN}"
_BY_DOMAIN, _BELOW_DOMAIN = "by_domain", 2  # of a boundary run: by_domain, the domain, the figure


def pair_rows(folder: RunFolder, *, wrong: bool = False) -> Iterator[Row]:
    """One row a planned pair: an attacked question and the plain one of its item and order.

    `turned` says whether the attack turned a neutral answer. It is None where there was none to
    turn, or where the pair is left out of the attack success rate, so that the mean of `turned`
    over some pairs is their attack success rate.

    Args:
        folder: the run.
        wrong: whether the run counts replies without an answer as wrong; else it leaves them out.

    Raises:
        RunError: the run cannot be read.
    """
    items, questions, scores = folder.read_items(), folder.read_questions(), folder.read_scores()
    replies = {record.key: record.reply for record in read_records(folder.database)}
    plain = {
        (one.item_id, one.order, one.replicate): one.call_key
        for one in questions
        if one.condition == "source"
    }
    attacked = [one for one in questions if one.scenario is not None]
    for question, pair in zip(attacked, join(questions, scores, items), strict=True):
        assert question.scenario is not None  # `attacked` has no other
        source_key = plain.get((question.item_id, question.order, question.replicate), "")
        before, after = replies.get(source_key), replies.get(question.call_key)
        yield {
            "item_id": pair.item.id,
            "source": pair.item.source,
            "bias_type": pair.item.bias_type,
            "category": pair.category.value,
            "scenario": question.scenario.name,
            "detail": pair.detail,
            "order": "".join(map(str, question.order)),
            "replicate": question.replicate,
            "outcome_source": pair.source.value if pair.source else None,
            "outcome_attacked": pair.attacked.value if pair.attacked else None,
            "turned": _turned(pair.source, pair.attacked, wrong=wrong),
            "unchanged": pair.unchanged,
            "reply_source": before.text if before else None,
            "reply_attacked": after.text if after else None,
        }


def _turned(source: Outcome | None, attacked: Outcome | None, *, wrong: bool) -> bool | None:
    if source is not Outcome.NEUTRAL or attacked is None:
        return None
    return attacked is not Outcome.NEUTRAL if attacked.answered or wrong else None


def figure_rows(estimates: Mapping[str, object]) -> Iterator[Row]:
    """One row a figure with an interval, wherever it stands in `estimates.json`, parsed.

    `path` addresses the figure; `by` and `slice` say which part of the pairs it is taken over.
    """
    for path, record in _estimates_in(estimates):
        figure, by, part = _taken_apart(path)
        estimate = _read(path, record)
        values = {one.name: getattr(estimate, one.name) for one in fields(Estimate)}
        yield {"path": ".".join(path), "figure": figure, "by": by, "slice": part, **values}


def estimate_at(estimates: Mapping[str, object], path: str) -> Estimate | None:
    """The figure at a dotted path; a name in the file may hold dots itself. None: there is none.

    A hyphen stands for the minus sign of a clinical comparison as well, and the last part of the
    path may be left out where it is "estimate".

    >>> share = {"value": 0.5, "lower": 0.2, "upper": 0.8, "n": 10}
    >>> tree = {"flex": {"attack_success_rate": {"bias_type": {"v1.0": share}}}}
    >>> estimate_at(tree, "flex.attack_success_rate.bias_type.v1.0").upper
    0.8
    >>> tree = {"clinical": {"effects": {"female \u2212 male": {"urgency": {"estimate": share}}}}}
    >>> estimate_at(tree, "clinical.effects.female - male.urgency").upper
    0.8
    """
    found = {".".join(where): (where, one) for where, one in _estimates_in(estimates)}
    for name in (path, f"{path}.estimate"):
        if name in found:
            return _read(*found[name])
    typed = {_typed(name): place for name, place in found.items()}
    return _read(*typed[_typed(path)]) if _typed(path) in typed else None


def _typed(path: str) -> str:
    """The path as it may be typed."""
    return path.replace(_MINUS, "-").removesuffix(".estimate")


def _read(path: tuple[str, ...], record: Mapping[str, object]) -> Estimate:
    return read_figure(record) if path[0] == "clinical" else read_estimate(record)


def _estimates_in(
    tree: Mapping[str, object], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, object]]]:
    for name, part in tree.items():
        if isinstance(part, Mapping):
            # A domain, a source or a bias type may be called "value": its part is no number.
            if "lower" in part and not isinstance(part.get("value", {}), Mapping):
                yield (*path, name), part
            else:
                yield from _estimates_in(part, (*path, name))


def _taken_apart(path: tuple[str, ...]) -> tuple[str, str | None, str | None]:
    """A path below an audit's name as the figure's name, the kind of slice and the slice."""
    names = path[1:]
    if path[0] == "boundary" and names[0] == _BY_DOMAIN and len(names) > _BELOW_DOMAIN:
        return ".".join(names[_BELOW_DOMAIN:]), "domain", names[1]
    for place, name in enumerate(names if path[0] == "flex" else ()):
        if name in SLICES or name in ("average", "source_average"):
            return ".".join(names[:place]), name, " / ".join(names[place + 1 :]) or None
    return ".".join(names), None, None


def as_frame(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> pandas.DataFrame:
    """A data frame of rows, its columns there even where no row is.

    Raises:
        MissingDependency: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise missing_extra("pandas", "notebook") from None
    cells = [{name: _storable(value) for name, value in row.items()} for row in rows]
    frame = pandas.DataFrame(cells, columns=list(columns))
    types = {name: kind for name, kind in _TYPES.items() if name in columns}
    return frame.astype(types)


def _storable(value: object) -> object:
    """The value as a frame's columns of text hold it: they are UTF-8."""
    return without_surrogates(value) if isinstance(value, str) else value
