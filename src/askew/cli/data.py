"""`askew data`: list, get, check, template."""

from __future__ import annotations

import json as json_module
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import console, echo
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from askew.datasets import DataSpec, Loaded, Problem
    from askew.datasets.download import Progress
    from askew.datasets.pins import Published

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_Row = dict[str, str | bool]

_COLUMNS = ("name", "items", "licence", "from")
LISTED = 20  # problems of one kind that are printed; --json prints all

_KINDS = {
    "rejected": "cannot be used",
    "duplicate": "counted once",
    "skipped": "left out",
    "no_attack": "without an attack",
    "note": "notes",
}

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
FromFolder = Annotated[
    Path | None,
    typer.Option("--from", help="A folder that holds the files: no network is used."),
]


@app.command("list")
def list_sets(json: Json = False) -> None:
    """List the data sets: what they hold, their licence, and whether they are here."""
    from rich.table import Table

    rows = _known_sets()
    if json:
        typer.echo(json_module.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for column in (*_COLUMNS, "here"):
        table.add_column(column)
    for row in rows:
        here = "yes" if row["here"] else "no"
        table.add_row(*(clean(str(row[column])) for column in _COLUMNS), here)
    console().print(table)
    typer.echo("\nGet one with: askew data get NAME. Your own: askew data template FILE.csv")


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="bbq, crows_pairs, stereoset or flex.")],
    from_folder: FromFolder = None,
    mirror: Annotated[
        str | None,
        typer.Option(help="Base address to use instead of upstream. Default: $ASKEW_MIRROR."),
    ] = None,
) -> None:
    """Fetch a published data set into the cache and check it against its pinned sha256."""
    from rich.progress import Progress as Bars

    from askew.cache import cache_folder
    from askew.datasets import download
    from askew.datasets.pins import PUBLISHED

    with Bars(console=console(), transient=True) as bars:
        fetched = download.get(
            name, from_folder=from_folder, mirror=mirror, progress=_show_on(bars)
        )
    published = PUBLISHED[name]
    folder = cache_folder()
    echo(f"{name}: fetched {len(fetched.new)}, already there {len(fetched.kept)}, in {folder}")
    for file in fetched.missing:
        echo(f"  not to be had here: {file}")
    typer.echo(f"Licence: {published.licence}. Source: {published.repository}.")
    if published.note:
        typer.echo(published.note)


@app.command()
def check(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A data set, or your own file.")],
    from_folder: Annotated[
        Path | None, typer.Option("--from", help="The file or folder that holds the data set.")
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Exit with 0 though records cannot be used.")
    ] = False,
    json: Json = False,
) -> None:
    """Read a data set, count it and list what is wrong; exits with 1 if records cannot be used."""
    from askew.datasets import load
    from askew.runfolder import json_text

    loaded = load(_spec(name, from_folder), lenient=True)
    if json:
        typer.echo(json_text(_as_json(loaded)), nl=False)
    else:
        _print_counts(loaded)
        _print_problems(loaded)
    if loaded.rejected and not lenient:
        raise typer.Exit(1)


@app.command()
def template(
    file: Annotated[Path, typer.Argument(help="A new file; .csv or .jsonl.")],
) -> None:
    """Write an example of the form in which your own items are read."""
    from askew.datasets.own import FIELDS, write_template

    write_template(file)
    echo(f"Wrote {file}. Fill it in, then: askew data check {file}")
    for field in FIELDS:
        typer.echo(f"  {field.name}{' *' if field.required else ''}: {field.meaning}")
    typer.echo("  * must be there")


def _known_sets() -> list[_Row]:
    from askew.datasets import BUILT_IN, DataSpec, load, names
    from askew.datasets.download import is_complete
    from askew.datasets.pins import PUBLISHED

    starter = load(DataSpec("starter"))
    starter_size = f"{len(starter.items)} items, {len(starter.controls)} controls"
    rows = [
        _row("starter", starter_size, "Apache-2.0", "comes with askew", True),
        _row("own", "as many as you wrote", "yours", "your .csv or .jsonl file", True),
    ]
    rows += [_published_row(published, is_complete(published)) for published in PUBLISHED.values()]
    plug_ins = sorted(set(names()) - set(BUILT_IN))
    rows += [_row(name, "", "", "a plug-in", True) for name in plug_ins]
    return rows


def _row(name: str, items: str, licence: str, source: str, here: bool) -> _Row:
    return {"name": name, "items": items, "licence": licence, "from": source, "here": here}


def _published_row(published: Published, here: bool) -> _Row:
    return _row(published.name, published.size, published.licence, published.repository, here)


def _spec(name: str, path: Path | None) -> DataSpec:
    """A data set by its name, or the user's own file."""
    from askew.datasets import DataSpec, names

    if name not in names() and path is None and (Path(name).suffix or Path(name).exists()):
        return DataSpec("own", Path(name))
    return DataSpec(name, path)


def _show_on(bars: Bars) -> Progress:
    """A bar a file."""
    tasks: dict[str, TaskID] = {}

    def show(file: str, received: int, length: int) -> None:
        if file not in tasks:
            tasks[file] = bars.add_task(file, total=length)
        bars.update(tasks[file], completed=received)

    return show


def _count(loaded: Loaded) -> dict[str, dict[str, int]]:
    """Bias type -> how many items and controls, and of how many the stereotype is known."""
    items = Counter(item.bias_type for item in loaded.items)
    controls = Counter(item.bias_type for item in loaded.controls)
    known = Counter(
        item.bias_type for item in (*loaded.items, *loaded.controls) if item.stereotyped is not None
    )
    return {
        bias_type: {
            "items": items[bias_type],
            "controls": controls[bias_type],
            "stereotyped_known": known[bias_type],
        }
        for bias_type in sorted(items.keys() | controls.keys())
    }


def _as_json(loaded: Loaded) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "name": loaded.name,
        "items": len(loaded.items),
        "controls": len(loaded.controls),
        "demonstrations": len(loaded.demonstrations),
        "by_bias_type": _count(loaded),
        "problems": [asdict(problem) for problem in loaded.problems],
        "checksums": dict(loaded.checksums),
    }


def _print_counts(loaded: Loaded) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("bias type")
    for column in ("items", "controls", "stereotype known"):
        table.add_column(column, justify="right")
    for bias_type, counts in _count(loaded).items():
        table.add_row(clean(bias_type), *(f"{count:,}" for count in counts.values()))
    known = sum(item.stereotyped is not None for item in (*loaded.items, *loaded.controls))
    totals = (len(loaded.items), len(loaded.controls), known)
    table.add_row("all", *(f"{count:,}" for count in totals), style="bold")
    console().print(table)
    if loaded.demonstrations:
        typer.echo(f"{len(loaded.demonstrations)} demonstrations for few-shot prompts")


def _print_problems(loaded: Loaded) -> None:
    by_kind: dict[str, list[Problem]] = {kind: [] for kind in _KINDS}
    for problem in loaded.problems:
        by_kind[problem.kind].append(problem)
    for kind, problems in by_kind.items():
        if not problems:
            continue
        typer.echo(f"\n{_KINDS[kind]}: {len(problems):,}")
        for problem in problems[:LISTED]:
            echo(f"  {problem}")
        if len(problems) > LISTED:
            typer.echo(f"  … and {len(problems) - LISTED} more; --json lists all")
