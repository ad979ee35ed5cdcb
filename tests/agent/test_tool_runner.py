"""Running the calls of a step, and what a resumed turn makes of an interrupted one."""

from __future__ import annotations

import anyio
import pytest

from agent.errors import ToolRefused
from agent.testing import call
from agent.tool import NoArguments, Tool, ToolContext
from agent.tool_runner import MAX_RESULT_CHARACTERS, UNKNOWN_OUTCOME, finish_open_calls, run_allowed
from tape.entry import NewEntry, event, tool_call, tool_result
from tests.agent.scripted import BREAK, ECHO, HANG, Stage, begin, returning, stage_of


async def result_of(tool: Tool, arguments: str = "{}") -> str:
    (done,) = await stage_of(tool).runner.run_all([call(tool.name, arguments=arguments)])
    return done.text


# Running


async def test_calls_of_one_step_run_side_by_side() -> None:
    met = [anyio.Event(), anyio.Event()]

    def meeting(own: int) -> Tool:
        async def run(_arguments: NoArguments, _context: ToolContext) -> object:
            met[own].set()
            await met[1 - own].wait()
            return f"met {own}"

        return Tool(f"meet.{own}", "Meet the other.", NoArguments, run, timeout=60)

    runner = stage_of(meeting(0), meeting(1)).runner
    done = await runner.run_all([call("meet.0", "a"), call("meet.1", "b")])
    assert [one.text for one in done] == ["met 0", "met 1"]


async def test_results_come_in_the_order_of_the_calls_and_finishes_as_they_happen() -> None:
    second_is_done = anyio.Event()

    async def wait(_arguments: NoArguments, _context: ToolContext) -> object:
        await second_is_done.wait()
        return "slow"

    async def hurry(_arguments: NoArguments, _context: ToolContext) -> object:
        second_is_done.set()
        return "fast"

    slow, fast = (Tool(run.__name__, "", NoArguments, run) for run in (wait, hurry))
    stage = stage_of(slow, fast)
    done = await stage.runner.run_all([call("wait", "a"), call("hurry", "b")])
    assert [one.text for one in done] == ["slow", "fast"]
    finishes = [entry.payload["data"]["call_id"] for entry in await stage.named("tool.done")]
    assert finishes == ["b", "a"]


async def test_a_finished_call_is_on_the_tape_at_once_with_what_the_model_will_read() -> None:
    stage = stage_of(ECHO)
    await stage.runner.run(call(arguments='{"text":"hi"}'))
    (done,) = await stage.named("tool.done")
    data = dict(done.payload["data"])
    assert isinstance(data.pop("elapsed_ms"), int)
    assert data == {"call_id": "c1", "result": "echo: hi"}
    assert done.meta == {"turn": "t-1", "lane": "lane-1"}


async def test_a_tool_that_takes_too_long_is_stopped() -> None:
    with anyio.fail_after(30):
        assert "hang took too long and was stopped" in await result_of(HANG)


async def test_a_tool_without_a_timeout_of_its_own_has_the_setting_s() -> None:
    patient = Tool("patient", "", HANG.arguments, HANG.run)
    (done,) = await stage_of(patient, timeout=0.01).runner.run_all([call("patient")])
    assert "took too long" in done.text


async def test_a_tool_that_raises_is_a_result_and_is_reported() -> None:
    stage = stage_of(BREAK, ECHO)
    broken, fine = await stage.runner.run_all([call("break", "a"), call("echo", "b")])
    assert broken.text == "Error: break failed: LookupError: no such drawer"
    assert fine.text == "echo: nothing"
    assert stage.reported == ["break"]


async def test_a_tool_may_refuse_with_a_sentence_which_is_no_failure() -> None:
    async def run(_arguments: NoArguments, _context: ToolContext) -> object:
        raise ToolRefused("not on a Sunday")

    stage = stage_of(Tool("shop", "", NoArguments, run))
    assert (await stage.runner.run(call("shop"))).text == "Error: not on a Sunday"
    assert stage.reported == []


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        (call("ecko"), "Error: there is no tool named ecko. Known here: echo."),
        (call(arguments='{"txt":"a"}'), "did you mean text?"),
        (call(arguments="{broken"), "Error: echo was not run."),
    ],
)
async def test_a_call_that_cannot_be_made_says_why(asked: object, refusal: str) -> None:
    stage = stage_of(ECHO)
    assert refusal in (await stage.runner.run(asked)).text  # type: ignore[arg-type]
    assert "before_tool_call echo" not in stage.hooks.seen


async def test_an_exception_before_a_call_denies_it() -> None:
    stage = stage_of(ECHO)
    stage.hooks.fail["before_tool_call"] = PermissionError("not you")
    assert (await stage.runner.run(call())).text == "Error: echo was denied: not you"
    assert stage.hooks.seen == ["before_tool_call echo", "after_tool_call echo"]


