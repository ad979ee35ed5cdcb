"""Lines that begin with a comma."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from agent.anchors import MAX_RESTED_ON
from agent.errors import ToolRefused
from agent.tool import Role, Tool
from agent.tool_decorator import tool
from agent.tool_runner import MAX_RESULT_CHARACTERS
from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from gateway.pipeline.turn import Question
from gateway.scheduling.commands import Commands
from gateway.scheduling.presses import Presses
from tape.entry import message
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.plain_channels import MESSAGE
from tests.kit.rows import row_of
from tests.kit.visitor import visit


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (",help", "`/tape.search query=...`"),
        (",help", "`/forget me`: erase what you wrote"),
        (",tape.info", "The tape of this chat has"),
        (",tape.search query=deploy", "I found nothing about “deploy”"),
        (",tape.search deploy", "I found nothing about “deploy”"),
        (",tape.anchors", "- `session/start`, "),
        (",tape.context_summary", "The tape has"),
        (",tape.context deploy", "This is worth knowing for it:"),
        (",tape.search", "query: Field required"),
        (",tape.search query=x limit=many", "limit: Input should be a valid integer"),
        (",stop", "There is nothing to stop."),
        (",stop everything", "`,stop all`"),
        (",reset", "I'm starting over from here."),
        (
            ",tape.handoff name=task/done summary='it is done'",
            "I've set the checkpoint `task/done`.",
        ),
    ],
)
async def test_a_command_is_answered_without_the_model(
    gateway: Gateway, model: FakeOpenAI, line: str, told: str
) -> None:
    async with visit(gateway.url, "Alice") as (alice,):
        answer = await alice.answer(await alice.say(line))
        assert model.requests == []
        await settled(gateway)
    assert told in answer["text"]
    assert answer["role"] == "notice"


async def test_a_search_quotes_what_was_said_with_its_author_time_and_link(
    gateway: Gateway,
) -> None:
    async with visit(gateway.url, "Alice") as (alice,):
        said = await alice.say("the kettle\nis blue", to_agent=False)
        await gateway.taken_in()
        answer = await alice.answer(await alice.say(",tape.search kettle"))
        anchored = await alice.answer(await alice.say(",handoff it is blue"))
        listed = await alice.answer(await alice.say(",tape.anchors"))
        info = await alice.answer(await alice.say(",tape.info"))
        (entry,) = [e for e in await settled(gateway) if e.meta.get("message_id") == said]
    when = entry.meta["said_at"][:16].replace("T", " ")
    assert answer["text"] == (
        "I found 1 message about “kettle”:\n\n"
        f"> the kettle is blue\n\nAlice, {when}, [show](#{said})"
    )
    assert anchored["text"] == "I've set the checkpoint `phase:handoff`."
    assert "\n- `phase:handoff`, " in listed["text"]
    assert listed["text"].endswith(": it is blue")
    assert "came after the newest checkpoint, `phase:handoff` of" in info["text"]
    assert "{" not in answer["text"] + listed["text"] + info["text"]


class Denies:
    """A plugin that denies a tool, and hears of each one's end."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []

    @hookimpl
    def before_tool_call(self, name: str, arguments: dict[str, object]) -> None:
        if name == "tape.search":
            raise PermissionError(f"nobody searches for {arguments['query']}")

    @hookimpl
    def after_tool_call(self, name: str, result: str, session_id: str) -> None:
        self.heard.append((name, result[:1], session_id))


async def test_a_plugin_that_denies_a_tool_denies_the_command_too(tmp_path: Path) -> None:
    denies = Denies()
    async with gateway_of(tmp_path, None, denies) as gateway:
        refused = await _run(gateway, ",tape.search kettle", Role.OWNER)
        await _run(gateway, ",tape.info", Role.OWNER)
    assert refused == "tape.search was denied: nobody searches for kettle"
    assert denies.heard == [("tape.search", "E", "plain:-100"), ("tape.info", "{", "plain:-100")]


class Counts:
    """A plugin with a tool that returns data."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [count_plums]


@tool(name="plums")
async def count_plums() -> object:
    """Count the plums."""
    return {"ripe": 3, "sold": True, "by": ["Ann", "Bob"], "next": None}


async def test_a_plugin_s_tool_answers_a_person_without_json(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, None, Counts()) as gateway:
        said = await _run(gateway, ",plums", Role.OWNER)
    assert said == "- ripe: 3\n- sold: yes\n- by: Ann, Bob\n- next: none"


class Ends:
    """A plugin with tools that end in several ways; it hears of their end, or fails there."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.heard: list[str] = []

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [ends]

    @hookimpl
    def after_tool_call(self, name: str, result: str) -> None:
        self.heard.append(result)
        if self.fails:
            raise RuntimeError("no ears")


