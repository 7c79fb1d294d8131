"""What an answer to a case must have: checks made from its solution, and whether an answer meets them.

A check looks for what only the answer has: names in the code that the fix introduces and the question lacks, or the chosen option's words.
An answer is text, and nothing in it is run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, assert_never

from crucible.analysis.tools.file_kinds import is_test_file
from crucible.analysis.tools.shell_paths import patched_files
from crucible.commands.learn.case import (
    Body,
    CaseCall,
    CaseTurn,
    Choice,
    Correction,
    Delegation,
    Puzzle,
    Trajectory,
    content_words,
    texts_of,
)
from crucible.core.patterns import late_pattern


class CheckKind(StrEnum):
    """What a check looks for: names of files, commands, words that only the answer has, and lines that must not be there."""

    FILES = "files"
    COMMANDS = "commands"
    TERMS = "terms"
    GONE = "gone"


class RubricCheck(NamedTuple):
    """At least `least` of `wants` must be there, and none of `gone`."""

    kind: CheckKind
    wants: tuple[str, ...]
    least: int = 1


class CheckResult(NamedTuple):
    """A check that was held against an answer: `found` of its wants are there."""

    check: RubricCheck
    found: tuple[str, ...]

    @property
    def is_met(self) -> bool:
        """Whether it is as wanted."""
        if self.check.kind is CheckKind.GONE:
            return not self.found
        return len(self.found) >= self.check.least


def rubric_of(body: Body) -> tuple[RubricCheck, ...]:
    """The checks that the answer of a case gives; none for an open puzzle, and for a delegation whose result nobody used."""
    match body:
        case Puzzle() if body.is_open:
            return ()
        case Puzzle():
            shown = (body.goal, body.state, body.tried, body.failure)
            return _checks(body.solution, shown, body.expected)
        case Correction():
            return _of_correction(body)
        case Choice():
            return _of_choice(body)
        case Delegation():
            return _of_delegation(body) if body.used else ()
        case Trajectory():
            return _checks(body.turns, (body.goal,))
        case _:
            assert_never(body)


def is_gradable(body: Body) -> bool:
    """True if an answer can be told right from wrong by words that the question does not say itself."""
    return any(one.kind in (CheckKind.TERMS, CheckKind.COMMANDS) for one in rubric_of(body))


def rubric_json(checks: Iterable[RubricCheck], indent: int | None = None, *, plain: bool = False) -> str:
    """The checks as a JSON list, by which an answer can be graded without its session."""
    rows = [{"check": one.kind, "wants": one.wants, "least": one.least} for one in checks]
    return json.dumps(rows, ensure_ascii=plain, indent=indent)


# --- from calls ------------------------------------------------------------------------------------------------------

_MOST = 6
_COMMANDS, _OLD = ("command", "cmd", "script"), ("old_string", "oldString", "old_str")
_CHANGES = late_pattern(r"(?i)edit|write|patch|create|replace|insert|notebook|delete")
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file")


def _checks(turns: Sequence[CaseTurn], shown: object, said: str = "") -> tuple[RubricCheck, ...]:
    """The files that calls change and the names that they introduce; for an answer without calls, the words of `said`."""
    calls = [call for turn in turns for call in turn.calls]
    known = "\n".join(texts_of(shown))
    files = _unique(name for call in calls for name in _changed_files(call))
    spoken = "\n".join([said, *(turn.text for turn in turns if not turn.answers)])
    names = [name for name in _new_names(calls) if not _has(known, name)]
    # Names that the agent mentions are best, numbers worst.
    names.sort(key=lambda name: (name[0].isdigit(), not _has(spoken, name)))
    return _filled(
        RubricCheck(CheckKind.FILES, files, len(files)),
        _terms(names if _is_shown(calls) else _words(said or spoken, known)),
    )


def _is_shown(calls: Iterable[CaseCall]) -> bool:
    """True if the calls' arguments are known."""
    return any(name not in ("input", *_PATHS) for call in calls for name in call.arguments)


