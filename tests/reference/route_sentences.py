"""What each HTTP route does; a test holds the list to the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[tuple[str, str], str]] = {
    ("GET", "/"): "The page.",
    ("GET", "/static/{name:path}"): "The page's files.",
    ("GET", "/health/live"): "Always `200` while the process runs.",
    ("GET", "/health/serving"): "`200` if requests can be answered, `503` while the database is"
    " away: for balancers. A channel that is not ready changes nothing.",
    ("GET", "/health/ready"): "The state of the channels and the database: `200` if all are ready,"
    " otherwise `503`. Only the owner sees the reasons.",
    ("GET", "/metrics"): "The [metrics](metrics.md); a port of their own is for who reaches it.",
    ("GET", "/login"): "The login form.",
    ("POST", "/login"): "Logs in with the access token.",
    ("POST", "/login/code"): "Logs in with the code of a link or an invitation.",
    ("GET", "/login/guest"): 'The path of the page of the guest whose browser asks, or `""`.',
    ("POST", "/api/session/end"): "Logs out.",
    ("GET", "/api/sessions"): "The open sessions.",
    ("POST", "/api/sessions/end"): "Ends the sessions of one person.",
    ("POST", "/api/codes"): "Makes a single-use link for the owner.",
    ("POST", "/api/invitations"): "Makes an invitation to one room.",
    ("POST", "/api/invitations/withdraw"): "Withdraws an invitation.",
    ("GET", "/api/rooms"): "Rooms with their titles: the owner's 200 newest, or a member's own.",
    ("POST", "/api/rooms/{room}/title"): "Gives a room a title, or takes it.",
    ("GET", "/api/rooms/{room}/events"): "The stream of what happens in a room.",
    ("GET", "/api/rooms/{room}/messages/{message}/images/{number:int}"): "An image of a message.",
    ("GET", "/api/rooms/{room}/answers/{answer}/images/{number:int}"): "An image to which an answer"
    " links, fetched by the gateway.",
    ("GET", "/api/rooms/{room}/commands"): "The commands that one may use there.",
    ("GET", "/api/rooms/{room}/track"): "The lanes of its newest messages, and its checkpoints.",
    ("GET", "/api/rooms/{room}/why"): "What an answer was made of, in figures.",
    ("POST", "/api/rooms/{room}/messages"): "Posts a message.",
    ("POST", "/api/rooms/{room}/reactions"): "Says what one thinks of an answer, or takes it back.",
    ("POST", "/api/rooms/{room}/stop"): "Stops an answer.",
    ("POST", "/api/rooms/{room}/press"): "Presses a button below a message.",
    ("GET", "/api/terminal/{room}/events"): "The same for `tapeway chat`.",
    ("GET", "/api/terminal/{room}/commands"): "The same for `tapeway chat`.",
    ("GET", "/api/terminal/{room}/track"): "The same for `tapeway chat`.",
    ("GET", "/api/terminal/{room}/why"): "The same for `tapeway chat`.",
    ("POST", "/api/terminal/{room}/messages"): "The same for `tapeway chat`.",
    ("POST", "/api/terminal/{room}/stop"): "The same for `tapeway chat`.",
    ("POST", "/api/terminal/{room}/press"): "The same for `tapeway chat`.",
    ("GET", "/console"): "The page of the [console](../how-to/console.md).",
    ("GET", "/console/assets/{name:path}"): "The console's files.",
    ("POST", "/console/code"): "Enters the console with the code of a link.",
    ("POST", "/console/link"): "Trades a read-only link for a cookie of one tape.",
    ("GET", "/api/console/links"): "The read-only links to the chats that one sees.",
    ("POST", "/api/console/links"): "Makes a read-only link to a tape.",
    ("POST", "/api/console/links/{link}/revoke"): "Ends a read-only link.",
    ("GET", "/api/console/tape/{chat}/reader"): "For readers with a link to the tape: until when it"
    " works, and the tape's size.",
    ("GET", "/api/console/me"): "Who looks at the console, and with which role.",
    ("POST", "/api/console/leave"): "Ends the console's own session.",
    ("GET", "/api/console/live"): "The stream of what changes: names and numbers, no words.",
    ("GET", "/api/console/deck"): "The chats, sorted by what needs somebody.",
    ("GET", "/api/console/chats"): "The names of the chats.",
    ("GET", "/api/console/chats/{chat}"): "What a chat is; opening a private one is recorded.",
    ("GET", "/api/console/ledger"): "What failed, waits or is held.",
    ("POST", "/api/console/ledger/{row}/retry"): "Answers, or sends, again.",
    ("POST", "/api/console/ledger/{row}/drop"): "Drops a row.",
    ("GET", "/api/console/channels"): "The channels, their limits, and what is missing.",
    ("GET", "/api/console/people"): "Roles, requests, and what people used today.",
    ("POST", "/api/console/people/grant"): "Opens a chat, or gives a person a role.",
    ("POST", "/api/console/people/revoke"): "Closes a chat, or takes a person's role.",
    ("POST", "/api/console/people/pair"): "Makes a pairing code, for the instance's owner.",
    ("POST", "/api/console/people/erase"): "Begins to erase a person, a chat or a message.",
    ("GET", "/api/console/people/erasures/{name}"): "How far an erasure has come.",
    ("POST", "/api/console/people/sessions/{session}/end"): "Ends somebody's session of the"
    " console, for an owner of their account.",
    ("GET", "/api/console/money"): "What was used, by day, chat, person or model.",
    ("GET", "/api/console/money.csv"): "The same as a CSV file.",
    ("GET", "/api/console/tape/{chat}"): "A tape in a few hundred bins of counts; also for"
    " readers with a link to it.",
    ("GET", "/api/console/tape/{chat}/page"): "A page of a tape: after or before an entry, or at"
    " a date; also for readers with a link to it.",
    ("GET", "/api/console/tape/{chat}/changed"): "What was deleted, edited or erased since an"
    " entry; also for readers with a link to the tape.",
    ("GET", "/api/console/tape/{chat}/chapter"): "The chapter before or after an entry; also for"
    " readers with a link to the tape.",
    ("GET", "/api/console/tape/{chat}/chapter/{anchor:int}.{form}"): "What was said in a chapter,"
    " as Markdown (`md`) or as one page of HTML.",
    ("GET", "/api/console/tape/{chat}/lanes"): "The busiest lanes of a part of a tape; also for"
    " readers with a link to it.",
    ("GET", "/api/console/tape/{chat}/names"): "Who began conversations, and how; also for"
    " readers with a link.",
    ("GET", "/api/console/tape/{chat}/search"): "What was found on a tape.",
    ("GET", "/api/console/tape/{chat}/room"): "A room as it was at a date.",
    ("GET", "/api/console/tape/{chat}/steps"): "What happened after an entry, for the replay.",
    ("GET", "/api/console/settings"): "The settings in force, for the instance's owner.",
    ("POST", "/api/console/settings/{part}/try"): "Tries a model or a bot's tokens, for the"
    " instance's owner; nothing is written.",
    ("POST", "/api/console/settings/{part}/remove"): "Removes a channel's saved tokens, and stops"
    " that channel, for the instance's owner.",
    ("POST", "/api/console/settings/{part}"): "Tries a model or a bot's tokens, saves them, and"
    " restarts that model or channel, for the instance's owner.",
    ("GET", "/api/access"): "Who may talk to the agent, and what waits to be opened.",
    ("POST", "/api/access/grant"): "Opens a chat, or gives a person a role.",
    ("POST", "/api/access/revoke"): "Closes a chat, or takes a person's role.",
    ("POST", "/api/access/pair"): "Makes a pairing code.",
    ("GET", "/api/model"): "The servers that a model can be chosen from.",
    ("POST", "/api/model"): "Tries a model, saves it in the settings, and answers with it.",
    ("GET", "/api/ledger"): "The newest rows of the inbox and the outbox.",
    ("GET", "/api/ledger/{row}"): "One row.",
    ("POST", "/api/ledger/{row}/retry"): "Answers a question, or sends a message, again.",
    ("POST", "/api/ledger/{row}/drop"): "Drops a row.",
    ("POST", "/api/ledger/resume"): "Lets rows go on that are held since a restore.",
    ("GET", "/api/usage"): "Tokens and money used.",
    ("GET", "/api/explain"): "What happened to a message, and why.",
    ("GET", "/api/console/messages"): "Finds messages, by their words, chat, author and time.",
    ("GET", "/api/console/why/{id}"): "The way of a message of the inbox, step by step.",
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
