"""Save a codified workflow, and let the user edit its draft first.

Without `force`, files that the user edited or a run added rows to are not replaced: the property `codified` holds a
digest of the rest. No text is lost if editing or saving fails.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple, Protocol

from crucible.core import files
from crucible.core.errors import (
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    UsageError,
    VaultError,
)
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import refuse_secret
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import parse_linktext
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import Diagnostic, key_of
from crucible.documents.workflow.workflow_check import check_workflow, has_errors
from crucible.documents.workflow.workflow_markup import phase_name
from crucible.documents.workflow.workflow_reader import kind_of, read_workflow
from crucible.vault.notes.note_folder import create_note, is_stamped, replacement
from crucible.vault.notes.note_folder import stamped as with_stamp
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import WORKFLOWS, note_name

_KEY, _SESSIONS = "codified", "sessions"
_NUMBERED = r"-([2-9]|[1-9]\d{1,8})"


class SavedWorkflow(NamedTuple):
    """The path of a workflow; `changed` is True if the file was written."""

    path: Path
    changed: bool


def stamped(text: str) -> str:
    """Add `codified` to a workflow's frontmatter, to detect later edits."""
    return with_stamp(text, _KEY, (_SESSIONS,))


def is_untouched(source: Source) -> bool:
    """True if a note is unchanged since it was written, ignoring line endings, which git may change."""
    return is_stamped(source, _KEY, (_SESSIONS,))


def sessions_of(source: Source) -> frozenset[str]:
    """Return the ids of the sessions that a note was codified from; none for any other file."""
    values = find_frontmatter(source).values
    if kind_of(values.get("type")) == "session":
        return frozenset()
    links = values.get(_SESSIONS)
    return frozenset(_ids(links if isinstance(links, list) else [links]))


def save_workflow(vault: Vault, text: str, slug: str, *, force: bool = False) -> SavedWorkflow:
    """Write a stamped note to `workflows/<slug>.md`, or to `<slug>-2.md` and so on if another workflow has that name.

    A note from the same sessions is replaced if it is unchanged, or with `force`; otherwise raises `NoteChanged`.
    """
    # Choose and take a name under one lock; saving locks the note itself.
    with vault.locked(vault.root / WORKFLOWS / slug):
        folder = files.make_folders(vault.root, vault.root / WORKFLOWS)
        sessions = sessions_of(Source(text))
        for note in _notes(vault, folder, slug):
            if sessions and sessions_of(note.source) == sessions:
                return _replace(vault, note, text, sessions, force=force)
        path = _free(folder, slug)
        create_note(vault, path, _bytes_of(text, path))
    return SavedWorkflow(path, changed=True)


def save_workflow_as(vault: Vault, path: Path, text: str, *, force: bool = False) -> SavedWorkflow:
    """Write text to a file named by the user, inside or outside the vault; symlinks are followed.

    An existing file is replaced if it is empty or an unchanged note from the same sessions, or with `force`; otherwise
    raises `NoteExists` or `NoteChanged`. A session's note is never replaced.
    """
    refuse_secret(path.stem, vault.settings.secrets)
    real = Path(os.path.realpath(path))
    _check_place(path, real)
    data = _bytes_of(text, path)
    with _turn(vault, real):
        old = files.read_bytes(real)[0] if os.path.lexists(real) else None
        if old == data:
            return SavedWorkflow(path, changed=False)
        if old is None:
            files.create_exclusive(real, data, fsync=vault.settings.fsync)
        else:
            _check_own(path, Source.from_bytes(old), sessions_of(Source(text)), "choose another FILE", force=force)
            was = old
            if real.is_relative_to(vault.root):  # its lock is held, so leftover temporary files are stale
                files.remove_leftovers(real)
            files.write_atomic(
                real,
                data,
                fsync=vault.settings.fsync,
                before_replace=lambda: _check_same(real, was),
                expected=was,
            )
    if real.is_relative_to(vault.root):
        vault.touched.add(real)
    return SavedWorkflow(path, changed=True)


# --- links to sessions -----------------------------------------------------------------------------------------------


def _ids(links: list[Value]) -> Iterator[str]:
    for item in links:
        found = _LINK.fullmatch(item.strip()) if isinstance(item, str) else None
        if found and (name := note_name(parse_linktext(found[1]).target.rpartition("/")[2])):
            yield name


