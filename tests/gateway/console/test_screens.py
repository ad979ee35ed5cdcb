"""What the screens show, and what they leave out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs

from channels.message import Author
from gateway.assembly import Internals
from gateway.console.screens.channels import can_pair
from gateway.console.screens.money import COLUMNS, to_csv
from gateway.settings.bounds import Bounds
from tests.fakes.openai.script import Failure, Text
from tests.gateway.console.following import asked, seen
from tests.gateway.console.scene import (
    ADMIN,
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    STRANGER,
    Scene,
    key,
    scene_of,
    until,
)
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import PairedChannel, PlainChannel


async def strip(browser: httpx2.AsyncClient, title: str) -> dict[str, Any]:
    chats = (await seen(browser, "deck"))["chats"]
    return next(chat for chat in chats if chat["title"] == title)


async def changed_by(scene: Scene, name: str) -> list[str]:
    """Return who made changes of one kind, as the group's tape says."""
    entries = await tape_of(scene.gateway, f"plain:{GROUP}").read()
    return [entry.payload["data"]["by"] for entry in entries if entry.name == name]


async def test_the_deck_shows_the_last_message_and_what_was_used(scene: Scene) -> None:
    scene.server.enqueue(Text(("Blue, I think.",)))
    await asked(scene, "which color?")
    async with scene.enter(OWNER) as browser:
        found = await strip(browser, "Group -100")
        assert found["last"]["agent"] is True
        assert found["last"]["text"] == "Blue, I think."
        assert found["lamp"] == "quiet"
        assert found["tokens"] > 0
        await scene.say(STRANGER, "no, it\n is  red")
        said = (await strip(browser, "Group -100"))["last"]
    assert (said["name"], said["text"], said["agent"]) == ("Person 4", "no, it is red", False)


async def test_what_needs_somebody_comes_first(scene: Scene) -> None:
    scene.server.enqueue(Failure(400, "no"))
    await asked(scene, "will this fail?", chat=OTHER_GROUP)
    await scene.say(STRANGER, "later, and quiet")
    async with scene.enter(OWNER) as browser:
        chats = (await seen(browser, "deck"))["chats"]
    assert (chats[0]["title"], chats[0]["lamp"], chats[0]["failed"]) == ("Group -200", "failed", 1)
    assert {chat["lamp"] for chat in chats[1:]} == {"quiet"}


async def test_deleted_text_is_shown_nowhere(scene: Scene) -> None:
    await scene.say(STRANGER, "first")
    gone = await scene.say(STRANGER, "a secret that is deleted")
    scene.server.enqueue(Failure(400, "no"))
    failed = await scene.say(MEMBER, "another secret, not answered", addressed=True)
    for message in (gone, failed):
        ext_id = f"{message.ext_id}/delete"
        delete = replace(message, kind="delete", ext_id=ext_id, text="", addressed=False)
        await scene.deliver(delete)
    async with scene.enter(OWNER) as browser:
        last = (await strip(browser, "Group -100"))["last"]
        rows = (await seen(browser, "ledger"))["failed"]
        texts = [
            (await browser.get(f"/api/console/{path}")).text
            for path in ("deck", "ledger", "people", "money?by=chat", "chats")
        ]
    assert last["text"] == "first"
    assert [row["text"] for row in rows if row["box"] == "in"] == [""]
    assert "secret" not in "".join(texts)


async def test_the_deck_and_the_ledger_show_messages_as_they_were_edited(scene: Scene) -> None:
    scene.server.enqueue(Failure(400, "no"))
    said = await scene.say(MEMBER, "my number is seven", addressed=True)
    edit = replace(said, kind="edit", ext_id=f"{said.ext_id}/edit", text="call me", addressed=False)
    await scene.deliver(edit)
    async with scene.enter(OWNER) as browser:
        last = (await strip(browser, "Group -100"))["last"]
        rows = (await seen(browser, "ledger"))["failed"]
        texts = [(await browser.get(f"/api/console/{path}")).text for path in ("deck", "ledger")]
    assert last["text"] == "call me"
    assert [row["text"] for row in rows if row["box"] == "in"] == ["call me"]
    assert "seven" not in "".join(texts)


