"""What a user put between `<private>` and `</private>`: it is taken out of the prompt, and out of whatever repeats it in the same session.

Owns what counts as such a mark, and that doubt hides: a beginning without an end hides to the end of the prompt, an end without a beginning all
before it.  Only a user's own words are looked through for marks, since code and documents of agents have tags of that name as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from crucible.secrets.private import PRIVATE_MARK, Hidden, hide_private
from crucible.transcript.events import Event, Prompted, PromptKind, ToolReturned, ToolUsed

__all__ = ["ASKING_TOOLS", "Private"]

ASKING_TOOLS = frozenset({"askuserquestion", "question", "ask_user", "request_user_input"})
"""The clients' tools whose result is what a user answered, in small letters."""

_SPOKEN = frozenset({PromptKind.TYPED, PromptKind.STEERING, PromptKind.COMMAND, PromptKind.SHELL})
_SHORTEST, _SHORTEST_LINE = 8, 20
"""Code points of what is looked for elsewhere in the session: a private text, and a line of a longer one."""
_MOST = 200
"""Texts that are looked for; each is looked for in every text of the session."""


class Private:
    """What was private in the session so far; events are handed in as they come."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._asked: set[str] = set()

    def spoken(self, event: Event) -> tuple[Event, int]:
        """The event without what its user's own words mark as private, and how many parts that were."""
        if isinstance(event, ToolUsed) and event.name.casefold() in ASKING_TOOLS:
            self._asked.add(event.call)
        if isinstance(event, Prompted) and event.kind in _SPOKEN:
            text, count = self._heard(event.text)
            return (replace(event, text=text) if count else event), count
        if isinstance(event, ToolReturned) and (event.feedback or event.call in self._asked):
            feedback, count = self._heard(event.feedback)
            text, more = self._heard(event.text) if event.call in self._asked else (event.text, 0)
            return (replace(event, feedback=feedback, text=text) if count + more else event), count + more
        return event, 0

    def repeated(self, text: str) -> tuple[str, int]:
        """The text without what was said in private before, and how often it was there."""
        count = 0
        for private in self._texts:
            if private in text:
                count += text.count(private)
                text = text.replace(private, PRIVATE_MARK)
        return text, count

    def _heard(self, text: str) -> tuple[str, int]:
        shown, hidden = hide_private(text)
        known = {**self._texts, **dict.fromkeys(each for part in hidden for each in _wanted(part))}
        # The longest first: a line of a text must not break the text up.
        self._texts = dict.fromkeys(sorted(known, key=len, reverse=True)[:_MOST])
        return shown, len(hidden)


def _wanted(part: Hidden) -> Iterator[str]:
    """What is looked for of a private part: with its marks and without, its long lines, and all of these as they stand in JSON."""
    wholes = [part.whole.strip(), part.inner.strip()] if part.inner.strip() else []
    lines = [line.strip() for line in part.inner.split("\n")]
    for text, least in (
        *((whole, _SHORTEST) for whole in wholes),
        *((line, _SHORTEST_LINE) for line in lines),
    ):
        if len(text) >= least:
            yield from {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
