"""A short way to say what was said in a room."""

from __future__ import annotations

from itertools import count

from tape.linking import LaneLink, Linker, LinkerRoom, Utterance
from tape.linking.room import WINDOW
from tape.linking.utterance import AGENT


class Talk:
    """A room that is linked as it goes; a line is `author: text`, people's names are their ids."""

    def __init__(self, linker: Linker, *, most: int = WINDOW) -> None:
        self.linker = linker
        self.room = LinkerRoom(most)
        self.said: list[tuple[Utterance, LaneLink]] = []
        self.at = 0.0
        self.keys = count()

    def say(
        self,
        author: str,
        text: str,
        *mentions: str,
        reply_to: str | None = None,
        thread: str | None = None,
        lane: str | None = None,
        after: float = 20.0,
        key: str | None = None,
        calls: bool = False,
    ) -> LaneLink:
        """Say something some seconds later; return its link."""
        self.at += after
        key = str(next(self.keys)) if key is None else key
        said = Utterance(
            key, self.at, author, author, text, mentions, reply_to, thread, calls=calls
        )
        link = self.linker.link(self.room, said, lane)
        self.room.add(said, link)
        self.said.append((said, link))
        return link

    def answer(self, text: str, *, after: float = 3.0) -> LaneLink:
        """Have the agent answer the last message some seconds later."""
        self.at += after
        asked, link = self.said[-1]
        said = Utterance(f"turn:{asked.key}", self.at, AGENT, "", text, agent=True)
        answers = LaneLink(link.lane, asked.key, "an answer")
        self.room.add(said, answers)
        self.said.append((said, answers))
        return answers
