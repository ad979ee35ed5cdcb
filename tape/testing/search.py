"""Checks of searches; a store with an index is checked before and after indexing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from tape.deletions import deletion
from tape.entry import NewEntry, anchor, event, tool_call, tool_result
from tape.errors import QueryRefused
from tape.handle import Tape
from tape.service import TapeService
from tape.snapshot import TapeSnapshot
from tape.store import TapeStore
from tape.testing.stores import said
from tape.testing.tapes import T, refusal

DATE: Final = "2026-01-0{}T00:00:00.000000+00:00"

TEXTS: Final = (
    "The nightly job failed",
    "昨天的部署为什么失败了?",
    "Straße, CAFÉ and \uff26ull width",
    'he said "to be or not to be"',
    "部,署 and 署部",
    "AND OR NOT NEAR(a, b) col:x * ^y -z",
    "😀 party",
    "カタカナ ｶﾀｶﾅ ひらがな 한국어",
    "be to or not",
    "the night of the job",
    "สวัสดีครับ",
)

ANSWERS: Final[Mapping[str, Sequence[int]]] = {
    "the": (9, 0),
    "THE  job": (9, 0),
    "night": (9,),
    "nightly failed": (0,),
    "部署": (4, 1),
    "署": (4, 1),
    "署部": (4,),
    "的部署为": (1,),
    "部署 昨天": (1,),
    "昨部": (),
    "strasse café full": (2,),
    "cafe": (),
    '"to be"': (3,),
    '"to be" "or not"': (3,),
    "“or not”": (8, 5, 3),
    '"be to': (8, 3),
    "to be": (8, 3),
    "カタカナ": (7,),
    "국": (7,),
    "สวัส": (10,),
    "NEAR(": (5,),
    "a AND b": (5,),
    "col:x": (5,),
    "-z": (5,),
    "x*": (5,),
    "😀": (),
    "😀 PARTY": (6,),
    "": (),
    "   ": (),
    '"': (),
    '""': (),
    "*-+^(){}[]:;'\\": (),
    "nothing of it": (),
    "\x00\ud800": (),
    "'; DROP TABLE entry; --": (),
}
"""Maps searches to the positions in TEXTS of their hits, newest first."""


@runtime_checkable
class IndexedStore(Protocol):
    """A store whose index a check can wait for."""

    async def indexed(self) -> None:
        """Wait until the index has every entry written so far."""
        ...


async def twice(store: TapeStore, check: Callable[[], Awaitable[None]]) -> None:
    await check()
    if isinstance(store, IndexedStore):
        await store.indexed()
        await check()


async def found(tape: Tape, text: str, **conditions: Any) -> list[str]:
    return [entry.text for entry in await tape.search(text, **conditions)]


async def plain_text_finds_matches_newest_first(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(*(said(text) for text in TEXTS))

    async def check() -> None:
        for text, positions in ANSWERS.items():
            hits = await found(tape, text)
            assert hits == [TEXTS[position] for position in positions], f"{text!r} found {hits}"

    await twice(store, check)


async def the_limit_takes_the_newest(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(*(said(f"plum {number}") for number in range(250)))

    async def check() -> None:
        first = await tape.search("plum", limit=120)
        assert [entry.text for entry in first] == [f"plum {n}" for n in range(249, 129, -1)]
        rest = await tape.search("plum", limit=999, before=first[-1].id)
        assert [entry.text for entry in rest] == [f"plum {n}" for n in range(129, -1, -1)]
        assert await tape.search("plum", limit=0) == []

    await twice(store, check)


async def every_condition_narrows_a_search(store: TapeStore) -> None:
    tape = Tape(store, T)
    moments = (DATE.format(5), DATE.format(3), DATE.format(4))
    await tape.append(
        *(
            NewEntry("message", {"role": "user", "content": f"tea {date[9]}"}, {}, date)
            for date in moments
        ),
        said("tea of ana", author="7", lane="a"),
        said("tea of bo", author="8", lane="a"),
        anchor("phase:tea", {"summary": "a cup", "open": ["milk", {"ticket": 4711}]}, lane="b"),
        tool_call([{"id": "c", "function": {"name": "brew", "arguments": '{"what": "tea"}'}}]),
        tool_result(["tea is ready", {"degrees": 96}]),
        event("message.edit", {"entry": 6, "text": "coffee", "content": "coffee"}),
    )
    searches: list[tuple[str, dict[str, Any], list[int]]] = [
        ("tea", {}, [8, 7, 5, 4, 3]),
        ("tea", {"kinds": ("message",)}, [7, 5, 4, 3]),
        ("tea", {"kinds": ("anchor",)}, [8]),
        ("tea", {"kinds": ("tool_call", "tool_result")}, [10, 9]),
        ("tea", {"kinds": ("tool_call", "anchor", "message"), "limit": 3}, [9, 8, 7]),
        ("tea", {"kinds": ()}, []),
        ("96", {"kinds": ("tool_result",)}, [10]),
        ("brew", {"kinds": ("tool_call",)}, [9]),
        ("coffee", {"kinds": ("event",)}, [11]),
        ("coffee", {}, [6]),
        ("milk 4711", {}, [8]),
        ("tea", {"until": "2026-02"}, [5, 4, 3]),
        ("tea", {"since": DATE.format(4), "until": DATE.format(5)}, [5]),
        ("tea", {"since": "2026-01-04", "until": "2026-02", "limit": 1}, [5]),
        ("coffee", {"author": "7"}, [6]),
        ("tea", {"author": "9"}, []),
        ("tea", {"lane": "a"}, [7]),
        ("coffee", {"lane": "a"}, [6]),
        ("tea", {"lane": "a", "author": "8", "before": 8}, [7]),
        ("tea", {"lane": "b", "kinds": ("anchor",), "since": "2026-02"}, [8]),
    ]

    async def check() -> None:
        for text, conditions, ids in searches:
            hits = [entry.id for entry in await tape.search(text, **conditions)]
            assert hits == ids, f"{text!r} with {conditions} found {hits}"

    await twice(store, check)


async def a_name_counts_together_with_words_of_the_text(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(
        said("[Room | Ana Lee (id 7)]\n> the bill", name="Ana Lee", text="the bill", author="7"),
        said("the bill again", name="Bo"),
        said("ask Ana", name="Bo"),
        said("", name="Ana Lee", text="", media=[{"kind": "file", "name": "plan.pdf"}]),
    )

    async def check() -> None:
        assert [entry.id for entry in await tape.search("ana bill")] == [3]
        assert [entry.id for entry in await tape.search('"ana lee" bill')] == [3]
        assert [entry.id for entry in await tape.search("ana")] == [5]
        assert [entry.id for entry in await tape.search("ana lee")] == []
        assert [entry.id for entry in await tape.search("room")] == []
        assert [entry.id for entry in await tape.search("plan.pdf")] == [6]

    await twice(store, check)


async def the_best_come_first_on_request(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(
        said("plum"), said("plum plum"), said(f"a plum among {'many ' * 30}words"), said("plum")
    )

    async def check() -> None:
        assert [entry.id for entry in await tape.search("plum", rank=True)] == [4, 6, 3, 5]
        assert [entry.id for entry in await tape.search("plum", rank=True, limit=2)] == [4, 6]

    await twice(store, check)


async def a_search_that_is_too_long_is_refused(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(said("a " * 100_000), said("x" * 1_000_000))
    for text in ("x" * 1_000_000, " ".join(map(str, range(300))), "部" * 300):
        await refusal(tape.search(text), QueryRefused, text[:40])

    async def check() -> None:
        assert [entry.id for entry in await tape.search("x" * 3000)] == [4]
        assert [entry.id for entry in await tape.search("a")] == [3]

    await twice(store, check)


async def the_longest_searches_are_answered(store: TapeStore) -> None:
    tape = Tape(store, T)
    numbers = " ".join(map(str, range(256)))
    characters = "".join(map(chr, range(0x4E00, 0x4F00)))
    mixed = " ".join(f"{chr(0x4E00 + n)}{chr(0x4E01 + n)}" for n in range(0, 250, 2))
    await tape.append(said(numbers, name="1 2 3"), said(characters), said(mixed, name="Ana"))

    async def check() -> None:
        for text, ids in (
            (numbers, [3]),
            (f'"{numbers}"', [3]),
            (characters, [4]),
            (mixed, [5, 4]),
        ):
            assert [entry.id for entry in await tape.search(text)] == ids, text[:40]

    await twice(store, check)


async def deleted_messages_are_not_found(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(*(said(f"plum {number}") for number in range(30)))
    await tape.append(
        event("message.edit", {"entry": 32, "text": "plum tart", "content": "plum tart"})
    )
    await tape.append(said("Be kind. plum 29", prompt_of=32))
    if isinstance(store, IndexedStore):
        await store.indexed()
    await tape.append(*(deletion(number, str(number)) for number in range(10, 33)))

    async def check() -> None:
        assert await found(tape, "plum", limit=3) == ["plum 6", "plum 5", "plum 4"]
        assert await found(tape, "plum", kinds=("event",)) == []

    await twice(store, check)


async def an_edited_message_is_found_by_its_new_text(store: TapeStore) -> None:
    tape = Tape(store, T)
    framed = {"inbox": 1, "text": "plum jam", "name": "Ana"}
    await tape.append(said("[Ana]\nplum jam", **framed), said("plum pie"), said("pear"))
    if isinstance(store, IndexedStore):
        await store.indexed()
    await tape.append(
        event("message.edit", {"entry": 3, "text": "quince", "content": "[Ana]\nquince"}),
        event("message.edit", {"entry": 5, "content": "plum tart"}),
        event("message.edit", {"entry": 4, "content": "fig"}),
        said("plum cake"),
        event("message.edit", {"entry": 4, "content": "plum fig"}),
        event("message.edit", {"entry": 12, "content": "[Ana] quince"}),  # the next: no message yet
        said("medlar"),
    )

    async def check() -> None:
        assert [entry.id for entry in await tape.search("plum")] == [9, 5, 4]
        assert await found(tape, "plum", limit=2) == ["plum cake", "plum tart"]
        assert await found(tape, "plum", limit=2, before=9) == ["plum tart", "plum fig"]
        assert sorted(await found(tape, "plum", rank=True)) == [
            *("plum cake", "plum fig", "plum tart")
        ]
        assert await found(tape, "pear") == await found(tape, "jam") == []
        assert await found(tape, "medlar") == ["medlar"]
        (hit,) = await tape.search("ana quince")
        assert (hit.id, hit.text, hit.meta["text"]) == (3, "[Ana]\nquince", "quince")
        then = TapeSnapshot(tape, 8)
        assert await found(then, "plum") == ["plum tart"]
        assert await found(then, "fig") == ["fig"]
        assert await found(TapeSnapshot(tape, 5), "plum", limit=9) == [
            *("plum pie", "[Ana]\nplum jam")
        ]

    await twice(store, check)
    await tape.append(deletion(4, "m"))
    assert await found(tape, "fig") == []
    assert (await tape.entries([3]))[3].text == "[Ana]\nplum jam"  # the tape itself only grows


async def an_edit_on_a_fork_counts_there_alone(store: TapeStore) -> None:
    tape = Tape(store, T)
    await tape.append(said("plum 1"), said("plum 2"), said("pear"))
    fork = await tape.fork()
    await tape.append(event("message.edit", {"entry": 5, "content": "plum, later"}))
    mine = await fork.append(said("plum 3"), said("plum 4"))
    changes = {3: "fig", 5: "plum, here", mine[1].id: "fig too"}
    await fork.append(
        *(event("message.edit", {"entry": n, "content": c}) for n, c in changes.items())
    )

    async def check() -> None:
        assert await found(fork, "plum") == ["plum 3", "plum, here", "plum 2"]
        assert await found(fork, "plum", limit=2) == ["plum 3", "plum, here"]
        assert await found(fork, "fig") == ["fig too", "fig"]
        assert await found(tape, "plum") == ["plum, later", "plum 2", "plum 1"]

    await twice(store, check)


async def every_kind_is_searched_on_request(store: TapeStore) -> None:
    tape = Tape(store, T)
    call = {"id": "c", "function": {"name": "light", "arguments": '{"what": "samovar"}'}}
    written = await tape.append(
        said("a samovar"),
        anchor("phase:samovar", {"summary": "it boils"}),
        event("samovar.lit", {"by": "Ana"}),
        event("stove", {"fuel": {"of": ["samovar"]}}),
        tool_call([call], turn="t"),
        tool_result(["the samovar is lit"], turn="t"),
        NewEntry("system", {"content": "Mind the samovar."}),
        NewEntry("error", {"message": "no samovar"}),
    )

    async def check() -> None:
        for entry in written:
            hits = await tape.search("samovar", kinds=(entry.kind,))
            assert entry in hits, entry
        everything = tuple(sorted({entry.kind for entry in written}))
        assert await tape.search("samovar", kinds=everything) == written[::-1]

    await twice(store, check)


async def a_result_that_quotes_a_deleted_message_is_not_found(store: TapeStore) -> None:
    tape = Tape(store, T)
    call = {"id": "c", "function": {"name": "tape_search", "arguments": "{}"}}
    await tape.append(
        said("plum"),
        tool_call([call], turn="t"),
        tool_result(['{"hits": [{"id": 3, "text": "plum"}]}'], turn="t"),
    )
    assert len(await tape.search("plum", kinds=("tool_result",))) == 1
    await tape.append(deletion(3, "m"))

    async def check() -> None:
        assert await tape.search("plum", kinds=("tool_result", "message")) == []

    await twice(store, check)


async def a_search_covers_one_tape(store: TapeStore) -> None:
    await store.append("one", [said("plum")])
    await store.append("two", [said("plum"), said("pear")])

    async def check() -> None:
        assert [entry.id for entry in await Tape(store, "one").search("plum")] == [3]
        assert [entry.id for entry in await Tape(store, "two").search("pear")] == [4]
        assert await Tape(store, "none").search("plum") == []

    await twice(store, check)


async def a_fork_is_searched_as_its_parent_and_itself(store: TapeStore) -> None:
    service = TapeService(store, Path("workspace"))
    await store.append(T, [said("plum 1"), said("plum 2")])
    async with service.fork_tape(T, merge_back=False) as fork:
        await store.append(T, [said("plum, later"), deletion(3, "3")])
        await fork.append(said("plum 3"), said("pear"))

        async def check() -> None:
            assert await found(fork, "plum") == ["plum 3", "plum 2"]
            assert await found(fork, "plum", limit=1) == ["plum 3"]
            assert await found(fork, "plum", limit=1, before=5) == ["plum 2"]

        await twice(store, check)


SEARCH_CHECKS: Final[tuple[Callable[[TapeStore], Awaitable[None]], ...]] = (
    plain_text_finds_matches_newest_first,
    the_limit_takes_the_newest,
    every_condition_narrows_a_search,
    a_name_counts_together_with_words_of_the_text,
    the_best_come_first_on_request,
    a_search_that_is_too_long_is_refused,
    the_longest_searches_are_answered,
    deleted_messages_are_not_found,
    an_edited_message_is_found_by_its_new_text,
    an_edit_on_a_fork_counts_there_alone,
    every_kind_is_searched_on_request,
    a_result_that_quotes_a_deleted_message_is_not_found,
    a_search_covers_one_tape,
    a_fork_is_searched_as_its_parent_and_itself,
)
