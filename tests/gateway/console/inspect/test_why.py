"""Why a message went its way, for each kind of person."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.storage.ledger.rows import run_alone
from tests.fakes.openai.script import Text
from tests.gateway.console.inspect.asking import EVERY, PRIVATE
from tests.gateway.console.inspect.people import GROUP, Client, House, get, house, said
from tests.kit.gateways import tape_of

LATER = "sk-set-while-it-runs-5d2c"


async def test_the_owner_sees_the_way_of_a_message_and_the_story_behind_it(
    tmp_path: Path, database: dict[str, str]
) -> None:
    async with house(tmp_path, **database) as home, home.owner() as owner:
        home.server.enqueue(Text(("It is **dead**.",)))
        await home.hear(said(1, "is the plum tree dead?"))
        report = await get(owner, "why/1")
    assert [joint["condition"].replace("slow", "ok") for joint in report["joints"]] == [
        *("ok", "ok", "ok", "ok", "ok", "unused", "ok", "ok")
    ]
    place = report["place"]
    assert (place["row"], place["status"], place["name"]) == (1, "done", "Alice")
    assert place["text"] == "is the plum tree dead?"
    assert report["chat"]["chat"] == home.chat
    assert report["chat"]["private"] is False
    assert report["answer"] == "It is dead."
    assert 'the answer: "It is dead."' in [line["says"] for line in report["lines"]]


async def test_a_chinese_page_reads_of_its_conversation_in_chinese(
    home: House, owner: Client
) -> None:
    home.server.enqueue(Text(("It is dead.",)))
    await home.hear(said(1, "is the plum tree dead?"))
    said_in = {}
    for accepted in ("zh-CN,zh;q=0.9", "en"):
        owner.headers["Accept-Language"] = accepted
        lines = (await get(owner, "why/1"))["lines"]
        found = [line["data"]["conversation"] for line in lines if "conversation" in line["data"]]
        said_in[accepted] = found[0]["says"]
    assert said_in["zh-CN,zh;q=0.9"].startswith("它开始了一个新对话")
    assert said_in["en"].startswith("It starts a new conversation, because there was nothing")


async def test_a_secret_that_is_set_while_the_gateway_runs_is_taken_out_too(
    home: House, owner: Client
) -> None:
    await home.hear(said(1, f"my key is {LATER}", addressed=False))
    explained = "/api/explain?message=in-1"
    assert LATER in str(await get(owner, "why/1"))
    assert LATER in (await owner.get(explained)).text
    home.gateway.services.redactor.learn(LATER)  # as the settings' screen does
    assert LATER not in str(await get(owner, "why/1"))
    answer = await owner.get(explained)
    assert (answer.status_code, LATER in answer.text) == (200, False)


async def test_what_nobody_asked_says_why_it_was_not_answered(home: House, owner: Client) -> None:
    await home.hear(said(1, "lunch at noon?", addressed=False, why="no mention"))
    report = await get(owner, "why/1")
    ends = [joint for joint in report["joints"] if joint["condition"] == "ended"]
    assert [(joint["name"], joint["says"]) for joint in ends] == [
        ("lane", "not addressed: no mention")
    ]
    assert report["place"]["status"] == "taped"


@pytest.mark.parametrize(
    ("role", "wrote", "status"),
    [
        ("owner", False, 200),
        ("admin", True, 200),
        ("admin", False, 404),
        ("member", True, 403),
        ("stranger", True, 401),
    ],
)
async def test_a_message_is_shown_to_who_may_see_its_chat(
    home: House, role: str, wrote: bool, status: int
) -> None:
    home.server.enqueue(Text(("It is dead.",)))
    await home.hear(said(1, "is the plum tree dead?"))
    if wrote:
        await home.hear(said(2, "I planted it", "8", addressed=False))
    async with home.guest("8", role) as guest:
        answer = await get(guest, "why/1", status)
        missing = await get(guest, "why/99", status if status != 200 else 404)
    if status == 404:
        assert answer == missing
    assert ("plum tree" in str(answer)) == (status == 200)


async def test_opening_a_private_chat_is_recorded_once_an_hour_and_not_for_its_person(
    home: House,
) -> None:
    home.server.enqueue(Text(("It is dead.",)))
    await home.hear(said(1, "between us", **PRIVATE))
    async with home.guest("8", "owner") as other, home.guest("7", "owner") as own:
        for client in (other, own, other):
            report = await get(client, "why/1")
            assert report["chat"]["private"] is True
    store = home.gateway.services.store
    openings = await store.select("ledger.console_openings", EVERY)
    assert [(row["person"], row["session_id"]) for row in openings] == [("plain:8", "plain:7")]


async def test_a_message_of_a_chat_that_cannot_be_opened_is_like_none(home: House) -> None:
    home.server.enqueue(Text(("It is dead.",)))
    await home.hear(said(1, "between us", **PRIVATE))
    await home.hear(said(2, "unreadable", addressed=False, **PRIVATE))
    store = home.gateway.services.store
    await run_alone(store, "ledger.rewrite", id=2, payload="[]")
    async with home.guest("8", "owner") as client:
        assert await get(client, "why/1", 404) == await get(client, "why/99", 404)
    assert await store.select("ledger.console_openings", EVERY) == []


async def test_a_refused_message_is_shown_without_its_text_and_not_to_admins(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, ACCESS__MODE="paired") as home:
        await home.hear(said(1, "the secret word"))
        async with (
            home.owner() as owner,
            home.guest("8", "owner") as account_owner,
            home.guest("9", "admin") as admin,
        ):
            for client in (owner, account_owner):
                report = await get(client, "why/1")
                assert "the secret word" not in str(report)
                assert report["place"]["status"] == "refused"
                assert report["answer"] == ""
                assert "refused: the chat was not on the allowlist" in str(report["lines"])
            await get(admin, "why/1", 404)


async def test_an_entry_leads_to_its_message_and_an_answer_to_its_question(
    home: House, owner: Client
) -> None:
    home.server.enqueue(Text(("It is dead.",)))
    await home.hear(said(1, "is the plum tree dead?"))
    path = f"chats/{home.chat}/entries"
    for entry in await tape_of(home.gateway, GROUP).read():
        belongs = "inbox" in entry.meta or "turn" in entry.meta
        found = await get(owner, f"{path}/{entry.id}/why", 200 if belongs else 404)
        assert found.get("id") == (1 if belongs else None)
    for nothing in ("999", "0", "-1", "x", "9" * 30):
        await get(owner, f"{path}/{nothing}/why", 404)
        await get(owner, f"why/{nothing}", 404)
    await get(owner, "chats/nothing/entries/1/why", 404)
