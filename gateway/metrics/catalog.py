"""Every metric of `/metrics`, with its kind, its labels and what it says.

Labels are `channel`, `outcome` and `model` only, apart from the version of the build. Their values
are bounded by the settings: no chat and no person is ever one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["counter", "gauge", "histogram"]

CHANNEL: Final = "channel"
MODEL: Final = "model"
OUTCOME: Final = "outcome"

WAIT_BUCKETS: Final = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60, 120, 300)
LAG_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric; `outcomes` are the values of its label, `buckets` the bounds of a histogram.

    looked_up  whether it is read when somebody asks, and not counted by the `Meters`
    """

    name: str
    kind: Kind
    text: str
    labels: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    looked_up: bool = False


def _gauge(name: str, text: str, *labels: str) -> Metric:
    return Metric(name, "gauge", text, labels, looked_up=True)


def _histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...]) -> Metric:
    return Metric(name, "histogram", text, labels, buckets=buckets)


def _counter(
    name: str, text: str, *labels: str, outcomes: tuple[str, ...] = (), looked_up: bool = False
) -> Metric:
    labels = (*labels, OUTCOME) if outcomes else labels
    return Metric(name, "counter", text, labels, outcomes, looked_up=looked_up)


BUILD: Final = _gauge(
    "tapeway_build_info", "Always 1; the label is the version that runs.", "version"
)
MESSAGES: Final = _counter(
    "tapeway_messages_total",
    "Messages, edits and deletions from platforms: `new` ones, written to the inbox, and those"
    " delivered once more (`repeated`), which change nothing.",
    CHANNEL,
    outcomes=("new", "repeated"),
)
INBOX: Final = _gauge(
    "tapeway_inbox_messages",
    "Accepted messages that have not ended, from the database: not yet on their tape, waiting for"
    " a turn, or being answered. Those of channels that are turned off wait as `other`.",
    CHANNEL,
)
OLDEST: Final = _gauge(
    "tapeway_inbox_oldest_seconds",
    "Age of the oldest of those messages since it was accepted; 0 if there is none.",
    CHANNEL,
)
UNPLACED: Final = _gauge(
    "tapeway_unplaced_messages",
    "Accepted messages that are not on their tapes yet, from the database. Questions go first.",
    CHANNEL,
)
UNPLACED_OLDEST: Final = _gauge(
    "tapeway_unplaced_oldest_seconds",
    "Age of the oldest of those messages since it was accepted; 0 if there is none.",
    CHANNEL,
)
OUTBOX: Final = _gauge(
    "tapeway_outbox_messages",
    "Messages that are waiting to be sent or are being sent, from the database.",
    CHANNEL,
)
FIRST_TEXT: Final = _histogram(
    "tapeway_first_text_seconds",
    "From the moment a question was accepted (the newest message of a burst) to the first text of"
    " its answer. A turn that a restart resumes is not measured again.",
    CHANNEL,
    buckets=WAIT_BUCKETS,
)
ANSWER: Final = _histogram(
    "tapeway_answer_seconds",
    "From that moment until the platform confirmed the answer (its first message, if it needs"
    " several); restarts in between count.",
    CHANNEL,
    buckets=WAIT_BUCKETS,
)
TURNS: Final = _counter(
    "tapeway_turns_total",
    "Turns, counted when their end is committed, so once each: `done`, `failed` (with a notice),"
    " `stopped`, or `dead` (given up after crashes). `refused` are questions that got no turn: no"
    " access, the day's budget used up, or too many waiting.",
    CHANNEL,
    outcomes=("done", "failed", "stopped", "dead", "refused"),
)
MODEL_CALLS: Final = _counter(
    "tapeway_model_calls_total",
    "Requests to models, each repeat and fallback by itself; `rate_limited` is a 429, `cancelled`"
    " means that nobody waited for the rest. The probe at the start is not among them.",
    MODEL,
    outcomes=("ok", "rate_limited", "error", "cancelled"),
)
PROMPT: Final = _counter(
    "tapeway_prompt_tokens_total",
    "Prompt tokens of ended turns, cached ones included, as `tapeway usage` counts them: what the"
    " servers reported, else an estimate.",
    MODEL,
)
CACHED: Final = _counter(
    "tapeway_cached_tokens_total",
    "Those of the prompt tokens that the provider read from its cache.",
    MODEL,
)
COMPLETION: Final = _counter("tapeway_completion_tokens_total", "Tokens that models wrote.", MODEL)
COST: Final = _counter(
    "tapeway_cost_total", "What those tokens cost, in the currency of the models' prices.", MODEL
)
SYSTEM_TOKENS: Final = _counter(
    "tapeway_context_system_tokens_total",
    "Estimated tokens of prompts that are the system prompt; each model call counts its whole"
    " prompt. The next four are the rest of it.",
)
SCHEMA_TOKENS: Final = _counter(
    "tapeway_context_schema_tokens_total", "... that describe the offered tools."
)
PEOPLE_TOKENS: Final = _counter("tapeway_context_people_tokens_total", "... that people wrote.")
AGENT_TOKENS: Final = _counter(
    "tapeway_context_agent_tokens_total", "... that the agent wrote: answers, anchors and calls."
)
TOOL_TOKENS: Final = _counter("tapeway_context_tool_tokens_total", "... that are results of tools.")
TOOLS: Final = _counter(
    "tapeway_tool_runs_total",
    "Tool calls of models that ran or were refused; `timeout` took too long.",
    outcomes=("ok", "refused", "timeout", "failed"),
)
SENDS: Final = _counter(
    "tapeway_sends_total",
    "Messages of the outbox, counted when their end is committed, so once each: `sent`, `dead`"
    " (refused or given up), or `ambiguous` (held, since it may have arrived).",
    CHANNEL,
    outcomes=("sent", "dead", "ambiguous"),
)
EDITS: Final = _counter(
    "tapeway_edits_total", "Updates of partial text that were shown.", CHANNEL, looked_up=True
)
DROPPED: Final = _counter(
    "tapeway_edits_dropped_total",
    "Updates of partial text that were not shown: the platform refused them or took too long, or"
    " the answer was complete before the chat's limit allowed them.",
    CHANNEL,
    looked_up=True,
)
LIMITED: Final = _counter(
    "tapeway_rate_limits_total",
    "Requests that the platform refused because of its limits (429).",
    CHANNEL,
    looked_up=True,
)
UP: Final = _gauge(
    "tapeway_channel_up", "1 if the channel is connected and hears its platform, else 0.", CHANNEL
)
STORE: Final = _gauge("tapeway_store_up", "1 if the database accepts writes, 0 while it does not.")
LAG: Final = _histogram(
    "tapeway_event_loop_lag_seconds",
    "How late the event loop ran a timer, looked at twice a second: while it is late, everybody"
    " waits.",
    buckets=LAG_BUCKETS,
)
ROOM_READS: Final = _counter(
    "tapeway_room_reads_total",
    "Chats of which what is remembered, to tell conversations apart, was read from the database: at"
    " the first message after a start, or after another process worked on the chat. Later, memory"
    " has it, unless so many chats are active that context.memory_bytes does not hold them.",
)
DISK_FREE: Final = _gauge(
    "tapeway_disk_free_bytes", "Free bytes of the disk that holds the home folder."
)
DISK_SIZE: Final = _gauge("tapeway_disk_size_bytes", "The size of that disk.")

