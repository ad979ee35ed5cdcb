"""Rooms that are unlike a support channel, made up as annotated logs for `bench.context`.

    python -m bench.rooms DIR [--seed N]

pair     two people, one subject after another, with hours of silence between
meeting  eight people and an agenda: one conversation at a time, hardly a mention
burst    forty people at once in a few minutes, seven conversations through each other

What is said is made of a vocabulary a subject, so that words help about as much as in a real room,
and no more.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

LINES: Final = 1_400
HEARD: Final = 1_000
"""Lines that the room has heard before; the annotation begins after them."""

SUBJECTS: Final = (
    "garden tomato compost seeds balcony water leaves worms pots soil",
    "train ticket platform delay station luggage seat night border sleeper",
    "server disk backup restart memory logs kernel cable rack fan",
    "dinner oven recipe garlic lentils oil pan salt guests dessert",
    "budget invoice supplier quarter margin forecast contract payment tax audit",
    "bicycle tyre brake chain saddle pump gear rain helmet lock",
    "concert band stage tickets drums encore venue singer guitar queue",
    "school exam teacher homework maths essay grade trip bus class",
    "flat rent landlord heating window lease kitchen noise neighbour keys",
    "hospital doctor knee appointment x-ray pills nurse waiting pain referral",
    "release branch tests merge rollback deploy review flag ticket customer",
    "football goal keeper referee penalty coach bench league injury derby",
)
_NAMES: Final = (
    "ana ben cleo dario edda finn gita hugo ines jonas kira liam mona nils olga pavel"
    " quinn rosa sami tilde uwe vera willem xenia yusuf zoe abel bruno carla dmitri elif fatma"
    " goran heidi ivo jana kemal lotte marek nadia"
)
NAMES: Final = _NAMES.split()
QUESTIONS: Final = (
    "does anybody know how the {0} works with the {1}?",
    "why is the {0} always so {2} when I need the {1}?",
    "has the {0} arrived, or do we wait for the {1}?",
    "what would you do about the {0}?",
    "can someone look at the {0} and the {1} today?",
)
ANSWERS: Final = (
    "I would take the {0} first, then the {1}",
    "the {0} was fine last week",
    "not without the {1}, I think",
    "ask about the {0} again tomorrow",
    "yes",
    "no idea, sorry",
    "that is what I did with the {0} too",
    "maybe, but the {1} is {2}",
    "ok, thanks",
    "hm, and the {1}?",
    "good point",
    "it broke when I touched the {0}",
)
QUALITIES: Final = ("slow", "broken", "late", "expensive", "loud", "wet", "empty", "new")


@dataclass(slots=True)
class Talk:
    """One conversation: its words, its people, and its last lines with their speakers."""

    words: list[str]
    people: list[str]
    last: list[tuple[int, str]] = field(default_factory=list)

    def go_on(self, random: Random, number: int, mention: float) -> tuple[str, str]:
        """Return who says the next thing and what, as the line of this number.

        `mention` is the chance that it begins with the name of whoever spoke before.
        """
        before = self.last[-1][1] if self.last else None
        others = [who for who in self.people if who != before]
        who = random.choice(others or self.people)
        forms = ANSWERS if self.last and random.random() < 0.8 else QUESTIONS
        first, second = random.sample(self.words, 2)
        text = random.choice(forms).format(first, second, random.choice(QUALITIES))
        if before is not None and before != who and random.random() < mention:
            text = f"{before}: {text}"
        self.last.append((number, who))
        return who, text


@dataclass(slots=True)
class Room:
    """A log that is being made up."""

    random: Random
    minute: float = 0.0
    lines: list[str] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)

    def say(self, talk: Talk, mention: float) -> None:
        """Let somebody of a conversation say the next thing in it."""
        number = len(self.lines)
        before = talk.last[-1][0] if talk.last else number
        who, text = talk.go_on(self.random, number, mention)
        hour, minute = divmod(int(self.minute) % 1440, 60)
        self.lines.append(f"[{hour:02}:{minute:02}] <{who}> {text}")
        self.links.append((before, number))


def pair(random: Random) -> Room:
    """Two people: one subject after another."""
    room = Room(random)
    people = ["ana", "ben"]
    while len(room.lines) < LINES:
        talk = Talk(random.choice(SUBJECTS).split(), people)
        for _ in range(random.randint(4, 30)):
            room.say(talk, 0.02)
            room.minute += random.expovariate(1 / 2)
        room.minute += random.uniform(60, 400)
    return room


def meeting(random: Random) -> Room:
    """Eight people and an agenda."""
    room = Room(random)
    people = NAMES[:8]
    while len(room.lines) < LINES:
        talk = Talk(random.choice(SUBJECTS).split(), random.sample(people, random.randint(4, 8)))
        for _ in range(random.randint(25, 90)):
            room.say(talk, 0.05)
            room.minute += random.expovariate(1 / 0.4)
        room.minute += random.uniform(1, 3)
    return room


def burst(random: Random) -> Room:
    """Forty people, and seven conversations at once."""
    room = Room(random)
    talks: list[Talk] = []
    while len(room.lines) < LINES:
        if len(talks) < 7:
            subject = random.choice(SUBJECTS).split()
            talks.append(Talk(subject, random.sample(NAMES, random.randint(2, 5))))
        talk = random.choice(talks)
        room.say(talk, 0.35)
        room.minute += random.expovariate(1 / 0.06)
        if random.random() < 1 / 18:
            talks.remove(talk)
    return room


ROOMS: Final[dict[str, Callable[[Random], Room]]] = {
    "pair": pair,
    "meeting": meeting,
    "burst": burst,
}


def write(folder: Path, seed: int) -> Iterator[Path]:
    """Write each room as a log with its annotation; gives the logs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in ROOMS.items():
        room = make(Random(f"{name}/{seed}"))
        log = folder / f"{name}.ascii.txt"
        log.write_text("\n".join(room.lines) + "\n", encoding="utf-8")
        links = "\n".join(f"{earlier} {later} -" for earlier, later in room.links if later >= HEARD)
        (folder / f"{name}.annotation.txt").write_text(links + "\n", encoding="utf-8")
        yield log


def main() -> None:
    """Write the rooms into a folder."""
    parser = argparse.ArgumentParser(description="Make up rooms as annotated logs.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for path in write(options.folder, options.seed):
        print(path)


if __name__ == "__main__":
    main()
