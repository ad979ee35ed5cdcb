"""B8: buttons; on every channel that has them, and strangers."""

from __future__ import annotations

from pathlib import Path

from tests.contracts.cards import paired, question
from tests.kit.play import playing
from tests.kit.promised import promises


@promises("B8")
async def test_b8_one_press_opens_a_chat_and_takes_the_buttons_away(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        owner, chat = await paired(play, "Olga")
        group, alice = play.stage.group(), play.person()
        await play.ask(group, alice, "hello?")
        assert not play.model.requests
        asked = question(play, chat)
        assert asked.buttons[-1] == "No"
        await play.stage.press(chat, owner, asked, asked.buttons[0])
        await play.settle()
        (now,) = [answer for answer in play.stage.answers(chat) if answer.id == asked.id]
        assert now.buttons == ()
        assert "opened" in now.text
        said = await play.ask(group, alice, "and now?")
        assert play.answer(said).text
        assert len(play.model.requests) == 1


@promises("B8")
async def test_b8_of_two_who_press_at_once_one_decides_and_the_other_is_shown_that(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        owners = [await paired(play, name) for name in ("Olga", "Otto")]
        group, alice = play.stage.group(), play.person()
        await play.ask(group, alice, "hello?")
        for (owner, chat), number in zip(owners, (0, -1), strict=True):
            asked = question(play, chat)
            await play.stage.press(chat, owner, asked, asked.buttons[number])
        await play.settle()
        await play.run(play.stage.until(lambda: any(play.stage.shown(one) for one, _ in owners)))
        shown = [text for owner, _chat in owners for text in play.stage.shown(owner)]
        assert len(shown) == 1
        assert "answered already" in shown[0]
        texts = [answer.text for _, chat in owners for answer in play.stage.answers(chat)]
        decided = [text for text in texts if "I've opened" in text or "I won't answer" in text]
        assert len(decided) == 1


@promises("B8")
async def test_b8_pressing_twice_counts_once(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        owner, chat = await paired(play, "Olga")
        await play.ask(play.stage.group(), play.person(), "hello?")
        asked = question(play, chat)
        for label in (asked.buttons[0], asked.buttons[-1]):
            await play.stage.press(chat, owner, asked, label)
        await play.settle()
        await play.run(play.stage.until(lambda: bool(play.stage.shown(owner))))
        (now,) = [answer for answer in play.stage.answers(chat) if answer.id == asked.id]
        assert "I've opened" in now.text
