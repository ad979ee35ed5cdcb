"""A page in Chinese gets no sentence of the gateway in English."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from channels.slack.troubles import SECOND_READER
from channels.telegram.troubles import CONNECTION
from gateway.storage.ledger.rows import run_alone
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.gateway.console.scene import GROUP, MEMBER, OTHER_GROUP, STRANGER, Scene, key, scene_of
from tests.gateway.setup.desk import save, set_up

HAN: Final = re.compile(r"[\u4e00-\u9fff]")
QUOTED: Final = re.compile(r"“[^”]*”|`[^`]*`|tapeway .*")
"""What people wrote, and commands: no words of the gateway."""

ENGLISH: Final = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b|^[A-Za-z]+ [a-z ]*[a-z]{2,}[.]?$")
"""Three words beside each other, or nothing but words."""

WORD: Final = re.compile(r"(?<![\w./:{\"-])[A-Za-z]{3,}(?![\w./:\"-])")
NAMES: Final = frozenset({"Person", "UTC", "error", "help", "model", "plain", "stop", "tools"})
"""Words that stay as they are: names of the scene, and what models and tools are called."""

SENTENCES: Final = ("says", "why", "remedy", "done", "error", "help", "notes", "problem", "missing")
"""The fields whose texts the gateway writes, on all screens."""

HEARD: Final = "Shall we meet at the old mill?"
EVERYTHING: Final = (
    *("deck", "channels", "ledger", "people", "money?by=chat", "links", "messages?q=meet"),
    *(f"tape/{key(GROUP)}{path}" for path in ("", "/page", "/steps")),
)


def sentences(found: Any, name: str = "") -> Iterator[str]:
    """Yield the texts of an answer's fields that the gateway writes; `data` is what is recorded."""
    if isinstance(found, dict):
        for field, value in found.items():
            inner = "says" if name == "reasons" else field
            if field != "data":
                yield from sentences(value, "reasons" if field == "reasons" else inner)
    elif isinstance(found, list):
        for value in found:
            yield from sentences(value, name)
    elif isinstance(found, str) and found and name in SENTENCES:
        yield found


def in_english(found: Any) -> list[str]:
    """Return the sentences of an answer that are in English, at least in part."""
    return [one for one in sentences(found) if ENGLISH.search(QUOTED.sub("", one))]


def english_words(found: Any) -> set[str]:
    """Return the words of an answer's sentences that are neither Chinese nor quoted nor names."""
    left = (QUOTED.sub("", one) for one in sentences(found))
    return {word for one in left for word in WORD.findall(one)} - NAMES


@asynccontextmanager
async def busy(home: Path) -> AsyncIterator[Scene]:
    """Run a gateway in which much has happened, and not all of it went well."""
    async with scene_of(home) as scene:
        search = Call("a", "tape_search", '{"query":"mill"}')
        scene.server.enqueue(ToolCalls((search,)))
        scene.server.enqueue(Text(("At noon, ", "by the mill.")))
        first = await scene.say(MEMBER, "when do we meet?", addressed=True)
        for reason in ("said to the group", "forwarded", "asked too long ago, while I was away"):
            await scene.say(MEMBER, HEARD, why=reason)
        edited = await scene.say(MEMBER, "a first version")
        for kind in ("edit", "delete"):
            change = replace(
                edited, kind=kind, ext_id=f"{edited.ext_id}/{kind}", text="a second one"
            )
            await scene.deliver(change)
        await scene.say(MEMBER, "and later?", addressed=True, reply_to=first.message_id)
        await scene.say(STRANGER, "let me in", STRANGER, addressed=True)
        await scene.say(STRANGER, ",help", addressed=True)
        scene.server.enqueue(Failure(400, "no"))
        await scene.say(MEMBER, "will this fail?", OTHER_GROUP, addressed=True)
        yield scene


async def seen(browser: httpx2.AsyncClient, path: str) -> Any:
    answer = await browser.get(f"/api/console/{path}")
    assert answer.status_code == 200, (path, answer.text)
    return answer.json()


