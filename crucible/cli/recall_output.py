"""Write what recall found as text, JSON, TOON or paths; text links open in Obsidian."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from crucible.cli.options import Door, local_now
from crucible.cli.output import clean_line, in_color, room_of, write_data
from crucible.cli.table_output import broadest, write_paths, write_rows
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.zones import local_day
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.markdown.wikilinks import strip_heading_for_link
from crucible.search.answers import UNCERTAIN, age_of_folded
from crucible.search.recall import Answer, Event, EventKind, Hit, Question, SessionHit, Snippet

_COLUMNS = ("id", "type", "at", "session", "phase", "phase_name", "line", "score", "snippet", "path")
_NEIGHBOUR, _NARROWEST = 160, 10
"""The maximum and minimum width of a neighbouring event."""
_INDENT = "   "
_BETWEEN_BLANKS = late_pattern(r"\S+")


def write_answer(
    root: Path, question: Question, answer: Answer, format_: str, door: Door, *, explain: bool, whole: bool
) -> None:
    """Write the answer to a question; `whole` shows full events instead of snippets."""
    if format_ == "json":
        write_data(_export(root, question, answer, explain=explain))
    elif format_ == "toon":
        write_rows([_row(hit) for hit in answer.hits], _COLUMNS, format_, "hits", door)
    elif format_ == "paths":
        found = [*(hit.path for hit in answer.hits), *(hit.path for hit in answer.sessions)]
        paths = dict.fromkeys(filter(None, found))
        write_paths(str(root), ".", [{"path": path} for path in paths], null=False, terminal=door.terminal)
    else:
        _write_text_answer(root, answer, door, explain=explain, whole=whole)


# --- for programs ----------------------------------------------------------------------------------------------------


def _row(hit: Hit) -> dict[str, Any]:
    told = _event(hit.event)
    return {
        **{name: told.get(name) for name in _COLUMNS},
        "score": round(hit.score, 4),
        "snippet": hit.snippet.text,
        "path": hit.path or None,
    }


def _export(root: Path, question: Question, answer: Answer, *, explain: bool) -> dict[str, Any]:
    return {
        "query": question.text,
        "hits": [_hit(root, hit, explain=explain) for hit in answer.hits],
        "sessions": [_session(root, hit, explain=explain) for hit in answer.sessions],
        "notes": list(answer.notes),
        "uncertain": answer.uncertain,
    }


def _hit(root: Path, hit: Hit, *, explain: bool) -> dict[str, Any]:
    return {
        **_event(hit.event),
        "score": round(hit.score, 4),
        **_parts(hit.parts, explain=explain),
        "snippet": _snippet(hit.snippet),
        "text": hit.event.text,
        "before": [_neighbour(one) for one in hit.before],
        "after": [_neighbour(one) for one in hit.after],
        "also": [{"id": one.id, "session": one.session, "at": _iso(one.at)} for one in hit.also],
        "path": hit.path or None,
        "wikilink": _wikilink(hit.event) or None,
        "link": _uri(root, hit.path, hit.event) or None,
    }


def _session(root: Path, hit: SessionHit, *, explain: bool) -> dict[str, Any]:
    return {
        "session": hit.session,
        "title": hit.title or None,
        "started": _iso(hit.started),
        "project": hit.project or None,
        "score": round(hit.score, 4),
        **_parts(hit.parts, explain=explain),
        "passage": _passage(hit.passage) if hit.passage else None,
        "path": hit.path or None,
        "link": _uri(root, hit.path) or None,
    }


def _passage(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.event.id,
        "type": hit.event.kind.value,
        "line": hit.event.line or None,
        "snippet": _snippet(hit.snippet),
    }


def _snippet(snippet: Snippet) -> dict[str, Any]:
    return {"text": snippet.text, "marks": [list(mark) for mark in snippet.marks]}


def _parts(parts: Mapping[str, float], *, explain: bool) -> dict[str, Any]:
    return {"parts": {name: round(value, 4) for name, value in parts.items()}} if explain else {}


def _event(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "type": event.kind.value,
        "session": event.session,
        "phase": event.phase or None,
        "phase_name": event.phase_name or None,
        "line": event.line or None,
        "at": _iso(event.at),
        "agent": event.agent or None,
        "channel": event.channel or None,
        "project": event.project or None,
        "title": event.title or None,
    }


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _neighbour(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "type": event.kind.value,
        "agent": event.agent or None,
        "at": _iso(event.at),
        "line": event.line or None,
        "text": event.text,
    }


# --- links -----------------------------------------------------------------------------------------------------------


def _wikilink(event: Event) -> str:
    """Return the wikilink to the event's note, or "" if it has none."""
    if event.kind is EventKind.KNOWLEDGE:
        return f"[[{event.id}]]"
    return f"[[{event.session}]]" if event.session else ""


