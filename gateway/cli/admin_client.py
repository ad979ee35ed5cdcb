"""Reach ledger and tapes through the running gateway or, if none runs, through one started here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import httpx2
import orjson
from anyio import open_file

from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.admin.tape_admin import Progress, TapeAdmin
from gateway.app import Gateway, access_admin, running_gateway
from gateway.cli.chat.chat_client import client_of
from gateway.errors import AdminError, GatewayError
from gateway.home import find_running
from gateway.settings import Settings

_ROUTES: Final = {
    "access.rules": ("GET", "/api/access", ""),
    "access.grant": ("POST", "/api/access/grant", "done"),
    "access.revoke": ("POST", "/api/access/revoke", "done"),
    "access.pair": ("POST", "/api/access/pair", ""),
    "ledger.rows": ("GET", "/api/ledger", ""),
    "ledger.usage": ("GET", "/api/usage", ""),
    "ledger.show": ("GET", "/api/ledger/{name}", ""),
    "ledger.retry": ("POST", "/api/ledger/{name}/retry", "done"),
    "ledger.resume": ("POST", "/api/ledger/resume?row={name}", "done"),
    "ledger.drop": ("POST", "/api/ledger/{name}/drop", "done"),
    "tapes.tapes": ("GET", "/api/tapes", ""),
    "tapes.find": ("POST", "/api/tapes/find", "tape"),
    "tapes.entries": ("POST", "/api/tapes/entries", ""),
    "tapes.search": ("POST", "/api/tapes/search", ""),
    "tapes.prompts": ("POST", "/api/tapes/prompts", ""),
    "tapes.rewind": ("POST", "/api/tapes/rewind", ""),
    "tapes.reindex": ("POST", "/api/tapes/index", ""),
    "erasures.begin": ("POST", "/api/erasures", ""),
    "erasures.state": ("GET", "/api/erasures/{name}", ""),
    "erasures.mentions": ("GET", "/api/erasures", ""),
    "tapes.index_state": ("GET", "/api/tapes/index", ""),
}
"""Maps each call to its HTTP method, path and result field; "" stands for the whole body."""

_PIECE_BYTES: Final = 1024 * 1024


class AdminClient(Protocol):
    """What an operator's command uses: calls methods of the admins by name."""

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Call `access.NAME`, `erasures.NAME`, `ledger.NAME` or `tapes.NAME`; raises AdminError."""
        ...

    def import_tape(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncIterator[Progress]:
        """Import a file; see `TapeAdmin.import_tape`."""
        ...


class LocalAdmin:
    """Calls a gateway in this process."""

    def __init__(self, gateway: Gateway) -> None:
        services = gateway.services
        self._tapes = TapeAdmin(services)
        self._parts: dict[str, object] = {
            "access": access_admin(gateway),
            "erasures": EraseAdmin(services, gateway.parts.eraser),
            "ledger": LedgerAdmin(services, None),
            "tapes": self._tapes,
        }

    async def call(self, name: str, /, **arguments: Any) -> Any:
        part, _, method = name.partition(".")
        return await getattr(self._parts[part], method)(**arguments)

    def import_tape(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncIterator[Progress]:
        return self._tapes.import_tape(path, session, tape, dry_run=dry_run)


class RemoteAdmin:
    """Calls the running gateway over HTTP."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def call(self, name: str, /, **arguments: Any) -> Any:
        method, path, field = _ROUTES[name]
        if "{name}" in path:
            path = path.format(name=arguments.pop("name"))
        sent: dict[str, Any] = {"params" if method == "GET" else "json": arguments}
        try:
            response = await self._client.request(method, path, **sent)
        except httpx2.HTTPError as cause:
            why = f"the gateway of this home does not answer ({type(cause).__name__})"
            raise GatewayError(why) from cause
        if response.status_code == 422:
            raise AdminError(response.json()["error"])
        _require_ok(response)
        return response.json()[field] if field else response.json()

    async def import_tape(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncIterator[Progress]:
        wanted = {"session": session, "tape": tape, **({"dry_run": "1"} if dry_run else {})}
        try:
            async with self._client.stream(
                "POST", "/api/tapes/import", params=wanted, content=_pieces(path)
            ) as response:
                if response.status_code == 422:
                    raise AdminError(orjson.loads(await response.aread())["error"])
                _require_ok(response)
                async for line in response.aiter_lines():
                    progress: Progress = orjson.loads(line)
                    if "error" in progress:
                        raise AdminError(progress["error"])
                    yield progress
        except httpx2.HTTPError as cause:
            raise GatewayError(
                f"the gateway of this home stopped answering ({type(cause).__name__}): the file was"
                " imported completely or not at all; run the same command again to find out"
            ) from cause


def _require_ok(response: httpx2.Response) -> None:
    status = response.status_code
    if status != 200:
        raise GatewayError(f"the gateway answered with status {status}: is it another version?")


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    async with await open_file(path, "rb") as file:
        while piece := await file.read(_PIECE_BYTES):
            yield piece


@asynccontextmanager
async def open_admin(settings: Settings) -> AsyncIterator[AdminClient]:
    """Connect to the running gateway in this home, or start one here without channels."""
    found = find_running(settings.home_path)
    if found is not None:
        async with client_of(found) as client:
            yield RemoteAdmin(client)
        return
    async with running_gateway(settings, only=[], http=False) as gateway:
        yield LocalAdmin(gateway)
