"""Administrators of a chat on its platform: which chats they see, and what it costs to find out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import pytest

from channels.message import Quote
from gateway.access.administrators import AT_ONCE
from gateway.access.console_door import FOR_WHOM, ConsoleGuest
from gateway.access.roles import KNOWN_SECONDS
from gateway.app import console_parts
from gateway.console.rights import Rights
from gateway.console.screens.links import NOT_SHARED
from gateway.settings.bounds import BOUNDS
from tape.entry import Entry
from tape.query import Query
from tests.fakes.openai.script import Failure
from tests.gateway.console.court import (
    ANN,
    BOB,
    ME,
    Townhall,
    WatchClock,
    administrators_of,
    court_of,
    status_of,
    until_asked,
)
from tests.gateway.console.following import following, titles
from tests.gateway.console.scene import (
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    STRANGER,
    Scene,
    hasty,
    key,
    running_scene,
)
from tests.kit.clock import ManualClock, settle


async def test_an_administrator_sees_the_chat_as_an_admin_and_nothing_else(
    tmp_path: Path, database: dict[str, str], hall: Townhall, watch: WatchClock
) -> None:
    async with court_of(tmp_path, hall, watch, **database) as court, court.enter(ANN) as browser:
        await court.say(STRANGER, "psst", STRANGER)
        me = (await browser.get(ME)).json()
        assert (me["role"], me["instance"]) == ("admin", False)
        for path in ("deck", "chats"):
            assert await titles(browser, path) == {"Group -100"}
        seen = await browser.get(f"/api/console/chats/{key(GROUP)}")
        assert seen.is_success
        for chat in (OTHER_GROUP, STRANGER, OWNER, ANN):  # their own private chat is none of it
            assert await status_of(browser, f"/api/console/chats/{key(chat)}") == 404
        people = (await browser.get("/api/console/people")).json()
        assert (people["rules"], people["waiting"], people["openings"]) == ([], [], [])
        assert await status_of(browser, "/api/console/settings") == 403
        for path in ("people/grant", "people/revoke", "people/pair", "people/erase"):
            assert (await browser.post(f"/api/console/{path}", json={})).status_code == 403


async def test_failed_rows_of_the_chat_are_theirs_to_try_again_and_of_no_other(
    court: Scene,
) -> None:
    for chat in (GROUP, OTHER_GROUP):
        court.server.enqueue(Failure(400, "no"))
        await court.say(BOB, "answer me", chat, addressed=True)
    async with court.enter(ANN) as browser, court.holder() as holder:
        every = (await holder.get("/api/console/ledger")).json()["failed"]
        assert {row["chat"] for row in every} == {key(GROUP), key(OTHER_GROUP)}
        own = (await browser.get("/api/console/ledger")).json()["failed"]
        assert own == [row for row in every if row["chat"] == key(GROUP)]
        found = {}
        for row in every:
            path = f"/api/console/ledger/{row['row']}/retry"
            found[row["chat"]] = (await browser.post(path, json={})).status_code
    assert found == {key(GROUP): 200, key(OTHER_GROUP): 404}


async def test_two_administrators_at_once_see_each_their_chat(court: Scene, hall: Townhall) -> None:
    hall.admins.add((OTHER_GROUP, BOB))
    async with court.enter(ANN) as ann, court.enter(BOB) as bob:
        found: dict[str, set[str]] = {}

        async def look(name: str, browser: httpx2.AsyncClient) -> None:
            found[name] = await titles(browser)

        async with anyio.create_task_group() as group:
            group.start_soon(look, "ann", ann)
            group.start_soon(look, "bob", bob)
    assert found == {"ann": {"Group -100"}, "bob": {"Group -200"}}


async def test_who_is_only_quoted_in_a_chat_does_not_see_it_as_its_administrator(
    court: Scene, hall: Townhall
) -> None:
    await court.say(BOB, "so it is", GROUP, quote=Quote("Person 5", "5", "plums"))
    hall.admins.add((GROUP, "5"))
    assert await court.ask_for_link("5") == FOR_WHOM
    hall.admins.add((OTHER_GROUP, "5"))
    await court.say("5", "here I say it", OTHER_GROUP)
    async with court.enter("5") as browser:
        assert await titles(browser) == {"Group -200"}
        assert await status_of(browser, f"/api/console/chats/{key(GROUP)}") == 404


async def test_members_and_strangers_read_once_a_day_who_may_and_name_no_chat(
    court: Scene, hall: Townhall
) -> None:
    for person in (BOB, STRANGER):
        before = len(hall.posts)
        assert await court.ask_for_link(person) == FOR_WHOM
        for text in (",console", ",console") + (
            ',console "',
            ",console\u00a0x",
            ",console now",
        ) * 2:
            await court.say(person, text, person, addressed=True)
        assert len(hall.posts) == before + 2  # what is no such command, as any other message
        assert "Group" not in FOR_WHOM
        assert "-100" not in FOR_WHOM
    await court.grant(MEMBER, "member")
    for _ in range(2):  # their private chat is open: each command gets its answer
        assert await court.ask_for_link(MEMBER) == FOR_WHOM


async def test_who_has_written_nowhere_costs_no_question_to_the_platform(
    court: Scene, hall: Townhall
) -> None:
    await court.ask_for_link(STRANGER)
    assert hall.asked == []
    await court.ask_for_link(ANN)
    assert set(hall.asked) <= {GROUP, OTHER_GROUP}


async def test_a_group_that_nobody_opened_makes_nobody_an_administrator(
    tmp_path: Path, hall: Townhall
) -> None:
    async with running_scene(Scene, tmp_path, {}, None, hall) as scene:  # open to all
        hall.admins.add(("-300", ANN))
        await scene.say(ANN, "a group of my own", "-300")
        assert await scene.ask_for_link(ANN) == FOR_WHOM
        assert hall.asked == []
        await scene.grant("-300", "member")
        async with scene.enter(ANN) as browser:
            assert await titles(browser) == {"Group -300"}
            await scene.grant("-300", "none")
            assert await status_of(browser) == 403


async def test_an_owner_keeps_an_administrator_out_by_taking_the_role_away(
    court: Scene, hall: Townhall
) -> None:
    async with court.enter(ANN) as browser:
        await court.grant(ANN, "none")
        assert await status_of(browser) == 403
        before = len(hall.posts)
        await court.say(ANN, ",reset", GROUP, addressed=True)
        assert "Only admins may" in hall.posts[before].text
        await court.grant(ANN, "member")  # which opens their private chat, too
        hall.admins.add((ANN, ANN))
        await court.say(ANN, "hello", ANN)
        assert await titles(browser) == {"Group -100"}


async def test_who_is_no_administrator_any_more_is_out_once_the_answer_has_ended(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    hall.admins.add((OTHER_GROUP, ANN))
    async with court.enter(ANN) as browser:
        assert await titles(browser) == {"Group -100", "Group -200"}
        hall.admins.discard((GROUP, ANN))
        watch.passed += KNOWN_SECONDS
        assert await status_of(browser, f"/api/console/chats/{key(GROUP)}") == 404
        assert await titles(browser) == {"Group -200"}
        hall.admins.clear()
        watch.passed += KNOWN_SECONDS
        assert await status_of(browser) == 403
        assert await status_of(browser, f"/api/console/chats/{key(OTHER_GROUP)}") == 403


async def test_many_chats_are_asked_about_little_by_little(court: Scene, hall: Townhall) -> None:
    said, clock = await court.say(ANN, "here", GROUP), ManualClock()
    chats = [str(-1000 - number) for number in range(60)]
    for chat in chats:
        await court.grant(chat, "member")
        hall.admins.add((chat, ANN))
    messages = [replace(said, chat_id=chat) for chat in chats]
    administrators = administrators_of(court, clock)
    most = BOUNDS.rights_asked
    for expected in (most, most):
        await administrators.ask(messages)
        assert hall.asked == chats[:expected]
    await clock.advance(5)  # one more each second
    await administrators.ask(messages)
    assert hall.asked == chats[: most + 5]
    known = [one.chat_id for one in messages if administrators.administers(one)]
    assert known == hall.asked


async def test_of_many_chats_those_are_asked_about_first_of_which_it_was_true(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    said = []
    for number in range(12):
        await court.grant(f"-{1000 + number}", "member")
        said.append(await court.say(ANN, "here, too", f"-{1000 + number}"))
    hall.admins = {("-1011", ANN)}
    administrators = administrators_of(court)
    await administrators.ask(said)
    assert len(hall.asked) == len(said)
    watch.passed += KNOWN_SECONDS
    hall.asked.clear()
    await administrators.ask(said, one=True)
    assert hall.asked[0] == "-1011"
    assert len(hall.asked) == AT_ONCE
    assert [one.chat_id for one in said if administrators.administers(one)] == ["-1011"]


async def test_who_asks_twice_at_once_costs_one_question(court: Scene, hall: Townhall) -> None:
    message, hall.gate = await court.say(ANN, "again", GROUP), anyio.Event()
    administrators = administrators_of(court)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(administrators.ask, [message])
        await until_asked(hall)
        await settle()
        assert hall.asked == [GROUP]
        hall.gate.set()
    assert hall.asked == [GROUP]


@hasty
async def test_an_open_stream_hears_of_chats_that_come_and_ends_with_the_last_one(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as browser, following(browser) as follower:
        await court.say(BOB, "in a chat that is not hers", OTHER_GROUP)
        await court.say(BOB, "in hers", GROUP)
        await follower.hears(("chat", key(GROUP)))
        assert ("chat", key(OTHER_GROUP)) not in follower.heard
        since = len(follower.heard)
        hall.admins.add((OTHER_GROUP, ANN))
        watch.passed += KNOWN_SECONDS
        await follower.hears(("all", ""), since)
        await court.say(BOB, "in hers, too", OTHER_GROUP)
        await follower.hears(("chat", key(OTHER_GROUP)), since)
        hall.admins.clear()
        watch.passed += KNOWN_SECONDS
        await follower.is_sent_away()
        assert await status_of(browser, "/api/console/live") == 403


async def test_an_open_stream_reads_no_tape_to_find_out_what_is_administered(
    court: Scene, hall: Townhall, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall.admins.add((OTHER_GROUP, ANN))
    read: list[Query] = []
    reads = court.gateway.pulse.reads
    ask = reads.query

    async def counted(query: Query) -> list[Entry]:
        read.append(query)
        return await ask(query)

    monkeypatch.setattr(reads, "query", counted)
    visitor = await Rights(console_parts(court.gateway)).visitor_of(ConsoleGuest("plain", ANN))
    assert visitor is not None
    read.clear()
    assert await visitor.administered() == {f"plain:{GROUP}", f"plain:{OTHER_GROUP}"}
    assert read == []
    assert {chat.title for chat in await visitor.chats()} == {"Group -100", "Group -200"}
    assert len(read) == 2


async def test_a_link_of_an_administrator_is_shut_with_the_role(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as browser, court.outside() as reader:
        body = {"chat": key(OTHER_GROUP), "hours": 24}
        assert (await browser.post("/api/console/links", json=body)).status_code == 404
        body = {"chat": key(GROUP), "hours": 24}
        made = (await browser.post("/api/console/links", json=body)).json()
        opened = await reader.post("/console/link", json={"link": made["secret"]})
        assert opened.is_success
        path = f"/api/console/tape/{key(GROUP)}/reader"
        assert await status_of(reader, path) == 200
        hall.admins.clear()
        watch.passed += KNOWN_SECONDS
        assert await status_of(reader, path) == 403


async def test_a_private_thread_is_seen_by_who_has_written_there_and_not_shown_by_a_link(
    court: Scene, hall: Townhall
) -> None:
    for person, chat in ((BOB, "-101"), (ANN, "-102"), (BOB, "-102")):
        await court.say(person, "in a thread", chat, parent_id=GROUP)
        hall.admins.add((chat, ANN))
    async with court.enter(ANN) as browser:
        assert await status_of(browser, f"/api/console/chats/{key('-101')}") == 404
        assert await status_of(browser, f"/api/console/chats/{key('-102')}") == 200
        body = {"chat": key("-102"), "hours": 1}
        refused = await browser.post("/api/console/links", json=body)
    assert (refused.status_code, refused.json()) == (403, {"error": NOT_SHARED})
