"""What an earlier process left over: chats whose messages are not in their lines yet.

A hundred thousand ids take a while to be put into lines. Who writes meanwhile need not wait for
that: what is left over of the same session is put before their message, and the rest goes on.
Where a plugin may name the session, a message of each chat has to be read first, and what was
accepted since waits for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
import anyio.lowlevel

from gateway.hooks.messages import session_of
from gateway.intake.acceptance import accepted_in
from gateway.intake.waiting.keys import LineKeys
from gateway.intake.waiting.messages import WaitingMessages
from gateway.intake.waiting.under_way import UnderWay
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from gateway.storage.waiting import WaitingChat

AT_ONCE: Final = 64
"""Chats of which a message is read together, where a plugin may name their sessions."""

BREATH_SECONDS: Final = 0.005
"""Seconds after which ids that are put into lines let everything else go on."""

Merge = Callable[[str, str], None]
"""Has what waits in a session wait in another line."""

_Name = str | tuple[str, str]  # a session, or the account and the id of a chat


@dataclass(slots=True, eq=False)
class _Chat:
    """A chat of which something is left over, and what names the sessions that it concerns."""

    found: WaitingChat
    ids: list[int]
    session_id: str
    moved: str  # the session of the chat's new id, or ""
    is_put: bool = False

    @property
    def names(self) -> list[_Name]:
        place = (self.found.account_id, self.found.chat_id)
        return [place, self.session_id, *([self.moved] if self.moved else [])]


@dataclass(eq=False)
class LeftOver:
    """Puts what an earlier process left over into lines; its content is read later on."""

    _services: Services
    _under_way: UnderWay
    _keys: LineKeys
    _waiting: WaitingMessages
    _merge: Merge
    _chats: dict[_Name, list[_Chat]] = field(default_factory=dict)
    _found: list[WaitingChat] | None = None  # what was read ahead
    _looked: anyio.Event | None = None

    def __bool__(self) -> bool:
        """Return whether something is not in its line yet."""
        return bool(self._chats)

    def look_ahead(self) -> None:
        """Begin to read what waits; `chats` returns it."""
        self._looked = anyio.Event()
        self._services.spawn("what waits", partial(self._look, self._looked))

    async def _look(self, looked: anyio.Event) -> None:
        try:
            self._found = await self._read()
        finally:
            looked.set()

    async def _read(self) -> list[WaitingChat]:
        return await self._services.guard.retrying("intake", self._services.ledger.waiting.chats)

    async def chats(self) -> list[WaitingChat]:
        """Return what waits, by chat."""
        if self._looked is not None:
            await self._looked.wait()
        found, self._found, self._looked = self._found, None, None
        return await self._read() if found is None else found

    async def add(self, chats: Sequence[WaitingChat], newest: int) -> None:
        """Take up what is left over in chats, up to a row; `put_rest` puts it into lines.

        If a plugin may name sessions, it is in its lines when this returns.
        """
        places = [(one, [number for number in one.ids if number <= newest]) for one in chats]
        places = [(one, self._under_way.enter(one.session_id, ids)) for one, ids in places]
        places = [(one, ids) for one, ids in places if ids]
        if self._services.pipeline.may_resolve_session:
            await self._read_and_put(places)
            return
        for found, ids in places:
            chat = self._chat_of(found, ids)
            for name in chat.names:
                self._chats.setdefault(name, []).append(chat)

    async def put_rest(self) -> None:
        """Put everything into its line, and let everything else go on meanwhile."""
        monotonic = self._services.clock.monotonic
        breath = monotonic()
        while self._chats:
            self._put_with(next(iter(self._chats)))
            if monotonic() - breath >= BREATH_SECONDS:
                await anyio.lowlevel.checkpoint()
                breath = monotonic()

    def put_before(self, row: InboxRow, *sessions: str) -> None:
        """Put what is left over of a message's chat, and of these sessions, into its line."""
        if self._chats:
            self._put_with((row.account_id, row.message.chat_id), *sessions)

    def _put_with(self, *names: _Name) -> None:
        """Put the chats that have these names, and those which share a name with them."""
        wanted = list(names)
        while wanted:
            for chat in self._chats.pop(wanted.pop(), ()):
                if not chat.is_put:
                    chat.is_put = True
                    wanted.extend(chat.names)
                    self._put(chat)

    def _put(self, chat: _Chat) -> None:
        found, key = chat.found, self._keys.of(chat.session_id)
        self._keys.find(found.account_id, found.chat_id, key)
        self._waiting.add_unread(key, chat.ids, found.urgent, old=True)
        if chat.moved:
            self._merge(chat.moved, key)

    def _chat_of(self, found: WaitingChat, ids: list[int], session_id: str = "") -> _Chat:
        channel, _colon, account = found.account_id.partition(":")
        place = {"channel": channel, "account": account}
        session_id = session_id or found.session_id or ""
        if not session_id:
            said = {**place, "chat_id": found.chat_id}
            session_id = self._services.pipeline.default_session(said)
        moved = session_of({**place, "chat_id": found.to_chat}) if found.to_chat else ""
        return _Chat(found, ids, session_id, moved)

    async def _read_and_put(self, places: Sequence[tuple[WaitingChat, list[int]]]) -> None:
        table, retrying = self._services.ledger.waiting, self._services.guard.retrying
        for at in range(0, len(places), AT_ONCE):
            some = places[at : at + AT_ONCE]
            firsts = [ids[0] for _found, ids in some]
            rows = {row.id: row for row in await retrying("intake", partial(table.rows, firsts))}
            for found, ids in some:
                row, rest = rows.get(ids[0]), ids
                if row is None:  # it has ended just now, or cannot be read
                    row, rest = await self._first_of(ids[1:])
                    self._leave(found, ids[: len(ids) - len(rest)])
                if row is not None:
                    session_id = row.session_id or await accepted_in(self._services, row.message)
                    self._put(self._chat_of(found, rest, session_id))

    async def _first_of(self, ids: list[int]) -> tuple[InboxRow | None, list[int]]:
        """Return the first message of a chat that waits and can be read, and the ids from it on."""
        table = self._services.ledger.waiting
        while ids:
            some = partial(table.rows, ids[:AT_ONCE])
            rows = await self._services.guard.retrying("intake", some)
            if rows:
                return rows[0], ids[ids.index(rows[0].id) :]
            ids = ids[AT_ONCE:]
        return None, []

    def _leave(self, found: WaitingChat, ids: Iterable[int]) -> None:
        for number in ids:
            self._under_way.leave(found.session_id, number)
