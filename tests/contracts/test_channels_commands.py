"""A, B8 and D: a command is decided once and run at most once, whatever happens meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from agent.tool import Chats, NoArguments, Role, Tool, ToolContext
from gateway.hooks.specs import hookimpl
from tests.kit.mortal import Moment
from tests.kit.play import opened, playing
from tests.kit.promised import promises

UNKNOWN: Final = "I was interrupted while I ran"
WAITS: Final[dict[str, Any]] = {"BUFFER__DEBOUNCE": "5", "BUFFER__MAX_WAIT": "9"}


@dataclass
class Orders:
    """A plugin with a command that has an effect."""

    runs: list[str] = field(default_factory=list)
    role: Role = Role.STRANGER

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        async def order(_arguments: NoArguments, _context: ToolContext) -> str:
            self.runs.append("ordered")
            return f"order number {len(self.runs)}"

        said = "Order something."
        return [Tool("order", said, NoArguments, order, role=self.role, chats=Chats.ALL)]


@promises("A1")
async def test_a1_a_command_that_comes_again_is_run_once(channel: str, tmp_path: Path) -> None:
    orders = Orders()
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, orders) as play:
            chat = play.chat()
            said = await play.ask(chat, play.person(), ",order")
            await play.stage.redeliver(said)
            await play.settle()
        async with house.playing(tmp_path, orders) as play:
            await play.stage.redeliver(said, as_new=True)
            await play.settle()
            assert play.texts(chat) == ["order number 1"]
            assert (orders.runs, play.model.requests) == (["ordered"], [])


@promises("D2")
async def test_d2_a_command_and_a_sentence_are_told_apart_also_in_what_is_caught_up_with(
    channel: str, tmp_path: Path
) -> None:
    orders = Orders()
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, orders) as play:
            chat, alice = play.chat(), play.person()
            await play.ask(chat, alice, "before")
        for text in (",order", ",oder nicht?"):
            await house.stage.say(chat, alice, text)
        async with house.playing(tmp_path, orders) as play:
            await play.settle()
            assert orders.runs == ["ordered"]
            assert len(play.model.requests) == 2
            assert "order number 1" in play.texts(chat)


CASES: Final = (
    ("after", "ledger.accept"),
    ("before", "ledger.taken_in"),
    ("after", "ledger.taken_in"),
    ("before", "ledger.begin_command"),
    ("after", "ledger.begin_command"),
    ("before", "ledger.end_message"),
    ("after", "ledger.end_message"),
)


@promises("D8")
@pytest.mark.parametrize(("moment", "name"), CASES)
async def test_d8_a_command_is_run_at_most_once_through_a_kill_and_answered_once(
    channel: str, tmp_path: Path, moment: Moment, name: str
) -> None:
    orders = Orders()
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, orders) as play:
            chat = play.chat()
            play.kill_at(moment, lambda held: name in held)
            await play.stage.say(chat, play.person(), ",order")
            await play.killed()
        async with house.playing(tmp_path, orders) as play:
            await play.settle()
            (told,) = play.texts(chat)
            begun = (moment, name) in CASES[4:6]
            assert told.startswith(UNKNOWN) if begun else told == "order number 1"
            assert len(orders.runs) == 1 if not begun else len(orders.runs) <= 1
            assert play.model.requests == []


@promises("D8")
async def test_d8_a_command_that_only_says_something_is_run_again_after_a_kill(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            chat = play.chat()
            play.kill_at("before", lambda held: "ledger.end_message" in held)
            await play.stage.say(chat, play.person(), ",tape.info")
            await play.killed()
        async with house.playing(tmp_path) as play:
            await play.settle()
            (told,) = play.texts(chat)
            assert told.startswith("The tape of this chat has")


@promises("B8")
async def test_b8_a_command_whose_plugin_is_gone_after_a_restart_is_refused_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, Orders()) as play:
            chat = play.chat()
            play.kill_at("after", lambda held: "ledger.taken_in" in held)
            said = await play.stage.say(chat, play.person(), ",order")
            await play.killed()
        for _ in range(2):
            async with house.playing(tmp_path) as play:
                await play.stage.redeliver(said, as_new=True)
                await play.settle()
                (told,) = play.texts(chat)
                assert told.replace("`", "") == "You may not use ,order here."
                assert play.model.requests == []


@promises("B8", "groups", "remote")
async def test_b8_what_was_no_command_when_it_was_said_is_none_after_a_restart(
    channel: str, tmp_path: Path
) -> None:
    orders = Orders()
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            group = play.stage.group()
            play.kill_at("after", lambda held: "ledger.taken_in" in held)
            said = await play.stage.say(group, play.person(), ",order", mention=False)
            await play.killed()
        async with house.playing(tmp_path, orders) as play:
            await play.stage.redeliver(said, as_new=True)
            await play.settle()
            assert (play.texts(group), orders.runs, play.model.requests) == ([], [], [])


@promises("B8", "groups", "admins")
async def test_b8_the_role_that_its_author_has_when_a_command_runs_decides(
    channel: str, tmp_path: Path
) -> None:
    orders = Orders(role=Role.ADMIN)
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, orders) as play:
            group, ann = play.stage.group(), play.person("Ann")
            play.stage.appoint(group, ann)
            play.kill_at("after", lambda held: "ledger.taken_in" in held)
            await play.stage.say(group, ann, ",order", mention=False)
            await play.killed()
        house.stage.dismiss(group, ann)
        async with house.playing(tmp_path, orders) as play:
            await play.settle()
            (told,) = play.texts(group)
            assert (told.replace("`", ""), orders.runs) == ("You may not use ,order here.", [])


@promises("A4")
async def test_a4_a_question_that_waits_and_is_edited_into_a_command_is_run_as_one(
    channel: str, tmp_path: Path
) -> None:
    orders = Orders()
    async with playing(channel, tmp_path, orders, **WAITS) as play:
        chat = play.chat()
        said = await play.stage.say(chat, play.person(), "how old is it?")
        await play.taken()
        await play.stage.edit(said, ",order")
        await play.settle()
        assert play.texts(chat) == ["order number 1"]
        await play.stage.edit(said, ",order once more")
        await play.settle()
        assert (orders.runs, play.model.requests) == (["ordered"], [])
        assert len(play.texts(chat)) == 1


EDITED: Final = (
    ("after", "ledger.accept"),
    ("before", "ledger.unask"),
    ("after", "ledger.unask"),
    ("before", "ledger.begin_command"),
    ("after", "ledger.begin_command"),
    ("after", "ledger.end_message"),
)


@promises("A4")
@pytest.mark.parametrize(("moment", "name"), EDITED)
async def test_a4_an_edit_into_a_command_is_carried_out_once_through_a_kill(
    channel: str, tmp_path: Path, moment: Moment, name: str
) -> None:
    orders = Orders()
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, orders, **WAITS) as play:
            chat = play.chat()
            said = await play.stage.say(chat, play.person(), "how old is it?")
            await play.taken()
            play.kill_at(moment, lambda held: name in held)
            await play.stage.edit(said, ",order")
            await play.killed()
        async with house.playing(tmp_path, orders, **WAITS) as play:
            await play.settle()
            (told,) = play.texts(chat)
            if name == "ledger.accept":  # its question may begin before it is taken in
                assert len(orders.runs) + len(play.model.requests) == 1
            else:
                begun = (moment, name) == ("after", "ledger.begin_command")
                assert told.startswith(UNKNOWN) if begun else told == "order number 1"
                assert play.model.requests == []
            assert len(orders.runs) <= 1
