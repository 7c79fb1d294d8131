"""Items as notes read back unchanged, including a user's edits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from markdown_it import MarkdownIt

from crucible.core.errors import BadSessionId, UsageError
from crucible.documents.knowledge.item_notes import HEADINGS, read_item, render_item, slug_of
from crucible.documents.knowledge.items import (
    Category,
    Item,
    ItemScope,
    ItemSource,
    ItemStatus,
    ItemType,
    Origin,
    tidy_tag,
)
from crucible.documents.markdown.source import Source
from samples.hostile_texts import hostile_text
from tests.cases import for_each
from tests.unit.memory.knowledge.sample_items import any_item, failure_item, item_of

GOLDEN = Path(__file__).parent / "item.md"
NAME = "retries-without-jitter-come-back-all-at-once"


def read(text: str, name: str = NAME) -> Item:
    item, problems = read_item(Source(text), name)
    assert not problems
    assert item is not None
    return item


# --- the law ---------------------------------------------------------------------------------------------------------


@given(any_item())
@example(failure_item())
@example(item_of("# #", "```text\nx\n```"))
@example(item_of("x", "- ```\n  a\n  ```\n\n## Resolution\n\nforged"))
@example(item_of("x", "1. ```py\n   a\n   ```"))
def test_any_item_is_read_back(item: Item) -> None:
    text = render_item(item)
    assert read(text) == item
    assert render_item(read(text)) == text
    assert Source.from_bytes(Source(text).to_bytes()) == Source(text)


@given(any_item())
def test_line_ends_that_an_editor_changed_change_nothing(item: Item) -> None:
    assert read(render_item(item).replace("\n", "\r\n")) == item


@given(any_item())
def test_foreign_text_makes_no_heading_no_html_and_no_property(item: Item) -> None:
    text = render_item(item)
    head, _, body = text.partition("\n---\n")
    assert yaml.safe_load(head.removeprefix("---\n")).keys() <= {
        "type", "title", "status", "scope", "project", "domain", "tags", "source", "session", "phase", "also_from", "merged", "category",
        "confidence", "verified", "verification", "verified_by", "verified_at", "failed_checks", "use_count", "useful_count", "last_used",
        "created", "updated", "retired", "retired_because", "format",
    }  # fmt: skip
    tokens = MarkdownIt("commonmark").parse(body)
    heads = [(one.tag, after.content) for one, after in pairwise(tokens) if one.type == "heading_open"]
    assert sum(tag == "h1" for tag, _ in heads) == 1
    assert {content for tag, content in heads if tag != "h1"} <= set(HEADINGS.values())
    assert not any(one.type == "html_block" for one in tokens)


def test_a_note_is_as_it_was() -> None:
    assert render_item(failure_item()) == GOLDEN.read_text("utf-8")


def test_a_small_item_makes_a_small_note() -> None:
    text = render_item(Item(ItemType.OBSERVATION, "Tests take long"))
    assert text.endswith("\n---\n\n# Tests take long\n")
    assert yaml.safe_load(text.split("---\n")[1]) == {
        "type": "observation", "title": "Tests take long", "status": "active", "scope": "project", "source": "manual",
        "verified": False, "use_count": 0, "useful_count": 0, "format": 2,
    }  # fmt: skip


# --- what an item can be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("session", ["../x", "a/b", "a]]b", ".x", "a" * 129])
def test_an_id_that_names_no_session_is_refused(session: str) -> None:
    with pytest.raises(BadSessionId):
        ItemSource(Origin.SESSION, session)
    with pytest.raises(BadSessionId):
        item_of("x", also_from=(session,))


@pytest.mark.parametrize(
    "wrong", [{"confidence": 1.1}, {"confidence": float("nan")}, {"use_count": -1}, {"useful_count": -1}]
)
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        item_of("x", **wrong)


def test_all_that_an_item_says_is_searched() -> None:
    said = failure_item().searched
    for part in ("Every client waited", "was a constant", "want *jitter*", "random.uniform"):
        assert part in said
    assert item_of("x").searched == ""


def test_tags_are_such_as_obsidian_can_have() -> None:
    assert [tidy_tag(one) for one in ("#two words", "http/client", " -x- ", "é", "!?")] == [
        "two-words", "http/client", "x", "é", "",
    ]  # fmt: skip


@given(hostile_text())
def test_every_title_names_a_file(title: str) -> None:
    slug = slug_of(item_of(title).title)
    assert slug
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(slug) <= 70


def test_a_title_without_latin_letters_has_a_name_of_its_own() -> None:
    assert slug_of("重试要有抖动") == slug_of("重试要有抖动") != slug_of("重试")
    assert slug_of("重试").startswith("item-")
    assert slug_of("Session ids are names") == "session-ids-are-names"


# --- a human's edits -------------------------------------------------------------------------------------------------


@for_each(
    ("old", "new", "changes"),
    [
        ("type: failure", "type: Pattern", {"type": ItemType.PATTERN}),
        ("status: active", "status: retired", {"status": ItemStatus.RETIRED}),
        ("scope: domain", 'scope: "global"', {"scope": ItemScope.GLOBAL}),
        ("project: shop", "project: 2048", {"project": "2048"}),
        ("domain: networking", "domain: Net works", {"domain": "Net works"}),
        ("tags:\n  - retry\n  - http/client", "tags: a, b", {"tags": ("a", "b")}),
        ("confidence: 0.9", "confidence: 1", {"confidence": 1.0}),
        ("use_count: 7", "use_count: 9", {"use_count": 9}),
        ("useful_count: 5\n", "", {"useful_count": 0}),
        (
            "## Root cause\n\nThe wait was a constant.",
            "## root cause\nIt did *not* vary.",
            {"failure.root_cause": "It did *not* vary."},
        ),
        ("## Resolution", "## Resolution\n\nFirst:", {"failure.resolution": "First:\n\n" + failure_item().failure.resolution}),
        ("category: knowledge_gap", "category: tool_misuse", {"failure.category": Category.TOOL_MISUSE}),
        ("verified: true", "verified: false", {"verification.passed": False}),
        ("verified_by: ann", "verified_by: bob", {"verification.by": "bob"}),
        ("source: session", "source: import", {"source.origin": Origin.IMPORT}),
        ("|phase-2]]", "|phase-3]]", {"source.phase": "phase-3"}),
        ('session: "[[', 'session: "[[old/', {}),
        ("Every client waited", "Each client waited", {"text": failure_item().text.replace("Every", "Each")}),
        (
            "\n## Resolution\n",
            "\n## Notes\n\nmine\n\n## Resolution\n",
            {"text": failure_item().text + "\n\n## Notes\n\nmine"},
        ),
        ('updated: "2026-11-21T20:26:47Z"', "updated: 2026-11-21T20:26:47", {}),
    ],
)  # fmt: skip
def test_every_part_is_read_as_it_was_edited(old: str, new: str, changes: dict[str, Any]) -> None:
    text = render_item(failure_item())
    assert text.count(old) == 1
    expected = failure_item()
    for name, value in changes.items():
        part, _, inner = name.rpartition(".")
        inside = replace(getattr(expected, part), **{inner: value}) if part else value
        expected = replace(expected, **{part or inner: inside})
    assert read(text.replace(old, new)) == expected


@pytest.mark.parametrize(
    ("changed", "title"),
    [("# Retries without jitter come back all at once", "heading"), ("title: Retries without jitter come back all at once", "property")],
)  # fmt: skip
def test_a_changed_title_counts_and_is_reported(changed: str, title: str) -> None:
    text = render_item(failure_item())
    new = {"heading": "# Jitter", "property": "title: Jitter"}[title]
    item, problems = read_item(Source(text.replace(changed, new)), NAME)
    assert item
    assert item.title == "Jitter"
    assert [one.code for one in problems] == ["two-titles"]


def test_a_note_by_hand_needs_little() -> None:
    item = read("---\ntype: pattern\nsource: manual\n---\nUse `uv`.\n", "use-uv")
    assert (item.title, item.text, item.use_count, item.scope) == ("use uv", "Use `uv`.", 0, ItemScope.PROJECT)
    assert read("---\ntype: pattern\nsource: manual\n---\n\n# Own title\n\nx\n").title == "Own title"


@for_each(
    ("old", "new", "code"),
    [
        ("status: active", "status: gone", "bad-field"),
        ("scope: domain", "scope: 7", "bad-field"),
        ("confidence: 0.9", "confidence: 90", "bad-field"),
        ("use_count: 7", "use_count: many", "bad-field"),
        ("useful_count: 5", "useful_count: -1", "bad-field"),
        ('last_used: "', 'last_used: "on ', "bad-field"),
        ("category: knowledge_gap", "category: luck", "bad-field"),
        ("verified: true", "verified: mostly", "bad-field"),
        ('session: "[[sessions/2', 'session: "[[a b/ 2', "bad-field"),
    ],
)
def test_an_invalid_value_is_reported_and_harms_nothing_else(old: str, new: str, code: str) -> None:
    text = render_item(failure_item()).replace(old, new)
    item, problems = read_item(Source(text), NAME)
    assert [one.code for one in problems] == [code]
    assert text.split("\n")[problems[0].line - 1].startswith(new[:8])
    assert item is not None
    assert (item.title, item.text, item.failure.resolution) == (
        failure_item().title,
        failure_item().text,
        failure_item().failure.resolution,
    )


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("# Mine\n", "no-frontmatter", 1),
        ("", "no-frontmatter", 1),
        ("---\ntitle: x\n---\n", "no-type", 1),
        ("---\na: 1\ntype: joke\n---\n", "bad-field", 3),
        ("---\ntype: [x\n---\n", "no-type", 1),
        ("---\ntype: pattern\n", "no-frontmatter", 1),
    ],
)
def test_what_is_no_item_is_none_and_says_why(text: str, code: str, line: int) -> None:
    item, problems = read_item(Source(text), "x")
    assert item is None
    assert (code, line) in [(one.code, one.line) for one in problems]


def test_a_missing_source_is_reported() -> None:
    item, problems = read_item(Source("---\ntype: pattern\n---\n"), "x")
    assert item is not None
    assert [one.code for one in problems] == ["no-source"]
