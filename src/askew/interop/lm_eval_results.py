"""The output folder of lm-evaluation-harness: which runs are in it, and of which model each is.

One start of the harness writes `results_DATE.json` and, with --log_samples, one
`samples_TASK_DATE.jsonl` a task beside it. A folder may hold several starts and several models.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askew.errors import DataError
from askew.models.callkey import canonical_json
from askew.models.imported import PROVIDER
from askew.runfolder import without_surrogates

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)")
# Model arguments that must not be kept, unless they only say yes or no: `add_bos_token=True`.
_SECRET = re.compile(
    r"(?:^|[_-]|api|access|auth|secret|private)"
    r"(?:keys?|token|secrets?|passwords?|passphrase|passwd|pwd|credentials?|auth|authorization|"
    r"bearer|headers?|cookies?)$",
    re.I,
)
_NAMING = ("pretrained", "model", "path", "engine")  # model arguments that name the model
_ADDED = ("peft", "delta")  # what is put on top of it


@dataclass(frozen=True, slots=True)
class HarnessRun:
    """One start of the harness: its results file, and the samples of the tasks that are wanted."""

    results: Path
    date: str
    samples: Mapping[str, Path]  # by task
    identity: Mapping[str, object]  # what can change an answer, as JSON values; no secret
    name: str  # "lm-eval/hf/SmolLM2-135M"
    text: Mapping[str, Any]  # the results file

    @property
    def version(self) -> str:
        """Of the harness."""
        return str(self.text.get("lm_eval_version", "of unknown version"))

    @property
    def exports(self) -> Mapping[str, object]:
        """Task -> the checksum of the export that it was made of, where the results say so."""
        found = {}
        for task, config in _table(self.text, "configs").items():
            metadata = config.get("metadata") if isinstance(config, dict) else None
            if isinstance(metadata, dict) and "askew_export" in metadata:
                found[task] = metadata["askew_export"]
        return found

    @property
    def what_changed_the_prompts(self) -> str:
        """Settings of this start that put something around a prompt, "" if there are none."""
        told = {
            "--apply_chat_template": self.text.get("chat_template"),
            "--system_instruction": self.text.get("system_instruction"),
        }
        return " and ".join(option for option, given in told.items() if given)

    def __str__(self) -> str:
        """What tells this start from others."""
        settings = [str(self.identity[key]) for key in ("dtype", "device") if key in self.identity]
        return f"{self.name.removeprefix(f'{PROVIDER}/')} of {self.date} ({', '.join(settings)})"


def find_runs(paths: Sequence[Path], tasks: Collection[str]) -> tuple[list[HarnessRun], list[Path]]:
    """The starts of the harness that have samples of `tasks`, oldest first.

    Args:
        paths: folders, searched with all that is below them, or samples files.
        tasks: the tasks that are wanted.

    Returns:
        The starts, and the samples files of other tasks that lay beside them.

    Raises:
        DataError: there are none; a file that was named is of another task; a results file is
            missing or damaged.
    """
    groups: dict[tuple[Path, str], dict[str, Path]] = {}
    aside = []
    for path, named in _samples_files(paths):
        match = _SAMPLES.fullmatch(path.stem)
        if match is None:
            raise DataError(
                f"{path} is not named as lm-evaluation-harness names its samples "
                "(samples_TASK_DATE.jsonl). Give it its name back, or name the harness's folder."
            )
        if match["task"] in tasks:
            groups.setdefault((path.parent, match["date"]), {})[match["task"]] = path
        elif named:
            raise DataError(
                f"{path} holds samples of the task {match['task']!r}, which is none of these "
                "tasks. Name the folder of the export that it belongs to with --tasks."
            )
        else:
            aside.append(path)
    if not groups:
        seen = f" ({len(aside)} files of other tasks)" if aside else ""
        where = ", ".join(map(str, paths))
        raise DataError(
            f"{where}: no samples of these tasks{seen}. Run lm_eval with --log_samples and "
            "--output_path, and name that folder."
        )
    runs = [_run(folder, date, samples) for (folder, date), samples in groups.items()]
    return sorted(runs, key=lambda run: run.date), aside


def choose(runs: Sequence[HarnessRun], model: str | None, date: str | None) -> list[HarnessRun]:
    """The starts of one model, with the same weights and settings.

    Args:
        runs: what was found.
        model: a model's name, in full or its last part; None where there is only one.
        date: the beginning of the date in the files' names.

    Raises:
        DataError: none fits, or they are of more than one model.
    """
    fitting = [
        run
        for run in runs
        if (model is None or _is_called(run, model)) and run.date.startswith(date or "")
    ]
    listed = "; ".join(map(str, runs))
    if not fitting:
        wanted = " and ".join(
            f"{option} {value}" for option, value in (("--model", model), ("--date", date)) if value
        )
        raise DataError(f"no run of the harness fits {wanted}. There are: {listed}.")
    if len({canonical_json(run.identity) for run in fitting}) > 1:
        raise DataError(
            f"the samples are of more than one model, or of one under several settings: "
            f"{'; '.join(map(str, fitting))}. Choose with --model NAME or --date DATE, or name the "
            "folder of one."
        )
    return fitting


def _samples_files(paths: Iterable[Path]) -> list[tuple[Path, bool]]:
    """Each samples file once, and whether it was named itself."""
    found: dict[Path, tuple[Path, bool]] = {}
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("samples_*.jsonl")):
                found.setdefault(file.resolve(), (file, False))
        elif path.is_file():
            found[path.resolve()] = (path, True)
        else:
            raise DataError(
                f"{path}: no such file or folder. Name what lm_eval was given as --output_path."
            )
    return list(found.values())


def _run(folder: Path, date: str, samples: Mapping[str, Path]) -> HarnessRun:
    results = _results_file(folder, date, next(iter(samples.values())))
    try:
        text = json.loads(results.read_bytes())
    except (OSError, ValueError, RecursionError) as trouble:
        raise DataError(
            f"{results} cannot be read: {trouble}. Copy the whole file, or run lm_eval again."
        ) from trouble
    if not isinstance(text, dict) or not isinstance(text.get("config"), dict):
        raise DataError(
            f"{results}: field 'config' is missing, expected the model that was asked. "
            "Take the results file that lm_eval has written beside the samples."
        )
    identity = _identity(text)
    return HarnessRun(results, date, samples, identity, _name(identity), text)


def _results_file(folder: Path, date: str, samples: Path) -> Path:
    usual = folder / f"results_{date}.json"
    if usual.is_file():
        return usual
    # With an --output_path that ends in .json, its stem stands in place of "results".
    others = sorted(folder.glob(f"*_{date}.json"))
    if len(others) != 1:
        raise DataError(
            f"{samples}: {usual.name} is not beside it, so that nobody can tell which model was "
            "asked. Put the harness's results file there."
        )
    return others[0]


def _identity(text: Mapping[str, Any]) -> dict[str, object]:
    """What can change an answer: the model, its settings, and the harness that asked."""
    config = text["config"]
    found = {
        "model": config.get("model"),
        "model_args": _arguments(config.get("model_args")),
        "revision": config.get("model_revision"),
        "sha": config.get("model_sha"),
        "dtype": config.get("model_dtype"),
        "parameters": config.get("model_num_parameters"),
        "device": config.get("device"),
        "lm_eval": text.get("lm_eval_version"),
        "transformers": text.get("transformers_version"),
    }
    kept = {key: value for key, value in found.items() if value not in (None, "", {})}
    return {"provider": PROVIDER, **_kept(kept)}


def _arguments(found: object) -> dict[str, object]:
    """The model's arguments; earlier versions keep the text "key=value,key=value"."""
    if isinstance(found, Mapping):
        return dict(found)
    parts = (part.partition("=") for part in str(found or "").split(",") if part.strip())
    return {key.strip(): value.strip() for key, _, value in parts}


