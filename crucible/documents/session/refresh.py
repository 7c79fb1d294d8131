"""Update a note written by an older version to what this version records for the same transcript.

Notes do not mark user edits, so a phase is replaced only if all its lines trace to the transcript and none is missing.
Notes with an up-to-date `recording`, and deleted phases, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat, starmap
from typing import TypeAlias

from crucible.clients.events import (
    Event,
    Injected,
    Prompted,
    Replied,
    SubagentReturned,
    SubagentStarted,
    Titled,
    ToolReturned,
    ToolUsed,
)
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.markdown.line_scan import without_blanks
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span
from crucible.documents.markdown.wikilinks import escape_links
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.markup import render_phase
from crucible.documents.session.merge import matched
from crucible.documents.session.merge_head import merge_findings, set_title, status_properties
from crucible.documents.session.session import (
    RECORDING,
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.task_edits import set_fields

_NEW_KINDS = frozenset({"plan", "decision_needed", "tool"})
"""Kinds of callouts that recording version 1 never wrote."""


class TranscriptText:
    """The text of a transcript to which a note's lines can be traced: prompts, replies, output, injected text."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._joined = ""
        self._injected: set[str] = set()
        self._prompted: set[str] = set()
        self._called: dict[str, list[list[str]]] = {}
        self._replied: set[str] = set()
        self._from_parent: set[str] = set()

    def add(self, event: Event) -> None:
        """Add an event of this transcript."""
        match event:
            case Injected():
                self._injected.add(_flat(event.text))
                self._keep(event.text)
            case Replied():
                self._replied.update(map(_flat, event.text.split("\n\n")))
                self._keep(event.text)
            case Prompted():
                self._prompted.add(_flat(event.text))
                self._keep(event.text)
            case ToolReturned():
                self._prompted.add(_flat(event.feedback))
                self._keep(event.text)
            case SubagentReturned():
                self._keep(event.text)
            case SubagentStarted():
                self._keep(event.title, event.task)
            case Titled():
                self._keep(event.title)
            case ToolUsed():
                values = sorted(map(_flat, map(str, event.arguments.values())), key=len, reverse=True)
                self._called.setdefault(_flat(event.name), []).append(values)
                self._keep(" ".join(map(str, (event.name, *event.arguments.values()))))
            case _:
                pass

    def add_from_parent(self, event: Event) -> None:
        """Add an event about a subagent from the parent's transcript, which older notes of the subagent lack."""
        self.add(event)
        if isinstance(event, SubagentReturned):
            self._from_parent.update(map(_flat, event.text.split("\n\n")))

    def _keep(self, *texts: str) -> None:
        self._texts += map(_flat, texts)
        self._joined = ""

    def holds(self, line: str) -> bool:
        """True if the transcript contains a line, ignoring a trailing `…`."""
        if not self._joined:
            self._joined = "\0".join(self._texts)
        return _flat(line).rstrip("….") in self._joined

    def is_call(self, tool: str, line: str) -> bool:
        """True if a call's line has only the arguments of a recorded call of that tool."""
        return any(not _without(_flat(line), values) for values in self._called.get(_flat(tool), ()))

    def is_injected(self, words: str) -> bool:
        """True if the client injected these words, which older versions recorded as the user's."""
        flat = _flat(words)
        is_tagged = words.startswith("<") or self.holds(words)
        return flat in self._injected or (is_tagged and not any(flat in prompt for prompt in self._prompted))

    def is_from_parent(self, paragraph: str) -> bool:
        """True if only the parent's transcript contains a paragraph."""
        return (flat := _flat(paragraph)) in self._from_parent and flat not in self._replied


def _without(text: str, parts: Sequence[str]) -> str:
    for part in parts:
        text = text.replace(part, "", 1) if part else text
    return text


def _flat(text: str) -> str:
    """Drop what differs between a line of a note and its original: blanks, Markdown marks, line endings and case."""
    return "".join(normal_line(text.replace("⏎", " ")).split()).replace("`", "").replace("*", "").casefold()


