"""Images are kept once, wherever they are kept, and those of a database for every process."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio.lowlevel import checkpoint

from channels.message import Media
from gateway.sharing.schema import sharing_schema
from gateway.storage.kept_files import (
    CHECKED_EACH,
    FRESH_SECONDS,
    HomeFiles,
    KeptFiles,
    SharedFiles,
)
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.postgres.store import PostgresStore
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import erased
from tests.kit.gateways import gateway_of, settled
from tests.kit.images import MediaChannel, image
from tests.kit.plain_channels import MESSAGE, Brings
from tests.postgres import fresh_database

MOST = 100_000
NAME = f"{hashlib.sha256(image()).hexdigest()}.png"


@dataclass(frozen=True)
class Shelf:
    """Where files are kept: `keeper` bounds them, `age` makes one older by so many seconds."""

    keeper: Callable[[int], KeptFiles]
    age: Callable[[str, float], None]


@pytest.fixture(params=["home", pytest.param("rows", marks=pytest.mark.postgresql)])
async def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelf]:
    if request.param == "home":
        folder = tmp_path / "media"

        def age_file(name: str, seconds: float) -> None:
            kept = (folder / name).stat().st_mtime - seconds
            os.utime(folder / name, (kept, kept))

        yield Shelf(lambda most: HomeFiles(folder, most), age_file)
        return
    with fresh_database() as url:
        store = PostgresStore.open(url, [ledger_schema("postgres"), sharing_schema()])

        def age_row(name: str, seconds: float) -> None:
            with psycopg.connect(url) as connection:
                sql = "UPDATE shared_file SET kept_at = utc_after(%s) WHERE name = %s"
                connection.execute(sql, (-seconds, name))

        try:
            yield Shelf(lambda most: SharedFiles(store, most), age_row)
        finally:
            await store.close()


@pytest.fixture
def files(shelf: Shelf) -> KeptFiles:
    return shelf.keeper(MOST)


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


async def put(shelf: Shelf, files: KeptFiles, names: Sequence[str]) -> None:
    """Keep files of a tenth of the bound each, so that each is older than the next one."""
    for number, name in enumerate(names):
        await files.put(name, b"x" * (MOST // 10))
        shelf.age(name, FRESH_SECONDS * (1 + len(names) - number))


async def left(files: KeptFiles, names: Sequence[str]) -> list[str]:
    return [name for name in names if await files.get(name) is not None]


async def test_beyond_the_bound_the_oldest_images_go_and_one_that_came_again_is_new(
    shelf: Shelf, files: KeptFiles
) -> None:
    names = [f"{number}.png" for number in range(CHECKED_EACH + 1)]
    await put(shelf, files, names)
    await files.put(names[0], b"x" * (MOST // 10))
    await files.put("last.png", b"x" * (MOST // 10))
    kept = await left(files, names)
    assert kept[0] == names[0]
    assert kept[-8:] == names[-8:]
    assert len(kept) <= 10


async def test_with_a_bound_of_nothing_only_fresh_images_stay(shelf: Shelf) -> None:
    files = shelf.keeper(0)
    names = [f"{number}.png" for number in range(CHECKED_EACH + 2)]
    await put(shelf, files, names[:2])
    for name in names[2:]:
        await files.put(name, b"x")
    assert await left(files, names) == names[2:]


async def test_a_folder_beside_the_images_of_a_home_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "media/own").mkdir(parents=True)
    os.utime(tmp_path / "media/own", (0, 0))
    await HomeFiles(tmp_path / "media", 0).put("a.png", b"x")
    assert sorted(path.name for path in (tmp_path / "media").iterdir()) == ["a.png", "own"]


@pytest.mark.postgresql
async def test_an_image_outlives_the_home_that_it_came_to_and_goes_with_its_chat(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    shown = replace(MESSAGE, media=(Media("image", "photo", file="red"),))
    again = replace(MESSAGE, ext_id="-100/2", message_id="2", text="And now?")
    with fresh_database() as url:
        given = {"ACCESS__MODE": "open", "CONTEXT__MODE": "anchor", "TAPE__URL": url}
        for home, message in (("a", shown), ("b", again)):
            channel = MediaChannel({"red": image})
            async with gateway_of(tmp_path / home, model, Brings(channel), **given) as gateway:
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
    assert "data:image/png;base64," in str(model.requests[-1].body["messages"])
