"""`askew boundary graph`: build a topic graph, look at it, cut a part out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError, DataError
from askew.report.words import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import TaskID

    from askew.datasets.packed import Progress
    from askew.graphs.topic_import import DropOrKeep
    from askew.graphs.topic_storage import StoredGraph
    from askew.graphs.topics import ImportedGraph, TopicGraph

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, help="Topic graphs: where to look."
)

STARTER = "starter"
NOT_FOUND = 1  # the exit code of a "no"


class Order(StrEnum):
    """Which column of a list of edges is which."""

    CHILD_FIRST = "child,parent"
    PARENT_FIRST = "parent,child"


Graph = Annotated[
    str, typer.Argument(metavar="GRAPH", help=f"A folder that `build` has made, or {STARTER}.")
]
Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the graph is kept.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a graph that is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


@app.command()
def build(
    out: Out,
    dump: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER|FILE",
            help="Wikipedia's SQL dumps: a folder, or each file (page, categorylinks, linktarget, "
            "page_props).",
        ),
    ] = None,
    skos: Annotated[
        Path | None, typer.Option(metavar="FILE", help="DBpedia's SKOS categories, .nt or .ttl.")
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER|FILE",
            help="A folder with nodes.tsv and edges.tsv, or a file with the columns child and "
            "parent.",
        ),
    ] = None,
    starter: Annotated[
        bool, typer.Option("--starter", help="The graph of six domains that comes with askew.")
    ] = False,
    order: Annotated[
        Order | None, typer.Option(help="Of the columns of --edges, where no header names them.")
    ] = None,
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Leave out and count rows of --edges that cannot be used."),
    ] = False,
    keep_maintenance: Annotated[
        bool,
        typer.Option(
            "--keep-maintenance", help="Keep categories that keep the encyclopedia in order."
        ),
    ] = False,
    drop_containers: Annotated[
        bool,
        typer.Option("--drop-containers", help="Drop members of Container categories as well."),
    ] = False,
    drop_below: Annotated[
        list[str] | None,
        typer.Option(metavar="TITLE", help="Drop this category and all below it. May be repeated."),
    ] = None,
    keep_red: Annotated[
        bool,
        typer.Option("--keep-red", help="Keep categories of --dump that have links and no page."),
    ] = False,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TITLE",
            help="A domain and its root: a topic is in the domain of the nearest root above it. "
            "May be repeated.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Read a graph, drop what is no topic, say what was dropped and why, and keep the rest."""
    from askew.graphs.topic_storage import check_place, save_graph
    from askew.graphs.topic_subgraph import with_domains

    given = {"--dump": dump, "--skos": skos, "--edges": edges, "--starter": starter or None}
    named = [name for name, value in given.items() if value]
    if len(named) != 1:
        found = " and ".join(named) or "none"
        raise ConfigError(
            f"sources: {found}; expected one of {', '.join(given)}. Name what to build from."
        )
    if edges is None and (order or lenient):
        raise ConfigError("--order and --lenient are for --edges. Leave them out.")
    if not (dump or skos) and (keep_maintenance or drop_containers or drop_below):
        raise ConfigError(
            "--keep-maintenance, --drop-containers and --drop-below are for --dump and --skos. "
            "Leave them out."
        )
    if keep_red and not dump:
        raise ConfigError("--keep-red is for --dump. Leave it out.")
    roots = _domains(domain or [])
    check_place(out, overwrite=force)  # before minutes are spent on reading
    maintenance: DropOrKeep = "keep" if keep_maintenance else "drop"
    if dump:
        from askew.graphs.wikipedia_dump import read_dump

        with _progress() as progress:
            made = read_dump(
                dump[0] if len(dump) == 1 else dump,
                keep_red=keep_red,
                hidden=maintenance,
                maintenance=maintenance,
                drop_containers=drop_containers,
                drop_below=drop_below or (),
                progress=progress,
            )
        source = "Wikipedia SQL dump " + ", ".join(path.name for path in dump)
    elif skos:
        from askew.graphs.skos import read_skos

        with _progress() as progress:
            made = read_skos(
                skos,
                maintenance=maintenance,
                drop_containers=drop_containers,
                drop_below=drop_below or (),
                progress=progress,
            )
        source = f"SKOS {skos.name}"
    elif edges:
        from askew.graphs.topic_edges import read_edges

        made = read_edges(edges, order=order.value if order else None, lenient=lenient)
        source = f"edges {edges.name}"
    else:
        made, source = _starter(), "askew's starter graph"
    graph = made.graph
    if roots:
        graph = with_domains(graph, _root_nodes(graph, roots))
    _check_not_empty(graph, ", ".join(f"{name} {count:,}" for name, count in made.counts.items()))
    save_graph(graph, out, source=source, counts=made.counts, notes=made.notes, overwrite=force)
    echo(f"Wrote {graph.size:,} topics and {graph.edges:,} edges to {shown(out)}.")
    _print_counts(made.counts, made.notes)


