"""Telegram in the chaos run: private chats and groups, and a Bot API that kills and fails."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from channels.testing import Chat
from tests.chaos.order import Queue, of_the_chat
from tests.chaos.plan import LINES, Menu, Trouble
from tests.chaos.platform import KILLS, PRIVATE, REDELIVER, Platform, failing
from tests.chaos.record import LINE, Record, is_final
from tests.chaos.traps import Traps
from tests.chaos.window import RECEIPTS, Window
from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import Doing
from tests.fakes.base.http import Answer
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.faults import RetryAfter
from tests.kit.stages.telegram import TelegramStage

GROUPS: Final = 2
METHODS: Final = ("sendMessage", "editMessageText", "sendMessageDraft", "getUpdates", "*")
_SENDS: Final = ("sendmessage", "editmessagetext", "sendmessagedraft")
_LONGEST: Final = 3_820
"""A text beyond is that of a long answer in pieces; a draft shows no more."""


class Telegram(Platform[TelegramStage, Call]):
    """A Telegram with kill points, which records every update that it delivered to the gateway."""

    menu: ClassVar[Menu] = Menu(
        "telegram",
        PRIVATE + GROUPS,
        ("kill-accept", "kill-confirmed", "kill-handed", *KILLS),
        MappingProxyType({**failing(METHODS, "retry-after"), **REDELIVER}),
    )
    window: ClassVar[Window] = RECEIPTS
    queue: ClassVar[Queue] = staticmethod(of_the_chat)
    writes: ClassVar[float] = 1.0
    own: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"TELEGRAM__PER_SECOND": "0", "TELEGRAM__GROUP_PER_MINUTE": "0"}
    )

    def __init__(self, traps: Traps, _home: Path) -> None:
        super().__init__(traps, TelegramStage())

    async def see(self, record: Record) -> None:
        """Write down what the bot's messages and drafts are."""
        await super().see(record)
        shown, own = self.stage.fake.drafts.values(), record.tokens
        record.drafts = sum(any(name in own for name, *_ in LINE.findall(text)) for text in shown)

    def _shared(self) -> list[Chat]:
        return [self.stage.group() for _number in range(GROUPS)]

    def _disturb(self, trouble: Trouble) -> None:
        self._fail(trouble)

    def _fault(self, trouble: Trouble) -> Any:
        if trouble.name == "retry-after":
            return RetryAfter(int(trouble.much))
        return super()._fault(trouble)

    def _sends(self, request: Call) -> tuple[str, str]:
        if request.method.lower() != "sendmessage":
            return "", ""
        return str(request.params.get("chat_id")), str(request.message_id)

    # -- moments

    def _between(self, request: Call, answer: Doing) -> Outcome | Coroutine[Any, Any, Outcome]:
        if request.method.lower() == "getupdates":
            return self._polled(request, answer)
        return super()._between(request, answer)

    async def _polled(self, call: Call, answer: Doing) -> Outcome:
        offset, updates = int(call.params.get("offset") or 0), self.stage.fake.updates
        if any(update.update_id < offset for update in updates.pending):
            if self._traps.springs("kill-accept"):
                return None
            if self._traps.has("kill-confirmed"):
                updates.confirm(offset)
                self._traps.kill("kill-confirmed")
                return None
        found = answer()
        assert isinstance(found, Coroutine)
        outcome: Outcome = await found
        if isinstance(outcome, Answer) and b'"message"' in outcome.body:
            self._traps.strikes("kill-handed")
        return outcome

    def _moment(self, request: Call) -> str:
        name = request.method.lower()
        text = str(request.params.get("text", "")) if name in _SENDS else ""
        found = LINE.findall(text)
        if not found or name == "sendmessagedraft":
            return "draft" if found else ""
        if is_final(text):
            return "final"
        long = int(found[0][2]) == LINES["long"]
        return ("mid" if len(text) > _LONGEST else "") if long else "draft"
