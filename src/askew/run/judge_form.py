"""In which form a run's judges are asked. A run goes on as it was begun: nothing is paid twice.

Runs from before there were marks (`prompts.marked`) say nothing of a form: they were asked plainly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from askew.errors import ConfigError
from askew.prompts.marked import JudgeForm
from askew.runfile import RunFile, read_run_file

_NAMES = {"clinical": "clinical.judge.form", "boundary": "boundary.judge_form"}


def judge_form(run: RunFile) -> str:
    """The form that a run of one audit names: "marked", "plain", or "auto" for none."""
    if run.clinical is not None:
        return run.clinical.judge.form
    return "auto" if run.boundary is None else run.boundary.judge_form


def judged_as_begun(run: RunFile, path: Path, named: str | None = None) -> RunFile:
    """The settings of one audit with the form of its judges' prompts settled.

    Args:
        run: as it is written.
        path: the run's folder, there or not.
        named: the form that the user names, where `run` was settled before; None: as in `run`.

    Raises:
        ConfigError: the run was begun in another form than is named now.
    """
    (audit,) = run.audits
    if audit not in _NAMES:
        return run
    wanted, begun = named or judge_form(run), _begun(path, audit)
    if begun is not None and wanted not in ("auto", begun):
        raise ConfigError(
            f'{path} holds a run whose judges were asked in the form "{begun}", and '
            f'{_NAMES[audit]} is "{wanted}". Leave the setting out to go on in that form, or name '
            "another folder with --out."
        )
    form = begun or ("marked" if wanted == "auto" else wanted)
    table: Any = getattr(run, audit)
    if audit == "clinical":
        judge = table.judge.model_copy(update={"form": form})
        return run.model_copy(update={audit: table.model_copy(update={"judge": judge})})
    return run.model_copy(update={audit: table.model_copy(update={"judge_form": form})})


def _begun(path: Path, audit: Any) -> JudgeForm | None:
    """The form in which the folder's judges were asked; None where it holds no run of the audit."""
    if not (path / "run.toml").is_file():
        return None
    there = read_run_file(path / "run.toml")
    if audit not in there.audits:
        return None
    return "marked" if judge_form(there.part(audit)) == "marked" else "plain"
