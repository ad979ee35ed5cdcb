"""The tape's own tools, on a real tape."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import ToolRefused
from agent.tool import Role, Tool, ToolContext
from agent.tools.tape_tools import EXCERPT, TAPE_TOOLS
from tape.entry import event, message
from tape.handle import Tape
from tape.tokens import estimate_text
from tests.agent.scripted import new_tape

pytestmark = pytest.mark.anyio

TOOLS: dict[str, Tool] = {tool.name: tool for tool in TAPE_TOOLS}


@pytest.fixture
def tape() -> Tape:
    return new_tape()


async def use(tape: Tape, called: str, lane: str | None = None, /, **arguments: Any) -> Any:
    tool = TOOLS[called]
    context = ToolContext(tape, Role.MEMBER, lane, "t-1")
    return await tool.run(tool.check(arguments), context)


# tape.info


async def test_info_of_an_empty_tape(tape: Tape) -> None:
    assert await use(tape, "tape.info") == {
        "entries": 0,
        "last_anchor": None,
        "last_anchor_date": None,
        "entries_since_anchor": 0,
        "tokens_since_anchor": 0,
        "last_usage": None,
    }


async def test_info_counts_what_came_since_the_last_anchor(tape: Tape) -> None:
    await tape.append(message("user", "long ago"))
    anchor = await tape.handoff("task/done")
    await tape.append(message("user", "one two three"))
    told = await use(tape, "tape.info")
    assert told["entries"] == 6
    assert (told["last_anchor"], told["last_anchor_date"]) == ("task/done", anchor.date)
    assert told["entries_since_anchor"] == 2
    assert told["tokens_since_anchor"] == estimate_text("one two three")


async def test_info_of_a_lane_knows_its_own_anchors_and_the_tape_wide_ones(tape: Tape) -> None:
    await tape.append(message("user", "mine", lane="a"))
    await tape.handoff("phase:b", lane="b")
    assert (await use(tape, "tape.info", "a"))["last_anchor"] == "session/start"
    assert (await use(tape, "tape.info", "a"))["entries_since_anchor"] == 1
    assert (await use(tape, "tape.info", "b"))["last_anchor"] == "phase:b"


async def test_info_tells_the_usage_of_the_newest_step_that_has_one(tape: Tape) -> None:
    for usage in ({"prompt_tokens": 1}, {"prompt_tokens": 2}, {}):
        await tape.append(event("loop.step", {"usage": usage}))
    assert (await use(tape, "tape.info"))["last_usage"] == {"prompt_tokens": 2}


# tape.search


async def test_search_finds_the_newest_first_whatever_the_case(tape: Tape) -> None:
    await tape.append(message("user", "Plum one"), message("user", "pear"), message("user", "plum"))
    told = await use(tape, "tape.search", query="PLUM")
    assert told["query"] == "PLUM"
    assert [(hit["id"], hit["kind"], hit["text"]) for hit in told["hits"]] == [
        (5, "message", "plum"),
        (3, "message", "Plum one"),
    ]


async def test_search_finds_two_chinese_characters(tape: Tape) -> None:
    await tape.append(message("user", "我们明天部署"))
    assert len((await use(tape, "tape.search", query="部署"))["hits"]) == 1


async def test_search_gives_as_many_as_are_asked_for_and_an_excerpt_of_long_ones(
    tape: Tape,
) -> None:
    await tape.append(*[message("user", "plum " * 100)] * 3)
    hits = (await use(tape, "tape.search", query="plum", limit=2))["hits"]
    assert [len(hit["text"]) for hit in hits] == [EXCERPT + 3] * 2


async def test_search_that_finds_nothing_says_so(tape: Tape) -> None:
    assert await use(tape, "tape.search", query="plum") == {"query": "plum", "hits": []}


@pytest.mark.parametrize(
    "arguments", [{}, {"query": ""}, {"query": "a", "limit": 0}, {"query": "a", "limit": 51}]
)
async def test_a_search_out_of_bounds_is_refused(tape: Tape, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolRefused):
        await use(tape, "tape.search", **arguments)


# tape.anchors


async def test_anchors_are_the_newest_ones_oldest_of_them_first(tape: Tape) -> None:
    for number in range(3):
        await tape.handoff(f"phase:{number}", {"summary": str(number)})
    told = (await use(tape, "tape.anchors", limit=2))["anchors"]
    assert [(anchor["name"], anchor["state"]) for anchor in told] == [
        ("phase:1", {"summary": "1"}),
        ("phase:2", {"summary": "2"}),
    ]


# tape.handoff


async def test_a_handoff_sets_an_anchor_of_the_turn_s_lane(tape: Tape) -> None:
    told = await use(tape, "tape.handoff", "a", name="task/done", summary="it works")
    anchor = await tape.anchor("task/done")
    assert told == {"anchor": "task/done", "id": anchor.id}
    assert anchor.payload["state"] == {"summary": "it works"}
    assert anchor.meta == {"lane": "a", "turn": "t-1"}
    assert (await tape.recent(1))[0].name == "handoff"


async def test_a_handoff_tells_what_remains_to_be_done(tape: Tape) -> None:
    await use(tape, "tape.handoff", name="phase:review", summary="a", next_steps="b")
    state = (await tape.anchor("phase:review")).payload["state"]
    assert state == {"summary": "a", "next_steps": "b"}


@pytest.mark.parametrize(
    "name", ["session/start", "session/reset", "context:overflow", "auto_handoff/context_overflow"]
)
async def test_a_handoff_cannot_set_the_anchors_that_are_the_gateway_s_own(
    tape: Tape, name: str
) -> None:
    with pytest.raises(ToolRefused, match="task/done or phase:review"):
        await use(tape, "tape.handoff", name=name)
    assert await tape.size() == 0


async def test_looking_may_be_repeated_and_handing_off_may_not() -> None:
    repeatable = {name for name, tool in TOOLS.items() if tool.repeatable}
    assert repeatable == {"tape.info", "tape.search", "tape.anchors"}
