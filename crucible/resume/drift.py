"""What happened to a session's files and their repository since its bookmark.

Owns what counts as changed, moved or unknown.  A bookmark comes with the vault and may be anybody's: its paths are only
looked at inside the folder, its commit is only taken when it is one.  Nothing is written and nothing of the repository's own
settings is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from crucible.bookmarks.fields import is_inner_path
from crucible.bookmarks.model import Bookmark
from crucible.bookmarks.repository import Repository, digest_of, is_commit, read_repository, run_git
from crucible.resume.model import Drift, FileChange

__all__ = ["find_drift"]

_SUBJECTS = 10
_SEARCHED = 5000
"""Files outside of git that a moved one is looked for among."""
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
    """How many since, None when it cannot be told; and what is to be said of that."""
    if not head:
        return None, ""
    if found is None:
        return None, "there is no git repository here any more"
    if found.refusal:
        return None, found.refusal
    if not is_commit(head):
        return None, "the bookmark names no commit"
    if run_git(found.root, "cat-file", "-e", f"{head}^{{commit}}") is None:
        why = (
            "this clone is shallow" if found.is_shallow else "the bookmark's commit is not in this repository"
        )
        return None, why
    count = _told(found.root, "rev-list", "--count", f"{head}..HEAD").strip()
    if not count.isdecimal():
        return None, "git does not tell the commits since"
    is_before = run_git(found.root, "merge-base", "--is-ancestor", head, "HEAD") is not None
    said = "" if is_before else "the bookmark's commit is not in the history of what is checked out"
    return int(count), said


def _subjects(root: Path, head: str) -> tuple[str, ...]:
    told = _told(root, "log", "-z", f"--max-count={_SUBJECTS}", "--format=%s", f"{head}..HEAD")
    return tuple(_plain(line) for line in told.split("\0") if line)


def _plain(text: str) -> str:
    """Without what is no UTF-8, since it is going to be told."""
    return text.encode("utf-8", "replace").decode()


def _told(root: Path, *args: str) -> str:
    return run_git(root, *args) or ""


# --- files -----------------------------------------------------------------------------------------------------------


def _files(root: Path, found: Repository | None, bookmark: Bookmark) -> tuple[tuple[FileChange, ...], int]:
    changes: list[FileChange] = []
    gone: dict[str, str] = {}
    unchanged = 0
    for name, before in bookmark.files.items():
        path = _inside(root, name)
        if path is None:
            continue
        now = digest_of(path)
        if now == before:
            unchanged += 1
        elif now:
            changes.append(FileChange(name, "changed" if before else "added"))
        else:
            gone[name] = before
            changes.append(FileChange(name, "deleted"))
    moves = _moves(root, found, bookmark, gone) if gone else {}
    moved = (FileChange(c.path, "moved", _plain(moves[c.path])) if c.path in moves else c for c in changes)
    return tuple(moved), unchanged


def _inside(root: Path, name: str) -> Path | None:
    """Where a file of the bookmark's lies, None for what is no path inside the folder."""
    if not is_inner_path(name):
        return None
    path = root / name
    return path if Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(root)) else None


def _moves(
    root: Path, found: Repository | None, bookmark: Bookmark, gone: Mapping[str, str]
) -> dict[str, str]:
    """New paths of files that are gone: told by git when they changed on the way, else found by their bytes."""
    told = _renames(root, bookmark.head) if found and is_commit(bookmark.head) else {}
    moves = {name: told[name] for name in gone if name in told}
    wanted = {digest for name, digest in gone.items() if name not in moves and digest}
    places: dict[str, list[str]] = {}
    if wanted:
        for digest, name in _known(root) if found else _walked(root, gone):
            if digest in wanted and bookmark.files.get(name) != digest:
                places.setdefault(digest, []).append(name)
    for name, digest in gone.items():
        near = sorted(places.get(digest, ()), key=lambda place: (_last(place) != _last(name), place))
        if name not in moves and near:
            moves[name] = near[0]
    return moves


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _renames(root: Path, head: str) -> dict[str, str]:
    """Old paths to new ones between a commit and what git tracks now, by git's own measure of likeness."""
    # `--cached`: what compares the files themselves runs the filters that a repository may name.
    flags = ("--cached", "-z", "-M", "--name-status", "--diff-filter=R", "--no-ext-diff", "--no-textconv")
    words = _told(root, "diff", *flags, head, "--").split("\0")
    return dict(zip(words[1::3], words[2::3], strict=False))


def _known(root: Path) -> Iterator[tuple[str, str]]:
    """Blob ids and paths: of tracked files that are on the disk, then of files that are not tracked."""
    for entry in _told(root, "ls-files", "-s", "-z").split("\0"):
        info, tab, name = entry.partition("\t")
        if tab and (root / name).is_file():
            yield info.split(" ")[1], name
    others = _told(root, "ls-files", "-o", "--exclude-standard", "-z").split("\0")
    yield from _hashed(root, others[:_SEARCHED])


def _walked(root: Path, gone: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The same of a folder outside of git, for files of the same kinds."""
    return _hashed(root, _names_of_kind(root, gone))


def _names_of_kind(root: Path, gone: Mapping[str, str]) -> Iterator[str]:
    kinds = {os.path.splitext(name)[1] for name in gone}
    seen = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            seen += 1
            if seen > _SEARCHED:
                return
            if os.path.splitext(name)[1] in kinds:
                yield Path(folder, name).relative_to(root).as_posix()


def _hashed(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    room = _MOST_BYTES
    for name in names:
        path = root / name
        size = path.stat().st_size if name and path.is_file() and not path.is_symlink() else _LARGEST + 1
        if size > _LARGEST:
            continue
        room -= size
        if room < 0:
            return
        yield digest_of(path), name
