"""Make a bookmark of a session: its open work, the files it touched, and the state of git, without secrets.

Git and files are optional: bookmarks are also made after a client died, in any folder.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.git import digest_of, read_repository
from crucible.core.patterns import late_pattern
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import unscanned
from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.session.session import Entry, Outcome, Phase, Session, Status, Subagent, ToolCall, ToolCalls
from crucible.documents.session.session_id import check_session_id
from crucible.memory.bookmarks.bookmark import MOST_FILES, Bookmark, StopReason, append_bookmark, current_task, latest
from crucible.vault.logs.jsonl_store import is_inner_path
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

LONGEST_NOTE, LONGEST_BLOCKER = 8_000, 1_000
"""Maximum code points; longer text is cut and ends in `…`."""

_LONGEST_NAME = 300
_NOT_OURS = frozenset({".git", ".crucible"})
"""Folders that git and Crucible change themselves."""
_ELSEWHERE = late_pattern(r"~[^/\\]*[/\\]|[A-Za-z]:|\\\\|[A-Za-z][A-Za-z0-9+.-]*://")
"""The beginning of a home folder path, a Windows drive or host, or a URL."""
_LINE_END = late_pattern(r"[ \t]*\n[ \t]*")


def make_bookmark(
    vault: Vault,
    session: Session,
    why: StopReason,
    *,
    now: datetime,
    redact: Redact,
    folder: Path | None = None,
    note: str = "",
    blockers: Sequence[str] = (),
) -> Bookmark:
    """Write a bookmark of the session's current state, and return it.

    If `note` and `blockers` are empty, those of the last bookmark are repeated, unless a new phase has begun.  `folder`
    is the working directory of the agent and its subagents; without it, the bookmark has no files and no git state.
    `now` is timezone-aware.  Raises `VaultError` if the scan for secrets fails or the vault cannot be written,
    `LockTimeout`, `OutsideVault`, and `BadSessionId` if the note's name is not a valid id.
    """
    line = partial(_line, redact)
    place = _Place() if folder is None else _place(_touched(vault, session), folder, line)
    at, work = _phase_of(session), current_task(session)
    words = _Words(
        cut(_block(redact, note), LONGEST_NOTE),
        tuple(filter(None, (line(one, LONGEST_BLOCKER) for one in blockers))),
    )
    note, blockers = words if any(words) else _last_words(vault, session)
    bookmark = Bookmark(
        id=f"b-{secrets.token_hex(6)}",
        session=check_session_id(session.id),
        at=now,
        why=why,
        phase=at.id if at else "",
        phase_name=line(at.name) if at else "",
        task=line(work.task.id) if work else "",
        task_name=line(work.task.content) if work else "",
        task_number=work.number if work else 0,
        task_count=len(session.tasks),
        note=note,
        blockers=tuple(blockers),
        project=line(session.project or ""),
        branch=place.branch,
        head=place.head,
        files=place.files,
        more_files=place.more_files,
    )
    append_bookmark(vault.root, bookmark, fsync=vault.settings.fsync)
    return bookmark


def _phase_of(session: Session) -> Phase | None:
    """Return the phase at which to resume a paused session, else the last phase."""
    phases = {phase.id: phase for phase in session.all_phases()}
    point = session.resume_point if session.status is Status.PAUSED else None
    return phases.get(point or "") or next(reversed(phases.values()), None)


class _Words(NamedTuple):
    """A handover note and blockers."""

    note: str = ""
    blockers: tuple[str, ...] = ()


def _last_words(vault: Vault, session: Session) -> _Words:
    """Return the note and blockers of the last bookmark, which a client's end must not hide; empty in a new phase."""
    last = latest(vault.root, session.id)
    if last is None:
        return _Words()
    phase = next(reversed([*session.all_phases()]), None)
    begun = phase.started if phase else None
    is_current = begun <= last.at if begun else (phase.id if phase else "") == last.phase
    return _Words(last.note, last.blockers) if is_current else _Words()


# --- files and git ----------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """The state of the session's folder in a bookmark."""

    branch: str = ""
    head: str = ""
    files: Mapping[str, str] = MappingProxyType({})
    more_files: int = 0


def _touched(vault: Vault, session: Session) -> list[str]:
    """Return the files touched by subagents whose notes exist, then those touched by the session itself."""
    ids = {one.session for one in session.subagents}
    found: list[str] = []
    for path in vault.session_paths() if ids else ():
        if note_name(path.name) in ids:
            with suppress(CrucibleError):
                found += touched_files(vault.read(path).session)
    return [*found, *touched_files(session)]


