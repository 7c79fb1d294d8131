"""A session's end takes every step, and no step that fails keeps it from the others."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.commands.capture.after_stop import StopHelpers, StopResult, after_stop
from crucible.commands.capture.capture import Occasion, capture_session
from crucible.commands.capture.question import Offer, OfferAnswer
from crucible.core.settings.session_settings import CaptureSettings, HistorySettings
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Edit, Span
from crucible.memory.history.history_folder import load_entries, load_entry
from crucible.memory.history.memory_log import MemoryKind, load_memories
from crucible.memory.tasks.annotations import (
    AnnotationFolder,
    annotate,
    annotation_path,
    change_annotation,
    read_annotation,
)
from crucible.memory.tasks.task import Annotation, Ref, TaskDecision
from crucible.vault.notes.vault import Vault
from tests.git_repositories import commit, git
from tests.journeys.notes import note

NOW = datetime(2026, 11, 22, tzinfo=UTC)
NAME = "2026-11-21-queue"
TASKS = """\
```tasks
[
  {"id": "1", "content": "Choose a queue", "status": "completed", "started": "2026-11-21T10:00:00Z", "completed": "2026-11-21T10:30:00Z"},
  {"id": "2", "content": "Write the worker", "status": "pending", "depends_on": ["1"]},
  {"id": "3", "content": "Write the page", "status": "pending"}
]
```

## Choose @coder@1

started:: 2026-11-21T10:05:00Z

> [!decision]
> Use PostgreSQL for the queue
> Rationale: one database less

> [!decision]
> Name the variable `depth`

## Later @coder@1

started:: 2026-11-21T11:00:00Z

