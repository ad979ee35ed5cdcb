"""Which scripts have no spaces between words, and how a run of one is divided."""

from __future__ import annotations

import pytest

from tape.construct.keywords import words_of_task
from tape.linking.features_text import gist
from tape.scripts import characters, has_unspaced, is_unspaced, pairs, runs
from tape.search.tokenizer import terms

UNSPACED = (
    "打印机",
    "プリンター",
    "りんご",
    "프린터",
    "เครื่อง",
    "ປື້ມ",
    "សៀវភៅ",
    "စာအုပ်",
    "ㄅㄆㄇ",
    "𠮷野家",
)
SPACED = ("printer", "café", "принтер", "مرحبا", "हिन्दी", "שלום", "ήλιο", "ტექსტი", "ማተሚያ")


@pytest.mark.parametrize("word", UNSPACED)
def test_a_word_without_spaces_is_divided_everywhere(word: str) -> None:
    assert has_unspaced(f"x {word}")
    assert runs(f"x {word} 1") == [word]
    assert "".join(characters(word)) == word
    assert terms(word) == characters(word)
    assert words_of_task(word)[0] in pairs(characters(word))
    assert len(gist(word).words) > 0


@pytest.mark.parametrize("word", SPACED)
def test_a_word_between_spaces_stays_whole_everywhere(word: str) -> None:
    assert not has_unspaced(word)
    assert not any(map(is_unspaced, word))
    assert runs(word) == []
    assert terms(word) == [word]
    assert words_of_task(word) == [word]
    assert len(gist(word).words) == 1


def test_pairs_overlap_and_grow_to_the_characters_wanted() -> None:
    assert pairs(["a", "b", "c"]) == ["ab", "bc"]
    assert pairs(["a", "b", "cd"], least=3) == ["abcd", "bcd"]
    assert pairs(["a"]) == ["a"]
    assert pairs([]) == []


def test_names_with_underscores_are_one_keyword() -> None:
    assert words_of_task("where is max_open_files set") == ["max_open_files", "set"]
