"""Find messages by their words, chat, author and time, and those that were not answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.routing import BaseRoute

from agent.names import fit
from gateway.console.answers import console_route
from gateway.console.chats import ConsoleChat, session_of_key
from gateway.console.parts import ConsoleParts
from gateway.console.reads import SEARCH_TOO_SLOW, ConsoleBusy, ConsoleReads
from gateway.console.rights import Rights
from gateway.console.said import excerpt, is_ours, shown_text, without_gone
from gateway.console.visitor import Visitor
from gateway.errors import AdminError
from tape.entry import MESSAGE, Entry, as_date, dump
from tape.errors import ReadTooSlow
from tape.rollups import is_refusal
from tape.unit_of_work import Row

MAX_FOUND: Final = 40  # maximum messages that are shown
LOOKED_AT: Final = 200  # messages among which an author is looked for at a time
ROUNDS: Final = 5
MAX_SEARCHED: Final = 12  # maximum chats whose words are searched: those heard last
MAX_HITS: Final = 40  # maximum entries that a search finds in a chat
MAX_TEXT: Final = 200  # maximum characters of what is looked for
NEWEST: Final = 1 << 40  # greater than the number of any message


@dataclass(frozen=True, slots=True)
class MessageSearch:
    """Which messages are looked for.

    words       what they say, or what their answers say
    person      a part of their author's name
    until       only messages received before this date (ISO 8601, UTC)
    unanswered  only those that were not answered
    """

    words: str
    person: str
    until: str
    unanswered: bool

    @classmethod
    def read(cls, asked: Mapping[str, str]) -> MessageSearch:
        """Read the query of an address; raises AdminError."""
        try:
            until = as_date(asked["until"]) if asked.get("until") else ""
        except ValueError as cause:
            raise AdminError("until is a date, such as 2026-01-31T10:31Z") from cause
        words, person = (asked.get(name, "")[:MAX_TEXT].strip() for name in ("q", "person"))
        return cls(words, person, until, asked.get("unanswered", "") == "1")

    def wants(self, row: Mapping[str, Any]) -> bool:
        """Return whether a message that is ready to be shown is among them."""
        if self.unanswered and row["status"] in ("done", "joined"):
            return False
        if self.until and row["at"] >= self.until:
            return False
        return self.person.casefold() in row["name"].casefold()


def finding_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the route that finds messages, of which each leads to its explanation."""

    async def messages(request: Request) -> Any:
        visitor = await rights.visitor(request)
        wanted = MessageSearch.read(request.query_params)
        chats = await _chats(rights, visitor, request.query_params.get("chat", ""))
        finder = _Finder(parts.reads, {chat.session_id: chat for chat in chats}, wanted)
        found = await (finder.by_words() if wanted.words else finder.by_time())
        return {"messages": found, "skipped": finder.skipped, "sizes": finder.sizes}

    return [console_route("/messages", messages)]


async def _chats(rights: Rights, visitor: Visitor, key: str) -> list[ConsoleChat]:
    """Return the chat that is named, which opens it, or all that are no private ones."""
    if key:
        return [await rights.opened(visitor, session_of_key(key))]
    found = [chat for chat in await visitor.chats() if not chat.is_private]
    return sorted(found, key=lambda one: one.heard_at, reverse=True)


