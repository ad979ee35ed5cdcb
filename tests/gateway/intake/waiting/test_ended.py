"""What was ended while it waits, where the database is away just when somebody looks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tape.errors import StoreUnavailable
from tape.unit_of_work import Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.intake.waiting.test_waiting import Door, held, talk, texts_of
from tests.kit.chats import open_group
from tests.kit.gateways import tape_of


async def test_a_database_that_is_away_for_a_moment_keeps_no_message_from_its_tape(
    model: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, said, away = Door(), talk("-2", range(1, 21)), [1]
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *said)
        store, inbox = group.gateway.services.store, group.gateway.services.ledger.inbox
        select, unit = store.select, Unit()
        rows = [row for row in await inbox.open_rows() if row.message.text == "-2 no 7"]
        inbox.end(unit, rows, "dropped", "somebody asked for that")
        await store.commit(unit)

        async def reads(name: str, values: Mapping[str, Any], *, long: bool = False) -> Any:
            if name == "ledger.still_accepted" and away:
                away.pop()
                raise StoreUnavailable("the database is away")
            return await select(name, values, long=long)

        monkeypatch.setattr(store, "select", reads)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert not away
    assert texts_of(entries) == [one.text for one in said if one.text != "-2 no 7"]
