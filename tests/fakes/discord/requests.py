"""The requests of the fake Discord: which route one is of, and what it brings along."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote

import orjson

from tests.fakes.base.http import JsonObject, Request
from tests.fakes.base.params import UnreadableRequest, Upload, params_of
from tests.fakes.discord.rules import Refusal

_CHANNEL: Final = "/channels/{channel_id}"
_MESSAGE: Final = _CHANNEL + "/messages/{message_id}"
_HOOK: Final = "/webhooks/{application_id}/{token}"
_COMMANDS: Final = "/applications/{application_id}/commands"
_GUILD_COMMANDS: Final = "/applications/{application_id}/guilds/{guild_id}/commands"

# What a kind of request is called, its method, and its path after /api/v10.
ROUTES: Final = (
    ("me", "GET", "/users/@me"),
    ("user", "GET", "/users/{user_id}"),
    ("dm", "POST", "/users/@me/channels"),
    ("own_guilds", "GET", "/users/@me/guilds"),
    ("gateway", "GET", "/gateway"),
    ("gateway_bot", "GET", "/gateway/bot"),
    ("application", "GET", "/applications/@me"),
    ("application", "GET", "/oauth2/applications/@me"),
    ("channel", "GET", _CHANNEL),
    ("edit_channel", "PATCH", _CHANNEL),
    ("typing", "POST", _CHANNEL + "/typing"),
    ("history", "GET", _CHANNEL + "/messages"),
    ("post", "POST", _CHANNEL + "/messages"),
    ("bulk_delete", "POST", _CHANNEL + "/messages/bulk-delete"),
    ("message", "GET", _MESSAGE),
    ("edit", "PATCH", _MESSAGE),
    ("delete", "DELETE", _MESSAGE),
    ("react", "PUT", _MESSAGE + "/reactions/{emoji}/@me"),
    ("unreact", "DELETE", _MESSAGE + "/reactions/{emoji}/@me"),
    ("message_thread", "POST", _MESSAGE + "/threads"),
    ("start_thread", "POST", _CHANNEL + "/threads"),
    ("join_thread", "PUT", _CHANNEL + "/thread-members/@me"),
    ("leave_thread", "DELETE", _CHANNEL + "/thread-members/@me"),
    ("thread_member", "GET", _CHANNEL + "/thread-members/{user_id}"),
    ("archived", "GET", _CHANNEL + "/threads/archived/public"),
    ("archived_private", "GET", _CHANNEL + "/threads/archived/private"),
    ("joined_private", "GET", _CHANNEL + "/users/@me/threads/archived/private"),
    ("guild", "GET", "/guilds/{guild_id}"),
    ("guild_channels", "GET", "/guilds/{guild_id}/channels"),
    ("guild_roles", "GET", "/guilds/{guild_id}/roles"),
    ("active_threads", "GET", "/guilds/{guild_id}/threads/active"),
    ("members", "GET", "/guilds/{guild_id}/members"),
    ("member", "GET", "/guilds/{guild_id}/members/{user_id}"),
    ("leave_guild", "DELETE", "/users/@me/guilds/{guild_id}"),
    ("commands", "GET", _COMMANDS),
    ("commands", "GET", _GUILD_COMMANDS),
    ("put_commands", "PUT", _COMMANDS),
    ("put_commands", "PUT", _GUILD_COMMANDS),
    ("post_command", "POST", _COMMANDS),
    ("post_command", "POST", _GUILD_COMMANDS),
    ("callback", "POST", "/interactions/{interaction_id}/{token}/callback"),
    ("followup", "POST", _HOOK),
    ("original", "GET", _HOOK + "/messages/@original"),
    ("edit_original", "PATCH", _HOOK + "/messages/@original"),
    ("delete_original", "DELETE", _HOOK + "/messages/@original"),
    ("followup_message", "GET", _HOOK + "/messages/{message_id}"),
    ("edit_followup", "PATCH", _HOOK + "/messages/{message_id}"),
    ("delete_followup", "DELETE", _HOOK + "/messages/{message_id}"),
)

WITHOUT_TOKEN: Final = frozenset(
    {
        "gateway",
        "callback",
        "followup",
        "original",
        "edit_original",
        "delete_original",
        "followup_message",
        "edit_followup",
        "delete_followup",
    }
)
"""The kinds that are let in by what stands in their path."""

_PATTERNS: Final = [
    (kind, verb, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)))
    for kind, verb, path in ROUTES
]


@dataclass(slots=True)
class Call:
    """Hold one request, in the order they came.

    `kind` names its route, "" for one that does not exist; `ids` are the parts of its path.
    `status` is None as long as it has no answer, and when the fake hung up; `ok` tells whether it
    had its effect. `message_id` is the message sent or edited.
    """

    kind: str
    verb: str
    path: str
    at: float
    ids: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    params: JsonObject = field(default_factory=dict)
    files: list[Upload] = field(default_factory=list)
    ok: bool = False
    status: int | None = None
    error_code: int | None = None
    description: str = ""
    message_id: int | None = None

    @property
    def channel_id(self) -> int | None:
        """Return the channel that it is about."""
        text = self.ids.get("channel_id", "")
        return int(text) if text.isdecimal() else None

    @property
    def major(self) -> object:
        """Return what its rate limit is counted by: the channel, the guild or the webhook."""
        ids = self.ids
        return ids.get("channel_id") or ids.get("guild_id") or ids.get("token")


def call_of(request: Request, path: str, at: float) -> Call:
    """Return the request of a path that begins after /api/v10."""
    call = Call("", request.verb, path, at)
    call.query = dict(parse_qsl(request.target.partition("?")[2], keep_blank_values=True))
    for kind, verb, pattern in _PATTERNS:
        found = pattern.fullmatch(path)
        if found is not None and verb == request.verb:
            call.kind = kind
            call.ids = {name: unquote(value) for name, value in found.groupdict().items()}
            return call
    return call


def known_path(path: str) -> bool:
    """Return whether a path exists, whatever the method."""
    return any(pattern.fullmatch(path) for _kind, _verb, pattern in _PATTERNS)


def read_body(call: Call, request: Request) -> None:
    """Read a request's JSON, or its form with files.

    Raises Refusal.
    """
    if not request.body:
        return
    kind = request.headers.get("content-type", "")
    if kind.startswith("multipart/form-data"):
        _read_form(call, request)
        return
    if kind.partition(";")[0].strip() != "application/json":
        raise Refusal(400, 0, "Expected \"Content-Type\" header to be one of {'application/json'}.")
    try:
        found = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise _no_json() from error
    if isinstance(found, list):
        call.params = {"_list": found}
    elif isinstance(found, dict):
        call.params = found
    else:
        raise _no_json()


def _read_form(call: Call, request: Request) -> None:
    plain = Request(request.verb, "/", request.headers, request.body)
    try:
        found = params_of(plain)
    except UnreadableRequest as error:
        raise _no_json() from error
    payload = found.get("payload_json", {})
    if not isinstance(payload, dict):
        raise _no_json()
    call.params = payload
    call.files = [value for value in found.values() if isinstance(value, Upload)]


def _no_json() -> Refusal:
    return Refusal(400, 50109, "The request body contains invalid JSON.")
