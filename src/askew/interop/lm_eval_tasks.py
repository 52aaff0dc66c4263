"""A study's questions as tasks and groups of lm-evaluation-harness, in YAML. Pure.

A task holds the prompts of one data set, condition and attack category. A source prompt that
belongs to attacks of several categories is in one task, named after all of them: no prompt is asked
twice, and the groups still add up by category.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askew.audits.flex import Asked
from askew.prompts.choice import Scoring
from askew.records import AttackCategory

ROOT = "askew_flex"
CONTROL = f"{ROOT}_control"
DOCUMENTS_MODULE = "askew_documents"
# Of the tasks' form: the harness prints it beside each figure.
VERSION = 1
_LONGEST_NAME = 40
_CONDITIONS = ("source", "attacked")
_OTHER = re.compile(r"[^a-z0-9]+")
# What a data set's name must not be or hold, as other tasks and groups are named with it.
_RESERVED = re.compile(
    rf"{'|'.join(AttackCategory)}|all_categories|(^|_)({'|'.join(_CONDITIONS)})$|^control$|^set_\d+$"
)


@dataclass(frozen=True, slots=True)
class Task:
    """One task: its name, and the places of its questions in the study."""

    name: str
    condition: str
    source: str | None  # of the items; None for the controls
    categories: tuple[AttackCategory, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks and groups that are run together; aggregated where a mean over them says something."""

    name: str
    members: tuple[str, ...]
    aggregated: bool


def tasks_of(asked: Sequence[Asked]) -> list[Task]:
    """The questions as tasks; each question is in exactly one."""
    attacked_by = _categories(asked)
    places: dict[tuple[str, str | None, tuple[AttackCategory, ...]], list[int]] = defaultdict(list)
    for place, one in enumerate(asked):
        if one.condition == "control":
            places["control", None, ()].append(place)
        elif one.scenario is None:
            places["source", one.item.source, attacked_by[one.item.id]].append(place)
        else:
            places["attacked", one.item.source, (one.scenario.category,)].append(place)
    names = source_names([one.item.source for one in asked if one.condition != "control"])
    every = tuple(c for c in AttackCategory if any(c in those for those in attacked_by.values()))
    return [
        Task(
            _task_name(condition, names.get(source or "", ""), categories, every),
            condition,
            source,
            categories,
            tuple(found),
        )
        for (condition, source, categories), found in places.items()
    ]


def groups_of(tasks: Sequence[Task]) -> list[Group]:
    """Groups by condition, by attack category and, where there are several, by data set.

    A group of one condition gives the pooled accuracy over its prompts. Those that hold both
    conditions give none: a mean of source and attacked accuracy says nothing.
    """
    paired = [task for task in tasks if task.condition != "control"]
    groups = [_aggregated(f"{ROOT}_{condition}", paired, condition) for condition in _CONDITIONS]
    top = [group.name for group in groups]
    for category in AttackCategory:
        part = [task for task in paired if category in task.categories]
        groups += _pair(f"{ROOT}_{category}", part, top)
    names = source_names([task.source or "" for task in paired])
    for source, name in names.items() if len(names) > 1 else ():
        groups += _pair(f"{ROOT}_{name}", [task for task in paired if task.source == source], top)
    top += [task.name for task in tasks if task.condition == "control"]
    return [Group(ROOT, tuple(top), aggregated=False), *groups]


def source_names(sources: Sequence[str]) -> dict[str, str]:
    """A name for each data set that may stand in a task's name: a-z, 0-9 and single underscores.

    >>> source_names(["bbq", "My Items!", "my-items", "text_attack"])
    {'bbq': 'bbq', 'My Items!': 'my_items', 'my-items': 'set_3', 'text_attack': 'set_4'}
    """
    names: dict[str, str] = {}
    for number, source in enumerate(dict.fromkeys(sources), start=1):
        name = _OTHER.sub("_", source.lower()).strip("_")[:_LONGEST_NAME].strip("_")
        taken = name in names.values() or _RESERVED.search(name)
        names[source] = name if name and not taken else f"set_{number}"
    return names


def metrics_of(scoring: Scoring) -> tuple[str, ...]:
    """The metrics to print: three letters have one length, so that all would be the same."""
    return ("acc",) if scoring == "letters" else ("acc", "acc_norm", "acc_bytes")


def task_yaml(task: Task, scoring: Scoring, export: str) -> str:
    """The YAML of a task whose documents lie in `NAME.jsonl` beside it.

    Args:
        task: the task.
        scoring: what the continuations are.
        export: the checksum of all documents, to be found again in the results.
    """
    metrics = [
        {"metric": name, "aggregation": "mean", "higher_is_better": True}
        for name in metrics_of(scoring)
    ]
    return _yaml(
        {
            "task": task.name,
            "dataset_kwargs": {"askew_file": f"{task.name}.jsonl"},
            "test_split": "test",
            "output_type": "multiple_choice",
            # Names of columns, so that the texts are taken as they are and no template reads them.
            "doc_to_text": "prompt",
            "doc_to_choice": "choices",
            "doc_to_target": "target",
            "target_delimiter": " ",
            # The shots are in the prompts; a 0 here is not overruled by --num_fewshot.
            "num_fewshot": 0,
            "metric_list": metrics,
            "metadata": {"version": VERSION, "askew_export": export},
        },
        f"custom_dataset: !function {DOCUMENTS_MODULE}.load\n",
    )


def group_yaml(group: Group, scoring: Scoring) -> str:
    """The YAML of a group."""
    fields: dict[str, object] = {"group": group.name, "task": list(group.members)}
    if group.aggregated:
        fields["aggregate_metric_list"] = [
            {"metric": name, "aggregation": "mean", "weight_by_size": True}
            for name in metrics_of(scoring)
        ]
    return _yaml({**fields, "metadata": {"version": VERSION}})


def _categories(asked: Sequence[Asked]) -> dict[str, tuple[AttackCategory, ...]]:
    """Item -> the categories in which it is attacked, in their own order."""
    found: dict[str, set[AttackCategory]] = defaultdict(set)
    for one in asked:
        if one.scenario is not None:
            found[one.item.id].add(one.scenario.category)
    return {
        item: tuple(category for category in AttackCategory if category in those)
        for item, those in found.items()
    }


def _task_name(
    condition: str,
    source: str,
    categories: tuple[AttackCategory, ...],
    every: tuple[AttackCategory, ...],
) -> str:
    named = ("all_categories",) if len(categories) > 1 and categories == every else categories
    return "_".join(filter(None, [ROOT, source, *named, condition]))


def _aggregated(name: str, tasks: Sequence[Task], condition: str) -> Group:
    return Group(
        name, tuple(task.name for task in tasks if task.condition == condition), aggregated=True
    )


def _pair(name: str, tasks: Sequence[Task], top: list[str]) -> list[Group]:
    """The group `name` of both conditions with a group for each; entered in `top` if it has any."""
    if not tasks:
        return []
    top.append(name)
    parts = [_aggregated(f"{name}_{condition}", tasks, condition) for condition in _CONDITIONS]
    return [Group(name, tuple(part.name for part in parts), aggregated=False), *parts]


def _yaml(fields: Mapping[str, object], first: str = "") -> str:
    # Every JSON value is YAML; the names in it are ASCII.
    return first + "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
