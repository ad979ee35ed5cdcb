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

pytestmark = pytest.mark.anyio

GUIDE: Final = Path(__file__).parents[3] / "docs" / "how-to" / "discord.md"
ROW: Final = re.compile(r"^\| (\d+) \| (.+) \|$", re.MULTILINE)
MOST, MOST_AFTER_TOKEN = 14, 6
TOKEN: Final = "MTAw.fresh.token"


def counted() -> dict[int, str]:
    """Return the actions that the guide counts, by their numbers."""
    return {int(number): text for number, text in ROW.findall(GUIDE.read_text())}


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
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        assert self._bot is not None
        return self._bot

    def actions(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return how each action is done, by its words in the guide."""
        return {
            "Open the developer portal and choose **New Application**": self.new_application,
            "Enter a name, agree, and choose **Create**": self.create,
            "Choose **Bot**": self.choose_bot,
            "Choose **Reset Token** and confirm": self.reset_token,
            "Choose **Copy**": self.copy,
            "Switch on **Message Content Intent**": self.switch_on,
            "Choose **Save Changes**": self.save,
            "Run `make init`, and paste the token; Enter answers every other question": (
                self.edit_settings
            ),
            "Start the gateway": self.start,
            "Open the link that it prints": self.open_link,
            "Choose your server and **Authorize**": self.authorize,
            "Send the bot `/pair` with the code that the gateway printed, in a direct message": (
                self.pair
            ),
            "Use `/open` in the channel": self.open_channel,
            "Mention the bot in the channel": self.mention,
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

    async def save(self) -> None:
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

    async def pair(self) -> None:
        (code,) = re.findall(r"/pair (\S+)`", self.printed)
        await self.use(self.place.fake.dm(self.olga), "pair", {"code": code})

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


def test_the_guide_counts_fourteen_actions_and_six_once_the_token_is_set() -> None:
    actions = counted()
    assert list(actions) == list(range(1, MOST + 1))
    (token_set,) = [number for number, text in actions.items() if "`make init`" in text]
    assert len(actions) - token_set == MOST_AFTER_TOKEN
    assert len([text for text in actions.values() if "Start the gateway" in text]) == 1


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
