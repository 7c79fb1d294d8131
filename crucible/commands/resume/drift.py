"""What happened to a session's files and their repository since its bookmark.

Owns what counts as changed, moved or unknown.  A bookmark comes with the vault and may be anybody's: its paths are only
looked at inside the folder, its commit is only taken when it is one.  Nothing is written and nothing of the repository's own
settings is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from crucible.commands.resume.resume_material import Drift, FileChange
from crucible.core.git import Repository, digest_of, is_commit, read_repository, run_git
from crucible.memory.bookmarks.bookmark import Bookmark
from crucible.vault.logs.jsonl_store import is_inner_path

_SUBJECTS = 10
_SEARCHED = 5000
"""Untracked files that a moved one is looked for among."""
_MOST_BYTES = 64 << 20
"""Of all of them together: somebody waits for this."""
_LARGEST = 1 << 20
"""Bytes of a file that is no longer tracked and may be a moved one; larger ones are not read for that."""


def find_drift(folder: Path, bookmark: Bookmark) -> Drift:
    """The repository that holds `folder`, or the folder itself, against the bookmark."""
    if not folder.is_dir():
        return Drift(unknown=f"the folder {folder.name} is gone")
    found = read_repository(folder)
    root = found.root if found else folder.resolve()
    changes, unchanged = _files(root, found, bookmark)
    commits, unknown = _commits(found, bookmark.head)
    # A bookmark that was made without a folder names neither; what git does not tell is not another branch.
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
    """The number since, None if unknown; and what else there is to say."""
    if not head:
        return None, ""
    if found is None:
        return None, "there is no git repository here any more"
    if found.refusal or not is_commit(head):
        return None, found.refusal or "the bookmark names no commit"
    if run_git(found.root, "cat-file", "-e", f"{head}^{{commit}}") is None:
        gone = "the bookmark's commit is not in this repository"
        return None, "this clone is shallow" if found.is_shallow else gone
    count = _told(found.root, "rev-list", "--count", f"{head}..HEAD").strip()
    if not count.isdecimal():
        return None, "git does not tell the commits since"
    is_before = run_git(found.root, "merge-base", "--is-ancestor", head, "HEAD") is not None
    return int(count), "" if is_before else "the bookmark's commit is not in the history of what is checked out"


def _subjects(root: Path, head: str) -> tuple[str, ...]:
    told = _told(root, "log", "-z", f"--max-count={_SUBJECTS}", "--format=%s", f"{head}..HEAD")
    return tuple(_plain(line) for line in told.split("\0") if line)


def _plain(text: str) -> str:
    """Without what is no UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _told(root: Path, *args: str) -> str:
    return run_git(root, *args) or ""


# --- files -----------------------------------------------------------------------------------------------------------


def _files(root: Path, found: Repository | None, bookmark: Bookmark) -> tuple[tuple[FileChange, ...], int]:
    """The files that changed, and how many did not."""
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
    """True if the path leads to something inside the folder."""
    real = Path(os.path.realpath((root / name).parent)) if is_inner_path(name) else None
    return real is not None and real.is_relative_to(os.path.realpath(root))


def _moves(root: Path, found: Repository | None, bookmark: Bookmark, gone: Mapping[str, str]) -> dict[str, str]:
    """New paths of files that are gone: by git's renames if they changed on the way, else by their bytes."""
    told = _renames(root, bookmark.head) if found and is_commit(bookmark.head) else {}
    places: dict[str, list[str]] = {}
    if found and gone.keys() - told.keys():
        for digest, name in _tracked(root):
            if bookmark.files.get(name) != digest:
                places.setdefault(digest, []).append(name)
    nearest = {
        name: min(places[digest], key=lambda at: (os.path.basename(at) != os.path.basename(name), at))
        for name, digest in gone.items()
        if digest in places
    }
    return nearest | {name: told[name] for name in gone if name in told}


def _renames(root: Path, head: str) -> dict[str, str]:
    """Old paths to new ones between a commit and what git tracks now, by git's own measure of likeness."""
    # `--cached`: what compares the files themselves runs the filters that a repository may name.
    flags = ("--cached", "-z", "-M", "--name-status", "--diff-filter=R", "--no-ext-diff", "--no-textconv")
    words = _told(root, "diff", *flags, head, "--").split("\0")
    return dict(zip(words[1::3], words[2::3], strict=False))


def _tracked(root: Path) -> Iterator[tuple[str, str]]:
    """Blob ids and paths: of tracked files that are on the disk, then of files that are not tracked."""
    for entry in _told(root, "ls-files", "-s", "-z").split("\0"):
        info, tab, name = entry.partition("\t")
        if tab and (root / name).is_file():
            yield info.split(" ")[1], name
    yield from _hashed(root, _told(root, "ls-files", "-o", "--exclude-standard", "-z").split("\0"))


def _hashed(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    room = _MOST_BYTES
    for name in filter(None, islice(names, _SEARCHED)):
        path = root / name
        size = path.stat().st_size if path.is_file() and not path.is_symlink() else _LARGEST + 1
        if size <= _LARGEST and (room := room - size) >= 0:
            yield digest_of(path), name
