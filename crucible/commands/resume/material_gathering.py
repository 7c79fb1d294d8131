"""Gather what is known before a resume: the folder, the client's own session, and what changed since.

Bookmarks are untrusted: paths outside the folder are ignored, and commits must look like commit ids. Nothing is
written, and no program configured in a repository is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from crucible.clients.events import ContextSeen
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS, Dialect
from crucible.commands.resume.resume_material import Drift, FileChange, Material
from crucible.core.errors import CrucibleError, TranscriptError
from crucible.core.git import Repository, digest_of, is_commit, read_repository, run_git
from crucible.core.settings.settings import UserSettings
from crucible.documents.session.session import Session, Status, Subagent
from crucible.memory.bookmarks.bookmark import Bookmark, latest
from crucible.vault.logs.jsonl_store import is_inner_path
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_SUBJECTS = 10
_SEARCHED = 5000
"""Maximum untracked files to search for a moved file."""
_MOST_BYTES = 64 << 20
"""Maximum total size of all untracked files read, since the user waits."""
_LARGEST = 1 << 20
"""Maximum size in bytes of an untracked file to read when searching for moved files."""
_FIRST_EVENTS = 500
"""Maximum events of a transcript to search for the working directory."""


class Workplace(NamedTuple):
    """The caller's environment, home folder, working directory (None if it is gone) and user settings."""

    env: Mapping[str, str]
    home: Path
    cwd: Path | None
    user: UserSettings


def check_goes_on(session: Session, *, force: bool) -> None:
    """Refuse an archived session, and an ended one unless `force` is set."""
    if session.archived:
        raise CrucibleError(f"{session.id} is archived", f'Run "cru session archive --undo {session.id}" to resume it.')
    if force or session.status not in (Status.COMPLETED, Status.FAILED):
        return
    raise CrucibleError(
        f"{session.id}: it is {session.status}, so it cannot be resumed",
        f'resume it anyway with "cru session resume {session.id} --force"; '
        f'"cru record start --continues {session.id}" starts a new one',
    )


@dataclass(frozen=True, slots=True)
class Native:
    """A client's own session. `folder` is where it began and the only place to continue; None if unknown or gone."""

    transcript: Transcript
    folder: Path | None


def newest_source(session: Session, client: str) -> str:
    """Return the session's last source that a client can continue, "" if none. Subagents' sources do not count."""
    return next((source for source in reversed(session.sources) if _is_of(source, client)), "")


def _is_of(source: str, client: str) -> bool:
    name, _, native = source.partition(":")
    return name == client and bool(native) and "/" not in native


def last_client(session: Session) -> str:
    """Return the client that worked last, by the note's phases, then its sources; "" if no client did.

    Phases come first, since sources are in the order of their first import.
    """
    clients = [source.partition(":")[0] for source in session.sources if "/" not in source]
    speakers = (phase.agent.name for phase in reversed(list(session.all_phases())) if phase.agent)
    return next((name for name in speakers if name in clients), clients[-1] if clients else "")


def find_native(session: Session, client: str, place: Workplace) -> Native | None:
    """Return the client's newest session imported into this one, if its transcript still exists on this machine."""
    dialect, source = DIALECTS.get(client), newest_source(session, client)
    if dialect is None or not source:
        return None
    folder = dialect.default_folder(place.env, place.home)
    try:
        if not folder.is_dir():
            return None
        found = (each for each in dialect.find(folder) if each.source == source)
        # The id becomes a command-line argument and must not look like an option.
        transcript = next((each for each in found if not each.native_id.startswith("-")), None)
        return None if transcript is None else Native(transcript, start_folder(dialect, transcript))
    except (TranscriptError, OSError):
        return None


def start_folder(dialect: Dialect, transcript: Transcript) -> Path | None:
    """Return the folder in which a session began; None if it is unknown or gone."""
    for event in islice(dialect.read(transcript), _FIRST_EVENTS):
        if isinstance(event, ContextSeen) and event.cwd:
            folder = Path(event.cwd)
            return folder if folder.is_absolute() and folder.is_dir() else None
    return None


