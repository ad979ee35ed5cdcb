"""The model that answers, which can be replaced: a turn keeps the one with which it began."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from agent.model import ChatModel
from gateway.settings import Settings


@dataclass(slots=True, eq=False)
class UsedModel:
    """A model, the settings that chose it, and how many turns use it now."""

    model: ChatModel
    settings: Settings
    turns: int = 0
    is_replaced: bool = False

    async def release(self) -> None:
        """Record that a turn has ended; the last one closes a model that was replaced."""
        self.turns -= 1
        await self.close_if_unused()

    async def close_if_unused(self) -> None:
        if self.is_replaced and self.turns == 0:
            with anyio.CancelScope(shield=True):
                await self.model.aclose()


class ModelInUse:
    """Gives each turn the model that is in use when it begins."""

    def __init__(self, model: ChatModel, settings: Settings) -> None:
        self._newest = UsedModel(model, settings)
        self._former: list[UsedModel] = []

    def take(self) -> UsedModel:
        """Return the model for a turn, which releases it at its end."""
        self._newest.turns += 1
        return self._newest

    async def replace(self, model: ChatModel, settings: Settings) -> None:
        """Use another model for all turns that begin from now on."""
        former, self._newest = self._newest, UsedModel(model, settings)
        former.is_replaced = True
        self._former = [one for one in (*self._former, former) if one.turns]
        await former.close_if_unused()

    async def aclose(self) -> None:
        """Close all models; call this when no turn runs any more."""
        for one in (*self._former, self._newest):
            await one.model.aclose()
