"""Remove what a user put between `<private>` and `</private>` from the prompt, and from whatever repeats it in the same session.

When in doubt, hide: an opening mark without an end hides the rest of the prompt, a closing mark alone everything before it.  Marks
count only in a user's own words, since agents' code and documents may have tags of that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from crucible.clients.events import Event, Prompted, PromptKind, QuestionsAnswered, ToolReturned, ToolUsed
from crucible.core.secrets.private_blocks import PRIVATE_MARK, Hidden, hide_private

__all__ = ["ASKING_TOOLS", "Private"]

ASKING_TOOLS = frozenset({"askuserquestion", "question", "ask_user", "request_user_input"})
"""The clients' tools whose result is a user's answer, in lower case."""

_SPOKEN = frozenset({PromptKind.TYPED, PromptKind.STEERING, PromptKind.COMMAND, PromptKind.SHELL})
_SHORTEST, _SHORTEST_LINE = 8, 20
"""Minimum lengths, in code points, of a private text, and of a single line of one, to be searched for elsewhere in the session."""
_MOST = 200
"""The maximum number of private texts to search for; each is searched for in every text of the session."""


class Private:
    """The private texts of a session so far; pass in its events in order."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._asked: set[str] = set()

    def spoken(self, event: Event) -> tuple[Event, int]:
        """The event without the parts that the user marked as private, and the number of parts."""
        if isinstance(event, ToolUsed) and event.name.casefold() in ASKING_TOOLS:
            self._asked.add(event.call)
        if isinstance(event, Prompted) and event.kind in _SPOKEN:
            text, count = self._heard(event.text)
            return (replace(event, text=text) if count else event), count
        if isinstance(event, QuestionsAnswered):
            return self._answered(event)
        if isinstance(event, ToolReturned) and (event.feedback or event.call in self._asked):
            feedback, count = self._heard(event.feedback)
            text, more = self._heard(event.text) if event.call in self._asked else (event.text, 0)
            return (replace(event, feedback=feedback, text=text) if count + more else event), count + more
        return event, 0

    def _answered(self, event: QuestionsAnswered) -> tuple[Event, int]:
        heard = [self._heard(choice.answer) for choice in event.choices]
        count = sum(hidden for _, hidden in heard)
        choices = (replace(choice, answer=shown) for choice, (shown, _) in zip(event.choices, heard, strict=True))
        return (replace(event, choices=tuple(choices)) if count else event), count

    def repeated(self, text: str) -> tuple[str, int]:
        """The text without private texts from earlier events, and how many times they occurred."""
        count = 0
        for private in self._texts:
            if private in text:
                count += text.count(private)
                text = text.replace(private, PRIVATE_MARK)
        return text, count

    def _heard(self, text: str) -> tuple[str, int]:
        shown, hidden = hide_private(text)
        known = {**self._texts, **dict.fromkeys(each for part in hidden for each in _wanted(part))}
        # Longest first, so that a line of a text is not replaced before the whole text.
        self._texts = dict.fromkeys(sorted(known, key=len, reverse=True)[:_MOST])
        return shown, len(hidden)


def _wanted(part: Hidden) -> Iterator[str]:
    """The texts to search for: a private part with and without its marks, its long lines, and each of these as JSON writes it."""
    wholes = [part.whole.strip(), part.inner.strip()] if part.inner.strip() else []
    lines = [line.strip() for line in part.inner.split("\n")]
    for text, least in (
        *((whole, _SHORTEST) for whole in wholes),
        *((line, _SHORTEST_LINE) for line in lines),
    ):
        if len(text) >= least:
            yield from {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
