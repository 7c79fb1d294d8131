"""Edit other programs' settings files: comments are kept, and a file that changed since it was read is not replaced.

`take_out` undoes `put_in` to the byte if the file was not changed in between.  JSON may have comments and trailing
commas.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2s
from itertools import pairwise
from pathlib import Path
from typing import Any

from crucible.core import files
from crucible.core.errors import UsageError, VaultError, reason_of


def changed(path: Path, edit: Callable[[str | None], str | None], folders: int = 0, *, dry_run: bool = False) -> bool:
    """Replace a file's text with `edit(text)` (None if the file is missing); return whether anything changed.

    With `dry_run`, return whether anything would change.
    """
    old = load(path)
    with named(path):
        new = edit(old)
    if new == old:
        return False
    if dry_run:
        return True
    if new is None:
        _drop(path, folders)
    else:
        _save(path, new, old)
    return True


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Add the file's path to errors about its content."""
    try:
        yield
    except UsageError as error:
        raise VaultError(f"{path}: {error}", error.hint or "fix the file by hand; nothing was changed") from None


def load(path: Path) -> str | None:
    """Return a file's text, None if it is missing.  Raises `VaultError` if it is not UTF-8 or cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            # Opening a named pipe would block forever.
            raise VaultError(f"{path}: not a regular file")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: not UTF-8 at byte {error.start}", "save the file as UTF-8") from error
    except OSError as error:
        raise VaultError(f"{path}: {reason_of(error)}") from error


def _save(path: Path, text: str, old: str | None) -> None:
    """Write a file unless it changed since it was read: other programs write it too."""
    # Settings are often symlinks to dotfiles: write to the target.
    real = Path(os.path.realpath(path))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"{path}: cannot write: {reason_of(error)}") from error
    if old is None:
        files.create_exclusive(real, text.encode("utf-8"))
    else:
        files.write_atomic(real, text.encode("utf-8"), expected=old.encode("utf-8"))


def _drop(path: Path, folders: int) -> None:
    """Delete a file, and up to `folders` of its parent folders if they are empty."""
    try:
        Path(os.path.realpath(path)).unlink()
    except OSError as error:
        raise VaultError(f"{path}: cannot be removed: {reason_of(error)}") from error
    with suppress(OSError):  # a folder that is not empty stays
        for folder in list(path.parents)[:folders]:
            folder.rmdir()


_STAMP = re.compile(r"[^\n]*crucible: written by cru install, ([0-9a-f]{16})[^\n]*\n\Z")


def written(body: str, comment: str) -> str:
    """Return the text of a file of ours, with a last line that shows later edits.

    `comment` is the form of a comment in it.
    """
    return body + comment.format(f"crucible: written by cru install, {_sum(body)}") + "\n"


def is_written(text: str) -> bool:
    """Return whether a file of ours was not edited."""
    found = _STAMP.search(text)
    return found is not None and _sum(text[: found.start()]) == found[1]


def _sum(body: str) -> str:
    return blake2s(body.encode("utf-8"), digest_size=8).hexdigest()


_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A value from `start` to `end`, with its key if it is an object's member.  `items` are the items of a bracket."""

    start: int
    end: int
    value: Any = None
    items: tuple[Node, ...] = ()
    key: str = ""
    key_start: int = -1

    @property
    def first(self) -> int:
        """The offset where the node begins, including its key."""
        return self.start if self.key_start < 0 else self.key_start


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text and its top-level value."""

    text: str
    root: Node


def parse(text: str) -> Parsed:
    """Parse JSON text.  Raises `UsageError` with the line of a syntax error."""
    root = _value(text, _skip(text, int(text.startswith("\ufeff"))), 0)
    end = _skip(text, root.end)
    if end != len(text):
        raise _fault(text, end, "extra text after the end")
    return Parsed(text, root)


def find(node: Node, *keys: str) -> Node | None:
    """Return the value at these keys, or None.  Of duplicate keys the last one counts, as in other JSON parsers."""
    found: Node | None = node
    for key in keys:
        found = found and next((item for item in reversed(found.items) if item.key == key), None)
    return found


def new_file(text: str | None, value: object) -> str | None:
    """Return a file with only this value; None if `text` already has one.  `text` is None if the file is missing."""
    if text is None:
        return json.dumps(value, indent=2) + "\n"
    return None if has_text(text) else text + json.dumps(value, indent=2)


def has_text(text: str) -> bool:
    """Return whether a text has anything but whitespace."""
    return bool(text.strip("\ufeff \t\r\n"))


def put_in(parsed: Parsed, keys: Sequence[str], value: Any, name: str) -> str:
    """Return the text with a value added at these keys; `name` is the file's name in errors.

    If there is already a list at these keys, the first item of `value`, a list, is appended.
    """
    node = parsed.root
    for at, key in enumerate(keys):
        _check(node, dict, ".".join(keys[:at]) or name)
        found = find(node, key)
        if found is None:
            for inner in reversed(keys[at + 1 :]):
                value = {inner: value}
            return _insert(parsed, node, _rendered(parsed.text, f"{json.dumps(key)}: ", value))
        node = found
    _check(node, list, ".".join(keys))
    return _insert(parsed, node, _rendered(parsed.text, "", value[0]))


def take_out(parsed: Parsed, *nested: Node) -> str | None:
    """Return the text without the first node, and without the brackets around it that we added.

    `nested` are nodes, each inside the next one.  Returns None if nothing else was in the file.
    """
    for inner, outer in pairwise((*nested, parsed.root)):
        # In a bracket that was already there and empty, the first member follows directly; in our own it never does.
        if inner.first == outer.start + 1 or len(outer.items) > 1:
            return remove(parsed, outer, inner)
    around = parsed.text[: parsed.root.start], parsed.text[parsed.root.end :]
    return None if around == ("", "\n") else "".join(around)


def _check(node: Node, kind: type, what: str) -> None:
    if not isinstance(node.value, kind):
        expected = "an object" if kind is dict else "a list"
        raise UsageError(f"{what}: expected {expected}", "fix the file by hand; nothing was changed")


def _rendered(text: str, key: str, value: object) -> Callable[[str], str]:
    unit = _unit_of(text)

    def render(indent: str) -> str:
        # In a single-line file, use spaces for line breaks: our own brackets must not be directly followed by their
        # first member.
        broken = "\n" in indent
        return key + json.dumps(value, indent=unit if broken else "").replace("\n", indent if broken else " ")

    return render


def replaced(parsed: Parsed, node: Node, text: str) -> str:
    """Return the text with a node's value replaced."""
    return parsed.text[: node.start] + text + parsed.text[node.end :]


