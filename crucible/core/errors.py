"""All errors, as a tree.  Faults in a user's note are not errors: they are `Problem`s of the note.

CrucibleError                  exit 1; `str()` is one clear line, `.hint` the next step
├── UsageError                 exit 2: the request is invalid
│   ├── BadSessionId           an id outside the allow-list
│   └── AmbiguousSession       a prefix with several candidates
├── SessionNotFound
├── WorkflowNotFound           no workflow of that name or path
├── VaultNotFound              no vault here or above, and no default
├── VaultError                 the vault cannot be used (not a folder, settings broken)
├── OutsideVault               a path that leads out of the vault
├── NoteChanged                the note changed on disk since it was read
├── NoteExists                 an exclusive create found a file
├── NoteUnreadable             permission, a folder where a file is expected, too large
├── IndexBroken                the index is not what its manifest says; it is rebuilt automatically
├── LockTimeout                another process holds the lock
├── SecretsError               the scan for secrets cannot run, so nothing was written
├── EditRefused                an edit that overlaps another, or would not have its intended effect
├── TranscriptError            a transcript that cannot be read at all
├── AgentFailed                an agent's program or a model gave no answer
└── ServerFailed               a team's server is down, slow or refuses
"""

from __future__ import annotations


class CrucibleError(Exception):
    """The base of all our errors.  `hint` says what to do next, or is ""."""

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
    """An id outside `[A-Za-z0-9._-]`, too long, empty, or hidden."""


class AmbiguousSession(UsageError):
    """A prefix that several sessions share; `candidates` holds their ids."""

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        super().__init__(
            f"{prefix!r} fits {len(candidates)} sessions",
            "one of: " + ", ".join(candidates[:10]) + (" …" if len(candidates) > 10 else ""),
        )
        self.candidates = candidates


class SessionNotFound(CrucibleError):
    """No session with that id, path or prefix."""


class WorkflowNotFound(CrucibleError):
    """No workflow with that name or path."""


class VaultNotFound(CrucibleError):
    """No vault in this folder or above, and no default vault."""


class VaultError(CrucibleError):
    """The vault cannot be used."""


class OutsideVault(CrucibleError):
    """A path that leads out of the vault, through an id, a link or a symlink."""


class NoteChanged(CrucibleError):
    """The note changed on disk since it was read."""


class NoteExists(CrucibleError):
    """The file to create exists already."""


class NoteUnreadable(CrucibleError):
    """The file cannot be read as a note: no permission, a folder, or too large."""


class IndexBroken(CrucibleError):
    """A file of the index is missing or is not what was written: it was replaced meanwhile, or is damaged."""


class LockTimeout(CrucibleError):
    """Another process holds the lock."""


class SecretsError(CrucibleError):
    """The scan for secrets cannot run, so nothing may be written."""


class EditRefused(CrucibleError):
    """Edits overlap, or would not have the intended effect when the note is read again."""


class TranscriptError(CrucibleError):
    """A transcript that cannot be read at all."""


class AgentFailed(CrucibleError):
    """An agent's program or a model gave no answer."""


class ServerFailed(CrucibleError):
    """A team's server is down, slow or refuses.  Messages contain neither passwords nor the server's own text.

    `state` is PostgreSQL's five-letter error code, or "" without an answer.
    """

    def __init__(self, message: str, hint: str = "", state: str = "") -> None:
        super().__init__(message, hint)
        self.state = state


def reason_of(error: OSError) -> str:
    """Return the system's message in lower case, to follow a colon."""
    return (error.strerror or str(error)).lower()
