"""The 12 actions from BotFather to the first answer in a group, as in docs/how-to/telegram.md."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.telegram.botfather import BotFather
from tests.fakes.telegram.server import FakeTelegram
from tests.scenarios.walk import START, Action, Walker, walk

GROUP = -1001
SAVED = "Run `make init`, and paste the token; Enter answers every other question."


class NewOwner:
    """Ada, who walks."""

    def __init__(self, fake: FakeTelegram, walker: Walker) -> None:
        self._fake, self._walker = fake, walker
        self._botfather = BotFather(fake)
        self._ada = fake.user(7, "Ada", "ada")
        self._group = fake.group(GROUP, "Team", member=False)
        self._said = self._token = self._code = ""
        self.greeting = ""

    def actions(self) -> dict[str, Action | None]:
        return {
            "Send `/newbot`.": self.asks_for_a_bot,
            "Send a name for the bot, which people will see.": self.names_it,
            "Send a username for it, which must end in `bot`.": self.names_it_in_links,
            "Copy the token from BotFather's reply.": self.copies_the_token,
            SAVED: self.saves_it,
            START: None,
            "Open the link with the pairing code, which the gateway prints.": self.opens_the_chat,
            "Press **Start**: you are the bot's owner now.": self.starts,
            "Open the link that adds the bot to a group, which the gateway prints.": self.invites,
            "Choose a group, and confirm that you add the bot.": self.adds_it,
            "In your chat with the bot, press **This chat**.": self.opens_the_group,
            "Ask in the group: `@your_bot hello`": self.asks,
        }

    async def asks_for_a_bot(self) -> None:
        self._said = self._botfather.send("/newbot")

    async def names_it(self) -> None:
        self._said = self._botfather.send("Tapeway")

    async def names_it_in_links(self) -> None:
        self._said = self._botfather.send("tapeway_bot")

    async def copies_the_token(self) -> None:
        found = re.search(r"\d+:\S+", self._said)
        assert found is not None
        self._token = found[0]

    async def saves_it(self) -> None:
        await self._walker.init("--telegram-token", self._token)

    async def opens_the_chat(self) -> None:
        link = urlsplit(self._walker.link(r"https://t\.me/\w+\?start=\S+"))
        assert link.path == "/tapeway_bot"
        (self._code,) = parse_qs(link.query)["start"]
        self._fake.private_chat(self._ada, started=False)

    async def starts(self) -> None:
        self._fake.say(7, self._ada, f"/start {self._code}")
        await self._walker.until(lambda: "my owner" in self._fake.text_of(7))

    async def invites(self) -> None:
        link = self._walker.link(r"https://t\.me/\w+\?startgroup")
        assert link == "https://t.me/tapeway_bot?startgroup"

    async def adds_it(self) -> None:
        self._fake.join(self._group, by=self._ada)
        await self._walker.until(lambda: self._fake.messages(7)[-1].buttons)
        assert self._fake.messages(GROUP) == []  # the owner is asked about what the owner did

    async def opens_the_group(self) -> None:
        asked = self._fake.messages(7)[-1]
        assert "Ada" in asked.text
        self._fake.press(7, self._ada, asked.message_id, "This chat")
        await self._walker.until(lambda: "opened" in asked.text)
        await self._walker.until(lambda: self._fake.messages(GROUP))
        self.greeting = self._fake.text_of(GROUP)

    async def asks(self) -> None:
        said = self._fake.say(GROUP, self._ada, "@tapeway_bot hello")

        def answered() -> bool:
            sent = self._fake.messages(GROUP)
            return any(one.reply_to == said["message_id"] and one.text for one in sent)

        await self._walker.until(answered)


@pytest.mark.parametrize("privacy", [False, True])
async def test_the_first_answer_in_a_group_takes_12_actions_and_7_once_the_token_is_set(
    tmp_path: Path, privacy: bool
) -> None:
    walker = Walker(tmp_path, {"WEB__ENABLED": "false"})
    async with FakeTelegram(
        clock=walker.clock.monotonic, can_read_all_group_messages=not privacy
    ) as fake:
        walker.more["TELEGRAM__BASE_URL"] = fake.base_url
        owner = NewOwner(fake, walker)
        rows = await walk(walker, "telegram.md", owner.actions())
        assert (len(rows), len(rows) - rows.index(START)) == (12, 7)
        # What is promised in the group is what works there.
        assert ("call me by my name" in owner.greeting) is not privacy
        assert ("/forget@tapeway_bot" in owner.greeting) is privacy
        assert ("/help@tapeway_bot" in owner.greeting) is privacy
        assert ("I see nothing else" in owner.greeting) is privacy
