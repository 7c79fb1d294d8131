"""One try of a command: which tries are the same, whose failing is only an answer, and what may have changed what a command finds.

Owns the tables of programs for that; following tries through a session is `mended`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.acts.model import Deed
from crucible.capture.steps import Step, commands_of
from crucible.patterns import late_pattern
from crucible.session.model import Intervention, Outcome

__all__ = [
    "LOOKS",
    "RUNNERS",
    "TRIMS",
    "USAGE",
    "alike",
    "idle_words",
    "is_answer",
    "key_of",
    "may_mend",
    "plain_words_of",
]

TRIMS = frozenset(
    [
        "tail",
        "head",
        "grep",
        "tee",
        "cat",
        "less",
        "more",
        "sed",
        "awk",
        "sort",
        "uniq",
        "wc",
        "cut",
        "tr",
        "echo",
        "printf",
        "true",
        "cd",
    ]
)
LOOKS = frozenset(
    [
        "ls",
        "cat",
        "find",
        "head",
        "tail",
        "rg",
        "grep",
        "ag",
        "fd",
        "cd",
        "pwd",
        "sed",
        "wc",
        "stat",
        "file",
        "tree",
        "which",
        "type",
        "env",
        "echo",
        "printf",
    ]
)
_ANSWERS = frozenset(
    [
        "diff",
        "cmp",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "which",
        "type",
        "test",
        "[",
        "[[",
        "pgrep",
        "command",
        "hash",
        "pidof",
        "false",
        "expr",
        "lsof",
        "nc",
        "jest-diff",
        "git-diff",
        "colordiff",
        "comm",
        "ls",
        "stat",
        "systemctl",
        "dpkg",
        "fuser",
        "ping",
    ]
)
"""Programs whose status is an answer."""
_ANSWERING = (("git", "diff"), ("git", "grep"), ("git", "merge-base"), ("git", "ls-files"), ("git", "show-ref"), ("git", "rev-parse"), ("git", "check-ignore"), ("git", "cat-file"), ("npm", "outdated"), ("npm", "ls"), ("pnpm", "outdated"), ("yarn", "outdated"), ("docker", "inspect"), ("brew", "list"), ("pip", "show"), ("jq", "-e"), ("gh", "auth"), ("kubectl", "diff"), ("ruff", "--diff"))  # fmt: skip
_SOON = 6
"""Steps behind a failure within which the same is tried again."""
_WORD = late_pattern(r"[^\W_]+")
_SETS = late_pattern(r"(?:^|[;&|]\s*|\benv )((?:[A-Za-z_]\w*=\S*\s+)+)(?=\S)")
"""What a command sets for its program: another setting is another try."""
_ASKS = late_pattern(r"\s*(?:test|\[\[?)\s")
_COMPLAINS = late_pattern(
    r"(?m)^(?:e|f)?(?:grep|rg|ag|diff|cmp|comm|jq|which|stat|expr|lsof|ping): (?!.*(?:no such file|not found|is a directory|no match|permission))|(?i:regex parse error|parse error|syntax error|unrecognized option|invalid (?:option|regex|pattern|argument)|unmatched|usage: )"
)
"""How such a program says that it was asked wrongly."""

RUNNERS = frozenset(
    [
        "make",
        "just",
        "task",
        "rake",
        "invoke",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "gradle",
        "./gradlew",
        "mvn",
        "cargo",
        "go",
        "docker",
        "git",
        "mix",
    ]
)
"""Programs whose first word says what they are to do: another one is another task."""
USAGE = late_pattern(
    r"(?i)missing script|unrecognized|unknown (?:option|argument|command|flag|subcommand|target)|no such (?:option|task|target|script)|usage:|invalid (?:option|argument|choice)|unexpected argument|no rule to make|not a \w+ command|did you mean"
)
"""What is said of a command that was asked for wrongly."""


def may_mend(step: Step) -> bool:
    """Whether a step may have changed what a command finds: an edit, a user's word, a command that does more than look."""
    if isinstance(step.entry, Intervention):
        return False
    if step.outcome is not Outcome.OK:
        return False
    if any(act.deed in (Deed.EDIT, Deed.WRITE, Deed.DELETE) for act in step.acts):
        return True
    return bool(step.script) and any(_does_more(words) for words in commands_of(step.script))


