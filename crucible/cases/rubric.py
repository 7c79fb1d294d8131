"""What an answer to a puzzle must hold: checks made of its solution, and whether an answer meets them.

Owns the kinds of checks, how each is derived, and how each is held against words.  Nothing is carried out: an answer is text, and a
check is what can be seen in it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, assert_never

from crucible.acts.touching import patched_files
from crucible.cases.model import (
    Body,
    Call,
    Choice,
    Correction,
    Delegation,
    Puzzle,
    Trajectory,
    Turn,
    Verification,
)
from crucible.cases.texts import texts_of
from crucible.patterns import late_pattern

__all__ = ["Check", "CheckKind", "Result", "check_answer", "is_met", "rubric_json", "rubric_of"]


class CheckKind(StrEnum):
    """What a check looks for: names of files, commands, words of the expected behaviour, and a message that is to be gone."""

    FILES = "files"
    COMMANDS = "commands"
    TERMS = "terms"
    GONE = "gone"


class Check(NamedTuple):
    """At least `least` of `wants` are wanted; of `gone` none may be there.  What is not `required` is only told."""

    kind: CheckKind
    wants: tuple[str, ...]
    least: int = 1
    required: bool = True


class Result(NamedTuple):
    """A check that was held against an answer: `found` of its wants are there."""

    check: Check
    found: tuple[str, ...]

    @property
    def is_met(self) -> bool:
        """Whether it is as wanted."""
        if self.check.kind is CheckKind.GONE:
            return not self.found
        return len(self.found) >= self.check.least


# --- from a solution -------------------------------------------------------------------------------------------------

_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file")
_SCRIPTS = ("command", "cmd", "script")
_CHANGES = late_pattern(r"edit|write|patch|create|replace|insert|notebook|delete", re.IGNORECASE)
_SHELLS = late_pattern(r"bash|shell|exec|terminal|command|powershell", re.IGNORECASE)
_WORD = late_pattern(r"[^\W\d_][\w.'-]*\w")
_SPLIT = late_pattern(r"[._'-]+")
_MOST_TERMS, _SHORTEST, _SHORTEST_MESSAGE = 12, 4, 8
_SAID_ANYWHERE = (
    "about above after again against agent also always another anything around because been before "
    "behind being below between both came cannot change changed changes could does doing done down "
    "during each either else even ever every expected failed fails file files first fixed follow from "
    "gave give given gives goes going gone good have having here into instead itself just keep kept last "
    "later least less like line lines longer made make makes many might more most much must need needed "
    "needs never next none nothing once only onto other others over passed passes rather really result "
    "right runs same seen should since some something still such take taken than that their them then "
    "there these they thing this those through thus till time times took under until upon used user uses "
    "using very want wants well went were what when where which while whole will with within without "
    "work worked works would your"
)
_COMMON = frozenset(_SAID_ANYWHERE.split())


def rubric_of(body: Body, verification: Verification) -> tuple[Check, ...]:
    """The checks that the answer of a case gives; none for an open puzzle, and for a delegation whose result nobody used."""
    passed = verification.command
    match body:
        case Puzzle():
            return (
                () if body.is_open else _checks(_terms_of_puzzle(body), body.solution, passed, _message(body))
            )
        case Correction():
            return _checks(_terms(body.words, (body.goal, body.did)), body.then, passed)
        case Choice():
            return _checks(_terms(body.choice, ()))
        case Delegation():
            return _checks(_terms(body.result, (body.task,))) if body.used else ()
        case Trajectory():
            return _checks([], body.turns, passed)
        case _:
            assert_never(body)


def rubric_json(checks: Iterable[Check], indent: int | None = None, *, plain: bool = False) -> str:
    """The checks as a JSON list, by which an answer can be graded without its session."""
    rows = [
        {"check": one.kind, "wants": one.wants, "least": one.least, "required": one.required}
        for one in checks
    ]
    return json.dumps(rows, ensure_ascii=plain, indent=indent)


def _checks(
    terms: Iterable[str],
    turns: Sequence[Turn] = (),
    passed: str = "",
    gone: Iterable[str] = (),
) -> tuple[Check, ...]:
    calls = [call for turn in turns for call in turn.calls]
    files = _unique(name for call in calls for name in _changed_files(call))
    commands = _unique([*map(_command, calls), passed.split("\n", maxsplit=1)[0]])
    names = {name.casefold() for name in files}
    own = _unique(term for term in terms if term not in names)
    checks = (
        Check(CheckKind.FILES, files, len(files)),
        Check(CheckKind.COMMANDS, commands, required=False),
        Check(CheckKind.TERMS, own, max(1, math.ceil(len(own) / 3))),
        Check(CheckKind.GONE, _unique(gone), 0),
    )
    return tuple(check for check in checks if check.wants)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _changed_files(call: Call) -> Iterator[str]:
    """The names, without their folders, of what a call writes."""
    patches = (text for text in texts_of(call.arguments) if "*** Begin Patch" in text)
    paths = [one.path for text in patches for one in patched_files(text)]
    if not paths and _CHANGES.search(call.name):
        named = _argument(call, _PATHS)
        line = _argument(call, ("input",))
        paths = [named or ("" if "\n" in line else line.split(" ")[0])]
    for path in paths:
        yield path.strip().replace("\\", "/").rstrip("/").rpartition("/")[2]


def _command(call: Call) -> str:
    """The command of a shell's call, if it is one line of some two hundred characters at most."""
    line = _argument(call, (*_SCRIPTS, "input")) if _SHELLS.search(call.name) else ""
    return line if "\n" not in line and len(line) <= 200 else ""


