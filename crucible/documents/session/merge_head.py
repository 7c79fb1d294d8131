"""Three-way merge of everything above the phases: frontmatter, title, tasks, findings.

Each key has its own rule for conflicts with a user's edits.  Findings are matched by their text, or else by kind and
first row; each edit touches the lines of one item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span
from crucible.documents.markdown.wikilinks import escape_links
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.edits import (
    check_shown,
    insert_line,
    insert_lines,
    preamble_end,
    replace_lines,
    set_properties,
)
from crucible.documents.session.findings_block import findings_title, normal_item, render_findings, render_item
from crucible.documents.session.import_properties import (
    add_redactions,
    add_usage,
    parse_redactions,
    rows_by_source,
    synced_rows,
)
from crucible.documents.session.markup import render_title
from crucible.documents.session.properties import format_time, subagent_value
from crucible.documents.session.property_values import changed_title, id_in, link_to
from crucible.documents.session.session import ENDED, FindingItem, Session, Status, SubagentRef, Task
from crucible.documents.session.task_edits import set_fields, set_tasks


def merge_findings(
    source: Source, note: Session, base: Sequence[FindingItem], now: Sequence[FindingItem]
) -> list[Edit]:
    """Return the edits that update the block from `base` to `now`.  A deleted block stays deleted."""
    base, now = _as_noted(base), _as_noted(now)
    block = note.findings_lines
    if block is NOWHERE:
        if base or not now:
            return []
        edits = insert_lines(source, note, preamble_end(source, note), render_findings(now, note.format))
        return check_shown(source, edits, replace(note, findings=now))
    fates = _fates(note.findings, base, now)
    merged = fates.wanted(note.findings)
    if merged == note.findings:
        return []
    is_empty = not merged and _is_all_ours(note)
    edits = _removed_block(source, note) if is_empty else [*_item_edits(source, note, fates, len(merged))]
    return check_shown(source, edits, replace(note, findings=merged))


def _as_noted(items: Sequence[FindingItem]) -> tuple[FindingItem, ...]:
    return tuple(normal for item in items if (normal := normal_item(item)).text)


# --- changes to each item ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Fates:
    """The changes to the note's items, by position; None removes the item.

    `added` items are inserted after the item at the position; -1 is before the first item.
    """

    changed: dict[int, FindingItem | None]
    added: dict[int, list[FindingItem]]

    def wanted(self, note: Sequence[FindingItem]) -> tuple[FindingItem, ...]:
        """The items after the merge."""
        found = list(self.added.get(-1, ()))
        for at, item in enumerate(note):
            kept = self.changed.get(at, item)
            found += [*([kept] if kept else ()), *self.added.get(at, ())]
        return tuple(found)


def _fates(note: Sequence[FindingItem], base: Sequence[FindingItem], now: Sequence[FindingItem]) -> _Fates:
    there, became = _paired_items(base, note), _paired_items(base, now)
    changed: dict[int, FindingItem | None] = {}
    for at, place in there.items():
        new = now[became[at]] if at in became else None
        if _is_untouched(note[place], base[at]) and new != base[at]:
            changed[place] = new
    was = {then: at for at, then in became.items()}
    known = {*there.values()}
    own = {mark for place, item in enumerate(note) if place not in known for mark in _marks(item)}
    added: dict[int, list[FindingItem]] = {}
    above = -1
    for then, item in enumerate(now):
        if then in was:
            above = there.get(was[then], above)
        elif own.isdisjoint(_marks(item)):
            added.setdefault(above, []).append(item)
    return _Fates(changed, added)


def _is_untouched(item: FindingItem, base: FindingItem) -> bool:
    """True if an item is unchanged since an import wrote it.  An item without its grounds was edited by a user."""
    return _texts(item) == _texts(base) and (item.grounds is None) == (base.grounds is None)


def _marks(item: FindingItem) -> Iterator[tuple[str, ...]]:
    """Yield the marks that an item shares with one from another transcript or from a user."""
    yield "text", item.kind, item.text
    yield "key", *_key(item)


def _texts(item: FindingItem) -> tuple[str, str, str, str | None, str | None, tuple[str, ...]]:
    return item.kind, item.also, item.text, item.details, item.evidence, item.points


def _key(item: FindingItem) -> tuple[str, str]:
    """The kind and the first row, or the normalized text if there are no rows."""
    return item.kind, item.grounds.rows[0] if item.grounds and item.grounds.rows else f"\n{item.text}"


def _paired_items(ones: Sequence[FindingItem], others: Sequence[FindingItem]) -> dict[int, int]:
    """Match items by position: first by text, then by key."""
    pairs: dict[int, int] = {}
    for like in (_texts, _key):
        taken = {*pairs.values()}
        free: defaultdict[object, list[int]] = defaultdict(list)  # the first place is last
        for place in reversed(range(len(others))):
            if place not in taken:
                free[like(others[place])].append(place)
        for at, item in enumerate(ones):
            if at not in pairs and (places := free.get(like(item))):
                pairs[at] = places.pop()
    return pairs


# --- edits -----------------------------------------------------------------------------------------------------------

_COUNT = late_pattern(r"( {0,3}>[ \t]?\[![^\]]*\][+-]?[ \t]+)\d+ findings?[ \t]*$")
_ORPHAN = late_pattern(r" {0,3}>[ \t]?(?:[ ]{2}|[ ]{0,3}\t)")
"""An indented item whose head a user deleted.  Without a blank line it would become a point of the item above."""


def _item_edits(source: Source, note: Session, fates: _Fates, count: int) -> Iterator[Edit]:
    """One edit per item.  A title set by a user is kept."""
    block = note.findings_lines
    if head := _COUNT.match(source.lines[block.first]):
        yield from replace_lines(source, block.first, block.first + 1, head[1] + findings_title(count))
    for at, new in fates.changed.items():
        lines = note.findings[at].lines
        if new is None:
            yield Edit(source.span_of(lines), "")
        else:
            text = source.newline.join(render_item(new, note.format))
            yield from replace_lines(source, lines.first, lines.end, text)
    top = note.findings[0].lines.first if note.findings else block.end
    for at, items in fates.added.items():
        lines_added = [line for item in items for line in render_item(item, note.format)]
        line = note.findings[at].lines.end if at >= 0 else top
        if line < block.end and _ORPHAN.match(source.lines[line]):
            lines_added.append(">")
        yield from insert_line(source, line, source.newline.join(lines_added))


def _is_all_ours(note: Session) -> bool:
    """True if the block has nothing but its head and items."""
    held = 1 + sum(item.lines.end - item.lines.first for item in note.findings)
    return held == note.findings_lines.end - note.findings_lines.first


def _removed_block(source: Source, note: Session) -> list[Edit]:
    """Remove the callout and the blank line after it."""
    block = note.findings_lines
    span = source.span_of(block)
    above = source.lines[block.first - 1].strip(" \t") if block.first else ""
    below = source.lines[block.end] if block.end < len(source.lines) - 1 else "x"
    if not above and not below.strip(" \t"):
        span = Span(span.start, source.starts[block.end + 1])
    return [Edit(span, "")]


def merge_head(
    source: Source, note: Session, base: Session, now: Session, *, last_phase: str | None, stands: bool = True
) -> list[Edit]:
    """Return the edits above the phases.  `last_phase` is the id, in the edited note, of the last phase of `now`.

    If `stands` is false, another native session worked on the note later, so the status is not changed.
    """
    values = _fields(note if stands else replace(note, status=None), base, now, last_phase=last_phase)
    is_ended = values.get("status", note.status) in ENDED
    tasks = merged_tasks(note.tasks, base.tasks, now.tasks)
    return [
        *_title(source, note, base, now),
        *set_tasks(source, note, tasks, is_ended=is_ended, as_json=now.home.json_tasks),
        *merge_findings(source, note, base.findings, now.findings),
        *set_properties(source, note, values),
    ]


def _title(source: Source, note: Session, base: Session, now: Session) -> list[Edit]:
    """Update the title if the user renamed the session in the client and did not edit the note's title."""
    if note.title != base.title or now.title == base.title or note.title_lines == NOWHERE:
        return []
    return set_title(source, note, now.title)


