"""The processes over one database: each has a row, and says every few seconds that it lives."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from gateway.storage.ledger.rows import run_alone
from tape.entry import dump, load
from tape.private_file import open_private
from tape.store import UnitStore
from tape.unit_of_work import Row, Unit

Role = Literal["all", "ingress", "worker"]
ROLES: Final[frozenset[Role]] = frozenset(get_args(Role))
VOID_CODE: Final = "sharing.void_code"
HOME_FILE: Final = "process-id"


def home_id(home: Path) -> str:
    """Return the random id of a home folder, in which one process runs at a time."""
    path = home / HOME_FILE
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        made = secrets.token_hex(16)
        with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w") as file:
            file.write(made)
        return made


@dataclass(slots=True)
class Standing:
    """How a process stands among those that work.

    is_alone      whether no other process works
    nobody_works  whether none does, and this one only receives
    drains        whether it takes nothing, so that it can work on a suspect
    suspects      how many sessions with suspects wait
    """

    is_alone: bool = True
    nobody_works: bool = False
    drains: bool = False
    suspects: int = 0


@dataclass(eq=False)
class WorkerTable:
    """The row of this process, and those of the others."""

    _store: UnitStore
    owner: str
    home: str
    role: Role
    version: str
    state: Callable[[], Mapping[str, Any]] = dict
    digests: Callable[[], Mapping[str, str]] = dict
    _known: int = -1  # the version of the rules that were read

    def publish(self, state: Callable[[], Mapping[str, Any]]) -> None:
        """Write what this returns into the row each time."""
        self.state = state

    async def begin(self) -> None:
        """Write this process's row; earlier processes of its home have ended."""
        about = {"role": self.role, "version": self.version, "place": platform.node()}
        own = {"owner": self.owner, "home": self.home}
        await run_alone(self._store, "sharing.end_workers", **own, others=True)
        await run_alone(self._store, "sharing.forget_workers")
        await run_alone(self._store, "sharing.begin_worker", **own, **about)

    async def salt(self) -> str:
        """Return what the digests of secrets are made with: the same for every process."""
        await run_alone(self._store, "sharing.make_salt", salt=dump(secrets.token_hex(16)))
        rows = await self._store.select("sharing.fact", {"channel": "", "name": "salt"})
        return str(load(rows[0]["value"]))

    async def seen(self) -> None:
        """Say that this process lives, and how it is."""
        values = {"state": dump(dict(self.state())), "digests": dump(dict(self.digests()))}
        await run_alone(self._store, "sharing.worker_seen", **values, owner=self.owner)

    async def end(self) -> None:
        """Say that this process ends."""
        values = {"owner": self.owner, "home": self.home, "others": False}
        await run_alone(self._store, "sharing.end_workers", **values)

    async def working(self) -> set[str]:
        """Return the processes that live and claim sessions."""
        rows = await self.all()
        return {row["owner"] for row in rows if row["is_live"] and row["role"] != "ingress"}

    async def take_erasures(self, *, own: bool) -> list[Row]:
        """Take over the erasures of processes that have ended; return what is not finished.

        With `own`, also what this process has begun.
        """
        taken = await run_alone(self._store, "sharing.take_erasures", owner=self.owner, own=own)
        return list(taken.rows)

    def own_erasure(self, unit: Unit, erasure_id: str) -> None:
        """Record in a unit of work that this process runs an erasure."""
        unit.run("sharing.own_erasure", erasure_id=erasure_id, owner=self.owner)

    async def if_changed(self, read: Callable[[], Awaitable[None]]) -> None:
        """Read access and aliases, unless they are as they were the last time."""
        (row,) = await self._store.select("sharing.rule_version", {})
        if row["number"] != self._known:
            await read()
            self._known = row["number"]

    async def code(self) -> tuple[str, float]:
        """Return the pairing code that holds for every process, and for how many seconds."""
        rows = await self._store.select("sharing.code", {})
        return (rows[0]["code"], rows[0]["seconds"]) if rows else ("", 0.0)

    async def put_code(self, code: str, seconds: float) -> None:
        """Share a pairing code with every process."""
        await run_alone(self._store, "sharing.put_code", code=code, seconds=seconds)

    async def void_code(self, code: str) -> None:
        """Take a pairing code back, unless there is a newer one."""
        await run_alone(self._store, VOID_CODE, code=code)

    async def all(self) -> list[Row]:
        """Return the processes that have not ended, oldest first."""
        return await self._store.select("sharing.workers", {})
