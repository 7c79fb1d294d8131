"""The words of events, read where they stand: the index holds none.

Owns the short way, from an event's lines to its text without reading the note as a session, and its proof: the text's hash is in the
event's id.  Where the proof fails the note is read whole.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from crucible.core.files import LARGEST_NOTE
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import FORMAT, read_code, uncontain, uncontain_line
from crucible.search.recall import Event, Kind
from crucible.search.session_cards import Card, event_at, hash_of, place_at

__all__ = ["events_of_card"]

_CALL = late_pattern(r"[-*+] +`([^`]+)` (?:→|->)(?: (.*))?$")
_MARKS = "❌🚫⏹⏳"
_LABEL = late_pattern(r"\n\n(?=(?:Rationale|Alternatives|Cause|Resolution|Summary): )")
_UNTOLD = late_pattern(r"(?:\n{1,2}By:[^\n]*)?(?:\n{1,2}Source:[^\n]*)?\Z")
"""The last lines of a decision's or an error's callout: who chose, and what it stands on."""
_LINKED = late_pattern(r"^(?:mode:.*|(?:→ *|-> *)?!?\[\[.*\]\] *)(?:\n|$)", re.MULTILINE)
"""The lines of a subagent's callout that are not its words."""
_QUOTE = late_pattern(r"^> ?")
_HEAD = 20_000
_FORMAT = late_pattern(rf"^format: {FORMAT}$", re.MULTILINE)
"""If a note writes this differently, the hash does not match and the whole note is read."""
_LIKELY = 3
"""How many events of the same words are tried before the note is read whole."""


def events_of_card(root: str, card: Card, wanted: Sequence[int]) -> dict[int, Event]:
    """Some of a card's events with their texts, by their places in it, and where they stand now.  What stands nowhere any more has the text ""."""
    try:
        data = _bytes_of(os.path.realpath(f"{root}/{card.path}"), root)
    except (OSError, ValueError):
        return {at: event_at(card, at) for at in wanted}
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    found: dict[int, Event] = {}
    if "\r" not in text:
        lines, form = text.split("\n"), FORMAT if _FORMAT.search(text, 0, _HEAD) else 1
        for at in wanted:
            if (told := _short(card, lines, at, form)) is not None:
                found[at] = event_at(card, at, told)
    if len(found) < len(wanted):
        found = {**_whole(card, data, wanted), **found}
    return _with_records(root, card, found)


def _bytes_of(path: str, root: str) -> bytes:
    """A note's bytes; no more than we would read of one.  That it is whole its events' hashes prove: `vault.files` would hash it all."""
    if not path.startswith(root.rstrip(os.sep) + os.sep):
        raise ValueError(f"{path}: leads out of the vault")
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_NOTE:
            raise ValueError(f"{path}: no note")
        return file.read()


_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _short(card: Card, lines: Sequence[str], at: int, form: int) -> str | None:
    event, place = event_at(card, at), place_at(card, at)
    identity = event.id.rpartition("#")[2]
    for text in _candidates(event, lines[place.first : place.end], lines[event.line - 1 : event.line], form):
        if any(hash_of(event.kind, text, count) == identity for count in range(_LIKELY)):
            return text
    return None


def _candidates(event: Event, lines: Sequence[str], own: Sequence[str], form: int) -> Iterator[str]:
    """What the lines may say."""
    if event.kind is Kind.TOOL:
        if own and (told := _call(own[0], form)):
            yield told
        return
    if not lines or not lines[0].startswith(">"):
        yield uncontain("\n".join(lines).strip("\n"), form=form)
        return
    body = "\n".join(_QUOTE.sub("", line) for line in lines[1:]).strip("\n")
    if event.kind is Kind.USER:
        yield from (uncontain(text, form=form) for text in _words(body))
    elif event.kind is Kind.SUBAGENT:
        rest = uncontain(_LABEL.sub("\n", _LINKED.sub("", body).strip("\n")), form=form)
        yield f"{event.agent}\n{rest}" if rest else event.agent
    else:
        title = lines[0].partition("]")[2].lstrip("+-").strip()
        body = _UNTOLD.sub("", body) if event.kind in (Kind.DECISION, Kind.ERROR) else body
        text = uncontain(_LABEL.sub("\n", body), form=form)
        yield f"{uncontain_line(title, form=form)}\n{text}".strip("\n") if title else text


def _words(body: str) -> Iterator[str]:
    """A user's words, and what was made of them."""
    if body[:1] != '"':
        yield body
        return
    words, is_noted, note = body[1:].partition('" - ')
    yield f"{words}\n{note}" if is_noted else body[1:].removesuffix('"')


def _call(line: str, form: int) -> str:
    found = _CALL.match(line)
    if not found:
        return ""
    call, result = found[1], (found[2] or "").strip(" \t")
    if call[:1] == " " == call[-1:] and call.strip(" "):
        call = call[1:-1]
    if result[:1] and result[0] in _MARKS:
        result = result[1:].removeprefix("\ufe0f").lstrip(" ")
    elif result[:1] == "\\" and result.lstrip("\\")[:1] in _MARKS:
        result = result[1:]
    call, result = read_code(call, form), uncontain_line(result, form=form)
    return f"{call}\n{result}" if result else call


def _whole(card: Card, data: bytes, wanted: Sequence[int]) -> dict[int, Event]:
    """The note read as a session.  What changed since it was indexed is found by its id, or gone."""
    # Reading whole notes takes twice as long to load as a query takes, and is hardly ever needed.
    from crucible.search.embedded.documents import noted_events  # noqa: PLC0415

    noted = noted_events(card.path, data)
    found = {}
    for at in wanted:
        event = event_at(card, at)
        now = noted.get(event.id)
        # Lines that were put in above it move it.
        found[at] = replace(event, text=now.text, line=now.line) if now else event
    return found


def _with_records(root: str, card: Card, found: dict[int, Event]) -> dict[int, Event]:
    """With the whole text of what the flight recorder has."""
    keys = {at: some for at, event in found.items() if event.text and (some := place_at(card, at).keys)}
    if not keys:
        return found
    # Late for the same reason: few hits are calls that were recorded.
    from crucible.search.event_records import read_wholes  # noqa: PLC0415

    texts = read_wholes(Path(root), card.session, set(keys.values()))
    wholes = {at: replace(found[at], text=texts[some]) for at, some in keys.items() if some in texts}
    return {**found, **wholes}