> [!decision]
> Use Redis for the page cache
"""


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    (tmp_path / ".crucible").mkdir()
    settings = VaultSettings(fsync=False, capture=CaptureSettings(silent=False))
    vault = Vault(tmp_path.resolve(), settings)
    vault.create(NAME, note(NAME, TASKS, project="shop"))
    return vault


def end(vault: Vault, name: str = NAME, helpers: StopHelpers = StopHelpers()) -> StopResult:  # noqa: B008  frozen
    return after_stop(vault, vault.find(name), now=NOW, helpers=helpers)


def test_history_memory_and_tasks_know_of_the_session(place: Vault) -> None:
    ended = end(place)
    assert ended.problems == ()
    assert ended.history
    assert ended.history.path == place.root / "history" / f"{NAME}-history.md"
    assert load_memories(place.root, MemoryKind.DECISION).found
    worker, _ = read_annotation(AnnotationFolder(place.root), Ref(NAME, "2"))
    assert worker
    assert [(one.from_task_id, one.decision) for one in worker.inherited] == [
        ("1", "Use PostgreSQL for the queue"),
        ("1", "Name the variable depth"),
    ]
    assert read_annotation(AnnotationFolder(place.root), Ref(NAME, "3"))[0] is None


def test_what_was_proposed_is_listed_in_the_history(place: Vault) -> None:
    ended = end(place)
    assert ended.history
    assert [one.summary for one in ended.history.entry.captures.suggested if one.type == "decision"]


def test_a_second_run_writes_nothing(place: Vault) -> None:
    end(place)
    before = {path: path.read_bytes() for path in place.root.rglob("*") if path.is_file() and "locks" not in path.parts}
    again = end(place)
    assert {path: path.read_bytes() for path in before} == before
    assert again.history
    assert not again.history.is_new


def test_a_mark_of_the_user_keeps_a_decision_from_later_tasks(place: Vault) -> None:
    end(place)
    shelf = AnnotationFolder(place.root)
    first, second = Ref(NAME, "1"), Ref(NAME, "2")
    change_annotation(
        shelf,
        Annotation(first, ""),
        lambda old: replace(old, choices=tuple(replace(one, propagate=False) for one in old.choices)),
    )
    change_annotation(shelf, Annotation(second, ""), lambda old: replace(old, inherited=()))
    end(place)
    known, _ = read_annotation(shelf, second)
    assert known
    assert known.inherited == ()


def test_a_history_folder_that_cannot_be_written_is_a_line_and_the_rest_is_done(place: Vault) -> None:
    (place.root / "history").write_text("in the way")
    ended = end(place)
    assert ended.history is None
    assert [line.partition(":")[0] for line in ended.problems] == ["history"]
    assert load_memories(place.root, MemoryKind.DECISION).found
    assert read_annotation(AnnotationFolder(place.root), Ref(NAME, "2"))[0]


def test_a_step_that_breaks_is_a_line(place: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("at the\nworst time")

    for name in ("capture_session", "make_history", "pass_on_decisions", "remember", "captures_of"):
        monkeypatch.setattr(f"crucible.commands.capture.after_stop.{name}", broken)
    ended = end(place)
    assert ended.problems == tuple(
        f"{what}: ZeroDivisionError: at the worst time"
        for what in ("capture", "what was captured", "history", "tasks", "memory")
    )


def test_a_note_that_is_gone_is_a_line(place: Vault) -> None:
    ended = after_stop(place, place.sessions / "2026-11-21-none.md", now=NOW)
    assert len(ended.problems) == 1


def test_a_subagent_s_session_has_no_history_of_its_own(place: Vault) -> None:
    place.create("2026-11-21-sub", note("2026-11-21-sub", "## A\n\n> [!decision]\n> B\n", parent=f'"[[{NAME}]]"'))
    assert end(place, "2026-11-21-sub") == StopResult()
    place.create("2026-11-21-orphan", note("2026-11-21-orphan", "## A\n", parent='"[[2026-11-21-gone]]"'))
    assert end(place, "2026-11-21-orphan").history


def test_what_is_beyond_the_limits_goes_only_where_the_settings_say_so(place: Vault) -> None:
    place.create("2026-11-01-old", note("2026-11-01-old", "## A\n", started="2026-11-01T10:00:00Z"))
    end(place, "2026-11-01-old")
    git(place.root, "init", "-q")
    commit(place.root)
    kept = HistorySettings(max_entries=1)
    place.settings = place.settings._replace(history=kept)
    assert end(place).done == ()
    place.settings = place.settings._replace(history=kept._replace(prune="at_end"))
    assert end(place).done == ("history: pruned 2026-11-01-old-history.md: still in git",)
    assert [one.note.name for one in load_entries(place)] == [f"{NAME}-history"]


def test_a_human_is_asked_only_where_the_settings_want_it(place: Vault) -> None:
    place.settings = place.settings._replace(capture=CaptureSettings(prompt_on_end=False))

    def never(_: object) -> None:
        raise AssertionError

    assert end(place, helpers=StopHelpers(ask=never)).problems == ()  # type: ignore[arg-type]


def test_two_ends_at_once_make_one_history(place: Vault) -> None:
    path = place.find(NAME)
    vaults = [Vault(place.root, place.settings) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda vault: after_stop(vault, path, now=NOW), vaults))
    assert [one.problems for one in ended] == [()] * 4
    [one] = load_entries(place)
    assert one.entry
    assert len(one.entry.decisions) == 3
    assert one.note.source.text.count("**Use PostgreSQL for the queue**") == 1


_KILLED = """
import os, sys, itertools
from datetime import UTC, datetime
from pathlib import Path
from crucible.commands.capture.after_stop import after_stop
from crucible.core import files
from crucible.vault.notes.vault import Vault
left = itertools.count(int(sys.argv[2]), -1)
def dying(real):
    def called(*args, **kwargs):
        if next(left) <= 0:
            os.kill(os.getpid(), 9)
        return real(*args, **kwargs)
    return called
for name in ("create_exclusive", "write_atomic"):
    setattr(files, name, dying(getattr(files, name)))
