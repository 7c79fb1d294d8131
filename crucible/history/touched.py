"""Which files a session changed, and which skills it used.

Owns that what failed or was rejected changed nothing.  What a call did is `acts`' to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Deed
from crucible.acts.reading import acts_of
from crucible.history.walking import Placed
from crucible.session.model import Outcome, ToolCall, ToolCalls

__all__ = ["modified_files", "used_skills"]

_CHANGES = frozenset((Deed.WRITE, Deed.EDIT, Deed.DELETE))
_NOT_DONE = frozenset((Outcome.FAILED, Outcome.REJECTED))
_CUT = "…"


def modified_files(entries: Iterable[Placed], evidence: Evidence) -> tuple[str, ...]:
    """Each file once, in the order of its first change, as seen from the project; one that the note holds cut is left out."""
    files, found = Files(), dict[str, None]()
    for call in _calls(entries):
        for act in acts_of(call, evidence, files):
            if act.deed in _CHANGES and call.outcome not in _NOT_DONE and not act.what.endswith(_CUT):
                found[act.what] = None
    return tuple(found)


def used_skills(entries: Iterable[Placed]) -> tuple[str, ...]:
    """Each skill once, in the order of its first use."""
    found: dict[str, None] = {}
    for call in _calls(entries):
        if call.call[:6].lower() == "skill " and call.outcome not in _NOT_DONE:
            found.update(dict.fromkeys(call.call.split()[1:2]))
    return tuple(found)


def _calls(entries: Iterable[Placed]) -> Iterator[ToolCall]:
    for _, entry in entries:
        if isinstance(entry, ToolCalls):
            yield from entry.calls
