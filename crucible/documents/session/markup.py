"""Render the parts of a session as the lines of a note; `session_reader` and `note_entries` read them back.

All text from agents, tools and users is contained here.  Names, titles and results are cut to one line first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, code_span
from crucible.documents.markdown.containment import QUOTE_END, contain, contain_line, cut, normal, normal_line, slug
from crucible.documents.markdown.containment_inline import Rule
from crucible.documents.markdown.fences import fenced_lines
from crucible.documents.markdown.frontmatter import render_frontmatter
from crucible.documents.markdown.line_scan import SEPARATOR, TOOLS_LINE, quote_lines
from crucible.documents.session.bookkeeping import render_bookkeeping, split_values
from crucible.documents.session.findings_block import render_findings, render_grounds
from crucible.documents.session.note_entries import INLINE_QUOTE, MARKS, OWN_LABELS, protected
from crucible.documents.session.properties import format_time, properties_of
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import (
    ENDED,
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Grounds,
    Intervention,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.task_block import render_tasks
from crucible.documents.session.task_list import render_task_list

CALL_LIMIT = 200
"""Maximum code points of a call; a longer one is cut and ends in `…`."""

RESULT_LIMIT = 100
"""Maximum code points of a result; a longer one is cut and ends in `…`."""

# --- one line --------------------------------------------------------------------------------------------------------

_HASHES = late_pattern(r"\\*#+$")


def render_heading(
    level: int,
    name: str,
    agent: AgentRef | None = None,
    channel: str | None = None,
    form: int = FORMAT,
) -> str:
    """Render `## Name @agent@version #channel`."""
    text = contain_line(normal_line(name), form=form) or "Untitled"
    if text.casefold() == "summary" and level == 2 and not agent and not channel:
        text += " (phase)"  # without a marker it would be read as the session's summary
    markers = [_agent_marker(agent)] if agent else []
    if channel and (found := slug(channel, "channel")):
        markers.append(f"#{found}")
    return " ".join(["#" * level, protected(text, form), *markers])


def _agent_marker(agent: AgentRef) -> str:
    name = slug(agent.name, "agent")
    return f"@{name}@{slug(agent.version, 'version')}" if agent.version else f"@{name}"


def render_title(title: str, form: int = FORMAT) -> str:
    """The note's `# Title`."""
    text = contain_line(normal_line(title), form=form) or "Untitled"
    head, blank, word = text.rpartition(" ")
    return f"# {head}{blank}\\{word}" if _HASHES.match(word) else f"# {text}"


_MARKED = late_pattern(rf"\\*(?:{'|'.join(MARKS.values())})")


def render_call(call: ToolCall, form: int = FORMAT) -> str:
    """Render one item of a tool-call list."""
    line = cut(normal_line(call.call.replace("\n", "⏎")), CALL_LIMIT)
    result_text = cut(normal_line(call.result.replace("\n", "⏎")), RESULT_LIMIT)
    result = contain_line(result_text, form=form, before=line)
    if call.outcome is not Outcome.OK:
        result = f"{MARKS[call.outcome]} {result}".rstrip(" ")
    elif _MARKED.match(result):
        result = f"\\{result}"
    return f"- {code_span(line, form, result_text)} → {result}".rstrip(" ")


# --- entries ---------------------------------------------------------------------------------------------------------


def render_entry(entry: Entry, form: int = FORMAT) -> list[str]:
    """The lines of one entry, without blank lines around it; none if it is empty.

    `form` is the note's `format`.
    """
    match entry:
        case Prose():
            return _block(entry.text, form)
        case ToolCalls():
            return [TOOLS_LINE, *(render_call(call, form) for call in entry.calls)] if entry.calls else []
        case Decision():
            choice = {"Rationale": entry.rationale, "Alternatives": entry.alternatives, "By": entry.by}
            return _callout("decision", "", _labelled_body(entry.text, choice, entry.grounds, form))
        case Failure():
            why = {"Cause": entry.cause, "Resolution": entry.resolution}
            return _callout("error", "", _labelled_body(entry.text, why, entry.grounds, form))
        case Intervention():
            return _callout("user", "", _words(entry, form))
        case Subagent():
            return _subagent(entry, form)
        case Callout():
            title = contain_line(normal_line(entry.title), form=form)
            return _callout(entry.kind, title, _block(entry.text, form), entry.fold)
        case _:
            assert_never(entry)


def _block(text: str, form: int, *extra: Rule, before: str = "", after: str = "") -> list[str]:
    safe = contain(normal(text), extra=extra, form=form, before=before, after=after)
    return safe.split("\n") if safe else []


def _callout(kind: str, title: str, body: Sequence[str], fold: str = "") -> list[str]:
    return [f"> [!{kind}]{fold} {title}".rstrip(" "), *quote_lines(body)]


_OPENS_BLOCK = late_pattern(r"[ \t]|[-+*>#|`~=_]|\d+[.)]")


def _labelled_body(text: str, labels: Mapping[str, str | None], grounds: Grounds | None, form: int) -> list[str]:
    """Render a text and its labels, with a blank line before a label unless each part above it is one plain line."""
    present = {label: more for label, more in labels.items() if more is not None}
    texts = [text, *present.values()]
    parts = [_block(text, form, OWN_LABELS, after="\n".join(texts[1:]))]
    for at, (label, more) in enumerate(present.items(), 1):
        near = {"before": "\n".join(texts[:at]), "after": "\n".join(texts[at + 1 :])}
        parts.append(_label(label, _block(more, form, OWN_LABELS, **near)))
    if source := render_grounds(grounds):
        parts.append([f"Source: {source}"])
    return _stacked(parts)


