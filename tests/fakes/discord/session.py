"""What the fake Discord's gateway keeps of its sessions, and whom it asks about them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Final, Protocol, TypeAlias

from tests.fakes.base.http import JsonObject

HEARTBEAT_MS: Final = 41_250
KEPT_EVENTS: Final = 20_000

Spot: TypeAlias = tuple[int, int]
"""Where a message is: the ids of its channel and its own."""

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME = 0, 1, 2, 3, 4, 6
RECONNECT, MEMBERS, INVALID, HELLO, ACK = 7, 8, 9, 10, 11


class Intent(IntFlag):
    """The intents that the fake knows events of; the others are only passed on."""

    GUILDS = 1 << 0
    MEMBERS = 1 << 1
    INTEGRATIONS = 1 << 4
    PRESENCES = 1 << 8
    MESSAGES = 1 << 9
    REACTIONS = 1 << 10
    TYPING = 1 << 11
    DM_MESSAGES = 1 << 12
    DM_REACTIONS = 1 << 13
    DM_TYPING = 1 << 14
    CONTENT = 1 << 15


@dataclass(frozen=True, slots=True)
class Event:
    """Hold one thing that happened; a session gets it that has the intent.

    `plain` is what a session gets without the message content intent, where that differs.
    `spot` is set for a message of somebody else, which the bot has yet to take.
    """

    name: str
    data: JsonObject
    intent: int = 0
    plain: JsonObject | None = None
    spot: Spot | None = None


class Guests(Protocol):
    """Knows what the gateway must tell a bot that comes in, and whom it may let in."""

    clock: Callable[[], float]

    def allowed(self, token: str) -> bool:
        """Return whether a token is the bot's."""
        ...

    def privileged(self) -> int:
        """Return the privileged intents that are switched on in the portal."""
        ...

    def ready(self, session: Session) -> JsonObject:
        """Return what READY says."""
        ...

    def arrivals(self, session: Session) -> list[Event]:
        """Return the events that follow READY."""
        ...

    def chunks(self, session: Session, wanted: JsonObject) -> list[JsonObject]:
        """Return the GUILD_MEMBERS_CHUNK events of a request."""
        ...

    def handed_over(self, spot: Spot) -> None:
        """Learn that a message went out over a socket that works."""
        ...

    def confirmed(self, spot: Spot) -> None:
        """Learn that a heartbeat named the event of a message, or a later one."""
        ...

    def changed(self) -> None:
        """Wake whoever waits for a change."""
        ...


@dataclass(slots=True)
class Kept:
    """Hold one event of a session, as it went out."""

    seq: int
    payload: bytes
    spot: Spot | None


class Ear(Protocol):
    """Takes the events of one session; it `loses` them while that is set."""

    session: Session | None
    loses: bool

    def deliver(self, kept: Kept) -> None:
        """Send an event, or hold it back."""
        ...

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye with a code of Discord's."""
        ...


@dataclass(slots=True)
class Session:
    """Hold what one IDENTIFY began.

    `confirmed` is the last number that a heartbeat named; `lapsed`, it cannot be resumed.
    """

    id: str
    intents: int
    seq: int = 0
    confirmed: int = 0
    kept: deque[Kept] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))
    socket: Ear | None = None
    left_at: float = 0.0
    lapsed: bool = False


ALL_INTENTS: Final = (1 << 26) - 1
PRIVILEGED: Final = Intent.MEMBERS | Intent.PRESENCES | Intent.CONTENT
