"""The way from Discord's first page to the first answer in a channel, as its guide counts it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.channels.discord.hosts import Bot, House, house
from tests.fakes.discord.portal import Portal, PortalError
from tests.fakes.discord.world import Channel, User
from tests.fakes.openai.script import Text
from tests.scenarios.walk import START, table_of

INTENT: Final = (
    "Under **Privileged Gateway Intents**, switch on **Message Content Intent**, and choose **Save"
    " Changes**."
)
MOST, MOST_AFTER_TOKEN = 14, 7
TOKEN: Final = "MTAw.fresh.token"


def counted() -> dict[int, str]:
    """Return the actions that the guide counts, by their numbers."""
    return dict(enumerate(table_of("discord.md"), start=1))


class Walk:
    """Somebody who does one action after the other, and knows only what was seen on the way."""

    def __init__(self, place: House, stack: AsyncExitStack) -> None:
        self.place = place
        self.stack = stack
        self.portal = Portal(place.fake)
        self.olga: User = place.fake.user("Olga")
        self.club = place.fake.empty_guild("Club", self.olga)
        self.general: Channel = place.fake.channel(self.club.channels[0])
        self.env = {"DISCORD__TOKEN": ""}
        self.link = ""
        self.printed = ""
        self.chat: Channel | None = None
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        assert self._bot is not None
        return self._bot

    def actions(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return how each action is done, by its words in the guide."""
        return {
            "Choose **New Application**.": self.new_application,
            "Enter a name, which people will see, agree, and choose **Create**.": self.create,
            "Choose **Bot**.": self.choose_bot,
            "Choose **Reset Token**, and confirm.": self.reset_token,
            "Choose **Copy**: Discord shows the token only once.": self.copy,
            INTENT: self.switch_on,
            "Run `make init`, and paste the token; Enter answers every other question.": (
                self.edit_settings
            ),
            START: self.start,
            "Open the link that adds the bot to a server, which the gateway prints.": (
                self.open_link
            ),
            "Choose your server, and confirm with **Continue** and **Authorize**.": self.authorize,
            "Click the bot's name in the list of members, and choose **Message**.": (
                self.open_chat
            ),
            "Send it `/pair` with the code that the gateway prints.": self.pair,
            "In a channel, send `/open`.": self.open_channel,
            "Ask in the channel: `@YourBot hello`": self.mention,
        }

    async def new_application(self) -> None:
        self.portal.new_application()

    async def create(self) -> None:
        self.portal.create("Tapeway", agreed=True)

    async def choose_bot(self) -> None:
        self.portal.choose_bot()

    async def reset_token(self) -> None:
        self.portal.reset_token(TOKEN, confirmed=True)

    async def copy(self) -> None:
        self.portal.copy()

    async def switch_on(self) -> None:
        self.portal.switch_on_content()
        self.portal.save()

    async def edit_settings(self) -> None:
        self.env = {"DISCORD__TOKEN": self.portal.clipboard}

    async def start(self) -> None:
        given = {"ACCESS__MODE": "paired", **self.env}
        self._bot = await self.stack.enter_async_context(self.place.bot(**given))
        await self.bot.until(lambda: self.bot.state in ("ready", "unfit"))
        assert self.bot.state == "ready"
        channel, pairing = self.bot.gateway.channels["discord"], self.bot.gateway.parts.pairing
        self.printed = "\n".join([channel.invitation, *pairing.hints(pairing.new_code()).values()])

    async def open_link(self) -> None:
        (self.link,) = re.findall(r"https://discord\.com/oauth2/authorize\S+", self.printed)

    async def authorize(self) -> None:
        query = parse_qs(urlsplit(self.link).query)
        assert query["client_id"] == [str(self.place.fake.application_id)]
        self.place.fake.invite_bot(self.club, by=self.olga)
        await self.bot.until(lambda: self.bot.texts(self.general))
        await self.bot.settled(self.general)

    async def open_chat(self) -> None:
        assert self.place.fake.bot.id in self.club.members
        self.chat = self.place.fake.dm(self.olga)

    async def pair(self) -> None:
        (code,) = re.findall(r"/pair (\S+)`", self.printed)
        assert self.chat is not None
        await self.use(self.chat, "pair", {"code": code})

    async def open_channel(self) -> None:
        await self.use(self.general, "open")

    async def mention(self) -> None:
        self.place.model.enqueue(Text(("Hello Olga!",)))
        await self.bot.ask("hello", self.olga, place=self.general)

    async def use(self, place: Channel, name: str, options: dict[str, str] | None = None) -> None:
        fake = self.place.fake
        await self.bot.until(lambda: fake.commands.find(name, None))
        used = fake.slash(place, self.olga, name, options)
        await self.bot.until(lambda: used.acknowledged)
        await self.bot.settled(place)


def test_the_guide_counts_fourteen_actions_and_seven_once_the_token_is_set() -> None:
    actions = counted()
    (started,) = [number for number, text in actions.items() if text == START]
    assert (len(actions), len(actions) - started + 1) == (MOST, MOST_AFTER_TOKEN)


async def test_the_actions_of_the_guide_lead_to_an_answer_in_a_channel(tmp_path: Path) -> None:
    async with house(tmp_path) as place, AsyncExitStack() as stack:
        walk = Walk(place, stack)
        ways = walk.actions()
        assert list(counted().values()) == list(ways)
        for text in counted().values():
            assert "Hello Olga!" not in str(place.fake.world.channels)
            await ways[text]()
        said = walk.bot.texts(walk.general)
        assert said[-1] == "Hello Olga!"
        assert "/open" in said[0]
        private = walk.bot.texts(place.fake.dm(walk.olga))
        assert "You are now my owner" in private[-1]
        assert "added to a server" in private[-1]


@pytest.mark.parametrize("left_out", range(1, MOST))
async def test_no_action_of_the_guide_can_be_left_out(tmp_path: Path, left_out: int) -> None:
    async with house(tmp_path) as place, AsyncExitStack() as stack:
        walk = Walk(place, stack)
        ways = walk.actions()
        answered = False
        try:
            for number, text in counted().items():
                if number != left_out:
                    await ways[text]()
            answered = walk.bot.texts(walk.general)[-1:] == ["Hello Olga!"]
        except (PortalError, AssertionError, ValueError, LookupError, TimeoutError):
            return
        assert not answered
