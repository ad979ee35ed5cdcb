"""The section about a model server of your own, which is used while no other model is set."""

from __future__ import annotations

from agent.model_settings import ServerAddress
from gateway.settings.section import Section, setting


class LocalModelSettings(Section):
    """A model that needs no key, and its server, which may come and go."""

    server: ServerAddress = setting(
        "",
        "Model server of your own that is used while no model is set, from the moment on when it"
        " has the model. Compose's profile `local-model` brings one along.",
        example="http://127.0.0.1:11434/v1",
    )
    model: str = setting("qwen3:4b-instruct", "The model there. It must support tool calls.")
    context_window: int = setting(
        8192, "Size of its context window, in tokens; what is longer, Ollama cuts silently.", ge=0
    )
    read_timeout: float = setting(
        600,
        "Maximum seconds of its silence: without a graphics card, a word may take minutes.",
        gt=0,
    )
