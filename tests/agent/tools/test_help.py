"""The tool `help`."""

from __future__ import annotations

from typing import Any

import pytest

from agent.testing import new_tape
from agent.tool import Role, ToolContext
from agent.toolbox import Toolbox
from agent.tools import BUILTIN_TOOLS
from agent.tools.help import offer_tools
from tests.agent.scripted import returning


@pytest.fixture
def toolbox() -> Toolbox:
    return Toolbox([*BUILTIN_TOOLS, returning("bash", "", role=Role.OWNER)], Role.MEMBER)


async def ask(toolbox: Toolbox, *names: str) -> dict[str, Any]:
    context = ToolContext(new_tape(), Role.MEMBER, offer=toolbox.offer, known=toolbox.known)
    result = await offer_tools.run(offer_tools.check({"tools": list(names)}), context)
    assert isinstance(result, dict)
    return result


async def test_it_names_every_tool_that_the_person_may_use_with_what_it_does(
    toolbox: Toolbox,
) -> None:
    result = await ask(toolbox)
    assert result == {"tools": {tool.name: tool.description for tool in BUILTIN_TOOLS}}


async def test_it_adds_what_is_asked_for(toolbox: Toolbox) -> None:
    result = await ask(toolbox, "tape.anchors")
    assert result == {"added": ["tape.anchors"], "unknown": [], "tools": {}}
    assert "tape.anchors" in toolbox.offered()


async def test_it_knows_tools_by_the_names_that_the_model_calls_them(toolbox: Toolbox) -> None:
    result = await ask(toolbox, "tape_anchors")
    assert result == {"added": ["tape.anchors"], "unknown": [], "tools": {}}


async def test_unknown_names_are_answered_with_the_known_ones(toolbox: Toolbox) -> None:
    result = await ask(toolbox, "tape.rewind", "tape.anchors")
    assert (result["added"], result["unknown"]) == (["tape.anchors"], ["tape.rewind"])
    assert "tape.info" in result["tools"]


async def test_it_does_not_hand_out_what_the_person_may_not_use(toolbox: Toolbox) -> None:
    assert (await ask(toolbox, "bash"))["unknown"] == ["bash"]
    assert "bash" not in toolbox.offered()


async def test_it_offers_again_what_is_offered(toolbox: Toolbox) -> None:
    before = toolbox.offered()
    assert (await ask(toolbox, "help"))["added"] == ["help"]
    assert toolbox.offered() == before