@tool(name="ends", timeout=0.01)
async def ends(how: str) -> object:
    """End in one of several ways."""
    if how == "refused":
        raise ToolRefused("not today")
    if how == "failed":
        raise ValueError("broken")
    if how == "late":
        await anyio.sleep_forever()
    return "x" * 30_000


@pytest.mark.parametrize(
    ("line", "heard"),
    [
        (",ends refused", "Error: not today"),
        (",ends failed", "Error: ends failed: ValueError: broken"),
        (",ends late", "Error: ends took too long and was stopped. Ask for less, or do without."),
        (",ends", "Error: ends was not run. how: Field required. It takes: how."),
        (",ends well", "x" * MAX_RESULT_CHARACTERS + "\n[cut: 10000 more characters]"),
    ],
)
async def test_a_plugin_hears_how_a_command_ended_as_in_a_turn(
    tmp_path: Path, line: str, heard: str
) -> None:
    ears = Ends()
    async with gateway_of(tmp_path, None, ears) as gateway:
        await _run(gateway, line, Role.OWNER)
    assert ears.heard == [heard]


async def test_a_plugin_that_fails_after_a_tool_does_not_deny_what_was_done(tmp_path: Path) -> None:
    ears = Ends(fails=True)
    async with gateway_of(tmp_path, None, ears) as gateway:
        done = await _run(gateway, ",ends well", Role.OWNER)
        refused = await _run(gateway, ",ends refused", Role.OWNER)
    assert (done, refused) == ("x" * 30_000, "not today")


async def _stop(_asked: Question, _everything: bool) -> int:
    return 0


async def _run(
    gateway: Gateway, line: str, role: Role, kind: str = "group", lane: str | None = "person:7"
) -> str:
    """Run a line that somebody says in their lane of a chat."""
    said = replace(MESSAGE, text=line, command=line, chat_kind=kind)  # type: ignore[arg-type]
    tape = tape_of(gateway, "plain:-100").name
    asked = Question("plain:-100", tape, lane, role, (row_of(said),))
    presses = Presses(gateway.services, gateway.parts.sender)
    commands = Commands(
        gateway.services, _stop, presses, gateway.parts.requests, gateway.parts.door
    )
    return await commands.run(asked)


@pytest.mark.parametrize(
    ("role", "kind", "lane"),
    [
        (Role.STRANGER, "group", "person:7"),
        (Role.MEMBER, "group", "person:7"),
        (Role.ADMIN, "group", None),
        (Role.OWNER, "group", None),
        (Role.STRANGER, "private", None),
    ],
)
@pytest.mark.parametrize("line", [",handoff done", ",tape.handoff phase:handoff summary=done"])
async def test_a_group_s_anchor_is_for_everybody_only_where_an_admin_sets_it(
    gateway: Gateway, role: Role, kind: str, lane: str | None, line: str
) -> None:
    await _run(gateway, line, role, kind)
    anchor = await tape_of(gateway, "plain:-100").last_anchor()
    assert anchor is not None
    assert (anchor.name, anchor.meta.get("lane")) == ("phase:handoff", lane)
    assert anchor.payload["state"] == {"summary": "done"}


async def test_in_a_group_of_one_lane_only_admins_set_an_anchor(gateway: Gateway) -> None:
    told = await _run(gateway, ",handoff done", Role.MEMBER, lane=None)
    assert await tape_of(gateway, "plain:-100").size() == 0
    assert told == "only admins may set an anchor here: it affects the whole group"


async def test_an_anchor_of_a_person_rests_on_the_newest_and_not_on_the_whole_tape(
    gateway: Gateway,
) -> None:
    tape = tape_of(gateway, "plain:-100")
    said = await tape.append(*[message("user", "x", lane="person:8")] * 300)
    await _run(gateway, ",handoff", Role.OWNER)
    anchor = await tape.last_anchor()
    assert anchor is not None
    rests = [entry.id for entry in said[-MAX_RESTED_ON:]]
    assert anchor.payload["state"] == {"rests_on": rests}


async def test_a_subagent_is_not_to_be_had_by_a_line(gateway: Gateway) -> None:
    assert "a subagent is not available here" in await _run(gateway, ",subagent x", Role.OWNER)


async def test_the_owner_searches_another_chat_from_a_private_one(gateway: Gateway) -> None:
    line = ",tape.search plum chat=plain:-200"
    await tape_of(gateway, "plain:-200").append(message("user", "the plum is ripe"))
    assert "the plum is ripe" in await _run(gateway, line, Role.OWNER, "private")
    assert "only the owner" in await _run(gateway, line, Role.ADMIN, "private")
    assert "only the owner" in await _run(gateway, line, Role.OWNER, "group")
