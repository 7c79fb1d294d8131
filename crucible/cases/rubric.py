"""What an answer to a puzzle must hold: checks made of its solution, and whether an answer meets them.

Owns the kinds of checks, how each is derived, and how each is held against words.  Nothing is carried out: an answer is text, and a
check is what can be seen in it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, assert_never

from crucible.cases.model import (
    Body,
    Call,
    Case,
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

__all__ = ["Check", "CheckKind", "Result", "check_answer", "is_met", "rubric_of", "rubric_text"]


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

    def told(self) -> dict[str, object]:
        """The check as JSON."""
        return {
            "check": self.kind.value,
            "wants": [*self.wants],
            "least": self.least,
            "required": self.required,
        }


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
_PATCHED = late_pattern(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
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
    match body:
        case Puzzle():
            return (
                ()
                if body.is_open
                else _of_turns(body.solution, verification, _terms_of_puzzle(body), _messages(body))
            )
        case Correction():
            return _of_turns(body.then, verification, _terms(body.words, (body.goal, body.did)), ())
        case Choice():
            return _checks(terms=_terms(body.choice, ()))
        case Delegation():
            return _checks(terms=_terms(body.result, (body.task,))) if body.used else ()
        case Trajectory():
            return _of_turns(body.turns, verification, (), ())
        case _:
            assert_never(body)


def rubric_text(case: Case) -> str:
    """The checks of a case as a JSON list, by which an answer can be graded without its session."""
    return json.dumps([one.told() for one in rubric_of(case.body, case.verification)], ensure_ascii=False)


def _of_turns(
    turns: Sequence[Turn], verification: Verification, terms: tuple[str, ...], gone: tuple[str, ...]
) -> tuple[Check, ...]:
    files = _unique(name for turn in turns for call in turn.calls for name in _changed_files(call))
    commands = _unique([*_commands(turns), *verification.command.split("\n")[:1]])
    own = tuple(term for term in terms if term not in {name.casefold() for name in files})
    return _checks(files, commands, own, gone)


def _checks(
    files: tuple[str, ...] = (),
    commands: tuple[str, ...] = (),
    terms: tuple[str, ...] = (),
    gone: tuple[str, ...] = (),
) -> tuple[Check, ...]:
    checks = (
        Check(CheckKind.FILES, files, len(files)),
        Check(CheckKind.COMMANDS, commands, required=False),
        Check(CheckKind.TERMS, terms, max(1, math.ceil(len(terms) / 3))),
        Check(CheckKind.GONE, gone, 0),
    )
    return tuple(check for check in checks if check.wants)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _changed_files(call: Call) -> Iterator[str]:
    """The names, without their folders, of what a call writes."""
    for text in texts_of(call.arguments):
        yield from (_name(path) for path in _PATCHED.findall(text))
    if _CHANGES.search(call.name):
        named = next((path for key in _PATHS if isinstance(path := call.arguments.get(key), str)), "")
        line = call.arguments.get("input")
        if not named and isinstance(line, str) and "\n" not in line:
            named = line.split(" ")[0]
        if named:
            yield _name(named)


def _name(path: str) -> str:
    return re.split(r"[\\/]", path.strip().rstrip("\\/"))[-1]


def _commands(turns: Sequence[Turn]) -> Iterator[str]:
    for turn in turns:
        for call in turn.calls:
            line = _script(call.name, call.arguments)
            if line and "\n" not in line and len(line) <= 200:
                yield line


def _script(name: str, arguments: Mapping[str, object]) -> str:
    if not _SHELLS.search(name):
        return ""
    found = next((arguments[key] for key in (*_SCRIPTS, "input") if key in arguments), "")
    if isinstance(found, list):
        return " ".join(map(str, found))
    return found if isinstance(found, str) else ""


_DONE = late_pattern(r"^Done: .*", re.MULTILINE)
"""The line in which an expected behaviour tells the acts: these are files and commands, which are asked for by themselves."""
_DEEDS = frozenset(("wrote", "deleted", "searched", "fetched", "tested", "checked", "built"))


def _terms_of_puzzle(puzzle: Puzzle) -> tuple[str, ...]:
    spoken = "\n".join(turn.text for turn in puzzle.solution if not turn.answers)
    told = _DONE.sub("", puzzle.expected).strip() or spoken.strip() or puzzle.expected
    return _terms(told, (puzzle.goal, puzzle.state, puzzle.tried, puzzle.failure))


def _terms(told: str, asked: object) -> tuple[str, ...]:
    """The words of an answer, one of each stem; those that the question does not say itself, if there are any."""
    words = (word for word in _words(told) if word not in _DEEDS and "'" not in word)
    terms = [*{_stem(word): word for word in words}.values()]
    known = {word for text in texts_of(asked) for word in _words(text)}
    return tuple(([term for term in terms if term not in known] or terms)[:_MOST_TERMS])


def _words(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[0].casefold()
        if len(word) >= _SHORTEST and word not in _COMMON:
            yield word


def _messages(puzzle: Puzzle) -> tuple[str, ...]:
    """The failure's last line that says something: where programs put what went wrong."""
    lines = [line.strip() for line in puzzle.failure.split("\n")]
    said = [line for line in lines if len(line) >= _SHORTEST_MESSAGE and _WORD.search(line)]
    return tuple(said[-1:])


# --- held against an answer ------------------------------------------------------------------------------------------

_BLANKS = late_pattern(r"\s+")


def check_answer(checks: Iterable[Check], answer: str) -> tuple[Result, ...]:
    """Each check with what the answer has of it."""
    held = _Answer(answer)
    return tuple(
        Result(check, tuple(want for want in check.wants if held.has(check.kind, want))) for check in checks
    )


def is_met(results: Sequence[Result]) -> bool | None:
    """Whether all that is required is as wanted; None where nothing is required but what is to be gone."""
    if not any(one.check.required and one.check.kind is not CheckKind.GONE for one in results):
        return None
    return all(one.is_met for one in results if one.check.required)


class _Answer:
    def __init__(self, text: str) -> None:
        self._lines = {_flat(line) for line in text.split("\n")}
        self._text = _flat(text)
        self._stems = {_stem(part) for word in _words(text) for part in (word, *_SPLIT.split(word))}

    def has(self, kind: CheckKind, want: str) -> bool:
        flat = _flat(want)
        if kind is CheckKind.GONE:
            return flat in self._lines  # as output has it; a sentence may quote it
        if kind is CheckKind.TERMS:
            return _stem(flat) in self._stems or (" " in flat and flat in self._text)
        at = self._text.find(flat)
        while flat and at >= 0:
            if not _is_word(self._text, at - 1) and not _is_word(self._text, at + len(flat)):
                return True
            at = self._text.find(flat, at + 1)
        return False


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().casefold()


def _is_word(text: str, at: int) -> bool:
    """Whether a letter or digit stands there, so that what ends before it is another name."""
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _stem(word: str) -> str:
    """Forms of one word have one stem, roughly: endings that English puts behind are cut."""
    for ending in ("ing", "ies", "ied", "es", "ed", "ly", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST - 1:
            return word[: -len(ending)]
    return word
