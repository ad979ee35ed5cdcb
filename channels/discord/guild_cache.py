"""What is known of the servers: their channels and threads, the bot's own role, names.

Kept from what the gateway tells, so that a message costs no request; ids are snowflakes as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

Raw = Mapping[str, Any]

DM: Final = 1
GROUP_DM: Final = 3
FORUMS: Final = frozenset({15, 16})
THREADS: Final = frozenset({10, 11, 12})
WRITTEN: Final = frozenset({0, 2, 5, 13}) | THREADS | {DM, GROUP_DM}
"""The kinds of channels in which messages stand, those of voice channels included."""


@dataclass(slots=True)
class GuildChannel:
    """A channel or a thread.

    chat    the channel's id; a thread's is that of its parent
    last    the id of its newest message, as far as is known; 0: nothing is
    """

    id: str
    kind: int = 0
    name: str = ""
    server: str = ""
    parent: str = ""
    last: int = 0

    @property
    def is_thread(self) -> bool:
        """Whether it is a thread or a forum post."""
        return self.kind in THREADS and bool(self.parent)

    @property
    def is_private(self) -> bool:
        """Whether it is between the bot and one person."""
        return self.kind == DM

    @property
    def chat(self) -> str:
        """The chat that it is, or is a thread of."""
        return self.parent if self.is_thread else self.id


@dataclass(slots=True)
class Server:
    """A server: its own role of the bot's, and the channel for arrivals."""

    id: str
    name: str = ""
    greeting: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    own_roles: set[str] = field(default_factory=set)


class GuildCache:
    """The servers of one bot.

    heard   the chats in which something was said that is on the disk
    blamed  the channels because of which a connection was begun anew, until they are told of
    """

    def __init__(self) -> None:
        self.rooms: dict[str, GuildChannel] = {}
        self.servers: dict[str, Server] = {}
        self.heard: set[str] = set()
        self.blamed: set[str] = set()
        self.me = ""
        self._expected: set[str] = set()
        self.complete = anyio.Event()
        self.complete.set()

    def expect(self, servers: set[str]) -> None:
        """Expect to be told of these servers next."""
        self._expected |= servers
        if self._expected and self.complete.is_set():
            self.complete = anyio.Event()

    @property
    def expected(self) -> frozenset[str]:
        """The servers that have not told of themselves yet."""
        return frozenset(self._expected)

    def take(self, name: str, data: Raw) -> None:
        """Learn what an event tells of a server, a channel or a thread."""
        if name == "GUILD_CREATE":
            self._take_server(data)
        elif name == "GUILD_DELETE":
            self._lose_server(data)
        elif name in ("GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE"):
            self._take_role(self._server(str(data["guild_id"])), data["role"])
        elif name in ("CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE"):
            self.learn(data)
        elif name in ("CHANNEL_DELETE", "THREAD_DELETE"):
            self._lose_room(str(data["id"]))
        elif name == "THREAD_LIST_SYNC":
            for thread in data.get("threads", ()):
                self.learn({"guild_id": data["guild_id"], **thread})

    def learn(self, raw: Raw) -> GuildChannel:
        """Keep a channel as the API shows it."""
        number = str(int(raw["id"]))
        known = self.rooms.get(number)
        room = GuildChannel(
            number,
            int(raw.get("type", 0)),
            str(raw.get("name") or ""),
            str(raw.get("guild_id") or (known.server if known else "")),
            str(raw.get("parent_id") or ""),
            max(_number(raw.get("last_message_id")), known.last if known else 0),
        )
        self.rooms[number] = room
        return room

    def said(self, room_id: str, message_id: int) -> None:
        """Remember the newest message of a channel."""
        room = self.rooms.get(room_id)
        if room is not None:
            room.last = max(room.last, message_id)

    def room(self, room_id: str, server: str = "") -> GuildChannel:
        """Return a channel; one that is not known is one of a server, or between two."""
        return self.rooms.get(room_id) or GuildChannel(room_id, 0 if server else DM, server=server)

    def title(self, room: GuildChannel) -> str:
        """Return what people call a chat."""
        if room.is_private:
            return ""
        whole = self.rooms.get(room.chat, room)
        server = self.servers.get(room.server)
        name = f"#{whole.name}" if whole.name else ""
        return " ".join(part for part in (name, f"({server.name})" if server else "") if part)

    def calls_me(self, role: str, server: str) -> bool:
        """Tell whether a role is the bot's own: the one that came with it."""
        found = self.servers.get(server)
        return found is not None and role in found.own_roles

    def written(self) -> Iterator[GuildChannel]:
        """Yield the channels and threads in which messages stand, parents before threads."""
        found = [room for room in self.rooms.values() if room.kind in WRITTEN]
        return iter(sorted(found, key=lambda room: (room.is_thread, int(room.id))))

    def _take_server(self, data: Raw) -> None:
        server = self._server(str(int(data["id"])))
        if data.get("unavailable") is True:
            return
        server.name = str(data.get("name") or "")
        server.greeting = str(data.get("system_channel_id") or "")
        for role in data.get("roles", ()):
            self._take_role(server, role)
        for raw in (*data.get("channels", ()), *data.get("threads", ())):
            self.learn({**raw, "guild_id": server.id})
        self.came(server.id)

    def came(self, number: str) -> None:
        """Expect a server no longer."""
        self._expected.discard(number)
        if not self._expected:
            self.complete.set()

    def _take_role(self, server: Server, role: Raw) -> None:
        number = str(role["id"])
        server.roles[number] = str(role.get("name") or "")
        if str((role.get("tags") or {}).get("bot_id") or "") == self.me:
            server.own_roles.add(number)

    def _lose_server(self, data: Raw) -> None:
        if data.get("unavailable") is True:  # an outage of Discord's: it comes back by itself
            return
        number = str(data["id"])
        self.came(number)
        self.servers.pop(number, None)
        for room in [one for one in self.rooms.values() if one.server == number]:
            self._lose_room(room.id)

    def _lose_room(self, number: str) -> None:
        for room in [one for one in self.rooms.values() if one.parent == number and one.is_thread]:
            del self.rooms[room.id]
        self.rooms.pop(number, None)

    def _server(self, number: str) -> Server:
        return self.servers.setdefault(number, Server(number))


def _number(told: Any) -> int:
    return int(told) if told is not None and str(told).isdecimal() else 0
