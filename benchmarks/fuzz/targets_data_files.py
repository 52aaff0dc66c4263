"""Files of runs, surveys and models that somebody else may have made or changed."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from shutil import rmtree

import numpy as np
from harness import Target, law, text_of
from places import scratch, written

from askew.errors import AskewError, DataError
from askew.manifest import check_manifest
from askew.models.base import ModelSpec
from askew.models.callkey import call_from_json, reply_from_json, reply_to_json, request_json
from askew.models.gguf_header import check_gguf
from askew.models.ledgerfile import SCHEMA, read_records
from askew.models.model_folder import check_adapter, check_model_folder
from askew.models.replay import ReplayModel
from askew.records import (
    Call,
    ContextCondition,
    Item,
    Outcome,
    Prompt,
    Provenance,
    Reply,
    Sampling,
    Score,
)
from askew.report.folders.run_list import read_run
from askew.runfolder import Question, RunFolder, json_text
from askew.search.checkpoints import load_checkpoint, save_checkpoint
from askew.survey.collected import read_csv
from askew.survey.records import (
    InclusionQuestion,
    Key,
    QuestionAnswer,
    Scenario,
    ScenarioKey,
    Sheet,
    Survey,
    read_key,
    read_survey,
    survey_id,
)
from askew.vignettes import Vignette

JSON_WORDS = (b'{"', b'": ', b"[", b"]", b"}", b"null", b"true", b"NaN", b"1e999", b"-1", b'""')


def tampered_cell(data: bytes) -> None:
    """runfolder, ledgerfile, replay: a run's database with a stranger's cell or statement."""
    folder = scratch() / "run"
    folder.mkdir(exist_ok=True)
    path = folder / "run.sqlite"
    path.write_bytes(_database())
    touched = ""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        try:
            if data[:1] == b"\xff":
                database.executescript(text_of(data[1:]))
            elif len(data) >= 2:
                table, column = _CELLS[data[0] % len(_CELLS)]
                statement = f"UPDATE OR IGNORE {table} SET {column} = ?"
                database.execute(statement, (_value(data[1], data[2:]),))
                touched = table
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
            pass
    _read_all(folder, touched)


def damaged_database(data: bytes) -> None:
    """runfolder, ledgerfile, replay: a run's database with bytes changed anywhere."""
    folder = scratch() / "damaged"
    folder.mkdir(exist_ok=True)
    whole = bytearray(_database())
    for at in range(0, len(data) - 4, 5):
        place, byte = struct.unpack_from("<IB", data, at)
        whole[place % len(whole)] = byte
    (folder / "run.sqlite").write_bytes(whole)
    _read_all(folder)


def _read_all(folder: Path, touched: str = "") -> None:
    """Read what commands read of a run: all, or what comes from the table that was touched."""
    run = RunFolder(folder)
    readers: dict[str, Callable[[], object]] = {
        "items": run.read_items,
        "questions": run.read_scores,
        "parts": lambda: run.read_parts("vignette", Vignette),
        "calls": lambda: list(read_records(run.database)),
        "replay": lambda: ReplayModel(ModelSpec(name=f"replay/{folder}")),
    }
    readers["scores"] = readers["questions"]
    kept: dict[str, object] = {}
    for table, read in readers.items():
        if touched in ("", table):
            try:
                kept[table] = read()
            except AskewError as error:
                law(len(str(error)) < 3000, "a message is short", len(str(error)))
    items, records = kept.get("items"), kept.get("calls")
    for item in items.values() if isinstance(items, dict) else ():
        law(all(isinstance(one, str) for one in item.options), "options are texts")
    for record in records if isinstance(records, list) else ():
        request_json(record.call)
    if touched in ("", "calls", "ledger_meta"):
        entry = read_run(folder)
        law(len(entry.why) < 3000, "a message is short", len(entry.why))


def estimates(data: bytes) -> None:
    """report.folders.run_list: a run's figures."""
    folder = scratch() / "figures"
    folder.mkdir(exist_ok=True)
    (folder / "run.sqlite").write_bytes(_database())
    (folder / "estimates.json").write_bytes(data)
    read_run(folder)
    law(isinstance(RunFolder(folder).read_estimates(), dict), "figures are an object")


