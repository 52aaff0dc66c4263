"""What a server says went wrong -> the exception, or the reply, that it comes to. Pure.

Servers report one fault in many ways: by status, by a code in the body, inside a reply that says
200. The order of the questions in `settle` is what matters: a filtered prompt, an empty account
and a prompt too long each come with statuses that otherwise mean "try again" or "wrong key".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from askew.models.base import Fatal, RateLimited, ServerFault
from askew.models.retry_after import read_wait
from askew.privacy.known_secrets import mask_beginning, remember
from askew.records import Finish, Reply

SHOWN_CHARACTERS = 500  # of a server's own words; they may quote the prompt at length
# Of a server's words that are looked at: the expressions below would take minutes over megabytes.
READ_CHARACTERS = 4_000

_FILTER_CODES = frozenset(
    {
        "content_filter",
        "content_filtered",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "moderation_blocked",
        "prohibited_content",
    }
)
_FILTER_WORDS = re.compile(
    r"content[ _-](management[ _-])?(policy|filter)|input was flagged|responsible ai policy"
    r"|blocked by .{0,40}(safety|moderation|guardrail)|inappropriate content",
    re.IGNORECASE,
)
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
)
_QUOTA_WORDS = re.compile(
    r"insufficient (quota|balance|credits?|funds)|credit balance is too low", re.IGNORECASE
)
_LENGTH_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
)
_LENGTH_WORDS = re.compile(
    r"context[ _-](length|window|size)|maximum context|reduce the length"
    r"|(prompt|input|request) (is )?too (long|large)",
    re.IGNORECASE,
)
_KEY_CODES = frozenset(
    {"invalid_api_key", "authentication_error", "permission_error", "unauthorized"}
)
_KEY_WORDS = re.compile(
    r"(incorrect|invalid|missing|expired) (api|access)[ _-]key"
    r"|api[ _-]key (is )?(not valid|invalid|expired)",
    re.IGNORECASE,
)
_MODEL_CODES = frozenset({"model_not_found", "model_not_available", "deploymentnotfound"})
_MODEL_WORDS = re.compile(
    r"not a valid model|model .{0,80}(does not exist|not found)", re.IGNORECASE
)
_RATE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"})
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^<>]*>", re.DOTALL)
_PASSING = frozenset({408, 409, 425})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who was asked, for messages, and what must never stand in one."""

    address: str = "the server"  # without userinfo and query
    key_variable: str | None = None  # the environment variable that the key was read from
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Keep its secrets out of whatever else this process writes."""
        for secret in self.secrets:
            remember(secret, self.key_variable or "a key")

    def mask(self, text: str) -> str:
        """`text` on one line of readable characters, cut where it is very long.

        Without the key, or the parts of it that servers like to quote.
        """
        text = mask_beginning(text, READ_CHARACTERS)
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "***")
            if len(secret) >= 12:  # "my-key-…3f" still tells the first half
                text = re.sub(re.escape(secret[:6]) + r"[^\s'\"]*", "***", text)
        text = _KEY_LIKE.sub("***", text)
        return text if text.isprintable() else _readable(text)


_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*.…-]{4,}"  # keys by their usual beginnings
    r"|(?<![\w-])[\w-]*+\*{3,}[\w-]*"  # keys that the server has starred out, ends left standing
    r"|(?<=Bearer )\S+"
)


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error as a server words it."""

    status: int
    message: str
    codes: frozenset[str] = frozenset()  # code, type and inner code, in lower case
    parameter: str | None = None  # the request's field that it is about, where the server says so


def loads(body: bytes) -> Any:
    """The JSON in `body`; tolerant of what real servers send beside it.

    A byte order mark, white space that kept the connection alive, NaN and Infinity (Python
    writes them), half a surrogate pair and broken UTF-8 (a reply cut within a character).

    Raises:
        ValueError: no JSON.
    """
    try:
        return orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        try:
            value = json.loads(body.decode("utf-8-sig", "replace").strip("\ufeff \t\r\n"))
            return _without_surrogates(value)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error


def as_json(value: object) -> str:
    """`value` on one line, for a message; takes what `loads` has read, integers of any size too."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "(nested too deep to show)"


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(entry) for k, entry in value.items()}
    return value


def _readable(text: str) -> str:
    """Line breaks, control characters and halves of characters as blanks."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def read_error(status: int, body: bytes) -> ServerError:
    """The error in a reply whose status says that it is one."""
    try:
        payload = loads(body)
    except ValueError:
        return ServerError(status, excerpt(body))
    if isinstance(payload, list) and payload:  # Gemini's endpoint wraps its envelope in a list
        payload = payload[0]
    if not isinstance(payload, dict):
        return ServerError(status, excerpt(body))
    return envelope_error(payload.get("error") or payload, status) or ServerError(
        status, excerpt(body)
    )


