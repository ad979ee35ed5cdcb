"""A short way to say what was said in a room."""

from __future__ import annotations

from tape.linking import Link, Linker, Room, Said


class Talk:
    """A room that is linked as it goes; a line is `author: text`, people's names are their ids."""

    def __init__(self, linker: Linker, *, most: int = 160) -> None:
        self.linker = linker
        self.room = Room(most)
        self.said: list[tuple[Said, Link]] = []
        self.at = 0.0

    def say(
        self,
        author: str,
        text: str,
        *mentions: str,
        reply_to: str | None = None,
        thread: str | None = None,
        lane: str | None = None,
        after: float = 20.0,
    ) -> Link:
        """Say something some seconds later; return its link."""
        self.at += after
        said = Said(str(len(self.said)), self.at, author, author, text, mentions, reply_to, thread)
        link = self.linker.link(self.room, said, lane)
        self.room.add(said, link)
        self.said.append((said, link))
        return link
