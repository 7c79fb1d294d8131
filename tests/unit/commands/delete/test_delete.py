"""A deleted session is whole in the trash, stays deleted, and comes back byte for byte, also after kill -9."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.commands.check.check_vault import check_sessions
from crucible.commands.delete import delete as deleting
from crucible.core.errors import VaultError
from crucible.core.processes import Workers
from crucible.core.settings.settings import UserSettings, VaultSettings
from crucible.integrations.hooks.sync import sync_vault
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark, load_bookmarks
from crucible.memory.history.memory_log import Memory, MemoryKind, append_memories, load_memories
from crucible.memory.tasks.annotations import AnnotationFolder, annotate
from crucible.memory.tasks.task import Annotation, Ref
from crucible.vault.logs.tombstones import load_deleted, load_tombstones
from crucible.vault.notes.session_lock import hold_session
from crucible.vault.notes.vault import Vault
from tests.interrupted import interrupted
from tests.journeys.notes import CLOCK, LIMITER, write
from tests.killing import LAST, STRIDE, killed
from tests.paths import TESTS
from tests.running import Cru

A, CHILD, OTHER = "2026-11-21-limiter", "2026-11-21-clock", "2026-11-22-other"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
REAL = TESTS / "data" / "transcripts" / "claude-code" / "limiter"
unix = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")


@pytest.fixture
def scene(vault: Vault, cru: Cru) -> Vault:
    """A session with everything that belongs to it, and one that does not."""
    write(vault, A, LIMITER)
    write(vault, CHILD, CLOCK)
    assert cru("session", "end", A).exit_code == 0
    write(vault, OTHER, f"---\ntype: session\nstatus: completed\n---\n\n# Other\n\nSee [[{A}]] and [[{CHILD}|it]].\n")
    (vault.root / "start.md").write_text(f"[[{A}]]\n")
    for name in (A, OTHER):
        flight = vault.root / ".crucible/flight" / name
        flight.mkdir(parents=True, exist_ok=True)
        (flight / "events.jsonl").write_text('{"seq":1}\n')
        (flight / "meta.json").write_text(json.dumps({"version": 1, "session_id": name}))
        append_bookmark(vault.root, Bookmark(f"b-{name}", name, NOW, StopReason.PAUSED, note="half"), fsync=False)
        append_memories(vault.root, [Memory("d-1", MemoryKind.DECISION, f"UTC {name}", name, NOW)], fsync=False)
        annotate(AnnotationFolder(vault.root), Annotation(Ref(name, "1"), "Write it"), fsync=False)
    (vault.root / ".crucible/archive").mkdir(exist_ok=True)
    (vault.root / f".crucible/archive/{A}.jsonl.zst").write_bytes(b"old events")
    return vault


def content_of(vault: Vault) -> dict[str, object]:
    """Return all files but caches; memory files as sets of lines, whose order does not matter."""
    found: dict[str, object] = {}
    for path in sorted(vault.root.rglob("*")):
        name = vault.relative(path)
        # A killed write leaves its temporary file; the next write of the same file removes it.
        skipped = (".crucible/cache", ".crucible/index", ".crucible/log", ".crucible/trash", ".crucible/.crucible-")
        if path.is_file() and not name.startswith(skipped) and not name.endswith("deleted.jsonl"):
            data = path.read_bytes()
            found[name] = {*data.splitlines()} if name.startswith(".crucible/memory") else data
    return {name: data for name, data in found.items() if data}


def names_of(vault: Vault) -> set[str]:
    return {*content_of(vault)}


def delete(vault: Vault, *args: str) -> list[str | Path]:
    return ["--vault", vault.root, "session", "delete", *(args or (A, "--yes"))]


def check_deleted(vault: Vault) -> None:
    for name in names_of(vault):
        assert name.startswith("history/") or not (A in name or CHILD in name), name
    assert {one.session for one in load_bookmarks(vault.root).found} == {OTHER}
    assert {one.session for one in load_memories(vault.root, MemoryKind.DECISION).found} == {OTHER}
    assert [one.session for one in load_tombstones(vault.root)] == [A]
    assert not (vault.root / ".crucible/deleting.json").exists()


def test_everything_goes_and_comes_back_byte_for_byte(scene: Vault, cru: Cru) -> None:
    before = content_of(scene)
    result = cru("session", "delete", A, "--yes")
    assert result.exit_code == 0
    assert f"deleted  {A}\n" in result.stdout
    check_deleted(scene)
    assert [row["id"] for row in json.loads(cru("session", "list", "--format", "json").stdout)["sessions"]] == [OTHER]
    assert cru("session", "show", A).exit_code == 1
    assert cru("session", "delete", "--undo", "--dry-run").stdout.count(A) >= 4
    result = cru("session", "delete", "--undo")
    assert (result.stdout, result.exit_code) == (f"restored  {A}\n", 0)
    assert content_of(scene) == before
    assert not load_tombstones(scene.root)
    assert os.listdir(scene.root / ".crucible/trash") == []
    assert {row["id"] for row in json.loads(cru("session", "list", "--format", "json").stdout)["sessions"]} == {
        A,
        OTHER,
    }


def test_other_notes_keep_their_links_and_the_links_are_reported(scene: Vault, cru: Cru) -> None:
    texts = {path: path.read_bytes() for path in (scene.root / "start.md", scene.sessions / f"{OTHER}.md")}
    result = cru("session", "delete", A, "--yes")
    places = f"knowledge/it-failed.md, knowledge/token-bucket.md, sessions/{OTHER}.md, start.md"
    assert f" links to it will be broken, in {places}\n" in result.stdout
    assert {path: path.read_bytes() for path in texts} == texts


def test_histories_stay_unless_all_is_given(scene: Vault, cru: Cru) -> None:
    history = [name for name in names_of(scene) if name.startswith("history/")]
    assert len(history) == 1
    assert f"kept, made from it: {history[0]} (--all deletes them too)" in cru("session", "delete", A, "--yes").stdout
    assert (scene.root / history[0]).is_file()
    assert cru("session", "delete", "--undo", A).exit_code == 0
    assert cru("session", "delete", A, "--yes", "--all").exit_code == 0
    assert not (scene.root / history[0]).exists()
    assert cru("session", "delete", "--undo", A).exit_code == 0
    assert (scene.root / history[0]).is_file()


def test_a_dry_run_and_a_refused_one_change_nothing(scene: Vault, cru: Cru) -> None:
    before = content_of(scene)
    assert cru("session", "delete", A, "--dry-run").exit_code == 0
    result = cru("session", "delete", A)
    assert result.exit_code == 2
    assert result.stderr.endswith("deleting needs a confirmation\n       Pass --yes to delete without being asked.\n")
    assert cru("session", "delete", "2026-01-01-nothing", "--yes").exit_code == 1
    assert cru("session", "delete", "--undo", A).exit_code == 1
    assert cru("session", "delete", CHILD, "--yes").exit_code == 2
    assert content_of(scene) == before


def test_an_active_or_held_session_is_kept(scene: Vault, cru: Cru) -> None:
    path = scene.sessions / f"{OTHER}.md"
    path.write_text(path.read_text().replace("completed", "active"))
    result = cru("session", "delete", OTHER, "--yes")
    assert result.exit_code == 1
    assert f"error: {OTHER} is still active\n" in result.stderr
    with hold_session(scene.root, OTHER, client="codex", now=NOW):
        result = cru("session", "delete", OTHER, "--yes", "--force")
        assert result.exit_code == 1
        assert "held by codex" in result.stderr
    assert cru("session", "delete", OTHER, "--yes", "--force").exit_code == 0
    assert not path.exists()


def test_undo_overwrites_nothing(scene: Vault, cru: Cru) -> None:
    cru("session", "delete", A, "--yes")
    path = scene.sessions / f"{A}.md"
    path.write_text("mine\n")
    result = cru("session", "delete", "--undo", A)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: sessions/{A}.md: already exists")
    assert path.read_text() == "mine\n"
    path.unlink()
    assert cru("session", "delete", "--undo", A).exit_code == 0


def test_nothing_finds_or_writes_a_deleted_session(scene: Vault, cru: Cru) -> None:
    assert A in cru("recall", "constant memory", "--format", "json").stdout
    cru("session", "delete", A, "--yes", "--all")
    found = json.loads(cru("recall", "constant memory", "--format", "json").stdout)
    assert f"sessions/{A}.md" not in json.dumps(found)
    before = content_of(scene)
    assert cru("record", "decision", "Never mind", env={"CRU_SESSION": A}).exit_code == 1
    assert cru("record", "bookmark", A).exit_code == 1
    assert content_of(scene) == before


# --- imports ---------------------------------------------------------------------------------------------------------


def claude_folder(home: Path) -> Path:
    return Path(shutil.copytree(REAL, home / ".claude"))


def import_claude(cru: Cru, *paths: Path) -> dict[str, list[str]]:
    found = json.loads(cru("import", "claude-code", *paths, "--format", "json").stdout)
    return {name: ids for name, ids in found.items() if name != "schema"}


def test_no_import_brings_it_back_and_doctor_does_not_miss_it(vault: Vault, cru: Cru) -> None:
    folder = claude_folder(Path(os.environ["HOME"]))
    created = import_claude(cru)["created"]
    trunk = min(created, key=len)
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    assert not import_claude(cru)["created"]
    assert "no note" not in cru("doctor").stdout
    (log,) = (folder / "projects").glob("*/*.jsonl")
    copied = vault.root.parent / "copies" / "0f0f0f0f-0000-4000-8000-000000000000.jsonl"
    copied.parent.mkdir()
    shutil.copy(log, copied)  # another name, the same log
    assert not import_claude(cru, copied)["created"]
    with log.open("ab") as file:  # the deleted session goes on
        file.write(log.read_bytes().splitlines()[-1] + b"\n")
    assert not import_claude(cru)["created"]
    assert cru("session", "delete", "--undo", trunk).exit_code == 0
    again = import_claude(cru)
    assert (again["created"], sorted(again["updated"] + again["unchanged"])) == ([], sorted(created))


def test_a_note_that_git_brought_back_is_updated(vault: Vault, cru: Cru) -> None:
    claude_folder(Path(os.environ["HOME"]))
    trunk = min(import_claude(cru)["created"], key=len)
    data = (vault.sessions / f"{trunk}.md").read_bytes()
    cru("session", "delete", trunk, "--yes")
    (vault.sessions / f"{trunk}.md").write_bytes(data)
    assert trunk in [one for names in import_claude(cru).values() for one in names]


def test_a_sync_started_by_hooks_does_not_bring_it_back(vault: Vault, cru: Cru) -> None:
    folder = claude_folder(Path(os.environ["HOME"]))
    trunk = min(import_claude(cru)["created"], key=len)
    cru("session", "delete", trunk, "--yes")
    (log,) = (folder / "projects").glob("*/*.jsonl")
    event = {"session_id": log.stem, "transcript_path": str(log), "cwd": "/tmp", "hook_event_name": "Stop"}
    spool = vault.root / ".crucible/spool/claude-code"
    spool.mkdir(parents=True)
    (spool / f"{log.stem}.jsonl").write_text(json.dumps({"at": 1.0, "pid": 0, "event": event}) + "\n")
    sync_vault(vault.root, UserSettings(""), {})
    assert trunk not in vault.session_ids()


def test_lines_that_git_merged_twice_count_once(scene: Vault, cru: Cru) -> None:
    cru("session", "delete", A, "--yes")
    record = scene.root / ".crucible/memory/deleted.jsonl"
    record.write_bytes(record.read_bytes() * 2 + b"<<<<<<<\n{}\n")
    assert len(load_tombstones(scene.root)) == 1
    cru("session", "delete", "--undo", A)
    lines = record.read_bytes().splitlines()
    record.write_bytes(b"\n".join(reversed(lines)) + b"\n")
    assert load_deleted(scene.root).sources == frozenset()


# --- accidents -------------------------------------------------------------------------------------------------------


@unix
def test_a_deletion_killed_at_any_step_is_finished_or_never_began(scene: Vault, tmp_path: Path) -> None:
    before = content_of(scene)
    for step in range(1, LAST, STRIDE):
        vault = Vault(shutil.copytree(scene.root, tmp_path / f"v{step}"), VaultSettings(fsync=False))
        if not killed(vault.root, *delete(vault), step=step):
            break
        began = (vault.root / ".crucible/deleting.json").exists()
        result = Cru(vault)("session", "list")
        assert result.exit_code == 0
        assert (f"finished an interrupted deletion of {A}" in result.stderr) == began
        if load_tombstones(vault.root):
            check_deleted(vault)
            assert Cru(vault)("session", "delete", "--undo", A).exit_code == 0
        assert content_of(vault) == before, step
        shutil.rmtree(vault.root)
    check_deleted(vault)
    assert step > 20


@unix
def test_an_undo_killed_at_any_step_is_finished(scene: Vault, tmp_path: Path) -> None:
    before = content_of(scene)
    assert Cru(scene)("session", "delete", A, "--yes").exit_code == 0
    for step in range(1, LAST, STRIDE):
        vault = Vault(shutil.copytree(scene.root, tmp_path / f"v{step}"), VaultSettings(fsync=False))
        if not killed(vault.root, *delete(vault, "--undo", A), step=step):
            break
        began = (vault.root / ".crucible/deleting.json").exists()
        assert Cru(vault)("session", "list").exit_code == 0
        if load_tombstones(vault.root):
            assert not began
            check_deleted(vault)
        else:
            assert content_of(vault) == before, step
        shutil.rmtree(vault.root)
    assert content_of(vault) == before
    assert step > 20


def test_a_deletion_that_fails_midway_is_rolled_back(scene: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content_of(scene)

    def fail(vault: Vault, entry: object) -> None:
        (vault.sessions / f"{A}.md").rename(trash_of(vault) / "files" / "sessions" / f"{A}.md")
        raise VaultError("no space left on device")

    def trash_of(vault: Vault) -> Path:
        (entry,) = (vault.root / ".crucible/trash").iterdir()
        (entry / "files" / "sessions").mkdir(parents=True)
        return entry

    monkeypatch.setattr(deleting, "take_away", fail)
    result = cru("session", "delete", A, "--yes")
    assert result.exit_code == 1
    assert result.stderr == "error: no space left on device\n"
    assert content_of(scene) == before
    assert not load_tombstones(scene.root)


def test_a_vault_without_room_for_a_trash_keeps_everything(scene: Vault, cru: Cru) -> None:
    (scene.root / ".crucible/trash").write_text("a file")
    before = content_of(scene)
    result = cru("session", "delete", A, "--yes")
    assert result.exit_code == 1
    assert result.stderr.count("\n") <= 2
    assert content_of(scene) == before


@pytest.mark.parametrize(
    "journal",
    [
        "",
        "[]",
        "\0",
        '{"entry": "../../sessions", "undo": true}',
        '{"entry": 1, "undo": 1}',
        '{"entry": "20260101T000000Z-x"}',
    ],
)
def test_a_journal_that_says_anything_else_changes_nothing(scene: Vault, cru: Cru, journal: str) -> None:
    before = content_of(scene)
    (scene.root / ".crucible/deleting.json").write_text(journal)
    assert "deletion" in cru("doctor").stdout
    assert cru("session", "list").exit_code == 0
    assert content_of(scene) == before


@pytest.mark.parametrize(
    "path", ["start.md", "../x.md", ".crucible/config.toml", "sessions/../start.md", "/etc/passwd", "sessions/.x.md"]
)
def test_a_manifest_that_names_other_files_moves_nothing(scene: Vault, cru: Cru, path: str) -> None:
    cru("session", "delete", A, "--yes")
    (manifest,) = (scene.root / ".crucible/trash").glob("*/manifest.json")
    values = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(values | {"files": [path]}))
    (scene.root / ".crucible/deleting.json").write_text(json.dumps({"entry": manifest.parent.name, "undo": False}))
    before = content_of(scene)
    assert cru("session", "list").exit_code == 0
    assert content_of(scene) | {".crucible/deleting.json": b""} == before | {".crucible/deleting.json": b""}
    assert cru("session", "delete", "--undo", A).exit_code == 1


def forged(vault: Vault, outside: Path, **values: object) -> Path:
    """Put an entry with a manifest and a journal into the vault, as a stranger's vault may have them."""
    for folder in ("files/sessions", "memory", "sessions"):
        (outside / folder).mkdir(parents=True)
    for name in ("files/sessions/x.md", "sessions/x.md", "files/mine", "memory/bookmarks.jsonl"):
        (outside / name).write_text('{"session":"x"}\n')
    entry = vault.root / ".crucible/trash/20260101T000000Z-x"
    entry.mkdir(parents=True)
    usual = {"session": "x", "title": "x", "deleted": "2026-01-01T00:00:00Z", "ids": ["x"], "sources": [], "logs": []}
    (entry / "manifest.json").write_text(json.dumps({**usual, "files": ["sessions/x.md"], **values}))
    return entry


