"""Merge an updated transcript into a note that a user may have edited: a three-way merge into edits.

`base` is what an earlier import wrote, `now` the session from the current transcript.  What `now` adds to `base` is
written; a user's changes are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.line_scan import COMMENT_START, SEPARATOR
from crucible.documents.markdown.source import NOWHERE, Edit, Source
from crucible.documents.session.callout_edits import replace_entry
from crucible.documents.session.edits import (
    add_entry,
    add_phase,
    add_subphase,
    insert_lines,
    set_call,
    set_phase_field,
)
from crucible.documents.session.findings_block import normal_grounds
from crucible.documents.session.markup import render_body, render_entry, separates
from crucible.documents.session.merge_head import merge_head, merged_count, status_edits
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.shared_notes import (
    as_addition,
    has_other_sources,
    source_of,
    with_note_status,
    worked_last,
)


def merge(source: Source, note: Session, base: Session, now: Session, *, is_guest: bool = False) -> list[Edit]:
    """Return the edits that update the note to `now`; if nothing was added since `base`, only its status may change.

    `is_guest`: the transcript was first imported into another session's note.  Rows of other sources are not changed.
    If `base` is empty, all of `now` is added.
    """
    is_shared = is_guest or has_other_sources(note, source_of(now))
    homes = matched(base.phases, note.phases, is_shared=is_shared)
    if is_guest and note.phases and homes[:1] != [note.phases[0]]:
        base, now = as_addition(note, base, now)
    is_last = not is_shared or worked_last(note, now, homes)
    if base.synced_to == now.synced_to and _same_story(base, now):
        return status_edits(source, note, base, now) if is_last else []
    merged = _Merge(source, note, homes, is_shared=is_shared)
    merged.calls(base, now)
    merged.phases(base, now)
    seen = with_note_status(note, base, now) if is_shared and is_last else base
    head = merge_head(source, note, seen, now, last_phase=merged.last_phase, stands=is_last)
    # Both may go to the end of the note: phases, then the bookkeeping.
    last = [edit for edit in head if edit.text.lstrip("\r\n").startswith(COMMENT_START)]
    return [*(edit for edit in head if edit not in last), *merged.edits, *last]


def _same_story(base: Session, now: Session) -> bool:
    stories = [(each.title, each.phases, each.tasks, each.findings, each.subagents) for each in (base, now)]
    return stories[0] == stories[1]


# --- phases ----------------------------------------------------------------------------------------------------------


class _Merge:
    """Collect the edits of a note's body, all against the same version of the note.

    `last_phase` is the id of the transcript's last phase in the edited note.
    """

    def __init__(self, source: Source, note: Session, homes: Sequence[Phase | None], *, is_shared: bool) -> None:
        self.source = source
        self.note = note
        self.homes = homes
        self.is_shared = is_shared
        self.edits: list[Edit] = []
        self.last_phase: str | None = None
        self._handed: list[Subagent] = []
        self._known = {*note.above.marks, *map(entry_mark, note.all_entries())} - {None}

    # --- what changed in place ---

    def calls(self, base: Session, now: Session) -> None:
        """Update the results of calls that the user did not change.  Calls are matched by their text."""
        pairs = list(_paired_calls(base, now))
        changed = dict.fromkeys((old.call, old.result, old.outcome) for old, new in pairs if old != new)
        for old_call in changed:
            there = [c for c in self._calls() if (c.call, c.result, c.outcome) == old_call]
            updates = [new for old, new in pairs if (old.call, old.result, old.outcome) == old_call]
            # If the user removed some of these calls, match the rest from the end.
            for call, new in zip(reversed(there), reversed(updates), strict=False):
                if call != new:
                    self.edits += set_call(self.source, self.note, call, new)

    def _calls(self) -> Iterable[ToolCall]:
        """The tool calls of the note; in a shared note, only those in this transcript's phases."""
        if not self.is_shared:
            return self.note.calls()
        entries = (entry for home in self.homes if home for entry in home.all_entries())
        return [call for entry in entries if isinstance(entry, ToolCalls) for call in entry.calls]

    def _subagent(self, old: Subagent, new: Subagent) -> None:
        """Update a subagent callout.  Equal callouts are matched in order, from the end if the user removed some."""
        alike = [entry for entry in self._handed if entry == old]
        there = [
            entry
            for entry in self.note.all_entries()
            if isinstance(entry, Subagent) and (entry == old or (entry.link and entry.link == old.link))
        ]
        place = next((at for at, entry in enumerate(alike) if entry is old), 0)
        place -= len(alike) - len(there) if len(there) < len(alike) else 0
        if 0 <= place < len(there):
            entry = there[place]
            self._replace(entry, new if entry == old else _filled(entry, old, new))

    def _switch(self, old: Callout, new: Callout, home: Phase | None) -> None:
        """Add the model to an agent switch, unless the user changed the callout."""
        for entry in home.entries if home else ():
            if isinstance(entry, Callout) and (entry.kind, entry.text) == (old.kind, old.text):
                self._replace(entry, replace(entry, text=new.text))
                return

    def _replace(self, entry: Entry, new: Entry) -> None:
        if entry != new and entry.lines is not NOWHERE:
            self.edits += replace_entry(self.source, self.note, entry, new)

    # --- what was added ---

    def phases(self, base: Session, now: Session) -> None:
        """Append the additions of `now` to their phases."""
        homes = self.homes
        self._handed = [entry for entry in base.all_entries() if isinstance(entry, Subagent)]
        count = self.note.above.phases + len(self.note.phases)
        for place, phase in enumerate(now.phases):
            if place >= len(base.phases):
                added = self._without_known(phase)
                self.edits += add_phase(self.source, self.note, added)
                count += 1
                self.last_phase = f"phase-{count}"
                continue
            home, old = homes[place], base.phases[place]
            rest = self._grown(old, phase, home)
            if home is None and rest is not None:
                self.edits += add_phase(self.source, self.note, rest)
                count += 1
            self.last_phase = home.id if home else f"phase-{count}" if rest else self.last_phase

    def _grown(self, old: Phase, new: Phase, home: Phase | None) -> Phase | None:
        """Append the additions to `home`.  If the user deleted the phase, return a phase with only the additions."""
        entries = self._added(old.entries, new.entries, home)
        if home:
            # In a phase without entries, fields and entries are inserted at the same offset, so fields come first.
            self._set_phase_fields(home, old, new)
            self._append(entries, home)
        homes = matched(old.subphases, home.subphases if home else (), is_shared=self.is_shared)
        subs: list[Phase] = []
        for place, sub in enumerate(new.subphases):
            rest = self._without_known(sub)
            if place < len(old.subphases):
                rest_or_none = self._grown(old.subphases[place], sub, homes[place])
                if homes[place] or rest_or_none is None:
                    continue
                rest = rest_or_none
            subs.append(rest)
        if home:
            for sub in subs:
                self.edits += add_subphase(self.source, self.note, home.id, sub)
            return None
        return replace(new, entries=tuple(entries), subphases=tuple(subs)) if entries or subs else None

    def _added(self, old: Sequence[Entry], new: Sequence[Entry], home: Phase | None) -> list[Entry]:
        """Return the entries that `new` adds to `old`.  Changed callouts are edited in place."""
        added: list[Entry] = []
        for place, entry in enumerate(new):
            before = old[place] if place < len(old) else None
            if before is None:
                added += self._fresh(entry)
            elif isinstance(entry, Subagent) and isinstance(before, Subagent):
                if entry != before:
                    self._subagent(before, entry)
            elif isinstance(entry, Callout) and isinstance(before, Callout):
                if entry != before:
                    self._switch(before, entry, home)
            else:
                added += _beyond(before, entry)
        return added

    def _fresh(self, entry: Entry) -> Iterator[Entry]:
        """Yield the entry, unless it is a subagent, a decision or a failure that the note already has."""
        if entry_mark(entry) not in self._known:
            yield entry

    def _without_known(self, phase: Phase) -> Phase:
        entries = tuple(kept for entry in phase.entries for kept in self._fresh(entry))
        return replace(phase, entries=entries, subphases=tuple(map(self._without_known, phase.subphases)))

    def _append(self, entries: Iterable[Entry], home: Phase) -> None:
        fresh = self._before_recorded([entry for entry in entries if render_entry(entry, self.note.format)], home)
        if not fresh:
            return
        *edits, last = add_entry(self.source, self.note, fresh[0], home.id)
        rest = render_body(fresh[1:], self.note.format)
        if rest:
            newline = self.source.newline
            if isinstance(fresh[0], ToolCalls) and separates(rest):
                rest = [SEPARATOR, "", *rest]
            closed = last.text.endswith(newline * 2)
            block = newline.join(rest) + newline
            text = last.text + block + newline if closed else last.text + newline + block
            last = Edit(last.span, text)
        self.edits += [*edits, last]

    def _before_recorded(self, entries: list[Entry], home: Phase) -> list[Entry]:
        """Insert entries above a recorded entry if their last call made it; return the others.

        Clients write their transcripts after calling us, so the note may have an entry before the call that recorded
        it.
        """
        above: Entry | None = None
        for entry in home.entries if any(map(_recording_calls, entries)) else ():
            parts = _split_at_call(entries, entry)
            if parts:
                before, entries = parts
                lines = render_body(before, self.note.format)
                lines = [SEPARATOR, "", *lines] if isinstance(above, ToolCalls) and separates(lines) else lines
                self.edits += insert_lines(self.source, self.note, entry.lines.first, lines)
            above = entry
        return entries

    def _set_phase_fields(self, home: Phase, old: Phase, new: Phase) -> None:
        if home.started is None and home.ended is None and home.tokens is None:
            return
        if new.ended and new.ended not in (home.ended, old.ended):
            self.edits += set_phase_field(self.source, self.note, home.id, "ended", new.ended)
        tokens = merged_count(home.tokens, old.tokens, new.tokens)
        if tokens is not None and tokens != home.tokens:
            self.edits += set_phase_field(self.source, self.note, home.id, "tokens", tokens)


