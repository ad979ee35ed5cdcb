"""Which conversation a message belongs to, and the reason that was recorded for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gateway.app import Gateway
from gateway.cli.explain.way import way_of
from gateway.explain.conversation import WHY_NEW, WHY_THERE, PlacedIn, conversation_of
from gateway.explain.facts import MessageFacts
from gateway.explain.report import Report, ReportLine
from tape.deletions import deletion
from tape.entry import Entry, NewEntry, event, message
from tape.linking import Linker
from tests.fakes.openai.script import Text
from tests.gateway.console.inspect.people import GROUP, get, house, said
from tests.kit.gateways import tape_of
from tests.tape.linking.room_of import Talk

ROW = {"account_id": "x", "chat_id": "1", "session_id": "x:1"}
ENOUGH, LIKELY = "well enough", "most likely"
GUESS, NEW, ANSWER = "by the linker's estimate", "a new one", "the agent's answer “Yes.”"
PLUMS = {"inbox": 1, "lane": "said:1/1", "message_id": "1", "name": "Alice", "text": "plums?"}


def later(why: str, parent: str = "turn:t-1", lane: str = "said:1/1") -> NewEntry:
    link = {"why": why, "parent": parent}
    own = {"inbox": 2, "message_id": "2", "name": "Bob", "text": "ripe"}
    return message("user", "ripe", **own, lane=lane, link=link)


async def of(gateway: Gateway, entry: Entry) -> PlacedIn:
    tape = tape_of(gateway, "x:1").name
    return await conversation_of(gateway.services.store, MessageFacts(ROW, {}, tape, entry))


async def talk(gateway: Gateway, *more: NewEntry) -> list[Entry]:
    """Write a question about plums, the answer, and what is given."""
    tape = tape_of(gateway, "x:1")
    asked = message("user", "plums?", **PLUMS, link={"why": "nothing before"})
    answered = message("assistant", "Yes.", final=True, turn="t-1", lane="said:1/1")
    return await tape.append(asked, answered, *more)


@pytest.mark.parametrize(
    ("why", "says"),
    [
        ("nothing before", ", because there was nothing before it that it could continue"),
        ("no sign", ", because nothing in it points to an earlier message"),
        ("silence 41", ", because nobody had written for 41 minutes"),
        (
            "new 0.58",
            f", because it fits none of the earlier ones {ENOUGH}: {GUESS}, it is {NEW} with 58 %",
        ),
        ("new", "; why was not recorded"),
        ("", "; why was not recorded"),
        ("by a plugin", ""),
    ],
)
async def test_a_new_conversation_has_the_reason_that_was_recorded(
    why: str, says: str, gateway: Gateway
) -> None:
    own = message("user", "plums?", **PLUMS, link={"why": why})
    (entry,) = await tape_of(gateway, "x:1").append(own)
    assert (await of(gateway, entry)).says == f"It starts a new conversation{says}"


@pytest.mark.parametrize(
    ("why", "says"),
    [
        ("reply", ", because it is a reply to the agent's answer “Yes.”"),
        ("own last message", ", because its author wrote the agent's answer “Yes.” shortly before"),
        (
            "model 0.91",
            f", because by its words, author and time it {LIKELY} continues {ANSWER}: 91 % {GUESS}",
        ),
        ("said at once with others", ", because its author had just asked a question there"),
        ("", "; why was not recorded"),
    ],
)
async def test_a_message_joins_the_conversation_that_is_named_by_its_beginning(
    gateway: Gateway, why: str, says: str
) -> None:
    first, _answer, own = await talk(gateway, later(why))
    found = await of(gateway, own)
    begun = f"It belongs to the conversation that began at {first.date} with “plums?”"
    assert found == PlacedIn(f"{begun}{says}", (first.date,), first.id)


async def test_what_was_deleted_or_erased_is_not_quoted(gateway: Gateway) -> None:
    first, _answer, own, lost = await talk(
        gateway, later("reply"), later("model 0.90", "", "said:1/0")
    )
    await tape_of(gateway, "x:1").append(deletion(first.id, "1"))
    found = await of(gateway, own)
    gone = await of(gateway, lost)
    assert "with a message that is not shown, because it is a reply to" in found.says
    assert ("plums" in found.says, found.first) == (False, 0)
    assert gone.says.startswith("It belongs to a conversation whose beginning is no longer on")
    assert "most likely continues an earlier message" in gone.says


async def test_what_was_made_from_a_deleted_message_is_not_quoted(gateway: Gateway) -> None:
    (first, *_rest) = await talk(gateway)
    made = message("user", "plums, please", prompt_of=first.id, lane="said:1/7")
    _made, own = await tape_of(gateway, "x:1").append(made, later("reply", lane="said:1/7"))
    assert "plums, please" in (await of(gateway, own)).says
    await tape_of(gateway, "x:1").append(deletion(first.id, "1"))
    found = await of(gateway, own)
    assert "with a message that is not shown" in found.says
    assert ("plums" in found.says, found.first) == (False, 0)


async def test_an_edited_beginning_is_quoted_as_it_is_now(gateway: Gateway) -> None:
    first, _answer, own = await talk(gateway, later("reply"))
    edit = {"entry": first.id, "message_id": "1", "text": "prunes?", "content": "prunes?"}
    await tape_of(gateway, "x:1").append(event("message.edit", edit))
    assert "with “prunes?”" in (await of(gateway, own)).says


async def test_the_console_and_the_command_say_the_same(tmp_path: Path) -> None:
    async with house(tmp_path) as home, home.owner() as owner:
        home.server.enqueue(Text(("It is dead.",)), Text(("Yes.",)))
        await home.hear(said(1, "is the plum tree dead?"))
        await home.hear(said(2, "are you sure?", "8", reply_to="1"))
        report = await get(owner, "why/2")
        (begun, *_rest) = await tape_of(home.gateway, GROUP).find(kinds=("message",))
    (line,) = (one for one in report["lines"] if one["about"] == "lane")
    says = (
        f"It belongs to the conversation that began at {begun.date} with"
        " “is the plum tree dead?”, because it is a reply to that message"
    )
    conversation = {"says": says, "moments": [begun.date], "first": begun.id}
    assert line["data"]["conversation"] == conversation
    assert line["says"].startswith(f"{says}. It is entry ")


@pytest.mark.parametrize(
    ("began", "shown"),
    [("2026-01-02T03:04:05+00:00", ":04 with"), ("2025-11-30T03:04:05+00:00", "2025-11-30")],
)
def test_the_command_shows_the_beginning_in_local_time(began: str, shown: str) -> None:
    at = "2026-01-02T04:00:00+00:00"
    data: Mapping[str, Any] = {"conversation": {"moments": [began]}}
    line = ReportLine(at, "lane", f"that began at {began} with “x”", data)
    drawn = way_of(Report("x", "h", [line]).to_json())
    assert (shown in drawn, began in drawn) == (True, False)


@pytest.mark.parametrize("linker", [Linker(), Linker.shipped()], ids=["rules", "model"])
def test_every_reason_of_the_linker_has_a_sentence(linker: Linker) -> None:
    known = WHY_NEW.keys() | WHY_THERE.keys()
    chance, people = Random(7), ["ann", "bob", "cid", "eve"]
    reasons = set()
    for crowd in (people, people[:2]):
        room = Talk(linker)
        for _ in range(150):
            words = " ".join(chance.choices(["plums", "ripe", "where?", "station", "ann"], k=4))
            named = chance.sample(people, chance.choice((0, 0, 1)))
            after = chance.choice((20, 400, 4000))
            link = room.say(chance.choice(crowd), words, *named, after=after)
            reasons.add(link.why)
    assert len(reasons) > 5
    assert {why if why in known else why.rpartition(" ")[0] for why in reasons} <= known
