"""Who may do what in a workspace: the whole gateway between two fakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.testing import Chat
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import User
from tests.kit.play import Play, playing
from tests.kit.stages.slack import SlackStage


def fake_of(play: Play) -> FakeSlack:
    assert isinstance(play.stage, SlackStage)
    return play.stage.fake


def somebody(fake: FakeSlack, who: str) -> User:
    if who == "guest":
        found = fake.guest("Eve", home=fake.add_workspace("Elsewhere", "xoxb-2"))
        found.is_admin = found.is_owner = True
        return found
    found = fake.user("Robot", is_bot=True) if who == "webhook" else fake.user("Ada")
    found.is_admin = who in ("admin", "webhook")
    found.is_owner = who == "owner"
    return found


@pytest.mark.parametrize(
    ("who", "may"),
    [("admin", True), ("owner", True), ("member", False), ("guest", False), ("webhook", False)],
)
async def test_who_of_a_workspace_may_start_over_in_a_channel(
    tmp_path: Path, who: str, may: bool
) -> None:
    async with playing("slack", tmp_path, ACCESS__BOTS="answer") as play:
        fake, chat = fake_of(play), play.stage.group()
        fake.say(chat.id, somebody(fake, who), "@tapeway ,reset")
        await play.settle()
        entries = await play.tape(chat)
        found = [one for one in entries if one.kind == "anchor" and "reset" in (one.name or "")]
        assert bool(found) is may


async def test_what_is_said_after_somebody_adds_the_app_is_no_answer_in_a_thread(
    tmp_path: Path,
) -> None:
    async with playing("slack", tmp_path, ACCESS__MODE="paired") as play:
        fake = fake_of(play)
        place = fake.channel("new", member=False)
        fake.join(place, by=fake.user("Bob"))
        await fake.wait_for_calls("chat.postMessage", 1)
        await play.settle()
        (said,) = fake.calls_of("chat.postMessage")
        assert (said.error, said.params.get("thread_ts")) == ("", None)


async def test_the_owner_opens_a_whole_workspace_but_not_its_direct_messages(
    tmp_path: Path,
) -> None:
    async with playing("slack", tmp_path, ACCESS__MODE="paired") as play:
        fake = fake_of(play)
        ada, bob = play.person("Ada"), play.person("Bob")
        private = play.stage.private(ada)
        await play.ask(private, ada, f"pair {play.gateway.parts.pairing.new_code()}")
        first, second = play.stage.group(), play.stage.group()
        await play.ask(first, bob, "hello?")
        asked = [answer for answer in play.stage.answers(private) if answer.buttons][-1]
        assert asked.buttons == ("This channel", "This whole workspace", "No")
        await play.stage.press(private, ada, asked, asked.buttons[1])
        await play.settle()
        said = await play.ask(second, bob, "and here?")
        assert "not enabled" not in play.answer(said).text
        elsewhere = Chat(fake.im(fake.workspace.users[bob.id]).id)
        await play.ask(elsewhere, bob, "and in private?")
        assert "not enabled" in play.texts(elsewhere)[-1]
