"""A session imported while it grows gives the same note as one imported at its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.documents.session.session import Callout, Entry, Outcome, Phase, Prose, Session, Subagent, ToolCalls
from crucible.vault.notes.vault import Vault
from tests.unit.clients.opencode_building import (
    NAMES,
    REAL,
    START,
    Talk,
    as_of,
    insert,
    moments_of,
    rows,
    run_import,
    talk,
    text,
    told,
    tool,
)
from tests.unit.commands.imports.places import make_vault, notes_of

STEPS, STATES = 5, 60


def story(session: Session) -> object:
    """Return a note's content, ignoring that piecemeal imports may break prose into paragraphs."""
    head = (session.title, session.status, session.started, session.ended, session.model, session.tokens_used)
    refs = [(ref.agent, ref.model, ref.tokens) for ref in session.subagents]
    return head, refs, session.tasks, [_phase(phase) for phase in session.phases]


def _phase(phase: Phase) -> object:
    entries = [_entry(entry) for entry in phase.entries]
    return (
        phase.name,
        phase.started,
        phase.ended,
        phase.tokens,
        entries,
        [_phase(sub) for sub in phase.subphases],
    )


def _entry(entry: Entry) -> object:
    if isinstance(entry, ToolCalls):
        return [(call.call, call.result, call.outcome) for call in entry.calls]
    if isinstance(entry, Prose):
        return entry.text.split()
    return (entry.summary, entry.text) if isinstance(entry, Subagent) else entry


def stories(vault: Vault) -> list[object]:
    return sorted((story(note.session) for note in notes_of(vault).values()), key=repr)


