"""A Slack channel in which somebody has asked something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from channels.draft import DraftReference
from channels.message import InboundMessage, OutboundMessage
from tests.channels.slack.hosts import Running
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, Message, User


@dataclass
class Room:
    """A channel with a question in it."""

    app: Running
    fake: FakeSlack
    place: Channel
    ada: User
    question: InboundMessage

    def answer(self, text: str = "an answer", **more: Any) -> OutboundMessage:
        values: dict[str, Any] = {
            "idem": "t-1:0",
            "answers": self.question.ext_id,
            "reply_to": self.question.message_id,
            "turn": "t-1",
            "date": self.question.date,
        }
        return OutboundMessage("slack", self.place.id, text, **(values | more))

    async def deliver(self, text: str = "an answer", **more: Any) -> str:
        (receipt,) = await self.app.channel.deliver(self.answer(text, **more))
        return receipt.platform_id

    async def show(self, text: str, ts: str | None = None, *, again: bool = False) -> str | None:
        return await self.app.channel.show(self.question, DraftReference("t-1:0", ts, again), text)

    @property
    def messages(self) -> list[Message]:
        return self.fake.messages(self.place.id)

    def texts(self) -> list[str]:
        return [message.text for message in self.messages]
