"""What a tool call tried, so that two tries of one thing are known as such, and what passed is known to mend what failed.

Owns when a command is the same, asks for all that another asked for, or does otherwise what another was for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crucible.acts.kinds import kind_of
from crucible.acts.model import Deed
from crucible.acts.toolchains import TEST
from crucible.cases.faults import SHELLS, commands_in, message_of, script_of
from crucible.cases.timeline import Moment
from crucible.patterns import late_pattern

__all__ = ["Attempt", "attempt_of", "does_otherwise", "is_again", "is_same", "mends", "signature_of"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCRIPTS = ("command", "cmd", "script")
_TRIMS = _words("tail head grep tee cat less more sed awk sort uniq wc cut tr echo printf true")
"""Commands behind a pipe or a check that only show less of it."""
_NARROWS = _words(
    "-k -t -m -run --run -g --grep --filter --only --tests --select --testNamePattern -only-testing --match --spec"
)
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file")
_WORD = late_pattern(r"\w+")
_VERBED = _words(
    "git docker podman kubectl cargo go helm terraform gh brew systemctl apt apt-get mix dotnet rails sed tar perl awk"
)
_USAGE = late_pattern(
    r"missing script|npm (?:err!|error)\W+npm run\b|unrecognized (?:argument|option)|unknown (?:option|argument|command|flag)|no such (?:file|option|task|target)|not found|usage:|invalid (?:option|argument|choice)"
    r"|unexpected (?:argument|eof|token)|no rule to make|does not exist|syntax error|unsupported",
    re.IGNORECASE,
)
_PROBES = frozenset({"--help", "-h", "--version", "status", "log", "help"})


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call: `key` is the same for two tries of the same, `path` the file that a tool was given, `commands` a shell's."""

    moment: Moment
    key: tuple[object, ...]
    script: str
    commands: tuple[tuple[str, ...], ...]
    path: str = ""

    @property
    def at(self) -> int:
        """Where it stands in its timeline."""
        return self.moment.at


def attempt_of(moment: Moment) -> Attempt:
    """What a call tried."""
    script = _script(moment)
    if script is None:
        path = _path(moment)
        tool = (moment.name or (moment.call.tool if moment.call else "")).casefold()
        rest = "" if path or moment.call is None else moment.call.call
        return Attempt(moment, ("tool", tool, path, rest), "", (), path)
    commands = commands_in(script)
    kept = tuple(words for words in commands if words[0] not in _TRIMS) or commands
    return Attempt(moment, ("shell", *kept) if kept else ("shell", script.strip()), script, kept)


def _script(moment: Moment) -> str | None:
    """The command of a shell's call; None of another tool's."""
    for name in _SCRIPTS:
        value = (moment.arguments or {}).get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            return " ".join(map(str, value[2:] if len(value) == 3 else value))  # `bash -lc SCRIPT`
    if moment.call is None or moment.call.tool.casefold() not in SHELLS:
        return None
    return script_of(moment.call)


def _path(moment: Moment) -> str:
    given = moment.arguments or {}
    named = next((value for name in _PATHS if isinstance(value := given.get(name), str)), "")
    touched = [act.what for act in moment.acts if act.deed in (Deed.READ, Deed.EDIT, Deed.WRITE)]
    return touched[0] if touched and touched[0] else named


_NUMBER = late_pattern(r"\b(?:0x[0-9a-f]+|\d[\d.:,]*)(?:m?s)?\b", re.IGNORECASE)
_TELLS = late_pattern(
    r"error|exception|fail|fatal|panic|cannot|can't|denied|not found|no such|refused|reset|unknown|undefined|missing|invalid|expected",
    re.IGNORECASE,
)


def signature_of(message: str) -> str:
    """The line of a message that tells most, without numbers: two failures with the same are likely one."""
    lines = [line.strip() for line in message_of(message[-6000:]).split("\n") if line.strip()]
    telling = [line for line in lines if _TELLS.search(line[:400])] or lines
    return _NUMBER.sub("#", telling[-1][:300]).casefold() if telling else ""


def is_same(one: Attempt, other: Attempt) -> bool:
    """Whether both tried the very same."""
    return one.key == other.key


def is_again(one: Attempt, other: Attempt) -> bool:
    """Whether the one was simply made once more.  An edit of the same file is another edit, unless its arguments are known to be the same."""
    if not is_same(one, other):
        return False
    if one.script or not (_is_edit(one) or _is_edit(other)):
        return True
    return one.moment.arguments is not None and one.moment.arguments == other.moment.arguments


def mends(passed: Attempt, failed: Attempt) -> bool:
    """Whether what passed shows that what failed is right now: the same, or a check that takes in the same files."""
    if passed.key == failed.key:
        return True
    if not passed.commands or not failed.commands:
        return False
    checks = [words for words in failed.commands if kind_of(words) is not None]
    if not checks:
        return set(failed.commands) <= set(passed.commands)
    return all(any(_takes_in(words, check) for words in passed.commands) for check in checks)


def _takes_in(passed: Sequence[str], failed: Sequence[str]) -> bool:
    if tuple(passed) == tuple(failed):
        return True
    kind = kind_of(passed)
    if kind is None or kind is not kind_of(failed) or passed[0] != failed[0]:
        return False
    narrowed = [
        word for word in passed[1:] if word.partition("=")[0] in _NARROWS or word.startswith("-Dtest")
    ]
    if any(word not in failed for word in narrowed):
        return False
    wide, asked = _targets(passed), _targets(failed)
    if not asked:
        return not wide
    return not wide or all(any(_inside(one, other) for other in wide) for one in asked)


def _targets(words: Sequence[str]) -> list[str]:
    """What a check was given, without its options, and without words that all its runs have (`run`, `test`)."""
    return [
        word
        for word in words[1:]
        if word[:1] != "-" and word not in ("run", "test", "build", "check", "./...", ".")
    ]


def _inside(inner: str, outer: str) -> bool:
    outer = outer.removesuffix("/...").removesuffix("/")
    return inner == outer or inner.startswith((f"{outer}/", f"{outer}::", f"{outer}:"))


def does_otherwise(passed: Attempt, failed: Attempt) -> bool:
    """Whether a call that went well does, in another way, what the one that failed was for.

    Only what follows soon after is to be asked of; a test of other files is none.
    """
    if not failed.commands or not passed.commands:
        return _tool_does(passed, failed)
    if {*failed.commands[:1]} & {*passed.commands}:
        return True
    first, later = (
        failed.commands[0],
        next((w for w in passed.commands if w[0] == failed.commands[0][0]), None),
    )
    if later is None or _PROBES & {*later[1:3]} - {*first}:
        return False
    if first[0] in _VERBED and first[1:2] != later[1:2]:
        return False
    if kind_of(first) is TEST and not _USAGE.search(failed.moment.result[-2000:]):
        return False
    return _alike(failed.script, passed.script)


def _alike(one: str, other: str) -> bool:
    first, second = set(_WORD.findall(one.casefold())), set(_WORD.findall(other.casefold()))
    return len(first & second) * 10 >= 3 * len(first | second)


def _tool_does(passed: Attempt, failed: Attempt) -> bool:
    if failed.commands or failed.script:
        return False
    if failed.path and any(
        act.what == failed.path and act.deed in (Deed.EDIT, Deed.WRITE) for act in passed.moment.acts
    ):
        return True
    return passed.key[:2] == failed.key[:2] and not _is_edit(failed)


def _is_edit(attempt: Attempt) -> bool:
    return any(act.deed in (Deed.EDIT, Deed.WRITE) for act in attempt.moment.acts)
