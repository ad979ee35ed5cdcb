"""After every hostile message through a whole gateway, the chat still answers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from channels.registry import CHANNELS
from tests.fakes.openai.script import Request, Text
from tests.fuzz.inputs import ODD
from tests.kit.play import playing

MARKDOWN: Final = ("- - - a ", "[a](", "<a", ">", "```\n", "|a|b|\n|-|-|\n", "1. a\n", "[a]: b\n")
HOSTILE: Final = (
    *ODD,
    *(shape * 300 for shape in MARKDOWN),
    *("@" * 500, ",", ",'", ",a=" * 99, ",tape.search query=\x00", "e\u0301" * 999, "&#0;" * 99),
    *(",choose x y", ",choose :::: yes", ",rewind " + "9" * 300, ",handoff \u202e", ",open \x00"),
)


@pytest.mark.parametrize("channel", sorted(CHANNELS))
async def test_a_chat_answers_after_each_hostile_message_and_each_hostile_answer(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        alice = play.person()
        chat = play.chat(alice)
        for number, hostile in enumerate(HOSTILE):
            text = hostile.encode("utf-8", "replace").decode()  # JSON has no half characters

            def answer(request: Request, number: int = number, text: str = text) -> Text:
                asked = request.last_user_text.rstrip().endswith(f"Still there, {number}?")
                return Text((f"fine {number}" if asked else text or "nothing",))

            play.model.default = answer
            if text.strip():
                await play.stage.say(chat, alice, text)
                await play.settle()
            said = await play.ask(chat, alice, f"Still there, {number}?")
            assert play.answer(said).text == f"fine {number}", repr(hostile[:40])
