"""Extractors behind one interface: askew's rules, a model, GLiNER, medspaCy, or anybody's own.

Another package offers one under the entry point group `askew.extractors`: a callable that takes no
argument and gives an `Extractor`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, runtime_checkable

from askew.errors import unknown_name
from askew.graphs.extract import extract_many
from askew.graphs.rules import RuleSet, rule_set
from askew.vignettes import Facts

ENTRY_POINTS = "askew.extractors"
BUILT_IN = {
    "gliner": "askew.graphs.extractor_gliner:GlinerExtractor",
    "medspacy": "askew.graphs.extractor_medspacy:MedspacyExtractor",
    "rules": "askew.graphs.extractor_base:RuleExtractor",
}


@runtime_checkable
class Extractor(Protocol):
    """Texts in, as many facts out, in order."""

    name: str

    def extract_many(self, texts: Sequence[str]) -> Sequence[Facts]:
        """The facts of each text; a text without any gives `Facts(text, ())`."""
        ...


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """askew's own: deterministic, explained, no model asked."""

    rules: str | RuleSet = "full"
    name: str = "rules"

    def extract_many(self, texts: Sequence[str]) -> list[Facts]:
        """The facts of each text by the rule set."""
        return list(extract_many(texts, rule_set(self.rules)))


def load_extractor(name: str) -> Extractor:
    """The extractor of a name, with its defaults.

    Raises:
        ConfigError: nobody offers one of this name.
        MissingDependency: its packages are not installed.

    >>> load_extractor("rules").name
    'rules'
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        make: Callable[[], Extractor] = getattr(import_module(module), attribute)
        return make()
    added = _added()
    if name not in added:
        raise unknown_name("extractor", name, known_extractors())
    loaded: Callable[[], Extractor] = added[name].load()
    return loaded()


def known_extractors() -> list[str]:
    """The names that can be given, askew's own and those of other packages, sorted."""
    return sorted(BUILT_IN.keys() | _added().keys())


def _added() -> dict[str, EntryPoint]:
    """The extractors that installed packages offer; askew's own names are taken."""
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
