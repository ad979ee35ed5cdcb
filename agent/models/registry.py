"""Create the model that the settings choose; its SDK is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from agent.model import ChatModel
from agent.model_settings import ModelSettings
from agent.models.learned import Learned
from agent.models.offline import OFFLINE, OfflineModel
from agent.models.probe import ProbedModel
from agent.models.retry import FallbackModel, RetryingModel
from agent.models.wired import WiredModel
from agent.settings import AgentSettings

MODELS: Final[Mapping[str, str]] = MappingProxyType({"openai": "agent.models.openai:OpenAIModel"})

Watch = Callable[[ChatModel], ChatModel]


def make_model(
    settings: AgentSettings,
    sections: Mapping[str, ModelSettings] = MappingProxyType({}),
    learned: Learned | None = None,
    watched: Watch = lambda model: model,
) -> ChatModel:
    """Return the model in the settings, with fallbacks; raises KeyMissing.

    `watched` wraps each model below its retries, where it sees every request.
    """
    learned = learned or Learned()
    names = settings.models()
    found = [settings.model_settings(name, sections) for name in names]
    models = [make_one(name, own, learned, watched) for name, own in zip(names, found, strict=True)]
    return (
        models[0]
        if len(models) == 1
        else FallbackModel(models, [own.context_window for own in found])
    )


def make_one(
    name: str, settings: ModelSettings, learned: Learned, watched: Watch = lambda model: model
) -> ChatModel:
    """Return one model with its retries, and without fallbacks; raises KeyMissing."""
    if name == OFFLINE:
        return watched(OfflineModel())
    model = watched(WiredModel(_served(name, settings, learned)))
    return RetryingModel(model, settings.retries)


def make_probed(settings: AgentSettings, own: ModelSettings, learned: Learned) -> ProbedModel:
    """Return the first model as a probe asks it, without retries and fallbacks."""
    return _served(settings.model, own, learned)


def _served(name: str, settings: ModelSettings, learned: Learned) -> ProbedModel:
    module, _, attribute = MODELS["openai"].partition(":")
    model: ProbedModel = getattr(import_module(module), attribute)(name, settings, learned)
    return model