def entry_mark(entry: Entry) -> tuple[object, ...] | None:
    """A key that identifies an entry anywhere in the note; None for most entries.

    Needed because the end of a transcript may complete an entry in one place that a later row completes in another.
    """
    if isinstance(entry, Subagent) and entry.link:
        return Subagent, entry.link
    grounds = normal_grounds(entry.grounds) if isinstance(entry, Decision | Failure) else None
    if isinstance(entry, Decision | Failure) and grounds and grounds.rows:
        return type(entry), normal(entry.text), grounds.rows
    return None


_RECORDING = late_pattern(r"flight_recorder_log\b|\bcru\b.{0,80}\b(?:log|record) ")
"""A call by which an agent records an entry in its own session."""
_NO_WORD = late_pattern(r"[\W_]+")
_ENOUGH = 30
"""Maximum leading letters of an entry to look for in the call that recorded it."""


def _recording_calls(entry: Entry) -> list[ToolCall]:
    return [call for call in entry.calls if _RECORDING.search(call.call)] if isinstance(entry, ToolCalls) else []


def _split_at_call(entries: list[Entry], recorded: Entry) -> tuple[list[Entry], list[Entry]] | None:
    """Split the entries after the call that recorded `recorded`; None if no call did."""
    if not isinstance(recorded, Decision | Failure | Callout):
        return None
    words = _NO_WORD.sub("", recorded.text)[:_ENOUGH]
    for at, entry in enumerate(entries):
        for call in _recording_calls(entry):
            if words and words in _NO_WORD.sub("", call.call) and isinstance(entry, ToolCalls):
                here = entry.calls.index(call) + 1
                rest = [ToolCalls(entry.calls[here:])] if entry.calls[here:] else []
                return [*entries[:at], ToolCalls(entry.calls[:here])], [*rest, *entries[at + 1 :]]
    return None


