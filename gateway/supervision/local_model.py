"""A model server of the operator's own, which takes over from the offline model once it is there.

Nothing says whether such a server runs (a Compose profile given by a flag is in no variable), so
the gateway looks for it. What the operator sets about a model always wins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

import anyio
from pydantic import SecretStr

from agent.errors import ModelError
from agent.model_settings import NO_KEY
from agent.models.learned import Learned
from agent.models.probe import LOOK_SECONDS, Probe
from agent.models.registry import make_probed
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.settings import Settings

LOOK_AGAIN_SECONDS: Final = 30.0
RETURN_SECONDS: Final = 60.0
"""How long to wait for a server that was there last time: a machine starts both at once."""

MARK: Final = "local-model"
"""The file in the home folder that says that a local model was used last time."""


def is_wanted(settings: Settings) -> bool:
    """Return whether a local model would be used, because no other server or model is set."""
    chosen = {"model", "base_url", "api_key"} & settings.agent.model_fields_set
    return bool(settings.local.server) and not chosen


async def with_local_model(settings: Settings, clock: Clock) -> Settings:
    """Return the settings with the local model if it is wanted and there."""
    if not is_wanted(settings):
        return settings
    mark = settings.home_path / MARK
    until = clock.monotonic() + (RETURN_SECONDS if mark.exists() else 0)
    while (found := await find_local_model(settings, clock)) is None and clock.monotonic() < until:
        await clock.sleep(1)
    with contextlib.suppress(OSError):
        mark.unlink(missing_ok=True) if found is None else mark.touch(0o600)
    return found or settings


async def local_model_appears(current: Callable[[], Settings], clock: Clock) -> None:
    """Return once the local model is there; never if none is wanted by the current settings."""
    while await find_local_model(current(), clock) is None:
        if not is_wanted(current()):
            await anyio.sleep_forever()
        await clock.sleep(LOOK_AGAIN_SECONDS)
    settings = current()
    get_log().info("model.local_found", model=settings.local.model, server=settings.local.server)


async def find_local_model(settings: Settings, clock: Clock) -> Settings | None:
    """Return the settings with the local model if it is wanted and its server has it now."""
    if not is_wanted(settings):
        return None
    local, given = settings.local, settings.agent.model_fields_set
    limits = {"context_window": local.context_window, "read_timeout": local.read_timeout}
    own = {name: value for name, value in limits.items() if name not in given}
    where = {"model": local.model, "base_url": local.server, "api_key": SecretStr(NO_KEY)}
    agent = settings.agent.model_copy(update=own | where)
    changed = settings.model_copy(update={"agent": agent})
    model = make_probed(agent, changed.model(), Learned(clock.now))
    listed: frozenset[str] = frozenset()
    with contextlib.suppress(TimeoutError, ModelError):
        try:
            with anyio.fail_after(LOOK_SECONDS):
                listed = await Probe(model, clock.monotonic).listed()
        finally:
            with anyio.CancelScope(shield=True):
                await model.aclose()
    return changed if {local.model, f"{local.model}:latest"} & listed else None