_LINK = late_pattern(r"\[\[(.+)\]\]", re.DOTALL)

# --- in the vault's own folder ---------------------------------------------------------------------------------------


def _notes(vault: Vault, folder: Path, slug: str) -> Iterator[Note]:
    """Yield the readable notes named after the slug, with or without a number, in order."""
    called = re.compile(rf"{re.escape(slug)}(?:{_NUMBERED})?\.md")
    try:
        found = [match for name in os.listdir(folder) if (match := called.fullmatch(name))]
    except OSError as error:
        raise VaultError(f"{folder}: cannot be read") from error
    for match in sorted(found, key=lambda match: int(match[1] or 1)):
        try:
            yield vault.read(folder / match[0])
        except OutsideVault as error:
            hint = "remove the link, or choose another file with -o"
            raise OutsideVault(str(error), hint) from error
        except NoteUnreadable:
            continue


def _free(folder: Path, slug: str) -> Path:
    number = 1
    while os.path.lexists(path := folder / (f"{slug}.md" if number == 1 else f"{slug}-{number}.md")):
        number += 1
    return path


def _replace(vault: Vault, note: Note, text: str, sessions: frozenset[str], *, force: bool) -> SavedWorkflow:
    if note.source.text == text:
        return SavedWorkflow(note.path, changed=False)
    _check_own(note.path, note.source, sessions, "choose another file with -o FILE", force=force)
    vault.save(note, replacement(note.source, text))
    return SavedWorkflow(note.path, changed=True)


# --- what may be replaced --------------------------------------------------------------------------------------------


def _check_own(path: Path, there: Source, sessions: frozenset[str], other: str, *, force: bool) -> None:
    if kind_of(find_frontmatter(there).values.get("type")) == "session":
        raise NoteExists(f"{path}: a session's note, which is never overwritten", other)
    if force or not there.text.strip():
        return
    if not (sessions and sessions_of(there) == sessions):
        raise NoteExists(
            f"{path}: already exists and was not made from these sessions",
            f"overwrite it with --force, or {other}",
        )
    if not is_untouched(there):
        raise NoteChanged(
            f"{path}: changed since it was codified (by hand or by a run)",
            f"--force overwrites it and discards the changes; or {other}",
        )


def _check_same(path: Path, data: bytes) -> None:
    if not files.holds(path, data):
        raise NoteChanged(f"{path}: changed on disk since it was read", "review it, then try again")


def _check_place(path: Path, real: Path) -> None:
    if not path.name or real.is_dir():
        raise UsageError(f"{path}: a folder", "choose a file in it")
    if not real.parent.is_dir():
        raise UsageError(f"{path}: the folder {real.parent} does not exist", "create it first")


def _turn(vault: Vault, real: Path) -> AbstractContextManager[object]:
    """Return the lock for a note in the vault; other files are only compared before they are replaced."""
    return vault.locked(real) if real.is_relative_to(vault.root) else nullcontext()


def _bytes_of(text: str, path: Path) -> bytes:
    data = Source(text).to_bytes()
    if len(data) > files.LARGEST_NOTE:
        mega = 1024 * 1024
        raise VaultError(
            f"{path}: it would be {len(data) / mega:.0f} MB; notes can have at most {files.LARGEST_NOTE // mega} MB",
            "nothing was written; codify fewer sessions at once",
        )
    return data


_FOLDER = Path(".crucible", "cache", "drafts")
_MOST = 50
"""Maximum problems listed at the top of a draft."""


class Choice(Enum):
    """What to do with a draft after editing."""

    EDIT = auto()
    SAVE = auto()
    QUIT = auto()


class DraftEditor(Protocol):
    """The user and their editor."""

    def edit(self, path: Path) -> str:
        """Edit the file; returns the editor's failure, "" if there was none."""
        ...

    def tell(self, line: str) -> None:
        """Show a line, which may contain untrusted text."""
        ...

    def choose(self, problems: Sequence[Diagnostic], *, sure: bool) -> Choice:
        """Ask what to do next; `sure` asks again before saving errors."""
        ...


