"""What a model was shown, built again from the tape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.models.strict import alternate
from gateway.app import Gateway
from gateway.context.replay import DIFFERENT, UNMARKED, prompts_of
from gateway.errors import AdminError
from tape.context import MESSAGE_EDIT
from tape.deletions import deletion
from tape.entry import TOOL_CALL, TOOL_RESULT, Entry, event
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.visitor import visit


def turns_of(entries: list[Entry]) -> list[str]:
    return [entry.meta["turn"] for entry in entries if entry.name == "turn.start"]


async def assert_the_same(gateway: Gateway, server: FakeOpenAI, *, strict: bool = False) -> None:
    entries = await settled(gateway)
    found = [
        shown for turn in turns_of(entries) for shown in await prompts_of(tape_of(gateway), turn)
    ]
    assert [shown.exact for shown in found] == [True] * len(server.requests)
    sent = [request.body["messages"] for request in server.requests]
    prompts = [list(shown.messages) for shown in found]
    assert [alternate(prompt) for prompt in prompts] == sent if strict else prompts == sent
    known = {entry.id: entry for entry in entries}
    for shown in found:
        assert shown.places[0] == 0
        for message, place in zip(shown.messages[1:], shown.places[1:], strict=True):
            step = message["role"] == "tool" or "tool_calls" in message
            assert step == (known[place].kind in (TOOL_CALL, TOOL_RESULT))
            if message["role"] == "user":
                assert str(message["content"]).splitlines()[-1] in known[place].text


@pytest.mark.parametrize("strict", ["true", "false"])
async def test_g3_every_prompt_is_built_again_byte_for_byte(
    model: FakeOpenAI, tmp_path: Path, strict: str
) -> None:
    async with gateway_of(tmp_path, model, AGENT__STRICT_ROLES=strict) as gateway:
        calls = (Call("a", "tape_info", "{}"), Call("b", "tape_search", '{"query":"deploy"}'))
        model.enqueue(Text(("At four.",)), ToolCalls(calls, pieces=("I look.",)), Text(("Yes.",)))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            await alice.answer(await alice.say("when do we deploy?"))
            await bob.say("lunch is ready", to_agent=False)
            await alice.answer(await alice.say("is it done?"))
            await bob.answer(await bob.say("is there soup?"))
        await assert_the_same(gateway, model, strict=strict == "true")


async def test_g3_what_happened_later_changes_no_prompt_of_before(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    async with visit(gateway.url, "Alice") as (alice,):
        await alice.answer(await alice.say("what is a tape?"))
    entries = await settled(gateway)
    asked = next(entry for entry in entries if "inbox" in entry.meta)
    edited = {"entry": asked.id, "content": "> something else", "text": "something else"}
    await tape_of(gateway).append(
        event(MESSAGE_EDIT, edited, lane=asked.meta["lane"]),
        deletion(asked.id, asked.meta["message_id"]),
    )
    await tape_of(gateway).handoff("session/reset")
    await assert_the_same(gateway, model)


@pytest.mark.settings(CONTEXT__PROMPT_TOKENS="900", CONTEXT__NEW_TOKENS="400")
async def test_a_view_after_an_overflow_is_built_again_too(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    model.default = lambda _request: Text(("word " * 300,))
    async with visit(gateway.url, "Alice") as (alice,):
        for number in range(4):
            await alice.answer(await alice.say(f"question {number}"))
    assert any(entry.name == "context:overflow" for entry in await settled(gateway))
    await assert_the_same(gateway, model)


async def test_what_is_not_what_was_sent_says_why(gateway: Gateway) -> None:
    for turn, marked in (("other", {"prompt": "0"}), ("old", {})):
        await tape_of(gateway).append(event("loop.step", {"step": 1, **marked}, turn=turn))
    (other,) = await prompts_of(tape_of(gateway), "other")
    (old,) = await prompts_of(tape_of(gateway), "old")
    assert [(shown.exact, shown.why) for shown in (other, old)] == [
        (False, DIFFERENT),
        (False, UNMARKED),
    ]


@pytest.mark.parametrize(
    "data",
    [
        {"step": "one", "upto": "all", "system_entry": "first", "prompt": 7},
        {"step": None, "upto": -(2**62), "system_entry": 2**62},
        {"upto": True, "system_entry": 1, "status": ["ok"]},
    ],
    ids=str,
)
async def test_a_step_that_is_not_ours_is_told_as_not_exact(
    gateway: Gateway, data: dict[str, Any]
) -> None:
    await tape_of(gateway).append(event("loop.step", data, turn="odd"))
    (shown,) = await prompts_of(tape_of(gateway), "odd")
    assert (shown.step, shown.exact) == (0, False)


async def test_a_turn_that_there_is_not_is_refused(gateway: Gateway) -> None:
    with pytest.raises(AdminError, match="no turn nobody"):
        await prompts_of(tape_of(gateway), "nobody")
