"""The known troubles of a gateway.

Those of its database are in `database_troubles.py`, a platform's in `channels/NAME/troubles.py`.
"""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble

# --- the doctor itself

CHECK_CRASHED: Final = Trouble(
    "doctor.crashed",
    "A check ended with an error of its own.",
    "The check met something that it does not know; the gateway itself may be well.",
    "Report it with the line above, which holds no secrets.",
)
CHECK_SLOW: Final = Trouble(
    "doctor.slow",
    "A check did not end in time.",
    "What it looks at answers slowly: a disk, a network folder or a server.",
    "Look at the load of this machine, and run `tapeway doctor` again.",
)

# --- settings

SETTINGS_INVALID: Final = Trouble(
    "settings.invalid",
    "The gateway does not start: a setting has a value that it cannot have.",
    "The value is of another kind, out of range, or none of the allowed words.",
    "Correct the named setting, in the file after it; if none is named, in the environment.",
)
SETTINGS_MISSPELT: Final = Trouble(
    "settings.misspelt",
    "The gateway does not start: a setting has an unknown name.",
    "The name is not one of Tapeway's settings; mostly a letter or an underscore is wrong.",
    "Correct the name as proposed, or remove it. .env.example lists all settings.",
)
SETTINGS_UNREADABLE: Final = Trouble(
    "settings.unreadable",
    "The gateway does not start: a file with settings cannot be read.",
    "The file is missing, is not valid TOML or text, or belongs to another user.",
    "Correct the named file, or its permissions.",
)
SETTINGS_SECRET: Final = Trouble(
    "settings.secret",
    "A token or key in the secrets folder has no effect.",
    "Its file cannot be read by this user, or is a link that leads out of the folder.",
    "Put the file itself into the folder, readable for the user who runs the gateway.",
)
SETTINGS_IGNORED: Final = Trouble(
    "settings.ignored",
    "Settings in a file of the current folder have no effect.",
    "Tapeway reads the files of its home folder only: a foreign folder could redirect your key.",
    "Move the file into the home folder, or name it with --env-file.",
)
SETTINGS_OPEN: Final = Trouble(
    "settings.open",
    "Other users of this machine can read the bot's tokens and the model's key.",
    "The permissions of a file with settings let others read it.",
    "Run `chmod 600` on the file. If others use the machine, replace the tokens and keys.",
)
DJANGO_CHANNELS: Final = Trouble(
    "settings.django_channels",
    "The gateway does not start: another package uses its import name.",
    "Django Channels is installed in the same environment and is also called `channels`.",
    "Install Tapeway in a virtual environment of its own.",
)

NETWORK_VARIABLE: Final = Trouble(
    "network.variable",
    "The gateway does not start, or does not reach the model's server or a platform.",
    "A variable of the environment, which many programs read, names a proxy that cannot be used or"
    " a file of certificates that is missing.",
    "Correct the named variable, or remove it. NO_PROXY lists the hosts that need no proxy.",
)
NETWORK_PROXY_DOWN: Final = Trouble(
    "network.proxy_down",
    "Answers say that the model service cannot be reached.",
    "The proxy that a variable of the environment names is not there, or lets nothing through.",
    "Correct the named variable, or remove it. NO_PROXY lists the hosts that need no proxy.",
)

# --- the model

