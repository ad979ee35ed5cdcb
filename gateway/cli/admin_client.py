"""Reach ledger and tapes through the running gateway or, if none runs, through one started here.

Beside a running gateway, this imports next to nothing: a listing is there in a moment.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote, urlencode

from gateway.cli.reach.http_call import http_call, http_response
from gateway.cli.reach.known_home import KnownHome
from gateway.errors import AdminError, GatewayError
from gateway.home import Running, find_running

if TYPE_CHECKING:
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

Progress = dict[str, Any]


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


class RemoteAdmin:
    """Calls the running gateway over HTTP."""

    def __init__(self, found: Running) -> None:
        self._found = found

    async def call(self, name: str, /, **arguments: Any) -> Any:
        # Nothing else runs in a command, so it waits for the response without an event loop.
        method, path, field = _ROUTES[name]
        if "{name}" in path:
            path = path.format(name=quote(arguments.pop("name"), safe=""))
        if method == "GET":
            path, sent = f"{path}?{urlencode(arguments)}", None
        else:
            sent = arguments
        status, body = http_call(self._found, method, path, sent)
        _require_ok(status, body)
        return body[field] if field else body

    async def import_tape(
        self, path: Path, session: str, tape: str, *, dry_run: bool
    ) -> AsyncIterator[Progress]:
        wanted = {"session": session, "tape": tape, **({"dry_run": "1"} if dry_run else {})}
        where = f"/api/tapes/import?{urlencode(wanted)}"
        try:
            with (
                path.open("rb") as file,
                http_response(self._found, "POST", where, file) as response,
            ):
                if response.status != 200:
                    _require_ok(response.status, json.loads(response.read() or b"null"))
                for line in response:
                    progress: Progress = json.loads(line)
                    if "error" in progress:
                        raise AdminError(progress["error"])
                    yield progress
        except AdminError:
            raise
        except GatewayError as cause:
            raise GatewayError(
                f"{cause}. The file was imported completely or not at all: run the same command"
                " again to find out"
            ) from cause


def _require_ok(status: int, body: Any) -> None:
    if status == 422:
        raise AdminError(body["error"])
    if status != 200:
        raise GatewayError(f"the gateway answered with status {status}: is it another version?")


@asynccontextmanager
async def open_admin(settings: Settings | KnownHome) -> AsyncIterator[AdminClient]:
    """Connect to the running gateway in this home, or start one here without channels."""
    found = find_running(settings.home_path)
    if found is not None:
        yield RemoteAdmin(found)
    elif isinstance(settings, KnownHome):
        raise GatewayError("the gateway has just stopped: run the same command again")
    else:
        async with import_module("gateway.cli.reach.local_admin").local_admin(settings) as admin:
            yield admin