def _kept(value: Any) -> Any:
    """A setting as a run folder may keep it: no secret, no null, and text that is UTF-8."""
    if isinstance(value, Mapping):
        return {
            without_surrogates(key): _kept(part)
            for key, part in value.items()
            if part is not None and (isinstance(part, bool) or not _SECRET.search(key))
        }
    if isinstance(value, list):
        return [_kept(part) for part in value if part is not None]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # neither JSON nor the settings have a word for it
    if not isinstance(value, str) or "://" not in value:
        return without_surrogates(value) if isinstance(value, str) else value
    # Of an address neither the user and password nor the query, which may hold a key.
    scheme, _, rest = without_surrogates(value).partition("://")
    place, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}/{path}"


def _name(identity: Mapping[str, object]) -> str:
    """The model's name in the run: provider, the harness's model class, and the model."""
    arguments = _table(identity, "model_args")
    parts = [_short(arguments[key]) for key in (*_NAMING, *_ADDED) if arguments.get(key)]
    model = _short(identity.get("model"))
    # A model object that was handed over in Python is named by its folder alone.
    name = f"{model}/{'+'.join(parts)}" if parts else model
    return f"{PROVIDER}/{'-'.join(name.split())}"


def _short(value: object) -> str:
    """A hub name as it is, of a path the last part."""
    text = str(value or "").rstrip("/\\") or "unknown"
    return text if re.fullmatch(r"[^/\\]+/[^/\\]+", text) else re.split(r"[/\\]", text)[-1]


def _is_called(run: HarnessRun, wanted: str) -> bool:
    name = run.name.removeprefix(f"{PROVIDER}/")
    arguments = _table(run.identity, "model_args")
    names = {run.name, name, name.partition("/")[2], name.rpartition("/")[2]}
    return wanted in names | {str(arguments[key]) for key in _NAMING if key in arguments}


def _table(text: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = text.get(name)
    return found if isinstance(found, Mapping) else {}