def place_draft(vault: Vault, slug: str, text: str) -> Path:
    """Create a draft file; an older draft is kept."""
    folder = files.make_folders(vault.root, vault.root / _FOLDER)
    for number in itertools.count(1):
        path = folder / (f"{slug}.md" if number == 1 else f"{slug}-{number}.md")
        try:
            files.create_exclusive(path, Source(text).to_bytes(), fsync=vault.settings.fsync)
        except NoteExists:
            continue
        return path
    raise AssertionError("never reached")


def edit_draft(path: Path, text: str, editor: DraftEditor) -> str | None:
    """Return the text to save, or None to quit. In both cases the draft file contains the last text."""
    choice, drafted = Choice.EDIT, text
    problems = problems_of(text)
    while choice is Choice.EDIT:
        text = _followed(_edited(path, text, problems, editor), drafted)
        problems = problems_of(text)
        for problem in problems:
            editor.tell(_line(problem, 0))
        choice = editor.choose(problems, sure=False)
        if choice is Choice.SAVE and has_errors(problems):
            choice = editor.choose(problems, sure=True)
    return text if choice is Choice.SAVE else None


def _followed(text: str, drafted: str) -> str:
    """Rename marker rows and targets after their steps. A row under a changed heading gets the step's new name."""
    old = {step.key: step.name for step in read_workflow(Source(drafted), "").walk()}
    steps = list(read_workflow(Source(text), "").walk())
    keys = {step.key for step in steps}
    renamed: dict[str, str] = {}
    for step in steps:
        for key in {key_of(row.phase) for row in step.markers} & (old.keys() - keys):
            renamed[key] = step.name
    lines = text.split("\n")
    for at, line in enumerate(lines):
        row, way = _ROW.match(line), _WAY.match(line)
        if row and (name := renamed.get(key_of(row[2]))):
            lines[at] = f"{row[1]}{phase_name(name)}{line[row.end(2) :]}"
        elif way and (name := renamed.get(key_of(way[2]))):
            lines[at] = f"{way[1]}{name}"
    return "\n".join(lines)


_ROW = late_pattern(r"([ \t]{1,8})(\w{1,200})(?=,)")
_WAY = late_pattern(r"(.*(?:→|->)[ \t]*proceed to )(\S.*?)[ \t]*\Z")


def problems_of(text: str) -> tuple[Diagnostic, ...]:
    """Return the problems in a workflow, sorted by position."""
    workflow = read_workflow(Source(text), "")
    return check_workflow(workflow, build_graph(workflow))


def _edited(path: Path, text: str, problems: Sequence[Diagnostic], editor: DraftEditor) -> str:
    """Return the edited text, or the previous one if the file is empty."""
    files.write_atomic(path, Source(with_problems(text, problems)).to_bytes(), fsync=False)
    if failed := editor.edit(path):
        editor.tell(failed)
    try:
        source = Source.from_bytes(files.read_bytes(path)[0])
    except NoteUnreadable as error:
        editor.tell(f"{error}; the workflow was restored")
        source = Source("")
    found = without_problems(source.text)
    if found.strip():
        if found != source.text:
            files.write_atomic(path, Source(found).to_bytes(), fsync=False)
        return found
    editor.tell("the edited file is empty; the workflow was restored")
    files.write_atomic(path, Source(text).to_bytes(), fsync=False)
    return text


# --- comments --------------------------------------------------------------------------------------------------------

_TOLD = late_pattern(r"\A(?:%% \d+:\d+: [^\r\n]*%%[ \t]*(?:\r\n?|\n))+(?:[ \t]*(?:\r\n?|\n))?")
_NOT_IN_A_COMMENT = late_pattern(r"\s+|%(?=%)|[\x00-\x1f\x7f-\x9f]")


def with_problems(text: str, problems: Sequence[Diagnostic]) -> str:
    """Put a comment for each problem above the text: `%% line:col: message %%`. Line numbers include the comments."""
    shown = problems[:_MOST]
    if not shown:
        return text
    lines = [f"%% {_line(one, len(shown) + 1)} %%" for one in shown]
    return "\n".join([*lines, "", text])


def without_problems(text: str) -> str:
    """Remove the comments added by `with_problems`."""
    return _TOLD.sub("", text, count=1)


def _line(one: Diagnostic, more: int) -> str:
    message = _NOT_IN_A_COMMENT.sub(lambda found: "% " if found[0] == "%" else " ", one.message)
    return f"{max(1, one.place.line) + more}:{max(1, one.place.column)}: {one.severity}: {message}"
