"""Edits, as the tape and the ledger tell them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.host import ChannelEvent
from channels.message import InboundMessage, Quote
from gateway.app import Gateway
from gateway.explain.explainer import Explainer
from gateway.explain.report import Report
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import Entry
from tape.errors import SessionLost
from tape.stores.sqlite import tape_schema
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import gateway_of, names, over, settled
from tests.kit.mortal import LastingStore, MortalStore
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel

ASIDE = replace(MESSAGE, addressed=False, why="said to the group", text="at four")


def edit(text: str, of: InboundMessage = MESSAGE) -> InboundMessage:
    return replace(
        of, kind="edit", ext_id=f"{of.ext_id}/edit/{text}", text=text, addressed=False, why=""
    )


def edits(entries: list[Entry]) -> list[str]:
    return [one.payload["data"]["text"] for one in entries if one.name == "message.edit"]


@pytest.mark.parametrize("mode", ["paired", "open"])
async def test_an_edit_of_what_nobody_knows_or_was_refused_tells_nothing(
    tmp_path: Path, mode: str
) -> None:
    async with open_group(tmp_path, ACCESS__MODE=mode) as group:
        unknown = edit("unknown secret", replace(ASIDE, message_id="99", ext_id="-100/99"))
        said = [unknown] if mode == "open" else [MESSAGE, unknown, edit("a secret edit")]
        entries = await group.hear_each(*said)
    assert edits(entries) == []
    assert "secret" not in str([entry.payload for entry in entries])


async def explained(gateway: Gateway, message_id: str) -> Report:
    return await Explainer(gateway.services.store, gateway.services.redactor).explain(message_id)


@pytest.mark.parametrize(
    ("mode", "status", "says"),
    [
        ("paired", "refused", "refused: the chat was not on the allowlist"),
        ("open", "taped", "not decided yet, or never put on a tape"),
    ],
)
async def test_an_edit_of_what_nobody_knows_is_explained_without_its_words(
    tmp_path: Path, mode: str, status: str, says: str
) -> None:
    async with open_group(tmp_path, ACCESS__MODE=mode) as group:
        await group.hear_each(replace(edit("a secret"), ext_id="-100/1:e"))
        story = await explained(group.gateway, MESSAGE.message_id)
        by_row = await explained(group.gateway, "in-1")
    assert "secret" not in f"{story.to_json()} {by_row.to_json()}"
    assert [line.says for line in story.lines if line.about == "access"] == [says]
    assert [line.data for line in story.lines if line.about == "outcome"] == [{"status": status}]


@pytest.mark.parametrize("mode", ["paired", "open"])
async def test_the_words_of_what_is_on_no_tape_are_not_among_the_options(
    tmp_path: Path, mode: str
) -> None:
    async with open_group(tmp_path, ACCESS__MODE=mode) as group:
        other = replace(edit("a secret"), chat_id="-200", ext_id="-200/1:e")
        await group.hear_each(replace(other, chat_id="-300", ext_id="-300/1:e"), other)
        story = await explained(group.gateway, MESSAGE.message_id)
    assert len(story.options) == 2
    assert "secret" not in str(story.to_json())


async def test_an_edit_that_changes_no_word_tells_nothing(group: GroupChat) -> None:
    entries = await group.hear_each(ASIDE, edit("at four", ASIDE))
    assert edits(entries) == []


async def test_a4_what_was_said_to_the_group_is_read_as_it_is_when_it_is_taken(
    group: GroupChat,
) -> None:
    question = replace(MESSAGE, ext_id="-100/2", message_id="2", text="when?")
    entries = await group.hear_each(ASIDE, edit("at five", ASIDE), question)
    assert edits(entries) == ["at five"]
    (request,) = group.model.requests
    assert "at five" in str(request.body)
    assert "at four" not in str(request.body)
    assert "edited" not in str(request.body["messages"][1:])


async def test_a4_an_edit_asks_nothing_if_nobody_says_when_it_was_made(group: GroupChat) -> None:
    asking = replace(edit("@bot when?", ASIDE), addressed=True, why="mention")
    entries = await group.hear_each(ASIDE, asking)
    assert group.model.requests == []
    assert "turn.start" not in names(entries)
    assert group.posts == []


async def test_a4_a_question_that_waits_behind_a_turn_is_asked_as_it_reads_then(
    group: GroupChat,
) -> None:
    gate = asyncio.Event()
    group.model.enqueue(Text(("one",), gate=gate))
    second = replace(MESSAGE, ext_id="-100/2", message_id="2", text="sceond")
    await group.accept(MESSAGE)
    await group.model.wait_for_requests(1)
    await group.accept(second)
    await group.accept(edit("second", second))
    await group.gateway.taken_in()
    gate.set()
    await group.settled()
    last = group.model.requests[-1].body["messages"][-1]["content"]
    assert "] second" in last
    assert "sceond" not in last


async def test_a4_the_edit_survives_a_restart_before_its_turn(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    more = {"ACCESS__MODE": "open"}
    async with open_group(tmp_path, model, BUFFER__DEBOUNCE="60", BUFFER__MAX_WAIT="60") as group:
        await group.accept(replace(MESSAGE, text="frist"))
        await group.accept(edit("first"))
        await group.gateway.taken_in()
    assert model.requests == []
    async with gateway_of(tmp_path, model, Brings(PlainChannel()), **more) as gateway:
        await settled(gateway, "plain:-100")
    assert "] first" in model.requests[0].body["messages"][-1]["content"]


async def test_an_edited_reply_still_tells_what_it_replies_to(group: GroupChat) -> None:
    said = replace(ASIDE, reply_to="77", quote=Quote("Bob", "8", "go?"))
    entries = await group.hear_each(said, edit("yes", said))
    (told,) = [one.payload["data"] for one in entries if one.name == "message.edit"]
    assert ', replying to #2 Bob: "go?"] yes' in told["content"]


async def test_of_a_chat_that_was_closed_since_no_edit_is_kept(tmp_path: Path) -> None:
    async with open_group(tmp_path, ACCESS__MODE="paired", ACCESS__ALLOW="plain:-100") as group:
        await group.hear_each(ASIDE)
        group.gateway.parts.requests.openings.access.put(AccessRule("plain", "-100", "none"))
        entries = await group.hear_each(edit("a secret", ASIDE))
    assert "message.edit" not in [entry.name for entry in entries]


class HearingChannel(PlainChannel):
    """Counts the questions that were let in."""

    let_in = 0

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        self.let_in += event.kind == "accepted"


async def test_a_question_is_passed_on_once_if_the_session_was_lost_with_a_later_edit(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    store = MortalStore(LastingStore([tape_schema(), ledger_schema()]))
    channel, more = HearingChannel(), {"ACCESS__MODE": "open", "TAPE__URL": "memory:"}
    own = gateway_of(tmp_path, model, Brings(channel), internals=over(store), **more)
    async with own as gateway:
        lost = SessionLost("another process works on this session")
        store.lose_answer(lambda held: "message.edit" in held, lost)
        aside = replace(ASIDE, ext_id="-100/2", message_id="2")
        await channel.host.accept([MESSAGE, aside, edit("at five", aside)])
        entries = await settled(gateway, "plain:-100")
        rows = await store.select("ledger.list_inbox", {"status": "done", "limit": 9})
    assert channel.let_in == 1
    assert [(row["message_id"], row["attempts"]) for row in rows] == [("1", 1)]
    assert (names(entries).count("message.edit"), len(channel.posts)) == (1, 1)
