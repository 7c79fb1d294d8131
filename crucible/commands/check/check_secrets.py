"""Secrets in what lies in the vault already, by file and line; changes nothing and never tells one.

Owns which files are looked at and how each is read: notes and other files whole, since a private key has many lines,
whole events, archives and the spool line by line, since they are long.  Their lines are our own JSON, so their values are looked
at as they were before they were written, and what only we put there (a record's key, say) is no value of a name.  File names are looked at too, and a name that holds a secret
is told without it.  What a secret looks like is `crucible.core.secrets`'; what is about to be committed is `staged`'s.

Codes made here: `secret` (the message is the rule), `secret-in-name`, `unreadable`.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

import orjson

from crucible.clients.redact import redact_value
from crucible.core import files
from crucible.core.errors import CrucibleError, NoteUnreadable, VaultError, reason_of
from crucible.core.secrets import Scanner
from crucible.vault.events.event_archive import archived_lines, archived_meta
from crucible.vault.events.event_files import OWN_FIELDS, archive_path, flight_folder
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

Progress: TypeAlias = "Callable[[int, int], None]"
"""How many files were looked at, and how many there are."""

_ARCHIVED = ".jsonl.zst"
_DERIVED = {"cache", "index"}
"""Folders in `.crucible` that are made of the notes anew, and never committed."""
_OURS = OWN_FIELDS | {"call", "message", "subagent", "session", "event", "transcript", "said", "id"}
"""Fields of our own records that hold ids, hashes and places.  Their names say nothing of what is in them: a record's
`key` is a hash, and looks like what stands under `key` elsewhere."""
_OF_OURS = re.compile(r"\.crucible/(?:flight|spool|archive)/")
"""Where records are ours; the values of what else is JSON lines all have the names that they have."""


class Found(NamedTuple):
    """A secret, or what could not be looked at.  `path` is seen from the vault, `line` counts from 1."""

    path: str
    line: int
    code: str
    message: str


def check_secrets(
    vault: Vault, notes: Sequence[Path] = (), progress: Progress = lambda _done, _total: None
) -> list[Found]:
    """Every secret of these notes and their whole events, or of the whole vault; by path, then by line.

    Of the vault that is every note, and what Crucible keeps beside them: settings, templates, memory, tasks, whole
    events, archives and the spool.  Raises `SecretsError` when secrets cannot be looked for.
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
    """Each secret, at the line where it begins, with the line where it ends; the text's first line is the `first`th."""
    for start, part in _parts(text):
        for secret in scanner.find(part):
            begin = first + text.count("\n", 0, start + secret.start)
            last = begin + part.count("\n", secret.start, secret.end)
            yield Found(path, begin, "secret", secret.rule), last


_SESSION = re.compile(r"---\r?\ntype: session\r?\n")
_JOINT = re.compile(r"^\#{1,6} .*$|^- `.*?` → ", re.MULTILINE)
"""Headings and calls of a session's note: `cru` put them beside what follows, which is an event of its own."""


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a session's note that were events, as an import looked at them; of another text the whole."""
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
    """Each secret in numbered lines of JSON; what is no JSON is looked at as the text that it is."""
    ours = _OURS if _OF_OURS.match(path) else frozenset[str]()
    for number, line in lines:
        rules = _rules_in(scanner, line, ours)
        if rules is None:
            yield from (secret for secret, _ in found_in_text(scanner, path, decoded(line), number))
        else:
            yield from (Found(path, number, "secret", rule) for rule in rules)


def _rules_in(scanner: Scanner, line: bytes, ours: Collection[str]) -> list[str] | None:
    """The rules that a record has secrets of; None for what cannot be taken apart."""
    try:
        record = orjson.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    named = {name: value for name, value in record.items() if name not in ours}
    _, counts = redact_value(scanner, [named, *(record[name] for name in record if name in ours)])
    # Under so many brackets values are looked at without their names.
    return None if "too-deep" in counts else list(counts)


def found_in_name(scanner: Scanner, name: str, path: str) -> Iterator[Found]:
    """What is secret in a file's name; `path` is the name as it may be told."""
    yield from (Found(path, 1, "secret-in-name", secret.rule) for secret in scanner.find(name))


def decoded(data: bytes) -> str:
    """As text; what is no UTF-8 shows as U+FFFD, which stands in no secret."""
    return data.decode("utf-16" if is_wide(data) else "utf-8", errors="replace")


def is_wide(data: bytes) -> bool:
    """It is UTF-16, as Windows' shell writes a file."""
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _of_notes(vault: Vault, notes: Iterable[Path]) -> list[Path]:
    """These notes, the folders of their whole events and their archives."""
    paths = list[Path]()
    for note in dict.fromkeys(notes):
        paths.append(note)
        session_id = note_name(note.name)
        paths += _files_below(flight_folder(vault.root, session_id))
        archive = archive_path(vault.root, session_id)
        paths += [archive] if archive.is_file() else []
    return paths


def _kept_beside(vault: Vault) -> list[Path]:
    """Every file in `.crucible` that is not derived from others."""
    folder = vault.root / ".crucible"
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise VaultError(f"{folder}: {reason_of(error)}") from error
    plain = [path for path in entries if not path.is_dir()]
    folders = [path for path in entries if path.is_dir() and path.name not in _DERIVED]
    return plain + [path for inner in folders for path in _files_below(inner)]


def _files_below(folder: Path) -> list[Path]:
    """Sorted; links to folders are not followed, since what they lead to is listed or is not the vault's."""
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
