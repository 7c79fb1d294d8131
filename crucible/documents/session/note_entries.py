"""Read headings, callouts and tool-call lists of a note; `markup` writes them.

A backslash precedes the last word of a name if it looks like a marker, and of a title if it is all `#`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, read_code, read_code_span
from crucible.documents.markdown.containment import QUOTE_END, uncontain, uncontain_line
from crucible.documents.markdown.containment_inline import TAG, Rule
from crucible.documents.markdown.fences import fenced_lines
from crucible.documents.markdown.line_scan import RawCallout, unquote_lines
from crucible.documents.markdown.source import Lines
from crucible.documents.session.findings_block import SOURCE_LINE, grounds_in
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Grounds,
    Intervention,
    Mode,
    Outcome,
    Subagent,
    ToolCall,
)

MARKS = {
    Outcome.FAILED: "❌",
    Outcome.REJECTED: "🚫",
    Outcome.INTERRUPTED: "⏹",
    Outcome.PENDING: "⏳",
}
"""The first character of a result, for calls that did not succeed."""

_OUTCOMES = {mark: outcome for outcome, mark in MARKS.items()}
_CALL = late_pattern(r"[-*+] +`([^`]+)` (?:→|->)(?: (.*))?$")
_ITEM = late_pattern(r"[-*+][ \t]+")
_ARROW = late_pattern(r"[ \t]*(?:→|->)[ \t]?")
_CONTINUATION = late_pattern(r"[ \t]*(?![-*+>#`~<\d])\S")
_MARKED = late_pattern(rf"(\\+)({'|'.join(MARKS.values())})")

# --- tool calls ------------------------------------------------------------------------------------------------------


def read_calls(lines: Sequence[str], first: int, form: int = FORMAT) -> tuple[list[ToolCall], int]:
    """Read the calls of a list that begins on line `first`; return them and the number of their lines.

    Stops at the first item that is not a call.  Wrapped results are joined; blank lines between items are allowed.
    """
    calls: list[ToolCall] = []
    at = taken = 0
    while at < len(lines):
        if not lines[at].strip(" \t"):
            at += 1
            continue
        start = at
        at += 1
        while at < len(lines) and _CONTINUATION.match(lines[at]) and not _ITEM.match(lines[at]):
            at += 1
        text = " ".join([lines[start], *(line.strip(" \t") for line in lines[start + 1 : at])])
        call = _read_call(text, Lines(first + start, first + at), form)
        if call is None:
            break
        calls.append(call)
        taken = at
    return calls, taken


def _read_call(line: str, lines: Lines, form: int) -> ToolCall | None:
    simple = _CALL.match(line)
    if simple:
        call, result = simple[1], simple[2] or ""
        if call[0] == " " == call[-1] and call.strip(" "):
            call = call[1:-1]
    else:
        item = _ITEM.match(line)
        span = read_code_span(line, item.end()) if item else None
        arrow = _ARROW.match(line, span[1]) if span else None
        if span is None or arrow is None:
            return None
        call, result = span[0], line[arrow.end() :]
    outcome, result = _read_result(result.strip(" \t"), form)
    return ToolCall(read_code(call, form), result, outcome, lines)


def _read_result(text: str, form: int) -> tuple[Outcome, str]:
    outcome = Outcome.OK
    if text and text[0] in _OUTCOMES:
        outcome = _OUTCOMES[text[0]]
        text = text[1:].removeprefix("\ufe0f").lstrip(" ")
    elif text[:1] == "\\" and _MARKED.match(text):
        text = text[1:]
    return outcome, uncontain_line(text, form=form)


# --- callouts --------------------------------------------------------------------------------------------------------


def _take_labels(lines: Sequence[str], labels: tuple[str, ...]) -> tuple[list[str], dict[str, list[str]]]:
    """Split lines into those before the first label and those of each label.  Labels inside fences are ignored.

    A label's text ends at the next label; a repeated label is text.
    """
    head: list[str] = []
    found: dict[str, list[str]] = {}
    current = head
    fenced = fenced_lines(lines)
    for at, line in enumerate(lines):
        label = None if at in fenced else next((x for x in labels if line.startswith(f"{x}:")), None)
        if label and label not in found:
            current = found[label] = [line[len(label) + 1 :].lstrip(" ")]
        else:
            current.append(line)
    return head, found


def _text(lines: Sequence[str], form: int, *extra: Rule) -> str:
    return uncontain("\n".join(_trim(lines)), extra=extra, form=form)


def _trim(lines: Sequence[str]) -> Sequence[str]:
    """Strip blank lines at both ends."""
    first, end = 0, len(lines)
    while first < end and not lines[first].strip(" \t"):
        first += 1
    while end > first and not lines[end - 1].strip(" \t"):
        end -= 1
    return lines[first:end]


OWN_LABELS = Rule("own-label", r"\n[ \t>]*+(?:Alternatives|By|Cause|Source)", ":", ":")
"""Escapes labels that only decisions and errors use, in the text of these callouts."""


def _read_decision(raw: RawCallout, lines: Lines, form: int) -> Entry:
    text, labels, grounds = _text_and_labels(raw, ("Rationale", "Alternatives", "By"), form)
    why, others, who = (labels.get(label) for label in ("Rationale", "Alternatives", "By"))
    return Decision(text, why, others, who, grounds, lines)


def _read_error(raw: RawCallout, lines: Lines, form: int) -> Entry:
    text, labels, grounds = _text_and_labels(raw, ("Cause", "Resolution"), form)
    return Failure(text, labels.get("Resolution"), labels.get("Cause"), grounds, lines)


def _text_and_labels(raw: RawCallout, labels: tuple[str, ...], form: int) -> tuple[str, dict[str, str], Grounds | None]:
    """The text of a decision or an error, the text of each label, and its grounds."""
    body, source = _take(_with_title(raw), SOURCE_LINE)
    head, found = _take_labels(body, labels)
    texts = {label: _text(lines, form, OWN_LABELS) for label, lines in found.items()}
    return _text(head, form, OWN_LABELS), texts, grounds_in(source[1]) if source else None


def _with_title(raw: RawCallout) -> list[str]:
    """The body with the title as its first line, since a user may have written the text there."""
    return [raw.title, *raw.body] if raw.title else raw.body


def _labelled(labels: dict[str, list[str]], label: str, form: int) -> str | None:
    return _text(labels[label], form) if label in labels else None


_WORDS_END = late_pattern(r'" -(?=[ \t]|$)')


def _find_words_end(lines: Sequence[str]) -> tuple[int, int] | None:
    """Line and column of the first `" - ` outside fences, or None."""
    fenced = fenced_lines(lines)
    for at, line in enumerate(lines):
        found = None if at in fenced else _WORDS_END.search(line)
        if found:
            return at, found.start()
    return None


def _read_user(raw: RawCallout, lines: Lines, form: int) -> Entry:
    body = list(_trim(_with_title(raw)))
    if not body or not body[0].startswith('"'):
        return Intervention(_text(body, form), None, lines)
    body[0] = body[0][1:]
    end = _find_words_end(body)
    if end:
        at, column = end
        words, note = (
            [*body[:at], body[at][:column]],
            [body[at][column + 3 :].removeprefix(" "), *body[at + 1 :]],
        )
        return Intervention(_text(words, form, QUOTE_END), _text(note, form) or None, lines)
    body[-1] = body[-1].removesuffix('"')
    return Intervention(_text(body, form, QUOTE_END), None, lines)


_SUBAGENT_TITLE = late_pattern(r"@?([^\s@(]+)(?:@([^\s(]+))?(?:\s+\(([^)]*)\))?\s*$")
_MODE = late_pattern(r"mode: *(inline|link|embed) *$")
_LINK = late_pattern(r"(?:(?:→|->) *)?(!?)\[\[([^\[\]|#]+)([^\[\]]*)\]\] *$")

EntriesReader = Callable[[list[str], int], tuple[Entry, ...]]


def read_subagent(raw: RawCallout, lines: Lines, form: int, read_entries: EntriesReader) -> Subagent:
    """Read `[!subagent]`.  For inline work, `read_entries` reads the entries as in a phase."""
    title = _SUBAGENT_TITLE.match(raw.title)
    agent = AgentRef(title[1], title[2]) if title else AgentRef(uncontain_line(raw.title, form=form) or "agent")
    model = title[3] or None if title else None
    body, mode = _take(raw.body, _MODE)
    if mode and mode[1] == Mode.INLINE:
        return _inline_subagent(agent, model, body, lines, form=form, read_entries=read_entries)
    body, link = _take(body, _LINK)
    head, labels = _take_labels(body, ("Summary",))
    kind = Mode(mode[1]) if mode else Mode.EMBED if link and link[1] else Mode.LINK
    folder, target = _parted(link[2].strip(), link[3]) if link else ("", None)
    summary = _labelled(labels, "Summary", form)
    return Subagent(agent, model, kind, target, _text(head, form), summary, lines=lines, folder=folder)


def _parted(target: str, rest: str) -> tuple[str, str]:
    """Split off the folder of a link that shows a name, as we write it; other targets are kept whole.

    After a rename in Obsidian, the link shows the old name.
    """
    folder, _, name = target.rpartition("/")
    return (folder, name) if rest.startswith("|") else ("", target)


def _take(lines: list[str], pattern: re.Pattern[str]) -> tuple[list[str], re.Match[str] | None]:
    """Remove the first line outside fences that matches `pattern`; return the other lines and the match."""
    fenced = fenced_lines(lines)
    for at, line in enumerate(lines):
        found = None if at in fenced else pattern.match(line)
        if found:
            return lines[:at] + lines[at + 1 :], found
    return lines, None


INLINE_QUOTE = Rule("inline-quote", r"\n {0,3}", ">", ">")
"""Escapes `>` in the task and text of an inline subagent, since the first quoted line begins the work below."""


def _inline_subagent(
    agent: AgentRef,
    model: str | None,
    body: list[str],
    lines: Lines,
    *,
    form: int,
    read_entries: EntriesReader,
) -> Subagent:
    """Read inline work: the task, then the entries quoted one level deeper, then the summary."""
    head, labels = _take_labels(body, ("Task", "Summary"))
    start = labels.get("Task", head)
    work_at = _work_start(start)
    entries = read_entries(unquote_lines(_trim(start[work_at:])), form)
    above = _text(start[:work_at], form, INLINE_QUOTE)
    text, task = (_text(head, form, INLINE_QUOTE), above) if "Task" in labels else (above, None)
    summary = _labelled(labels, "Summary", form)
    return Subagent(agent, model, Mode.INLINE, None, text, summary, task, entries, lines)


def _work_start(lines: list[str]) -> int:
    """The index of the first line of the quoted work."""
    fenced = fenced_lines(lines)
    return next((i for i, line in enumerate(lines) if line.startswith(">") and i not in fenced), len(lines))


def _read_other(raw: RawCallout, lines: Lines, form: int) -> Entry:
    return Callout(raw.kind, uncontain_line(raw.title, form=form), _text(raw.body, form), lines, raw.fold)


_READERS: dict[str, Callable[[RawCallout, Lines, int], Entry]] = {
    "decision": _read_decision,
    "error": _read_error,
    "user": _read_user,
    "milestone": _read_other,
    "observation": _read_other,
    "agent_switch": _read_other,
    "plan": _read_other,
    "tool": _read_other,
    "decision_needed": _read_other,
    "approval_required": _read_other,
    "task_complete": _read_other,
}
CALLOUT_KINDS = frozenset({*_READERS, "subagent", "abstract"})
"""The known callout kinds; others are read as prose."""


def read_entry(raw: RawCallout, lines: Lines, form: int, read_entries: EntriesReader) -> Entry | None:
    """Read a callout as an entry; None if its kind is unknown."""
    if raw.kind == "subagent":
        return read_subagent(raw, lines, form, read_entries)
    if raw.kind == "abstract":
        return _read_other(raw, lines, form) if raw.title.strip().casefold() == "brief" else None
    reader = _READERS.get(raw.kind)
    return reader(raw, lines, form) if reader else None


_AGENT_MARKER = late_pattern(r"@([\w.:/+-]+)(?:@([\w.:/+-]+))?$")
_CHANNEL_MARKER = late_pattern(r"#(?!\d+$)([\w.:/+-]+)$")


def read_heading(text: str, form: int = FORMAT) -> tuple[str, AgentRef | None, str | None]:
    """Split a heading into its name and trailing markers: one `@agent[@version]` and one `#channel`, in any order."""
    agent: AgentRef | None = None
    channel: str | None = None
    rest = text.rstrip(" \t")
    while rest:
        head, _, word = rest.rpartition(" ")
        if word[:1] == "@" and agent is None and (found := _AGENT_MARKER.match(word)):
            agent = AgentRef(found[1], found[2])
        elif word[:1] == "#" and channel is None and (found := _CHANNEL_MARKER.match(word)):
            channel = found[1]
        else:
            break
        rest = head.rstrip(" \t")
    return _read_name(rest, form), agent, channel


_MARKER_WORD = (late_pattern(r"\\*[@#]"), late_pattern(rf"\\*(?:@|#(?!{TAG}))"))


def protected(text: str, form: int) -> str:
    """Contain a name, with a backslash before its last word if that would be read as a marker."""
    head, blank, word = text.rpartition(" ")
    return f"{head}{blank}\\{word}" if _MARKER_WORD[form - 1].match(word) else text


def _read_name(text: str, form: int) -> str:
    """Decode a name; drops the backslash before a last word that looks like a marker."""
    head, blank, word = text.rpartition(" ")
    if word[:1] == "\\" and _MARKER_WORD[form - 1].match(word):
        text = f"{head}{blank}{word[1:]}"
    return uncontain_line(text, form=form)


_ALL_HASHES = late_pattern(r"\\+#+$")


def read_title(text: str, form: int = FORMAT) -> str:
    """Decode a title; drops the backslash before a last word that is all `#`."""
    head, blank, word = text.rpartition(" ")
    return uncontain_line(f"{head}{blank}{word[1:]}" if _ALL_HASHES.match(word) else text, form=form)