@dataclass(frozen=True, slots=True)
class _Finder:
    reads: ConsoleReads
    chats: Mapping[str, ConsoleChat]
    wanted: MessageSearch
    skipped: list[str] = field(default_factory=list)
    """The titles of the chats whose search took too long."""

    sizes: dict[str, int] = field(default_factory=dict)
    """The numbers of entries, by chat, behind which the words that were found may be changed."""

    async def by_time(self) -> list[dict[str, Any]]:
        """Return the newest messages that are wanted, newest first."""
        found: list[dict[str, Any]] = []
        before = await self._first_after(self.wanted.until) if self.wanted.until else NEWEST
        for _ in range(ROUNDS if self.wanted.person else 1):
            values = {"unanswered": int(self.wanted.unanswered), "before": before}
            limit = LOOKED_AT if self.wanted.person else MAX_FOUND
            rows = await self._rows({**values, "limit": limit})
            found += await self._shown(rows)
            if len(rows) < limit or len(found) >= MAX_FOUND:
                break
            before = rows[-1]["id"]
        return found[:MAX_FOUND]

    async def by_words(self) -> list[dict[str, Any]]:
        """Return the messages that say the words, or whose answers do, newest first.

        Raises AdminError or ConsoleBusy if no chat can be searched now.
        """
        found: list[dict[str, Any]] = []
        chats = list(self.chats.values())[:MAX_SEARCHED]
        for chat in chats:
            try:
                found += await self._hits(chat)
            except (ReadTooSlow, ConsoleBusy) as cause:
                self.skipped.append(chat.title)
                if len(self.skipped) < len(chats):
                    continue
                if isinstance(cause, ReadTooSlow):
                    raise AdminError(SEARCH_TOO_SLOW) from cause
                raise
        found.sort(key=lambda one: str(one["at"]), reverse=True)
        return found[:MAX_FOUND]

    async def _hits(self, chat: ConsoleChat) -> list[dict[str, Any]]:
        """Return the messages of a chat that say the words, or whose answers do."""
        until, size = self.wanted.until or None, await self.reads.size(chat.tape)
        hits = await self.reads.search(chat.tape, self.wanted.words, MAX_HITS, until=until)
        turns = {str(one.meta["turn"]): one for one in hits if is_ours(one) and _turn(one)}
        ids = [one.meta["inbox"] for one in hits if isinstance(one.meta.get("inbox"), int)]
        values = {"ids": dump(ids), "turns": dump(list(turns)), "limit": 2 * MAX_HITS}
        rows = await self.reads.select("ledger.found_messages", values)
        own = [row for row in rows if row["session_id"] == chat.session_id]
        answers = {turn: excerpt(shown_text(one)) for turn, one in turns.items()}
        shown = await self._shown(own)
        if shown:
            self.sizes[chat.key] = size
        return [{**one, "answer": answers.get(one["turn"] or "", "")} for one in shown]

    async def _rows(self, values: Mapping[str, Any]) -> list[Row]:
        select = self.reads.select
        if len(self.chats) == 1:
            (session_id,) = self.chats
            return await select("ledger.messages_of_chat", {**values, "session_id": session_id})
        sessions = dump(list(self.chats))
        return await select("ledger.messages_of_chats", {**values, "sessions": sessions})

    async def _first_after(self, date: str) -> int:
        """Return the number of the first message received at a date or later."""
        low, high = 0, NEWEST
        while high - low > 1:
            middle = (low + high) // 2
            rows = await self.reads.select("ledger.message_from", {"id": middle})
            if rows and rows[0]["received_at"] < date:
                low = int(rows[0]["id"])
            else:
                high = middle
        return high

    async def _shown(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return what is shown of messages, of those that are wanted; edits are none."""
        entries: dict[tuple[str, int], Entry] = {}
        said: dict[tuple[str, int], Entry] = {}
        for one in dict.fromkeys(row["session_id"] for row in rows):
            tape = self.reads.tape(self.chats[one].tape)
            ids = [row["entry_id"] for row in rows if row["session_id"] == one and row["entry_id"]]
            found = await tape.entries(ids) if ids else {}
            entries |= {(one, number): entry for number, entry in found.items()}
            said |= {(one, entry.id): entry for entry in await without_gone(tape, found.values())}
        return list(self._each(rows, entries, said))

    def _each(
        self,
        rows: Iterable[Row],
        entries: Mapping[tuple[str, int], Entry],
        said: Mapping[tuple[str, int], Entry],
    ) -> Iterable[dict[str, Any]]:
        for row in rows:
            place = row["session_id"], row["entry_id"]
            entry, chat = entries.get(place), self.chats[row["session_id"]]
            if entry is not None and entry.kind != MESSAGE and not is_refusal(entry):
                continue
            own = said.get(place)
            shown = {
                "id": row["id"],
                "chat": chat.key,
                "title": chat.title,
                "channel": chat.channel,
                "at": row["received_at"],
                "name": fit(str((own and own.meta.get("name")) or row["name"] or "")),
                "text": excerpt(shown_text(own)) if own is not None else "",
                "status": row["status"],
                "turn": row["turn_id"],
            }
            if self.wanted.wants(shown):
                yield shown


def _turn(entry: Entry) -> bool:
    return isinstance(entry.meta.get("turn"), str)
