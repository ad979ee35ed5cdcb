"""The order in which the stages are learned: each from what the ones before it really say.

A stage that judged the very logs it has learned from would look better to the next one than it is.
So every stage is learned twice on one half of the logs each, and judges the other half; what the
next one sees is honest. Then all is played again in the lanes that the model itself decides on,
mistakes included, and learned once more. The numbers that are kept are learned from both halves.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import orjson

from bench.irc import Log
from bench.linker.boost import Size, boost
from bench.linker.bot_bank import Bank
from bench.linker.bot_rooms import varied_bot_room
from bench.linker.play import Gathered, Lanes, Rows, gather, texts
from bench.linker.vary import Scene, chatlike, scene, varied
from tape.linking.features_text import gist
from tape.linking.model import Model
from tape.linking.weights import FORM, STAGES, from_numbers

SIZES: Final[Mapping[str, Size]] = {
    "pair": Size(110, 20),
    "lane": Size(90, 16, least=60),
    "new": Size(100, 10, rate=0.08, least=60),
    "relevance": Size(120, 22, least=200),
}
LEAST_NEW: Final = 0.4
COMMON: Final = 0.0003
"""The share of messages from which on a word has a weight of its own."""

MENTIONING: Final = 0.15
"""The share of lines that mention somebody from which on a log has a variant with hardly any."""

Stages = dict[str, tuple[int, list[Any]]]
Tell = Callable[[str], object]

_playing: list[Model] = []
"""The model of a worker's process."""


def train(logs: Sequence[Log], tell: Tell = print, *, workers: int = 2, seed: int = 1) -> bytes:
    """Learn from logs; return the file of numbers."""
    return _Training(logs, tell, workers, seed).run()


def weights(logs: Iterable[Log]) -> dict[int, float]:
    """Return the weights of common words, by their hash."""
    count: Counter[int] = Counter()
    messages = 0
    for text in texts(logs):
        messages += 1
        count.update(gist(text).words)
    least = max(2.0, messages * COMMON)
    return {
        word: round(math.log(messages / seen), 1) for word, seen in count.items() if seen > least
    }


class _Training:
    """The halves, and what was learned from each so far."""

    def __init__(self, logs: Sequence[Log], tell: Tell, workers: int, seed: int) -> None:
        self.tell, self.workers, self.seed = tell, workers, seed
        self.weights = weights(logs)
        self.scenes = [_scenes(logs[0::2], seed), _scenes(logs[1::2], seed)]
        self.stages: list[Stages] = [_untaught(), _untaught()]

    def run(self) -> bytes:
        """Learn all, and return what is kept."""
        pair = self._play("annotated", "pair")
        self._teach("pair", pair)
        kept = {"pair": self._keep("pair", pair)}
        lanes = self._play("annotated", "lane", each=2)
        self._teach("lane", lanes)
        self._teach("new", self._play("annotated", "new", each=3))
        own = self._play("own", "lane", each=2)
        for half in (0, 1):
            own[half].extend(lanes[half])
        self._teach("lane", own)
        kept["lane"] = self._keep("lane", own)
        last = self._play("own", "new", "relevance")
        for name in ("new", "relevance"):
            kept[name] = self._keep(name, last)
        return numbers_of(kept, self.weights, LEAST_NEW)

    def _play(self, lanes: Lanes, *stages: str, each: int = 1) -> list[Gathered]:
        """Play each half by what the other half has taught."""
        self.tell(f"play in {lanes} lanes for {' and '.join(stages)}")
        return [self._play_half(half, lanes, stages, each) for half in (0, 1)]

    def _play_half(self, half: int, lanes: Lanes, stages: tuple[str, ...], each: int) -> Gathered:
        numbers = numbers_of(self.stages[1 - half], self.weights, LEAST_NEW)
        gathered = Gathered()
        tasks = [(one, lanes, stages, at) for at, one in enumerate(self.scenes[half][::each])]
        with ProcessPoolExecutor(self.workers, initializer=_begin, initargs=(numbers,)) as pool:
            for rows in pool.map(_gather, tasks, chunksize=4):
                gathered.extend(rows)
        return gathered

    def _teach(self, name: str, gathered: list[Gathered]) -> None:
        """Learn a stage from each half."""
        each = [getattr(rows, name) for rows in gathered]
        with ThreadPoolExecutor(2) as pool:
            for half, learned in enumerate(pool.map(partial(self._learn, name), each)):
                self.stages[half][name] = learned

    def _keep(self, name: str, gathered: list[Gathered]) -> tuple[int, list[Any]]:
        """Learn a stage from both halves."""
        both = Rows()
        for rows in gathered:
            both.extend(getattr(rows, name))
        self.tell(f"{name}: {len(both.truth)} rows of {both.width} numbers")
        return self._learn(name, both)

    def _learn(self, name: str, rows: Rows) -> tuple[int, list[Any]]:
        return rows.width, boost(rows, SIZES[name], seed=self.seed)


def _scenes(logs: Sequence[Log], seed: int) -> list[Scene]:
    """Return the rooms to learn from: each log as it is, as it could have been, and with the agent.

    The agent's room is made of the words of the same half of the logs. Where people mention each
    other, as on IRC, one more room has hardly a mention; other logs are varied once more.
    """
    bank = Bank(logs)
    rooms: list[Scene] = []
    for log in logs:
        rooms += (scene(log), varied(log, seed), varied_bot_room(log, bank, seed).scene)
        if sum(bool(line.mentions) for line in log.lines) >= MENTIONING * len(log.lines):
            rooms.append(chatlike(log, seed))
        elif log.links == "conversations":
            rooms.append(varied(log, seed + 1))
    random.Random(seed).shuffle(rooms)  # so that each so many-th is one of any kind
    return rooms


def _untaught() -> Stages:
    return {name: (1, []) for name in STAGES}


def _begin(numbers: bytes) -> None:
    """Load the model of a worker."""
    _playing[:] = [from_numbers(numbers)]


def _gather(task: tuple[Scene, Lanes, tuple[str, ...], int]) -> Gathered:
    one, lanes, stages, seed = task
    return gather(one, _playing[0], lanes, stages, seed)


def numbers_of(
    stages: Mapping[str, tuple[int, list[Any]]], weights: Mapping[int, float], least_new: float
) -> bytes:
    """Return the bytes of a model's file; each stage has the width of its rows, and its trees."""
    kept = {name: {"width": width, "trees": trees} for name, (width, trees) in stages.items()}
    words = {str(word): weight for word, weight in sorted(weights.items())}
    return orjson.dumps({"form": FORM, "least_new": least_new, **kept, "weights": words})
