"""A model that somebody chooses, with its server and its key, and one call that it answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import SecretStr

from agent.errors import AgentError
from agent.model_settings import NO_KEY
from agent.models.learned import Learned
from agent.models.offline import OFFLINE
from agent.models.probe import Probe, Probed
from agent.models.registry import make_probed
from agent.settings import AgentSettings
from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.setup.changes import Changes


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, its server and its key."""

    model: str
    base_url: str = ""
    key: str = ""

    def put_into(self, changes: Changes, known_key: str = "") -> None:
        changes.set("agent.model", self.model)
        changes.set("agent.base_url", self.base_url or None)
        if self.key != known_key:  # it may stand in the secrets folder
            changes.set_secret("agent.api_key", self.key)


def whole(choice: ModelChoice, environ: Mapping[str, str]) -> ModelChoice:
    """Return a choice that needs nothing of this environment, since a start may have another.

    OpenAI's key in the environment goes to no other server than the one that it names.
    """
    if choice.model == OFFLINE:
        return choice
    its_server = environ.get("OPENAI_BASE_URL", "")
    server = choice.base_url or its_server
    its_key = environ.get("OPENAI_API_KEY", "").strip() if server == its_server else ""
    return ModelChoice(choice.model, server, choice.key or its_key or (NO_KEY if server else ""))


def agent_with(settings: Settings, choice: ModelChoice) -> AgentSettings:
    """Return the agent's settings with another model; raises ValidationError if they are wrong."""
    agent = settings.agent
    kept = {name: getattr(agent, name) for name in agent.model_fields_set}
    if choice.base_url != agent.base_url:  # a server gets nothing that was meant for another one
        kept = {name: value for name, value in kept.items() if name not in ("headers", "body")}
    given: dict[str, Any] = {
        "model": choice.model,
        "base_url": choice.base_url,
        "api_key": SecretStr(choice.key),
    }
    return AgentSettings.model_validate({**kept, **given})


async def probed(wanted: AgentSettings, settings: Settings) -> Probed:
    """Look at a model's server, and ask the model for a word."""
    own = wanted.model_settings(wanted.model, settings.models)
    try:
        model = make_probed(wanted, own, Learned())
    except AgentError as cause:
        return Probed(str(cause))
    probe = Probe(model, time.monotonic)
    try:
        return await probe.look() or await probe.ask()
    finally:
        with anyio.CancelScope(shield=True):
            await model.aclose()
