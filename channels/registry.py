"""The channels by name; a channel's modules are imported when it is enabled, not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from channels.base import Channel
from channels.message import MessageLink


@dataclass(frozen=True, slots=True)
class Registered:
    """A channel's class, made from its settings, and its reader of links; as `module:name`."""

    target: str
    link: str = ""


CHANNELS: Final[Mapping[str, Registered]] = {
    "cli": Registered("channels.cli.adapter:CliChannel"),
    "discord": Registered(
        "channels.discord.adapter:DiscordChannel", "channels.discord.permalink:read_link"
    ),
    "slack": Registered(
        "channels.slack.adapter:SlackChannel", "channels.slack.permalink:read_link"
    ),
    "telegram": Registered(
        "channels.telegram.adapter:TelegramChannel", "channels.telegram.permalink:read_link"
    ),
    "web": Registered("channels.web.adapter:WebChannel"),
}


def make_channel(name: str, settings: Any) -> Channel:
    """Make a channel from its settings; raises KeyError for an unknown name."""
    channel: Channel = _load(CHANNELS[name].target)(settings)
    return channel


def read_link(text: str) -> tuple[str, MessageLink] | None:
    """Return the channel and the message that a link points to; None for any other text."""
    for name, registered in CHANNELS.items():
        if registered.link:
            found: MessageLink | None = _load(registered.link)(text)
            if found is not None:
                return name, found
    return None


def _load(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
