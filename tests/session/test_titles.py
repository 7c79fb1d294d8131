"""Short names from prompts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.session.titles import key_words, prompt_name, shortened
from tests.strategies_hostile import hostile_text


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Add a rate limiter to this project", "Add a rate limiter to this project"),
        ("No, jitter must never be zero. Add a floor.", "No, jitter must never be zero"),
        ("hi claude, can you please fix the bug in `app.py`?", "Fix the bug in app.py"),
        ("Please look at **this**: it fails", "Look at this: it fails"),
        ("is it safe to delete?", "is it safe to delete?"),
        ("Ok. Go on.", "Ok. Go on"),
        ("v2.1 is out. Upgrade.", "v2.1 is out"),
        ("Use a cache, e.g. redis, for it. Then test.", "Use a cache, e.g. redis, for it"),
        ("/review 12 --deep", "/review 12 --deep"),
        ("!git status", "git status"),
        ("# Big plan\n\nDo it", "Big plan"),
        ("Implement the following plan:\n\n# Rate limiter\n\nfoo", "Plan: Rate limiter"),
        ("- [ ] do *this* and __that__", "do this and that"),
        ("```py\nprint(1)\n```\nWhy does this print?", "Why does this print?"),
        ("```py\nprint(1)\n```", "print(1)"),
        ('Traceback (most recent call last):\n  File "x"\nValueError: x\nWhat is wrong?', "What is wrong?"),
        ("2026-11-21 10:00:00 ERROR boom\nat foo (x.js:1)\nread the log", "read the log"),
        ("[INFO] only a log", "[INFO] only a log"),
        ("Review https://github.com/x/y/pull/12?w=1 and [the docs](http://a.b/c) in [[Note|a note]]",
         "Review pull/12 and the docs in a note"),
        ("@src/app.py needs tests", "src/app.py needs tests"),
        ("Fix issue #12", "Fix issue #12"),
        ("<ide_selection>x</ide_selection>\nexplain", "x"),
        ("日本語のプロンプトです。これは長い文章です。", "日本語のプロンプトです"),
        ("\x1b[31mred\x1b[0m alert", "red alert"),
        ("", "Untitled"),
        (" \n\t\n", "Untitled"),
        ("...", "Untitled"),
        ("###", "Untitled"),
    ],
)  # fmt: skip
def test_a_prompt_gives_a_short_name(prompt: str, name: str) -> None:
    assert prompt_name(prompt) == name


@given(hostile_text(), st.integers(10, 90))
def test_a_name_is_one_line_within_the_limit_and_never_empty(prompt: str, limit: int) -> None:
    name = prompt_name(prompt, limit)
    assert name.strip()
    assert "\n" not in name
    assert len(name) <= limit + len("Plan: ")
    assert name == prompt_name(prompt, limit)


def test_a_long_name_is_cut_after_a_whole_word() -> None:
    assert prompt_name("word " * 40) == ("word " * 11) + "word…"
    assert shortened("a" * 20, 10) == "aaaaaaaaa…"
    assert shortened("short", 10) == "short"


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Add a rate limiter to this project", "Add rate limiter project"),
        ("To be or not to be", "not"),
        ("The a", "The a"),
        ("The a or the b of it", "b"),
        ("Schön & gut", "Schön gut"),
        ("…", "…"),
        ("one two three four five", "one two three"),
    ],
)
def test_small_words_do_not_get_into_a_file_name(title: str, words: str) -> None:
    assert key_words(title, 24 if "four" not in title else 15) == words
