"""The recorder under bad luck and ill will: what was once found to go wrong, and must not again."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crucible.commands import record
from crucible.commands.record import stop as ending
from crucible.commands.record.stop import Ended, end_session
from crucible.core import files
from crucible.core.errors import CrucibleError, UsageError, VaultError
from crucible.documents.session.session import Status
from crucible.vault.events.event_reader import load_meta, read_records
from crucible.vault.notes.vault import Vault
from tests.unit.commands.record.recorder_clock import START, clock, read, text_of

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
COLOURED = "\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K" + TOKEN.removeprefix("ghp_")


def everything(vault: Vault) -> str:
    """All bytes of the vault, with the names of its files."""
    files = [path for path in vault.root.rglob("*") if path.is_file()]
    return "\n".join(f"{path}\n{path.read_bytes().decode(errors='replace')}" for path in files)


@pytest.mark.parametrize("secret", [COLOURED, TOKEN[:9] + "\0" + TOKEN[9:], TOKEN[:9] + "\x7f" + TOKEN[9:]])
def test_a_secret_with_terminal_codes_in_it_is_a_secret(vault: Vault, secret: str) -> None:
    with record.session(f"a {secret}", vault=vault, goal=f"b {secret}", agent=f"c{secret}", now=clock()) as s:
        s.phase(f"d {secret}", model=f"e{secret}", channel=f"f{secret}")
        s.prose(f"g {secret}")
        s.tool("grep", secret, result=f"h {secret}")
        s.tasks([{"content": f"i {secret}"}])
        s.decision_needed("j", options=[secret])
        with s.subagent(f"k{secret}", task=f"l {secret}") as child:
            child.user(f"m {secret}", note=secret)
        s.summary = f"n {secret}"
    told = everything(vault)
    assert TOKEN not in told
    assert secret not in told
    assert TOKEN[9:] not in told


def test_a_secret_that_emphasis_parts_is_not_joined_in_a_title(vault: Vault) -> None:
    parted = TOKEN[:10] + "**" + TOKEN[10:20] + "**" + TOKEN[20:]
    s = record.session(vault=vault, goal=f"use {parted} there", now=clock())
    child = s.subagent("a", task=f"use {parted} there")
    assert TOKEN not in text_of(s)
    assert isinstance(child, record.Recorder)
    assert TOKEN not in text_of(child)


@pytest.mark.parametrize("verb", ["phase", "tokens", "tasks", "subagent"])
def test_an_entry_after_a_pause_lets_the_with_end_the_session(vault: Vault, verb: str) -> None:
    with record.session("x", vault=vault, now=clock()) as s:
        s.prose("y")
        s.pause("later")
        match verb:
            case "phase":
                s.phase("again")
            case "tokens":
                s.tokens(5)
            case "tasks":
                s.add_tasks("more")
            case _:
                s.subagent("a")
    assert read(s, vault).status is Status.COMPLETED


def test_a_pause_that_could_not_be_written_leaves_the_end_to_the_with(vault: Vault) -> None:
    broken = False

    def redact(text: str) -> tuple[str, dict[str, int]]:
        if broken:
            raise OSError("gone")
        return text, {}

    with record.session("x", vault=vault, now=clock(), redact=redact) as s:
        broken = True
        with pytest.raises(CrucibleError, match="gone"):
            s.pause("later")
        broken = False
    assert read(s, vault).status is Status.COMPLETED


def test_an_ended_session_gets_no_subagent_and_no_orphan(vault: Vault) -> None:
    s = record.session("x", vault=vault, now=clock())
    s.end()
    with pytest.raises(record.SessionEnded):
        s.subagent("a", task="do this")
    with pytest.raises(record.SessionEnded):
        record.session("y", vault=vault, parent=s.id, now=clock())
    assert vault.session_ids() == {s.id}


def test_a_session_ends_no_earlier_than_it_began(vault: Vault) -> None:
    s = record.session("x", vault=vault, now=lambda: START)
    record.open(s.id, vault=vault, now=lambda: START - timedelta(days=400)).end()
    session = read(s, vault)
    assert session.started == session.ended == START


def test_a_tasks_id_may_be_zero_and_one_dependence_needs_no_list(vault: Vault) -> None:
    s = record.session("x", vault=vault, now=clock())
    s.tasks(
        [
            {"id": 0, "content": "a"},
            {"id": 1, "content": "b", "depends_on": 0},
            {"content": "c", "depends_on": "1"},
        ]
    )
    assert [(task.id, task.depends_on) for task in read(s, vault).tasks] == [
        ("0", ()),
        ("1", ("0",)),
        ("2", ("1",)),
    ]


def test_two_tasks_of_one_id_are_refused_whole(vault: Vault) -> None:
    s = record.session("T", vault=vault, now=clock())
    before = text_of(s)
    twice: list[dict[str, object]] = [{"content": "a", "id": "1"}, {"content": "b", "id": 1}]
    with pytest.raises(UsageError, match="two tasks have the id '1'"):
        s.tasks(twice)
    with pytest.raises(UsageError, match="two tasks have the id '1'"):
        s.add_tasks(*twice)
    assert text_of(s) == before


@pytest.mark.parametrize("count", ["3", 1.5, True, -1])
def test_what_is_no_count_is_refused_and_nothing_is_written(vault: Vault, count: Any) -> None:
    s = record.session("T", vault=vault, now=clock())
    before = text_of(s)
    work = s.subagent("helper", mode="inline")
    for tell in (s.tokens, work.tokens, lambda n: s.phase("P", tokens=n)):
        with pytest.raises(UsageError, match=f"{count!r} tokens"):
            tell(count)
    assert text_of(s) == before


def test_a_phase_of_inline_work_has_a_name(vault: Vault) -> None:
    work = record.session("T", vault=vault, now=clock()).subagent("helper", mode="inline")
    with pytest.raises(UsageError, match="needs a name"):
        work.phase(" ")


def test_an_interruption_after_the_end_changes_nothing(vault: Vault) -> None:
    s = record.session("T", vault=vault, now=clock())
    with pytest.raises(KeyboardInterrupt) as stopped, s:  # noqa: PT012  what is ended in the `with` is what it is about
        s.end("Done.")
        raise KeyboardInterrupt
    assert not getattr(stopped.value, "__notes__", [])
    assert read(s, vault).status is Status.COMPLETED


def test_a_task_is_found_under_the_id_that_was_given(vault: Vault) -> None:
    s = record.session("x", vault=vault, now=clock())
    s.tasks([{"id": "a  b", "content": "c"}])
    s.start_task("a  b")
    s.finish_task(" a b")
    assert [task.status for task in read(s, vault).tasks] == ["completed"]


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_exception_without_words_goes_on_and_the_session_has_failed(vault: Vault) -> None:
    s = record.session("x", vault=vault, now=clock())
    with pytest.raises(Mute), s:
        raise Mute
    assert read(s, vault).status is Status.FAILED
    assert "Mute" in text_of(s)


def test_a_step_of_the_end_that_breaks_is_a_warning(vault: Vault) -> None:
    def breaks(ended: Ended) -> str:
        raise ZeroDivisionError("seven")

    s = record.session("x", vault=vault, now=clock())
    writer = record.open(s.id, vault=vault)._writer
    done = end_session(
        writer,
        Status.COMPLETED,
        "",
        writer.cleaning(),
        datetime(2027, 1, 1, tzinfo=UTC),
        steps=(breaks, lambda _: "went on", *ending.END_STEPS),
    )
    assert done == ["went on"]
    assert "ZeroDivisionError: seven" in writer.warnings[0]
    assert read(s, vault).status is Status.COMPLETED


def test_a_note_that_takes_no_callout_gets_no_subagent_and_no_orphan(vault: Vault) -> None:
    s = record.session("x", vault=vault, now=clock())
    s.phase("One")
    s.path.write_text(text_of(s) + "\n```\na human's open fence\n", encoding="utf-8")
    with pytest.raises(CrucibleError, match="never closed"):
        s.subagent("a", task="do this")
    assert vault.session_ids() == {s.id}


def test_a_note_never_grows_beyond_what_is_read(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_NOTE", 20_000)
    s = record.session("x", vault=vault, now=clock())
    s.prose("y" * 15_000)
    before = text_of(s)
    with pytest.raises(VaultError, match="it would be"):
        s.prose("z" * 10_000)
    with pytest.raises(VaultError, match="it would be"):
        record.session("other", vault=vault, goal="z" * 30_000, now=clock())
    assert text_of(s) == before
    assert vault.session_ids() == {s.id}
    s.end("short")
    assert read(s, vault).status is Status.COMPLETED


def test_a_time_without_a_zone_is_the_same_in_note_and_flight(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        s = record.session("x", vault=vault, now=lambda: datetime(2026, 1, 2, 3, 4, 5))  # noqa: DTZ001  that is the point
        s.prose("y")
    finally:
        monkeypatch.undo()
        time.tzset()
    (entry,) = read_records(vault.root, s.id)
    assert read(s, vault).started == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert entry.time == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("side", ["parent", "child"])
def test_a_subagents_whole_events_say_from_the_start_whose_they_are(vault: Vault, side: str) -> None:
    s = record.session("x", vault=vault, agent="boss@1", project="shop", now=clock())
    child = (
        s.subagent("kid@2", task="dig")
        if side == "parent"
        else record.session("dig", vault=vault, agent="kid@2", parent=s.id, now=clock())
    )
    assert isinstance(child, record.Recorder)
    meta = load_meta(vault.root, child.id)
    assert (meta["initial_agent"], meta["project"], meta["ended_cleanly"]) == ("kid@2", "shop", False)
