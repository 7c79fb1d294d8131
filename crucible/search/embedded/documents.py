"""Build the index's documents from a note: the words and facts of each event and of the entire session.

Imported late: a question about unchanged notes builds no documents.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.files import inside, read_bytes
from crucible.core.patterns import late_pattern
from crucible.core.processes import Workers, cores, spread
from crucible.documents.markdown.source import NOWHERE, Source
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from crucible.search.embedded.index_format import KINDS, TextPlace, dump_card
from crucible.search.question_words import field_value, indexable, names_in, with_name_parts, words_in
from crucible.search.recall import RECALLED, Document, Event, EventKind, Progress, seconds_of
from crucible.search.session_events import PlacedEvent, document_of, events_of, recorded_calls
from crucible.vault.events.event_files import log_files_of_note

_WORTH_PROCESSES = 100
"""Minimum number of notes for which several processes are faster, despite their start-up time."""
_CHUNK = 4
"""Number of notes passed to a process at a time.  The documents of several chunks are in memory at once."""


class Indexed(NamedTuple):
    """A document of the index: an event (`number` is its position in the card) or an entire session.

    `facts` are `field:value`; times are seconds since 1970.  `reply` is the position of what follows a question, 0 for
    anything else.  `kind` is the position of an event's kind in `KINDS`.  `heading` is more text of an event, and the
    text of a session continues with its `said` events.
    """

    number: int
    text: str
    names: str
    facts: tuple[str, ...]
    first: int
    last: int
    reply: int = 0
    kind: int = 0
    heading: str = ""


class Derived(NamedTuple):
    """The documents of a note: its events, the entire session (None for a knowledge item), and its card.

    `size` is the number of bytes of text.
    """

    path: str
    sha: str
    session: str
    card: bytes
    events: tuple[Indexed, ...] = ()
    whole: Indexed | None = None
    size: int = 0

    def text(self) -> str:
        """Return the text of the entire session."""
        return "\n".join([self.whole.text if self.whole else "", *(one.text for one in said(self.events))])


def derive_notes(
    root: str, paths: Sequence[str], progress: Progress | None = None, workers: Workers | None = None
) -> Iterator[Derived | None]:
    """Yield the documents of each note, in order; None for a note that is gone or unreadable.

    Without `workers`, many notes are read on all cores.
    """
    workers = workers or Workers(cores() if len(paths) >= _WORTH_PROCESSES else 1)
    chunks = [[*paths[at : at + _CHUNK]] for at in range(0, len(paths), _CHUNK)]
    done = 0
    for derived in _spread(root, chunks, workers):
        yield from derived
        done += len(derived)
        if progress:
            progress(done, len(paths))


def _spread(root: str, chunks: Sequence[list[str]], workers: Workers) -> Iterator[list[Derived | None]]:
    if not workers.copy:
        return spread(partial(_derive_chunk, root), chunks, workers)
    from crucible.core.vault_copies import spread_on_copy  # noqa: PLC0415  needed for buckets only

    return spread_on_copy(_deriving, Path(root), chunks, partial(_files_of, Path(root)), workers)


def _deriving(root: Path) -> Callable[[list[str]], list[Derived | None]]:
    return partial(_derive_chunk, str(root))


def _files_of(root: Path, paths: Sequence[str]) -> Iterator[Path]:
    for path in paths:
        yield root / path
        yield from log_files_of_note(root, root / path)


def _derive_chunk(root: str, paths: Sequence[str]) -> list[Derived | None]:
    return [derive_note(root, path) for path in paths]


def derive_note(root: str, path: str) -> Derived | None:
    """Return the documents of a note; None if it is gone or unreadable."""
    try:
        data, _ = read_bytes(inside(Path(root), Path(root, path)))
    except CrucibleError:
        return None
    document, placed = place_note(root, path, data)
    return _derive(document, placed, hashlib.sha256(data).hexdigest()[:32])


def place_note(root: str, path: str, data: bytes) -> tuple[Document, tuple[PlacedEvent, ...]]:
    """Parse the session in a note's bytes; also return the places of its events."""
    session = _read_session(path, data)
    return document_of(session, path, recorded_calls(Path(root), session.id))


def noted_events(path: str, data: bytes) -> dict[str, Event]:
    """Return a note's events by id, with their text from the note instead of the event log."""
    return {one.event.id: one.event for one in events_of(_read_session(path, data))}


