"""Processes that hear no notification of each other: each finds its work by looking for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.visitor import visit
from tests.postgres import url_of
from tests.scenarios.shared import running

pytestmark = pytest.mark.postgresql


async def test_without_any_notification_questions_drafts_and_stops_are_found_by_looking(
    model: FakeOpenAI, tape_url: str, tmp_path: Path
) -> None:
    # A notification stays in its database: whoever listens in another one hears nothing.
    deaf = {"SHARING__LISTEN_URL": url_of("postgres")}
    async with (
        running(tape_url, tmp_path, model, "ingress", "worker", **deaf) as (ingress, worker),
        visit(ingress.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("Half ", "and half."), gate=asyncio.Event()), Text(("Whole.",)))
        first = await alice.say("What is it?")  # nobody holds the chat yet
        assert (await alice.draft(first))["text"] == "Half "
        assert worker.gateway.services.claims.holds("web:lobby")
        second = await alice.say("And what else?")  # the worker holds it
        assert await alice.stop()
        assert "Stopped" in (await alice.answer(first))["text"]
        assert (await alice.answer(second))["text"] == "Whole."
