"""Render the entries of a session, with ids and by level of detail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, assert_never

from markupsafe import Markup

from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.web.call_details import CallDetail
from crucible.web.markdown_html import (
    NoteLinks,
    escape_attribute,
    escape_text,
    kind_class,
    kind_words,
    no_notes,
    render_diff,
    render_markdown,
)


class Level(StrEnum):
    """How much of a session to show: the user's words and decisions, the whole conversation, or also tool calls."""

    USER = "user"
    TALK = "talk"
    FULL = "full"


_LEVELS = [*Level]
_OF_USER = frozenset(("decision_needed", "approval_required", "plan"))
_OF_TOOLS = frozenset(("tool",))


class Report(NamedTuple):
    """A session, the details of its calls by their ids on its own page, and its subagents' sessions by id."""

    session: Session
    details: Mapping[str, CallDetail] = {}
    below: Mapping[str, Report] = {}


class Shown(NamedTuple):
    """What the pages of a session may refer to and show.

    `details` has calls by id, for a page that contains them.  A live page leaves it empty and asks for each one
    (`has_log`).  `reports` has the sessions of subagents by id, for showing them in place.
    """

    level: Level = Level.FULL
    links: NoteLinks = no_notes
    details: Mapping[str, CallDetail] = {}
    has_log: bool = False
    reports: Mapping[str, Report] = {}


def numbered(entries: Iterable[Entry], above: str) -> Iterator[tuple[str, Entry]]:
    """Yield entries with their ids.  Ids stay the same when a note grows."""
    for number, entry in enumerate(entries, 1):
        yield f"{above}-{number}", entry


def phase_prefix(phase: Phase) -> str:
    """Return the prefix of the ids of a phase's entries."""
    return f"e{_number(phase)}"


def _number(phase: Phase) -> str:
    return phase.id.removeprefix("phase-")


def calls_of(session: Session) -> Iterator[tuple[str, ToolCall]]:
    """Yield all calls of a session with their ids, in the order of the note."""
    yield from _calls(session.preamble, "e0")
    for phase in session.all_phases():
        yield from _calls(phase.entries, phase_prefix(phase))


def _calls(entries: Iterable[Entry], above: str) -> Iterator[tuple[str, ToolCall]]:
    for name, entry in numbered(entries, above):
        if isinstance(entry, ToolCalls):
            yield from ((f"{name}-{at}", call) for at, call in enumerate(entry.calls, 1))
        elif isinstance(entry, Subagent):
            yield from _calls(entry.entries, name)


def render_entries(entries: Iterable[Entry], above: str, shown: Shown) -> Markup:
    """Render the entries that the level shows.

    A session has thousands, so they are written without templates, with few bytes each and without optional end tags.
    """
    return Markup(_entries_html(entries, above, shown))  # noqa: S704  every text is escaped or rendered


def _entries_html(entries: Iterable[Entry], above: str, shown: Shown) -> str:
    rank = _LEVELS.index(shown.level)
    return "".join(
        _entry(name, one, shown) for name, one in numbered(entries, above) if _LEVELS.index(level_of(one)) <= rank
    )


def level_of(entry: Entry) -> Level:
    """Return the first level that shows an entry."""
    match entry:
        case Intervention() | Decision():
            return Level.USER
        case Callout():
            return Level.USER if entry.kind in _OF_USER else Level.FULL if entry.kind in _OF_TOOLS else Level.TALK
        case ToolCalls():
            return Level.FULL
        case Prose() | Failure() | Subagent():
            return Level.TALK
        case _:
            assert_never(entry)


def _entry(name: str, entry: Entry, shown: Shown) -> str:
    match entry:
        case Prose():
            return f"<div class=md id={name}>{render_markdown(entry.text, shown.links, name)}</div>\n"
        case ToolCalls():
            return f"<ul class=calls id={name}>{_calls_html(name, entry.calls, shown)}</ul>\n"
        case Intervention():
            note = f"<small>{escape_text(entry.note)}</small>" if entry.note else ""
            return f"<div class=user id={name}>{escape_text(entry.words)}{note}</div>\n"
        case Decision():
            labels = {"Why": entry.rationale, "Alternatives": entry.alternatives, "By": entry.by}
            return _callout(name, "decision", _body(name, entry.text, labels, shown))
        case Failure():
            labels = {"Cause": entry.cause, "Fixed": entry.resolution}
            return _callout(name, "error", _body(name, entry.text, labels, shown))
        case Subagent():
            return _subagent(name, entry, shown)
        case Callout():
            return _callout(name, entry.kind, _body(name, entry.text, {}, shown), escape_text(entry.title), entry.fold)
        case _:
            assert_never(entry)


def _callout(name: str, kind: str, body: str, title: str = "", fold: str = "") -> str:
    """Render a callout; `title` is HTML.  A fold mark makes it foldable."""
    words = f"<b>{escape_text(kind_words(kind))}</b>{f' {title}' if title else ''}"
    classes = f'class="c {kind_class(kind)}" id={name}'
    if fold:
        is_open = " open" if fold == "+" else ""
        return f"<details {classes}{is_open}><summary>{words}</summary>{body}</details>\n"
    return f"<div {classes}>{f'<p>{words}</p>' if title else words}{body}</div>\n"


