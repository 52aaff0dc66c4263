"""A reply without the keys that this process knows: what a server says back is not kept."""

from __future__ import annotations

from dataclasses import replace

from askew.privacy.known_secrets import mask, mask_reply
from askew.records import Reply

NOTE = "a key in the reply was starred out"
_TEXTS = ("text", "reasoning", "served_model", "fingerprint", "error")


def without_known_secrets(reply: Reply) -> Reply:
    """The reply with stars for each known secret, noted in `adapted`; as it is where none is there.

    A server or an application that says its own key has said something else than the model: the
    reply is kept with the stars, read as it then stands, and counted as adapted. A key that is an
    ordinary word stays in what is read: no figure may hang on which keys are set.
    """
    changed: dict[str, str] = {}
    for name in _TEXTS:
        said = getattr(reply, name)
        clean = mask if name == "error" else mask_reply  # an error is not read for an answer
        if said is not None and (left := clean(said)) != said:
            changed[name] = left
    if not changed:
        return reply
    # The fields of _TEXTS hold texts; by their names alone mypy cannot tell.
    return replace(reply, adapted=(*reply.adapted, NOTE), **changed)  # type: ignore[arg-type]
