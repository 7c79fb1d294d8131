"""Derive checks from the solution of a case, and check answers against them.

A check looks for words that the question lacks: names that the fix introduces, or the words of the chosen option.
Answers are treated as text; nothing in them is executed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
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
    stems_of,
    texts_of,
)
from crucible.core.patterns import late_pattern


class CheckKind(StrEnum):
    """What a check looks for: file names, commands, words found only in the answer, or lines that must not occur."""

    FILES = "files"
    COMMANDS = "commands"
    TERMS = "terms"
    GONE = "gone"


class RubricCheck(NamedTuple):
    """A check that passes if at least `least` of `wants` occur or, for `GONE`, if none does."""

    kind: CheckKind
    wants: tuple[str, ...]
    least: int = 1


class CheckResult(NamedTuple):
    """A check, and which of its `wants` an answer contains."""

    check: RubricCheck
    found: tuple[str, ...]

    @property
    def is_met(self) -> bool:
        """True if the answer passes the check."""
        if self.check.kind is CheckKind.GONE:
            return not self.found
        return len(self.found) >= self.check.least


def rubric_of(body: Body) -> tuple[RubricCheck, ...]:
    """Return the checks for answers to a case. An open puzzle and a delegation with an unused result have none."""
    return _known_rubric(_Same(body))


class _Same:
    """A body that equals only itself: bodies have no hash, and comparing them would take as long as the checks."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.body is other.body

    def __hash__(self) -> int:
        return id(self.body)


@lru_cache(256)
def _known_rubric(same: _Same) -> tuple[RubricCheck, ...]:
    """Return the checks. A case needs them to be extracted and to be exported, soon afterwards."""
    body = same.body
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
    """True if any check looks for words or commands that the question lacks."""
    return any(one.kind in (CheckKind.TERMS, CheckKind.COMMANDS) for one in rubric_of(body))


def rubric_json(checks: Iterable[RubricCheck], indent: int | None = None, *, plain: bool = False) -> str:
    """Return the checks as a JSON list, for grading answers without the session."""
    rows = [{"check": one.kind, "wants": one.wants, "least": one.least} for one in checks]
    return json.dumps(rows, ensure_ascii=plain, indent=indent)


# --- from calls ------------------------------------------------------------------------------------------------------

_MOST = 6
_COMMANDS, _OLD = ("command", "cmd", "script"), ("old_string", "oldString", "old_str")
_CHANGES = late_pattern(r"(?i)edit|write|patch|create|replace|insert|notebook|delete")
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file")


def _checks(turns: Sequence[CaseTurn], question: object, answer: str = "") -> tuple[RubricCheck, ...]:
    """Check for files that calls change and names that they add; without calls, for the words of `answer`."""
    calls = [call for turn in turns for call in turn.calls]
    known = "\n".join(texts_of(question))
    files = _unique(name for call in calls for name in _changed_files(call))
    prose = "\n".join([answer, *(turn.text for turn in turns if not turn.answers)])
    names = [name for name in _new_names(calls) if not _has(known, name)]
    # Prefer names that the agent mentions; numbers come last.
    names.sort(key=lambda name: (name[0].isdigit(), not _has(prose, name)))
    return _filled(
        RubricCheck(CheckKind.FILES, files, len(files)),
        _terms(names if _is_shown(calls) else _words(answer or prose, known)),
    )


def _is_shown(calls: Iterable[CaseCall]) -> bool:
    """True if any call has known arguments other than its one-line form and paths."""
    return any(name not in ("input", *_PATHS) for call in calls for name in call.arguments)


def _filled(*checks: RubricCheck) -> tuple[RubricCheck, ...]:
    return tuple(one for one in checks if one.wants)


def _terms(names: Iterable[str]) -> RubricCheck:
    own = _unique(names)[:_MOST]
    return RubricCheck(CheckKind.TERMS, own, max(1, math.ceil(len(own) / 3)))


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _changed_files(call: CaseCall) -> Iterator[str]:
    """Yield the names, without folders, of the files that a call writes."""
    patches = (text for text in texts_of(call.arguments) if "*** Begin Patch" in text)
    paths = [one.path for text in patches for one in patched_files(text)]
    if not paths and _CHANGES.search(call.name):
        line = str(call.arguments.get("input", "")).partition("\n")[0]
        paths = [_argument(call, _PATHS) or line.split(" ")[0]]
    for path in paths:
        yield path.strip().replace("\\", "/").rstrip("/").rpartition("/")[2]


def _command(call: CaseCall) -> str:
    """Return a shell call's command; "" if it has several lines or more than 200 characters."""
    line = _argument(call, _COMMANDS)
    return line if "\n" not in line and len(line) <= 200 else ""


def _argument(call: CaseCall, names: Iterable[str]) -> str:
    """Return the first of the named arguments that exists, as text."""
    found = next((call.arguments[name] for name in names if name in call.arguments), "")
    return " ".join(map(str, found)) if isinstance(found, list) else str(found)


