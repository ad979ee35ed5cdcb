"""The known troubles of a Telegram bot: the texts of the log, of `tapeway doctor` and the docs."""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble
from channels.common_troubles import ANSWER_FAILED, no_token, not_open, wrong_token
from channels.connection_troubles import connection_troubles

_TOKEN: Final = (
    "Get the token from @BotFather (/mybots, API Token). Paste it into `tapeway init`, or set"  # noqa: S105 - not a token
    " TAPEWAY_TELEGRAM__TOKEN, and restart."
)

NO_TOKEN: Final = no_token("Telegram")
WRONG_TOKEN: Final = wrong_token("Telegram", _TOKEN)
TOKEN_REFUSED: Final = Trouble(
    "telegram.token_refused",
    "Telegram does not know this token.",
    "It is misspelt, or @BotFather has issued a new one since.",
    _TOKEN,
)
CONNECTION: Final = connection_troubles("Telegram", "api.telegram.org")
SECOND_POLLER: Final = Trouble(
    "telegram.second_poller",
    "Another program polls Telegram with this token.",
    "A bot can have only one reader: a second gateway runs on another machine, in an old container"
    " or in a test.",
    "Stop the second gateway, or get a new token from @BotFather (/revoke) to lock it out. This one"
    " keeps trying.",
)
PRIVACY_MODE: Final = Trouble(
    "telegram.privacy_mode",
    "In groups, the bot sees only commands, mentions and replies to it, and does not remember other"
    " messages.",
    "Privacy mode is on.",
    "Send /setprivacy to @BotFather, choose the bot, then Disable. Then remove the bot from each"
    " group and add it again: only then does Telegram apply the change.",
)
EPHEMERAL_LATE: Final = Trouble(
    "telegram.ephemeral_late",
    "An answer that one person of a group alone would have seen went to that person's private chat"
    " with the bot, or to nobody.",
    "Telegram lets a bot that is no administrator answer such a message within 15 seconds only.",
    "Make the bot an administrator of the group; it needs no particular right. People who have"
    " started the bot in private get such answers there meanwhile.",
)
NO_GROUPS: Final = Trouble(
    "telegram.no_groups",
    "The bot cannot be added to a group.",
    "Groups are switched off for this bot.",
    "Send /setjoingroups to @BotFather, choose the bot, then Enable.",
)
WEBHOOK_ELSEWHERE: Final = Trouble(
    "telegram.webhook_elsewhere",
    "Telegram delivers the bot's messages to another address.",
    "A webhook is set for this bot, by another program or an earlier setting.",
    "Stop the other program, or make a bot for each. When the gateway starts, it takes the webhook"
    " away or sets its own.",
)
WEBHOOK_FAILS: Final = Trouble(
    "telegram.webhook_fails",
    "Telegram cannot deliver messages to TAPEWAY_TELEGRAM__WEBHOOK_URL.",
    "The address does not lead to this gateway, its certificate is not accepted, or the gateway is"
    " not running.",
    "Check the way from outside to the gateway (address, reverse proxy, certificate), or leave the"
    " setting empty to poll instead.",
)
WEBHOOK_REFUSED: Final = Trouble(
    "telegram.webhook_refused",
    "Telegram refuses the address in TAPEWAY_TELEGRAM__WEBHOOK_URL.",
    "Telegram delivers only to https addresses that it can reach, on port 443, 80, 88 or 8443.",
    "Use an https address that is reachable from the internet, or leave the setting empty to poll"
    " instead.",
)
RICH_CHAT_UNKNOWN: Final = Trouble(
    "telegram.rich_chat_unknown",
    "TAPEWAY_TELEGRAM__RICH names a chat that the bot does not know.",
    "The id is misspelt, the bot has been removed from the chat, or the group has become a"
    " supergroup, which has another id.",
    "Correct the id in TAPEWAY_TELEGRAM__RICH, and restart. `tapeway access list` shows the ids of"
    " open chats.",
)
PLACEHOLDER: Final = Trouble(
    "telegram.placeholder",
    "In place of an answer, an app shows that it does not support the message.",
    "The chat gets rich messages, and the app is too old for them.",
    "Update the app, or take the chat's id out of TAPEWAY_TELEGRAM__RICH, and restart.",
)
NOT_OPEN: Final = not_open("telegram", "/open@your_bot")
NO_HISTORY: Final = Trouble(
    "telegram.no_history",
    "The bot answers, but does not know earlier messages.",
    "They are older than its membership, since Telegram shows bots no history, or privacy mode is"
    " on.",
    "Say again what it has to know; for privacy mode, see the row above.",
)
SILENT_GROUP: Final = Trouble(
    "telegram.silent_group",
    "The bot is silent in one group only.",
    "It was removed, or may not write there.",
    "Add it again, or let it write. The log has `delivery.given_up` with Telegram's own words.",
)
SLOW_GROUP: Final = Trouble(
    "telegram.slow_group",
    "Answers come slowly in a busy group.",
    "Telegram allows 20 messages and edits per minute in a group.",
    "Nothing: the gateway sends finished answers first.",
)
ANSWER_REFUSED: Final = Trouble(
    "telegram.answer_refused",
    "Telegram refused the bot's answer.",
    "Telegram does not accept it in any form that the bot knows.",
    "Ask again, perhaps for a shorter answer. If it happens again, report it with the reason that"
    " the log has under `delivery.given_up`.",
)
NO_RIGHT_TO_WRITE: Final = Trouble(
    "telegram.no_right_to_write",
    "The bot may not write in a chat.",
    "The chat's permissions keep it from sending messages there, or its topic is closed.",
    "Have an administrator let the bot send messages, or open the topic again.",
)
NOT_REACHED: Final = Trouble(
    "telegram.not_reached",
    "The bot cannot write to a chat any more.",
    "It was removed or blocked, or the chat is gone.",
    "Add the bot to the group again, or unblock it, and ask again.",
)
TROUBLES: Final = (
    NO_TOKEN,
    WRONG_TOKEN,
    TOKEN_REFUSED,
    CONNECTION.unreachable,
    CONNECTION.proxy,
    CONNECTION.redirected,
    CONNECTION.tls,
    CONNECTION.limited,
    CONNECTION.not_the_platform,
    SECOND_POLLER,
    PRIVACY_MODE,
    NO_GROUPS,
    WEBHOOK_ELSEWHERE,
    WEBHOOK_FAILS,
    WEBHOOK_REFUSED,
    RICH_CHAT_UNKNOWN,
    NOT_OPEN,
    NO_HISTORY,
    SILENT_GROUP,
    PLACEHOLDER,
    SLOW_GROUP,
    ANSWER_REFUSED,
    NO_RIGHT_TO_WRITE,
    NOT_REACHED,
    ANSWER_FAILED,
)
"""Every known trouble, in the order of the table in the documentation."""
