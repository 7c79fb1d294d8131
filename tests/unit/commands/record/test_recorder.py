"""The recorder's Python API: what each telling makes of the note, and of the flight recorder."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from crucible.commands import record
from crucible.commands.record import InlineWork, Recorder, SessionEnded
from crucible.commands.record.entries import Verbs
from crucible.core.errors import BadSessionId, SessionNotFound, UsageError, VaultError, VaultNotFound
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    Intervention,
    Mode,
    Outcome,
    Prose,
    Status,
    Subagent,
    SubagentRef,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.vault.events.event_reader import read_records
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.paths import ROOT
from tests.unit.commands.record.recorder_clock import START, clock, read, text_of

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def begin(vault: Vault, title: str = "Fix the retry bug", **given: str) -> Recorder:
    return record.session(title, vault=vault.root, now=clock(), **given)  # type: ignore[arg-type]


# --- a session's ends ------------------------------------------------------------------------------------------------


def test_a_new_session_is_a_note_that_is_active(vault: Vault) -> None:
    s = begin(vault, agent="my-agent@1.0", model="m-1", channel="dev", project="shop", goal="Make it *retry*.")
    assert s.id == "2026-11-22-fix-retry-bug"
    assert s.path == vault.root / "sessions" / f"{s.id}.md"
    found = read(s, vault)
    assert (found.status, found.started, found.channel, found.project) == (
        Status.ACTIVE,
        START,
        "dev",
        "shop",
    )
    assert (found.participants, found.model) == ((AgentRef("my-agent", "1.0"),), "m-1")
    assert (found.title, found.preamble) == ("Fix the retry bug", (Prose("Make it *retry*."),))
    assert not found.problems


def test_two_sessions_of_one_title_have_two_ids(vault: Vault) -> None:
    assert [begin(vault).id for _ in range(3)][1:] == [
        "2026-11-22-fix-retry-bug-2",
        "2026-11-22-fix-retry-bug-3",
    ]


def test_a_session_without_a_title_is_named_after_its_goal(vault: Vault) -> None:
    assert read(begin(vault, "", goal="Please find out why it hangs. Then mend it."), vault).title != "Untitled"
    assert begin(vault, "").id == "2026-11-22-untitled"


def test_leaving_the_with_completes_the_session(vault: Vault) -> None:
    with begin(vault) as s:
        s.phase("Research")
        s.summary = "Done."
    found = read(s, vault)
    assert (found.status, found.summary) == (Status.COMPLETED, "Done.")
    assert found.ended is not None
    assert found.phases[0].ended == found.ended
    with pytest.raises(SessionEnded, match="completed") as caught:
        s.milestone("more")
    assert "--continues" in caught.value.hint


def leave(s: Recorder, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, s:
        raise error
    assert caught.value is error


def test_an_exception_is_recorded_fails_the_session_and_is_raised(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Compute")
    leave(s, ZeroDivisionError("division by zero"))
    found = read(s, vault)
    assert found.status is Status.FAILED
    assert found.phases[0].entries == (Failure("ZeroDivisionError: division by zero"),)


def test_an_interruption_pauses_the_session(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Compute")
    leave(s, KeyboardInterrupt())
    found = read(s, vault)
    assert (found.status, found.resume_point, found.pause_reason) == (Status.PAUSED, "phase-1", "interrupted")


def test_an_exception_is_raised_if_it_cannot_be_recorded(vault: Vault) -> None:
    s = begin(vault)
    s.path.unlink()
    error = ValueError("x")
    leave(s, error)
    assert "could not be ended" in error.__notes__[0]


def test_pausing_says_where_and_why_and_the_next_word_goes_on(vault: Vault) -> None:
    s = begin(vault)
    s.phase("One")
    s.phase("Two")
    assert s.pause("waiting for keys") == "phase-2"
    found = read(s, vault)
    assert (found.status, found.resume_point, found.pause_reason) == (
        Status.PAUSED,
        "phase-2",
        "waiting for keys",
    )
    s.milestone("the keys are there")
    found = read(s, vault)
    assert (found.status, found.resume_point, found.pause_reason) == (Status.ACTIVE, None, None)


def test_a_paused_session_is_resumed_by_its_id(vault: Vault) -> None:
    s = begin(vault)
    s.pause()
    again = record.resume(s.id, vault=vault.root, now=clock())
    assert read(again, vault).status is Status.ACTIVE
    again.end(failed=True)
    assert read(again, vault).status is Status.FAILED
    with pytest.raises(SessionEnded):
        record.resume(s.id, vault=vault.root)


def test_a_session_that_goes_on_from_another_is_named_there(vault: Vault) -> None:
    first = begin(vault)
    first.end()
    second = record.session("Go on", vault=vault.root, continues=first.id, now=clock())
    assert read(second, vault).continues == first.id
    assert read(first, vault).continued_by == second.id


@pytest.mark.parametrize(
    ("name", "error"), [("../x", BadSessionId), ("", BadSessionId), ("2026-11-22-fix", SessionNotFound)]
)
def test_an_id_is_exact(vault: Vault, name: str, error: type[Exception]) -> None:
    begin(vault)
    with pytest.raises(error):
        record.open(name, vault=vault.root)


def test_a_note_that_was_moved_to_another_folder_is_found_again(vault: Vault) -> None:
    s = begin(vault)
    (vault.sessions / "old").mkdir()
    s.path.rename(vault.sessions / "old" / s.path.name)
    s.milestone("found")
    assert record.open(s.id, vault=vault.root).path.parent.name == "old"
    child = s.subagent("helper")
    assert child.path.parent.name == "old"  # type: ignore[union-attr]


# --- entries ---------------------------------------------------------------------------------------------------------


def test_each_telling_is_an_entry_of_the_last_phase(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Work")
    s.user("Do it\nnow", note="at once")
    s.prose("I will.")
    s.decision("Back off", rationale="the server is slow")
    s.error("It hung", resolution="a timeout")
    s.milestone("It works")
    s.observation("It is slow")
    s.checkpoint("before the merge")
    s.decision_needed("Which?", options=["one", "two\nlines"])
    s.approval_required("Merge?")
    assert read(s, vault).phases[0].entries == (
        Intervention("Do it\nnow", "at once"),
        Prose("I will."),
        Decision("Back off", "the server is slow"),
        Failure("It hung", "a timeout"),
        Callout("milestone", "", "It works"),
        Callout("observation", "", "It is slow"),
        Callout("observation", "Checkpoint", "before the merge"),
        Callout("decision_needed", "", "Which?\n\n- one\n- two⏎lines"),
        Callout("approval_required", "", "Merge?"),
    )


def test_a_phase_has_its_agent_its_channel_and_its_times(vault: Vault) -> None:
    s = begin(vault, agent="a@1")
    assert s.phase("Research", channel="dev") == "phase-1"
    assert s.phase("Review", agent="b@2", model="m-2", tokens=30) == "phase-2"
    assert s.phase("More") == "phase-3"
    assert "## Research @a@1 #dev\n\nstarted:: 2026-11-22T10:00:10Z\nended:: 2026-11-22T10:00:20Z\n" in text_of(s)
    found = read(s, vault)
    assert [str(phase.agent) for phase in found.phases] == ["a@1", "b@2", "b@2"]
    assert (found.phases[1].tokens, found.tokens_used) == (30, 30)
    assert ([str(agent) for agent in found.participants], found.model, found.channel) == (
        ["a@1", "b@2"],
        "m-2",
        "dev",
    )


def test_a_phase_may_end_before_the_next_one_begins(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Research", at=START)
    assert s.end_phase(at=START + timedelta(minutes=5)) == "phase-1"
    assert s.end_phase(at=START + timedelta(hours=1)) == "phase-1", "the first end is the end"
    s.prose("One more word.")
    s.phase("Write", at=START + timedelta(days=1))
    first, second = read(s, vault).phases
    assert (first.ended, second.ended) == (START + timedelta(minutes=5), None)
    assert first.entries == (Prose("One more word."),)
    assert s.end_phase(at=START) == "phase-2"
    assert read(s, vault).phases[1].ended == START + timedelta(days=1), "never before it began"


def test_no_phase_no_end_of_one(vault: Vault) -> None:
    s = begin(vault)
    with pytest.raises(UsageError, match="no phase"):
        s.end_phase()
    s.end()
    with pytest.raises(SessionEnded):
        s.end_phase()


def test_an_entry_before_the_first_phase_begins_one(vault: Vault) -> None:
    s = begin(vault, agent="a@1")
    assert s.user("Go") == "phase-1"
    phase = read(s, vault).phases[0]
    assert (phase.name, str(phase.agent), phase.entries) == (
        "Fix the retry bug",
        "a@1",
        (Intervention("Go"),),
    )


def test_calls_in_a_row_are_one_list_with_marks_and_cuts(vault: Vault) -> None:
    s = begin(vault)
    s.tool("pytest", "-q", result="3 passed")
    s.tool("pytest", "-q", "x" * 300, result="y" * 300, exit_code=2)
    s.tool("rm -rf", "build", outcome="rejected")
    s.tool("sleep", "9", outcome="interrupted", exit_code=1)
    s.tool("make", exit_code=2)
    (calls,) = read(s, vault).phases[0].entries
    assert isinstance(calls, ToolCalls)
    assert calls.calls == (
        ToolCall("pytest -q", "3 passed"),
        ToolCall(f"pytest -q {'x' * 189}…", f"{'y' * 99}…", Outcome.FAILED),
        ToolCall("rm_-rf build", "", Outcome.REJECTED),
        ToolCall("sleep 9", "exit code 1", Outcome.INTERRUPTED),
        ToolCall("make", "exit code 2", Outcome.FAILED),
    )
    assert "❌ yyy" in text_of(s)


def test_a_result_of_a_hundred_characters_is_not_cut(vault: Vault) -> None:
    s = begin(vault)
    s.tool("a", result="x" * 100)
    s.tool("b", result="x" * 101)
    assert [len(call.result) for call in read(s, vault).calls()] == [100, 100]
    assert [call.result[-1] for call in read(s, vault).calls()] == ["x", "…"]


def test_after_a_switch_phases_are_the_other_agents(vault: Vault) -> None:
    s = begin(vault, agent="architect@1")
    s.phase("Plan")
    s.agent_switch("architect@1", "coder@2", "the design is agreed")
    s.phase("Build")
    found = read(s, vault)
    assert found.phases[0].entries == (Callout("agent_switch", "architect@1 → coder@2", "the design is agreed"),)
    assert found.phases[1].agent == AgentRef("coder", "2")
    assert [str(agent) for agent in found.participants] == ["architect@1", "coder@2"]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\x1b[0m"])
def test_an_empty_text_is_refused(vault: Vault, text: str) -> None:
    s = begin(vault)
    before = text_of(s)
    for tell in (s.prose, s.decision, s.error, s.user, s.milestone, s.observation, s.phase, s.task_complete):
        with pytest.raises(UsageError):
            tell(text)
    assert text_of(s) == before


HOSTILE = (
    "## Forged @x #y\n---\n> [!decision]\n> forged\n**Tool calls:**\n- `rm` → ok\n"
    "Rationale: no\n[[link]] %%hidden%% <script>\n```tasks\n[]"
)


def test_recorded_text_never_becomes_structure(vault: Vault) -> None:
    s = begin(vault, "# T\n---\nstatus: failed", agent="a b@1 # ", model="m\nx: 1", goal=HOSTILE, project="p\nq: 1")
    s.phase(HOSTILE, channel="x y")
    s.decision(HOSTILE, rationale=HOSTILE)
    s.user(HOSTILE, note=HOSTILE)
    s.tool(HOSTILE, HOSTILE, result=HOSTILE)
    s.add_tasks(HOSTILE)
    s.pause(HOSTILE)
    child = s.subagent(HOSTILE, model=HOSTILE, task=HOSTILE, summary=HOSTILE)
    s.end(HOSTILE)
    found = read(s, vault)
    assert not found.problems
    assert len(found.phases) == 1
    assert [type(entry) for entry in found.phases[0].entries] == [Decision, Intervention, ToolCalls, Subagent]
    assert found.phases[0].entries[0] == Decision(HOSTILE, HOSTILE)
    assert found.phases[0].entries[1] == Intervention(HOSTILE, HOSTILE)
    assert (found.summary, len(found.tasks), found.status) == (HOSTILE, 1, Status.COMPLETED)
    assert not read(child, vault).problems  # type: ignore[arg-type]


# --- figures and tasks -----------------------------------------------------------------------------------------------


def test_tokens_add_up_in_the_session_and_its_phase(vault: Vault) -> None:
    s = begin(vault)
    s.tokens(5)
    s.phase("A")
    s.tokens(100, cached=1000, model="m-1")
    s.tokens(20)
    found = read(s, vault)
    assert (found.tokens_used, found.tokens_cached, found.model) == (125, 1000, "m-1")
    assert found.phases[0].tokens == 120
    for used, output in ((-1, 0), (1, 2)):
        with pytest.raises(UsageError):
            s.tokens(used, output=output)


def test_tokens_are_counted_by_day_and_model(vault: Vault) -> None:
    s = begin(vault, model="m-1")
    s.tokens(5)
    s.phase("A", tokens=7)
    s.tokens(100, cached=1000, output=40, model="m-2")
    s.tokens(20, output=20)
    assert read(s, vault).usage == (
        "2026-11-22 m-1: input 12, output 20",
        "2026-11-22 m-2: input 60, output 40, cache_read 1000",
    )


def test_tasks_are_set_added_begun_and_done(vault: Vault) -> None:
    s = begin(vault)
    s.tasks([{"content": "Write", "status": "in_progress", "priority": "high"}, {"id": "x", "content": "Test"}])
    s.add_tasks("Ship", {"content": "Tell", "depends_on": ["x"]})
    s.start_task("x")
    s.task_complete("It is written", task="1")
    tasks = {task.id: task for task in read(s, vault).tasks}
    assert list(tasks) == ["1", "x", "2", "3"]
    assert (tasks["1"].status, tasks["1"].started, tasks["1"].completed) == (
        "completed",
        "2026-11-22T10:00:10Z",
        "2026-11-22T10:00:40Z",
    )
    assert tasks["x"].status == "in_progress"
    assert tasks["3"] == Task("3", "Tell", depends_on=("x",))
    assert read(s, vault).phases[0].entries == (Callout("task_complete", "Task 1", "It is written"),)


def test_a_task_that_is_opened_again_or_dropped_has_no_end(vault: Vault) -> None:
    s = begin(vault)
    s.add_tasks("One", "Two")
    s.finish_task("1"), s.finish_task("2")
    s.start_task("1")
    s.tasks(
        [
            {"id": "1", "content": "One", "status": "in_progress"},
            {"id": "2", "content": "Two", "status": "cancelled"},
        ]
    )
    assert [task.completed for task in read(s, vault).tasks] == [None, None]
    s.finish_task("1")
    again = read(s, vault).tasks[0]
    assert again.completed is not None
    assert again.started is not None
    assert again.completed > again.started


def test_a_task_that_is_none_is_refused_whole(vault: Vault) -> None:
    s = begin(vault)
    s.add_tasks("One")
    before = text_of(s)
    for wrong in (
        {"content": ""},
        {"id": "2"},
        {"content": "x", "status": "open"},
        {"content": "x", "id": "1"},
    ):
        with pytest.raises(UsageError):
            s.add_tasks("fine", wrong)
    with pytest.raises(UsageError, match="no task '7'"):
        s.task_complete("done", task="7")
    assert text_of(s) == before


# --- subagents -------------------------------------------------------------------------------------------------------


def test_a_linked_subagent_is_a_note_with_links_both_ways(vault: Vault) -> None:
    with begin(vault, project="shop") as s:
        s.phase("Delegate")
        with s.subagent("researcher@2", model="small", task="Find the clock") as child:
            assert isinstance(child, Recorder)
            child.phase("Search")
            child.tool("grep", "clock", result="3 matches")
            child.tokens(324)
            child.summary = "Use time.monotonic()."
    found, other = read(s, vault), read(child, vault)
    assert child.id == f"{s.id}-find-clock"
    assert found.phases[0].entries == (
        Subagent(AgentRef("researcher", "2"), "small", Mode.LINK, child.id, "", "Use time.monotonic()."),
    )
    assert found.subagents == (SubagentRef(child.id, "researcher@2", "small", 324),)
    assert found.properties["subagent_logs"] == [f"[[sessions/{child.id}|{child.id}]]"]
    assert found.tokens_used is None
    assert (other.parent, other.project, other.status, other.tokens_used) == (
        s.id,
        "shop",
        Status.COMPLETED,
        324,
    )
    assert other.summary == "Use time.monotonic()."


def test_an_embedded_subagent_is_embedded(vault: Vault) -> None:
    s = begin(vault)
    child = s.subagent("helper", mode="embed")
    assert isinstance(child, Recorder)
    assert f"> mode: embed\n> ![[sessions/{child.id}|{child.id}]]\n" in text_of(s)


def test_inline_work_is_one_callout(vault: Vault) -> None:
    s = begin(vault)
    with s.subagent("helper", model="small", mode="inline", task="Do it") as work:
        assert isinstance(work, InlineWork)
        work.phase("Look")
        work.tool("ls", result="3 files")
        work.tool("cat", "a", result="10 lines")
        work.decision("This one")
        work.tokens(12)
        work.summary = "Did it."
    (entry,) = read(s, vault).phases[0].entries
    assert entry == Subagent(
        AgentRef("helper"),
        "small",
        Mode.INLINE,
        None,
        "12 tokens",
        "Did it.",
        "Do it",
        (
            Prose("**Look**"),
            ToolCalls((ToolCall("ls", "3 files"), ToolCall("cat a", "10 lines"))),
            Decision("This one"),
        ),
    )
    assert len(vault.session_paths()) == 1


def test_the_settings_say_how_subagents_are_kept(vault: Vault) -> None:
    (vault.root / ".crucible" / "config.toml").write_text('[sessions]\nsubagents = "embed"\n')
    s = begin(vault)
    child = s.subagent("helper")
    assert f"![[sessions/{child.id}|{child.id}]]" in text_of(s)  # type: ignore[union-attr]
    with pytest.raises(UsageError):
        s.subagent("helper", mode="aside")


def test_a_session_that_names_its_parent_is_named_by_it(vault: Vault) -> None:
    s = begin(vault)
    child = record.session("Look around", vault=vault.root, parent=s.id, agent="scout@1", now=clock())
    assert read(child, vault).parent == s.id
    assert read(s, vault).subagents == (SubagentRef(child.id, "scout@1"),)


def test_a_child_tells_a_parent_that_has_ended(vault: Vault) -> None:
    s = begin(vault)
    child = s.subagent("helper")
    s.end()
    child.tokens(9)
    assert read(s, vault).subagents[0].tokens == 9


def test_a_child_whose_parent_is_gone_ends_with_a_warning(vault: Vault) -> None:
    s = begin(vault)
    child = s.subagent("helper")
    assert isinstance(child, Recorder)
    s.path.unlink()
    child.end("ok")
    assert read(child, vault).status is Status.COMPLETED
    assert "is missing" in child.warnings[0]


# --- secrets ---------------------------------------------------------------------------------------------------------


def test_secrets_are_taken_out_of_everything_and_counted(vault: Vault) -> None:
    s = begin(vault, f"Use {TOKEN}", agent=f"a-{TOKEN}", goal=f"With {TOKEN}", project=TOKEN)
    s.phase(f"Phase {TOKEN}")
    s.tool("curl", "-H", f"Authorization: token {TOKEN}", result=f"{'x' * 80} {TOKEN}")
    s.decision(f"d {TOKEN}", rationale=TOKEN)
    s.add_tasks(f"t {TOKEN}")
    child = s.subagent("helper", task=f"k {TOKEN}", summary=TOKEN)
    child.prose(TOKEN)
    s.pause(TOKEN)
    s.end(TOKEN)
    written = [path for path in vault.root.rglob("*") if path.is_file()]
    assert len(written) > 4
    for path in written:
        assert TOKEN[:16].casefold() not in str(path).casefold()
        assert TOKEN[:16].encode() not in path.read_bytes(), path
    found = read(s, vault)
    assert found.redactions is not None
    assert found.redactions >= 10
    assert sum(int(line.rpartition(":")[2]) for line in found.redacted) == found.redactions


def test_counts_of_secrets_go_on_from_what_the_note_says(vault: Vault) -> None:
    def redact(text: str) -> tuple[str, dict[str, int]]:
        return text.replace("hush", "[REDACTED:own]"), {"own": text.count("hush")} if "hush" in text else {}

    s = record.session("T", vault=vault.root, now=clock(), redact=redact)
    s.path.write_text(text_of(s).replace("tags:", 'redactions: 4\nredacted:\n  - "jwt: 3"\n  - "own: 1"\ntags:'))
    s.decision("hush", rationale="hush hush")
    found = read(s, vault)
    assert (found.redactions, found.redacted) == (7, ("jwt: 3", "own: 4"))


def test_nothing_is_written_when_the_scanner_cannot_run(vault: Vault) -> None:
    def broken(text: str) -> tuple[str, dict[str, int]]:
        raise RuntimeError("no automaton")

    with pytest.raises(VaultError, match="nothing was written: no automaton"):
        record.session("T", vault=vault.root, redact=broken)
    assert not vault.session_paths()
    s = begin(vault)
    before = text_of(s)
    with pytest.raises(VaultError, match="nothing was written"):
        record.open(s.id, vault=vault.root, redact=broken).decision("d")
    assert text_of(s) == before


# --- the flight recorder ---------------------------------------------------------------------------------------------


def test_entries_are_whole_in_the_flight_recorder(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Work")
    s.tool("make", "x" * 300, result="y" * 300, exit_code=2, duration_ms=17)
    s.decision("d", rationale="r")
    s.agent_switch("a", "b", "c")
    records = {entry.type: entry for entry in read_records(vault.root, s.id)}
    assert records["tool"].values["command"] == "x" * 300
    assert records["tool"].values["result"] == "y" * 300
    assert (records["tool"].values["exit_code"], records["tool"].values["duration_ms"]) == (2, 17)
    assert (records["decision"].values["content"], records["decision"].values["rationale"]) == ("d", "r")
    assert records["agent_switch"].values["to_agent"] == "b"
    assert {entry.phase for entry in records.values()} == {"phase-1"}
    assert [entry.seq for entry in read_records(vault.root, s.id)] == [1, 2, 3, 4]


def test_a_flight_recorder_that_cannot_be_written_is_a_warning(vault: Vault) -> None:
    s = begin(vault)
    folder = vault.root / ".crucible" / "flight" / s.id
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    s.decision("kept in the note")
    assert "kept in the note" in text_of(s)
    assert len(s.warnings) == 1


# --- together --------------------------------------------------------------------------------------------------------


def test_a_human_s_edit_stays_and_the_next_entry_goes_where_it_belongs(vault: Vault) -> None:
    s = begin(vault)
    s.phase("One")
    s.prose("said")
    s.path.write_text(text_of(s) + "\nA human's words.\n\n## Mine\n\nmore\n\n### Deeper\n\nand more\n")
    assert s.decision("here") == "phase-2.1"
    found = read(s, vault)
    assert found.phases[1].subphases[0].entries == (Prose("and more"), Decision("here"))
    assert "A human's words." in text_of(s)


def test_threads_may_share_a_recorder_and_a_session(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Work")
    other = record.open(s.id, vault=vault.root)

    def tell(recorder: Recorder, name: str) -> None:
        for number in range(10):
            recorder.decision(f"{name} {number}.")

    threads = [
        threading.Thread(target=tell, args=(recorder, f"{name}")) for name, recorder in enumerate((s, s, other, other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [entry.text for entry in read(s, vault).phases[0].entries if isinstance(entry, Decision)]
    assert sorted(said) == sorted(f"{name} {number}." for name in range(4) for number in range(10))
    assert len(list(read_records(vault.root, s.id))) == 41


def test_times_may_be_given(vault: Vault) -> None:
    s = begin(vault)
    s.phase("Before", at=START - timedelta(days=1))
    s.phase("After", at=START.replace(tzinfo=None))
    phases = read(s, vault).phases
    assert (phases[0].started, phases[1].started) == (START - timedelta(days=1), START)


def test_the_vault_may_be_open_already_and_stays_as_it_was(vault: Vault, tmp_path: Path) -> None:
    patience = vault.settings.lock_seconds
    record.session("T", vault=vault)
    assert vault.settings.lock_seconds == patience


# --- what a program hands in -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tell",
    [
        lambda s: s.user(None),
        lambda s: s.prose(b"x"),
        lambda s: s.tool("x", 5),
        lambda s: s.tool(None),
        lambda s: s.phase(3),
        lambda s: s.decision("x", rationale=1),
        lambda s: s.agent_switch(None, "b"),
        lambda s: s.decision_needed("x", options=[1]),
        lambda s: s.subagent(7),
        lambda s: s.pause(5),
    ],
)
def test_what_is_no_text_is_refused_and_nothing_is_written(vault: Vault, tell: Callable[[Recorder], object]) -> None:
    s = begin(vault)
    before = s.path.read_bytes()
    with pytest.raises(UsageError, match="is not text, but "):
        tell(s)
    assert s.path.read_bytes() == before


def test_a_folder_that_is_no_vault_gets_no_note_and_the_traceback_says_what_makes_one(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(VaultNotFound) as told:
            record.session("X", vault=place)
        assert told.value.__notes__ == [f'run "cru init {place}" to create one there']
    assert not [*tmp_path.iterdir()]


def test_the_project_is_that_of_the_folder_unless_it_is_named(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    cwd = tmp_path / "shop" / "src"
    named = {"mine": [str(tmp_path)]}
    for given, project in (
        ({}, None),
        ({"cwd": cwd}, "shop"),
        ({"cwd": cwd, "projects": named}, "mine"),
        ({"cwd": cwd, "project": "other"}, "other"),
        ({"cwd": cwd, "project": ""}, None),
    ):
        s = record.session("X", vault=vault.root, **given)
        assert read(s, vault).project == project


_TELLING = [
    name
    for kind in (Recorder, Verbs)
    for name, told in vars(kind).items()
    if inspect.isfunction(told) and name[0] != "_" and name not in ("wake", "read_head")
]


@for_each("name", _TELLING)
def test_the_document_has_every_method_with_its_arguments(name: str) -> None:
    document = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    python = document.partition("\n| method |")[2].partition("\n\n")[0]
    (row,) = [line for line in python.splitlines() if f"`{name}`" in line.partition(" | ")[0]]
    for parameter in inspect.signature(getattr(Recorder, name)).parameters.values():
        if parameter.name not in ("self", "at"):
            assert re.search(rf"[`*]{parameter.name}\b|a list of", row), parameter
