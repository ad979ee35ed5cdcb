"""Enter asks at once on the page, and what somebody adds to a waiting question is asked with it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import apsw
from anyio.lowlevel import checkpoint

from gateway.app import Gateway
from gateway.explain.explainer import Explainer
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import erased
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of, gateway_process, make_environ, settled, tape_of
from tests.kit.visitor import visit
from tests.kit.waiting import Patience


async def row_of(gateway: Gateway, message_id: str) -> str:
    """Return the number of a message's row, as explanations name it."""
    values = {"account_id": "web", "chat_id": "lobby", "message_id": message_id, "limit": 1}
    (row,) = await gateway.services.store.select("ledger.told_chat_message", values)
    return f"in-{row['id']}"


async def test_enter_asks_at_once_while_platforms_wait_for_the_rest_of_a_burst(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    clock, gate = ManualClock(), asyncio.Event()
    async with (
        gateway_of(tmp_path, model, clock=clock, BUFFER__DEBOUNCE="60") as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("It is ", "blue."), gate=gate))
        asked = await alice.say("What color is it?")
        assert (await alice.draft(asked))["text"] == "It is "  # and no time has passed
        gate.set()
        assert (await alice.answer(asked))["text"] == "It is blue."


async def test_the_explanation_of_each_message_names_those_that_it_was_asked_with(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        model.enqueue(Text(("The first ", "answer."), gate=gate), Text(("To both.",)))
        first = await alice.say("What color is the kettle?")
        await alice.draft(first)
        second = await alice.say("And the lid of it?", reply_to=first)
        third = await alice.say("And its handle?", reply_to=first)
        await gateway.taken_in()
        gate.set()
        assert (await alice.answer(third))["text"] == "To both."
        await settled(gateway)
        assert len(model.requests) == 2
        explainer = Explainer(gateway.services.store, gateway.services.redactor)
        story = [await explainer.explain(one) for one in (first, second, third)]
        told = [[line.says for line in one.lines if line.about == "together"] for one in story]
        number = {one: await row_of(gateway, one) for one in (second, third)}
        assert told == [
            [],
            [f"asked together with {number[third]}, and answered at once with it"],
            [f"asked together with {number[second]}, and answered at once with it"],
        ]
        answers = [event["message"]["text"] for event in alice.of_type("message")]
        assert answers.count("To both.") == 1


async def test_of_messages_that_wait_together_one_is_erased_and_the_other_is_answered(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        model.enqueue(Text(("The first ", "answer."), gate=gate), Text(("To the other.",)))
        first = await alice.say("What color is the kettle?")
        await alice.draft(first)
        await alice.say("My password is swordfish", reply_to=first)
        third = await alice.say("And its handle?", reply_to=first)
        await gateway.taken_in()
        entries = await tape_of(gateway).read()
        (secret,) = [one.id for one in entries if "swordfish" in one.text]
        eraser = gateway.parts.eraser
        tape = tape_of(gateway).name
        await eraser.begin(what="message", tape=tape, entries=(secret,), asked_by="operator")
        while any("swordfish" in one.text for one in await tape_of(gateway).read()):
            await checkpoint()
        gate.set()  # the erasure's second look waits for the running turn
        await erased(gateway)
        assert (await alice.answer(third))["text"] == "To the other."
        assert "swordfish" not in str(model.requests[-1].body)
        await settled(gateway)


def rows_of(home: Path) -> list[tuple[object, ...]]:
    """Return the status of each message, as another process sees it."""
    with closing(apsw.Connection(str(home / "tapeway.db"))) as connection:
        return list(connection.execute("SELECT status FROM inbox ORDER BY id"))


async def test_after_a_kill_what_waited_together_is_asked_together(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with (
        gateway_process(make_environ(tmp_path / "home", model), tmp_path / "home") as process,
        visit(await process.url(), "Alice") as (alice,),
    ):
        model.enqueue(Text(("The first ", "answer."), gate=gate))
        first = await alice.say("What color is the kettle?")
        await alice.draft(first)
        for text in ("And the lid of it?", "And its handle?"):
            await alice.say(text, reply_to=first)
        patience = Patience("both questions wait")
        while rows_of(tmp_path / "home") != [("taken",), ("waiting",), ("waiting",)]:
            await patience.pause()
        await process.kill()
    model.enqueue(Text(("It is blue.",)), Text(("To both.",)))
    async with gateway_of(tmp_path / "home", model) as gateway:
        await settled(gateway)
        said = [e for e in await tape_of(gateway).read() if e.name == "turn.start"]
        assert [len(one.payload["data"]["takes"]) for one in said] == [1, 2]
        assert len(model.requests) == 3