def set_title(source: Source, note: Session, title: str) -> list[Edit]:
    """Replace the note's title line, and the properties that repeat it."""
    edits = set_fields(source, note, changed_title(note.properties, note.title, title))
    return edits + replace_lines(source, *note.title_lines, render_title(title, note.format))


# --- frontmatter -----------------------------------------------------------------------------------------------------


def status_edits(source: Source, note: Session, base: Session, now: Session) -> list[Edit]:
    """Return the status edits for a session without new rows.

    An `active` session may have been idle long enough to end, the client may report its end late, and a pause may be
    over once its tasks are completed.  A status set by the user is not changed.
    """
    untouched = note.status is Status.ACTIVE and note.ended is None and note.resume_point is None
    late = base.status is Status.PAUSED and _is_status_untouched(note, base)
    is_same = status_properties(note, None) == status_properties(now, None)
    if not (untouched or late) or is_same or now.status in (Status.ACTIVE, None):
        return []
    phase = note.phases[-1].id if note.phases else None
    return set_fields(source, note, _changed(note, status_properties(now, phase)))


def status_properties(now: Session, last_phase: str | None) -> dict[str, Value]:
    """The properties that describe the status of a session."""
    return {
        "status": str(now.status) if now.status else None,
        "ended": format_time(now.ended) if now.ended else None,
        "resume_point": last_phase if now.resume_point else None,
        "pause_reason": now.pause_reason,
    }


