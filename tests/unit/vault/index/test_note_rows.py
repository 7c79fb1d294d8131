"""From a note to its rows: what each column says.

`test_the_rows_of_the_example_vault_are_written_down` holds the rows of real notes; `CRUCIBLE_GOLDEN=1` rewrites them.
If columns or their meaning change, increase `schema.SCHEMA`, so that older indexes are rebuilt.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.files import Stamp
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.session.findings import findings_of
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    SubagentRef,
    ToolCall,
    ToolCalls,
)
from crucible.vault.index.note_rows import NoteRows, read_for_index, rows_of, rows_of_unreadable
from crucible.vault.index.scan import UNKNOWN, stamp_of
from crucible.vault.index.schema import (
    CALLOUT_LENGTH,
    LISTS,
    NUMBERS,
    TABLES,
    TIMES,
    UNDATED,
    Row,
    decode_lines,
    head_of,
    split_list,
)
from crucible.vault.notes.vault import Note, Vault
from samples.hostile_texts import hostile_text
from tests.cases import for_each
from tests.conftest import ROOT
from tests.golden import check_file
from tests.unit.vault.index.tables import new_vault, refreshed, write

GOLDEN = ROOT / "tests" / "data" / "golden" / "index"

BEGAN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)

SESSION = Session(
    id="in-the-frontmatter",
    started=BEGAN,
    ended=BEGAN + timedelta(seconds=5),
    status=Status.COMPLETED,
    project="Shop",
    channel="dev",
    participants=(AgentRef("claude-code", "2.1.197"), AgentRef("codex")),
    model="claude-opus-4-8",
    tokens_used=1944,
    tokens_cached=6000,
    subagents=(SubagentRef("child", "general-purpose", "claude-haiku-4", 5),),
    parent="[[parent-session|shown]]",
    title="A title",
    phases=(
        Phase(
            "One",
            AgentRef("Reviewer", "3"),
            "qa",
            entries=(
                Intervention("do it"),
                Prose("text"),
                ToolCalls((ToolCall("Bash x"), ToolCall("Bash y", outcome=Outcome.FAILED))),
                ToolCalls((ToolCall("Bash z", outcome=Outcome.REJECTED),)),
                Decision("this"),
            ),
            subphases=(Phase("Deeper", channel="ops", entries=(Failure("bad"), Failure("worse", "mended"))),),
        ),
        Phase("Two"),
    ),
    problems=(Problem("x", 1, "y"),),
)


def row_of(session: Session, path: str = "sessions/the-file.md") -> Row:
    note = Note(Path("/v/sessions/the-file.md"), Source(""), Stamp(0, 0, 0, 0))
    note.__dict__["session"] = session  # as if it had been read already
    (row,) = decode_lines("sessions", [rows_of(note, path).tables[0]])
    return row


def test_a_session_is_one_row_of_these_columns() -> None:
    assert row_of(SESSION) == {
        "started": "2026-11-21T20:26:47Z",
        "id": "the-file",
        "path": "sessions/the-file.md",
        "title": "A title",
        "project": "Shop",
        "status": "completed",
        "ended": "2026-11-21T20:26:52Z",
        "duration_s": 5,
        "participants": "claude-code@2.1.197, codex",
        "channel": "dev",
        "model": "claude-opus-4-8",
        "tokens": 1944,
        "tokens_cached": 6000,
        "phases": 2,
        "tool_calls": 3,
        "failures": 1,
        "decisions": 1,
        "errors": 2,
        "users": 1,
        "parent": "parent-session",
        "branch": None,
        "tags": None,
        "archived": None,
        "problems": 1,
        "agents": "claude-code@2.1.197, codex, reviewer@3",
        "channels": "dev, ops, qa",
        "models": "claude-haiku-4, claude-opus-4-8",
        "persona": None,
        "unreadable": None,
    }


def test_an_empty_session_is_a_row_of_unknowns() -> None:
    counted = {"phases", "tool_calls", "failures", "decisions", "errors", "users", "problems"}
    known = {"id": "the-file", "title": "", "path": "p.md", **dict.fromkeys(counted, 0)}
    assert row_of(Session(id="x", status=None), "p.md") == {**dict.fromkeys(TABLES["sessions"]), **known}


@pytest.mark.parametrize(("said", "shown"), [("weird", "weird"), ("Failed", "failed"), (3, None), ("", "")], ids=repr)
def test_a_status_that_is_none_is_shown_as_a_human_wrote_it(said: str | int, shown: str | None) -> None:
    assert row_of(Session(id="x", status=None, properties={"status": said}))["status"] == shown


def test_an_unreadable_note_is_a_row_with_a_problem() -> None:
    rows = rows_of_unreadable("sessions/deep/x.md", "sessions/deep/x.md: no text")
    (row,) = decode_lines("sessions", [rows.tables[0]])
    assert (row["id"], row["path"], row["problems"]) == ("x", "sessions/deep/x.md", 1)
    assert row["unreadable"] == "sessions/deep/x.md: no text"
    assert rows.shard == "undated"
    assert not any(rows.tables[1:])


def tables_of(text: str | bytes, path: str = "sessions/a.md") -> dict[str, list[Row]]:
    """Every row of a note."""
    data = text if isinstance(text, bytes) else text.encode()
    note = Note(Path("/v", path), Source.from_bytes(data), Stamp(0, 0, 0, 0))
    return _decoded(rows_of(note, path))


def _decoded(rows: NoteRows) -> dict[str, list[Row]]:
    return {
        name: decode_lines(name, text.split(b"\n") if text else [])
        for name, text in zip(TABLES, rows.tables, strict=True)
    }


# --- real notes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_the_rows_of_the_example_vault_are_written_down(table: str, tmp_path: Path) -> None:
    root = new_vault(tmp_path / "v")
    shutil.copytree(ROOT / "vault-example" / "sessions", root / "sessions", dirs_exist_ok=True)
    view = refreshed(root).view
    lines = [line for shard in view.shards for line in view._read(table, shard).split(b"\n") if line]
    text = head_of(table, len(lines)) + b"\n".join(lines) + b"\n"
    check_file(GOLDEN / f"{table}.toon", text.decode())


# --- the other tables --------------------------------------------------------------------------------------------

NOTE = """\
---
started: 2026-11-21T20:26:47+02:00
ended: 2026-11-21T18:30:00Z
participants:
  - claude-code@2.1
  - codex
