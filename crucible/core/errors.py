"""The hierarchy of errors. Faults in a user's note are not errors; they are reported as `Problem`s of that note.

CrucibleError                  exit 1; `str()` is a one-line message, `.hint` the next step
├── UsageError                 exit 2: the request is invalid
│   ├── BadSessionId           an invalid session id
│   └── AmbiguousSession       a prefix that matches several sessions
├── UnknownId                  no item, case, task or event with this id
│   ├── SessionNotFound
│   └── WorkflowNotFound       no workflow with this name or path
├── VaultNotFound              no vault in this folder or above, and no default vault
├── VaultError                 the vault cannot be used (not a folder, broken settings)
├── OutsideVault               a path that points outside the vault
├── NoteChanged                the note changed on disk since it was read
├── NoteExists                 the file to create already exists
├── NoteUnreadable             no permission, a folder instead of a file, or too large
├── IndexBroken                the index does not match its manifest; it is rebuilt automatically
├── LockTimeout                another process holds the lock
├── SecretsError               the scan for secrets cannot run, so nothing was written
├── EditRefused                an edit that overlaps another, or would not have its intended effect
├── TranscriptError            a transcript that cannot be read at all
├── AgentFailed                an agent's program or a model gave no answer
├── ServerFailed               a team's server is down, slow, or rejects the request
└── ClusterFailed              a Dask cluster is down, unsafe, of another version, or lost its workers
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class CrucibleError(Exception):
    """The base of all Crucible errors.  `hint` says what to do next, or is ""."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            self.add_note(hint)  # shown in tracebacks of Python callers


class UsageError(CrucibleError):
    """The request is invalid."""

    exit_code = 2


class BadSessionId(UsageError):
    """A session id that is empty, too long or hidden, or has characters other than `[A-Za-z0-9._-]`."""


class AmbiguousSession(UsageError):
    """A prefix that several sessions share; `candidates` holds their ids."""

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        super().__init__(
            f"{prefix!r} matches {len(candidates)} sessions",
            f"one of: {first_of(candidates)}",
        )
        self.candidates = candidates


class UnknownId(CrucibleError):
    """Nothing has this id."""


class SessionNotFound(UnknownId):
    """No session with this id, path or prefix."""


class WorkflowNotFound(UnknownId):
    """No workflow with this name or path."""


class VaultNotFound(CrucibleError):
    """No vault in this folder or above, and no default vault."""


class VaultError(CrucibleError):
    """The vault cannot be used."""


class OutsideVault(CrucibleError):
    """A path that points outside the vault, through an id, a link or a symlink."""


class NoteChanged(CrucibleError):
    """The note changed on disk since it was read."""


class NoteExists(CrucibleError):
    """The file to create already exists."""


class NoteUnreadable(CrucibleError):
    """The file cannot be read as a note: no permission, a folder, or too large."""


class IndexBroken(CrucibleError):
    """A file of the index is missing, damaged, or was replaced while it was in use."""


class LockTimeout(CrucibleError):
    """Another process holds the lock."""


class SecretsError(CrucibleError):
    """The scan for secrets cannot run, so nothing may be written."""


class EditRefused(CrucibleError):
    """Edits overlap, or would not have their intended effect when the note is read again."""


class TranscriptError(CrucibleError):
    """A transcript that cannot be read at all."""


class AgentFailed(CrucibleError):
    """An agent's program or a model gave no answer."""


class ServerFailed(CrucibleError):
    """A team's server is down, slow, or rejects the request.

    Messages contain neither passwords nor text from the server.  `state` is PostgreSQL's five-character error code, or
    "" if the server did not answer.
    """

    def __init__(self, message: str, hint: str = "", state: str = "") -> None:
        super().__init__(message, hint)
        self.state = state


class ClusterFailed(CrucibleError):
    """A Dask cluster is down, unsafe, of another version, or lost its workers."""


def reason_of(error: OSError) -> str:
    """Return the system's error message in lower case, to follow a colon."""
    return (error.strerror or str(error)).lower()


_LONGEST_ID = 80
"""Maximum characters of an unknown id to repeat."""
_NEAR = 0.8
"""Minimum similarity of the ids that an error suggests."""


def first_of(names: Sequence[str], most: int = 10) -> str:
    """Return the first names of a list on one line, with `…` if there are more."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def no_match(noun: str, ref: str, command: str, known: Iterable[str] = ()) -> tuple[str, str]:
    """Return the message and the hint of an unknown id: the nearest `known` ids and the `command` that lists all."""
    import difflib  # noqa: PLC0415  rarely needed, and slows down startup

    shown = ref if len(ref) <= _LONGEST_ID else ref[:_LONGEST_ID] + "…"
    near = difflib.get_close_matches(ref, [*known], n=3, cutoff=_NEAR)
    nearest = f"Nearest: {', '.join(near)}. " if near else ""
    return f'no {noun} matches "{shown}"', f'{nearest}Run "{command}" to see ids.'
