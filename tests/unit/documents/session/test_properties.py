"""Frontmatter of a session note, key by key: what each value means, and what is said when it does not fit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from crucible.core.errors import BadSessionId
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.markup import render_session
from crucible.documents.session.properties import (
    KEYS,
    FieldReader,
    format_time,
    parse_time,
    properties_of,
    read_fields,
    subagent_value,
)
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import AgentRef, Session, Status, SubagentRef
from crucible.documents.session.session_id import check_session_id
from crucible.documents.session.session_reader import read_session
from tests.cases import for_each

WHEN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
HEAD = "type: session\nsession_id: s\nstarted: 2026-11-21T20:26:47Z\nstatus: active\n"


def read(properties: str, name: str = "the-name") -> Session:
    return read_session(Source(f"---\n{HEAD}{properties}---\n"), name)


def said(session: Session) -> list[tuple[str, int, str]]:
    return [(p.code, p.line, p.message) for p in session.problems]


# --- times --------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "time"),
    [
        ("2026-11-21T20:26:47Z", WHEN),
        ("2026-11-21T20:26:47", WHEN),
        ("2026-11-21 20:26:47", WHEN),
        ("2026-11-21T22:26:47+02:00", WHEN),
        ("2026-11-21T20:26:47.500Z", WHEN.replace(microsecond=500_000)),
        ("2026-11-21", WHEN.replace(hour=0, minute=0, second=0)),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_read_as_utc(text: str, time: datetime | None) -> None:
    found = parse_time(text)
    assert found == time
    assert found is None or found.tzinfo is UTC


def test_times_are_written_in_utc_to_the_second() -> None:
    assert format_time(WHEN) == "2026-11-21T20:26:47Z"
    assert format_time(WHEN.replace(microsecond=999_999)) == "2026-11-21T20:26:47Z"
    assert format_time(WHEN.astimezone(timezone(timedelta(hours=-5)))) == "2026-11-21T20:26:47Z"


# --- a whole note -------------------------------------------------------------------------------------------------

PROPERTIES = """\
ended: 2026-11-21T20:26:52Z
project: shop
branch: main
channel: dev
participants:
  - claude-code@2.1.197
  - reviewer
model: claude-opus-4-8
tokens_used: 1944
tokens_cached: 0
subagents:
  - session: s-clock
    agent: general-purpose
    model: small
    tokens: 324
  - session: s-other
subagent_logs:
  - "[[s-clock]]"
parent: "[[p]]"
continues: "[[before]]"
continued_by: "[[after]]"
resume_point: phase-2
pause_reason: lunch
sources:
  - claude-code:abc
synced_to:
  - claude-code:1277
redactions: 2
tags:
  - session
aliases:
  - One
