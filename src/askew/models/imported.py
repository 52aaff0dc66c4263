"""Replies that another tool has had: askew can read them again, and not ask for more of them."""

from __future__ import annotations

from askew.errors import ConfigError

PROVIDER = "lm-eval"  # of models that only lm-evaluation-harness knows how to ask
LM_EVAL = "lm-evaluation-harness"
INSPECT = "Inspect AI"


def cannot_be_asked(what: str, tool: str) -> ConfigError:
    """The error for asking on where another tool has asked.

    Args:
        what: the model or the run folder.
        tool: who has asked.
    """
    return ConfigError(
        f"{what}: the replies were had by {tool} and imported, so askew cannot ask for more of "
        f"them. Read them again with `askew score RUN`. To have {tool} ask for what is missing, "
        "run it again and import that; to have askew ask, name a model with --model and a new "
        "folder with --out."
    )