async def test_erased_text_is_shown_nowhere(scene: Scene) -> None:
    await scene.say(STRANGER, "stays")
    scene.server.enqueue(Failure(400, "no"))
    await asked(scene, "a secret that is erased")
    async with scene.enter(OWNER) as browser:
        path = "/api/console/people/erase"
        body = {"what": "person", "chat": key(GROUP), "name": f"plain:{MEMBER}"}
        refused = await browser.post(path, json=body)
        assert refused.status_code == 422
        assert "confirm" in refused.json()["error"]
        with capture_logs() as logs:
            begun = await browser.post(path, json={**body, "sure": "erase"})
        assert begun.is_success, begun.text
        (said,) = [line for line in logs if line["event"] == "console.erase"]
        assert (said["person"], said["what"], said["chat"]) == ("plain:1", "person", "plain:-100")
        name = begun.json()["erasure"]

        async def is_done() -> bool:
            found = await seen(browser, f"people/erasures/{name}")
            return bool(found["state"] == "done")

        await until(is_done)
        assert (await strip(browser, "-100"))["last"]["text"] == "stays"  # without its name
        texts = [
            (await browser.get(f"/api/console/{path}")).text
            for path in ("deck", "ledger", "people", "money?by=person", "chats")
        ]
    assert "secret" not in "".join(texts)
    assert "Person 3" not in "".join(texts)


async def test_nobody_erases_without_owning_the_chat(scene: Scene) -> None:
    await scene.say(ADMIN, "here I am")
    await scene.grant("5", "owner", account="second")
    erase = {"what": "chat", "sure": "erase", "chat": key(GROUP)}
    path = "/api/console/people/erase"
    async with scene.enter(ADMIN) as admin, scene.enter("5", account="second") as other:
        assert (await admin.post(path, json=erase)).status_code == 403
        assert (await other.post(path, json=erase)).status_code == 404
        everywhere = {"what": "person", "name": f"plain:{ADMIN}", "sure": "erase"}
        assert (await other.post(path, json=everywhere)).status_code == 422
    assert "here I am" in await scene.words_of_tape(GROUP)


async def test_a_failed_question_is_asked_again_by_one_of_two_at_once(scene: Scene) -> None:
    await scene.say(ADMIN, "here I am")
    scene.server.enqueue(Failure(400, "no"))
    await asked(scene, "which color?")
    answers: list[httpx2.Response] = []
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin:
        (row,) = (await seen(admin, "ledger"))["failed"]
        assert (row["status"], row["text"], row["retry"]) == ("failed", "which color?", True)
        posts, requests = len(scene.channel.posts), len(scene.server.requests)
        scene.server.enqueue(Text(("Blue.",)), Text(("Blue twice.",)))

        async def press(browser: httpx2.AsyncClient) -> None:
            path = f"/api/console/ledger/{row['row']}/retry"
            answers.append(await browser.post(path, json={}))

        async with anyio.create_task_group() as group:
            group.start_soon(press, owner)
            group.start_soon(press, admin)

        async def is_answered() -> bool:
            return len(scene.channel.posts) > posts

        await until(is_answered)
        await scene.gateway.idle()
        assert (await seen(owner, "ledger"))["failed"] == []
    assert sorted(one.status_code for one in answers) == [200, 422]
    assert next(one for one in answers if one.is_success).json() == {
        "done": f"{row['row']} will be answered again in plain:-100"
    }
    assert len(scene.server.requests) == requests + 1
    assert await changed_by(scene, "ledger.retry") in (["plain:1"], ["plain:2"])
    assert [post.text for post in scene.channel.posts[posts:]] == ["Blue."]


async def test_the_tape_says_who_dropped_a_question(scene: Scene) -> None:
    gate = asyncio.Event()
    scene.server.enqueue(Text(("one", "two"), gate=gate))
    async with scene.enter(OWNER) as owner, anyio.create_task_group() as group:
        before = len(scene.server.requests)
        group.start_soon(partial(scene.say, MEMBER, "which color?", addressed=True))
        await scene.server.wait_for_requests(before + 1)
        group.start_soon(partial(scene.say, MEMBER, "and which size?", addressed=True))
        waiting: list[str] = []

        async def waits() -> bool:
            rows = (await seen(owner, "ledger"))["waiting"]
            waiting[:] = [row["row"] for row in rows if row["status"] == "waiting"]
            return bool(waiting)

        await until(waits)
        dropped = await owner.post(f"/api/console/ledger/{waiting[0]}/drop", json={})
        assert dropped.json() == {"done": f"{waiting[0]} is dropped"}
        gate.set()
    assert await changed_by(scene, "ledger.drop") == ["plain:1"]


