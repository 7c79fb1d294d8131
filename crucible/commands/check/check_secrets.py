"""Find secrets in the vault, or in what the next commit adds to it. Changes nothing and prints no secrets.

Notes are scanned as a unit, records line by line with their JSON values decoded. For commits, only added lines count.
Codes reported: `secret` (the message is the rule), `secret-in-name`, `unreadable`.
"""

from __future__ import annotations

import codecs
import os
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

import orjson

from crucible.clients.redact import redact_value
from crucible.core import files
from crucible.core.errors import CrucibleError, NoteUnreadable, SecretsError, VaultError, reason_of
from crucible.core.secrets import Scanner
from crucible.vault.events.event_archive import archived_lines, archived_meta
from crucible.vault.events.event_files import OWN_FIELDS, archive_path, flight_folder
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

Progress: TypeAlias = "Callable[[int, int], None]"
"""Called with the number of files scanned, and their total."""

_ARCHIVED = ".jsonl.zst"
_DERIVED = {"cache", "index"}
"""Folders in `.crucible` that are rebuilt from the notes and never committed."""
_OURS = OWN_FIELDS | {"call", "message", "subagent", "session", "event", "transcript", "said", "id"}
"""Fields of our records that hold ids, hashes and positions. Their names do not mark secrets: a record's `key`, for
example, is a hash."""
_OF_OURS = re.compile(r"\.crucible/(?:flight|spool|archive)/")
"""Matches files with our records; in other JSON lines, every field name counts."""


class Found(NamedTuple):
    """A secret, or something that could not be read. `path` is relative to the vault's root; `line` counts from 1."""

    path: str
    line: int
    code: str
    message: str


def check_secrets(
    vault: Vault, notes: Sequence[Path] = (), progress: Progress = lambda _done, _total: None
) -> list[Found]:
    """Return the secrets in these notes and their event logs, or in the entire vault, sorted by path and line.

    The entire vault means every note and the files in `.crucible`: settings, templates, memory, tasks, event logs,
    archives and the spool. Raises `SecretsError` if the scanner cannot run.
    """
    scanner = Scanner(vault.settings.secrets)
    found: list[Found] = []

    def unreadable(error: CrucibleError) -> None:
        found.append(Found(vault.settings.sessions, 1, "unreadable", scanner.redact(str(error))[0]))

    paths = _of_notes(vault, notes) if notes else [*vault.note_paths(unreadable), *_kept_beside(vault)]
    for done, path in enumerate(paths):
        progress(done, len(paths))
        found += _found_in_file(scanner, vault, path)
    progress(len(paths), len(paths))
    return sorted(set(found))


def found_in_text(scanner: Scanner, path: str, text: str, first: int = 1) -> Iterator[tuple[Found, int]]:
    """Yield each secret with the line where it ends; the text begins at line `first`."""
    begin, counted = first, 0
    for start, part in _parts(text):
        for secret in scanner.find(part):
            begin += text.count("\n", counted, start + secret.start)
            counted = start + secret.start
            last = begin + part.count("\n", secret.start, secret.end)
            yield Found(path, begin, "secret", secret.rule), last


_SESSION = re.compile(r"---\r?\ntype: session\r?\n")
_JOINT = re.compile(r"^\#{1,6} .*$|^- `.*?` → ", re.MULTILINE)
"""Matches headings and tool calls in a session note; what follows them comes from another event."""


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each part to scan.

    A session note is split into its events, as the import scanned them; any other file is one part.
    """
    at = 0
    if _SESSION.match(text):
        for joint in _JOINT.finditer(text):
            if joint[0].startswith("#"):
                yield at, text[at : joint.start()]
                yield joint.span()[0], joint[0]
            else:
                yield at, text[at : joint.end()]
            at = joint.end()
    yield at, text[at:]


def found_in_lines(scanner: Scanner, path: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[Found]:
    """Yield each secret in numbered lines of JSON. A line that is not JSON is scanned as text."""
    ours = _OURS if _OF_OURS.match(path) else frozenset[str]()
    for number, line in lines:
        rules = _rules_in(scanner, line, ours)
        if rules is None:
            yield from (secret for secret, _ in found_in_text(scanner, path, decoded(line), number))
        else:
            yield from (Found(path, number, "secret", rule) for rule in rules)


def _rules_in(scanner: Scanner, line: bytes, ours: Collection[str]) -> list[str] | None:
    """Return the rules that match in a record, None if the record cannot be parsed."""
    try:
        record = orjson.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    named = {name: value for name, value in record.items() if name not in ours}
    _, counts = redact_value(scanner, [named, *(record[name] for name in record if name in ours)])
    # Deeply nested values are scanned without their field names, so the line must be scanned as text.
    return None if "too-deep" in counts else list(counts)


def found_in_name(scanner: Scanner, name: str, path: str) -> Iterator[Found]:
    """Yield each secret in a file's name; `path` is the redacted name."""
    yield from (Found(path, 1, "secret-in-name", secret.rule) for secret in scanner.find(name))