def chinese(browser: httpx2.AsyncClient) -> httpx2.AsyncClient:
    browser.headers["Accept-Language"] = "zh"
    return browser


async def test_no_screen_has_a_sentence_in_english(tmp_path: Path) -> None:
    async with busy(tmp_path) as scene, scene.holder() as holder:
        board = scene.gateway.status
        board.down("plain", CONNECTION.unreachable.sentence("no answer in time"))
        board.warn("plain", SECOND_READER.sentence())
        store = scene.gateway.services.store
        await run_alone(store, "ledger.bury_inbox", id=2, why="it could not be taken in")
        found = {path: await seen(chinese(holder), path) for path in EVERYTHING}
        (failed, *_rest) = found["ledger"]["failed"]
        (answered, *_quoting) = [one for one in found["messages?q=meet"]["messages"] if one["turn"]]
        turn = f"chats/{key(GROUP)}/turns/{answered['turn']}"
        found["turn"] = await seen(holder, turn)
        retried = await holder.post(f"/api/console/ledger/{failed['row']}/retry", json={})
        dropped = await holder.post(f"/api/console/ledger/{failed['row']}/drop", json={})
        assert (retried.status_code, dropped.status_code) == (200, 422)
        found |= {"retried": retried.json(), "dropped": dropped.json()}
    assert {path: left for path in found if (left := in_english(found[path]))} == {}
    assert len(list(sentences(found["channels"]))) == 2
    assert "无法收录" in list(sentences(found["ledger"]))
    assert all(HAN.search(one) for path in found for one in sentences(found[path]))


async def test_the_page_of_why_has_no_sentence_in_english(tmp_path: Path) -> None:
    async with busy(tmp_path) as scene, scene.holder() as holder:
        found, number = {}, 1
        while (answer := await chinese(holder).get(f"/api/console/why/{number}")).is_success:
            found[number], number = answer.json(), number + 1
        assert in_english(answer.json()) == []
    assert len(found) > 10
    assert {number: left for number in found if (left := english_words(found[number]))} == {}
    about = {line["about"] for report in found.values() for line in report["lines"]}
    assert about >= {"seen", "addressed", "access", "lane", "changed", "turn", "view", "model"}
    assert about >= {"tool", "said", "send", "receipt", "error", "times", "outcome"}


async def test_setting_something_says_in_chinese_what_came_of_it(tmp_path: Path) -> None:
    async with set_up(tmp_path / "h", only=["web"]) as (_gateway, client):
        chinese(client)
        unnamed = await save(client, "model", base_url="http://127.0.0.1:9/v1")
        unheard = await save(client, "model", base_url="http://127.0.0.1:9/v1", model="m", key="k")
        stale = await save(client, "model", "old", model="m")
        screen = await seen(client, "settings")
    assert [answer.status_code for answer in (unnamed, unheard, stale)] == [422, 200, 409]
    said = [unnamed.json(), unheard.json(), stale.json()]
    assert in_english([said, screen]) == []
    assert len(list(sentences(screen))) > 100
    assert all(HAN.search(one) for one in sentences(said))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("api/console/why/99", None),
        ("api/console/people/grant", {"who": "plain:x y"}),
        ("api/console/people/erase", {"what": "person", "name": "plain:3"}),
        ("api/invitations", {"room": "a", "uses": 0}),
        ("api/rooms/lobby/messages", {"id": 1}),
    ],
)
async def test_what_is_refused_is_refused_in_chinese(
    tmp_path: Path, path: str, body: dict[str, Any] | None
) -> None:
    async with set_up(tmp_path / "h", only=["web"]) as (_gateway, client):
        method = "GET" if body is None else "POST"
        said = {}
        for language in ("zh-CN,zh;q=0.9", "en"):
            headers = {"Accept-Language": language}
            answer = await client.request(method, f"/{path}", json=body, headers=headers)
            assert answer.status_code in (404, 422), answer.text
            assert int(answer.headers["Content-Length"]) == len(answer.content)
            said[language[:2]] = answer.json()["error"]
    assert HAN.search(said["zh"])
    assert not HAN.search(said["en"])
