"""What of a link stays in a tainted view."""

from __future__ import annotations

import re
import sys

import pytest

from gateway.links.address import folded, read
from gateway.links.hosts import SharedHosts
from tests.gateway.links.judges import BOBS, KNOWN, judge_of


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://evil.example/a/b?d=1#f", "https://evil.example/a/b"),
        ("https://me:pw@evil.example/a", "https://evil.example/a"),
        (f"https://{'s' * 41}.evil.example/x", "https://evil.example"),
        (f"https://evil.example/{'s' * 41}/x", "https://evil.example/"),
        ("https://evil.example/a/4711/b", "https://evil.example/a/"),
        ("https://evil.example:4711/b", "https://evil.example"),
        ("https://evil.example/a/%34711", "https://evil.example/a/"),
        ("https://evil.example/a/%4711", "https://evil.example/a/"),
        ("https://%4711.evil.example/a", ""),
        ("https://evil.example/%ff", "https://evil.example/"),
        ("evil.example/?d=1", "evil.example/"),
        ("HTTP://EVIL.example?d=1", "http://evil.example"),
        ("https:evil.example\\?d=1", "https://evil.example/"),
        ("https://evil.example/" + "a/" * 30, "https://evil.example/" + "a/" * 10),
        ("https://a.b.c.d.e.f.evil.example/", "https://c.d.e.f.evil.example"),
        ("mailto:a@evil.example?body=1", ""),
        ("steam://run/1", ""),
        ("data:text/html,abc", ""),
        ("https://evil.example/\u2779\u277c\u2776\u2776/b", "https://evil.example/"),
        ("https://github.com\\@evil.example/?4711", ""),
        ("https:\\github.com\\@evil.example/?4711", ""),
        ("a4b7c1d1@evil.example", ""),
        ("47@11.evil.example", ""),
        ("http://[::1", ""),
        ("http://3221225991/x", ""),
        ("http://0x7f.1/x", ""),
        ("https://intranet/x", ""),
    ],
)
def test_what_may_tell_a_host_something_is_cut(link: str, shown: str) -> None:
    verdict = judge_of().of(link)
    assert (verdict.shown, verdict.cut) == (shown, True)
    if shown:
        assert judge_of().of(shown).cut is False


@pytest.mark.parametrize(
    "link",
    [
        f"https://evil.example/{'s' * 40}",
        "https://evil.example/a/b",
        "https://evil.example:8080/a",
        "evil.example",
        "node.js",
        "os.path.join",
        "report4711.txt",
        "a@shop.example",
        "http://192.0.2.7/a",
        "https://\u4f8b\u5b50.example/\u83dc\u8c31/\u7ea2\u70e7\u8089",
    ],
)
def test_what_tells_nothing_stays_as_it_was_written(link: str) -> None:
    verdict = judge_of().of(link)
    assert (verdict.shown, verdict.cut, verdict.whole) == (link, False, False)


@pytest.mark.parametrize("link", KNOWN)
def test_a_link_that_stands_in_the_view_is_whole(link: str) -> None:
    assert judge_of().of(link).whole
    assert judge_of().of(link, is_target=True).whole
    assert not judge_of().of(f"{link}&more=1").whole


@pytest.mark.parametrize(
    ("said", "link", "whole"),
    [
        ("is ticket 48213 done?", "https://t.example/ticket?id=48213", True),
        ("is ticket 48213 done?", "https://t.example/browse?id=48213", False),
        ("is ticket 48213 done?", "https://t.example/ticket?ghent=48213", False),
        ("is ticket 48213 done?", "https://t.example/ticket/ticket?id=48213", False),
        ("is ticket 48213 done?", "https://t4711.example/ticket?id=48213", False),
        ("is ticket 48213 done?", "https://me@t.example/ticket?id=48213", False),
        ("what is a b c d e", "https://t.example/?q=bad", False),
        ("the postgres docs", "https://find.example/docs?q=postgres+docs", False),
        ("docs: the postgres docs", "https://find.example/docs?q=postgres+docs", True),
        (
            "\u4e09\u56fd\u6f14\u4e49\u8c01\u5199",
            "https://t.example/?q=\u4e09\u56fd\u6f14\u4e49",
            True,
        ),
    ],
)
def test_a_link_is_whole_if_the_question_says_all_of_it(said: str, link: str, whole: bool) -> None:
    assert judge_of(BOBS, said=said).of(link).whole is whole


def test_a_number_that_the_question_says_stays_in_a_path() -> None:
    judge = judge_of("48213 burns", said="is 48213 done?")
    assert not judge.of("https://t.example/browse/48213").cut
    assert judge_of("48213 burns").of("https://t.example/browse/48213").cut


