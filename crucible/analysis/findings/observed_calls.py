"""Read any client's tool call as an edit, a shell command or neither, and recognise the output of failed commands.

The output is needed because a pipe may hide the exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from posixpath import join, normpath

from crucible.analysis.tools.file_kinds import INTERPRETERS, kind_of, plain_words
from crucible.analysis.tools.shell_parser import ShellCommand, parse_script
from crucible.analysis.tools.tool_acts import Deed
from crucible.core.patterns import late_pattern


def word_set(text: str) -> frozenset[str]:
    """Return the words in a table."""
    return frozenset(text.split())


_EDITS = word_set(
    """
    edit multiedit write notebookedit edit_file write_file create_file create replace insert str_replace
    search_replace edit_block str_replace_editor str_replace_based_edit_tool text_editor apply_patch patch
    """
)
_SHELLS = word_set(
    """
    bash shell exec_command run_shell_command shell_command local_shell local_shell_call container_exec powershell
    execute_command run_command run_in_terminal terminal
    """
)
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "target_file")
_PATCHES = ("input", "patch", "patchText", "content")
_DELETED = late_pattern(r"^\*\*\* Delete File: (.+?)[ \t\r]*$", re.MULTILINE)
_PATCHED = late_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t\r]*$", re.MULTILINE)
_MOST = 40
"""Maximum number of files, and of keys, kept for one call."""
_LONGEST = 20_000
"""Maximum code points read from a script."""
_MOST_LINES = 400


Lines = frozenset[tuple[str, str]]
"""Pairs of file and line."""


@dataclass(slots=True)
class ObservedCall:
    """A call.  `summary` is its command, path or first argument; `approach` is the agent's text right before it.

    `files` are those that it edits, `gone` those that it deletes, and `restored` those that it resets to the commit.
    `is_whole` is True if it writes an entire file.
    """

    row: str
    tool: str
    summary: str
    approach: str = ""
    is_shell: bool = False
    files: tuple[str, ...] = ()
    added: Lines = frozenset()
    removed: Lines = frozenset()
    gone: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    is_whole: bool = False
    commits: bool = False
    script: str = field(default="", repr=False)


def read_call(row: str, name: str, arguments: Mapping[str, object], roots: tuple[str, ...]) -> ObservedCall:
    """Read a call; never raises."""
    tool = name.casefold().replace("-", "_").replace(".", "_")
    if tool in _SHELLS:
        return _shell(row, name, _script(arguments)[:_LONGEST], roots)
    if tool not in _EDITS or arguments.get("command") == "view":
        summary = next((value[:300] for value in arguments.values() if isinstance(value, str)), "")
        return ObservedCall(row, name, summary)
    path, patch = _text(arguments, *_PATHS), _text(arguments, *_PATCHES)
    files = (path,) if path else tuple(_PATCHED.findall(patch)[:_MOST])
    changes = changes_in(arguments)
    old, new = _lines(changes, 1), _lines(changes, 2)
    return ObservedCall(
        row,
        name,
        ", ".join(map(base_name, files[:3]))[:300],
        files=_own(files, roots),
        added=new - old,
        removed=old - new,
        gone=tuple(_DELETED.findall(patch)) if "*** Delete" in patch else (),
        is_whole=not arguments.keys().isdisjoint(_WHOLE),
    )


def _text(arguments: Mapping[str, object], *names: str) -> str:
    found = (arguments.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value.strip()), "")


def changes_in(arguments: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Return the file, the old text and the new text for each part of an edit."""
    path = _text(arguments, *_PATHS)
    return list(_edits(path, arguments) if path else _patches(_text(arguments, *_PATCHES)))


_OLD = ("old_string", "oldString", "old_str", "old_text")
_WHOLE = ("content", "file_text")
_NEW = ("new_string", "newString", "new_str", "new_text", *_WHOLE)


