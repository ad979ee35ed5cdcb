"""Completion for bash, zsh and fish: the shell calls `tapeway`, which proposes what can follow."""

from __future__ import annotations

import os
from typing import Final

from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

FIRST: Final = '[ "$funcstack[1]" = _tapeway ] && _tapeway_completion || true'
"""Answers zsh's first question, with which it only loads the rest of the script."""

VARIABLE: Final = "_TAPEWAY_COMPLETE"
"""Set by the shell's script when it asks for proposals."""


def completion_script(shell: str) -> str:
    """Return the script for a shell."""
    script: str = get_completion_script(prog_name="tapeway", complete_var=VARIABLE, shell=shell)
    return f"{script}\n{FIRST}" if shell == "zsh" else script


def prepare_completion() -> None:
    """Prepare to propose, if a shell asks."""
    if VARIABLE in os.environ:
        completion_init()
