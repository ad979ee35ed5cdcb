"""Erasing from a store that fails for a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.erasing.eraser import AGAIN_SECONDS
from tape.entry import Entry
from tape.errors import StoreUnavailable
from tape.query import Query
from tests.clock import START, ManualClock
from tests.gateway.erasing.stage import SECRET, erased, hear, said
from tests.gateway.intake.test_access import Brings, PlainChannel
from tests.gateway.storage.test_split_store import BringsTapes, Tapes
from tests.gateways import gateway_of, tape_of

pytestmark = pytest.mark.anyio

OPEN = {"ACCESS__MODE": "open"}


class AwayOnce(Tapes):
    """Tapes that cannot be read when old entries are looked for the first time."""

    was_away = False

    async def query(self, query: Query) -> list[Entry]:
        if query.until and not self.was_away:
            self.was_away = True
            raise StoreUnavailable("the disk is away")
        return await super().query(query)


async def test_old_messages_are_erased_also_if_the_store_was_away_when_they_were_looked_for(
    tmp_path: Path,
) -> None:
    channel, tapes, clock = PlainChannel(), AwayOnce(""), ManualClock()
    async with gateway_of(tmp_path, None, BringsTapes(tapes), Brings(channel), **OPEN) as gateway:
        await hear(gateway, channel, said(1, SECRET))
    clock.jump(datetime.now(UTC) - START + timedelta(days=40))
    more = {**OPEN, "TAPE__KEEP_DAYS": '{"*": 30}'}
    async with gateway_of(tmp_path, None, BringsTapes(tapes), clock=clock, **more) as gateway:
        while not await gateway.services.ledger.erasures.read():
            await clock.advance(AGAIN_SECONDS)
        await erased(gateway)
        words = str([entry.payload for entry in await tape_of(gateway, "plain:-100").read()])
    assert (tapes.was_away, SECRET in words) == (True, False)