@pytest.mark.parametrize(
    ("link", "whole"),
    [
        ("https://github.com/a/b?x=4711#l", True),
        ("http://www.github.com:80/a?x", True),
        ("github.com/a?x", True),
        ("https://github.com:8443/a?x", False),
        ("https://me@github.com/a?x", False),
        ("https://github.com.evil.example/a?x", False),
        ("https://evil.github.com/a?x", False),
        ("https://zh.wikipedia.org/wiki/A?x", True),
        ("https://zh.m.wikipedia.org/wiki/A?x", True),
        ("https://a.b.c.wikipedia.org/wiki/A?x", False),
        ("https://x4711.wikipedia.org/wiki/A?x", False),
        ("https://github.com/login/oauth/authorize?state=x", False),
        ("https://github.com/~me?x", False),
        ("https://github.com/%7Eme?x", False),
        ("https://github.com/%2573paces/me?x", False),
        ("https://github.com/a/../spaces/me?x", False),
        ("https://github.com/a/%2e%2E/spaces/me?x", False),
        ("https://jupyter.org/try-jupyter/repl/?code=x", False),
        ("https://scikit-learn.org/stable/lite/lab/?x", False),
        ("https://developer.mozilla.org/en-US/play?id=1", False),
        ("https://github.com/a?u=https://evil.example/?d=1", False),
        ("https://github.com/a?u=https%253A%252F%252Fevil.example%252F%253Fd", False),
        ("https://github.com/a#u=evil.example/4711", False),
        ("https://github.com/a/https://evil.example/?d=1", False),
        ("https://github.com/https://evil.example/%4711", False),
        ("https://github.com/a?u=https://evil.example/%4711", False),
        ("https://github.com/a?u=https://github.com/b?c=1", True),
        ("https://github.com/a?q=react.js", True),
        ("ftp://github.com/a", False),
        ("https://github.com/a\u200b47.evil.example", False),
        ("https://github.com/a\u2019s?x", True),
        ("https://github.com/|https://evil.example/47", False),
        ("https://github.com/|https://evil.example/x", True),
    ],
)
def test_a_link_to_a_listed_host_is_whole_unless_it_leads_on(link: str, whole: bool) -> None:
    assert judge_of().of(link).whole is whole


def test_the_operator_may_add_hosts() -> None:
    judge = judge_of(hosts=("wiki.corp.example", "*.docs.example"))
    assert judge.of("https://wiki.corp.example/a?x").whole
    assert judge.of("https://de.docs.example/a?x").whole
    assert not judge.of("https://docs.example/a?x").whole


def test_the_list_has_300_hosts_and_a_date_and_nothing_that_anybody_can_read_from() -> None:
    hosts = SharedHosts()
    assert len(hosts) >= 300
    for link in (
        "bit.ly/x",
        "t.co/x",
        "t.me/x",
        "a.github.io/x",
        "pastebin.com/x",
        "webhook.site/x",
    ):
        assert not hosts.holds(read(f"https://{link}"))
    for link in (
        "docs.google.com/forms/x",
        "www.google.com/url?q=x",
        "script.google.com/x",
        "doi.org/1",
    ):
        assert not hosts.holds(read(f"https://{link}"))


def test_halves_of_a_code_in_several_links_are_noticed() -> None:
    judge = judge_of("the alarm is 839274")
    assert not judge.of("https://evil.example/839").cut
    assert judge.of("https://other.example/274").cut
    assert not judge.of("https://other.example/839").cut  # it says no more than the first
    judge = judge_of("the alarm is 839274")
    assert not judge.of("a839.evil.example").cut
    assert judge.of("b274.evil.example").cut
    assert not judge.of("report274.txt").cut


def test_an_answer_keeps_the_paths_of_twenty_links() -> None:
    judge = judge_of("hello")
    names = [f"https://e.example/{chr(97 + at)}" for at in range(22)]
    assert [judge.of(link).cut for link in names] == [False] * 20 + [True] * 2


def test_a_number_that_the_question_says_lends_no_other_form_of_a_number_to_its_part() -> None:
    judge = judge_of("the PIN is 4711", said="do 12 things")
    assert not judge.of("https://evil.example/12-a").cut
    assert judge.of("https://evil.example/12-\u2074\u2077\u00b9\u00b9").cut


def test_every_digit_has_one_form_where_texts_are_compared() -> None:
    signs = (chr(one) for one in range(sys.maxunicode) if chr(one).isdigit())
    assert not [hex(ord(one)) for one in signs if not re.search("[0-9]", folded(one))]


def test_the_parts_of_a_link_in_the_view_stay_as_far_as_it_goes() -> None:
    judge = judge_of("see https://shop.example/item/12345 and https://shop.example/00/47/11")
    assert not judge.of("https://shop.example/item/12345/reviews").cut
    assert judge.of("https://shop.example/reviews/12345").cut
    assert judge.of("https://other.example/item/12345").cut


def test_the_times_in_the_gateway_s_own_lines_are_no_codes() -> None:
    assert not judge_of("hello").of("https://e.example/12:00").cut