def _filled(*checks: RubricCheck) -> tuple[RubricCheck, ...]:
    return tuple(one for one in checks if one.wants)


def _terms(names: Iterable[str]) -> RubricCheck:
    own = _unique(names)[:_MOST]
    return RubricCheck(CheckKind.TERMS, own, max(1, math.ceil(len(own) / 3)))


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _changed_files(call: CaseCall) -> Iterator[str]:
    """The names, without their folders, of what a call writes."""
    patches = (text for text in texts_of(call.arguments) if "*** Begin Patch" in text)
    paths = [one.path for text in patches for one in patched_files(text)]
    if not paths and _CHANGES.search(call.name):
        line = str(call.arguments.get("input", "")).partition("\n")[0]
        paths = [_argument(call, _PATHS) or line.split(" ")[0]]
    for path in paths:
        yield path.strip().replace("\\", "/").rstrip("/").rpartition("/")[2]


def _command(call: CaseCall) -> str:
    """The command of a shell's call, if it is one line of some two hundred characters at most."""
    line = _argument(call, _COMMANDS)
    return line if "\n" not in line and len(line) <= 200 else ""


def _argument(call: CaseCall, names: Iterable[str]) -> str:
    """The first of some arguments that is there, as a text."""
    found = next((call.arguments[name] for name in names if name in call.arguments), "")
    return " ".join(map(str, found)) if isinstance(found, list) else str(found)


_NAME = late_pattern(
    r"(?<!\w)(?:[A-Za-z]\w*[a-z][A-Z]\w*|_*[A-Za-z]+_\w+|[A-Za-z]\w{4,}(?=\()|[A-Za-z]\w{2,}(?=:\w)"
    r"|(?<=[\w)\]]\.)[A-Z]\w{2,}(?![\w\"'`])|(?<=\w:)[a-z]\w{2,}|--?[a-z][\w-]+"
    r"|(?<=[\"'`])[A-Za-z]\w*[./:-][\w./:-]+(?=[\"'`]))"
)
"""A name in the code: an inner capital or `_`, a call, a member, an option, a quoted word with a mark."""
_NUMBER = late_pattern(r"(?<![\w.])(?:\d+\.\d+|\d{2,})(?![\w.])")
_DEFINED = late_pattern(
    r"\b(?:func(?:tion)?|def|class|type|const|let|var|fn|struct|interface)\b(.*)|(\w+(?:,\s*\w+)*)\s*:?=(?!=)"
)


def _new_names(calls: Sequence[CaseCall]) -> Iterator[str]:
    """The names in the new texts of edits and not in the old ones, or those of the first command; invented names do not count."""
    edits = [call for call in calls if not _argument(call, _COMMANDS)]
    code = [call for call in edits if not any(map(is_test_file, _changed_files(call)))]
    told = code or edits or calls[:1]
    new = "\n".join(map(_new_text, told))
    old = "\n".join(_argument(call, [name]) for call in told for name in _OLD)
    own = {name for line, made in _DEFINED.findall(new) for name in _OWN_NAME.findall(line or made)}
    for name in (*_NAME.findall(new), *_NUMBER.findall(new)):
        if name not in own and not _has(old, name) and not _TEST.match(name):
            yield name


_OWN_NAME = late_pattern(r"(?<![\w.])\w+(?=[ (,:=]|$)")
_TEST = late_pattern(r"[Tt]est(?=[A-Z_])")


def _new_text(call: CaseCall) -> str:
    if command := _command(call):
        return command
    given = {name: one for name, one in call.arguments.items() if name not in (*_OLD, *_PATHS, "input")}
    lines = "\n".join(texts_of(list(given.values()))).split("\n")
    if any("*** Begin Patch" in line for line in lines):
        lines = [line[1:] for line in lines if line.startswith("+")]
    return "\n".join(lines)


# --- from words ------------------------------------------------------------------------------------------------------

_WORD = late_pattern(r"[^\W\d_][\w.'-]*\w")
_SHORTEST = 3


