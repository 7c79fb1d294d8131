"""Annotations: a YAML file for each task, `.crucible/tasks/{session}.{task}.yaml`.

Edits keep a user's comments and unknown keys.  Callers must redact text first.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from crucible.core import files
from crucible.core.errors import NoteExists, NoteUnreadable, OutsideVault, VaultError
from crucible.core.files import locked
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.markdown.frontmatter import find_frontmatter, render_frontmatter, set_key
from crucible.documents.markdown.source import Problem, Source, apply_edits
from crucible.documents.markdown.yaml_scalars import Value, read_list, write_scalar
from crucible.documents.session.session_id import check_session_id
from crucible.memory.tasks.task import Annotation, DecisionKind, Inherited, Recalled, Ref, TaskDecision
from crucible.vault.notes.vault import Vault

LONGEST = 2000
"""Maximum code points of a description and a query; the full text is in the task."""


_LISTS = ("patterns", "failures", "decisions")
_INHERITED = ("from_task_id", "decision", "rationale", "finding")
_CHOICE = ("summary", "rationale", "finding", "kind", "propagate")
_KEYS = {"kind": "type"}
"""Fields whose name in the file is different."""


def values_of(annotation: Annotation) -> dict[str, Value]:
    """Return all fields by name, in the order of the file."""
    recalled = annotation.recalled
    made = annotation.created_at
    return {
        "task_id": annotation.ref.id,
        "description": cut(normal_line(annotation.description), LONGEST),
        "created_at": made.isoformat() if made else None,
        "recall_context": {
            **{name: _lines(getattr(recalled, name)) for name in _LISTS},
            "query": cut(normal_line(recalled.query), LONGEST),
        },
        "inherited_context": [_written(one, _INHERITED) for one in annotation.inherited],
        "execution_context": {
            "decisions_made": [_written(one, _CHOICE) for one in annotation.choices],
            "discoveries": _lines(annotation.discoveries),
            "captured_to": _lines(annotation.captured_to),
        },
    }


def annotation_of(ref: Ref, values: Mapping[str, Value]) -> Annotation:
    """Return the annotation with these fields.  The task is `ref`, even if `task_id` differs."""
    recall = _map(values.get("recall_context"))
    execution = _map(values.get("execution_context"))
    patterns, failures, decisions = (_ids(recall.get(name)) for name in _LISTS)
    return Annotation(
        ref,
        _text(values.get("description")),
        _time(values.get("created_at")),
        Recalled(patterns, failures, decisions, _text(recall.get("query"))),
        tuple(
            Inherited(*(_text(one.get(name)) for name in _INHERITED))
            for one in _maps(values.get("inherited_context"), "decision")
        ),
        tuple(_choice(one) for one in _maps(execution.get("decisions_made"), "summary")),
        _ids(execution.get("discoveries")),
        _ids(execution.get("captured_to")),
    )


def _lines(texts: Sequence[str]) -> list[Value]:
    return [line for text in texts if (line := normal_line(text))]


def _written(one: Inherited | TaskDecision, names: Sequence[str]) -> Value:
    """Return the fields by name, without empty ones, except an empty rationale, which a user may fill in."""
    fields: dict[str, Value] = {}
    for name in names:
        value = getattr(one, name)
        if isinstance(value, str):
            value = normal(value) if name == "rationale" else normal_line(value)
        if value is not None and (value != "" or name != "finding"):
            fields[_KEYS.get(name, name)] = value
    return fields


def _choice(one: Mapping[str, Value]) -> TaskDecision:
    kind = None
    with suppress(ValueError):  # a kind that a user made up
        kind = DecisionKind(_text(one.get("type")))
    mark = one.get("propagate")
    summary, rationale, finding = (_text(one.get(key)) for key in ("summary", "rationale", "finding"))
    return TaskDecision(summary, rationale, kind, mark if isinstance(mark, bool) else None, finding)


def _ids(value: Value) -> tuple[str, ...]:
    return tuple(filter(None, read_list([value] if isinstance(value, str) else value)))


def _map(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, dict) else {}


def _maps(value: Value, needed: str) -> list[Mapping[str, Value]]:
    """Return the maps in a list that have the field `needed`; a plain string counts as a map with that field."""
    items = value if isinstance(value, list) else []
    found: list[Mapping[str, Value]] = [{needed: one} if isinstance(one, str) else _map(one) for one in items]
    return [one for one in found if _text(one.get(needed))]


def _text(value: Value) -> str:
    """Return a scalar as text; numbers and booleans as YAML writes them."""
    if value is None or isinstance(value, (list, dict)):
        return ""
    return value if isinstance(value, str) else write_scalar(value)


def _time(value: Value) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(_text(value))
    return None


LARGEST = 1 << 20
"""Maximum size of an annotation in bytes."""

# No dots: the last dot of a name separates session and task.  No capitals: some file systems ignore case.
_PLAIN = late_pattern(r"[a-z0-9_-]{1,64}\Z")
_FENCE = "---\n"
_OPENED = late_pattern(r"---[ \t]*[\r\n]")


class _File(NamedTuple):
    """An annotation's bytes, its text between fences like frontmatter, and the opening fence if it was added."""

    data: bytes
    source: Source
    above: str


class AnnotationFolder(NamedTuple):
    """The folder with a vault's annotations.  `folder` is relative to `root`, in `.crucible`."""

    root: Path
    folder: str = ".crucible/tasks"