def refresh(source: Source, note: Session, now: Session, transcript: TranscriptText) -> list[Edit]:
    """Return the edits that update the unedited parts of a note to `now`; none for a note of this version."""
    if note.recording >= RECORDING:
        return []
    return [
        *_properties(source, note, now),
        *_title(source, note, now, transcript),
        *merge_findings(source, note, (), now.findings),
        *_phases(source, note, now, transcript),
    ]


# --- above the phases ------------------------------------------------------------------------------------------------


def _properties(source: Source, note: Session, now: Session) -> Iterator[Edit]:
    values: dict[str, Value] = {"recording": RECORDING}
    if now.usage and "usage" not in note.properties:
        values["usage"] = [escape_links(line) for line in now.usage]
    if _is_ours(note, now):
        values |= status_properties(now, note.phases[-1].id if note.phases else None)
    yield from set_fields(source, note, {k: v for k, v in values.items() if note.properties.get(k) != v})


def _title(source: Source, note: Session, now: Session, transcript: TranscriptText) -> Iterator[Edit]:
    if note.title_lines is not NOWHERE and note.title != now.title and transcript.holds(_bare(note.title)):
        yield from set_title(source, note, now.title)


def _is_ours(note: Session, now: Session) -> bool:
    """True if recording version 1 set the status: paused for one of its reasons, or completed at the last event."""
    if note.status is Status.PAUSED:
        return note.pause_reason in _OLD_REASONS
    return note.status is Status.COMPLETED and bool(now.phases) and note.ended == now.phases[-1].ended


_OLD_REASONS = frozenset({"the client was closed", "stopped in the middle of a turn"})
"""Reasons for which recording version 1 paused answered sessions."""


def _bare(title: str) -> str:
    while title.startswith("Plan: "):
        title = title.removeprefix("Plan: ")
    return title


# --- phases ----------------------------------------------------------------------------------------------------------


def _phases(source: Source, note: Session, now: Session, transcript: TranscriptText) -> Iterator[Edit]:
    homes = matched(now.phases, note.phases, is_shared=False)
    taken = {home.lines.first for home in homes if home}
    for phase, home in zip(now.phases, homes, strict=True):
        if home is None:
            continue
        group = [home, *_harness_phases(note, home, taken, transcript)]
        if _Traced(transcript).holds(group, phase):
            yield from _exchange(source, note, group, phase, transcript)


def _harness_phases(note: Session, home: Phase, taken: set[int], transcript: TranscriptText) -> Iterator[Phase]:
    """The phases after `home` that older versions began for injected text."""
    behind = note.phases[note.phases.index(home) + 1 :]
    for phase in behind:
        first = phase.entries[0] if phase.entries else None
        is_harness = isinstance(first, Intervention) and transcript.is_injected(first.words)
        if phase.lines.first in taken or not is_harness:
            return
        yield phase


def _exchange(
    source: Source, note: Session, group: Sequence[Phase], phase: Phase, transcript: TranscriptText
) -> Iterator[Edit]:
    home = group[0]
    name = phase.name if transcript.holds(home.name) else home.name
    lines = render_phase(replace(phase, name=name, channel=home.channel), form=note.format)
    last = group[-1].subphases[-1] if group[-1].subphases else group[-1]
    start, end = source.starts[home.lines.first], _end_of(source, last.body_end)
    text = source.newline.join(lines)
    if source.text[start:end] != text:
        yield Edit(Span(start, end), text)


def _end_of(source: Source, line: int) -> int:
    """The end of the last non-blank line before `line`."""
    last = without_blanks(source.lines, 0, line) - 1
    return source.starts[last] + len(source.lines[last])


_Item: TypeAlias = "Entry | ToolCall | str"
"""An entry, a call of a list, or a paragraph of prose."""


