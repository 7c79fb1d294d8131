"""The files that a session changed and the skills that it used.

A call that failed or was refused changed nothing.  `acts` tells what a call did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Deed
from crucible.acts.reading import acts_of
from crucible.session.model import Entry, Intervention, Outcome, Session, Subagent, ToolCall, ToolCalls

__all__ = ["all_entries", "modified_files", "used_skills"]

_CHANGES = frozenset((Deed.WRITE, Deed.EDIT, Deed.DELETE))
_NOT_DONE = frozenset((Outcome.FAILED, Outcome.REJECTED))
_CUT = "…"


def all_entries(session: Session) -> Iterator[Entry]:
    """Every entry in the order of the note, also those of inline subagents, except the prompts of these: no human wrote them."""
    yield from _with_inline(session.preamble)
    yield from _with_inline(session.all_entries())


def _with_inline(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        if isinstance(entry, Subagent):
            yield from (one for one in _with_inline(entry.entries) if not isinstance(one, Intervention))


def modified_files(session: Session, evidence: Evidence) -> tuple[str, ...]:
    """Each file once, in the order of its first change, relative to the project; a name that the note cuts is left out."""
    files, found = Files(), dict[str, None]()
    for call in _calls(session):
        for act in acts_of(call, evidence, files):
            if act.deed in _CHANGES and call.outcome not in _NOT_DONE and not act.what.endswith(_CUT):
                found[act.what] = None
    return tuple(found)


def used_skills(session: Session) -> tuple[str, ...]:
    """Each skill once, in the order of its first use."""
    found: dict[str, None] = {}
    for call in _calls(session):
        if call.call[:6].lower() == "skill " and call.outcome not in _NOT_DONE:
            found.update(dict.fromkeys(call.call.split()[1:2]))
    return tuple(found)


def _calls(session: Session) -> Iterator[ToolCall]:
    for entry in all_entries(session):
        if isinstance(entry, ToolCalls):
            yield from entry.calls
