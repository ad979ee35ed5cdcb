"""What others quote of a person goes with that person's words, and does not come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Quote
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import ANN, BOB, MARKS, SECRET, erased, holding, said
from tests.kit.chats import GroupChat, open_group


async def erase(group: GroupChat, what: Any) -> None:
    """Erase the first message, or the person who wrote it."""
    (number,) = [one.id for one in await group.tape.read() if one.meta.get("message_id") == "a1"]
    of: dict[str, Any] = {"tape": group.tape.name, "entries": (number,)}
    if what == "person":
        of = {"channel": "plain", "person": ANN.id}
    await group.gateway.parts.eraser.begin(what=what, asked_by="operator", **of)
    await erased(group.gateway, at_least=1)


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("what", ["message", "person"])
async def test_an_erased_message_does_not_come_back_in_a_quote(
    group: GroupChat, tmp_path: Path, what: str, edited: bool
) -> None:
    asked = replace(said(1, SECRET, addressed=False), message_id="a1")
    change = replace(asked, kind="edit", ext_id="-100/1/edit", text=f"{SECRET}!", edited=asked.date)
    await group.hear_each(asked, *([change] if edited else []))
    await erase(group, what)
    reply = replace(said(2, "and this one?", BOB, quote=SECRET), reply_to="a1")
    entries = await group.hear_each(reply)
    assert "replying to a message that is gone] and this one?" in str(entries)
    assert holding(tmp_path, *MARKS) == []


@pytest.mark.parametrize("words", [f"You said: {SECRET}", "It sleeps a lot."])
async def test_a_quote_of_an_answer_goes_with_the_answer(
    model: FakeOpenAI, tmp_path: Path, words: str
) -> None:
    async with open_group(tmp_path, model) as group:
        model.enqueue(Text((words,)), *(Text(("well",)) for _ in range(3)))
        ours = Quote("Tapeway", "0", words, ours=True)
        aside = replace(said(2, "hm", BOB, addressed=False), message_id="a2", reply_to="a1")
        reply = replace(said(3, "why?", BOB), message_id="a3", reply_to="1", quote=ours)
        asked = replace(said(1, SECRET), message_id="a1")
        entries = await group.hear_each(asked, aside, reply)
        assert f'replying to you: "{words}"] why?' in str(entries)
        await erase(group, "person")
        assert "Bobby Tables] why?" in str(await group.tape.read())
        entries = await group.hear_each(replace(reply, ext_id="-100/4", message_id="a4"))
        assert "replying to a message that is gone] why?" in str(entries)
    assert holding(tmp_path, *MARKS, words) == []
