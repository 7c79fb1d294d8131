"""Remove what clients and task runners add to a command's output: tags, banners, closing lines."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from crucible.core.patterns import ANSI, late_pattern

_ENDS = 20_000
"""Maximum code points to read at each end of an output."""

_EXIT = late_pattern(r"\A\s*(?:Error:\s*)?Exit code (-?\d+)\s*")
_REMINDER = late_pattern(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_TAGS = late_pattern(r"</?(?:[a-z]+(?:[-_][a-z]+)+|error|stderr|stdout|output)>")
_MOVED = late_pattern(
    r"^Output too large \(([^()\n]+)\)\. Full output saved to: .*\n|^Preview \(first .*\):\n", re.MULTILINE
)

# Notices by clients and by our log readers about omitted lines.
_TRUNCATED = late_pattern(
    r"^(?:\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.|\[… .* left out …\])$", re.MULTILINE
)
_NOT_KEPT = late_pattern(r"^\[… (.+) in all; the rest was not kept …\]\s*\Z", re.MULTILINE)
# The patterns of whole lines begin with a line end, since the regex engine finds it far faster than `^`.
# mise, task and make print the command and its duration; package managers print the script, shells their folder.
_BANNER = late_pattern(
    r"""\n(?>[ \t]*)(?:
        \[[\w:.@/+-]+\]\ (?:\$\ |Finished\ in\ ).* | (?:Finished|Done)\ in\ [\d.]+\ ?m?s\.? | \$\ \S.*
        | >\ \S+@\S+(?:\ \S+)*\n+(?:>\ .*)? | task:\ \[.* | make(?:\[\d+\])?:\ (?:Entering|Leaving)\ directory.*
        | yarn\ run\ v.* | info\ Visit\ https.* | npm\ (?:notice|warn|WARN)\b.* | mise\ (?:WARN|INFO)\b.*
        | Shell\ cwd\ was\ reset\ to\ .* | (?:real|user|sys)\t\d+m[\d.]+s | .*\d\ system\ [\d.]+%\ cpu\ [\d.:]+\ total
    )[ \t]*$""",
    re.MULTILINE | re.VERBOSE,
)
_BANNER_SIGNS = (
    *(
        "$ ",
        "> ",
        "inished in",
        "Done in",
        "task: [",
        " directory",
        "yarn run",
        "info Visit",
        "npm ",
        "mise ",
        "cwd was reset",
    ),
    *("real\t", "user\t", "sys\t", "% cpu"),
)
"""Text without any of these has no banner.  Checked first for speed, since most text has none."""
# Messages of a task runner whose command failed.  They do not show the cause.
_LAST_WORDS = late_pattern(
    r"""\n(?>[ \t]*)(?:
        \[[\w:.@/+-]+\]\ ERROR\ task\ failed | npm\ (?:error|ERR!)\ (?:Lifecycle\ |code\ (?:ELIFECYCLE|\d)|errno\ |.*\bExit\ status\b|A\ complete\ log|(?:path|workspace|location|command)\ ).* | g?make(?:\[\d+\])?:\ \*\*\*\ .* | exit\ status\ \d+
        | error:\ Recipe\ .* | task:\ Failed\ to\ run\ task.* | error\ Command\ failed\ with\ exit\ code.*
        | \W*ELIFECYCLE\b.* | mise\ ERROR\b.* | error:\ script\ ".*"\ exited\ with\ code.* | ERROR:\ .*\bexit(?:ed)?\b.*
    )[ \t]*$""",
    re.MULTILINE | re.VERBOSE,
)
_LAST_SIGNS = (
    "ERROR",
    "npm e",
    "npm E",
    "make",
    "exit status",
    "error: ",
    "Failed to run",
    "Command failed",
    "ELIFECYCLE",
)
_PREFIX = late_pattern(r"^\[[\w:.@/+-]+\] ", re.MULTILINE)
_FRAME = late_pattern(r"^\s*[=\-_*~]{3,}\s+|\s+[=\-_*~]{3,}\s*$")

_FILTER = late_pattern(r"\|\s*(tail|head|grep|egrep|rg|awk|sed|cut|sort|uniq|wc)\b(?:\s+-n)?(?:\s*-?(\d+))?")


class Printed(NamedTuple):
    """An output without the text around it.

    `code` is the exit code that the client prints, `moved` the size of an output that the client stored elsewhere.
    `is_cut` is true if lines are missing from the middle.  `last_words` is the task runner's message about a failed
    task.
    """

    text: str
    code: str = ""
    moved: str = ""
    is_cut: bool = False
    last_words: str = ""


@lru_cache(maxsize=2)
def printed(text: str) -> Printed:
    """Remove what clients and task runners add to an output."""
    is_cut = len(text) > 2 * _ENDS
    text = f"{text[:_ENDS]}\n{text[-_ENDS:]}" if is_cut else text
    code = _EXIT.match(text)
    text = text[code.end() :] if code else text
    if "\x1b" in text or "\r" in text:
        text = ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    moved = ""
    if "<" in text:
        size = _MOVED.search(text) if "<persisted-output>" in text else None
        moved = size[1] or "" if size else ""
        text = _REMINDER.sub("", _MOVED.sub("", text) if moved else text)
        text = _TAGS.sub("", text)
    left_out = 0
    if "…]" in text or "truncated]" in text:
        text, left_out = _TRUNCATED.subn("", text)
        size = _NOT_KEPT.search(text)
        moved, text = (size[1], text[: size.start()]) if size else (moved, text)
    if any(sign in text for sign in _BANNER_SIGNS):
        text = _BANNER.sub("\n", f"\n{text}")[1:]
    words = _LAST_WORDS.search(f"\n{text}") if any(sign in text for sign in _LAST_SIGNS) else None
    return Printed(
        _LAST_WORDS.sub("\n", f"\n{text}")[1:] if words else text,
        code[1] if code else "",
        moved,
        is_cut or left_out > 0,
        words[0].strip() if words else "",
    )


def bare(text: str) -> str:
    """Remove the task name with which a runner, or Maven, prefixes each line."""
    return _PREFIX.sub("", text) if "[" in text else text


def unframed(line: str) -> str:
    """Strip frames of `=`, `-` and similar marks from a line."""
    return _FRAME.sub("", line)


def is_partial(command: str, text: str) -> bool:
    """True if a filter in the command dropped output lines, so that line counts are wrong."""
    lines = text.strip("\n").count("\n") + 1
    return any(kind not in ("tail", "head") or lines >= int(number or 10) for kind, number in _FILTER.findall(command))
