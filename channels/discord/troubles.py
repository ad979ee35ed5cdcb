"""The known troubles of a Discord bot: the texts of the log, of `tapeway doctor` and the docs."""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble
from channels.common_troubles import ANSWER_FAILED, no_token, not_open, wrong_token
from channels.connection_troubles import connection_troubles

_PAGE: Final = "Open discord.com/developers/applications, choose the application, then Bot"
_TOKEN: Final = (
    f"{_PAGE}, Reset Token. Paste the new token into `tapeway init`, or set"
    " TAPEWAY_DISCORD__TOKEN, and restart."
)

NO_TOKEN: Final = no_token("Discord")
WRONG_TOKEN: Final = wrong_token("Discord", _TOKEN)
TOKEN_REFUSED: Final = Trouble(
    "discord.token_refused",
    "Discord doesn't accept this token.",
    "It is misspelt, or was reset since.",
    _TOKEN,
)
CONNECTION: Final = connection_troubles("Discord", "discord.com")
NO_CONTENT: Final = Trouble(
    "discord.no_message_content",
    "Discord doesn't let this bot read messages.",
    "Its Message Content Intent is off.",
    f"{_PAGE}, switch on Message Content Intent under Privileged Gateway Intents, save, and"
    " restart.",
)
TOO_MANY_SERVERS: Final = Trouble(
    "discord.too_many_servers",
    "This bot is in too many servers for this number of connections.",
    "Discord allows 2500 servers for each connection.",
    "Set TAPEWAY_DISCORD__SHARDS to a higher number (one for each 1000 servers) and restart.",
)
NO_SESSIONS: Final = Trouble(
    "discord.no_sessions",
    "The bot cannot connect again today.",
    "Discord allows 1000 new connections a day, and something used them up: a gateway that restarts"
    " again and again, or a second program.",
    "Find out why it restarts (the log says so), stop it, and start it when the limit is reset.",
)
OUTDATED: Final = Trouble(
    "discord.outdated",
    "Discord refuses the connection of this version.",
    "Discord no longer supports the protocol or the events that it asks for.",
    "Update Tapeway.",
)
SECOND_GATEWAY: Final = Trouble(
    "discord.second_gateway",
    "A second gateway is using this bot's token, so that every question gets two answers.",
    "It runs on another machine, in an old container or in a test.",
    "Stop it, or reset the token under discord.com/developers/applications (Bot, Reset Token) to"
    " lock it out.",
)
NO_SERVER: Final = Trouble(
    "discord.no_server",
    "The bot is not in the member list.",
    "It has not been added to a server.",
    "Open the link that the gateway and `tapeway doctor` print, and choose your server.",
)
NO_PERMISSION: Final = Trouble(
    "discord.no_permission",
    "The bot answers in one place, but not in another.",
    "Its role may not see the channel, write there or read its history.",
    "Open the server's or the channel's settings, then Permissions, and give the bot's role what is"
    " missing, or open the invite link once more.",
)
ANSWER_REFUSED: Final = Trouble(
    "discord.answer_refused",
    "Discord refused the bot's answer.",
    "Discord does not accept it in any form that the bot knows.",
    "Ask again, perhaps for a shorter answer. If it happens again, report it with the reason that"
    " the log has under `delivery.given_up`.",
)
BLOCKED_BY_RULE: Final = Trouble(
    "discord.blocked_by_rule",
    "A rule of this server blocked the bot's answer.",
    "AutoMod refuses words or links in it.",
    "Ask in other words, or ask an administrator to exempt the bot's role (Server Settings, Safety"
    " Setup, AutoMod).",
)
NO_PRIVATE_CHAT: Final = Trouble(
    "discord.no_private_chat",
    "The bot may not write to this person.",
    "The person takes no direct messages from members of the server, or has blocked the bot.",
    "Allow direct messages in the server's privacy settings, or ask in a channel.",
)
PLACE_GONE: Final = Trouble(
    "discord.place_gone",
    "The channel of the question is gone.",
    "It was deleted, or the bot was removed from the server.",
    "Ask in another channel, or add the bot again with its invite link.",
)
THREAD_LOCKED: Final = Trouble(
    "discord.thread_locked",
    "The bot may not answer in this thread.",
    "It is locked or archived.",
    "Have a moderator unlock it, or ask in the channel.",
)
CODE_GRANT: Final = Trouble(
    "discord.code_grant",
    'The invite link answers "Integration requires code grant".',
    "Requires OAuth2 Code Grant is on.",
    f"{_PAGE}, switch off Requires OAuth2 Code Grant, and save.",
)
PRIVATE_BOT: Final = Trouble(
    "discord.private_bot",
    "Only you can add the bot to a server.",
    "Public Bot is off.",
    f"{_PAGE}, and switch on Public Bot if others may add it.",
)
COMMANDS_ELSEWHERE: Final = Trouble(
    "discord.commands_elsewhere",
    '"The application did not respond" comes after a slash command or a press of a button.',
    "The gateway was not running, or Discord sends them to another address: an Interactions"
    " Endpoint URL is set.",
    "Start the gateway, and empty Interactions Endpoint URL under"
    " discord.com/developers/applications, General Information.",
)
NOT_OPEN: Final = not_open("discord", "/open")
NOT_FOR_YOU: Final = Trouble(
    "discord.not_for_you",
    '"I\'m not enabled for you yet"',
    "This is the private chat of somebody who may not use the bot.",
    "The owner lets them in with `tapeway access grant discord:` and the id that the bot names, or"
    " with `,grant` and that id.",
)
OLD_CODE: Final = Trouble(
    "discord.old_code",
    '"This code is wrong, used or too old"',
    "A code works once and for ten minutes, and a new one replaces it.",
    "`tapeway pair` prints a fresh one.",
)
NO_COMMANDS: Final = Trouble(
    "discord.no_commands",
    "The slash commands are missing.",
    "Discord shows new commands after a while, or the bot was added without them.",
    "Press Ctrl-R in Discord's window. If they never appear, open the invite link again.",
)
TROUBLES: Final = (
    NO_TOKEN,
    WRONG_TOKEN,
    TOKEN_REFUSED,
    NO_CONTENT,
    CONNECTION.unreachable,
    CONNECTION.proxy,
    CONNECTION.redirected,
    CONNECTION.tls,
    CONNECTION.limited,
    CONNECTION.not_the_platform,
    NO_SERVER,
    NO_PERMISSION,
    ANSWER_REFUSED,
    BLOCKED_BY_RULE,
    NO_PRIVATE_CHAT,
    PLACE_GONE,
    THREAD_LOCKED,
    CODE_GRANT,
    PRIVATE_BOT,
    COMMANDS_ELSEWHERE,
    SECOND_GATEWAY,
    TOO_MANY_SERVERS,
    NO_SESSIONS,
    OUTDATED,
    NOT_OPEN,
    NOT_FOR_YOU,
    OLD_CODE,
    NO_COMMANDS,
    ANSWER_FAILED,
)
"""Every known trouble, in the order of the table in the documentation."""
