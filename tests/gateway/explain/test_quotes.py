"""What repeats a deleted message is found, for whoever erases it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.explain.explainer import Explainer
from gateway.explain.quotes import quote_lines
from gateway.explain.report import ReportLine
from tape.entry import Entry, NewEntry, anchor, event, message, tool_result
from tape.query import Query
from tape.stores.memory import MemoryStore
from tape.unit_of_work import Row
from tests.fakes.openai.script import Text
from tests.kit.chats import PrivateChat
from tests.kit.editing_channel import QUESTION

SAID = "The spare key lies under the blue pot."


async def lines_of(text: str, *later: NewEntry, edited: str = "") -> list[ReportLine]:
    store = MemoryStore()
    (entry,) = await store.append("t", [message("user", f"[Ana]\n{text}", text=text)])
    changes: list[Entry] = []
    if edited:
        edit = event("message.edit", {"entry": entry.id, "text": edited, "content": edited})
        changes = await store.append("t", [edit])
    await store.append("t", later)
    return await quote_lines(store, "t", entry, changes)


def listed(lines: list[ReportLine]) -> list[int]:
    found: list[int] = lines[-1].data["entries"]
    return found


async def test_whatever_repeats_four_words_in_a_row_is_listed() -> None:
    lines = await lines_of(
        SAID,
        message("assistant", 'You said: "the SPARE key, lies under" something.'),
        message("user", "Which spare key?"),
        tool_result(['{"hits": [{"id": 3, "text": "The spare key lies under the blue pot."}]}']),
        anchor("task/done", {"summary": "spare key lies under a pot"}),
        event("outbound", {"text": "under the blue pot"}),
    )
    assert listed(lines) == [3, 4, 6, 7, 8]
    assert [line.data["kind"] for line in lines[:-1]] == [
        *("message", "tool_result", "anchor", "event")
    ]
    assert "message assistant) repeats it" in lines[0].says
    assert lines[-1].says == "to erase its text: entries 3, 4, 6, 7, 8 of the tape t"


async def test_the_text_after_an_edit_counts_too() -> None:
    lines = await lines_of(
        SAID, message("assistant", "It is in Bo's left drawer."), edited="in Bo's left drawer"
    )
    assert listed(lines) == [3, 4, 5]


@pytest.mark.parametrize(
    ("text", "answer", "found"),
    [
        ("swordfish", "Your password is swordfish.", True),
        ("ok", "ok", False),
        ("blue pot", "a blue, blue pot", True),
        ("blue pot", "a pot, blue", False),
        ("钥匙在花盆下面", "她说钥匙在花盆下面。", True),
        ("!?", "!?", False),
    ],
)
async def test_a_short_text_is_looked_for_as_a_whole(text: str, answer: str, found: bool) -> None:
    lines = await lines_of(text, message("assistant", answer))
    assert listed(lines) == ([3, 4] if found else [3])


class _Noting(dict[str, Any]):
    """A payload that notes the thread in which its texts are read."""

    threads: set[int]

    def values(self) -> Any:
        self.threads.add(threading.get_ident())
        return super().values()


class _Page:
    def __init__(self, *entries: Entry) -> None:
        self._entries = entries

    async def query(self, query: Query) -> list[Entry]:
        return [entry for entry in self._entries if entry.id > (query.after or 0)]

    async def select(self, _statement: str, _values: Mapping[str, Any]) -> list[Row]:
        return []


async def test_later_entries_are_compared_outside_the_thread_of_the_event_loop() -> None:
    payload = _Noting(role="assistant", content=SAID)
    payload.threads = set()
    said = Entry(1, "message", {"role": "user", "content": SAID}, {}, "2026-01-01")
    later = replace(said, id=2, payload=payload)
    lines = await quote_lines(_Page(later), "t", said, [])
    assert listed(lines) == [1, 2]
    assert len(payload.threads - {threading.get_ident()}) == 1


async def test_explain_shows_what_the_agent_quoted_of_a_deleted_message(chat: PrivateChat) -> None:
    text = QUESTION.text
    chat.model.enqueue(Text((f"You asked: {text}",)))
    await chat.ask()
    explainer = Explainer(chat.gateway.services.store, chat.gateway.services.redactor)
    before: list[Any] = [line.about for line in (await explainer.explain("in-1")).lines]
    assert "quoted" not in before
    gone = replace(QUESTION, kind="delete", ext_id="1/1/deleted", text="")
    await chat.accept(gone)
    await chat.gateway.idle()
    story = await explainer.explain("in-1")
    quotes = [line for line in story.lines if line.about == "quoted"]
    assert any(line.data.get("kind") == "message" for line in quotes)
    assert quotes[-1].says.startswith("to erase its text: entries ")
