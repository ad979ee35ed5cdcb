"""A transaction whose outcome nobody heard is made again; what it said is sent once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.assembly import Internals
from tape.errors import StoreUnavailable
from tape.store import UnitStore
from tape.stores.registry import open_store
from tape.unit_of_work import Outcome, Run, Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import QuickClock
from tests.kit.gateways import gateway_of, names, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel


class Forgetful:
    """A store that, once, does what it is asked for with a statement and then says it did not."""

    def __init__(self, inner: UnitStore, statement: str) -> None:
        self._inner = inner
        self._statement = statement

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def commit(self, unit: Unit) -> list[Outcome]:
        outcomes = await self._inner.commit(unit)
        if any(isinstance(s, Run) and s.statement == self._statement for s in unit.steps):
            self._statement = ""
            raise StoreUnavailable("the connection was lost after the commit")
        return outcomes


@pytest.mark.parametrize(
    "statement",
    ["ledger.taken_in", "ledger.take", "ledger.send_later", "ledger.sending", "ledger.sent"],
)
@pytest.mark.parametrize("text", ["what is it?", ",help"])
async def test_d1_a_commit_that_was_made_all_the_same_is_made_again_and_sent_once(
    model: FakeOpenAI, tmp_path: Path, statement: str, text: str
) -> None:
    how: dict[str, Any] = {
        "clock": QuickClock(),
        "internals": Internals(open_store=lambda *at: Forgetful(open_store(*at), statement)),
    }
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), **how, ACCESS__MODE="open") as gateway:
        # The clock lets the channel end at once: it is heard before.
        await gateway.parts.intake.accept([replace(MESSAGE, text=text)])
        entries = await settled(gateway, "plain:-100")
        told = names(entries)
    assert len(channel.posts) == 1
    assert told.count("send.receipt") == told.count("outbound") == 1
    assert len(model.requests) == (0 if text == ",help" else 1)


async def test_b7_what_is_told_once_a_day_is_sent_once_though_it_still_waits(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        said = [replace(MESSAGE, ext_id=f"-100/{n}", message_id=str(n)) for n in range(3)]
        await channel.host.accept(said)
        await settled(gateway, "plain:-100")
    assert len(channel.posts) == 1
