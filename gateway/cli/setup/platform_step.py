"""The step that takes a platform's tokens, and shows what the platform says of the bot."""

from __future__ import annotations

from importlib import import_module

import anyio
from pydantic import SecretStr, ValidationError

from channels.checkup import Checkup
from channels.settings import PlatformSettings
from gateway.cli.setup.options import InitOptions, flag
from gateway.cli.setup.terminal import Terminal, say
from gateway.errors import SettingsError
from gateway.settings import Settings
from gateway.setup.changes import Changes
from gateway.setup.platforms import Platform


class PlatformStep:
    """Takes one platform's tokens by flags or questions, until the platform accepts them."""

    def __init__(
        self, platform: Platform, settings: Settings, options: InitOptions, terminal: Terminal
    ) -> None:
        self._platform = platform
        self._section: PlatformSettings = getattr(settings, platform.name)
        self._options = options
        self._terminal = terminal
        self.invite = ""

    def run(self, changes: Changes, *, keep: bool) -> bool:
        """Put accepted tokens into the changes; return whether the platform is set up.

        `invite` is then the link that adds the bot to a chat, if the platform has one.
        """
        enabled = bool(getattr(self._section, "enabled", False))
        flags = {key: self._options.secret(name) for key, name, _where in self._platform.tokens}
        given = {key: token for key, token in flags.items() if token is not None}
        if not given and (keep or not self._terminal.asks):
            say(f"{self._platform.title} {'stays as it is' if enabled else 'is left out'}.")
            return enabled
        while True:
            tokens = given or self._ask(enabled=enabled)
            if not tokens:
                return enabled
            changes.redactor.learn(*tokens.values())
            if not any(tokens.values()) or self._accepts(tokens):
                break
            given = {}
        for key, token in tokens.items():
            changes.set_secret(f"{self._platform.name}.{key}", token)
        return any(tokens.values())

    def _ask(self, *, enabled: bool) -> dict[str, str]:
        left_out = "Enter keeps the one that is set" if enabled else "Enter leaves it out"
        found: dict[str, str] = {}
        for key, name, where in self._platform.tokens:
            question = f"{self._platform.title}: {where}; {left_out}"
            token = self._terminal.ask_secret(question, flag(name))
            if not token and not found:
                break
            if token:
                found[key] = token
        return found

    def _accepts(self, tokens: dict[str, str]) -> bool:
        """Ask the platform about the bot; return whether to go on with these tokens."""
        flags = " or ".join(flag(name) for _key, name, _where in self._platform.tokens)
        try:
            section = self._with(tokens)
        except ValidationError as cause:
            # Saved, it would stop every start.
            problem = cause.errors()[0]["msg"].removeprefix("Value error, ")
            return self._terminal.refuse(problem, flags)
        examine = import_module(f"channels.{self._platform.name}.checkup").examine
        checkup: Checkup = anyio.run(examine, section)
        if _show(self._platform.title, checkup) or self._options.save_anyway:
            self.invite = checkup.invite
            return True
        if not self._terminal.asks:
            raise SettingsError(
                f"{self._platform.title} cannot be used like this, so nothing was written: correct"
                f" {flags}, or save it all the same with --save-anyway"
            )
        # A question whose answer is shown would show a token that is pasted again.
        say("Paste it again, or press Enter; with --save-anyway, init saves it all the same.")
        return False

    def _with(self, tokens: dict[str, str]) -> PlatformSettings:
        kept = {key: getattr(self._section, key) for key in self._section.model_fields_set}
        given = {key: SecretStr(token) for key, token in tokens.items()}
        return type(self._section).model_validate({**kept, **given})


def _show(title: str, checkup: Checkup) -> bool:
    """Print what a platform says of a bot, and return whether the bot can be used."""
    if checkup.bot:
        say(f"ok  {title} knows this bot as {checkup.bot}.")
    for result in checkup.results:
        if result.trouble is not None:
            say(f"!!  {result.says.rstrip('.')}: {result.trouble.cause}")
            say(f"    {result.trouble.remedy}")
    failed = any(result.state == "failure" for result in checkup.results)
    if checkup.invite and not failed:
        say(f"    Invite it: {checkup.invite}")
    return not failed
