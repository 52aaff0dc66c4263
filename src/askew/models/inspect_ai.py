"""`inspect/PROVIDER/MODEL`: the models that Inspect AI knows, through its `get_model`.

What goes wrong is classified as for every endpoint (`server_errors`), and the runner tries again:
Inspect's own retries, those of the provider's client and Inspect's cache are off, so that each
call is sent once and the ledger knows of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from askew.errors import ConfigError, missing_extra
from askew.models import options
from askew.models.address import parse_address
from askew.models.base import Ability, Fatal, ModelSpec, RateLimited, ServerFault
from askew.models.conversation import messages_of
from askew.models.reasoning import split_reasoning
from askew.models.server_errors import Endpoint, ServerError, read_error, redirect, settle
from askew.records import Call, Finish, Message, Reply

PARALLEL = 16
# Inspect keeps a semaphore of its own for each model; the runner paces, so it must never bind.
CONNECTIONS = 10_000
TOKENS_A_MESSAGE = 16
TOKENS_A_TEMPLATE = 64
# Models in Inspect's own process that answer without asking anybody.
_MOCKS = frozenset({"mockllm", "none"})
_OWN_OPTIONS = frozenset({"parallel", "paid", "config"})
# What a call's sampling says, or what would have a call sent, paid or counted behind the ledger.
_SETTLED_CONFIG = frozenset(
    {
        "temperature",
        "max_tokens",
        "top_p",
        "seed",
        "stop_seqs",
        "max_retries",
        "timeout",
        "attempt_timeout",
        "max_connections",
        "adaptive_connections",
        "cache",
        "batch",
        "num_choices",
        "fallback_models",
        "system_message",
    }
)
# Not every key: prompt_cache_key is none of the kind.
_SECRET = re.compile(
    r"^(key|token)$|api_?key|secret|password|credential|authorization"
    r"|(access|auth|session|bearer)_?(key|token)$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\[/?[a-z ]+\]")  # Inspect words its errors for rich
# Troubles of a connection that was never made; everything else may have reached the server.
_NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"})


class InspectModel:
    """A model behind one of Inspect's providers; one call, one request.

    Options: `parallel` (16), `paid` (true; mocks false), `config` (a table of further fields of
    Inspect's GenerateConfig, e.g. `reasoning_effort`); all others are the provider's own model
    arguments (Inspect's `-M`). Keys and base URLs come from the environment as Inspect has it, or
    from `api_key_env` and `base_url`.
    """

    abilities = Ability.REPLY
    batch = 1

    def __init__(self, spec: ModelSpec) -> None:
        """Check the settings; Inspect is imported, and a key looked up, at the first call.

        Raises:
            MissingDependency: Inspect is not installed.
            ConfigError: a name, an address or an option that cannot be used.
        """
        if find_spec("inspect_ai") is None:
            raise missing_extra("inspect-ai", "inspect")
        provider, _, model = spec.model.partition("/")
        if not provider or not model:
            raise ConfigError(
                f"{spec.name} is not named inspect/PROVIDER/MODEL, e.g. inspect/anthropic/NAME."
            )
        for setting in ("revision", "dtype", "adapter"):
            if getattr(spec, setting) is not None:
                raise ConfigError(
                    f"{spec.name} does not read {setting!r}. Give it as the provider of Inspect "
                    f"calls it, below [models.target.options]."
                )
        self.name = spec.name
        self.parallel = options.whole_number(spec.options, "parallel", PARALLEL)
        self.paid = options.flag(spec.options, "paid", provider not in _MOCKS)
        self.remote = provider not in _MOCKS
        self._spec = spec
        self._config = _further_config(spec.options)
        self._arguments = _model_arguments(spec.options)
        self._base_url = _base_url(spec)
        self._model: Any = None

    def identity(self) -> Mapping[str, object]:
        """Provider, model, address, further settings, and Inspect's version, which builds requests.

        Of the version only what a release of Inspect changes on purpose: 0.3.285 counts as 0.3.
        """
        return {
            "provider": self._spec.provider,
            "model": self._spec.model,
            "base_url": self._base_url,
            "config": self._config,
            "model_args": self._arguments,
            "inspect_ai": ".".join(version("inspect-ai").split(".")[:2]),
        }

    def tokens(self, call: Call) -> int:
        """An upper bound: a token holds at least one byte of the text it stands for."""
        return TOKENS_A_TEMPLATE + sum(
            len(message.content.encode("utf-8", "replace")) + TOKENS_A_MESSAGE
            for message in messages_of(call.prompt)
        )

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Answer the one call in `calls`.

        Raises:
            RateLimited, ServerFault, Fatal: as `Model.ask`; a key or a package of the provider that
                is missing is Fatal, and so are calls for log-probabilities.
        """
        if len(calls) != 1:
            raise ValueError(f"{self.name} takes one call a request, not {len(calls)}")
        call = calls[0]
        if call.prompt.choices:
            raise Fatal(
                f"{self.name} gives no log-probabilities of choices: Inspect has none to give. "
                "Use --scoring reply."
            )
        if self._model is None:
            self._model = self._open()
        _never_again(self._model)
        try:
            async with asyncio.timeout(self._spec.timeout_seconds) as limit:
                output = await self._model.generate(
                    as_chat(messages_of(call.prompt)), config=self._generation(call), cache=False
                )
        except Exception as error:  # a provider's client may raise anything
            if limit.expired():
                seconds = self._spec.timeout_seconds
                raise ServerFault(f"{self.name}: no answer within {seconds:g} s") from error
            return [self._settled(error)]
        try:
            return [reply_of(output)]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            said = f"{self.name}: the output that Inspect made of the reply cannot be read"
            raise ServerFault(
                f"{said} ({type(error).__name__}: {self._mask(str(error))})"
            ) from error

    async def close(self) -> None:
        """Close the provider's connections."""
        if self._model is not None:
            model, self._model = self._model, None
            await model.api.aclose()

    def _open(self) -> Any:
        """Inspect's model; once, before the first request."""
        from inspect_ai.model import GenerateConfig, get_model

        try:
            model = get_model(
                self._spec.model,
                config=GenerateConfig(**self._config),
                base_url=self._spec.base_url,
                api_key=self._key(),
                memoize=False,  # another run of this process may have closed a shared one
                **self._arguments,
            )
            count_offline(model)
            return model
        except Fatal:
            raise
        except Exception as error:  # a provider may raise anything where it cannot be set up
            raise Fatal(f"{self.name} cannot be used: {self._mask(_words(error))}") from error

    def _key(self) -> str | None:
        """The key that the settings name; None leaves it to Inspect."""
        if self._spec.api_key_keyring is not None:
            return options.keyring_secret(self._spec.api_key_keyring)
        if self._spec.api_key_env is not None:
            return options.variable(self._spec.api_key_env)
        return None

    def _generation(self, call: Call) -> Any:
        from inspect_ai.model import GenerateConfig

        sampling = call.sampling
        return GenerateConfig(
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            top_p=sampling.top_p,
            seed=sampling.seed,
            stop_seqs=list(sampling.stop) or None,
            max_retries=0,
            max_connections=CONNECTIONS,
            adaptive_connections=False,
        )

    def _settled(self, error: Exception) -> Reply:
        """What an exception comes to: a reply without an answer, or an exception of ours.

        Raises:
            RateLimited, ServerFault, Fatal: by the HTTP status where there is one, else by what
                Inspect's provider makes of the exception. What nobody knows is a fault whose
                outcome is unknown: the request may have been billed.
        """
        error = _origin(error)
        if type(error).__name__ == "PrerequisiteError":
            raise Fatal(f"{self.name} cannot be used: {self._mask(_words(error))}") from error
        status = _status(error)
        if status is not None and status < 400:
            raise redirect(status, _headers(error), self._endpoint()) from error
        if status is not None:
            failure = _failure(error, status)
            return settle(failure, _headers(error), time.time(), self._endpoint())
        said = f"{self.name}: {type(error).__name__}: {self._mask(_words(error))}"
        decision = self._model.api.should_retry(error)
        if getattr(decision, "kind", None) == "rate_limit" and decision.retry:
            raise RateLimited(said, decision.retry_after) from error
        sent = not any(type(cause).__name__ in _NOT_SENT for cause in _causes(error))
        raise ServerFault(said, sent=sent) from error

    def _endpoint(self) -> Endpoint:
        service = _service(self._spec.model)
        variable = self._spec.api_key_env or f"{service}_API_KEY"
        key = os.environ.get(variable, "").strip()
        return Endpoint(
            f"{self.name} ({self._base_url or 'its own address'})",
            variable if key else None,
            (key,) if key else (),
        )

    def _mask(self, text: str) -> str:
        return self._endpoint().mask(text)


def count_offline(model: Any) -> None:
    """Have Inspect's mock model count tokens without a tokenizer, which it would download first.

    Its replies then bear their prompt's bytes as tokens: an upper bound, the same on every machine.
    """
    if str(model).startswith("mockllm/"):

        async def count(text: str) -> int:
            return max(1, len(text.encode("utf-8", "replace")))

        model.api.count_text_tokens = count


def as_chat(messages: Sequence[Message]) -> list[Any]:
    """The conversation as Inspect's chat messages."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
    }
    return [kinds[message.role](content=message.content) for message in messages]


def reply_of(output: Any) -> Reply:
    """What one of Inspect's `ModelOutput` says, with reasoning kept apart from the answer.

    An output that a provider has made of an error (a filtered prompt, a prompt too long) has no
    usage; its text is the server's, not the model's. An output without a choice is no reply.
    """
    if not output.choices:
        error = output.error or "the model's output holds no choice"
        return Reply(finish=Finish.ERROR, error=str(error))
    choice = output.choices[0]
    said, thoughts, refused = _parts(choice.message.content)
    prompt_tokens, completion_tokens = _usage(output.usage)
    by_server = output.usage is None and choice.stop_reason in ("content_filter", "model_length")
    if by_server:
        blocked = choice.stop_reason == "content_filter"
        finish = Finish.BLOCKED if blocked else Finish.ERROR
        return Reply(finish=finish, error=str(output.error or said or "no word why"))
    answer, inline = split_reasoning(said)
    return Reply(
        text=answer,
        reasoning="\n".join([*thoughts, *([inline] if inline else [])]) or None,
        finish=_finish(choice.stop_reason, refused=refused),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        served_model=output.model or None,
        error=output.error,
    )


def _parts(content: Any) -> tuple[str | None, list[str], bool]:
    """Text, reasoning and whether it is a refusal; content is a text or a list of parts."""
    if isinstance(content, str):
        return content, [], False
    texts = [part for part in content if part.type == "text"]
    thoughts = [
        # Redacted reasoning is a cipher for the provider; its summary is for people.
        (part.summary or "") if part.redacted else (part.reasoning or part.summary or "")
        for part in content
        if part.type == "reasoning"
    ]
    said = "".join(part.text for part in texts) if texts else None
    return said, [one for one in thoughts if one], any(part.refusal for part in texts)


def _finish(stop_reason: str, *, refused: bool) -> Finish:
    if stop_reason == "content_filter":
        return Finish.BLOCKED
    if refused:
        return Finish.REFUSAL
    return Finish.LENGTH if stop_reason in ("max_tokens", "model_length") else Finish.STOP


def _usage(usage: Any) -> tuple[int | None, int | None]:
    """Prompt and completion tokens; Inspect counts what came from the provider's cache apart."""
    if usage is None:
        return None, None
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens


def _further_config(given: Mapping[str, object]) -> dict[str, object]:
    config = options.table(given, "config")
    for name in config:
        if name in _SETTLED_CONFIG:
            raise ConfigError(
                f"option config.{name} is askew's to settle. Sampling is set in [models.target]; "
                "retries, pace and caching are the runner's."
            )
    _refuse_secrets(config, "config.")
    return config


def _model_arguments(given: Mapping[str, object]) -> dict[str, object]:
    arguments = {name: value for name, value in given.items() if name not in _OWN_OPTIONS}
    _refuse_secrets(arguments)
    return arguments


def _refuse_secrets(table: Mapping[str, object], place: str = "") -> None:
    """Headers stand in tables of their own, `extra_headers` or `default_headers`."""
    for name, value in table.items():
        if _SECRET.search(name.replace("-", "_")):
            raise ConfigError(
                f"option {f'{place}{name}'!r} looks like a secret, which the run folder would "
                "keep. Put it in an environment variable and name that with api_key_env."
            )
        if isinstance(value, Mapping):
            _refuse_secrets(value, f"{place}{name}.")


def _service(model: str) -> str:
    """What the environment variables of the provider begin with: OPENAI, or the service's name."""
    provider, *rest = model.split("/")
    name = rest[0] if provider == "openai-api" else provider
    return name.upper().replace("-", "_")


def _base_url(spec: ModelSpec) -> str | None:
    """The address that is set, here or in the environment, without what may be secret in it."""
    service = _service(spec.model)
    variables = (
        f"{service}_BASE_URL",
        f"AZUREAI_{service}_BASE_URL",
        f"AZURE_{service}_BASE_URL",
        f"AZURE_{service}_ENDPOINT",
        f"BEDROCK_{service}_BASE_URL",
        "INSPECT_EVAL_MODEL_BASE_URL",
    )
    found = [spec.base_url, *map(os.environ.get, variables)]
    url = next(filter(None, found), None)
    return None if url is None else parse_address(url).base


def _never_again(model: Any) -> None:
    """Have the provider's client send each request once, and nowhere else.

    The clients of OpenAI, Anthropic, Groq and those made like them try twice more on their own; a
    request that was cut off would be paid for again. Set before each call, as Inspect makes a new
    client when it renews a key.
    """
    client: Any = getattr(model.api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
    # The HTTP client within it would follow a redirect to wherever a server points, prompt and all.
    inner: Any = getattr(client, "_client", None)
    if isinstance(getattr(inner, "follow_redirects", None), bool):
        inner.follow_redirects = False


def _origin(error: Exception) -> Exception:
    """The provider's exception inside those that tenacity and Inspect put around it."""
    while True:
        if type(error).__name__ == "RetryError" and hasattr(error, "last_attempt"):
            inner = error.last_attempt.exception()
        elif type(error).__name__ == "ModelGenerateError":
            inner = error.__cause__
        else:
            return error
        if not isinstance(inner, Exception):
            return error
        error = inner


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from; a ring ends it."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _status(error: Exception) -> int | None:
    """The HTTP status that an exception of a provider's client carries; each has its own way."""
    response = getattr(error, "response", None)
    found = [getattr(error, name, None) for name in ("status_code", "code", "status")]
    if isinstance(response, Mapping):  # boto's ClientError
        found.append((response.get("ResponseMetadata") or {}).get("HTTPStatusCode"))
    else:
        found.append(getattr(response, "status_code", None))
    statuses = (one for one in found if isinstance(one, int) and 300 <= one < 600)
    return next(statuses, None)


def _failure(error: Exception, status: int) -> ServerError:
    """The error as the server words it."""
    body = getattr(error, "body", None)
    try:
        content = getattr(getattr(error, "response", None), "content", None)
    except Exception:  # httpx raises where a body has not been read
        content = None
    if isinstance(content, bytes) and content:
        return read_error(status, content)
    if isinstance(body, Mapping | list):
        return read_error(status, json.dumps(body, default=str).encode())
    text = body if isinstance(body, str) and body else _words(error)
    return read_error(status, text.encode("utf-8", "replace"))


def _headers(error: Exception) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return {str(k): str(v) for k, v in headers.items()} if isinstance(headers, Mapping) else {}


def _words(error: BaseException) -> str:
    said = str(getattr(error, "message", "") or error)
    return " ".join(_MARKUP.sub("", said).split()) or "no word why"