def _place(touched: Iterable[str], folder: Path, line: Callable[..., str]) -> _Place:
    repository = read_repository(folder)
    here = Path(os.path.realpath(folder))
    root = repository.root if repository else here
    paths = _inner_paths(touched, here, root)
    # After redaction, a path with a secret would name a different file.
    kept = [path for path in paths[-MOST_FILES:] if line(path, len(path)) == path]
    files = {path: digest_of(root / path) for path in kept}
    branch, head = (repository.branch, repository.head) if repository else ("", "")
    return _Place(line(branch), head, files, len(paths) - len(files))


def _inner_paths(paths: Iterable[str], here: Path, root: Path) -> list[str]:
    """Return the paths of files below `root`, relative to it, newest last."""
    found: dict[str, None] = {}
    # Paths in a call are relative to the working directory or, in patches, to the root of the repository.
    bases = tuple(dict.fromkeys((str(here), str(root))))
    top = os.path.join(root, "")
    for path in paths:
        if _ELSEWHERE.match(path) or "\0" in path:
            continue
        given = next(filter(os.path.lexists, joined := [os.path.join(base, path) for base in bases]), joined[0])
        inner = _inner_path(os.path.realpath(given), top)
        if inner:
            found.pop(inner, None)
            found[inner] = None
    return list(found)


def _inner_path(real: str, top: str) -> str:
    """Return the path relative to `top`; "" for a folder, a file outside the project, or git's own files."""
    if not real.startswith(top) or os.path.isdir(real):
        return ""
    inner = real[len(top) :].replace(os.sep, "/")
    return inner if is_inner_path(inner) and not _NOT_OURS & {*inner.split("/")} else ""


# --- text -------------------------------------------------------------------------------------------------------------


def _once(redact: Redact, text: str) -> str:
    try:
        return normal(redact(text)[0])
    except Exception as error:
        raise unscanned(error) from error


def _block(redact: Redact, text: str) -> str:
    """Redact text, then scan it again without control characters, which may have split a secret."""
    plain = _once(redact, text)
    return plain if plain == text else _once(redact, plain)


def _line(redact: Redact, text: str, limit: int = _LONGEST_NAME) -> str:
    """Return text as one line without secrets; line breaks become `⏎`."""
    block = _block(redact, text) if text else ""
    return cut(normal_line(_LINE_END.sub("⏎", block.strip(" \t\n"))), limit)


_OF_SEVERAL = frozenset({"apply_patch"})
"""Tools whose call lists the files of a patch, separated by commas."""

_NOT_DONE = frozenset({Outcome.FAILED, Outcome.REJECTED})

_CUT = "…"
_UNCERTAIN = ("⏎", "[REDACTED:", "\ufffd", "\0")
"""Replacements for line breaks, secrets and bytes: a name with one of these differs from the file's name."""


def touched_files(session: Session) -> tuple[str, ...]:
    """Return the touched files in the order of their last change; paths are absolute or relative to the agent's folder.

    Includes calls of inline subagents, but not failed or rejected calls.  Paths that are shortened or altered in the
    note are skipped: they may name other files.
    """
    found: dict[str, None] = {}
    for call in _calls(session.all_entries()):
        for path in _paths(call):
            found.pop(path, None)
            found[path] = None
    return tuple(found)


def _calls(entries: Iterable[Entry]) -> Iterator[ToolCall]:
    for entry in entries:
        if isinstance(entry, ToolCalls):
            yield from entry.calls
        elif isinstance(entry, Subagent):
            yield from _calls(entry.entries)


def _paths(call: ToolCall) -> list[str]:
    # Late: `cru record` starts faster without the clients' modules.
    from crucible.clients.registry import FILE_TOOLS  # noqa: PLC0415

    tool, _, rest = call.call.partition(" ")
    if tool not in FILE_TOOLS or call.outcome in _NOT_DONE:
        return []
    parts = rest.split(", ") if tool in _OF_SEVERAL else [rest]
    return [path for path in parts if _is_certain(path)]


def _is_certain(path: str) -> bool:
    """Return whether text is a complete path.  For a tool without a path, it is JSON or the first line of a patch."""
    if not path.strip() or path.endswith(_CUT) or any(mark in path for mark in _UNCERTAIN):
        return False
    return not path.startswith(('{"', "*** "))
