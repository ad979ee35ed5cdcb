"""Lists the methods that the channel calls and the events that it gets, with scopes and limits.

A test compares the manifests in `deploy/` with these tables. Slack counts calls by method,
workspace and minute, in tiers: https://docs.slack.dev/apis/web-api/rate-limits/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from channels.clock import Clock
from channels.pacing import Budget, Gates, OwnGates, Priority, SharedGate, taken

WINDOW_SECONDS: Final = 61.0
"""Slightly longer than Slack's minute, since clocks and networks are not exact."""

PER_MINUTE: Final = {1: 1, 2: 20, 3: 50, 4: 100}  # calls per minute, by tier
CONVERSATION_TYPES: Final = ("channels", "groups", "im", "mpim")
"""The types of conversations, as they are called in the names of scopes."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the Web API.

    scopes  the scopes that it needs, one for each type of conversation
    tier    Slack's rate limit tier, or 0 if it is limited per channel or hardly at all
    reads   whether it only reads, so that a lost answer does no harm
    """

    scopes: tuple[str, ...] = ()
    tier: int = 0
    reads: bool = False


_HISTORY: Final = tuple(f"{kind}:history" for kind in CONVERSATION_TYPES)
_LISTED: Final = tuple(f"{kind}:read" for kind in CONVERSATION_TYPES)

METHODS: Final[Mapping[str, Method]] = {
    "auth.teams.list": Method((), 2, reads=True),
    "auth.test": Method(reads=True),
    "assistant.threads.setStatus": Method(("chat:write",), 4),
    "chat.appendStream": Method(("chat:write",), 4),
    "chat.delete": Method(("chat:write",), 3),
    "chat.postEphemeral": Method(("chat:write",), 4),
    "chat.postMessage": Method(("chat:write",)),
    "chat.startStream": Method(("chat:write",), 2),
    "chat.stopStream": Method(("chat:write",), 2),
    "chat.update": Method(("chat:write",), 3),
    "conversations.history": Method(_HISTORY, 3, reads=True),
    "conversations.info": Method(_LISTED, 3, reads=True),
    "conversations.open": Method(("im:write",), 3),
    "conversations.replies": Method(_HISTORY, 3, reads=True),
    "files.info": Method(("files:read",), 4, reads=True),
    "users.conversations": Method(_LISTED, 3, reads=True),
    "users.info": Method(("users:read",), 4, reads=True),
}
"""Methods that are called with a bot token."""

APP_METHODS: Final[Mapping[str, Method]] = {
    "apps.connections.open": Method(("connections:write",), reads=True)
}
"""Methods that are called with the app-level token."""

EVENTS: Final[Mapping[str, str]] = {
    "app_mention": "app_mentions:read",
    "app_uninstalled": "",
    "channel_id_changed": "groups:read",
    "channel_left": "channels:read",
    "channel_rename": "channels:read",
    "group_left": "groups:read",
    "group_rename": "groups:read",
    "member_joined_channel": "channels:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "tokens_revoked": "",
}
"""Maps each event that the app subscribes to to the scope that it needs."""

COMMAND: Final = "/tapeway"
COMMAND_SCOPE: Final = "commands"


def scopes() -> frozenset[str]:
    of_methods = {scope for method in METHODS.values() for scope in method.scopes}
    of_events = {scope for scope in EVENTS.values() if scope}
    return frozenset(of_methods | of_events | {COMMAND_SCOPE})


class RateLimits:
    """The limits of the methods in one workspace; other processes may share them."""

    def __init__(self, clock: Clock, gates: Gates | None = None, account: str = "") -> None:
        self._clock = clock
        self._account = account
        self._gates: dict[str, SharedGate] = {}
        self.made_by: Gates = gates or OwnGates(clock)

    def wait(self, method: str, priority: Priority) -> float:
        """Return the seconds until a method may be called; 0 or less means now."""
        return self._gate(method).wait(self._clock.monotonic(), priority)

    async def allows(self, method: str, priority: Priority) -> bool:
        """Return whether a method may be called now; this counts no call."""
        return await self._gate(method).allows(priority)

    async def take(self, method: str, priority: Priority) -> None:
        """Wait until a method may be called, and count the call."""
        await taken(self._gate(method), self._clock, priority)

    def close(self, method: str, seconds: float) -> None:
        """Block a method for some seconds, as Slack requested."""
        self._gate(method).close(self._clock.monotonic() + seconds)

    def _gate(self, method: str) -> SharedGate:
        gate = self._gates.get(method)
        if gate is None:
            tier = METHODS[method].tier if method in METHODS else 0
            budget = Budget(0.0, PER_MINUTE[tier], WINDOW_SECONDS) if tier else Budget()
            name = f"slack {self._account} {method}"
            gate = self._gates[method] = self.made_by.gate(name, budget)
        return gate