@pytest.mark.parametrize("undo", [True, False])
@pytest.mark.parametrize("link", ["entry", "files", "memory", "sessions"])
def test_a_strangers_trash_moves_and_removes_nothing_outside_the_vault(
    scene: Vault, cru: Cru, tmp_path: Path, link: str, undo: bool
) -> None:
    outside = tmp_path / "outside"
    at = "sessions/l/x.md" if link == "sessions" else "sessions/x.md"
    entry = forged(scene, outside, files=[at])
    if link == "entry":
        shutil.rmtree(entry)
        entry.symlink_to(outside)
    elif link == "sessions":
        (scene.sessions / "l").symlink_to(outside / "sessions")
    else:
        (entry / link).symlink_to(outside / link)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    (scene.root / ".crucible/deleting.json").write_text(json.dumps({"entry": entry.name, "undo": undo}))
    assert cru("session", "list").exit_code in (0, 3)  # 3 for the link
    assert cru("session", "delete", "--undo", "x").exit_code == 1
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before
    assert not (scene.root / ".crucible/deleting.json").exists()


@pytest.mark.parametrize("values", [{"deleted": "never"}, {"deleted": "2026-01-01T00:00:00"}, {"ids": 1}])
def test_a_manifest_that_no_deletion_writes_is_no_entry(
    scene: Vault, cru: Cru, tmp_path: Path, values: dict[str, object]
) -> None:
    entry = forged(scene, tmp_path / "outside", **values)
    (scene.root / ".crucible/deleting.json").write_text(json.dumps({"entry": entry.name, "undo": False}))
    assert cru("session", "list").exit_code == 0
    assert cru("session", "delete", "--undo", "x").exit_code == 1