def decoded(data: bytes) -> str:
    """Decode UTF-8 or UTF-16. Invalid bytes become U+FFFD, which no secret contains."""
    return data.decode("utf-16" if is_wide(data) else "utf-8", errors="replace")


def is_wide(data: bytes) -> bool:
    """True if the data is UTF-16, as written by Windows PowerShell."""
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _of_notes(vault: Vault, notes: Iterable[Path]) -> list[Path]:
    """Return these notes, and the files of their event logs and archives."""
    paths = list[Path]()
    for note in dict.fromkeys(notes):
        paths.append(note)
        session_id = note_name(note.name)
        paths += _files_below(flight_folder(vault.root, session_id))
        archive = archive_path(vault.root, session_id)
        paths += [archive] if archive.is_file() else []
    return paths


def _kept_beside(vault: Vault) -> list[Path]:
    """Return every file in `.crucible` that is not derived from other files."""
    folder = vault.root / ".crucible"
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise VaultError(f"{folder}: {reason_of(error)}") from error
    plain = [path for path in entries if not path.is_dir()]
    folders = [path for path in entries if path.is_dir() and path.name not in _DERIVED]
    return plain + [path for inner in folders for path in _files_below(inner)]


def _files_below(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted.

    Symlinks to folders are not followed: their targets are listed anyway or are outside the vault.
    """
    return sorted(Path(where) / name for where, _, names in os.walk(folder) for name in names)


def _found_in_file(scanner: Scanner, vault: Vault, path: Path) -> list[Found]:
    name = vault.relative(path)
    shown, _ = scanner.redact(name)
    found = list(found_in_name(scanner, name, shown))
    try:
        found += _found_inside(scanner, vault, path, shown)
    except CrucibleError as error:
        found.append(Found(shown, 1, "unreadable", scanner.redact(str(error))[0]))
    return found


def _found_inside(scanner: Scanner, vault: Vault, path: Path, shown: str) -> Iterator[Found]:
    if path.name.endswith(_ARCHIVED):
        head = orjson.dumps(archived_meta(vault.root, path.name.removesuffix(_ARCHIVED)))
        lines = ((line.at, line.data) for line in archived_lines(files.inside(vault.root, path)))
        yield from found_in_lines(scanner, shown, chain([(1, head)], lines))
    elif path.suffix == ".jsonl":
        yield from found_in_lines(scanner, shown, _lines_of(files.inside(vault.root, path)))
    else:
        text = decoded(files.read_bytes(files.inside(vault.root, path))[0])
        yield from (secret for secret, _ in found_in_text(scanner, shown, text))


def _lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from enumerate(file, 1)
    except OSError as error:
        raise NoteUnreadable(f"{path}: {reason_of(error)}") from error


# --- what the next commit adds ---------------------------------------------------------------------------------------

_DIFF = (
    "diff",
    "--cached",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "--no-relative",
    "--ignore-submodules=none",
)
"""A diff command that is independent of the user's git settings."""

_LINK_TO_COMMIT = b"160000"
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HINT = 'nothing was committed; "git commit --no-verify" skips this check'


class _Staged(NamedTuple):
    """A staged file: its path from the repository's top level, the id of its blob, and git's status letter."""

    path: bytes
    blob: bytes
    status: str


def check_staged(vault: Vault, here: Path) -> list[Found]:
    """Return the secrets in lines that the next commit adds to the vault's files.

    Git runs in `here`, since a git hook's environment has paths relative to that folder.
    """
    scanner = Scanner(vault.settings.secrets)
    git = _Git(here)
    top = Path(os.path.realpath(os.fsdecode(git("rev-parse", "--show-toplevel").removesuffix(b"\n"))))
    try:
        prefix = vault.root.relative_to(top).as_posix()
    except ValueError:
        raise SecretsError(f"{vault.root}: not in the git repository at {top}", _HINT) from None
    within = f":(top,literal){prefix}" if prefix != "." else ":(top)"
    staged = list(_staged(git(*_DIFF, "--raw", "-z", "--no-abbrev", "--diff-filter=AMT", "--", within)))
    changed = _added_lines(git(*_DIFF, "-U0", "--inter-hunk-context=0", "-a", "--diff-filter=M", "--", within))
    added = dict(zip((s.path for s in staged if s.status == "M"), changed, strict=False))
    if len(added) != len(changed) or len(added) != sum(s.status == "M" for s in staged):
        raise SecretsError("git's list of changes does not match its diff", _HINT)
    found: list[Found] = []
    for one, data in zip(staged, git.contents([one.blob for one in staged]), strict=True):
        found += _found_in_staged(scanner, one, data, added.get(one.path), prefix)
    return sorted(set(found))


def _found_in_staged(
    scanner: Scanner, staged: _Staged, data: bytes, added: Collection[int] | None, prefix: str
) -> Iterator[Found]:
    """Yield each secret in added lines; `added` has their numbers, None for all lines."""
    if is_wide(data):  # git counts its lines differently
        added = None
    name = os.fsdecode(staged.path)
    name = name if prefix == "." else name.removeprefix(f"{prefix}/")
    shown, _ = scanner.redact(name)
    if staged.status == "A":
        yield from found_in_name(scanner, name, shown)
    for secret, last in _found_in_staged_text(scanner, shown, data):
        lines = range(secret.line, last + 1)
        first = next((line for line in lines if added is None or line in added), None)
        if first is not None:
            yield secret._replace(line=first)


def _found_in_staged_text(scanner: Scanner, shown: str, data: bytes) -> Iterator[tuple[Found, int]]:
    """Yield each secret in a file, with the line where it ends."""
    if shown.endswith(".jsonl"):
        yield from ((s, s.line) for s in found_in_lines(scanner, shown, enumerate(data.split(b"\n"), 1)))
    else:
        yield from found_in_text(scanner, shown, decoded(data))


def _staged(raw: bytes) -> Iterator[_Staged]:
    """Parse `git diff --raw -z`: `:old mode, new mode, old id, new id, status` and the path, each terminated by NUL."""
    parts = raw.split(b"\0")
    for head, path in zip(parts[::2], parts[1::2], strict=False):
        _, mode, _, blob, status = head.split(b" ")
        # A submodule change is a commit in another repository and adds no bytes to this one.
        yield _Staged(path, b"" if mode == _LINK_TO_COMMIT else blob, status.decode()[:1])


def _added_lines(diff: bytes) -> list[Collection[int]]:
    """Return the numbers of the added lines in each file, in the order of the diff, which must have no context lines.

    A hunk's header gives the number of lines that follow, so no line's text is mistaken for a header.
    """
    added: list[Collection[int]] = []
    inside: set[int] = set()
    left = 0
    for line in diff.split(b"\n"):
        if left:
            left -= not line.startswith(b"\\")  # "\ No newline at end of file" is not counted
        elif line.startswith(b"diff --git "):
            added.append(inside := set())
        elif hunk := _HUNK.match(line):
            removed, first, count = (int(group) if group else 1 for group in hunk.groups())
            inside.update(range(first, first + count))
            left = removed + count
    return added


class _Git:
    """Runs git in one folder, with this process's environment."""

    def __init__(self, here: Path) -> None:
        self._here = here

    def __call__(self, *args: str, given: bytes | None = None) -> bytes:
        command = ["git", "-c", "core.quotePath=false", *args]
        # Context lines set by the user would add old lines to the diff.
        env = {name: value for name, value in os.environ.items() if name != "GIT_DIFF_OPTS"}
        try:
            done = subprocess.run(command, cwd=self._here, input=given, capture_output=True, check=False, env=env)
        except OSError as error:
            raise SecretsError(f"git: {reason_of(error)}", _HINT) from error
        if done.returncode:
            message = done.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise SecretsError(f"git {args[0]}: {message or f'ended with {done.returncode}'}", _HINT)
        return done.stdout

    def contents(self, blobs: list[bytes]) -> Iterator[bytes]:
        """Yield the bytes of each blob, in order; b"" for a submodule."""
        named = [blob for blob in blobs if blob]
        output = self("cat-file", "--batch", given=b"".join(blob + b"\n" for blob in named)) if named else b""
        at = 0
        for blob in blobs:
            if not blob:
                yield b""
                continue
            head, _, _ = output[at : at + 200].partition(b"\n")
            if not head.startswith(blob + b" blob "):
                raise SecretsError(f"git cannot read the blob {blob.decode()}", _HINT)
            at += len(head) + 1
            size = int(head.rsplit(b" ", 1)[1])
            yield output[at : at + size]
            at += size + 1
