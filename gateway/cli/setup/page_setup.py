"""The model that the owner of the page chooses there: it answers one call before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from anyio.to_thread import run_sync
from pydantic import ValidationError
from starlette.requests import Request
from starlette.routing import BaseRoute

from agent.models.offline import OFFLINE
from gateway.cli.setup.changes import Changes
from gateway.cli.setup.model_step import ModelChoice, agent_with, probed, whole
from gateway.cli.setup.providers import BY_NAME, KNOWN, LOCAL, find_providers
from gateway.errors import AdminError, SettingsError
from gateway.http.json_route import json_body, json_route
from gateway.settings import Settings, load_with_sources
from gateway.settings.files import settings_files

ELSEWHERE = (
    "Several processes share this database, and each has settings of its own: set"
    " TAPEWAY_AGENT__MODEL and TAPEWAY_AGENT__API_KEY for all of them"
)


class PageSetup:
    """Tries a model, writes it into the settings' files, and has the gateway start again.

    changed  set once a model was written; the gateway that still runs has the old settings
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._writing = anyio.Lock()
        self.changed = anyio.Event()

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the page's button, which are for the owner."""
        return [
            json_route("/api/model", self._servers),
            json_route("/api/model", self._take, "POST"),
        ]

    async def _servers(self, _request: Request) -> list[dict[str, Any]]:
        """Return the servers to choose from."""
        found = await run_sync(lambda: list(find_providers(self._environ)))
        usable = {one.provider.name: one for one in found}
        return [
            {
                "name": one.name,
                "title": one.title,
                "model": usable[one.name].model if one.name in usable else one.model,
                "needs_key": bool(one.variable) and one.name not in usable,
            }
            for one in (*KNOWN, *LOCAL)
            if one.variable or one.name in usable
        ]

    async def _take(self, request: Request) -> dict[str, str]:
        """Try a model, and write it into the settings unless it does not answer."""
        body = await json_body(request)
        names = ("server", "address", "model", "key")
        given = [str(body.get(name) or "").strip() for name in names]
        async with self._writing:
            loaded = await run_sync(load_with_sources, self._environ)
            if loaded.settings.tape_url.startswith("postgres"):
                raise AdminError(ELSEWHERE)
            choice = self._choice(*given)
            changes = Changes(settings_files(self._environ), loaded)
            choice.put_into(changes)
            for sentence in changes.overruled():
                raise AdminError(sentence)
            said = await self._try(choice, loaded.settings, changes)
            await run_sync(_write, changes)
            self.changed.set()
            return {"said": said}

    def _choice(self, server: str, address: str, model: str, key: str) -> ModelChoice:
        if not model or model == OFFLINE:
            raise AdminError("Name a model, such as gpt-5-mini")
        if server in BY_NAME:
            known = BY_NAME[server]
            key = key or self._environ.get(known.variable, "").strip()
            if known.variable and not key:
                raise AdminError(f"Enter your API key for {known.title}")
            return whole(ModelChoice(model, known.base_url, key), self._environ)
        if not address:
            raise AdminError("Enter the server's address, such as http://127.0.0.1:11434/v1")
        return whole(ModelChoice(model, address, key), self._environ)

    async def _try(self, choice: ModelChoice, settings: Settings, changes: Changes) -> str:
        """Ask the model for a word, and return how fast it answered; raises AdminError."""
        try:
            finding = await probed(agent_with(settings, choice), settings)
        except ValidationError as cause:
            # What the user typed is in the error's other fields, the key included.
            problem = cause.errors(include_url=False, include_input=False)[0]["msg"]
            raise AdminError(problem.removeprefix("Value error, ")) from None
        sentence = changes.redactor.line(finding.sentence)
        if not finding.well:
            raise AdminError(sentence)
        return sentence


def _write(changes: Changes) -> None:
    try:
        changes.write()
    except (OSError, SettingsError) as cause:
        raise AdminError(f"The settings cannot be written: {cause}") from cause