def manifest(data: bytes) -> None:
    """manifest.check_manifest: names that lead out of the folder, or nowhere."""
    folder = scratch() / "listed"
    folder.mkdir(exist_ok=True)
    (folder / "run.toml").write_bytes(b"x = 1\n")
    (folder / "MANIFEST").write_bytes(data)
    for fault in check_manifest(folder):
        str(fault).encode("utf-8", "surrogatepass")


def stored_call(data: bytes) -> None:
    """models.callkey: a call and a reply as the ledger keeps them."""
    text = text_of(data)
    # Two halves of a pair side by side and the character that they make have one JSON text.
    again = request_json(call_from_json(text))
    law(again == request_json(call_from_json(again)), "a call comes back as it was")


def stored_reply(data: bytes) -> None:
    """models.callkey: a reply as the ledger keeps it."""
    reply = reply_from_json(text_of(data))
    again = reply_to_json(reply)
    law(again == reply_to_json(reply_from_json(again)), "a reply comes back as it was")


def checkpoint(data: bytes) -> None:
    """search.checkpoints: a policy's safetensors file."""
    found = load_checkpoint(written("policy.safetensors", data))
    law(found.kind, "a checkpoint says whose it is")
    law(sum(one.nbytes for one in found.tensors.values()) <= len(data), "no more than the file")


def gguf(data: bytes) -> None:
    """models.gguf_header: the header of a GGUF file."""
    check_gguf(written("model.gguf", data))


def model_settings(data: bytes) -> None:
    """models.model_folder: config.json and the index of a model's folder."""
    folder = scratch() / "model"
    folder.mkdir(exist_ok=True)
    config, _, index = data.partition(b"\x1f")
    (folder / "config.json").write_bytes(config)
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "model.safetensors.index.json").write_bytes(index or b'{"weight_map": {}}')
    check_model_folder(folder, remote_code=None)
    law(b"auto_map" not in config or not json.loads(config).get("auto_map"), "no code runs")


def adapter_settings(data: bytes) -> None:
    """models.model_folder: adapter_config.json."""
    folder = scratch() / "adapter"
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_bytes(data)
    (folder / "adapter_model.safetensors").write_bytes(b"")
    check_adapter(folder)


