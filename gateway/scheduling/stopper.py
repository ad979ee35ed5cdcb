"""Stop answers, on a command or on a request from a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.powers import OTHERS_ANSWERS, may
from channels.errors import InboundRefused
from channels.message import Author, InboundMessage
from gateway.access.access import Access
from gateway.errors import CommandRefused
from gateway.pipeline.turn import Question
from gateway.scheduling.debounce import Debouncer
from gateway.scheduling.lane_scheduler import LaneScheduler
from gateway.scheduling.notices import Notices
from gateway.storage.ledger.rows import idem_key
from tape.lanes import is_apart


@dataclass(frozen=True, slots=True)
class Stopper:
    """Stops running turns and drops waiting questions."""

    _scheduler: LaneScheduler
    _debouncer: Debouncer
    _notices: Notices
    _access: Access

    async def stop(self, command: Question, everything: bool) -> int:
        """Stop questions of the command's author, in a thread or reply those of the lane, or all.

        Return their number; raise CommandRefused if they are all others', and the author no admin.
        """
        message = command.message
        shared = message.chat_kind == "group"
        anybodys = may(OTHERS_ANSWERS, command.role, shared=shared)
        # Without a thread or a reply, the lane of the command itself is only a guess.
        in_a_lane = message.thread_id is not None or message.reply_to is not None
        has_lanes = shared or is_apart(command.lane)
        lane = command.lane if in_a_lane and has_lanes and not everything else None
        others = False

        def wanted(other: Question) -> bool:
            nonlocal others
            own = other.message.sender.id == message.sender.id
            here = other.lane == lane if lane is not None else own or everything or not shared
            here = here and other.session_id == command.session_id
            others = others or (here and not own)
            return here and (own or anybodys)

        count = await self._end(command.session_id, wanted, message.sender)
        if others and not (count or anybodys):
            raise CommandRefused("Only admins may stop others' answers; `,stop` stops yours.")
        return count

    async def stop_answer(
        self, request: InboundMessage, session_id: str, answer: str | None
    ) -> bool:
        """Stop one answer: the one with that id, or else the person's newest.

        Raise InboundRefused if it is somebody else's answer and the person is no admin.
        """
        running = self._scheduler.running(session_id)
        if answer is not None:
            chosen = [one for one, turn_id in running if idem_key(turn_id, 0) == answer]
            others = len(_own(chosen, request)) < len(chosen)
            role, shared = self._access.decide(request).role, request.chat_kind == "group"
            if others and not may(OTHERS_ANSWERS, role, shared=shared):
                raise InboundRefused("Only admins may stop others' answers; Stop ends yours.")
        else:
            waiting = self._scheduler.queued(session_id) + self._debouncer.questions(session_id)
            own = _own([one for one, _turn_id in running], request) or _own(waiting, request)
            chosen = sorted(own, key=lambda one: one.rows[-1].id)[-1:]
        ids = {one.rows[-1].id for one in chosen}
        return await self._end(session_id, lambda q: q.rows[-1].id in ids, request.sender) > 0

    async def stop_for(self, session_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Stop an answer for another process; return whether there was one, or why it goes on."""
        request = InboundMessage.from_payload(dict(data["request"]))
        try:
            return {"stopped": await self.stop_answer(request, session_id, data["answer"])}
        except InboundRefused as refused:
            return {"stopped": False, "why": str(refused)}

    async def _end(
        self, session_id: str, wanted: Callable[[Question], bool], author: Author
    ) -> int:
        by: dict[str, Any] = {"by": author.id, "name": author.name, "why": "stop"}
        running, waiting = self._scheduler.stop(session_id, wanted, by)
        dropped = [*waiting, *self._debouncer.take_away(wanted)]
        for question in dropped:
            await self._notices.stopped(question, by)
        return running + len(dropped)


def _own(questions: list[Question], request: InboundMessage) -> list[Question]:
    return [one for one in questions if one.message.sender.id == request.sender.id]
