"""Create and close the channels of a gateway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from channels.base import Channel
from channels.registry import CHANNELS, ChannelMaker
from gateway.hooks.runtime import HookRuntime
from gateway.logs import get_log
from gateway.settings import Settings


async def open_channels(
    settings: Settings, hooks: HookRuntime, only: Sequence[str] | None, make_channel: ChannelMaker
) -> dict[str, Channel]:
    """Create the enabled channels; a plugin's channel replaces a builtin one of the same name."""
    found: dict[str, Channel] = {}
    for provided in await hooks.call_many("provide_channels"):
        for channel in provided or ():
            if only is None or channel.name in only:
                found.setdefault(channel.name, channel)
    for name in CHANNELS:
        own = getattr(settings, name)
        if own.enabled and name not in found and (only is None or name in only):
            found[name] = make_channel(name, own)
    return found


async def close_channels(channels: Mapping[str, Channel]) -> None:
    """Close every channel, whatever happens to the others."""
    for channel in channels.values():
        try:
            await channel.close()
        except Exception as cause:
            get_log().error("channel.close_failed", channel=channel.name, exc_info=cause)
