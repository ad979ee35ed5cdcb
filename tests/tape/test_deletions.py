"""What was deleted stays on the tape and leaves views and search."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from tape.context import default_tape_context, view
from tape.deletions import (
    DELETED_TEXT,
    ELSEWHERE_RESULT,
    REMOVED_RESULT,
    deletion,
    without_other_chats,
)
from tape.entry import dump, event, message, tool_call, tool_result
from tape.handle import Tape
from tape.snapshot import TapeSnapshot
from tape.stores.registry import open_store
from tape.stores.sqlite import tape_schema


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
    assert await shown(tape) == ["one", DELETED_TEXT, "three"]
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
    assert await shown(tape) == [DELETED_TEXT, "well?", DELETED_TEXT]


async def test_a4_a_prompt_that_a_plugin_made_of_it_leaves_the_view(tape: Tape) -> None:
    number = await said(tape, "a secret", waits=True)
    await tape.append(event("turn.start", {"turn": "t1", "takes": [number]}))
    await tape.append(message("user", "Be kind. a secret", prompt_of=number))
    assert await shown(tape) == ["Be kind. a secret"]
    await tape.append(deletion(number, "7"))
    assert await shown(tape) == [DELETED_TEXT]


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


def asked(name: str, arguments: str = "{}", number: str = "c") -> dict[str, object]:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def found(*ids: int) -> str:
    """Return a result of `tape.search`."""
    return dump({"query": "plum", "hits": [{"id": one, "text": 'say "id":9'} for one in ids]})


def gathered(*ids: int) -> str:
    """Return a result of `tape.context`."""
    return dump({"task": '"entries":[9]', "entries": list(ids), "messages": [{"text": "plum"}]})


@pytest.mark.parametrize(
    ("name", "made"), [("tape_search", found), ("tape.search", found), ("tape_context", gathered)]
)
async def test_a4_a_result_that_quotes_what_was_deleted_leaves_the_view_beside_its_call(
    tape: Tape, name: str, made: Callable[..., str]
) -> None:
    secret, other = await said(tape, "the plum is secret"), await said(tape, "a plum")
    calls = [asked(name, number="a"), asked(name, number="b"), asked("echo", number="c")]
    await tape.append(
        tool_call(calls), tool_result([made(other, secret), made(other), made(secret)])
    )
    before = await shown(tape)
    end = await tape.size()
    await tape.append(deletion(secret, "7"))
    messages = await view(tape, default_tape_context())
    results = [(one["tool_call_id"], one["content"]) for one in messages if one["role"] == "tool"]
    assert results == [("a", REMOVED_RESULT), ("b", made(other)), ("c", made(secret))]
    then = await view(TapeSnapshot(tape, end), default_tape_context())
    assert [str(one["content"]) for one in then][1:] == before


async def test_a4_a_result_cut_short_and_one_that_quotes_the_prompt_are_taken_out(
    tape: Tape,
) -> None:
    secret = await said(tape, "the plum is secret")
    (prompt,) = await tape.append(message("user", "Be kind. the plum", prompt_of=secret))
    short = f"{found(prompt.id)[:-20]}\n[cut: 20 more characters]"
    await tape.append(tool_call([asked("tape_search")]), tool_result([short]))
    await tape.append(deletion(secret, "7"))
    assert (await shown(tape))[-1] == REMOVED_RESULT


async def test_a_result_from_another_chat_has_the_ids_of_that_chat(tape: Tape) -> None:
    number = await said(tape, "a plum")
    calls = [asked("tape_search", '{"query":"plum","chat":"telegram:-1"}')]
    await tape.append(tool_call(calls), tool_result([found(number)]))
    await tape.append(deletion(number, "7"))
    assert (await shown(tape))[-1] == found(number)


async def test_a4_a_result_is_taken_out_where_turns_write_side_by_side(tape: Tape) -> None:
    number = await said(tape, "a plum")
    await tape.append(
        tool_call([asked("tape_search")], turn="one"),
        tool_call([asked("echo")], turn="two"),
        tool_result([found(number)], turn="one"),
        tool_result([found(number)], turn="two"),
    )
    await tape.append(deletion(number, "7"))
    assert (await shown(tape))[-2:] == [REMOVED_RESULT, found(number)]


async def test_results_taken_from_another_chat_are_replaced_where_they_are(tape: Tape) -> None:
    there, here, empty = '{"chat": "plain:-200"}', '{"query": "plum"}', '{"chat": " "}'
    calls = [
        asked("tape_search", there, "a"),
        asked("tape.context", there, "b"),
        asked("tape_search", here, "c"),
        asked("tape_search", empty, "d"),
        asked("echo", there, "e"),
    ]
    entries = await tape.append(tool_call(calls), tool_result(["a", "b", "c", "d", "e"]))
    shown = without_other_chats(entries)
    assert shown[1].payload["results"] == [ELSEWHERE_RESULT, ELSEWHERE_RESULT, "c", "d", "e"]
    assert shown[0] == entries[0]
