"""Keep a recording without its closed phases, so that a log that has grown can be read from where it ended.

A phase is closed when two others follow it.  Only its head is kept; an event that changes it makes the recording stale.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

from crucible.documents.recording.session_draft import OpenPhase
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.import_properties import SyncPoint

_OPEN = 2
"""The last phases of a recording, which may still change."""


class ClosedPhase(NamedTuple):
    """A phase of which nothing is kept but its head."""

    name: str
    started: object
    agent: str


def closed_phases(phases: list[OpenPhase], above: int) -> list[ClosedPhase]:
    """Return the heads of the first `above` phases."""
    return [ClosedPhase(one.name, one.started, str(one.agent) if one.agent else "") for one in phases[:above]]


def kept_fields(recorder: Recorder) -> dict[str, Any] | None:
    """Return a recording's fields without the closed phases; None if it belongs to another session's note too."""
    if recorder.joins or recorder.is_guest:
        return None
    recorder._findings()  # noqa: SLF001  kept as well
    fields = dict(vars(recorder))
    del fields["zone"]
    phases: list[OpenPhase] = fields["_phases"]
    above = max(recorder.above, len(phases) - _OPEN)
    is_open = {id(phase) for phase in phases[above:]}
    fields["_phases"] = [*(phase.head() for phase in phases[:above]), *phases[above:]]
    fields["calling"] = recorder.calling.without(phases[recorder.above : above])
    fields["_usage"] = fields["_usage"].settled(lambda phase: id(phase) in is_open)
    fields["_sync"] = fields["_sync"].lines
    return fields | {"above": above, "base": None}


def recorder_of(fields: dict[str, Any], like: Recorder, synced: str) -> Recorder:
    """Return a recording that goes on from kept fields; `synced` is the mark of the last row in the note."""
    recorder = copy(like)
    vars(recorder).update(fields)
    recorder._sync = SyncPoint(synced, lines=fields["_sync"])  # noqa: SLF001
    return recorder


def is_stale(recorder: Recorder) -> bool:
    """True if a closed phase has changed since its recording was kept."""
    changed = any(one != before for one, before in recorder.calling.closed_work)
    return recorder.is_stale or recorder._usage.is_stale or changed  # noqa: SLF001


def mark_line(recorder: Recorder) -> int:
    """Return the line of the last row that the note contains."""
    return recorder._mark_line  # noqa: SLF001
