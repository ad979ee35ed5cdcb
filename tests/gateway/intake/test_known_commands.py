"""Which words are commands, and what becomes of everything else that looks like one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent import tool
from agent.tool import Role, Tool
from channels.message import InboundMessage, Quote
from gateway.hooks.specs import hookimpl
from gateway.storage.ledger.rows import InboxRow
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import names
from tests.kit.plain_channels import MESSAGE, PlainChannel

OVERHEARD = replace(MESSAGE, addressed=False, why="said to the group")


def written(text: str, command: str = "", **more: object) -> InboundMessage:
    """Return what a channel makes of a line that has the form of a command."""
    line = command or f",{text[1:]}"
    return replace(OVERHEARD, text=text, command=line, **more)  # type: ignore[arg-type]


async def stored(group: GroupChat, number: int = 1) -> InboundMessage:
    rows = await group.gateway.services.store.select("ledger.inbox_row", {"id": number})
    return InboxRow.read(rows[0]).message


@tool(name="weather", side_effects=False, role=Role.STRANGER)
async def weather(*, place: str) -> object:
    """Say how the weather is."""
    return f"{place}: rain"


@tool(name="expel", side_effects=False, role=Role.OWNER)
async def expel(*, whom: str) -> object:
    """Remove somebody."""
    return f"{whom} is gone"


class Brings:
    """A plugin with a tool for everybody, and one for the owner."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [weather, expel]


@pytest.mark.parametrize("text", [",lol", ",dass ich das noch erlebe", "/lurk", ",kick @Ben spam"])
async def test_what_no_command_begins_with_stays_as_it_was_written(
    group: GroupChat, text: str
) -> None:
    entries = await group.hear(written(text))
    said = entries[-1]
    assert (group.posts, group.model.requests) == ([], [])
    assert (said.meta["text"], said.meta["addressed"]) == (text, False)
    assert "command" not in said.meta


@pytest.mark.parametrize("text", ["/help", ",stop", "/tape.info"])
async def test_a_command_asks_also_where_nothing_else_asks(group: GroupChat, text: str) -> None:
    entries = await group.hear(written(text))
    said = next(entry for entry in entries if "inbox" in entry.meta)
    assert (len(group.posts), group.model.requests) == (1, [])
    assert (said.meta["text"], said.meta["why"], said.meta["command"]) == (text, "command", True)
    assert (await stored(group)).addressed


async def test_a_sentence_to_the_agent_is_the_model_s(group: GroupChat) -> None:
    group.model.enqueue(Text(("Nothing much.",)))
    await group.hear(written("/tmp is full", addressed=True, why="private chat"))
    assert [post.text for post in group.posts] == ["Nothing much."]
    assert "/tmp is full" in str(group.model.requests[0].body)
    # A restart must not decide once more.
    assert (await stored(group)).command == ""


async def test_who_may_not_use_a_command_hears_it_also_unasked(group: GroupChat) -> None:
    await group.hear(written("/reset"))
    assert [post.text for post in group.posts] == [
        "Only admins may reset a group: it affects everyone here."
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (written(",weather Rome"), "Rome: rain"),
        (written(",expel Ben"), None),
        (written(",expel Ben", addressed=True), "You may not use `,expel` here."),
        (written("/subagent x"), "You may not use `,subagent` here."),
    ],
    ids=lambda value: getattr(value, "text", None),
)
async def test_a_tool_is_known_to_whom_it_is_for_and_to_whom_asks_the_agent(
    tmp_path: Path, model: FakeOpenAI, said: InboundMessage, told: str | None
) -> None:
    async with open_group(tmp_path, model, Brings()) as group:
        await group.hear(said)
        assert [post.text for post in group.posts] == ([told] if told else [])
        assert model.requests == []


@pytest.mark.parametrize(
    ("said", "event"),
    [
        (written(",help"), "access.refused"),
        (written("/open"), "access.opening"),
        (written(",lol"), "access.refused"),
        (written(",weather Rome"), "access.refused"),
    ],
    ids=lambda value: getattr(value, "text", None),
)
async def test_a_closed_chat_has_a_sentence_for_commands_alone(
    tmp_path: Path, said: InboundMessage, event: str
) -> None:
    async with open_group(tmp_path, None, Brings(), ACCESS__MODE="paired") as group:
        assert event in names(await group.hear(said))
        is_own = said.text in (",help", "/open")
        assert [post.kind for post in group.posts] == (["notice"] if is_own else [])


@pytest.mark.parametrize("more", [{"forwarded": Quote("Bob")}, {"quote": Quote("Bob", text=",a")}])
async def test_g2_what_others_wrote_is_no_command(
    group: GroupChat, more: dict[str, object]
) -> None:
    shown = written(",reset", **more) if "forwarded" in more else replace(OVERHEARD, **more)  # type: ignore[arg-type]
    entries = await group.hear(shown)
    assert group.posts == []
    assert not any(entry.meta.get("command") for entry in entries)


async def test_a_channel_that_knows_no_form_has_its_commands_in_what_asks(group: GroupChat) -> None:
    await group.hear(replace(MESSAGE, text=",tape.info"))
    await group.hear(replace(OVERHEARD, text=",tape.info", ext_id="-100/2"))
    assert len(group.posts) == 1
    assert (await stored(group)).why == MESSAGE.why


class Reading(PlainChannel):
    """A channel that says itself which line is a command's."""

    capabilities = PlainChannel.capabilities | {"commands"}


async def test_what_a_channel_with_a_form_read_as_no_command_is_none(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Text(("It starts over.",)))
    async with open_group(tmp_path, model, channel=Reading()) as group:
        entries = await group.hear(replace(MESSAGE, text="/reset"))  # in code, or in a title
    assert len(model.requests) == 1
    assert "session/reset" not in names(entries)


def former(text: str, **more: object) -> InboundMessage:
    """Return a message of a version that had the command in the text."""
    payload = replace(MESSAGE, text=text, **more).to_payload()  # type: ignore[arg-type]
    del payload["command"]
    return InboundMessage.from_payload(payload)


async def test_what_a_former_version_accepted_is_decided_as_today(group: GroupChat) -> None:
    assert former(",reset").command == ",reset"
    assert former(",reset", addressed=False).command == ""
    assert former(",reset", forwarded=Quote("Bob")).command == ""
    assert former("what is it?").command == ""
    lol, info = (former(text, why="command") for text in (",lol", ",tape.info"))
    await group.hear_each(lol, replace(info, ext_id="-100/2"))
    assert len(group.posts) == 1
    assert group.model.requests == []


@pytest.mark.parametrize("text", [",", ", "])
async def test_a_comma_alone_is_no_command_of_any_version(group: GroupChat, text: str) -> None:
    old = former(text)
    await group.hear_each(old, replace(MESSAGE, text=text, command=text, ext_id="-100/2"))
    assert len(group.model.requests) == 2