async def test_a_row_of_another_s_chat_is_neither_shown_nor_changed(scene: Scene) -> None:
    scene.server.enqueue(Failure(400, "no"))
    await asked(scene, "which color?")
    scene.server.enqueue(Failure(400, "no"))
    await asked(scene, "a private matter", chat=MEMBER)
    async with scene.enter(ADMIN) as admin, scene.enter(OWNER) as owner:
        assert (await seen(admin, "ledger"))["failed"] == []
        rows = (await seen(owner, "ledger"))["failed"]
        assert {row["text"] for row in rows} == {"which color?", ""}
        for row in rows:
            for action in ("retry", "drop"):
                path = f"/api/console/ledger/{row['row']}/{action}"
                assert (await admin.post(path, json={})).status_code == 404
        unknown = await admin.post("/api/console/ledger/in-999/drop", json={})
        assert unknown.status_code == 404
        assert unknown.json() == (await admin.post(path, json={})).json()


async def test_money_is_that_of_the_chats_that_one_sees(scene: Scene) -> None:
    for chat in (GROUP, OTHER_GROUP):
        scene.server.enqueue(Text(("Blue.",)))
        await asked(scene, "which color?", chat=chat)
    await scene.say(ADMIN, "here I am", OTHER_GROUP)
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin, scene.holder() as holder:
        for browser, names in (
            (owner, {"Group -100", "Group -200"}),
            (admin, {"Group -200"}),
            (holder, {"Group -100", "Group -200"}),
        ):
            found = await seen(browser, "money?by=chat")
            assert {row["name"] for row in found["rows"]} == names
            assert found["total"]["turns"] == len(names)
        for by in ("day", "person", "model"):
            assert (await seen(admin, f"money?by={by}"))["rows"][0]["turns"] == 1
        assert (await seen(owner, "money?since=2999-01-01&until=2999-01-02"))["rows"] == []
        file = await admin.get("/api/console/money.csv?by=chat")
        assert file.headers["content-disposition"].startswith('attachment; filename="tapeway-chat')
        lines = file.text.splitlines()
        assert lines[0].startswith("key,name,turns")
        assert len(lines) == 2
        for wrong in ("by=turn", "since=yesterday", "until=1"):
            assert (await owner.get(f"/api/console/money?{wrong}")).status_code == 422


TWO_ROWS: Final = Internals(bounds=Bounds(console_usage=2))


@pytest.mark.parametrize("internals", [TWO_ROWS], ids=["two"])
async def test_a_csv_file_has_every_row_and_the_screen_says_how_many_it_shows(scene: Scene) -> None:
    people = [str(number) for number in range(20, 25)]
    for person in people:
        await asked(scene, "which color?", person)
    async with scene.enter(OWNER) as owner:
        shown = await seen(owner, "money?by=person")
        assert (len(shown["rows"]), shown["more"], shown["total"]["turns"]) == (2, True, 5)
        assert (await seen(owner, "money?by=day"))["more"] is False
        _head, *rows = (await owner.get("/api/console/money.csv?by=person")).text.splitlines()
        assert [row.partition(",")[0] for row in rows] == [f"plain:{one}" for one in people]
        for by in ("chat", "model", "day"):
            file = (await owner.get(f"/api/console/money.csv?by={by}")).text.splitlines()
            assert len(file) == 2


def test_a_name_in_a_csv_file_is_no_formula() -> None:
    row: dict[str, Any] = dict.fromkeys(
        ("turns", "calls", "input", "cached", "output", "estimated", "unpriced", "cost"), 0
    )
    text = to_csv([{**row, "key": "plain:4", "name": '=HYPERLINK("evil")'}], "USD")
    assert '"\'=HYPERLINK(""evil"")"' in text


def test_what_a_csv_file_knows_no_price_of_has_no_cost() -> None:
    row: dict[str, Any] = dict.fromkeys(COLUMNS, 0)
    _head, line = to_csv([{**row, "unpriced": 3, "cost": None}], "USD").splitlines()
    assert line.split(",")[-3:] == ["3", "", "USD"]


def test_a_csv_file_has_small_costs_with_their_digits_and_the_currency() -> None:
    row: dict[str, Any] = dict.fromkeys(COLUMNS, 0)
    lines = to_csv([{**row, "cost": 0.0000042}, {**row, "cost": 12.5}], "EUR").splitlines()
    assert [line.split(",")[-2:] for line in lines] == [
        ["cost", "currency"],
        ["0.0000042", "EUR"],
        ["12.50", "EUR"],
    ]


def test_a_code_is_offered_where_somebody_can_become_an_owner() -> None:
    assert (can_pair(PairedChannel()), can_pair(PlainChannel())) == (True, False)


