"""`tapeway init`: from nothing to a gateway with a model and bots. It can be run again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from agent.models.offline import OFFLINE
from gateway.cli.setup.model_step import ModelStep
from gateway.cli.setup.options import InitOptions
from gateway.cli.setup.platform_step import PlatformStep
from gateway.cli.setup.terminal import Terminal, is_terminal, say
from gateway.errors import SettingsError
from gateway.home import find_running
from gateway.printing import print_err, print_out
from gateway.settings import Settings, load_with_sources
from gateway.settings.files import ENV_FILE, HOME, settings_files, with_remembered
from gateway.setup.changes import Changes
from gateway.setup.platforms import PLATFORMS
from gateway.wording import command_name


def init(settings: Settings, options: InitOptions) -> int:
    """Set up the model, the platforms and the home, and show the difference before writing it."""
    variables = with_remembered(os.environ)
    files = settings_files(variables)
    if os.environ.get(ENV_FILE):
        files = files.over or files  # who names a file wants it written
    again = bool(files.existing())
    # Who runs it again with flags wants what they say, not questions.
    keep = again and bool(options.given())
    asks = not options.yes and is_terminal()
    terminal = Terminal(asks=asks and not keep)
    loaded = load_with_sources(variables)
    has_model = any(source.names("agent.model") for source in loaded.sources)
    changes = Changes(files, loaded)
    try:
        if terminal.asks:
            say("Enter takes what stands in [brackets]; Ctrl-C ends this and changes nothing.")
            say("Keys and tokens that you paste are not shown.")
        _head("The model")
        keep_model = has_model and not terminal.asks
        model = ModelStep(loaded, options, terminal).run(changes, keep=keep_model)
        _head("Platforms")
        steps = [PlatformStep(one, settings, options, terminal) for one in PLATFORMS]
        found = [step.run(changes, keep=keep) for step in steps]
        _choose_home(settings, options, terminal, changes, fixed=bool(variables.get(HOME)))
        if not _write(changes, Terminal(asks=asks), anyway=options.save_anyway):
            return 0
    except (KeyboardInterrupt, EOFError):
        print_err("\ntapeway: stopped; nothing was changed")
        return 130
    _print_next_steps(settings, changes, bots=any(found))
    for step in steps:
        if step.invite:
            say(f"Then add it to your chats: {step.invite}")
    if model == OFFLINE:
        say("The offline model answers, which only repeats. `tapeway init` takes another one.")
    return 0


def _head(title: str) -> None:
    say()
    say(title)


def _choose_home(
    settings: Settings, options: InitOptions, terminal: Terminal, changes: Changes, *, fixed: bool
) -> None:
    """Set the home folder, unless the environment fixes it."""
    _head("Data")
    home = str(settings.home_path)
    if fixed and options.home and Path(options.home).expanduser().absolute() != settings.home_path:
        raise SettingsError(
            f"--home: {HOME} names {home} already, so nothing was written: unset it"
        )
    if fixed:
        say(f"Tapes and everything else are kept in {home} ({HOME} names it).")
        return
    answer = options.home or terminal.ask("The folder for tapes and all else", "--home", home)
    chosen = Path(answer).expanduser().absolute()
    if chosen != settings.home_path:
        changes.set("home", str(chosen))
        if settings.home_path.exists() and any(settings.home_path.glob("*.db")):
            say(f"What {home} has stays there: nothing is moved.")
    say(f"Tapes and everything else are kept in {chosen}.")


def _write(changes: Changes, terminal: Terminal, *, anyway: bool) -> bool:
    """Show the difference, and write it if nobody objects; raises SettingsError."""
    difference = changes.difference()
    _head("Changes" if difference else "Nothing changes.")
    for path, lines in difference:
        say(str(path))
        for line in lines:
            print_out(f"    {line}")
    overruled = list(changes.overruled())
    for sentence in overruled:
        say(f"!!  {sentence}.")
    if overruled and not (terminal.asks or anyway):
        raise SettingsError(
            "this would have no effect, or send a key to another server, so nothing was written:"
            " correct that, or save it all the same with --save-anyway"
        )
    if difference and terminal.choose("Write this?", {"y": "yes", "n": "no"}, "y") == "n":
        say("Nothing was written.")
        return False
    # Two files are written: a Ctrl-C between them would leave one.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        changes.write()
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _print_next_steps(settings: Settings, changes: Changes, *, bots: bool) -> None:
    say()
    start = "make run" if Path("Makefile").exists() else f"{command_name()} gateway"
    if find_running(settings.home_path) is not None:
        if changes.difference():
            say("The gateway is running: restart it, so that it reads this.")
    else:
        say(f"Start it: {start}")
    if bots:
        say("A bot obeys its owner. On its first start the gateway shows a pairing code: send it")
        say("to the bot in private, and you are its owner. `tapeway pair` prints another code.")
