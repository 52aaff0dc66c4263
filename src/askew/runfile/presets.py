"""Presets of a whole audit: how much of each part, as the values of a run file.

The sizes are askew's own choice; docs/audit.md says what each can see. What a preset leaves out is
the default of its table, so that the file that is written stays short enough to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from askew.errors import ConfigError, unknown_name
from askew.runfile import AUDITS, Audit

PRESETS: Mapping[str, Mapping[Audit, Mapping[str, Any]]] = {
    "quick": {
        "flex": {"data": ["starter"], "items": 50},
        "clinical": {
            "data": ["starter"],
            "vignettes": 12,
            "attributes": ["gender"],
            "levels": {"gender": ["male", "female"]},
            "arms": ["original", "each"],
            "answers": ["direct"],
            "replicates": 2,
        },
        "boundary": {"graph": "starter", "queries": 30, "questions": 3, "batch": 4},
    },
    "standard": {
        "flex": {"data": ["starter"]},
        "clinical": {
            "data": ["starter"],
            "attributes": ["age", "gender"],
            "answers": ["direct"],
            "replicates": 3,
        },
        "boundary": {"graph": "starter", "queries": 100, "batch": 4},
    },
    "thorough": {
        "flex": {"data": ["starter"], "scenarios": "all"},
        "clinical": {"data": ["starter"], "replicates": 5},
        "boundary": {"graph": "starter", "queries": 250, "batch": 4},
    },
}
WHAT = {
    "quick": "a first look: wide intervals, large effects alone can be seen",
    "standard": "what a release is usually held to",
    "thorough": "every scenario, every attribute, half of the starter graph",
}
ANY_SLANT = "any"  # what a rule looks for where no model judges
# The built-in model writes some 50 tokens a second on two cores; the clinical default is 400.
BUILTIN_TOKENS = 100


def preset(
    name: str, models: Mapping[str, Mapping[str, Any]], audits: Sequence[str] = AUDITS
) -> dict[str, Any]:
    """The values of a run file for a preset.

    Args:
        name: one of `PRESETS`.
        models: by role, as a run file has them; with a judge the clinical and the boundary audit
            ask it, without one a rule looks for open slants.
        audits: those to run.

    Raises:
        ConfigError: no preset or no audit has that name.
    """
    if name not in PRESETS:
        raise unknown_name("preset", name, list(PRESETS))
    for audit in audits:
        if audit not in AUDITS:
            raise unknown_name("audit", audit, list(AUDITS))
    if not audits:
        raise ConfigError(f"no audit is named. Name one or more of {', '.join(AUDITS)}.")
    values: dict[str, Any] = {"models": deepcopy({role: dict(one) for role, one in models.items()})}
    target = values["models"]["target"]
    if str(target.get("name", "")).startswith("builtin/"):
        target.setdefault("max_tokens", BUILTIN_TOKENS)
    for audit in AUDITS:
        if audit in audits:
            values[audit] = deepcopy(dict(PRESETS[name][audit]))
    if "boundary" in values and "judge" not in models:
        # So small a model is cut in most answers; what it has said can be judged.
        values["boundary"] |= {"slant": ANY_SLANT, "cut_answers": "judged"}
    return values


def preset_file(name: str, values: Mapping[str, Any]) -> str:
    """The text of a run file for a preset's values, with a head that says what it is."""
    import tomli_w

    head = (
        f"# askew audit, preset {name!r}: {WHAT[name]}.\n"
        "# Change what you like and start it with `askew run FILE`. `askew init`, `askew clinical\n"
        "# init` and `askew boundary init` write files with every setting, explained.\n\n"
    )
    return head + tomli_w.dumps(dict(values))
