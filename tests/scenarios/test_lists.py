"""What came with a message is shown wherever messages are listed, until it is erased."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import httpx2

from channels.message import Excerpt, Media, Quote
from gateway.console.chats import key_of
from gateway.home import find_running
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import CHAT
from tests.kit.chats import open_group
from tests.kit.gateways import make_environ, run_tapeway
from tests.kit.plain_channels import MESSAGE
from tests.kit.visitor import Visitor, visit

KEY: Final = key_of(CHAT)
HALL: Final = "The hall costs 300."
PHOTO: Final = Media("image", "photo", width=640, height=480)
SAID: Final = replace(
    MESSAGE,
    text="which one?",
    quote=Quote("Eve", "9", "", media=(PHOTO,)),
    excerpts=(Excerpt("forwarded message", HALL, "Zed", "8"),),
    omitted=("3 files",),
)
SHOWN: Final = (HALL, "forwarded message of", "photo, 640x480", "left out: 3 files")
SCREENS: Final = (f"tape/{KEY}/page?at=3", f"tape/{KEY}/steps", "messages?text=which")
COMMANDS: Final = (
    ("tape", "show", CHAT),
    ("tape", "search", CHAT, "which"),
    ("tape", "export", CHAT),
    ("explain", "in-1"),
)


async def screens_of(client: httpx2.AsyncClient) -> dict[str, str]:
    """Return what the console's screens show of the group."""
    return {path: (await client.get(f"/api/console/{path}")).text for path in SCREENS}


async def printed(home: Path) -> dict[str, str]:
    """Return what the commands print of the group."""
    environ = make_environ(home)
    return {" ".join(one): (await run_tapeway(environ, *one))[1] for one in COMMANDS}


async def histories(client: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """Return the past of the room `copy` as the page and the terminal are given it."""
    found = {}
    async with visit(url, "Ann", room="copy") as (ann,):
        found["page"] = str(ann.of_type("history"))
    async with anyio.create_task_group() as tasks:
        there = Visitor(client, "copy", "Ann", "/api/terminal")
        await tasks.start(there.listen)
        found["terminal"] = str(there.of_type("history"))
        tasks.cancel_scope.cancel()
    return found


async def test_h1_what_came_with_a_message_is_on_every_list_until_it_is_erased(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Text(("The barn.",)))
    environ, file = make_environ(tmp_path), str(tmp_path / "out.jsonl")
    async with open_group(tmp_path, model) as group:
        await group.hear(SAID)
        running, url = find_running(tmp_path), group.gateway.url
        assert running is not None
        token = {"Authorization": f"Bearer {running.token}"}
        async with httpx2.AsyncClient(base_url=url, trust_env=False, headers=token) as client:
            before = await screens_of(client) | await printed(tmp_path)
            await run_tapeway(environ, "tape", "export", CHAT, file)
            for room in ("web:copy", "cli:copy"):
                await run_tapeway(environ, "tape", "import", file, "--session", room)
            before |= await histories(client, url)
            await run_tapeway(environ, "tape", "erase", "--person", "plain:8", "--yes")
            after = await screens_of(client) | await printed(tmp_path)
    lost = [(place, word) for place, text in before.items() for word in SHOWN if word not in text]
    assert lost == []
    left = [(place, word) for place, text in after.items() for word in SHOWN if word in text]
    assert left == [(place, "photo, 640x480") for place in after]
