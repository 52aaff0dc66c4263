"""The words that prompts are made of: the files of this folder, and which of them a run uses.

Each file begins with a block of `#` lines that names its source; the block is no part of the text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from askew.errors import ConfigError, unknown_name

# The competing objectives, one file each; in the release's order, to which its index points.
OBJECTIVES = ("dan", "stan", "dude", "refusal_suppression", "self_cipher")

PersonaStyle = Literal["askew", "paper"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """How scenarios are worded. The defaults are askew's own words with the release's adjective.

    `Wording(persona_style="paper", objectives=published_wording(folder))` says everything as the
    release of FLEX does.
    """

    persona_style: PersonaStyle = "askew"  # "paper": the nouns of FLEX's Table 2, unchanged
    adjective: str = "terrible"  # as released; Appendix A.2 speaks of "negative adjectives"
    # Bias type -> the user's own personas, in place of that type's list. Any bias type will do.
    personas: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Competing objective -> text, in place of askew's own; what is not named keeps askew's own.
    objectives: Mapping[str, str] = field(default_factory=dict)
    # Installed scenario families that take part. None does unasked: a package that happens to be
    # installed must not move a figure.
    plug_ins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.objectives:
            if name not in OBJECTIVES:
                raise unknown_name("competing objective", name, list(OBJECTIVES))
        for bias_type, own in self.personas.items():
            if not own or not all(name.strip() for name in own):
                raise ConfigError(
                    f"the personas for {bias_type!r} are {own!r}, expected a list with at least "
                    "one name. Add one, or leave the bias type out."
                )


DEFAULT_WORDING = Wording()


@cache
def text(name: str) -> str:
    """The text of the file `name`, without the header and without blanks around it."""
    lines = _read(name).splitlines()
    body = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(lines[body:]).strip()


@cache
def table(name: str) -> dict[str, Any]:
    """The TOML file `name`; shared between callers, so it must not be changed."""
    return tomllib.loads(_read(name))


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
