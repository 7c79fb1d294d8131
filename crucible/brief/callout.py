"""A brief as the callout of a note: which phase it covers stands in its first line, what it tells below.

Owns that line.  Where the callout stands, and editing it, is `session.briefs`'.
"""

from __future__ import annotations

from crucible.brief.model import Brief
from crucible.note.contain import normal, normal_line
from crucible.note.source import Edit, Source
from crucible.patterns import late_pattern
from crucible.session.briefs import find_brief_callout, set_brief_callout
from crucible.session.model import Session

__all__ = ["find_brief", "set_brief"]

_COVERS = late_pattern(r"Covers:[ \t]*(.*)")


def find_brief(session: Session) -> Brief | None:
    """The brief that stands in the note before its first phase, as people may have corrected it.

    One without the line that names a phase covers none: a human wrote it, and what follows is added to it.
    """
    callout = find_brief_callout(session)
    if callout is None:
        return None
    first, _, rest = callout.text.partition("\n")
    named = _COVERS.match(first)
    if named is None:
        return Brief(callout.text, "")
    return Brief(rest.strip("\n"), named[1].rstrip(" \t"))


def set_brief(source: Source, session: Session, brief: Brief) -> list[Edit]:
    """Make the note's brief this one: its own lines where it stands, else a callout under the title.

    No edit when it stands so already.  Raises `EditRefused` as `session.briefs.set_brief_callout`.
    """
    first = f"Covers: {normal_line(brief.covers)}".rstrip(" ")
    text = normal(brief.text)
    return set_brief_callout(source, session, f"{first}\n\n{text}" if text else first)
