"""Explaining: what has no platform of its own to be tested on (see the contract's line H1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.app import Gateway
from gateway.context.reactions import react
from gateway.context.replay import prompts_of
from gateway.explain.explainer import Explainer
from gateway.explain.read_only import read_only
from gateway.explain.report import Report
from tape.entry import event, message
from tape.errors import TapeError
from tape.turn_events import OUTBOUND, TURN_START, TurnStart
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform, ask
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.plain_channels import MESSAGE, Brings


@asynccontextmanager
async def asked_once(home: Path) -> AsyncIterator[tuple[Gateway, EditingChannel]]:
    """Run a gateway that has answered one question."""
    channel = EditingChannel(Platform())
    async with FakeOpenAI() as server, gateway_of(home, server, Brings(channel)) as gateway:
        server.enqueue(Text(("he", "llo")))
        await ask(gateway, channel)
        yield gateway, channel


async def explained(gateway: Gateway, asked: str) -> Report:
    return await Explainer(gateway.services.store, gateway.services.redactor).explain(asked)


def told(story: Report, about: str) -> list[str]:
    return [line.says for line in story.lines if line.about == about]


async def test_an_entry_of_a_tape_leads_to_its_message_or_its_turn(tmp_path: Path) -> None:
    async with asked_once(tmp_path) as (gateway, _channel):
        tape = tape_of(gateway, "editing:1")
        for entry in await tape.read():
            story = await explained(gateway, f"{tape.name}#{entry.id}")
            assert story.head, entry
            of_none = "belongs to no message and no turn" in story.head
            assert of_none == ("inbox" not in entry.meta and "turn" not in entry.meta)


async def test_a_turn_says_what_it_shows_in_doubt_and_that_it_shows_the_last_messages(
    tmp_path: Path,
) -> None:
    async with asked_once(tmp_path) as (gateway, _channel):
        tape = tape_of(gateway, "editing:1")
        (own,) = await tape.find(name=TURN_START)
        turn = own.meta["turn"]
        shown = TurnStart(turn, (6,), (3, 4, 5), recent=True, doubted=(4, 5)).to_entry()
        await tape.append(replace(shown, meta={"turn": turn}))
        story = await explained(gateway, f"{tape.name}#{own.id}")
    says = (
        "takes entry 6, and includes entries 3, 4, 5 from elsewhere, entries 4, 5 of them in case"
        " its conversation was not recognized, and shows the room's last messages, because"
        " conversations are not recognized well there"
    )
    assert says in told(story, "view")


async def test_a_thumb_is_said_in_words(tmp_path: Path) -> None:
    async with asked_once(tmp_path) as (gateway, _channel):
        tape = tape_of(gateway, "editing:1")
        (sent,) = [entry for entry in await tape.read() if entry.name == OUTBOUND]
        for value in ("up", "down", ""):
            await react(gateway.services, tape, sent.payload["data"]["idem"], "ann", value)
        story = await explained(gateway, f"{tape.name}#{sent.id}")
    assert told(story, "thumb") == [
        "ann gave the answer a thumb up",
        "ann gave the answer a thumb down",
        "ann took the thumb back",
    ]


async def test_an_entry_of_nobody_is_shown_itself(gateway: Gateway) -> None:
    (entry,) = await tape_of(gateway, "x:1").append(message("user", "imported\x1b[2J"))
    story = await explained(gateway, f"{tape_of(gateway, 'x:1').name}#{entry.id}")
    assert told(story, "entry") == ['message: "imported\x1b[2J"']
    assert "has no entry 99" in (await explained(gateway, "x:1#99")).missing


async def test_a_deleted_message_is_told_to_be(tmp_path: Path) -> None:
    async with asked_once(tmp_path) as (gateway, channel):
        gone = replace(QUESTION, kind="delete", ext_id="1/1/deleted", text="")
        await channel.host.accept([gone])
        await gateway.idle()
        story = await explained(gateway, "in-2")
        assert story.head.startswith("in-1 is message 1")
        assert told(story, "changed") == ["deleted on its platform"]


@pytest.mark.parametrize(
    ("why", "mentions", "says"),
    [
        ("mention", ("@our_bot",), "the agent"),
        ("mention", ("@our_bot", "@99"), "the agent, our_bot, 99"),
        ("reply", ("@99",), "the agent, 99"),
        ("reply", (), "the agent"),
    ],
)
async def test_the_agent_is_called_the_agent_where_only_it_is_mentioned(
    group: GroupChat, why: str, mentions: tuple[str, ...], says: str
) -> None:
    await group.hear(replace(MESSAGE, why=why, mentions=mentions))
    (lane,) = told(await explained(group.gateway, "in-1"), "lane")
    assert lane.endswith(f", addressed to {says}")


async def test_an_event_that_is_not_known_is_told_as_it_is(tmp_path: Path) -> None:
    async with asked_once(tmp_path) as (gateway, _channel):
        tape = tape_of(gateway, "editing:1")
        turn = next(entry.meta["turn"] for entry in await tape.read() if "turn" in entry.meta)
        await tape.append(event("plugin.did", {"what": "x" * 5000}, turn=turn))
        (line,) = told(await explained(gateway, turn), "event")
        assert line.startswith('plugin.did {"what":"xxx')
        assert len(line) < 400


async def test_a_hint_is_told_as_what_is_shown_and_prompts_can_be_built_again(
    tmp_path: Path,
) -> None:
    async with asked_once(tmp_path) as (gateway, _channel):
        tape = tape_of(gateway, "editing:1")
        turn = next(entry.meta["turn"] for entry in await tape.read() if "turn" in entry.meta)
        again = event("turn.retake", {"turn": turn, "takes": [3], "steered": True}, turn=turn)
        await tape.append(
            message("user", "set an anchor", hint="handoff.suggest", turn=turn), again
        )
        story = await explained(gateway, turn)
        *_rest, hint, steered, last = told(story, "view")
        assert hint == 'from here on it also shows a system hint: "set an anchor"'
        assert steered == "takes entry 3, asked while the turn ran"
        command = f"tapeway tape show {tape.name} --view {turn}"
        assert last == f"to see its exact prompts: {command}"
        assert "set an anchor" not in "".join(told(story, "said"))
        assert [shown.exact for shown in await prompts_of(tape, turn)] == [True]


async def test_a_database_is_read_without_a_gateway_and_beside_one(tmp_path: Path) -> None:
    async with asked_once(tmp_path) as (gateway, _channel):
        beside = await explained(gateway, "in-1")
        redactor = gateway.services.redactor
        with read_only(tmp_path / "tapeway.db") as reads:
            assert await Explainer(reads, redactor).explain("in-1") == beside
    with read_only(tmp_path / "tapeway.db") as reads:
        again = await Explainer(reads, redactor).explain("in-1")
    assert told(again, "outcome") == told(beside, "outcome")


async def test_what_is_no_database_of_ours_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, and longer than a header" * 10)
    for name in ("text.db", "missing.db"):
        with pytest.raises(TapeError, match="cannot be read"):
            with read_only(tmp_path / name):
                pass
    assert not (tmp_path / "missing.db").exists()
