"""A reply without the keys that this process knows: what a server says back is not kept."""

from __future__ import annotations

from dataclasses import replace

from askew.privacy.known_secrets import mask
from askew.records import Reply

NOTE = "a key in the reply was starred out"
_TEXTS = ("text", "reasoning", "served_model", "fingerprint", "error")


def without_known_secrets(reply: Reply) -> Reply:
    """The reply with stars for each known secret, noted in `adapted`; as it is where none is there.

    A server or an application that says its own key has said something else than the model: the
    reply is kept with the stars, read as it then stands, and counted as adapted.
    """
    changed: dict[str, str] = {}
    for name in _TEXTS:
        said = getattr(reply, name)
        if said is not None and (clean := mask(said)) != said:
            changed[name] = clean
    if not changed:
        return reply
    return replace(reply, adapted=(*reply.adapted, NOTE), **changed)  # type: ignore[arg-type]