def _uri(root: Path, path: str, event: Event | None = None) -> str:
    """Return the link that opens the note in Obsidian, at the heading of the event's phase."""
    if not path:
        return ""
    heading = _heading(root, path, event.line) if event and event.kind is not EventKind.KNOWLEDGE else ""
    place = path.removesuffix(".md") + (f"#{heading}" if heading else "")
    return f"obsidian://open?vault={quote(root.name, safe='')}&file={quote(place, safe='', errors='replace')}"


def _heading(root: Path, path: str, line: int) -> str:
    """Return the last phase heading above a line, in the form used in links."""
    try:
        lines = (root / path).read_text(encoding="utf-8", errors="replace").split("\n", line)[:line]
    except OSError:
        return ""
    found, fence = "", ""
    for one in lines:
        if fence:
            closes = one.startswith(fence) and not one.strip().strip(fence[0])
            fence = "" if closes else fence
        elif one.startswith(("```", "~~~")):
            fence = one[: len(one) - len(one.lstrip(one[0]))]
        elif one.startswith(("## ", "### ")):
            found = one
    return strip_heading_for_link(found.lstrip("#").strip()).strip()


# --- for people ------------------------------------------------------------------------------------------------------


def _write_text_answer(root: Path, answer: Answer, door: Door, *, explain: bool, whole: bool) -> None:
    color, room = in_color(door), room_of(door) or 0
    lines = [UNCERTAIN.capitalize()] if answer.uncertain else []
    now = local_now()
    for number, hit in enumerate(answer.hits, 1):
        lines += ["", *_hit_lines(root, number, hit, now, color=color, room=room, explain=explain, whole=whole)]
    if answer.sessions:
        lines += ["", click.style("Sessions", bold=True) if color else "Sessions"]
        for session in answer.sessions:
            lines += _session_lines(session, now, color=color, room=room, explain=explain)
    if lines:
        click.echo("\n".join(lines[1:] if not lines[0] else lines))


def _hit_lines(
    root: Path, number: int, hit: Hit, now: datetime, *, color: bool, room: int, explain: bool, whole: bool
) -> Iterator[str]:
    event = hit.event
    day = local_day(event.at, now).isoformat() if event.at else "undated"
    where = (
        event.title
        if event.kind is EventKind.KNOWLEDGE
        else " › ".join(filter(None, (event.session, event.phase_name)))
    )
    place = f", line {event.line}" if event.line and event.kind is not EventKind.KNOWLEDGE else ""
    head = clean_line(f"{number}. {day}  {event.speaker}  {where}{place}")
    yield from _wrapped(_words(head + _score_text(hit.score), room), room, first="", bold=color)
    for one in hit.before:
        yield _neighbour_line(one, color=color, room=room)
    if whole:
        yield from (f"{_INDENT}{clean_line(line)}".rstrip() for line in event.text.splitlines())
    else:
        yield from _wrapped(_marked_words(hit.snippet, color=color), room)
    for one in hit.after:
        yield _neighbour_line(one, color=color, room=room)
    if explain:
        yield from _wrapped(_words(_parts_text(hit.parts), room), room)
    if hit.also:
        yield from _wrapped(_words(clean_line(_also(hit, now)), room), room)
    # Links are never wrapped.
    yield from _wrapped(_words(clean_line(f"{event.id} {_uri(root, hit.path, event)}").rstrip(), room), room)


