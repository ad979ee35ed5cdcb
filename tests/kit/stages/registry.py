"""The stage of each registered channel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import Final, Protocol

from channels.testing import Stage
from tests.kit.clock import ManualClock
from tests.kit.stages.discord import DiscordStage
from tests.kit.stages.room import RoomStage, TerminalStage
from tests.kit.stages.slack import SlackStage
from tests.kit.stages.telegram import TelegramStage


class OpenStage(Stage, AbstractAsyncContextManager["OpenStage"], Protocol):
    """A stage that is set up and taken down."""


class MakeStage(Protocol):
    """Makes a stage; its times are the clock's, `limits` holds the platform to its own."""

    def __call__(self, clock: ManualClock | None = None, *, limits: bool = False) -> OpenStage: ...


STAGES: Final[Mapping[str, MakeStage]] = MappingProxyType(
    {
        "cli": TerminalStage,
        "discord": DiscordStage,
        "slack": SlackStage,
        "telegram": TelegramStage,
        "web": RoomStage,
    }
)
