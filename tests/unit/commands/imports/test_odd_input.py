"""Transcripts that are damaged, foreign, empty, out of reach; two imports at once; an import that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.launch.session_marks import OWN_MARK
from crucible.commands.imports.import_report import ROWS_PER_FILE
from crucible.commands.imports.import_result import ImportReport
from crucible.documents.session.session import Outcome, Status, Subagent
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.clients.secrets_made import make_secrets
from tests.paths import ROOT
from tests.unit.clients.building import SESSION, Row, assistant, text, use, user
from tests.unit.commands.imports.places import (
    LATER,
    REAL,
    bytes_of,
    copy_real,
    make_vault,
    notes_of,
    run_import,
    session_file,
    trunk_of,
    write_rows,
)


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    return make_vault(tmp_path / "vault")


def told(report: ImportReport) -> list[tuple[str, int, str]]:
    return [(row.path.name, row.line, row.reason) for row in report.unreadable]


def good(folder: Path, name: str = "22222222-2222-3333-4444-555555555555") -> Path:
    return write_rows(
        session_file(folder, name),
        [user("Do it well"), assistant(text("Done."), stop="end_turn", message=f"m-{name}")],
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\x00\xff\xfe random \x9c\n bytes\n", "not JSON"),
        (b"just some words\nand more\n", "not JSON"),
        (b'{"some":"json"}\n', "a row without a type"),
        (b'{"type":"session_meta","payload":{}}\n', "no rows in a known format"),
        (b"[1,2]\n", "not an object"),
    ],
)
def test_what_is_no_transcript_is_one_unreadable_row_and_the_rest_goes_on(
    place: Vault, tmp_path: Path, content: bytes, reason: str
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(content)
    report = run_import(place, bad, good(tmp_path))
    ((name, line, why),) = told(report)
    assert (name, line) == ("bad.jsonl", 1)
    assert why.startswith("not a claude-code transcript")
    assert reason in why
    assert len(report.created) == 1


def test_a_folder_named_like_a_transcript_is_reported(place: Vault, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").mkdir()
    assert told(run_import(place, tmp_path / "x.jsonl")) == [("x.jsonl", 0, "a folder, not a transcript")]


def test_a_missing_path_is_reported(place: Vault, tmp_path: Path) -> None:
    ((name, line, reason),) = told(run_import(place, tmp_path / "none.jsonl"))
    assert (name, line) == ("none.jsonl", 0)
    assert reason.lower().startswith("no such file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_reported(place: Vault, tmp_path: Path) -> None:
    path = good(tmp_path)
    path.chmod(0)
    assert told(run_import(place, path)) == [(path.name, 0, "permission denied")]


def test_unreadable_rows_are_reported_by_line_and_the_rest_is_imported(place: Vault, tmp_path: Path) -> None:
    path = good(tmp_path)
    path.write_bytes(path.read_bytes() + b"{broken\n" + b'{"type":"assistant","cut')
    report = run_import(place, path)
    assert [(line, why.split(":")[0]) for _, line, why in told(report)] == [
        (3, "not JSON"),
        (4, "incomplete at the end of the file"),
    ]
    assert len(report.created) == 1


def test_many_unreadable_rows_of_one_file_are_counted(place: Vault, tmp_path: Path) -> None:
    path = good(tmp_path)
    path.write_bytes(path.read_bytes() + b"{broken\n" * 2000)
    rows = told(run_import(place, path))
    assert len(rows) == ROWS_PER_FILE + 1
    assert rows[-1][2] == "and 1900 more rows"


def test_a_huge_file_of_noise_is_given_up(place: Vault, tmp_path: Path) -> None:
    (tmp_path / "noise.jsonl").write_bytes(b"\x00\x01\n" * 60_000)
    assert len(told(run_import(place, tmp_path / "noise.jsonl"))) == 1


def test_unknown_rows_are_counted_by_type(place: Vault, tmp_path: Path) -> None:
    path = good(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"type":"brand-new"}\n' * 3)
    report = run_import(place, path)
    assert (report.unknown_rows, report.unreadable) == ({"brand-new": 3}, ())


def test_names_of_unknown_rows_are_redacted_and_limited_in_reports_and_caches(place: Vault, tmp_path: Path) -> None:
    token = make_secrets()["github"]
    path = good(tmp_path)
    rows = "".join(json.dumps({"type": f"kind {number} {token} {'x' * 5000}"}) + "\n" for number in range(300))
    path.write_bytes(path.read_bytes() + rows.encode())
    report = run_import(place, path)
    assert sum(report.unknown_rows.values()) == 300
    assert len(report.unknown_rows) <= 101
    assert max(map(len, report.unknown_rows)) <= 202
    assert not any(token in kind for kind in report.unknown_rows)
    assert not [at for at in place.root.rglob("*") if at.is_file() and token.encode() in at.read_bytes()]


def test_a_session_without_messages_creates_no_note(place: Vault, tmp_path: Path) -> None:
    path = write_rows(session_file(tmp_path), [user("<command-name>/exit</command-name>")])
    report = run_import(place, path)
    assert (report.created, report.empty, report.unreadable) == ((), (path,), ())
    assert not list((place.root / ".crucible").glob("flight/*"))


def test_a_count_beyond_what_a_note_can_tell_loses_no_note(place: Vault, tmp_path: Path) -> None:
    spent = {"input_tokens": 10**18, "output_tokens": 2**62, "cache_read_input_tokens": 2**60}
    rows = [user("Go"), assistant(text("Done."), stop="end_turn", usage=spent)]
    report = run_import(place, write_rows(session_file(tmp_path), rows))
    assert (len(report.created), report.unreadable) == (1, ())
    before = bytes_of(place)
    assert not run_import(place, session_file(tmp_path)).updated
    assert bytes_of(place) == before


def test_sessions_of_our_own_are_left_out(place: Vault, tmp_path: Path) -> None:
    path = write_rows(session_file(tmp_path), [user(f"Summarise. {OWN_MARK}"), assistant(text("ok"))])
    report = run_import(place, path)
    assert (report.created, report.left_out) == ((), {"own": 1})
    assert not list((place.root / ".crucible").glob("flight/*"))


def test_since_leaves_out_what_was_written_before(place: Vault) -> None:
    from datetime import UTC, datetime

    # The limiter's last row is of 21:16:50, the other's of 21:16:36.
    report = run_import(place, REAL, since=datetime(2026, 11, 21, 21, 16, 40, tzinfo=UTC))
    assert (len(report.created), report.left_out) == (3, {"since": 1})


def test_a_project_can_be_asked_for(place: Vault) -> None:
    assert run_import(place, REAL, only_project="shop").left_out == {"project": 2}
    assert not notes_of(place)
    run_import(place, REAL, projects={"shop": ("/home/dev/project",)}, only_project="shop")
    assert {note.session.project for note in notes_of(place).values()} == {"shop"}
    report = run_import(place, REAL, only_project="other")
    assert report.left_out == {"project": 2}


def test_overlapping_paths_import_a_session_once(place: Vault) -> None:
    report = run_import(place, REAL / "retry", REAL, next((REAL / "retry" / "projects").iterdir()))
    assert (len(report.created), len(report.unchanged)) == (5, 0)


def two_copies(folder: Path) -> tuple[Path, Path]:
    first = good(folder / "a")
    second = folder / "b" / first.name
    second.parent.mkdir()
    second.write_bytes(first.read_bytes())
    return first, second


def test_a_copy_of_a_session_in_the_same_run_is_left_out(place: Vault, tmp_path: Path) -> None:
    report = run_import(place, *two_copies(tmp_path))
    assert (len(report.created), report.left_out, report.unreadable) == (1, {"copy": 1}, ())
    assert len(notes_of(place)) == 1


def test_another_session_in_a_file_of_the_same_name_is_reported(place: Vault, tmp_path: Path) -> None:
    kept, other = good(tmp_path / "a", "log"), tmp_path / "b" / "log.jsonl"
    write_rows(other, [user("Other", timestamp="2026-01-01T00:00:00.000Z")])
    report = run_import(place, kept, other)
    assert (len(report.created), report.left_out) == (1, {})
    (row,) = report.unreadable
    assert row.path == other
    assert str(kept) in row.reason


@pytest.mark.parametrize("newer_first", [True, False])
def test_of_two_copies_the_one_that_went_on_is_imported(place: Vault, tmp_path: Path, newer_first: bool) -> None:
    older, newer = two_copies(tmp_path)
    more = user("And now?", timestamp="2026-01-02T04:00:00.000Z")
    newer.write_bytes(newer.read_bytes() + write_rows(tmp_path / "more", [more]).read_bytes())
    os.utime(newer, (0, 0))
    run_import(place, *((newer, older) if newer_first else (older, newer)))
    (note,) = notes_of(place).values()
    phases = note.source.text.partition("\n## ")[2]
    assert phases.count("And now?") == phases.count("\nDone.") + 1 == 2


def test_a_broken_copy_does_not_take_the_place_of_a_session(place: Vault, tmp_path: Path) -> None:
    whole, broken = good(tmp_path / "a"), good(tmp_path / "b")
    broken.write_bytes(b"noise " * 1000)
    assert len(run_import(place, broken, whole).created) == 1


def test_a_copy_that_stopped_earlier_changes_nothing(place: Vault, tmp_path: Path) -> None:
    older, newer = two_copies(tmp_path)
    more = user("And now?", timestamp="2026-01-02T04:00:00.000Z")
    newer.write_bytes(newer.read_bytes() + write_rows(tmp_path / "more", [more]).read_bytes())
    now = datetime(2026, 1, 2, 4, 1, tzinfo=UTC)
    run_import(place, newer, now=now)
    (note,) = notes_of(place).values()
    assert note.session.status is Status.ACTIVE
    before = bytes_of(place)
    report = run_import(place, older)
    assert (report.unchanged, report.unreadable, report.left_out) == ((note.name,), (), {"copy": 1})
    assert bytes_of(place) == before


def test_files_whose_names_look_alike_are_two_sessions(place: Vault, tmp_path: Path) -> None:
    paths = [good(tmp_path, "a b"), good(tmp_path, "a-b")]
    assert len(run_import(place, *paths).created) == 2
    assert len(run_import(place, *paths).unchanged) == 2


def test_two_sessions_of_one_title_and_day_get_two_names(place: Vault, tmp_path: Path) -> None:
    names = [f"{n}0000000-2222-3333-4444-555555555555" for n in range(3)]
    report = run_import(place, *(good(tmp_path, name) for name in names))
    assert report.created == ("2026-01-02-do-well", "2026-01-02-do-well-2", "2026-01-02-do-well-3")


def _unclosed(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace("\n---\n", "\n", 1), encoding="utf-8")


def _indented(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace("\nsources:", "\n sources: ["), encoding="utf-8")


def _behind_a_conflict(path: Path) -> None:
    path.write_text("<<<<<<< HEAD\n" + path.read_text(encoding="utf-8"), encoding="utf-8")


def _unreadable(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


@pytest.mark.parametrize("damage", [_indented, _unreadable])
def test_a_session_with_an_unreadable_note_is_reported_and_gets_no_second_note(
    place: Vault, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    paths = [good(tmp_path, f"{n}0000000-2222-3333-4444-555555555555") for n in range(2)]
    _, name = run_import(place, *paths).created
    damage(place.sessions / f"{name}.md")
    before = sorted(os.listdir(place.sessions))
    report = run_import(place, *paths)
    assert (report.created, len(report.unchanged)) == ((), 1)
    ((path, _, why),) = told(report)
    assert path == paths[1].name
    assert why.startswith(str(place.sessions / f"{name}.md: "))
    assert sorted(os.listdir(place.sessions)) == before


@pytest.mark.parametrize("damage", [_unclosed, _behind_a_conflict])
def test_a_note_with_a_broken_frontmatter_is_found_by_the_comment_at_its_end(
    place: Vault, damage: Callable[[Path], None]
) -> None:
    names = run_import(place, REAL / "retry").created
    damage(place.sessions / f"{names[1]}.md")
    report = run_import(place, REAL / "retry")
    assert (report.created, len(report.unchanged)) == ((), len(names))
    assert len(os.listdir(place.sessions)) == len(names)


def test_an_unreadable_folder_of_notes_is_reported(place: Vault, tmp_path: Path) -> None:
    (place.sessions / "work").symlink_to("work")
    report = run_import(place, good(tmp_path))
    assert report.created == ("2026-01-02-do-well",)
    ((_, _, why),) = told(report)
    assert why.startswith(str(place.sessions / "work: "))


def test_a_humans_own_note_of_the_same_name_is_no_obstacle(place: Vault, tmp_path: Path) -> None:
    (place.sessions / "2026-01-02-do-well.md").write_text("---\ntype: session\n---\n\nMine.\n")
    report = run_import(place, good(tmp_path))
    assert (report.created, report.unreadable) == (("2026-01-02-do-well-2",), ())


def test_a_copy_of_a_note_does_not_take_its_place(place: Vault, tmp_path: Path) -> None:
    path = good(tmp_path)
    run_import(place, path)
    (note,) = notes_of(place).values()
    (place.sessions / f"{note.name} 1.md").write_bytes(note.path.read_bytes())
    path.write_bytes(path.read_bytes() + write_rows(tmp_path / "more", [user("And now?")]).read_bytes())
    assert run_import(place, path).updated == (note.name,)


def test_progress_tells_every_transcript_and_the_end(place: Vault) -> None:
    from crucible.commands.imports.import_report import ImportOptions
    from crucible.commands.imports.imports import import_transcripts
    from tests.unit.commands.imports.places import CLAUDE

    steps: list[tuple[int, int]] = []
    import_transcripts(
        place,
        CLAUDE,
        [REAL],
        options=ImportOptions(LATER),
        progress=lambda done, total, _: steps.append((done, total)),
    )
    assert steps == [(0, 2), (1, 2), (2, 2)]


# --- calls that did not simply end ----------------------------------------------------------------------------------

_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\nUse the other file"
)


def result(call: str, content: str, error: bool = False) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error}


def test_rejected_interrupted_and_unanswered_calls_have_marks_of_their_own(place: Vault, tmp_path: Path) -> None:
    rows = [
        user("Go"),
        assistant(use("Edit", "c1", file_path="/home/dev/project/a.py")),
        user([result("c1", _REJECTED, error=True)]),
        assistant(use("Bash", "c2", command="sleep 9"), use("Bash", "c3", command="sleep 8")),
        user([result("c2", "Sibling tool call errored", error=True)]),
    ]
    run_import(place, write_rows(session_file(tmp_path), rows))
    (note,) = notes_of(place).values()
    assert "- `Edit a.py` → 🚫 Use the other file\n" in note.source.text
    assert '> [!user]\n> "Use the other file" - refused: Edit a.py\n' in note.source.text
    assert "- `Bash sleep 9` → ⏹ Sibling tool call errored\n" in note.source.text
    assert "- `Bash sleep 8` → ⏳\n" in note.source.text
    session = note.session
    assert (session.status, session.resume_point, session.pause_reason) == (
        Status.PAUSED,
        "phase-1",
        "no result of Bash sleep 8",
    )


def test_a_late_result_replaces_the_mark(place: Vault, tmp_path: Path) -> None:
    rows = [user("Go"), *(assistant(use("Bash", f"c{n}", command="make")) for n in range(3))]
    path = write_rows(session_file(tmp_path), rows)
    run_import(place, path)
    write_rows(path, [*rows, user([result("c1", "built")]), assistant(text("Done."), stop="end_turn")])
    run_import(place, path)
    (note,) = notes_of(place).values()
    assert [call.outcome for call in note.session.calls()] == [Outcome.PENDING, Outcome.OK, Outcome.PENDING]
    assert (note.session.status, note.session.resume_point, note.session.pause_reason) == (
        Status.COMPLETED,
        None,
        None,
    )


# --- subagents in every layout ---------------------------------------------------------------------------------------


def agent_rows(agent: str) -> list[Row]:
    side: Row = {"isSidechain": True, "agentId": agent}
    return [
        user("Look for it", **side),
        assistant(text("Found it. Summary: it is there."), stop="end_turn", **side),
    ]


def parent_rows(agent: str) -> list[Row]:
    return [
        user("Find it"),
        assistant(use("Task", "c1", description="Search the code", prompt="Look for it", subagent_type="Explore")),
        user(
            [result("c1", "Found it. Summary: it is there.")],
            toolUseResult={"agentId": agent, "status": "completed"},
        ),
        assistant(text("It is there."), stop="end_turn"),
    ]


@pytest.mark.parametrize("layout", ["folder", "sibling", "inside"])
def test_subagents_are_found_in_every_layout(place: Vault, tmp_path: Path, layout: str) -> None:
    trunk, agent = session_file(tmp_path / "project"), "abc123"
    rows, inner = parent_rows(agent), agent_rows(agent)
    if layout == "folder":
        write_rows(trunk.with_suffix("") / "subagents" / f"agent-{agent}.jsonl", inner)
    elif layout == "sibling":
        write_rows(trunk.parent / f"agent-{agent}.jsonl", inner)
    else:
        rows = [*rows[:2], *inner, *rows[2:]]
    write_rows(trunk, rows)
    report = run_import(place, trunk.parent)
    parent, child = report.created
    session = notes_of(place)[parent].session
    (work,) = [entry for entry in session.all_entries() if isinstance(entry, Subagent)]
    assert (work.link, work.agent.name, work.summary) == (child, "Explore", "it is there.")
    assert not list(session.calls())
    inside = notes_of(place)[child].session
    assert (inside.parent, inside.title) == (parent, "Search the code")
    assert inside.sources == (f"claude-code:{SESSION}/{agent}",)
    assert "Look for it" in notes_of(place)[child].source.text
    before = bytes_of(place)
    assert len(run_import(place, trunk.parent).unchanged) == 2
    assert bytes_of(place) == before


def test_a_subagent_that_no_call_leads_to_is_linked_at_the_end(place: Vault, tmp_path: Path) -> None:
    trunk = good(tmp_path / "project")
    write_rows(trunk.with_suffix("") / "subagents" / "agent-lost.jsonl", agent_rows("lost"))
    parent, child = run_import(place, trunk).created
    session = notes_of(place)[parent].session
    last = session.phases[-1].entries[-1]
    assert isinstance(last, Subagent)
    assert last.link == child
    assert [ref.session for ref in session.subagents] == [child]
    write_rows(tmp_path / "more", [user("And now?"), assistant(text("No."), stop="end_turn")])
    trunk.write_bytes(trunk.read_bytes() + (tmp_path / "more").read_bytes())
    assert run_import(place, trunk).updated == (parent,)
    session = notes_of(place)[parent].session
    assert [type(e).__name__ for e in session.all_entries()].count("Subagent") == 1
    assert len(session.phases) == 2


def test_a_subagent_of_a_subagent_names_the_subagent_as_its_parent(place: Vault, tmp_path: Path) -> None:
    trunk = session_file(tmp_path / "project")
    write_rows(trunk, parent_rows("outer"))
    folder = trunk.with_suffix("") / "subagents"
    side: Row = {"isSidechain": True, "agentId": "outer"}
    outer = [
        user("Look for it", **side),
        assistant(use("Agent", "c9", description="Deeper", prompt="Dig", subagent_type="Explore"), **side),
        user([result("c9", "Dug. agentId: inner")], **side),
        assistant(text("Summary: it is there."), stop="end_turn", **side),
    ]
    write_rows(folder / "agent-outer.jsonl", outer)
    write_rows(folder / "agent-inner.jsonl", agent_rows("inner"))
    (folder / "agent-inner.meta.json").write_text('{"agentType":"Explore","description":"Deeper","toolUseId":"c9"}')
    parent, child, grandchild = run_import(place, trunk).created
    notes = notes_of(place)
    assert (notes[child].session.parent, notes[grandchild].session.parent) == (parent, child)
    assert [ref.session for ref in notes[parent].session.subagents] == [child]


def test_a_report_that_comes_later_goes_into_the_callout(place: Vault, tmp_path: Path) -> None:
    trunk, agent = session_file(tmp_path / "project"), "abc123"
    rows = parent_rows(agent)
    rows[2] = user(
        [result("c1", f"Async agent launched successfully.\nagentId: {agent}")],
        toolUseResult={"isAsync": True, "status": "async_launched", "agentId": agent},
    )
    write_rows(trunk, rows)
    inner = agent_rows(agent)
    write_rows(trunk.with_suffix("") / "subagents" / f"agent-{agent}.jsonl", inner[:1])
    parent, child = run_import(place, trunk).created
    (work,) = [e for e in notes_of(place)[parent].session.all_entries() if isinstance(e, Subagent)]
    assert (work.link, work.summary) == (child, None)
    notice = (
        f"<task-notification><task-id>{agent}</task-id><tool-use-id>c1</tool-use-id><status>completed</status>"
        "<summary>done</summary><result>It is in a.py.</result></task-notification>"
    )
    write_rows(trunk, [*rows, user(notice), assistant(text("So it is."), stop="end_turn")])
    write_rows(trunk.with_suffix("") / "subagents" / f"agent-{agent}.jsonl", inner)
    assert run_import(place, trunk).updated == (parent, child)
    (work,) = [e for e in notes_of(place)[parent].session.all_entries() if isinstance(e, Subagent)]
    assert (work.link, work.summary) == (
        child,
        "it is there.",
    )  # the report as the subagent's own note has it


def test_a_subagent_without_a_notice_is_known_by_its_task(place: Vault, tmp_path: Path) -> None:
    trunk = write_rows(session_file(tmp_path / "p"), parent_rows("x")[:2])
    write_rows(trunk.with_suffix("") / "subagents" / "agent-zz.jsonl", agent_rows("zz"))
    parent, child = run_import(place, trunk).created
    (work,) = [e for e in notes_of(place)[parent].session.all_entries() if isinstance(e, Subagent)]
    assert (work.link, work.agent.name) == (child, "Explore")
    assert len(run_import(place, trunk).unchanged) == 2


def test_an_unreadable_subagent_file_is_reported_and_the_rest_is_imported(place: Vault, tmp_path: Path) -> None:
    trunk = write_rows(session_file(tmp_path / "p"), parent_rows("x"))
    (trunk.with_suffix("") / "subagents" / "agent-x.jsonl").mkdir(parents=True)
    report = run_import(place, trunk)
    assert (len(report.created), [name for name, _, _ in told(report)]) == (1, ["agent-x.jsonl"])


def test_whole_events_before_the_first_word_are_kept_however_many(place: Vault, tmp_path: Path) -> None:
    from crucible.vault.events.event_reader import read_records

    noise = [user(f"note {n}", isMeta=True) for n in range(700)]
    rows = [*noise, user("Go"), assistant(text("Done."), stop="end_turn")]
    (name,) = run_import(place, write_rows(session_file(tmp_path), rows)).created
    records = list(read_records(place.root, name))
    assert [r.values["text"] for r in records if r.type == "Injected"] == [f"note {n}" for n in range(700)]
    assert [r.values["text"] for r in records if r.type in {"Prompted", "Replied"}] == ["Go", "Done."]


def test_a_note_that_cannot_be_edited_is_reported_and_the_rest_is_imported(place: Vault, tmp_path: Path) -> None:
    first, second = good(tmp_path / "p"), good(tmp_path / "p", "33333333-2222-3333-4444-555555555555")
    names = run_import(place, first.parent).created
    path = place.sessions / f"{names[0]}.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n```\nan open fence\n", encoding="utf-8")
    for each in (first, second):
        more = write_rows(tmp_path / "more", [user("And now?"), assistant(text("No."), stop="end_turn")])
        each.write_bytes(each.read_bytes() + more.read_bytes())
    report = run_import(place, first.parent)
    assert report.updated == (names[1],)
    ((name, _, why),) = told(report)
    assert name == f"{names[0]}.md"
    assert "fence" in why


def test_a_session_that_went_on_in_another_is_linked_both_ways(place: Vault, tmp_path: Path) -> None:
    later = "33333333-2222-3333-4444-555555555555"
    first = good(tmp_path / "p")
    told = {
        "type": "continued-in",
        "timestamp": "2026-01-02T03:05:00Z",
        "sessionId": "x",
        "continuedInSessionId": later,
    }
    first.write_bytes(first.read_bytes() + write_rows(tmp_path / "more", [told]).read_bytes())
    second = write_rows(session_file(tmp_path / "p", later), [user("Go on"), assistant(text("Gone."), stop="end_turn")])
    names = run_import(place, first.parent).created
    notes = notes_of(place)
    assert (notes[names[0]].session.continued_by, notes[names[1]].session.continues) == (names[1], names[0])
    path = notes[names[1]].path
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("continues")), encoding="utf-8")
    before = bytes_of(place)
    assert len(run_import(place, second, first).unchanged) == 2
    assert bytes_of(place) == before


# --- several processes -----------------------------------------------------------------------------------------------

_SCRIPT = """
import sys
from pathlib import Path
from datetime import UTC, datetime
from crucible.commands.imports.imports import ImportOptions, import_transcripts
from crucible.clients.registry import DIALECTS
from crucible.vault.notes.vault import Vault
import_transcripts(Vault(Path(sys.argv[1])), DIALECTS["claude-code"], [Path(sys.argv[2])],
                   options=ImportOptions(datetime(2026, 11, 23, tzinfo=UTC)))
