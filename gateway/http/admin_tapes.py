"""The operator's tapes over HTTP, for `tapeway tape` beside a running gateway."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
from anyio import open_file
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from gateway.admin.tape_admin import TapeAdmin
from gateway.admin.tape_import import told_import
from gateway.errors import AdminError
from tape.errors import TapeError


def tape_routes(desk: TapeAdmin, folder: Path) -> list[BaseRoute]:
    """Return the routes; who gets to them is decided before. Uploads wait in `folder`."""

    async def tapes(_request: Request) -> Any:
        return await desk.tapes()

    async def find(request: Request) -> Any:
        return {"tape": await desk.find(str((await _body(request)).get("name", "")))}

    async def entries(request: Request) -> Any:
        body = await _body(request)
        return await desk.entries(str(body.get("tape", "")), _conditions(body, "where"))

    async def search(request: Request) -> Any:
        body = await _body(request)
        tape, text = str(body.get("tape", "")), str(body.get("text", ""))
        return await desk.search(tape, text, _conditions(body, "how"))

    async def index_state(_request: Request) -> Any:
        return await desk.index_state()

    async def reindex(_request: Request) -> Any:
        return await desk.reindex()

    async def prompts(request: Request) -> Any:
        body = await _body(request)
        return await desk.prompts(str(body.get("tape", "")), str(body.get("turn", "")))

    async def take_in(request: Request) -> Response:
        wanted = request.query_params
        number, name = tempfile.mkstemp(".jsonl", "import-", folder)
        os.close(number)
        try:
            async with await open_file(name, "wb") as spool:
                async for piece in request.stream():
                    await spool.write(piece)
        except BaseException:
            _discard(name)
            raise
        session, tape = wanted.get("session", ""), wanted.get("tape", "")
        told = told_import(desk, Path(name), session, tape, dry_run="dry_run" in wanted)
        return StreamingResponse(_lines(told, name), media_type="application/x-ndjson")

    return [
        Route("/api/tapes", _told(tapes)),
        Route("/api/tapes/find", _told(find), methods=["POST"]),
        Route("/api/tapes/entries", _told(entries), methods=["POST"]),
        Route("/api/tapes/search", _told(search), methods=["POST"]),
        Route("/api/tapes/index", _told(index_state)),
        Route("/api/tapes/index", _told(reindex), methods=["POST"]),
        Route("/api/tapes/prompts", _told(prompts), methods=["POST"]),
        Route("/api/tapes/import", take_in, methods=["POST"]),
    ]


async def _lines(told: AsyncIterator[dict[str, Any]], spool: str) -> AsyncIterator[bytes]:
    try:
        async for one in told:
            yield orjson.dumps(one) + b"\n"
    except (AdminError, TapeError) as refused:
        yield orjson.dumps({"error": str(refused)}) + b"\n"
    finally:
        _discard(spool)


def _discard(spool: str) -> None:
    Path(spool).unlink(missing_ok=True)


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = orjson.loads(await request.body())
    except ValueError as cause:
        raise AdminError("the request is no JSON") from cause
    if not isinstance(body, dict):
        raise AdminError("the request is no JSON object")
    return body


def _conditions(body: dict[str, Any], name: str) -> dict[str, Any]:
    found = body.get(name, {})
    if not isinstance(found, dict):
        raise AdminError(f"{name} is an object of conditions")
    return found


def _told(
    answer: Callable[[Request], Awaitable[Any]],
) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request))
        except AdminError as refused:
            return JSONResponse({"error": str(refused)}, status_code=422)

    return respond
