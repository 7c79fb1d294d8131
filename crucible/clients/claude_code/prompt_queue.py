"""Prompts that a human typed while Claude Code was working: each is told once, though the log holds it up to thrice.

Owns the rows of type `queue-operation` and which of the copies counts.  Even an ordinary prompt goes through the queue
(`enqueue`, `dequeue` at once, then the user row): its user row counts.  A prompt that entered the running turn leaves
by `remove` and, since 2.1.101, an attachment `queued_command`: whichever comes first counts, as steering.  `popAll`
gives prompts back to the editor: they were not said.  What is still queued at the end of the file was not said yet.
"""

from __future__ import annotations

from crucible.clients.claude_code.call_results import content_text
from crucible.clients.events import PromptKind
from crucible.clients.log_values import Row

__all__ = ["Queue"]

_NOT_FOR_US = ("delivered_to_agent", "agent_stopped")
"""Reasons to remove what was never meant for the trunk."""


class Queue:
    """The queue as far as it was read.  `step` counts the agent's and the tools' rows."""

    __slots__ = ("_delivered", "_taken", "_waiting", "step")

    def __init__(self) -> None:
        self.step = 0
        self._waiting: list[tuple[str, int]] = []
        self._taken: tuple[str, int] = ("", 0)
        self._delivered: dict[str, set[str]] = {}

    def operate(self, row: Row) -> str:
        """Follow one row; the text that it let into the running turn, or ""."""
        text, _ = content_text(row.get("content"))
        match row.get("operation"):
            case "enqueue":
                self._waiting.append((text, self.step))
            case "dequeue":
                self._taken = self._take(text)
            case "remove":
                gone, _ = self._take(text)
                if row.get("reason") not in _NOT_FOR_US and gone and self._is_new(gone, "remove"):
                    return gone
            case "popAll" if text and any(text == waiting for waiting, _ in self._waiting):
                self._take(text)
            case "popAll":
                self._waiting.clear()
        return ""

    def attached(self, text: str) -> bool:
        """Whether an attachment brings a prompt that was not told yet."""
        if any(text == waiting for waiting, _ in self._waiting):
            self._take(text)
        return self._is_new(text, "attachment")

    def typed(self, text: str, working: bool) -> PromptKind | None:
        """How the prompt of a user row was said; None when it was told already.

        A notice may come without leaving the queue; it is taken out, or those behind it would be mistaken for it.
        """
        if any(text == waiting for waiting, _ in self._waiting):
            self._taken = self._take(text)
        if working and text in self._delivered and not self._is_new(text, "user"):
            return None
        self._delivered.clear()
        queued, step = self._taken
        self._taken = ("", 0)
        return PromptKind.STEERING if working and text == queued and step < self.step else PromptKind.TYPED

    def end_turn(self) -> None:
        """Forget what was told: the same words in the next turn are said anew."""
        self._delivered.clear()

    def _take(self, text: str) -> tuple[str, int]:
        """Take a prompt out, the oldest one when the row does not name it (then it must be waiting)."""
        for place, entry in enumerate(self._waiting):
            if not text or entry[0] == text:
                return self._waiting.pop(place)
        return text, self.step

    def _is_new(self, text: str, source: str) -> bool:
        """Each source tells one utterance once: a second copy from the same source is a second utterance."""
        told = self._delivered.get(text)
        if told is None or source in told:
            self._delivered[text] = {source}
            return True
        told.add(source)
        return False
