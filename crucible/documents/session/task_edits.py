"""Edit the tasks of a note, as a list or as JSON, and the properties that decide how tasks are shown.

Open tasks have checkboxes only while the session is not ended; see `task_list`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from crucible.core.errors import EditRefused
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.source import NOWHERE, Edit, Lines, Source, Span
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.edits import (
    check_shown,
    insert_line,
    insert_lines,
    preamble_end,
    refuse_open,
    replace_lines,
    set_properties,
)
from crucible.documents.session.session import ENDED, Session, Task
from crucible.documents.session.task_block import CLOSED_TASKS, render_task, render_tasks
from crucible.documents.session.task_list import (
    TaskItem,
    read_task_list,
    render_task_item,
    render_task_list,
)


def set_field(source: Source, session: Session, key: str, value: Value) -> list[Edit]:
    """Set a property; None removes it.  Returns no edit if the value is unchanged."""
    return set_fields(source, session, {key: value})


def set_fields(source: Source, session: Session, values: Mapping[str, Value]) -> list[Edit]:
    """Set properties.  A status that ends or reopens the session also changes the checkboxes of open tasks."""
    edits = set_properties(source, session, values)
    if "status" not in values:
        return edits
    return edits + set_tasks(source, session, session.tasks, is_ended=values["status"] in ENDED)


def set_boxes(source: Source, session: Session) -> list[Edit]:
    """Give the open tasks of a list checkboxes, or take them away in an ended session, whatever it was before."""
    if not is_task_list(source, session):
        return []
    edits = _list_edits(source, session, session.tasks, is_ended=session.status in ENDED, adapts=True)
    return check_shown(source, edits, session)


def set_tasks(
    source: Source,
    session: Session,
    tasks: Sequence[Task],
    *,
    is_ended: bool | None = None,
    as_json: bool = False,
) -> list[Edit]:
    """Set the tasks; unchanged ones keep their lines, and tasks that a user typed into the list stay.

    `is_ended` says whether the session will be ended, by default whether it is.  `as_json` is for a note without tasks.
    """
    was_ended = session.status in ENDED
    is_ended = was_ended if is_ended is None else is_ended
    has_list = is_task_list(source, session)
    tasks = _with_typed(_items(source, session), tasks) if has_list else tasks
    if tuple(tasks) == session.tasks and (is_ended == was_ended or not has_list):
        return []
    if session.tasks_lines is NOWHERE:
        as_json = as_json or session.format < FORMAT  # format 1 has no escapes for a list
        lines = render_tasks(tasks) if as_json else render_task_list(tasks, is_ended=is_ended)
        findings = session.findings_lines
        above = preamble_end(source, session) if findings is NOWHERE else findings.first
        edits = insert_lines(source, session, above, lines)
    elif has_list:
        edits = _list_edits(source, session, tasks, is_ended=is_ended, adapts=is_ended != was_ended)
    else:
        edits = _json_edits(source, session, tasks)
    as_read = tuple(replace(task, content=normal_line(task.content)) for task in tasks)
    return check_shown(source, edits, replace(session, tasks=as_read))


def is_task_list(source: Source, session: Session) -> bool:
    """Return whether the note has its tasks in a list and not in JSON."""
    block = session.tasks_lines
    return block is not NOWHERE and source.lines[block.first].lstrip(" ").startswith("#")


def convert_tasks(source: Source, session: Session) -> list[Edit]:
    """Replace JSON by a list with the same tasks.  Raises `EditRefused` if it would not read back."""
    block = session.tasks_lines
    refuse_open(session, block.end)
    if any(problem.code == "broken-tasks" for problem in session.problems):
        raise EditRefused(f"line {block.first + 1}: the tasks are no JSON")
    lines = render_task_list(session.tasks, is_ended=session.status in ENDED)
    edits = replace_lines(source, block.first, block.end, source.newline.join(lines))
    return check_shown(source, edits, session)


# --- a list ----------------------------------------------------------------------------------------------------------


def _items(source: Source, session: Session) -> Sequence[TaskItem]:
    block = session.tasks_lines
    return read_task_list(source.lines, block.first + 1, block.end, session.format).items


def _with_typed(items: Sequence[TaskItem], tasks: Sequence[Task]) -> Sequence[Task]:
    """The tasks, and those that a user typed, each after the task that it was after."""
    given = {task.id for task in tasks}
    typed: defaultdict[str, list[Task]] = defaultdict(list)
    above = ""
    for item in items:
        if item.task.id in given:
            above = item.task.id
        elif not item.has_id:
            typed[above].append(item.task)
    return [*typed[""], *(one for task in tasks for one in (task, *typed.pop(task.id, ())))] if typed else tasks


def _list_edits(source: Source, session: Session, tasks: Sequence[Task], *, is_ended: bool, adapts: bool) -> list[Edit]:
    """Change, add and remove items; `adapts` also changes the checkboxes of those that stay."""
    block = session.tasks_lines
    items = _items(source, session)

    def line_of(item: TaskItem | None, task: Task) -> str:
        if item is None:
            return render_task_item(task, is_ended=is_ended, form=session.format)
        has_wrong_box = adapts and _is_open(task) and item.has_box == is_ended
        if task == item.task and not has_wrong_box:
            return source.lines[item.line]
        words = item.words if task.content == item.task.content else None  # they may hold a user's link
        return render_task_item(
            task, is_ended=is_ended, form=session.format, bullet=item.bullet, words=words, signs=item.signs
        )

    if _paired(items, tasks)[: len(items)] != [*range(len(items))]:
        return _reordered(source, block, items, tasks, line_of)
    edits = [
        edit
        for item, task in zip(items, tasks, strict=False)
        for edit in replace_lines(source, item.line, item.line + 1, line_of(item, task))
    ]
    added = [line_of(None, task) for task in tasks[len(items) :]]
    return edits + (insert_line(source, block.end, source.newline.join(added)) if added else [])


def _reordered(
    source: Source,
    block: Lines,
    items: Sequence[TaskItem],
    tasks: Sequence[Task],
    line_of: Callable[[TaskItem | None, Task], str],
) -> list[Edit]:
    """Write the items in a new order; what a user wrote below an item stays below it."""
    ends = [*(item.line for item in items[1:]), block.end]
    below = [
        source.slice(source.span_of(Lines(item.line, end)))[len(source.lines[item.line]) :]
        for item, end in zip(items, ends, strict=True)
    ]
    places = _paired(items, tasks)
    parts: list[str] = []
    for task, at in zip(tasks, places, strict=True):
        parts.append(line_of(None, task) + source.newline if at is None else line_of(items[at], task) + below[at])
    # A removed task's line stays where a user wrote below it.
    left = [(items[at], below[at]) for at in sorted({*range(len(items))} - {*places})]
    parts += [f"{item.bullet}Removed: {item.words}{text}" for item, text in left if text.strip(" \t\r\n")]
    start = items[0].line
    if not parts and not any(line.strip(" \t") for line in source.lines[block.first + 1 : start]):
        start = block.first
    return _replaced(source, Lines(start, block.end), parts)


def _paired(items: Sequence[TaskItem], tasks: Sequence[Task]) -> list[int | None]:
    """The item of each task by its position: of those with the same id, which a user may have copied, its text's."""
    found: list[int | None] = [None] * len(tasks)
    for key in (attrgetter("id", "content"), attrgetter("id")):
        free: defaultdict[object, list[int]] = defaultdict(list)
        for at in sorted({*range(len(items))} - {*found}, reverse=True):
            free[key(items[at].task)].append(at)
        for place, task in enumerate(tasks):
            if found[place] is None and free[key(task)]:
                found[place] = free[key(task)].pop()
    return found


