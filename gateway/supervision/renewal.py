"""Have a running gateway use new settings of its model or of one channel; all else goes on.

A turn that runs keeps the model with which it began. A channel stops listening, its running turns
have some seconds to end, and the new channel takes over what is left of them: the drafts, and the
messages that wait to be sent. What people write meanwhile waits on the platform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio

from agent.model import ChatModel
from agent.models.learned import Learned
from agent.models.probe import Probed
from channels.base import Channel
from channels.registry import CHANNELS, ChannelMaker
from gateway.logs import get_log, hide_in_logs
from gateway.pipeline.turn import RunningTurns
from gateway.redaction.known_secrets import secrets_of
from gateway.scheduling.recovery import Recovery
from gateway.services import Services
from gateway.settings import Settings
from gateway.supervision.known_bots import KnownBots
from gateway.supervision.manager import ChannelManager
from gateway.supervision.model_board import ModelBoard
from gateway.turn.model_in_use import ModelInUse

OF_MODELS: Final = ("agent", "models")
"""The sections of the settings about models: those that were tried are those that are used."""

LOOK_SECONDS: Final = 0.05
CLOSE_SECONDS: Final = 60.0
"""Seconds after which a replaced channel is closed: no request to a platform takes longer."""


@dataclass(slots=True)
class Renewal:
    """Puts new settings into use; `_make_model` returns the model that settings choose."""

    _services: Services
    _channels: dict[str, Channel]
    _manager: ChannelManager
    _bots: KnownBots
    _models: ModelBoard
    _model: ModelInUse
    _make_model: Callable[[Settings, Learned], ChatModel]
    _recovery: Recovery
    _turns: RunningTurns
    _make_channel: ChannelMaker
    _one: anyio.Lock = field(default_factory=anyio.Lock)
    _closing: list[Channel] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._services.settings

    @property
    def is_shared(self) -> bool:
        """Whether other processes may work on the same database, with settings of their own."""
        return self._services.shared is not None

    def is_replaceable(self, name: str) -> bool:
        """Return whether a channel is Tapeway's own, and no plugin's of the same name."""
        module = CHANNELS[name].target.partition(":")[0]
        running = self._channels.get(name)
        return running is None or type(running).__module__ == module

    async def former_bot(self, name: str, bot_id: str) -> str:
        """Return the id of the bot whose messages a channel has, if it is another one, or "".

        Raises TapeError.
        """
        running = self._channels.get(name)
        if not bot_id or (running is not None and running.bot_id == bot_id):
            return ""
        known = await self._bots.known(name)
        return known if known != bot_id else ""

    async def use_model(self, settings: Settings, finding: Probed) -> None:
        """Use a model for all turns that begin from now on; raises AgentError, changing nothing."""
        changed = self._services.settings
        for name in OF_MODELS:
            changed = changed.with_section(name, settings)
        learned = Learned(self._services.clock.now)
        model = self._make_model(changed, learned)
        self._adopt(changed)
        self._models.begin(changed, learned, finding)
        self._services.meters.know(self._channels, changed.agent.models(), changed.unpriced())
        await self._model.replace(model, changed)
        get_log().info("model.replaced", model=changed.agent.model)

    def use_channel(self, name: str, settings: Settings) -> None:
        """Restart a channel in the background, with other settings; without a token, it stops.

        What is to be sent then waits until it has a token again.
        """
        changed = self._services.settings.with_section(name, settings)
        self._adopt(changed)
        self._services.spawn("settings", partial(self._replace, name))

    async def close(self) -> None:
        """Close the channels that were replaced."""
        while self._closing:
            await _close(self._closing.pop())

    def _adopt(self, settings: Settings) -> None:
        secrets = secrets_of(settings)
        self._services.redactor.learn(*secrets)
        hide_in_logs(*secrets)
        self._services.use(settings)

    async def _replace(self, name: str) -> None:
        async with self._one:
            former = self._channels.get(name)
            chosen = getattr(self._services.settings, name)
            channel = self._make_channel(name, chosen)
            try:
                await self._manager.end(name)
                if former is not None:
                    await self._end_turns(name)
                await self._manager.attach(channel)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await _close(channel)
                raise
            self._channels[name] = channel
            try:
                await self._hand_over(former, channel)
            finally:
                if chosen.enabled:
                    self._manager.start(channel)
                else:
                    self._manager.leave_out(name)
            if chosen.enabled:
                get_log().info("channel.replaced", channel=name)
            else:
                get_log().info("channel.removed", channel=name)

    async def _end_turns(self, name: str) -> None:
        with anyio.move_on_after(self._services.intervals.replaced_channel):
            while self._turns.answers_in(name):
                await self._services.clock.sleep(LOOK_SECONDS)

    async def _hand_over(self, former: Channel | None, channel: Channel) -> None:
        """Give a channel what is left of the former one; what fails is logged, the rest goes on."""
        if former is not None:
            self._closing.append(former)
            self._services.spawn("settings", partial(self._close_later, former))
        try:
            models, unpriced = self.settings.agent.models(), self.settings.unpriced()
            self._services.meters.know(self._channels, models, unpriced)
            if former is not None:
                channel.take_over(former)
        except Exception as cause:
            get_log().error("channel.handover_failed", channel=channel.name, exc_info=cause)
        try:
            if former is not None:
                self._recovery.sender.resume(channel.name)
            else:
                await self._recovery.resume_channel(channel.name)
        except Exception as cause:
            get_log().error("channel.handover_failed", channel=channel.name, exc_info=cause)

    async def _close_later(self, channel: Channel) -> None:
        await self._services.clock.sleep(CLOSE_SECONDS)
        if channel in self._closing:
            self._closing.remove(channel)
            await _close(channel)


async def _close(channel: Channel) -> None:
    try:
        await channel.close()
    except Exception as cause:
        get_log().error("channel.close_failed", channel=channel.name, exc_info=cause)