def _read_session(path: str, data: bytes) -> Session:
    return read_session(Source.from_bytes(data), path.rpartition("/")[2].removesuffix(".md"))


def derive_item(document: Document, sha: str) -> Derived:
    """Return the documents of a knowledge item.  There is only an event document, since an item is not a session."""
    return derive_document(document, sha)._replace(whole=None)


def derive_document(document: Document, sha: str) -> Derived:
    """Return the documents of a session without its note: the places of its events are unknown."""
    placed = tuple(PlacedEvent(event, event.text, NOWHERE) for event in document.events)
    return _derive(document, placed, sha)


def _derive(document: Document, placed: Sequence[PlacedEvent], sha: str) -> Derived:
    card = dump_card(document, [TextPlace(*one.lines, one.keys) for one in placed])
    texts = [without_echoes(one.event, one.noted) for one in placed]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return Derived(document.path, sha, document.session, card, *_indexed_of(document, texts), size)


def index_document(document: Document) -> tuple[tuple[Indexed, ...], Indexed]:
    """Return the documents of a session's events and of the entire session, as in the index."""
    return _indexed_of(document, [without_echoes(event, event.text) for event in document.events])


def _indexed_of(document: Document, texts: Sequence[str]) -> tuple[tuple[Indexed, ...], Indexed]:
    common = session_facts(document)
    headings, replies = _headings(document), replies_of(document.events)
    parts = {phase: with_name_parts(heading) for phase, heading in headings.items()}
    indexed = []
    for at, (event, text) in enumerate(zip(document.events, texts, strict=True)):
        if text or event.title:
            # A passage rarely repeats the topic in its heading.  Calls and subagents are only found by their own words.
            heading = parts.get(event.phase, "") if event.kind in _HEADED else ""
            indexed.append(_indexed(event, text, common)._replace(number=at, reply=replies[at], heading=heading))
    return tuple(indexed), _whole(document, said(indexed), common, headings)


def said(events: Iterable[Indexed]) -> list[Indexed]:
    """Return the events whose words are those of the session: what tools print is far more, and would hide the rest."""
    tool = KINDS.index(EventKind.TOOL)
    return [one for one in events if one.kind != tool]


def replies_of(events: Sequence[Event]) -> list[int]:
    """Return for each event that asks something the position of the next event that is not a call, 0 for others.

    The answer rarely repeats the words of its question.
    """
    replies = [0] * len(events)
    following = 0
    for at in range(len(events) - 1, -1, -1):
        if events[at].kind is EventKind.TOOL:
            continue
        if "?" in events[at].text:
            replies[at] = following
        following = at
    return replies


def _indexed(event: Event, text: str, common: tuple[str, ...]) -> Indexed:
    at = seconds_of(event.at) or 0
    if event.title:
        text = f"{event.title}\n{text}" if text else event.title
    facts = (*common, *facts_of(event))
    names = " ".join(names_in(text))
    return Indexed(0, with_name_parts(text), names, facts, at, at, kind=KINDS.index(event.kind))


_HEADED = frozenset({EventKind.AGENT, EventKind.DECISION, EventKind.ERROR, EventKind.MILESTONE, EventKind.OBSERVATION})


def _headings(document: Document) -> dict[str, str]:
    """Return the headings by phase, except those that only repeat the beginning of a prompt, which is indexed too."""
    found = {event.phase: event.phase_name for event in document.events if event.phase}
    for event in document.events:
        if event.kind is EventKind.USER and event.phase in found and _begins_with(event.text, event.phase_name):
            del found[event.phase]
    return found


def _begins_with(text: str, heading: str) -> bool:
    """Return whether text begins with a heading; the last word of a shortened heading may be cut off."""
    begin = words_in(heading.lower())[: -1 if heading.endswith("…") else None]
    return bool(begin) and words_in(text[: 2 * len(heading)].lower())[: len(begin)] == begin


def _whole(
    document: Document, events: Sequence[Indexed], common: tuple[str, ...], headings: Mapping[str, str]
) -> Indexed:
    """Return the document of an entire session: its properties, its date in words, and its headings."""
    head = "\n".join(_head(document))
    names = dict.fromkeys(names_in(head))
    facts = dict.fromkeys(common)
    for event in events:
        names.update(dict.fromkeys(event.names.split(" ")))
        facts.update(dict.fromkeys(event.facts))
    times = [event.first for event in events if event.first]
    started = seconds_of(document.started) or min(times, default=0)
    others = [one for one in dict.fromkeys(headings.values()) if one != document.title]
    text = "\n".join([with_name_parts(head), *map(with_name_parts, others)])
    return Indexed(0, text, " ".join(names), tuple(facts), started, max([started, *times]))