def _is_open(task: Task) -> bool:
    return task.status not in CLOSED_TASKS


def _replaced(source: Source, lines: Lines, parts: Sequence[str]) -> list[Edit]:
    """Replace lines by parts that end in line endings; the last line ending stays as it is."""
    span = source.span_of(lines)
    closed = [part if part.endswith(("\n", "\r")) else part + source.newline for part in parts]
    text = "".join(closed)
    before = source.slice(span)
    if before and not before.endswith(("\n", "\r")):
        text = text.removesuffix(source.newline)
    return [] if text == before else [Edit(span, text)]


# --- JSON ------------------------------------------------------------------------------------------------------------


def _json_edits(source: Source, session: Session, tasks: Sequence[Task]) -> list[Edit]:
    block = session.tasks_lines
    refuse_open(session, block.end)
    if any(problem.code == "broken-tasks" for problem in session.problems):
        raise EditRefused(f"{session.id}:{block.first + 1}: the tasks block is broken", "fix its JSON and try again")
    own = _task_lines(source, session)
    if not own or len(tasks) < len(own) or any(t.id != o for t, o in zip(tasks, own, strict=False)):
        return _rewrite_tasks(source, session, tasks)
    return _change_tasks(source, session, tasks, list(own.values()))


def _task_lines(source: Source, session: Session) -> dict[str, int] | None:
    """The line of each task if the block has one task per line, as `render_tasks` writes it; else None."""
    import json  # noqa: PLC0415  slow, and few notes have tasks

    block = session.tasks_lines
    found: dict[str, int] = {}
    for line in range(block.first + 1, block.end - 1):
        text = source.lines[line].strip(" \t").removesuffix(",")
        if text in ("", "[", "]"):
            continue
        try:
            item = json.loads(text)
        except ValueError:
            return None
        if not isinstance(item, dict) or "id" not in item:
            return None
        found[str(item["id"])] = line
    return found if len(found) == len(session.tasks) else None


def _change_tasks(source: Source, session: Session, tasks: Sequence[Task], lines: Sequence[int]) -> list[Edit]:
    edits: list[Edit] = []
    added = tasks[len(lines) :]
    newline = source.newline
    for at, line in enumerate(lines):
        text = f"  {render_task(tasks[at])}" if tasks[at] != session.tasks[at] else source.lines[line]
        bare = text.rstrip(" \t").removesuffix(",")
        comma = at + 1 < len(tasks)
        if at + 1 == len(lines) and added:
            more = [f"  {render_task(task)}" for task in added]
            text = newline.join([f"{bare},", *[f"{item}," for item in more[:-1]], more[-1]])
        elif tasks[at] != session.tasks[at]:
            text = f"{bare}," if comma else bare
        edits += replace_lines(source, line, line + 1, text)
    return edits


def _rewrite_tasks(source: Source, session: Session, tasks: Sequence[Task]) -> list[Edit]:
    """Replace the lines between the block's fences."""
    block = session.tasks_lines
    inner = render_tasks(tasks)[1:-1]
    span = Span(source.starts[block.first + 1], source.starts[block.end - 1])
    return [Edit(span, source.newline.join(inner) + source.newline)]
