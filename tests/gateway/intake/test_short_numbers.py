"""The short numbers of people, and the dates, that a chat's views show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from channels.message import Author, InboundMessage, Quote
from tape.context import TapeContext, view
from tape.entry import Entry, message
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import settled
from tests.kit.plain_channels import MESSAGE


def said(number: int, person: str, text: str = "hello", **more: Any) -> InboundMessage:
    more |= {"ext_id": f"-100/{number}", "message_id": str(number)}
    return replace(MESSAGE, sender=Author(person, f"N{person}"), text=text, **more)


async def heard(group: GroupChat, *messages: InboundMessage) -> list[Entry]:
    return [entry for entry in await group.hear_each(*messages) if "inbox" in entry.meta]


def numbers(entries: list[Entry]) -> list[int]:
    return [entry.meta["number"] for entry in entries]


async def test_a_number_is_kept_over_a_restart_and_goes_to_nobody_else(tmp_path: Path) -> None:
    async with open_group(tmp_path) as group:
        first = await heard(group, said(1, "70"), said(2, "80"), said(3, "70"))
        assert numbers(first) == [1, 2, 1]
    async with open_group(tmp_path) as group:
        again = await heard(group, said(4, "90"), said(5, "80"))
        assert numbers(again) == [1, 2, 1, 3, 2]
        other = replace(said(6, "80"), chat_id="-200", ext_id="-200/6")
        await group.accept(other)
        entries = await settled(group.gateway, "plain:-200")
    assert [entry.meta["number"] for entry in entries if "inbox" in entry.meta] == [1]


async def test_whom_a_message_quotes_has_a_number_before_they_write(group: GroupChat) -> None:
    quoting = said(1, "70", quote=Quote("Bob", "80", "go?"))
    entries = await heard(group, quoting, said(2, "80"))
    assert entries[0].text == '[00:00 #1 N70, replying to #2 Bob: "go?"] hello'
    assert entries[1].text == "[00:00 #2 N80] hello"
    assert entries[0].meta["quote"] == {"author": "80", "name": "Bob"}


async def test_the_date_stands_above_a_day_s_first_message_only(group: GroupChat) -> None:
    later = "2026-01-02T09:30:00.000000+00:00"
    for one in (
        said(1, "70", "one"),
        said(2, "70", "two", reply_to="1"),
        said(3, "70", "three", reply_to="2", date=later),
    ):
        await heard(group, replace(one, addressed=True))
    asked = [m["content"] for m in group.model.requests[-1].body["messages"] if m["role"] == "user"]
    assert asked == [
        "[Thu 2026-01-01]\n[00:00 #1 N70] one",
        '[00:00 #1 N70, replying to #1 N70: "one"] two',
        '[Fri 2026-01-02]\n[09:30 #1 N70, replying to #1 N70: "two"] three',
    ]


async def test_a_view_of_old_and_new_entries_keeps_the_bytes_of_both(group: GroupChat) -> None:
    old = "[Ops | Ada (id 7) | 2025-12-31 23:00Z]\n> before the upgrade"
    tape = group.tape
    await tape.append(message("user", old, author="7", text="before the upgrade"))
    await heard(group, replace(said(1, "70"), addressed=True))
    texts = [one["content"] for one in await view(tape, TapeContext())]
    assert old in texts
    assert "[Thu 2026-01-01]\n[00:00 #1 N70] hello" in texts


async def test_search_takes_and_returns_the_numbers_of_this_chat(group: GroupChat) -> None:
    await heard(group, said(1, "70", "plum one"), said(2, "80", "plum two"))
    ask = replace(said(3, "90", ",tape.search plum author=#2"), addressed=True)
    await heard(group, ask)
    unknown = replace(ask, ext_id="-100/4", text=",tape.search plum author=#9")
    await heard(group, unknown)
    entries = await group.settled()
    sent = [one.payload["data"] for one in entries if one.name == "outbound"]
    found, refused = (one["text"] for one in sent if one["idem"].startswith("n-command"))
    assert "plum two" in found
    assert "plum one" not in found
    assert refused == "nobody in this chat has the number #9"
