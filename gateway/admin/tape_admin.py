"""The operator's tapes: which there are, what is on them, and taking one in from a file.

A tape is named by its session (`telegram:-100123`), by its name, or by the beginning of that.
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

MOST_SHOWN: Final = 10_000
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
    """A store whose index of words can be made anew (`tape.stores.sqlite`)."""

    def reindex(self) -> None: ...

    def search_state(self) -> SearchState: ...


class TapeAdmin:
    """Reads the tapes of a gateway; raises DeskRefused with a sentence."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.tapes.store

    async def tapes(self) -> list[dict[str, Any]]:
        """Return every tape: its session where that is known, name, entries and newest date."""
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
        """Return the name of the tape that is meant."""
        try:
            name.encode()
        except UnicodeEncodeError as cause:
            raise AdminError("the name of a tape is text") from cause
        sessions = await self._sessions()
        session = self._services.aliases.get(name, name)
        own = sessions.get(session, self._services.tapes.session_tape(session).name)
        for tape in (own, name):
            if tape and len(tape) < MOST_SHOWN and await self._size(tape):
                return tape
        return await self._by_prefix(name, sessions)

    async def entries(self, tape: str, where: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the entries of a tape, by its exact name, that a query's conditions leave."""
        try:
            query = Query(tape, **{"limit": 50, **_conditions(where, _SHOWS)})
            return [as_line(entry) for entry in await self._store.query(query)]
        except TapeError as refused:
            raise AdminError(str(refused)) from refused

    async def search(self, tape: str, text: str, how: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what a search of a tape finds; `how` are conditions of `Tape.search`."""
        given = _conditions(how, _SEARCHES)
        try:
            found = await self._services.tapes.tape(tape).search(text, **given)
        except TapeError as refused:
            raise AdminError(str(refused)) from refused
        return [as_line(entry) for entry in found]

    async def reindex(self) -> dict[str, Any]:
        """Begin to make the index of words anew, in the background; returns how far it is."""
        self._indexed_store().reindex()
        return await self.index_state()

    async def index_state(self) -> dict[str, Any]:
        """Return how far the index of words is; see `SearchState`."""
        return asdict(self._indexed_store().search_state())

    async def prompts(self, tape: str, turn: str) -> list[dict[str, Any]]:
        """Return what each model call of a turn was shown; see `gateway.context.replay.Shown`."""
        try:
            return [
                asdict(shown) for shown in await prompts_of(self._services.tapes.tape(tape), turn)
            ]
        except TapeError as refused:
            raise AdminError(str(refused)) from refused

    def import_to(self, path: Path, session: str, tape: str) -> Import:
        """Return the import of a file onto a session's tape, or one of a name; not begun yet."""
        if bool(session) == bool(tape):
            raise AdminError(
                "where to? Give a session (--session telegram:-100123) or the name of a tape"
                " (--tape NAME), one of them"
            )
        session = self._services.aliases.get(session, session)
        name = tape or self._services.tapes.session_tape(session).name
        return Import(self._store, name, path)

    async def know(self, session: str) -> None:
        """Note a session whose tape was imported, so that the tape is listed under it."""
        if session:
            session = self._services.aliases.get(session, session)
            unit = Unit()
            tape = self._services.tapes.session_tape(session).name
            unit.run("ledger.know_session", session_id=session, tape=tape)
            await self._services.store.commit(unit)

    def _indexed_store(self) -> _IndexedStore:
        store: object = self._store
        if not isinstance(store, _IndexedStore):
            raise AdminError("these tapes have no index: a search looks through them")
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
            raise AdminError(f"{shown} begins the names of {len(found)} tapes: write more of it")
        near = get_close_matches(shown, list(sessions), n=3)
        hint = f"; the nearest are {', '.join(near)}" if near else ""
        raise AdminError(
            f"there is no tape or session {shown!r}{hint}: `tapeway tape list` shows what there is"
        )


def as_line(entry: Entry) -> dict[str, Any]:
    """Return an entry with its five keys, as a line of JSONL holds it."""
    return {
        "id": entry.id,
        "kind": entry.kind,
        "payload": entry.payload,
        "meta": entry.meta,
        "date": entry.date,
    }


def _conditions(where: Mapping[str, Any], known: Mapping[str, object]) -> dict[str, Any]:
    """Read conditions as they came over the wire."""
    found: dict[str, Any] = {}
    for name, value in where.items():
        if known.get(name) is _TEXTS and _are_texts(value):
            found[name] = tuple(value)
        elif type(value) is known.get(name):
            found[name] = value
        else:
            raise AdminError(f"{name[:40]} is no condition of a query, or not with such a value")
    if found.get("limit", 0) > MOST_SHOWN:
        raise AdminError(
            f"at most {MOST_SHOWN} entries are shown; `tapeway tape export` gives all of them"
        )
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
