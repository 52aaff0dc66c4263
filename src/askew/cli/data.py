"""`askew data`: list, get, check, template; fairness items and clinical vignettes."""

from __future__ import annotations

import json as json_module
import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import console, echo
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from askew.datasets import Loaded, Problem
    from askew.datasets.download import Progress
    from askew.datasets.pins import Published
    from askew.datasets.vignettes import LoadedVignettes
    from askew.errors import ConfigError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_Row = dict[str, str | bool]

_COLUMNS = ("name", "for", "items", "licence", "from")
LISTED = 20  # problems of one kind that are printed; --json prints all

_KINDS = {
    "rejected": "cannot be used",
    "duplicate": "counted once",
    "skipped": "left out",
    "no_attack": "without an attack",
    "note": "notes",
}


class Audit(StrEnum):
    """What a data set is read for."""

    FLEX = "flex"
    CLINICAL = "clinical"


_JSON_KEY = re.compile(r'"(\w+)"\s*:')
_CELL = re.compile(r"[,;\t]")

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
    typer.echo(
        "\nGet one with: askew data get NAME. Your own: askew data template FILE.csv, clinical "
        "cases: askew data template FILE.csv --for clinical"
    )


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="A published set: see `askew data list`.")],
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

    if from_folder is None and name in PUBLISHED and not PUBLISHED[name].fetchable:
        raise _not_fetched(PUBLISHED[name])
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
    audit: Annotated[
        Audit | None,
        typer.Option("--for", help="What your own file, or `starter`, is read as."),
    ] = None,
    json: Json = False,
) -> None:
    """Read a data set, count it and list what is wrong; exits with 1 if records cannot be used."""
    from askew.runfolder import json_text

    loaded = _load(name, from_folder, audit or _audit_of(name, from_folder))
    if json:
        typer.echo(json_text(_as_json(loaded)), nl=False)
    else:
        _print_counts(loaded)
        _print_problems(loaded.problems)
    if loaded.rejected and not lenient:
        raise typer.Exit(1)


@app.command()
def template(
    file: Annotated[Path, typer.Argument(help="A new file; .csv or .jsonl.")],
    audit: Annotated[
        Audit, typer.Option("--for", help="Fairness items, or clinical cases.")
    ] = Audit.FLEX,
) -> None:
    """Write an example of the form in which your own items or cases are read."""
    from askew.datasets import own, own_vignettes

    form = own_vignettes if audit is Audit.CLINICAL else own
    form.write_template(file)
    check_with = f"askew data check {file}" + (" --for clinical" if form is own_vignettes else "")
    echo(f"Wrote {file}. Fill it in, then: {check_with}")
    for field in form.FIELDS:
        typer.echo(f"  {field.name}{' *' if field.required else ''}: {field.meaning}")
    typer.echo("  * must be there")


def _known_sets() -> list[_Row]:
    from askew.datasets import BUILT_IN, DataSpec, load, names, vignettes
    from askew.datasets.pins import PUBLISHED

    starter = load(DataSpec("starter"))
    starter_size = f"{len(starter.items)} items, {len(starter.controls)} controls"
    cases = f"{len(vignettes.load(DataSpec('starter')).vignettes)} vignettes"
    mine = "as many as you wrote"
    rows = [
        _row("starter", "flex", starter_size, "Apache-2.0", "comes with askew", True),
        _row("starter", "clinical", cases, "Apache-2.0", "comes with askew", True),
        _row("own", "flex", mine, "yours", "your .csv or .jsonl file", True),
        _row("own", "clinical", mine, "yours", "your .csv, .jsonl or .txt file", True),
    ]
    rows += [_published_row(published) for published in PUBLISHED.values()]
    plug_ins = sorted(set(names()) - set(BUILT_IN))
    rows += [_row(name, "flex", "", "", "a plug-in", True) for name in plug_ins]
    plug_ins = sorted(set(vignettes.names()) - set(vignettes.BUILT_IN))
    rows += [_row(name, "clinical", "", "", "a plug-in", True) for name in plug_ins]
    return rows


def _row(name: str, audit: str, items: str, licence: str, source: str, here: bool) -> _Row:
    row: _Row = {"name": name, "for": audit, "items": items, "licence": licence, "from": source}
    return row | {"here": here}


def _published_row(published: Published) -> _Row:
    from askew.cache import cache_folder
    from askew.datasets.download import is_complete

    if published.fetchable:
        here = is_complete(published)
    else:
        here = all((cache_folder() / pin.file).is_file() for pin in published.pins)
    return _row(
        published.name,
        published.audit,
        published.size,
        published.licence,
        published.repository,
        here,
    )


def _not_fetched(published: Published) -> ConfigError:
    """Why a set is not downloaded, and how it comes here all the same."""
    from askew.errors import ConfigError

    return ConfigError(
        f"{published.title} is not fetched: its licence ({published.licence}) or its address does "
        f"not allow it. Get a copy of {published.repository}, then: askew data get "
        f"{published.name} --from FOLDER, or name the folder where you use it: --data "
        f"{published.name}=FOLDER."
    )


