"""What is kept with a task: one small YAML file a task, `{session}.{task}.yaml` in `.crucible/tasks/`, made once and then edited.

Owns the file: its name for whatever id a task has, its fields, and that a human's comments and keys that we do not know stay.  What
recall finds is asked by the caller, once; secrets were taken out before a text comes here.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crucible.core import files
from crucible.core.errors import NoteExists, NoteUnreadable, OutsideVault, VaultError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter, render_frontmatter, set_key
from crucible.documents.markdown.source import Problem, Source, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.session_id import check_session_id
from crucible.memory.tasks.annotations__fields import annotation_of, values_of
from crucible.memory.tasks.task import Annotation, Ref

__all__ = [
    "LARGEST",
    "Shelf",
    "annotate",
    "annotation_path",
    "change_annotation",
    "move_annotations",
    "read_annotation",
]

LARGEST = 1 << 20
"""Bytes.  A larger file is no annotation."""

# No dot, so that the last one of a name parts session and task; no capitals, which some file systems take for small letters.
_PLAIN = late_pattern(r"[a-z0-9_-]{1,64}\Z")
_FENCE = "---\n"
_OPENED = late_pattern(r"---[ \t]*[\r\n]")


class _File(NamedTuple):
    """An annotation's bytes; its text between two fences, as a note's properties stand; and the fence that was put above it."""

    data: bytes
    source: Source
    above: str


class Shelf(NamedTuple):
    """Where a vault keeps its annotations; `folder` is seen from `root` and lies in `.crucible`, as the settings allow it."""

    root: Path
    folder: str = ".crucible/tasks"


def annotation_path(shelf: Shelf, ref: Ref) -> Path:
    """Where the task's annotation lies, or will; two tasks never share one.

    An id that can be no file's name stands there by its hash, after `~`.  Raises `BadSessionId`, and `OutsideVault` where a symlink
    leads away.
    """
    check_session_id(ref.session)
    name = ref.id
    if not _PLAIN.match(name):
        name = f"~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    top = Path(os.path.realpath(shelf.root))
    path = top / shelf.folder / f"{ref.session}.{name}.yaml"
    if path.is_symlink():
        raise OutsideVault(f"{path}: a symlink, where an annotation is kept", "put the file itself there")
    return files.inside(top, path)


def read_annotation(shelf: Shelf, ref: Ref) -> tuple[Annotation | None, list[Problem]]:
    """The task's annotation, None when it has none; and what in it is not as it should be, with lines.

    Raises what `annotation_path` does, and `NoteUnreadable`.
    """
    path = annotation_path(shelf, ref)
    if not os.path.lexists(path):
        return None, []
    file = _load(path)
    frontmatter = find_frontmatter(file.source)
    # A fence of ours is not in the file.
    shift = 1 if file.above else 0
    problems = [one._replace(line=max(one.line - shift, 1)) for one in frontmatter.problems]
    return annotation_of(ref, frontmatter.values), problems


def annotate(shelf: Shelf, annotation: Annotation, *, fsync: bool = True) -> Path:
    """Write the annotation of a task that has none yet, and return its file.

    Raises `NoteExists` when there is one, which stays as it is; what `annotation_path` raises; and `VaultError`, also for what is too large to
    be read again.
    """
    path = annotation_path(shelf, annotation.ref)
    block = render_frontmatter(values_of(annotation))
    data = _fitting(annotation.ref, _unfenced(Source(block), _FENCE))
    files.make_folders(Path(os.path.realpath(shelf.root)), path.parent)
    files.create_exclusive(path, data, fsync=fsync)
    return path


def change_annotation(
    shelf: Shelf, new: Annotation, change: Callable[[Annotation], Annotation], *, fsync: bool = True
) -> Annotation:
    """Let `change` edit the task's annotation, `new` if it has none yet, and write what differs under a lock.

    Lines of unchanged fields are kept to the byte, and so are unknown keys.  Raises `VaultError` if it would be too large to be read again,
    `EditRefused` if its lines cannot be told apart, `LockTimeout`, and `NoteChanged` if an editor saved in between.
    """
    ref = new.ref
    path = annotation_path(shelf, ref)
    top = Path(os.path.realpath(shelf.root))
    with files.locked(top, path):
        if not os.path.lexists(path):
            annotate(shelf, after := change(new), fsync=fsync)
            return after
        file = _load(path)
        before = annotation_of(ref, find_frontmatter(file.source).values)
        after = change(before)
        edited = _edited(file, before, after)
        if edited is not file.source:
            data = _fitting(ref, _unfenced(edited, file.above))
            files.remove_leftovers(path)
            files.write_atomic(path, data, fsync=fsync, expected=file.data)
    return after


def move_annotations(shelf: Shelf, old: str, new: str, *, fsync: bool = True) -> None:
    """Give the annotations of the session `old` to the session `new`; what a task of it has already stays, and so does the other's.

    Raises `BadSessionId`, `OutsideVault` and `VaultError`.
    """
    check_session_id(old), check_session_id(new)
    folder = files.inside(Path(os.path.realpath(shelf.root)), Path(os.path.realpath(shelf.root)) / shelf.folder)
    for path in sorted(folder.glob(f"{glob.escape(old)}.*.yaml")):
        task = path.name.removeprefix(f"{old}.")
        # Another session's id may begin with this one's and a dot.
        if task.count(".") == 1 and not path.is_symlink():
            with suppress(NoteExists):
                files.move_exclusive(path, folder / f"{new}.{task}", fsync=fsync)


def _edited(file: _File, before: Annotation, after: Annotation) -> Source:
    """One key after the other, since each edit's place is known only in the text that it changes."""
    source = file.source
    old, new, written = values_of(before), values_of(after), find_frontmatter(source).values
    for key, value in new.items():
        if old[key] != value:
            blended = _blend(written.get(key), old[key], value)
            source = apply_edits(source, set_key(source, find_frontmatter(source), key, blended))
    return source


def _blend(written: Value, old: Value, new: Value) -> Value:
    """What to write where `written` stands, which was read as `old`: what we could not read of it stays."""
    if new == old:
        return written
    if isinstance(written, dict) and isinstance(old, dict) and isinstance(new, dict):
        changed = {key: value for key, value in new.items() if key in written or value != old.get(key)}
        return {**written, **{key: _blend(written.get(key), old.get(key), changed[key]) for key in changed}}
    if isinstance(written, list) and isinstance(old, list) and isinstance(new, list) and new[: len(old)] == old:
        return [*written, *new[len(old) :]]
    return new


def _load(path: Path) -> _File:
    data, _ = files.read_bytes(path)
    if len(data) > LARGEST:
        raise NoteUnreadable(f"{path}: {len(data)} bytes are no annotation", "move it out of that folder")
    source = Source.from_bytes(data)
    # YAML may begin with the fence itself.
    line_end = "\r\n" if "\r\n" in source.text else "\n"
    above = "" if _OPENED.match(source.text) else f"---{line_end}"
    end = "" if not source.text or source.text.endswith(("\n", "\r")) else line_end
    return _File(data, Source(f"{above}{source.text}{end}{_FENCE}", source.bom), above)


def _fitting(ref: Ref, data: bytes) -> bytes:
    if len(data) > LARGEST:
        raise VaultError(f"task {ref.id}: {len(data)} bytes are too large an annotation", "say it in fewer words")
    return data


def _unfenced(source: Source, above: str) -> bytes:
    return Source(source.text[len(above) : -len(_FENCE)], source.bom).to_bytes()
