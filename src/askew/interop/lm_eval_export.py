"""A study -> a folder of tasks that lm-evaluation-harness runs as they are, offline."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from askew import __version__
from askew.audits import flex
from askew.audits.flex import Asked, Study
from askew.durable import sync_folder, sync_tree
from askew.errors import ConfigError, RunError
from askew.interop.lm_eval_folder import (
    FORMAT,
    ITEMS,
    MANIFEST,
    SETTINGS,
    SUMS,
    Document,
    checksums,
)
from askew.interop.lm_eval_tasks import (
    DOCUMENTS_MODULE,
    ROOT,
    Group,
    Task,
    group_yaml,
    groups_of,
    metrics_of,
    source_names,
    task_yaml,
    tasks_of,
)
from askew.prompts.choice import Scoring
from askew.records import Item
from askew.runfile import RunFile, write_run_file
from askew.runfolder import canonical_hash, is_taken, json_line, json_text

_BLANK = " "  # the harness's target delimiter, as `prompts.choice` puts it before each choice


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    tasks: int
    pairs: int
    sources: int  # source prompts
    controls: int
    left_out: dict[str, str]


def export_tasks(run: RunFile, folder: Path) -> Exported:
    """Write the questions of `run` as tasks; `folder` appears when all of it is written.

    Args:
        run: settings; the model in them is not asked. "auto" means the plain form and letters.
        folder: is not there yet, or is empty.

    Raises:
        ConfigError: the settings want what a likelihood task cannot do, or there is nothing to ask.
        DataError: the data cannot be read.
        RunError: the folder is in use, or cannot be written.
    """
    run = likelihood_settings(run)
    folder = folder.resolve()
    _check_free(folder)
    config = run.flex_config()
    study = flex.load_study(config, run.seed)
    asked = flex.questions(study, config, run.seed)
    conditions = Counter(one.condition for one in asked)
    if not conditions["attacked"]:
        reasons = "; ".join(f"{what}: {why}" for what, why in study.left_out.items())
        raise ConfigError(
            f"there is nothing to export: no item can be put under a scenario"
            f"{f' ({reasons})' if reasons else ''}. Ask for other categories, or choose other data."
        )
    tasks = tasks_of(asked)
    _write(folder, _contents(run, study, asked, tasks))
    return Exported(
        folder,
        len(tasks),
        conditions["attacked"],
        conditions["source"],
        conditions["control"],
        dict(study.left_out),
    )


def likelihood_settings(run: RunFile) -> RunFile:
    """The settings with "auto" settled as the harness can ask: plain text, and letters.

    Raises:
        ConfigError: the chat form or replies are asked for by name.
    """
    if run.flex.prompt == "chat":
        raise ConfigError(
            "flex.prompt is 'chat', and lm-evaluation-harness puts its own chat template around "
            "its prompts, so that its log-likelihoods would be of other texts than askew's. "
            "Export with --prompt flex, or leave it out."
        )
    if run.flex.scoring == "reply":
        raise ConfigError(
            "flex.scoring is 'reply', and the exported tasks score given continuations. "
            "Export with --scoring letters or --scoring texts."
        )
    scoring = "letters" if run.flex.scoring == "auto" else run.flex.scoring
    table = run.flex.model_copy(update={"prompt": "flex", "scoring": scoring})
    return run.model_copy(update={"flex": table}).settled()


def _contents(
    run: RunFile, study: Study, asked: Sequence[Asked], tasks: Sequence[Task]
) -> dict[str, bytes]:
    """The folder's files, by name."""
    scoring = _scoring(run)
    documents = [_document(place, one) for place, one in enumerate(asked)]
    settings = write_run_file(_with_record(run, study))
    checksum = canonical_hash(documents)
    manifest = {
        "askew": __version__,
        "format": FORMAT,
        "checksum": checksum,
        "tasks": {task.name: len(task.places) for task in tasks},
        "sources": source_names([task.source for task in tasks if task.source is not None]),
        "metric": _metric(run),
        "notes": {
            "left_out": dict(study.left_out),
            "problems": dict(Counter(problem.kind for problem in study.problems)),
        },
    }
    groups = groups_of(tasks)
    texts = {
        MANIFEST: json_text(manifest),
        SETTINGS: settings,
        ITEMS: "".join(
            f"{json_line(_at_home(item))}\n" for item in (*study.items, *study.controls)
        ),
        "README.md": _readme(run, tasks, groups),
        f"{DOCUMENTS_MODULE}.py": _documents_module(),
    }
    for task in tasks:
        texts[f"{task.name}.yaml"] = task_yaml(task, scoring, checksum)
        texts[f"{task.name}.jsonl"] = "".join(
            f"{json_line(documents[place])}\n" for place in task.places
        )
    texts |= {f"{group.name}.yaml": group_yaml(group, scoring) for group in groups}
    contents = {name: text.encode() for name, text in texts.items()}
    return {**contents, SUMS: checksums(contents).encode()}


