"""A model's name finds its provider."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint

import pytest

from askew.errors import ConfigError
from askew.models import registry
from askew.models.base import ModelSpec
from askew.models.registry import PROVIDERS, known_providers, load_model


def test_a_name_finds_its_provider():
    model = load_model(ModelSpec(name="openai/org/toy", base_url="http://127.0.0.1:9"))
    assert model.name == "openai/org/toy"
    assert model.identity()["model"] == "org/toy"


@pytest.mark.parametrize("name", ["gpt-4o", "openai/", "/toy", ""])
def test_a_name_without_provider_or_model_is_refused_with_an_example(name):
    with pytest.raises(ConfigError, match=r"provider/model, e\.g\. openai/"):
        load_model(ModelSpec(name=name))


def test_an_unknown_provider_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'opnai'.*http, inspect, local, openai"):
        load_model(ModelSpec(name="opnai/toy"))


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_every_provider_is_there(provider):
    module, _, attribute = PROVIDERS[provider].partition(":")
    assert callable(getattr(import_module(module), attribute))


def test_other_packages_add_providers_but_take_no_name_away(monkeypatch):
    added = [
        EntryPoint("toy", "askew.models.base:ModelSpec", registry.ENTRY_POINTS),
        EntryPoint("openai", "no_such_module:Model", registry.ENTRY_POINTS),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: added)
    assert "toy" in known_providers()
    assert load_model(ModelSpec(name="openai/x", base_url="http://127.0.0.1:9")).name == "openai/x"


def test_the_registry_imports_no_provider():
    script = "import sys, askew.models.registry; print('aiohttp' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
