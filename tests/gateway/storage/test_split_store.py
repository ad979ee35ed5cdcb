"""A plugin's tapes with the ledger beside them: two stores, and a crash between the two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.storage.split import BringsTapes, Tapes
from tests.kit.chats import open_group
from tests.kit.clock import QuickClock
from tests.kit.gateways import names
from tests.kit.plain_channels import MESSAGE


@pytest.mark.parametrize("cut", ["message", "turn.start", "turn.end", "send.receipt"])
async def test_d1_a_crash_between_the_two_stores_ends_in_one_answer(
    model: FakeOpenAI, tmp_path: Path, cut: str
) -> None:
    tapes = Tapes(cut)
    plugin = BringsTapes(tapes)
    model.default = lambda _request: Text(("a plum",))
    async with open_group(tmp_path, model, plugin, clock=QuickClock()) as first:
        await first.accept(MESSAGE)
        await tapes.was_cut.wait()
    tapes.cut = ""
    async with open_group(tmp_path, model, plugin) as second:
        told = names(await second.settled())
        row = (await second.gateway.services.store.select("ledger.inbox_row", {"id": 1}))[0]
    assert row["status"] == "done"
    assert told.count("turn.end") == told.count("outbound") == 1
    assert told.count("turn.start") == 1
    assert told.count("send.receipt") == 1
    posts = [post.text for post in (*first.posts, *second.posts)]
    again = "(sent again after an interruption)\n\n" if cut == "send.receipt" else ""
    assert posts[-1] == f"{again}a plum"
    assert len(posts) == (2 if again else 1)
    assert len(model.requests) == 1


async def test_a_notice_and_a_command_s_answer_are_found_again_as_well(tmp_path: Path) -> None:
    tapes = Tapes("outbound")
    plugin = BringsTapes(tapes)
    help_ = replace(MESSAGE, text=",help")
    async with open_group(tmp_path, None, plugin, clock=QuickClock()) as first:
        await first.accept(help_)
        await tapes.was_cut.wait()
    tapes.cut = ""
    async with open_group(tmp_path, None, plugin) as second:
        told = names(await second.settled())
    assert told.count("outbound") == 1
    assert (len(first.posts), len(second.posts)) == (0, 1)
