"""What the agent answers to somebody who wants to be forgotten."""

from __future__ import annotations

from tests.kit.plain_channels import PlainChannel


def answers_of(channel: PlainChannel) -> tuple[str, str]:
    """Return the commands that stand for the buttons of the newest card: yes and no."""
    lines = [line for line in channel.posts[-1].text.splitlines() if ",choose" in line]
    yes, no = (line.partition("`")[2].rstrip("`") for line in lines)
    return yes, no
