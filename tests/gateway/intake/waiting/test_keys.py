"""What names a line is kept no longer than the line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gateway.intake.waiting.keys import LineKeys
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import MESSAGE

MOVED = replace(
    MESSAGE, chat_id="-2", ext_id="-2/moved", message_id="", kind="change", change="migrated"
)


def test_a_name_goes_with_its_line_and_one_whose_change_is_to_come_stays() -> None:
    keys = LineKeys()
    keys.find("plain", "-2", "plain:-2")
    keys.find("plain", "-200", "plain:-200")
    keys.move("plain:-200", "plain:-2")
    keys.expect("plain:-200", 7)
    assert keys.of("plain:-200") == keys.of_chat("plain", "-200") == "plain:-2"
    keys.forget(["plain:-200", "plain:-9"])
    assert keys.of_chat("plain", "-2") == keys.of_chat("plain", "-200") == "plain:-2"
    keys.forget(["plain:-2"])
    assert keys.of_chat("plain", "-2") == keys.of_chat("plain", "-200") == ""
    assert keys.of("plain:-200") == "plain:-2"
    keys.came("plain:-200", 7)
    keys.forget(["plain:-2"])
    assert len(keys) == 0


async def test_nothing_is_kept_of_chats_of_which_nothing_waits_any_more(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, old = Door(), [one for chat in range(20, 90) for one in talk(f"-{chat}", [1, 2])]
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *old, *talk("-2", [1]), replace(MOVED, to_chat="-200"))
    door = Door()
    async with open_group(tmp_path, model, door) as group:
        await door.came.wait()
        again = replace(MOVED, chat_id="-20", ext_id="-20/moved", to_chat="-2000")
        await group.accept(*talk("-200", [2]), again, *talk("-2000", [3]))
        intake = group.gateway.parts.intake
        assert len(intake.keys) > 70
        door.opened.set()
        await group.gateway.taken_in()
        assert len(intake.keys) == 0
        await group.accept(*talk("-200", [4]), *talk("-2000", [5]))
        await group.gateway.taken_in()
        first = await tape_of(group.gateway, "plain:-2").read()
        second = await tape_of(group.gateway, "plain:-20").read()
    assert texts_of(first) == ["-2 no 1", "-200 no 2", "-200 no 4"]
    assert texts_of(second) == ["-20 no 1", "-20 no 2", "-2000 no 3", "-2000 no 5"]
