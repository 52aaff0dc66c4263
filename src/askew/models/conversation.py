"""A prompt in the forms that applications take: messages, or one text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from askew.records import Message, Prompt


def messages_of(prompt: Prompt) -> Sequence[Message]:
    """The conversation; a plain text is what the user says."""
    return prompt.messages or (Message("user", prompt.text or ""),)


def as_dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    """The messages as most interfaces take them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def flatten(messages: Sequence[Message]) -> str:
    r"""A conversation as one text; the turns are named where the assistant speaks as well.

    >>> flatten([Message("system", "Be brief."), Message("user", "Who?")])
    'Be brief.\n\nWho?'
    """
    if all(message.role != "assistant" for message in messages):
        return "\n\n".join(message.content for message in messages)
    return "\n\n".join(f"{message.role.capitalize()}: {message.content}" for message in messages)
