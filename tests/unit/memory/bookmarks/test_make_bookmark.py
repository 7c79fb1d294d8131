from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.check.check_secrets import check_secrets
from crucible.core.errors import BadSessionId, VaultError
from crucible.core.git import digest_of
from crucible.core.secrets import Redact, Scanner
from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.session import Phase, Session, Status, SubagentRef, Task, ToolCall, ToolCalls
from crucible.memory.bookmarks.bookmark import MOST_FILES, Bookmark, StopReason, latest, load_bookmarks
from crucible.memory.bookmarks.make_bookmark import LONGEST_BLOCKER, LONGEST_NOTE, make_bookmark
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from tests.git_repositories import commit, git, made

NOW = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"


def clean(text: str) -> tuple[str, Mapping[str, int]]:
    return text.replace(SECRET, "[REDACTED:github-token]"), {}


def _session(*paths: str, phases: tuple[Phase, ...] = (), tasks: tuple[Task, ...] = (), **more: object) -> Session:
    calls = ToolCalls(tuple(ToolCall(f"Write {path}") for path in paths))
    own = phases or (Phase("Tests", entries=(calls,), id="phase-1"),)
    return replace(Session("2026-11-21-x", phases=own, tasks=tasks, project="shop"), **more)  # type: ignore[arg-type]


def _marked(
    vault: Vault,
    session: Session,
    folder: Path | None = None,
    redact: Redact = clean,
    note: str = "",
    **more: str,
) -> Bookmark:
    found = make_bookmark(
        vault,
        session,
        StopReason.PAUSED,
        now=NOW,
        redact=redact,
        folder=folder,
        note=note,
        blockers=[*more.values()],
    )
    assert found in load_bookmarks(vault.root).found
    return found


def _put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


# --- where it stood ----------------------------------------------------------------------------------------------------


