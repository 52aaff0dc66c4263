"""Which extractor `askew clinical extract` asks, and what it needs to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askew.cli.terminal import echo
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.graphs.rules import RuleSet
    from askew.models.base import Model
    from askew.vignettes import Facts


class Asked:
    """Which extractor, with what it needs to be asked."""

    def __init__(
        self,
        name: str,
        model: str | None,
        base_url: str | None,
        api_key_env: str | None,
        out: Path | None,
        budget_calls: int | None,
        yes: bool,
    ) -> None:
        if (name == "llm") != (model is not None):
            raise ConfigError(
                "a model extracts with both --extractor llm and --model provider/model. "
                + ("Name the model." if name == "llm" else "Add --extractor llm.")
            )
        self.name, self.model = name, model
        self.base_url, self.api_key_env = base_url, api_key_env
        self.out, self.budget_calls, self.yes = out, budget_calls, yes
        self.summary: dict[str, object] = {}  # of a model's replies: unreadable, rejected

    def facts(self, texts: Sequence[str], rules: RuleSet) -> list[Facts]:
        """The facts of each text, by whoever was chosen."""
        from askew.graphs.extractor_base import RuleExtractor, load_extractor

        if self.name == "rules":
            return RuleExtractor(rules).extract_many(texts)
        if self.name == "llm":
            return self._by_model(texts)
        return list(load_extractor(self.name).extract_many(texts))

    def _by_model(self, texts: Sequence[str]) -> list[Facts]:
        import asyncio

        from askew.models.base import ModelSpec
        from askew.models.registry import load_model
        from askew.run.common import folder_of

        assert self.model is not None
        model = load_model(
            ModelSpec(name=self.model, base_url=self.base_url, api_key_env=self.api_key_env)
        )
        _confirm(model, len(texts), yes=self.yes)
        folder = self.out or Path("extractions") / folder_of(self.model)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as trouble:
            raise ConfigError(
                f"{folder} cannot be made: {trouble.strerror}. Name another folder with --out."
            ) from trouble
        return asyncio.run(self._read(model, texts, folder))

    async def _read(self, model: Model, texts: Sequence[str], folder: Path) -> list[Facts]:
        from askew.build.extract_model import ModelExtractor
        from askew.models.budget import Budget, Limits
        from askew.models.ledger import Ledger
        from askew.models.runner import Runner

        with Ledger.open(folder / "run.sqlite") as ledger:
            runner = Runner(ledger, limits=Limits(Budget(calls=self.budget_calls)))
            reader = ModelExtractor(model, runner)
            try:
                reader.readings = await reader.read(texts)
            finally:
                await model.close()
        self.summary = {"model": model.name, "folder": str(folder), **reader.summary()}
        for number, reading in enumerate(reader.readings, start=1):
            if reading.fault:
                echo(f"askew: text {number}: no facts: {reading.fault}", stderr=True)
        return [reading.facts for reading in reader.readings]


def _confirm(model: Model, texts: int, *, yes: bool) -> None:
    """Ask before money is spent; where nobody can answer, `--yes` has to be given."""
    import sys

    from askew.build.extract_model import TRIES

    if yes or not model.paid:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"up to {texts * TRIES:,} paid calls are planned and nobody can be asked. Add --yes, "
            "and perhaps a budget."
        )
    typer.confirm(f"Make up to {texts * TRIES:,} paid calls?", abort=True)


def print_summary(asked: Asked) -> None:
    """What became of a model's replies; nothing where no model was asked."""
    if not asked.summary:
        return
    rejected = asked.summary["rejected"]
    assert isinstance(rejected, dict)
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(rejected.items()))
    echo(
        f"\n{asked.summary['texts']} texts asked of {asked.summary['model']}, "
        f"{asked.summary['unreadable']} replies unreadable; triplets rejected: {listed or 'none'}"
    )
