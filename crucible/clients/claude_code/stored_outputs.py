"""Long outputs that Claude Code moved into separate files, leaving a note in their place.

The file is opened only in the session's own folder beside its transcript, whatever path the note names, since a
transcript is foreign text.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import orjson

from crucible.clients.claude_code.call_results import content_text
from crucible.clients.log_values import as_dict, as_str

MOST = 65_000
"""The maximum length of a restored output in bytes; by default, the event log keeps the same amount."""
_MARK = "<persisted-output>"
_END = "</persisted-output>"
_FOLDER = "tool-results"
_NAMED = re.compile(rf"[^\n]*\b{_FOLDER}[/\\]([^\n]+)")
_SIZE = re.compile(r"\(([\d.]+ ?[A-Za-z]+)\)")
_HALF = MOST // 2 - 50
_LARGEST_JSON = 4 << 20


def outputs_folder(path: Path, session: str = "") -> Path:
    """The folder of a transcript's moved outputs; for a subagent's transcript beside its parent's, `session` is the parent's id."""
    folder = path.with_name(session) if session else path.with_suffix("")
    for parent in path.parents:
        if parent.name == "subagents":
            folder = parent.parent
    return Path(os.path.realpath(folder.parent), folder.name, _FOLDER)


def is_moved(text: str) -> bool:
    """True if a result is a note in place of an output; text that only quotes such a note is not."""
    return text.startswith(_MARK)


def restored(note: str, raw: object, folder: Path | None) -> str:
    """The output that a note replaces, without its middle if it is long.

    Comes from the file, or else from the structured result (older versions store all of it there), or else from the
    note's preview.
    """
    head, _, rest = note.removeprefix(_MARK).strip("\n").partition("\n\n")
    named = _NAMED.search(head)
    found = _read(folder, named[1].strip()) if named and folder else None
    if found is not None:
        return found
    shown = (rest.partition("\n")[2] if rest else head).removesuffix(_END).rstrip("\n").removesuffix("\n...")
    given = as_dict(raw)
    parts = (as_str(given.get("content")), as_str(given.get("stdout")), as_str(given.get("stderr")))
    whole = "\n".join(part.strip("\n") for part in parts if part.strip("\n"))
    if len(whole) > len(shown):
        return _bounded(whole.encode("utf-8", "replace"))
    size = _SIZE.search(head)
    return f"{shown}\n[… {size[1]} in all; the rest was not kept …]" if size else shown


def _read(folder: Path, name: str) -> str | None:
    """The text of a file in the folder; None if it does not exist or is outside the folder."""
    try:
        path = folder.joinpath(*re.split(r"[/\\]", name))
        if not Path(os.path.realpath(path)).is_relative_to(folder):
            return None
        # Never block on a pipe, and never follow a link that replaced the file after the check.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if path.suffix == ".json" and status.st_size <= _LARGEST_JSON:
                return _bounded(_of_blocks(file.read()))
            if status.st_size <= MOST:
                return _bounded(file.read(MOST))
            start = file.read(_HALF)
            file.seek(status.st_size - _HALF)
            return _joined(start, file.read(_HALF), status.st_size)
    except (OSError, ValueError):
        return None


def _of_blocks(data: bytes) -> bytes:
    """The text of a result that was stored as a list of blocks."""
    try:
        text, _ = content_text(orjson.loads(data))
    except ValueError:
        return data
    return text.encode("utf-8", "replace") or data


def _bounded(data: bytes) -> str:
    if len(data) <= MOST:
        return data.decode("utf-8", "replace")
    return _joined(data[:_HALF], data[-_HALF:], len(data))


def _joined(head: bytes, tail: bytes, size: int) -> str:
    """Join whole lines of both ends with a mark that says how much is missing; a longer line is cut."""
    head = head[: head.rfind(b"\n") + 1].removesuffix(b"\n") or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    start, end = head.decode("utf-8", "ignore"), tail.decode("utf-8", "ignore")
    # Do not count the line breaks at the cut: the mark has its own.
    left = size - len(start.encode()) - len(end.encode()) - 2
    return f"{start}\n[… {left:,} bytes left out …]\n{end}"
