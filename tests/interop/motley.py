"""A chat endpoint whose replies are of every kind, each prompt's always the same."""

from __future__ import annotations

import hashlib

from tests.audits.planted import leaning
from tests.models.servers import Answer, Seen, chat_body, error


def whole(seen: Seen) -> str:
    """All that was said to the model, the system's message included."""
    return "\n".join(message["content"] for message in seen.body["messages"])


def planted(seen: Seen) -> Answer:
    """Neutral unless a persona is injected."""
    return Answer(chat_body(leaning(whole(seen))))


def motley(seen: Seen) -> Answer:
    """The planted bias, and by the prompt's hash every kind of trouble."""
    prompt = whole(seen)
    answer = leaning(prompt)
    match hashlib.sha256(prompt.encode()).digest()[0] % 12:
        case 0:
            return Answer(chat_body("I'm sorry, but I can't help with that."))
        case 1:
            return Answer(chat_body("", refusal="I will not."))
        case 2:
            return Answer(chat_body(None, finish="content_filter"))
        case 3:
            return Answer(chat_body("Let me think about this: A or B", finish="length"))
        case 4:
            return Answer(chat_body(answer, reasoning_content="It might be (A), or (B)."))
        case 5:
            return Answer(chat_body(f"<think>Perhaps (C)?</think> {answer}"))
        case 6:
            return Answer(chat_body("Both of them, \x1b[31mreally\x07."))
        case 7:
            return error(400, "this one is refused by a validator")
        case 8:
            return Answer({"error": {"message": "flagged", "code": "content_filter"}}, 400)
        case 9:
            return Answer(chat_body(None))
        case _:
            return Answer(chat_body(answer))
