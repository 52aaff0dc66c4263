"""Competing Objectives: instructions that work against the model's caution (FLEX, §3.1.2)."""

from __future__ import annotations

import ast
from pathlib import Path

from askew.errors import DataError, unknown_name
from askew.prompts.wording import DEFAULT_WORDING, OBJECTIVES, Wording, text

_RELEASED_FILE = Path("lm_eval", "prompts", "type.py")
_RELEASED_LIST = "refusal_prompt"


def objective_instruction(name: str, wording: Wording = DEFAULT_WORDING) -> str:
    """The text of one competing objective: the one that `wording` brings, else askew's own.

    Raises:
        ConfigError: there is no objective of this name.
    """
    if name not in OBJECTIVES:
        raise unknown_name("competing objective", name, list(OBJECTIVES))
    own = wording.objectives.get(name)
    return own if own is not None else text(f"{name}.txt")


def published_wording(folder: Path) -> dict[str, str]:
    """The five published texts, from the user's own clone of the FLEX release.

    They may not be handed on with askew. The file is read as text, never run.

    Args:
        folder: the clone's top folder.

    Returns:
        Objective -> text, exactly as published, for `Wording(objectives=…)`.

    Raises:
        DataError: the file or the list is not there, or does not hold five plain strings.
    """
    path = folder / _RELEASED_FILE
    values = _list_of(path, _parse(path))
    if len(values) != len(OBJECTIVES):
        raise _unlike_the_release(
            f"{path}: {_RELEASED_LIST} holds {len(values)} texts, expected {len(OBJECTIVES)}."
        )
    return {name: _literal(path, value) for name, value in zip(OBJECTIVES, values, strict=True)}


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}). "
            "Point to the top folder of a clone of the FLEX release."
        ) from error
    except (SyntaxError, ValueError) as error:
        raise _unlike_the_release(f"{path}: is no Python file ({error}).") from error


def _list_of(path: Path, module: ast.Module) -> list[ast.expr]:
    for statement in module.body:
        targets, value = _assignment(statement)
        if any(isinstance(it, ast.Name) and it.id == _RELEASED_LIST for it in targets):
            if isinstance(value, ast.List | ast.Tuple):
                return value.elts
            raise _unlike_the_release(
                f"{path}:{statement.lineno}: {_RELEASED_LIST} is no plain list."
            )
    raise _unlike_the_release(f"{path}: there is no list {_RELEASED_LIST!r} in it.")


def _assignment(statement: ast.stmt) -> tuple[list[ast.expr], ast.expr | None]:
    if isinstance(statement, ast.Assign):
        return statement.targets, statement.value
    if isinstance(statement, ast.AnnAssign):
        return [statement.target], statement.value
    return [], None


def _literal(path: Path, value: ast.expr) -> str:
    # The parser has already joined neighbouring literals; f-strings and names are no constants.
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    raise _unlike_the_release(
        f"{path}:{value.lineno}: an entry of {_RELEASED_LIST} is no plain string."
    )


def _unlike_the_release(what: str) -> DataError:
    return DataError(f"{what} Compare the file with the FLEX release; it must be as published.")