def _paired_calls(base: Session, now: Session) -> Iterator[tuple[ToolCall, ToolCall]]:
    """Pair each call of `base` with the same call of `now`.  Lists only grow at the end."""
    for old, new in _paired(base.phases, now.phases):
        for before, after in zip(old.entries, new.entries, strict=False):
            if isinstance(before, ToolCalls) and isinstance(after, ToolCalls):
                yield from zip(before.calls, after.calls, strict=False)


def _paired(base: Sequence[Phase], now: Sequence[Phase]) -> Iterator[tuple[Phase, Phase]]:
    for old, new in zip(base, now, strict=False):
        yield old, new
        yield from _paired(old.subphases, new.subphases)


def _beyond(before: Entry, entry: Entry) -> Iterator[Entry]:
    """The additions to an entry that has grown: later text, or later calls."""
    if isinstance(before, Prose) and isinstance(entry, Prose) and len(entry.text) > len(before.text):
        yield Prose(entry.text[len(before.text) :].lstrip("\n"))
    elif isinstance(before, ToolCalls) and isinstance(entry, ToolCalls) and len(entry.calls) > len(before.calls):
        yield ToolCalls(entry.calls[len(before.calls) :])


def _filled(entry: Subagent, old: Subagent, new: Subagent) -> Subagent:
    """Update the missing or unedited fields of a subagent callout."""
    return replace(
        entry,
        model=new.model if entry.model in (None, old.model) else entry.model,
        link=entry.link or new.link,
        text=new.text if entry.text == old.text else entry.text,
        summary=new.summary if entry.summary in (None, old.summary) else entry.summary,
        entries=new.entries if entry.entries == old.entries else entry.entries,
    )


_KEYS: tuple[Callable[[Phase], object], ...] = (
    lambda phase: (phase.started, phase.name),
    lambda phase: phase.started,
    lambda phase: phase.name,
)
"""The keys by which phases are matched, the most reliable first."""


def matched(base: Sequence[Phase], note: Sequence[Phase], *, is_shared: bool) -> list[Phase | None]:
    """Match each phase of `base` with a phase of the note: by start and name, by start, or by name.

    In a shared note, a phase with the same name but a different start belongs to another session.
    """
    homes: list[Phase | None] = [None] * len(base)
    free = list(note)
    for key in _KEYS:
        for place, phase in enumerate(base):
            wanted_key = key(phase)
            if homes[place] is None and wanted_key is not None:
                alike = (other for other in free if key(other) == wanted_key)
                found = next((one for one in alike if not (is_shared and _began_apart(phase, one))), None)
                homes[place] = found
                if found:
                    free = [other for other in free if other is not found]
    return homes


def _began_apart(phase: Phase, other: Phase) -> bool:
    return bool(phase.started and other.started and phase.started != other.started)
