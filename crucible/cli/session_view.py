"""Draw a session for a terminal with rich: properties as a header, callouts as coloured panels, embeds in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias, assert_never

from rich.console import Console, ConsoleRenderable, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from crucible.cli.options import Door
from crucible.cli.output import clean, clean_line, given_width
from crucible.cli.terminal_markdown import markdown
from crucible.commands.check.check_vault import Finding, is_attachment
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.source import Problem
from crucible.documents.markdown.wikilinks import Link, display, find_links, heading_key
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.findings_block import render_grounds
from crucible.documents.session.property_values import linktext_of
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_json import export_time
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Note, Vault

_DEEPEST = 8
"""Maximum nesting; deeper levels would have no width left."""


@dataclass(frozen=True, slots=True)
class View:
    """A note with its embeds by line (from 0): each a view, or the reason why it cannot be shown."""

    note: Note
    heading: str = ""
    embeds: Mapping[int, tuple[View | str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class _Walk:
    vault: Vault
    links: LinkTable
    seen: set[Path] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def view(self, note: Note, heading: str, above: tuple[Path, ...]) -> View:
        self.seen.add(note.path)
        self.findings += [Finding(note.path, p) for p in note.session.problems]
        here = (*above, note.path)
        embeds: dict[int, tuple[View | str, ...]] = {}
        for link in find_links(note.source):
            if link.embed and link.target and not is_attachment(link):
                line = note.source.line_of(link.span.start)
                embeds[line] = (*embeds.get(line, ()), self.follow(note, link, line, here))
        return View(note, heading, embeds)

    def follow(self, note: Note, link: Link, line: int, here: tuple[Path, ...]) -> View | str:
        name = self.links.resolve(link.target, self.vault.relative(note.path)).path
        if name is None:
            return self.report(note, line, "broken-embed", f"no note for ![[{link.target}]]")
        found = self.vault.root / name
        if found in here:
            return self.report(note, line, "embed-cycle", f"![[{link.target}]] is embedded in itself")
        if found in self.seen:
            return f"{found.stem} is shown above"
        if len(here) > _DEEPEST:
            return self.report(note, line, "embed-too-deep", f"![[{link.target}]] is more than {_DEEPEST} embeds deep")
        try:
            return self.view(self.vault.read(found), link.subpath or "", here)
        except CrucibleError as error:
            return self.report(note, line, "unreadable-embed", str(error))

    def report(self, note: Note, line: int, code: str, message: str) -> str:
        self.findings.append(Finding(note.path, Problem(code, line + 1, message)))
        return message


def expand(vault: Vault, links: LinkTable, note: Note) -> tuple[View, list[Finding]]:
    """Load everything that a note embeds, each note once; returns the view and all problems found."""
    walk = _Walk(vault, links)
    return walk.view(note, "", ()), walk.findings


_Drawn: TypeAlias = Iterator[ConsoleRenderable]

_STATUS = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red", "success": "green"}
_KINDS = {
    "decision": "green",
    "error": "red",
    "user": "blue",
    "subagent": "magenta",
    "milestone": "yellow",
    "observation": "cyan",
    "agent_switch": "bright_black",
    "plan": "cyan",
    "decision_needed": "yellow",
    "approval_required": "yellow",
    "task_complete": "green",
    "abstract": "cyan",
}
_CALLS = {
    Outcome.OK: ("✓", "green"),
    Outcome.FAILED: ("❌", "red"),
    Outcome.REJECTED: ("🚫", "red"),
    Outcome.INTERRUPTED: ("⏹", "yellow"),
    Outcome.PENDING: ("⏳", "yellow"),
}
_HEIGHT = 25
_PART = 100
"""Maximum entries to draw at once."""
_TASKS = {"completed": ("☑", "green"), "in_progress": ("◐", "yellow"), "pending": ("☐", "")}


def console_for(door: Door) -> Console:
    """Return a rich console for standard output, with the colours that the options select."""
    width = given_width()
    # A fixed height keeps rich from reading LINES; nothing here depends on it.
    if door.color is None:
        return Console(highlight=False, width=width, height=_HEIGHT)
    system: Literal["auto"] | None = "auto" if door.color else None
    return Console(
        highlight=False,
        width=width,
        height=_HEIGHT,
        force_terminal=door.color,
        color_system=system,
        no_color=not door.color,  # explicit, since rich would read NO_COLOR
    )


def draw(view: View, phase: Phase | None = None) -> Iterator[Group]:
    """Draw a session, or one of its phases, in parts that need little memory."""
    parts = _note(view) if phase is None else _phase(phase, view)
    while part := [*islice(parts, _PART)]:
        yield Group(*part)


def _note(view: View) -> _Drawn:
    session = view.note.session
    chosen = [p for p in session.all_phases() if view.heading and _is_named(p, view.heading)]
    if chosen:
        yield from _phase(chosen[0], view)
        return
    yield _header(session)
    yield from _entries(session.preamble, view)
    if session.tasks:
        yield _tasks(session.tasks)
    if session.findings:
        yield _findings(session.findings)
    for phase in session.phases:
        yield from _phase(phase, view)
    if session.summary:
        yield _rule("Summary", "bold")
        yield markdown(session.summary)


_OMITTED = frozenset(
    [
        "type",
        "title",
        "aliases",
        "date",
        "format",
        "started_local",
        "subagents",
        "subagent_logs",
        "sources",
        "synced_to",
        "usage",
        "recording",
    ]
)
"""Properties that the header omits: they are for programs, or shown elsewhere."""


def _is_named(phase: Phase, heading: str) -> bool:
    """True if a link's heading names this phase: its full heading without `#`, as in Obsidian, or its name."""
    markers = [f"@{phase.agent}" if phase.agent else "", phase.channel or ""]
    whole = " ".join([phase.name, *filter(None, markers)])
    return heading_key(heading) in (heading_key(phase.name), heading_key(whole))