def folder_of(
    session: Session,
    *,
    cwd: Path | None,
    projects: Mapping[str, Sequence[str]],
    native_cwd: Path | None = None,
) -> Path | None:
    """Return the folder to continue in, None if unknown.

    The first match wins:

    1. `cwd`, if it belongs to the session's project: the user may have chosen another worktree
    2. `native_cwd`, where the client began, if it still exists
    3. the first existing folder of the project in the user's settings
    4. `cwd`, if the session has no project
    """
    if session.project and cwd and project_of(str(cwd), projects) == session.project:
        return cwd
    if native_cwd and native_cwd.is_dir():
        return native_cwd
    if not session.project:
        return cwd
    return next((folder for folder in map(Path, projects.get(session.project, ())) if folder.is_dir()), None)


def find_folder(session: Session, place: Workplace) -> Path | None:
    """Return the folder to continue in, as in `folder_of`, for the client that worked last."""
    native = find_native(session, last_client(session), place)
    native_cwd = native.folder if native else None
    return folder_of(session, cwd=place.cwd, projects=place.user.projects, native_cwd=native_cwd)


def find_material(
    vault: Vault, session: Session, folder: Path | None, now: datetime, *, recall: str = "", goal: str = ""
) -> Material:
    """Gather the session, its newest bookmark, what changed in `folder` since, and its subagents' sessions."""
    mark = latest(vault.root, session.id)
    drift = find_drift(folder, mark) if folder and mark else None
    return Material(session, now, mark, drift, load_children(vault, session), recall, goal)


def load_children(vault: Vault, session: Session) -> dict[str, Session | None]:
    """Load the sessions of the subagents' notes, by id in the order of their first mention."""
    names = [name for name in dict.fromkeys(_child_names(session)) if name and name != session.id]
    if not names:
        return {}
    paths = {note_name(path.name): path for path in vault.session_paths()}
    found: dict[str, Session | None] = {}
    for name in names:
        try:
            found[name] = vault.read(paths[name]).session
        except (CrucibleError, KeyError):
            found[name] = None
    return found


def _child_names(session: Session) -> Iterator[str]:
    yield from (ref.session for ref in session.subagents)
    for entry in session.all_entries():
        if isinstance(entry, Subagent) and entry.link:
            # A link may contain a path, such as `sessions/2026-11-21-add-clock`.
            yield note_name(entry.link.rpartition("/")[2])


# --- drift -----------------------------------------------------------------------------------------------------------


def find_drift(folder: Path, bookmark: Bookmark) -> Drift:
    """Compare the bookmark with the repository that contains `folder`, or with the folder itself."""
    if not folder.is_dir():
        return Drift(unknown=f"the folder {folder.name} no longer exists")
    found = read_repository(folder)
    root = found.root if found else folder.resolve()
    changes, unchanged = _files(root, found, bookmark)
    commits, unknown = _commits(found, bookmark.head)
    # A bookmark made without a folder has neither head nor branch; an unknown branch does not count as changed.
    is_known = found is not None and not found.refusal and bool(bookmark.head or bookmark.branch)
    return Drift(
        commits=commits,
        subjects=_subjects(root, bookmark.head) if commits else (),
        branch_before=bookmark.branch if is_known else "",
        branch_now=found.branch if found and is_known else "",
        files=changes,
        unchanged=unchanged,
        unknown=unknown,
    )


# --- commits ---------------------------------------------------------------------------------------------------------


