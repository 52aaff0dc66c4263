"""Prompts as a model on this machine reads them: rendered, cut into tokens, and back to text."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from askew.models.chat_templates import ChatTemplate, Rendered
from askew.models.reasoning import left_open, split_reasoning
from askew.models.tokens import split_choices
from askew.models.trie import TokenQuestion
from askew.records import Prompt

# Where a control token in a message is parted; Unicode has it for uses of one's own.
_HALF = "\U000f5ea1"
_HALVES = re.compile(_HALF)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt in tokens."""

    text: str  # as rendered
    tokens: TokenQuestion  # without continuations where a reply is wanted
    adapted: tuple[str, ...]


class PromptReader:
    """A tokenizer and its chat template; safe to use from several threads."""

    def __init__(self, model: str, tokenizer: Any, settings: Mapping[str, Any]) -> None:
        self.tokenizer = tokenizer
        self.template = ChatTemplate(model, tokenizer, settings)
        self._control: re.Pattern[str] | None = None
        # A fast tokenizer raises "Already borrowed" when two threads use it at once.
        self._lock = threading.Lock()

    @property
    def start_token(self) -> int | None:
        """What stands in for an empty context, as in lm-eval: BOS, else EOS."""
        bos: int | None = self.tokenizer.bos_token_id
        return self.tokenizer.eos_token_id if bos is None else bos

    def prepare(self, prompt: Prompt) -> Prepared:
        """Render `prompt` and cut it, with its choices if it has any, into tokens.

        Raises:
            TemplateError: the chat template cannot show the messages.
        """
        with self._lock:
            if prompt.text is None:
                # What a message says is text, even where it is a control token of the template: a
                # data set or another model's answer must not open a turn of its own.
                messages = [
                    replace(one, content=self._hidden(one.content)) for one in prompt.messages
                ]
                rendered, special = self.template.render(messages), False
            else:
                rendered = Rendered(prompt.text)
                special = not self._begins_with_bos(prompt.text)

            def encode(text: str) -> list[int]:
                # A template writes its own BOS; a second one would shift every figure.
                ids: list[int] = []
                for part in _HALVES.split(text):
                    ids += self.tokenizer.encode(part, add_special_tokens=special) if part else []
                return ids

            if prompt.choices:
                tokens = split_choices(
                    encode, rendered.text, prompt.choices, start_token=self.start_token
                )
            else:
                # The start token stands in for an empty prompt, as above.
                ids = encode(rendered.text) or [self.start_token or 0]
                tokens = TokenQuestion(tuple(ids), ())
        return Prepared(rendered.text.replace(_HALF, ""), tokens, rendered.adapted)

    def _hidden(self, content: str) -> str:
        """The text with each control token in it parted in two, which are tokenised apart."""
        if self._control is None:
            added = self.tokenizer.added_tokens_decoder.values()
            names = sorted({str(one) for one in added if one.special and len(str(one)) > 1})
            self._control = re.compile("|".join(map(re.escape, names)) or r"(?!)")
        return self._control.sub(lambda token: f"{token[0][:1]}{_HALF}{token[0][1:]}", content)

    def _begins_with_bos(self, text: str) -> bool:
        bos = self.tokenizer.bos_token
        return bool(bos) and text.startswith(bos)

    def answer(self, prompt: str, generated: str) -> tuple[str | None, str | None]:
        """Answer and reasoning of a generated text, without special tokens.

        Args:
            prompt: the rendered prompt, which may have opened the reasoning.
            generated: the text that came, special tokens included.
        """
        answer, reasoning = split_reasoning(left_open(prompt) + generated)
        return self._plain(answer), self._plain(reasoning)

    def _plain(self, text: str | None) -> str | None:
        if text is None:
            return None
        for special in self.tokenizer.all_special_tokens:
            text = text.replace(special, "")
        return text
