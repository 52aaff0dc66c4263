"""Wikipedia's SQL dumps to a graph of topics: categories, and which stands under which.

Files: `page`, `categorylinks`, since 2025 `linktarget`; `page_props` tells hidden categories,
`redirect` where category redirects lead, `category` how many subcategories MediaWiki counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.datasets.packed import Progress
from askew.datasets.sql_rows import SqlTable
from askew.datasets.wikipedia_files import DumpFiles, dump_files
from askew.datasets.wikipedia_tables import (
    CategoryPages,
    Links,
    Reading,
    read_hidden,
    read_links,
    read_pages,
    read_redirects,
    read_subcategory_count,
    read_targets,
)
from askew.errors import DataError
from askew.graphs.topic_import import DropOrKeep, Pruning, check_choice, distinct, finish, told
from askew.graphs.topics import ImportedGraph, TopicGraph, build_graph

_FEWER = 0.9  # share of MediaWiki's own count of subcategories below which a note is due
_MOST_LOST = 0.5  # share of the links without an end from which the files cannot belong together


def read_dump(
    source: Path | str | Iterable[Path | str],
    *,
    keep_red: bool = False,
    hidden: DropOrKeep = "drop",
    maintenance: DropOrKeep = "drop",
    drop_containers: bool = False,
    drop_below: Sequence[str] = (),
    progress: Progress | None = None,
) -> ImportedGraph:
    """Read the category graph of a Wikipedia, or of any MediaWiki.

    Redirects, self-loops and repeated links are left out. What was left out, and why, is counted.

    Args:
        source: a folder with the dump's files, or the files.
        keep_red: keep categories that have links and no page. They get the ids -1, -2, ...
        hidden: what to do with categories marked as hidden in `page_props`.
        maintenance: what to do with maintenance categories, told by name and by what they stand
            under (`topic_maintenance`).
        drop_containers: see `maintenance_nodes`.
        drop_below: titles; these categories and all below them are left out. Cycles lead from
            many of Wikipedia's administrative categories back to its topics: look at the counts.
        progress: told how far each file was read.

    Returns:
        The graph, its nodes in the order of the file of pages and with page ids as ids; counts of
        what was kept and left out; sentences for the reader.

    Raises:
        DataError: a file is missing, damaged, cut off or of an unknown layout; there is no
            category; no link between two categories is left.
        MissingDependency: numba is not installed.
    """
    check_choice("hidden", hidden)
    check_choice("maintenance", maintenance)
    files = dump_files(
        Path(source) if isinstance(source, Path | str) else [Path(path) for path in source]
    )
    reading = Reading(progress)
    reading.notes += files.notes
    categories, links = _read_links(files, reading)
    links = _without_redirects(files, categories, links, reading)
    graph = _whole_graph(files, categories, links, keep_red, reading)
    hidden_nodes = _hidden(files, categories, graph, reading)
    if hidden == "drop" and hidden_nodes is None:
        reading.notes.append(
            "No file of page_props: hidden categories are not told apart. Add it to leave them out."
        )
    elif hidden == "drop" and not reading.counts["hidden"]:
        reading.notes.append(
            f"None of the {reading.counts['page_props_rows']:,} rows of page_props marks a "
            "category as hidden. Check that the file is whole and of the same dump."
        )
    dropped = hidden_nodes if hidden == "drop" else None
    _compare_with_own_count(files, reading)
    pruning = Pruning(maintenance, drop_containers, drop_below)
    return finish(files.source, graph, pruning, reading.counts, reading.notes, dropped)


def _read_links(files: DumpFiles, reading: Reading) -> tuple[CategoryPages, Links]:
    pages = files.need("page", "which names the categories")
    path = files.need("categorylinks", "which says what stands under what")
    targets = None
    # The head is read first: a missing file should be named before minutes of reading.
    by_id = "cl_target_id" in SqlTable(path, "categorylinks").columns()
    if by_id:
        needed = files.need(
            "linktarget",
            f"to which cl_target_id in {path.name} points (so do all dumps since 2025)",
        )
    categories = read_pages(pages, reading)
    if by_id:
        targets = read_targets(needed, categories, reading)
    links = read_links(path, categories, targets, reading)
    counts = reading.counts
    lost = counts["links_from_missing_pages"] + counts["links_without_linktarget"]
    if not len(links.children) or lost > _MOST_LOST * counts["subcategory_links"]:
        raise DataError(
            f"{path}: {len(links.children):,} subcategory links can be used: of "
            f"{counts['categorylinks_rows']:,} rows {counts['subcategory_links']:,} are of type "
            f"'subcat', {counts['links_from_missing_pages']:,} of them from pages that are no "
            f"categories and {counts['links_without_linktarget']:,} to targets that are not in "
            "linktarget. Check that all files are whole and of the same dump."
        )
    return categories, links


def _without_redirects(
    files: DumpFiles, categories: CategoryPages, links: Links, reading: Reading
) -> Links:
    counts = reading.counts
    counts["redirect_pages"] = int(categories.redirect.sum())
    leads = np.full(categories.pages, -1, np.int64)
    if "redirect" in files.paths:
        leads = read_redirects(files.paths["redirect"], categories, reading)
    elif counts["redirect_pages"]:
        reading.notes.append(
            "No file of redirect: links to category redirects are left out. Add it to follow them."
        )
    redirect = np.zeros(len(categories.names), bool)
    redirect[: categories.pages] = categories.redirect
    from_redirect = redirect[links.children]
    to_redirect = redirect[links.parents] & ~from_redirect
    parents = links.parents.copy()
    parents[to_redirect] = leads[parents[to_redirect]]
    lost = to_redirect & (parents < 0)
    counts["links_from_redirects"] = int(from_redirect.sum())
    counts["links_to_redirects_followed"] = int((to_redirect & ~lost).sum())
    counts["links_to_redirects_dropped"] = int(lost.sum())
    kept = ~from_redirect & ~lost
    return Links(links.children[kept], parents[kept])


def _whole_graph(
    files: DumpFiles, categories: CategoryPages, links: Links, keep_red: bool, reading: Reading
) -> TopicGraph:
    """The graph with its hidden and maintenance categories, as the latter are told by place."""
    counts, pages = reading.counts, categories.pages
    to_red = links.parents >= pages
    red = distinct(links.parents[to_red])
    counts["red_categories"] = len(red)
    counts["links_to_red_categories"] = int(to_red.sum())
    kept = np.zeros(len(categories.names), bool)
    kept[:pages] = ~categories.redirect
    red_titles: list[str] = []
    if keep_red:
        for number in red.tolist():
            try:
                title = categories.names[number].decode("utf-8")
            except UnicodeDecodeError:
                title = ""
            if title:
                red_titles.append(title)
                kept[number] = True
            else:
                counts["bad_red_titles"] += 1
        if counts["bad_red_titles"]:
            reading.notes.append(
                f"{counts['bad_red_titles']:,} categories without a page are left out, as their "
                "titles are not UTF-8 or empty."
            )
    inside = kept[links.children] & kept[links.parents]
    children, parents = links.children[inside], links.parents[inside]
    loops = children == parents
    counts["self_loops"] = int(loops.sum())
    different = distinct(children[~loops] * len(kept) + parents[~loops])
    counts["duplicate_links"] = int((~loops).sum()) - len(different)
    if not len(different):
        raise DataError(
            f"{files.source}: no link between two categories is left: {told(counts)}. Check that "
            "all files are whole and of the same dump."
        )
    node = np.cumsum(kept) - 1
    with_page = kept[:pages]
    told_names = zip(categories.names.texts(), with_page.tolist(), strict=False)
    titles = [name.decode("utf-8") for name, wanted in told_names if wanted]
    titles += red_titles
    ids = np.concatenate([categories.ids[with_page], -1 - np.arange(len(red_titles))])
    return build_graph(
        [title.replace("_", " ") for title in titles],
        node[different // len(kept)],
        node[different % len(kept)],
        ids=ids,
    )


def _hidden(
    files: DumpFiles, categories: CategoryPages, graph: TopicGraph, reading: Reading
) -> NDArray[np.bool_] | None:
    """Shape (nodes,): which topics are hidden categories; None where that is not told."""
    if "page_props" not in files.paths:
        return None
    hidden = read_hidden(files.paths["page_props"], categories, reading)
    nodes = np.isin(graph.ids, categories.ids[hidden])
    reading.counts["hidden"] = int(nodes.sum())
    return nodes


def _compare_with_own_count(files: DumpFiles, reading: Reading) -> None:
    """A file that was cut off between two statements looks whole; MediaWiki's own count tells."""
    if "category" not in files.paths:
        return
    counted = read_subcategory_count(files.paths["category"], reading)
    reading.counts["subcategories_told"] = counted
    if reading.counts["subcategory_links"] < _FEWER * counted:
        reading.notes.append(
            f"The table category counts {counted:,} subcategories, categorylinks holds "
            f"{reading.counts['subcategory_links']:,} such links: a file is cut off, or they are "
            "of different days."
        )
