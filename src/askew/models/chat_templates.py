"""Messages to the one text that a chat model was trained to continue.

Templates differ in what they do with a system message: most show it, some raise, a few drop it
without a word. Personas and jailbreaks live just there, so none may be lost unseen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from askew.errors import ConfigError
from askew.models.base import Fatal
from askew.records import Message

SYSTEM_MOVED = "system message put before the first user message"
_PROBE = "Zyx-4711-system-probe"  # a text that no template writes by itself


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
        import jinja2

        opened = messages[-1].role == "assistant"
        try:
            text = self.tokenizer.apply_chat_template(
                [{"role": each.role, "content": each.content} for each in messages],
                tokenize=False,
                add_generation_prompt=not opened,
                continue_final_message=opened,
                **self.settings,
            )
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            raise TemplateError(
                f"{self.model}: its chat template refuses messages of the roles "
                f"{', '.join(each.role for each in messages)}: {error}. "
                "Change the messages, or ask in plain text: --prompt flex"
            ) from error
        return str(text)


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