subagents:
  - session: child
    agent: explorer
    model: haiku
    tokens: 12
  - agent: forgotten
parent: "[[sessions/up#x|The one above]]"
tags: [a, "b, c"]
format: 2
---

# A title

Before all phases: [[first]] and ![[image.png|100]].

```tasks
[
  {"id": 1, "content": "Plan, \\"all\\" of it", "status": "completed", "completed": "2026-11-21T18:28:30Z"},
  {"id": "2", "content": "Do it", "status": "in progress", "depends_on": ["1", "a, b"]}
]
```

> [!decision] Take it
> Because of [[second#Part|why]].

## Plan it @claude-code@3 #dev
started:: 2026-11-21T18:27:00Z
ended:: 2026-11-21T18:28:30.5Z
tokens:: 40

> [!error]
> It broke.

> [!user]
> Do it over.

### Deeper @helper #ops

> [!milestone] A title
> And text.

> [!quote] No kind of ours

**Tool calls:**
- `Bash ls` → ok
- `Bash false` → ❌ exit 1

## Do it @second

[a note](other%20note.md) [outside](https://x.y/)
"""


def test_the_phases_of_a_note_are_rows_with_those_below_them() -> None:
    rows = tables_of(NOTE)["phases"]
    assert [(row["phase"], row["agent"], row["channel"]) for row in rows] == [
        ("Plan it", "claude-code@3", "dev"),
        ("Deeper", "helper", "ops"),
        ("Do it", "second", None),
    ]
    assert [NOTE.split("\n")[int(str(row["line"])) - 1][:7] for row in rows] == [
        "## Plan",
        "### Dee",
        "## Do i",
    ]
    assert len({row["phase_id"] for row in rows}) == 3
    assert {row["path"] for row in rows} == {"sessions/a.md"}
    first, deeper, last = rows
    assert (first["started"], first["duration_s"], first["tokens"]) == (
        "2026-11-21T18:27:00Z",
        90.5,
        40,
    )
    assert (deeper["tool_calls"], deeper["failures"]) == (2, 1)
    assert (last["duration_s"], last["tokens"], last["tool_calls"]) == (None, None, 0)


def test_a_phase_counts_what_lies_below_it_too() -> None:
    first, deeper, _ = tables_of(NOTE)["phases"]
    assert [first[name] for name in ("tool_calls", "failures", "decisions", "errors", "users")] == [
        2,
        1,
        0,
        1,
        1,
    ]
    assert [deeper[name] for name in ("tool_calls", "failures", "decisions", "errors", "users")] == [
        2,
        1,
        0,
        0,
        0,
    ]


def test_a_session_counts_every_entry_of_its_phases_once() -> None:
    (row,) = tables_of(NOTE)["sessions"]
    counted = ("phases", "tool_calls", "failures", "decisions", "errors", "users")
    assert [row[name] for name in counted] == [2, 2, 1, 1, 1, 1]
    assert split_list(str(row["tags"])) == ("a", "b, c")
    assert (row["started"], row["duration_s"]) == ("2026-11-21T18:26:47Z", 193)


def test_the_participants_have_their_role() -> None:
    rows = [tuple(row.values())[1:] for row in tables_of(NOTE)["participants"]]
    assert rows == [
        ("participant", "claude-code", "2.1", None, None, None),
        ("participant", "codex", None, None, None, None),
        ("phase", "helper", None, None, None, None),
        ("phase", "second", None, None, None, None),
        ("subagent", "explorer", None, "haiku", "child", 12),
    ]


def test_the_callouts_have_kind_phase_and_line() -> None:
    tables = tables_of(NOTE)
    plan, deeper, _ = (row["phase_id"] for row in tables["phases"])
    told = [(row["kind"], row["phase_id"], row["text"]) for row in tables["callouts"]]
    assert [(kind, phase) for kind, phase, _ in told] == [
        ("decision", None),
        ("error", plan),
        ("user", plan),
        ("milestone", deeper),
    ]
    assert told[0][2] == "Take it\nBecause of [[second#Part|why]]."
    assert told[3][2] == "A title\nAnd text."
    lines = NOTE.split("\n")
    for row in tables["callouts"]:
        assert lines[int(str(row["line"])) - 1].startswith(f"> [!{row['kind']}]")


@for_each("kind", ["decision", "error", "user", "milestone", "observation"])
@for_each("character", ["x", "é", "😀", '"', ","])
def test_a_long_callout_is_cut_to_its_first_characters(kind: str, character: str) -> None:
    text = f"# T\n\n## P\n\n> [!{kind}] {character * 150}\n> {character * 150}\n"
    (row,) = tables_of(text)["callouts"]
    assert len(str(row["text"])) == CALLOUT_LENGTH
    assert set(str(row["text"])) == {character, "\n"}


def test_links_have_kind_and_line() -> None:
    rows = tables_of(NOTE)["links"]
    told = [(row["kind"], row["target"], row["subpath"], row["alias"]) for row in rows]
    assert told == [
        ("property", "sessions/up", "x", "The one above"),
        ("link", "first", None, None),
        ("embed", "image.png", None, "100"),
        ("link", "second", "Part", "why"),
        ("link", "other note", None, "a note"),
    ]
    lines = NOTE.split("\n")
    for row in rows:
        assert str(row["target"]).replace(" ", "%20") in lines[int(str(row["line"])) - 1]


# --- any notes ---------------------------------------------------------------------------------------------------


@for_each(
    "text",
    ["", "\n", "text", "# Title", "---\n---\n", "---\nstarted: [\n---\n", "---\n- a\n---\n", b"\xff\xfe"],
)
def test_a_note_that_is_no_session_is_a_row_without_a_date(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    note = Note(Path("/v/sessions/a.md"), Source.from_bytes(data), Stamp(0, 0, 0, 0))
    rows = rows_of(note, "sessions/a.md")
    assert rows.shard == UNDATED
    (row,) = _decoded(rows)["sessions"]
    assert (row["id"], row["path"], row["started"], row["unreadable"]) == ("a", "sessions/a.md", None, None)


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
values = st.one_of(
    st.sampled_from(
        (
            "2026-11-21",
            "9999-12-31T23:59:59-12:00",
            "0001-01-01T00:00:00+14:00",
            "9" * 400,
            "-1",
            "1e400",
            "[]",
            "{}",
        )
    ),
    st.sampled_from(("null", "[a, [b]]", "x", "@", "[[a|b]]", '"a\\ud800"', "2026-13-01", "!!binary x", "&a [*a]")),
    st.text(max_size=6),
)
keys = (
    "started",
    "ended",
    "status",
    "tokens",
    "participants",
    "subagents",
    "tags",
    "archived",
    "parent",
    "model",
    "channel",
    "project",
    "branch",
)


@given(st.dictionaries(st.sampled_from(keys), values), hostile_text(), st.sampled_from(("\n", "\r\n")))
def test_every_note_has_rows_whose_cells_are_what_their_columns_say(
    properties: dict[str, str], body: str, end: str
) -> None:
    head = "".join(f"{key}: {value}{end}" for key, value in properties.items())
    data = f"---{end}{head}---{end}{body}".encode(errors="surrogatepass")
    note = Note(Path("/v/sessions/a.md"), Source.from_bytes(data), Stamp(0, 0, 0, 0))
    rows = rows_of(note, "sessions/a.md")
    tables = _decoded(rows)
    assert len(tables["sessions"]) == 1
    assert rows.shard == (str(tables["sessions"][0]["started"] or "")[:7] or UNDATED)
    for name, found in tables.items():
        for row in found:
            assert row["path"] == "sessions/a.md"
            for column, cell in row.items():
                check_cell(name, column, cell)
    last = data.decode(errors="replace").count("\n") + data.count(b"\r") + 1
    assert all(1 <= int(str(row["line"])) <= last for name in ("phases", "callouts", "links") for row in tables[name])
    known = {row["phase_id"] for row in tables["phases"]} | {None}
    assert {row["phase_id"] for row in tables["callouts"]} <= known


def check_cell(table: str, column: str, cell: str | int | None) -> None:
    if cell is None:
        return
    if column in NUMBERS and not (table == "sessions" and column in LISTS):
        assert isinstance(cell, int), (table, column)
    else:
        assert isinstance(cell, str), (table, column)
    if column in TIMES:
        assert TIME.fullmatch(str(cell)), (table, column)
    if column in LISTS and table == "sessions":
        assert split_list(str(cell)), (table, column)


# --- reading -----------------------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_vault(tmp_path / "v")


def test_a_reading_has_the_stamp_of_the_file_and_no_rows_for_the_same_bytes(root: Path) -> None:
    path = write(root, "sessions/a.md", NOTE)
    first = read_for_index(str(root), "sessions/a.md", "")
    assert first.stamp == stamp_of(path.stat())
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(first.sha)
    assert len(first.sha) == 32
    assert first.rows is not None
    again = read_for_index(str(root), "sessions/a.md", first.sha)
    assert again == first._replace(rows=None)


def test_a_deleted_note_is_reported_as_gone(root: Path) -> None:
    for path in ("sessions/a.md", "sessions/none/a.md"):
        found = read_for_index(str(root), path, "")
        assert (found.gone, found.rows, found.stamp) == (True, None, UNKNOWN)


def test_what_cannot_be_read_has_a_row_that_says_why_once(root: Path, tmp_path: Path) -> None:
    (root / "sessions" / "out.md").symlink_to(tmp_path / "x.md")
    os.mkfifo(root / "sessions" / "pipe.md")
    (root / "sessions" / "dir.md").mkdir()
    (root / "sessions" / "gone.md").symlink_to("nowhere")
    (root / "sessions" / "loop.md").symlink_to("loop.md")
    for name in ("out", "pipe", "dir", "gone", "loop"):
        found = read_for_index(str(root), f"sessions/{name}.md", "")
        assert found.rows
        (row,) = _decoded(found.rows)["sessions"]
        assert row["id"] == name
        assert row["problems"] == 1
        assert str(row["unreadable"]).startswith(f"{root}/sessions/")
        assert ".md: " in str(row["unreadable"]) or name == "gone"
        assert "\n" not in str(row["unreadable"])
        assert not found.gone
        assert read_for_index(str(root), f"sessions/{name}.md", found.sha).rows is None


def test_a_note_on_which_we_fail_is_a_row_and_not_the_end_of_the_index(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the failure lies: in what a session means, or in making rows of it."""
    import crucible.vault.index.note_rows as module

    write(root, "sessions/a.md", NOTE)
    write(root, "sessions/b.md", NOTE)

    def failing(*args: object) -> None:
        raise RecursionError("too deep\nfor us")

    for name in ("_session_row", "_callouts", "_links"):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, failing)
            found = read_for_index(str(root), "sessions/a.md", "")
            assert found.rows
            (row,) = _decoded(found.rows)["sessions"]
            assert "cannot be parsed (RecursionError: too deep)" in str(row["unreadable"])


def test_a_task_is_a_row_with_the_words_of_its_status_and_what_it_waits_for() -> None:
    first, second = tables_of(NOTE)["tasks"]
    assert [first[key] for key in ("task_id", "status", "content", "depends_on", "completed")] == [
        "1",
        "completed",
        'Plan, "all" of it',
        None,
        "2026-11-21T18:28:30Z",
    ]
    assert (second["status"], second["priority"]) == ("in progress", "medium")
    assert split_list(str(second["depends_on"])) == ("1", "a, b")


def test_a_name_that_is_no_text_has_a_path_that_leads_back(root: Path) -> None:
    name = os.fsdecode(b"\xff.md")
    write(root, f"sessions/{name}", NOTE)
    found = read_for_index(str(root), f"sessions/{name}", "")
    assert found.rows
    for table, rows in _decoded(found.rows).items():
        assert {row["path"] for row in rows} == ({"sessions/\ufffdFF.md"} if table != "usage" else set())


def test_usage_has_a_row_for_each_day_model_and_length() -> None:
    lines = [
        "2026-11-21 m over 200000: input 5",
        "2026-11-21 m: input 1, cache_read 2",
        "2026-11-21 m: output 3",
        "? unknown: web_search 4",
    ]
    found = tables_of("---\nusage:\n" + "".join(f'  - "{line}"\n' for line in lines) + "---\n")["usage"]
    kinds = ("day", "model", "over", "tokens", "input", "output", "cache_read", "web_search")
    assert [tuple(row[kind] for kind in kinds) for row in found] == [
        ("", "", 0, 0, 0, 0, 0, 4),
        ("2026-11-21", "m", 0, 6, 1, 3, 2, 0),
        ("2026-11-21", "m", 200_000, 5, 5, 0, 0, 0),
    ]


@pytest.mark.parametrize("link", ["root", "old/root", "root#Phase", "sessions/root.md", "[[root|alias]]"])
def test_a_parent_is_stored_by_its_id_however_it_is_linked(link: str) -> None:
    tables = tables_of(f'---\nparent: "{link}"\nsubagents:\n  - session: "{link}"\n---\n')
    assert tables["sessions"][0]["parent"] == "root"
    assert [row["session"] for row in tables["participants"]] == ["root"]


def test_too_little_memory_is_no_fault_of_the_note(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreadable row in its place would be believed by who has more."""
    write(root, "sessions/a.md")

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("crucible.vault.index.note_rows._callouts", fail)
    with pytest.raises(MemoryError):
        read_for_index(str(root), "sessions/a.md", "")


def test_a_callout_row_carries_its_finding_and_the_reason(tmp_path: Path) -> None:
    decided = Decision("Token bucket", "constant memory", by="user", grounds=Grounds("reply", 0.62, ("3a77d35a",)))
    failed = Failure("Port in use", cause="an old server", resolution="killed it")
    came = FindingItem("outcome", "Limiter works", grounds=Grounds("commit", 0.97, ("0a0b0c0d",)))
    session = Session(
        "2026-11-21-x",
        phases=(Phase("Work", entries=(decided, failed, Failure("Still broken"))),),
        findings=(came,),
    )
    root = new_vault(tmp_path)
    path = write(root, "sessions/2026-11-21-x.md", render_session(session))
    ids = [one.id for one in findings_of(Vault(root).read(path).session)]
    rows = refreshed(root).view.rows("callouts")
    columns = ("text", "finding", "why", "by", "source", "confidence")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("Token bucket", "decision-3a77d35a", "constant memory", "user", "reply", 62),
        ("Port in use", ids[1], "an old server → killed it", None, "callout", 100),
        ("Still broken", None, None, None, None, None),
        ("Limiter works", "outcome-0a0b0c0d", None, None, "commit", 97),
    ]
