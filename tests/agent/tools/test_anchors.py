"""The tools that list and set anchors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.anchoring import FRAMED, as_said
from agent.anchors import HINT, MAX_RESTED_ON
from agent.errors import ToolRefused
from agent.testing import call, new_tape
from agent.tool import Role, ToolContext
from agent.turn_log import SUGGESTION, TurnLog
from tape.context import LATEST, default_tape_context, to_messages, view, view_entries
from tape.entry import NewEntry, handoff, message, tool_call, tool_result
from tape.handle import Tape
from tape.turn_events import TurnStart
from tests.agent.scripted import LANE, begin
from tests.agent.tools.using import use, use_in


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


ANN, BOB = "web:ann", "web:bob"


def said(author: str, lane: str | None = "a", **more: Any) -> NewEntry:
    channel, _, person = author.partition(":")
    named = {"channel": channel, "author": person, "name": person, **more}
    return message("user", f"words of {person}", inbox=1, lane=lane, **named)


def asking(tape: Tape, asker: str, role: Role = Role.MEMBER, **more: Any) -> ToolContext:
    """Return a context in the group's lane a; a command if it has no turn."""
    given = {"lane": "a", "turn": "t-1", "shared": True, "asker": asker, **more}
    if not given["turn"]:
        person = asker.partition(":")[2]
        given["given"] = {"author": person, "name": person, "channel": "web", FRAMED: "[12:00 x]"}
    return ToolContext(tape, role, **given)


async def offered(context: ToolContext) -> Any:
    """Hand off in a turn; returns the tool's result, and what it recorded."""
    log = TurnLog(context.tape, context.turn, context.lane)
    return await use_in(replace(context, record=log.record), "tape.handoff", name="task/done")


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
    for turn in ("t-1", ""):
        context = asking(tape, ANN, role, lane=lane, shared=shared, turn=turn)
        if may:
            assert (await use_in(context, "tape.handoff", name="x"))["anchor"] == "x"
            continue
        with pytest.raises(ToolRefused, match="only admins may set an anchor here"):
            await use_in(context, "tape.handoff", name="task/done")
        assert await tape.anchors() == []


@pytest.mark.parametrize(
    ("people", "asker", "role", "may"),
    [
        ([(ANN, True)], ANN, Role.STRANGER, True),
        ([(ANN, True)], BOB, Role.MEMBER, False),
        ([(ANN, True)], BOB, Role.ADMIN, True),
        ([(ANN, False), (BOB, True)], BOB, Role.MEMBER, False),
        ([(ANN, True), (BOB, False)], ANN, Role.MEMBER, True),
        ([(ANN, True), (BOB, True)], ANN, Role.MEMBER, False),
        ([(ANN, True), (BOB, True)], ANN, Role.ADMIN, True),
        ([(ANN, True)], "telegram:ann", Role.MEMBER, False),
        ([], BOB, Role.MEMBER, True),
    ],
)
async def test_who_began_a_conversation_sets_its_anchors_until_somebody_else_asks_in_it(
    tape: Tape, people: list[tuple[str, bool]], asker: str, role: Role, may: bool
) -> None:
    for author, asks in people:
        await tape.append(said(author, addressed=asks))
    context = asking(tape, asker, role, turn="")
    if may:
        await use_in(context, "tape.handoff", name="task/done")
        return
    with pytest.raises(ToolRefused, match="who began this conversation"):
        await use_in(context, "tape.handoff", name="task/done")
    assert await tape.last_anchor(name="task/done") is None


async def test_a_person_s_anchor_is_shown_as_a_message_of_that_person(tape: Tape) -> None:
    words = {"name": "task/done", "summary": "we took\n[12:01 Bob] plums", "next_steps": "pick"}
    await use_in(asking(tape, ANN, turn=""), "tape.handoff", **words)
    anchor, _event = await view_entries(tape, LATEST, "a")
    exact = await view(tape, default_tape_context(), "a")
    assert exact[0]["content"].startswith("[Anchor created: task/done]: {")
    lines = ["Checkpoint task/done", "we took", "[12:01 Bob] plums", "Next steps: pick"]
    framed = "\n".join(["[12:00 x]", *(f"> {line}" for line in lines)])
    assert to_messages(as_said([anchor])) == [{"role": "user", "content": framed}]


async def test_a_rewind_to_a_person_s_anchor_stays_that_person_s_words(tape: Tape) -> None:
    await use_in(asking(tape, ANN, turn=""), "tape.handoff", name="task/done", summary="plums")
    await tape.rewind("task/done")
    shown = to_messages(as_said(await view_entries(tape, LATEST, "a")))
    assert shown == [{"role": "user", "content": "[12:00 x]\n> Checkpoint task/done\n> plums"}]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.ADMIN, Role.OWNER])
async def test_a_model_s_anchor_in_a_view_with_others_words_is_only_a_suggestion(
    tape: Tape, role: Role
) -> None:
    mine, others = await tape.append(said(ANN, addressed=True), said(BOB))
    takes = TurnStart("t-1", (mine.id, others.id)).to_entry()
    await tape.append(replace(takes, meta={"turn": "t-1", "lane": "a"}))
    before = await view_entries(tape, LATEST, "a")
    result = await offered(asking(tape, ANN, role))
    assert (result["suggested"], "only a suggestion" in result["note"]) == ("task/done", True)
    assert await view_entries(tape, LATEST, "a") == [*before, *await tape.recent(1)]
    assert (await tape.recent(1))[0].name == SUGGESTION


async def test_a_model_s_anchor_counts_at_once_where_only_the_asker_has_written(tape: Tape) -> None:
    await tape.append(said(ANN, addressed=True), said(BOB, "elsewhere"))
    assert (await offered(asking(tape, ANN)))["anchor"] == "task/done"


async def test_a_model_s_anchor_in_a_conversation_of_another_s_is_only_a_suggestion(
    tape: Tape,
) -> None:
    await tape.append(said(BOB), *handoff("phase:old", lane="a"), said(ANN, addressed=True))
    assert (await offered(asking(tape, ANN)))["suggested"] == "task/done"


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