def _audit_of(name: str, path: Path | None) -> Audit:
    """What a set is read for where `--for` does not say: by its name, or by a file's fields."""
    from askew.datasets import names, vignettes

    if name in names():
        return Audit.FLEX
    if name in vignettes.names():
        return Audit.CLINICAL
    file = Path(name)
    if path is None and file.is_file() and _holds_cases(file):
        return Audit.CLINICAL
    return Audit.FLEX


def _holds_cases(file: Path) -> bool:
    """Whether a file of the user's has clinical cases: a field `text` and no options A to C."""
    from askew.datasets.files import read_file

    if file.name.casefold().removesuffix(".gz").endswith(".txt"):
        return True
    start = read_file(file).data[:100_000].decode("utf-8-sig", errors="replace").lstrip()
    first, _, _ = start.partition("\n")
    found = _JSON_KEY.findall(first) if first.startswith("{") else _CELL.split(first.strip())
    fields = {field.strip(' "') for field in found}
    return "text" in fields and "option_a" not in fields


def _load(name: str, path: Path | None, audit: Audit) -> Loaded | LoadedVignettes:
    """A data set by its name, or the user's own file."""
    from askew.datasets import DataSpec, load, names, vignettes

    clinical = audit is Audit.CLINICAL
    known = vignettes.names() if clinical else names()
    spec = DataSpec(name, path)
    if name not in known and path is None and (Path(name).suffix or Path(name).exists()):
        spec = DataSpec("own", Path(name))
    return vignettes.load(spec, lenient=True) if clinical else load(spec, lenient=True)


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


def _count_cases(loaded: LoadedVignettes) -> dict[str, int]:
    """How many vignettes there are, and how many bring what an audit can use."""
    cases = loaded.vignettes
    return {
        "vignettes": len(cases),
        "with_question": sum(bool(case.question) for case in cases),
        "with_reference": sum(bool(case.reference) for case in cases),
        "with_must_not_miss": sum(bool(case.must_not_miss) for case in cases),
        "with_options": sum(bool(case.options) for case in cases),
        "with_answer": sum(case.answer is not None for case in cases),
        "with_given_twins": sum(bool(case.given) for case in cases),
        "given_twins": sum(len(case.given) for case in cases),
        "with_triplets": sum(case.triplets is not None for case in cases),
        "with_impossible_levels": sum(bool(case.impossible) for case in cases),
        "with_odd_levels": sum(bool(case.odd) for case in cases),
    }


def _count_relevance(loaded: LoadedVignettes) -> dict[str, dict[str, int]]:
    """Attribute -> in how many vignettes the answer may depend on it, may not, or nobody knows."""
    attributes = sorted({name for case in loaded.vignettes for name in case.relevance})
    counted = {}
    for attribute in attributes:
        words = Counter(case.relevance.get(attribute, "unknown") for case in loaded.vignettes)
        counted[attribute] = {word: words[word] for word in ("relevant", "not_relevant", "unknown")}
    return counted


def _as_json(loaded: Loaded | LoadedVignettes) -> dict[str, object]:
    from dataclasses import asdict

    from askew.datasets import Loaded

    counted: dict[str, object]
    if isinstance(loaded, Loaded):
        counted = {
            "name": loaded.name,
            "items": len(loaded.items),
            "controls": len(loaded.controls),
            "demonstrations": len(loaded.demonstrations),
            "by_bias_type": _count(loaded),
        }
    else:
        counted = {"name": loaded.name, **_count_cases(loaded)}
        counted["relevance"] = _count_relevance(loaded)
    return counted | {
        "problems": [asdict(problem) for problem in loaded.problems],
        "checksums": dict(loaded.checksums),
    }


def _print_counts(loaded: Loaded | LoadedVignettes) -> None:
    from askew.datasets import Loaded

    if isinstance(loaded, Loaded):
        _print_items(loaded)
    else:
        _print_cases(loaded)


def _print_cases(loaded: LoadedVignettes) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, count in _count_cases(loaded).items():
        table.add_row(name.replace("_", " "), f"{count:,}")
    for attribute, words in _count_relevance(loaded).items():
        said = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in words.items())
        table.add_row(f"{clean(attribute)} may matter", said)
    console().print(table)


def _print_items(loaded: Loaded) -> None:
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


def _print_problems(found: Sequence[Problem]) -> None:
    by_kind: dict[str, list[Problem]] = {kind: [] for kind in _KINDS}
    for problem in found:
        by_kind[problem.kind].append(problem)
    for kind, problems in by_kind.items():
        if not problems:
            continue
        typer.echo(f"\n{_KINDS[kind]}: {len(problems):,}")
        for problem in problems[:LISTED]:
            echo(f"  {problem}")
        if len(problems) > LISTED:
            typer.echo(f"  … and {len(problems) - LISTED} more; --json lists all")