async def test_people_see_what_was_used_and_who_waits(scene: Scene) -> None:
    scene.server.enqueue(Text(("Blue.",)))
    await asked(scene, "which color?")
    await scene.say(ADMIN, "here I am")
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin:
        found = await seen(owner, "people")
        (used,) = found["used"]
        assert (used["person"], used["name"], used["turns"]) == ("plain:3", "Person 3", 1)
        assert used["title"] == "Group -100"
        assert {(rule["id"], rule["role"]) for rule in found["rules"]} == {
            (OWNER, "owner"),
            (ADMIN, "admin"),
        }
        assert found["may"] is True
        other = await seen(admin, "people")
    assert (other["rules"], other["waiting"], other["openings"]) == ([], [], [])
    assert other["may"] is False
    assert [row["person"] for row in other["used"]] == ["plain:3"]


async def test_the_rule_of_a_chat_has_the_title_that_its_deck_shows(scene: Scene) -> None:
    await scene.grant(OTHER_GROUP, "member")
    await scene.say(STRANGER, "nobody was asked here", chat=OTHER_GROUP)
    async with scene.enter(OWNER) as owner:
        rules = (await seen(owner, "people"))["rules"]
        await strip(owner, "Group -200")
    assert {rule["id"]: rule["name"] for rule in rules}[OTHER_GROUP] == "Group -200"


async def test_a_closed_chat_waits_on_its_owner_s_deck_until_it_is_opened(tmp_path: Path) -> None:
    async with scene_of(tmp_path, ACCESS__MODE="paired") as scene:
        await scene.say(STRANGER, "let me in", addressed=True)
        async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin:
            (waiting,) = (await seen(owner, "deck"))["waiting"]
            assert (waiting["title"], waiting["chat_id"]) == ("Group -100", GROUP)
            assert (await seen(admin, "deck"))["waiting"] == []
            body = {"who": f"plain:{GROUP}", "role": "member", "account": ""}
            assert (await owner.post("/api/console/people/grant", json=body)).is_success
            assert (await seen(owner, "deck"))["waiting"] == []


async def test_channels_say_their_reasons_to_their_owner_only(scene: Scene) -> None:
    scene.gateway.status.warn("plain", "the token is old: make another one")
    scene.gateway.status.down("plain", "it is asleep")
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin, scene.holder() as holder:
        (found,) = (await seen(owner, "channels"))["channels"]
        (other,) = (await seen(admin, "channels"))["channels"]
        names = {one["channel"] for one in (await seen(holder, "channels"))["channels"]}
        scene.gateway.status.connected("plain")
        (again,) = (await seen(owner, "channels"))["channels"]
    assert (found["channel"], found["lamp"], found["why"]) == ("plain", "waiting", "it is asleep")
    assert found["notes"] == ["the token is old: make another one"]
    assert (other["lamp"], other["why"], other["notes"]) == ("waiting", "", [])
    assert other["rate_limits"] is None
    assert {"plain", "web"} <= names
    assert again["lamp"] == "ready"


async def test_the_instance_s_owner_alone_reads_how_much_waits_to_be_placed(scene: Scene) -> None:
    watch = scene.gateway.parts.intake.watch
    watch.messages, watch.seconds = 5, 90.0
    async with scene.enter(ADMIN) as admin, scene.holder() as holder:
        assert (await seen(admin, "channels"))["waiting"] is None
        assert (await seen(holder, "channels"))["waiting"] == {"messages": 5, "seconds": 90}


async def test_settings_show_no_secret(scene: Scene) -> None:
    async with scene.holder() as holder:
        answer = await holder.get("/api/console/settings")
    rows = {row["name"]: row for row in answer.json()["settings"]}
    assert rows["TAPEWAY_HTTP__TOKEN"]["value"] == "(set, hidden)"
    assert rows["TAPEWAY_HTTP__TOKEN"]["origin"] == "environment"
    assert rows["TAPEWAY_ACCESS__MODE"]["value"] == "open"
    assert rows["TAPEWAY_TURN__QUEUE_PER_CHAT"]["origin"] == "default"
    assert scene.server.base_url in answer.text
    for secret in ("a-token-of-sixteen-characters", "sk-"):
        assert secret not in answer.text


async def test_a_name_is_shown_as_it_is_and_in_one_line(scene: Scene) -> None:
    name = "<img src=x onerror=alert(1)>\u202e\nAdmin"
    await scene.say(STRANGER, "hello", chat_title=name, sender=Author(STRANGER, name))
    async with scene.enter(OWNER) as browser:
        chats = (await seen(browser, "deck"))["chats"]
    (found,) = [chat for chat in chats if not chat["private"]]
    assert found["title"] == "<img src=x onerror=alert(1)> Admin"
    assert found["last"]["name"] == found["title"]
