"""The channels by name; a channel's modules are imported when it is switched on, not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from channels.base import Channel


@dataclass(frozen=True, slots=True)
class Registered:
    """Where a channel is made from: `module:class`, called with its slice of the settings."""

    target: str


CHANNELS: Final[Mapping[str, Registered]] = MappingProxyType(
    {
        "cli": Registered("channels.cli.adapter:CliChannel"),
        "discord": Registered("channels.discord.adapter:DiscordChannel"),
        "slack": Registered("channels.slack.adapter:SlackChannel"),
        "telegram": Registered("channels.telegram.adapter:TelegramChannel"),
        "web": Registered("channels.web.adapter:WebChannel"),
    }
)


def make_channel(name: str, settings: Any) -> Channel:
    """Make a channel from its settings; raises KeyError for an unknown name."""
    module, _, attribute = CHANNELS[name].target.partition(":")
    channel: Channel = getattr(import_module(module), attribute)(settings)
    return channel
