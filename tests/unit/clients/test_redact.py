from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crucible.core.secrets.scanner
from crucible.clients.events import (
    At,
    Choice,
    Compacted,
    ContextSeen,
    Event,
    Prompted,
    PromptKind,
    Replied,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    TaskState,
    Titled,
    ToolReturned,
    ToolUsed,
)
from crucible.clients.redact import keep_all, redact_value, redactor_of, scanner_of
from crucible.core.errors import SecretsError
from crucible.core.settings.settings import SecretSettings
from tests.cases import for_each
from tests.unit.core.secrets.made import HEX, chance

AT = At(3, row=f"{chance(8, HEX)}-1111-4222-8333-{chance(12, HEX)}", time=datetime(2026, 1, 2, tzinfo=UTC))
TOKEN = "ghp_" + chance(36)
PASSWORD = "hunter2" + chance(6)
REDACT = redactor_of(SecretSettings())

IDS = {"session", "row", "call", "message", "agent", "id", "depends_on", "adds_dependencies"}
KINDS = get_args(Event)


def _filled(kind: type, text: str) -> Event:
    """An event of that kind with `text` in every field that can hold one."""
    values: dict[str, object] = {"at": AT}
    for field in fields(kind):
        wanted = str(field.type)
        if field.name == "tasks":
            values["tasks"] = (TaskState("1", text, text, text),)
        elif field.name == "choices":
            values["choices"] = (Choice(text, text, ((text, text), ("plain", text)), (text,)),)
        elif "bool" in wanted:
            values[field.name] = True
        elif "Mapping" in wanted:
            values[field.name] = {"a": [{"b": f"see {text}"}], text: 1}
        elif "tuple" in wanted:
            values[field.name] = (text,)
        elif "str" in wanted:
            values[field.name] = text
        elif "int" in wanted:
            values[field.name] = 7
    event: Event = kind(**values)
    return event


@for_each("kind", KINDS)
def test_no_text_of_any_kind_of_event_keeps_a_secret_and_ids_stay(kind: type) -> None:
    event = _filled(kind, TOKEN)
    clean, counts = REDACT(event)
    assert type(clean) is type(event)
    for field in fields(clean):
        value, before = getattr(clean, field.name), getattr(event, field.name)
        if field.name in IDS or not _holds(before):
            assert value == before
        else:
            assert TOKEN not in str(value).replace("TaskState(id='1'", "")
            assert counts["github-token"] > 0


def _holds(value: object) -> bool:
    return TOKEN in str(value)


@for_each("kind", KINDS)
def test_an_event_without_a_secret_is_the_same_object(kind: type) -> None:
    event = _filled(kind, "plain")
    clean, counts = REDACT(event)
    assert clean is event
    assert counts == {}


def test_each_secret_is_counted_by_its_rule() -> None:
    event = Replied(AT, f"{TOKEN} and {TOKEN}, postgres://u:{PASSWORD}@h/db")
    clean, counts = REDACT(event)
    assert counts == {"github-token": 2, "credential-uri": 1}
    assert clean == replace(
        event,
        text="[REDACTED:github-token] and [REDACTED:github-token], postgres://u:[REDACTED:credential-uri]@h/db",
    )


def _arguments(arguments: Mapping[str, object]) -> Mapping[str, object]:
    event, _ = REDACT(ToolUsed(AT, "call_1", "Bash", arguments))
    assert isinstance(event, ToolUsed)
    return event.arguments


@for_each(
    "arguments",
    [
        {"password": PASSWORD},
        {"env": {"API_KEY": PASSWORD}},
        {"headers": {"Authorization": f"Bearer {chance(30)}"}},
        {"headers": [{"name": "X-Api-Key", "value": PASSWORD}]},
        {"args": ["--user", "ada", "--password", PASSWORD]},
        {"passwords": {"value": PASSWORD}},
        {"command": f"mysql -u root -p{PASSWORD} shop"},
        {"deep": [[[{"client_secret": PASSWORD}]]]},
        {TOKEN: True},
        {"password": 8312746509},
    ],
)  # fmt: skip
def test_a_key_and_its_value_are_read_together(arguments: Mapping[str, object]) -> None:
    clean = str(_arguments(arguments))
    for secret in (PASSWORD, TOKEN, chance(30), "8312746509"):
        assert secret not in clean
    assert "[REDACTED:" in clean


@for_each(
    "arguments",
    [
        {"password": "${DB_PASSWORD}"}, {"max_tokens": 4096}, {"token_count": 12345678}, {"key": "src/app.py"}, {"password": None},
        {"name": "password", "type": "string"}, {"command": "ls -la", "timeout": 120000}, {"file_path": "/home/ada/token.py"},
        {"session": "ses_0123456789abcdef"}, {"password": True}, {"args": ["--password", "$PASSWORD"]}, {"sig": 3.5},
    ],
)  # fmt: skip
def test_an_event_without_secrets_is_returned_unchanged_and_not_copied(arguments: Mapping[str, object]) -> None:
    assert _arguments(arguments) is arguments