def _at_home(item: Item) -> Item:
    """The item without the folder that its file was read from, which may name a user."""
    provenance = replace(item.provenance, path=Path(item.provenance.path).name)
    return replace(item, provenance=provenance)


def _document(place: int, one: Asked) -> Document:
    """One question as the harness asks it and as `import` finds it again."""
    item = one.item
    assert one.prompt.text is not None  # the plain form
    return {
        "place": place,
        "item_id": item.id,
        "condition": one.condition,
        "category": one.scenario.category.value if one.scenario else "",
        "scenario": one.scenario.name if one.scenario else "",
        "order": list(one.order),
        "replicate": one.replicate,
        "source": item.source,
        "bias_type": item.bias_type,
        "prompt": one.prompt.text,
        "choices": [choice.removeprefix(_BLANK) for choice in one.prompt.choices],
        # The neutral option's place; in a control, that of the known answer.
        "target": one.order.index(item.answer),
    }


def _scoring(run: RunFile) -> Scoring:
    return "texts" if run.flex.scoring == "texts" else "letters"


def _metric(run: RunFile) -> str:
    """The metric that reads the log-likelihoods as askew will; letters are always summed."""
    return "acc_bytes" if (_scoring(run), run.flex.normalise) == ("texts", "bytes") else "acc"


def _with_record(run: RunFile, study: Study) -> RunFile:
    record = {
        "askew": __version__,
        "python": platform.python_version(),
        "data": dict(study.checksums),
    }
    # Of the model only how it would be drawn from is part of a question; addresses, options and
    # where the data lie are nobody's business who is handed the tasks.
    nobody: dict[str, object] = {
        "base_url": None,
        "api_key_env": None,
        "adapter": None,
        "options": {},
    }
    target = run.target.model_copy(update=nobody)
    data = tuple(one.model_copy(update={"path": None}) for one in run.flex.data)
    return run.model_copy(
        update={
            "record": record,
            "out": None,
            "reuse": (),
            "prices": None,
            "models": {"target": target},
            "flex": run.flex.model_copy(update={"data": data}),
        }
    )


def _documents_module() -> str:
    return files("askew.interop").joinpath("lm_eval_documents.py").read_text(encoding="utf-8")


def _readme(run: RunFile, tasks: Sequence[Task], groups: Sequence[Group]) -> str:
    names = "\n".join(
        f"- `{task.name}`: {len(task.places):,} prompts"
        for task in sorted(tasks, key=lambda task: task.name)
    )
    grouped = "\n".join(
        f"- `{group.name}`{': accuracy over its prompts' if group.aggregated else ''}"
        for group in groups
    )
    metrics = ", ".join(f"`{name}`" for name in metrics_of(_scoring(run)))
    return f"""# FLEX as tasks of lm-evaluation-harness

Written by askew {__version__}. Run them from anywhere, without a network:

    lm_eval --include_path DIR --tasks {ROOT} --model hf \\
        --model_args pretrained=MODEL,dtype=float32 --output_path OUT --log_samples
    askew import lm-eval OUT --tasks DIR

DIR is this folder. Each prompt has three continuations, and the target is the option that says
that the answer cannot be known (in `{ROOT}_control`, the known answer), so that accuracy is the
share of neutral answers. Printed: {metrics}; askew's own reading is `{_metric(run)}`.
The attack success rate needs both conditions of each item: `askew import lm-eval` has it.

Do not add --apply_chat_template or --system_instruction: they change the prompts.

## Tasks

{names}

## Groups

{grouped}
"""


def _check_free(folder: Path) -> None:
    if is_taken(folder):
        raise RunError(
            f"{folder} is there already. Name another folder, or delete this one: tasks of an "
            "earlier export beside new ones would be run with them."
        )


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    """Write the files beside the place where they belong, and move them there in one step."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".exporting-", dir=folder.parent) as temporary:
            part = Path(temporary) / "tasks"
            part.mkdir()
            for name, content in contents.items():
                (part / name).write_bytes(content)
            sync_tree(part)
            part.replace(folder)
            sync_folder(folder.parent)
    except OSError as trouble:
        raise RunError(
            f"{folder} cannot be written: {trouble.strerror or trouble}. Name another place, or "
            "see to the folder and its free space."
        ) from trouble
