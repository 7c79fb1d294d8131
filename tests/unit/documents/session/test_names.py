"""Names: ids by the allow-list, slugs that are legal everywhere, phase names a person can read."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import BadSessionId
from crucible.documents.session.session_id import LONGEST_ID, check_session_id, new_session_id, slugify
from tests.cases import for_each
from tests.paths import TESTS

ROWS = [json.loads(line) for line in (TESTS / "data/conformance/session_ids.jsonl").read_text("utf-8").splitlines()]


@for_each("row", ROWS)
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
def test_every_slug_is_legal_and_short(title: str) -> None:
    slug = slugify(title)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= 60
    assert slug == slugify(title)


@given(st.text(max_size=300), st.dates(), st.integers(0, 30))
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


@for_each(
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
    "text",
    ["<" * 50_000, "[" * 50_000, "[[" * 30_000, "`" * 50_000, "> " * 30_000, "<!--" * 20_000, "a. " * 30_000],
)
def test_hostile_titles_do_not_take_long(text: str) -> None:
    began = datetime.now(UTC)
    slugify(text)
    assert (datetime.now(UTC) - began).total_seconds() < 30
