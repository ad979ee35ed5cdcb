"""What each kind of person sees of the console, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx2

from agent.tool import Role
from channels.message import Quote
from gateway.access.console_door import OPENING_DAYS, ConsoleGuest
from gateway.console.reads import ConsoleReads
from gateway.console.screens.people import MAX_OPENINGS, OWNERS_STAY
from gateway.console.visitor import Visitor
from gateway.storage.ledger.rows import run_alone
from tape.unit_of_work import Row, Unit
from tests.gateway.console.court import administrators_of
from tests.gateway.console.following import titles
from tests.gateway.console.scene import (
    ADMIN,
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    STRANGER,
    LeapingClock,
    Scene,
    key,
)

SCREENS = ("me", "deck", "chats", "ledger", "channels", "people", "money", "money.csv", "live")
POSTS = ("people/grant", "people/revoke", "people/pair", "people/erase", "ledger/in-1/retry")


@asynccontextmanager
async def people(scene: Scene) -> AsyncIterator[dict[str, httpx2.AsyncClient]]:
    """Have the browsers of each kind of person."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        found = {
            "holder": await enter(scene.holder()),
            "owner": await enter(scene.enter(OWNER)),
            "admin": await enter(scene.enter(ADMIN)),
            "stranger": await enter(scene.outside()),
            "guest": await enter(scene.outside()),
        }
        invited = await found["holder"].post("/api/invitations", json={"room": "lobby"})
        await found["guest"].post("/login/code", json=invited.json())
        yield found


async def openings(scene: Scene) -> list[Row]:
    """Return who opened private chats, of all chats."""
    return await scene.rows("console_openings", every=1, sessions="[]", limit=9)


async def test_who_has_no_role_sees_nothing(scene: Scene) -> None:
    async with people(scene) as browsers:
        for name, status in (("stranger", 401), ("guest", 401)):
            for path in (*SCREENS, "settings", f"chats/{key(GROUP)}"):
                answer = await browsers[name].get(f"/api/console/{path}")
                assert answer.status_code == status, (name, path)
                assert list(answer.json()) == ["error"]
                assert answer.headers["cache-control"] == "no-store"
            for path in POSTS:
                answer = await browsers[name].post(f"/api/console/{path}", json={})
                assert answer.status_code == status, (name, path)


async def test_an_owner_sees_the_account_and_an_admin_the_chats_of_theirs(scene: Scene) -> None:
    await scene.say(STRANGER, "in the group")
    await scene.say(ADMIN, "here I am", OTHER_GROUP)
    await scene.say(STRANGER, "psst", STRANGER)
    await scene.say(STRANGER, "elsewhere", "-300", account="second")
    seen = {"Group -100", "Group -200", "Person 4"}
    own = {"Person 1", "Person 2"}  # in private, they asked for their links
    async with people(scene) as browsers:
        for path in ("deck", "chats"):
            # Both roles are for every account of `plain`; an admin sees only where they write.
            assert await titles(browsers["holder"], path) == seen | own | {"Group -300"}
            assert await titles(browsers["owner"], path) == seen | own | {"Group -300"}
            assert await titles(browsers["admin"], path) == {"Group -200", "Person 2"}


async def test_a_chat_that_one_may_not_see_is_like_none(scene: Scene) -> None:
    await scene.say(STRANGER, "in the group")
    await scene.say(STRANGER, "elsewhere", "-300", account="second")
    await scene.grant("5", "owner", account="second")
    chats = {"group": key(GROUP), "second": key("-300", "second")}
    async with people(scene) as browsers, scene.enter("5", account="second") as other:
        for browser, hidden in ((browsers["admin"], "group"), (other, "group")):
            path = f"/api/console/chats/{chats[hidden]}"
            assert (await browsers["holder"].get(path)).is_success
            answers = [
                await browser.get(f"/api/console/chats/{one}")
                for one in (chats[hidden], key("-999"), "no-key!")
            ]
            assert [one.status_code for one in answers] == [404] * 3
            assert len({one.text for one in answers}) == 1
        assert (await other.get(f"/api/console/chats/{chats['second']}")).is_success


async def test_who_is_only_quoted_in_a_chat_does_not_see_it(scene: Scene) -> None:
    quote = Quote("Person 2", ADMIN, "plums")
    await scene.say(STRANGER, "plums", STRANGER, forwarded=quote)
    await scene.say(STRANGER, "indeed", GROUP, quote=quote)
    known = await scene.rows("takes_part", person=ADMIN, session_id="")
    assert {row["session_id"] for row in known} >= {"plain:-100", "plain:4"}
    async with scene.enter(ADMIN) as browser:
        assert await titles(browser) == {"Person 2"}