async def test_an_exception_after_a_call_is_raised_as_it_is() -> None:
    stage = stage_of(ECHO)
    stage.hooks.fail["after_tool_call"] = PermissionError("no")
    with pytest.raises(PermissionError, match="no"):
        await stage.runner.run_all([call("echo", "a"), call("echo", "b")])
    assert await stage.named("tool.done")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is", "as it is"),
        ({"b": 1, "a": ["ä"]}, '{"b":1,"a":["ä"]}'),
        (None, "null"),
        ("lone \ud800 half", "lone ? half"),
    ],
)
async def test_a_result_is_a_text_or_what_json_can_hold(result: object, text: str) -> None:
    assert await result_of(returning("tool", result)) == text


async def test_a_result_that_json_cannot_hold_is_the_tool_s_failure() -> None:
    assert (await result_of(returning("tool", {1, 2}))).startswith("Error: tool failed: ")


async def test_a_long_result_is_cut_and_says_so() -> None:
    text = await result_of(returning("tool", "x" * (MAX_RESULT_CHARACTERS + 7)))
    assert text == "x" * MAX_RESULT_CHARACTERS + "\n[cut: 7 more characters]"


async def test_a_result_of_just_the_longest_length_is_whole() -> None:
    assert (
        await result_of(returning("tool", "x" * MAX_RESULT_CHARACTERS))
        == "x" * MAX_RESULT_CHARACTERS
    )


async def test_a_call_is_taped_by_the_tool_s_dotted_name() -> None:
    runner = stage_of(returning("tape.info", "")).runner
    assert runner.prepare(call("tape_info")).name == "tape.info"
    assert runner.prepare(call("no_such")).name == "no_such"


# Resuming


async def resumed(*left: NewEntry, ended: bool = False) -> Stage:
    """Return a turn whose process was gone after these entries, resumed up to its open calls."""
    counted = returning("count", "counted again")
    stage = stage_of(ECHO, counted)
    await begin(stage.tape)
    await stage.log.record(*left)
    await finish_open_calls(stage.log, stage.runner)
    return stage


async def results(stage: Stage) -> list[object]:
    found = await stage.tape.find(kinds=("tool_result",))
    return [entry.payload["results"] for entry in found]


def calls(*made: tuple[str, str]) -> NewEntry:
    return tool_call([call(name, call_id).as_openai() for call_id, name in made])


def done(call_id: str, result: str) -> NewEntry:
    return event("tool.done", {"call_id": call_id, "result": result, "elapsed_ms": 1})


async def test_a_recorded_finish_is_the_result_and_nothing_runs_again() -> None:
    stage = await resumed(calls(("a", "echo"), ("b", "count")), done("b", "two"), done("a", "one"))
    assert await results(stage) == [["one", "two"]]
    assert stage.hooks.seen == []


async def test_a_repeatable_tool_without_a_finish_runs_again() -> None:
    stage = await resumed(calls(("a", "echo")))
    assert await results(stage) == [["echo: nothing"]]
    assert len(await stage.named("tool.done")) == 1


async def test_the_outcome_of_any_other_call_is_unknown_and_it_does_not_run_again() -> None:
    stage = await resumed(calls(("a", "count"), ("b", "gone")), done("b", "two"))
    assert await results(stage) == [[UNKNOWN_OUTCOME, "two"]]
    assert stage.hooks.seen == []


async def test_a_call_of_a_tool_that_is_no_more_has_an_unknown_outcome() -> None:
    assert await results(await resumed(calls(("a", "gone")))) == [[UNKNOWN_OUTCOME]]


async def test_an_equal_call_id_of_an_earlier_step_is_another_call() -> None:
    earlier = (calls(("a", "count")), done("a", "old"), tool_result(["old"]))
    stage = await resumed(*earlier, calls(("a", "count")))
    assert await results(stage) == [["old"], [UNKNOWN_OUTCOME]]


async def test_the_finish_of_another_turn_is_not_this_one_s() -> None:
    stage = stage_of(returning("count", ""))
    await begin(stage.tape)
    await stage.log.record(calls(("a", "count")))
    other = stage_of(tape=stage.tape, turn="t-2")
    await other.log.record(done("a", "another's"))
    await finish_open_calls(stage.log, stage.runner)
    assert await results(stage) == [[UNKNOWN_OUTCOME]]


@pytest.mark.parametrize(
    "left",
    [[], [calls(("a", "echo")), done("a", "one"), tool_result(["one"])]],
    ids=["new", "done"],
)
async def test_a_turn_without_open_calls_writes_nothing(left: list[NewEntry]) -> None:
    stage = await resumed(*left)
    assert len(await results(stage)) == len(left) // 3


async def test_a_permission_is_used_up_once_its_call_has_begun() -> None:
    stage = await resumed(calls(("a", "echo")))
    stage.log.allowed = call("echo")
    async for _happened in run_allowed(stage.log, stage.runner, stage.tape.size):
        pytest.fail("it ran again")
    assert stage.log.allowed is None
