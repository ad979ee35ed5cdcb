"""What ids are called: looked up beside the messages, never waited for.

A message of somebody who was not heard of yet has the id for a name; the next one has the name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from channels.errors import ChannelError
from channels.pacing import Priority
from channels.slack.api import SlackApi

MOST: Final = 10_000
MOST_ASKED: Final = 100
"""So many are looked up at once; who comes beyond is looked up the next time."""

Spawn = Callable[[str, Callable[[], Awaitable[None]]], None]


class Names:
    """The names of one workspace's people and channels."""

    def __init__(self, api: SlackApi, spawn: Spawn) -> None:
        self._api = api
        self._spawn = spawn
        self._known: OrderedDict[str, str] = OrderedDict()
        self._asked: set[str] = set()

    def person(self, user_id: str) -> str:
        """Return the name of a person, or the id while it is not known."""
        return self._name(user_id, self._ask_person)

    def channel(self, channel_id: str) -> str:
        """Return the name of a channel, or the id while it is not known."""
        return self._name(channel_id, self._ask_channel)

    def learn(self, number: str, name: str) -> None:
        """Take a name that came by itself."""
        if not (number and name):
            return
        self._known[number] = name
        self._known.move_to_end(number)
        while len(self._known) > MOST:
            self._known.popitem(last=False)

    def _name(self, number: str, ask: Callable[[str], Awaitable[str]]) -> str:
        found = self._known.get(number)
        if found is not None:
            self._known.move_to_end(number)
            return found
        if number and number not in self._asked and len(self._asked) < MOST_ASKED:
            self._asked.add(number)
            self._spawn("slack names", lambda: self._look_up(number, ask))
        return number

    async def _look_up(self, number: str, ask: Callable[[str], Awaitable[str]]) -> None:
        try:
            self.learn(number, await ask(number) or number)
        except ChannelError:
            """It is asked again when it is next needed."""
        finally:
            self._asked.discard(number)

    async def _ask_person(self, user_id: str) -> str:
        found = await self._api.call("users.info", priority=Priority.EDIT, user=user_id)
        return name_of(found.get("user") or {})

    async def _ask_channel(self, channel_id: str) -> str:
        found = await self._api.call(
            "conversations.info", priority=Priority.EDIT, channel=channel_id
        )
        return str((found.get("channel") or {}).get("name") or "")


def name_of(user: Mapping[str, Any]) -> str:
    """Return what people see of a person."""
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"))
    return str(next((name for name in names if name), user.get("name") or ""))
