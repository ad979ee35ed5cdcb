"""Erasing a message, a person or a chat from a gateway, to the last byte."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from channels.message import InboundMessage
from gateway.cli.explain.way import way_of
from gateway.explain.explainer import Explainer
from gateway.storage.erasures import Erasure
from tape.erasing import erased_on
from tape.search.semantic import SemanticIndex
from tape.search.vector_file import VectorFile
from tape.unit_of_work import Unit
from tests.fakes.openai.embeddings import embeddings_server, hashed
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import (
    ANN,
    BOB,
    CHAT,
    MARKS,
    SECRET,
    asked_of,
    erased,
    hear,
    holding,
    said,
)
from tests.kit.clock import START, ManualClock
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.plain_channels import Brings, PlainChannel
from tests.tape.search.hashing import caught_up

TAPES = {"database": {}, "files": {"TAPE__URL": "file://{home}/tapes"}}


@pytest.fixture(params=sorted(TAPES))
def more(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    urls = {name: url.format(home=tmp_path) for name, url in TAPES[request.param].items()}
    return {**urls, "ACCESS__MODE": "open"}


TALK = (
    said(1, SECRET),
    said(2, "what was that?", BOB, to=1, quote=SECRET),
    said(3, "nothing of yours", BOB, addressed=False),
)


async def test_a_person_is_erased_from_every_file_and_others_stay(
    tmp_path: Path, more: dict[str, str]
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
        before = await hear(gateway, channel, *TALK)
        assert holding(tmp_path)
        eraser = gateway.parts.eraser
        await eraser.begin(what="person", channel="plain", person=ANN.id, asked_by="operator")
        await erased(gateway)
        assert holding(tmp_path, *MARKS, ANN.name) == []
        after = await tape_of(gateway, CHAT).read()
        assert [(e.id, e.kind, e.date) for e in after[: len(before)]] == [
            (e.id, e.kind, e.date) for e in before
        ]
        assert [e.meta["text"] for e in after if e.meta.get("author") == BOB.id] == [
            "what was that?",
            "nothing of yours",
        ]
        assert after[-1].name == "erase"
        assert after[-1].payload["data"]["what"] == "person"
        await tape_of(gateway, CHAT).full_context()
        answered = len(channel.posts)
        await hear(gateway, channel, said(9, "still there?", BOB))
        assert len(channel.posts) == answered + 1
    assert holding(tmp_path, *MARKS, ANN.name) == []


async def test_one_message_goes_with_its_edits_and_quotes_and_does_not_come_back(
    model: FakeOpenAI, tmp_path: Path, more: dict[str, str]
) -> None:
    channel = PlainChannel()

    def edit(text: str) -> InboundMessage:
        return replace(
            TALK[0], kind="edit", ext_id=f"-100/1/{len(text)}", text=text, addressed=False
        )

    async with gateway_of(tmp_path, model, Brings(channel), **more) as gateway:
        model.enqueue(*[Text(("all right",)) for _ in range(9)])
        kept = said(4, "Ann says something harmless")
        entries = await hear(gateway, channel, TALK[0], edit(f"{SECRET} now"), TALK[1], kept)
        (number,) = [e.id for e in entries if e.meta.get("text") == SECRET]
        tape = tape_of(gateway, CHAT).name
        eraser = gateway.parts.eraser
        await eraser.begin(what="message", tape=tape, entries=(number,), asked_by="operator")
        await erased(gateway)
        assert holding(tmp_path) == []
        await hear(gateway, channel, TALK[0], edit(f"{SECRET} again"))
        deletion = replace(edit(""), kind="delete", ext_id="-100/1/gone")
        entries = await hear(gateway, channel, deletion)
        assert holding(tmp_path) == []
        assert [e.meta["text"] for e in entries if e.meta.get("author") == ANN.id] == [
            "Ann says something harmless"
        ]
        said_by = await Explainer(gateway.services.store, gateway.services.redactor).explain("in-1")
        assert "erased on 20" in way_of(said_by.to_json())
        assert await tape_of(gateway, CHAT).search("zyzzogeton") == []


async def test_a_chat_is_erased_whole_and_can_go_on(tmp_path: Path, more: dict[str, str]) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
        other = replace(said(5, "elsewhere"), chat_id="-200", ext_id="-200/5")
        await hear(gateway, channel, *TALK, other)
        tape = tape_of(gateway, CHAT).name
        await gateway.parts.eraser.begin(what="chat", tape=tape, asked_by="operator")
        await erased(gateway)
        assert holding(tmp_path, *MARKS, "what was that", "nothing of yours") == []
        assert holding(tmp_path, "elsewhere")
        entries = await tape_of(gateway, CHAT).read()
        assert {e.name for e in entries if not erased_on(e)} == {"session/start", "erase"}
        await tape_of(gateway, CHAT).full_context()
        answered = len(channel.posts)
        await hear(gateway, channel, said(9, "hello again", BOB))
        assert len(channel.posts) == answered + 1


async def test_what_was_cut_off_is_finished_at_the_next_start(
    tmp_path: Path, more: dict[str, str]
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
        await hear(gateway, channel, *TALK)
        unit = Unit()  # on record, and the process ends
        erasure = Erasure("e1", "person", "person", channel="plain", person=ANN.id)
        gateway.services.ledger.erasures.begin(unit, erasure)
        await gateway.services.store.commit(unit)
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
        await erased(gateway)
        assert holding(tmp_path, *MARKS, ANN.name) == []
        (row,) = await gateway.services.ledger.erasures.read()
        assert (row["state"], row["data"]) == ("done", "{}")


async def test_vectors_of_what_is_erased_go_and_all_of_them_where_no_embedder_is_set(
    tmp_path: Path,
) -> None:
    async with embeddings_server() as server:
        found = {"SEARCH__BASE_URL": server.base_url, "SEARCH__API_KEY": server.key}
        more = {"ACCESS__MODE": "open", "SEARCH__EMBEDDER": "openai", **found}
        channel = PlainChannel()
        async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
            meaning = gateway.services.tapes.semantic
            assert isinstance(meaning, SemanticIndex)
            entries = await hear(gateway, channel, *TALK)
            await caught_up(meaning)
            spoken = {e.id for e in entries if e.meta.get("author") in (ANN.id, BOB.id)}
            assert spoken <= embedded(tmp_path, tape_of(gateway, CHAT).name)
            eraser = gateway.parts.eraser
            await eraser.begin(what="person", channel="plain", person=ANN.id, asked_by="operator")
            await erased(gateway)
            tape = tape_of(gateway, CHAT)
            gone = {e.id for e in await tape.read() if erased_on(e)}
            assert gone & spoken
            assert embedded(tmp_path, tape.name) & spoken == spoken - gone
    async with gateway_of(tmp_path, None, ACCESS__MODE="open") as gateway:
        await gateway.parts.eraser.begin(what="chat", tape=tape.name, asked_by="operator")
        await erased(gateway)
    assert not (tmp_path / "tapeway.db-vectors").exists()


def embedded(home: Path, tape: str) -> set[int]:
    """Return the entries of a tape that have a vector in a home's file."""
    file = VectorFile(home / "tapeway.db", "openai text-embedding-3-small 0")
    found = file.nearest(tape, hashed("anything"), before=2**32, limit=999)
    file.close()
    return {number for number, _score in found}


