"""What was deleted stays on the tape and leaves views and search."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tape.context import default_tape_context, view
from tape.deleted import GONE, deletion
from tape.entry import event, message
from tape.handle import Tape
from tape.registry import open_store
from tape.sqlite import tape_schema

pytestmark = pytest.mark.anyio


@pytest.fixture
async def tape() -> AsyncIterator[Tape]:
    store = open_store("memory:", [tape_schema()])
    yield Tape(store, "t")
    await store.close()


async def said(tape: Tape, text: str, *, waits: bool = False) -> int:
    meta = {"inbox": 1} if waits else {}
    (entry,) = await tape.append(message("user", text, **meta))
    return entry.id


async def shown(tape: Tape) -> list[str]:
    return [str(m["content"]) for m in await view(tape, default_tape_context())][1:]


async def test_a4_a_deleted_text_leaves_the_view_and_the_rest_stays_where_it_was(
    tape: Tape,
) -> None:
    await said(tape, "one")
    number = await said(tape, "a secret")
    await said(tape, "three")
    await tape.append(deletion(number, "7"))
    assert await shown(tape) == ["one", GONE, "three"]
    assert (await tape.entries([number]))[number].text == "a secret"


async def test_a4_what_a_turn_took_and_its_edits_and_its_prompt_leave_the_view(tape: Tape) -> None:
    number = await said(tape, "a secret", waits=True)
    other = await said(tape, "well?", waits=True)
    await tape.append(event("turn.start", {"turn": "t1", "takes": [number, other]}))
    edit = {"entry": number, "message_id": "7", "text": "a bad secret", "content": "a bad secret"}
    (edited,) = await tape.append(event("message.edit", edit))
    await tape.append(event("turn.start", {"turn": "t2", "takes": [edited.id]}))
    assert "a bad secret" in (await shown(tape))[2]
    await tape.append(deletion(number, "7"))
    assert await shown(tape) == [GONE, "well?", GONE]


async def test_a4_a_prompt_that_a_plugin_made_of_it_leaves_the_view(tape: Tape) -> None:
    number = await said(tape, "a secret", waits=True)
    await tape.append(event("turn.start", {"turn": "t1", "takes": [number]}))
    await tape.append(message("user", "Be kind. a secret", prompt_of=number))
    assert await shown(tape) == ["Be kind. a secret"]
    await tape.append(deletion(number, "7"))
    assert await shown(tape) == [GONE]


async def test_a4_search_does_not_find_what_was_deleted_and_finds_as_many_others(
    tape: Tape,
) -> None:
    numbers = [await said(tape, f"plum {number}") for number in range(6)]
    for number in numbers[2:4]:
        await tape.append(deletion(number, str(number)))
    assert [hit.text for hit in await tape.search("plum", limit=4)] == [
        "plum 5",
        "plum 4",
        "plum 1",
        "plum 0",
    ]
    assert [hit.text for hit in await tape.search("plum", limit=1)] == ["plum 5"]
