"""Known troubles that people meet on every platform, and that no check of a bot can find."""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble

ANSWER_FAILED: Final = Trouble(
    "answer.failed",
    '"Sorry, I couldn\'t answer: ... (Ref ...)"',
    "The answer failed, mostly because of the model.",
    "Search the log for the reference to see why.",
)


def not_open(platform: str, command: str) -> Trouble:
    return Trouble(
        f"{platform}.not_open",
        '"I\'m not enabled in this chat yet"',
        "The chat is closed, or the bot has no owner yet.",
        "The owner opens it with the buttons in the private chat with the bot, or here with"
        f" `{command}`. `tapeway pair` makes somebody the owner.",
    )
