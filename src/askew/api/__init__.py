"""askew from Python: items, an audit, and a run's rows, in a script or a notebook.

`load`, `load_items` and `load_vignettes` read data sets, `extract_facts` a clinical text; `plan`,
`plan_clinical` and `plan_boundary` say what an audit would ask and cost; `flex`, `clinical` and
`boundary` run it, and go on with one that was stopped; `plan_audit` and `audit` do so for several
in one folder; `plan_sweep` and `sweep` run one file over several models, seeds and data; `open_run`
opens a run folder. `import askew` offers them all by their names. Nothing
heavy is imported before it is used.
"""

from askew.api.boundary_audit import PlannedBoundary, boundary, plan_boundary
from askew.api.clinical_audit import PlannedClinical, clinical, plan_clinical
from askew.api.data import extract_facts, load, load_items, load_vignettes
from askew.api.ending import IncompleteRun
from askew.api.flex_audit import Planned, flex, plan
from askew.api.results import Run, open_run
from askew.api.sweeping import Swept, plan_sweep, sweep
from askew.api.whole_audit import audit, plan_audit

__all__ = [
    "IncompleteRun",
    "Planned",
    "PlannedBoundary",
    "PlannedClinical",
    "Run",
    "Swept",
    "audit",
    "boundary",
    "clinical",
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