def _fields(note: Session, base: Session, now: Session, *, last_phase: str | None) -> dict[str, Value]:
    """The properties that change."""
    grown = base.synced_to != now.synced_to
    values: dict[str, Value] = {}
    if grown and _is_status_untouched(note, base):
        values = dict(status_properties(now, last_phase))
    elif _rests_at_its_end(note) and last_phase:
        values["resume_point"] = last_phase
    model = _chosen(note.model, base.model, now.model)
    # If a user turned the name into a link, keep it.
    values["model"] = note.properties.get("model") if model == note.model else model and escape_links(model)
    values["tokens_used"] = merged_count(note.tokens_used, base.tokens_used, now.tokens_used)
    values["tokens_cached"] = merged_count(note.tokens_cached, base.tokens_cached, now.tokens_cached)
    values["usage"] = _usage(note, base, now)
    values["redactions"] = merged_count(note.redactions, base.redactions, now.redactions)
    values["redacted"] = _redacted(note.redacted, base.redacted, now.redacted)
    known = {str(agent) for agent in (*base.participants, *note.participants)}
    values["participants"] = [
        *map(str, note.participants),
        *(str(agent) for agent in now.participants if str(agent) not in known),
    ]
    values["subagents"], values["subagent_logs"] = _subagents(note, base, now)
    if grown:
        values["sources"], values["synced_to"] = _synced(note, now)
    return _changed(note, values)


def _is_status_untouched(note: Session, base: Session) -> bool:
    """True if status, end and reason are as an import wrote them.  A user's change to one keeps all three."""
    if note.status is Status.ACTIVE and note.ended is None and note.pause_reason is None:
        return True  # the state while the session runs
    return status_properties(note, None) == status_properties(base, None)


def _rests_at_its_end(note: Session) -> bool:
    """True if the note is paused at its last phase, so that later rows move the resume point."""
    last = [phase.id for phase in note.all_phases()][-1:]
    return note.status is Status.PAUSED and note.resume_point in (*last, *(p.id for p in note.phases[-1:]))


def _changed(note: Session, values: dict[str, Value]) -> dict[str, Value]:
    wanted = {key: None if value == [] else value for key, value in values.items()}
    return {key: value for key, value in wanted.items() if value != note.properties.get(key)}


def _chosen(note: str | None, base: str | None, now: str | None) -> str | None:
    """The transcript's current value, unless the user changed the value in the note."""
    return now if note == base else note