def _argument(call: Call, names: Iterable[str]) -> str:
    """The first of some arguments that is there, as a text."""
    found = next((call.arguments[name] for name in names if name in call.arguments), "")
    return " ".join(map(str, found)) if isinstance(found, list) else str(found)


_DONE = late_pattern(r"^Done: .*", re.MULTILINE)
"""The line in which an expected behaviour tells the acts: these are files and commands, which are asked for by themselves."""
_DEEDS = frozenset(("wrote", "deleted", "searched", "fetched", "tested", "checked", "built"))


def _terms_of_puzzle(puzzle: Puzzle) -> list[str]:
    spoken = "\n".join(turn.text for turn in puzzle.solution if not turn.answers)
    told = _DONE.sub("", puzzle.expected).strip() or spoken.strip() or puzzle.expected
    return _terms(told, (puzzle.goal, puzzle.state, puzzle.tried, puzzle.failure))


def _terms(told: str, asked: object) -> list[str]:
    """The words of an answer, one of each stem; those that the question does not say itself, if there are any."""
    words = (word for word in _words(told) if word not in _DEEDS and "'" not in word)
    terms = [*{_stem(word): word for word in words}.values()]
    known = {word for text in texts_of(asked) for word in _words(text)}
    return ([term for term in terms if term not in known] or terms)[:_MOST_TERMS]


def _words(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[0].casefold()
        if len(word) >= _SHORTEST and word not in _COMMON:
            yield word


def _message(puzzle: Puzzle) -> list[str]:
    """The failure's last line that says something: where programs put what went wrong."""
    lines = puzzle.failure.split("\n")
    return [line for line in lines if len(line.strip()) >= _SHORTEST_MESSAGE and _WORD.search(line)][-1:]


# --- held against an answer ------------------------------------------------------------------------------------------

_BLANKS = late_pattern(r"\s+")


def check_answer(checks: Iterable[Check], answer: str) -> tuple[Result, ...]:
    """Each check with what the answer has of it."""
    lines = {_flat(line) for line in answer.split("\n")}
    text = _flat(answer)
    stems = {_stem(part) for word in _words(answer) for part in (word, *_SPLIT.split(word))}

    def has(kind: CheckKind, want: str) -> bool:
        if kind is CheckKind.GONE:
            return want in lines  # as output has it; a sentence may quote it
        if kind is CheckKind.TERMS:
            return _stem(want) in stems or (" " in want and want in text)
        return bool(want) and bool(re.search(rf"(?<!\w){re.escape(want)}(?!\w)", text))

    return tuple(
        Result(check, tuple(want for want in check.wants if has(check.kind, _flat(want)))) for check in checks
    )


def is_met(results: Sequence[Result]) -> bool | None:
    """Whether all that is required is as wanted; None where nothing is required but what is to be gone."""
    if not any(one.check.required and one.check.kind is not CheckKind.GONE for one in results):
        return None
    return all(one.is_met for one in results if one.check.required)


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().casefold()


def _stem(word: str) -> str:
    """Forms of one word have one stem, roughly: endings that English puts behind are cut."""
    for ending in ("ing", "ies", "ied", "es", "ed", "ly", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST - 1:
            return word[: -len(ending)]
    return word
