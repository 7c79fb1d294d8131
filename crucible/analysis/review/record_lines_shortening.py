"""Shorten the texts of a record: prose, plans, reports, calls, edits and commits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crucible.analysis.findings.observed_calls import Call, changes_in
from crucible.clients.events import ToolUsed
from crucible.core.patterns import late_pattern
from crucible.documents.recording.call_lines import call_line
from crucible.documents.recording.report_lines_blocks import Part, blocks_of
from crucible.documents.session.plain_text import clipped, plain

_CODE = late_pattern(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\2[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_RULER = late_pattern(r"^[ \t|:-]+$", re.MULTILINE)
_SPACES = late_pattern(r"[ \t]+")
_EMPTY = late_pattern(r"\n\s*\n+")
_REMINDER = late_pattern(r"<(system-reminder|ide_\w+)>.*?(?:</\1>|\Z)", re.DOTALL)
_READ = 30_000
"""The most code points of a text that are read."""


def tidy(text: str, code: int) -> str:
    """A text without blank lines and table rulers, and with at most `code` lines of each code block."""
    text = text if len(text) <= _READ else f"{text[: _READ * 2 // 3]}\n…\n{text[-_READ // 3 :]}"
    text = _CODE.sub(lambda found: _code(found[3], code), _REMINDER.sub("", text))
    return _EMPTY.sub("\n", _SPACES.sub(" ", _RULER.sub("", text))).strip()


def _code(inner: str, most: int) -> str:
    lines = inner.strip("\n").split("\n")
    return "\n".join(lines[:most]) + (f" …({len(lines)} lines)" if len(lines) > most else "") + "\n"


def outline(plan: str) -> str:
    """The headings, items and first sentences of a plan."""
    told = []
    for block in blocks_of(plan[:_READ]):
        if block.kind is Part.HEADING:
            told.append(f"# {plain(block.text)}")
        elif block.is_said:
            told.append(clipped(block.text, 160))
    return "\n".join(told)


_FEW_LINES = 3


def gist(report: str) -> str:
    """The headings, items and last paragraphs of a report, or all of it if it is only prose."""
    blocks = [block for block in blocks_of(report[:_READ]) if block.kind not in (Part.RULE, Part.QUOTE)]
    last = len(blocks) - _FEW_LINES
    marked = [block for at, block in enumerate(blocks) if block.kind is not Part.PROSE or at >= last]
    return "\n".join(clipped(block.text, 200) for block in (marked if len(marked) > _FEW_LINES else blocks))


def described(used: ToolUsed, call: Call, roots: Sequence[str]) -> str:
    """A call as one line; for an edit with the beginning of the new text."""
    line = clipped(call_line(used.name, used.arguments, roots[0] if roots else ""), 200)
    new = next((new for _, _, new in changes_in(used.arguments) if new.strip()), "") if call.files else ""
    return f"{line}: {clipped(new, 220)}" if new else line


def change(used: ToolUsed) -> str:
    """The first lines that an edit removes and adds."""
    for _, old, new in changes_in(used.arguments):
        before, after = old.split("\n"), new.split("\n")
        gone = [line.strip() for line in before if line not in after and len(line.strip()) > 3]
        come = [line.strip() for line in after if line not in before and len(line.strip()) > 3]
        if gone or come:
            return " ".join([*(f"-{one[:90]}" for one in gone[:2]), *(f"+{one[:110]}" for one in come[:3])])
    return ""


_HERE = late_pattern(r"<<-?\s*'?\"?(\w+)'?\"?\n(.*?)(?:\n[ \t]*\1|\Z)", re.DOTALL)
_TRAILER = late_pattern(r"^[\w-]+: \S.*$", re.MULTILINE)


def body_of(script: str) -> str:
    """The body of the commit message in a command, without trailers; "" if there is none."""
    found = _HERE.search(script)
    told = _TRAILER.sub("", found[2].partition("\n")[2]) if found else ""
    return f" :: {clipped(told, 500)}" if told.strip() else ""
