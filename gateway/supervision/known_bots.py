"""Which bot a channel's messages are of: platforms may count the ids of messages per bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from channels.base import Channel
from gateway.logs import get_log
from gateway.storage.ledger.rows import run_alone
from gateway.supervision.status import StatusBoard
from tape.errors import TapeError
from tape.store import UnitStore

OTHER_BOT: Final = (
    "This home has the messages of another bot: its id is {known}, and this one's is {own}. What"
    " people write to this bot may be taken for messages that were answered already. Set a token of"
    " the former bot, or give this one a home of its own: TAPEWAY_HOME=another-folder"
)


@dataclass(slots=True)
class KnownBots:
    """Remembers the bot of each channel's own account in the ledger."""

    _store: UnitStore
    _status: StatusBoard

    async def known(self, name: str) -> str:
        """Return the id of the bot that a channel's messages came to, or ""; raises TapeError."""
        rows = await self._store.select("ledger.known_bot", {"account_id": name})
        return str(rows[0]["bot_id"]) if rows else ""

    async def meet(self, channel: Channel) -> None:
        """Remember the bot of a channel that is attached; warn if messages are of another one."""
        name, own = channel.name, channel.bot_id
        if not own:
            return
        try:
            known = await self.known(name)
            if not known:
                await run_alone(self._store, "ledger.know_bot", account_id=name, bot_id=own)
        except TapeError as cause:  # the channel is started all the same
            get_log().warning("channel.bot_not_remembered", channel=name, why=str(cause))
            return
        if known and known != own:
            self._status.warn(name, OTHER_BOT.format(known=known, own=own))
