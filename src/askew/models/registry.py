"""A model's name -> the provider that serves it, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from askew.errors import ConfigError, unknown_name
from askew.models import imported
from askew.models.base import Model, ModelSpec
from askew.privacy.locality import obey_environment, refuse

ENTRY_POINTS = "askew.models"

# provider -> "module:callable" that makes a Model of a ModelSpec
PROVIDERS = {
    "openai": "askew.models.chat_api:ChatApi",
    "http": "askew.models.http_app:HttpApp",
    "inspect": "askew.models.inspect_ai:InspectModel",
    "python": "askew.models.python_app:PythonApp",
    "local": "askew.models.local:LocalModel",
    "builtin": "askew.models.local:BuiltinModel",
    "replay": "askew.models.replay:ReplayModel",
}


def load_model(spec: ModelSpec) -> Model:
    """The model that `spec` names, ready to be asked.

    Raises:
        ConfigError: the name has no provider, or one that nobody offers; or as the provider does.
        MissingDependency: the provider's packages are not installed.
    """
    if not spec.provider or not spec.model:
        raise ConfigError(
            f"the model {spec.name!r} is not named provider/model, e.g. openai/gpt-4o-mini or "
            "local/path/to/folder."
        )
    if spec.provider == imported.PROVIDER:
        raise imported.cannot_be_asked(spec.name, imported.LM_EVAL)
    obey_environment()
    if spec.options.get("download") is True:
        refuse(
            f"{spec.name} would be downloaded from the hub (download = true)",
            "Download it beforehand, and name its folder.",
        )
    make = _find(spec.provider)
    model = make(spec)
    if model.remote:
        refuse(f"{model.name} sends prompts off this machine", "Choose a model on this machine.")
    return model


def known_providers() -> list[str]:
    """The providers that can be named, askew's own and those of other packages, sorted."""
    return sorted(PROVIDERS.keys() | _added().keys())


def _find(provider: str) -> Callable[[ModelSpec], Model]:
    if provider in PROVIDERS:
        module, _, attribute = PROVIDERS[provider].partition(":")
        make: Callable[[ModelSpec], Model] = getattr(import_module(module), attribute)
        return make
    added = _added()
    if provider not in added:
        raise unknown_name("provider of models", provider, known_providers())
    loaded: Callable[[ModelSpec], Model] = added[provider].load()
    return loaded


def _added() -> dict[str, EntryPoint]:
    """The providers that installed packages offer; askew's own names are taken."""
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
