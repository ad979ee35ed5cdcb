"""Which other tapes an asking person may read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.tool import Role
from gateway.app import Gateway
from gateway.context.tape_access import other_tapes
from gateway.pipeline.turn import Question
from tape.entry import message
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.plain_channels import MESSAGE
from tests.kit.rows import row_of
from tests.kit.visitor import visit


def asked(role: Role, kind: str) -> Question:
    said = replace(MESSAGE, chat_kind=kind)  # type: ignore[arg-type]
    return Question("plain:-100", "own", None, role, (row_of(said),))


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("kind", ["private", "group"])
async def test_only_the_owner_reads_another_chat_and_only_in_private(
    gateway: Gateway, role: Role, kind: str
) -> None:
    found = other_tapes(gateway.services, asked(role, kind))("telegram:-100123")
    wanted = tape_of(gateway, "telegram:-100123").name
    may = role is Role.OWNER and kind == "private"
    assert (found.name if found else None) == (wanted if may else None)


async def test_one_s_own_chat_is_no_other_and_a_moved_one_is_found(gateway: Gateway) -> None:
    gateway.services.aliases["telegram:-2"] = "telegram:-1"
    own = other_tapes(gateway.services, asked(Role.STRANGER, "group"))("plain:-100")
    owner = other_tapes(gateway.services, asked(Role.OWNER, "private"))
    moved = owner("telegram:-2")
    assert own is not None
    assert own.name == "own"
    assert moved is not None
    assert moved.name == tape_of(gateway, "telegram:-1").name
    assert [owner(odd) for odd in ("", "telegram", "Telegram:1", "a:b c")] == [None] * 4


async def test_in_a_room_the_owner_too_is_refused_with_a_sentence(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    arguments = '{"query":"plum","chat":"telegram:-100123"}'
    async with gateway_of(tmp_path, model) as gateway:
        await tape_of(gateway, "telegram:-100123").append(message("user", "the plum is ours"))
        model.enqueue(ToolCalls((Call("a", "tape_search", arguments),)), Text(("No.",)))
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("what do they say of plums?"))
            line = ",tape.search query=plum chat=telegram:-100123"
            told = await alice.answer(await alice.say(line))
        await settled(gateway)
    result = model.requests[1].body["messages"][-1]["content"]
    for text in (result, told["text"]):
        assert "only the owner may read" in text
        assert "ours" not in text