vault = Vault(Path(sys.argv[1]))
after_stop(vault, vault.find("2026-11-21-queue"), now=datetime(2026, 11, 22, tzinfo=UTC))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("writes", [0, 1])
def test_one_that_was_killed_in_between_is_made_good_by_the_next(place: Vault, tmp_path: Path, writes: int) -> None:
    script = tmp_path / "killed.py"
    script.write_text(_KILLED)
    words = [sys.executable, str(script), str(place.root), str(writes)]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()
    ended = end(place)
    assert (ended.problems, ended.history is not None) == ((), True)
    [one] = load_entries(place)
    assert one.entry
    assert len(one.entry.decisions) == 3


def test_what_is_captured_later_is_listed_in_the_history_that_is_there(place: Vault) -> None:
    ended = end(place)
    assert ended.history
    path, before = ended.history.path, ended.history.entry.captures
    text = path.read_text().replace("- **Use Redis for the page cache**", "- Use Redis for all pages, I say")
    path.write_text(text)

    def one_of_them(offer: Offer) -> OfferAnswer:
        first = offer.proposals[0]
        edited = first._replace(candidate=first.candidate._replace(summary="In my own words"))
        return OfferAnswer((edited,), tuple(one.key for one in offer.proposals[1:]))

    capture_session(place, place.find(NAME), now=NOW, ask=one_of_them, when=Occasion.ASKED, free=True)
    now = load_entry(place, path).entry
    assert now
    assert (len(now.captures.approved), now.captures.suggested) == (1, ())
    assert now.captures.approved[0].id
    assert len(now.captures.skipped) == len(before.suggested) - 1
    assert "- Use Redis for all pages, I say" in path.read_text()


def test_a_history_that_cannot_be_changed_keeps_nothing_from_being_captured(place: Vault) -> None:
    ended = end(place)
    assert ended.history
    ended.history.path.write_bytes(b"\xff\x00 no history")
    told = capture_session(
        place,
        place.find(NAME),
        now=NOW,
        ask=lambda offer: OfferAnswer(offer.proposals),
        when=Occasion.ASKED,
        free=True,
    )
    assert told.kept


def test_an_annotation_that_cannot_be_read_keeps_no_other_task_from_its_decisions(place: Vault) -> None:
    tasks = TASKS.replace(
        '"pending"}',
        '"completed", "started": "2026-11-21T11:00:00Z", "completed": "2026-11-21T11:30:00Z"},\n  {"id": "4", "content": "Paint it", "status": "pending", "depends_on": ["3"]}',
    )
    name = "2026-11-21-two"
    place.create(name, note(name, tasks, project="shop"))
    bad = annotation_path(AnnotationFolder(place.root), Ref(name, "1"))
    bad.mkdir(parents=True)
    ended = end(place, name)
    assert len([line for line in ended.problems if "a folder" in line]) == 1
    painter, _ = read_annotation(AnnotationFolder(place.root), Ref(name, "4"))
    assert painter
    assert [one.decision for one in painter.inherited] == ["Use Redis for the page cache"]


def test_a_secret_that_a_human_wrote_into_an_annotation_goes_to_no_other_task(place: Vault) -> None:
    secret = "ghp_" + "zB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"
    shelf = AnnotationFolder(place.root)
    annotate(
        shelf,
        Annotation(Ref(NAME, "1"), "a", NOW, choices=(TaskDecision(f"Use {secret}", secret, propagate=True),)),
    )
    end(place)
    worker, _ = read_annotation(shelf, Ref(NAME, "2"))
    assert worker
    assert worker.inherited[0].decision == "Use [REDACTED:github-token]"
    assert secret not in worker.inherited[0].rationale


def test_more_rows_update_a_history_and_make_none(place: Vault) -> None:
    path = place.find(NAME)
    assert after_stop(place, path, now=NOW, updates=True) == StopResult()
    assert not (place.root / "history").exists()
    end(place)
    place.update(
        path,
        lambda note: [Edit(Span(len(note.source.text), len(note.source.text)), "\n> [!decision]\n> Ship it\n")],
    )
    ended = after_stop(place, path, now=NOW, updates=True)
    assert (ended.problems, ended.captured) == ((), None)
    assert ended.history
    assert "- **Ship it**\n" in ended.history.path.read_text()