def _words(told: str, shown: object) -> list[str]:
    """The significant words of an answer, one for each stem, without those of the question."""
    known = content_words("\n".join(texts_of(shown)))
    found: dict[str, str] = {}
    for word in _WORD.findall(told):
        stems = content_words(word)
        if len(word) >= _SHORTEST and stems and not stems & known:
            found.setdefault(min(stems), word.casefold())
    return list(found.values())


def _of_correction(body: Correction) -> tuple[RubricCheck, ...]:
    """The names that the right work introduces; for work that only runs commands, the first command and not the refused one."""
    shown = (body.goal, body.did, body.words)
    if checks := _checks(body.then, shown):
        return checks
    calls = [call for turn in body.then for call in turn.calls]
    known = "\n".join(texts_of(shown))
    parts = [one for line in map(_command, calls[:1]) for one in _NEXT.split(line)]
    lines = [_PIPED.split(one, maxsplit=1)[0].strip() for one in parts]
    refused = [_command(call) for turn in body.did for call in turn.calls if body.rejected]
    done = {_command(call) for call in calls}
    return _filled(
        RubricCheck(CheckKind.COMMANDS, _unique(one for one in lines if _BLANK in one and not _has(known, one))),
        RubricCheck(CheckKind.GONE, _unique(one for one in refused if one not in done), 0),
    )


_NEXT, _PIPED, _BLANK = late_pattern(r"&&|\|\||;"), late_pattern(r"\||\d?>"), " "


def _of_delegation(body: Delegation) -> tuple[RubricCheck, ...]:
    """The names in the result that are not in the task, those that the parent used first; without names, its words."""
    names = [name for name in _NAME.findall(body.result) if not _has(body.task, name)]
    names.sort(key=lambda name: not _has(body.evidence, name))
    return _filled(_terms(names or _words(body.result, body.task)))


def _of_choice(body: Choice) -> tuple[RubricCheck, ...]:
    """The chosen option's own words, and none of the other options; without options, the words that are not in the situation."""
    chosen = _flat(body.choice).rstrip(".")
    others = [one.partition(": ")[0] for one in body.options if not _flat(one).startswith(chosen)]
    words = _words(f"{body.choice} {'' if others else body.rationale}", others or body.situation)
    if not (others or body.rationale) and len(words := words[1:]) < _OWN:  # the first one says yes
        return ()
    return _filled(_terms(words), RubricCheck(CheckKind.GONE, tuple(others), 0))


_OWN = 3
"""Least words of a reply that decides something by itself."""


# --- held against an answer ------------------------------------------------------------------------------------------

_BLANKS = late_pattern(r"\s+")


def check_answer(checks: Iterable[RubricCheck], answer: str) -> tuple[CheckResult, ...]:
    """Each check with what the answer has of it.  Only a whole line counts as one that must be gone; a sentence may quote it."""
    lines = {_flat(line).lstrip("-* ") for line in answer.split("\n")}
    text = _flat(answer)

    def has(kind: CheckKind, want: str) -> bool:
        if kind is CheckKind.GONE:
            return want in lines
        # Forms of one word have one stem.
        stem = min(content_words(want), default=want) if want.isalpha() else want
        return _has(text, stem, is_begun=kind is CheckKind.TERMS)

    return tuple(
        CheckResult(check, tuple(want for want in check.wants if has(check.kind, _flat(want)))) for check in checks
    )


def _has(text: str, want: str, *, is_begun: bool = False) -> bool:
    # `make test` is another command than `make test:all`.
    end = "" if is_begun else r"(?!\w|:\w)" if " " in want else r"(?!\w)"
    return bool(want) and bool(re.search(rf"(?<!\w){re.escape(want)}{end}", text))


def is_met(results: Sequence[CheckResult]) -> bool | None:
    """True if all checks pass; None if nothing is wanted."""
    if all(one.check.kind is CheckKind.GONE for one in results):
        return None
    return all(one.is_met for one in results)


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().casefold()
