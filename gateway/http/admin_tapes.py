"""The tapes over HTTP, for `tapeway tape` while a gateway is running."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import orjson
from anyio import open_file
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.tape_admin import TapeAdmin
from gateway.errors import AdminError
from gateway.http.json_route import json_body, json_route
from tape.errors import TapeError

SPARE_BYTES: Final = 64 * 1024 * 1024
"""Free bytes that an import leaves to the gateway's other work."""


def tape_routes(admin: TapeAdmin, folder: Path) -> list[BaseRoute]:
    """Return the routes of `tapeway tape`; uploads go to `folder`. The guard checks access."""

    async def tapes(_request: Request) -> Any:
        return await admin.tapes()

    async def find(request: Request) -> Any:
        return {"tape": await admin.find(str((await json_body(request)).get("name", "")))}

    async def entries(request: Request) -> Any:
        body = await json_body(request)
        return await admin.entries(str(body.get("tape", "")), _conditions(body, "where"))

    async def search(request: Request) -> Any:
        body = await json_body(request)
        tape, text = str(body.get("tape", "")), str(body.get("text", ""))
        return await admin.search(tape, text, _conditions(body, "how"))

    async def index_state(_request: Request) -> Any:
        return await admin.index_state()

    async def reindex(_request: Request) -> Any:
        return await admin.reindex()

    async def prompts(request: Request) -> Any:
        body = await json_body(request)
        return await admin.prompts(str(body.get("tape", "")), str(body.get("turn", "")))

    async def rewind(request: Request) -> Any:
        body = await json_body(request)
        return await admin.rewind(*(str(body.get(name, "")) for name in ("tape", "to", "room")))

    async def import_file(request: Request) -> Response:
        wanted = request.query_params
        try:
            name = await _spool(request, folder)
        except AdminError as refused:
            return JSONResponse({"error": str(refused)}, status_code=422)
        session, tape = wanted.get("session", ""), wanted.get("tape", "")
        progress = admin.import_tape(Path(name), session, tape, dry_run="dry_run" in wanted)
        return StreamingResponse(_lines(progress, name), media_type="application/x-ndjson")

    return [
        json_route("/api/tapes", tapes),
        json_route("/api/tapes/find", find, "POST"),
        json_route("/api/tapes/entries", entries, "POST"),
        json_route("/api/tapes/search", search, "POST"),
        json_route("/api/tapes/index", index_state),
        json_route("/api/tapes/index", reindex, "POST"),
        json_route("/api/tapes/prompts", prompts, "POST"),
        json_route("/api/tapes/rewind", rewind, "POST"),
        Route("/api/tapes/import", import_file, methods=["POST"]),
    ]


def erase_routes(admin: EraseAdmin) -> list[BaseRoute]:
    """Return the routes of `tapeway tape erase`; the guard checks access."""

    async def begin(request: Request) -> Any:
        body = await json_body(request)
        return await admin.begin(*(str(body.get(name, "")) for name in ("what", "tape", "name")))

    async def state(request: Request) -> Any:
        return await admin.state(request.path_params["name"])

    async def mentions(_request: Request) -> Any:
        return await admin.mentions()

    return [
        json_route("/api/erasures", begin, "POST"),
        json_route("/api/erasures", mentions),
        json_route("/api/erasures/{name}", state),
    ]


async def _lines(progress: AsyncIterator[dict[str, Any]], spool: str) -> AsyncIterator[bytes]:
    try:
        async for note in progress:
            yield orjson.dumps(note) + b"\n"
    except (AdminError, TapeError) as refused:
        yield orjson.dumps({"error": str(refused)}) + b"\n"
    finally:
        _discard(spool)


async def _spool(request: Request, folder: Path) -> str:
    """Write the body of a request to a file, and return the file's name."""
    number, name = tempfile.mkstemp(".jsonl", "import-", folder)
    os.close(number)
    size = 0
    try:
        async with await open_file(name, "wb") as spool:
            async for piece in request.stream():
                size += len(piece)
                _require_room(folder, size)
                await spool.write(piece)
    except BaseException:
        _discard(name)
        raise
    return name


def _require_room(folder: Path, size: int) -> None:
    """Raise AdminError if the disk has no room to import a file of this size."""
    # The file stays until its entries are in the database, which then are about as large.
    if shutil.disk_usage(folder).free < size + SPARE_BYTES:
        raise AdminError(
            f"the disk of {folder} is too full to import this file: make room, and start again"
        )


def _discard(spool: str) -> None:
    Path(spool).unlink(missing_ok=True)


def _conditions(body: dict[str, Any], name: str) -> dict[str, Any]:
    found = body.get(name, {})
    if not isinstance(found, dict):
        raise AdminError(f"{name} must be an object of conditions")
    return found
