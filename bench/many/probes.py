"""People who ask, press and stop in chats of their own, and one who asks in a group that talks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from bench.figures import Figure, latencies
from bench.many.groups import Group
from bench.stage import number_of
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, User

EVERY: Final = 0.3
"""So many seconds are between a question, a press and a stop, and the next of each."""

GROUP_EACH: Final = 5
"""With each such question comes one in a group."""

PATIENCE: Final = 30.0
"""So many seconds the last is waited for; what was not answered counts as if just then."""

PRIVATE: Final = "private question"
PRESS: Final = "press"
STOP: Final = "/stop"
GROUP: Final = "question behind its group's messages"
KINDS: Final = (PRIVATE, PRESS, STOP, GROUP)
_FIRST_PERSON: Final = 10_000_000
_POLL: Final = 0.05


@dataclass(slots=True)
class Probe:
    """What somebody did, when, and when it was answered."""

    kind: str
    at: float
    answered: float | None = None


@dataclass(slots=True)
class Probes:
    """People, each of whom does one thing in a private chat, or asks in a group."""

    telegram: FakeTelegram
    _done: dict[tuple[str, Any], Probe] = field(default_factory=dict, init=False)
    _people: int = field(default=0, init=False)
    _seen: int = field(default=0, init=False)

    async def go_on(
        self, seconds: float, groups: Iterable[Group], before: Callable[[Group], None]
    ) -> list[Figure]:
        """Ask, press and stop for so long; returns the figures of that.

        `before` is called with each of the groups before somebody asks there.
        """
        self._done.clear()
        places, until, number = iter(groups), time.monotonic() + seconds, 0
        while time.monotonic() < until or not self._done:
            self._ask()
            self._press()
            self._stop()
            if number % GROUP_EACH == 0 and (group := next(places, None)) is not None:
                before(group)
                self._ask_in(group)
            number += 1
            await asyncio.sleep(EVERY)
        until = time.monotonic() + PATIENCE
        while not self._look() and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)
        return self._figures()

    def _figures(self) -> list[Figure]:
        figures: list[Figure] = []
        now = self.telegram.clock()
        for kind in KINDS:
            own = [probe for probe in self._done.values() if probe.kind == kind]
            times = [(probe.answered or now) - probe.at for probe in own]
            late = sum(probe.answered is None for probe in own)
            figures += latencies(f"{kind} -> answer", times, (50, 95)) if times else []
            figures += [Figure(f"{kind}: of {len(own)}, not answered in time", late, "")]
        return figures

    def _look(self) -> bool:
        """Note what was answered; returns whether all was."""
        calls = self.telegram.calls
        for call in calls[self._seen :]:
            number = number_of(str(call.params.get("text", "")))
            for key in (
                ("press", str(call.params.get("callback_query_id"))),
                ("asked", number),
                ("chat", str(call.params.get("chat_id"))),
            ):
                if call.method in ("sendMessage", "answerCallbackQuery") and key in self._done:
                    probe = self._done[key]
                    probe.answered = probe.answered or call.at
        self._seen = len(calls)
        return all(probe.answered for probe in self._done.values())

    def _somebody(self) -> tuple[Chat, User]:
        self._people += 1
        user = self.telegram.user(_FIRST_PERSON + self._people, f"Friend {self._people}")
        return self.telegram.private_chat(user), user

    def _note(self, kind: str, sort: str, key: object) -> None:
        self._done[sort, key] = Probe(kind, self.telegram.clock())

    def _ask(self) -> None:
        chat, user = self._somebody()
        self._note(PRIVATE, "asked", self._people)
        self.telegram.say(chat, user, f"question {self._people}: is the deploy through?")

    def _press(self) -> None:
        chat, user = self._somebody()
        telegram = self.telegram
        card = telegram.world.post(
            chat, telegram.world.bot, {"text": "May I?"}, date=telegram.now, reply_to=None
        )
        card.markup = {"inline_keyboard": [[{"text": "Yes", "callback_data": "none:yes"}]]}
        press = telegram.press(chat, user, card.message_id, "Yes")
        self._note(PRESS, "press", press.id)

    def _stop(self) -> None:
        chat, user = self._somebody()
        self._note(STOP, "chat", str(chat.id))
        self.telegram.say(chat, user, "/stop")

    def _ask_in(self, group: Group) -> None:
        self._people += 1
        self._note(GROUP, "asked", self._people)
        group.ask(self._people)