def _also(hit: Hit, now: datetime) -> str:
    """Return a line that names the sessions folded into a hit."""
    named = [f"{one.session} ({local_day(one.at, now)})" if one.at else one.session for one in hit.also]
    count = f"{len(named)} {age_of_folded(hit)} session{'s' if len(named) > 1 else ''}"
    return f"also in {count}: {', '.join(named)}"


def _score_text(score: float) -> str:
    """Format the score; "" for a query without words, whose results are sorted by time."""
    return f"  {score:.2f}" if score else ""


def _neighbour_line(event: Event, *, color: bool, room: int) -> str:
    width = min(max(room - len(_INDENT), _NARROWEST), _NEIGHBOUR) if room else _NEIGHBOUR
    text = clean_line(cut(f"{event.kind.value}: {normal_line(event.text[:2000])}", width))
    return _INDENT + (click.style(text, dim=True) if color else text)


def _marked_words(snippet: Snippet, *, color: bool) -> Iterator[_Word]:
    """Yield the snippet's words, with matches in bold and green if coloured."""
    for word in _BETWEEN_BLANKS.finditer(snippet.text):
        at, end = word.span()
        inside = [(max(first, at), min(last, end)) for first, last in snippet.marks if first < end and at < last]
        told, width = [], 0
        for first, last in inside:
            plain, marked = clean_line(snippet.text[at:first]), clean_line(snippet.text[first:last])
            shown = click.style(marked, fg="green", bold=True) if color else marked
            told += [plain, shown]
            width += _breadth(plain) + _breadth(marked)
            at = last
        rest = clean_line(snippet.text[at:end])
        yield _Word("".join([*told, rest]), width + _breadth(rest))


def _parts_text(parts: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.2f}" for name, value in parts.items())


def _session_lines(hit: SessionHit, now: datetime, *, color: bool, room: int, explain: bool) -> Iterator[str]:
    day = local_day(hit.started, now).isoformat() if hit.started else "undated"
    told = clean_line(f"{day}  {hit.session}  {cut(normal_line(hit.title[:500]), 60)}")
    told += _score_text(hit.score) + (f"  ({_parts_text(hit.parts)})" if explain else "")
    yield from _wrapped(_words(told, room), room, _INDENT * 2, first=_INDENT)
    if hit.passage:
        speaker = _words(clean_line(f"{hit.passage.event.speaker}:"), room)
        yield from _wrapped((*speaker, *_marked_words(hit.passage.snippet, color=color)), room, _INDENT * 2)


# --- lines -----------------------------------------------------------------------------------------------------------


class _Word(NamedTuple):
    """A word as displayed, and its width in columns."""

    shown: str
    width: int


def _breadth(text: str) -> int:
    """Return the width in columns.  Only wide letters are measured with rich, which loads slowly."""
    return len(text) if text.isascii() or all(map(_is_narrow, text)) else broadest([text])


def _is_narrow(letter: str) -> bool:
    # A regular expression for these ranges takes 6 ms to compile, a twentieth of a query's time.
    return letter < "\u0300" or "\u036f" < letter < "\u1100" or "\u1fff" < letter < "\u2300"


def _words(text: str, room: int) -> Iterator[_Word]:
    """Yield the words of a line, or the entire line if it is not wrapped (`room` 0)."""
    return (_Word(word, _breadth(word)) for word in (text.split(" ") if room else [text]))


def _wrapped(
    words: Iterable[_Word], room: int, indent: str = _INDENT, *, first: str | None = None, bold: bool = False
) -> Iterator[str]:
    """Wrap words into lines of at most `room` columns; 0 does not wrap."""
    line: list[str] = []
    used, begin = 0, indent if first is None else first
    for word in words:
        if line and room and len(begin) + used + 1 + word.width > room:
            yield _line(begin, line, bold=bold)
            line, used, begin = [], 0, indent
        if not line and not word.shown:  # the second of two spaces
            continue
        used += word.width + bool(line)
        line.append(word.shown)
    yield _line(begin, line, bold=bold)


def _line(begin: str, words: Sequence[str], *, bold: bool) -> str:
    told = " ".join(words).strip()
    return begin + (click.style(told, bold=True) if bold else told)