def quiet_times(whole: Path) -> list[int]:
    """Times of a database, but for two windows of some milliseconds that put an entry one place too early or late.

    While a text is being written, a subagent that the same message starts stands in no call yet; and a prompt after a
    crash looks as if it was typed while the agent worked, until the agent begins to answer.
    """
    parts = [(row, json.loads(row["data"])) for row in rows(whole, "part")]
    messages = {row["id"]: json.loads(row["data"]) for row in rows(whole, "message")}
    begins = sorted(data["time"]["created"] for data in messages.values() if data["role"] == "assistant")
    windows = [
        (
            row["time_created"],
            data.get("time", {}).get("end") or min((b for b in begins if b > row["time_created"]), default=0),
        )
        for row, data in parts
        if data["type"] == "text"
    ]
    return [time for time in moments_of(whole) if not any(begin <= time <= end for begin, end in windows)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", range(2))
def test_importing_piecemeal_gives_the_note_of_one_import(tmp_path: Path, name: str, offset: int) -> None:
    whole = REAL / name / "opencode.db"
    times = quiet_times(whole)
    stride = max(2, len(times) // STEPS)
    vault = make_vault(tmp_path / "piecemeal")
    for time in times[offset * stride // 2 :: stride]:
        run_import(vault, as_of(whole, time, tmp_path / "now" / "opencode.db"))
    run_import(vault, REAL / name)
    at_once = make_vault(tmp_path / "once")
    run_import(at_once, REAL / name)
    assert stories(vault) == stories(at_once)


@pytest.mark.parametrize("name", NAMES)
def test_rows_keep_their_places_while_a_session_grows(tmp_path: Path, name: str) -> None:
    whole = REAL / name / "opencode.db"
    before: dict[str, list[tuple[int, str]]] = {}
    times = moments_of(whole)
    for time in times[:: 1 + len(times) // STATES]:
        for session, events in told(as_of(whole, time, tmp_path / "now" / "opencode.db")).items():
            found = list(dict.fromkeys((event.at.line, event.at.row) for event in events))
            known = before.get(session, [])
            assert found[: len(known)] == known
            before[session] = found


def pending(folder: Path) -> Talk:
    """A session in which a command runs."""
    made = talk(folder)
    made.user(text("Run it"))
    running = tool("bash", status="running", input={"command": "make"}, time={"start": START + 500})
    made.message(
        {"role": "assistant", "parentID": made.asked, "modelID": "m", "time": {"created": START + 300}},
        running,
    )
    return made


def test_a_result_that_comes_after_an_import_gets_to_its_call(tmp_path: Path) -> None:
    made, vault = pending(tmp_path / "data"), make_vault(tmp_path / "vault")
    run_import(vault, tmp_path / "data")
    assert _outcomes(vault) == [("bash make", Outcome.PENDING, "")]
    done = tool("bash", input={"command": "make"}, output="made it", time={"start": START + 500, "end": START + 800})
    _rewrite(made, "part", done, START + 801)
    run_import(vault, tmp_path / "data")
    assert _outcomes(vault) == [("bash make", Outcome.OK, "made it")]


def test_a_prompt_that_came_while_a_command_ran_is_not_lost(tmp_path: Path) -> None:
    made, vault = pending(tmp_path / "data"), make_vault(tmp_path / "vault")
    asked = made.asked
    made.user(text("And be quick"))
    run_import(vault, tmp_path / "data")
    done = tool("bash", input={"command": "make"}, output="made", time={"start": START + 500, "end": START + 2000})
    _rewrite(made, "part", done, START + 2001)
    row = {"role": "assistant", "parentID": asked, "modelID": "m", "finish": "stop"}
    _rewrite(made, "message", {**row, "time": {"created": START + 300, "completed": START + 2600}}, START + 2600)
    words = text("It is made.", time={"start": START + 2400, "end": START + 2500})
    values = {"session_id": made.session, "message_id": f"msg_{2:026d}", "data": words}
    insert(made.connection, "part", id="prt_9", **values, time_created=START + 2400, time_updated=START + 2500)
    run_import(vault, tmp_path / "data")
    (note,) = notes_of(vault).values()
    written = note.source.text
    assert len(note.session.phases) == 1
    assert [written.count(said) for said in ('> "Run it"', "And be quick", "It is made.")] == [1, 1, 1]
    assert _outcomes(vault) == [("bash make", Outcome.OK, "made")]


def test_a_streaming_text_is_emitted_when_it_is_complete(tmp_path: Path) -> None:
    made, vault = talk(tmp_path / "data"), make_vault(tmp_path / "vault")
    made.user(text("Speak"))
    row = {"role": "assistant", "parentID": made.asked, "modelID": "m", "time": {"created": START + 300}}
    made.message(
        row,
        text("", time={"start": START + 400}),
        tool("bash", input={"command": "ls"}, time={"start": START + 450}),
    )
    run_import(vault, tmp_path / "data")
    assert _outcomes(vault) == []
    values = ("Said.", START + 600)
    made.connection.execute(
        "UPDATE part SET data = json_set(data, '$.text', ?, '$.time.end', ?), time_updated = 0 WHERE id LIKE '%0'",
        values,
    )
    run_import(vault, tmp_path / "data")
    (note,) = notes_of(vault).values()
    assert note.source.text.index("Said.") < note.source.text.index("bash ls")


def _outcomes(vault: Vault) -> list[tuple[str, Outcome, str | None]]:
    (note,) = notes_of(vault).values()
    return [(call.call, call.outcome, call.result) for call in note.session.calls()]


def _rewrite(made: Talk, table: str, data: object, time: int) -> None:
    kind = '%"tool"%' if table == "part" else '%"assistant"%'
    made.connection.execute(
        f"UPDATE {table} SET data = ?, time_updated = ? WHERE data LIKE ?", (json.dumps(data), time, kind)
    )


def test_a_revert_is_marked_once_and_the_session_continues_after_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    made = talk(tmp_path)
    asked = [(made.user(text(words)), made.agent(text(f"Done: {words}")))[0] for words in ("one", "two")]
    database = tmp_path / "opencode.db"
    run_import(vault, database)
    revert = json.dumps({"messageID": asked[1]})
    made.connection.execute("UPDATE session SET revert = ?, time_updated = ?", (revert, made.now + 60_000))
    assert len(run_import(vault, database).updated) == 1
    assert not run_import(vault, database).updated
    for table, ident in (("part", "message_id"), ("message", "id")):
        made.connection.execute(f"DELETE FROM {table} WHERE {ident} >= ?", (asked[1],))
    made.now += 120_000
    made.user(text("three"))
    made.agent(text("Done: three"))
    made.connection.execute("UPDATE session SET revert = NULL, time_updated = ?", (made.now,))
    run_import(vault, database)
    (note,) = notes_of(vault).values()
    assert [phase.name for phase in note.session.phases] == ["one", "two", "three"]
    said = note.source.text
    assert all(said.count(f"Done: {words}") == 1 for words in ("one", "two", "three"))
    assert said.count("> [!observation] Rewound\n> The user took back the last turn.\n") == 1
    assert note.session.phases[1].entries[-1] == Callout("observation", "Rewound", "The user took back the last turn.")
