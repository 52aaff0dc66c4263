"""Which tables can be printed of clinical runs, by the layout's name."""

from __future__ import annotations

from collections.abc import Sequence

from askew.report import clinical_paper_tables as paper
from askew.report.clinical_table import run_table
from askew.report.grid import Table
from askew.report.which_audit import part_of
from askew.runfolder import RunFolder
from askew.vignettes import Facts


def clinical_tables(layout: str, folders: Sequence[RunFolder], *, intervals: bool) -> list[Table]:
    """The tables of one layout over runs; several runs are several targets.

    Args:
        layout: "run", or the name of one of the paper's tables or figures.
        folders: of clinical runs.
        intervals: whether to show them to people; machines get them anyway.
    """
    figures = [part_of(folder.read_estimates(), "clinical") for folder in folders]
    names = [folder.path.resolve().name for folder in folders]
    match layout:
        case "table-1":
            return [paper.table_1(figures, intervals=intervals, names=names)]
        case "table-2":
            made = (paper.table_2, paper.reference_table)
            return [table(figures, intervals=intervals, names=names) for table in made]
        case "table-3":
            return paper.table_3(figures, intervals=intervals, names=names)
        case "table-5":
            unfiltered = [relations_without_filter(folder) for folder in folders]
            return [paper.table_5(figures, unfiltered=unfiltered, names=names)]
        case "table-6":
            return [paper.table_6(figures, intervals=intervals, names=names)]
        case "figure-5":
            return [paper.figure_5(figures, intervals=intervals, names=names)]
        case _:
            several = len(folders) > 1
            return [
                table
                for name, figure in zip(names, figures, strict=True)
                for table in run_table(figure, name if several else "")
                if table.rows
            ]


def relations_without_filter(folder: RunFolder) -> int | None:
    """Relations that were read before the filter of Eq. (1); None where the folder has no facts."""
    found = folder.read_parts("facts", Facts)
    return sum(len(one.triplets) + len(one.left_out) for one in found) if found else None
