"""A history that a model wrote, checked against the session.

Every file, task and decision that it names must be in the session, or the answer is refused as a whole.  Decisions, open questions and unfinished tasks
that it leaves out are added as they are without a model; so are the request, the corrections and what failed, which it is not asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from crucible.acts.kinds import type_of
from crucible.history.model import HEADINGS, Entry, Line, lines_of, tidy_entry, tidy_line, with_lines
from crucible.history.notes import read_items
from crucible.patterns import late_pattern
from crucible.session.waiting import words_of

__all__ = ["Grounds", "Refused", "judge_answer", "missing_of"]


class Refused(Exception):
    """An answer that is not kept; `complaints` say why, for who gave it."""

    def __init__(self, complaints: Sequence[str]) -> None:
        super().__init__(complaints[0])
        self.complaints = tuple(complaints)


class Grounds(NamedTuple):
    """What an answer is checked against.

    `composed` is the entry without a model, `tasks` the ids of the session's tasks, `said` its whole note in lower case with short paths.
    """

    composed: Entry
    tasks: frozenset[str]
    said: str


_HEADING = late_pattern(
    r"(?i)[ \t]*(?:#{1,6}[ \t]+)?(?:\d{1,2}[.)][ \t]*)?[*_]*(what we did|decisions made|open questions|next session)[*_:]*[ \t]*[-–—:]?[ \t]*#*"
)
_FENCED = late_pattern(r"(?ms)^[ \t]*(`{3,}|~{3,})[ \t]*(?:markdown|md)?[ \t]*\n(.*?)^[ \t]*\1[`~]*[ \t]*$")
_NOTHING = late_pattern(
    r"(?i)[*_(]*(?:none|nothing|n/?a|no (?:open |new |further )?(?:decisions?|questions?|issues?|steps?|items?))\b[^\n]{0,40}"
)
_TAG = late_pattern(r"[ \t]*[\[(]D(\d{1,4})[\])]")
_TOLD = ("done", "decisions", "questions", "further")
"""Sections that a model is asked for."""
_MOST_ITEMS = 60
_MOST_COMPLAINTS = 12


def judge_answer(text: str, grounds: Grounds) -> Entry:
    """The composed entry with the four sections as the answer has them, and then what it left out; `Refused` for an answer that does not hold."""
    told, composed = _sections(text), grounds.composed
    if complaints := [*_complaints(told, grounds)]:
        raise Refused(complaints[:_MOST_COMPLAINTS])
    tagged = with_lines(
        composed,
        lambda part, lines: (_known(part, one, composed) for one in told[part]) if part in _TOLD else lines,
    )
    missing = _missing(tagged, composed)
    entry = with_lines(tagged, lambda part, lines: (*map(_untagged, lines), *missing.get(part, ())))
    return tidy_entry(entry)


# --- reading ---------------------------------------------------------------------------------------------------------


def _sections(text: str) -> dict[str, tuple[Line, ...]]:
    """The items of each section; `Refused` for an answer that has none."""
    lines = _document(text)
    told: dict[str, list[Line]] = {part: [] for part in HEADINGS}
    for item in read_items(lines):
        text = _LINES.sub("", item.line.text)
        line = tidy_line(item.line._replace(text=text))
        if _LETTER.search(line.text) and not _NOTHING.fullmatch(line.text):
            told[item.part].append(line)
    if not any(told.values()):
        raise Refused(
            [
                f"it has no item under any of the headings {', '.join(f'`## {HEADINGS[one]}`' for one in _TOLD)}"
            ]
        )
    if sum(map(len, told.values())) > _MOST_ITEMS:
        raise Refused([f"more than {_MOST_ITEMS} items are no summary"])
    return {part: tuple(found) for part, found in told.items()}


_LETTER = late_pattern(r"[^\W_]")
_LINES = late_pattern(r" \(line [0-9]{1,9}\)\Z")


def _document(text: str) -> list[str]:
    """Its lines, those of a fence where the sections stand in one, with the headings as a history has them."""
    inner = [
        found[2] for found in _FENCED.finditer(text) if any(map(_HEADING.fullmatch, found[2].split("\n")))
    ]
    lines = max([*inner, ""], key=len).split("\n") if inner else text.split("\n")
    return [_as_heading(line) for line in lines]


def _as_heading(line: str) -> str:
    if len(line) > 80 or not (found := _HEADING.fullmatch(line)):
        return line
    return f"## {found[1]}"


# --- what it names ---------------------------------------------------------------------------------------------------


def _complaints(told: dict[str, tuple[Line, ...]], grounds: Grounds) -> Iterator[str]:
    decisions = grounds.composed.decisions
    for part, lines in told.items():
        for line in lines:
            text = _said(line)
            for name in files_in(_TAG.sub("", text)):
                if not _stands_in(name, grounds.said):
                    yield f"the session has no file `{name}`"
            for task in tasks_in(text, grounds.tasks):
                yield f"the session has no task {task}"
            for number in _tags(text):
                if not 0 < number <= len(decisions):
                    yield f"the session has no decision D{number}"
            if part == "decisions" and not any(_tags(text)) and not _is_close(line, decisions):
                yield f"the session did not decide: {line.text[:200]}"
            if part == "decisions" and any(_tags(text)) and (names := _strange(text, grounds.said)):
                yield f"the session never speaks of {', '.join(names[:3])}: {line.text[:200]}"


_WORD = late_pattern(r"[^\s`\"'<>|(),;\[\]{}*]{2,400}")
_ENDING = late_pattern(r"\.[A-Za-z]\w{0,7}\Z")
_PLACE = late_pattern(r"::.*\Z|(?:[:#]L?\d+(?:[:-]L?\d+)*)?[.:!?]*\Z")


def files_in(text: str) -> Iterator[str]:
    """The files that a text names: words that end as files do, and paths whose last part has an ending."""
    for found in _WORD.finditer(text):
        word = _PLACE.sub("", found[0].replace("\\", "/"), count=1).removeprefix("./")
        last = word.rpartition("/")[2]
        if "://" in word or not last:
            if "://" in word:
                yield word
        elif type_of(last) is not None if "/" not in word else type_of(last) or _ENDING.search(last):
            yield word


def _stands_in(name: str, said: str) -> bool:
    """Whether a name stands in a text as a whole, a path's end being one."""
    wanted, at = name.casefold(), -1
    while (at := said.find(wanted, at + 1)) >= 0:
        before, after = said[at - 1 : at] if at else "", said[at + len(wanted) : at + len(wanted) + 1]
        if not _IN_NAME.match(before) and not _IN_NAME.match(after):
            return True
    return False