"""


def start(vault: Vault, path: Path) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", _SCRIPT, str(vault.root), str(path)], env=env)


def test_two_imports_at_once_make_one_note_a_session(place: Vault) -> None:
    processes = [start(place, REAL) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(notes_of(place)) == 5
    assert len(run_import(place, REAL).unchanged) == 5


def test_a_killed_import_is_healed_by_the_next_one(tmp_path: Path) -> None:
    wanted = make_vault(tmp_path / "wanted")
    run_import(wanted, REAL)
    for count in range(4):
        vault = make_vault(tmp_path / f"vault-{count}")
        process = start(vault, REAL)
        wait_until(lambda: len(list(vault.sessions.glob("*.md"))) >= count or process.poll() is not None)  # noqa: B023
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        run_import(vault, REAL)
        assert {n: x.session for n, x in notes_of(vault).items()} == {n: x.session for n, x in notes_of(wanted).items()}
        assert not run_import(vault, REAL).created


@pytest.mark.parametrize("kept", range(5))
def test_notes_that_are_missing_are_made_again_and_nothing_is_doubled(tmp_path: Path, kept: int) -> None:
    vault = make_vault(tmp_path / "vault")
    run_import(vault, REAL)
    before = bytes_of(vault)
    for place, path in enumerate(vault.session_paths()):
        if place != kept:
            path.unlink()
    run_import(vault, REAL)
    assert bytes_of(vault) == before


@given(st.lists(st.integers(0, 10**9), max_size=12), st.booleans())
def test_a_real_transcript_with_broken_bytes_never_raises(
    tmp_path_factory: pytest.TempPathFactory, hits: list[int], cut: bool
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    trunk = trunk_of(copy_real("retry", folder / "project"))
    data = bytearray(trunk.read_bytes())
    for hit in hits:
        data[hit % len(data)] = hit % 256
    if cut and hits:
        del data[hits[0] % len(data) :]
    trunk.write_bytes(bytes(data))
    vault = make_vault(folder / "vault")
    run_import(vault, trunk)
    before = bytes_of(vault)
    assert not run_import(vault, trunk).updated
    assert bytes_of(vault) == before


def test_a_secret_in_a_subagents_description_reaches_no_name_and_no_note(tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    project = copy_real("limiter", tmp_path / "project")
    for meta in project.rglob("*.meta.json"):
        told = json.loads(meta.read_text(encoding="utf-8"))
        meta.write_text(json.dumps(told | {"description": f"Use {secret} for it"}), encoding="utf-8")
    vault = make_vault(tmp_path / "vault")
    run_import(vault, project)
    files = [path for path in vault.root.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert secret.casefold() not in path.name.casefold()
        assert secret.encode() not in path.read_bytes()
    assert any("[REDACTED:" in note.session.title for note in notes_of(vault).values())
