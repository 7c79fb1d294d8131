"""The workflow notes in a vault: list, find and read them.

A workflow is a note with `type: workflow`, or a note in `workflows/` without a type, unless it was written for the Rust
version of Crucible.  A file given by path is read as a workflow even outside a vault, unless it is a session.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crucible.core import files
from crucible.core.errors import CrucibleError, NoteUnreadable, UsageError, WorkflowNotFound, first_of, no_match
from crucible.core.files import Stamp
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.session.session_id import slugify
from crucible.documents.workflow.workflow import Workflow
from crucible.documents.workflow.workflow_reader import WORKFLOW, kind_of, read_workflow
from crucible.vault.notes.note_heads import is_for_rust, read_head
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import WORKFLOWS, OnError, find_notes, is_markdown, note_name

_SESSION = late_pattern(rb"^type: session\r?$", re.MULTILINE)
_FOREIGN = "workflow of the Rust Crucible"


@dataclass(frozen=True, slots=True)
class WorkflowNote:
    """A workflow's file as it was read.  `shown` is its path for messages, relative to the vault if it is inside."""

    path: Path
    shown: str
    source: Source
    stamp: Stamp
    workflow: Workflow

    @property
    def name(self) -> str:
        """The file's name without `.md`."""
        return note_name(self.path.name)


def workflow_paths(vault: Vault, on_error: OnError | None = None) -> list[Path]:
    """List all workflow notes, sorted.  Only the properties of other notes are read.

    A note that cannot be read counts as a workflow only in `workflows/`, where that is the default type.
    """
    return sorted(_notes(vault, {WORKFLOW}, on_error), key=str)


def _notes(vault: Vault, kinds: Collection[str], on_error: OnError | None = None) -> Iterator[Path]:
    """Yield the notes with these types, in walking order.  A note in `workflows/` without a type is a workflow."""
    home = vault.root / WORKFLOWS
    for folder, names in find_notes(vault.root, vault.root, on_error):
        default = WORKFLOW if folder == home or home in folder.parents else ""
        base = str(folder)
        yield from (folder / name for name in names if _kind_at(os.path.join(base, name), default) in kinds)


def read_workflow_note(vault: Vault | None, path: Path) -> WorkflowNote:
    """Read the workflow at a path from `find_workflow` or `workflow_paths`.

    Raises `OutsideVault` if a link points outside the vault, and `NoteUnreadable` if the file cannot be read.
    """
    within = vault is not None and path.is_relative_to(vault.root)
    real = files.inside(vault.root, path) if vault and within else path
    data, stamp = files.read_bytes(real)
    source = Source.from_bytes(data)
    shown = vault.relative(path) if vault and within else str(path)
    return WorkflowNote(path, shown, source, stamp, workflow_in(source, path))


def workflow_in(source: Source, path: Path) -> Workflow:
    """Return the workflow in the text of the note at a path.  Raises `NoteUnreadable` if parsing fails."""
    try:
        return read_workflow(source, note_name(path.name))
    except MemoryError:
        raise
    except Exception as error:  # a bug with one note must not break an entire list
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise NoteUnreadable(f"{path}: cannot be parsed ({what})", "this is a bug in cru") from error


def find_workflow(vault: Vault | None, ref: str, cwd: Path | None = None) -> Path:
    """Find a workflow by path (from `cwd` or the vault), name, slug of the title, or unique prefix.

    A bare name is first tried as the name of a workflow in the vault; a name with `.md` or a folder is first tried as a
    path.  Without a vault, only paths work.  Raises `WorkflowNotFound`; `UsageError` if several match, or for a session
    or a workflow for the Rust version; `NoteUnreadable` for a folder; and `OutsideVault` for a path in the vault that
    leads out of it.
    """
    if not ref or "\0" in ref:
        raise UsageError(f"{ref!r} does not name a workflow", 'Run "cru workflow list" to see names.')
    by_path = partial(_by_path, vault, ref, cwd)
    ways: list[Callable[[], Path | None]] = [by_path]
    if vault is not None and "/" not in ref and os.sep not in ref:
        by_name = partial(_by_name, vault, ref)
        ways = [by_path, by_name] if is_markdown(ref) else [by_name, by_path]
    for way in ways:
        if found := way():
            return found
    if any(os.path.isdir(base / ref) for base in _bases(vault, cwd)):
        raise NoteUnreadable(f"{ref}: is a folder, not a workflow", "name a note in it")
    raise WorkflowNotFound(*_no_match(vault, ref))


