"""Instructions: a later prompt that says what to do, and the approach that the agent announced.

About half of them are decisions, the others only request the next work; structure does not show which.
"""

from __future__ import annotations

from crucible.analysis.findings.confidence import Pattern
from crucible.analysis.findings.first_sentences import asks, line, said
from crucible.analysis.findings.observed_calls import is_log
from crucible.analysis.findings.story import Story
from crucible.clients.events import PromptKind
from crucible.documents.session.findings import Kind, Source
from crucible.documents.session.plain_text import SUMMARY
from crucible.documents.session.session import Noted

INSTRUCTED = Pattern("instruction with a stated approach", Source.REPLY, 21, 49)

_APPROACH, _REASON = 100, 300
"""Least and most code points of an approach."""


class Instructions:
    """Instructions of one session."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._found: list[Noted] = []

    def edited(self, settled: bool) -> None:
        """Files changed; `settled` if the prompt is a decision already."""
        turn = self._story.now
        text, approach = turn.prompt.text, turn.approach
        is_first = turn.edits == 1 and not settled and not turn.red and turn.kind is PromptKind.TYPED
        if is_first and turn.answers.text and len(approach.text) >= _APPROACH and not asks(text) and not is_log(text):
            grounds = INSTRUCTED.on(turn.prompt.row, approach.row)
            self._found.append(
                Noted(Kind.INSTRUCTION, line(text, SUMMARY), said(approach.text, _REASON) or None, grounds)
            )

    def noted(self) -> list[Noted]:
        """The instructions so far."""
        return list(self._found)