def _stacked(parts: Sequence[list[str]]) -> list[str]:
    lines, plain = list[str](), True
    for part in parts:
        lines += part if plain or not lines else ["", *part]
        plain = plain and _is_plain(part)
    return lines


def _is_plain(lines: Sequence[str]) -> bool:
    return not lines or (len(lines) == 1 and not _OPENS_BLOCK.match(lines[0]))


def _label(label: str, lines: Sequence[str]) -> list[str]:
    if lines and not _OPENS_BLOCK.match(lines[0]):
        return [f"{label}: {lines[0]}", *lines[1:]]
    return [f"{label}:", *lines]


def _labelled(above: list[str], label: str, text: str | None, form: int, *extra: Rule, before: str = "") -> list[str]:
    if text is None:
        return above
    return _stacked([above, _label(label, _block(text, form, *extra, before=before))])


def _words(entry: Intervention, form: int) -> list[str]:
    """The quoted words, then the note."""
    words = _block(entry.words, form, QUOTE_END, after=entry.note or "")
    if fenced_lines(words):
        lines = ['"', *words, '"']
    else:
        words = words or [""]
        words[-1] += '"'
        lines = [f'"{words[0]}', *words[1:]]
    note = _block(entry.note or "", form, before=entry.words)
    if not note:
        return lines
    if _OPENS_BLOCK.match(note[0]):
        return [*lines[:-1], f"{lines[-1]} -", *note]
    return [*lines[:-1], f"{lines[-1]} - {note[0]}", *note[1:]]


def _subagent(entry: Subagent, form: int) -> list[str]:
    """The lines of a subagent callout: mode and link, then the text and the summary."""
    title = _agent_marker(entry.agent)
    if entry.model:
        title += f" ({slug(entry.model, 'model')})"
    lines = [f"mode: {entry.mode}"]
    if entry.mode is Mode.INLINE:
        return _callout("subagent", title, [*lines, *_inline_work(entry, form)])
    if entry.link:
        lines.append(f"{'!' if entry.mode is Mode.EMBED else ''}{link_to(entry.link, entry.folder)}")
    text = _block(entry.text, form, after=entry.summary or "")
    if text:
        text = ["", *text] if _OPENS_BLOCK.match(text[0]) else text
    return _callout("subagent", title, [*lines, *_labelled(text, "Summary", entry.summary, form, before=entry.text)])


def _inline_work(entry: Subagent, form: int) -> list[str]:
    lines = _block(entry.text, form, INLINE_QUOTE, after=entry.task or "")
    if entry.task is not None:
        lines = _labelled(lines, "Task", entry.task, form, INLINE_QUOTE, before=entry.text)
    work = quote_lines(render_body(entry.entries, form))
    if work:
        lines = [*lines, "", *work]
    if entry.summary is None:
        return lines
    return [*lines, "", *_labelled([], "Summary", entry.summary, form)]


# --- sections --------------------------------------------------------------------------------------------------------


def render_body(entries: Iterable[Entry], form: int = FORMAT) -> list[str]:
    """The lines of entries, with blank lines between them."""
    lines: list[str] = []
    calls_before = False
    for entry in entries:
        new = render_entry(entry, form)
        if not new:
            continue
        if lines:
            lines.append("")
        if calls_before and separates(new):
            lines += [SEPARATOR, ""]
        lines += new
        calls_before = isinstance(entry, ToolCalls)
    return lines


_CONTINUES_LIST = late_pattern(r"[ \t]|[-+*](?:[ \t]|$)|\d+[.)](?:[ \t]|$)")


def separates(lines: Sequence[str]) -> bool:
    """True if prose with these lines would continue a list of tool calls above it."""
    return bool(lines) and bool(_CONTINUES_LIST.match(lines[0]))


def render_phase_fields(phase: Phase) -> list[str]:
    """The inline fields that the phase has."""
    fields = []
    if phase.started:
        fields.append(f"started:: {format_time(phase.started)}")
    if phase.ended:
        fields.append(f"ended:: {format_time(phase.ended)}")
    if phase.tokens is not None:
        fields.append(f"tokens:: {phase.tokens}")
    return fields


def render_phase(phase: Phase, level: int = 2, form: int = FORMAT) -> list[str]:
    """The lines of a phase: heading, fields, entries and sub-phases, separated by blank lines."""
    lines = [render_heading(level, phase.name, phase.agent, phase.channel, form)]
    for part in (render_phase_fields(phase), render_body(phase.entries, form)):
        if part:
            lines += ["", *part]
    for sub in phase.subphases:
        lines += ["", *render_phase(sub, level + 1, form)]
    return lines


def render_session(session: Session) -> str:
    """Render a new note, with LF line endings and a final newline."""
    form = session.format
    parts = [[render_title(session.title or session.id, form)], render_body(session.preamble, form)]
    if session.tasks:
        as_json = session.home.json_tasks or form < FORMAT
        is_ended = session.status in ENDED
        tasks = render_tasks(session.tasks) if as_json else render_task_list(session.tasks, is_ended=is_ended)
        parts.append(tasks)
    parts.append(render_findings(session.findings, form))
    for at, phase in enumerate(session.phases):
        parts.append([*(["---", ""] if at else []), *render_phase(phase, form=form)])
    if session.summary is not None:
        parts.append([*(["---", ""] if session.phases else []), "## Summary", "", *_block(session.summary, form)])
    body = "\n\n".join("\n".join(part) for part in parts if part)
    properties, ours = split_values(properties_of(session))
    comment = "".join(f"\n{line}" for line in ["", *render_bookkeeping(ours)]) if ours else ""
    return f"{render_frontmatter(properties)}\n{body.rstrip(chr(10))}{comment}\n"