MODEL_OFFLINE: Final = Trouble(
    "model.offline",
    "The agent only repeats what it is asked.",
    "No model is configured, so the offline model answers.",
    "Run `tapeway init`, which finds keys and servers. Or set TAPEWAY_AGENT__MODEL, and"
    " TAPEWAY_AGENT__API_KEY or TAPEWAY_AGENT__BASE_URL.",
)
MODEL_KEY_MISSING: Final = Trouble(
    "model.key_missing",
    "The gateway does not start: the model needs a key.",
    "A model is named, but neither a key nor the address of a server of your own.",
    "Set TAPEWAY_AGENT__API_KEY (or OPENAI_API_KEY), or TAPEWAY_AGENT__BASE_URL.",
)
MODEL_KEY_REFUSED: Final = Trouble(
    "model.key_refused",
    "Answers say that the model service rejected the API key.",
    "The key is wrong, was revoked, or belongs to another server.",
    "Create a key at the provider, and set TAPEWAY_AGENT__API_KEY to it.",
)
MODEL_UNKNOWN: Final = Trouble(
    "model.unknown",
    "Answers say that the model service doesn't know the model.",
    "The server has no model of that name, or this key may not use it.",
    "Set TAPEWAY_AGENT__MODEL to a name from the server's list of models.",
)
MODEL_ADDRESS: Final = Trouble(
    "model.address",
    "Answers say that the model service isn't at its address.",
    "The server has no model API at this path; mostly /v1 is missing at the end.",
    "Correct TAPEWAY_AGENT__BASE_URL.",
)
MODEL_MOVED: Final = Trouble(
    "model.moved",
    "Answers say that the model service has another address now.",
    "The server redirects. The gateway does not follow: the key and the chat would go to a host"
    " that you did not name.",
    "If you trust the new address, set TAPEWAY_AGENT__BASE_URL to it. If it is a sign-in page of"
    " your network, sign in.",
)
MODEL_UNREACHABLE: Final = Trouble(
    "model.unreachable",
    "Answers say that the model service cannot be reached.",
    "The server is not running, its address is wrong, or a firewall or proxy is in between.",
    "Start the server, or correct TAPEWAY_AGENT__BASE_URL. In a container, 127.0.0.1 is the"
    " container itself: use host.docker.internal for a server on the host.",
)
MODEL_TLS: Final = Trouble(
    "model.tls",
    "Answers say that the model service cannot be reached.",
    "The secure connection fails: the certificate is not trusted, or the server speaks plain http.",
    "Correct http or https in TAPEWAY_AGENT__BASE_URL, or install the server's certificate.",
)
MODEL_SLOW: Final = Trouble(
    "model.slow",
    "Answers take very long or never come.",
    "The model did not answer a one-line question in time: it is loading, or too large for its"
    " machine.",
    "Ask again when it is loaded, choose a smaller model, or raise TAPEWAY_AGENT__READ_TIMEOUT.",
)
MODEL_EMPTY_ACCOUNT: Final = Trouble(
    "model.empty_account",
    "Answers say that the account at the model service is empty.",
    "The provider has used up the credit that belongs to this key.",
    "Add credit at the provider, or set another TAPEWAY_AGENT__API_KEY.",
)
MODEL_BUSY: Final = Trouble(
    "model.busy",
    "Answers are late, or say that the model service is busy.",
    "The server is over the limits of this key or plan.",
    "Wait, raise the plan's limits, or name TAPEWAY_AGENT__FALLBACK_MODELS.",
)
MODEL_NO_API: Final = Trouble(
    "model.no_api",
    "Answers say that the model's answer broke off.",
    "What answers at the address is not a model API: a web page, a proxy or another program.",
    "Set TAPEWAY_AGENT__BASE_URL to the address of the API, which mostly ends with /v1.",
)
MODEL_WINDOW_TOO_SMALL: Final = Trouble(
    "model.window_too_small",
    "Every answer says that the conversation has become too long for the model.",
    "The model's context is too small even for one short question.",
    "Load the model with a larger context (Ollama: num_ctx, llama.cpp: --ctx-size), or choose"
    " another one.",
)
MODEL_WINDOW_UNSET: Final = Trouble(
    "model.window_unset",
    "The agent forgets the middle of long conversations, or answers late.",
    "Prompts may grow larger than the context that the server gives the model.",
    "Set TAPEWAY_AGENT__CONTEXT_WINDOW to the server's number, or lower the prompts'"
    " TAPEWAY_CONTEXT__PROMPT_TOKENS.",
)
MODEL_NO_TOOLS: Final = Trouble(
    "model.no_tools",
    "The agent cannot search the tape or use other tools.",
    "The model, or the server's template for it, does not accept tools.",
    "Choose a model that supports tools, or set TAPEWAY_AGENT__TOOLS=false to save a request.",
)
MODEL_PRICE_UNKNOWN: Final = Trouble(
    "model.price_unknown",
    "People use more than their budget of money allows.",
    "What a model in use costs is not known, so its answers count by their tokens alone.",
    "Set the model's TAPEWAY_AGENT__PRICE_INPUT and TAPEWAY_AGENT__PRICE_OUTPUT, or limit tokens"
    " with TAPEWAY_BUDGET__MEMBER_TOKENS and TAPEWAY_BUDGET__STRANGER_TOKENS.",
)
MODEL_FAILS: Final = Trouble(
    "model.fails",
    "Answers say that the model service failed.",
    "The server answered one short question with an error.",
    "Look at the server's words above and at its own log or status page.",
)

