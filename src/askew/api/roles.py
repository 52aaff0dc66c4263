"""The models of an audit beside its target, as a caller names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from askew.errors import ConfigError

# A model of another role: its name, or a table as `[models.ROLE]` of a run file.
Asked = str | Mapping[str, object]


def with_roles(
    settings: Mapping[str, object],
    named: Iterable[tuple[str, object]],
    models: Mapping[str, Asked] | None,
) -> dict[str, object]:
    """The settings with the models of some roles among them, by dotted key.

    Args:
        settings: by name or dotted key.
        named: role and model, of roles that have an argument of their own.
        models: by role.

    Raises:
        ConfigError: a model is neither a name nor a table, or something is given twice.
    """
    if models is not None and not isinstance(models, Mapping):
        raise ConfigError(
            f"models is {type(models).__name__}, expected a table of models by role, such as "
            "{'judge': 'openai/my-judge'}. The target is the first argument."
        )
    asked = [*named, *(models or {}).items()]
    roles = [entry for role, one in asked for entry in _of_role(role, one)]
    twice = next((key for key, _ in roles if key in settings), None)
    if twice is not None or len(dict(roles)) < len(roles):
        raise ConfigError(f"{twice or 'a model of one role'} is given twice. Leave one out.")
    return {**settings, **dict(roles)}


def _of_role(role: str, asked: object) -> list[tuple[str, object]]:
    """The settings of one model.

    Raises:
        ConfigError: it is neither a name nor a table.
    """
    if isinstance(asked, str):
        return [(f"models.{role}.name", asked)]
    if isinstance(asked, Mapping):
        return [(f"models.{role}.{name}", value) for name, value in asked.items()]
    raise ConfigError(
        f"the model of role {role!r} is {type(asked).__name__}, expected 'provider/model' or a "
        "table such as {'name': 'openai/my-judge', 'base_url': …}. A function has to stand in a "
        "module: 'python/my_module:judge'."
    )
