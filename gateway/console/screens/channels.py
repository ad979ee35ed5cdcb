"""The channels: whether they hear anything, what is left of their limits, and what is missing."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, Final

from starlette.requests import Request
from starlette.routing import BaseRoute

from channels.base import Channel
from channels.errors import ChannelError
from gateway.console.answers import console_route
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.console.visitor import Visitor
from gateway.language.language import translated
from gateway.supervision.status import ChannelState

MAX_GAUGES: Final = 6
"""Maximum chats of a channel whose limits are shown: those with the least left."""


def channel_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of the channels."""

    async def channels(request: Request) -> Any:
        visitor = await rights.visitor(request)
        titles = {(chat.channel, chat.newest.chat_id): chat.title for chat in await visitor.chats()}
        deaf, shown = parts.status.deaf(), []
        for name, state in parts.status.everywhere().items():
            if not (visitor.guest is None or visitor.guest.channel == name):
                continue
            owns = await _owns(visitor, name)
            channel = parts.services.router.channels.get(name)
            shown.append(
                {
                    **_state(name, state, deaf, parts.services.clock.monotonic()),
                    **(_reasons(state) if owns else {"why": "", "notes": []}),
                    **_work(channel, titles, owns=owns),
                }
            )
        notes = [translated(one) for one in parts.models.notes() if visitor.is_instance_owner]
        model = parts.services.settings.agent.model
        found: dict[str, Any] = {"channels": shown, "model": {"name": model, "notes": notes}}
        found["waiting"] = _waiting(parts) if visitor.is_instance_owner else None
        return parts.services.redactor.value(found, lines=True)

    return [console_route("/channels", channels)]


def _waiting(parts: ConsoleParts) -> dict[str, int] | None:
    """Return how many messages of running channels wait to be placed; None if none waits long."""
    watch = parts.waiting
    return {"messages": watch.messages, "seconds": round(watch.seconds)} if watch.is_noted else None


async def _owns(visitor: Visitor, channel: str) -> bool:
    """Return whether what a channel says of itself is a visitor's: it may speak of any account."""
    return await visitor.sees_account(channel, "")


def _state(name: str, state: ChannelState, deaf: dict[str, float], now: float) -> dict[str, Any]:
    heard = now - state.heard if isfinite(state.heard) else None
    lamp = "deaf" if name in deaf else state.state
    return {
        "channel": name,
        "lamp": lamp,
        "since": state.since,
        "heard_seconds": None if heard is None else round(heard, 1),
        "elsewhere": state.heard == inf,
    }


def _reasons(state: ChannelState) -> dict[str, Any]:
    return {"why": translated(state.why), "notes": [translated(one) for one in state.notes]}


def _work(
    channel: Channel | None, titles: dict[tuple[str, str], str], *, owns: bool
) -> dict[str, Any]:
    """Return what a channel counts, and its gauges: of the chats that the visitor may see."""
    if channel is None:
        return {"rate_limits": None, "edits": None, "dropped": None, "left": []}
    try:
        left = channel.pacing.left(MAX_GAUGES)
    except ChannelError:  # it was not started
        left = []
    gauges = [
        {
            "title": titles.get((channel.name, chat), ""),
            "left": part,
            "of": whole,
            "window": round(window),
            "seconds": round(seconds),
        }
        for chat, part, whole, window, seconds in left
        if (not chat and owns) or (channel.name, chat) in titles
    ]
    tally = channel.tally
    counts = {"rate_limits": tally.rate_limits, "edits": tally.edits, "dropped": tally.dropped}
    return {**(counts if owns else dict.fromkeys(counts)), "left": gauges}


def can_pair(channel: Channel) -> bool:
    """Return whether an owner could be paired on a channel."""
    try:
        return bool(channel.pairing_hint("0000-00"))
    except ChannelError:
        return False