def _kind_at(path: str, default: str) -> str:
    """Return the note's type, from its properties; `default` if it has no type or cannot be read."""
    try:
        return _type_of(path) or default
    except OSError:
        return default


def _type_of(path: str) -> str:
    """Return the property `type` in lower case: "" for none, `_FOREIGN` for a workflow for the Rust version.

    Raises `OSError` for anything but a regular file.
    """
    top = read_head(path)
    if is_for_rust(top):
        return _FOREIGN
    # Parsing takes as long as a hundred of these checks, and nearly all notes are sessions.
    if _SESSION.search(top) and b"workflow" not in top:
        return "session"
    if b"type" not in top:
        return ""
    return kind_of(find_frontmatter(Source.from_bytes(top)).values.get("type"))


def _bases(vault: Vault | None, cwd: Path | None) -> Iterable[Path]:
    """Return the folders from which a relative path may start.  An absolute path ignores them."""
    known = (cwd, vault.root, vault.root / WORKFLOWS) if vault else (cwd,)
    return dict.fromkeys(base for base in known if base is not None)


def _by_path(vault: Vault | None, ref: str, cwd: Path | None) -> Path | None:
    names = [ref] if is_markdown(ref) else [ref, f"{ref}.md"]
    for base in _bases(vault, cwd):
        for path in (base / name for name in names):
            # Anything but a folder, even a broken symlink: reading it reports what is wrong.
            if os.path.lexists(path) and not os.path.isdir(path):
                return _own(vault, Path(os.path.normpath(path)), from_vault=base != cwd)
    return None


def _own(vault: Vault | None, path: Path, *, from_vault: bool) -> Path:
    """Return the note's path from the vault's root if it is inside.  Refuses sessions and hidden files."""
    folder = Path(os.path.realpath(path.parent))
    if vault is not None and (from_vault or any(one.is_relative_to(vault.root) for one in (path, folder))):
        files.inside(vault.root, path)
        path = files.inside(vault.root, path.parent) / path.name
        if any(part.startswith(".") for part in path.relative_to(vault.root).parts):
            raise UsageError(f"{vault.relative(path)}: hidden, so not a workflow", "Obsidian hides it too")
    try:
        kind = _type_of(str(path))
    except OSError:
        return path  # reading it reports what is wrong
    if kind == "session":
        raise _session(path.name, note_name(path.name))
    if kind == _FOREIGN:
        raise _foreign(path.name)
    return path


def _session(named: str, session_id: str) -> UsageError:
    return UsageError(
        f"{named}: a session, not a workflow", f'run "cru session codify {session_id}" to turn it into a workflow'
    )


def _foreign(named: str) -> UsageError:
    return UsageError(
        f"{named}: written for the Rust Crucible",
        '"cru session codify" without --dialect writes one that can be read here',
    )


def _by_name(vault: Vault, ref: str) -> Path | None:
    """Find a workflow by file name, by the slug of its title, or by a prefix of its name, in this order."""
    key = _key(note_name(ref))
    paths = workflow_paths(vault)
    names = {path: _key(note_name(path.name)) for path in paths}
    found = [path for path in paths if names[path] == key]
    found = found or [path for path, slug in _slugs(vault, paths) if slug == key]
    found = found or [path for path in paths if names[path].startswith(key)]
    if len(found) > 1:
        shown = first_of([vault.relative(path) for path in found])
        raise UsageError(f"{ref!r} matches {len(found)} workflows", f"one of: {shown}")
    if not found and any(_key(note_name(path.name)) == key for path in vault.session_paths()):
        raise _session(ref, note_name(ref))
    if not found and any(_key(note_name(path.name)).startswith(key) for path in _notes(vault, {_FOREIGN})):
        raise _foreign(ref)
    return found[0] if found else None


def _slugs(vault: Vault, paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each readable workflow that has a title, with the slug of that title."""
    for path in paths:
        try:
            title = read_workflow_note(vault, path).workflow.title
        except CrucibleError:
            continue
        if title:
            yield path, slugify(title)


def _key(name: str) -> str:
    """Normalise a name for comparison: one Unicode form, ignoring case."""
    return unicodedata.normalize("NFC", name).casefold()


def _no_match(vault: Vault | None, ref: str) -> tuple[str, str]:
    names = [note_name(path.name) for path in workflow_paths(vault)] if vault else ()
    message, hint = no_match("workflow", ref, "cru workflow list", names)
    return message, hint if vault else "Name a file by its path, or a vault with --vault."
