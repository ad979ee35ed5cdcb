"""Try what somebody sets: a model by one short request, a bot by what its platform says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from anyio.to_thread import run_sync

from agent.models.probe import Probed
from gateway.doctor.checks.model import TROUBLES
from gateway.doctor.checks.platforms import check_platform
from gateway.language.language import say, translated
from gateway.settings import Settings
from gateway.setup.model_choice import probed
from gateway.setup.platforms import Platform


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One thing that was found, and what to do about it, if anything."""

    says: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """What was found: whether the values can be used, and sentences.

    `probed` is a model's, and `bot_id` a bot's (as `Channel.bot_id`).
    """

    well: bool
    lines: Sequence[TrialLine]
    probed: Probed | None = None
    bot_id: str = ""

    def cleaned(self, clean: Callable[[str], str]) -> Trial:
        """Return it without secrets."""
        lines = [TrialLine(clean(one.says), one.remedy) for one in self.lines]
        found = self.probed and replace(self.probed, sentence=clean(self.probed.sentence))
        return Trial(self.well, lines, found, self.bot_id)

    def as_json(self) -> dict[str, Any]:
        lines = [{"says": one.says, "remedy": one.remedy} for one in self.lines]
        return {"well": self.well, "lines": lines}


async def try_model(settings: Settings) -> Trial:
    """Look at the server of the model in these settings, and ask the model for a word."""
    found = await probed(settings.agent, settings)
    says_it = found.well or "TAPEWAY_" in found.sentence
    remedy = "" if says_it else TROUBLES[found.kind].remedy
    return Trial(found.well, [TrialLine(found.sentence, remedy)], found)


async def try_platform(platform: Platform, settings: Settings) -> Trial:
    """Ask a platform about the bot in these settings."""
    # Its SDK may not be loaded yet, which takes long: chats must not wait for that.
    await run_sync(import_module, f"channels.{platform.name}.adapter")
    checkup = await check_platform(platform.name, settings)
    lines = [TrialLine(f"{platform.title} knows this bot as {checkup.bot}")] if checkup.bot else []
    for result in checkup.results:
        if result.trouble is not None:
            trouble = result.trouble
            found, cause = translated(result.says).rstrip(".。"), translated(trouble.cause)
            says = say("{found}: {cause}", found=found, cause=cause)
            lines.append(TrialLine(says, trouble.remedy))
    well = all(result.state != "failure" for result in checkup.results)
    return Trial(well and bool(checkup.bot), lines, bot_id=checkup.bot_id)
