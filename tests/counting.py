"""Count work, so that a test can compare the work for a text with that for twice the text without a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, SupportsIndex


def steps_of(action: Callable[[], object]) -> int:
    """Run an action, and count the bytecode instructions that it executes."""
    count = 0

    def look(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


class CountedText(str):
    """A text that counts the characters that its slices copy and its `count` reads."""

    __slots__ = ("read",)
    read: int

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.read = 0
        return made

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        self.read += len(found)
        return found

    def count(self, *args: Any) -> int:
        start, end = (*args[1:], 0, len(self))[:2]
        self.read += end - start
        return super().count(*args)
