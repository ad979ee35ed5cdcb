"""The one table of who may do what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.powers import POWERS, by_the_table, may
from agent.tool import Chats, Role, Tool
from agent.toolbox import Toolbox
from agent.tools import BUILTIN_TOOLS
from gateway.scheduling.commands import NAMES


@pytest.mark.parametrize("tool", BUILTIN_TOOLS, ids=lambda tool: tool.name)
def test_every_builtin_tool_is_in_the_table(tool: Tool) -> None:
    assert tool.name in POWERS


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_command_of_the_gateway_is_in_the_table(name: str) -> None:
    assert f",{name}" in POWERS


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("role", Role)
def test_what_is_not_in_the_table_is_denied_to_everybody(role: Role, shared: bool) -> None:
    unlisted = by_the_table(replace(BUILTIN_TOOLS[0], name="shell"))
    assert Toolbox([unlisted], role, shared=shared).known == {}
    assert not may("shell", role, shared=shared)


@pytest.mark.parametrize(
    ("role", "private", "group"),
    [
        (Role.STRANGER, {",reset", ",rewind", ",stop all"}, set[str]()),
        (Role.MEMBER, {"subagent", "web.fetch", ",reset"}, {"subagent", "web.fetch"}),
        (Role.ADMIN, {"search of all kinds"}, {",reset", ",rewind", ",stop all", ",open"}),
        (Role.OWNER, {"other chats", ",open"}, set[str]()),
    ],
)
def test_a_role_may_do_what_the_lower_ones_may_not(
    role: Role, private: set[str], group: set[str]
) -> None:
    for shared, more in ((False, private), (True, group)):
        assert all(may(what, role, shared=shared) for what in more)
    lower = [one for one in Role if one < role]
    assert not any(may(what, one, shared=True) for what in group for one in lower)


def test_another_chat_is_read_from_nowhere_but_the_owner_s_private_one() -> None:
    allowed = {
        (role, shared)
        for role in Role
        for shared in (False, True)
        if may("other chats", role, shared=shared)
    }
    assert allowed == {(Role.OWNER, False)}


def test_a_stranger_gets_no_tool_but_those_that_read_this_chat_and_the_anchor_of_their_own() -> (
    None
):
    known = set(Toolbox(BUILTIN_TOOLS, Role.STRANGER, shared=True).known)
    reading = {"tape.info", "tape.search", "tape.context", "tape.context_summary", "tape.anchors"}
    assert known == {"help", "tape.handoff"} | reading
    assert all(tool.chats == Chats.ALL for tool in BUILTIN_TOOLS)