def envelope_error(envelope: Any, status: int | None = None) -> ServerError | None:
    """The error in an envelope such as {"message", "code", "type", "param"}.

    Args:
        envelope: the value of "error", or the whole body where servers leave that level out.
        status: of the HTTP reply; None behind a 200, where the code in the envelope stands for it.

    Returns:
        None where nothing in it reads as an error.
    """
    if isinstance(envelope, str):
        said = mask_beginning(envelope, READ_CHARACTERS)
        return ServerError(status or 500, said) if said else None
    if not isinstance(envelope, dict) or not envelope:
        return None
    inner = envelope.get("innererror") or envelope.get("inner_error") or {}
    named = [envelope.get("code"), envelope.get("type")]
    named += [inner.get("code")] if isinstance(inner, dict) else []
    message, parameter = _message(envelope)
    if isinstance(given := envelope.get("param"), str):
        parameter = given
    return ServerError(
        status=status or _status_in(envelope.get("code")),
        message=mask_beginning(message or as_json(envelope), READ_CHARACTERS),
        codes=frozenset(str(code)[:80].lower() for code in named if isinstance(code, str | int)),
        parameter=parameter,
    )


def _message(envelope: Mapping[str, Any]) -> tuple[str, str | None]:
    """The wording, and the parameter where a validator names it by its place in the body."""
    for name in ("message", "detail", "msg", "error"):
        found = envelope.get(name)
        if isinstance(found, str) and found:
            return found, None
        if isinstance(found, list) and found and isinstance(found[0], dict):  # FastAPI's validator
            place = found[0].get("loc")
            # Its last step is the field's name, or the place in a list.
            named = place[-1] if isinstance(place, list) and len(place) > 1 else None
            return as_json(found), named if isinstance(named, str) else None
    return "", None


def _status_in(code: object) -> int:
    """The HTTP status that an error code is, or stands for."""
    if isinstance(code, int | str) and re.fullmatch(r"[45][0-9]{2}", said := str(code)[:80]):
        return int(said)
    return 429 if isinstance(code, str) and code.lower() in _RATE_CODES else 500


def excerpt(body: bytes, characters: int = 200) -> str:
    """The beginning of a body that is no JSON, tags taken out, on one line."""
    # Keys go before tags do, and before the cut: neither may leave a part of one standing.
    text = mask_beginning(body[: 2 * READ_CHARACTERS].decode("utf-8", "replace"), READ_CHARACTERS)
    shown = " ".join(_TAGS.sub(" ", text).split())
    return shown[:characters] + "…" if len(shown) > characters else shown or "(no text)"


def settle(
    error: ServerError, headers: Mapping[str, str], clock: float, endpoint: Endpoint
) -> Reply:
    """What an error comes to: a reply without an answer, or an exception.

    Returns:
        A reply with finish BLOCKED (a filter's work, a finding in an audit of biased prompts), or
        ERROR (this prompt cannot be served, others may).

    Raises:
        RateLimited, ServerFault: it may pass.
        Fatal: it will not pass.
    """
    status, codes = error.status, error.codes
    wording = endpoint.mask(error.message)[:SHOWN_CHARACTERS]
    said = f"{endpoint.address} answered {status}: {wording}"
    if is_filtered(error):
        return Reply(finish=Finish.BLOCKED, error=said)
    if status == 402 or codes & _QUOTA_CODES or _QUOTA_WORDS.search(error.message):
        raise Fatal(f"{said} The account has no quota left; waiting does not cure that.")
    if status == 413 or codes & _LENGTH_CODES or _LENGTH_WORDS.search(error.message):
        return Reply(finish=Finish.ERROR, error=said)
    if status in (401, 403, 407) or codes & _KEY_CODES or _KEY_WORDS.search(error.message):
        raise Fatal(f"{said} {_key_hint(endpoint, status)}")
    if status in (404, 405, 410) or codes & _MODEL_CODES or _is_model_unknown(error):
        raise Fatal(f"{said} Check the model's name and the base URL.")
    wait = read_wait(headers, clock)
    remarked = f"{said} ({wait.remark})" if wait.remark else said
    if status == 429 or codes & _RATE_CODES:
        raise RateLimited(remarked, wait.seconds)
    if status in _PASSING or status >= 500:
        raise ServerFault(remarked, answered=True, wait_seconds=wait.seconds)
    return Reply(finish=Finish.ERROR, error=said)


def redirect(status: int, headers: Mapping[str, str], endpoint: Endpoint) -> Fatal:
    """Not followed: a POST may become a GET on the way, and the key would go along."""
    lower = {name.lower(): value for name, value in headers.items()}
    place = re.sub(r"//[^/?#@]*@", "//", re.split(r"[?#]", lower.get("location", "nowhere"))[0])
    return Fatal(
        f"{endpoint.address} answered {status}: it redirects to {endpoint.mask(place)[:200]}. "
        "Nothing was sent there. If that is the right place, set the address to it."
    )


def is_filtered(error: ServerError) -> bool:
    """Whether a content filter has stopped the prompt; the same prompt never passes."""
    if error.codes & _FILTER_CODES:
        return True
    return error.status in (400, 403, 422, 451) and bool(_FILTER_WORDS.search(error.message))


def _is_model_unknown(error: ServerError) -> bool:
    return error.status in (400, 422) and bool(_MODEL_WORDS.search(error.message))


def _key_hint(endpoint: Endpoint, status: int) -> str:
    if status == 407:
        return "A proxy wants to know who asks; check HTTP_PROXY."
    if endpoint.key_variable:
        return f"The key was read from the variable {endpoint.key_variable}; check it there."
    return "No key was sent; name the environment variable that holds it (api_key_env)."
