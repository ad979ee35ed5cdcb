"""What each HTTP route does; a test holds the list to the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[tuple[str, str], str]] = {
    ("GET", "/"): "The page.",
    ("GET", "/static/{name}"): "The page's files.",
    ("GET", "/health/live"): "Always `200` while the process runs.",
    ("GET", "/health/ready"): "The state of the channels and the database: `200` if all are ready,"
    " otherwise `503`. Only the owner sees the reasons.",
    ("GET", "/metrics"): "The [metrics](metrics.md); a port of their own is for who reaches it.",
    ("GET", "/login"): "The login form.",
    ("POST", "/login"): "Logs in with the access token.",
    ("POST", "/login/code"): "Logs in with the code of a link or an invitation.",
    ("POST", "/api/session/end"): "Logs out.",
    ("GET", "/api/sessions"): "The open sessions.",
    ("POST", "/api/sessions/end"): "Ends the sessions of one person.",
    ("POST", "/api/codes"): "Makes a single-use link for the owner.",
    ("POST", "/api/invitations"): "Makes an invitation to one room.",
    ("POST", "/api/invitations/withdraw"): "Withdraws an invitation.",
    ("GET", "/api/rooms/{room}/events"): "The stream of what happens in a room.",
    ("GET", "/api/rooms/{room}/commands"): "The commands that one may use there.",
    ("GET", "/api/rooms/{room}/track"): "The lanes of its newest messages, and its checkpoints.",
    ("GET", "/api/rooms/{room}/why"): "What an answer was made of, in figures.",
    ("POST", "/api/rooms/{room}/messages"): "Posts a message.",
    ("POST", "/api/rooms/{room}/stop"): "Stops an answer.",
    ("POST", "/api/rooms/{room}/press"): "Presses a button below a message.",
    ("GET", "/api/terminal/{room}/events"): "The same for `tapeway chat`.",
    ("GET", "/api/terminal/{room}/commands"): "The same for `tapeway chat`.",
    ("GET", "/api/terminal/{room}/track"): "The same for `tapeway chat`.",
    ("GET", "/api/terminal/{room}/why"): "The same for `tapeway chat`.",
    ("POST", "/api/terminal/{room}/messages"): "The same for `tapeway chat`.",
    ("POST", "/api/terminal/{room}/stop"): "The same for `tapeway chat`.",
    ("POST", "/api/terminal/{room}/press"): "The same for `tapeway chat`.",
    ("GET", "/api/access"): "Who may talk to the agent, and what waits to be opened.",
    ("POST", "/api/access/grant"): "Opens a chat, or gives a person a role.",
    ("POST", "/api/access/revoke"): "Closes a chat, or takes a person's role.",
    ("POST", "/api/access/pair"): "Makes a pairing code.",
    ("GET", "/api/ledger"): "The newest rows of the inbox and the outbox.",
    ("GET", "/api/ledger/{row}"): "One row.",
    ("POST", "/api/ledger/{row}/retry"): "Answers a question, or sends a message, again.",
    ("POST", "/api/ledger/{row}/drop"): "Drops a row.",
    ("POST", "/api/ledger/resume"): "Lets rows go on that are held since a restore.",
    ("GET", "/api/usage"): "Tokens and money used.",
    ("GET", "/api/explain"): "What happened to a message, and why.",
    ("GET", "/api/console/why/{id}"): "The way of a message of the inbox, joint by joint.",
    ("GET", "/api/console/chats/{chat}/entries/{entry}/why"): (
        "The message that an entry is, or that its turn answers."
    ),
    ("GET", "/api/console/chats/{chat}/turns/{turn}"): (
        "What a model was shown in a call of a turn, by origin."
    ),
    ("GET", "/api/console/chats/{chat}/turns/{turn}/models"): (
        "The models that can be asked again, and about what that costs."
    ),
    ("POST", "/api/console/chats/{chat}/turns/{turn}/again"): (
        "Asks a model again, on a fork, without tools; nothing is sent."
    ),
    ("GET", "/api/tapes"): "The tapes.",
    ("POST", "/api/tapes/find"): "The tape of a session or of the start of a name.",
    ("POST", "/api/tapes/entries"): "A tape's entries that meet some conditions.",
    ("POST", "/api/tapes/search"): "Searches a tape.",
    ("POST", "/api/tapes/prompts"): "The prompts of a turn's model calls.",
    ("GET", "/api/tapes/index"): "The state of the word index.",
    ("POST", "/api/tapes/index"): "Rebuilds the word index.",
    ("POST", "/api/tapes/rewind"): "Goes back to an anchor.",
    ("POST", "/api/tapes/import"): "Imports a file of entries, sent as the body.",
    ("POST", "/api/erasures"): "Begins to erase a message, a person or a chat.",
    ("GET", "/api/erasures"): "What may still mention erased messages.",
    ("GET", "/api/erasures/{name}"): "How far an erasure has come.",
    ("POST", "/webhooks/telegram"): "Telegram's updates, if a webhook is set.",
    ("POST", "/slack/events"): "Slack's events and interactions, without Socket Mode.",
    ("GET", "/slack/install"): "Begins the installation in another workspace.",
    ("GET", "/slack/oauth"): "Ends it; Slack sends the browser here.",
}
