"""Read and write the task list: `### Tasks` and a checkbox for each task that is open or completed.

    - [ ] Test the token bucket (in progress, high, after 1, started 2026-11-21T20:26:47Z) ^task-2

In an ended session an open task has no checkbox, so that it is not in the user's own lists of open tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, normal_line, uncontain_line
from crucible.documents.markdown.containment_inline import Rule
from crucible.documents.markdown.source import Problem
from crucible.documents.session.session import Task
from crucible.documents.session.session_id import slugify
from crucible.documents.session.task_block import CLOSED_TASKS, PRIORITIES, task_problems, task_values

TASKS_HEADING = "### Tasks"
_HEADING_TEXT = "tasks"

_ID = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_TIME = r"[0-9][0-9T:.+Z-]*"
_PART = rf"in progress|{'|'.join(PRIORITIES)}|id {_ID}|after {_ID}(?: {_ID})*|started {_TIME}|completed {_TIME}"
_REST = r"`\{[^`\n]*\}`"
_DETAILS = rf"(?:(?:{_PART})(?:, (?:{_PART}))*(?:, {_REST})?|{_REST})"

DETAILS_END = Rule("details", rf"\({_DETAILS}", r"\)$", "")
r"""Escapes the end of a task's text that would be read as its details: `(high\)`."""

_GAP = r"(?:^|(?<![ \t])[ \t]+)"  # the lookbehind keeps a search in a line of spaces linear
_AT_END = late_pattern(rf"{_GAP}\(({_DETAILS})\)[ \t]*$")
_BLOCK_ID = late_pattern(rf"{_GAP}\^task-([A-Za-z0-9-]+)[ \t]*$")
_DATE = r"[📅📆🗓⏳⌛🛫➕✅❌]\ufe0f?[ \t]*[0-9]{4}-[0-9]{2}-[0-9]{2}"
_SIGNS = late_pattern(rf"(?<![ \t])(?:[ \t]+(?:{_DATE}|[🔺⏫🔼🔽⏬]\ufe0f?))+$")
"""What a user or the Tasks plugin wrote at the end of an item: dates, and signs of priority."""
_BOX = r"\[(?P<box>[^\n])\](?:[ \t]+|$)"
_LABEL = r"(?P<label>Pending|In progress|Cancelled):[ \t]+"
_ITEM = late_pattern(rf"(?P<bullet>[-*+][ \t]+)(?:{_BOX}|{_LABEL})(?P<text>.*)$")
_BULLET = late_pattern(r"[-*+][ \t]")
_AN_ID = late_pattern(rf"{_ID}\Z")
_A_BLOCK_ID = late_pattern(r"[A-Za-z0-9-]+\Z")
_A_TIME = late_pattern(rf"{_TIME}\Z")
_STATUS_OF_BOX = {" ": "pending", "/": "in_progress", "-": "cancelled"}
"""The status by the character in a checkbox; any other completes the task, as in Obsidian."""
_LABELS = {"pending": "Pending", "in_progress": "In progress", "cancelled": "Cancelled"}


# --- read ------------------------------------------------------------------------------------------------------------


class TaskItem(NamedTuple):
    """A task and its line.

    `words` is its text as it is in the note, where a user may have typed a link, and `signs` are those of the Tasks
    plugin.  An item that has no id is one that a user typed.
    """

    task: Task
    line: int
    bullet: str
    words: str
    has_box: bool
    signs: str = ""
    has_id: bool = True


class TaskListText(NamedTuple):
    """The task list of a note: its tasks, the line after its last item, and what is wrong with tasks."""

    items: tuple[TaskItem, ...]
    end: int
    problems: tuple[Problem, ...]


def is_tasks_heading(level: int, text: str) -> bool:
    """Return whether a heading above the phases begins the task list."""
    return level == 3 and text.strip(" \t").casefold() == _HEADING_TEXT


def begins_list(line: str) -> bool:
    """Return whether a line begins with a bullet."""
    return bool(_BULLET.match(line))


def read_task_list(lines: Sequence[str], first: int, end: int, form: int) -> TaskListText:
    """Read the list that begins on line `first`; text below it, from `end` on, is not part of it."""
    end = _list_end(lines, first, end)
    items = _with_ids([item for line in range(first, end) if (item := _read_item(lines[line], line, form))])
    seen: set[str] = set()
    problems: list[Problem] = []
    for item in items:
        problems += task_problems(item.task, item.line + 1, is_second=item.task.id in seen)
        seen.add(item.task.id)
    return TaskListText(tuple(items), end, tuple(problems))


def _list_end(lines: Sequence[str], first: int, end: int) -> int:
    """The line after the last item or indented line."""
    last = first
    for at in range(first, end):
        line = lines[at]
        if line.strip(" \t"):
            if not (line[0] in " \t" or _BULLET.match(line)):
                break
            last = at + 1
    return last


def _read_item(line: str, number: int, form: int) -> TaskItem | None:
    found = _ITEM.match(line)
    if not found:
        return None
    text = found["text"].rstrip(" \t")
    named = _BLOCK_ID.search(text)
    text = text[: named.start()] if named else text
    signs = found_signs[0] if (found_signs := _SIGNS.search(text)) else ""
    text = text.removesuffix(signs)
    details = _AT_END.search(text)
    words = text[: details.start()] if details else text
    content = normal_line(uncontain_line(words, extra=(DETAILS_END,), form=form))
    values = _values(details[1]) if details else {}
    if named:
        values["id"] = named[1]
    box, label = found["box"], found["label"]
    shown = (
        next(key for key, name in _LABELS.items() if name == label) if label else _STATUS_OF_BOX.get(box, "completed")
    )
    return TaskItem(_task(content, shown, values), number, found["bullet"], words, box is not None, signs.strip(" \t"))


