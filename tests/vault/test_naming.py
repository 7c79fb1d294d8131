"""Names: ids by the allow-list, slugs that are legal everywhere, phase names a person can read."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.errors import BadSessionId
from crucible.vault.naming import LONGEST_ID, check_session_id, new_session_id, phase_name, slugify

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/conformance/session_ids.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_session_ids_are_allowed_as_the_reference_allows_them(row: dict[str, Any]) -> None:
    if row["expected"]:
        assert check_session_id(row["input"]) == row["input"]
    else:
        with pytest.raises(BadSessionId):
            check_session_id(row["input"])


def test_an_id_with_a_last_newline_is_refused() -> None:
    with pytest.raises(BadSessionId):
        check_session_id("x\n")


def test_a_refused_id_is_shown_in_one_short_line() -> None:
    with pytest.raises(BadSessionId) as caught:
        check_session_id("a\n" * 500)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@given(st.text(max_size=300))
@settings(max_examples=200)
def test_every_slug_is_legal_and_short(title: str) -> None:
    slug = slugify(title)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= 60
    assert slug == slugify(title)


@given(st.text(max_size=300), st.dates(), st.integers(0, 30))
@settings(max_examples=200)
def test_every_new_id_is_free_and_allowed(title: str, day: date, used: int) -> None:
    taken: set[str] = set()
    for _ in range(used):
        taken.add(new_session_id(title, day, taken.__contains__))
    new = new_session_id(title, day, taken.__contains__)
    assert len(taken) == used
    assert new not in taken
    assert check_session_id(new).startswith(day.isoformat())
    assert len(new) < LONGEST_ID


def test_a_collision_gets_a_short_suffix() -> None:
    taken = {"2026-11-21-add-a-limiter", "2026-11-21-add-a-limiter-2"}
    day = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
    assert new_session_id("Add a limiter", day, taken.__contains__) == "2026-11-21-add-a-limiter-3"


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Add a rate limiter to this project", "add-a-rate-limiter-to-this-project"),
        ("Don't break Łódź, Ærø & Straße", "dont-break-lodz-aero-strasse"),
        ("Größe ändern: naïve café", "grosse-andern-naive-cafe"),
        ("Ｆｕｌｌｗｉｄｔｈ", "fullwidth"),
        ("Добавь rate limiter", "rate-limiter"),
        ("CON", "con-session"),
        ("com1", "com1-session"),
        ("", "session"),
        ("   …!?", "session"),
        ("one two three " * 20, "one-two-three-one-two-three-one-two-three-one-two-three-one"),
        ("x" * 100, "x" * 60),
        ("ab " + "x" * 100, "ab-" + "x" * 57),
        ("x" * 59 + " tail", "x" * 59),
        ("x" * 60 + " tail", "x" * 60),
    ],
)
def test_a_slug_says_its_title(title: str, slug: str) -> None:
    assert slugify(title) == slug


def test_titles_without_latin_letters_get_slugs_of_their_own() -> None:
    assert re.fullmatch(r"session-[0-9a-f]{6}", slugify("请帮我添加一个速率限制器"))
    assert slugify("请帮我添加一个速率限制器") != slugify("请帮我删除一个速率限制器")
    assert slugify(" 请  x".replace("x", "帮")) == slugify("请 帮")


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Add a rate limiter to this project", "Add a rate limiter to this project"),
        ("fix the flaky test.", "Fix the flaky test"),
        ("Hi Claude, could you please fix the flaky test?", "Fix the flaky test"),
        ("Hello there! Please, make it faster", "Make it faster"),
        ("why is this slow?", "Why is this slow?"),
        ("Thanks! Now fix `foo.py`, e.g. the retry loop. Then stop.", "Now fix foo.py, e.g. the retry loop"),
        ("continue", "Continue"),
        ("please", "Please"),
        ("can you ?", "Can you ?"),
        ("/compact keep the API", "/compact keep the API"),
        ("!git status", "!git status"),
        ("```py\nprint(1)\n```", "print(1)"),
        ("```\nTraceback: no\n```\nFix this error", "Fix this error"),
        ("~~~\na\n```\nb\n~~~~\nafter the fence", "After the fence"),
        ("```\nnever closed", "Never closed"),
        ("## Plan\n\n- [ ] do x", "Plan"),
        ("- [ ] do **all** of ~~that~~ *now*", "Do all of that now"),
        ("> [!note] quoted words", "Quoted words"),
        ("1. first thing\n2. second", "First thing"),
        ("see [[folder/note|the note]], [[other]] and [docs](http://x.y)", "See the note, other and docs"),
        ("<b>bold</b> request", "Bold request"),
        ("<!-- hidden\nwords -->shown words", "Shown words"),
        ("\x1b[31mred\x1b[0m alarm\x07", "Red alarm"),
        ("line one\r\nline two", "Line one"),
        ("---\n\n***\nreal words", "Real words"),
        ("请帮我添加一个速率限制器。谢谢", "请帮我添加一个速率限制器"),
        ("v1.2.3 is broken. Why?", "v1.2.3 is broken"),
        ("iOS build fails", "iOS build fails"),
        ("ßx test it", "ßx test it"),
        ("https://example.com/a?b=1 look at this", "https://example.com/a?b=1 look at this"),
        ("it's broken", "It's broken"),
        ("__init__.py and snake_case stay", "__init__.py and snake_case stay"),
        ("", "Untitled"),
        (" \n\t\n", "Untitled"),
        ("...", "Untitled"),
        ("\ud800", "Untitled"),
    ],
)
def test_a_phase_is_named_by_what_was_asked(prompt: str, name: str) -> None:
    assert phase_name(prompt) == name


def test_a_long_name_is_cut_at_a_word() -> None:
    name = phase_name("one two three " * 20)
    assert name == "One two three one two three one two three one two three one…"
    assert phase_name("x" * 100) == "X" + "x" * 58 + "…"


MARKDOWN = st.text(
    alphabet=st.sampled_from("ab .!?#>*_`~-[]()|<>/\n\r\t\"'。é\x1b\u2028 \ud8001"), max_size=200
)


@given(st.one_of(st.text(max_size=200), MARKDOWN))
@settings(max_examples=400)
def test_every_phase_name_is_one_short_line(prompt: str) -> None:
    name = phase_name(prompt)
    assert 0 < len(name) <= 60
    assert name == name.strip()
    assert not re.search("[\n\r\t\x00-\x1f\ud800-\udfff]", name)


@pytest.mark.parametrize(
    "text",
    ["<" * 50_000, "[" * 50_000, "[[" * 30_000, "`" * 50_000, "> " * 30_000, "<!--" * 20_000, "a. " * 30_000],
)
def test_hostile_prompts_do_not_take_long(text: str) -> None:
    began = datetime.now(UTC)
    phase_name(text)
    slugify(text)
    assert (datetime.now(UTC) - began).total_seconds() < 2
