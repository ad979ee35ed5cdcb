"""What a guest from another workspace shares in a channel that both have."""

from __future__ import annotations

from tests.channels.slack.hosts import fake_of
from tests.kit.play import Play, prompt_of


async def test_a6_what_a_guest_shares_has_its_author_s_name(slack: Play) -> None:
    fake = fake_of(slack)
    eve = fake.guest("Eve", home=fake.add_workspace("Elsewhere", "xoxb-2"))
    original = fake.say(
        fake.channel("halls", member=False), fake.user("Zed"), "The hall costs 300."
    )
    zed = fake.workspace.users[original.user]
    room = fake.channel()
    fake.say(room, eve, "", extra={"attachments": [fake.shared(original, zed)]})
    await slack.settle()
    assert slack.model.requests == []
    fake.say(room, eve, "@tapeway which one?")
    await slack.settle()
    asked = prompt_of(slack.model)
    assert "[shared message of #2 Zed" in asked
    assert asked.count(">> The hall costs 300.") == 1
