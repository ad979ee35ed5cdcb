"""A2: reasoning is in no chat and in no later view, whatever a server wraps it in."""

from __future__ import annotations

from tests.model_servers.round_trips import THOUGHT
from tests.model_servers.scenario import Scenario
from tests.model_servers.wire import Answer, by_the_byte, call, calling, chunk, say, stream, whole

TAGS = ("<think", "think>", "thinking>", "THINK]")
FENCED = "Use it so:\n\n```html\n<think>not yet</think>\n```\nThat is all."


def hidden(name: str, *answers: Answer, sees: str = "Noon\\.", **more: object) -> Scenario:
    """Return a scenario whose reasoning must stay hidden."""
    fields = {"never": (THOUGHT, *TAGS), "calls": len(answers), **more}
    return Scenario(name, "A2", answers, (sees,), **fields)  # type: ignore[arg-type]


def texts(reasoning: str) -> Answer:
    """Return an answer after reasoning in a field of its own."""
    delta = {"role": "assistant", "content": None, reasoning: THOUGHT}
    return stream(chunk(delta), chunk({"content": "Noon."}), chunk({}, "stop"))


REASONING = (
    hidden("<think> in one chunk", say(f"<think>\n{THOUGHT}\n</think>\n\nNoon.")),
    hidden(
        "<think> split over chunks",
        say("<th", "ink>", THOUGHT[:9], THOUGHT[9:], "</thi", "nk>Noon."),
    ),
    hidden("<think> byte by byte", by_the_byte(say(*f"<think>{THOUGHT}</think>Noon."), 7)),
    hidden("<thinking>", say("<thinking>", THOUGHT, "</thinking>", "Noon.")),
    hidden("<think> after an empty line", say("\n", "<think>", THOUGHT, "</think>", "\nNoon.")),
    hidden("An empty <think> of Qwen 3", say("<think>\n\n</think>\n\n", "Noon.")),
    hidden(
        "<think> in a completion without a stream",
        whole({"content": f"<think>{THOUGHT}</think>Noon."}),
    ),
    hidden(
        "<think>, a tool call, <think> again",
        calling(text=f"<think>{THOUGHT}</think>"),
        say(f"<think>{THOUGHT}</think>Noon."),
    ),
    hidden(
        "<think> that never ends, cut by the length",
        say("<think>", THOUGHT, finish="length"),
        sees="Sorry.*(length|limit|thought|thinking|reasoning).*",
        ends="any",
    ),
    hidden(
        "<think> that never ends, and a plain stop",
        say("<think>", THOUGHT),
        sees="Sorry.*(said nothing|empty|thought|thinking|reasoning|no answer|without).*",
        ends="any",
    ),
    Scenario(
        "<think> in a block of code is text",
        "A2",
        (say(FENCED[:20], FENCED[20:]),),
        (".*<think>not yet</think>.*",),
        calls=1,
    ),
    Scenario(
        "<think> in the middle of an answer is text",
        "A2",
        (say("The tag ", "<think>", " opens it, ", "</think>", " closes it."),),
        ("The tag <think> opens it, </think> closes it\\.",),
        calls=1,
    ),
    Scenario(
        "A closing tag without an opening one, twice",
        "A2",
        (say(THOUGHT, "</think>", "\n\nNoon."), say(THOUGHT, "</think>", "\n\nOne.")),
        ("Noon\\.", "One\\."),
        asks=("When is lunch?", "And dinner?"),
        never=(THOUGHT, *TAGS),
        drafts=False,
        calls=2,
    ),
    hidden(
        "Magistral's [THINK], by setting",
        say("[THINK]", THOUGHT, "[/THINK]", "Noon."),
        settings={"AGENT__REASONING_TAGS": "think,[THINK]"},
    ),
    hidden(
        "A closing tag without an opening one, by setting",
        say(THOUGHT[:9], THOUGHT[9:], "</think>", "Noon."),
        settings={"AGENT__REASONING": "open"},
    ),
    hidden("reasoning_content beside the text", texts("reasoning_content")),
    hidden("reasoning beside the text", texts("reasoning")),
    hidden(
        "Magistral: thinking as a part of the content",
        stream(
            chunk({"role": "assistant", "content": ""}),
            chunk(
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]}
            ),
            chunk({"content": "Noon."}),
            chunk({}, "stop"),
        ),
    ),
    hidden(
        "Reasoning, a tool call and a second question",
        calling(call(), reasoning_content=THOUGHT),
        say("Noon."),
    ),
)
