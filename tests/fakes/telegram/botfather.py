"""BotFather, who makes bots: the page that a bot's owner begins with."""

from __future__ import annotations

import re

from tests.fakes.telegram.server import FakeTelegram


class BotFather:
    """Answers messages; the bot that it makes is the fake's, so its name must be the fake's."""

    def __init__(self, fake: FakeTelegram) -> None:
        self._fake = fake
        self._asks = ""

    def send(self, text: str) -> str:
        """Return the answer to a message."""
        if text == "/newbot":
            self._asks = "name"
            return "Alright, a new bot. How are we going to call it?"
        if self._asks == "name":
            self._asks = "username"
            return "Good. Now let's choose a username for your bot. It must end in `bot`."
        if self._asks == "username":
            return self._made(text)
        return "Unrecognized command."

    def _made(self, username: str) -> str:
        if not re.fullmatch(r"[a-z]\w{1,28}bot", username, re.IGNORECASE | re.ASCII):
            return "Sorry, the username must end in 'bot'."
        self._asks = ""
        assert username == self._fake.world.bot.username
        return f"Done! Use this token to access the HTTP API:\n{self._fake.token}\nKeep it secure."