def _commits(found: Repository | None, head: str) -> tuple[int | None, str]:
    """Return the number of commits since `head` (None if unknown) and a remark, "" for none."""
    if not head:
        return None, ""
    if found is None:
        return None, "the folder is no longer a git repository"
    if found.refusal or not is_commit(head):
        return None, found.refusal or "the bookmark has no commit"
    if run_git(found.root, "cat-file", "-e", f"{head}^{{commit}}") is None:
        gone = "the bookmark's commit is not in this repository"
        return None, "this clone is shallow" if found.is_shallow else gone
    count = _git(found.root, "rev-list", "--count", f"{head}..HEAD").strip()
    if not count.isdecimal():
        return None, "git cannot list the commits since"
    is_before = run_git(found.root, "merge-base", "--is-ancestor", head, "HEAD") is not None
    return int(count), "" if is_before else "the bookmark's commit is not in the history of the current checkout"


def _subjects(root: Path, head: str) -> tuple[str, ...]:
    output = _git(root, "log", "-z", f"--max-count={_SUBJECTS}", "--format=%s", f"{head}..HEAD")
    return tuple(_plain(line) for line in output.split("\0") if line)


def _plain(text: str) -> str:
    """Replace invalid UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _git(root: Path, *args: str) -> str:
    return run_git(root, *args) or ""


# --- files -----------------------------------------------------------------------------------------------------------


def _files(root: Path, found: Repository | None, bookmark: Bookmark) -> tuple[tuple[FileChange, ...], int]:
    """Return the changed files, and the number of unchanged ones."""
    inside = {name: before for name, before in bookmark.files.items() if _is_inside(root, name)}
    now = {name: digest_of(root / name) for name in inside}
    gone = {name: before for name, before in inside.items() if before and not now[name]}
    moves = _moves(root, found, bookmark, gone) if gone else {}
    kinds = {
        name: "moved" if name in moves else "deleted" if not now[name] else "changed" if before else "added"
        for name, before in inside.items()
        if now[name] != before
    }
    changes = tuple(FileChange(name, kind, _plain(moves.get(name, ""))) for name, kind in kinds.items())
    return changes, len(inside) - len(changes)


def _is_inside(root: Path, name: str) -> bool:
    """True if the path is inside the folder, with symlinks in its parent folders resolved."""
    real = Path(os.path.realpath((root / name).parent)) if is_inner_path(name) else None
    return real is not None and real.is_relative_to(os.path.realpath(root))


def _moves(root: Path, found: Repository | None, bookmark: Bookmark, gone: Mapping[str, str]) -> dict[str, str]:
    """Find the new paths of missing files, by git's rename detection or by equal content."""
    renames = _renames(root, bookmark.head) if found and is_commit(bookmark.head) else {}
    places: dict[str, list[str]] = {}
    if found and gone.keys() - renames.keys():
        for digest, name in _tracked(root):
            if bookmark.files.get(name) != digest:
                places.setdefault(digest, []).append(name)
    nearest = {
        name: min(places[digest], key=lambda at: (os.path.basename(at) != os.path.basename(name), at))
        for name, digest in gone.items()
        if digest in places
    }
    return nearest | {name: renames[name] for name in gone if name in renames}


def _renames(root: Path, head: str) -> dict[str, str]:
    """Return new paths by old path, from git's rename detection between a commit and the index."""
    # `--cached`, because comparing the working tree would run filters configured in the repository.
    flags = ("--cached", "-z", "-M", "--name-status", "--diff-filter=R", "--no-ext-diff", "--no-textconv")
    words = _git(root, "diff", *flags, head, "--").split("\0")
    return dict(zip(words[1::3], words[2::3], strict=False))


def _tracked(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the blob id and path of each existing tracked file, then of untracked files."""
    for entry in _git(root, "ls-files", "-s", "-z").split("\0"):
        info, tab, name = entry.partition("\t")
        if tab and (root / name).is_file():
            yield info.split(" ")[1], name
    yield from _hashed(root, _git(root, "ls-files", "-o", "--exclude-standard", "-z").split("\0"))


def _hashed(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    room = _MOST_BYTES
    for name in filter(None, islice(names, _SEARCHED)):
        path = root / name
        size = path.stat().st_size if path.is_file() and not path.is_symlink() else _LARGEST + 1
        if size <= _LARGEST and (room := room - size) >= 0:
            yield digest_of(path), name
