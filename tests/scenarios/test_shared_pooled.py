"""Gateways behind PgBouncer with transaction pooling, which cannot LISTEN."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.pgbouncer import NEEDED, pgbouncer
from tests.kit.visitor import visit
from tests.postgres import fresh_database
from tests.scenarios.shared import answered, gateways

pytestmark = [pytest.mark.postgresql, NEEDED]


@pytest.mark.parametrize("listens", [True, False], ids=["with a listen url", "by looking"])
async def test_gateways_behind_a_pooler_answer_once_and_stop_what_the_other_runs(
    tmp_path: Path, *, listens: bool
) -> None:
    with fresh_database() as url, pgbouncer(url) as pooled:
        more = {"SHARING__LISTEN_URL": url} if listens else {}
        async with (
            FakeOpenAI() as server,
            gateways(2, tmp_path, pooled, server, SHARING__LEASE="30", **more) as both,
        ):
            first, second = both
            for number in range(2):
                for at, room in ((first, "red"), (second, "green")):
                    async with visit(at.url, "Alice", room=room) as (alice,):
                        await alice.say(f"question {number}")
            for room in ("red", "green"):
                entries = await answered(first, room, 2)
                ends = Counter(
                    one.payload["data"]["status"] for one in entries if one.name == "turn.end"
                )
                assert ends == {"done": 2}
            server.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
            async with (
                visit(first.url, "Alice") as (alice,),
                visit(second.url, "Alice") as (again,),
            ):
                again.cookie = alice.cookie
                asked = await alice.say("what is it?")
                await alice.draft(asked)
                assert await again.stop()
                assert "Stopped" in (await alice.answer(asked))["text"]
