"""`http/NAME`: an application that speaks JSON over HTTP, as its users meet it.

A RAG service or a bot has an interface of its own, so its options say where the prompt goes and
where the answer stands::

    url = "http://127.0.0.1:8080/ask"
    headers = { "X-Api-Key" = "${TRIAGE_KEY}" }
    body = { question = "{prompt}", history = [] }
    answer = "result.messages[-1].text"
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import orjson
from yarl import URL

from askew.errors import ConfigError
from askew.models import options
from askew.models.address import exact_address
from askew.models.base import Ability, Fatal, ModelSpec, ServerFault
from askew.models.conversation import as_dicts, flatten, messages_of
from askew.models.reasoning import split_reasoning
from askew.models.server_errors import (
    SHOWN_CHARACTERS,
    Endpoint,
    as_json,
    excerpt,
    loads,
    read_error,
    redirect,
    settle,
)
from askew.models.transport import Method, Response, Transport
from askew.records import Call, Finish, Prompt, Reply

OPTIONS = ("url", "method", "headers", "body", "answer", "error", "refusal", "parallel", "paid")
PARALLEL = 4  # an application is rarely built for more at once

_PLACE = re.compile(r"\{(prompt|system|messages)\}")
_PATH = re.compile(r"[^.\[\]]+(\[-?\d+\])*(\.[^.\[\]]+(\[-?\d+\])*)*|(\[-?\d+\])+")
_STEP = re.compile(r"([^.\[\]]+)|\[(-?\d+)\]")

JsonPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ReplyFields:
    """Where in an application's reply things stand."""

    answer: JsonPath
    error: JsonPath | None = None  # what stands there, unless empty, is an error
    refusal: JsonPath | None = None  # what stands there, unless empty or false, is a refusal


@dataclass(frozen=True, slots=True)
class _Ready:
    """What every request needs, with the variables filled in, and only a real one looks up."""

    headers: Mapping[str, str] = field(repr=False)
    body: object = field(repr=False)  # the template of the request
    url: URL = field(repr=False)
    endpoint: Endpoint


