"""The tools that list and set anchors."""

from __future__ import annotations

import pytest

from agent.anchors import HINT, MAX_RESTED_ON
from agent.errors import ToolRefused
from agent.testing import call
from agent.tool import Role, ToolContext
from tape.entry import message, tool_call, tool_result
from tape.handle import Tape
from tests.agent.scripted import LANE, begin, new_tape
from tests.agent.tools.using import use, use_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def tape() -> Tape:
    return new_tape()


async def test_anchors_are_the_newest_ones_oldest_of_them_first(tape: Tape) -> None:
    for number in range(3):
        await tape.handoff(f"phase:{number}", {"summary": str(number)})
    result = (await use(tape, "tape.anchors", limit=2))["anchors"]
    assert [(anchor["name"], anchor["state"]) for anchor in result] == [
        ("phase:1", {"summary": "1"}),
        ("phase:2", {"summary": "2"}),
    ]


async def test_a_handoff_sets_an_anchor_of_the_turn_s_lane(tape: Tape) -> None:
    result = await use(tape, "tape.handoff", "a", name="task/done", summary="it works")
    anchor = await tape.anchor("task/done")
    assert result == {"anchor": "task/done", "id": anchor.id}
    assert anchor.payload["state"] == {"summary": "it works"}
    assert anchor.meta == {"lane": "a", "turn": "t-1"}
    assert (await tape.recent(1))[0].name == "handoff"


@pytest.mark.parametrize(
    ("role", "lane", "shared", "may"),
    [
        (Role.STRANGER, None, True, False),
        (Role.MEMBER, None, True, False),
        (Role.ADMIN, None, True, True),
        (Role.STRANGER, "a", True, True),
        (Role.STRANGER, None, False, True),
    ],
)
async def test_an_anchor_for_a_whole_group_is_set_for_admins_only(
    tape: Tape, role: Role, lane: str | None, shared: bool, may: bool
) -> None:
    context = ToolContext(tape, role, lane, "t-1", shared=shared)
    if may:
        assert (await use_in(context, "tape.handoff", name="task/done"))["anchor"] == "task/done"
        return
    with pytest.raises(ToolRefused, match="only admins may set an anchor here"):
        await use_in(context, "tape.handoff", name="task/done")
    assert await tape.anchors() == []


async def test_a_handoff_keeps_the_next_steps(tape: Tape) -> None:
    await use(tape, "tape.handoff", name="phase:review", summary="a", next_steps="b")
    state = (await tape.anchor("phase:review")).payload["state"]
    assert state == {"summary": "a", "next_steps": "b"}


async def test_a_handoff_rests_on_what_the_view_showed_since_the_anchor_before(tape: Tape) -> None:
    await tape.append(message("user", "long ago", lane=LANE))
    await tape.handoff("phase:one", lane=LANE)
    answer, other, hint = await tape.append(
        message("assistant", "an answer", lane=LANE),
        message("assistant", "elsewhere", lane="another"),
        message("user", "a hint", lane=LANE, **{HINT: "handoff.suggest"}),
    )
    await begin(tape)
    question = next(e for e in await tape.read() if "inbox" in e.meta)
    made = tool_call([call().as_openai()], lane=LANE, turn="t-1")
    _called, result = await tape.append(made, tool_result(["42"], lane=LANE, turn="t-1"))
    await use(tape, "tape.handoff", LANE, name="task/done", summary="it is 42")
    state = (await tape.anchor("task/done")).payload["state"]
    assert state["rests_on"] == [answer.id, question.id, result.id]
    assert not {other.id, hint.id} & set(state["rests_on"])


async def test_of_many_entries_it_rests_on_the_newest_are_named(tape: Tape) -> None:
    said = await tape.append(*[message("assistant", "x")] * (MAX_RESTED_ON + 20))
    await use(tape, "tape.handoff", name="task/progress")
    state = (await tape.anchor("task/progress")).payload["state"]
    assert state["rests_on"] == [entry.id for entry in said[-MAX_RESTED_ON:]]


@pytest.mark.parametrize(
    "name",
    [
        "session/start",
        "session/reset",
        "Session/Reset",
        "context:overflow",
        "auto_handoff/context_overflow",
        " session/reset",
    ],
)
async def test_a_handoff_cannot_set_the_anchors_that_are_the_gateway_s_own(
    tape: Tape, name: str
) -> None:
    with pytest.raises(ToolRefused, match="task/done or phase:review"):
        await use(tape, "tape.handoff", name=name)
    assert await tape.size() == 0


@pytest.mark.parametrize("name", [" ", "two\nlines", "a\x00b", "x" * 101, "a\u2028b", ""])
async def test_the_name_of_an_anchor_is_one_short_line(tape: Tape, name: str) -> None:
    with pytest.raises(ToolRefused):
        await use(tape, "tape.handoff", name=name)
    assert await tape.size() == 0


@pytest.mark.parametrize("name", ["task/start", "task/fail", "phase: 计划", "sprint 12"])
async def test_any_other_name_is_ordinary(tape: Tape, name: str) -> None:
    assert (await use(tape, "tape.handoff", name=name))["anchor"] == name
