"""Threads of tapes from before private threads were chats of their own."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.storage.ledger.ledger import ledger_schema
from tests.channels.discord.hosts import Bot, House, house
from tests.fakes.base.faults import ServerError
from tests.fakes.discord.faults import Refuse
from tests.fakes.discord.world import PRIVATE_THREAD, Channel
from tests.fakes.openai.script import Call, Text, ToolCalls

SECRET = "the zanzibar merger closes friday"


def make_old(home: Path) -> None:
    """Make the ledger one that has yet to learn of private threads, as an upgrade does."""
    (migration,) = [one for one in ledger_schema().migrations if "old_thread" in one]
    for path in home.glob("*.db"):
        with sqlite3.connect(path) as database:
            if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'inbox'").fetchone():
                database.executescript(f"DROP TABLE old_thread; {migration}")
        database.close()


@asynccontextmanager
async def upgraded(
    home: Path, settings: dict[str, str] | None = None, *, private: bool = True
) -> AsyncIterator[tuple[House, Channel]]:
    """Open a Discord whose bot heard a secret in a thread before the upgrade."""
    async with house(home) as place:
        thread = place.fake.thread(place.general, place.ada, "Layoffs")
        async with place.bot(**(settings or {})) as bot:
            place.model.enqueue(Text(("Noted: friday.",)))
            await bot.ask(SECRET, place=thread)
            bot.say(",handoff the merger is on friday", place=thread)
            await bot.settled()
        if private:
            thread.kind = PRIVATE_THREAD
        make_old(home)
        yield place, thread


async def words_outside(bot: Bot) -> str:
    """Return everything that the model and the people of the channel see of a search there."""
    seen = len(bot.model.requests)
    for tool, given in (
        ("tape_search", {"query": "zanzibar merger"}),
        ("tape_context", {"task": "when does the zanzibar merger close?"}),
    ):
        bot.model.enqueue(ToolCalls((Call("c", tool, json.dumps(given)),)), Text(("Nothing.",)))
        await bot.ask("when does the zanzibar deal close?", bot.bob)
    for line in (",tape.search query=merger", ",tape.search query=noted", ",rewind", ",tape.info"):
        bot.say(line, bot.bob)
        await bot.settled()
    requests = "\n".join(str(one.body["messages"]) for one in bot.model.requests[seen:])
    return "\n".join([requests, *bot.texts()])


@pytest.mark.parametrize("how", ["lanes", "one conversation", "file tapes"])
async def test_an_old_private_threads_words_are_seen_by_no_one_outside_it(
    tmp_path: Path, how: str
) -> None:
    more = {
        "one conversation": {"CONTEXT__MODE": "anchor"},
        "file tapes": {"TAPE__URL": f"file://{tmp_path / 'tapes'}"},
    }.get(how, {})
    async with upgraded(tmp_path, more) as (place, thread):
        for _start in range(2):
            place.fake.set_archived(thread)  # the guild's events do not name it
            async with place.bot(**more) as bot:
                unknown = bot.gateway.services.old_threads.unknown
                assert unknown == {}
                outside = await words_outside(bot)
                assert "friday" not in outside
                assert "merger is on" not in outside


async def test_an_old_threads_type_is_looked_up_once(tmp_path: Path) -> None:
    async with upgraded(tmp_path) as (place, thread):
        place.fake.set_archived(thread)
        async with place.bot() as bot:
            assert bot.gateway.services.old_threads.unknown == {}
        place.fake.fail("channel", *[ServerError(503)] * 20, channel=thread)
        async with place.bot() as bot:
            assert bot.gateway.services.old_threads.unknown == {}
            assert "friday" not in await words_outside(bot)


async def test_an_old_thread_that_everybody_reads_is_found_again(tmp_path: Path) -> None:
    async with upgraded(tmp_path, private=False) as (place, _thread), place.bot() as bot:
        assert "closes friday" in await words_outside(bot)


@pytest.mark.parametrize(
    "fault", [ServerError(503), Refuse(403, 50001, "Missing Access"), ServerError(500)]
)
async def test_an_old_thread_is_withheld_until_its_type_is_known(
    tmp_path: Path, fault: ServerError | Refuse
) -> None:
    async with upgraded(tmp_path, private=False) as (place, thread):
        place.fake.set_archived(thread)
        place.fake.fail("channel", *[fault] * 3, channel=thread)
        async with place.bot() as bot:
            assert "friday" not in await words_outside(bot)
            await bot.pass_by(600, 5)
            assert "closes friday" in await words_outside(bot)


async def test_an_old_thread_that_was_deleted_stays_withheld(tmp_path: Path) -> None:
    async with upgraded(tmp_path, private=False) as (place, thread):
        place.fake.delete_channel(thread)
        async with place.bot() as bot:
            assert "friday" not in await words_outside(bot)


async def test_a_new_message_in_an_old_public_thread_shows_what_was_said_there(
    tmp_path: Path,
) -> None:
    async with upgraded(tmp_path, private=False) as (place, thread):
        place.fake.set_archived(thread)
        place.fake.fail("channel", *[ServerError(503)] * 2, channel=thread)
        async with place.bot() as bot:
            await bot.until(lambda: bot.state == "ready")
            await bot.ask("and what was it?", place=thread)
            assert "the merger is on friday" in bot.prompts()[-1]


async def test_an_old_private_thread_goes_on_as_a_chat_of_its_own(tmp_path: Path) -> None:
    async with upgraded(tmp_path) as (place, thread), place.bot() as bot:
        await bot.ask("hello again", place=thread)
        said = [entry.meta["text"] for entry in await bot.tape(thread) if "inbox" in entry.meta]
        assert said == ["@Tapeway hello again"]
        assert "hello again" not in str(await bot.tape())


@pytest.mark.parametrize("private", [True, False])
async def test_d1_a_question_in_a_thread_from_before_the_upgrade_is_answered_once_after_it(
    tmp_path: Path, private: bool, place: House
) -> None:
    thread = place.fake.thread(place.general, place.ada, "Layoffs")
    async with place.bot() as bot:
        place.model.enqueue(Text(("never ends",), gate=asyncio.Event()))
        bot.say(f"<@{bot.fake.bot.id}> {SECRET}?", place=thread)
        await bot.until(lambda: bot.model.requests)
    if private:
        thread.kind = PRIVATE_THREAD
    make_old(tmp_path)
    place.model.enqueue(Text(("On friday.",)))
    for start in range(2):
        async with place.bot() as bot:
            await bot.settled()
            assert bot.texts(thread) == ["On friday."]
            own = [one.meta["text"] for one in await bot.tape(thread) if "inbox" in one.meta]
            assert own == ([f"@Tapeway {SECRET}?"] if private else [])
            if private and start:
                assert "friday" not in await words_outside(bot)