def _insert(parsed: Parsed, into: Node, render: Callable[[str], str]) -> str:
    """Return the text with a new last item in a bracket.

    `render(indent)` returns the item; `indent` is the line break and whitespace that separate its lines.
    """
    text = parsed.text
    if not into.items:
        at = into.start + 1
        return text[:at] + render(_indent_of(text, into.start) + _unit_of(text)) + text[at:]
    last = into.items[-1]
    between = _lead(text, last.first)
    # A comment after the last item on the same line stays with that item.
    tail = re.compile(r"[ \t]*,?[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)").match(text, last.end)
    has_comma = bool(tail and "," in tail[0].partition("/")[0])
    if tail is None or has_comma:
        return text[: last.end] + "," + between + render(between) + text[last.end :]
    return text[: last.end] + "," + tail[0] + between + render(between) + text[tail.end() :]


def remove(parsed: Parsed, within: Node, item: Node) -> str:
    """Return the text without one item of a bracket and its comma."""
    text, place = parsed.text, within.items.index(item)
    if len(within.items) == 1:
        is_adjacent = item.first == within.start + 1
        end = item.end if is_adjacent else within.end - 1
        comma = _comma(text, item.end, within.end - 1)
        end = comma + 1 if comma >= 0 and is_adjacent else end
        return text[: within.start + 1] + text[end:]
    if place == len(within.items) - 1:
        before = within.items[place - 1]
        comma = _comma(text, before.end, item.first)
        start = _end_of_comments(text, comma + 1, item.first)
        return text[:comma] + text[comma + 1 : start] + text[item.end :]
    comma = _comma(text, item.end, within.items[place + 1].first)
    start = item.first if place == 0 else _end_of_comments(text, within.items[place - 1].end, item.first)
    after = re.compile(r"[ \t\r\n]*").match(text, comma + 1)
    end = after.end() if after and place == 0 else comma + 1
    return text[:start] + text[end:]


# --- reading ---------------------------------------------------------------------------------------------------------


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _fault(text: str, at: int, what: str) -> UsageError:
    line = text.count("\n", 0, at) + 1
    return UsageError(f"line {line}: not JSON: {what}")


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _fault(text, at, "nested too deeply")
    if text[at : at + 1] in ("{", "["):
        return _bracket(text, at, depth)
    found = _SCALAR.match(text, at)
    if not found:
        raise _fault(text, at, f"found {text[at : at + 10]!r}" if text[at:] else "unexpected end of file")
    try:
        return Node(at, found.end(), json.loads(found[0]))
    except ValueError as error:
        raise _fault(text, at, str(error)) from None


def _bracket(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    items: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        item = _member(text, at, depth) if is_object else _value(text, at, depth + 1)
        items.append(item)
        at = _skip(text, item.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _fault(text, at, f"expected ',' or '{closing}'")
    value: Any = {item.key: item.value for item in items} if is_object else [item.value for item in items]
    return Node(start, at + 1, value, tuple(items))


def _member(text: str, at: int, depth: int) -> Node:
    key = _value(text, at, depth + 1)
    if not isinstance(key.value, str):
        raise _fault(text, at, "expected a key in quotes")
    colon = _skip(text, key.end)
    if text[colon : colon + 1] != ":":
        raise _fault(text, colon, "expected ':'")
    value = _value(text, _skip(text, colon + 1), depth + 1)
    return Node(value.start, value.end, value.value, value.items, key.value, at)


# --- places ----------------------------------------------------------------------------------------------------------


def _comma(text: str, start: int, end: int) -> int:
    """Return the offset of the comma between two offsets, outside comments; -1 if there is none."""
    at = _skip(text, start)
    return at if at < end and text[at] == "," else -1


def _end_of_comments(text: str, start: int, end: int) -> int:
    """Return the end of the last comment or comma before `end`; `start` if there is none."""
    last = start
    for found in re.compile(r"//[^\r\n]*|/\*.*?\*/|,", re.DOTALL).finditer(text, start, end):
        last = found.end()
    return last


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_of(text: str, at: int) -> str:
    """Return a line break and the indentation of the line at an offset."""
    begin = text.rfind("\n", 0, at) + 1
    blanks = re.compile(r"[ \t]*").match(text, begin)
    return _newline(text) + (blanks[0] if blanks else "")


def _unit_of(text: str) -> str:
    """Return one step of indentation as used in the file."""
    found = re.compile(r"\n([ \t]+)\S").search(text)
    return found[1] if found else "  "


def _lead(text: str, at: int) -> str:
    """Return the separator before an item: a line break and its indentation, or one space."""
    begin = text.rfind("\n", 0, at) + 1
    return _indent_of(text, at) if not text[begin:at].strip(" \t") else " "
