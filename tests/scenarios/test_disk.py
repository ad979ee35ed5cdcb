"""A full disk: what is under way is finished, nothing new is taken, and it resumes by itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import every, gateway_of
from tests.kit.needs import DISK
from tests.kit.visitor import visit
from tests.kit.waiting import Patience


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        if os.environ.get("TAPEWAY_TEST_DISK") == "required":
            pytest.fail(f"no small disk can be mounted: {mounted.stderr.decode()}")
        pytest.skip(DISK)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write until nothing more can be written."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4096):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


async def test_d7_a_full_disk_finishes_what_runs_takes_nothing_new_and_recovers(
    model: FakeOpenAI, small_disk: Path
) -> None:
    gate = asyncio.Event()
    async with (
        gateway_of(
            small_disk, model, internals=every(probe=0.05), TAPE__DISK_RESERVE="2000000"
        ) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("half ", "whole"), gate=gate))
        asked = await alice.say("under way")
        await alice.draft(asked)
        filler = await anyio.to_thread.run_sync(fill, small_disk)
        gate.set()
        assert (await alice.answer(asked))["text"] == "half whole"
        for _ in range(200):  # what is left in the log's allocated pages is used up first
            refused = await alice.try_to_say("x" * 4000)
            if refused.status_code == 503:
                break
        assert refused.status_code == 503
        ready = await alice.ready()
        assert ready.status_code == 503
        assert "the disk is full" in ready.json()["store"]["why"]
        filler.unlink()
        patience = Patience("the gateway is ready again")
        while (await alice.ready()).status_code != 200:
            await patience.pause()
        answer = await alice.answer(await alice.say("there is room again"))
        assert "there is room again" in answer["text"]
    assert (small_disk / "ballast").stat().st_size == 2_000_000