OWN: Final = (
    *(BUILD, MESSAGES, INBOX, OLDEST, UNPLACED, UNPLACED_OLDEST, OUTBOX),
    *(FIRST_TEXT, ANSWER, TURNS, SENDS),
    *(MODEL_CALLS, PROMPT, CACHED, COMPLETION, COST),
    *(SYSTEM_TOKENS, SCHEMA_TOKENS, PEOPLE_TOKENS, AGENT_TOKENS, TOOL_TOKENS, TOOLS),
    *(EDITS, DROPPED, LIMITED, UP, STORE, LAG, ROOM_READS, DISK_FREE, DISK_SIZE),
)
"""What the gateway itself counts."""

_PROCESS: Final = (
    ("process_cpu_seconds_total", "counter", "Seconds of CPU that the process has used."),
    ("process_resident_memory_bytes", "gauge", "Memory that the process occupies."),
    ("process_virtual_memory_bytes", "gauge", "Memory that the process has reserved."),
    ("process_start_time_seconds", "gauge", "When the process began, in seconds since 1970."),
    ("process_open_fds", "gauge", "Open file descriptors: files and connections."),
    ("process_max_fds", "gauge", "How many of them the process may open."),
)
PROCESS: Final = tuple(Metric(name, kind, text) for name, kind, text in _PROCESS)  # type: ignore[arg-type]
"""What the library reads of the process, on Linux only."""