def _values(details: str) -> dict[str, object]:
    """The values that the parentheses hold, by their names in JSON."""
    import json  # noqa: PLC0415  slow, and few notes have tasks

    head, tick, rest = details.partition("`")
    found: dict[str, object] = {}
    for part in filter(None, head.rstrip(" ,").split(", ")):
        word, _, value = part.partition(" ")
        if part == "in progress":
            found["status"] = "in_progress"
        elif part in PRIORITIES:
            found["priority"] = part
        else:
            found["depends_on" if word == "after" else word] = value.split(" ") if word == "after" else value
    try:
        more = json.loads(rest.removesuffix("`")) if tick else {}
    except (ValueError, RecursionError):
        more = {"unreadable": rest.removesuffix("`")}
    return found | (more if isinstance(more, dict) else {})


def _task(content: str, shown: str, values: dict[str, object]) -> Task:
    """The task with these values.  What the checkbox says wins over a status in the details."""
    status = str(values.get("status", shown))
    if _shown(status) != shown and not (shown == "pending" and status == "in_progress"):
        status = shown
    text = values.get("content")
    return task_values(
        {**values, "content": text if isinstance(text, str) and not content else content, "status": status}
    )


def _with_ids(items: Sequence[TaskItem]) -> list[TaskItem]:
    """Give tasks that a user wrote without an id one that is made of their words."""
    taken = {item.task.id for item in items}
    numbers: dict[str, Iterator[int]] = {}
    found: list[TaskItem] = []
    for item in items:
        if item.task.id:
            found.append(item)
            continue
        slug = slugify(item.task.content, 30)
        tried = numbers.setdefault(slug, count(1))
        name = next(one for n in tried if (one := f"{slug}-{n}" if n > 1 else slug) not in taken)
        taken.add(name)
        found.append(item._replace(task=replace(item.task, id=name), has_id=False))
    return found


# --- write -----------------------------------------------------------------------------------------------------------


def _shown(status: str) -> str:
    """The status that an item can show: that of a checkbox or a label."""
    if status in ("completed", "in_progress"):
        return status
    return "cancelled" if status in CLOSED_TASKS else "pending"


def render_task_item(
    task: Task, *, is_ended: bool, form: int = FORMAT, bullet: str = "- ", words: str | None = None, signs: str = ""
) -> str:
    """One task as one line.  `words` is its text in the note, if that is kept, as are `signs` of the Tasks plugin."""
    shown = _shown(task.status)
    if shown == "completed":
        head = "[x]"
    elif is_ended or shown == "cancelled":
        head = f"{_LABELS[shown]}:"
    else:
        head = "[ ]"
    text = normal_line(task.content)
    block_id = f"^task-{task.id}" if _A_BLOCK_ID.match(task.id) else ""
    rest = _rest(task, text)
    details = _details(task, text, is_running=shown == "in_progress" and not is_ended)
    if rest:
        details.append(f"`{rest}`")
    if words is None:
        words = contain_line(text, extra=(DETAILS_END,), form=form, after=rest)
    shown_details = f"({', '.join(details)})" if details else ""
    return bullet + " ".join(filter(None, (head, words, shown_details, signs, block_id)))


def _details(task: Task, text: str, *, is_running: bool) -> list[str]:
    """The parts in parentheses that are plain words."""
    found = ["in progress"] if is_running else []
    # Tasks reads emoji at the end of an item as commands, so other text follows them.
    if task.priority in PRIORITIES and (task.priority != "medium" or not text.isascii()):
        found.append(task.priority)
    if not _A_BLOCK_ID.match(task.id) and _AN_ID.match(task.id):
        found.append(f"id {task.id}")
    if task.depends_on and all(map(_AN_ID.match, task.depends_on)):
        found.append(f"after {' '.join(task.depends_on)}")
    times = {"started": task.started, "completed": task.completed}
    return found + [f"{key} {time}" for key, time in times.items() if time and _A_TIME.match(time)]


def _rest(task: Task, text: str) -> str:
    """JSON of what plain words cannot say, without marks that Markdown or a plugin acts on; "" if there is none."""
    values: dict[str, object] = dict(task.extra)
    if not _AN_ID.match(task.id) and not _A_BLOCK_ID.match(task.id):
        values["id"] = task.id
    if not text:
        values["content"] = ""
    if _shown(task.status) != task.status:
        values["status"] = task.status
    if task.priority not in PRIORITIES:
        values["priority"] = task.priority
    if not all(map(_AN_ID.match, task.depends_on)):
        values["depends_on"] = list(task.depends_on)
    times = {"started": task.started, "completed": task.completed}
    values |= {key: time for key, time in times.items() if time is not None and not _A_TIME.match(time)}
    if not values:
        return ""
    import json  # noqa: PLC0415  as above

    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(values))


_ACTING = late_pattern(r"[`<>%$^|]|(?<=:):|(?<=button)-")
"""Characters in strings of JSON that are written as `\\u0060`."""


def render_task_list(tasks: Sequence[Task], *, is_ended: bool) -> list[str]:
    """The lines of the list, including its heading."""
    return [TASKS_HEADING, "", *(render_task_item(task, is_ended=is_ended) for task in tasks)]
