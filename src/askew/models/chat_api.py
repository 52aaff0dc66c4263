"""`openai/NAME`: any endpoint that speaks OpenAI's protocol (vLLM, Ollama, llama.cpp, Azure, …).

What goes out is built here; what comes back is read by `chat_replies` and
`choice_log_probabilities`, which are pure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode

import orjson
from yarl import URL

from askew.errors import ConfigError
from askew.models import options
from askew.models.address import Address, parse_address
from askew.models.base import Ability, Fatal, ModelSpec
from askew.models.chat_replies import parse_chat
from askew.models.choice_log_probabilities import (
    INSTEAD,
    SKIPPED_TOKENS,
    letter_of,
    parse_echo,
    parse_letters,
)
from askew.models.refused_parameters import Manner, refuses_log_probabilities
from askew.models.server_errors import (
    Endpoint,
    ServerError,
    envelope_error,
    is_filtered,
    loads,
    read_error,
)
from askew.models.transport import Response, Transport
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
OTHER_KEY = "ASKEW_API_KEY"
PARALLEL = 16
OPTIONS = ("parallel", "paid", "api_version", "key_header", "headers", "body")

# Chat templates wrap each message in a few marks, and some put a standing text before them.
TOKENS_A_MESSAGE = 16
TOKENS_A_TEMPLATE = 64

_PATHS = ("chat/completions", "completions")
_ADAPTABLE = frozenset({400, 403, 404, 422})


@dataclass(frozen=True, slots=True)
class _Ready:
    """What every request needs and only a real one looks up: the key, and who is asked."""

    headers: Mapping[str, str] = field(repr=False)
    endpoints: Mapping[str, Endpoint]  # by path
    urls: Mapping[str, URL] = field(repr=False)  # by path; a query may hold a key


class ChatApi:
    """A model behind an endpoint; one call, one request.

    Options: `parallel` (16), `paid` (true), `api_version` (Azure's query parameter),
    `key_header` ("Authorization"; Azure's is "api-key"), `headers` (values may name variables as
    "${NAME}"), `body` (further fields of the request, e.g. `reasoning_effort`).
    """

    abilities = Ability.REPLY | Ability.CHOICE_LOG_PROBABILITIES
    batch = 1

    def __init__(self, spec: ModelSpec) -> None:
        """Check the settings; neither the key nor the network is touched before the first call.

        Raises:
            ConfigError: an address or an option that cannot be used.
        """
        options.check_known(spec.options, OPTIONS, spec.provider)
        if not spec.model:
            raise ConfigError(f"the model {spec.name!r} has no name after the slash.")
        self.name = spec.name
        self.parallel = options.whole_number(spec.options, "parallel", PARALLEL)
        self.paid = options.flag(spec.options, "paid", True)
        self._model = spec.model
        self._spec = spec
        self._address = _address(spec)
        self.remote = not self._address.loopback
        self._templates = options.header_templates(spec.options)
        self._extra = options.table(spec.options, "body")
        self._manner = Manner()
        self._ready: _Ready | None = None
        self._transport = Transport(self._address.endpoint(""), spec.timeout_seconds)

    def identity(self) -> Mapping[str, object]:
        """Provider, model, address and whatever else of the settings can change the answer."""
        return {
            "provider": self._spec.provider,
            "model": self._model,
            "base_url": self._address.base,
            "revision": self._spec.revision,
            "api_version": self._spec.options.get("api_version"),
            "headers": self._templates,
            "body": self._extra,
        }

    def tokens(self, call: Call) -> int:
        """An upper bound: a token holds at least one byte of the text it stands for."""
        prompt = call.prompt
        if prompt.text is not None:
            texts = [prompt.text + choice for choice in prompt.choices] or [prompt.text]
            return sum(len(text.encode("utf-8", "replace")) + 1 for text in texts)
        return TOKENS_A_TEMPLATE + sum(
            len(message.content.encode("utf-8", "replace")) + TOKENS_A_MESSAGE
            for message in prompt.messages
        )

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Answer the one call in `calls`.

        A request is sent once more only where the server has refused a parameter of it.

        Raises:
            RateLimited, ServerFault, Fatal: as `Model.ask`; a key that is not set is Fatal.
        """
        if len(calls) != 1:
            raise ValueError(f"an endpoint takes one call a request, not {len(calls)}")
        return [await self._ask(calls[0])]

    async def probe(self, prompt: Prompt) -> Reply:
        """Ask one cheap question of the same kind as `prompt`, before a run relies on it.

        Raises:
            Fatal: the endpoint cannot do what the run will ask of it.
            RateLimited, ServerFault: it could not be found out.
        """
        if prompt.text is None:
            asked = Prompt(messages=(Message("user", "Answer with one letter, A or B: A"),))
            choices: tuple[str, ...] = ("A", "B")
        else:
            asked = Prompt(text="The sky is blue and the grass is")
            choices = (" green", " grey")
        if prompt.choices:
            asked = replace(asked, choices=choices)
        reply = await self._ask(Call(asked, Sampling(max_tokens=16)))
        if reply.finish is Finish.ERROR:
            raise Fatal(f"{self.name} did not answer a first question: {reply.error}")
        return reply

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def _ask(self, call: Call) -> Reply:
        ready = self._ready or self._get_ready()
        path = "completions" if call.prompt.text is not None else "chat/completions"
        endpoint = ready.endpoints[path]
        _check_choices(call.prompt, endpoint)
        while True:
            manner = self._manner
            request = self._request(call, manner)
            try:
                body = orjson.dumps(request)
            except orjson.JSONEncodeError as error:  # half a surrogate pair
                return Reply(finish=Finish.ERROR, error=f"the prompt is no valid text: {error}")
            response = await self._transport.send(ready.urls[path], ready.headers, body, endpoint)
            learnt = _learn(response, request, manner, endpoint)
            if learnt is None:
                reply = _parse(response, call.prompt, endpoint)
                notes = (*manner.notes(call), *self._transport.notes)
                return replace(reply, adapted=notes) if notes else reply
            self._manner = self._manner.merged(learnt)

    def _request(self, call: Call, manner: Manner) -> dict[str, object]:
        """The body of the request for `call`."""
        prompt = call.prompt
        request: dict[str, object] = {"model": self._model, **self._extra}
        if prompt.text is None:
            request["messages"] = manner.messages(prompt.messages)
            if not prompt.choices:
                return request | manner.parameters(call, call.sampling.max_tokens)
            # The letter, and what may stand before it.
            request |= manner.parameters(_unsampled(call), SKIPPED_TOKENS + 1)
            return request | {"logprobs": True, "top_logprobs": manner.alternatives}
        if not prompt.choices:
            return (
                request
                | {"prompt": prompt.text}
                | manner.parameters(call, call.sampling.max_tokens)
            )
        request["prompt"] = [prompt.text + choice for choice in prompt.choices]
        # Not 0: some servers refuse to generate nothing. The one token is left out of the sums.
        return request | manner.parameters(_unsampled(call), 1) | {"echo": True, "logprobs": 1}

    def _get_ready(self) -> _Ready:
        """Look up the key and the headers; once, before the first request."""
        headers, secrets = options.filled_headers(self._templates)
        address = self._address.filled(options.variable)
        secrets = (*secrets, *address.secrets)
        variable = _key_variable(self._spec, address)
        key_header = _key_header(self._spec)
        if (key := _key(self._spec, variable)) is not None:
            secrets = (*secrets, key)
            headers[key_header] = f"Bearer {key}" if key_header == "Authorization" else key
        elif basic := address.basic_auth:
            headers["Authorization"] = basic
        headers["Content-Type"] = "application/json"
        endpoints = {path: Endpoint(f"{address.base}/{path}", variable, secrets) for path in _PATHS}
        urls = {path: URL(address.endpoint(path), encoded=True) for path in _PATHS}
        self._ready = _Ready(headers, endpoints, urls)
        return self._ready


def _address(spec: ModelSpec) -> Address:
    """Where requests go. Azure's address names the model, and the version in the query."""
    version = options.text(spec.options, "api_version")
    if version is None:
        return parse_address(spec.base_url or OPENAI)
    if spec.base_url is None:
        raise ConfigError("option 'api_version' is Azure's; give the resource's address: base_url.")
    deployment = f"/openai/deployments/{quote(spec.model, safe='')}"
    address = parse_address(spec.base_url, empty_path=deployment)
    version_query = urlencode({"api-version": version})
    return replace(address, query="&".join(filter(None, (address.query, version_query))))


def _key_header(spec: ModelSpec) -> str:
    azure = spec.options.get("api_version") is not None
    return options.text(spec.options, "key_header", "api-key" if azure else None) or "Authorization"


def _key_variable(spec: ModelSpec, address: Address) -> str | None:
    """The variable that holds the key; None to send none.

    OpenAI's own key goes to OpenAI's own address alone, never to whatever a base URL names.
    """
    if spec.api_key_keyring is not None:
        return None
    if spec.api_key_env is not None:
        return spec.api_key_env
    if address.base.startswith("https://api.openai.com/"):
        return OPENAI_KEY
    return OTHER_KEY if os.environ.get(OTHER_KEY) and not address.user else None


def _key(spec: ModelSpec, variable: str | None) -> str | None:
    """The key itself, from the keyring or the environment; None to send none.

    Raises:
        ConfigError, MissingDependency, Fatal: as `options.keyring_secret` and `options.variable`.
    """
    if spec.api_key_keyring is not None:
        return options.keyring_secret(spec.api_key_keyring)
    return None if variable is None else options.variable(variable)


def _check_choices(prompt: Prompt, endpoint: Endpoint) -> None:
    """Choices asked of a chat endpoint have to be letters, each a different one."""
    if not prompt.choices or prompt.text is not None:
        return
    letters = {letter_of(choice) for choice in prompt.choices}
    if len(letters) < len(prompt.choices) or any(len(letter) != 1 for letter in letters):
        raise Fatal(
            f"{endpoint.address} can score different single letters after a conversation, not "
            f"{list(prompt.choices)!r}. Longer choices need a text prompt and an endpoint that "
            f"echoes it. {INSTEAD}"
        )


def _unsampled(call: Call) -> Call:
    """`call` without what would cut or bend the distribution that is to be read."""
    return replace(call, sampling=replace(call.sampling, top_p=None, stop=()))


def _learn(
    response: Response, request: Mapping[str, object], manner: Manner, endpoint: Endpoint
) -> Manner | None:
    """How to ask after this response; None where it is to be read as it is.

    Raises:
        Fatal: log-probabilities were asked for and refused.
    """
    error = _refusal(response)
    if error is None:
        return None
    learnt = manner.learn(error, request)
    if learnt is None and refuses_log_probabilities(error, request):
        raise Fatal(
            f"{endpoint.address} gives no log-probabilities: {endpoint.mask(error.message)[:500]} "
            f"{INSTEAD}"
        )
    return learnt


def _refusal(response: Response) -> ServerError | None:
    """The error of a response that may be about a parameter; None for all others."""
    if response.status == 200:
        if b'"error"' not in response.body:
            return None
        error = _error_within(response.body)
    else:
        error = read_error(response.status, response.body)
    if error is None or error.status not in _ADAPTABLE or is_filtered(error):
        return None
    return error


def _error_within(body: bytes) -> ServerError | None:
    try:
        payload = loads(body)
    except ValueError:
        return None
    return envelope_error(payload.get("error")) if isinstance(payload, dict) else None


def _parse(response: Response, prompt: Prompt, endpoint: Endpoint) -> Reply:
    status, headers, body, _ = response
    with response.perhaps_cut():
        if not prompt.choices:
            return parse_chat(status, headers, body, time.time(), endpoint)
        if prompt.text is None:
            return parse_letters(status, headers, body, time.time(), prompt.choices, endpoint)
        return parse_echo(status, headers, body, time.time(), prompt.text, prompt.choices, endpoint)
