"""Discord's developer portal: what its pages offer, in the order in which they offer it."""

from __future__ import annotations

from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Intent


class PortalError(Exception):
    """Say that a page does not offer what somebody wants to do there."""


class Portal:
    """Creates the fake's bot; until its token is reset, no one has the token.

    A page is shown after what leads to it; what is not saved does not count.
    """

    def __init__(self, fake: FakeDiscord) -> None:
        self._fake = fake
        self._page = ""
        self._shown = ""
        self._switched = False
        self.clipboard = ""
        fake.portal &= ~Intent.CONTENT
        fake.revoked = True

    def new_application(self) -> None:
        """Open the dialog for a new application."""
        self._page = "new"

    def create(self, name: str, *, agreed: bool) -> None:
        """Complete the dialog, which creates the application and its bot."""
        self._on("new")
        if not agreed or not name:
            raise PortalError("Discord creates no application without a name and consent")
        self._fake.bot.username = name
        self._page = "general"

    def choose_bot(self) -> None:
        """Open the page of the bot."""
        if self._page in ("", "new"):
            raise PortalError("there is no application yet")
        self._page = "bot"

    def reset_token(self, token: str, *, confirmed: bool) -> None:
        """Make a new token, which is shown once."""
        self._on("bot")
        if confirmed:
            self._shown = self._fake.token = token
            self._fake.revoked = False

    def copy(self) -> None:
        """Copy the token that is shown."""
        if not self._shown:
            raise PortalError("no token is shown")
        self.clipboard, self._shown = self._shown, ""

    def switch_on_content(self) -> None:
        """Switch on the Message Content Intent, to be saved."""
        self._on("bot")
        self._switched = True

    def save(self) -> None:
        """Save the page's changes."""
        self._on("bot")
        if not self._switched:
            raise PortalError("there is nothing to save")
        self._fake.portal |= Intent.CONTENT

    def _on(self, page: str) -> None:
        if self._page != page:
            raise PortalError(f"this is not on the page that is open ({self._page or 'none'})")
