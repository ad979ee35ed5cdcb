"""Images are kept once, wherever they are kept, and those of a database for every process."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from channels.message import Media
from gateway.sharing.schema import sharing_schema
from gateway.storage.kept_files import CHECKED_EACH, HomeFiles, KeptFiles, SharedFiles
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.postgres.store import PostgresStore
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.context.test_images import MediaChannel, image
from tests.gateway.erasing.stage import erased
from tests.gateway.intake.test_access import MESSAGE, Brings
from tests.gateways import gateway_of, settled
from tests.postgres import fresh_database

pytestmark = pytest.mark.anyio

MOST = 100_000
NAME = f"{hashlib.sha256(image()).hexdigest()}.png"


@pytest.fixture(params=["home", pytest.param("rows", marks=pytest.mark.postgresql)])
async def files(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeptFiles]:
    if request.param == "home":
        yield HomeFiles(tmp_path / "media", MOST)
        return
    with fresh_database() as url:
        store = PostgresStore.open(url, [ledger_schema("postgres"), sharing_schema()])
        try:
            yield SharedFiles(store, MOST)
        finally:
            await store.close()


async def test_one_image_kept_by_many_at_once_is_whole_until_it_is_dropped(
    files: KeptFiles,
) -> None:
    data = bytes(range(256)) * 200
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(files.put, "a.png", data)
    assert await files.get("a.png") == data
    await files.drop(["a.png", "never.png"])
    assert await files.get("a.png") is None


async def test_beyond_the_bound_the_oldest_images_go(files: KeptFiles) -> None:
    count = CHECKED_EACH + 2
    for number in range(count):
        await files.put(f"{number}.png", b"x" * (MOST // 10))
    kept = [number for number in range(count) if await files.get(f"{number}.png") is not None]
    assert kept[-1] == count - 1
    assert 10 <= len(kept) <= 12
    # Of those that came in one millisecond, either may be the older.
    assert set(range(kept[0] + 2, count)) <= set(kept)


@pytest.mark.postgresql
async def test_an_image_outlives_the_home_that_it_came_to_and_goes_with_its_chat(
    tmp_path: Path,
) -> None:
    shown = replace(MESSAGE, media=(Media("image", "photo", file="red"),))
    again = replace(MESSAGE, ext_id="-100/2", message_id="2", text="And now?")
    async with FakeOpenAI() as server:
        with fresh_database() as url:
            given = {"ACCESS__MODE": "open", "CONTEXT__MODE": "anchor", "TAPE__URL": url}
            for home, message in (("a", shown), ("b", again)):
                channel = MediaChannel({"red": image})
                async with gateway_of(tmp_path / home, server, Brings(channel), **given) as gateway:
                    await channel.host.accept([message])
                    while not channel.posts:  # the session has to be claimed first
                        await checkpoint()
                    await settled(gateway, "plain:-100")
                    if home == "b":
                        tape = gateway.services.tapes.session_tape("plain:-100").name
                        await gateway.parts.eraser.begin(what="chat", tape=tape, asked_by="owner")
                        await erased(gateway, 1)
                        store = gateway.services.store
                        assert await store.select("sharing.file", {"name": NAME}) == []
                assert not (tmp_path / home / "media").exists()
    assert "data:image/png;base64," in str(server.requests[-1].body["messages"])