_DOES = frozenset(
    [
        "npm",
        "pnpm",
        "yarn",
        "pip",
        "pip3",
        "uv",
        "poetry",
        "bundle",
        "cargo",
        "go",
        "mvn",
        "gradle",
        "apt",
        "apt-get",
        "brew",
        "mkdir",
        "touch",
        "cp",
        "mv",
        "rm",
        "chmod",
        "chown",
        "ln",
        "export",
        "docker",
        "podman",
        "kubectl",
        "createdb",
        "psql",
        "alembic",
        "make",
        "just",
        "patch",
        "git",
    ]
)
_DOES_WHAT = frozenset(
    [
        "install",
        "i",
        "ci",
        "add",
        "remove",
        "update",
        "upgrade",
        "sync",
        "migrate",
        "up",
        "down",
        "start",
        "restart",
        "stop",
        "create",
        "init",
        "apply",
        "get",
        "tidy",
        "generate",
        "build",
        "clean",
        "checkout",
        "reset",
        "restore",
        "pull",
        "merge",
        "rebase",
        "stash",
        "config",
        "set",
        "link",
        "compose",
        "upgrade",
        "fix",
        "mod",
    ]
)


def _does_more(words: Sequence[str]) -> bool:
    if words[0] in (
        "mkdir",
        "touch",
        "cp",
        "mv",
        "rm",
        "chmod",
        "chown",
        "ln",
        "export",
        "createdb",
        "patch",
    ):
        return True
    return words[0] in _DOES and any(
        word.partition("-")[0].partition(":")[0] in _DOES_WHAT for word in words[1:4]
    )


def key_of(step: Step) -> tuple[object, ...]:
    """What is the same for two tries of the same."""
    if not step.script:
        return ("tool", step.call.call if step.call else "")
    commands = commands_of(step.script)
    kept = tuple(words for words in commands if words[0] not in TRIMS) or commands
    kept = (*kept, tuple(_SETS.findall(step.script)))
    return ("shell", *kept) if commands else ("shell", step.script.strip())


def is_answer(step: Step) -> bool:
    """Whether a status other than 0 was only the answer: `grep` found nothing."""
    if not step.script:
        return True  # what a file tool refuses is the next try's to mend
    commands = commands_of(step.script)
    if not commands:
        return bool(_ASKS.match(step.script))
    if _COMPLAINS.search(step.result[:2000]):
        return False  # it was asked wrongly, and found out nothing
    return bool(
        commands[-1][0] in _ANSWERS or commands[-1][:2] in _ANSWERING or commands[0][:2] in _ANSWERING
    )


def plain_words_of(text: str) -> frozenset[str]:
    """The words of a message, in small letters."""
    return frozenset(word for word in _WORD.findall(text[:3000].casefold()) if len(word) > 2)


def alike(one: str, other: str) -> float:
    """The share of words that two commands have in common, from 0 to 1."""
    first, second = set(_WORD.findall(one.casefold())), set(_WORD.findall(other.casefold()))
    return len(first & second) / max(1, len(first | second))


def idle_words(steps: Sequence[Step]) -> frozenset[int]:
    """The places of what is said between a call that failed and the same again, with nothing changed: that is of chance."""
    found: set[int] = set()
    for step in steps:
        if step.outcome is not Outcome.FAILED or not step.script:
            continue
        behind = range(step.at + 1, min(len(steps), step.at + _SOON))
        again = next((at for at in behind if steps[at].script and steps[at].script == step.script), None)
        is_idle = again is not None and not any(may_mend(steps[at]) for at in range(step.at + 1, again))
        if again is not None and is_idle:
            found.update(range(step.at + 1, again))
    return frozenset(found)
