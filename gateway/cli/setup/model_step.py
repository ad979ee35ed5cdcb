"""The step that chooses a model, and has it answer one call before it is saved."""

from __future__ import annotations

import os

import anyio
from pydantic import ValidationError

from agent.models.offline import OFFLINE
from gateway.cli.setup.options import InitOptions
from gateway.cli.setup.terminal import Terminal, say
from gateway.errors import SettingsError
from gateway.settings import LoadedSettings
from gateway.setup.changes import Changes
from gateway.setup.for_one_server import kept_for_the_server, server_of
from gateway.setup.model_choice import ModelChoice, agent_with, probed, whole
from gateway.setup.providers import BY_NAME, KNOWN, Found, Provider, find_providers


class ModelStep:
    """Chooses the model by flags or questions."""

    def __init__(self, loaded: LoadedSettings, options: InitOptions, terminal: Terminal) -> None:
        self._loaded = loaded
        self._settings = loaded.settings
        self._options = options
        self._terminal = terminal

    def run(self, changes: Changes, *, keep: bool) -> str:
        """Put a model that answers into the changes, and return its name.

        `keep` leaves it as it is unless a flag names one.
        """
        given = (self._options.provider, self._options.model, self._options.base_url)
        if keep and not any(given) and self._options.api_key is None:
            say(f"{self._settings.agent.model} stays as it is.")
            return self._settings.agent.model
        while True:
            chosen = self._choose()
            if chosen is None:
                return self._settings.agent.model
            choice = whole(chosen, os.environ)
            changes.redactor.learn(choice.key)
            if choice.model == OFFLINE or self._accepts(choice):
                break
        choice.put_into(changes, self._settings.agent.key())
        return choice.model

    def _accepts(self, choice: ModelChoice) -> bool:
        """Ask the model for a word; return whether to go on with it."""
        try:
            wanted = agent_with(self._settings, choice)
        except ValidationError as cause:
            # Saved, it would stop every start.
            problem = cause.errors()[0]["msg"].removeprefix("Value error, ")
            return self._terminal.refuse(problem, "--base-url or --api-key")
        self._keep_from_others(choice)
        say(f"Asking {choice.model} for a word ...")
        finding = anyio.run(probed, wanted, self._settings)
        say(f"{'ok' if finding.well else '!!'}  {finding.sentence}.")
        if finding.well or self._options.save_anyway:
            return True
        if not self._terminal.asks:
            raise SettingsError(
                "the model does not answer, so nothing was written: correct --model, --base-url or"
                " --api-key, or save it all the same with --save-anyway"
            )
        return self._terminal.choose("Try again?", {"t": "try again", "s": "save it"}, "t") == "s"

    def _keep_from_others(self, choice: ModelChoice) -> None:
        """Raise SettingsError if another server would get what was meant for the present one."""
        known = self._loaded.settings
        section = known.models.get(choice.model)
        server = choice.base_url or (section.base_url if section else "")
        if server != server_of(known):
            for sentence in kept_for_the_server(self._loaded):
                raise SettingsError(f"{sentence}; nothing was written")

    def _choose(self) -> ModelChoice | None:
        """Return the model that flags or answers choose, or None to keep the one in use."""
        options, terminal = self._options, self._terminal
        key = options.secret("api_key")
        if options.model == OFFLINE:
            return ModelChoice(OFFLINE)
        if options.provider:
            return self._of_provider(_provider(options.provider), key)
        if options.base_url is not None or options.model is not None or not terminal.asks:
            agent = self._settings.agent
            known = options.base_url is None and options.api_key is None
            base_url = agent.base_url if known else options.base_url or ""
            default = None if agent.model == OFFLINE else agent.model
            model = options.model or terminal.ask("The model's name", "--model", default)
            return ModelChoice(
                model, base_url, (agent.key() if known else "") if key is None else key
            )
        return self._from_menu(key)

    def _from_menu(self, key: str | None) -> ModelChoice | None:
        found = list(find_providers(os.environ))
        say("Models found:" if found else "No API key and no model server was found here.")
        for number, one in enumerate(found, start=1):
            say(f"  {number}  {one}")
        say("  a  another server with OpenAI's API, or another provider")
        say("  o  offline: echoes what you write, needs no key and no network")
        agent = self._settings.agent
        current = "" if agent.model == OFFLINE else agent.model
        if current:
            say(f"  k  keep {current}")
        default = "k" if current else "1" if found else "o"
        while True:
            answer = self._terminal.ask("Which one", "--model", default).lower()
            if answer == "o":
                return ModelChoice(OFFLINE)
            if answer == "k" and current:
                return None
            if answer == "a":
                return self._of_another(key)
            if answer.isdecimal() and 1 <= int(answer) <= len(found):
                return self._of_found(found[int(answer) - 1], key)

    def _of_found(self, found: Found, key: str | None) -> ModelChoice:
        name = self._options.model or self._terminal.ask(
            "The model's name", "--model", found.model or None
        )
        return ModelChoice(name, found.provider.base_url, found.key if key is None else key)

    def _of_provider(self, provider: Provider, key: str | None) -> ModelChoice:
        here = () if provider.variable else find_providers({})
        local = next((found for found in here if found.provider == provider), None)
        name = self._options.model or provider.model or (local.model if local else "")
        key = os.environ.get(provider.variable, "") if key is None else key
        name = name or self._terminal.ask("The model's name", "--model")
        if provider.variable and not key:
            key = self._terminal.ask_secret(
                f"{provider.title}'s API key", "--api-key", required=True
            )
        return ModelChoice(name, self._options.base_url or provider.base_url, key)

    def _of_another(self, key: str | None) -> ModelChoice:
        say(f"Known names: {', '.join(known.name for known in KNOWN)}")
        answer = self._terminal.ask("Its address, or a known name", "--base-url")
        if answer in BY_NAME:
            return self._of_provider(BY_NAME[answer], key)
        name = self._terminal.ask("The model's name", "--model")
        secret = self._terminal.ask_secret("Its API key (Enter if it needs none)", "--api-key")
        return ModelChoice(name, answer, secret if key is None else key)


def _provider(name: str) -> Provider:
    if name not in BY_NAME:
        raise SettingsError(f"--provider {name} is none of {', '.join(BY_NAME)}")
    return BY_NAME[name]