def shelf_of(vault: Vault) -> AnnotationFolder:
    """Return the annotation folder from the vault's settings."""
    return AnnotationFolder(vault.root, vault.settings.tasks.annotations_dir)


def annotation_path(shelf: AnnotationFolder, ref: Ref) -> Path:
    """Return the path of the task's annotation, which is unique for each task.

    An id that is not a valid file name is replaced with `~` and its hash.  Raises `BadSessionId`, and `OutsideVault`
    for a symlink.
    """
    check_session_id(ref.session)
    name = ref.id
    if not _PLAIN.match(name):
        name = f"~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    top = Path(os.path.realpath(shelf.root))
    path = top / shelf.folder / f"{ref.session}.{name}.yaml"
    if path.is_symlink():
        raise OutsideVault(
            f"{path}: a symlink; annotations must be regular files", "replace the symlink with a regular file"
        )
    return files.inside(top, path)


def read_annotation(shelf: AnnotationFolder, ref: Ref) -> tuple[Annotation | None, list[Problem]]:
    """Return the task's annotation, or None, and its problems.

    Raises what `annotation_path` raises, and `NoteUnreadable`.
    """
    path = annotation_path(shelf, ref)
    if not os.path.lexists(path):
        return None, []
    file = _load(path)
    frontmatter = find_frontmatter(file.source)
    # An added fence does not count as a line of the file.
    shift = 1 if file.above else 0
    problems = [one._replace(line=max(one.line - shift, 1)) for one in frontmatter.problems]
    return annotation_of(ref, frontmatter.values), problems


def annotate(shelf: AnnotationFolder, annotation: Annotation, *, fsync: bool = True) -> Path:
    """Write the annotation of a task that has none yet, and return its path.

    Raises `NoteExists`, without changing the file, if there is one; `VaultError` if it cannot be written or would be
    too large to read again; and what `annotation_path` raises.
    """
    path = annotation_path(shelf, annotation.ref)
    block = render_frontmatter(values_of(annotation))
    data = _fitting(annotation.ref, _unfenced(Source(block), _FENCE))
    files.make_folders(Path(os.path.realpath(shelf.root)), path.parent)
    files.create_exclusive(path, data, fsync=fsync)
    return path


def change_annotation(
    shelf: AnnotationFolder, new: Annotation, change: Callable[[Annotation], Annotation], *, fsync: bool = True
) -> Annotation:
    """Apply `change` to the task's annotation, or to `new` if there is none, and write the changed fields under a lock.

    All other lines stay the same to the byte.  Raises `VaultError` if the annotation would be too large to read again,
    `EditRefused` if a field's lines cannot be found, `LockTimeout`, and `NoteChanged` if an editor saved the file in
    the meantime.
    """
    ref = new.ref
    path = annotation_path(shelf, ref)
    top = Path(os.path.realpath(shelf.root))
    with locked(top, path):
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


def move_annotations(shelf: AnnotationFolder, old: str, new: str, *, fsync: bool = True) -> None:
    """Move a session's annotations to its new id; existing files with the new id are kept.

    Raises `BadSessionId`, `OutsideVault` and `VaultError`.
    """
    check_session_id(new)
    for path in annotation_files(shelf, old):
        with suppress(NoteExists):
            files.move_exclusive(path, path.with_name(new + path.name.removeprefix(old)), fsync=fsync)


def annotation_files(shelf: AnnotationFolder, session: str) -> list[Path]:
    """Return the files with a session's annotations, sorted. Raises `BadSessionId` and `OutsideVault`."""
    check_session_id(session)
    folder = files.inside(Path(os.path.realpath(shelf.root)), Path(os.path.realpath(shelf.root)) / shelf.folder)
    found = sorted(folder.glob(f"{glob.escape(session)}.*.yaml"))
    # Another session's id may begin with this id and a dot.
    return [one for one in found if one.name.removeprefix(f"{session}.").count(".") == 1 and not one.is_symlink()]


def _edited(file: _File, before: Annotation, after: Annotation) -> Source:
    """Change the keys one at a time, since each edit moves the following lines."""
    source = file.source
    old, new, written = values_of(before), values_of(after), find_frontmatter(source).values
    for key, value in new.items():
        if old[key] != value:
            blended = _blend(written.get(key), old[key], value)
            source = apply_edits(source, set_key(source, find_frontmatter(source), key, blended))
    return source


def _blend(written: Value, old: Value, new: Value) -> Value:
    """Return the new value for a key whose value `written` was parsed as `old`; unknown parts are kept."""
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
        raise NoteUnreadable(f"{path}: {len(data)} bytes are too large for an annotation", "move it out of that folder")
    source = Source.from_bytes(data)
    # A YAML file may begin with `---`.
    line_end = "\r\n" if "\r\n" in source.text else "\n"
    above = "" if _OPENED.match(source.text) else f"---{line_end}"
    end = "" if not source.text or source.text.endswith(("\n", "\r")) else line_end
    return _File(data, Source(f"{above}{source.text}{end}{_FENCE}", source.bom), above)


def _fitting(ref: Ref, data: bytes) -> bytes:
    if len(data) > LARGEST:
        raise VaultError(f"task {ref.id}: {len(data)} bytes are too large for an annotation", "shorten the text")
    return data


def _unfenced(source: Source, above: str) -> bytes:
    return Source(source.text[len(above) : -len(_FENCE)], source.bom).to_bytes()
