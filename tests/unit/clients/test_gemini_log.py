"""Gemini CLI's append-only log and its older document: which records count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.clients import registry as dialects
from crucible.clients.events import (
    Answered,
    Compacted,
    ContextSeen,
    Injected,
    Prompted,
    Replied,
    Rewound,
    Titled,
    ToolReturned,
    ToolUsed,
    Unreadable,
    UsageCounted,
)
from crucible.clients.gemini import logs as gemini
from crucible.clients.registry import DIALECTS
from tests.unit.clients.building import only
from tests.unit.clients.gemini_logs import (
    FIRST,
    SESSION,
    call,
    dump,
    events_of,
    events_of_bytes,
    model,
    tokens,
    user,
)


def said(*rows: object) -> list[str]:
    return [event.text for event in events_of(*rows) if isinstance(event, Prompted | Replied)]


def test_the_last_record_of_a_message_counts_in_the_place_of_the_first() -> None:
    rows = [FIRST, user("u", "one"), model("m", "draft"), user("v", "two"), model("m", "final")]
    assert said(*rows) == ["one", "final", "two"]


def test_a_message_that_grows_by_calls_is_emitted_once() -> None:
    grown = model("m", "I look.", toolCalls=[call("c", "read_file")], tokens=tokens(output=3))
    events = events_of(FIRST, user("u", "go"), model("m", "I look.", tokens=tokens(output=3)), grown)
    assert len(only(events, Replied)) == len(only(events, ToolUsed)) == len(only(events, UsageCounted)) == 1
    assert not isinstance(events[-1], Answered)


def test_a_message_whose_calls_come_later_was_an_answer_until_then() -> None:
    grown = model("m", "I look.", toolCalls=[call("c", "read_file")])
    kinds = [type(event) for event in events_of(FIRST, model("m", "I look."), grown)[1:]]
    assert kinds == [Replied, Answered, ToolUsed, ToolReturned]
    assert Answered not in {type(event) for event in events_of(FIRST, grown)}


def test_a_rewind_removes_a_message_and_all_after_it() -> None:
    rows = [
        FIRST,
        user("u", "one"),
        model("m", "two"),
        user("v", "wrong"),
        model("n", "wronger"),
        {"$rewindTo": "v"},
    ]
    assert said(*rows, user("w", "right")) == ["one", "two", "right"]
    (told,) = only(events_of(*rows), Rewound)
    assert (told.turns, told.text) == (None, "2 messages")
    assert [e.text for e in only(events_of(*rows), Injected)] == ["user: wrong", "gemini: wronger"]


def test_tokens_of_removed_messages_count() -> None:
    rows = [
        FIRST,
        user("u", "one"),
        model("m", "two", tokens=tokens(output=1)),
        user("v", "wrong"),
        model("n", "x", tokens=tokens(output=10)),
        {"$rewindTo": "v"},
    ]
    events = events_of(*rows)
    assert {(e.message, e.said) for e in only(events, UsageCounted)} == {("m", 1), ("n", 10)}
    assert isinstance(events[-1], Rewound), "behind what it cost"


def test_a_rewind_to_a_message_that_is_not_there_takes_back_all() -> None:
    rows = [FIRST, user("u", "one"), model("m", "two", tokens=tokens(output=1)), {"$rewindTo": "nowhere"}]
    assert said(*rows, user("v", "again")) == ["again"]
    assert not only(events_of(*rows), UsageCounted), "there is nothing yet that it could be counted for"
    later = events_of(*rows, user("v", "again"), model("n", "yes"))
    assert [e.message for e in only(later, UsageCounted)] == ["m"]


def test_an_id_may_come_again_after_it_was_taken_back() -> None:
    assert said(FIRST, user("u", "one"), {"$rewindTo": "u"}, user("u", "two")) == ["two"]


def test_a_list_without_a_time_replaces_the_conversation() -> None:
    rows = [FIRST, user("u", "one"), model("m", "two"), user("v", "three")]
    replaced = [*rows, {"$set": {"messages": [user("u", "ONE"), model("n", "four")]}}]
    assert said(*replaced) == ["ONE", "four"]
    assert [e.text for e in only(events_of(*replaced), Rewound)] == ["2 messages, which others replaced"]


def test_a_list_for_the_model_removes_nothing() -> None:
    rows = [FIRST, user("u", "one"), model("m", [{"text": "two"}], toolCalls=[call("c", "glob", "whole")])]
    masked = model("m", "two", toolCalls=[call("c", "glob", "[masked]")])
    kept = {"$set": {"messages": [masked, user("new-id", "one")], "lastUpdated": "2026-11-22T10:10:00Z"}}
    assert said(*rows, kept) == ["one", "two"]
    assert "masked" not in repr(events_of(*rows, kept))


def test_messages_only_in_a_list_are_emitted() -> None:
    listed = {"messages": [user("u", "one"), model("m", "two")], "lastUpdated": "2026-11-22T10:10:00Z"}
    assert said(FIRST, {"$set": listed}) == ["one", "two"]


def test_a_compaction_is_emitted_and_its_kept_messages_are_not_repeated() -> None:
    rows = [FIRST, user("u", "one"), model("m", "two"), user("v", "three"), model("n", "four")]
    snapshot = "<state_snapshot>all of it</state_snapshot>"
    listed = [
        user("s", snapshot),
        model("t", "Got it. Thanks for the additional context!"),
        user("v2", "three"),
    ]
    listed[1].pop("model")
    events = events_of(*rows, {"$set": {"messages": listed, "lastUpdated": "2026-11-22T10:10:00Z"}})
    assert [e.summary for e in only(events, Compacted)] == [snapshot]
    assert [e.text for e in events if isinstance(e, Prompted | Replied)] == ["one", "two", "three", "four"]


def test_a_rewind_finds_a_message_by_the_id_that_a_compaction_gave_it() -> None:
    rows = [FIRST, user("u", "one"), model("m", "two"), user("v", "three"), model("n", "four")]
    listed = {"messages": [user("v2", "three"), model("n2", "four")], "lastUpdated": "2026-11-22T10:10:00Z"}
    assert said(*rows, {"$set": listed}, {"$rewindTo": "v2"}) == ["one", "two"]


def test_the_last_summary_is_the_title() -> None:
    rows = [FIRST, user("u", "one"), {"$set": {"summary": "First"}}, {"$set": {"summary": "Second"}}]
    assert [event.title for event in only(events_of(*rows), Titled)] == ["Second"]


@pytest.mark.parametrize("name", ["session-x.json", "session-x.jsonl"])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_older_document_is_read_however_it_is_laid_out(name: str, indent: int | None) -> None:
    messages = [user("u", "one"), model("m", "two", toolCalls=[call("c", "glob")])]
    document = {**FIRST, "messages": messages, "summary": "A title"}
    events = events_of_bytes(json.dumps(document, indent=indent).encode(), name=name)
    assert [type(event) for event in events] == [
        ContextSeen,
        Titled,
        Prompted,
        Replied,
        ToolUsed,
        type(events[-1]),
    ]


def test_a_truncated_document_yields_its_complete_messages() -> None:
    document = json.dumps({**FIRST, "messages": [user("u", "one"), model("m", "two")]}, indent=2).encode()
    events = events_of_bytes(document[:-40], name="session-x.json")
    assert [event.text for event in only(events, Prompted)] == ["one"]
    assert len(only(events, Unreadable)) == 1


def test_unreadable_lines_are_reported_and_skipped() -> None:
    data = dump([FIRST, user("u", "one")]) + b'{"id": "m", "ty\n' + dump([model("m", "two"), {"odd": 1}, 5])
    events = events_of_bytes(data)
    assert [event.text for event in only(events, Prompted)] == ["one"]
    assert [event.at.line for event in only(events, Unreadable)] == [3, 5, 6]


def test_events_of_a_log_that_grows_keep_their_places_and_rows() -> None:
    rows = [
        FIRST,
        user("u", "one"),
        model("m", "two"),
        model("m", "two", tokens=tokens(output=1)),
        model("m", "two", tokens=tokens(output=1), toolCalls=[call("c", "glob")]),
        user("v", "three"),
        model("n", "four"),
    ]
    before: list[tuple[int, str]] = []
    for end in range(1, len(rows) + 1):
        now = [(e.at.line, e.at.row) for e in events_of(*rows[:end]) if not isinstance(e, Answered)]
        assert now[: len(before)] == before
        before = now
    shorts = [row[:8] for _, row in before]
    assert len(shorts) == len(set(shorts))


# --- files -----------------------------------------------------------------------------------------------------------


def place(folder: Path, *rows: object, name: str = "session-2026-11-22T10-00-aaaaaaaa.jsonl") -> Path:
    path = folder / "tmp" / "shop" / "chats" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(rows))
    return path


def test_a_session_is_found_from_every_folder_above_it_by_its_own_id(tmp_path: Path) -> None:
    path = place(tmp_path, FIRST, user("u", "one"))
    sub = path.parent / SESSION / "child-1.jsonl"
    sub.parent.mkdir()
    sub.write_bytes(dump([{**FIRST, "sessionId": "child-1", "kind": "subagent"}, user("u", "task")]))
    for place_ in (tmp_path, tmp_path / "tmp", path.parent.parent, path.parent, path):
        (found,) = gemini.find(place_)
        assert (found.native_id, found.path) == (SESSION, path)
        assert [(file.agent, file.path, file.depth) for file in found.subagents] == [("child-1", sub, 1)]


def test_a_subagent_without_its_parent_is_a_session(tmp_path: Path) -> None:
    name = f"{SESSION}/child-1.jsonl"
    place(tmp_path, {**FIRST, "sessionId": "child-1", "kind": "subagent"}, user("u", "task"), name=name)
    assert [found.native_id for found in gemini.find(tmp_path)] == ["child-1"]


def test_the_folder_comes_from_the_clients_note_then_from_the_log_then_from_the_register(
    tmp_path: Path,
) -> None:
    path = place(tmp_path, FIRST, user("u", "one"))

    def cwd() -> str:
        return only(gemini.read_log(path), ContextSeen)[0].cwd

    assert cwd() == ""
    (tmp_path / "projects.json").write_text('{"projects": {"/home/me/registered": "shop"}}')
    assert cwd() == "/home/me/registered"
    context = "<session_context>\n- **Workspace Directories:**\n  - /home/me/told\n</session_context>"
    path.write_bytes(dump([FIRST, user("c", [{"text": context}]), user("u", "one")]))
    assert cwd() == "/home/me/told"
    (path.parent.parent / ".project_root").write_text("/home/me/noted")
    assert cwd() == "/home/me/noted"


def test_our_files_are_known_by_their_looks(tmp_path: Path) -> None:
    path = place(tmp_path, FIRST, user("u", "one"))
    headless = place(tmp_path, user("u", "one"), model("m", "two"), name="lost.jsonl")
    document = tmp_path / "document.json"
    document.write_text(json.dumps({**FIRST, "messages": [user("u", "x" * 100_000)]}))
    other = tmp_path / "package.json"
    other.write_text('{"name": "x", "id": "y"}')
    for ours in (path, headless, document):
        assert dialects.sniff(ours) is DIALECTS["gemini"]
    for foreign in (other, tmp_path, tmp_path / "nothing.jsonl"):
        assert not gemini.sniff(foreign)


def test_reach_has_the_last_time_and_the_session(tmp_path: Path) -> None:
    last = user("u", "one")
    path = place(tmp_path, FIRST, last)
    (found,) = gemini.find(path)
    reach = gemini.reach(found)
    assert reach.first == SESSION
    assert reach.last is not None
    assert reach.last.isoformat() == last["timestamp"].replace(".000Z", "+00:00")
