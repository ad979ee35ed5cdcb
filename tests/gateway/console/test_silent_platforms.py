"""Administrators of a chat while their platform does not say that they are."""

from __future__ import annotations

from typing import Final

import pytest

from gateway.access.administrators import AHEAD_SECONDS, UNKNOWN
from gateway.access.console_door import FOR_WHOM, NOT_NOW
from gateway.access.roles import FAILED_SECONDS, KNOWN_SECONDS
from gateway.assembly import Internals
from gateway.console.reads import ConsoleBusy
from gateway.console.rights import LINK_UNKNOWN
from gateway.settings.bounds import Bounds
from tests.gateway.console.court import (
    ANN,
    BOB,
    DECK,
    Townhall,
    WatchClock,
    administrators_of,
    status_of,
)
from tests.gateway.console.following import following, titles
from tests.gateway.console.scene import GROUP, OTHER_GROUP, OWNER, STRANGER, Scene, hasty, key


async def test_a_platform_that_is_away_lets_nobody_in(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as browser:
        hall.away = True
        assert await status_of(browser) == 200  # it has answered of late
        watch.passed += KNOWN_SECONDS
        refused = await browser.get(DECK)
        assert (refused.status_code, refused.json()) == (503, {"error": UNKNOWN})
        assert refused.headers["retry-after"] == "5"
        asked = len(hall.asked)
        assert await status_of(browser) == 503
        assert len(hall.asked) == asked  # it is left alone for some seconds
        assert await court.ask_for_link(ANN) == NOT_NOW
        posts = len(hall.posts)
        await court.say(ANN, ",console", ANN, addressed=True)
        assert len(hall.posts) == posts  # once a day, as in any closed chat
        assert await court.ask_for_link(STRANGER) == FOR_WHOM  # who has written nowhere
        hall.away = False
        watch.passed += FAILED_SECONDS
        assert await status_of(browser) == 200


async def test_a_platform_that_refuses_to_say_has_answered(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as browser:
        hall.refuses = True
        watch.passed += KNOWN_SECONDS
        assert await status_of(browser) == 403
        assert await court.ask_for_link(ANN) == FOR_WHOM


TWO_QUESTIONS: Final = Internals(bounds=Bounds(rights_asked=2))


@pytest.mark.parametrize("internals", [TWO_QUESTIONS], ids=["two"])
async def test_who_may_not_be_asked_about_any_more_is_asked_to_come_back(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as browser:
        code = await court.code(ANN)
        watch.passed += KNOWN_SECONDS
        assert await court.ask_for_link(BOB) == FOR_WHOM  # he has used up the questions
        assert await status_of(browser) == 503
        assert (await browser.post("/console/code", json={"code": code})).status_code == 503
        watch.passed += 1
        assert await status_of(browser) == 200
        assert (await browser.post("/console/code", json={"code": code})).is_success


async def test_what_one_platform_s_chat_is_unknown_hides_that_chat_alone(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    hall.admins.add((OTHER_GROUP, ANN))
    async with court.enter(ANN) as browser:
        assert await titles(browser) == {"Group -100", "Group -200"}
        watch.passed += KNOWN_SECONDS
        hall.silent.add(OTHER_GROUP)
        assert await titles(browser) == {"Group -100"}
        assert await status_of(browser, f"/api/console/chats/{key(OTHER_GROUP)}") == 503
        assert await status_of(browser, f"/api/console/chats/{key('-999')}") == 404
        async with following(browser) as follower:
            await court.say(BOB, "of which nothing is known", OTHER_GROUP)
            await court.say(BOB, "of hers", GROUP)
            await follower.hears(("chat", key(GROUP)))
            assert ("chat", key(OTHER_GROUP)) not in follower.heard
        hall.silent.clear()
        watch.passed += FAILED_SECONDS
        assert await titles(browser) == {"Group -100", "Group -200"}


async def test_a_platform_that_fails_ahead_of_time_is_left_alone_for_a_while(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    message, administrators = await court.say(ANN, "here", GROUP), administrators_of(court)
    await administrators.ask([message])
    hall.away = True
    watch.passed += KNOWN_SECONDS - AHEAD_SECONDS + 1
    for seconds, questions in ((0, 2), (5, 2), (FAILED_SECONDS - 5, 3)):
        watch.passed += seconds
        await administrators.ask([message], ahead=AHEAD_SECONDS)
        assert len(hall.asked) == questions
        assert administrators.administers(message)  # the last answer still counts
    watch.passed += AHEAD_SECONDS - FAILED_SECONDS
    assert not administrators.administers(message)
    assert administrators.is_unknown(message)
    await administrators.ask([message], ahead=AHEAD_SECONDS)
    assert len(hall.asked) == 4


@hasty
async def test_an_open_stream_says_that_nothing_is_known_and_goes_on_when_it_is(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as browser, following(browser) as follower:
        await court.say(BOB, "in hers", GROUP)
        await follower.hears(("chat", key(GROUP)))
        hall.away = True
        watch.passed += KNOWN_SECONDS
        await follower.is_unsure()
        since = len(follower.heard)
        await court.say(BOB, "while nobody knows", GROUP)
        await follower.is_unsure(follower.unsure + 4)  # the gateway looks more often than that
        assert follower.heard[since:] == []
        hall.away = False
        watch.passed += FAILED_SECONDS
        await follower.hears(("all", ""), since)
        await court.say(BOB, "in hers again", GROUP)
        await follower.hears(("chat", key(GROUP)), since)
        assert not follower.is_gone


async def test_a_link_of_an_administrator_waits_for_a_platform_that_is_away(
    court: Scene, hall: Townhall, watch: WatchClock
) -> None:
    async with court.enter(ANN) as ann, court.enter(OWNER) as owner, court.outside() as reader:
        body = {"chat": key(GROUP), "hours": 24}
        made = (await ann.post("/api/console/links", json=body)).json()
        assert (await reader.post("/console/link", json={"link": made["secret"]})).is_success
        path = f"/api/console/tape/{key(GROUP)}"
        hall.away = True
        watch.passed += KNOWN_SECONDS
        for rest in ("/reader", "/page", ""):
            refused = await reader.get(f"{path}{rest}")
            assert refused.status_code == 503, rest
            assert refused.headers["retry-after"] == "5"
        assert (await reader.get(f"{path}/reader")).json() == {"error": LINK_UNKNOWN}
        later = await reader.post("/console/link", json={"link": made["secret"]})
        assert (later.status_code, later.json()) == (503, {"error": LINK_UNKNOWN})
        (link,) = (await owner.get("/api/console/links")).json()["links"]
        assert link["state"] == "unsure"
        async with court.outside() as other:
            assert await status_of(other, f"{path}/page") == 401
        body = {"chat": key(GROUP), "hours": 1}
        shown = (await owner.post("/api/console/links", json=body)).json()
        assert await status_of(ann, f"{path}/page") == 503
        headers = {"X-Forwarded-For": "203.0.113.10"}
        both = await ann.post("/console/link", json={"link": shown["secret"]}, headers=headers)
        assert both.is_success
        assert await status_of(ann, f"{path}/page") == 200  # by the owner's link
        hall.away = False
        watch.passed += FAILED_SECONDS
        for rest in ("/reader", "/page", ""):
            assert await status_of(reader, f"{path}{rest}") == 200
        links = (await owner.get("/api/console/links")).json()["links"]
        assert [link["state"] for link in links] == ["open", "open"]


async def test_a_busy_console_says_so_to_an_administrator(
    court: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise ConsoleBusy

    monkeypatch.setattr(court.gateway.pulse.reads, "select", refuse)
    assert await court.ask_for_link(ANN) == NOT_NOW