def test_a_header_keeps_its_scheme() -> None:
    clean = _arguments({"Authorization": f"Token {PASSWORD}a9B8c7D6e5"})
    assert str(clean["Authorization"]).startswith("Token [REDACTED:")


def test_the_bytes_of_a_picture_are_left_alone() -> None:
    for data in (chance(3000) + "AKIA" + "A2" * 8 + chance(3000) + "==", "AKIA" + "A2" * 8):
        arguments = {"source": {"type": "base64", "media_type": "image/png", "data": data}}
        assert _arguments(arguments) is arguments


def test_invalid_base64_is_no_picture_whatever_its_type() -> None:
    for data in (f"password={PASSWORD}", f"the token is {TOKEN}"):
        assert "[REDACTED:" in str(_arguments({"type": "image_request", "data": data})["data"])


def test_two_keys_that_are_secrets_stay_two() -> None:
    other = "ghp_" + chance(36, seed=2)
    assert _arguments({TOKEN: 1, other: 2}) == {"[REDACTED:github-token]": 1, "[REDACTED:github-token] 2": 2}


@pytest.mark.parametrize("depth", [60, 100, 900])
def test_deeply_nested_values_are_scanned_too(depth: int) -> None:
    value: object = {"password": PASSWORD}
    for _ in range(depth):
        value = [value] if depth % 2 else {"a": value}
    event, counts = REDACT(ToolUsed(AT, "c", "T", {"a": value}))
    assert counts
    assert isinstance(event, ToolUsed)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        assert PASSWORD not in repr(event.arguments)
    finally:
        sys.setrecursionlimit(limit)


def test_titles_tasks_places_and_details_are_looked_at() -> None:
    events: list[Event] = [
        Titled(AT, f"Rotate {TOKEN}"),
        TasksListed(AT, (TaskState("1", f"use {TOKEN}"), TaskState("2", "plain"))),
        TaskChanged(AT, "1", content=f"use {TOKEN}"),
        ContextSeen(AT, "s1", cwd=f"/tmp/{TOKEN}", branch=f"fix-{TOKEN}"),
        ToolReturned(AT, "c", "ok", details={"files": [f"{TOKEN}.txt"]}),
        SubagentStarted(AT, "c", "general", f"do {TOKEN}", f"do {TOKEN}"),
        Compacted(AT, summary=f"we saw {TOKEN}"),
        Prompted(AT, f"!export GH={TOKEN}", PromptKind.SHELL),
    ]
    for event in events:
        clean, counts = REDACT(event)
        assert TOKEN not in str(clean)
        assert counts["github-token"] >= 1


def test_a_task_without_a_secret_stays_the_same_object_beside_one_with() -> None:
    plain = TaskState("2", "plain")
    clean, _ = REDACT(TasksListed(AT, (TaskState("1", TOKEN), plain)))
    assert isinstance(clean, TasksListed)
    assert clean.tasks[1] is plain


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from([TOKEN, f"password={PASSWORD}", "plain"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "password", "name", "value", TOKEN]), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["command", "env", "password", "value"]), JSON, max_size=3))
def test_redacting_twice_is_redacting_once(arguments: Mapping[str, object]) -> None:
    once, counts = REDACT(ToolUsed(AT, "c", "T", arguments))
    assert TOKEN not in str(once)
    assert (once.arguments == arguments) == (not counts) if isinstance(once, ToolUsed) else False
    twice, none = REDACT(once)
    assert twice is once
    assert none == {}


def test_the_scanner_of_some_settings_is_made_once() -> None:
    settings = SecretSettings(rules=(("acme", "acme-[0-9]+"),))
    assert scanner_of(settings) is scanner_of(SecretSettings(rules=(("acme", "acme-[0-9]+"),)))
    assert redactor_of(settings)(Titled(AT, "acme-12"))[0] == Titled(AT, "[REDACTED:acme]")


def test_a_redactor_that_cannot_work_is_never_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SecretsError):
        redactor_of(SecretSettings(rules=(("broken", "["),)))
    crucible.core.secrets.scanner._machine.cache_clear()
    scanner_of.cache_clear()
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    with pytest.raises(SecretsError):
        redactor_of(SecretSettings())
    monkeypatch.undo()
    assert redactor_of(SecretSettings())(Titled(AT, TOKEN))[1]


def test_a_json_value_is_redacted_by_itself() -> None:
    scanner = scanner_of(SecretSettings())
    assert redact_value(scanner, {"token": TOKEN}) == (
        {"token": "[REDACTED:github-token]"},
        {"github-token": 1},
    )
    assert redact_value(scanner, TOKEN)[0] == "[REDACTED:github-token]"


def test_keeping_all_keeps_all() -> None:
    event = Titled(AT, TOKEN)
    assert keep_all(event) == (event, {})
