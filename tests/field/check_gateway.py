"""Cases about endpoints: `gateway*`, `cache`, and log-probabilities over the wire."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from askew.models.address import parse_address
from askew.models.base import Fatal, Model
from askew.models.ledger import Ledger
from askew.models.runner import Answers
from askew.records import Call, Finish, Outcome
from askew.run import rescore
from tests.field.audits import audit, figures_of, is_attacked, own_items, page_of
from tests.field.calls import ATTEMPTS, always, ask, ask_once, call, replies_of, said, toy
from tests.field.folder import Case, CaseFolder
from tests.field.registry import check
from tests.models.servers import Answer, FaultServer, Seen, chat_body


def entries_of(ledger: Path) -> int:
    """How many calls the ledger holds."""
    with Ledger.open(ledger) as opened:
        return len(list(opened.records()))


@check("case-21")
def an_error_behind_status_200_is_retried_and_quoted(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    found = case["input"]
    without_choices: list[Any] = [
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"error": found["body"]["error"], "finish_reason": "error"}]},
    ]
    for number, body in enumerate([found["body"], *without_choices]):
        with always(found["status"], body) as server:
            answers = ask(work / f"{number}.sqlite", toy(server), [call()])
            assert len(server.seen) == ATTEMPTS
        (reply,) = replies_of(answers)
        assert reply.finish is Finish.ERROR
        assert answers.failed == 1
        error = said(reply)
        assert server.url in error
        assert "NoneType" not in error
        assert "index" not in error
        if "error" in orjson.dumps(body).decode():
            assert found["body"]["error"]["message"] in error


@check("case-23")
def a_filtered_prompt_is_asked_once_and_counted(case: Case, folder: CaseFolder, work: Path) -> None:
    blocked = Answer(case["input"]["body"], case["input"]["status"])
    with always(blocked.status, blocked.body) as server:
        answers = ask(work / "one.sqlite", toy(server), [call()])
        assert len(server.seen) == 1
    assert [reply.finish for reply in replies_of(answers)] == [Finish.BLOCKED]
    assert answers.stopped is None

    def handler(seen: Seen) -> Answer:
        return blocked if is_attacked(seen) and "day 0" in seen.prompt else Answer(chat_body("C"))

    with FaultServer(handler) as server:
        run, answers = audit(work, own_items(work, 4), server)
        assert set(server.counts.values()) == {2}  # the same last message, plain and attacked
        assert len(server.seen) == 8
    assert (answers.stopped, answers.missing) == (None, 0)
    flex = figures_of(run)
    assert flex["outcomes_attacked"]["overall"][Outcome.BLOCKED] == 1
    assert flex["settings"]["non_answers"] == "left_out"
    assert flex["flex_accuracy"]["overall"]["n"] == 3
    assert flex["attack_success_rate_bounds"]["overall"]["most"] == 0.25
    assert "1 blocked" in page_of(run)
    assert "left out of the figures" in page_of(run)
    run = rescore(run.path, {"flex.non_answers": "wrong"})
    assert figures_of(run)["flex_accuracy"]["overall"]["value"] == 0.75
    assert "count as wrong" in page_of(run)


@check("case-25")
def without_log_probabilities_there_is_no_accuracy(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    zeros = case["input"]["options_scores"]

    def generated_alone(seen: Seen) -> Answer:
        choice = {"text": " A", "logprobs": {"tokens": [" A"], "token_logprobs": [-0.1]}}
        count = len(seen.body["prompt"])
        return Answer({"choices": [{"index": n, **choice} for n in range(count)]})

    def echoed_as_zero(seen: Seen) -> Answer:
        choices = []
        for number, text in enumerate(seen.body["prompt"]):
            tokens = [*text.split(" "), "A"]
            logprobs = {"tokens": tokens, "token_logprobs": [zeros[0]] * len(tokens)}
            choices.append({"index": number, "text": f"{text} A", "logprobs": logprobs})
        return Answer({"choices": choices})

    def chat_without(seen: Seen) -> Answer:
        return Answer(chat_body("A"))

    for name, body, flex in (
        ("generated", generated_alone, {"prompt": "flex", "scoring": "texts"}),
        ("zero", echoed_as_zero, {"prompt": "flex", "scoring": "texts"}),
        ("chat", chat_without, {"scoring": "letters"}),
    ):
        place = work / name
        place.mkdir()
        with FaultServer(body) as server:
            run, answers = audit(place, own_items(place, 2), server, name, **flex)
            assert len(server.seen) == 1
        assert answers.stopped == "fatal"
        assert server.url in answers.message
        assert "log-probabilities" in answers.message
        assert "--scoring reply" in answers.message
        figures = figures_of(run)
        for figure in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
            assert figures[figure]["overall"]["value"] is None


@check("case-43")
def the_key_holds_all_that_changes_the_answer(case: Case, folder: CaseFolder, work: Path) -> None:
    ledger = work / "run.sqlite"
    with FaultServer(lambda seen: Answer(chat_body("B"))) as server:

        def ask_all() -> list[Answers]:
            asked = [_model_and_call(one, server) for one in case["input"]["calls"]]
            return [ask(ledger, model, [one]) for model, one in asked]

        ask_all()
        count = len(case["input"]["calls"])
        assert len(server.seen) == count
        assert entries_of(ledger) == count
        again = ask_all()
        assert len(server.seen) == count
        assert [answers.reused for answers in again] == [1] * count
    _check_flags_are_kept(work / "flags.sqlite")


def _model_and_call(wanted: dict[str, Any], server: FaultServer) -> tuple[Model, Call]:
    url = f"{server.origin}/{wanted['base_url']}/v1" if "base_url" in wanted else None
    sampling = {"temperature": wanted["t"]}
    if "max_tokens" in wanted:
        sampling["max_tokens"] = wanted["max_tokens"]
    return toy(server, wanted["model"], url), call(replicate=wanted.get("sample", 0), **sampling)


def _check_flags_are_kept(ledger: Path) -> None:
    """What was no answer is asked again, or comes back as what it was."""
    replies = {
        "blocked": Answer({"error": {"message": "filtered", "code": "content_filter"}}, 400),
        "cut": Answer(chat_body("The answer is", finish="length")),
        "too long": Answer({"error": {"message": "x", "code": "context_length_exceeded"}}, 400),
    }
    wanted = [Finish.BLOCKED, Finish.LENGTH, Finish.ERROR]
    with FaultServer(lambda seen: replies[seen.prompt]) as server:
        for _ in range(2):
            answers = ask(ledger, toy(server), [call(text) for text in replies])
            assert [reply.finish for reply in replies_of(answers)] == wanted
        assert server.counts["too long"] == 2, "an error was served from the cache"


@check("case-47")
def every_form_of_an_address_calls_the_same_place(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    with FaultServer() as server:
        for url in case["input"]["base_urls"]:
            parts = urlsplit(url)
            expected = f"{parts.path.rstrip('/') or '/v1'}/chat/completions"
            assert parse_address(url).endpoint("chat/completions") == (
                f"{parts.scheme}://{parts.netloc}{expected}"
            )
            server.seen.clear()
            ask_once(toy(server, base_url=url.replace(parts.netloc, f"127.0.0.1:{server.port}")))
            assert [seen.path for seen in server.seen] == [expected]
        server.handler = lambda seen: Answer({"detail": "Not Found"}, 404)
        result = ask_once(toy(server, base_url=f"{server.origin}/wrong"))
        assert isinstance(result, Fatal)
        assert f"{server.origin}/wrong/chat/completions" in said(result)


@check("case-51")
def a_refused_parameter_costs_one_more_request(case: Case, folder: CaseFolder, work: Path) -> None:
    refused, status = case["input"]["param"], case["input"]["status"]

    def refuses(*names: str) -> FaultServer:
        def handler(seen: Seen) -> Answer:
            found = next((name for name in names if name in seen.body), None)
            return Answer(_refusal(found), status) if found else Answer(chat_body("C"))

        return FaultServer(handler)

    with refuses(refused) as server:
        answers = ask(work / "one.sqlite", toy(server), [call()])
        assert len(server.seen) == 2
        assert refused not in server.seen[1].body
    assert [reply.text for reply in replies_of(answers)] == ["C"]
    with refuses(refused, "max_completion_tokens") as server:
        result = ask_once(toy(server))
        assert len(server.seen) <= 2
        assert "is not supported with this model" in said(result)
    with refuses("temperature") as server:
        run, _ = audit(work, own_items(work, 2), server)
        counts = Counter("temperature" in seen.body for seen in server.seen)
        assert counts == {True: 1, False: 4}
    assert "temperature left out" in page_of(run)


def _refusal(name: str | None) -> dict[str, Any]:
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return {"error": {"message": message, "param": name, "code": "unsupported_parameter"}}