async def test_an_admin_of_one_account_is_nobody_in_another(scene: Scene) -> None:
    await scene.say(ADMIN, "same id, other person", "-300", account="second")
    async with scene.enter(ADMIN) as browser:
        assert await titles(browser) == {"Person 2"}
    text = await scene.ask_for_link(ADMIN, account="third")
    assert "#code=" in text  # the role is for every account of `plain`
    await scene.grant("5", "admin", account="second")
    assert "#code=" not in await scene.ask_for_link("5")
    assert "#code=" in await scene.ask_for_link("5", account="second")


async def test_an_owner_of_one_account_sees_no_other(scene: Scene) -> None:
    await scene.grant("5", "owner", account="second")
    await scene.say(STRANGER, "in the group")
    await scene.say(STRANGER, "elsewhere", "-300", account="second")
    async with scene.enter("5", account="second") as browser:
        assert await titles(browser) == {"Group -300", "Person 5"}
        found = (await browser.get("/api/console/people")).json()
        assert {rule["account_id"] for rule in found["rules"]} == {"plain:second"}
        for account in ("", "third"):
            body = {"who": "plain:9", "role": "admin", "account": account}
            refused = await browser.post("/api/console/people/grant", json=body)
            assert refused.status_code == 403
        body = {"who": "plain:9", "role": "admin", "account": "second"}
        assert (await browser.post("/api/console/people/grant", json=body)).is_success
    assert scene.gateway.parts.requests.openings.access.rule_of("plain", "second", "9") == "admin"
    assert scene.gateway.parts.requests.openings.access.rule_of("plain", "", "9") is None


async def test_opening_a_private_chat_is_recorded_once_an_hour(scene: Scene) -> None:
    await scene.say(STRANGER, "psst", STRANGER)
    await scene.say(STRANGER, "in the group")
    async with people(scene) as browsers:
        for path in ("deck", "ledger", "people"):
            assert "psst" not in (await browsers["owner"].get(f"/api/console/{path}")).text
        assert await openings(scene) == []
        for name in ("owner", "owner", "holder"):
            for chat in (STRANGER, GROUP, OWNER):
                assert (await browsers[name].get(f"/api/console/chats/{key(chat)}")).is_success
        rows = await openings(scene)
        shown = (await browsers["owner"].get("/api/console/people")).json()["openings"]
    found = {(row["person"], row["session_id"]) for row in rows}
    assert len(rows) == len(found)
    holder = {person for person, _chat in found if person.startswith("web:")}
    assert len(holder) == 1
    one = holder.pop()
    assert found == {("plain:1", "plain:4"), (one, "plain:4"), (one, "plain:1")}
    assert {(row["person"], row["title"]) for row in shown} >= {("plain:1", "Person 4")}


async def test_a_chat_that_is_read_on_writes_its_opening_once_an_hour(
    scene: Scene, clock: LeapingClock
) -> None:
    await scene.say(STRANGER, "psst", STRANGER)
    path = f"/api/console/chats/{key(STRANGER)}"
    clock.ahead += timedelta(minutes=60 - clock.now().minute)  # no hour ends during the test
    async with scene.enter(OWNER) as owner, scene.holder() as holder:
        for browser in (owner, holder):
            assert (await browser.get(path)).is_success
            assert len(await openings(scene)) == 1
            await run_alone(scene.gateway.services.store, "ledger.drop_openings", until="9999")
            assert (await browser.get(path)).is_success
            assert await openings(scene) == []  # nothing was written
        clock.ahead += timedelta(hours=1)
        assert (await owner.get(path)).is_success
    assert [row["person"] for row in await openings(scene)] == ["plain:1"]


async def test_it_is_kept_for_90_days_who_opened_a_private_chat(
    scene: Scene, clock: LeapingClock
) -> None:
    await scene.say(STRANGER, "psst", STRANGER)
    async with scene.enter(OWNER) as browser:
        assert (await browser.get(f"/api/console/chats/{key(STRANGER)}")).is_success
    for days, kept in ((OPENING_DAYS - 1, 1), (2, 0)):
        clock.ahead += timedelta(days=days)
        async with scene.enter(ADMIN):
            assert len(await openings(scene)) == kept


async def test_many_openings_in_other_accounts_hide_none_of_one_s_own(scene: Scene) -> None:
    await scene.grant("5", "owner", account="second")
    await scene.say(STRANGER, "psst", STRANGER, account="second")
    unit = Unit()
    for number in range(MAX_OPENINGS):
        moment = f"9998-01-01T00:00:00.{number:06}+00:00"
        unit.run(
            "ledger.record_opening",
            person=f"plain:{number}",
            session_id=f"plain:{OWNER}",
            hour=moment[:13],
            opened_at=moment,
        )
    async with scene.enter("5", account="second") as browser:
        path = f"/api/console/chats/{key(STRANGER, 'second')}"
        assert (await browser.get(path)).is_success
        await scene.gateway.services.store.commit(unit)
        found = (await browser.get("/api/console/people")).json()["openings"]
    assert [(row["person"], row["title"]) for row in found] == [("plain:5", "Person 4")]


