"""A call as canonical JSON, the key made of it, and replies as JSON.

Two calls share a key only if nothing that can change the answer differs between them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping

from askew.records import Call, Finish, Message, Prompt, Reply, Sampling


def request_json(call: Call) -> str:
    """The call as canonical JSON: sorted keys, no blanks, one text for equal calls.

    >>> request_json(Call(Prompt(text="Hi"), Sampling(temperature=0)))[-66:-1]
    '"seed":null,"stop":[],"temperature":0.0,"top_p":null},"text":"Hi"'
    """
    prompt, sampling = call.prompt, call.sampling
    return canonical_json(
        {
            "choices": prompt.choices,
            "messages": [{"content": m.content, "role": m.role} for m in prompt.messages],
            "replicate": call.replicate,
            "role": call.role,
            "sampling": {
                "max_tokens": sampling.max_tokens,
                "seed": sampling.seed,
                "stop": sampling.stop,
                "temperature": _real(sampling.temperature),
                "top_p": _real(sampling.top_p),
            },
            "text": prompt.text,
        }
    )


def call_from_json(text: str) -> Call:
    """The call that `request_json` wrote.

    Raises:
        ValueError, TypeError, KeyError: it did not write this.
    """
    record = json.loads(text)
    sampling = record["sampling"]
    call = Call(
        Prompt(
            text=record["text"],
            messages=tuple(Message(m["role"], m["content"]) for m in record["messages"]),
            choices=tuple(record["choices"]),
        ),
        Sampling(**{**sampling, "stop": tuple(sampling["stop"])}),
        record["role"],
        record["replicate"],
    )
    if not _is_sound(call):
        raise ValueError("a field of the call is not of its kind")
    return call


def _is_sound(call: Call) -> bool:
    """Whether each field is of its kind: records do not look, and a file may be anybody's."""
    prompt, sampling = call.prompt, call.sampling
    numbers = (sampling.temperature, sampling.top_p)
    texts = (*prompt.choices, *sampling.stop, *(m.content for m in prompt.messages))
    return (
        (prompt.text is None or type(prompt.text) is str)
        and all(type(one) is str for one in (call.role, *(m.role for m in prompt.messages), *texts))
        and all(type(one) is int for one in (call.replicate, sampling.max_tokens))
        and all(one is None or type(one) in (int, float) for one in numbers)
        and (sampling.seed is None or type(sampling.seed) is int)
    )


def call_key(identity: Mapping[str, object], call: Call) -> str:
    """64 hex digits that stand for the model's identity and the whole call.

    Args:
        identity: `Model.identity()`, JSON values, no secret among them.
        call: what is asked, role and replicate number included.
    """
    return key_of(canonical_json(identity), request_json(call))


def key_of(identity: str, request: str) -> str:
    """`call_key`, for callers that hold both parts as canonical JSON already."""
    whole = f'{{"call":{request},"model":{identity}}}'
    return hashlib.sha256(whole.encode()).hexdigest()


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no blanks; text as it is, where UTF-8 can hold it."""
    text = _dumps(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate, from broken data. Escaped, it can be stored and hashed.
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    return text


_dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def reply_to_json(reply: Reply) -> str:
    """The reply as JSON, without the fields that hold nothing.

    A log-probability of NaN is null and minus infinity is "-inf": JSON has neither.
    """
    record: dict[str, object] = {"finish": reply.finish.value}
    for name in _PLAIN_FIELDS:
        value = getattr(reply, name)
        if value is not None:
            record[name] = value
    if reply.adapted:
        record["adapted"] = reply.adapted
    if reply.log_probabilities:
        record["log_probabilities"] = [_number(x) for x in reply.log_probabilities]
    return canonical_json(record)


def reply_from_json(text: str) -> Reply:
    """The reply that `reply_to_json` wrote.

    Raises:
        ValueError, TypeError, KeyError: it did not write this.
    """
    record = json.loads(text)
    for names, kind in ((_TEXT_FIELDS, str), (_COUNT_FIELDS, int)):
        for name in names:
            if record.get(name) is not None and type(record[name]) is not kind:
                raise ValueError(f"field {name!r} of the reply is not of its kind")
    return Reply(
        finish=Finish(record["finish"]),
        adapted=tuple(str(each) for each in record.get("adapted", ())),
        log_probabilities=tuple(
            math.nan if x is None else float(x) for x in record.get("log_probabilities", ())
        ),
        **{name: record[name] for name in _PLAIN_FIELDS if name in record},
    )


_TEXT_FIELDS = ("text", "reasoning", "served_model", "fingerprint", "error")
_COUNT_FIELDS = ("prompt_tokens", "completion_tokens")
_PLAIN_FIELDS = (*_TEXT_FIELDS, *_COUNT_FIELDS)


def _real(value: float | None) -> float | None:
    # 0, 0.0 and -0.0 are equal, so that equal calls have to have one text.
    return None if value is None else float(value) + 0.0


def _number(value: float) -> float | str | None:
    if math.isfinite(value):
        return float(value)
    return None if math.isnan(value) else str(float(value))