_IN_NAME = late_pattern(r"[\w-]")
_TASKS = late_pattern(
    r"(?i)\btasks?[ \t]+(?:id[ \t]+)?#?(?P<ids>[\w.-]*\d[\w.-]*(?:(?:[ \t]*,[ \t]*|[ \t]+(?:and|or|to|&)[ \t]+)#?[\w.-]*\d[\w.-]*)*)"
    r"|(?P<id>\btask-\d+)\b"
)
_IDS = late_pattern(r"[\w.-]*\d[\w.-]*")


def tasks_in(text: str, known: Collection[str]) -> Iterator[str]:
    """The ids of tasks that a text names and that are none of the `known`."""
    numbers = {_number(one) for one in known}
    for found in _TASKS.finditer(text):
        for one in _IDS.findall(found["ids"] or found["id"]):
            task = one.strip(".-_")
            if task and task not in known and _number(task) not in numbers:
                yield task


def _number(task: str) -> str:
    """`7` for task-007 too, as models like to write it."""
    return task.casefold().removeprefix("task").strip("-_ ").lstrip("0") or "0"


# --- what it shows ---------------------------------------------------------------------------------------------------


def _said(line: Line) -> str:
    return " ".join((line.text, line.why, *line.points))


def _tags(text: str) -> list[int]:
    return [int(found[1]) for found in _TAG.finditer(text)]


def _untagged(line: Line) -> Line:
    text, why, *points = (_TAG.sub("", one) for one in (line.text, line.why, *line.points))
    return line._replace(text=text, why=why, points=tuple(points))


def _known(part: str, line: Line, composed: Entry) -> Line:
    """The line with the id of what it shows, and a decision with its reason, if the answer gives none."""
    if part == "done":
        return line
    if part == "decisions":
        tags = _tags(_said(line))
        found = (each for each in composed.decisions if _tells(line, each))
        one = composed.decisions[tags[0] - 1] if tags else next(found, line)
        return line._replace(why=line.why or one.why, finding=one.finding)
    ahead = (one.finding for one in (*composed.questions, *composed.further) if _covers(line, one))
    return line._replace(finding=next(ahead, ""))


def _is_close(line: Line, decisions: Sequence[Line]) -> bool:
    return any(_tells(line, one) for one in decisions)


def _tells(line: Line, decision: Line) -> bool:
    """True if half of the words of either are in the other, and each name of the line is in the decision."""
    said, meant = words_of(line.text), words_of(decision.text)
    if not meant or not said:
        one, other = line.text.casefold(), decision.text.casefold()
        return one in other or other in one
    if 2 * len(said & words_of(_said(decision))) >= len(said):
        return True
    told = words_of(_said(line))
    return 2 * len(meant & told) > len(meant) and not _strange(line.text, _said(decision).casefold())


_NAME = late_pattern(r"(?<![.!?:] )(?<!^)\b[A-Z][\w+#]*[A-Za-z0-9+#]\b")


def _strange(text: str, said: str) -> list[str]:
    """Names in a text, capitalized words within a sentence, that were never said."""
    return [
        found[0]
        for found in _NAME.finditer(text)
        if not _TAG.search(f"[{found[0]}]") and found[0].casefold() not in said
    ]


# --- what it left out ------------------------------------------------------------------------------------------------


def missing_of(entry: Entry, composed: Entry) -> Entry:
    """The entry with the decisions, open questions and next steps of the `composed` one that it does not cover."""
    missing = _missing(entry, composed)
    return with_lines(entry, lambda part, lines: (*lines, *missing.get(part, ())))


def _missing(entry: Entry, composed: Entry) -> dict[str, list[Line]]:
    tagged = {number for line in entry.decisions for number in _tags(_said(line))}
    ahead = (*entry.questions, *entry.further)
    told = {"decisions": entry.decisions, "questions": ahead, "further": ahead}
    return {
        part: [
            one
            for number, one in enumerate(lines_of(composed, part), 1)
            if not (part == "decisions" and number in tagged)
            and not any(_covers(line, one) for line in lines)
        ]
        for part, lines in told.items()
    }


def _covers(line: Line, one: Line) -> bool:
    """True if a line names the task of another, or has nearly all of its words: better twice than lost."""
    if line.finding and line.finding == one.finding:
        return True
    if one.finding.startswith("task-"):
        task = one.finding.removeprefix("task-")
        if not _IDS.search(task):
            return _stands_in(f"task {task}", _said(line).casefold())
        return _number(task) in {_number(name) for name in tasks_in(_said(line), ())}
    wanted = words_of(one.text)
    if not wanted:
        return one.text.casefold() in line.text.casefold()
    return 4 * len(wanted & words_of(_said(line))) >= 3 * len(wanted)