class HttpApp:
    """An application behind a URL; one call, one request.

    Options: `url`, `answer` (both needed), `method` ("POST"), `headers` (values may name variables
    as "${NAME}", and so may `url`), `body` (JSON in whose texts "{prompt}", "{system}" and
    "{messages}" are replaced, and "${NAME}"), `error`, `refusal`, `parallel` (4), `paid` (true).
    """

    abilities = Ability.REPLY
    batch = 1

    def __init__(self, spec: ModelSpec) -> None:
        """Read the field mapping.

        Raises:
            ConfigError: an option is missing or cannot be used.
        """
        given = spec.options
        options.check_known(given, OPTIONS, spec.provider)
        self.name = spec.name
        self.parallel = options.whole_number(given, "parallel", PARALLEL)
        self.paid = options.flag(given, "paid", True)
        self._spec = spec
        self._address = exact_address(_needed(given, "url", spec.base_url), "option 'url'")
        self.remote = not self._address.loopback
        self._method = _method(given)
        self._templates = options.header_templates(given)
        self._body = given.get("body", {"prompt": "{prompt}"})
        if not places_in(self._body) & {"prompt", "messages"}:
            raise ConfigError(
                "option 'body' has no place for the prompt. Write \"{prompt}\" in it."
            )
        self._fields = ReplyFields(
            answer=parse_path(_needed(given, "answer"), "answer"),
            error=_optional_path(given, "error"),
            refusal=_optional_path(given, "refusal"),
        )
        self._ready: _Ready | None = None
        self._transport = Transport(
            self._address.endpoint(""), spec.timeout_seconds, method=self._method
        )

    def identity(self) -> Mapping[str, object]:
        """The address and the whole field mapping."""
        # The query may hold a secret, but it may also choose between two applications.
        query = hashlib.sha256(self._address.query.encode()).hexdigest()[:16]
        return {
            "provider": self._spec.provider,
            "model": self._spec.model,
            "base_url": self._address.base,
            "query_sha256": query if self._address.query else None,
            "revision": self._spec.revision,
            "method": self._method,
            "headers": self._templates,
            "body": self._body,
            "answer": list(self._fields.answer),
        }

    def tokens(self, call: Call) -> int:
        """An upper bound for the prompt; what the application adds to it cannot be known."""
        messages = messages_of(call.prompt)
        return sum(len(message.content.encode("utf-8", "replace")) + 16 for message in messages)

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Answer the one call in `calls`.

        Raises:
            RateLimited, ServerFault, Fatal: as `Model.ask`; a key that is not set is Fatal.
        """
        if len(calls) != 1:
            raise ValueError(f"an application takes one call a request, not {len(calls)}")
        (call,) = calls
        if call.prompt.choices:
            raise Fatal(f"{self.name} has no log-probabilities. Use --scoring reply.")
        ready = self._ready or self._get_ready()
        try:
            body = orjson.dumps(fill(ready.body, call.prompt))
        except orjson.JSONEncodeError as error:  # half a surrogate pair
            return [Reply(finish=Finish.ERROR, error=f"the prompt is no valid text: {error}")]
        response = await self._transport.send(ready.url, ready.headers, body, ready.endpoint)
        with response.perhaps_cut():
            reply = parse_app(response, self._fields, time.time(), ready.endpoint)
        notes = self._transport.notes
        return [replace(reply, adapted=notes) if notes else reply]

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    def _get_ready(self) -> _Ready:
        """Look up the variables of headers, address and body; once, before the first request."""
        headers, secrets = options.filled_headers(self._templates)
        address = self._address.filled(options.variable)
        if basic := address.basic_auth:
            headers["Authorization"] = basic
        headers["Content-Type"] = "application/json"
        self._ready = _Ready(
            headers=headers,
            body=options.filled(self._body),
            url=URL(address.endpoint(""), encoded=True),
            endpoint=Endpoint(address.base, secrets=(*secrets, *address.secrets)),
        )
        return self._ready


def places_in(template: object) -> set[str]:
    """The places that a body holds: of "prompt", "system", "messages".

    >>> sorted(places_in({"q": "{system} {prompt}", "n": [1]}))
    ['prompt', 'system']
    """
    if isinstance(template, str):
        return set(_PLACE.findall(template))
    if isinstance(template, Mapping):
        template = list(template.values())
    if isinstance(template, list):
        return {place for entry in template for place in places_in(entry)}
    return set()


def fill(template: object, prompt: Prompt) -> object:
    """The body for `prompt`.

    The places are replaced within the texts of a JSON value, in one pass, so that quotes, braces
    and places in the prompt itself stay as they are. A text that is "{messages}" and nothing else
    becomes the list of messages. Where the body has no "{system}", the prompt holds that text.

    >>> fill({"q": "{prompt}"}, Prompt(text='Say "{system}"'))
    {'q': 'Say "{system}"'}
    """
    messages = messages_of(prompt)
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    apart = "system" in places_in(template)
    turns = [message for message in messages if not (apart and message.role == "system")]
    values: dict[str, object] = {
        "prompt": flatten(turns),
        "system": system,
        "messages": as_dicts(turns),
    }
    return _filled(template, values)


def _filled(template: object, values: Mapping[str, object]) -> object:
    if template == "{messages}":
        return values["messages"]
    if isinstance(template, str):
        return _PLACE.sub(lambda place: _as_text(values[place[1]]), template)
    if isinstance(template, Mapping):
        return {name: _filled(entry, values) for name, entry in template.items()}
    if isinstance(template, list):
        return [_filled(entry, values) for entry in template]
    return template


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


def parse_path(path: str, option: str) -> JsonPath:
    """The steps of a path such as "result.messages[-1].text".

    >>> parse_path("result.messages[-1].text", "answer")
    ('result', 'messages', -1, 'text')
    """
    if not _PATH.fullmatch(path):
        raise ConfigError(
            f"option {option!r} is {path!r}, expected a path such as choices[0].message.content."
        )
    return tuple(int(index) if index else name for name, index in _STEP.findall(path))


def parse_app(response: Response, fields: ReplyFields, clock: float, endpoint: Endpoint) -> Reply:
    """Read one reply of an application. Pure.

    Returns:
        The answer; or a reply with finish REFUSAL, BLOCKED, or ERROR, the last as well where the
        answer is not at its place: the message then says what is there.

    Raises:
        RateLimited, ServerFault, Fatal: by the status, as for an endpoint.
    """
    status = response.status
    if 300 <= status < 400:
        raise redirect(status, response.headers, endpoint)
    if status >= 400:
        return settle(read_error(status, response.body), response.headers, clock, endpoint)
    try:
        payload = loads(response.body)
    except ValueError as error:
        wording = endpoint.mask(excerpt(response.body))
        raise ServerFault(
            f"{endpoint.address} answered {status} with a body that is no whole JSON: {wording}",
            answered=True,
            billed=True,
        ) from error
    if fields.error is not None and (failure := _at(payload, fields.error)):
        wording = endpoint.mask(_as_text(failure))[:SHOWN_CHARACTERS]
        return Reply(finish=Finish.ERROR, error=f"{endpoint.address}: {wording}")
    refusal = _at(payload, fields.refusal) if fields.refusal is not None else None
    found = _at(payload, fields.answer)
    if refusal:
        text = found if isinstance(found, str) else _as_text(refusal)
        return Reply(text=text, finish=Finish.REFUSAL)
    if isinstance(found, _Missing | dict | list):
        wording = endpoint.mask(_misplaced(found, fields))[:SHOWN_CHARACTERS]
        return Reply(finish=Finish.ERROR, error=f"{endpoint.address}: {wording}")
    answer, reasoning = split_reasoning(None if found is None else _as_text(found))
    return Reply(text=answer, reasoning=reasoning)


@dataclass(frozen=True, slots=True)
class _Missing:
    """Nothing stands at a path: the step that failed, and what there was instead."""

    step: str | int
    there: str

    def __bool__(self) -> bool:
        return False


def _at(value: Any, path: JsonPath) -> object:
    """What stands at `path`, `_Missing` if nothing does."""
    for step in path:
        if not _has(value, step):
            return _Missing(step, _described(value))
        value = value[step]
    return value


def _has(value: object, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and -len(value) <= step < len(value)


def _described(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(repr(name[:40]) for name in islice(value, 20))
        return f"an object with {names or 'no fields'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    said = value if isinstance(value, str) else as_json(value)
    return f"{type(value).__name__} {said[:40]!r}"


def _misplaced(found: object, fields: ReplyFields) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fields.answer)
    if isinstance(found, _Missing):
        return f"no {path.lstrip('.')} in the reply: {found.step!r} looked for in {found.there}"
    return f"{path.lstrip('.')} in the reply is {_described(found)}, not a text"


def _needed(given: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = options.text(given, name, default)
    if value is None:
        raise ConfigError(
            f"option {name!r} is missing. An http/ model needs 'url' (where to ask) and 'answer' "
            "(where the answer stands in the reply, e.g. choices[0].text)."
        )
    return value


def _method(given: Mapping[str, object]) -> Method:
    match options.text(given, "method", "POST"):
        case "POST":
            return "POST"
        case "PATCH":
            return "PATCH"
        case other:
            raise ConfigError(f"option 'method' is {other!r}, expected POST or PATCH.")


def _optional_path(given: Mapping[str, object], name: str) -> JsonPath | None:
    path = options.text(given, name)
    return None if path is None else parse_path(path, name)
