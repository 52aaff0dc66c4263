"""askew from Python: items, an audit, and a run's rows, in a script or a notebook.

`load` and `load_items` read data sets; `plan` says what an audit would ask and cost; `flex` runs
it, and goes on with one that was stopped; `open_run` opens a run folder. `import askew` offers them
all by their names. Nothing heavy is imported before it is used.
"""

from askew.api.audit import IncompleteRun, Planned, flex, plan
from askew.api.data import load, load_items
from askew.api.results import Run, open_run

__all__ = ["IncompleteRun", "Planned", "Run", "flex", "load", "load_items", "open_run", "plan"]
