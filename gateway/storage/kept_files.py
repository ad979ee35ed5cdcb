"""The images that people sent: files of the home, or rows that every process of a database reads.

Their names are digests of what they hold, so that one that is sent again is kept once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG
from typing import Final, Protocol

import anyio.to_thread

from channels.message import KEPT, InboundMessage, Media
from tape.entry import dump
from tape.private_file import open_private
from tape.store import UnitStore
from tape.unit_of_work import Unit

CHECKED_EACH: Final = 16
"""The total size is looked at once in so many files, since that reads a line for each of them."""

FRESH_SECONDS: Final = 600.0
"""Seconds for which a file stays, however small the bound: a turn may still need it."""


def kept_of(message: InboundMessage) -> list[str]:
    """Return the names of the files that the gateway itself keeps for a message."""
    return [one.file for one in all_media(message) if one.file.startswith(KEPT)]


def all_media(message: InboundMessage) -> list[Media]:
    """Return what came with a message: its own, then its quote's and its excerpts'."""
    parts = (message, message.quote, message.forwarded, *message.excerpts)
    return [media for part in parts if part is not None for media in part.media]


class KeptFiles(Protocol):
    """The files of an instance, by name; what fails raises OSError or TapeError."""

    async def put(self, name: str, data: bytes) -> None: ...

    async def get(self, name: str) -> bytes | None:
        """Return a file's bytes, or None if it is not kept."""
        ...

    async def drop(self, names: Iterable[str]) -> None: ...


class HomeFiles:
    """Files of the home folder, which one process has for itself.

    Beyond `most` bytes in total, the oldest are removed, except for the fresh ones. A file that is
    put again counts as new.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self._folder = folder
        self._most = most
        self._unchecked = CHECKED_EACH  # so that a process that keeps few files looks, too

    async def put(self, name: str, data: bytes) -> None:
        await anyio.to_thread.run_sync(self._write, name, data)

    async def get(self, name: str) -> bytes | None:
        try:
            return await anyio.to_thread.run_sync(self._path(name).read_bytes)
        except OSError:
            return None

    async def drop(self, names: Iterable[str]) -> None:
        for name in names:
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / Path(name).name

    def _write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        with suppress(FileNotFoundError):
            os.utime(path)
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._folder / f".{name}.{token_hex(8)}"  # Two turns may keep one image at once.
        with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)
        part.replace(path)
        self._unchecked += 1
        if self._unchecked > CHECKED_EACH:
            self._unchecked = 0
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        files = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # it was dropped meanwhile
                stat = path.stat()
                if S_ISREG(stat.st_mode):
                    files.append((stat.st_mtime, stat.st_size, path))
        left = sum(size for _kept, size, _path in files) - self._most
        fresh = time.time() - FRESH_SECONDS
        for kept, size, path in sorted(files):
            if left <= 0 or kept > fresh:
                break
            with suppress(OSError):  # the next one may go
                path.unlink(missing_ok=True)
                left -= size


class SharedFiles:
    """Rows of a database, bounded as the files of a home are."""

    def __init__(self, store: UnitStore, most: int) -> None:
        self._store = store
        self._most = most
        self._unchecked = CHECKED_EACH  # so that a process that keeps few files looks, too

    async def put(self, name: str, data: bytes) -> None:
        unit = Unit()
        unit.run("sharing.keep_file", name=name, data=data, size=len(data))
        self._unchecked += 1
        if self._unchecked > CHECKED_EACH:
            unit.run("sharing.drop_oldest_files", most=self._most, fresh=-FRESH_SECONDS)
            self._unchecked = 0
        await self._store.commit(unit)

    async def get(self, name: str) -> bytes | None:
        rows = await self._store.select("sharing.file", {"name": name})
        return bytes(rows[0]["data"]) if rows else None

    async def drop(self, names: Iterable[str]) -> None:
        unit = Unit()
        unit.run("sharing.drop_files", names=dump(list(names)))
        await self._store.commit(unit)
