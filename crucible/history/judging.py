"""A history that a model wrote, checked against the session.

Every file, task and decision that it names must be in the session, or the answer is refused as a whole.  Decisions, open questions and next steps
that it leaves out are added as they are without a model; so are the request, the corrections and what failed, which it is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.acts.kinds import type_of
from crucible.history.marks import UNNAMED
from crucible.history.model import HEADINGS, Entry, Line, lines_of, tidy_entry, with_lines
from crucible.history.notes import read_items
from crucible.patterns import late_pattern
from crucible.session.waiting import words_of

__all__ = ["Grounds", "Refused", "files_in", "judge_answer", "marked", "updated"]


class Refused(Exception):
    """An answer that is not kept; `complaints` say why, for who gave it."""

    def __init__(self, *complaints: str) -> None:
        super().__init__(complaints[0])
        self.complaints = complaints


class Grounds(NamedTuple):
    """What an answer is checked against.

    `composed` is the entry without a model, `tasks` the ids of the session's tasks, `said` its whole note in lower case with short paths.
    """

    composed: Entry
    tasks: frozenset[str]
    said: str


_TOLD = ("done", "decisions", "questions", "further")
"""Sections that a model is asked for."""
_AHEAD = ("decisions", "questions", "further")
"""Those that must not lose anything."""
_MOST_ITEMS = 60
_MOST_COMPLAINTS = 12
_FENCE = late_pattern(r"(?ms)^(`{3,}|~{3,})[^\n]*\n(.*?^#.*?)^\1[`~]*[ \t]*$")
_NOTHING = late_pattern(r"(?i)\W*(?:none|nothing|n/?a)?\W*")
_MARK = late_pattern(r"[ \t]*[\[(]([DQ]\d{1,4})[\])]")
_WORD = late_pattern(r"[^\s`\"'<>|(),;\[\]{}*]{2,400}")
_ENDING = late_pattern(r"\.[A-Za-z]\w{0,7}\Z")
_PLACE = late_pattern(r"::.*\Z|(?:[:#]L?\d+(?:[:-]L?\d+)*)?[.:!?]*\Z")
_TASKS = late_pattern(
    r"(?i)\btasks?[ \t-]+#?(\w*\d[\w.-]*\b(?:(?:,|[ \t]+and|[ \t]+&)[ \t]+#?\w*\d[\w.-]*\b)*)"
)
_NUMBER = late_pattern(r"\d[\w.-]*\b")
_NAME = late_pattern(r"(?<![.!?:] )(?<!^)\b[A-Z][\w+#]*[A-Za-z0-9+#]\b")


def marked(composed: Entry) -> Mapping[str, Line]:
    """What an answer refers to, by the marks that a model is given: decisions (`D1`), open questions and next steps (`Q1`)."""
    groups = {"D": composed.decisions, "Q": (*composed.questions, *composed.further)}
    return {f"{kind}{at}": one for kind, lines in groups.items() for at, one in enumerate(lines, 1)}


def judge_answer(text: str, grounds: Grounds) -> Entry:
    """The composed entry with the four sections as the answer has them, and then what it left out; `Refused` for an answer that does not hold."""
    told, marks = _sections(text), marked(grounds.composed)
    if complaints := [*_complaints(told, marks, grounds)]:
        raise Refused(*complaints[:_MOST_COMPLAINTS])
    entry = with_lines(
        grounds.composed,
        lambda part, lines: (_known(part, one, marks) for one in told[part]) if part in _TOLD else lines,
    )
    return tidy_entry(_with_missing(entry, grounds.composed))


def updated(told: Entry, composed: Entry) -> Entry:
    """What a model told, with the facts as they are now: without what has been settled since, and with what is new."""
    known = {line.finding for part in HEADINGS for line in lines_of(composed, part)}

    def still(part: str, lines: Sequence[Line]) -> Sequence[Line]:
        if part not in _TOLD:
            return lines
        return [
            one for one in lines_of(told, part) if one.finding in known or one.finding.startswith(UNNAMED)
        ]

    return _with_missing(replace(with_lines(composed, still), author=told.author), composed)


def _with_missing(entry: Entry, composed: Entry) -> Entry:
    """The entry with the decisions, open questions and next steps of the `composed` one that none of its lines shows."""
    shown = {name for part in _AHEAD for line in lines_of(entry, part) for name in (line.finding, line.text)}

    def added(part: str, lines: Sequence[Line]) -> Iterator[Line]:
        yield from lines
        if part in _AHEAD:
            yield from (one for one in lines_of(composed, part) if (one.finding or one.text) not in shown)

    return with_lines(entry, added)


def _sections(text: str) -> dict[str, list[Line]]:
    """The items of each section; `Refused` for an answer that has none."""
    fenced = _FENCE.search(text)
    told: dict[str, list[Line]] = {part: [] for part in HEADINGS}
    for item in read_items((fenced[2] if fenced else text).split("\n")):
        if not _NOTHING.fullmatch(item.line.text):
            told[item.part].append(item.line)
    if not any(told.values()):
        names = ", ".join(f"`## {HEADINGS[one]}`" for one in _TOLD)
        raise Refused(f"it has no item under any of the headings {names}")
    if sum(map(len, told.values())) > _MOST_ITEMS:
        raise Refused(f"more than {_MOST_ITEMS} items are no summary")
    return told


def _complaints(
    told: Mapping[str, Sequence[Line]], marks: Mapping[str, Line], grounds: Grounds
) -> Iterator[str]:
    files = {end for path in files_in(grounds.said) for end in _ends(path)}
    tasks = {_number(one) for one in grounds.tasks}
    for part, lines in told.items():
        for line in lines:
            text = _said(line)
            cited, plain = _cited(part, line, marks), _MARK.sub("", text)
            yield from (
                f"the session has no file `{name}`"
                for name in files_in(plain)
                if name.casefold() not in files
            )
            yield from (f"the session has no task {one}" for one in tasks_in(plain) if one not in tasks)
            yield from (f"the session has no {mark}" for mark in cited if mark not in marks)
            if part == "decisions":
                if not cited:
                    yield f"the session did not decide, or [D1] or the like is missing: {line.text[:200]}"
                names = (
                    found[0] for found in _NAME.finditer(plain) if found[0].casefold() not in grounds.said
                )
                yield from (f"the session never speaks of {name}: {line.text[:200]}" for name in names)


def _known(part: str, line: Line, marks: Mapping[str, Line]) -> Line:
    """The line without marks and with the id of what it shows, and a decision with its reason, if the answer gives none."""
    cited = _cited(part, line, marks)
    text, why, *points = (_MARK.sub("", one) for one in (line.text, line.why, *line.points))
    one = marks[cited[0]] if cited and part in _AHEAD else Line("")
    return Line(text, why or (one.why if part == "decisions" else ""), tuple(points), one.finding)


def _cited(part: str, line: Line, marks: Mapping[str, Line]) -> list[str]:
    """The marks of a line; of one without any, that of what has half of its words."""
    if (cited := _MARK.findall(_said(line))) or part not in _AHEAD:
        return cited
    kind, words = "D" if part == "decisions" else "Q", words_of(line.text)
    return [
        mark
        for mark, one in marks.items()
        if mark.startswith(kind) and words and 2 * len(words & words_of(_said(one))) >= len(words)
    ][:1]


def _said(line: Line) -> str:
    return " ".join((line.text, line.why, *line.points))


def files_in(text: str) -> Iterator[str]:
    """The files that a text names: words that end as files do, paths whose last part has an ending, and addresses."""
    for found in _WORD.finditer(text):
        word = _PLACE.sub("", found[0].replace("\\", "/"), count=1).removeprefix("./")
        last = word.rpartition("/")[2]
        if "://" in word or (last and (type_of(last) or ("/" in word and _ENDING.search(last)))):
            yield word


def _ends(path: str) -> Iterator[str]:
    """A path, and what is left of it without its first folders."""
    while path:
        yield path.casefold()
        path = path.partition("/")[2]


def tasks_in(text: str) -> Iterator[str]:
    """The numbers of the tasks that a text names, as `_number` gives them."""
    for found in _TASKS.finditer(text):
        yield from map(_number, _NUMBER.findall(found[1]))


def _number(task: str) -> str:
    """`7` for task-007 too, as models like to write it."""
    found = _NUMBER.search(task)
    return (found[0].lstrip("0") or "0") if found else task