"""


def test_every_key_is_read_into_its_field() -> None:
    session = read(PROPERTIES)
    assert session.problems == ()
    assert session == Session(
        id="s",
        started=WHEN,
        status=Status.ACTIVE,
        ended=WHEN + timedelta(seconds=5),
        project="shop",
        branch="main",
        channel="dev",
        participants=(AgentRef("claude-code", "2.1.197"), AgentRef("reviewer")),
        model="claude-opus-4-8",
        tokens_used=1944,
        tokens_cached=0,
        subagents=(SubagentRef("s-clock", "general-purpose", "small", 324), SubagentRef("s-other")),
        parent="p",
        continues="before",
        continued_by="after",
        resume_point="phase-2",
        pause_reason="lunch",
        sources=("claude-code:abc",),
        synced_to=("claude-code:1277",),
        redactions=2,
        tags=("session",),
        aliases=("One",),
    )


def test_the_properties_hold_every_key_as_it_was_read() -> None:
    session = read("mood: 3\n" + PROPERTIES)
    assert list(session.properties)[:5] == ["type", "session_id", "started", "status", "mood"]
    assert session.properties["mood"] == 3
    assert session.properties["subagent_logs"] == ["[[s-clock]]"]


def test_a_bare_note_has_no_value_anywhere() -> None:
    assert read("") == Session(id="s", started=WHEN)


def test_the_file_s_name_stands_in_for_a_missing_id() -> None:
    session = read_session(Source("---\ntype: session\nstarted: 2026-11-21T20:26:47Z\nstatus: paused\n---\n"), "a-name")
    assert session.id == "a-name"
    assert said(session) == [("missing-key", 1, "session_id is missing")]


@pytest.mark.parametrize("key", ["session_id", "started", "status"])
def test_a_required_key_that_is_missing_or_empty_is_named(key: str) -> None:
    lines = [line for line in HEAD.split("\n") if line and not line.startswith(f"{key}:")]
    for more in ([], [f"{key}:"]):
        session = read_session(Source("\n".join(["---", *lines, *more, "---"])), "n")
        assert said(session) == [("missing-key", 1, f"{key} is missing")]


def test_a_note_without_frontmatter_is_no_session_note_yet() -> None:
    session = read_session(Source("# Title\n"), "n")
    assert said(session) == [("no-frontmatter", 1, "no frontmatter, so not a session note yet")]
    assert (session.id, session.status, session.started) == ("n", None, None)


def test_another_type_is_said_on_its_line_and_nothing_else_is() -> None:
    session = read_session(Source("---\na: 1\ntype: note\n---\n"), "n")
    assert said(session) == [("not-a-session", 3, "type is not `session`")]
    assert said(read_session(Source("---\na: 1\n---\n"), "n")) == [("not-a-session", 1, "type is not `session`")]


def test_problems_of_the_yaml_are_told_too() -> None:
    assert said(read("project: a\nproject: b\n")) == [
        ("duplicate-key", 7, "'project' is repeated here; the last one wins")
    ]


# --- values that do not fit ---------------------------------------------------------------------------------------


@for_each(
    ("properties", "message"),
    [
        ("project: [a]\n", "project: ['a'] is not a text"),
        ("project: {a: 1}\n", "project: {'a': 1} is not a text"),
        ("tokens_used: many\n", "tokens_used: 'many' is not a whole number"),
        ("tokens_used: -1\n", "tokens_used: -1 is not a whole number"),
        ("tokens_used: 1.5\n", "tokens_used: 1.5 is not a whole number"),
        ("tokens_cached: true\n", "tokens_cached: True is not a whole number"),
        ("redactions: []\n", "redactions: [] is not a whole number"),
        ("ended: soon\n", "ended: 'soon' is not a time like 2026-11-21T20:26:47Z"),
        ("ended: 12\n", "ended: 12 is not a time like 2026-11-21T20:26:47Z"),
        ("sources: {a: b}\n", "sources: {'a': 'b'} is not a list of strings"),
        ("tags: [[a]]\n", "tags: [['a']] is not a list of strings"),
        ("aliases:\n  - a: 1\n", "aliases: [{'a': 1}] is not a list of strings"),
        ("subagents: x\n", "subagents: 'x' is not a list of maps with a session"),
        ("subagents:\n  - agent: a\n", "subagents: [{'agent': 'a'}] is not a list of maps with a session"),
        ("parent: [p]\n", "parent: ['p'] is not a text"),
    ],
)
def test_a_value_that_does_not_fit_counts_as_absent_and_is_said_with_its_line(properties: str, message: str) -> None:
    session = read(properties)
    assert said(session) == [("bad-field", 6, message)]
    assert session == Session(id="s", started=WHEN)


def test_a_long_value_is_cut_where_it_is_complained_about() -> None:
    (problem,) = read(f"ended: {'x' * 100}\n").problems
    assert problem.message == f"ended: '{'x' * 59} is not a time like 2026-11-21T20:26:47Z"


def test_an_unknown_status_is_said_and_counts_as_none() -> None:
    session = read_session(Source("---\n" + HEAD.replace("active", "done") + "---\n"), "n")
    assert session.status is None
    assert said(session) == [("bad-field", 5, "status: 'done' is not one of active, paused, completed, failed")]


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_read(status: Status) -> None:
    assert read_session(Source("---\n" + HEAD.replace("active", status) + "---\n"), "n").status is status


@pytest.mark.parametrize(
    ("value", "text"),
    [("2", "2"), ("2.5", "2.5"), ("true", "True"), ("''", None), ("", None), ("a b", "a b")],
)
def test_a_text_may_be_written_as_a_number(value: str, text: str | None) -> None:
    assert read(f"branch: {value}\n").branch == text


@for_each(
    ("value", "target"),
    [
        ('"[[p]]"', "p"),
        ('"[[p|shown]]"', "p"),
        ('"[[p#heading]]"', "p"),
        ('" [[p]] "', "p"),
        ("p", "p"),
        ('" p "', "p"),
        ('"[[p"', "[[p"),
        ('"p]]"', "p]]"),
        ('"[[#h]]"', None),
        ('"[[]]"', None),
        ('" "', None),
        ('""', None),
    ],
)
def test_a_link_is_read_as_its_bare_target(value: str, target: str | None) -> None:
    assert read(f"continues: {value}\n").continues == target


@pytest.mark.parametrize(
    ("properties", "texts"),
    [
        ("sources: a, b\n", ("a, b",)),
        ("sources: [a, 1, true, null]\n", ("a", "1", "True")),
        ("sources:\n", ()),
        ("sources: 7\n", ("7",)),
    ],
)
def test_sources_are_a_list_or_one_text(properties: str, texts: tuple[str, ...]) -> None:
    assert read(properties).sources == texts


def test_tags_and_aliases_may_be_a_comma_list_as_in_obsidian() -> None:
    session = read("tags: a, b\naliases: c, d\n")
    assert (session.tags, session.aliases) == (("a", "b"), ("c", "d"))


def test_one_subagent_may_stand_without_a_list() -> None:
    assert read("subagents:\n  session: x\n  tokens: 5\n").subagents == (SubagentRef("x", tokens=5),)


def test_a_subagent_s_fields_are_texts_and_its_tokens_a_number() -> None:
    assert read("subagents:\n  - session: x\n    agent: 5\n    model: 1.5\n    tokens: many\n").subagents == (
        SubagentRef("x", "5", "1.5", None),
    )


def test_subagents_that_fit_are_kept_beside_one_that_does_not() -> None:
    session = read("subagents:\n  - session: x\n  - session: 1\n  - y\n")
    assert session.subagents == (SubagentRef("x"),)
    assert [p.code for p in session.problems] == ["bad-field"]


def test_the_reader_says_line_one_for_a_key_that_stands_nowhere() -> None:
    source = Source("---\na: 1\nb: 2\n---\n")
    reader = FieldReader(source, find_frontmatter(source))
    assert [reader.line_of(key) for key in ("a", "b", "c")] == [2, 3, 1]


def test_problems_come_in_the_order_of_their_lines() -> None:
    session = read("tags: [[a]]\nproject: [a]\nended: x\n")
    assert [p.line for p in session.problems] == [6, 7, 8]


# --- and back -----------------------------------------------------------------------------------------------------


def test_a_new_note_holds_its_keys_in_their_order_and_no_empty_ones() -> None:
    session = read("mood: 3\n" + PROPERTIES)
    text = render_session(session)
    start, ours = PROPERTIES.index("sources:"), PROPERTIES.index("tags:")
    mine = PROPERTIES[start:ours]
    whole = f"{PROPERTIES[:start]}tags:\n  - session\nmood: 3\n"
    whole = whole.replace("ended: 2026-11-21T20:26:52Z\n", 'ended: "2026-11-21T20:26:52Z"\nstatus: active\n')
    whole = whole.replace(
        '  - "[[s-clock]]"\n', '  - "[[sessions/s-clock|s-clock]]"\n  - "[[sessions/s-other|s-other]]"\n'
    )
    for name in ("p", "before", "after"):
        whole = whole.replace(f'"[[{name}]]"', f'"[[sessions/{name}|{name}]]"')
    local = 'aliases:\n  - One\ndate: "2026-11-21"\nstarted_local: "2026-11-21T20:26:47"\n'
    head = f'---\ntype: session\nsession_id: s\n{local}started: "2026-11-21T20:26:47Z"\n'
    assert text == f"{head}{whole}---\n\n# s\n\n<!-- crucible\n{mine}-->\n"


def test_a_bare_session_has_seven_properties() -> None:
    assert properties_of(Session("s", WHEN)) == {
        "type": "session",
        "session_id": "s",
        "date": "2026-11-21",
        "started_local": "2026-11-21T20:26:47",
        "started": "2026-11-21T20:26:47Z",
        "status": "active",
        "format": 2,
    }


def test_without_a_start_or_a_status_none_is_written() -> None:
    assert properties_of(Session("s", status=None)) == {"type": "session", "session_id": "s", "format": 2}


def test_a_count_of_nothing_is_written() -> None:
    written = properties_of(Session("s", tokens_used=0, tokens_cached=0, redactions=0))
    assert [written[key] for key in ("tokens_used", "tokens_cached", "redactions")] == [0, 0, 0]


@for_each(
    ("field", "value", "written"),
    [
        ("ended", WHEN, "2026-11-21T20:26:47Z"),
        ("status", Status.PAUSED, "paused"),
        ("parent", "p", "[[sessions/p|p]]"),
        ("continues", "p", "[[sessions/p|p]]"),
        ("continued_by", "p", "[[sessions/p|p]]"),
        ("participants", (AgentRef("a", "1"), AgentRef("b")), ["a@1", "b"]),
        ("sources", ("a", "b"), ["a", "b"]),
        ("tags", ("t",), ["t"]),
        ("model", "m", "m"),
    ],
)
def test_a_field_is_written_as_its_property(field: str, value: Any, written: Value) -> None:
    found = properties_of(Session("s", **{field: value}))[field]
    assert found == written
    assert type(found) is type(written)


def test_subagents_are_written_as_maps_and_as_flat_links() -> None:
    written = properties_of(Session("s", subagents=(SubagentRef("x", "a", "m", 0), SubagentRef("y"))))
    assert written["subagents"] == [
        {"session": "x", "agent": "a", "model": "m", "tokens": 0},
        {"session": "y"},
    ]
    assert written["subagent_logs"] == ["[[sessions/x|x]]", "[[sessions/y|y]]"]
    assert list(subagent_value(SubagentRef("x", "a", "m", 1))) == ["session", "agent", "model", "tokens"]


def test_keys_that_we_do_not_know_are_written_last_and_known_ones_once() -> None:
    written = properties_of(Session("s", properties={"mood": 3, "status": "failed", "zebra": [1]}))
    assert list(written) == ["type", "session_id", "status", "format", "mood", "zebra"]
    assert written["status"] == "active"


def test_every_key_is_known_once() -> None:
    assert len(set(KEYS)) == len(KEYS) == 32


def test_a_link_is_written_in_brackets() -> None:
    assert link_to("a-note") == "[[sessions/a-note|a-note]]"
    assert link_to("a-note", "old/logs") == "[[old/logs/a-note|a-note]]"
    assert link_to("a-note", "") == "[[a-note]]"


def test_read_fields_names_the_fields_of_a_session() -> None:
    source = Source(f"---\n{HEAD}---\n")
    fields = read_fields(FieldReader(source, find_frontmatter(source)), "n", present=True)
    assert Session(**fields).id == "s"


# --- ids ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a", "-", "_a", "2026-11-21-a.b_c", "A" * 128])
def test_an_id_is_letters_digits_and_three_marks(text: str) -> None:
    assert check_session_id(text) == text


@for_each("text", ["", ".a", "..", "a/b", "a b", "é", "a\n", "A" * 129, "a\0"])
def test_what_is_no_id_is_refused_and_says_what_one_is(text: str) -> None:
    with pytest.raises(BadSessionId) as refused:
        check_session_id(text)
    shown = text if len(text) <= 60 else text[:59] + "…"
    assert str(refused.value) == f"{shown!r} is not a session id"
    assert refused.value.hint == (
        "an id has at most 128 letters, digits, '.', '_' and '-', and does not start with '.'"
    )


def test_a_long_text_that_is_no_id_is_shown_in_sixty_characters() -> None:
    for length, shown in ((60, "/" * 60), (61, "/" * 59 + "…")):
        with pytest.raises(BadSessionId) as refused:
            check_session_id("/" * length)
        assert str(refused.value) == f"'{shown}' is not a session id"
