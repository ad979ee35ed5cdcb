"""The command `tapeway`. To be fast, `--help` imports only typer, not what the commands need."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from traceback import format_exception
from typing import Annotated, Literal

import typer

from gateway.cli.access.commands import app as access
from gateway.cli.completion import completion_script, prepare_completion
from gateway.cli.help import CommandApp
from gateway.cli.lazy import ask, run
from gateway.cli.ledger.commands import app as ledger
from gateway.cli.plugin_commands import add_plugin_commands
from gateway.cli.setup.commands import init
from gateway.cli.tape.commands import app as tape
from gateway.printing import print_err, print_out, redact_streams

app = CommandApp(
    name="tapeway",
    help="Run one AI agent in your group chats, with every chat on an append-only tape.\n\n"
    "Each command has its own help with examples: tapeway COMMAND --help",
)

Shell = Literal["bash", "zsh", "fish"]
Sum = Literal["day", "chat", "person", "model", "turn"]
_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Session = Annotated[
    str, typer.Option(metavar="NAME", help="The name of the terminal chat to use.")
]


def _show_version(wanted: bool) -> None:
    if wanted:
        print_out(f"tapeway {import_module('importlib.metadata').version('tapeway')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
    env_file: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Read settings from this file, and from a tapeway.toml beside it, before those in"
            " the home folder.",
        ),
    ] = "",
) -> None:
    if env_file:
        os.environ["TAPEWAY_ENV_FILE"] = env_file


@app.command(examples=["gateway", "--env-file bot.env gateway", "gateway --role worker"])
def gateway(
    first: Annotated[bool, typer.Option("--ask", hidden=True, help="Ask for a model.")] = False,
    role: Annotated[
        str,
        typer.Option(
            help="With PostgreSQL: `ingress` receives messages, `worker` answers them, `all` both."
        ),
    ] = "",
) -> None:
    """Run the gateway with the page and every channel that has a token."""
    if role:
        os.environ["TAPEWAY_SHARING__ROLE"] = role
    if first:
        import_module("gateway.cli.setup.first_question").ask_first_question()
    if sys.stderr.isatty():
        print_err("  Starting ...")
    gc.disable()  # what startup loads is kept: collecting garbage would cost a sixth of the time
    run("gateway.cli.service.serve:serve")


@app.command(examples=["chat", "chat --session planning"])
def chat(session: _Session = "terminal") -> None:
    """Talk to the agent in this terminal."""
    run("gateway.cli.chat.terminal:chat", session)


@app.command("run", examples=['run "What is new?"', "run - < question.txt"])
def run_message(
    message: Annotated[str, typer.Argument(help="Your message, or - to read standard input.")],
    session: _Session = "terminal",
) -> None:
    """Send one message, print the answer, and exit."""
    run("gateway.cli.chat.terminal:run_once", message, session)


@app.command(examples=["token"])
def token() -> None:
    """Print the access token of the page."""
    run("gateway.http.access_token:show_token")


@app.command("open", examples=["open"])
def open_page(as_json: _AsJson = False) -> None:
    """Print a link that opens the page as its owner."""
    run("gateway.cli.service.page_link:open_page", as_json)


@app.command(examples=["health"])
def health(as_json: _AsJson = False) -> None:
    """Check that the gateway is ready.

    The exit code is 0 if it is, otherwise 1.
    """
    # Containers call this every few seconds, so settings, log and plugins are not loaded.
    raise typer.Exit(import_module("gateway.cli.service.health").health(as_json=as_json))


@app.command(examples=["workers", "workers --json"])
def workers(as_json: _AsJson = False) -> None:
    """List the processes that share the work over one PostgreSQL database."""
    run("gateway.cli.service.workers:show_workers", as_json)


# A Telegram group's ID begins with a minus; it must not be parsed as an option.
@app.command(
    context_settings={"ignore_unknown_options": True},
    examples=["explain in-12", "explain -1001234567890/42", "explain https://t.me/c/1234567890/42"],
)
def explain(
    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE-ID",
            help="A message's ID or link, CHAT/MESSAGE, in-12, out-34, TAPE#7, or a turn.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Explain what happened to a message, and why."""
    # Someone is waiting, so plugins and log are not loaded.
    gc.disable()
    raise typer.Exit(import_module("gateway.cli.explain.command").explain(message, as_json))


