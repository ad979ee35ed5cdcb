"""The stage of each registered channel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import Final, Protocol

from channels.testing import Stage
from tests.contracts.discord_stage import DiscordStage
from tests.contracts.room_stage import RoomStage, TerminalStage
from tests.contracts.slack_stage import SlackStage
from tests.contracts.telegram_stage import TelegramStage
from tests.kit.clock import ManualClock


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
