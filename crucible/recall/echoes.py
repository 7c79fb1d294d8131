"""What recall itself put into a session, which is never indexed: it would find its own answers, and more of them each time.

Owns how such texts are known: calls of our tools and commands, and text between our marks.
"""

from __future__ import annotations

from crucible.patterns import late_pattern
from crucible.recall.model import Event, Kind

__all__ = ["RECALLED", "RECALLED_END", "without_echoes"]

RECALLED, RECALLED_END = "<!-- cru:recalled -->", "<!-- /cru:recalled -->"
"""Lines around what recall prints for a model; a note shows them escaped or not."""

_TOOL = late_pattern(
    r"(?:mcp__\w*__|[\w-]*[./]|crucible_)?(?:recall_(?:context|search|timeline|get)|session_(?:resume_context|show|list))\b"
    # Another name of our server, as OpenCode puts it before a tool's.
    r"|[\w-]+_recall_(?:context|search|timeline|get)\b"
)
_FLAGS = r"(?:-\S+\s+(?:(?:\"[^\"]*\"|'[^']*'|[^\s\"'-]\S*)\s+)?)*"
_COMMAND = late_pattern(
    rf"(?:^|[\s;&|(`\"'/])(?:cru|crucible)\s+{_FLAGS}(?:recall|knowledge (?:search|show|list)|session (?:show|resume))\b"
)
_MARKED = late_pattern(r"\\?<!-- cru:recalled -->[\s\S]*?(?:\\?<!-- /cru:recalled -->|$)")
_RESUMED = "<!-- cru:resume "
_LOOKED_AT = 4000
"""Code points of a call in which a command is looked for."""


def without_echoes(event: Event) -> str:
    """The text of an event as it may be indexed; "" for an echo."""
    text = event.text
    if event.kind is Kind.TOOL:
        head = text[:_LOOKED_AT]
        if _TOOL.match(head) or _COMMAND.search(head):
            return ""
    elif _RESUMED in text[:200] and event.kind is Kind.USER:
        # A prompt with which `cru` had a client go on: a digest of the session that it stands in.
        return ""
    return _MARKED.sub(" ", text) if RECALLED in text else text
