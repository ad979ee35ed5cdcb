"""What becomes of a chat that gets a new id while several gateways share the work."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Author, InboundMessage
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.hooks.specs import hookimpl
from gateway.settings.intervals import Intervals
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.postgres.store import PostgresStore
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, over
from tests.kit.mortal import MortalPart
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.scenarios.shared import KEPT, answered, by_holder, gateways, row_of, said, until

pytestmark = pytest.mark.postgresql


async def test_a_question_in_a_chat_that_was_only_a_new_id_of_another_is_answered(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as (first, second):
        model.enqueue(Text(("one",), gate=asyncio.Event()), Text(("two",)))
        async with visit(second.url, "Alice", room="new") as (alice,):
            asked = await alice.say("does anybody hear me?")
            await alice.draft(asked)
            moved = replace(said("it has a new id", 1), kind="change", change="migrated")
            await first.parts.intake.accept([replace(moved, to_chat="new")])
            await until(lambda: first.services.aliases.get("web:new") == "web:lobby")
            assert (await alice.answer(asked))["text"] == "two"


async def test_messages_that_wait_for_a_new_id_of_a_chat_are_answered_where_it_goes_on(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        async with visit(both[0].url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        first, second = by_holder(both)
        for gateway in (first, second):
            assert gateway.parts.claimer is not None
            gateway.parts.claimer.close()
        # Of two people: what one adds to a question that waits would be asked with it.
        waiting = [
            replace(said(f"to the new id {one}", one), chat_id="new", sender=Author(name, name))
            for one, name in ((2, "Dan"), (3, "Eve"))
        ]
        await first.parts.intake.accept(waiting)
        assert second.services.shared is not None
        assert len((await second.services.shared.sessions.claim(16)).claimed) == 1
        moved = replace(said("it has a new id", 1), kind="change", change="migrated", to_chat="new")
        await first.parts.intake.accept([moved, said("to the old id", 4)])
        entries = await answered(first, "lobby", 4)
    texts = [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
    assert Counter(texts) == dict.fromkeys(["one", "to the old id", *[m.text for m in waiting]], 1)


class Admits:
    """A plugin that notes what is taken in."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @hookimpl
    def admit_message(self, message: InboundMessage) -> None:
        self.texts.append(message.text)


async def test_what_waits_for_a_new_id_is_taken_in_once_if_the_answer_to_the_change_is_lost(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    schemas = [ledger_schema("postgres"), sharing_schema()]
    store = MortalPart(PostgresStore.open(tape_url, schemas))
    internals = replace(over(store), intervals=Intervals(first_retry=0.0))
    admits, more = Admits(), {"TAPE__URL": tape_url, **KEPT}
    async with gateway_of(tmp_path, model, admits, internals=internals, **more) as only:
        async with visit(only.url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        shared, claimer, accept = only.services.shared, only.parts.claimer, only.parts.intake.accept
        assert shared is not None
        assert claimer is not None
        claimer.close()
        dan, eve, fay = [
            replace(said(f"by {name}", number), chat_id="new", sender=Author(name, name))
            for number, name in ((2, "Dan"), (3, "Eve"), (4, "Fay"))
        ]
        await accept([dan, eve])
        goes_on = store.hold_answers(lambda held, _outcomes: "sharing.rekey" in held)
        store.lose_answer(lambda held: "sharing.rekey" in held)
        await accept([replace(said("", 1), kind="change", change="migrated", to_chat="new")])
        patience = Patience("the new id is in the database")
        while not await only.services.ledger.inbox.aliases():
            await patience.pause()  # the answer is in the database
        lobby = shared.held.by_id["web:lobby"]
        newest = lobby.newest
        await accept([fay])
        await until(lambda: lobby.newest > newest)
        goes_on.set()
        entries = await answered(only, "lobby", 4)
        await only.taken_in()
    once = dict.fromkeys(["one", "by Dan", "by Eve", "by Fay"], 1)
    assert Counter(entry.meta["text"] for entry in entries if "inbox" in entry.meta) == once
    assert Counter(admits.texts) == once


async def test_a_question_that_waits_for_its_turn_goes_on_with_its_chat_and_one_that_has_it_stays(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        async with visit(both[0].url, "Alice") as (bob,):
            await bob.answer(await bob.say("one"))
        first, second = by_holder(both)
        model.enqueue(Text(("never ", "said"), gate=asyncio.Event()))
        async with visit(second.url, "Carol", room="new") as (carol,):
            begun = await carol.say("this has begun")
            await carol.draft(begun)
            waits = await carol.say("this waits")
            admin = LedgerAdmin(second.services, second.parts.recovery)
            row = await row_of(admin, "waiting")
            moved = replace(said("it has a new id", 1), kind="change", change="migrated")
            await first.parts.intake.accept([replace(moved, to_chat="new")])
            assert (await carol.answer(waits))["text"]
            assert (await carol.answer(begun))["text"]
        rows = await second.services.store.select("ledger.list_inbox", {"status": "", "limit": 9})
        sessions = {one["text"]: one["session_id"] for one in rows}
        done = {f"in-{one['id']}": one["status"] for one in rows}
    assert (sessions["this has begun"], sessions["this waits"]) == ("web:new", "web:lobby")
    assert done[row] == "done"
