"""A subagent's report stands whole in its own note, whoever has it, and its parent tells how it begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.import_properties import parse_usage
from crucible.documents.session.session import Failure, Prose, Session, Status, Subagent
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import Row, assistant, envelope, result, text, use, user
from tests.unit.commands.imports.places import bytes_of, make_vault, notes_of, run_import, session_file, write_rows
from tests.unit.vault.events.flights import stored_lines

AGENT = "abc123"
HERE = "/home/dev/project"
REPORT = f"""\
Splendid! I have all I need. Let me write it down.

## Where tokens are kept

The bucket of each key is in `{HERE}/limiter.py`.

- it is never emptied
- nobody locks it

```py
buckets = {{}}
```
"""
SUMMARY = "Where tokens are kept: The bucket of each key is in `limiter.py`. it is never emptied; nobody locks it"
TASK = "Look where tokens are kept"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path / "vault")


@pytest.fixture
def trunk(tmp_path: Path) -> Path:
    return session_file(tmp_path / "project")


def asked(call: str = "c1") -> list[Row]:
    given = {"description": "Find the bucket", "prompt": TASK, "subagent_type": "Explore"}
    return [user("Where are tokens kept?"), assistant(use("Task", call, **given))]


def answered(report: str = REPORT, agent: str = AGENT, call: str = "c1") -> list[Row]:
    tail = f"agentId: {agent} (for resuming to continue this agent's work if needed)"
    content = [text(report), text(tail)]
    raw = {"status": "completed", "agentId": agent, "totalTokens": 99}
    return [result(content, call, raw=raw), assistant(text("In limiter.py."), stop="end_turn")]


def side(*rows: Row) -> list[Row]:
    return [{**row, "isSidechain": True, "agentId": AGENT} for row in rows]


def own(*last: Row) -> list[Row]:
    """What its own log has; without `last` that ends before its report."""
    used = {"input_tokens": 30, "output_tokens": 4, "cache_read_input_tokens": 7}
    look = assistant(use("Read", "r1", file_path=f"{HERE}/limiter.py"), usage=used)
    return side(user(TASK), look, result("1 line", "r1"), *last)


def progress(rows: Iterable[Row]) -> list[Row]:
    data = ({"type": "agent_progress", "agentId": AGENT, "message": row} for row in rows)
    return [envelope("progress", data=each, parentToolUseID="c1") for each in data]


def file_of(trunk: Path) -> Path:
    return trunk.with_suffix("") / "subagents" / f"agent-{AGENT}.jsonl"


def sessions(vault: Vault) -> tuple[Session, Session]:
    """The parent's and the subagent's."""
    parent, child = sorted((note.session for note in notes_of(vault).values()), key=lambda s: bool(s.parent))
    return parent, child


def callout(parent: Session) -> Subagent:
    (found,) = [entry for entry in parent.all_entries() if isinstance(entry, Subagent)]
    return found


def last_prose(session: Session) -> str:
    return [entry.text for entry in session.all_entries() if isinstance(entry, Prose)][-1]


def final() -> Row:
    return assistant(text(REPORT), stop="end_turn")


LAYOUTS = ["inline rows", "file without its end", "whole file", "nothing"]


def lay_out(trunk: Path, layout: str) -> None:
    inner = progress(own()) if layout == "inline rows" else []
    if "file" in layout:
        write_rows(file_of(trunk), own(*([final()] if layout == "whole file" else [])))
    write_rows(trunk, [*asked(), *inner, *answered()])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_report_is_the_last_prose_of_its_own_note_once(vault: Vault, trunk: Path, layout: str) -> None:
    lay_out(trunk, layout)
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert last_prose(child) == REPORT.strip()
    assert notes_of(vault)[child.id].source.text.count("nobody locks it") == 1
    assert (child.status, child.title) == (Status.COMPLETED, "Find the bucket")
    assert child.preamble == (Prose(TASK),)
    assert (callout(parent).summary, callout(parent).link) == (SUMMARY, child.id)
    before = bytes_of(vault)
    assert len(run_import(vault, trunk).unchanged) == 2
    assert bytes_of(vault) == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_report_that_a_human_deleted_stays_deleted(vault: Vault, trunk: Path, layout: str) -> None:
    lay_out(trunk, layout)
    run_import(vault, trunk)
    _, child = sessions(vault)
    note = notes_of(vault)[child.id]
    text_of = note.source.text
    note.path.write_text(text_of[: text_of.index("Splendid!")], encoding="utf-8")
    write_rows(trunk, [*asked(), *(progress(own()) if layout == "inline rows" else []), *answered()])
    before = note.path.read_text()
    run_import(vault, trunk)
    assert note.path.read_text() == before


@pytest.mark.parametrize("layout", ["inline rows", "file without its end", "whole file"])
def test_a_report_that_comes_later_joins_what_a_human_edited(vault: Vault, trunk: Path, layout: str) -> None:
    rows = [*asked(), *(progress(own()) if layout == "inline rows" else [])]
    write_rows(trunk, rows)
    if layout != "inline rows":
        write_rows(file_of(trunk), own())
        file_of(trunk).with_suffix(".meta.json").write_text('{"toolUseId":"c1"}')
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert (child.status, callout(parent).summary) == (Status.PAUSED, None)
    note = notes_of(vault)[child.id]
    note.path.write_text(note.source.text.replace("# Find the bucket", "# Mine"), encoding="utf-8")
    write_rows(trunk, [*rows, *answered()])
    if layout == "whole file":
        write_rows(file_of(trunk), own(final()))
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert (child.title, child.status, child.pause_reason) == ("Mine", Status.COMPLETED, None)
    assert last_prose(child) == REPORT.strip()
    assert callout(parent).summary == SUMMARY


def test_a_file_that_comes_after_its_report_is_not_lost(vault: Vault, trunk: Path) -> None:
    lay_out(trunk, "nothing")
    run_import(vault, trunk)
    write_rows(file_of(trunk), own(final()))
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert [call.call for call in child.calls()] == ["Read limiter.py"]
    assert (child.tokens_used, [ref.tokens for ref in parent.subagents]) == (34, [34])
    before = bytes_of(vault)
    run_import(vault, trunk)
    assert bytes_of(vault) == before


def test_a_report_that_the_parent_fetched_is_one_too(vault: Vault, trunk: Path) -> None:
    launched = result("Async agent launched successfully.", "c1", raw={"isAsync": True, "agentId": AGENT})
    output = f'[Tool: Read] {{"file_path":"a.py"}}\n\n--- RESULT ---\n{REPORT}'

    def fetch(call: str, status: str) -> list[Row]:
        task = {"task_id": AGENT, "task_type": "local_agent", "status": status, "output": output}
        return [assistant(use("TaskOutput", call, task_id=AGENT)), result(output, call, raw={"task": task})]

    done = assistant(text("In limiter.py."), stop="end_turn")
    rows = [*asked(), launched, *fetch("t1", "running")]
    write_rows(trunk, rows)
    run_import(vault, trunk)
    (note,) = notes_of(vault).values()
    assert callout(note.session).summary is None
    write_rows(trunk, [*rows, *fetch("t2", "completed"), *fetch("t3", "completed"), done])
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert (last_prose(child), child.status) == (REPORT.strip(), Status.COMPLETED)
    assert (callout(parent).summary, callout(parent).link) == (SUMMARY, child.id)
    assert notes_of(vault)[child.id].source.text.count("nobody locks it") == 1


def test_a_subagent_that_could_not_start_is_a_failure_with_its_message(vault: Vault, trunk: Path) -> None:
    told = "Agent type 'explorer' not found. Available agents: Explore, Plan"
    failed = [result(told, "c1", error=True), assistant(text("I look myself."), stop="end_turn")]
    write_rows(trunk, [*asked(), *failed])
    run_import(vault, trunk)
    (note,) = notes_of(vault).values()
    work = callout(note.session)
    assert work.text == f"Find the bucket\nThe subagent failed: {told}"
    assert work.summary is None
    assert note.session.status is Status.COMPLETED


@pytest.mark.parametrize("layout", ["inline rows", "file without its end"])
def test_a_subagent_that_ended_in_an_error_has_failed(vault: Vault, trunk: Path, layout: str) -> None:
    inner = progress(own()) if layout == "inline rows" else []
    if not inner:
        write_rows(file_of(trunk), own())
        file_of(trunk).with_suffix(".meta.json").write_text('{"agentType":"Explore","toolUseId":"c1"}')
    failed = [result("API Error: overloaded", "c1", error=True), assistant(text("Oh."), stop="end_turn")]
    write_rows(trunk, [*asked(), *inner, *failed])
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert child.status is Status.FAILED
    assert [e.text for e in child.all_entries() if isinstance(e, Failure)] == ["API Error: overloaded"]
    assert callout(parent).text == "The subagent failed: API Error: overloaded"
    assert callout(parent).link == child.id


def test_lines_of_ours_show_no_absolute_paths_and_words_stay_as_they_were(vault: Vault, trunk: Path) -> None:
    look = assistant(use("Bash", "b1", command=f"grep -r x {HERE} /home/dev/.cache"))
    found = result(f"{HERE}/limiter.py: x", "b1")
    write_rows(trunk, [*asked(), *progress(own(*side(look, found))), *answered()])
    run_import(vault, trunk)
    parent, child = sessions(vault)
    assert [(call.call, call.result) for call in child.calls()] == [
        ("Read limiter.py", "1 line"),
        ("Bash grep -r x . ~/.cache", "limiter.py: x"),
    ]
    assert f"{HERE}/limiter.py" in last_prose(child)
    assert HERE not in notes_of(vault)[parent.id].source.text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inline_work_is_counted_in_the_note_that_holds_it(tmp_path: Path, trunk: Path, layout: str) -> None:
    vault = make_vault(tmp_path / "inline", VaultSettings(fsync=False, subagents="inline"))
    lay_out(trunk, layout)
    run_import(vault, trunk)
    (note,) = notes_of(vault).values()
    work, counts = callout(note.session), (0, 0) if layout == "nothing" else (34, 7)
    assert [entry.text for entry in work.entries if isinstance(entry, Prose)] == [REPORT.strip()]
    assert work.text == ("34 tokens" if counts[0] else "")
    assert (note.session.tokens_used or 0, note.session.tokens_cached or 0) == counts
    assert sum(sum(each.tokens.values()) for each in parse_usage(note.session.usage)) == sum(counts)
    before = bytes_of(vault)
    run_import(vault, trunk)
    assert bytes_of(vault) == before


def test_inline_work_that_goes_on_is_counted_once(tmp_path: Path, trunk: Path) -> None:
    vault = make_vault(tmp_path / "inline", VaultSettings(fsync=False, subagents="inline"))
    rows = [*asked(), *progress(own())]
    write_rows(trunk, rows)
    run_import(vault, trunk)
    more = progress(side(assistant(text("Hm."), usage={"input_tokens": 5, "output_tokens": 1})))
    write_rows(trunk, [*rows, *more, *answered()])
    run_import(vault, trunk)
    (note,) = notes_of(vault).values()
    assert (note.session.tokens_used, note.session.tokens_cached) == (40, 7)
    assert note.session.usage == ("2026-01-02 claude-opus-4-8: input 35, output 5, cache_read 7",)
    assert callout(note.session).text == "40 tokens"


@pytest.mark.parametrize("subagents", ["link", "inline"])
def test_a_nameless_subagent_before_the_first_prompt_waits_for_its_trunk_s_id(tmp_path: Path, subagents: str) -> None:
    """The oldest versions warmed up subagents in the trunk, before anybody said anything."""
    rows = [
        user("Warm up", isSidechain=True),
        assistant(text("I am warm."), stop="end_turn", isSidechain=True),
        user("Go"),
        assistant(text("Done."), stop="end_turn", message="m2"),
    ]
    rows[1]["parentUuid"] = rows[0]["uuid"]
    vault = make_vault(tmp_path / "vault", VaultSettings(subagents=subagents))
    report = run_import(vault, write_rows(session_file(tmp_path), rows))
    assert not report.unreadable
    names = sorted(notes_of(vault))
    assert names[0] == "2026-01-02-go"
    assert all(name.startswith("2026-01-02-go") for name in names)
    texts = "".join(note.source.text for note in notes_of(vault).values())
    assert "\nI am warm.\n" in texts.replace("> > ", "")
    events = "".join(line for lines in stored_lines(vault.root).values() for line in lines)
    assert events.count("I am warm.") == 1
    before = bytes_of(vault)
    assert not run_import(vault, session_file(tmp_path)).updated
    assert bytes_of(vault) == before
