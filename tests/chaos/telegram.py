"""Telegram in the chaos run: private chats and groups, and a Bot API that kills and fails."""

from __future__ import annotations

import random
import time
from collections.abc import Coroutine, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from bench.stage import USERNAME
from tests.chaos.order import Queue, of_the_chat
from tests.chaos.plan import LINES, Menu, Question, Trouble
from tests.chaos.record import LINE, Record, Sent, is_final
from tests.chaos.stage import register
from tests.chaos.traps import Traps
from tests.chaos.window import RECEIPTS, Window
from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import LostAnswer, Reset, ServerError, Slow
from tests.fakes.base.http import Answer
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.faults import Fault, RetryAfter
from tests.fakes.telegram.server import FakeTelegram

PRIVATE: Final = 2
GROUPS: Final = 2
METHODS: Final = ("sendMessage", "editMessageText", "sendMessageDraft", "getUpdates", "*")
REDELIVER: Final = ("redeliver", "redeliver-new")
_TOKEN: Final = "123456:chaos"
_SENDS: Final = ("sendmessage", "editmessagetext", "sendmessagedraft")
_LONGEST: Final = 3_820
"""A text beyond is that of a long answer in pieces; a draft shows no more."""


def _roll(name: str, chance: random.Random, at: float) -> Trouble:
    if name == "slow":
        return Trouble(at, name, round(chance.uniform(0.2, 1.5), 2), chance.choice(METHODS))
    if name in REDELIVER:
        return Trouble(at, name, chance.randint(1, 3))
    return Trouble(at, name, chance.randint(1, 2), chance.choice(METHODS))


_TROUBLES: Final = (
    "retry-after",
    "server-500",
    "server-502",
    "server-503",
    "lost-answer",
    "reset",
    "slow",
    *REDELIVER,
)


