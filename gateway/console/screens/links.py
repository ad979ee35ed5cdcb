"""Read-only links to tapes: owners and admins make, list and revoke them; readers follow them."""

from __future__ import annotations

from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.access.administrators import RightsUnknown
from gateway.access.console_links import TapeLink
from gateway.console.answers import console_route
from gateway.console.chats import session_of_key
from gateway.console.entrance import LINK_ENDED
from gateway.console.parts import ConsoleParts
from gateway.console.rights import NO_CHAT, Rights
from gateway.console.visitor import Visitor
from gateway.http.json_route import json_body
from gateway.logs import get_log
from tape.entry import dump
from tape.unit_of_work import Row

NOT_SHARED: Final = "Only the person of a private chat or thread can make a link to it."
NO_LINK: Final = "There is no such link, or you may not see its chat."


class LinksScreen:
    """Makes, lists and revokes links, and says to a reader's page that its link still holds."""

    def __init__(self, parts: ConsoleParts, rights: Rights) -> None:
        self._parts = parts
        self._rights = rights

    def routes(self) -> list[BaseRoute]:
        return [
            console_route("/links", self._listed),
            console_route("/links", self._make, "POST"),
            console_route("/links/{link}/revoke", self._revoke, "POST"),
            console_route("/tape/{chat}/reader", self._reader),
        ]

    async def _listed(self, request: Request) -> Any:
        """Return the links to the chats that somebody sees, or to `?chat=`, at most MAX_LISTED."""
        visitor = await self._rights.visitor(request)
        if "chat" in request.query_params:
            session_id = session_of_key(request.query_params["chat"])
            found = await visitor.chat(session_id)
            if found is None:
                raise HTTPException(404, NO_CHAT)
            chats, scope = [found], {"every": 0, "sessions": dump([session_id])}
            may = await visitor.may_share(found)
        else:
            chats, scope, may = await visitor.chats(), await visitor.scope(), False
        known = {chat.session_id: chat for chat in chats}
        rows = await self._parts.links.listed(scope)
        links = [
            {
                "chat": known[row["session_id"]].key,
                "title": known[row["session_id"]].title,
                **await self._shown(row, visitor),
            }
            for row in rows
            if row["session_id"] in known
        ]
        return {"links": links, "may": may}

    async def _shown(self, row: Row, visitor: Visitor) -> dict[str, Any]:
        """Return what is shown of a link; its state is open, revoked, ended, lost or unsure.

        A lost one is refused because its maker may no longer show the chat, an unsure one while
        their platform does not say whether they may.
        """
        link, state = TapeLink.read(row), "revoked" if row["revoked_at"] else "ended"
        if row["usable"]:
            try:
                state = "open" if await self._rights.reader_of(link) else "lost"
            except RightsUnknown:
                state = "unsure"
        maker, named = link.maker, self._parts.access.named
        person = f"{maker.channel}:{maker.person}"
        return {
            "link": link.link_id,
            "by": person,
            "name": named(maker.channel, maker.account, maker.person),
            "holder": link.by_holder,
            "own": person == visitor.person,
            "made": row["made_at"],
            "until": link.expires_at,
            "opened": row["opened"],
            "state": state,
            "revoked": row["revoked_at"],
            "revoker": row["revoked_by"],
            "revoked_by_you": row["revoked_by"] == visitor.person,
        }

    async def _make(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        body = await json_body(request)
        chat = await visitor.chat(session_of_key(str(body.get("chat") or "")[:1000]))
        if chat is None:
            raise HTTPException(404, NO_CHAT)
        if not await visitor.may_share(chat):
            raise HTTPException(403, NOT_SHARED)
        secret, link = await self._parts.links.make(
            chat.session_id, visitor.person, visitor.guest, body.get("hours")
        )
        get_log().info(
            "console.link_made",
            person=visitor.person,
            chat=chat.session_id,
            link=link.link_id,
            until=link.expires_at,
        )
        # Without a public address, the page makes the link of the address at which it was opened.
        public = self._parts.services.settings.http.public_url
        return {
            "link": link.link_id,
            "secret": secret,
            "page": f"{public}console" if public else "",
        }

    async def _revoke(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        link_id = request.path_params["link"]
        session_id = await self._parts.links.chat_of(link_id)
        if session_id is None or not await visitor.sees_chat(session_id):
            raise HTTPException(404, NO_LINK)
        revoked = await self._parts.links.revoke(link_id, visitor.person)
        if revoked:
            get_log().info(
                "console.link_revoked", person=visitor.person, chat=session_id, link=link_id
            )
        return {"revoked": revoked}

    async def _reader(self, request: Request) -> Any:
        """Return what a reader's page follows; raises HTTPException 403 if the link has ended."""
        reader = await self._rights.reader(request)
        if reader is None:
            raise HTTPException(403, LINK_ENDED)
        return {
            "agent": self._parts.services.settings.agent.name,
            "until": reader.link.expires_at,
            "size": await self._parts.reads.size(reader.chat.tape),
        }
