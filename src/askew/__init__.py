"""askew finds where a language model leans.

>>> import askew
>>> run = askew.flex("builtin/smollm2", items=6)  # doctest: +SKIP
>>> run.estimate("flex.attack_success_rate.overall")  # doctest: +SKIP

The names below are imported when they are first used, so that `import askew` stays quick.
"""

TYPE_CHECKING = False  # true to type checkers; `typing` alone would take most of the time
if TYPE_CHECKING:
    from askew.api import (
        IncompleteRun,
        Planned,
        PlannedBoundary,
        PlannedClinical,
        Run,
        Swept,
        audit,
        boundary,
        clinical,
        extract_facts,
        flex,
        load,
        load_items,
        load_vignettes,
        open_run,
        plan,
        plan_audit,
        plan_boundary,
        plan_clinical,
        plan_sweep,
        sweep,
    )
    from askew.datasets import DataSpec, Loaded
    from askew.errors import AskewError
    from askew.records import Estimate, Item
    from askew.report.compare import compare
    from askew.vignettes import Vignette

__version__ = "0.1.0"

__all__ = [
    "AskewError",
    "DataSpec",
    "Estimate",
    "IncompleteRun",
    "Item",
    "Loaded",
    "Planned",
    "PlannedBoundary",
    "PlannedClinical",
    "Run",
    "Swept",
    "Vignette",
    "__version__",
    "audit",
    "boundary",
    "clinical",
    "compare",
    "extract_facts",
    "flex",
    "load",
    "load_items",
    "load_vignettes",
    "open_run",
    "plan",
    "plan_audit",
    "plan_boundary",
    "plan_clinical",
    "plan_sweep",
    "sweep",
]

_HOMES = {
    "AskewError": "askew.errors",
    "DataSpec": "askew.datasets",
    "Estimate": "askew.records",
    "Item": "askew.records",
    "Loaded": "askew.datasets",
    "Vignette": "askew.vignettes",
    "compare": "askew.report.compare",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(_HOMES.get(name, "askew.api")), name)
    globals()[name] = found  # looked up once
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
