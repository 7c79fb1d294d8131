"""What a model told of a session, read, and held against the session.

Owns what may stand in a history that a model wrote: every file, task and decision that it names is in the session, or the answer is refused as a
whole; and what it may not lose: decisions, open questions and unfinished tasks that it left out are told as they are without a model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.acts.kinds import type_of
from crucible.history.model import Entry, Line, tidy_entry, tidy_line
from crucible.history.notes import HEADINGS, read_items
from crucible.patterns import late_pattern
from crucible.session.waiting import words_of

__all__ = ["Grounds", "Refused", "judge_answer", "missing_of", "tells"]


class Refused(Exception):
    """An answer that is not kept; `complaints` say why, for who gave it."""

    def __init__(self, complaints: Sequence[str]) -> None:
        super().__init__(complaints[0])
        self.complaints = tuple(complaints)


class Grounds(NamedTuple):
    """What an answer is held against.

    `composed` is the entry that was made without a model, `tasks` the ids of the session's tasks, `said` all that its note says, in small letters
    and with short paths.
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
_MOST_ITEMS = 60
_MOST_COMPLAINTS = 12


def judge_answer(text: str, grounds: Grounds) -> Entry:
    """The composed entry with the four sections as the answer has them, and what that left out behind; `Refused` for one that does not hold."""
    told = _sections(text)
    complaints = [*_complaints(told, grounds)]
    if complaints:
        raise Refused(complaints[:_MOST_COMPLAINTS])
    composed = grounds.composed
    entry = replace(
        composed,
        done=tuple(line._replace(line=0) for line in told["done"]),
        decisions=tuple(line for one in told["decisions"] if (line := _decided(one, composed.decisions))),
        questions=tuple(line._replace(line=0) for line in told["questions"]),
        further=tuple(line._replace(line=0) for line in told["further"]),
    )
    entry = replace(
        entry,
        done=_untagged(entry.done),
        decisions=_untagged(entry.decisions),
        questions=_untagged(entry.questions),
        further=_untagged(entry.further),
    )
    return tidy_entry(missing_of(entry, composed, told["decisions"]))


# --- reading ---------------------------------------------------------------------------------------------------------


def _sections(text: str) -> dict[str, tuple[Line, ...]]:
    """The items of each section; `Refused` for an answer that has none."""
    lines = _document(text)
    told: dict[str, list[Line]] = {part: [] for part in HEADINGS}
    for item in read_items(lines):
        line = tidy_line(item.line)
        if _LETTER.search(line.text) and not _NOTHING.fullmatch(line.text):
            told[item.part].append(line)
    if not any(told.values()):
        raise Refused(
            [
                f"it has no item under any of the headings {', '.join(f'`## {one}`' for one in HEADINGS.values())}"
            ]
        )
    if sum(map(len, told.values())) > _MOST_ITEMS:
        raise Refused([f"more than {_MOST_ITEMS} items are no summary"])
    return {part: tuple(found) for part, found in told.items()}


_LETTER = late_pattern(r"[^\W_]")


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
            text = f"{line.text} {line.why}"
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


# --- decisions -------------------------------------------------------------------------------------------------------


def _tags(text: str) -> list[int]:
    return [int(found[1]) for found in _TAG.finditer(text)]


def _untagged(lines: Iterable[Line]) -> tuple[Line, ...]:
    return tuple(line._replace(text=_TAG.sub("", line.text), why=_TAG.sub("", line.why)) for line in lines)


def _decided(line: Line, decisions: Sequence[Line]) -> Line | None:
    """The item with the place, and where it gives none the reason, of the decision that it tells."""
    tags = _tags(f"{line.text} {line.why}")
    one = decisions[tags[0] - 1] if tags else next((each for each in decisions if _tells(line, each)), None)
    return one and line._replace(why=line.why or one.why, line=one.line)


def _is_close(line: Line, decisions: Sequence[Line]) -> bool:
    return any(_tells(line, one) for one in decisions)


def _tells(line: Line, decision: Line) -> bool:
    """Whether a line tells a decision: half of the words of either stand in the other, and each name of it does."""
    said, meant = words_of(line.text), words_of(decision.text)
    everything = words_of(f"{decision.text} {decision.why}")
    if not meant or not said:
        return (
            line.text.casefold() in decision.text.casefold()
            or decision.text.casefold() in line.text.casefold()
        )
    if 2 * len(said & everything) >= len(said):
        return True
    told = words_of(f"{line.text} {line.why}")
    return 2 * len(meant & told) > len(meant) and not _strange(
        line.text, f"{decision.text} {decision.why}".casefold()
    )


_NAME = late_pattern(r"(?<![.!?:] )(?<!^)\b[A-Z][\w+#]*[A-Za-z0-9+#]\b")


def _strange(text: str, said: str) -> list[str]:
    """Names in a text, words with a capital inside of a sentence, that are nowhere in what was said."""
    return [
        found[0]
        for found in _NAME.finditer(text)
        if not _TAG.search(f"[{found[0]}]") and found[0].casefold() not in said
    ]


# --- what it left out ------------------------------------------------------------------------------------------------


def missing_of(entry: Entry, composed: Entry, decided: Sequence[Line] | None = None) -> Entry:
    """The entry with those decisions, open questions and unfinished tasks of the `composed` one behind that it does not tell.

    `decided` are its decisions as they were written, with their tags.
    """
    lines = entry.decisions if decided is None else decided
    tagged = {number for line in lines for number in _tags(f"{line.text} {line.why}")}
    decisions = [
        one
        for number, one in enumerate(composed.decisions, 1)
        if number not in tagged and not any(_tells_all(line, one) for line in lines)
    ]
    ahead = (*entry.questions, *entry.further)
    questions = [one for one in composed.questions if not any(_tells_all(line, one) for line in ahead)]
    further = [one for one in composed.further if not any(tells(line, one) for line in ahead)]
    return replace(
        entry,
        decisions=(*entry.decisions, *decisions),
        questions=(*entry.questions, *questions),
        further=(*entry.further, *further),
    )


def _tells_all(line: Line, one: Line) -> bool:
    """Whether nearly all words of one stand in the other: what is told too often is better than what is lost."""
    wanted = words_of(one.text)
    if not wanted:
        return one.text.casefold() in line.text.casefold()
    return 4 * len(wanted & words_of(f"{line.text} {line.why}")) >= 3 * len(wanted)


_TASK = late_pattern(r"\(task ([^();]+)(?:;[^()]*)?\)\Z")


def tells(line: Line, one: Line) -> bool:
    """Whether a line tells what another says: one of a task names it, any other has nearly all of its words."""
    task = _TASK.search(one.text)
    if task is None:
        return _tells_all(line, one)
    if not _IDS.search(task[1]):
        return _stands_in(f"task {task[1]}", f"{line.text} {line.why}".casefold())
    return _number(task[1]) in map(_number, _named(line))


def _named(line: Line) -> frozenset[str]:
    found = _TASKS.finditer(f"{line.text} {line.why}")
    return frozenset(one.strip(".-_") for each in found for one in _IDS.findall(each["ids"] or each["id"]))
