"""The operator's tapes: how one is named, what may be asked, and who gets to them over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.admin.tape_admin import TapeAdmin
from gateway.app import Gateway
from gateway.errors import AdminError
from tape.entry import message
from tests.kit.gateways import gateway_of

JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway_of(tmp_path) as gateway:
        yield gateway


async def test_a_tape_is_named_by_its_session_its_name_or_the_beginning_of_that(
    gateway: Gateway,
) -> None:
    desk = TapeAdmin(gateway.services)
    tape = gateway.services.tapes.session_tape("telegram:-1")
    await tape.append(message("user", "a"))
    await desk.know("telegram:-1")
    for name in ("own/one", "own/two"):
        await gateway.services.store.append(name, [message("user", "b")])
    fork = await tape.fork()
    gateway.services.aliases["telegram:-100"] = "telegram:-1"
    for called in ("telegram:-1", "telegram:-100", tape.name, tape.name[:6]):
        assert await desk.find(called) == tape.name
    assert await desk.find(fork.name[:-2]) == fork.name
    assert await desk.find("own/o") == "own/one"
    rows = {row["tape"]: row for row in await desk.tapes()}
    assert rows[tape.name]["session"] == "telegram:-1"
    assert (rows["own/one"]["session"], rows["own/one"]["entries"]) == ("", 3)
    for called in ("own/", "", "nothing", "telegram:-2", "\ud800", "x" * 100_000):
        with pytest.raises(AdminError):
            await desk.find(called)


@pytest.mark.parametrize(
    "where",
    [
        {"limit": "5"},
        {"limit": True},
        {"kinds": "message"},
        {"authors": [1]},
        {"since": 5},
        {"newest": 1},
        {"tape": "other"},
        {"limit": 10**9},
        {"after_anchor": "nowhere"},
        {"until": "soon"},
    ],
    ids=str,
)
async def test_conditions_that_are_none_are_refused_in_a_sentence(
    gateway: Gateway, where: dict[str, Any]
) -> None:
    await gateway.services.store.append("t", [message("user", "a")])
    with pytest.raises(AdminError, match=r"[a-z]+ .*"):
        await TapeAdmin(gateway.services).entries("t", where)
    with pytest.raises(AdminError, match=r"[a-z]+ .*"):
        await TapeAdmin(gateway.services).search("t", "a", where)


@pytest.mark.parametrize(
    "room", ["x/../y", "a b\n...", "x" * 81, "🍐" * 41, " x", " ", ".", "..", "\ud800", "\u202e"]
)
async def test_a_rewind_begins_no_room_that_the_page_cannot_open(
    gateway: Gateway, room: str
) -> None:
    tape = gateway.services.tapes.session_tape("telegram:-1")
    await tape.append(message("user", "a"))
    before = await gateway.services.store.tapes()
    with pytest.raises(AdminError, match=r"a room's name has at most 80 .*"):
        await TapeAdmin(gateway.services).rewind(tape.name, "session/start", room)
    assert await gateway.services.store.tapes() == before


@pytest.mark.parametrize("room", ["a b", "梨 & fig", "x" * 80, "🍐" * 40])
async def test_a_rewind_begins_any_room_that_the_page_can_open(gateway: Gateway, room: str) -> None:
    tape = gateway.services.tapes.session_tape("telegram:-1")
    await tape.append(message("user", "a"))
    done = await TapeAdmin(gateway.services).rewind(tape.name, "session/start", room)
    assert done["session"] == f"web:{room}"


async def test_over_http_bodies_are_checked_and_strangers_kept_out(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, HTTP__TOKEN="a-long-token-of-the-page") as gateway:
        async with httpx2.AsyncClient(
            base_url=gateway.url, trust_env=False, timeout=60
        ) as stranger:
            for path in ("", "/find", "/entries", "/index", "/prompts", "/search", "/import"):
                method = "POST" if path else "GET"
                assert (await stranger.request(method, f"/api/tapes{path}")).status_code == 401
    async with gateway_of(tmp_path) as gateway:
        async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as client:
            for body in (b"", b"[]", b"{", b'{"where": 5}', b'{"tape": "x", "how": []}'):
                for path in ("find", "entries", "prompts", "search"):
                    response = await client.post(f"/api/tapes/{path}", content=body, headers=JSON)
                    assert response.status_code in (200, 422)
            told = await client.post("/api/tapes/import", params={"tape": "x"}, content=b"no\n")
            assert "is not a tape" in told.json()["error"]
            nowhere = await client.post("/api/tapes/import", content=b"no\n")
            assert "name the target" in nowhere.json()["error"]
    assert _uploads(tmp_path) == []


def _uploads(folder: Path) -> list[Path]:
    return list(folder.glob("import-*"))