def merged_count(note: int | None, base: int | None, now: int | None) -> int | None:
    """Add this transcript's increase to the note's count, since a note may have several sources."""
    if note is None or note == base:
        return now if note == base else None
    return max(0, note + (now or 0) - (base or 0))


def _usage(note: Session, base: Session, now: Session) -> Value:
    """Add the increase in tokens by day and model.  A property that the user deleted stays deleted."""
    if base.usage == now.usage or (base.usage and not note.usage):
        return note.properties.get("usage")
    return [escape_links(line) for line in add_usage(note.usage, base.usage, now.usage)]


def _redacted(note: Sequence[str], base: Sequence[str], now: Sequence[str]) -> Value:
    """Add the increase in the counts by rule.  Lines without a count, written by a user, are kept."""
    if base == now:
        return list(note)
    before, after = parse_redactions(base), parse_redactions(now)
    return [*add_redactions(note, {rule: after.get(rule, 0) - before.get(rule, 0) for rule in {**before, **after}})]


def _synced(note: Session, now: Session) -> tuple[Value, Value]:
    """`sources` and `synced_to`, in the same order."""
    rows = rows_by_source(note.sources, note.synced_to) | rows_by_source(now.sources, now.synced_to)
    sources = [*note.sources, *(source for source in now.sources if source not in note.sources)]
    return list(sources), [*synced_rows(sources, rows)]


def _subagents(note: Session, base: Session, now: Session) -> tuple[Value, Value]:
    """Merge `subagents` and `subagent_logs`: replace changed items, add new ones, keep the others."""
    before = {ref.session: ref for ref in base.subagents}
    after = {ref.session: ref for ref in now.subagents}
    raw = note.properties.get("subagents")
    items: list[Value] = []
    for place, ref in enumerate(note.subagents):
        item = raw[place] if isinstance(raw, list) and len(raw) == len(note.subagents) else subagent_value(ref)
        items.append(_subagent_item(item, before.get(ref.session), after.get(ref.session)))
    there = {ref.session for ref in note.subagents}
    items += [subagent_value(ref) for name, ref in after.items() if name not in there and name not in before]
    logs = note.properties.get("subagent_logs")
    links: list[Value] = list(logs) if isinstance(logs, list) else [logs] if logs else []
    linked = {id_in(link) for link in links if isinstance(link, str)}
    links += [link_to(name, now.home.folder) for name in after if name not in before and name not in linked]
    return items, links


def _subagent_item(item: Value, before: SubagentRef | None, after: SubagentRef | None) -> Value:
    if not isinstance(item, dict) or after is None or before == after:
        return item
    old, new = (subagent_value(ref) if ref else {} for ref in (before, after))
    changed = {key: value for key, value in new.items() if item.get(key) in (None, old.get(key))}
    return {**item, **changed}


# --- tasks -----------------------------------------------------------------------------------------------------------


def merged_tasks(note: Sequence[Task], base: Sequence[Task], now: Sequence[Task]) -> list[Task]:
    """Merge the agent's changes into the note's tasks, by id and field."""
    before, after = ({task.id: task for task in tasks} for tasks in (base, now))
    merged: list[Task] = []
    for task in note:
        old, new = before.get(task.id), after.get(task.id)
        if old is None or old == new:
            merged.append(task)
        elif new is not None:
            merged.append(_merged_task(task, old, new))
        elif task != old:
            merged.append(task)
    there = {task.id for task in merged}
    merged += [task for task in now if task.id not in before and task.id not in there]
    if [task.id for task in note] == list(before):
        # Follow the agent's new order, unless the user reordered or added tasks.
        places = {task.id: place for place, task in enumerate(now)}
        merged.sort(key=lambda task: places.get(task.id, len(places)))
    return merged


def _merged_task(note: Task, old: Task, new: Task) -> Task:
    names = ("content", "status", "priority", "depends_on", "started", "completed")
    changed = {name: getattr(new, name) for name in names if getattr(new, name) != getattr(old, name)}
    return replace(note, **changed)