@register
class TelegramStage(FakeTelegram):
    """A Telegram with kill points, which keeps what the gateway was told of."""

    menu: ClassVar[Menu] = Menu(
        "telegram",
        PRIVATE + GROUPS,
        (
            "kill-accept",
            "kill-confirmed",
            "kill-handed",
            "kill-draft",
            "kill-before-final",
            "kill-after-final",
            "kill-told-final",
            "kill-mid-long",
        ),
        MappingProxyType({name: partial(_roll, name) for name in _TROUBLES}),
    )
    window: ClassVar[Window] = RECEIPTS
    queue: ClassVar[Queue] = staticmethod(of_the_chat)
    writes: ClassVar[float] = 1.0

    def __init__(self, traps: Traps, _home: Path) -> None:
        super().__init__(token=_TOKEN, username=USERNAME)
        self._traps = traps
        own = [self.user(5000 + number, f"Friend {number}") for number in range(PRIVATE)]
        others = [self.user(6000 + number, f"Person {number}") for number in range(3)]
        groups = [self.group(-1_001_000_000_000 - n, f"Group {n}") for n in range(GROUPS)]
        self._chats = [*map(self.private_chat, own), *groups]
        self._people = [*own, *others]
        self._places = {chat.id: place for place, chat in enumerate(self._chats)}

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings."""
        return {
            "WEB__ENABLED": "false",
            "TELEGRAM__TOKEN": _TOKEN,
            "TELEGRAM__BASE_URL": self.base_url,
            "TELEGRAM__PER_SECOND": "0",
            "TELEGRAM__GROUP_PER_MINUTE": "0",
            "ACCESS__MODE": "open",
            "BUDGET__STRANGER_TURNS": "0",
            "BUDGET__PARALLEL_PER_PERSON": "0",
        }

    async def ready(self) -> None:
        """Wait until the gateway asks for updates."""
        await self.wait_for_calls("getUpdates", 1)

    def ask(self, question: Question) -> None:
        """Let a question be asked, in a group with the bot's name."""
        private = question.place < PRIVATE
        user = self._people[question.place if private else PRIVATE + question.person]
        called = "" if private else f"@{USERNAME} "
        chat = self._chats[question.place]
        self.say(chat, user, f"{called}{question.token} {question.kind} please")

    def trouble(self, trouble: Trouble) -> None:
        """Let calls fail, or updates come again."""
        if trouble.name in REDELIVER:
            # What was not taken yet comes in its order; only what was taken can come again.
            taken = [update for update in self.updates.all if update.confirmed]
            for update in taken[-int(trouble.much) :]:
                self.updates.redeliver(update.update_id, new_id=trouble.name != "redeliver")
        else:
            self.fail(trouble.where, _fault(trouble))

    def heal(self) -> None:
        """Let nothing go wrong any more."""
        self.forget_faults()

    async def see(self, record: Record) -> None:
        """Write down what the bot's messages are."""
        for chat, place in self._places.items():
            found = self.messages(chat)
            record.texts[place] = [(str(message.message_id), message.text) for message in found]
        shown = self.drafts.values()
        own = record.tokens
        record.drafts = sum(any(name in own for name, *_ in LINE.findall(text)) for text in shown)

    def made(self, call: Call) -> tuple[int, str] | None:
        """Return the place and id of the message that a request made."""
        if call.method.lower() != "sendmessage" or not call.ok or call.message_id is None:
            return None
        return self._places[int(call.params["chat_id"])], str(call.message_id)

    # -- moments

    def _answer(self, call: Call) -> Outcome | Coroutine[Any, Any, Outcome]:
        name = call.method.lower()
        if name == "getupdates":
            return self._polled(call)
        if name not in _SENDS:
            return super()._answer(call)
        moment = _moment(name, str(call.params.get("text", "")))
        way = len(self._traps.record.kills) % 3 if self._mid(moment) else -1
        if way == 0:
            self._traps.kill("kill-mid-long")
        if way == 0 or (moment == "final" and self._traps.springs("kill-before-final")):
            self._keep(name, call, heard=False)
            return None
        outcome = super()._answer(call)
        heard = not (
            (moment == "final" and self._traps.springs("kill-after-final"))
            or (moment == "draft" and self._traps.springs("kill-draft"))
        )
        if way == 1:
            self._traps.kill("kill-mid-long")
            heard = False
        self._keep(name, call, heard)
        self._soon(moment, way)
        return outcome if heard else None

    def _mid(self, moment: str) -> bool:
        return moment == "mid" and self._traps.has("kill-mid-long")

    def _soon(self, moment: str, way: int) -> None:
        """Let the gateway hear the answer, and kill it before or after it has written it down."""
        seconds = 0.002 + 0.01 * len(self._traps.record.sent) % 0.05
        if way == 2:
            self._traps.kill_soon("kill-mid-long", seconds)
        if moment == "final" and self._traps.has("kill-told-final"):
            self._traps.kill_soon("kill-told-final", seconds)

    def _keep(self, name: str, call: Call, heard: bool) -> None:
        if name != "sendmessage" or not (call.ok or not heard):
            return
        place = self._places[int(call.params["chat_id"])]
        made = str(call.message_id) if call.ok and call.message_id is not None else ""
        sent = Sent(made, place, call.at, time.monotonic(), heard)
        self._traps.record.sent.append(sent)

    async def _spoilt(self, call: Call, fault: Fault) -> Outcome:
        known = len(self._traps.record.sent)
        outcome = await super()._spoilt(call, fault)
        failed = isinstance(outcome, Answer) and outcome.status >= 500
        if outcome is None or failed:
            own = [it for it in self._traps.record.sent[known:] if it.called_at == call.at]
            for sent in own:
                sent.heard = False
            if not own:
                self._keep(call.method.lower(), call, heard=False)
        return outcome

    async def _polled(self, call: Call) -> Outcome:
        offset = int(call.params.get("offset") or 0)
        if any(update.update_id < offset for update in self.updates.pending):
            if self._traps.springs("kill-accept"):
                return None
            if self._traps.has("kill-confirmed"):
                self.updates.confirm(offset)
                self._traps.kill("kill-confirmed")
                return None
        answer = await self._get_updates(call)
        if b'"message"' in answer.body and self._traps.has("kill-handed"):
            seconds = 0.001 * (len(self._traps.record.kills) % 3) ** 3
            self._traps.kill_soon("kill-handed", seconds)
        return answer


def _moment(name: str, text: str) -> str:
    found = LINE.findall(text)
    if not found or name == "sendmessagedraft":
        return "draft" if found else ""
    if is_final(text):
        return "final"
    long = int(found[0][2]) == LINES["long"]
    return ("mid" if len(text) > _LONGEST else "") if long else "draft"


def _fault(trouble: Trouble) -> Fault:
    name = trouble.name
    if name.startswith("server-"):
        return ServerError(int(name.removeprefix("server-")))
    if name == "retry-after":
        return RetryAfter(int(trouble.much))
    if name == "slow":
        return Slow(trouble.much)
    return LostAnswer() if name == "lost-answer" else Reset()
