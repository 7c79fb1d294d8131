"""Text that search itself put into a session. It is never indexed, or search would find its own answers."""

from __future__ import annotations

import re

from crucible.core.patterns import late_pattern
from crucible.search.recall import Event, EventKind

RECALLED, RECALLED_END = "<!-- cru:recalled -->", "<!-- /cru:recalled -->"
"""Lines around what recall prints for a model; a note shows them escaped or not."""

_TOOL = late_pattern(
    r"(?:mcp__\w*__|[\w-]*[./])?recall_(?:context|search|timeline|get)\b"
    # Whatever our server is called: the names of these tools are ours.
    r"|[\w-]+_recall_(?:context|search|timeline|get)\b"
    r"|(?:[\w-]*(?:cru|crucible)[\w-]*(?:__|[._/]))?session_(?:resume_context|show|list)\b"
)
_SHELL = late_pattern(r"\S*(?:bash|shell|exec|command|terminal|powershell|\bsh\b|\bcmd\b|\brun)\S*", re.IGNORECASE)
"""The name of a tool that runs commands.  What others are given is no command, though it may talk of one."""
_FLAGS = r"(?:-\S{1,400}[ \t]++(?:(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|[^\s\"'-]\S{0,400})[ \t]++)?){0,12}"
_BEFORE = (
    r"(?:\w+=\S*|time|env|sudo|nice|exec|command|do|then|uv[ \t]++run|poetry[ \t]++run|\S*python[\d.]*[ \t]++-m)\s++"
)
_COMMAND = late_pattern(
    # Where a command begins, and nowhere else: who greps for ours does not call it.
    rf"(?:\A\S++\s|[\n⏎;&|(`]|\s-\w*c[ \t]++[\"'])[ \t]*+(?:{_BEFORE}){{0,4}}(?:[^\s\"';&|()=]*/)?(?:cru|crucible)[ \t]++{_FLAGS}"
    r"(?:recall|knowledge (?:search|show|list)|session (?:show|resume))\b"
)
_MARKED = late_pattern(r"\\?<!-- cru:recalled -->[\s\S]*?(?:\\?<!-- /cru:recalled -->|$)")
_RESUMED = "<!-- cru:resume "
_LOOKED_AT = 20_000
"""Code points of a call in which a command is looked for."""


def without_echoes(event: Event, noted: str = "") -> str:
    """The text of an event that may be indexed; "" for an echo.  `noted` is the note's text of a recorded call."""
    text = event.text
    if event.kind is EventKind.TOOL:
        head = text[:_LOOKED_AT]
        if _TOOL.match(head) or (_SHELL.match(head) and _COMMAND.search(_command(head, noted))):
            return ""
    elif _RESUMED in text[:200] and event.kind is EventKind.USER:
        # A prompt with which `cru` had a client go on: a digest of the session that it stands in.
        return ""
    return _MARKED.sub(" ", text) if RECALLED in text else text


def _command(text: str, noted: str) -> str:
    """The command of a call, as far as its text shows it."""
    told = (noted or text).partition("\n")[0]
    is_whole = " " in told and not told.endswith("…")
    return told if is_whole else text
