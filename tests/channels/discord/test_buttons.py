"""Buttons, presses, administrators and private chats, on a host in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.settings import DiscordSettings
from channels.errors import ChannelDown, ChannelError, DraftGone, SendRefused
from channels.facts import OwnFacts
from channels.message import Author, Button, InboundMessage, OutboundMessage
from channels.testing.host import FakeHost, run_channel
from tests.fakes.base.faults import ServerError
from tests.fakes.discord.commands import Interaction
from tests.fakes.discord.faults import RateLimited, Refuse
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import (
    EPHEMERAL,
    SUPPRESS_EMBEDS,
    Channel,
    Guild,
    Message,
    Role,
    User,
)
from tests.kit.clock import ManualClock, rest

YES, NO = Button("Yes", "c4rd:yes"), Button("No", "c4rd:no")


@dataclass
class Stage:
    """A running channel, its host, and a server with two people."""

    fake: FakeDiscord
    clock: ManualClock
    host: FakeHost
    channel: DiscordChannel
    guild: Guild
    room: Channel
    ada: User
    bob: User

    async def card(self, place: Channel | None = None, *buttons: Button) -> Message:
        """Post a message with buttons."""
        chat = place or self.room
        given = buttons or (YES, NO)
        asked = OutboundMessage("discord", str(chat.id), "Shall I?", idem="q", buttons=given)
        (receipt,) = await self.channel.deliver(asked)
        return chat.messages[int(receipt.platform_id)]

    async def press(self, card: Message, user: User, label: str = "Yes") -> Interaction:
        """Press a button, and wait until Discord has its answer."""
        used = self.fake.press(card.channel_id, user, card, label)
        await self.fake.wait_for(lambda _fake: used.acknowledged)
        return used

    def asks(self, user: User, guild: Guild | None = None) -> InboundMessage:
        """Return a message of somebody, as the gateway has it."""
        server, author = str((guild or self.guild).id), Author(str(user.id), "Root Admin")
        place = ("discord", str(self.room.id), "press/1", "1")
        return InboundMessage(*place, author, "", "", server_id=server)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic) as fake:
        owner, ada, bob = fake.user("Olga"), fake.user("Ada"), fake.user("Bob")
        guild = fake.guild("Ops", owner=owner)
        room = fake.text_channel(guild)
        for one in (ada, bob):
            fake.join(guild, one)
        given = {"token": fake.token, "base_url": fake.base_url, "gateway_url": fake.gateway_url}
        channel, host = DiscordChannel(DiscordSettings.model_validate(given)), FakeHost(clock)
        async with run_channel(channel, host):
            await fake.connected()
            yield Stage(fake, clock, host, channel, guild, room, ada, bob)


async def test_a_message_has_its_buttons_and_an_edit_removes_them(stage: Stage) -> None:
    card = await stage.card()
    (row,) = card.json["components"]
    assert [(one["label"], one["custom_id"]) for one in row["components"]] == [
        ("Yes", "c4rd:yes"),
        ("No", "c4rd:no"),
    ]
    done = OutboundMessage("discord", str(stage.room.id), "Done.", edits=str(card.id))
    await stage.channel.deliver(done)
    assert (card.text, card.json["components"]) == ("Done.", [])
    assert card.json["flags"] & SUPPRESS_EMBEDS


async def test_what_another_bot_has_written_cannot_be_edited_and_counts_as_gone(
    stage: Stage,
) -> None:
    theirs = stage.fake.say(stage.room, stage.ada, "mine")
    answer = OutboundMessage("discord", str(stage.room.id), "Done.", idem="t", edits=str(theirs.id))
    with pytest.raises(DraftGone):  # whoever sends it then posts it
        await stage.channel.deliver(answer)
    assert (theirs.text, theirs.edits) == ("mine", 0)


async def test_more_than_five_buttons_stand_in_several_rows_and_long_labels_are_cut(
    stage: Stage,
) -> None:
    many = [Button(f"{number} " + "x" * 100, f"c4rd:{number}" + "y" * 50) for number in range(7)]
    card = await stage.card(None, *many)
    assert [len(row["components"]) for row in card.json["components"]] == [5, 2]


async def test_a_card_that_was_posted_already_is_recognized_with_its_buttons(stage: Stage) -> None:
    first, second = await stage.card(), await stage.card()
    assert first is second
    assert len(stage.fake.messages(stage.room)) == 1
    asked = OutboundMessage("discord", str(stage.room.id), "Shall I?", idem="q", buttons=(YES, NO))
    (receipt,) = await stage.channel.find(asked)
    assert receipt.platform_id == str(first.id)
    assert first.edits == 0


@pytest.mark.parametrize("is_private", [False, True])
async def test_a_press_is_recorded_before_it_is_acknowledged(
    stage: Stage, is_private: bool
) -> None:
    place = stage.fake.dm(stage.ada) if is_private else stage.room
    card = await stage.card(place)
    used = await stage.press(card, stage.ada, "No")
    (press,) = stage.host.accepted
    assert (press.kind, press.press, press.ext_id) == ("press", "c4rd:no", f"press/{used.id}")
    assert (press.chat_id, press.message_id) == (str(place.id), str(card.id))
    assert press.chat_kind == ("private" if is_private else "group")
    assert press.server_id == ("" if is_private else str(stage.guild.id))
    assert (press.sender.id, press.sender.acts_as) == (str(stage.ada.id), "person")
    (answer,) = stage.fake.calls_of("callback")
    assert answer.params == {"type": 6}
    assert stage.fake.messages(place) == [card]


async def test_a_press_that_cannot_be_stored_is_refused_to_its_author_only(stage: Stage) -> None:
    card = await stage.card()
    stage.host.refusals.append(ChannelDown("the disk is full"))
    used = await stage.press(card, stage.ada)
    note = stage.room.messages[used.messages[0]]
    assert "try again" in note.text
    assert note.seen_by == stage.ada.id
    assert stage.host.accepted == []


class SlowFacts(OwnFacts):
    """Facts in a database whose first answer may come last."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.asked, self.answered = anyio.Event(), anyio.Event()

    async def store(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        if not self.asked.is_set():
            self.asked.set()
            await self.answered.wait()
        await super().store(values, seconds)


async def test_presses_are_recorded_in_their_order_though_one_waits_for_the_database(
    stage: Stage,
) -> None:
    card = await stage.card()
    stage.host.facts = slow = SlowFacts(stage.clock)
    used = [stage.fake.press(stage.room, stage.ada, card, label) for label in ("Yes", "No")]
    await slow.asked.wait()
    await rest()
    slow.answered.set()
    await stage.fake.wait_for(lambda _fake: all(one.acknowledged for one in used))
    assert [one.press for one in stage.host.accepted] == ["c4rd:yes", "c4rd:no"]


async def test_two_people_press_at_once_and_each_sees_an_own_answer(stage: Stage) -> None:
    card = await stage.card()
    for user in (stage.ada, stage.bob):
        await stage.press(card, user)
    for press in stage.host.accepted:
        await stage.channel.answer_press(press, f"for {press.sender.name} https://example.org")
    notes = [one for one in stage.room.messages.values() if one.seen_by is not None]
    assert [(one.seen_by, one.text.split()[1]) for one in notes] == [
        (stage.ada.id, "Ada"),
        (stage.bob.id, "Bob"),
    ]
    for call in stage.fake.calls_of("followup"):
        assert call.params["flags"] == EPHEMERAL | SUPPRESS_EMBEDS
        assert call.params["allowed_mentions"]["parse"] == []


async def test_a_long_answer_to_a_press_comes_in_pieces_and_an_empty_one_not_at_all(
    stage: Stage,
) -> None:
    used = await stage.press(await stage.card(), stage.ada)
    (press,) = stage.host.accepted
    await stage.channel.answer_press(press, "")
    assert used.messages == []
    await stage.channel.answer_press(press, "a word " * 500)
    assert len(used.messages) == 2


async def test_an_answer_to_a_press_is_refused_once_its_token_has_expired(stage: Stage) -> None:
    await stage.press(await stage.card(), stage.ada)
    (press,) = stage.host.accepted
    await stage.clock.advance(901)
    with pytest.raises(ChannelError):
        await stage.channel.answer_press(press, "late")
    with pytest.raises(SendRefused):
        await stage.channel.answer_press(stage.asks(stage.ada), "from before a restart")


@pytest.mark.parametrize(
    "fault", [Refuse(404, 10062, "Unknown interaction"), ServerError(500), RateLimited(1.0)]
)
async def test_a_press_whose_acknowledgement_fails_is_kept(
    stage: Stage, fault: Refuse | ServerError | RateLimited
) -> None:
    card = await stage.card()
    stage.fake.fail("callback", fault)
    stage.fake.press(stage.room, stage.ada, card, "Yes")
    await stage.host.until(lambda: bool(stage.host.errors))
    assert [one.press for one in stage.host.accepted] == ["c4rd:yes"]
    assert "not_answered" in stage.host.errors[0]


async def test_a_press_that_is_delivered_twice_is_recorded_once(stage: Stage) -> None:
    card = await stage.card()
    await stage.press(card, stage.ada)
    again = stage.host.accepted[0]
    await stage.host.accept([again])
    assert len(stage.host.accepted) == 1


def powers(stage: Stage) -> dict[str, Role]:
    fake, guild = stage.fake, stage.guild
    return {
        "administrator": fake.role(guild, "cooks", permissions=Permission.ADMINISTRATOR),
        "manager": fake.role(guild, "waiters", permissions=1 << 5),
        "namesake": fake.role(guild, "Administrator", permissions=Permission.MANAGE_MESSAGES),
    }


@pytest.mark.parametrize(
    ("role", "wanted"),
    [("administrator", True), ("manager", True), ("namesake", False), ("", False)],
)
async def test_a_roles_permissions_make_an_administrator_and_its_name_does_not(
    stage: Stage, role: str, wanted: bool
) -> None:
    if role:
        stage.fake.join(stage.guild, stage.ada, powers(stage)[role])
    assert await stage.channel.administers(stage.asks(stage.ada)) is wanted
    assert await stage.channel.administers(stage.asks(stage.bob)) is False


async def test_a_servers_owner_administers_it_and_no_other_server(stage: Stage) -> None:
    owner = stage.fake.world.users[stage.guild.owner_id]
    other = stage.fake.guild("Other")
    assert await stage.channel.administers(stage.asks(owner)) is True
    assert await stage.channel.administers(stage.asks(owner, other)) is False
    assert await stage.channel.administers(replace(stage.asks(owner), server_id="")) is False


async def test_an_administrator_who_lost_the_role_is_none_at_once(stage: Stage) -> None:
    role = powers(stage)["administrator"]
    member = stage.fake.join(stage.guild, stage.ada, role)
    assert await stage.channel.administers(stage.asks(stage.ada)) is True
    member.roles.remove(role.id)
    assert await stage.channel.administers(stage.asks(stage.ada)) is False


async def test_who_was_removed_from_a_private_thread_does_not_administer_it(stage: Stage) -> None:
    fake = stage.fake
    owner = fake.world.users[stage.guild.owner_id]
    thread = fake.thread(stage.room, owner, "Layoffs", private=True)
    for user in (fake.bot, stage.ada):
        fake.add_to_thread(thread, user)
    inside, above = str(thread.id), str(stage.room.id)
    asks = [replace(stage.asks(one), chat_id=inside, parent_id=above) for one in (owner, stage.ada)]
    assert [await stage.channel.administers(one) for one in asks] == [True, False]
    assert stage.channel.administered_as(asks[0]) == str(thread.id)
    assert stage.channel.administered_as(stage.asks(owner)) == str(stage.guild.id)
    thread.members.remove(owner.id)
    assert await stage.channel.administers(asks[0]) is False
    assert await stage.channel.administers(stage.asks(owner)) is True  # but not the thread
    fake.delete_channel(thread)
    assert await stage.channel.administers(asks[0]) is False


async def test_a_webhook_with_an_administrators_id_administers_nothing(stage: Stage) -> None:
    asked = stage.asks(stage.fake.world.users[stage.guild.owner_id])
    hook = replace(asked.sender, acts_as="other")
    assert await stage.channel.administers(replace(asked, sender=hook)) is False


@pytest.mark.parametrize("kind", ["guild", "member"])
async def test_who_administers_is_an_error_while_discord_does_not_say(
    stage: Stage, kind: str
) -> None:
    stage.fake.fail(kind, ServerError(503))
    with pytest.raises(ChannelError):
        await stage.channel.administers(stage.asks(stage.ada))


async def test_a_private_chat_is_opened_by_the_persons_id(stage: Stage) -> None:
    chat = await stage.channel.private_chat(str(stage.ada.id))
    assert chat == str(stage.fake.dm(stage.ada).id)
    await stage.channel.deliver(OutboundMessage("discord", chat, "hello"))
    assert [one.text for one in stage.fake.messages(int(chat))] == ["hello"]
    with pytest.raises(SendRefused):
        await stage.channel.private_chat("12345")


async def test_a_pairing_hint_names_the_command_and_the_bot(stage: Stage) -> None:
    hint = stage.channel.pairing_hint("4F7K-2Q")
    assert "`/pair 4F7K-2Q` in a direct message" in hint
    assert "Tapeway" in hint
    assert f"https://discord.com/users/{stage.fake.bot.id}" in hint


async def test_a_command_is_named_as_people_write_it(stage: Stage) -> None:
    assert stage.channel.command_hint("open") == "/open"
    assert stage.channel.command_hint("choose") == ",choose"


async def test_the_code_of_pair_is_seen_by_its_sender_only(stage: Stage) -> None:
    private = stage.fake.dm(stage.ada)
    used = stage.fake.slash(private, stage.ada, "pair", {"code": "4F7K-2Q"})
    await stage.fake.wait_for(lambda _fake: used.acknowledged)
    (message,) = stage.host.accepted
    assert (message.text, message.chat_kind) == (",pair 4F7K-2Q", "private")
    note = private.messages[used.messages[0]]
    assert note.seen_by == stage.ada.id
    assert "4F7K" not in note.text
    with pytest.raises(LookupError):
        stage.fake.slash(stage.room, stage.ada, "pair", {"code": "4F7K-2Q"})


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        ("open", {}, ",open"),
        ("open", {"server": True}, ",open server"),
        ("forget", {}, ",forget me"),
        ("rewind", {}, ",rewind"),
        ("rewind", {"to": "phase:plan b"}, ",rewind 'phase:plan b'"),
        ("handoff", {}, ",handoff"),
        ("handoff", {"summary": "it's a=b"}, """,handoff summary='it'"'"'s a=b'"""),
        ("stop", {"all": True}, ",stop all"),
    ],
)
async def test_a_slash_command_stands_for_a_comma_command(
    stage: Stage, name: str, options: dict[str, str], line: str
) -> None:
    used = stage.fake.slash(stage.room, stage.ada, name, options)
    await stage.fake.wait_for(lambda _fake: used.acknowledged)
    assert stage.host.texts() == [line]


async def test_a_server_says_who_added_the_bot(stage: Stage) -> None:
    place = stage.fake.empty_guild("Club", stage.bob)
    stage.fake.invite_bot(place, by=stage.ada)
    await stage.host.until(lambda: bool(stage.host.accepted))
    (added,) = stage.host.accepted
    assert (added.kind, added.change, added.server_id) == ("change", "added", str(place.id))
    assert (added.sender.id, added.sender.name) == (str(stage.ada.id), "Ada")


async def test_without_a_word_of_discord_nobody_counts_as_who_added_the_bot(stage: Stage) -> None:
    place = stage.fake.empty_guild("Club", stage.bob)
    stage.fake.invite_bot(place)
    while not stage.host.accepted:
        await stage.clock.advance(0.2)
    (added,) = stage.host.accepted
    assert added.sender.id == ""
    assert f"owner has the id {stage.bob.id}" in added.sender.name
