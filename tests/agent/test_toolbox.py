"""The tools of one turn."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import ToolboxError, ToolRefused
from agent.tool import Chats, Role
from agent.toolbox import OFFERED_AT_FIRST, Toolbox, to_wire
from agent.tools import BUILTIN_TOOLS
from tests.agent.scripted import ECHO, returning


def names(toolbox: Toolbox) -> list[str]:
    return [schema["function"]["name"] for schema in toolbox.schemas()]


def test_the_tools_that_come_with_tapeway_offer_four_at_first() -> None:
    toolbox = Toolbox(BUILTIN_TOOLS, Role.STRANGER)
    assert names(toolbox) == ["help", "tape_handoff", "tape_info", "tape_search"]


def test_at_most_four_are_offered_at_first_and_help_is_one_of_them() -> None:
    keen = [returning(f"a.{number}", "", first=True) for number in range(6)]
    offered = Toolbox([*keen, *BUILTIN_TOOLS], Role.OWNER).offered()
    assert len(offered) == OFFERED_AT_FIRST == 4
    assert "help" in offered


def test_a_tool_that_does_not_ask_for_it_is_not_offered_at_first() -> None:
    toolbox = Toolbox([ECHO, returning("quiet", "")], Role.OWNER)
    assert toolbox.offered() == ["echo"]
    assert list(toolbox.known) == ["echo", "quiet"]


def test_the_order_does_not_depend_on_who_provided_first() -> None:
    tools = [returning(name, "", first=True) for name in ("b", "c", "a")]
    assert Toolbox(tools, Role.OWNER).schemas() == Toolbox(tools[::-1], Role.OWNER).schemas()


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.STRANGER, ["stranger"]),
        (Role.MEMBER, ["member", "stranger"]),
        (Role.ADMIN, ["admin", "member", "stranger"]),
        (Role.OWNER, ["admin", "member", "owner", "stranger"]),
    ],
)
def test_a_role_has_its_own_tools_and_those_below(role: Role, allowed: list[str]) -> None:
    tools = [returning(each.name.lower(), "", role=each) for each in Role]
    assert list(Toolbox(tools, role).known) == allowed


def test_a_tool_beyond_the_role_cannot_be_found_nor_offered_nor_is_it_named() -> None:
    toolbox = Toolbox([ECHO, returning("bash", "", role=Role.OWNER)], Role.ADMIN)
    assert toolbox.offer(["bash"]) == []
    with pytest.raises(ToolRefused) as caught:
        toolbox.find("bash")
    assert str(caught.value) == "there is no tool named bash. Known here: echo."


@pytest.mark.parametrize("name", ["tape.info", "tape_info", "tape info"])
def test_a_tool_is_found_by_its_dotted_and_its_wire_name(name: str) -> None:
    assert Toolbox(BUILTIN_TOOLS, Role.MEMBER).find(name).name == "tape.info"


def test_an_unknown_tool_is_refused_with_the_nearest_names_first() -> None:
    with pytest.raises(ToolRefused, match=r"no tool named tape_serch\. Known here: tape_search"):
        Toolbox(BUILTIN_TOOLS, Role.MEMBER).find("tape_serch")


def test_two_tools_of_one_wire_name_cannot_be_offered_together() -> None:
    with pytest.raises(ToolboxError, match=r"a\.b and a_b would both be named a_b"):
        Toolbox([returning("a.b", ""), returning("a_b", "")], Role.OWNER)


def test_tools_of_one_wire_name_are_no_rivals_while_the_role_sees_but_one() -> None:
    tools = [returning("a.b", ""), returning("a_b", "", role=Role.OWNER)]
    assert list(Toolbox(tools, Role.MEMBER).known) == ["a.b"]


@pytest.mark.parametrize("name", ["tape.anchors", "tape_anchors"])
def test_an_offer_adds_tools_by_either_name(name: str) -> None:
    toolbox = Toolbox(BUILTIN_TOOLS, Role.MEMBER)
    assert toolbox.offer([name, "nonsense"]) == ["tape.anchors"]
    assert "tape_anchors" in names(toolbox)
    assert len(names(toolbox)) == 5


def test_names_of_calls_and_results_have_no_dots_on_the_wire() -> None:
    function = {"name": "tape.info", "arguments": "{}"}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": function}]},
        {"role": "tool", "content": "x", "tool_call_id": "a", "name": "tape.info"},
    ]
    call_message, result = to_wire(messages)
    assert call_message["tool_calls"][0]["function"] == {"name": "tape_info", "arguments": "{}"}
    assert result["name"] == "tape_info"
    assert function["name"] == "tape.info"


def test_other_messages_go_on_the_wire_as_they_are() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "a.b", "name": "al.ice"},
        {"role": "tool"},
    ]
    assert to_wire(messages) == messages


@pytest.mark.parametrize(
    ("shared", "names"), [(False, ["both", "private"]), (True, ["both", "group"])]
)
def test_a_tool_is_offered_in_its_kinds_of_chat_only(shared: bool, names: list[str]) -> None:
    tools = [
        returning("both", ""),
        returning("private", "", chats=Chats.PRIVATE),
        returning("group", "", chats=Chats.GROUP),
    ]
    assert list(Toolbox(tools, Role.OWNER, shared=shared).known) == names