def _edits(path: str, arguments: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    edits = arguments.get("edits")
    for edit in edits if isinstance(edits, list) else [arguments]:
        if isinstance(edit, Mapping):
            yield path, _text(edit, *_OLD), _text(edit, *_NEW)


def _patches(patch: str) -> Iterator[tuple[str, str, str]]:
    parts = _PATCHED.split(patch)[1:]
    for path, body in zip(parts[::2], parts[1::2], strict=True):
        old, new = ("\n".join(one[1:] for one in body.split("\n") if one[:1] == mark) for mark in "-+")
        yield path, old, new


def _lines(changes: Sequence[tuple[str, str, str]], at: int) -> Lines:
    """Return the old (`at` is 1) or new (2) lines in changes."""
    found = ((one[0], line.strip()) for one in changes for line in one[at].split("\n"))
    return frozenset(islice(found, _MOST_LINES))


_DOT_FOLDER = late_pattern(r"(?:^|[/\\])\.\w[^/\\]*[/\\]")


def _own(files: tuple[str, ...], roots: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the client's own files, which are in a dot-folder outside the project's folders."""
    return tuple(path for path in files if path.startswith(roots) or not _DOT_FOLDER.search(path))


def base_name(path: str) -> str:
    """Return a file's name without its folders."""
    return re.split(r"[/\\]", path)[-1]


# --- commands --------------------------------------------------------------------------------------------------------

_NO_PROGRAM = word_set(
    """
    cd echo printf sleep export true false git ls cat grep egrep find rg head tail sed awk gh which wc sort uniq
    tr cut mkdir rm cp mv touch chmod pwd env set unset source test diff jq tee xargs kill pkill curl open stat du
    df ps date type command read exit
    """
)
_RUNNERS = word_set(
    """
    mise npm pnpm yarn make just task uv docker poetry bundle bun deno turbo nx
    """
)
"""Commands that run another command or a task, so that one more argument is part of the key."""
_WORD = late_pattern(r"[\w@][\w:@.-]*")


def _script(arguments: Mapping[str, object]) -> str:
    found = next((value for name in ("command", "cmd", "script") if (value := arguments.get(name))), "")
    if isinstance(found, list):
        words = [str(word) for word in found]
        return words[2] if len(words) == 3 and words[1].startswith("-") else " ".join(words)
    return found if isinstance(found, str) else ""


def _shell(row: str, name: str, script: str, roots: tuple[str, ...]) -> ObservedCall:
    parts = parse_script(script)
    undone = [(what, path) for part in parts for what, names in _undone(part) for path in _places(names, part, roots)]
    return ObservedCall(
        row,
        name,
        script[:300],
        is_shell=True,
        files=_own(tuple(path for part in parts for path in _written(part))[:_MOST], roots),
        gone=tuple(path for what, path in undone if what is Deed.DELETE),
        restored=tuple(path for what, path in undone if what is Deed.REVERT),
        commits=any(word in script for word in ("git", "gh pr", "glab mr")) and bool(_COMMITS.search(script)),
        script=script,
    )


_COMMITS = late_pattern(r"\bgit\b[^\n|;&]{0,80}\b(?:commit|push|add)\b|\b(?:gh pr|glab mr)\b")
"""Commands that record finished work in the repository."""


def _written(part: ShellCommand) -> Iterator[str]:
    """Yield the files that a command patches, edits in place, or writes from its here-document."""
    if part.words[:1] == ("apply_patch",):
        yield from _PATCHED.findall(part.fed or " ".join(part.words[1:]))
    elif part.words[:1] == ("sed",) and any(word.startswith("-i") for word in part.words[1:3]):
        yield part.words[-1]
    elif part.fed is not None:
        yield from part.gives


_UNDO = (
    (("rm",), Deed.DELETE),
    (("git", "rm"), Deed.DELETE),
    (("git", "checkout", "--"), Deed.REVERT),
    (("git", "restore"), Deed.REVERT),
    (("git", "reset", "--hard"), Deed.REVERT),
)
"""Commands that delete files or reset them to the commit."""


def _undone(part: ShellCommand) -> Iterator[tuple[Deed, Sequence[str]]]:
    """Yield the files that a command deletes or resets; `.` means all files."""
    for words, deed in _UNDO:
        if part.words[: len(words)] == words:
            rest = part.words[len(words) :]
            names = [word for word in rest if not word.startswith("-")]
            if deed is Deed.DELETE or len(names) == len(rest):  # with `--staged`, the files are not changed
                yield deed, ["."] if words[-1] == "--hard" else names


def _places(names: Iterable[str], part: ShellCommand, roots: tuple[str, ...]) -> Iterator[str]:
    """Yield the possible paths of a command's files, since a script may start in any root; "" is the entire project."""
    for name in names:
        yield "" if name == "." else normpath(name)
        yield from (normpath(join(root, part.folder, name)) for root in roots)


def keys_of(call: ObservedCall) -> tuple[str, ...]:
    """Return the keys of a call's commands, in order.  Commands with equal keys count as the same command."""
    return tuple(dict.fromkeys(key for part in parse_script(call.script) if (key := _key(part))))[-_MOST:]


_TESTED = late_pattern(
    r"^[ \t]*(?:--- FAIL|FAIL\b|FAILED |\u2715|not ok\b|test result: FAILED|Tests:[ \t]+[1-9])", re.MULTILINE
)
"""Lines that only tests print."""


def red_in(call: ObservedCall, text: str) -> tuple[str, tuple[str, ...]]:
    """Return the key of the command that printed a failed call's output, and of the commands that passed before it.

    In `lint && test`, a line that only tests print shows that the tests failed and the earlier commands passed.
    """
    keys = keys_of(call)
    are_tests = bool(_TESTED.search(text[-_LOOKED_AT:]))
    likely = [key for key in keys if ((kind := kind_of(key.split())) and kind.deed is Deed.TEST) is are_tests]
    red = (likely or list(keys) or [""])[-1]
    return red, keys[: keys.index(red)] if red and "&&" in call.script else ()


def checks_in(call: ObservedCall) -> tuple[str, ...]:
    """Return the keys of the commands that test, check or build."""
    parts = (part for part in parse_script(call.script) if kind_of(plain_words(part.words)) is not None)
    keys = (_key(part) for part in parts)
    return tuple(dict.fromkeys(key for key in keys if key and key not in INTERPRETERS))[-_MOST:]


def _key(part: ShellCommand) -> str:
    """Return the key of a command: the program and its first arguments; "" for commands that only show or move files.

    For checks and builds, the key does not include files.
    """
    words = plain_words(part.words)
    if not words or part.piped or words[0] in _NO_PROGRAM:
        return ""
    rest = [word for word in words[1:] if word[:1] not in ("-", "") and "=" not in word]
    most = 2 if words[0] in _RUNNERS else 1
    if kind_of(words) is not None:
        rest = [word for word in rest if _WORD.fullmatch(word) and "." not in word]
    return " ".join((words[0], *rest[:most]))[:120]


# --- output ----------------------------------------------------------------------------------------------------------

_RED_LINE = (
    r"(?:\[[\w:./-]{1,40}\] )?(?:[ \t]*--- FAIL|FAIL\b|FAILED\b|FAILURES!|E  |error(?:\[\w+\])?: |error TS\d+|panic: |\d+ issues:$|[1-9]\d* fail(?:ing|ed)\b"
    r"|BUILD FAILED|test result: FAILED|Tests:[ \t]+[1-9]\d* failed|npm ERR!|make(?:\[\d+\])?: \*\*\*|Found [1-9]\d* errors?\b|[ \t]*\u2715 |\u2716 [1-9]"
    r"|ERROR task failed|[\w./-]+:\d+(?::\d+)?: error\b|={3,20} [^\n]{0,200}\b[1-9]\d{0,6} (?:failed|errors?)\b)"
)
_RED = late_pattern(_RED_LINE, re.MULTILINE)
_RED_BELOW = late_pattern(rf"\n{_RED_LINE}", re.MULTILINE)
"""A line after the first one.  The regex engine finds a line end far faster than `^`."""
_LINE = late_pattern(
    r"\s*(?:--- FAIL|FAIL\b|FAILED\b|error(?:\[\w+\])?:|error TS|panic:|E  |\u2715|not ok\b|AssertionError|\w*(?:Error|Exception):)"
    r"|\S+\.\w+(?:[:(]\d+){1,2}\)?:"
)
_PREFIX = late_pattern(r"^\[[\w:./-]{1,40}\] ")
"""The prefix that a task runner adds to each line of a task's output."""
_EXIT = late_pattern(r"\s*(?:Error: )?Exit code:? -?\d+")
_VARIES = late_pattern(r"\(?\b\d[\d.]*(?:ms|s)?\b\)?|:\d+")
_LOOKED_AT = 60_000


@lru_cache(maxsize=1)
def is_red(text: str) -> bool:
    """True if an output has a line that only a failed run prints."""
    text = text[-_LOOKED_AT:]
    return bool(_RED.match(text) or _RED_BELOW.search(text))


_LOG = late_pattern(
    r"^[ \t]*(?:[❯$%] \S|(?:\w*Error|error|fatal|remote|panic|warning): |Traceback \(|={3,} \S|[^\n]{0,30}\b\d{2}:\d{2}:\d{2}\b)",
    re.MULTILINE,
)


_ERROR = late_pattern(r"[ \t]*(?:\w*Error|error|fatal|panic): ")


def is_log(text: str) -> bool:
    """True if a prompt contains lines from a terminal or a log."""
    return is_red(text) or bool(_LOG.search(text[:20_000]))


def reports_error(line: str) -> bool:
    """True if a line in a log reports an error."""
    return bool(_RED.match(line) or _LINE.match(line) or _ERROR.match(line))


def log_lines(text: str) -> list[str]:
    """Return the lines of a prompt from the first to the last line that comes from a terminal or a log."""
    lines = [one for one in text[:20_000].split("\n") if one.strip()]
    found = [at for at, one in enumerate(lines) if _LOG.match(one) or _RED.match(one)]
    return lines[found[0] : found[-1] + 2] if found else []


def red_lines(text: str, most: int = 5) -> list[str]:
    """Return the lines that name what failed, or else the last lines."""
    lines = [_PREFIX.sub("", each).strip()[:400] for each in text[-_LOOKED_AT:].split("\n") if each.strip()]
    found = [each for each in lines if _LINE.match(each)]
    return (found or [each for each in lines if not _EXIT.match(each)][-most:])[:most]


def signature(lines: list[str]) -> frozenset[str]:
    """Return the lines of a failure without times and positions.  Failures with a line in common are the same failure.

    Lines of one or two words, such as `FAIL shop`, end every failed run, so they count only if there are no others.
    """
    stable = [_VARIES.sub("", each)[:200] for each in lines]
    return frozenset([each for each in stable if len(each.split()) > 2] or stable)
