"""TapeService: from a session to its tape, and the forks of a tape."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import md5
from pathlib import Path

import anyio

from tape.fork import INFIX
from tape.handle import ForkTape, Tape, find_fork, open_fork
from tape.search.search import NearestSearch
from tape.store import TapeStore


def tape_name(workspace: Path, session_id: str) -> str:
    """Return the name of a session's tape in a workspace.

    Sixteen hex digits of the workspace's resolved path, two underscores, sixteen of the session:
    the same session in another workspace is another tape.
    """
    return f"{_prefix(workspace)}{_digest(session_id)}"


def _prefix(workspace: Path) -> str:
    return f"{_digest(str(workspace.resolve()))}__"


def _digest(text: str) -> str:
    return md5(text.encode("utf-8"), usedforsecurity=False).hexdigest()[:16]


class TapeService:
    """The tapes of one workspace in one store."""

    def __init__(
        self, store: TapeStore, workspace: Path, meaning: NearestSearch | None = None
    ) -> None:
        self.store = store
        self.meaning = meaning
        self.workspace = workspace
        self._prefix = _prefix(workspace)  # once: resolving a path asks the disk at each part of it

    def session_tape(self, session_id: str) -> Tape:
        """Return the tape of a session; it exists from its first entry on."""
        return self.tape(f"{self._prefix}{_digest(session_id)}")

    def tape(self, name: str) -> Tape:
        """Return a tape by its name."""
        return Tape(self.store, name, self.meaning)

    async def ensure_bootstrap_anchor(self, tape: Tape) -> None:
        """Write the bootstrap of a tape that has no entry yet; on any other it does nothing."""
        await tape.append()

    @asynccontextmanager
    async def fork_tape(
        self, name: str | Tape, merge_back: bool = True, at: str | None = None
    ) -> AsyncIterator[ForkTape]:
        """Give a sub-task a fork: merged as one block at the end, or discarded.

        `at` names an anchor to which the fork reads back, itself included. An error inside
        discards the fork and goes on; a crash leaves it open (see `open_forks`).
        """
        parent = self.tape(name) if isinstance(name, str) else name
        fork = await open_fork(parent, await self._place(parent, at), merge_back)
        try:
            yield fork
        except BaseException as cause:
            with anyio.CancelScope(shield=True):
                await fork.discard(f"{type(cause).__name__}: {cause}"[:500])
            raise
        if merge_back:
            await fork.merge()
        else:
            await fork.discard("not to be merged")

    async def open_forks(self, tape: str = "") -> list[ForkTape]:
        """Return the forks that were neither merged nor discarded, oldest name first."""
        infos = await self.store.tapes(f"{tape}{INFIX}" if tape else "")
        forks = [await find_fork(self.tape(info.name)) for info in infos if INFIX in info.name]
        return [fork for fork in forks if await fork.state() == "open"]

    async def _place(self, parent: Tape, at: str | None) -> int | None:
        if at is None:
            return None
        return (await parent.anchor(at)).id
