"""The list of commands that `/help` answers on the page, in the language of its reader."""

# ruff: noqa: RUF001
from __future__ import annotations

import re
from typing import Final

import pytest

from channels.slack import checkup
from gateway.language.finished import Finished
from gateway.language.language import speaking, translated
from tests.kit.play import Play

HAN: Final = re.compile(r"[\u4e00-\u9fff]")
LINE: Final = re.compile(r"- `/[^`]+`：.+")


@pytest.mark.parametrize("asked", ["/help", "/help all"])
async def test_every_line_of_the_help_is_in_the_language_of_the_page(
    room: Play, asked: str
) -> None:
    ann = room.person("Ann")
    chat = room.chat(ann)
    await room.ask(chat, ann, asked)
    text = room.texts(chat)[-1]
    with speaking("zh"):
        said = translated(text)
    heading, *lines = said.splitlines()
    assert heading == "这些命令我会立即回答，不使用模型："
    listed = [line for line in lines if line.startswith("- ")]
    assert len(listed) > 5
    assert [line for line in listed if not (LINE.fullmatch(line) and HAN.search(line))] == []
    assert "- `/rewind`：回到之前的检查点（`/rewind` 列出它们）" in listed
    assert len(said.splitlines()) == len(text.splitlines())


def test_a_tool_that_nobody_translated_stays_as_it_is_in_the_list() -> None:
    with speaking("zh"):
        assert translated("- `/roll dice=`: Roll dice.") == "- `/roll dice=`：Roll dice."


def test_a_list_with_an_unknown_line_is_not_translated_in_part() -> None:
    known = Finished({"One.": "一。", "Two.": "二。"})
    assert known.of("One.\n\nTwo.") == "一。\n\n二。"
    assert known.of("One.\nand more\nTwo.") is None


@pytest.mark.parametrize(
    "noted",
    [
        "the app is installed for an organization, and in 0 of its workspaces",
        f"{checkup.MAX_WORKSPACES} of 7 workspaces are checked",
        "Slack asks to wait for 30 s before it checks the token",
    ],
)
def test_what_doctor_notes_of_slack_is_there_in_chinese(noted: str) -> None:
    with speaking("zh"):
        said = translated(noted)
    assert HAN.search(said)
    assert sorted(re.findall(r"\d+", said)) == sorted(re.findall(r"\d+", noted))
