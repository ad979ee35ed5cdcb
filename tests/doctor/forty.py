"""The forty things that are broken on purpose: what is broken, and what doctor must say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from channels.checkup import State


@dataclass(frozen=True, slots=True)
class Broken:
    """One thing that is broken.

    id       its name; `tests.doctor.scene.breaks` gives it to what breaks it
    check    the name of doctor's check, as in "model" or "telegram.token"
    trouble  the id of the Trouble that doctor must name
    says     words of doctor's line about this very system
    state    the state that doctor must give it; only failures make the exit code 1
    """

    id: str
    check: str
    trouble: str
    says: str
    state: State = "failure"


GATEWAY: Final = (
    # settings
    Broken("settings.value", "settings", "settings.invalid", "TAPEWAY_HTTP__PORT: "),
    Broken("settings.name", "settings", "settings.misspelt", "did you mean TAPEWAY_AGENT__MODEL?"),
    Broken("settings.toml", "settings", "settings.unreadable", "tapeway.toml"),
    Broken("settings.env_file", "settings", "settings.unreadable", "there is no file"),
    Broken("settings.secret", "settings", "settings.secret", "leads out of its folder"),
    Broken("settings.here", "settings", "settings.ignored", ".env is ignored", "warning"),
    # folders and the disk
    Broken("home.read_only", "disk", "home.unusable", "Read-only file system"),
    Broken("home.other_user", "disk", "home.unusable", "Permission denied"),
    Broken("env.other_user", "settings", "settings.unreadable", "Permission denied"),
    Broken("home.open", "files", "home.open", "chmod 700", "warning"),
    Broken("env.open", "files", "settings.open", "chmod 600", "warning"),
    Broken("workspace.file", "files", "workspace.unusable", "Not a directory"),
    Broken("disk.full", "disk", "disk.full", "under 1 MB"),
    # the database and the search index
    Broken("database.torn", "database", "database.damaged", "tapeway.db"),
    Broken("database.text", "database", "database.damaged", "not a database"),
    Broken("database.newer", "database", "database.newer", "schema 99"),
    Broken("database.foreign", "database", "database.foreign", "another program"),
    Broken("index.broken", "search", "search.broken", "tapeway.db-search", "warning"),
    Broken("index.behind", "search", "search.behind", "7 older entries", "note"),
    # the model
    Broken("model.key", "model", "model.key_refused", "refuses the API key"),
    Broken("model.no_key", "model", "model.key_missing", "needs a key"),
    Broken("model.name", "model", "model.unknown", "has no model"),
    Broken("model.down", "model", "model.unreachable", "nothing answers"),
    Broken("model.slow", "model", "model.slow", "did not answer within"),
    Broken("model.html", "model", "model.no_api", "gives no answer"),
    Broken("model.tools", "model", "model.no_tools", "refuses tools", "warning"),
    Broken("budget.price", "settings", "model.price_unknown", "sets no limit", "warning"),
    Broken("model.window", "model", "model.window_too_small", "context"),
    # the machine
    Broken("clock.platform", "clock", "clock.wrong", "ahead of the servers'", "warning"),
    Broken("clock.model", "clock", "clock.wrong", "ahead of the servers'", "warning"),
    Broken("port", "port", "port.in_use", "Address already in use"),
    Broken("port.exposed", "port", "port.open", "can be reached from other machines"),
    Broken("instance", "gateway", "gateway.unclear", "holds the lock", "warning"),
    Broken("instance.database", "database", "database.shared", "another gateway"),
    Broken("gateway.silent", "gateway", "gateway.silent", "does not answer"),
    Broken("gateway.store", "gateway", "gateway.store_away", "the disk is full"),
    Broken("channel.stalled", "gateway", "channel.stalled", "heard nothing for 400"),
    Broken("channel.unfit", "gateway", "channel.unfit", "the token is refused"),
    Broken("channel.down", "gateway", "channel.down", "telegram"),
    # plugins
    Broken("plugin.import", "plugins", "plugin.not_loaded", "no such thing"),
    Broken("plugin.signature", "plugins", "plugin.not_loaded", "resolve_session"),
    Broken("plugin.hook", "plugins", "plugin.faulty", "provide_tools raised", "warning"),
    Broken("plugin.exit", "plugins", "plugin.crashed", "exit code 7"),
)

PLATFORMS: Final = (
    # tokens
    Broken("telegram.revoked", "telegram.token", "telegram.token_refused", "not know this token"),
    Broken("discord.reset", "discord.token", "discord.token_refused", "accept this token"),
    Broken("slack.bot_revoked", "slack.bot_token", "slack.bot_token_refused", "this bot token"),
    Broken("slack.app_scope", "slack.app_token", "slack.app_token_refused", "connections:write"),
    Broken("telegram.misplaced", "telegram.token", "telegram.wrong_token", "a Discord bot token"),
    Broken("discord.misplaced", "discord.token", "discord.wrong_token", "a Telegram bot token"),
    Broken("slack.misplaced", "slack.tokens", "slack.wrong_token", "TAPEWAY_SLACK__APP_TOKEN"),
    Broken("slack.no_way_in", "slack.tokens", "slack.no_way_in", "events cannot come in"),
    # switches and rights
    Broken("telegram.privacy", "telegram.privacy", "telegram.privacy_mode", "is on", "warning"),
    Broken("telegram.groups", "telegram.groups", "telegram.no_groups", "off", "warning"),
    Broken("discord.intent", "discord.intents", "discord.no_message_content", "is off"),
    Broken(
        "discord.permission",
        "discord.servers",
        "discord.no_permission",
        "Harbour lacks Send Messages",
        "warning",
    ),
    Broken("discord.no_server", "discord.servers", "discord.no_server", "no server", "warning"),
    Broken("discord.code_grant", "discord.invite", "discord.code_grant", "Code Grant is on"),
    Broken("discord.commands", "discord.commands", "discord.commands_elsewhere", "Endpoint URL"),
    Broken("slack.scopes", "slack.scopes", "slack.no_scope", "files:read"),
    Broken("slack.no_channel", "slack.channels", "slack.no_channel", "in no channel", "warning"),
    # the way
    Broken(
        "telegram.webhook_elsewhere",
        "telegram.webhook",
        "telegram.webhook_elsewhere",
        "elsewhere.example",
        "warning",
    ),
    Broken(
        "telegram.webhook_fails", "telegram.webhook", "telegram.webhook_fails", "Connection failed"
    ),
    Broken("telegram.limited", "telegram.token", "telegram.limited", "30 s", "warning"),
    Broken("discord.sessions", "discord.sessions", "discord.no_sessions", "0 new connections"),
    Broken("telegram.unreachable", "telegram.token", "telegram.unreachable", "Connection refused"),
    Broken("discord.proxy", "discord.token", "discord.proxy", "Connection refused"),
    Broken("slack.tls", "slack.bot_token", "slack.tls", "127.0.0.1"),
)

FORTY: Final = (*GATEWAY, *PLATFORMS)