# --- the home folder and the disk

HOME_UNUSABLE: Final = Trouble(
    "home.unusable",
    "The gateway does not start: its home folder cannot be used.",
    "The folder cannot be created or written by this user, or the file system is read-only.",
    "Make it writable for the user who runs the gateway, or choose another with TAPEWAY_HOME.",
)
HOME_WITHOUT_LOCKS: Final = Trouble(
    "home.without_locks",
    "The gateway does not start: its home folder has no working locks.",
    "The folder is on a file system that cannot lock files, such as some network folders.",
    "Put the home on a disk of this machine with TAPEWAY_HOME, or mount the folder with locks.",
)
HOME_OPEN: Final = Trouble(
    "home.open",
    "Other users of this machine can look into the gateway's files.",
    "The folder's permissions let others in; it holds every chat and the access tokens.",
    "Run `chmod 700` on the folder.",
)
WORKSPACE_UNUSABLE: Final = Trouble(
    "workspace.unusable",
    "The gateway does not start: its workspace cannot be created.",
    "The folder's place is not writable for this user, or a file stands there.",
    "Choose another folder with TAPEWAY_WORKSPACE, or make this one writable.",
)
DISK_FULL: Final = Trouble(
    "disk.full",
    "Messages are refused, and /health/ready says that the disk is full.",
    "The file system of the home folder has no room for new messages.",
    "Free some space; the gateway continues by itself. `tapeway tape erase` removes old chats.",
)
DISK_LOW: Final = Trouble(
    "disk.low",
    "The disk will be full soon.",
    "The file system of the home folder has little room left.",
    "Free some space, or limit how long chats are kept with TAPEWAY_TAPE__KEEP_DAYS.",
)
DISK_SLOW: Final = Trouble(
    "disk.slow",
    "Answers are late although the model is fast.",
    "The disk takes long to confirm a write, and each message waits for a few of them.",
    "Put the home folder on a local SSD rather than a network folder or memory card.",
)

# --- the running gateway, the port, the clock

