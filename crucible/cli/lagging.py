"""Which notes lag behind their transcripts: told by times where that is enough, and made sure of by an import that writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from crucible.commands.imports.imports import ImportOptions, import_transcripts
from crucible.commands.imports.note_sources import SourceTable, source_name
from crucible.integrations.doctor.check_results import Finding
from crucible.integrations.doctor.doctor_sessions__sessions import known_until
from crucible.integrations.doctor.doctor_transcripts__transcripts import Native, tell_lagging
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

__all__ = ["check_lagging"]

_LAG = timedelta(minutes=5)
"""A transcript goes on for a while behind what a note tells: a client's own rows."""
_FRESH = timedelta(minutes=2)
"""What was written so lately is somebody's who is at it."""
_LOOKED_AT = 20
"""Transcripts that are read to be sure; a mended vault has none that need it."""


def check_lagging(
    vault: Vault,
    natives: Iterable[Native],
    rows: Collection[Mapping[str, object]],
    waiting: Collection[str],
    now: datetime,
) -> Iterator[Finding]:
    """The notes that an import would bring up to date; `waiting` are sessions in the spool, which are told as such."""
    table = SourceTable(vault)
    known = {str(row["id"]): known_until(row) for row in rows}
    late: list[Native] = []
    for native in natives:
        note = table.find(source_name(native.transcript.client, native.transcript.native_id))
        until = known.get(note_name(note.name)) if note else None
        if until is None or native.written is None or native.transcript.native_id in waiting:
            continue
        if now - native.written >= _FRESH and native.written - until > _LAG:
            late.append(native)
    sure = [native for native in late[:_LOOKED_AT] if _would_change(vault, native, now)]
    yield from tell_lagging(sure)


def _would_change(vault: Vault, native: Native, now: datetime) -> bool:
    options = ImportOptions(now=now, dry_run=True)
    report = import_transcripts(vault, native.dialect, [native.transcript.path], options=options)
    return bool(report.updated or report.created)
