"""Transcripts that cannot be read or imported, or are fakes: logged, tried again, never lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crucible.core.errors import VaultError
from crucible.integrations.hooks import sync as syncing
from crucible.integrations.hooks.client_state import is_running, wait_for_tail
from crucible.vault.events.spool_reader import Spooled, SpoolLine, load_spool, save_state
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.unit.clients.building import Row, assistant, result, text, use, user
from tests.unit.commands.imports.places import notes_of
from tests.unit.integrations.hooks import playing
from tests.unit.integrations.hooks.playing import GONE, OTHER, SESSION, Client, log_of, sync, the_note, turn

EARLY = "00000000-2222-3333-4444-555555555555"


@pytest.fixture
def client(vault: Vault, tmp_path: Path) -> Client:
    return Client(vault.root, tmp_path / "home")


@pytest.fixture
def stamped_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows have the time at which they are written, as the client's have."""

    def stamp(_number: int) -> Row:
        now = time.time()
        return {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1e3) % 1000:03}Z"}

    monkeypatch.setattr(playing, "_stamp", stamp)


def start_another(client: Client) -> None:
    Client(client.root, client.transcript.parents[3], OTHER).call("SessionStart", source="startup")
    sync(client)


def spooled_sessions(client: Client) -> dict[str, Spooled]:
    return {spooled.session: spooled for spooled in load_spool(client.root, "claude-code")}


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def give_up(_number: int, _frame: object) -> None:
        raise AssertionError(f"still at it after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_note_that_cannot_be_read_when_the_session_ends_gets_its_rows_when_it_can(client: Client) -> None:
    client.age(3600)
    client.say(*turn("One", "A?"))  # so that keys come and go
    client.call("Stop", said="A?")
    sync(client)
    (path,) = client.root.glob("sessions/*.md")
    good = path.read_text()
    path.write_text(good.replace("---\n", "---\n: : [\n", 1))
    client.say(*turn("Two", "B."))
    client.call("Stop", said="B.")
    client.call("SessionEnd", reason="other")
    sync(client)
    start_another(client)
    start_another(client)
    assert spooled_sessions(client)[SESSION].has_backlog
    assert "frontmatter's YAML is broken" in log_of(client.root)
    path.write_text(good)
    start_another(client)
    assert [phase.name for phase in the_note(client).phases] == ["One", "A? Two"]
    assert the_note(client).status == "completed"


def test_a_note_that_the_disk_refuses_is_written_at_the_next_start(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.say(*turn("One", "A."))
    client.call("SessionEnd", reason="other")

    def refuse(*_: object) -> None:
        raise VaultError("no room")

    monkeypatch.setattr(Vault, "create", refuse)
    sync(client)
    monkeypatch.undo()
    assert spooled_sessions(client)[SESSION].has_backlog
    start_another(client)
    assert the_note(client).status == "completed"


def test_a_damaged_row_blocks_nothing(client: Client) -> None:
    client.say(*turn("One", "A."))
    with client.transcript.open("a") as file:
        file.write('{"type": "user", "mess\n')
    client.call("SessionEnd", reason="other")
    sync(client)
    assert not spooled_sessions(client)[SESSION].has_backlog
    assert the_note(client).status == "completed"


def test_a_damaged_row_is_logged_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syncing, "LONGEST", 0.1)  # the same answer does not come again
    client.say(*turn("One", "A."))
    with client.transcript.open("a") as file:
        file.write('{"type": "user", "mess\n')
    for _ in range(3):
        client.call("Stop", said="A.")
        sync(client)
    assert log_of(client.root).count(f"{client.transcript.name}:3: ") == 1


def test_a_fault_in_one_session_keeps_no_other_waiting(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    early = Client(client.root, client.transcript.parents[3], EARLY)
    for each in (early, client):
        each.say(*turn("One", "A."))
        each.call("Stop", said="A.")

    def fall(transcript: Path, *more: object) -> bool:
        if transcript.stem == EARLY:
            raise RecursionError("too deep")
        return wait_for_tail(transcript, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(syncing, "wait_for_tail", fall)
    sync(client)
    assert [phase.name for phase in the_note(client).phases] == ["One"]
    assert "RecursionError: too deep" in log_of(client.root)
    assert spooled_sessions(client)[EARLY].has_backlog


@pytest.mark.usefixtures("stamped_now")
def test_an_answer_that_was_given_before_is_waited_for_all_the_same(client: Client) -> None:
    client.say(*turn("One", "Done."))
    client._time = time.time()  # a hook is called behind the rows, however long those took
    client.call("Stop", said="Done.")
    sync(client)
    before = client._time
    wait_until(lambda: int(time.time() * 1000) > int(before * 1000))
    client.say(user("Two"), assistant(use("Bash", command="ls")), result("ok"))
    client._time = time.time()
    client.call("Stop", said="Done.")
    client.call("SessionEnd", reason="other")
    late = threading.Timer(0.7, lambda: client.say(assistant(text("Done."), stop="end_turn")))
    late.start()
    sync(client)
    late.join()
    assert the_note(client).status == "completed"


def test_a_prompts_hook_after_the_end_opens_nothing(client: Client) -> None:
    client.pid = GONE
    client.say(*turn("One", "A."))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="A.")
    client.call("SessionEnd", reason="other")
    client.call("UserPromptSubmit")  # nobody waits for it either
    sync(client)
    assert the_note(client).status == "completed"


@pytest.mark.parametrize("late", [0, 8])
def test_a_turn_is_written_down_before_a_compaction_however_many_hooks_come_late(client: Client, late: int) -> None:
    client.say(user("One"), assistant(text("On it."), use("Bash", command="make")), result("ok"))
    client.call("SessionStart", source="startup")
    client.call("PreCompact", trigger="auto")
    for number in range(late):
        client.call("PostToolUse", call=f"c{number}")
    sync(client)
    assert [phase.name for phase in the_note(client).phases] == ["One"]


def test_after_a_compaction_a_turn_waits_for_its_end_again(client: Client) -> None:
    client.say(*turn("One", "A."), user("Two"), assistant(text("On it.")))
    client.call("PreCompact", trigger="manual")
    client.call("SessionStart", source="compact")
    sync(client)
    assert [phase.name for phase in the_note(client).phases] == ["One"]


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_a_pipe_in_the_transcripts_place_is_no_transcript(client: Client) -> None:
    client.transcript.parent.mkdir(parents=True)
    os.mkfifo(client.transcript)
    client.call("Stop", said="A.")
    with at_most(8):
        sync(client)
    assert notes_of(Vault(client.root)) == {}


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
@pytest.mark.parametrize("name", [f"{EARLY}.jsonl", f"{SESSION}.state"])
def test_a_pipe_in_the_spool_does_not_block(client: Client, name: str) -> None:
    client.say(*turn("One", "A."))
    client.call("Stop", said="A.")
    os.mkfifo(client.root / ".crucible" / "spool" / "claude-code" / name)
    with at_most(8):
        sync(client)
    assert [phase.name for phase in the_note(client).phases] == ["One"]


def test_a_state_is_not_written_through_a_link(client: Client, tmp_path: Path) -> None:
    client.call("Stop")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = client.root / ".crucible" / "spool" / "claude-code"
    (folder / f"{SESSION}.state.{os.getpid()}.tmp").symlink_to(victim)
    save_state(client.root, spooled_sessions(client)[SESSION], "running")
    assert victim.read_text() == "mine"
    assert not spooled_sessions(client)[SESSION].has_backlog


def test_a_session_without_a_transcript_is_logged_once_and_dropped_after_a_day(client: Client) -> None:
    client.age(25 * 3600)
    client.call("UserPromptSubmit")
    client.call("SessionEnd", reason="other")
    sync(client)
    assert log_of(client.root).count("no transcript") == 1
    start_another(client)
    assert SESSION not in spooled_sessions(client)
    assert log_of(client.root).count("no transcript") == 1


def test_a_transcript_that_comes_within_the_day_is_written_down(client: Client) -> None:
    client.age(3600)
    client.call("UserPromptSubmit")
    client.call("SessionEnd", reason="other")
    sync(client)
    start_another(client)
    assert log_of(client.root).count("no transcript") == 1
    client.say(*turn("One", "A."))
    start_another(client)
    assert the_note(client).status == "completed"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_a_number_that_no_process_can_have_is_none() -> None:
    assert not is_running(Spooled("claude-code", SESSION, (SpoolLine("Stop", time.time(), 2**40),)))


def test_a_session_that_was_only_opened_again_stays_as_its_client_left_it(client: Client) -> None:
    client.pid = GONE
    client.say(*turn("One", "A."))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="A.")
    client.call("SessionEnd", reason="other")
    sync(client)
    client.call("SessionStart", source="resume")
    sync(client)
    start_another(client)
    assert the_note(client).status == "completed"


def test_a_session_that_was_opened_again_and_died_in_its_first_turn_is_paused(client: Client) -> None:
    client.pid = GONE
    client.say(*turn("One", "A."))
    client.call("SessionEnd", reason="other")
    client.call("SessionStart", source="resume")
    client.say(user("Two"))
    client.call("UserPromptSubmit")
    start_another(client)
    assert the_note(client).pause_reason == "the prompt was not answered"


def test_a_fork_whose_start_has_the_old_id_continues_that_session(client: Client) -> None:
    """As `claude --resume ID --fork-session` calls its hooks: the new session has no start of its own."""
    client.pid = GONE
    client.say(*turn("One", "A."))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="A.")
    client.call("SessionEnd", reason="other")
    client.pid = os.getpid()
    client.call("SessionStart", source="resume")
    fork = Client(client.root, client.transcript.parents[3], OTHER)
    fork._time = client._time
    fork.say(*turn("Fork", "B."))
    fork.call("UserPromptSubmit")
    fork.call("Stop", said="B.")
    fork.call("SessionEnd", reason="other")
    sync(client)
    first, second = sorted(
        (note.session for note in notes_of(Vault(client.root)).values()), key=lambda session: session.title
    )[::-1]
    assert (first.title, second.title) == ("One", "Fork")
    assert (first.continued_by, second.continues) == (second.id, first.id)
    assert [session.status for session in (first, second)] == ["completed", "completed"]


def test_a_session_that_the_same_client_left_before_is_no_origin(client: Client) -> None:
    client.call("SessionStart", source="resume")
    client.say(*turn("One", "A."))
    client.call("Stop", said="A.")
    client.call("SessionEnd", reason="resume")
    other = Client(client.root, client.transcript.parents[3], OTHER)
    other._time = client._time
    other.say(*turn("Other", "B."))
    other.call("UserPromptSubmit")
    other.call("Stop", said="B.")
    sync(client)
    assert [note.session.continues for note in notes_of(Vault(client.root)).values()] == [None, None]
