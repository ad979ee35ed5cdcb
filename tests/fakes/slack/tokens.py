"""Who may ask the fake Slack for what: tokens of workspaces and of the app."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.rules import Refusal
from tests.fakes.slack.world import APP_ID, Workspace, World


@dataclass(slots=True)
class Tokens:
    """Resolve tokens; `oauth_codes` are those that oauth.v2.access takes, once each.

    `app_refused` is what the app's own token is refused with; "" while it is good.
    """

    world: World
    app_token: str
    client_id: str
    client_secret: str
    app_scopes: set[str] = field(default_factory=lambda: {"connections:write"})
    app_refused: str = ""
    oauth_codes: dict[str, Workspace] = field(default_factory=dict)

    def workspace(self, token: str | None) -> Workspace:
        """Return the workspace of a bot's token; raises Refusal."""
        if not token:
            raise Refusal("not_authed")
        if token == self.app_token:
            raise Refusal("not_allowed_token_type")
        for place in self.world.workspaces.values():
            if place.bot_token == token:
                if place.refused:
                    raise Refusal(place.refused)
                return place
        raise Refusal("invalid_auth")

    def check_app_token(self, token: str | None) -> None:
        """Accept the app's own token for Socket Mode; raises Refusal."""
        if not token:
            raise Refusal("not_authed")
        if token != self.app_token:
            known = any(token == it.bot_token for it in self.world.workspaces.values())
            raise Refusal("not_allowed_token_type" if known else "invalid_auth")
        if self.app_refused:
            raise Refusal(self.app_refused)
        if "connections:write" not in self.app_scopes:
            provided = ",".join(sorted(self.app_scopes))
            raise Refusal("missing_scope", needed="connections:write", provided=provided)

    def install(self, params: JsonObject, head: str, scopes: set[str]) -> JsonObject:
        """Give the token of a workspace for a code; raises Refusal."""
        given = (params.get("client_id"), params.get("client_secret"))
        if head.startswith("Basic "):
            name, _, secret = base64.b64decode(head.removeprefix("Basic ")).decode().partition(":")
            given = (name, secret)
        if given[0] != self.client_id:
            raise Refusal("invalid_client_id")
        if given[1] != self.client_secret:
            raise Refusal("bad_client_secret")
        place = self.oauth_codes.pop(str(params.get("code")), None)
        if place is None:
            raise Refusal("invalid_code")
        place.installed, place.refused = True, ""
        return {
            "access_token": place.bot_token,
            "token_type": "bot",
            "scope": ",".join(sorted(scopes)),
            "bot_user_id": place.bot.id,
            "app_id": APP_ID,
            "team": None if place.org else {"name": place.name, "id": place.team_id},
            "enterprise": {"name": place.name, "id": place.org} if place.org else None,
            "authed_user": {"id": place.bot.id},
            "is_enterprise_install": bool(place.org),
        }
