"""List, read, search and import tapes for the operator.

A tape is identified by its session (`telegram:-100123`), by its name, or by the start of its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from agent.wire import without_wire
from channels.room.routes import MAX_ROOM_CHARACTERS, is_room
from gateway.context.replay import prompts_of
from gateway.errors import AdminError
from gateway.services import Services
from gateway.storage.ledger.rows import run_alone
from tape.entry import Entry
from tape.errors import TapeError
from tape.fork import INFIX
from tape.importing.importer import Import
from tape.query import Query
from tape.rewind import branch, find_anchor
from tape.search.search_state import SearchState

MAX_SHOWN: Final = 10_000
PROGRESS_SECONDS: Final = 0.5  # between two progress reports

Progress = dict[str, Any]

_TEXTS: Final = object()
_SHOWS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("after", "before", "limit"), int),
    **dict.fromkeys(("after_anchor", "before_anchor", "since", "until", "lane", "text"), str),
    **dict.fromkeys(("kinds", "names", "authors"), _TEXTS),
    "newest": bool,
}
_SEARCHES: Final[Mapping[str, object]] = {
    "limit": int,
    **dict.fromkeys(("since", "until", "author", "lane"), str),
    "kinds": _TEXTS,
    "rank": bool,
}


@runtime_checkable
class _IndexedStore(Protocol):
    """A store that can rebuild its word index (`tape.stores.sqlite`)."""

    def reindex(self) -> None: ...

    def search_state(self) -> SearchState: ...


class TapeAdmin:
    """Reads and imports a gateway's tapes; raises AdminError."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.tapes.store

    async def tapes(self) -> list[dict[str, Any]]:
        """Return every tape with its session and chat, name, entry count and newest date."""
        sessions = {tape: session for session, tape in (await self._sessions()).items()}
        chats = await self._services.ledger.chat_names()
        found = []
        for info in await self._store.tapes():
            session = sessions.get(info.name, "")
            row = {"session": session, "chat": chats.get(session, ""), "tape": info.name}
            found.append({**row, "entries": info.size, "newest": info.last_date})
        return found

    async def find(self, name: str) -> str:
        """Return a tape's full name."""
        try:
            name.encode()
        except UnicodeEncodeError as cause:
            raise AdminError("the name of a tape must be valid text") from cause
        sessions = await self._sessions()
        session = self._services.aliases.get(name, name)
        own = sessions.get(session, self._services.tapes.session_tape(session).name)
        for tape in (own, name):
            if tape and len(tape) < MAX_SHOWN and await self._size(tape):
                return tape
        return await self._by_prefix(name, sessions)

    async def entries(self, tape: str, where: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the entries of the tape with this full name that match a query's conditions."""
        with _as_admin_errors():
            query = Query(tape, **{"limit": 50, **_conditions(where, _SHOWS)})
            found = await self._store.query(query)
        return [as_line(entry) for entry in found]

    async def search(self, tape: str, text: str, how: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the matches of a search; `how` holds the arguments for `Tape.search`."""
        given = _conditions(how, _SEARCHES)
        with _as_admin_errors():
            found = await self._services.tapes.tape(tape).search(text, **given)
        shown = without_wire(entry.meta for entry in found)
        return [{**as_line(entry), "meta": meta} for entry, meta in zip(found, shown, strict=True)]

    async def reindex(self) -> dict[str, Any]:
        """Start rebuilding the word index in the background, and return the progress."""
        self._indexed_store().reindex()
        return await self.index_state()

    async def index_state(self) -> dict[str, Any]:
        """Return the word index's progress; see `SearchState`."""
        return asdict(self._indexed_store().search_state())

    async def prompts(self, tape: str, turn: str) -> list[dict[str, Any]]:
        """Return the prompt of each model call in a turn; see `ReplayedPrompt`."""
        with _as_admin_errors():
            found = await prompts_of(self._services.tapes.tape(tape), turn)
        return [asdict(shown) for shown in found]

    async def rewind(self, tape: str, to: str, room: str) -> dict[str, Any]:
        """Rewind a tape to an anchor, or begin a new room of the page with its past."""
        if room and not is_room(room):
            raise AdminError(
                f"a room's name has at most {MAX_ROOM_CHARACTERS} visible characters, no slash, and"
                " no space at its ends"
            )
        handle = self._services.tapes.tape(tape)
        with _as_admin_errors():
            anchor = await find_anchor(handle, to)
            if not room:
                done = await handle.rewind(anchor)
                return {"anchor": anchor.name, "at": anchor.id, "entry": done.id}
            session = f"web:{room}"
            name = self._services.tapes.session_tape(session).name
            if await self._store.size(name):
                raise AdminError(f"the room {room} has messages already: name a new one")
            count = await branch(handle, anchor, name)
        await self.know(session)
        return {"anchor": anchor.name, "at": anchor.id, "session": session, "entries": count}

    async def import_tape(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncGenerator[Progress, None]:
        """Import a file. Yields `{doing, done, of}` repeatedly, then `{report, added, there}`.

        After an AdminError or a TapeError, nothing has been imported.
        """
        work = self._import_to(path, session, tape)
        # A task rather than a task group: the reader may stop at any time, and in another task.
        running = asyncio.create_task(self._import(work, session, dry_run=dry_run))
        try:
            while not (await asyncio.wait({running}, timeout=PROGRESS_SECONDS))[0]:
                yield {"doing": work.doing, "done": work.done, "of": work.report.lines}
            yield running.result()
        finally:
            running.cancel()

    async def _import(self, work: Import, session: str, *, dry_run: bool) -> Progress:
        report = asdict(await work.examine())
        added = 0 if dry_run else await work.write()
        if not dry_run:
            await self.know(session)
        return {"report": report, "added": added, "there": work.existing}

    def _import_to(self, path: Path, session: str, tape: str) -> Import:
        if bool(session) == bool(tape):
            raise AdminError(
                "name the target: a session (--session telegram:-100123) or a tape (--tape NAME)"
            )
        session = self._services.aliases.get(session, session)
        name = tape or self._services.tapes.session_tape(session).name
        return Import(self._store, name, path)

    async def know(self, session: str) -> None:
        """Record an imported tape's session, so that the tape is listed under it."""
        if session:
            session = self._services.aliases.get(session, session)
            tape = self._services.tapes.session_tape(session).name
            values = {"session_id": session, "tape": tape}
            await run_alone(self._services.store, "ledger.know_session", **values)

    def _indexed_store(self) -> _IndexedStore:
        store: object = self._store
        if not isinstance(store, _IndexedStore):
            raise AdminError("these tapes have no index: a search reads them directly")
        return store

    async def _sessions(self) -> dict[str, str]:
        rows = await self._services.ledger.store.select("ledger.sessions", {})
        return {row["session_id"]: row["tape"] for row in rows}

    async def _size(self, tape: str) -> int:
        try:
            return await self._store.size(tape)
        except TapeError as refused:
            raise AdminError(str(refused)) from refused

    async def _by_prefix(self, name: str, sessions: Mapping[str, str]) -> str:
        shown = name[:80]
        found = [info.name for info in await self._store.tapes(name) if info.name] if name else []
        found = [tape for tape in found if INFIX not in tape[len(name) :]] or found
        if len(found) == 1:
            return found[0]
        if found:
            raise AdminError(f"{len(found)} tapes have names that begin with {shown}: write more")
        known = [*sessions, *(info.name for info in await self._store.tapes())]
        near = get_close_matches(shown, known, n=3)
        hint = f"; the nearest are {', '.join(near)}" if near else ""
        missing = f"there is no tape or session {shown!r}{hint}"
        raise AdminError(f"{missing}: `tapeway tape list` shows the tapes")


def as_line(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("id", "kind", "payload", "meta", "date")}


@contextmanager
def _as_admin_errors() -> Iterator[None]:
    try:
        yield
    except TapeError as refused:
        raise AdminError(str(refused)) from refused


def _conditions(where: Mapping[str, Any], known: Mapping[str, object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in where.items():
        if known.get(name) is _TEXTS and _are_texts(value):
            found[name] = tuple(value)
        elif type(value) is known.get(name):
            found[name] = value
        else:
            raise AdminError(f"{name[:40]} is not a condition, or its value has the wrong type")
    if found.get("limit", 0) > MAX_SHOWN:
        raise AdminError(f"the limit is {MAX_SHOWN} entries: `tapeway tape export` writes all")
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
