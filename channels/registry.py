"""The channels by name; a channel's modules are imported only when the channel is enabled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from channels.base import Channel
from channels.message import MessageLink


@dataclass(frozen=True, slots=True)
class Registered:
    """A channel's class as `module:class`, and whether its package can read message links."""

    target: str
    has_links: bool = False


CHANNELS: Final[Mapping[str, Registered]] = {
    "cli": Registered("channels.cli.adapter:CliChannel"),
    "discord": Registered("channels.discord.adapter:DiscordChannel", has_links=True),
    "slack": Registered("channels.slack.adapter:SlackChannel", has_links=True),
    "telegram": Registered("channels.telegram.adapter:TelegramChannel", has_links=True),
    "web": Registered("channels.web.adapter:WebChannel"),
}


ChannelMaker = Callable[[str, Any], Channel]


def make_channel(name: str, settings: Any) -> Channel:
    """Make a channel from its settings; raises KeyError for an unknown name."""
    module, _, attribute = CHANNELS[name].target.partition(":")
    channel: Channel = getattr(import_module(module), attribute)(settings)
    return channel


def read_link(text: str) -> tuple[str, MessageLink] | None:
    """Return the channel and message that a link points to, or None if the text is no such link."""
    for name, registered in CHANNELS.items():
        if registered.has_links:
            found = import_module(f"channels.{name}.permalink").read_link(text)
            if found is not None:
                return name, found
    return None
