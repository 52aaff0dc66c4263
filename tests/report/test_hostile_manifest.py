"""What a manifest and a signature of somebody else may be made of, and what is said of it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import string
from pathlib import Path

import pytest

from askew.cli.terminal import shown
from askew.manifest import MANIFEST, SIGNATURE, FaultKind, check_manifest, sha256_of
from askew.report.folders.signature import SignatureState, check_signature
from askew.report.folders.signing_keys import is_shared, read_public_key, write_key_pair
from askew.report.folders.verifying import VerifyState, verify_run
from askew.runfolder import RunFolder

from .test_signature import change_signature, key, kinds, public, run, signed

__all__ = ["key", "run"]  # fixtures

ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def test_a_manifest_that_lies_elsewhere_is_not_read(run, tmp_path):
    shutil.move(run / MANIFEST, tmp_path / "elsewhere")
    (run / MANIFEST).symlink_to(tmp_path / "elsewhere")
    (fault,) = check_manifest(run)
    assert (fault.name, fault.kind) == (MANIFEST, FaultKind.MALFORMED)
    (tmp_path / "elsewhere").unlink()
    assert verify_run(run).state is VerifyState.CHANGED


def test_a_manifest_of_endless_length_is_not_read(run):
    with (run / MANIFEST).open("r+b") as file:
        file.truncate(1 << 40)  # a hole: no disk has as much
    (fault,) = check_manifest(run)
    assert fault.kind is FaultKind.MALFORMED


def test_a_name_that_no_file_can_have_is_malformed(run):
    with (run / MANIFEST).open("a", encoding="utf-8") as file:
        file.write(
            f"{'0' * 64}  {'n' * 300}\n{'0' * 64}  {'d/' * 3000}n\n{'0' * 64}  a/{'é' * 200}\n"
        )
    assert list(kinds(run).values()) == [FaultKind.MALFORMED] * 3


@pytest.mark.parametrize(
    "name", ["run.toml", "run.sqlite-wal", "run.sqlite-shm", "run.sqlite.lock"]
)
def test_what_is_no_plain_file_is_a_fault_and_is_never_waited_for(run, name):
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    assert name in kinds(run)
    assert verify_run(run, allow_extra=True).state is VerifyState.CHANGED


@pytest.mark.parametrize("name", ["run.sqlite-shm", "run.sqlite.lock"])
def test_a_link_in_the_place_of_what_sqlite_leaves_is_seen(run, name):
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to("/etc/passwd")
    assert kinds(run) == {name: FaultKind.EXTRA}


def test_any_name_that_a_file_can_have_is_told_and_none_steers_the_terminal(run):
    names = [b"a\nb", b"\x1b[2J", b"\xff\xfe", "\u202etxt".encode(), b" ", b"-rf", "é".encode()]
    for name in names:
        (run / os.fsdecode(name)).write_bytes(b"")
    found = kinds(run)
    assert len(found) == len(names)
    assert set(found.values()) == {FaultKind.EXTRA}
    for line in verify_run(run).lines(shown(run)):
        json.dumps(line)


def test_lines_that_end_as_on_windows_name_nothing(run):
    text = (run / MANIFEST).read_bytes()
    (run / MANIFEST).write_bytes(text.replace(b"\n", b"\r\n"))
    assert FaultKind.MALFORMED in kinds(run).values()
    assert verify_run(run).state is VerifyState.CHANGED


# Signatures


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/passwd", path)]
)
def test_what_is_no_plain_file_is_no_signature_and_not_none_either(run, make):
    make(run / SIGNATURE)
    found = check_signature(run)
    assert found is not None
    assert found.state is SignatureState.MALFORMED
    assert verify_run(run).state is VerifyState.CHANGED


def test_a_signature_has_one_way_to_be_written(run, key):
    signed(run, key)
    record = json.loads((run / SIGNATURE).read_text(encoding="utf-8"))
    text = record["signature"]
    assert text.endswith("==")
    spare = ALPHABET[ALPHABET.index(text[-3]) ^ 1]  # a bit that base64 does not need
    assert base64.b64decode(text[:-3] + spare + "==") == base64.b64decode(text)
    for change in (
        {"signature": text[:-3] + spare + "=="},
        {"public_key": record["public_key"] + " release@example.org"},
        {"public_key": record["public_key"].replace(" ", "  ")},
    ):
        change_signature(run, **record | change)
        found = check_signature(run, public(key))
        assert found is not None
        assert found.state is SignatureState.MALFORMED, change


def test_a_signature_of_another_run_does_not_pass(run, key, tmp_path):
    signed(run, key)
    other = RunFolder(Path(shutil.copytree(run, tmp_path / "other")))
    other.settings.write_text("seed = 2\n", encoding="utf-8")
    (other.path / SIGNATURE).unlink()
    other.write_manifest()
    shutil.copy(run / SIGNATURE, other.path / SIGNATURE)
    found = verify_run(other.path, public(key))
    assert found.signature is not None
    assert found.signature.state is SignatureState.STALE
    # Nor with the other run's manifest beside it: then its files are not those.
    shutil.copy(run / MANIFEST, other.path / MANIFEST)
    assert verify_run(other.path, public(key)).state is VerifyState.CHANGED
    assert sha256_of(run / MANIFEST) == sha256_of(other.path / MANIFEST)


def test_a_key_with_the_same_comment_is_another_key(run, key, tmp_path):
    signed(run, key)
    write_key_pair(tmp_path / "imposter", b"")
    comment = (tmp_path / "key.pub").read_text(encoding="utf-8").split()[2]
    imposter = (tmp_path / "imposter.pub").read_text(encoding="utf-8")
    assert imposter.split()[2] == comment
    found = check_signature(run, read_public_key(tmp_path / "imposter.pub"))
    assert found is not None
    assert found.state is SignatureState.WRONG_KEY


def test_a_key_that_others_can_read_is_told_of(key):
    assert not is_shared(key)
    key.chmod(0o640)
    assert is_shared(key)
