"""Messages to the one text that a chat model was trained to continue.

Templates differ in what they do with a system message: most show it, some raise, a few drop it
without a word. Personas and jailbreaks live just there, so none may be lost unseen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from askew.errors import ConfigError
from askew.models.base import Fatal
from askew.models.template_bounds import bounded, render
from askew.records import Message

if TYPE_CHECKING:
    import jinja2

SYSTEM_MOVED = "system message put before the first user message"
_PROBE = "Zyx-4711-system-probe"  # a text that no template writes by itself
_OPEN = "ASKEW-4711-CONTINUES-HERE "  # marks where an answer is left open; the blank tells trimming


class TemplateError(Fatal, ConfigError):
    """A model's chat template cannot show the messages; no call of the kind will get through."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Messages as text, and what had to be changed for it."""

    text: str
    adapted: tuple[str, ...] = ()


@dataclass(slots=True)
class ChatTemplate:
    """A tokenizer's chat template, with the habits that were found out by trying it."""

    model: str  # for messages to the user
    tokenizer: Any  # transformers' PreTrainedTokenizerBase
    settings: Mapping[str, Any] = field(default_factory=dict)  # e.g. {"enable_thinking": False}
    _shows_system: bool | None = None
    _template: jinja2.Template | None = None

    @property
    def source(self) -> str:
        """The template's own text, "" if there is none."""
        template = self.tokenizer.chat_template
        return template if isinstance(template, str) else str(template or "")

    def render(self, messages: Sequence[Message]) -> Rendered:
        """The text up to where the model's answer begins.

        A last message of the assistant is left open, to be continued. What the template adds of
        itself (SmolLM2's own system line, where none is given) is part of the model.

        Raises:
            TemplateError: there is no template, or it refuses the messages.
        """
        if not self.source:
            raise TemplateError(
                f"{self.model} has no chat template, so it cannot be asked in messages. "
                "Ask it in plain text: --prompt flex"
            )
        if messages[0].role != "system" or self.shows_system:
            return Rendered(self._apply(messages))
        return Rendered(self._apply(without_system(messages)), (SYSTEM_MOVED,))

    @property
    def shows_system(self) -> bool:
        """Whether a system message comes out exactly once; tried at the first need."""
        if self._shows_system is None:
            probe = (Message("system", _PROBE), Message("user", "Hello"))
            try:
                self._shows_system = self._apply(probe).count(_PROBE) == 1
            except TemplateError:
                self._shows_system = False
        return self._shows_system

    def _apply(self, messages: Sequence[Message]) -> str:
        chat = [{"role": each.role, "content": each.content} for each in messages]
        opened = messages[-1].role == "assistant"
        if opened:
            chat[-1]["content"] += _OPEN
        values = {
            "tools": None,
            "documents": None,
            **self.tokenizer.special_tokens_map,
            **self.settings,
            "messages": chat,
            "add_generation_prompt": not opened,
        }
        try:
            if self._template is None:
                self._template = _compiled(self.tokenizer)
            text = render(self._template, values, sum(len(each.content) for each in messages))
            return _left_open(text) if opened else text
        except Exception as error:  # a stranger's program: it may divide by zero
            raise TemplateError(
                f"{self.model}: its chat template refuses messages of the roles "
                f"{', '.join(each.role for each in messages)}: {error}. "
                "Change the messages, or ask in plain text: --prompt flex"
            ) from error


def _compiled(tokenizer: Any) -> jinja2.Template:
    """The template, with transformers' own filters and functions for it, and a bound on each."""
    from transformers.utils import chat_template_utils

    # Of an empty template: compiling works out `'x' * 10**10` where nothing bounds it.
    like = chat_template_utils._compile_jinja_template("").environment
    return bounded(tokenizer.get_chat_template(), like)


def _left_open(text: str) -> str:
    """The text up to where the last message ended, as transformers cuts it."""
    end = text.rfind(_OPEN.strip())
    if end < 0:
        raise ValueError("it does not show the assistant's last message")
    kept = text[:end]
    # A template that trims a message has taken the blank behind the mark, and those before it stay.
    return kept if text.startswith(_OPEN, end) else kept.rstrip()


def without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    r"""The same conversation, its leading system text put before the first user text.

    >>> without_system([Message("system", "Be brief."), Message("user", "Who?")])[0].content
    'Be brief.\n\nWho?'
    """
    system, rest = messages[0], list(messages[1:])
    for place, message in enumerate(rest):
        if message.role == "user":
            rest[place] = Message("user", f"{system.content}\n\n{message.content}")
            return tuple(rest)
    return (Message("user", system.content), *rest)
