"""Messages are found by their words, chat, author and time, by those who may see them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anyio

from gateway.console.chats import key_of
from gateway.hooks.specs import hookimpl
from tape.entry import Entry
from tape.query import Query
from tape.search.query_text import SearchQuery
from tape.search.scan import newest_first
from tape.stores.memory import MemoryStore
from tests.fakes.openai.script import Failure, Text
from tests.gateway.console.inspect.asking import EVERY, PRIVATE, gone
from tests.gateway.console.inspect.people import Client, House, get, house, said
from tests.gateway.console.scene import running_scene
from tests.kit.gateways import every, tape_of


async def found(client: Client, **asked: Any) -> list[dict[str, Any]]:
    return list((await get(client, f"messages?{urlencode(asked)}"))["messages"])


async def talked(home: House) -> None:
    """Have four messages, the first of which is answered and the third of which fails."""
    home.server.enqueue(Text(("It has blossomed.",)), Failure(400, "no"))
    await home.hear(
        said(1, "is the plum tree dead?"),
        said(2, "lunch at noon?", "8", addressed=False, why="no mention"),
        said(3, "and the pear tree?"),
        said(4, "who has the key?", "8", chat_id="-200", chat_title="Shed", addressed=False),
    )


async def test_messages_are_found_by_what_is_known_of_them(
    tmp_path: Path, database: dict[str, str]
) -> None:
    async with house(tmp_path, **database) as home, home.owner() as owner:
        await talked(home)
        every = await found(owner)
        first, third = every[-1], every[1]

        async def ids(**asked: Any) -> list[int]:
            return [one["id"] for one in await found(owner, **asked)]

        assert [one["id"] for one in every] == [4, 3, 2, 1]
        assert (first["name"], first["text"], first["status"]) == (
            *("Alice", "is the plum tree dead?"),
            "done",
        )
        assert (third["status"], every[2]["status"]) == ("failed", "taped")
        assert await ids(unanswered=1) == [4, 3, 2]
        assert await ids(chat=key_of("plain:-200")) == [4]
        assert await ids(person="bob") == [4, 2]
        assert await ids(person="bob", chat=home.chat) == [2]
        assert await ids(until=third["at"]) == [2, 1]
        assert await ids(until="1999-01-01") == []
        assert await ids(q="tree") == [3, 1]
        assert await ids(q="tree", unanswered=1) == [3]
        (by_answer,) = await found(owner, q="blossomed")
        assert (by_answer["id"], by_answer["answer"]) == (1, "It has blossomed.")
        await get(owner, "messages?until=noon", 422)


class PluginTapes(MemoryStore):
    """A plugin's tapes, of which some are searched for ever, and the others in no time."""

    def __init__(self) -> None:
        super().__init__()
        self.slow: set[str] = set()

    @hookimpl
    def provide_tape_store(self) -> MemoryStore:
        return self

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        if query.tape in self.slow:
            await anyio.sleep_forever()
        page = await self.query(replace(query, limit=None))
        return newest_first(*filter(wanted.matches, page))[: query.limit]


async def test_a_chat_whose_search_takes_too_long_is_left_out_and_named(tmp_path: Path) -> None:
    hasty = every(console_search=0.0)
    tapes, more = PluginTapes(), {"BUFFER__DEBOUNCE": "0"}
    async with (
        running_scene(House, tmp_path, more, None, None, tapes, internals=hasty) as home,
        home.owner() as owner,
    ):
        await talked(home)
        tapes.slow.add(tape_of(home.gateway, "plain:-200").name)
        answer = await get(owner, "messages?q=tree")
        assert [one["id"] for one in answer["messages"]] == [3, 1]
        assert answer["skipped"] == ["Shed"]
        assert (await get(owner, "messages"))["skipped"] == []
        tapes.slow.add(tape_of(home.gateway, "plain:-100").name)
        refused = await get(owner, "messages?q=tree", 422)
        assert refused["error"].startswith("The search took too long")


async def test_what_is_deleted_private_or_of_others_is_not_found(home: House) -> None:
    await talked(home)
    await home.hear(said(5, "between us", addressed=False, **PRIVATE))
    await home.hear(gone(said(2, "", "8")))
    async with (
        home.guest("8", "admin") as admin,
        home.guest("9", "admin") as other,
        home.guest("6", "member") as member,
        home.owner() as owner,
    ):
        assert await found(other) == []
        assert {one["id"] for one in await found(admin)} == {1, 2, 3, 4}
        await get(member, "messages", 403)
        deleted = next(one for one in await found(owner) if one["id"] == 2)
        assert (deleted["text"], await found(owner, q="lunch")) == ("", [])
        assert await found(owner, q="between") == []
        store = home.gateway.services.store
        assert await store.select("ledger.console_openings", EVERY) == []
        (opened,) = await found(owner, q="between", chat=key_of("plain:7"))
        assert opened["text"] == "between us"
        assert len(await store.select("ledger.console_openings", EVERY)) == 1
        await get(admin, f"messages?chat={key_of('plain:7')}", 404)


async def test_a_message_says_its_conversation_and_what_its_answer_cost(tmp_path: Path) -> None:
    prices = {"AGENT__PRICE_INPUT": "1", "AGENT__PRICE_OUTPUT": "1"}
    async with house(tmp_path, **prices) as home, home.owner() as owner:
        await talked(home)
        answered, unasked = await get(owner, "why/1"), await get(owner, "why/2")
        costs = await get(owner, "money?by=day")
    assert answered["used"]["tokens"] > 0
    assert 0 < answered["used"]["cost"] <= costs["total"]["cost"]
    assert unasked["used"] is None
    assert answered["lane"]["who"] == "Alice"
    assert answered["lane"]["text"] == "is the plum tree dead?"
    assert answered["lane"]["entry"] == answered["place"]["entry"]
