"""Which files a session wrote, edited or read, as the tool calls of its note name them.

Owns which of a client's tools name a file.  A shell's command is not taken apart: what it touches is for nobody to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crucible.session.model import Entry, Outcome, Session, Subagent, ToolCall, ToolCalls

__all__ = ["touched_files"]

_CLAUDE_CODE = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "Read"})
_CODEX = frozenset({"apply_patch", "view_image"})
_OPENCODE = frozenset({"write", "edit", "multiedit", "read", "patch", "apply_patch"})
_GEMINI = frozenset({"write_file", "replace", "read_file"})
_TOOLS = _CLAUDE_CODE | _CODEX | _OPENCODE | _GEMINI

_OF_SEVERAL = frozenset({"apply_patch"})
"""Whose call names each file of a patch, with commas between."""

_NOT_DONE = frozenset({Outcome.FAILED, Outcome.REJECTED})

_CUT = "…"
_UNCERTAIN = ("⏎", "[REDACTED:", "\ufffd", "\0")
"""Where one of these is, a line end, a secret or a byte was, and the file has another name."""


def touched_files(session: Session) -> tuple[str, ...]:
    """Each file once, in the order in which they were touched last; a path is absolute or seen from where the agent stood.

    The calls of inline subagents count; what failed or was rejected does not.  A path that the note holds cut or changed
    is left out, since it may be another file's.
    """
    found: dict[str, None] = {}
    for call in _calls(session.all_entries()):
        for path in _paths(call):
            found.pop(path, None)
            found[path] = None
    return tuple(found)


def _calls(entries: Iterable[Entry]) -> Iterator[ToolCall]:
    for entry in entries:
        if isinstance(entry, ToolCalls):
            yield from entry.calls
        elif isinstance(entry, Subagent):
            yield from _calls(entry.entries)


def _paths(call: ToolCall) -> list[str]:
    tool, _, told = call.call.partition(" ")
    if tool not in _TOOLS or call.outcome in _NOT_DONE:
        return []
    parts = told.split(", ") if tool in _OF_SEVERAL else [told]
    return [path for path in parts if _is_certain(path)]


def _is_certain(path: str) -> bool:
    """A tool that was given no path is told by its other arguments: as JSON, or by a patch's first line."""
    if not path.strip() or path.endswith(_CUT) or any(mark in path for mark in _UNCERTAIN):
        return False
    return not path.startswith(('{"', "*** "))
