"""The tool that gathers from a tape what is worth knowing for a task."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import ToolRefused
from agent.testing import call, new_tape
from agent.tool import Role, ToolContext
from agent.tools.chat_access import QUOTED_NOTE
from agent.tools.context import CONSTRUCTED
from tape.construct import Constructed
from tape.construct.candidate import Strategy
from tape.entry import message, tool_call, tool_result
from tape.handle import Tape
from tests.agent.tools.using import use_in


class ConstructedTape(Tape):
    """A tape whose context for any task is its newest message."""

    async def context_for(
        self,
        task: str,
        *,
        budget: int = 4000,
        lane: str | None = None,
        strategy: Strategy | None = None,
    ) -> Constructed:
        """Note what was asked for, and return the newest message and a call."""
        self.wanted = (task, budget, lane)
        newest = await self.recent(1)
        called = {"role": "assistant", "content": "", "tool_calls": [call().as_openai()]}
        return Constructed([dict(newest[0].payload), called], (newest[0].id,), 12, {"digest": "d"})


@pytest.fixture
async def tape() -> ConstructedTape:
    made = ConstructedTape(new_tape().store, "chat")
    await made.append(message("user", [{"type": "text", "text": "plums are ripe"}]))
    return made


async def test_it_gives_what_the_tape_makes_for_a_task(tape: ConstructedTape) -> None:
    context = ToolContext(tape, Role.MEMBER, "lane-1", "t-1")
    result = await use_in(context, "tape.context", task="harvest", budget=500)
    assert tape.wanted == ("harvest", 500, None)
    assert result == {
        "task": "harvest",
        "note": QUOTED_NOTE,
        "tokens": 12,
        "entries": [3],
        "messages": [
            {"role": "user", "text": "plums are ripe"},
            {"role": "assistant", "text": "", "calls": ["echo"]},
        ],
    }


async def test_every_choice_is_on_the_tape(tape: ConstructedTape) -> None:
    context = ToolContext(tape, Role.MEMBER, "lane-1", "t-1")
    await use_in(context, "tape.context", task="harvest")
    (result,) = await tape.find(name=CONSTRUCTED)
    assert result.payload["data"] == {"tape": "chat", "record": {"digest": "d"}}
    assert result.meta == {"lane": "lane-1", "turn": "t-1"}


async def test_it_can_be_about_another_chat(tape: ConstructedTape) -> None:
    other = ConstructedTape(tape.store, "other")
    await other.append(message("user", "pears"))
    context = ToolContext(tape, Role.OWNER, "lane-1", "t-1", tape_of=lambda _chat: other)
    result = await use_in(context, "tape.context", task="harvest", chat="telegram:-100")
    assert other.wanted[0] == "harvest"
    assert result["messages"][0]["text"] == "pears"


async def test_another_chat_is_refused_where_the_gateway_hands_none_over(
    tape: ConstructedTape,
) -> None:
    context = ToolContext(tape, Role.ADMIN, None, "t-1")
    with pytest.raises(ToolRefused, match="only the owner"):
        await use_in(context, "tape.context", task="harvest", chat="telegram:-100")


@pytest.mark.parametrize("arguments", [{}, {"task": ""}, {"task": "a", "budget": 100_000}])
async def test_what_is_out_of_bounds_is_refused(
    tape: ConstructedTape, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolRefused):
        await use_in(ToolContext(tape, Role.MEMBER), "tape.context", **arguments)


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (Role.STRANGER, {"mine"}),
        (Role.MEMBER, {"mine"}),
        (Role.ADMIN, {"mine", "theirs"}),
        (Role.OWNER, {"mine", "theirs"}),
    ],
)
async def test_results_of_tools_in_other_conversations_are_for_admins(
    role: Role, seen: set[str]
) -> None:
    tape = new_tape()
    for lane, result in (("a", "mine"), ("b", "theirs")):
        meta = {"lane": lane, "turn": f"t-{lane}"}
        await tape.append(
            message("user", "which plums are ripe", author="7", **meta),
            tool_call([call("echo").as_openai()], **meta),
            tool_result([f"the plums: {result}"], **meta),
        )
    context = ToolContext(tape, role, "a", "t-1", shared=True)
    found = await use_in(context, "tape.context", task="which plums are ripe")
    texts = str(found["messages"])
    assert {word for word in ("mine", "theirs") if word in texts} == seen
