"""A person who may decide, and a question that ends in a card."""

from __future__ import annotations

from channels.testing import Answer, Chat, Person
from tests.kit.play import Play


async def paired(play: Play, name: str) -> tuple[Person, Chat]:
    """Make somebody an owner, and return them with their private chat."""
    owner = play.person(name)
    chat = play.stage.private(owner)
    code = await play.pairing_code()
    await play.ask(chat, owner, f"pair {code}", mention=False)
    return owner, chat


def question(play: Play, chat: Chat) -> Answer:
    """Return the last message with buttons in a chat."""
    return [answer for answer in play.stage.answers(chat) if answer.buttons][-1]
