"""The command `tapeway init` and its flags."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from gateway.cli.lazy import run

_Provider = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="openai, anthropic, openrouter, deepseek, groq or gemini, with the key in the"
        " environment; ollama or lmstudio on this machine.",
    ),
]


def init(
    provider: _Provider = None,
    model: Annotated[str | None, typer.Option(help="The model's name, or `offline`.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="The address of a server with OpenAI's API.")
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(help="The server's key. Like each secret here: the text, or @FILE."),
    ] = None,
    telegram_token: Annotated[str | None, typer.Option(help="A bot's token.")] = None,
    discord_token: Annotated[str | None, typer.Option(help="A bot's token.")] = None,
    slack_bot_token: Annotated[str | None, typer.Option(help="An app's bot token.")] = None,
    slack_app_token: Annotated[str | None, typer.Option(help="Its app-level token.")] = None,
    home: Annotated[str | None, typer.Option(help="The folder for everything it keeps.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    save_anyway: Annotated[
        bool, typer.Option("--save-anyway", help="Save what a check refuses, too.")
    ] = False,
) -> None:
    """Set up a model, your bots and a folder, with questions or flags. It can be run again.

    Every token is checked, and the model answers one call before anything is saved. Settings go to
    tapeway.toml, secrets to .env beside it, for you alone. The difference is shown first.
    """
    given = dict(locals())
    options = import_module("gateway.cli.setup.options").InitOptions(**given)
    run("gateway.cli.setup.init:init", options)
