"""The admins of a gateway that a command starts in its own process, without channels."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.admin.tape_admin import Progress, TapeAdmin
from gateway.app import Gateway, access_admin, running_gateway
from gateway.backup.migration import is_outdated
from gateway.doctor.database_troubles import DATABASE_OLDER
from gateway.errors import GatewayError
from gateway.settings import Settings


@asynccontextmanager
async def local_admin(settings: Settings) -> AsyncIterator[LocalAdmin]:
    """Start a gateway in this process, and give its admins; raises GatewayError."""
    if is_outdated(settings):
        # A migration ends the way back to the older version, which no listing asks for.
        raise GatewayError(
            f"the database of {settings.home_path} was written by an older version."
            f" {DATABASE_OLDER.remedy}"
        )
    async with running_gateway(settings, only=[], http=False) as gateway:
        yield LocalAdmin(gateway)


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
