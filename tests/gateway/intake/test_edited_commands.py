"""Edits that make a command of a question that waits, or a sentence of such a command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent import tool
from agent.tool import Role, Tool
from channels.message import Author, InboundMessage, OutboundMessage
from gateway.hooks.specs import hookimpl
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import names
from tests.kit.plain_channels import MESSAGE

WAITS = replace(MESSAGE, ext_id="-100/2", message_id="2", text="and when?")
COMMAND = replace(WAITS, text=",help", command=",help", why="command")
ASIDE: dict[str, Any] = {"addressed": False, "why": "said to the group"}


def edit(text: str, of: InboundMessage = WAITS, **more: Any) -> InboundMessage:
    """Return an edit in the group, which mentions nobody."""
    line = f",{text[1:]}" if text[0] in ",/" else ""
    new = {"edited": "2026-01-01T00:10:00+00:00", "command": line, **ASIDE}
    key = f"{of.ext_id}/edit/{text}"
    return replace(of, kind="edit", text=text, **{**new, "ext_id": key, **more})


def asked(model: FakeOpenAI) -> list[str]:
    """Return the newest of what people said in each request."""
    return [str(request.body["messages"][-1]["content"]) for request in model.requests]


def told(group: GroupChat) -> list[OutboundMessage]:
    """Return the replies to commands."""
    return [post for post in group.posts if post.kind == "notice"]


@asynccontextmanager
async def busy(group: GroupChat) -> AsyncIterator[None]:
    """Have a turn run in the lane of `WAITS` meanwhile, and settle afterwards."""
    gate = asyncio.Event()
    group.model.enqueue(Text(("one",), gate=gate))
    await group.accept(MESSAGE)
    await group.model.wait_for_requests(1)
    yield
    await group.gateway.taken_in()
    gate.set()
    await group.settled()


@pytest.mark.parametrize("line", ["/help", ",help all", "/tape.info"])
async def test_a4_a_question_that_waits_and_becomes_a_command_is_run_as_one(
    group: GroupChat, line: str
) -> None:
    async with busy(group):
        await group.accept(WAITS)
        await group.gateway.taken_in()
        await group.accept(edit(line))
        await group.gateway.taken_in()
    assert len(group.model.requests) == 1
    assert told(group)[0].reply_to == WAITS.message_id
    entries = await group.hear(edit(",tape.info limit=1"), edit(line, ext_id="-100/2/again"))
    assert len(group.posts) == 2
    assert names(entries).count("turn.start") == 1


async def test_a4_its_author_s_right_to_the_command_decides(group: GroupChat) -> None:
    async with busy(group):
        await group.accept(WAITS, edit("/reset"))
    assert told(group)[0].text == "Only admins may reset a group: it affects everyone here."
    assert len(group.model.requests) == 1


async def test_a4_words_that_are_no_command_leave_the_question_a_question(group: GroupChat) -> None:
    async with busy(group):
        await group.accept(WAITS, edit(",however, when?"))
    assert asked(group.model)[1].endswith("] ,however, when?")
    assert len(group.posts) == 2


async def test_a4_nobody_else_makes_a_command_of_a_question(group: GroupChat) -> None:
    async with busy(group):
        await group.accept(WAITS, edit("/help", sender=Author("9", "Eve")))
    assert (len(told(group)), len(group.posts)) == (0, 2)


async def test_a4_a_channel_that_dates_no_edits_has_its_commands_too(group: GroupChat) -> None:
    async with busy(group):
        await group.accept(WAITS, edit("/help", command="", edited=""))
    assert len(told(group)) == 1
    assert len(group.posts) == 2


class Slow:
    """A plugin with a command that takes its time, and counts what it has done."""

    def __init__(self) -> None:
        self.gate, self.begun = asyncio.Event(), asyncio.Event()
        self.done: list[str] = []

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        @tool(name="slow", side_effects=True, role=Role.STRANGER)
        async def slow(*, what: str) -> object:
            """Do something slowly."""
            self.begun.set()
            await self.gate.wait()
            self.done.append(what)
            return what

        return [slow]


def slow(what: str, of: InboundMessage = WAITS) -> InboundMessage:
    return replace(of, text=f",slow {what}", command=f",slow {what}", why="command")


@asynccontextmanager
async def one_command_runs(home: Path, model: FakeOpenAI, plugin: Slow) -> AsyncIterator[GroupChat]:
    """Open a group in which a command runs, so that the next ones wait; settle afterwards."""
    async with open_group(home, model, plugin) as group:
        await group.accept(slow("first", MESSAGE))
        await plugin.begun.wait()
        yield group
        await group.gateway.taken_in()
        plugin.gate.set()
        await group.settled()


async def test_a4_a_command_that_waits_and_becomes_a_question_is_asked(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    plugin = Slow()
    async with one_command_runs(tmp_path, model, plugin) as group:
        await group.accept(slow("second"), edit("when, then?", addressed=True, why="mention"))
        await group.gateway.taken_in()
        plugin.gate.set()
        await group.settled()
        await group.hear(edit(",slow third"))
    assert plugin.done == ["first"]
    assert [said.endswith("] when, then?") for said in asked(model)] == [True]


async def test_a4_a_command_that_waits_and_becomes_a_remark_is_not_run(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    plugin = Slow()
    async with one_command_runs(tmp_path, model, plugin) as group:
        await group.accept(slow("second"), edit("it is slow"))
        await group.gateway.taken_in()
        plugin.gate.set()
        await group.settled()
        await group.hear(replace(MESSAGE, ext_id="-100/3", message_id="3", text="is it?"))
    assert (plugin.done, len(model.requests)) == (["first"], 1)
    assert "it is slow" in str(model.requests[0].body)


async def test_a4_of_the_commands_that_a_waiting_message_becomes_the_last_is_run(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    plugin = Slow()
    async with one_command_runs(tmp_path, model, plugin) as group:
        await group.accept(slow("second"), *(edit(f",slow {n}") for n in ("third", "fourth")))
    assert plugin.done == ["first", "fourth"]
    assert len(group.posts) == 2


async def test_a4_what_an_edit_makes_of_a_command_that_runs_comes_too_late(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    plugin = Slow()
    async with one_command_runs(tmp_path, model, plugin) as group:
        late = edit("what is it?", MESSAGE, addressed=True, why="mention")
        await group.accept(late, edit(",slow again", MESSAGE))
    assert (plugin.done, model.requests, len(group.posts)) == (["first"], [], 1)


async def test_a4_a_command_that_waits_and_is_deleted_is_not_run(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    plugin = Slow()
    async with one_command_runs(tmp_path, model, plugin) as group:
        second = slow("second")
        gone = replace(second, kind="delete", ext_id="-100/2/deleted", text="", command="")
        await group.accept(second, gone)
    assert (plugin.done, len(group.posts)) == (["first"], 1)


@pytest.mark.settings(BUFFER__DEBOUNCE="0.05")
async def test_a4_one_message_of_a_burst_becomes_a_command_and_the_others_are_asked(
    group: GroupChat,
) -> None:
    entries = await group.hear(MESSAGE, WAITS, edit("/help"))
    assert len(told(group)) == 1
    assert len(group.posts) == 2
    assert "a secret question" in asked(group.model)[0]
    assert "help" not in str(group.model.requests[0].body["messages"][1:])
    assert "and when?" not in str(group.model.requests[0].body)
    assert names(entries).count("turn.start") == 1