def _header(session: Session) -> ConsoleRenderable:
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for key, value in session.properties.items():
        if key not in _OMITTED:
            rows.add_row(_plain(key), _plain(_value(value), _STATUS.get(str(value), "") if key == "status" else ""))
    duration = session.duration()
    if duration is not None:
        rows.add_row("duration", str(duration))
    return Panel(rows, title=_plain(session.title or session.id, "bold"), border_style="bright_black")


def _value(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(_value(v) for v in value)
    if isinstance(value, Mapping):
        return " ".join(f"{k}={_value(v)}" for k, v in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith("[[") and value.endswith("]]"):
        return display(linktext_of(value))
    return "" if value is None else str(value)


def _tasks(tasks: Iterable[Task]) -> ConsoleRenderable:
    lines = Text()
    for task in tasks:
        mark, style = _TASKS.get(task.status, ("?", ""))
        waits = f"  after {', '.join(task.depends_on)}" if task.depends_on else ""
        lines.append(f"{mark} ", style)
        lines.append(clean_line(f"{task.id}. {task.content}{waits}") + "\n")
    lines.rstrip()
    return Panel(lines, title=_plain("tasks"), title_align="left", border_style="bright_black")


def _findings(items: Iterable[FindingItem]) -> ConsoleRenderable:
    lines = Text()
    for item in items:
        kinds = " and ".join(filter(None, (item.kind, item.also)))
        lines.append(f"{clean_line(kinds).replace('_', ' ')}: ", "bold")
        lines.append(clean_line(item.text))
        lines.append(f" ({clean_line(item.grounds.source)})\n" if item.grounds else "\n", "dim")
        if item.details:
            lines.append(f"  {clean_line(item.details)}\n", "dim")
        if item.evidence:
            lines.append(f"  {clean_line(item.evidence)}\n", "dim")
        for point in item.points:
            lines.append(f"  - {clean_line(point)}\n")
    lines.rstrip()
    return Panel(lines, title=_plain("findings"), title_align="left", border_style="bright_black")


def _phase(phase: Phase, view: View) -> _Drawn:
    marks = [f"@{phase.agent}" if phase.agent else "", f"#{phase.channel}" if phase.channel else ""]
    number = phase.id.removeprefix("phase-")
    yield Text()
    yield _rule(" ".join([number, phase.name, *filter(None, marks)]), "bold")
    times = [export_time(phase.started), export_time(phase.ended)]
    facts = [" → ".join(t for t in times if t), f"{phase.tokens} tokens" if phase.tokens is not None else ""]
    if any(facts):
        yield _plain("  ".join(filter(None, facts)), "dim")
    yield from _entries(phase.entries, view)
    for sub in phase.subphases:
        yield from _phase(sub, view)


def _rule(title: str, style: str) -> ConsoleRenderable:
    return Rule(_plain(title, style), align="left", style="bright_black")


def _entries(entries: Iterable[Entry], view: View) -> _Drawn:
    for entry in entries:
        within = range(entry.lines.first, entry.lines.end)
        embedded = [(line, e) for line in within for e in view.embeds.get(line, ())]
        if embedded and isinstance(entry, Prose):
            yield from _prose_with_embeds(entry.text, embedded, view)
        else:
            yield _entry(entry)
            for _, one in embedded:
                yield _embedded(one)


def _prose_with_embeds(text: str, embedded: list[tuple[int, View | str]], view: View) -> _Drawn:
    """Draw text with each embed in place of its line, which is found by the text of the line."""
    shown: list[str] = []
    waiting = [(view.note.source.lines[line].strip(" \t"), one) for line, one in embedded]
    for line in text.split("\n"):
        if waiting and line.strip(" \t") == waiting[0][0]:
            if any(shown):
                yield markdown("\n".join(shown))
            shown = []
            while waiting and line.strip(" \t") == waiting[0][0]:
                yield _embedded(waiting.pop(0)[1])
        else:
            shown.append(line)
    if any(shown):
        yield markdown("\n".join(shown))
    for _, one in waiting:
        yield _embedded(one)


def _embedded(one: View | str) -> ConsoleRenderable:
    if isinstance(one, str):
        return _plain(f"  ({one})", "dim italic")
    name = one.note.path.stem + (f"#{one.heading}" if one.heading else "")
    return Panel(Group(*_note(one)), title=_plain(name, "magenta"), title_align="left", border_style="magenta")


def _entry(entry: Entry) -> ConsoleRenderable:
    match entry:
        case Prose():
            return Padding(markdown(entry.text), (0, 0, 1, 0))
        case ToolCalls():
            return Padding(Text("\n").join(_call(c) for c in entry.calls), (0, 0, 1, 2))
        case Decision():
            value = {"Rationale": entry.rationale, "Alternatives": entry.alternatives, "By": entry.by}
            return _callout("decision", "", entry.text, value, entry.grounds)
        case Failure():
            value = {"Cause": entry.cause, "Resolution": entry.resolution}
            return _callout("error", "", entry.text, value, entry.grounds)
        case Intervention():
            return _panel("user", "", [Text(clean(f'"{entry.words}"')), *_labelled("", entry.note)])
        case Subagent():
            return _subagent(entry)
        case Callout():
            return _callout(entry.kind, entry.title, entry.text)
        case _:
            assert_never(entry)


def _call(call: ToolCall) -> Text:
    mark, style = _CALLS[call.outcome]
    line = Text(f"{mark} ", style=style)
    line.append(clean_line(call.call), "cyan")
    if call.result:
        line.append(clean_line(f" → {call.result}"), style if call.outcome is not Outcome.OK else "dim")
    return line


def _subagent(entry: Subagent) -> ConsoleRenderable:
    model = f" ({entry.model})" if entry.model else ""
    parts: list[ConsoleRenderable] = []
    if entry.link:
        parts.append(_plain(f"→ {entry.link}", "magenta"))
    parts += _labelled("Task", entry.task)
    if entry.text:
        parts.append(markdown(entry.text))
    parts += [_entry(e) for e in entry.entries]
    parts += _labelled("Summary", entry.summary)
    return _panel("subagent", f"@{entry.agent}{model}", parts)


def _callout(
    kind: str,
    title: str,
    text: str,
    labels: Mapping[str, str | None] | None = None,
    grounds: Grounds | None = None,
) -> ConsoleRenderable:
    parts: list[ConsoleRenderable] = [markdown(text)] if text else []
    for label, value in (labels or {}).items():
        parts += _labelled(label, value)
    if grounds:
        parts.append(_plain(render_grounds(grounds), "dim"))
    if not parts:  # the box would be empty
        style = _KINDS.get(kind, "white")
        return Padding(_plain(f"{kind} {title}".rstrip(), f"bold {style}"), (0, 0, 1, 2))
    return _panel(kind, title, parts)


def _labelled(label: str, value: str | None) -> list[ConsoleRenderable]:
    if not value:
        return []
    name = [_plain(f"{label}:", "bold")] if label else []
    return [*name, markdown(value)]


def _panel(kind: str, title: str, parts: list[ConsoleRenderable]) -> ConsoleRenderable:
    style = _KINDS.get(kind, "white")
    return Panel(
        Group(*parts),
        title=_plain(f"{kind} {title}".rstrip(), f"bold {style}"),
        title_align="left",
        border_style=style,
    )


def _plain(text: str, style: str = "") -> Text:
    """Return a header value or a title as one line."""
    return Text(clean_line(text), style=style)
