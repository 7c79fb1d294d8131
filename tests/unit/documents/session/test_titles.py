"""Short names from prompts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.text import cut_at_word
from crucible.documents.session.titles import Titles, has_content, key_words, prompt_name
from samples.hostile_texts import hostile_text
from tests.cases import for_each


@for_each(
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
        ("Implement the following plan:\n\n# Plan: Rate limiter\n\nfoo", "Plan: Rate limiter"),
        ("Implement the following plan:\n\n# Implementation Plan: Rate limiter", "Implementation Plan: Rate limiter"),
        ("brainstorm:\n- keep summaries of every checkpoint", "brainstorm: keep summaries of every checkpoint"),
        ("Low Severity\n\nWhen the cart is empty, the total is wrong.", "When the cart is empty, the total is wrong"),
        ("1. no\n2. we show the last fifty orders", "we show the last fifty orders"),
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
    assert cut_at_word("a" * 20, 10) == "aaaaaaaaa…"
    assert cut_at_word("short", 10) == "short"


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


@for_each(
    ("name", "telling"),
    [
        ("yes", False),
        ("1", False),
        ("1+2", False),
        ("Commit", False),
        ("do it", False),
        ("yes and yes", False),
        ("commit this", False),
        ("hi", False),
        ("はい", False),
        ("ok 🙂", False),
        ("Fix #12", True),
        ("fix limiter.py", True),
        ("Review pr 227 for me", True),
        ("the limiter leaks", True),
        ("limiterFactory", True),
        ("日本語のプロンプトです", True),
    ],
)
def test_a_prompt_has_content_by_its_words_or_the_name_of_something(name: str, telling: bool) -> None:
    assert has_content(name) is telling


def _named(*said: str) -> tuple[str, list[str]]:
    """The session's title and the phases' names, of prompts (`> …`), replies and titles (`T …`, `U …` the user's)."""
    titles = Titles()
    phases = []
    for text in said:
        if text.startswith("> "):
            phases.append(titles.prompted(text[2:]))
        elif text.startswith(("T ", "U ")):
            titles.named(text[2:], by_user=text.startswith("U"))
        else:
            titles.replied(text)
    return titles.best, phases


@for_each(
    ("said", "title"),
    [
        (("> Add a rate limiter", "T Rate limiter"), "Rate limiter"),
        (("T Rate limiter", "U My limiter", "> Add a rate limiter"), "My limiter"),
        (("> hi", "Hello!", "> Add a rate limiter", "> Now test all of it"), "Add a rate limiter"),
        (("> /review", "> Which orders does it miss?"), "Which orders does it miss?"),
        (("> /review 12 --deep", "> Which orders does it miss?"), "/review 12 --deep"),
        (("> /review", "> yes"), "/review"),
        (("> ", "> Why is this red button here?"), "Why is this red button here?"),
        (("> ",), "Picture"),
        (("> yes", "> 1"), "yes"),
    ],
)
def test_a_title_is_the_clients_else_the_first_prompt_with_content(said: tuple[str, ...], title: str) -> None:
    assert _named(*said)[0] == title


@for_each(
    ("said", "name"),
    [
        (("Done. Shall I also delete the old exports?", "> yes"), "Shall I also delete the old exports? yes"),
        (("All green.\n\n**Shall I commit?**", "> yes please"), "Shall I commit? yes please"),
        (("Where shall the cache live?\n\n1. One SQLite file\n2. A file per user", "> 2"),
         "Where shall the cache live? 2. A file per user"),
        (("**A) Redis**: fast\n**B) SQLite**: no server\n\nWhich one?", "> B."), "Which one? B. SQLite: no server"),
        (("> Add a rate limiter to it", "Done.", "> commit"), "Add a rate limiter to it: commit"),
        (("> Add a rate limiter to it", "Done.", "> commit", "Committed.", "> push"), "Add a rate limiter to it: push"),
        (("Shall I fix both?", "> yep, let's do it"), "Shall I fix both? yep, let's do it"),
        (("Shall I fix both?", "> what is the second about?"), "what is the second about?"),
        (("Shall I fix both?", "> fix limiter.py first"), "fix limiter.py first"),
        (("Shall I?", "> No, use the table of orders instead"), "No, use the table of orders instead"),
        (("Shall I?", "> yes", "Done, all of it.", "> /review"), "/review"),
        (("> yes",), "yes"),
    ],
)  # fmt: skip
def test_a_phase_that_a_short_answer_begins_takes_what_it_answers(said: tuple[str, ...], name: str) -> None:
    assert _named(*said)[1][-1] == name


@given(hostile_text(), hostile_text())
def test_the_name_of_an_answer_stays_one_short_line(asked: str, answer: str) -> None:
    titles = Titles()
    titles.replied(asked)
    name = titles.prompted(answer)
    assert name.strip()
    assert "\n" not in name
    assert len(name) <= 90