@dataclass(frozen=True, slots=True)
class _Traced:
    """Checks that phases of a note contain only what the transcript accounts for."""

    transcript: TranscriptText

    def holds(self, old: Sequence[Phase], new: Phase) -> bool:
        head = old[0]
        if head.agent != new.agent:
            return False
        names = [sub.name for phase in old for sub in phase.subphases]
        if names != [sub.name for sub in new.subphases]:
            return False
        line = [list(_items(phase.entries)) for phase in _flattened(old)]
        wanted = [list(_items(phase.entries)) for phase in (new, *new.subphases)]
        if len(old) > 1:
            line, wanted = [list(chain(*line))], [list(chain(*wanted))]
        return all(self._all(*each) for each in zip(line, wanted, strict=True))

    def _all(self, old: Sequence[_Item], new: Sequence[_Item]) -> bool:
        """True if `new` has all items of `old` in order, and otherwise only items that older versions did not write."""
        at = 0
        for item in old:
            if self._is_gone(item):
                continue
            while at < len(new) and not self._same(item, new[at]):
                if not self._is_new(new[at]):
                    return False
                at += 1
            if at == len(new):
                return False
            at += 1
        return all(map(self._is_new, new[at:]))

    def _is_gone(self, item: _Item) -> bool:
        """True if only older versions wrote this item: injected text, or a result without a call."""
        if isinstance(item, Intervention):
            return self.transcript.is_injected(item.words)
        return isinstance(item, ToolCall) and item.call.startswith("? ")

    def _same(self, old: _Item, new: _Item) -> bool:
        match old, new:
            case str(), str():
                return normal(old) == normal(new)
            case ToolCall(), ToolCall():
                rest = old.call.removeprefix(old.tool)
                is_call = self._is_traced(old.call, new.call) or self.transcript.is_call(old.tool, rest)
                return old.tool == new.tool and is_call and self._is_traced(old.result, new.result)
            case Intervention(), Intervention():
                return old.words == new.words and (old.note in (None, new.note))
            case Failure(), Failure():
                return replace(old, lines=new.lines) == new
            case Subagent(), Subagent():
                pairs = zip((old.summary or "", *old.text.split("\n")), repeat(new.summary or ""), strict=False)
                return (
                    old.link in (None, new.link) and old.entries == new.entries and all(starmap(self._is_traced, pairs))
                )
            case Callout(), Callout():
                return old == new
            case _:
                return False

    def _is_new(self, item: _Item) -> bool:
        """True if older versions did not write this item."""
        match item:
            case Decision() | Failure():
                return item.grounds is not None
            case Callout():
                return item.kind in _NEW_KINDS
            case ToolCall():
                return item.call == "result"
            case str():
                return self.transcript.is_from_parent(item)
            case _:
                return False

    def _is_traced(self, old: str, new: str) -> bool:
        """True if a line is not a user's: it is unchanged, in our words, or in the transcript."""
        return not old or old == new or bool(_OUR_WORDS.fullmatch(old)) or self.transcript.holds(old)


_OUR_WORDS = late_pattern(
    r"ok|empty|failed|timed out|(?:created|updated)(?:, (?:\d+ lines?|no lines|\+\d+ −\d+))?|no \w+|\d+ \w+(?: in \d+ files?)?|exit code -?\d+|task \S+"
    r"|in the background as .*|</?[\w-]+>|The (?:subagent failed|user rejected it|subagent was stopped)\."
)
"""Results as recording version 1 worded them."""


def _flattened(phases: Sequence[Phase]) -> Iterator[Phase]:
    for phase in phases:
        yield phase
        yield from phase.subphases


def _items(entries: Sequence[Entry]) -> Iterator[_Item]:
    """Yield paragraphs and calls one by one, since a new callout may split a text or a list."""
    for entry in entries:
        match entry:
            case Prose():
                yield from (part for part in entry.text.split("\n\n") if part.strip())
            case ToolCalls():
                yield from entry.calls
            case _:
                yield entry
