"""An HTTP reply of a chat or completions endpoint -> a Reply. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askew.models.base import ServerFault
from askew.models.checked_reply import MOST_TOKENS
from askew.models.reasoning import split_reasoning
from askew.models.server_errors import (
    SHOWN_CHARACTERS,
    Endpoint,
    as_json,
    envelope_error,
    excerpt,
    loads,
    read_error,
    redirect,
    settle,
)
from askew.records import Finish, Reply

_LENGTH = frozenset({"length", "max_tokens", "model_length"})
_BLOCKED = frozenset(
    {"content_filter", "content_filtered", "safety", "prohibited_content", "blocklist", "spii"}
)
_FAILED = frozenset({"error", "abort", "insufficient_system_resource"})
ANYWHERE = Endpoint()


def parse_chat(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    clock: float,
    endpoint: Endpoint = ANYWHERE,
) -> Reply:
    """Read one reply of `chat/completions` or `completions`.

    Args:
        status: of the HTTP reply.
        headers: names in any case.
        body: as it came, without its transfer and content encodings.
        clock: seconds since 1970, for a Retry-After date without a Date header beside it.
        endpoint: for messages.

    Returns:
        The answer; or a reply without one, whose `finish` is REFUSAL, BLOCKED or ERROR. Null or
        empty content is an empty answer, not an error.

    Raises:
        RateLimited, ServerFault: the same call may be sent again.
        Fatal: key, quota, address or model name are wrong.
    """
    opened = open_body(status, headers, body, clock, endpoint)
    return opened if isinstance(opened, Reply) else read_choice(opened, opened["choices"][0])


def open_body(
    status: int, headers: Mapping[str, str], body: bytes, clock: float, endpoint: Endpoint
) -> dict[str, Any] | Reply:
    """The JSON object of a reply that holds at least one choice, each an object without an error.

    Returns and raises as `parse_chat` does where there is no such object.
    """
    if status >= 400:
        return settle(read_error(status, body), headers, clock, endpoint)
    if status >= 300:
        raise redirect(status, headers, endpoint)
    try:
        payload = loads(body)
    except ValueError as error:
        raise ServerFault(
            f"{endpoint.address} answered {status} with a body of {len(body)} bytes that is no "
            f"whole JSON: {endpoint.mask(excerpt(body))}",
            answered=True,
            billed=True,
        ) from error
    if not isinstance(payload, dict):
        raise ServerFault(
            f"{endpoint.address} answered {status} with JSON that is no object",
            answered=True,
            billed=True,
        )
    if failure := envelope_error(payload.get("error")):
        return settle(failure, headers, clock, endpoint)
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices:
        # Servers that leave the "error" level out: {"object": "error", "message": …}
        said = payload.get("message") or payload.get("detail") or ""
        wording = endpoint.mask(said if isinstance(said, str) else as_json(said))
        raise ServerFault(
            f"{endpoint.address} answered {status} without a choice"
            + (f": {wording[:SHOWN_CHARACTERS]}" if wording else ""),
            answered=True,
            billed=True,
        )
    for choice in choices:
        if (blocked := _trouble_in(choice, status, headers, clock, endpoint)) is not None:
            return blocked
    return payload


def _trouble_in(
    choice: object, status: int, headers: Mapping[str, str], clock: float, endpoint: Endpoint
) -> Reply | None:
    """What an error within one choice comes to; None where there is none."""
    if not isinstance(choice, dict):
        raise ServerFault(
            f"{endpoint.address} answered {status} with a choice that is no object",
            answered=True,
            billed=True,
        )
    if failure := envelope_error(choice.get("error")):
        return settle(failure, headers, clock, endpoint)
    if _word(choice.get("finish_reason")) in _FAILED:
        raise ServerFault(
            f"{endpoint.address} broke off the reply: finish_reason {choice['finish_reason']!r}",
            answered=True,
            billed=True,
        )
    return None


def read_choice(payload: Mapping[str, Any], choice: Mapping[str, Any]) -> Reply:
    """The reply in one choice of an opened body."""
    message = choice.get("message")
    if not isinstance(message, dict):
        message = {"content": choice.get("text")}  # the completions endpoint
    text, thought, refusal = read_content(message)
    answer, inline = split_reasoning(text)
    finish = _finish(choice, refused=bool(refusal))
    prompt_tokens, completion_tokens = read_usage(payload.get("usage"))
    return Reply(
        text=answer if answer or not refusal else refusal,
        reasoning="\n".join(filter(None, (thought, inline))) or None,
        finish=finish,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens if completion_tokens or not text else None,
        served_model=_text(payload.get("model")),
        fingerprint=_text(payload.get("system_fingerprint")),
    )


def read_usage(usage: object) -> tuple[int | None, int | None]:
    """Prompt and completion tokens, None where they are not counted, or not believable.

    Some servers (xAI, Gemini) count what was reasoned in the total alone, and bill it: the greater
    of the two counts is taken. Zeros stand for "not counted", as a prompt has at least one token.

    >>> read_usage({"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 60})
    (9, 51)
    >>> read_usage({"prompt_tokens": 0, "completion_tokens": -1})
    (None, None)
    """
    counts = usage if isinstance(usage, dict) else {}
    prompt, completion, total = (
        _count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if prompt and completion is not None and total is not None:
        completion = max(completion, total - prompt)
    return prompt or None, completion


def read_content(message: Mapping[str, Any]) -> tuple[str | None, str | None, str | None]:
    """Text, reasoning and refusal of one message, whose content is a text or a list of parts.

    >>> read_content({"content": [{"type": "text", "text": "C"}]})
    ('C', None, None)
    """
    content = message.get("content")
    thoughts = [message.get("reasoning_content") or message.get("reasoning")]
    refusals = [message.get("refusal")]
    texts: list[Any] = [content]
    if isinstance(content, list):
        parts = [part if isinstance(part, dict) else {"text": part} for part in content]
        texts = [part.get("text") for part in parts if not _is_thought(part)]
        thoughts += [_thought(part) for part in parts if _is_thought(part)]
        refusals += [part.get("refusal") for part in parts]
    return _joined(texts), _joined(thoughts), _joined(refusals) or None


def _is_thought(part: Mapping[str, Any]) -> bool:
    return part.get("type") in ("thinking", "reasoning")


def _thought(part: Mapping[str, Any]) -> str | None:
    inner = part.get("thinking") or part.get("reasoning") or part.get("text")
    if isinstance(inner, list):  # Magistral nests a list of text parts once more
        inner = _joined([entry.get("text") for entry in inner if isinstance(entry, dict)])
    return _text(inner)


def _joined(texts: list[Any]) -> str | None:
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None


def _finish(choice: Mapping[str, Any], *, refused: bool) -> Finish:
    reason = _word(choice.get("finish_reason"))
    if reason in _BLOCKED:
        return Finish.BLOCKED
    if refused or reason == "refusal":
        return Finish.REFUSAL
    return Finish.LENGTH if reason in _LENGTH else Finish.STOP


def _word(value: object) -> str:
    return value.lower() if isinstance(value, str) else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None
