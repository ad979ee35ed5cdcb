"""List, read, search and import tapes for the operator.

A tape is given by its session (`telegram:-100123`), its name, or the beginning of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from gateway.context.replay import prompts_of
from gateway.errors import AdminError
from gateway.services import Services
from tape.entry import Entry
from tape.errors import TapeError
from tape.fork import INFIX
from tape.importing.importer import Import
from tape.query import Query
from tape.search.indexer import SearchState
from tape.unit_of_work import Unit

MAX_SHOWN: Final = 10_000
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
    """A store whose word index can be rebuilt (`tape.stores.sqlite`)."""

    def reindex(self) -> None: ...

    def search_state(self) -> SearchState: ...


class TapeAdmin:
    """Reads the tapes of a gateway; raises AdminError with a sentence."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.tapes.store

    async def tapes(self) -> list[dict[str, Any]]:
        """Return every tape: its session if known, name, entries and newest date."""
        sessions = {tape: session for session, tape in (await self._sessions()).items()}
        return [
            {
                "session": sessions.get(info.name, ""),
                "tape": info.name,
                "entries": info.size,
                "newest": info.last_date,
            }
            for info in await self._store.tapes()
        ]

    async def find(self, name: str) -> str:
        """Return the full name of a tape."""
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
        """Return the entries of a tape (by its full name) that meet a query's conditions."""
        try:
            query = Query(tape, **{"limit": 50, **_conditions(where, _SHOWS)})
            return [as_line(entry) for entry in await self._store.query(query)]
        except TapeError as refused:
            raise AdminError(str(refused)) from refused

    async def search(self, tape: str, text: str, how: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the matches of a search; `how` holds the conditions of `Tape.search`."""
        given = _conditions(how, _SEARCHES)
        try:
            found = await self._services.tapes.tape(tape).search(text, **given)
        except TapeError as refused:
            raise AdminError(str(refused)) from refused
        return [as_line(entry) for entry in found]

    async def reindex(self) -> dict[str, Any]:
        """Start to rebuild the word index in the background; return its progress."""
        self._indexed_store().reindex()
        return await self.index_state()

    async def index_state(self) -> dict[str, Any]:
        """Return the progress of the word index; see `SearchState`."""
        return asdict(self._indexed_store().search_state())

    async def prompts(self, tape: str, turn: str) -> list[dict[str, Any]]:
        """Return the prompt of each model call of a turn; see `gateway.context.replay.Shown`."""
        try:
            return [
                asdict(shown) for shown in await prompts_of(self._services.tapes.tape(tape), turn)
            ]
        except TapeError as refused:
            raise AdminError(str(refused)) from refused

    def import_to(self, path: Path, session: str, tape: str) -> Import:
        """Return an import, not yet started, of a file to a session's tape or a named one."""
        if bool(session) == bool(tape):
            raise AdminError(
                "name the target: either a session (--session telegram:-100123) or a tape"
                " (--tape NAME)"
            )
        session = self._services.aliases.get(session, session)
        name = tape or self._services.tapes.session_tape(session).name
        return Import(self._store, name, path)

    async def know(self, session: str) -> None:
        """Record the session of an imported tape, so that the tape is listed with it."""
        if session:
            session = self._services.aliases.get(session, session)
            unit = Unit()
            tape = self._services.tapes.session_tape(session).name
            unit.run("ledger.know_session", session_id=session, tape=tape)
            await self._services.store.commit(unit)

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
            raise AdminError(
                f"the names of {len(found)} tapes begin with {shown}: write more of it"
            )
        near = get_close_matches(shown, list(sessions), n=3)
        hint = f"; the nearest are {', '.join(near)}" if near else ""
        raise AdminError(
            f"there is no tape or session {shown!r}{hint}: `tapeway tape list` shows the tapes"
        )


def as_line(entry: Entry) -> dict[str, Any]:
    """Return an entry as a JSONL line has it: id, kind, payload, meta and date."""
    return {
        "id": entry.id,
        "kind": entry.kind,
        "payload": entry.payload,
        "meta": entry.meta,
        "date": entry.date,
    }


def _conditions(where: Mapping[str, Any], known: Mapping[str, object]) -> dict[str, Any]:
    """Check conditions that came over the wire."""
    found: dict[str, Any] = {}
    for name, value in where.items():
        if known.get(name) is _TEXTS and _are_texts(value):
            found[name] = tuple(value)
        elif type(value) is known.get(name):
            found[name] = value
        else:
            raise AdminError(f"{name[:40]} is not a condition, or its value has the wrong type")
    if found.get("limit", 0) > MAX_SHOWN:
        raise AdminError(
            f"the limit is {MAX_SHOWN} entries: `tapeway tape export` writes all of them"
        )
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
