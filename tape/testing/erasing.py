"""Check that a store erases entries so that nothing of their words is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tape.context import TapeContext
from tape.entry import Entry, anchor, event, message
from tape.erasing import erased_on, tombstone
from tape.errors import AppendRefused
from tape.handle import Tape
from tape.query import Query
from tape.testing.tapes import T, refusal

DAY: Final = "2026-01-31"


async def an_erased_entry_keeps_id_kind_and_date(store: Any) -> None:
    batch = [message("user", "secret", author="7", lane="l"), message("user", "kept")]
    first, second = await store.append(T, batch, "key")
    await store.erase(T, [tombstone(first, DAY)])
    found = await store.query(Query(T, ids=(first.id, second.id)))
    assert [erased_on(entry) for entry in found] == [DAY, ""]
    assert (found[0].id, found[0].kind, found[0].date) == (first.id, "message", first.date)
    assert found[1] == second
    assert await store.query(Query(T, author="7")) == []
    assert await store.append(T, batch, "key") == found
    (last,) = await store.append(T, [message("user", "next")])
    assert last.id == second.id + 1


async def views_and_searches_are_without_what_was_erased(store: Any) -> None:
    tape = Tape(store, T)
    said, edit, state, kept = await tape.append(
        message("user", "secret"),
        event("message.edit", {"entry": 3, "content": "secret", "text": "secret"}),
        anchor("phase", {"summary": "secret"}, lane="l"),
        message("user", "kept"),
    )
    await store.erase(T, [tombstone(entry, DAY) for entry in (said, edit, state)])
    assert await tape.context(TapeContext(anchor=None)) == [
        {"role": "assistant", "content": '[Anchor created: session/start]: {"owner": "human"}'},
        {"role": "user", "content": "kept"},
    ]
    assert await tape.search("secret") == []
    assert [entry.id for entry in await tape.search("kept")] == [kept.id]
    assert await tape.last_anchor("phase") is None
    found = await tape.last_anchor(lane="l")
    assert found is not None
    assert found.id == state.id
    await tape.context_summary()


async def words_can_be_taken_out_of_an_entry(store: Any) -> None:
    (entry,) = await store.append(T, [message("user", "they said secret", author="7")])
    left = replace(entry, payload={"role": "user", "content": "they said"})
    await store.erase(T, [left])
    assert await store.query(Query(T, author="7")) == [left]


async def erasing_changes_and_adds_nothing_else(store: Any) -> None:
    (entry,) = await store.append(T, [message("user", "a")])

    async def refused(left: Entry) -> None:
        await refusal(store.erase(T, [left]), AppendRefused)

    await refused(replace(entry, id=entry.id + 1))
    await refused(replace(entry, kind="system"))
    await refused(replace(entry, date="2020-01-01T00:00:00+00:00"))
    await refused(replace(entry, payload={"role": "user", "content": "more than it said"}))
    assert await store.query(Query(T, ids=(entry.id,))) == [entry]


async def erasing_again_changes_nothing(store: Any) -> None:
    (entry,) = await store.append(T, [message("user", "a")])
    left = tombstone(entry, DAY)
    for _ in range(2):
        await store.erase(T, [left])
        await store.purge()
    assert await store.query(Query(T, ids=(entry.id,))) == [left]


ERASING_CHECKS: Final = (
    an_erased_entry_keeps_id_kind_and_date,
    views_and_searches_are_without_what_was_erased,
    words_can_be_taken_out_of_an_entry,
    erasing_changes_and_adds_nothing_else,
    erasing_again_changes_nothing,
)
