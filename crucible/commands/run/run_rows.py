"""The marker row of a step that was carried out, and putting it into the workflow's note.

Owns the columns, finding the step again in a note that was edited meanwhile, and writing: in a vault as every note is written, elsewhere
with the same care and the vault's own locks.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from crucible.commands.run.run_model import Outcome
from crucible.core.errors import LockTimeout, NoteChanged, VaultError, reason_of
from crucible.core.files import make_folders, read_settled, write_atomic
from crucible.core.locks import hold
from crucible.core.secrets import Redact
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.properties import format_time
from crucible.documents.workflow.workflow import Cell, Datum, Step, Workflow
from crucible.documents.workflow.workflow_markup import append_markers, phase_name
from crucible.documents.workflow.workflow_reader import read_workflow
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_ATTEMPTS = 20
"""How often an editor may be faster than we are."""


class Spot(NamedTuple):
    """Which step of a note: the so-manieth, from 0, of those that are called so."""

    key: str
    number: int = 0


def spot_of(steps: Sequence[Step], index: int) -> Spot:
    """Which step of the note the one at `index` is."""
    key = _key(steps[index])
    return Spot(key, sum(_key(step) == key for step in steps[:index]))


def row_of(outcome: Outcome, session_id: str, redact: Redact) -> Mapping[str, Cell]:
    """The row of a marker block, without secrets."""
    step = outcome.job.step
    texts = {
        "phase": phase_name(step.name),
        "agent": str(outcome.agent or step.agent or "") or None,
        "channel": step.channel,
        "input": _names(handed.datum for handed in outcome.job.inputs),
        "output": _names(step.outputs()),
    }
    clean: dict[str, Cell] = {name: redact(text)[0] if text else None for name, text in texts.items()}
    return clean | {
        "duration_ms": outcome.duration_ms,
        "status": str(outcome.status),
        "tokens_used": outcome.tokens,
        "session": session_id,
        "started": format_time(outcome.started) if outcome.started else None,
    }


def add_marker(vault: Vault, path: Path, spot: Spot, row: Mapping[str, Cell]) -> None:
    """Append a block of one row to the step; `NoteChanged` when the note has no such step any more."""

    def edits(source: Source) -> list[Edit]:
        workflow = read_workflow(source, note_name(path.name))
        return append_markers(source, workflow, _find(workflow, spot, path), [row])

    if path.is_relative_to(vault.root):
        vault.update(path, lambda note: edits(note.source), attempts=_ATTEMPTS)
    else:
        _update_elsewhere(vault, path, edits)


def _find(workflow: Workflow, spot: Spot, path: Path) -> Step:
    found = [step for step in workflow.walk() if _key(step) == spot.key]
    if spot.number >= len(found):
        raise NoteChanged(f"{path.name}: the step is gone since the run began", "its phase is in the session's note")
    return found[spot.number]


def _key(step: Step) -> str:
    return step.key or step.name


def _names(data: Iterator[Datum] | Sequence[Datum]) -> str:
    return " ".join(datum.name for datum in data)


# --- a file that is in no vault --------------------------------------------------------------------------------------


def _update_elsewhere(vault: Vault, path: Path, edits: Callable[[Source], list[Edit]]) -> None:
    real = Path(os.path.realpath(path))
    with _locked(vault, real):
        for left in reversed(range(_ATTEMPTS)):
            data, _ = read_settled(real)
            source = Source.from_bytes(data)
            changed = apply_edits(source, edits(source)).to_bytes()
            try:
                write_atomic(real, changed, fsync=vault.settings.fsync, expected=data)
            except NoteChanged:
                if not left:
                    raise
            else:
                return


@contextmanager
def _locked(vault: Vault, real: Path) -> Iterator[None]:
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    folder = make_folders(vault.root, vault.root / ".crucible" / "cache" / "locks")
    seconds = vault.settings.lock_seconds
    try:
        with hold(folder / f"{name}.lock", seconds) as lock:
            if lock is None:
                raise LockTimeout(f"{real}: another process has held it for {seconds:g} s", "try again")
            yield
    except OSError as error:
        raise VaultError(f"{real}: cannot be locked: {reason_of(error)}") from error
