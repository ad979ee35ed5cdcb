"""What was held since a restore goes on in a fleet, at whoever holds its session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.admin.ledger_admin import LedgerAdmin
from gateway.storage.ledger.rows import run_alone
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.doors import Door
from tests.kit.gateways import gateway_of, tape_of
from tests.scenarios.shared import KEPT, said, until

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize("count", [3, 250])
async def test_what_another_process_lets_go_on_is_placed_once_and_in_order_by_the_holder(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, count: int
) -> None:
    door, more = Door(), {"TAPE__URL": tape_url, "WORKSPACE": str(tmp_path), **KEPT}
    talk = [replace(said(f"said {n}", n), addressed=False) for n in range(10, 10 + count)]
    async with (
        gateway_of(tmp_path / "one", model, door, **more) as one,
        gateway_of(tmp_path / "other", model, SHARING__ROLE="ingress", **more) as other,
    ):
        shared, store = one.services.shared, one.services.store
        assert shared is not None
        await one.parts.intake.accept([replace(said("first", 1), chat_id="b", addressed=False)])
        await door.came.wait()
        await one.parts.intake.accept(talk)
        await until(lambda: "web:lobby" in shared.held.by_id)
        await run_alone(store, "ledger.hold_inbox", why="a test asked for that")
        door.opened.set()
        await one.taken_in()
        assert await tape_of(one, "web:lobby").read() == []
        door.texts.clear()  # those that were planned, and not written
        desk = LedgerAdmin(other.services, other.parts.recovery, other.status.states)
        assert await desk.resume() == f"{count + 1} messages and 0 sends go on"
        await until(lambda: talk[-1].text in door.texts)
        await one.taken_in()
        entries = await tape_of(one, "web:lobby").read()
        waiting = await one.services.ledger.waiting.chats()
        asked = await store.select("sharing.open_controls", {"sessions": '["web:lobby"]'})
    texts = [entry.meta["text"] for entry in entries if "author" in entry.meta]
    assert texts == [one.text for one in talk]
    assert (waiting, asked) == ([], [])