async def test_a_running_answer_to_it_is_stopped_and_its_question_is_gone(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model, Brings(channel), ACCESS__MODE="open") as gateway:
        model.enqueue(Text(("never", " said"), gate=gate))
        await channel.host.accept([said(1, SECRET)])
        await gateway.taken_in()
        await asked_of(model)
        await channel.host.accept([said(2, f"also {SECRET}")])
        await gateway.taken_in()
        eraser = gateway.parts.eraser
        await eraser.begin(what="person", channel="plain", person=ANN.id, asked_by="operator")
        await erased(gateway)
        gate.set()
        await gateway.idle()
        assert channel.posts == []
        assert holding(tmp_path) == []
        assert len(model.requests) == 1


async def test_old_messages_are_erased_where_the_setting_says_so(tmp_path: Path) -> None:
    channel, clock = PlainChannel(), ManualClock()
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE="open") as gateway:
        other = replace(said(5, "elsewhere"), chat_id="-200", ext_id="-200/5")
        await hear(gateway, channel, *TALK, other)
    clock.jump(datetime.now(UTC) - START + timedelta(days=40))
    more = {"ACCESS__MODE": "open", "TAPE__KEEP_DAYS": '{"plain:-100": 30}'}
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock, **more) as gateway:
        await erased(gateway, at_least=1)
        assert holding(tmp_path, *MARKS, "what was that") == []
        assert holding(tmp_path, "elsewhere")
