from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crucible.clients.log_folders import LogFolder, log_folders, log_of
from crucible.clients.registry import DIALECTS
from crucible.integrations.live import log_changes
from crucible.integrations.live.log_changes import LogChanges
from samples.waiting import wait_until
from tests.paths import DATA


@pytest.fixture(params=["events", "polling"])
def polling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the file system is one that reports no changes."""
    if request.param == "polling":
        monkeypatch.setattr(log_changes, "mount_reason", lambda _path: "a file system of type 9p")
        monkeypatch.setattr(log_changes._Listener, "dispatch", lambda _self, _event: None)
        monkeypatch.setattr(log_changes, "_SHORTEST", 0.01)
    elif sys.platform != "linux":
        pytest.skip("about inotify")
    return bool(request.param == "polling")


def folder_in(root: Path) -> LogFolder:
    return LogFolder("claude-code", str(root / "projects"), ("*/*.jsonl", "*/*/subagents/*.jsonl"))


@pytest.fixture
def changes(tmp_path: Path, polling: bool) -> Iterator[LogChanges]:
    (tmp_path / "projects" / "p").mkdir(parents=True)
    (tmp_path / "projects" / "p" / "known.jsonl").write_text("{}\n")
    with closing(LogChanges([folder_in(tmp_path)])) as changes:
        yield changes


def heard(changes: LogChanges, count: int = 1) -> set[str]:
    """The names of the next logs that change."""
    found: set[str] = set()

    def look() -> bool:
        found.update(Path(path).name for path in changes.changed())
        return len(found) >= count

    wait_until(look, lambda: str(found))
    return found


def test_a_log_that_appears_grows_shrinks_or_is_replaced_is_reported_once(
    tmp_path: Path, changes: LogChanges, polling: bool
) -> None:
    project = tmp_path / "projects" / "p"
    (project / "other.txt").write_text("x")
    (project / "new.jsonl").write_text("{}\n")
    assert heard(changes) == {"new.jsonl"}
    with (project / "known.jsonl").open("a") as file:
        file.write("{}\n")
    assert heard(changes) == {"known.jsonl"}
    os.truncate(project / "known.jsonl", 1)
    assert heard(changes) == {"known.jsonl"}
    (project / "written.tmp").write_text("{}\n")
    (project / "written.tmp").replace(project / "new.jsonl")
    assert heard(changes) == {"new.jsonl"}
    (project / "new.jsonl").unlink()
    (project / "last.jsonl").write_text("{}\n")
    assert heard(changes) == {"last.jsonl"}
    assert polling is bool(changes._polled)


def test_logs_in_new_folders_are_reported(tmp_path: Path, changes: LogChanges, polling: bool) -> None:
    deep = tmp_path / "projects" / "q" / "session" / "subagents"
    deep.mkdir(parents=True)
    (deep / "agent-1.jsonl").write_text("{}\n")
    (tmp_path / "projects" / "q" / "session.jsonl").write_text("{}\n")
    assert heard(changes, 2) == {"agent-1.jsonl", "session.jsonl"}


def test_a_clients_folder_that_appears_or_is_replaced_is_noticed(tmp_path: Path) -> None:
    with closing(LogChanges([folder_in(tmp_path)])) as changes:
        assert not changes.present
        (tmp_path / "projects" / "p").mkdir(parents=True)
        (tmp_path / "projects" / "p" / "a.jsonl").write_text("{}\n")
        assert heard(changes) == {"a.jsonl"}
        assert changes.present
        shutil.rmtree(tmp_path / "projects")
        assert not changes.changed()
        assert not changes.present
        (tmp_path / "projects" / "p").mkdir(parents=True)
        (tmp_path / "projects" / "p" / "a.jsonl").write_text("{}\n{}\n")
        assert heard(changes) == {"a.jsonl"}


@pytest.mark.skipif(os.name == "nt", reason="symlinks")
def test_a_linked_folder_of_logs_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / "p").mkdir(parents=True)
    (tmp_path / "projects").symlink_to("real")
    with closing(LogChanges([folder_in(tmp_path)])) as changes:
        (tmp_path / "real" / "p" / "a.jsonl").write_text("{}\n")
        wait_until(lambda: changes.changed() == {str(tmp_path / "projects" / "p" / "a.jsonl"): "claude-code"})


def test_without_events_of_the_system_all_logs_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: object, _folders: object) -> None:
        raise OSError("inotify instance limit reached")

    monkeypatch.setattr(log_changes._Listener, "__init__", refuse)
    (tmp_path / "projects" / "p").mkdir(parents=True)
    with closing(LogChanges([folder_in(tmp_path)])) as changes:
        (tmp_path / "projects" / "p" / "a.jsonl").write_text("{}\n")
        assert heard(changes) == {"a.jsonl"}


def test_every_recorded_log_is_one_of_its_clients_patterns() -> None:
    folders = {folder.client: folder for folder in log_folders({}, Path("/home/me"))}
    wrong = []
    for name, folder in folders.items():
        for recording in (path for path in (DATA / "transcripts" / name).glob("*/") if path.name != "golden"):
            root = recording / "projects" if name == "claude-code" else recording
            logs = {str(path) for one in DIALECTS[name].find(recording) for path in _files(one)}
            found = {log_of(path) for path in folder._replace(root=str(root)).logs()}
            wrong += [f"{name}: {path}" for path in logs ^ found]
            assert all(folder._replace(root=str(root)).is_log(path) for path in found)
    # Of a session in two files, the longer one counts.
    assert [path for path in wrong if "resumed" not in path and "gemini/limiter" not in path] == []


def _files(transcript: object) -> Iterator[Path]:
    yield transcript.path  # type: ignore[attr-defined]
    yield from (file.path for file in transcript.subagents)  # type: ignore[attr-defined]