def chat_template(data: bytes) -> None:
    """models.template_bounds: a chat template, compiled and rendered."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from askew.models.template_bounds import bounded, render

    like = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    chat = [{"role": "user", "content": "Who?"}]
    try:
        template = bounded(text_of(data), like)
    except jinja2.TemplateError as error:
        raise DataError(str(error)) from error
    try:
        render(template, {"messages": chat, "add_generation_prompt": True}, 4)
    except Exception as error:  # a template's own faults are worded by `chat_templates`
        raise DataError(str(error)) from error


def survey_file(data: bytes) -> None:
    """survey.records: a survey and its key."""
    survey, _, key = data.partition(b"\x1f")
    found = read_survey(written("survey.json", survey))
    read_key(written("key.json", key), found)


def survey_answers(data: bytes) -> None:
    """survey.collected: a table of answers."""
    found = read_csv(written("answers.csv", data), _survey())
    names = {one.name for one in found.raters}
    law(all(one.rater in names for one in found.ratings), "each rating has its rater")


# `ledgerfile.decoded` words whatever these raise.
_WORDED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def _value(kind: int, data: bytes) -> object:
    match kind % 8:
        case 0:
            return None
        case 1:
            return int.from_bytes(data[:8].ljust(8, b"\0"), "little", signed=True)
        case 2:
            return struct.unpack("<d", data[:8].ljust(8, b"\0"))[0]
        case 3:
            return data
        case 4:
            return "[" * 5000
        case _:
            return data.decode("utf-8", "replace")


@cache
def _database() -> bytes:
    folder = scratch() / "made"
    rmtree(folder, ignore_errors=True)
    run = RunFolder.create(folder)
    item = Item(
        "own/1", "own", "age", "Two people.", "Who?", ("A", "B", "Unknown"), 2, 2,
        ContextCondition.AMBIGUOUS, Provenance("own.csv", 2, "1"), stereotyped=0,
    )  # fmt: skip
    call = Call(Prompt(text="Who?"), Sampling(), "target", 0)
    order = (0, 1, 2)
    run.write_questions([item], [Question("own/1", "source", order, "k1")])
    run.write_scores([Score("own/1", "source", Outcome.NEUTRAL, 2, True, "letter", order)])
    run.write_parts("vignette", [Vignette("v/1", "own", "A man.", Provenance("own.csv", 2, "1"))])
    with closing(sqlite3.connect(run.database, isolation_level=None)) as database:
        database.executescript(SCHEMA)
        database.execute(
            "INSERT INTO calls (key, model, role, replicate, state, attempts, bound_tokens, "
            "planned_at, sent_at, received_at, request, reply) "
            "VALUES ('k1', 'python/x', 'target', 0, 'received', 1, 9, 1.0, 2.0, 3.0, ?, ?)",
            (request_json(call), reply_to_json(Reply(text="C", prompt_tokens=3))),
        )
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
    return run.database.read_bytes()


_CELLS = [
    *(("items", name) for name in ("id", "record")),
    *(
        ("questions", name)
        for name in ("place", "item_id", "condition", "category", "scenario", "option_order",
                     "replicate", "call_key")
    ),
    *(("scores", name) for name in ("place", "outcome", "chosen", "correct", "rule")),
    *(("parts", name) for name in ("kind", "place", "record")),
    *(
        ("calls", name)
        for name in ("id", "key", "model", "role", "replicate", "attempts", "doubts",
                     "bound_tokens", "bound_nanos", "settled_calls", "settled_tokens",
                     "settled_nanos", "planned_at", "sent_at", "received_at", "origin", "error",
                     "request", "reply", "audit")
    ),
    ("ledger_meta", "value"),
]  # fmt: skip


@cache
def _survey() -> Survey:
    pair = (QuestionAnswer("Who?", "She."),)
    scenarios = (Scenario("S1", "flu", pair, pair),)
    sheets = (Sheet(("S1",), {"S1": "a"}), Sheet(("S1",), {"S1": "b"}))
    asked = (InclusionQuestion("doctor", "Are you one?", required=True),)
    name = survey_id(scenarios, sheets)
    return Survey(name, scenarios, sheets, "A study", "Yes", asked, ("age", "gender"))


def _survey_and_key() -> bytes:
    survey = _survey()
    key = Key(survey.id, "ours", "theirs", 1, (ScenarioKey("S1", "ours", "theirs", ("age",), {}),))
    return json_text(survey).encode() + b"\x1f" + json_text(key).encode()


def _gguf() -> bytes:
    def text(said: bytes) -> bytes:
        return struct.pack("<Q", len(said)) + said

    entries = [
        text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama"),
        text(b"llama.block_count") + struct.pack("<II", 4, 2),
        text(b"tokens") + struct.pack("<IIQ", 9, 8, 2) + text(b"a") + text(b"b"),
    ]
    tensor = text(b"output.weight") + struct.pack("<IQQIQ", 2, 4, 4, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(entries))
    return head + b"".join(entries) + tensor + b"\0" * 64


def _policy() -> bytes:
    path = scratch() / "seed.safetensors"
    save_checkpoint(path, {"w": np.zeros((2, 2), np.float32)}, {"kind": "learned"})
    return path.read_bytes()


_CALL = request_json(Call(Prompt(text="Who?", choices=("A", "B")), Sampling(seed=1), "judge", 2))
_REPLY = reply_to_json(Reply(text="A", log_probabilities=(-1.0, float("nan"), -float("inf"))))
_CONFIG = (
    b'{"model_type": "llama", "num_hidden_layers": 2, "auto_map": {}}\x1f'
    b'{"weight_map": {"a": "model.safetensors"}}'
)

TARGETS = [
    Target(
        "data_run_cell",
        tampered_cell,
        (
            *(bytes([place, kind]) + b"x" for place in range(len(_CELLS)) for kind in (0, 1, 3, 5)),
            b"\xffCREATE VIEW v AS SELECT 1;",
            b"\xffDROP TABLE calls; CREATE VIEW calls AS WITH RECURSIVE r(x) AS "
            b"(SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS key FROM r;",
            b"\xffCREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM calls; END;",
            b"\xffALTER TABLE items RENAME TO other;",
        ),
        (*JSON_WORDS, _CALL.encode(), _REPLY.encode(), b"\xffDELETE FROM ", b"UPDATE calls SET "),
        seconds=3.0,
    ),
    Target(
        "data_run_damaged", damaged_database, (b"\x00" * 5, b"\x10\x00\x00\x00\xff"), seconds=3.0
    ),
    Target(
        "data_run_estimates",
        estimates,
        (b'{"model": "x", "flex": {"attack_success_rate": {"overall": {"value": 0.5}}}}',),
        (*JSON_WORDS, b'"flex"', b'"clinical"', b'"boundary"', b'"cost"', b'"missing"'),
    ),
    Target(
        "data_manifest",
        manifest,
        (b"0" * 64 + b"  run.toml\n" + b"0" * 64 + b"  ../run.toml\n",),
        (
            b"0" * 64 + b"  ",
            b"../",
            b"/etc/passwd",
            b"CON",
            b"C:\\",
            b"\\",
            b"./",
            b"//",
            b"\0",
            b"\xe2\x80\xa8",
        ),
    ),
    Target("data_stored_call", stored_call, (_CALL.encode(),), JSON_WORDS, refuses=_WORDED),
    Target("data_stored_reply", stored_reply, (_REPLY.encode(),), JSON_WORDS, refuses=_WORDED),
    Target(
        "data_checkpoint",
        checkpoint,
        (_policy(),),
        (
            b'{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}',
            b"__metadata__",
            b"[-1]",
            b"F64",
        ),
    ),
    Target("data_gguf", gguf, (_gguf(),), (b"GGUF", b"\xff" * 8, b"\x09\0\0\0", b"\x08\0\0\0")),
    Target(
        "data_model_settings",
        model_settings,
        (_CONFIG,),
        (*JSON_WORDS, b'"auto_map"', b'"x--y.Z"', b"../", b"\x1f", b'"transformers_weights": '),
    ),
    Target(
        "data_adapter_settings",
        adapter_settings,
        (b'{"peft_type": "LORA", "r": 8, "megatron_config": null, "rank_pattern": {"q": 4}}',),
        JSON_WORDS,
    ),
    Target(
        "data_chat_template",
        chat_template,
        (
            b"{% for m in messages %}[{{ m['role'] }}]{{ m.content | trim ~ '\\n' }}{% endfor %}",
            b"{% macro f(n) %}{{ n * 2 }}{% endmacro %}{{ f(3) }}{{ '%5d' % 7 }}",
            b"{% set ns = namespace(x='a') %}{% set ns.x = ns.x + ns.x %}{{ ns.x | indent(2) }}",
        ),
        (
            b"{{ ",
            b" }}",
            b"{% ",
            b" %}",
            b"range(99999)",
            b" * ",
            b" ** ",
            b" ~ ",
            b"|join('",
            b"999999",
            b".replace('",
            b"{% for a in range(99999) %}",
            b"{% endfor %}",
            b"|map('",
            b"loop(",
            b"[1]",
        ),
        seconds=14.0,
        megabytes=1024.0,
    ),
    Target("data_survey", survey_file, (_survey_and_key(),), (*JSON_WORDS, b"\x1f"), longest=8192),
    Target(
        "data_survey_answers",
        survey_answers,
        (
            b"rater,scenario,choice,left,noticed,doctor\n1,S1,a,b,age+gender,yes\n2,S1,no_difference,,none,no\n",
        ),
        (b",", b'"', b"\n", b"+", b"none", b"nan", b"7.0"),
    ),
]