GATEWAY_UNCLEAR: Final = Trouble(
    "gateway.unclear",
    "No second gateway can start on this home, and commands find none.",
    "A process holds the home's lock without an address: it starts, stops, hangs, or runs in"
    " another container on the same folder.",
    "Ask again in a minute. If it stays, end the named process; each home serves one gateway.",
)
GATEWAY_SILENT: Final = Trouble(
    "gateway.silent",
    "Neither the page nor the bots answer, although the gateway runs.",
    "The process does not answer at its own address.",
    "Look at its log, and restart it. Unanswered questions are answered afterwards.",
)
GATEWAY_STORE_AWAY: Final = Trouble(
    "gateway.store_away",
    "The running gateway refuses messages.",
    "It cannot write to its database now.",
    "Look at the disk and its permissions; the gateway continues by itself.",
)
CHANNEL_STALLED: Final = Trouble(
    "channel.stalled",
    "The bot is online but answers nobody.",
    "The platform has delivered nothing, not even a sign of life, for too long.",
    "Check the network of this machine, then restart the gateway: nothing is lost.",
)
CHANNEL_DOWN: Final = Trouble(
    "channel.down",
    "The bot answers nobody on this platform.",
    "The running gateway has no connection to the platform and keeps trying.",
    "Follow the reason above and the platform's own lines in this report.",
)
CHANNEL_UNFIT: Final = Trouble(
    "channel.unfit",
    "The bot answers nobody on this platform until the gateway is restarted.",
    "The platform refuses the bot, so the running gateway has stopped trying.",
    "Follow the reason above, then restart the gateway.",
)
PORT_IN_USE: Final = Trouble(
    "port.in_use",
    "The gateway does not start: it cannot listen on its port.",
    "Another program on this machine uses the port.",
    "Stop that program, or choose another port with TAPEWAY_HTTP__PORT; for /metrics, with"
    " TAPEWAY_HTTP__METRICS_PORT.",
)
PORT_OTHER_GATEWAY: Final = Trouble(
    "port.other_gateway",
    "The gateway does not start: it cannot listen on its port.",
    "A Tapeway gateway with another home uses the port.",
    "Stop that gateway, or choose another port with TAPEWAY_HTTP__PORT; for /metrics, with"
    " TAPEWAY_HTTP__METRICS_PORT.",
)
PORT_UNUSABLE: Final = Trouble(
    "port.unusable",
    "The gateway does not start: it cannot listen on its address.",
    "The address is not one of this machine, or this user may not use the port.",
    "Correct TAPEWAY_HTTP__HOST or TAPEWAY_HTTP__PORT (for /metrics, TAPEWAY_HTTP__METRICS_HOST or"
    " TAPEWAY_HTTP__METRICS_PORT); ports below 1024 are for administrators.",
)
PORT_OPEN: Final = Trouble(
    "port.open",
    "The gateway does not start: other machines could reach the page without a token.",
    "TAPEWAY_HTTP__HOST is not a loopback address, and there is no token.",
    "Set TAPEWAY_HTTP__TOKEN_FILE=http-token, or listen on 127.0.0.1.",
)
PORT_TOKEN_SHORT: Final = Trouble(
    "port.token_short",
    "The gateway does not start: other machines could guess the page's token.",
    "TAPEWAY_HTTP__HOST is not a loopback address, and the token is shorter than 16 characters.",
    "Choose a longer TAPEWAY_HTTP__TOKEN; or remove it, and have one generated with"
    " TAPEWAY_HTTP__TOKEN_FILE=http-token.",
)
CLOCK_WRONG: Final = Trouble(
    "clock.wrong",
    "Times in chats are wrong, and secure connections or Slack's requests may be refused.",
    "The clock of this machine differs from that of the servers it talks to.",
    "Turn on time synchronization, for example with `timedatectl set-ntp true`.",
)

# --- the bots

OTHER_BOT: Final = Trouble(
    "bot.other",
    "What people write to the bot may go unanswered.",
    "The token is of another bot than the one whose messages this home has. Platforms may count"
    " messages for each bot by itself, so new ones could be taken for answered ones.",
    "Set a token of the former bot, or start the new one with a home of its own:"
    " TAPEWAY_HOME=another-folder.",
)

# --- plugins

PLUGIN_NOT_LOADED: Final = Trouble(
    "plugin.not_loaded",
    "What a plugin adds is missing: its tools, channels or commands.",
    "The plugin raised an error when it was imported or registered.",
    "Correct the named error, or uninstall the plugin.",
)
PLUGIN_FAULTY: Final = Trouble(
    "plugin.faulty",
    "What a plugin adds is missing, or answers fail.",
    "A hook of the plugin raised an error or returned something unusable.",
    "Correct the named hook. `tapeway hooks --check` lists all problems of all plugins.",
)
PLUGIN_CRASHED: Final = Trouble(
    "plugin.crashed",
    "The gateway ends or hangs when it loads its plugins.",
    "A plugin ended the process, or did not return, while it was loaded and called.",
    "Uninstall the plugins one by one to find it.",
)

TROUBLES: Final = tuple(value for value in globals().copy().values() if isinstance(value, Trouble))
"""All troubles of this module, in their order; the documentation's tables list them."""
