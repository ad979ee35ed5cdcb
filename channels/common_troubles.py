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


def no_token(platform: str) -> Trouble:
    """Return the trouble of a bot whose only key is its token."""
    name = platform.lower()
    return Trouble(
        f"{name}.no_token",
        f"The log has no `channel.ready` for {name}.",
        f"{platform} is off, since the gateway got no token. It reads the `.env` of a clone only if"
        " you start it there with `make run`.",
        f"Run `tapeway init`, paste the token, and restart. For scripts and Docker, set"
        f" TAPEWAY_{platform.upper()}__TOKEN.",
    )


def wrong_token(platform: str, remedy: str) -> Trouble:
    return Trouble(
        f"{platform.lower()}.wrong_token",
        f"TAPEWAY_{platform.upper()}__TOKEN is not the token of a {platform} bot.",
        "It holds something else, such as another platform's token. It was not sent to"
        f" {platform}.",
        remedy,
    )


def not_open(platform: str, command: str) -> Trouble:
    return Trouble(
        f"{platform}.not_open",
        '"I\'m not enabled in this chat yet"',
        "The chat is closed, or the bot has no owner yet.",
        "The owner opens it with the buttons in the private chat with the bot, or here with"
        f" `{command}`. `tapeway pair` makes somebody the owner.",
    )
