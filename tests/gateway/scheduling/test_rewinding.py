"""The command `,rewind`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.tool import Role
from gateway.app import Gateway
from gateway.pipeline.turn import Question
from gateway.scheduling.commands import Commands
from gateway.scheduling.presses import Presses
from tape.entry import message
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import MESSAGE
from tests.kit.rows import row_of

CHAT = "plain:-100"


async def _stop(_asked: Question, _everything: bool) -> int:
    return 0


async def run(gateway: Gateway, line: str, role: Role, kind: str) -> str:
    said = replace(MESSAGE, text=line, command=line, chat_kind=kind)  # type: ignore[arg-type]
    asked = Question(CHAT, tape_of(gateway, CHAT).name, None, role, (row_of(said),))
    presses = Presses(gateway.services, gateway.parts.sender)
    parts = gateway.parts
    commands = Commands(gateway.services, _stop, presses, parts.requests, parts.door)
    return await commands.run(asked)


@pytest.mark.parametrize(
    ("role", "kind", "done"),
    [(Role.MEMBER, "group", False), (Role.ADMIN, "group", True), (Role.STRANGER, "private", True)],
)
async def test_in_a_group_only_admins_rewind(
    gateway: Gateway, role: Role, kind: str, done: bool
) -> None:
    tape = tape_of(gateway, CHAT)
    one = await tape.handoff("phase:one", {"goal": "tea"})
    await tape.append(message("user", "between"))
    answer = await run(gateway, ",rewind phase:one", role, kind)
    shown = await tape.context()
    assert (shown[0]["content"].startswith("[Anchor created: session/rewind]")) == done
    assert (len(shown) == 1) == done
    assert answer == (
        f"I'm going on from `phase:one` (entry {one.id}). What came after it stays on the tape and"
        " can be searched."
        if done
        else "Only admins may rewind a group: it affects everyone here."
    )


async def test_without_a_known_anchor_it_lists_those_that_are_there(gateway: Gateway) -> None:
    nothing = await run(gateway, ",rewind", Role.OWNER, "private")
    await tape_of(gateway, CHAT).handoff("phase:one")
    listed = await run(gateway, ",rewind", Role.OWNER, "private")
    unknown = await run(gateway, ",rewind phase:two", Role.OWNER, "private")
    assert nothing == "There is no checkpoint here yet: `,handoff` sets one."
    anchors = "the newest first: `phase:one` (3), `session/start` (1)."
    assert listed == f"Name a checkpoint or its number, {anchors}"
    assert unknown.startswith("There is no anchor named 'phase:two' on this tape")
    assert unknown.endswith(anchors)