def _head(document: Document) -> Iterator[str]:
    yield indexable(document.title)
    if document.started:
        yield _date_words(document.started)
    yield from (document.project, document.branch, *document.tags)


def _date_words(at: datetime) -> str:
    return f"{at:%A} {at.day} {at:%B} {at.year} {at:%Y-%m-%d}"


def session_facts(document: Document) -> tuple[str, ...]:
    """Return the `field:value` facts that a session shares with all its events."""
    pairs = [("session", document.session), ("project", document.project), ("branch", document.branch)]
    pairs += [("tag", tag) for tag in document.tags]
    pairs += [("archived", "true")] if document.archived else []
    return tuple(_facts(pairs))


def facts_of(event: Event) -> tuple[str, ...]:
    """Return the `field:value` facts by which an event is found, in addition to its words."""
    return _shared_facts(event.kind, event.agent, event.channel, event.phase, event.phase_name)


@lru_cache(100)
def _shared_facts(kind: EventKind, agent: str, channel: str, phase: str, phase_name: str) -> tuple[str, ...]:
    name, _, version = agent.partition("@")
    pairs = [("kind", kind.value), ("agent", name), ("channel", channel), ("phase", phase)]
    if version:
        pairs.append(("agent", agent))
    pairs.append(("phase", phase_name))
    return tuple(_facts(pairs))


def _facts(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"{field}:{field_value(value)}" for field, value in pairs if value)


# --- echoes: text in a session that search itself printed
# --------------------------------------------------------------

_TOOL = late_pattern(
    r"(?:mcp__\w*__|[\w-]*[./])?recall_(?:context|search|timeline|get)\b"
    # The user chooses the server's name; the names of these tools are ours.
    r"|[\w-]+_recall_(?:context|search|timeline|get)\b"
    r"|(?:[\w-]*(?:cru|crucible)[\w-]*(?:__|[._/]))?session_(?:resume_context|show|list)\b"
)
_SHELL = late_pattern(r"\S*(?:bash|shell|exec|command|terminal|powershell|\bsh\b|\bcmd\b|\brun)\S*", re.IGNORECASE)
"""Names of tools that run commands.  Other tools' input may mention a command without running it."""
_FLAGS = r"(?:-\S{1,400}[ \t]++(?:(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|[^\s\"'-]\S{0,400})[ \t]++)?){0,12}"
_BEFORE = (
    r"(?:\w+=\S*|time|env|sudo|nice|exec|command|do|then|uv[ \t]++run|poetry[ \t]++run|\S*python[\d.]*[ \t]++-m)\s++"
)
_COMMAND = late_pattern(
    # Only at the beginning of a command: a `grep` for our commands does not run them.
    rf"(?:\A\S++\s|[\n⏎;&|(`]|\s-\w*c[ \t]++[\"'])[ \t]*+(?:{_BEFORE}){{0,4}}(?:[^\s\"';&|()=]*/)?(?:cru|crucible)[ \t]++{_FLAGS}"
    r"(?:recall|knowledge (?:search|show|list)|session (?:show|resume))\b"
)
_MARKED = late_pattern(r"\\?<!-- cru:recalled -->[\s\S]*?(?:\\?<!-- /cru:recalled -->|$)")
_RESUMED = "<!-- cru:resume "
_SCANNED = 20_000
"""Maximum code points of a call to scan for a command."""


def without_echoes(event: Event, noted: str = "") -> str:
    """Return an event's text without what search printed; "" if nothing else is left.

    If echoes were indexed, search would find its own answers.  `noted` is the text of a recorded call in the note.
    """
    text = event.text
    if event.kind is EventKind.TOOL:
        head = text[:_SCANNED]
        if _TOOL.match(head) or (_SHELL.match(head) and _COMMAND.search(_command(head, noted))):
            return ""
    elif _RESUMED in text[:200] and event.kind is EventKind.USER:
        # The prompt with which `cru` resumed the session only repeats the session.
        return ""
    return _MARKED.sub(" ", text) if RECALLED in text else text


def _command(text: str, noted: str) -> str:
    """Return the line with the call's command, or the full text if the note shortened that line."""
    line = (noted or text).partition("\n")[0]
    return line if " " in line and not line.endswith("…") else text
