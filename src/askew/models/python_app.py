"""`python/module:function`: a callable in this process, sync or async, as the model.

A process may live longer than a file stays as it is, above all a notebook's. Replies must not be
recorded as those of an edited file while the function of the old one gives them: that is refused.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import os
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import CodeType, EllipsisType, FunctionType, MethodType
from typing import Any

from askew.errors import ConfigError, ModelError
from askew.models import options
from askew.models.base import Ability, Fatal, ModelSpec, ServerFault
from askew.models.conversation import as_dicts, flatten, messages_of
from askew.models.reasoning import split_reasoning
from askew.records import Call, Finish, Prompt, Reply

OPTIONS = ("takes", "batch", "parallel", "remote", "paid")
TAKES = ("text", "messages")
PARALLEL = 16  # of an async function; a sync one is not called from two threads until told so


class PythonApp:
    """A function from a prompt to an answer.

    It takes a text, or the conversation as a list of {"role", "content"} where its first parameter
    is annotated as a list or the option `takes` is "messages". It returns a text, None for no
    answer, or a `Reply`. With `batch` above 1 it takes a list of prompts and returns as many
    answers. Other options: `parallel` (1, async functions 16), `remote` (false: whether the texts
    leave this machine), `paid` (true: whether asking twice can cost twice).
    """

    abilities = Ability.REPLY

    def __init__(self, spec: ModelSpec, function: Callable[[Any], Any] | None = None) -> None:
        """Take the function, or import it; the working directory is searched first.

        Args:
            spec: the settings; its name says which function to import.
            function: one that no module holds. It is known by its name, its code and
                `spec.revision`; what else it depends on has to show in the revision.

        Raises:
            ConfigError: there is no such module or function, it fails on import, its file has
                changed since, it has no code to be known by, or an option cannot be used.
        """
        given = spec.options
        options.check_known(given, OPTIONS, spec.provider)
        self.name = spec.name
        self._spec = spec
        self._function = find_function(spec.model) if function is None else function
        self._source = (
            {"source_sha256": _as_imported(self._function, spec.model)}
            if function is None
            else {"code_sha256": _code_digest(function, spec.name)}
        )
        self._async = _is_async(self._function)
        self.batch = options.whole_number(given, "batch", 1)
        self.parallel = options.whole_number(given, "parallel", PARALLEL if self._async else 1)
        self.remote = options.flag(given, "remote", False)
        self.paid = options.flag(given, "paid", True)
        takes = options.text(given, "takes") or _taken_by(self._function, self.batch)
        if takes not in TAKES:
            raise ConfigError(f"option 'takes' is {takes!r}, expected one of {', '.join(TAKES)}.")
        self._takes_messages = takes == "messages"
        self._threads = ThreadPoolExecutor(self.parallel, "askew-python-app")

    def identity(self) -> Mapping[str, object]:
        """The function's name and its source or code: an edited function is another model."""
        return {
            "provider": self._spec.provider,
            "model": self._spec.model,
            "revision": self._spec.revision,
            **self._source,
            "takes": "messages" if self._takes_messages else "text",
            "batch": self.batch,
        }

    def tokens(self, call: Call) -> int:
        """An upper bound for the prompt: its bytes."""
        return len(flatten(messages_of(call.prompt)).encode("utf-8", "replace"))

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Answer `calls`, at most `batch` of them.

        What the function raises, an exit included, becomes a reply with finish ERROR for each call
        of the batch, with the exception's type and text; a `ModelError` of its own (`RateLimited`,
        …) passes.

        Raises:
            ServerFault: no answer within the time limit. A sync function cannot be stopped; it
                goes on in its thread.
            Fatal: log-probabilities are asked for.
        """
        if any(call.prompt.choices for call in calls):
            raise Fatal(f"{self.name} has no log-probabilities. Use --scoring reply.")
        prompts = [self._argument(call.prompt) for call in calls]
        try:
            async with asyncio.timeout(self._spec.timeout_seconds) as limit:
                returned = await self._run(prompts if self.batch > 1 else prompts[0])
        except ModelError:
            raise
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            if limit.expired():
                seconds = self._spec.timeout_seconds
                raise ServerFault(f"{self.name}: no answer within {seconds:g} s") from error
            return [_failed(_described(error))] * len(calls)
        if self.batch == 1:
            return [as_reply(returned)]
        if isinstance(returned, list | tuple) and len(returned) == len(calls):
            return [as_reply(answer) for answer in returned]
        found = f"{len(returned)}" if isinstance(returned, list | tuple) else f"{returned!r:.80}"
        return [_failed(f"a batch of {len(calls)} came back as {found}")] * len(calls)

    async def close(self) -> None:
        """Let the threads go, without waiting for a function that hangs."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _argument(self, prompt: Prompt) -> object:
        messages = messages_of(prompt)
        return as_dicts(messages) if self._takes_messages else flatten(messages)

    async def _run(self, argument: object) -> object:
        if self._async:
            return await self._function(argument)
        loop = asyncio.get_running_loop()
        returned = await loop.run_in_executor(self._threads, self._in_thread, argument)
        return await returned if inspect.isawaitable(returned) else returned

    def _in_thread(self, argument: object) -> object:
        try:
            return self._function(argument)
        except StopIteration as end:  # a future cannot hold it: the call would never come back
            raise RuntimeError("the function raised StopIteration") from end


