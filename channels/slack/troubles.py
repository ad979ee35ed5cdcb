"""The known troubles of a Slack app: the texts of the log, of `tapeway doctor` and the docs."""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble
from channels.common_troubles import ANSWER_FAILED, not_open
from channels.connection_troubles import connection_troubles

_PAGE: Final = "Open https://api.slack.com/apps, choose the app, then"
_BOT_TOKEN: Final = (
    f"{_PAGE} OAuth & Permissions. Copy the Bot User OAuth Token (xoxb-...; if there is"
    " none, install the app first). Paste it into `tapeway init`, or set"
    " TAPEWAY_SLACK__BOT_TOKEN, and restart."
)
_APP_TOKEN: Final = (
    f"{_PAGE} Basic Information, App-Level Tokens. Copy one with the scope connections:write"
    " (xapp-...). Paste it into `tapeway init`, or set TAPEWAY_SLACK__APP_TOKEN, and restart."
)

NO_TOKEN: Final = Trouble(
    "slack.no_token",
    "The log does not mention slack.",
    "Slack is off, since the gateway got no token. It reads the `.env` of a clone only if you start"
    " it there with `make run`.",
    "Run `tapeway init`, paste the tokens, and restart. For scripts and Docker, set"
    " TAPEWAY_SLACK__BOT_TOKEN and TAPEWAY_SLACK__APP_TOKEN.",
)
NO_BOT_TOKEN: Final = Trouble(
    "slack.no_bot_token",
    "Slack has no bot token.",
    "Only the app-level token or the signing secret is set.",
    _BOT_TOKEN,
)
NO_WAY_IN: Final = Trouble(
    "slack.no_way_in",
    "Slack has a bot token, but events cannot come in.",
    "Neither an app-level token nor a signing secret is set.",
    "Set TAPEWAY_SLACK__APP_TOKEN (xapp-..., from Basic Information, App-Level Tokens, with the"
    " scope connections:write) for Socket Mode, or TAPEWAY_SLACK__SIGNING_SECRET for"
    " /slack/events, and restart.",
)
WRONG_TOKEN: Final = Trouble(
    "slack.wrong_token",
    "A setting of Slack holds another kind of token.",
    "The bot token begins with xoxb-, the app-level token with xapp-, and the signing secret is"
    " neither. Nothing was sent to Slack.",
    f"{_PAGE} Basic Information for the signing secret and the app-level token (xapp-...), and"
    " OAuth & Permissions for the bot token (xoxb-...). Correct the setting, and restart.",
)
BOT_REFUSED: Final = Trouble(
    "slack.bot_token_refused",
    "Slack does not know this bot token.",
    "It is misspelt or revoked, or the app was removed from the workspace.",
    _BOT_TOKEN,
)
APP_REFUSED: Final = Trouble(
    "slack.app_token_refused",
    "Slack does not know this app-level token, or it lacks connections:write.",
    "It is misspelt, revoked, or was made without that scope.",
    _APP_TOKEN,
)
NOT_LET_IN: Final = Trouble(
    "slack.not_let_in",
    "Slack does not let the app in.",
    "The app is not installed in the workspace, or the workspace has disabled it.",
    "Install it again at https://api.slack.com/apps (Install App), copy its token into"
    " TAPEWAY_SLACK__BOT_TOKEN, and restart.",
)
NO_SCOPE: Final = Trouble(
    "slack.no_scope",
    "The app lacks a scope.",
    "Its manifest is older than this version, or a scope was removed.",
    "Add what is missing at https://api.slack.com/apps, OAuth & Permissions, Bot Token Scopes, then"
    " reinstall the app to the workspace: only then does a scope take effect.",
)
SOCKET_MODE_OFF: Final = Trouble(
    "slack.socket_mode_off",
    "Slack ends every connection of this app.",
    "Socket Mode is off.",
    f"{_PAGE} Socket Mode, and switch on Enable Socket Mode.",
)
CONNECTION: Final = connection_troubles("Slack", "slack.com")
SECOND_READER: Final = Trouble(
    "slack.second_reader",
    "A second reader is connected with this app token.",
    "Slack sends each event to only one of them: a second gateway runs on another machine, in an"
    " old container or in a test.",
    "Stop it, or create a new app-level token and revoke the old one (Basic Information, App-Level"
    " Tokens). The gateway checks again soon.",
)
STALLED: Final = Trouble(
    "slack.stalled",
    "Slack accepts my messages but delivers no events: the connection has stalled.",
    "Slack stopped sending events over it.",
    "Wait: the gateway has connected again, and reads what it missed.",
)
NO_CHANNEL: Final = Trouble(
    "slack.no_channel",
    "The bot answers direct messages, but not in a channel.",
    "It is not in the channel.",
    "Write /invite and the bot's name in the channel, then mention the bot.",
)
INSTALLATIONS: Final = Trouble(
    "slack.installations",
    "The file of installations cannot be used.",
    "TAPEWAY_SLACK__INSTALLATIONS names a file that cannot be read, or is not what /slack/install"
    " writes.",
    "Correct the file or its permissions, or remove it and install the app again.",
)
NOT_OPEN: Final = not_open("slack", ",open")
NO_BUTTONS: Final = Trouble(
    "slack.no_buttons",
    "Pressing a button shows an error.",
    "The app was made from an older manifest, which lacks interactivity.",
    f"{_PAGE} Interactivity & Shortcuts, and switch on Interactivity (over HTTP, with the address"
    " of the events).",
)
NAME_IGNORED: Final = Trouble(
    "slack.name_ignored",
    "The bot answers a mention in a channel, but not its name.",
    "The app lacks the events message.channels and message.groups.",
    "Compare its events with the manifest's, and reinstall the app.",
)
MESSAGES_OFF: Final = Trouble(
    "slack.messages_off",
    '"Sending messages to this app has been turned off"',
    "The app's Messages Tab is read-only.",
    "Under App Home, Messages Tab, allow people to send messages.",
)
URL_SILENT: Final = Trouble(
    "slack.url_silent",
    'Over HTTP, Slack says "Your URL didn\'t respond".',
    "The gateway does not run with this app's signing secret, or the proxy changes the body.",
    "Start the gateway first, forward the body unchanged, and enter the address again.",
)
NOT_SIGNED: Final = Trouble(
    "slack.not_signed",
    'Over HTTP, the log says "not signed with TAPEWAY_SLACK__SIGNING_SECRET".',
    "The secret belongs to another app, or this machine's clock is wrong.",
    "Copy the app's signing secret (Basic Information), and check the clock.",
)
NO_EVENTS: Final = Trouble(
    "slack.no_events",
    "Over HTTP, the channel is ready but no messages arrive.",
    "Event Subscriptions is off, its address is not verified, or another server answers there.",
    "Run `curl -X POST https://bot.example.org/slack/events` on another machine: it must print"
    ' "This is not for you.". "There is no signing secret." means that none is set; any other'
    " answer comes from the proxy or another server.",
)
NO_INSTALL: Final = Trouble(
    "slack.no_install",
    "/slack/install says `Not Found`.",
    "A setting for it is missing.",
    "Set TAPEWAY_SLACK__INSTALLATIONS, TAPEWAY_SLACK__CLIENT_ID and TAPEWAY_SLACK__CLIENT_SECRET.",
)
SILENT_CHANNEL: Final = Trouble(
    "slack.silent_channel",
    "The bot is silent in one channel only.",
    "It was removed, or the channel was archived.",
    "Invite it again. The log has `delivery.given_up` with Slack's reason.",
)
ANSWER_REFUSED: Final = Trouble(
    "slack.answer_refused",
    "Slack refused the bot's answer.",
    "Slack does not accept it in any form that the bot knows.",
    "Ask again, perhaps for a shorter answer. If it happens again, report it with the reason that"
    " the log has under `delivery.given_up`.",
)
RULE_OF_WORKSPACE: Final = Trouble(
    "slack.rule_of_workspace",
    "A rule of the workspace keeps the bot from answering.",
    "Only some people or apps may post there, or what is in the answer.",
    "Ask in another channel, or have an administrator let the app post there.",
)
TROUBLES: Final = (
    NO_TOKEN,
    NO_BOT_TOKEN,
    NO_WAY_IN,
    WRONG_TOKEN,
    BOT_REFUSED,
    APP_REFUSED,
    NOT_LET_IN,
    NO_SCOPE,
    SOCKET_MODE_OFF,
    SECOND_READER,
    STALLED,
    CONNECTION.unreachable,
    CONNECTION.proxy,
    CONNECTION.redirected,
    CONNECTION.tls,
    CONNECTION.limited,
    CONNECTION.not_the_platform,
    NO_CHANNEL,
    INSTALLATIONS,
    NOT_OPEN,
    NO_BUTTONS,
    NAME_IGNORED,
    MESSAGES_OFF,
    URL_SILENT,
    NOT_SIGNED,
    NO_EVENTS,
    NO_INSTALL,
    SILENT_CHANNEL,
    ANSWER_REFUSED,
    RULE_OF_WORKSPACE,
    ANSWER_FAILED,
)
"""Every known trouble, in the order of the table in the documentation."""
