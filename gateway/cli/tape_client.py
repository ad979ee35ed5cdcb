"""The tapes as `tapeway tape` reaches them: in the running gateway, or opened by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import httpx2
import orjson
from anyio import open_file

from gateway.admin.tape_admin import TapeAdmin
from gateway.admin.tape_import import Told, told_import
from gateway.cli.admin_client import Remote, open_core
from gateway.errors import AdminError, GatewayError
from gateway.settings import Settings

_PATH: Final = "/api/tapes"
_PIECE: Final = 1024 * 1024

Line = dict[str, Any]


class Tapes(Protocol):
    """What both ways to the tapes offer; see `TapeAdmin`."""

    async def tapes(self) -> list[dict[str, Any]]: ...

    async def find(self, name: str) -> str: ...

    async def entries(self, tape: str, where: dict[str, Any]) -> list[Line]: ...

    async def search(self, tape: str, text: str, how: dict[str, Any]) -> list[Line]: ...

    async def reindex(self) -> dict[str, Any]: ...

    async def index_state(self) -> dict[str, Any]: ...

    async def prompts(self, tape: str, turn: str) -> list[dict[str, Any]]: ...

    def take_in(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncIterator[Told]: ...


class _LocalTapes(TapeAdmin):
    """The tapes of a gateway of our own."""

    def take_in(self, path: Path, session: str, tape: str, *, dry_run: bool) -> AsyncIterator[Told]:
        return told_import(self, path, session, tape, dry_run=dry_run)


class _RemoteTapes:
    """The tapes of the running gateway."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    async def tapes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._remote.ask("GET", _PATH)
        return found

    async def find(self, name: str) -> str:
        return str((await self._remote.ask("POST", f"{_PATH}/find", json={"name": name}))["tape"])

    async def entries(self, tape: str, where: dict[str, Any]) -> list[Line]:
        body = {"tape": tape, "where": where}
        found: list[Line] = await self._remote.ask("POST", f"{_PATH}/entries", json=body)
        return found

    async def search(self, tape: str, text: str, how: dict[str, Any]) -> list[Line]:
        body = {"tape": tape, "text": text, "how": how}
        found: list[Line] = await self._remote.ask("POST", f"{_PATH}/search", json=body)
        return found

    async def reindex(self) -> dict[str, Any]:
        return dict(await self._remote.ask("POST", f"{_PATH}/index"))

    async def index_state(self) -> dict[str, Any]:
        return dict(await self._remote.ask("GET", f"{_PATH}/index"))

    async def prompts(self, tape: str, turn: str) -> list[dict[str, Any]]:
        body = {"tape": tape, "turn": turn}
        found: list[dict[str, Any]] = await self._remote.ask("POST", f"{_PATH}/prompts", json=body)
        return found

    async def take_in(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncIterator[Told]:
        wanted = {"session": session, "tape": tape, **({"dry_run": "1"} if dry_run else {})}
        try:
            async with self._remote.client.stream(
                "POST", f"{_PATH}/import", params=wanted, content=_pieces(path)
            ) as response:
                if response.status_code != 200:
                    raise GatewayError(
                        f"the gateway answered with {response.status_code}: is it a newer one?"
                    )
                async for line in response.aiter_lines():
                    told: Told = orjson.loads(line)
                    if "error" in told:
                        raise AdminError(told["error"])
                    yield told
        except httpx2.HTTPError as cause:
            raise GatewayError(
                f"the gateway of this home does not answer any more ({type(cause).__name__}): the"
                " import was made whole or not at all; the same command again tells which"
            ) from cause


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    async with await open_file(path, "rb") as file:
        while piece := await file.read(_PIECE):
            yield piece


@asynccontextmanager
async def open_tapes(settings: Settings) -> AsyncIterator[Tapes]:
    """Give the tapes of the running gateway of this home, or of one of our own."""
    async with open_core(settings) as found:
        yield _RemoteTapes(found) if isinstance(found, Remote) else _LocalTapes(found)