def find_function(reference: str) -> Callable[[object], Any]:
    """The callable that "package.module:attribute" names.

    Raises:
        ConfigError: there is none, or its module fails on import.
    """
    module_name, _, attribute = reference.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"python/{reference} is not named python/module:function.")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module_name)
    except Exception as error:  # the user's module may raise anything
        raise ConfigError(
            f"python/{reference}: importing {module_name} (from {here} or what is installed) "
            f"failed: {type(error).__name__}: {error}"
        ) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            known = [entry for entry in dir(found) if not entry.startswith("_")]
            raise ConfigError(
                f"python/{reference}: no {name!r} there. Known: {', '.join(known) or 'nothing'}."
            )
        found = getattr(found, name)
    if not callable(found):
        raise ConfigError(f"python/{reference} is {type(found).__name__}, not a function.")
    function: Callable[[object], Any] = found
    return function


def is_importable(function: Callable[[Any], Any], reference: str) -> bool:
    """Whether "module:attribute" is this very function, from a file that says what it does."""
    module_name, _, attribute = reference.partition(":")
    found: Any = sys.modules.get(module_name)
    if module_name == "__main__" or getattr(found, "__file__", None) is None:
        return False
    for name in attribute.split("."):
        found = getattr(found, name, None)
    return found is function


def as_reply(returned: object) -> Reply:
    """What a function returned, as a reply."""
    if isinstance(returned, Reply):
        return returned
    if returned is None or isinstance(returned, str):
        answer, reasoning = split_reasoning(returned)
        return Reply(text=answer, reasoning=reasoning)
    return _failed(f"the function returned {type(returned).__name__}, expected a text or a Reply")


def _failed(error: str) -> Reply:
    return Reply(finish=Finish.ERROR, error=error)


def _described(error: BaseException) -> str:
    """An exception's type and text; the text is the user's code again, and may fail."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:  # whatever the user's __str__ raises
        return f"{name}, whose text cannot be had"


def _is_async(function: Callable[[object], Any]) -> bool:
    called = type(function).__call__  # an object may be called like a function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _taken_by(function: Callable[[object], Any], batch: int) -> str:
    """Whether the first parameter is annotated as a list: of messages, unless it is a batch."""
    if batch > 1:
        return "text"
    try:
        hints = typing.get_type_hints(function)
        first = next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError, NameError):  # no signature, or hints that cannot be resolved
        return "text"
    hint = hints.get(first or "")
    kind = typing.get_origin(hint) or hint
    return "messages" if kind in (list, tuple, Sequence) else "text"


# Where a function was first taken from: the function, its code then, and its file's sha256 then.
_TAKEN: dict[str, tuple[object, object, str | None]] = {}


def _as_imported(function: Callable[[object], Any], reference: str) -> str | None:
    """The sha256 of the function's file.

    Raises:
        ConfigError: the file has changed since this process took the same function from it.
    """
    digest = _source_digest(function)
    itself: object = getattr(function, "__func__", function)  # a method is bound anew each time
    code = getattr(itself, "__code__", None)
    taken, its_code, before = _TAKEN.setdefault(reference, (itself, code, digest))
    if taken is not itself or its_code is not code:  # imported anew
        _TAKEN[reference] = (itself, code, digest)
    elif before != digest:
        raise ConfigError(
            f"python/{reference}: the file has changed since it was imported, and the function is "
            "still the old one. Import it anew with importlib.reload, or start Python again."
        )
    return digest


def _code_digest(function: Callable[[Any], Any], name: str) -> str:
    """sha256 of a function's code and plain defaults, wherever it stands.

    Raises:
        ConfigError: it is not written in Python, and could be any other of its name.
    """
    code = _code_of(function, set())
    if code is None:
        raise ConfigError(
            f"{name} shows no Python code, so that askew cannot tell it from another function. "
            "Wrap it into one: def answer(prompt): …"
        )
    return hashlib.sha256(repr(code).encode()).hexdigest()


def _code_of(function: Any, seen: set[int]) -> object:
    """The code of a function and of those in it: what it decorates, what it is a partial of.

    None: there is none to be seen, or it was seen before.
    """
    if id(function) in seen:
        return None
    seen.add(id(function))
    if isinstance(function, functools.partial):
        code = _code_of(function.func, seen)
        return code and (code, _plain(function.args), _plain(function.keywords))
    called = function if hasattr(function, "__code__") else type(function).__call__
    code = getattr(called, "__code__", None)
    defaults = (getattr(called, "__defaults__", None), getattr(called, "__kwdefaults__", None))
    own = None if code is None else (_plain(code), _plain(defaults))
    inner = [found for one in _inner_functions(function) if (found := _code_of(one, seen))]
    return (own, *inner) if own or inner else None


def _inner_functions(function: Any) -> list[object]:
    """The functions that a decorated one calls: a cache, a retry, a wrapper of the user's own."""
    found = [getattr(function, "__wrapped__", None)]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    return [one for one in found if isinstance(one, FunctionType | MethodType | functools.partial)]


def _plain(part: object) -> object:
    """A constant as something whose text is the same in every process."""
    match part:
        case CodeType():
            names = (part.co_names, part.co_varnames, part.co_freevars, part.co_cellvars)
            return part.co_code.hex(), names, _plain(part.co_consts)
        case tuple():
            return tuple(map(_plain, part))
        case frozenset():
            return sorted(repr(_plain(one)) for one in part)
        case slice():
            return part.start, part.stop, part.step
        case dict():
            return {name: _plain(value) for name, value in part.items()}
        case None | bool() | int() | float() | complex() | str() | bytes() | EllipsisType():
            return part
        case _:
            return type(part).__name__


def _source_digest(function: Callable[[object], Any]) -> str | None:
    """sha256 of the file that the function's module was read from; None where there is none."""
    module = sys.modules.get(getattr(function, "__module__", None) or type(function).__module__)
    path = getattr(module, "__file__", None)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None
