"""What `/metrics` looks up: open rows, also those of channels that are turned off, and how fast."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import apsw

import gateway.storage.ledger
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.metrics.scraping import key, scrape
from tests.kit.chats import open_group
from tests.kit.gateways import gateway_of
from tests.kit.plain_channels import MESSAGE

SQL = Path(gateway.storage.ledger.__file__).parent / "sql" / "sqlite"


async def test_what_is_open_of_a_channel_that_is_turned_off_counts_as_other(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Text(("never", "said"), gate=asyncio.Event()))
    more = {"ACCESS__MODE": "open"}
    async with open_group(tmp_path, model) as group:
        await group.accept(MESSAGE)
        await group.gateway.taken_in()
        before = await scrape(group.gateway.url)
    async with gateway_of(tmp_path, model, **more) as running:
        after = await scrape(running.url)
    assert before[key("tapeway_inbox_messages", channel="plain")] == 1
    assert key("tapeway_inbox_messages", channel="other") not in before
    assert after[key("tapeway_inbox_messages", channel="other")] == 1
    assert after[key("tapeway_inbox_oldest_seconds", channel="other")] > 0
    assert key("tapeway_channel_up", channel="plain") not in after
    assert key("tapeway_edits_total", channel="plain") not in after


def test_no_scrape_reads_the_rows_that_have_ended() -> None:
    with apsw.Connection(":memory:") as database:
        for path in sorted(SQL.glob("0*.sql")):
            database.execute(path.read_text())
        text = (SQL / "statements_metrics.sql").read_text()
        statements = dict(
            re.findall(r"-- name: (open_\w+)\n(.*?)(?=\n-- name|\Z)", text, re.DOTALL)
        )
        plans = {
            name: database.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()[0][3]
            for name, sql in statements.items()
        }
    assert plans == {
        "open_messages": "SCAN inbox USING INDEX inbox_open",
        "open_sends": "SCAN outbox USING INDEX outbox_open",
    }