def test_a_deleted_session_is_in_no_results_of_an_interrupted_run(
    scene: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    with interrupted(monkeypatch):
        check_sessions(scene, workers=Workers())
    kept = scene.root / ".crucible/cache/batches"
    assert any(A.encode() in path.read_bytes() for path in kept.rglob("*") if path.is_file())
    importing = scene.root / ".crucible/cache/importing"
    importing.mkdir(parents=True)
    (importing / "999999999-left").write_text("what a killed import had read")
    assert cru("session", "delete", A, "--yes").exit_code == 0
    assert not kept.exists()
    assert [*importing.iterdir()] == []


def test_the_words_of_a_deleted_session_are_in_no_file_of_recalls_index(vault: Vault, cru: Cru) -> None:
    for name in ("gone", *(f"kept-{number}" for number in range(9))):  # enough to share a part of the index
        write(vault, name, f"---\ntype: session\nstatus: completed\n---\n\n# {name}\n\nquagga{name[:4]} walrus\n")
    assert "gone" in cru("recall", "quaggagone", "--json").stdout
    index = vault.root / ".crucible/cache/recall"
    before = {path for side in ("events", "sessions") for path in (index / side).glob("*.term")}
    assert cru("session", "delete", "gone", "--yes").exit_code == 0
    assert [path for path in before if path.exists()] == []
    assert json.loads(cru("recall", "walrus", "--json").stdout)["hits"][0]["session"].startswith("kept")
