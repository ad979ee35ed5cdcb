"""Erasing a person from the console: in one chat, or everywhere, and never more than that."""

from __future__ import annotations

from typing import Any

import httpx2

from gateway.context.titles import give_title
from tests.gateway.console.court import DECK, ME, status_of
from tests.gateway.console.following import asked, seen
from tests.gateway.console.readers import made
from tests.gateway.console.scene import ADMIN, GROUP, MEMBER, OTHER_GROUP, OWNER, Scene, key, until

ERASE = "/api/console/people/erase"
THEIR_GROUP, OTHER_OWNER = "-300", "5"


async def erase(browser: httpx2.AsyncClient, name: str, chat: str = "") -> int:
    """Erase a person in a chat, or everywhere; return the number of entries, when it is done."""
    body = {"what": "person", "name": name, "chat": chat, "sure": "erase"}
    begun = await browser.post(ERASE, json=body)
    assert begun.is_success, begun.text
    state: dict[str, Any] = {}

    async def is_done() -> bool:
        state.update(await seen(browser, f"people/erasures/{begun.json()['erasure']}"))
        return bool(state["state"] == "done")

    await until(is_done)
    return int(state["entries"])


async def chats_of(browser: httpx2.AsyncClient) -> set[str]:
    chats = (await browser.get(DECK)).json()["chats"]
    return {chat["title"] for chat in chats if not chat["private"]}


async def names_of(browser: httpx2.AsyncClient) -> dict[tuple[str, str], str]:
    """Return the names of those who used something today, by id and chat."""
    used = (await seen(browser, "people"))["used"]
    return {(one["person"], one["title"]): one["name"] for one in used}


async def test_an_owner_of_one_account_erases_nothing_of_another_one(scene: Scene) -> None:
    await scene.grant(OTHER_OWNER, "owner", account="second")
    await scene.say(OTHER_OWNER, "mine", THEIR_GROUP, account="second")
    for person in (OWNER, ADMIN):
        await asked(scene, f"{person} asks", person)
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin:
        await made(owner)
        await give_title(scene.gateway.services, f"plain:{GROUP}", "Plums", "plain", OWNER)
        async with scene.enter(OTHER_OWNER, account="second") as other:
            for person in (OWNER, ADMIN):
                assert await erase(other, f"plain:{person}", key(THEIR_GROUP, "second")) == 0
        assert await status_of(owner) == await status_of(admin) == 200
        await scene.say(ADMIN, "still here")
        assert await chats_of(owner) == {"Plums", f"Group {THEIR_GROUP}"}
        assert await chats_of(admin) == {"Plums"}
        assert set((await names_of(owner)).values()) == {"Person 2"}
        links = (await seen(owner, "links"))["links"]
        assert [one["by"] for one in links] == ["plain:1"]


async def test_erased_in_one_chat_a_person_stays_who_they_are_in_others(scene: Scene) -> None:
    for chat in (GROUP, OTHER_GROUP):
        await asked(scene, f"a plum of {chat}", ADMIN, chat)
    async with scene.enter(ADMIN) as admin, scene.enter(OWNER) as owner:
        for chat in (GROUP, OTHER_GROUP):
            await made(admin, chat)
        assert await erase(owner, f"plain:{ADMIN}", key(GROUP))
        assert await status_of(admin) == 200
        assert await chats_of(admin) == {f"Group {OTHER_GROUP}"}
        assert await names_of(owner) == {
            (f"plain:{ADMIN}", GROUP): "",
            (f"plain:{ADMIN}", f"Group {OTHER_GROUP}"): f"Person {ADMIN}",
        }
        assert [one["chat"] for one in (await seen(owner, "links"))["links"]] == [key(OTHER_GROUP)]
        await scene.say(ADMIN, "back again")
        assert await chats_of(admin) == {f"Group {GROUP}", f"Group {OTHER_GROUP}"}
    assert "a plum" not in await scene.words_of_tape(GROUP)
    assert "a plum" in await scene.words_of_tape(OTHER_GROUP)


async def test_somebody_of_another_platform_is_not_erased_in_a_chat(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    body = {"what": "person", "chat": key(GROUP), "sure": "erase", "name": f"discord:{ADMIN}"}
    refused = await owner.post(ERASE, json=body)
    assert refused.status_code == 422
    assert "another platform" in refused.json()["error"]
    assert "pears" in await scene.words_of_tape(GROUP)


async def test_who_is_erased_everywhere_is_signed_out_and_may_come_back(scene: Scene) -> None:
    for chat in (GROUP, OTHER_GROUP):
        await asked(scene, f"a plum of {chat}", ADMIN, chat)
        await scene.say(MEMBER, "a pear", chat)
    async with scene.holder() as holder:
        async with scene.enter(ADMIN) as admin:
            await made(admin)
            assert await erase(holder, f"plain:{ADMIN}")
            assert await status_of(admin, ME) == 401
        assert set((await names_of(holder)).values()) == {""}
        assert (await seen(holder, "links"))["links"] == []
    for chat in (GROUP, OTHER_GROUP):
        await scene.say(ADMIN, "back again", chat)
    async with scene.enter(ADMIN) as admin:
        assert await chats_of(admin) == {f"Group {GROUP}", f"Group {OTHER_GROUP}"}
