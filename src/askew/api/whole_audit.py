"""`askew.audit`: several audits of one model, to one plan and budget, in one folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askew.api.ending import errors_of, stopped_cleanly, warn_of_missing
from askew.api.results import Run
from askew.api.roles import Asked, with_roles
from askew.api.settings import (
    DEFAULT_MODEL,
    Chosen,
    Function,
    as_chosen,
    given,
    name_of,
    named_as_in_python,
)
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.run.audit import PartPlan

_TOP = ("out", "seed", "budget", "prices", "reuse", "unknown", "local_only", "retention", "redact")


def plan_audit(
    model: str | Function | None = None,
    *,
    preset: str = "quick",
    audits: Sequence[str] | None = None,
    judge: Asked | None = None,
    file: str | Path | None = None,
    **settings: object,
) -> list[PartPlan]:
    """What `audit` with the same arguments would ask and cost, part by part; asks nothing.

    Raises:
        AskewError: the run cannot be made as it is asked for.
    """
    from askew.run.audit import plan, prepare

    settings.pop("progress", None)
    wanted = _chosen(model, preset, audits, judge, file, settings)
    return plan(prepare(wanted.run, target=wanted.target))


def audit(
    model: str | Function | None = None,
    *,
    preset: str = "quick",
    audits: Sequence[str] | None = None,
    judge: Asked | None = None,
    file: str | Path | None = None,
    progress: bool = True,
    **settings: object,
) -> Run:
    """Run several audits of a model, or go on with them, as `askew audit` does.

    The same call again asks nothing that is recorded. It does not ask before it spends money: see
    `plan_audit`, and set a budget.

    Args:
        model: the target, "provider/model" (default: builtin/smollm2), or a function from a prompt
            to an answer. One that no module holds needs `**{"models.target.revision": "1"}`.
        preset: "quick", "standard" or "thorough"; not read where a file is given.
        audits: of "flex", "clinical", "boundary"; default: all three.
        judge: who judges answers, "provider/model" or a table of a run file; default: rules alone.
        file: a run file of one audit or several; what is given here goes before what it says.
        progress: whether stderr is told which part is under way.
        settings: `out`, `seed`, `budget`, `prices`, `reuse`, `unknown`, `local_only`, and any
            other by its dotted key: `**{"flex.items": 50, "boundary.queries": 40}`.

    Returns:
        The run, opened.

    Raises:
        AskewError: the run cannot be made as it is asked for.
        KeyboardInterrupt: Ctrl-C, once the run has stopped cleanly; what was received is kept.

    Warns:
        IncompleteRun: replies are missing.
    """
    from askew.models.background import run_in_background
    from askew.run.audit import execute, prepare

    if not isinstance(progress, bool):
        raise ConfigError(f"progress is {type(progress).__name__}, expected True or False.")
    wanted = _chosen(model, preset, audits, judge, file, settings)
    prepared = prepare(wanted.run, target=wanted.target)

    @contextmanager
    def watching(part: str) -> Iterator[None]:
        if progress and sys.stderr is not None:
            print(f"askew: {part}", file=sys.stderr)
        yield None

    with stopped_cleanly(prepared.path):
        done = run_in_background(
            lambda interrupts, _: execute(prepared, watching, interrupts), None
        )
    if done.incomplete:
        stops = [part for part in done.parts if part.stopped is not None]
        stopped = f"({stops[0].stopped}) in {stops[0].audit}: {stops[0].message}" if stops else ""
        warn_of_missing(
            done.folder.path,
            stopped=stopped,
            failed=sum(part.failed for part in done.parts),
            errors=errors_of(done.folder),
            unknown=sum(part.unknown for part in done.parts),
            missing=sum(part.missing for part in done.parts),
        )
    return Run(done.folder.path.resolve())


def _chosen(
    model: str | Function | None,
    preset: str,
    audits: Sequence[str] | None,
    judge: Asked | None,
    file: str | Path | None,
    settings: Mapping[str, object],
) -> Chosen:
    """What the arguments add up to.

    Raises:
        ConfigError: names the argument that is wrong.
    """
    from askew.runfile import AUDITS, checked, read_run_file
    from askew.runfile.presets import preset as values_of

    for name in settings:
        if "." not in name and name not in _TOP:
            raise ConfigError(
                f"there is no setting {name!r} of all audits together. Known: {', '.join(_TOP)}; "
                "name one of a single audit by its dotted key, such as 'flex.items'."
            )
    function = None if isinstance(model, str | None) else model
    named = model if isinstance(model, str) else None if function is None else name_of(function)
    if isinstance(audits, str):
        raise ConfigError(f"audits is a text, expected a list of names, such as [{audits!r}].")
    budget = settings.get("budget")
    if budget is not None and not isinstance(budget, Mapping):
        raise ConfigError("budget is no table, expected one such as {'calls': 500}.")
    spread = {f"budget.{name}": value for name, value in (budget or {}).items()}
    options = given(**{name: one for name, one in settings.items() if name != "budget"}, **spread)
    options = with_roles(options, given(judge=judge).items(), None)
    with named_as_in_python():
        if file is not None:
            if audits is not None:
                raise ConfigError("a file says which audits it holds. Leave out audits, or file.")
            target = {} if named is None else {"models.target.name": named}
            run = read_run_file(Path(file).expanduser(), {**options, **target})
        else:
            models: dict[str, dict[str, Any]] = {"target": {"name": named or DEFAULT_MODEL}}
            roles: dict[str, dict[str, Any]] = {"judge": {}} if judge is not None else {}
            values = values_of(preset, {**models, **roles}, AUDITS if audits is None else audits)
            run = checked(values, options, where="settings")
    return as_chosen(run, function)
