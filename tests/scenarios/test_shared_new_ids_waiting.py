"""A group gets a new id in a fleet while messages under both ids wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.doors import Door
from tests.kit.gateways import gateway_of, tape_of
from tests.scenarios.shared import KEPT, said, until

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize(("old", "new"), [(5, 30), (5, 300), (250, 30), (250, 300)])
async def test_what_waits_under_both_ids_is_placed_once_and_in_order(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, old: int, new: int
) -> None:
    door, more = Door(), {"TAPE__URL": tape_url, **KEPT}
    before = [replace(said(f"before {n}", n), addressed=False) for n in range(10, 10 + old)]
    moved = replace(said("", 500), kind="change", change="migrated", to_chat="new")
    after = [
        replace(said(f"after {n}", n), chat_id="new", addressed=False)
        for n in range(600, 600 + new)
    ]
    async with gateway_of(tmp_path, model, door, **more) as only:
        accept, shared = only.parts.intake.accept, only.services.shared
        assert shared is not None
        await accept([replace(said("first", 1), chat_id="another", addressed=False)])
        await door.came.wait()
        await accept([*before, moved, *after])
        await until(lambda: {"web:lobby", "web:new"} <= shared.held.by_id.keys())
        door.opened.set()
        await until(lambda: only.services.aliases.get("web:new") == "web:lobby")
        await only.taken_in()
        entries = await tape_of(only, "web:lobby").read()
        waiting = await only.services.ledger.waiting.chats()
    texts = [entry.meta["text"] for entry in entries if "author" in entry.meta]
    assert waiting == []
    assert texts == [one.text for one in (*before, *after)]