async def test_an_owner_of_one_account_is_not_removed_for_all_accounts(scene: Scene) -> None:
    access = scene.gateway.parts.requests.openings.access
    await scene.grant("5", "owner", account="second")
    async with scene.enter(OWNER) as owner, scene.holder() as holder:
        for action in ("grant", "revoke"):
            body = {"who": "plain:5", "role": "member"}
            refused = await owner.post(f"/api/console/people/{action}", json=body)
            assert (refused.status_code, refused.json()) == (403, {"error": OWNERS_STAY})
        assert access.rule_of("plain", "second", "5") == "owner"
        body = {"who": "plain:5"}
        assert (await holder.post("/api/console/people/revoke", json=body)).is_success
    assert access.rule_of("plain", "second", "5") == "none"


async def test_only_owners_change_what_people_may_do_and_no_owner_another_one(scene: Scene) -> None:
    access = scene.gateway.parts.requests.openings.access
    async with people(scene) as browsers:
        give = {"who": f"plain:{MEMBER}", "role": "admin"}
        path = "/api/console/people/grant"
        assert (await browsers["admin"].post(path, json=give)).status_code == 403
        assert (await browsers["owner"].post(path, json=give)).is_success
        assert access.rule_of("plain", "", MEMBER) == "admin"
        rule = next(one for one in access.rules() if one.id == MEMBER)
        assert rule.granted_by == "plain:1"
        crown = {"who": f"plain:{MEMBER}", "role": "owner"}
        assert (await browsers["owner"].post(path, json=crown)).status_code == 403
        assert (await browsers["holder"].post(path, json=crown)).is_success
        fire = {"who": f"plain:{MEMBER}"}
        path = "/api/console/people/revoke"
        assert (await browsers["owner"].post(path, json=fire)).status_code == 403
        assert (await browsers["holder"].post(path, json=fire)).is_success
        assert access.rule_of("plain", "", MEMBER) == "none"
        named = {"who": "plain:former"}
        assert (await browsers["holder"].post(path, json=named)).is_success
        other = {"who": "discord:123", "role": "admin"}
        path = "/api/console/people/grant"
        assert (await browsers["owner"].post(path, json=other)).status_code == 403


async def test_pairing_and_settings_are_the_instance_owner_s(scene: Scene) -> None:
    async with people(scene) as browsers:
        for name in ("owner", "admin"):
            assert (await browsers[name].get("/api/console/settings")).status_code == 403
            assert (
                await browsers[name].post("/api/console/people/pair", json={})
            ).status_code == 403
            assert (await browsers[name].get("/api/console/people")).json()["pairing"] is False
        assert (await browsers["holder"].get("/api/console/settings")).is_success


async def test_requests_of_other_sites_are_refused(scene: Scene) -> None:
    evil = {"Origin": "https://evil.example"}
    async with scene.enter(OWNER) as browser:
        for path in ("/api/console/people/grant", "/console/code", "/api/console/leave"):
            answer = await browser.post(path, json={}, headers=evil)
            assert answer.status_code == 403
            assert "other sites" in answer.text
        cross = {"Sec-Fetch-Site": "cross-site"}
        assert (await browser.get("/api/console/me", headers=cross)).status_code == 403
        assert (await browser.get("/api/console/me")).status_code == 200


class CountedReads(ConsoleReads):
    """Reads that count those of tapes."""

    answered = 0

    async def _answer(self, asked: list[Any]) -> None:
        self.answered += 1
        await super()._answer(asked)


async def test_the_chats_of_an_admin_are_found_in_one_read(scene: Scene) -> None:
    groups = {f"plain:-{number}" for number in range(600, 612)}
    for group in groups:
        await scene.say(ADMIN, "here I am", group.removeprefix("plain:"))
    await scene.say(MEMBER, "not of the admin", OTHER_GROUP)
    access, reads = (
        scene.gateway.parts.requests.openings.access,
        CountedReads(scene.gateway.services),
    )
    guest = ConsoleGuest("plain", ADMIN)
    about = (access, reads, administrators_of(scene))
    visitor = Visitor(f"plain:{ADMIN}", "", Role.ADMIN, guest, True, *about)
    assert {chat.session_id for chat in await visitor.chats()} == groups
    assert (await visitor.scope())["every"] == 0
    assert reads.answered == 1
    await reads.close()
