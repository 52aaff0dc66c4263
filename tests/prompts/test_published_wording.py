"""The published texts are read from the user's clone, never run and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from askew.errors import DataError
from askew.prompts import Wording, published_wording


def clone_with(folder: Path, source: str | bytes) -> Path:
    path = folder / "lm_eval" / "prompts" / "type.py"
    path.parent.mkdir(parents=True)
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return folder


def test_literals_of_every_spelling_are_read_in_the_releases_order(tmp_path: Path) -> None:
    clone = clone_with(
        tmp_path,
        "import something_not_installed\n"
        "raise SystemExit('never run')\n"
        "other = ['no']\n"
        "refusal_prompt = [\n"
        "    'single \\'quoted\\'',\n"
        "    'two ' \"parts \"\n"
        "    'joined',\n"
        "    '''\n  triple\n\n''',\n"
        "    r'raw \\n {braces}',\n"
        "    ('in brackets, été'),\n"
        "]\n",
    )
    texts = published_wording(clone)
    assert texts == {
        "dan": "single 'quoted'",
        "stan": "two parts joined",
        "dude": "\n  triple\n\n",
        "refusal_suppression": "raw \\n {braces}",
        "self_cipher": "in brackets, été",
    }
    assert Wording(objectives=texts).objectives == texts


@pytest.mark.parametrize(
    "source",
    [
        "refusal_prompt: list[str] = ['1', '2', '3', '4', '5']",
        "refusal_prompt = ('1', '2', '3', '4', '5')",
        "texts = refusal_prompt = ['1', '2', '3', '4', '5']",
    ],
)
def test_the_list_may_be_written_in_other_ways(tmp_path: Path, source: str) -> None:
    assert list(published_wording(clone_with(tmp_path, source)).values()) == list("12345")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("persona_prompt = {}\n", "there is no list 'refusal_prompt'"),
        ("def f():\n    refusal_prompt = []\n", "there is no list 'refusal_prompt'"),
        ("\nrefusal_prompt = open('x').read()\n", "type.py:2: refusal_prompt is no plain list"),
        ("refusal_prompt = ['one', 'two']\n", "holds 2 texts, expected 5"),
        ("refusal_prompt = ['1', '2', '3', '4',\n five]\n", "type.py:2: an entry"),
        ("refusal_prompt = ['1', '2', '3', f'{4}', '5']\n", "no plain string"),
        ("refusal_prompt = ['1', '2', '3', 4, '5']\n", "no plain string"),
        ("refusal_prompt = ['1', *rest, '3', '4', '5']\n", "no plain string"),
        ("refusal_prompt = [\n", "is no Python file"),
        (b"refusal_prompt = '\0'\n", "is no Python file"),
        (b"\xff\xfe\xfd", "is no Python file"),
    ],
)
def test_whatever_is_not_as_released_is_said(
    tmp_path: Path, source: str | bytes, said: str
) -> None:
    with pytest.raises(DataError) as error:
        published_wording(clone_with(tmp_path, source))
    assert said in str(error.value)
    assert "Compare the file with the FLEX release" in str(error.value)


def test_a_folder_that_is_no_clone_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Point to the top folder of a clone"):
        published_wording(tmp_path / "nowhere")
