"""Caches the names of people and channels; no message waits for a lookup to be accepted.

One whose names are still being looked up then is completed with them afterwards; if Slack does not
give a name, an id stands in its place, and the next message asks again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import anyio

from channels.errors import ChannelError
from channels.host import Spawn
from channels.pacing import Priority
from channels.slack.api import SlackApi

MAX_NAMES: Final = 10_000
CHANNELS: Final = ("C", "G")  # what the ids of channels begin with
MAX_LOOKUPS: Final = 100
"""Maximum number of lookups at once; further names are looked up when they are needed again."""


class Names:
    def __init__(self, api: SlackApi, spawn: Spawn) -> None:
        self._api = api
        self._spawn = spawn
        self._known: OrderedDict[str, str] = OrderedDict()
        self._pending: dict[str, anyio.Event] = {}

    def person(self, user_id: str) -> str:
        """Return a person's name, or the id if the name has not been looked up yet."""
        return self._name(user_id, self._ask_person)

    def channel(self, channel_id: str) -> str:
        return self._name(channel_id, self._ask_channel)

    def known(self, some_id: str, default: str | None = None) -> str:
        """Return a name without a lookup; if it is not known, return `default` or the id."""
        return self._known.get(some_id) or (some_id if default is None else default)

    def is_pending(self, some_id: str) -> bool:
        """Return whether a name is being looked up."""
        return some_id in self._pending

    async def settle(self, ids: Sequence[str]) -> None:
        """Wait until these names are known, or were not given."""
        for some_id in ids:  # an earlier process may have asked for it, which ended
            (self.channel if some_id[:1] in CHANNELS else self.person)(some_id)
        for some_id in ids:
            if (asked := self._pending.get(some_id)) is not None:
                await asked.wait()

    def learn(self, some_id: str, name: str) -> None:
        """Remember a name that an event contained."""
        if not (some_id and name):
            return
        self._known[some_id] = name
        self._known.move_to_end(some_id)
        while len(self._known) > MAX_NAMES:
            self._known.popitem(last=False)

    def _name(self, some_id: str, ask: Callable[[str], Awaitable[str]]) -> str:
        found = self._known.get(some_id)
        if found is not None:
            self._known.move_to_end(some_id)
            return found
        if some_id and some_id not in self._pending and len(self._pending) < MAX_LOOKUPS:
            self._pending[some_id] = anyio.Event()
            self._spawn("slack names", lambda: self._look_up(some_id, ask))
        return some_id

    async def _look_up(self, some_id: str, ask: Callable[[str], Awaitable[str]]) -> None:
        try:
            self.learn(some_id, await ask(some_id) or some_id)
        except ChannelError:
            pass  # it is looked up again when it is next needed
        finally:
            self._pending.pop(some_id).set()

    async def _ask_person(self, user_id: str) -> str:
        found = await self._api.call("users.info", priority=Priority.EDIT, user=user_id)
        return name_of(found.get("user") or {})

    async def _ask_channel(self, channel_id: str) -> str:
        found = await self._api.call(
            "conversations.info", priority=Priority.EDIT, channel=channel_id
        )
        return str((found.get("channel") or {}).get("name") or "")


def name_of(user: Mapping[str, Any]) -> str:
    """Return the name that other people see."""
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"))
    return str(next((name for name in names if name), user.get("name") or ""))
