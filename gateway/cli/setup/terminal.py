"""Questions on the terminal; without one, the sentence that names the missing flag."""

from __future__ import annotations

import sys
from getpass import getpass
from textwrap import wrap
from typing import Final

from gateway.cli.screen import columns, safe
from gateway.errors import SettingsError
from gateway.printing import print_out
from gateway.wording import as_called

WIDTH: Final = 100
EXAMPLES: Final = {
    "--model": "give one, for example --model offline, or --provider openai with OPENAI_API_KEY set"
}


class Terminal:
    """Asks the person at the terminal, if there is one and it wants to be asked."""

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks

    def ask(self, question: str, flag: str, default: str | None = None) -> str:
        """Return the answer, or the default; raises SettingsError if there is nobody to ask."""
        self._require(flag, default)
        if not self.asks and default is not None:
            return default
        shown = f" [{default}]" if default else ""
        return input(f"  {question}{shown}: ").strip() or default or ""

    def ask_secret(self, question: str, flag: str, *, required: bool = False) -> str:
        """Return a secret, which is not shown while it is pasted; empty if it is left out."""
        self._require(flag, None if required else "")
        return getpass(f"  {question}: ").strip() if self.asks else ""

    def choose(self, question: str, answers: dict[str, str], default: str) -> str:
        """Return the letter of an answer."""
        if not self.asks:
            return default
        shown = ", ".join(f"{letter} {what}" for letter, what in answers.items())
        while True:
            given = input(f"  {question} ({shown}) [{default}]: ").strip().lower()[:1] or default
            if given in answers:
                return given
            say(f"Answer with {' or '.join(answers)}.")

    def refuse(self, problem: str, flags: str) -> bool:
        """Show what can't be saved and return False; raises SettingsError if nobody is asked."""
        if not self.asks:
            raise SettingsError(f"{flags}: {problem}; nothing was written")
        say(f"!!  {problem}.")
        return False

    def _require(self, flag: str, default: str | None) -> None:
        if not self.asks and default is None:
            example = EXAMPLES.get(flag, "`tapeway init --help` lists the flags")
            raise SettingsError(
                f"{flag} is missing, and nobody is asked with --yes or without a terminal:"
                f" {example}"
            )


def say(text: str = "") -> None:
    """Print a sentence, wrapped below itself; what has no spaces, as a link, is never broken."""
    indent = " " * (6 if text[:2] in ("ok", "!!", "  ") else 2)
    lines = wrap(
        f"  {as_called(safe(text))}",
        min(columns(), WIDTH),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines or [""]:
        print_out(line)


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
