"""The tools `tape.info` and `tape.context_summary`."""

from __future__ import annotations

import pytest

from agent.testing import new_tape
from agent.tools.info import summarize_context, tape_info
from tape.entry import event, message
from tape.handle import Tape
from tape.tokens import estimate_text
from tests.agent.tools.using import TOOLS, use


@pytest.fixture
def tape() -> Tape:
    return new_tape()


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
    result = await use(tape, "tape.info")
    assert result["entries"] == 6
    assert (result["last_anchor"], result["last_anchor_date"]) == ("task/done", anchor.date)
    assert result["entries_since_anchor"] == 2
    assert result["tokens_since_anchor"] == estimate_text("one two three")


async def test_info_of_a_lane_knows_its_own_anchors_and_the_tape_wide_ones(tape: Tape) -> None:
    await tape.append(message("user", "mine", lane="a"))
    await tape.handoff("phase:b", lane="b")
    assert (await use(tape, "tape.info", "a"))["last_anchor"] == "session/start"
    assert (await use(tape, "tape.info", "a"))["entries_since_anchor"] == 1
    assert (await use(tape, "tape.info", "b"))["last_anchor"] == "phase:b"


async def test_info_has_the_usage_of_the_newest_step_with_one(tape: Tape) -> None:
    for usage in ({"prompt_tokens": 1}, {"prompt_tokens": 2}, {}):
        await tape.append(event("loop.step", {"usage": usage}))
    assert (await use(tape, "tape.info"))["last_usage"] == {"prompt_tokens": 2}


async def test_info_has_the_share_of_the_prompts_that_was_cached_since_the_anchor(
    tape: Tape,
) -> None:
    before = {"prompt_tokens": 1000, "cached_tokens": 0}
    await tape.append(event("loop.step", {"usage": before}))
    await tape.handoff("task/done")
    for prompt, cached in ((100, 0), (300, 240)):
        usage = {"prompt_tokens": prompt, "cached_tokens": cached}
        await tape.append(event("loop.step", {"usage": usage}))
    assert (await use(tape, "tape.info"))["cache_hit_rate"] == 0.6


async def test_info_has_no_hit_rate_if_the_provider_reports_none(tape: Tape) -> None:
    await tape.append(event("loop.step", {"usage": {"prompt_tokens": 100}}))
    assert "cache_hit_rate" not in await use(tape, "tape.info")


async def test_the_summary_is_the_tape_s_own(tape: Tape) -> None:
    await tape.append(message("user", "plums"))
    assert await use(tape, "tape.context_summary") == await tape.context_summary()


async def test_looking_may_be_repeated_and_handing_off_or_a_subagent_may_not() -> None:
    once = {name for name, tool in TOOLS.items() if not tool.repeatable}
    assert once == {"tape.handoff", "subagent"}


async def test_names_of_anchors_are_others_words() -> None:
    assert tape_info.taints == summarize_context.taints == "tool"