@app.command(examples=["usage", "usage --by person --days 7"])
def usage(
    by: Annotated[Sum, typer.Option(help="What to sum up by.")] = "day",
    days: Annotated[
        int, typer.Option(metavar="N", help="Count the last N days.", min=1, max=36_500)
    ] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Show the tokens that answers used, and what they cost."""
    ask("gateway.cli.ledger.usage:show_usage", by, days, as_json)


@app.command(examples=["pair"])
def pair(as_json: _AsJson = False) -> None:
    """Print a code that makes you an owner.

    You send the code to the bot in a private chat.
    """
    ask("gateway.cli.access.actions:pair", as_json)


@app.command(examples=["backup", "backup /srv/backups", "backup --verify tapeway.zip"])
def backup(
    file: Annotated[
        str, typer.Argument(help="The new .zip file, or a folder for it; by default, this folder.")
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check that an existing file is intact.")
    ] = False,
) -> None:
    """Save tapes, ledger, images and settings without secrets, also while the gateway runs."""
    run(f"gateway.cli.backup.actions:{'verify_file' if verify else 'back_up_home'}", file)


@app.command(examples=["restore tapeway.zip --to /srv/tapeway"])
def restore(
    file: Annotated[str, typer.Argument(help="A file that `tapeway backup` wrote.")],
    to: Annotated[
        str, typer.Option(metavar="FOLDER", help="An empty or new one; by default, the home.")
    ] = "",
) -> None:
    """Unpack a backup; nothing in it is answered or sent until `tapeway ledger resume`."""
    run("gateway.cli.backup.actions:restore_home", file, to)


@app.command(
    examples=["migrate", "migrate --apply", "migrate --to postgresql://tapeway@localhost/tapeway"]
)
def migrate(
    apply: Annotated[bool, typer.Option("--apply", help="Migrate the database now.")] = False,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", help="Move everything to PostgreSQL, or back to an SQLite file."
        ),
    ] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="Let a database that was moved start again.")
    ] = False,
) -> None:
    """Show the versions of the database's tables, bring them up to this version, or move them."""
    if apply + bool(to) + undo > 1:
        raise typer.BadParameter("name one of --apply, --to and --undo")
    if to:
        run("gateway.cli.backup.moving:move_home", to)
    elif undo:
        run("gateway.cli.backup.moving:undo_move")
    else:
        run("gateway.cli.backup.actions:migrate_home", apply)


app.command(examples=["init", "init --provider openai --yes", "init --telegram-token @token.txt"])(
    init
)
app.add_typer(access, name="access")
app.add_typer(ledger, name="ledger")
app.add_typer(tape, name="tape")


@app.command(examples=["hooks", "hooks --check"])
def hooks(
    check: Annotated[
        bool, typer.Option("--check", help="Call the plugins' hooks and report every problem.")
    ] = False,
    as_json: _AsJson = False,
) -> None:
    """List the hooks and the plugins that implement them.

    What failed to load is listed with its reason.
    """
    if check:
        run("gateway.cli.hooks:check_hooks", as_json)
    else:
        run("gateway.cli.hooks:show_hooks", as_json)


@app.command(
    examples=[
        "completion bash > ~/.local/share/bash-completion/completions/tapeway",
        "completion zsh > ~/.zfunc/_tapeway",
        "completion fish > ~/.config/fish/completions/tapeway.fish",
    ]
)
def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="Your shell.")],
) -> None:
    """Print a script that completes commands, options and values.

    Your shell loads it at its next start. With zsh, the folder must be in `fpath` before `compinit`
    runs.
    """
    print_out(completion_script(shell))


@app.command(examples=["doctor", "doctor --deep", "doctor --json"])
def doctor(
    deep: Annotated[
        bool, typer.Option("--deep", help="Check the whole database, however long it takes.")
    ] = False,
    as_json: _AsJson = False,
) -> None:
    """Find out what is wrong, and how to correct it.

    The exit code is 0 if everything works (warnings don't count), 1 if something does not, and 2
    for wrong arguments.
    """
    import_module("gateway.cli.service.doctor").doctor(as_json, deep)


config = CommandApp(help="Show the settings and where they come from.")
app.add_typer(config, name="config")


@config.command("show", examples=["config show", "config show --changed"])
def show_config(
    changed: Annotated[
        bool, typer.Option("--changed", help="Leave out settings that have their defaults.")
    ] = False,
    as_json: _AsJson = False,
) -> None:
    """Print each setting's value and where it comes from; secrets are hidden."""
    raise typer.Exit(import_module("gateway.cli.service.config").show_config(as_json, changed))


@config.callback()
def _config() -> None:
    """Keep `show` a subcommand although it is the only one."""


def main() -> None:
    """Run the command line; what it writes is for its user alone."""
    os.umask(0o077)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # whoever started the command has closed it
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - for good
    redact_streams()
    prepare_completion()
    try:
        add_plugin_commands(app, sys.argv[1:])
        app(prog_name="tapeway")
    except OSError as cause:
        print_err(f"tapeway: the output cannot be written ({cause.strerror})")
        import_module("gateway.cli.screen").discard_output()
        sys.exit(1)
    except Exception as cause:  # of a plugin's command: without its local variables
        print_err("".join(format_exception(cause)), end="")
        sys.exit(1)


if __name__ == "__main__":
    main()
