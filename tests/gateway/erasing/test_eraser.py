"""Erasing a message, a person or a chat from a gateway, to the last byte."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from channels.message import InboundMessage
from gateway.admin.erase_admin import EraseAdmin
from gateway.cli.explain.way import way_of
from gateway.errors import AdminError
from gateway.explain.explainer import Explainer
from gateway.hooks.specs import hookimpl
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
    MARKS,
    SECRET,
    answers_of,
    asked_of,
    erased,
    hear,
    holding,
    said,
)
from tests.kit.chats import GroupChat, open_group
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
    async with open_group(tmp_path, **more) as group:
        before = await group.hear_each(*TALK)
        assert holding(tmp_path)
        eraser = group.gateway.parts.eraser
        await eraser.begin(what="person", channel="plain", person=ANN.id, asked_by="operator")
        await erased(group.gateway)
        assert holding(tmp_path, *MARKS, ANN.name) == []
        after = await group.tape.read()
        assert [(e.id, e.kind, e.date) for e in after[: len(before)]] == [
            (e.id, e.kind, e.date) for e in before
        ]
        assert [e.meta["text"] for e in after if e.meta.get("author") == BOB.id] == [
            "what was that?",
            "nothing of yours",
        ]
        assert after[-1].name == "erase"
        assert after[-1].payload["data"]["what"] == "person"
        await group.tape.full_context()
        answered = len(group.posts)
        await group.hear_each(said(9, "still there?", BOB))
        assert len(group.posts) == answered + 1
    assert holding(tmp_path, *MARKS, ANN.name) == []


async def test_one_message_goes_with_its_edits_and_quotes_and_does_not_come_back(
    model: FakeOpenAI, tmp_path: Path, more: dict[str, str]
) -> None:

    def edit(text: str) -> InboundMessage:
        return replace(
            TALK[0], kind="edit", ext_id=f"-100/1/{len(text)}", text=text, addressed=False
        )

    async with open_group(tmp_path, model, **more) as group:
        model.enqueue(*[Text(("all right",)) for _ in range(9)])
        kept = said(4, "Ann says something harmless")
        entries = await group.hear_each(TALK[0], edit(f"{SECRET} now"), TALK[1], kept)
        (number,) = [e.id for e in entries if e.meta.get("text") == SECRET]
        tape = group.tape.name
        eraser = group.gateway.parts.eraser
        await eraser.begin(what="message", tape=tape, entries=(number,), asked_by="operator")
        await erased(group.gateway)
        assert holding(tmp_path) == []
        await group.hear_each(TALK[0], edit(f"{SECRET} again"))
        deletion = replace(edit(""), kind="delete", ext_id="-100/1/gone")
        entries = await group.hear_each(deletion)
        assert holding(tmp_path) == []
        assert [e.meta["text"] for e in entries if e.meta.get("author") == ANN.id] == [
            "Ann says something harmless"
        ]
        said_by = await Explainer(
            group.gateway.services.store, group.gateway.services.redactor
        ).explain("in-1")
        assert "erased on 20" in way_of(said_by.to_json())
        assert await group.tape.search("zyzzogeton") == []


@pytest.mark.parametrize("what", ["message", "person"])
async def test_a_message_goes_with_the_edit_that_asked(
    model: FakeOpenAI, tmp_path: Path, more: dict[str, str], what: Literal["message", "person"]
) -> None:
    aside = replace(TALK[0], addressed=False, text="nothing much")
    edited: dict[str, Any] = {"edited": aside.date, "text": SECRET}
    asking = replace(TALK[0], kind="edit", ext_id="-100/1/edit", **edited)
    async with open_group(tmp_path, model, **more) as group:
        model.enqueue(Text(("all right",)))
        entries = await group.hear_each(aside, asking)
        assert [one.text for one in entries if one.meta.get("final")] == ["all right"]
        (number,) = [one.id for one in entries if one.meta.get("text") == "nothing much"]
        of: dict[str, Any] = {"tape": group.tape.name, "entries": (number,)}
        if what == "person":
            of = {"channel": "plain", "person": ANN.id}
        await group.gateway.parts.eraser.begin(what=what, asked_by="operator", **of)
        await erased(group.gateway)
    assert holding(tmp_path) == []


async def test_a_chat_is_erased_whole_and_can_go_on(tmp_path: Path, more: dict[str, str]) -> None:
    async with open_group(tmp_path, **more) as group:
        other = replace(said(5, "elsewhere"), chat_id="-200", ext_id="-200/5")
        await group.hear_each(*TALK, other)
        tape = group.tape.name
        await group.gateway.parts.eraser.begin(what="chat", tape=tape, asked_by="operator")
        await erased(group.gateway)
        assert holding(tmp_path, *MARKS, "what was that", "nothing of yours") == []
        assert holding(tmp_path, "elsewhere")
        entries = await group.tape.read()
        assert {e.name for e in entries if not erased_on(e)} == {"session/start", "erase"}
        await group.tape.full_context()
        answered = len(group.posts)
        await group.hear_each(said(9, "hello again", BOB))
        assert len(group.posts) == answered + 1


async def test_what_was_cut_off_is_finished_at_the_next_start(
    tmp_path: Path, more: dict[str, str]
) -> None:
    async with open_group(tmp_path, **more) as group:
        await group.hear_each(*TALK)
        unit = Unit()  # on record, and the process ends
        erasure = Erasure("e1", "person", "person", channel="plain", person=ANN.id)
        group.gateway.services.ledger.erasures.begin(unit, erasure)
        await group.gateway.services.store.commit(unit)
    async with open_group(tmp_path, **more) as group:
        await erased(group.gateway)
        assert holding(tmp_path, *MARKS, ANN.name) == []
        (row,) = await group.gateway.services.ledger.erasures.read()
        assert (row["state"], row["data"]) == ("done", "{}")


async def test_vectors_of_what_is_erased_go_and_all_of_them_where_no_embedder_is_set(
    tmp_path: Path,
) -> None:
    async with embeddings_server() as server:
        found = {"SEARCH__BASE_URL": server.base_url, "SEARCH__API_KEY": server.key}
        more = {"SEARCH__EMBEDDER": "openai", **found}
        async with open_group(tmp_path, **more) as group:
            meaning = group.gateway.services.tapes.semantic
            assert isinstance(meaning, SemanticIndex)
            entries = await group.hear_each(*TALK)
            await caught_up(meaning)
            spoken = {e.id for e in entries if e.meta.get("author") in (ANN.id, BOB.id)}
            assert spoken <= embedded(tmp_path, group.tape.name)
            eraser = group.gateway.parts.eraser
            await eraser.begin(what="person", channel="plain", person=ANN.id, asked_by="operator")
            await erased(group.gateway)
            tape = group.tape
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
    group: GroupChat, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    group.model.enqueue(Text(("never", " said"), gate=gate))
    await group.accept(said(1, SECRET))
    await group.gateway.taken_in()
    await asked_of(group.model)
    await group.accept(said(2, f"also {SECRET}"))
    await group.gateway.taken_in()
    eraser = group.gateway.parts.eraser
    await eraser.begin(what="person", channel="plain", person=ANN.id, asked_by="operator")
    await erased(group.gateway)
    gate.set()
    await group.gateway.idle()
    assert group.posts == []
    assert holding(tmp_path) == []
    assert len(group.model.requests) == 1


async def test_old_messages_are_erased_where_the_setting_says_so(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_group(tmp_path) as group:
        other = replace(said(5, "elsewhere"), chat_id="-200", ext_id="-200/5")
        await group.hear_each(*TALK, other)
    clock.jump(datetime.now(UTC) - START + timedelta(days=40))
    more = {"TAPE__KEEP_DAYS": '{"plain:-100": 30}'}
    async with open_group(tmp_path, clock=clock, **more) as group:
        await erased(group.gateway, at_least=1)
        assert holding(tmp_path, *MARKS, "what was that") == []
        assert holding(tmp_path, "elsewhere")


TOGETHER = "together"


class Together:
    """A plugin with one session for everything."""

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str:
        del message
        return TOGETHER


class OtherChannel(PlainChannel):
    """Another platform, where the same ids are other people."""

    name: ClassVar[str] = "other"


async def test_who_asks_to_be_forgotten_is_erased_from_a_session_of_any_name(
    tmp_path: Path,
) -> None:
    async with open_group(tmp_path, None, Together()) as group:
        await group.hear_each(said(1, SECRET), said(2, "of Bob", BOB, to=1, quote=SECRET))
        await group.hear_each(said(3, ",forget me"))
        yes, _no = answers_of(group.channel)
        await group.hear_each(said(4, yes))
        await erased(group.gateway)
        assert holding(tmp_path, *MARKS, ANN.name) == []
        found = await tape_of(group.gateway, TOGETHER).find(author=BOB.id)
        assert [entry.meta["text"] for entry in found] == ["of Bob"]


async def test_in_a_session_of_two_platforms_only_the_named_one_s_person_is_erased(
    tmp_path: Path,
) -> None:
    channel, other = PlainChannel(), OtherChannel()
    plugins = (Brings(channel), Brings(other), Together())
    async with gateway_of(tmp_path, None, *plugins, ACCESS__MODE="open") as gateway:
        await hear(gateway, channel, said(1, SECRET))
        await hear(gateway, other, replace(said(2, "of somebody else"), channel="other"))
        tape = tape_of(gateway, TOGETHER)
        admin = EraseAdmin(gateway.services, gateway.parts.eraser)
        with pytest.raises(AdminError, match="another platform"):
            await admin.begin("person", tape.name, f"third:{ANN.id}")
        await admin.begin("person", tape.name, f"plain:{ANN.id}")
        await erased(gateway, at_least=1)
        assert holding(tmp_path) == []
        found = await tape.find(author=ANN.id)
        assert [entry.meta["text"] for entry in found] == ["of somebody else"]