@app.command()
def show(graph: Graph, json: Json = False) -> None:
    """Print what a graph is like: size, degrees, parts, cycles, depth, domains."""
    from dataclasses import asdict

    from rich.table import Table

    from askew.graphs.topic_statistics import statistics
    from askew.runfolder import json_text

    stored = _open(graph, verify=True)
    found = statistics(stored.graph)
    if json:
        about = {
            "source": stored.source,
            "checksum": stored.checksum,
            "counts": dict(stored.counts),
            "notes": list(stored.notes),
            "statistics": asdict(found),
        }
        typer.echo(json_text(about), nl=False)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in [("source", stored.source), *found.rows()]:
        table.add_row(clean(name), clean(value))
    console().print(table)
    _print_counts(stored.counts, stored.notes)


@app.command()
def sub(
    graph: Graph,
    out: Out,
    root: Annotated[
        list[str] | None, typer.Option(metavar="TITLE", help="Start here; may be repeated.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=0, help="Steps down from the roots. Default: all.")
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A domain; may be repeated.")
    ] = None,
    largest_part: Annotated[
        bool, typer.Option("--largest-part", help="Keep the largest connected part alone.")
    ] = False,
    force: Force = False,
) -> None:
    """Cut out what stands below some topics, or the topics of a domain."""
    from askew.graphs.topic_storage import check_place, save_graph
    from askew.graphs.topic_subgraph import below, of_domains
    from askew.graphs.topic_subgraph import largest_part as largest_part_of

    if not (root or domain or largest_part):
        raise ConfigError("nothing says which part: name --root, --domain or --largest-part.")
    if depth is not None and not root:
        raise ConfigError("--depth counts from a root: name --root as well.")
    check_place(out, overwrite=force)
    stored = _open(graph)
    part = stored.graph
    if root:
        part = below(part, [part.node_of(title) for title in root], depth)
    if domain:
        part = of_domains(part, domain)
    if largest_part:
        part = largest_part_of(part)
    asked = [f"below {', '.join(root)}"] if root else []
    asked += [f"to depth {depth}"] if depth is not None else []
    asked += [f"domain {', '.join(domain)}"] if domain else []
    asked += ["largest part"] if largest_part else []
    what = "; ".join(asked)
    _check_not_empty(part, what)
    counts = {"topics_of_the_whole": stored.graph.size, "edges_of_the_whole": stored.graph.edges}
    source = f"{stored.source}; {what}"
    save_graph(part, out, source=source, counts=counts, notes=stored.notes, overwrite=force)
    echo(
        f"Wrote {part.size:,} of {stored.graph.size:,} topics and {part.edges:,} of "
        f"{stored.graph.edges:,} edges to {shown(out)}."
    )


@app.command()
def find(
    graph: Graph,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A part of a title.")],
    limit: Annotated[int, typer.Option(min=1, help="Titles that are listed.")] = 20,
    json: Json = False,
) -> None:
    """List topics by a part of their title; exits with 1 where there is none."""
    from askew.runfolder import json_text

    topics = _open(graph).graph
    nodes = topics.find(text, limit)
    if json:
        rows = [
            {
                "node": node,
                "id": int(topics.ids[node]),
                "title": topics.title(node),
                "domain": topics.domain(node),
                "parents": _titles(topics, topics.parents(node)),
                "children": _titles(topics, topics.children(node)),
            }
            for node in nodes
        ]
        typer.echo(json_text(rows), nl=False)
    for node in nodes if not json else ():
        above = _titles(topics, topics.parents(node))
        under = f"under {', '.join(above[:3])}" if above else "under nothing"
        more = f" and {len(above) - 3} more" if len(above) > 3 else ""
        count = len(topics.children(node))
        echo(f"{topics.title(node)}  (id {topics.ids[node]}, {under}{more}, children: {count})")
    if not nodes:
        echo(f"no title of {topics.size:,} is like {text!r}.", stderr=True)
        raise typer.Exit(NOT_FOUND)


def _open(name: str, *, verify: bool = False) -> StoredGraph:
    from askew.graphs.topic_storage import StoredGraph, open_graph

    if name == STARTER and not Path(name).exists():
        made = _starter()
        return StoredGraph(made.graph, "askew's starter graph", made.graph.checksum, made.counts)
    return open_graph(Path(name), verify=verify)


def _titles(graph: TopicGraph, nodes: NDArray[np.int32]) -> list[str]:
    return [graph.title(int(node)) for node in nodes]


def _starter() -> ImportedGraph:
    from askew.graphs.starter_topics import starter_graph
    from askew.graphs.topics import ImportedGraph

    graph = starter_graph()
    return ImportedGraph(graph, {"topics": graph.size, "edges": graph.edges})


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar for each file that is read, on standard error."""
    from rich.markup import escape
    from rich.progress import Progress as Bars

    with Bars(console=console(stderr=True), transient=True) as bars:
        tasks: dict[Path, TaskID] = {}

        def show(path: Path, read: int, size: int) -> None:
            if path not in tasks:
                tasks[path] = bars.add_task(escape(clean(path.name)), total=size)
            bars.update(tasks[path], completed=read)

        yield show


def _domains(given: list[str]) -> dict[str, str]:
    roots: dict[str, str] = {}
    for one in given:
        name, sign, title = (part.strip() for part in one.partition("="))
        if not (name and sign and title):
            raise ConfigError(f"--domain is {one!r}, expected NAME=TITLE: economy=Economy.")
        if name in roots:
            raise ConfigError(f"--domain names {name!r} twice. Give each domain one root.")
        roots[name] = title
    return roots


def _root_nodes(graph: TopicGraph, roots: Mapping[str, str]) -> dict[str, int]:
    """Domain -> its root. Of two domains with one root the second would have no topic."""
    nodes: dict[str, int] = {}
    for name, title in roots.items():
        node = graph.node_of(title)
        for other, known in nodes.items():
            if known == node:
                raise ConfigError(
                    f"--domain: {other!r} and {name!r} have the same root, {graph.title(node)!r}. "
                    "Give each domain a root of its own."
                )
        nodes[name] = node
    return nodes


def _check_not_empty(graph: TopicGraph, what: str) -> None:
    """Refuse a graph on which nothing can be searched."""
    if not graph.size:
        raise DataError(f"no topic is left ({what}). Check the source and what is dropped.")
    if graph.size > 1 and not graph.edges:
        raise DataError(
            f"{graph.size:,} topics and no edge between any two ({what}). Check the source."
        )


def _print_counts(counts: Mapping[str, int], notes: tuple[str, ...]) -> None:
    for name, count in counts.items():
        if count:
            echo(f"  {name.replace('_', ' ')}: {count:,}")
    for note in notes:
        echo(f"Note: {note}")
