"""Stopped answers: the mark, and the text that stands before it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from gateway.turn.stopped import mark_final, stop_mark
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import visit


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("Ann-Marie O'Hara", "*Stopped by Ann-Marie O'Hara.*"),
        ("@everyone [x](http://a.example)", "*Stopped by everyone x http a example.*"),
        ("**\n**", "*Stopped.*"),
        ("", "*Stopped.*"),
        ("x" * 99, f"*Stopped by {'x' * 60}.*"),
    ],
)
def test_the_mark_names_who_stopped_it_without_markup(name: str, mark: str) -> None:
    assert stop_mark({"by": "7", "name": name}) == mark


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("half", "half\n\n*Stopped.*"),
        ("half **bold", "half **bold**\n\n*Stopped.*"),
        ("code:\n\n~~~py\nx = 1", "code:\n\n~~~py\nx = 1\n~~~\n\n*Stopped.*"),
        ("````md\n```\ninner", "````md\n```\ninner\n````\n\n*Stopped.*"),
        ("`````\n" + "```\n" * 9, "`````\n" + "```\n" * 9 + "`````\n\n*Stopped.*"),
        ("> ```\n> quoted", "> ```\n> quoted\n\n*Stopped.*"),
        ("```\nwhole\n```\n", "```\nwhole\n```\n\n*Stopped.*"),
        (" \n", "*Stopped.*"),
    ],
)
def test_the_mark_stands_outside_of_what_is_still_open(text: str, marked: str) -> None:
    assert mark_final(text, {}) == marked


def test_a_text_full_of_fences_is_marked_quickly() -> None:
    began = time.process_time()
    mark_final("`````\n" + "```\n" * 64_000, {})
    assert time.process_time() - began < 0.5  # about 10 ms; its square would be minutes


async def test_the_answer_of_a_turn_stopped_in_a_later_step_has_all_that_was_shown(
    gateway: Gateway, model: FakeOpenAI
) -> None:
    looks = ToolCalls((Call("a", "tape_info", "{}"),), ("I look.",))
    model.enqueue(looks, Text(("It is ", "never"), gate=asyncio.Event()))
    async with visit(gateway.url, "Alice") as (alice,):
        asked = await alice.say("how much is on it?")
        await alice.until(lambda e: "It is" in str(e.get("message", {}).get("text")))
        await alice.stop()
        answer = await alice.answer(asked)
    entries = await settled(gateway)
    async with visit(gateway.url, "Alice") as (alice,):
        (history,) = alice.of_type("history")
    assert answer["text"] == "I look.\n\nIt is\n\n*Stopped by Alice.*"
    assert history["messages"][-1]["text"] == answer["text"]
    said = [entry.text for entry in entries if entry.payload.get("role") == "assistant"]
    assert said == ["I look.", "It is\n\n*Stopped by Alice.*"]


class Shouts:
    """A plugin that renders answers, or fails to."""

    def __init__(self, fails: bool) -> None:
        self.fails = fails

    @hookimpl
    def render_outbound(self, model_output: str, **_values: Any) -> list[str]:
        if self.fails:
            raise RuntimeError("no voice")
        return [model_output.upper()]


@pytest.mark.parametrize(
    ("fails", "text"), [(False, "HALF\n\n*Stopped by Alice.*"), (True, "Stopped.")]
)
async def test_a_stopped_answer_is_rendered_by_the_plugins_as_any_other(
    model: FakeOpenAI, tmp_path: Path, fails: bool, text: str
) -> None:
    async with gateway_of(tmp_path, model, Shouts(fails)) as gateway:
        model.enqueue(Text(("half ", "never"), gate=asyncio.Event()))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("one")
            await alice.draft(asked)
            await alice.stop()
            assert (await alice.answer(asked))["text"] == text
        await settled(gateway)
