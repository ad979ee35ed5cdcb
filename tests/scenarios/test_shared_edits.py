"""Edits that ask where several processes share the work: one of them carries each out, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import InboundMessage
from tests.fakes.openai.server import FakeOpenAI
from tests.scenarios.shared import KEPT, answered, by_holder, expire, gateways, said, until

pytestmark = pytest.mark.postgresql


def aside(text: str, number: int) -> InboundMessage:
    return replace(said(text, number), addressed=False, why="said to the room")


def edit(text: str, number: int) -> InboundMessage:
    new = said(text, number)
    return replace(new, kind="edit", ext_id=f"{new.ext_id}/edit", edited=new.date)


@pytest.mark.parametrize("known", [True, False])
async def test_an_edit_that_two_gateways_accept_asks_once(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, *, known: bool
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        await both[0].parts.intake.accept([said("one", 1)])
        await answered(both[0], "lobby", 1)
        first, second = by_holder(both)
        if known:
            await first.parts.intake.accept([aside("two", 2)])
        await second.parts.intake.accept([edit("@bot two", 2)])
        await first.parts.intake.accept([edit("@bot two", 2)])
        entries = await answered(first, "lobby", 2)
        assert "@bot two" in str(model.requests[-1].body)
        assert len(model.requests) == 2
        assert sum(entry.name == "turn.start" for entry in entries) == 2


async def test_an_edit_asks_in_the_process_that_has_taken_the_session_over(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        await both[0].parts.intake.accept([said("one", 1), aside("two", 2)])
        await answered(both[0], "lobby", 1)
        first, second = by_holder(both)
        await expire(first)
        await until(lambda: second.services.claims.holds("web:lobby"))
        await first.parts.intake.accept([edit("@bot two", 2)])
        entries = await answered(second, "lobby", 2)
        assert "@bot two" in str(model.requests[-1].body)
        assert sum(entry.name == "turn.start" for entry in entries) == 2
