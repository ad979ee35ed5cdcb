"""Answers that are being written: what is shown of a part is shown of the whole, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from channels.discord import format as discord
from channels.slack import format as slack
from channels.telegram import format as telegram
from channels.telegram.rich_writer import rich_partial
from tests.fakes.discord import reader as discord_reader
from tests.fakes.slack import reader as slack_reader
from tests.shown.compare import Shown
from tests.shown.runs import Run, Source, read, words_in
from tests.shown.targets import TARGETS, by_rich, by_telegram
from tests.shown.terminal import Growing

STEPS: Final = 10
"""Of how many parts a text that grows is looked at."""


def parts(text: str) -> list[str]:
    """Return the beginnings of a text that are looked at, and last the text."""
    step = max(1, len(text) // STEPS)
    return [*(text[:end] for end in range(step, len(text), step)), text]


def _telegram(text: str) -> str:
    return by_telegram(telegram.render_partial(text))[0]


def _rich(text: str) -> str:
    message = rich_partial(text)
    return by_rich(message)[0] if message else _telegram(text)


def _discord(text: str) -> str:
    return discord_reader.read(discord.render_partial(text)).text


def _slack(text: str) -> str:
    return slack_reader.read(slack.settled(slack.begun(text))).text


_PARTLY: Final[dict[str, Callable[[str], str]]] = {
    "telegram": _telegram,
    "rich": _rich,
    "discord": _discord,
    "slack": _slack,
}


def grown(target: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each part of a text, what is shown of it, and what is shown of the whole."""
    beginnings = parts(text)
    if target == "terminal":
        growing = Growing()
        seen = [growing.write(part, final=part is text) for part in beginnings]
    else:
        seen = [*map(_PARTLY[target], beginnings[:-1]), TARGETS[target](text).text]
    for part, one in zip(beginnings[:-1], seen, strict=False):
        yield part, one, seen[-1]


def too_much(part: str, seen: str, whole: str) -> str | None:
    """Return a run that is shown of a part and not of the whole, or None.

    The last block of a part may end in a mark that is not finished, and so be shown as it is; nor
    is a link finished whose address comes at the end of the text.
    """
    source = read(part)
    unfinished = "".join(words_in([part[max(0, part.rstrip().rfind("\n\n")) :]]))
    labels = {run.text for run in source.runs if "label" in run.whys or _is_label(source, run)}
    there = words_in([whole])
    at = 0
    for run in words_in([seen]):
        found = next((one for one in range(at, len(there)) if _is_same(there[one], run)), None)
        if run in labels and found != at:
            continue
        if found is not None:
            at = found + 1
        elif run not in unfinished:
            return run
    return None


def _is_label(source: Source, run: Run) -> bool:
    return source.text[max(0, run.start - 2) : run.start] in ("][", "[^")


def _is_same(whole: str, part: str) -> bool:
    """Return whether a run is another, or that with the number of a note."""
    return whole == part or (whole.startswith(part) and whole[len(part) :].isdigit())


def faults(target: str, text: str) -> str | None:
    """Return what of some part of a text is shown and not of the whole, or None."""
    for part, seen, whole in grown(target, text):
        if run := too_much(part, seen, whole):
            return f"{run!r} while it was written to {part[-60:]!r}"
    return None


def page_faults(text: str, seen: Sequence[Shown]) -> str | None:
    """Return the same of the page, which read the parts of a text."""
    for part, one in zip(parts(text), seen, strict=True):
        if run := too_much(part, one.text, seen[-1].text):
            return f"{run!r} while it was written to {part[-60:]!r}"
    return None