def _body(name: str, text: str, labels: Mapping[str, str | None], shown: Shown) -> str:
    pairs = [f"<dt>{label}<dd>{_inline(name, value, shown)}" for label, value in labels.items() if value]
    return str(render_markdown(text, shown.links, name)) + (f"<dl>{''.join(pairs)}</dl>" if pairs else "")


def _inline(name: str, text: str, shown: Shown) -> str:
    """Render Markdown, without the paragraph if there is only one."""
    html = str(render_markdown(text, shown.links, name)).rstrip("\n").removesuffix("</p>")
    return html[3:] if html.rfind("<p>") == 0 and "</p>" not in html else html


def _subagent(name: str, entry: Subagent, shown: Shown) -> str:
    agent = escape_text(" ".join(filter(None, (f"@{entry.agent}", f"({entry.model})" if entry.model else ""))))
    href = shown.links(f"{entry.folder}/{entry.link}" if entry.folder else entry.link) if entry.link else None
    title = f'<a href="{escape_attribute(href)}">{agent}</a>' if href else agent
    body = _body(name, entry.text, {"Task": entry.task, "Summary": entry.summary}, shown)
    work = _entries_html(entry.entries, name, shown) + _report(name, entry.link or "", shown)
    if work:
        body += f"<details class=work><summary>Work of {agent}</summary>{work}</details>"
    return _callout(name, "subagent", body, title)


def _report(name: str, link: str, shown: Shown) -> str:
    """Render a subagent's own session in place.  Its callout's id is the prefix of its entries' ids."""
    report = shown.reports.get(link)
    if report is None:
        return ""
    session = report.session
    details = {f"{name}-{_IN_PLACE}{key.removeprefix('e')}": detail for key, detail in report.details.items()}
    inside = shown._replace(reports=report.below, details=details)
    phases = [*session.all_phases()]
    parts = [_entries_html(session.preamble, f"{name}-{_IN_PLACE}0", inside)]
    for phase in phases:
        parts.append(f"<p class=facts>{escape_text(phase.name)}</p>\n" if len(phases) > 1 else "")
        parts.append(_entries_html(phase.entries, f"{name}-{_IN_PLACE}{_number(phase)}", inside))
    return "".join(parts)


_IN_PLACE = "r"
"""The prefix of entry ids in a session that is shown in place, instead of `e`."""


def call_in_place(session: Session, call: str) -> tuple[str, str]:
    """Return the subagent's session that a call's id on a page belongs to, "" for the page's own, and its id there."""
    name, mark, rest = call.partition(f"-{_IN_PLACE}")
    if not mark:
        return "", call
    places = [("e0", session.preamble), *((phase_prefix(one), one.entries) for one in session.all_phases())]
    links = (link for above, entries in places for link in _links_at(entries, above, name))
    return next(links, ""), f"e{rest}"


def _links_at(entries: Iterable[Entry], above: str, name: str) -> Iterator[str]:
    for at, entry in numbered(entries, above):
        if isinstance(entry, Subagent):
            if at == name and entry.link:
                yield entry.link
            yield from _links_at(entry.entries, at, name)


# --- tool calls ------------------------------------------------------------------------------------------------------

_ENDS = {
    Outcome.OK: "",
    Outcome.FAILED: "failed",
    Outcome.REJECTED: "rejected",
    Outcome.INTERRUPTED: "interrupted",
    Outcome.PENDING: "no result",
}
"""Words instead of the marks in notes, which some fonts lack and screen readers spell out."""


def _calls_html(name: str, calls: Sequence[ToolCall], shown: Shown) -> str:
    return "".join(_call(call, shown.details.get(f"{name}-{at}")) for at, call in enumerate(calls, 1))


def _call(call: ToolCall, detail: CallDetail | None) -> str:
    """Render a call.  The script adds its id, the list's with a hyphen and its number."""
    tool, _, arguments = call.call.partition(" ")
    result = ": ".join(filter(None, (_ENDS[call.outcome], escape_text(call.result))))
    bad = "" if call.outcome is Outcome.OK else " class=bad"
    line = f"<b>{escape_text(tool)}</b> {escape_text(arguments)}{f' <i>{result}</i>' if result else ''}"
    if detail is None:
        return f"<li{bad}>{line}"
    return f"<li{bad}><details><summary>{line}</summary>{render_detail(detail)}</details>"


def render_detail(detail: CallDetail) -> Markup:
    """Render a call's details from the event log."""
    parts = [
        f"<pre tabindex=0 class=diff>{render_diff(detail.diff)}</pre>" if detail.diff else "",
        f"<pre tabindex=0>{escape_text(detail.arguments)}</pre>" if detail.arguments else "",
        f"<pre tabindex=0>{escape_text(detail.output)}</pre>" if detail.output else "",
        f"<p class=facts>{escape_text(detail.mark)}</p>" if detail.mark else "",
    ]
    return Markup("".join(parts))  # noqa: S704  every text is escaped
