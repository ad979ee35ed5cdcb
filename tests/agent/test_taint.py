"""Which views are tainted, by whom, and which links stand in them."""

from __future__ import annotations

from typing import Any

import pytest

from agent.taint import Sources
from agent.tool import Role, ToolContext
from agent.tools.web_fetch import fetch_page
from tape.entry import Entry, NewEntry, anchor, message, tool_call, tool_result
from tape.handle import Tape
from tape.stores.memory import MemoryStore

ASKER = "telegram:7"
MINE = {"author": "7", "channel": "telegram", "inbox": 1}
BOBS = {"author": "8", "channel": "telegram", "inbox": 1}


def seen(*entries: NewEntry, asker: str = ASKER) -> Sources:
    """Return what a view with these entries has shown."""
    sources = Sources(asker)
    sources.look(
        Entry(number, new.kind, new.payload, new.meta, "")
        for number, new in enumerate(entries, start=1)
    )
    return sources


def edited(of: int) -> NewEntry:
    return message("user", "[edited]\n> hm", edit_of=of)


@pytest.mark.parametrize(
    ("entries", "taint"),
    [
        ([message("user", "hi", **MINE)], set()),
        ([message("user", "hi", **BOBS)], {"person"}),
        ([message("user", "hi", **{**MINE, "channel": "slack"})], {"person"}),
        ([message("user", "hi", **MINE, taint=["quote"])], {"quote"}),
        ([message("user", "hi", **MINE, media=[{"kind": "image"}])], {"file"}),
        ([message("user", "[a]\n[forwarded from Bob]\n> hi", **MINE)], {"quote"}),
        ([message("user", "hi", **MINE), edited(1)], set()),
        ([message("user", "hi", **BOBS), edited(1)], {"person"}),
        ([edited(9)], {"person"}),
        ([message("user", "imported")], {"person"}),
        ([message("user", "a note", hint="suggest")], set()),
        ([message("assistant", "hi", turn="t", asked_by=ASKER)], set()),
        ([message("assistant", "hi", turn="t", asked_by="telegram:8")], {"person"}),
        ([message("assistant", "hi", turn="t", asked_by=ASKER, taint=["page"])], {"page"}),
        ([message("assistant", "imported")], {"person"}),
        ([anchor("session/start", {"owner": "human"})], set()),
        ([anchor("task/done", {"summary": "s"}, asked_by=ASKER)], set()),
        ([anchor("task/done", {"summary": "s"}, asked_by=ASKER, taint=["page"])], {"page"}),
        ([anchor("task/done", {"summary": "s"}, asked_by="telegram:8")], {"person"}),
        ([anchor("task/done", {"summary": "of an older version"})], {"person"}),
        ([anchor("session/rewind", {"summary": "s"}, asked_by="telegram:8")], {"person"}),
        ([anchor("session/rewind", {"summary": "s"}, asked_by=ASKER)], set()),
        ([anchor("session/rewind", {"by": "7"})], set()),
        ([tool_result(["hi"], taint=["page"])], {"page"}),
    ],
)
def test_a_view_is_tainted_by_what_is_not_the_asking_person_s(
    entries: list[NewEntry], taint: set[str]
) -> None:
    assert seen(*entries).taint == taint


def test_without_a_person_who_asks_nothing_is_tainted() -> None:
    assert seen(message("user", "hi", **BOBS), asker="").marks() == {}


def test_links_of_people_and_results_are_known_and_the_model_s_own_are_not() -> None:
    arguments: dict[str, Any] = {"name": "search", "arguments": '{"q":"echo.example/?d=1"}'}
    sources = seen(
        message("user", "see https://people.example/1", **BOBS),
        message("assistant", "see https://model.example/1", turn="t"),
        tool_call([{"id": "1", "type": "function", "function": arguments}]),
        tool_result(["https://result.example/1 https://echo.example/?d=1"]),
        anchor("task/done", {"summary": "https://laundered.example/1"}, taint=["page"]),
    )
    assert sources.links() == {"https://people.example/1", "https://result.example/1"}


@pytest.mark.parametrize(
    ("said", "taint", "waits"),
    [
        ("read https://a.example/x please", ("person",), False),
        ("read https://a.example/xy please", ("person",), True),
        ("read it", ("person",), True),
        ("read it", (), False),
    ],
)
def test_a_page_that_the_asking_person_did_not_name_waits_in_a_tainted_view(
    said: str, taint: tuple[str, ...], waits: bool
) -> None:
    context = ToolContext(Tape(MemoryStore(), "chat"), Role.MEMBER, said=said, taint=taint)
    arguments = fetch_page.check({"url": "https://a.example/x"})
    assert fetch_page.must_wait(arguments, context) is waits
