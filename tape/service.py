"""Get the tape of a session, and open and list the forks of tapes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import md5
from pathlib import Path

import anyio

from tape.fork import INFIX, UNFINISHED, Forking
from tape.handle import ForkTape, Tape, find_fork
from tape.search.search import NearestSearch
from tape.store import TapeStore
from tape.stores.registry import open_tapes
from tape.withholding import WithholdingSearch, WithholdingStore


def tape_name(workspace: Path, session_id: str) -> str:
    """Return the name of a session's tape in a workspace.

    The name is sixteen hex digits for the workspace's resolved path, two underscores, and sixteen
    for the session: a session has another tape in another workspace.
    """
    return f"{_prefix(workspace)}{_digest(session_id)}"


def _prefix(workspace: Path | str) -> str:
    name = workspace if isinstance(workspace, str) else str(workspace.resolve())
    return f"{_digest(name)}__"


def _digest(text: str) -> str:
    return md5(text.encode("utf-8"), usedforsecurity=False).hexdigest()[:16]


class TapeService:
    """The tapes of one workspace in one store; `semantic` is the index that finds by meaning.

    As a string, `workspace` is a resolved path already, perhaps one of another machine.
    """

    def __init__(
        self, store: TapeStore, workspace: Path | str, semantic: NearestSearch | None = None
    ) -> None:
        self.store = store
        self.semantic = semantic
        self._shown: WithholdingStore | None = None
        self._prefix = _prefix(workspace)  # computed once, because resolving a path reads the disk

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str = "memory:", workspace: Path | None = None
    ) -> AsyncIterator[TapeService]:
        """Open the store at a URL, and close the store at the end of the block.

        url        `memory:`, `sqlite:///absolute/file.db` or `file:///absolute/folder`
        workspace  folder that is part of the tapes' names; the current directory by default

        Raises StoreUnusable, StoreTooNew, or StoreUnavailable.
        """
        store = open_tapes(url)
        try:
            yield cls(store, workspace or Path.cwd())
        finally:
            with anyio.CancelScope(shield=True):
                await store.close()

    def session_tape(self, session_id: str) -> Tape:
        """Return a session's tape, which exists once it has an entry."""
        return self.tape(f"{self._prefix}{_digest(session_id)}")

    def tape(self, name: str) -> Tape:
        """Return a tape as its readers may see it; what erases or exports reads `store`."""
        return Tape(self._shown or self.store, name, self.semantic)

    def tape_over(self, store: TapeStore, name: str) -> Tape:
        """Return a tape read through another store, without what is withheld here."""
        return Tape(store if self._shown is None else self._shown.over(store), name)

    def withhold(self) -> WithholdingStore:
        """Return the store that tapes are read through from now on; `store` withholds nothing."""
        if self._shown is None:
            self._shown = WithholdingStore(self.store)
            if self.semantic is not None:
                self.semantic = WithholdingSearch(self.semantic, self._shown)
        return self._shown

    async def ensure_bootstrap_anchor(self, tape: Tape) -> None:
        """Write the bootstrap if the tape has no anchor, whatever else it has."""
        if await tape.last_anchor() is None:
            await tape.append()

    def fork_tape(
        self, name: str | Tape, merge_back: bool = True, at: str | None = None
    ) -> Forking[ForkTape]:
        """Open a fork for a sub-task; the end of the block merges or discards it (see `Forking`).

        `at` names an anchor: the fork gets the parent's entries up to and including the anchor.
        """
        parent = self.tape(name) if isinstance(name, str) else name
        return parent.fork(at, merge_back)

    async def open_forks(self, tape: str = "") -> list[ForkTape]:
        """Return the forks, of one tape or of all, that were not wholly merged or discarded."""
        infos = await self.store.tapes(f"{tape}{INFIX}" if tape else "")
        forks = [await find_fork(self.tape(info.name)) for info in infos if INFIX in info.name]
        return [fork for fork in forks if await fork.state() in UNFINISHED]
