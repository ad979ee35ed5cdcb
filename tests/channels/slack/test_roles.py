"""Who may do what in a workspace: the whole gateway between two fakes."""

from __future__ import annotations

import pytest

from channels.testing import Chat
from tests.channels.slack.hosts import fake_of
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import User
from tests.kit.play import Play


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
@pytest.mark.settings(ACCESS__BOTS="answer")
async def test_who_of_a_workspace_may_start_over_in_a_channel(
    who: str, may: bool, slack: Play
) -> None:
    fake, chat = fake_of(slack), slack.stage.group()
    fake.say(chat.id, somebody(fake, who), "@tapeway ,reset")
    await slack.settle()
    entries = await slack.tape(chat)
    found = [one for one in entries if one.kind == "anchor" and "reset" in (one.name or "")]
    assert bool(found) is may


@pytest.mark.settings(ACCESS__MODE="paired")
async def test_what_is_said_after_somebody_adds_the_app_is_no_answer_in_a_thread(
    slack: Play,
) -> None:
    fake = fake_of(slack)
    place = fake.channel("new", member=False)
    fake.join(place, by=fake.user("Bob"))
    await fake.wait_for_calls("chat.postMessage", 1)
    await slack.settle()
    (said,) = fake.calls_of("chat.postMessage")
    assert (said.error, said.params.get("thread_ts")) == ("", None)


@pytest.mark.settings(ACCESS__MODE="paired")
async def test_the_owner_opens_a_whole_workspace_but_not_its_direct_messages(slack: Play) -> None:
    fake = fake_of(slack)
    ada, bob = slack.person("Ada"), slack.person("Bob")
    private = slack.stage.private(ada)
    await slack.ask(private, ada, f"pair {slack.gateway.parts.pairing.new_code()}")
    first, second = slack.stage.group(), slack.stage.group()
    await slack.ask(first, bob, "hello?")
    asked = [answer for answer in slack.stage.answers(private) if answer.buttons][-1]
    assert asked.buttons == ("This channel", "This whole workspace", "No")
    await slack.stage.press(private, ada, asked, asked.buttons[1])
    await slack.settle()
    said = await slack.ask(second, bob, "and here?")
    assert "not enabled" not in slack.answer(said).text
    elsewhere = Chat(fake.im(fake.workspace.users[bob.id]).id)
    await slack.ask(elsewhere, bob, "and in private?")
    assert "not enabled" in slack.texts(elsewhere)[-1]
