"""Stop questions on a person's request."""

from __future__ import annotations

from gateway.pipeline.turn import Question
from gateway.scheduling.debounce import Debouncer
from gateway.scheduling.lane_scheduler import LaneScheduler
from gateway.scheduling.notices import Notices


class Stopper:
    """Stops running turns and waiting questions."""

    def __init__(self, scheduler: LaneScheduler, debouncer: Debouncer, notices: Notices) -> None:
        self._scheduler = scheduler
        self._debouncer = debouncer
        self._notices = notices

    async def stop(self, command: Question, everything: bool) -> int:
        """Stop the lane in which a command was given, or else its author's questions.

        `everything` stops the whole chat. Return the number of stopped questions.
        """
        message = command.message
        private = message.chat_kind == "private"
        # Without a thread or reply, the command's own lane is a guess.
        in_a_lane = message.thread_id is not None or message.reply_to is not None

        def wanted(other: Question) -> bool:
            if other.session_id != command.session_id:
                return False
            if everything or private:
                return True
            if in_a_lane and command.lane is not None:
                return other.lane == command.lane
            return other.message.sender.id == message.sender.id

        by = {"by": message.sender.id, "name": message.sender.name, "why": "stop"}
        running, waiting = self._scheduler.stop(command.session_id, wanted, by)
        dropped = [*waiting, *self._debouncer.take_away(wanted)]
        for question in dropped:
            await self._notices.stopped(question, by)
        return running + len(dropped)