_NAME = late_pattern(
    r"(?<!\w)(?:[A-Za-z]\w*[a-z][A-Z]\w*|_*[A-Za-z]+_\w+|[A-Za-z]\w{4,}(?=\()|[A-Za-z]\w{2,}(?=:\w)"
    r"|(?<=[\w)\]]\.)[A-Z]\w{2,}(?![\w\"'`])|(?<=\w:)[a-z]\w{2,}|--?[a-z][\w-]+"
    r"|(?<=[\"'`])[A-Za-z]\w*[./:-][\w./:-]+(?=[\"'`]))"
)
"""Matches a name in code: with an inner capital or `_`, a call, a member, an option, or quoted with punctuation."""
_NUMBER = late_pattern(r"(?<![\w.])(?:\d+\.\d+|\d{2,})(?![\w.])")
_DEFINED = late_pattern(
    r"\b(?:func(?:tion)?|def|class|type|const|let|var|fn|struct|interface)\b(.*)"
    r"|(?<!\w)((?>\w+(?:,\s*\w+)*))\s*+:?=(?!=)"
)


def _new_names(calls: Sequence[CaseCall]) -> Iterator[str]:
    """Yield the names that edits add, else those in the first command, except names that the edits define."""
    edits = [call for call in calls if not _argument(call, _COMMANDS)]
    code = [call for call in edits if not any(map(is_test_file, _changed_files(call)))]
    used = code or edits or calls[:1]
    new = "\n".join(map(_new_text, used))
    old = "\n".join(_argument(call, [name]) for call in used for name in _OLD)
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


def _words(answer: str, question: object) -> list[str]:
    """Return the significant words of an answer that are not in the question, one per stem."""
    known = content_words("\n".join(texts_of(question)))
    found: dict[str, str] = {}
    for word in _WORD.findall(answer):
        stems = stems_of(word)
        if len(word) >= _SHORTEST and stems and not stems & known:
            found.setdefault(min(stems), word.casefold())
    return list(found.values())


def _of_correction(body: Correction) -> tuple[RubricCheck, ...]:
    """Check for names that the corrected work adds; for commands only, the first, and not the rejected one."""
    question = (body.goal, body.did, body.words)
    if checks := _checks(body.then, question):
        return checks
    calls = [call for turn in body.then for call in turn.calls]
    known = "\n".join(texts_of(question))
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
    """Check for names in the result that the task lacks, those used by the parent first; without names, for words."""
    names = [name for name in _NAME.findall(body.result) if not _has(body.task, name)]
    names.sort(key=lambda name: not _has(body.evidence, name))
    return _filled(_terms(names or _words(body.result, body.task)))


def _of_choice(body: Choice) -> tuple[RubricCheck, ...]:
    """Check for the words of the choice and against the other options; without options, for new words."""
    chosen = _flat(body.choice).rstrip(".")
    others = [one.partition(": ")[0] for one in body.options if not _flat(one).startswith(chosen)]
    words = _words(f"{body.choice} {'' if others else body.rationale}", others or body.situation)
    if not (others or body.rationale) and len(words := words[1:]) < _OWN:  # the first word may just be "yes"
        return ()
    return _filled(_terms(words), RubricCheck(CheckKind.GONE, tuple(others), 0))


_OWN = 3
"""Minimum words of a reply that is a decision in itself."""


# --- checking an answer ----------------------------------------------------------------------------------------------

_BLANKS = late_pattern(r"\s+")


def check_answer(checks: Iterable[RubricCheck], answer: str) -> tuple[CheckResult, ...]:
    """Check an answer. For `GONE`, only full lines count, since a sentence may quote the command."""
    lines = {_flat(line).lstrip("-* ") for line in answer.split("\n")}
    text = _flat(answer)

    def has(kind: CheckKind, want: str) -> bool:
        if kind is CheckKind.GONE:
            return want in lines
        # Use a stem to match all forms of a word.
        stem = min(content_words(want), default=want) if want.isalpha() else want
        return _has(text, stem, is_begun=kind is CheckKind.TERMS)

    return tuple(
        CheckResult(check, tuple(want for want in check.wants if has(check.kind, _flat(want)))) for check in checks
    )


def _has(text: str, want: str, *, is_begun: bool = False) -> bool:
    at = text.find(want) if want else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(want) : at + len(want) + 2]
        # `make test` and `make test:all` are different commands.
        is_longer = _is_word(after[:1]) or (" " in want and after[:1] == ":" and _is_word(after[1:]))
        if not _is_word(before) and (is_begun or not is_longer):
            return True
        at = text.find(want, at + 1)
    return False


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def is_met(results: Sequence[CheckResult]) -> bool | None:
    """Return whether all checks pass, None if no check looks for anything that must occur."""
    if all(one.check.kind is CheckKind.GONE for one in results):
        return None
    return all(one.is_met for one in results)


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().casefold()
