"""The page in the chaos run: people in rooms, and a relay that knows the moments and cuts lines."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar, Final, Self

import httpx2

from tests.chaos.order import Queue, of_each_person
from tests.chaos.page import Page
from tests.chaos.plan import LINES, Menu, Question, Roll, Trouble
from tests.chaos.record import LINE, Record, is_final
from tests.chaos.relay import EVENTS, POST, Relay
from tests.chaos.stage import Stage
from tests.chaos.traps import Traps

ROOMS: Final = 3
PEOPLE: Final = ("Ann", "Ben")
ENTER_SECONDS: Final = 60.0
"""Maximum seconds until a gateway that was just ended lets somebody in, on a busy machine."""

CATCH_UP_SECONDS: Final = 30.0
"""Maximum seconds until a page that was cut off shows what everybody sees."""

_ACCEPTED: Final = b"HTTP/1.1 202"
_CUTS: Final = ("lost-answer", "reset", "lost-stream")


class Web(Stage):
    """Rooms with people, who are cut off, post again and come back."""

    menu: ClassVar[Menu] = Menu(
        "web",
        ROOMS,
        (
            "kill-accept",
            "kill-confirmed",
            "kill-handed",
            "kill-draft",
            "kill-mid-long",
            "kill-after-final",
            "kill-told-final",
        ),
        MappingProxyType(
            {**{name: Roll(1, 3) for name in (*_CUTS, "redeliver")}, "slow": Roll(0.1, 0.8)}
        ),
    )
    queue: ClassVar[Queue] = staticmethod(of_each_person(len(PEOPLE)))
    writes: ClassVar[float] = 0.35

    def __init__(self, traps: Traps, home: Path) -> None:
        self._traps = traps
        self._relay = Relay(home, self._passing)
        self._slow: list[float] = []
        self._pages: list[list[Page]] = []
        self._final: set[str] = set()
        self._client = httpx2.AsyncClient()
        self._stack = AsyncExitStack()
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Open the people's pages."""
        await self._stack.enter_async_context(self._relay)
        limits = httpx2.Limits(max_connections=None)
        self._client = await self._stack.enter_async_context(
            httpx2.AsyncClient(
                base_url=self._relay.base_url, timeout=30, limits=limits, trust_env=False
            )
        )
        for room in range(ROOMS):
            self._pages.append(
                [Page(self._client, f"room-{room}", name, self._tell) for name in PEOPLE]
            )
        await self._stack.enter_async_context(self._group)
        for page in self._all():
            self._tasks += [self._group.create_task(work) for work in (page.run(), page.post())]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Be gone."""
        for task in self._tasks:
            task.cancel()
        await self._stack.__aexit__(kind, error, trace)

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings: the page needs none."""
        return {}

    async def ready(self) -> None:
        """Wait until every page shows its room."""
        for page in self._all():
            await page.entered.wait()

    async def ask(self, question: Question) -> None:
        """Ask a question on a page."""
        people = self._pages[question.place]
        people[question.person % len(people)].say(f"{question.token} {question.kind} please")

    async def trouble(self, trouble: Trouble) -> None:
        """Cut lines, slow them down, or post again."""
        name, count = trouble.name, int(trouble.much)
        if name == "slow":
            self._slow += [trouble.much] * 3
        elif name == "redeliver":
            for page in self._all():
                page.repeat(count)
        elif name == "lost-stream":
            self._relay.cut(EVENTS)
        else:
            self._relay.troubles[name] += count

    def heal(self) -> None:
        """End everything that goes wrong."""
        self._slow.clear()
        self._relay.troubles.clear()

    async def see(self, record: Record) -> None:
        """Write down what somebody sees who comes in now, and whether the others see the same."""
        for place, people in enumerate(self._pages):
            guest = Page(self._client, f"room-{place}", "Guest", self._tell)
            visit = asyncio.create_task(guest.run())
            try:
                async with asyncio.timeout(ENTER_SECONDS):
                    await guest.entered.wait()
                async with asyncio.timeout(CATCH_UP_SECONDS):
                    await self._caught_up(guest, people)
            except TimeoutError:
                """What is told of below is then how it stays."""
            visit.cancel()
            await asyncio.wait([visit])
            record.texts[place] = guest.shown
            record.strange += [told for page in people for told in _differences(page, guest)]

    async def _caught_up(self, guest: Page, people: list[Page]) -> None:
        while any(dict(page.shown) != dict(guest.shown) for page in people):
            await self._changed.wait()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _all(self) -> list[Page]:
        return [page for people in self._pages for page in people]

    # -- moments

    async def _passing(self, asked: bytes, answer: bytes) -> bool:
        if asked.startswith(POST):
            return await (self._answered(answer) if answer else self._posted())
        return not answer or self._shown(answer.decode("utf-8", "replace"))

    async def _posted(self) -> bool:
        """See a post before the gateway does."""
        if self._slow:
            await asyncio.sleep(self._slow.pop())
        self._traps.strikes("kill-handed")
        return not self._happens("reset")

    async def _answered(self, answer: bytes) -> bool:
        """See the gateway's answer to a post before the page does."""
        if not answer.startswith(_ACCEPTED):
            return True
        if self._traps.springs("kill-accept") or self._happens("lost-answer"):
            return False
        self._traps.strikes("kill-confirmed", 0.0)
        return True

    def _shown(self, events: str) -> bool:
        """See the events of a stream before the page does."""
        for told in events.splitlines():
            found = LINE.findall(told)
            if not found or '"type":"history"' in told:
                continue
            if '"type":"draft"' in told:
                self._drafted(found)
            elif is_final(told) and found[-1][0] not in self._final:
                self._final.add(found[-1][0])
                if self._traps.springs("kill-after-final"):
                    return False
                self._traps.strikes("kill-told-final")
        return True

    def _drafted(self, found: list[tuple[str, str, str]]) -> None:
        lines = max(int(number) for _token, number, _count in found)
        name = "kill-mid-long" if lines > LINES["long"] // 2 else "kill-draft"
        self._traps.strikes(name, 0.0)

    def _happens(self, name: str) -> bool:
        if self._relay.troubles[name] <= 0:
            return False
        self._relay.troubles[name] -= 1
        return True


def _differences(page: Page, guest: Page) -> list[str]:
    """Return what somebody was shown otherwise than a guest who comes in now."""
    own, all_of_it = dict(page.shown), dict(guest.shown)
    told = [
        f"{page.name} sees {message_id} as {own.get(message_id)!r:.80},"
        f" a guest as {all_of_it.get(message_id)!r:.80}"
        for message_id in own.keys() | all_of_it.keys()
        if own.get(message_id) != all_of_it.get(message_id)
    ]
    asked = {each["id"]: each["author"]["id"] for each in guest.log.values()}
    for person in set(asked.values()):
        seen = [i for i, question in page.arrived.items() if asked.get(question) == person]
        order = [i for i in guest.arrived if i in set(seen)]
        if seen != order:
            told.append(f"{page.name} saw {seen}, the order is {order}")
    return told