def test_a_bookmark_says_phase_task_branch_head_and_files(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    _put(repo, "src/a.py", "b.py")
    head = commit(repo)
    tasks = (
        Task("1", "One", "completed"),
        Task("2", "Two"),
        Task("t3", "Three", "in_progress"),
        Task("4", "Four"),
    )
    session = _session("src/a.py", "b.py", "gone.py", tasks=tasks)
    one = _marked(vault, session, repo, note="waiting", first="no key", second="no time")
    assert one == Bookmark(
        id=one.id,
        session="2026-11-21-x",
        at=NOW,
        why=StopReason.PAUSED,
        phase="phase-1",
        phase_name="Tests",
        task="t3",
        task_name="Three",
        task_number=3,
        task_count=4,
        note="waiting",
        blockers=("no key", "no time"),
        project="shop",
        branch="main",
        head=head,
        files={
            "src/a.py": git(repo, "rev-parse", "HEAD:src/a.py"),
            "b.py": git(repo, "rev-parse", "HEAD:b.py"),
            "gone.py": "",
        },
    )
    assert latest(vault.root, "2026-11-21-x") == one


def test_ids_differ(vault: Vault) -> None:
    assert len({_marked(vault, _session()).id for _ in range(50)}) == 50


def test_a_session_without_anything_has_a_bookmark(vault: Vault) -> None:
    one = _marked(vault, Session("2026-11-21-x"))
    assert one == Bookmark(one.id, "2026-11-21-x", NOW, StopReason.PAUSED)


@pytest.mark.parametrize(
    ("statuses", "task", "number"),
    [
        ((), "", 0),
        (("completed", "completed"), "", 0),
        (("completed", "pending", "pending"), "2", 2),
        (("pending", "completed", "in_progress", "in_progress"), "3", 3),
        (("completed", "cancelled", "odd"), "3", 3),
    ],
)
def test_the_task_under_work_is_the_one_in_progress_else_the_first_open(
    vault: Vault, statuses: tuple[str, ...], task: str, number: int
) -> None:
    tasks = tuple(Task(str(at), "same", status) for at, status in enumerate(statuses, 1))
    one = _marked(vault, _session(tasks=tasks))
    assert (one.task, one.task_number, one.task_count) == (task, number, len(statuses))


def test_equal_tasks_have_their_own_numbers(vault: Vault) -> None:
    tasks = (Task("1", "same", "completed"), Task("1", "same"), Task("1", "same", "in_progress"))
    assert _marked(vault, _session(tasks=tasks)).task_number == 3


PHASES = (
    Phase("One", id="phase-1"),
    Phase("Two", id="phase-2", subphases=(Phase("Below", id="phase-2.1"), Phase("Last", id="phase-2.2"))),
)


@pytest.mark.parametrize(
    ("status", "point", "phase"),
    [
        (Status.ACTIVE, None, "phase-2.2"),
        (Status.ACTIVE, "phase-1", "phase-2.2"),
        (Status.PAUSED, "phase-1", "phase-1"),
        (Status.PAUSED, "phase-2.1", "phase-2.1"),
        (Status.PAUSED, "phase-9", "phase-2.2"),
        (Status.PAUSED, None, "phase-2.2"),
    ],
)
def test_the_phase_is_the_resume_point_of_what_is_paused_else_the_last(
    vault: Vault, status: Status, point: str | None, phase: str
) -> None:
    assert _marked(vault, _session(phases=PHASES, status=status, resume_point=point)).phase == phase


# --- files ---------------------------------------------------------------------------------------------------------------


def test_outside_git_files_are_seen_from_the_folder(vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    _put(folder, "a.py", "src/b.py")
    one = _marked(vault, _session("a.py", str(folder / "src" / "b.py")), folder)
    assert {*one.files} == {"a.py", "src/b.py"}
    assert (one.branch, one.head) == ("", "")


def test_in_a_folder_of_a_repository_files_are_seen_from_its_top(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    _put(repo, "src/a.py", "top.py", "src/deep/c.py", "both.py", "src/both.py")
    session = _session("a.py", "../top.py", "deep/c.py", str(repo / "src" / "a.py"), "new.py", "both.py")
    one = _marked(vault, session, repo / "src")
    assert [*one.files] == ["top.py", "src/deep/c.py", "src/a.py", "src/new.py", "src/both.py"]


def test_a_patchs_path_from_the_top_is_found_from_a_folder_below(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    _put(repo, "src/a.py")
    assert [*_marked(vault, _session("src/a.py"), repo / "src").files] == ["src/a.py"]


def test_no_path_leaves_the_project(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    _put(tmp_path, "outside.py", "shop2/x.py", "elsewhere/y.py")
    _put(repo, "in.py")
    (repo / "out").symlink_to(tmp_path / "outside.py")
    (repo / "folder").symlink_to(tmp_path / "elsewhere")
    (repo / "to_in").symlink_to("in.py")
    (repo / "loop").symlink_to("loop")
    (repo / "sub").mkdir()
    paths = (
        *("../outside.py", str(tmp_path / "outside.py"), "/etc/passwd", str(tmp_path / "shop2" / "x.py")),
        *(
            "out",
            "folder/y.py",
            "~/x.py",
            "~root/x.py",
            "C:\\Users\\me\\x.py",
            "\\\\host\\share",
            "https://x.y/z",
        ),
        *(
            "file:///etc/passwd",
            ".git/config",
            "sub",
            ".",
            "..",
            "",
            "x/../../outside.py",
            ".crucible/memory/x",
        ),
        *("a\0b", "to_in", str(repo)),
    )
    one = _marked(vault, _session(*paths), repo)
    assert {*one.files} <= {"in.py", "loop"}
    assert one.files["in.py"] == digest_of(repo / "in.py")
    assert one.more_files == 0
    assert str(tmp_path) not in (vault.root / ".crucible" / "memory" / "bookmarks.jsonl").read_text()


def test_an_absolute_path_below_the_folder_by_a_symlink_is_the_projects(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    _put(repo, "a.py")
    (tmp_path / "alias").symlink_to(repo)
    session = _session(str(tmp_path / "alias" / "a.py"))
    assert [*_marked(vault, session, repo).files] == ["a.py"]
    assert [*_marked(vault, session, tmp_path / "alias").files] == ["a.py"]


def test_of_many_files_those_touched_last_are_kept_and_the_others_counted(vault: Vault, tmp_path: Path) -> None:
    names = [f"f{at}.py" for at in range(MOST_FILES + 30)]
    one = _marked(vault, _session(*names, names[0]), tmp_path)
    assert [*one.files] == [*names[31:], names[0]]
    assert one.more_files == 30


def test_without_a_folder_there_are_neither_files_nor_git(vault: Vault) -> None:
    one = _marked(vault, _session("a.py"))
    assert (one.files, one.branch, one.head, one.more_files) == ({}, "", "", 0)


def test_a_folder_that_is_gone_keeps_no_bookmark_from_being_made(vault: Vault, tmp_path: Path) -> None:
    one = _marked(vault, _session("a.py"), tmp_path / "gone")
    assert one.files == {"a.py": ""}


def test_without_git_files_are_still_seen_from_the_top(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = made(tmp_path / "shop")
    _put(repo, "src/a.py")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    one = _marked(vault, _session("a.py"), repo / "src")
    assert (one.files, one.branch, one.head) == ({"src/a.py": digest_of(repo / "src" / "a.py")}, "", "")


def test_the_files_of_subagents_come_before_the_sessions_own(vault: Vault, tmp_path: Path) -> None:
    child = "---\ntype: session\nsession_id: x-child\n---\n\n# T\n\n## P\n\n**Tool calls:**\n- `Write c.py` → ok\n"
    vault.create("x-child", child)
    refs = (SubagentRef("x-child"), SubagentRef("x-gone"))
    assert [*_marked(vault, _session("a.py", subagents=refs), tmp_path).files] == ["c.py", "a.py"]


# --- what may not get in -------------------------------------------------------------------------------------------------


def test_no_secret_gets_into_a_bookmark(tmp_path: Path, vault: Vault) -> None:
    repo = made(tmp_path / "shop")
    commit(repo)
    git(repo, "checkout", "-qb", f"fix-{SECRET}")
    _put(repo, f"{SECRET}.py", "a.py")
    parted = f"{SECRET[:9]}\x1b[31m{SECRET[9:]}"
    phases = (Phase(f"Use {SECRET}", id="phase-1", entries=_session(f"{SECRET}.py", "a.py").phases[0].entries),)
    session = _session(phases=phases, tasks=(Task("1", f"Try {SECRET}"),), project=SECRET)
    one = _marked(vault, session, repo, Scanner(vault.settings.secrets).redact, f"{SECRET} {parted}", b=parted)
    assert SECRET[9:] not in (vault.root / ".crucible" / "memory" / "bookmarks.jsonl").read_text()
    assert [*one.files] == ["a.py"]
    assert one.more_files == 1
    assert one.blockers == ("[REDACTED:github-token]",)


def test_a_secret_that_control_characters_part_is_found(vault: Vault) -> None:
    parted = f"{SECRET[:9]}\x1b[31m{SECRET[9:20]}\x00{SECRET[20:]}"
    one = _marked(vault, _session(phases=(Phase(parted, id="phase-1"),)), note=parted, b=parted)
    assert (one.note, one.blockers, one.phase_name) == (
        "[REDACTED:github-token]",
        ("[REDACTED:github-token]",),
        "[REDACTED:github-token]",
    )


def test_names_that_look_like_secrets_names_are_no_secrets_to_the_commit_hook(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    names = ("token.py", "config/password", "api_key", "secrets/id_rsa", ".env", "aws_secret_access_key.txt")
    _put(repo, *names)
    commit(repo)
    _marked(vault, _session(*names), repo, note="the password is in the vault", b="no token yet")
    assert check_secrets(vault) == []


def test_when_secrets_cannot_be_looked_for_nothing_is_written(vault: Vault) -> None:
    def broken(_: str) -> tuple[str, Mapping[str, int]]:
        raise RuntimeError("no rules")

    with pytest.raises(VaultError, match="cannot run, so nothing was written: no rules"):
        make_bookmark(vault, _session(), StopReason.PAUSED, now=NOW, redact=broken, note="x")
    assert not load_bookmarks(vault.root).found


@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=3), st.text(max_size=30))
def test_hostile_texts_are_one_line_of_the_file_and_come_back_as_they_were_told(
    tmp_path_factory: pytest.TempPathFactory, note: str, blockers: list[str], name: str
) -> None:
    root = tmp_path_factory.getbasetemp() / "hostile"
    if not root.exists():
        init_vault(root)
    vault = Vault(root, VaultSettings(fsync=False))
    session = _session(phases=(Phase(name, id="phase-1"),), tasks=(Task(name, name),), project=name)
    file = root / ".crucible" / "memory" / "bookmarks.jsonl"
    file.unlink(missing_ok=True)
    one = make_bookmark(vault, session, StopReason.MANUAL, now=NOW, redact=clean, note=note, blockers=blockers)
    assert file.read_bytes().count(b"\n") == 1
    assert load_bookmarks(root) == ((one,), ())
    for text in (*one.blockers, one.phase_name, one.task_name, one.project):
        assert "\n" not in text
        assert "\x1b" not in text


def test_long_texts_are_cut(vault: Vault) -> None:
    one = _marked(vault, _session(phases=(Phase("n" * 9000, id="phase-1"),)), note="x" * 99_999, b="y" * 99_999)
    assert (len(one.note), len(one.blockers[0])) == (LONGEST_NOTE, LONGEST_BLOCKER)
    assert one.note.endswith("…")
    assert len(one.phase_name) <= 300


def test_a_name_that_is_no_utf8_does_no_harm(vault: Vault, tmp_path: Path) -> None:
    repo = made(tmp_path / "shop")
    (Path(os.fsdecode(os.fsencode(repo) + b"/caf\xe9.py"))).write_text("x")
    (repo / "link.py").symlink_to(os.fsdecode(b"caf\xe9.py"))
    (repo / "line.py").symlink_to("a\nb.py")
    one = _marked(vault, _session(os.fsdecode(b"caf\xe9.py"), "link.py", "line.py", "ok.py"), repo)
    assert [*one.files] == ["ok.py"]


@pytest.mark.parametrize("name", ["my note", "../x", "caf\udce9", ""])
def test_a_note_whose_name_is_no_id_gets_no_bookmark(vault: Vault, name: str) -> None:
    with pytest.raises(BadSessionId):
        make_bookmark(vault, Session(name), StopReason.MANUAL, now=NOW, redact=clean)
    assert not load_bookmarks(vault.root).found


# --- what was said stays said --------------------------------------------------------------------------------------------


def _then(vault: Vault, session: Session, why: StopReason, seconds: int, **words: object) -> Bookmark:
    now = NOW + timedelta(seconds=seconds)
    return make_bookmark(vault, session, why, now=now, redact=clean, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize("started", [NOW - timedelta(hours=1), None])
def test_a_clients_end_does_not_hide_what_was_said_before_it(vault: Vault, started: datetime | None) -> None:
    session = _session(phases=(Phase("Tests", id="phase-1", started=started),))
    _then(vault, session, StopReason.PAUSED, 0, note="mind the clock", blockers=("no key",))
    ended = _then(vault, session, StopReason.ENDED, 5)
    assert (ended.note, ended.blockers) == ("mind the clock", ("no key",))
    assert _then(vault, session, StopReason.IDLE, 9).blockers == ("no key",)
    said = _then(vault, session, StopReason.MANUAL, 12, note="the key came")
    assert (said.note, said.blockers) == ("the key came", ())
    assert latest(vault.root, session.id) == said


@pytest.mark.parametrize("started", [NOW + timedelta(seconds=3), None])
def test_it_holds_until_another_phase_begins(vault: Vault, started: datetime | None) -> None:
    _then(vault, _session(), StopReason.PAUSED, 0, note="mind the clock", blockers=("no key",))
    later = _session(phases=(Phase("Tests", id="phase-1"), Phase("More", id="phase-2", started=started)))
    ended = _then(vault, later, StopReason.ENDED, 5)
    assert (ended.note, ended.blockers) == ("", ())
