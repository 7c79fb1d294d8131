"""Outcomes: what the agent said at the end of a turn in which it changed files, commits, and pull requests.

Owns that a thing is told once: a commit of what a closing text tells stands with it, and a longer text that says the same
again replaces the shorter one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crucible.findings.calls import Call
from crucible.findings.sources import Pattern
from crucible.findings.story import Said, Turn
from crucible.findings.texts import asks, line, summary
from crucible.patterns import late_pattern
from crucible.session.findings import Kind, Source
from crucible.session.model import Noted

__all__ = ["Outcomes", "commits_in"]

CLOSING = Pattern("closing text after edits", Source.SUMMARY, 25, 25)
LONG = Pattern("long closing text", Source.SUMMARY, 25, 25)
COMMIT = Pattern("commit", Source.COMMIT, 25, 25)
REQUEST = Pattern("pull request", Source.COMMIT, 25, 25)

_LIMIT = 650
_COMMIT = late_pattern(r"^\[([^\]\n]+?) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_REQUEST = late_pattern(r"^https://\S+/(?:pull|merge_requests)/\d+\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Found:
    pattern: Pattern
    text: str
    row: str


class Outcomes:
    """Outcomes of one session; `of_turn` is what the turn under way comes to so far."""

    def __init__(self) -> None:
        self._found: list[_Found] = []

    def ended(self, turn: Turn) -> None:
        """A turn is over."""
        self._found.extend(_of_turn(turn))

    def returned(self, call: Call, text: str, row: str) -> None:
        """A shell command that succeeded."""
        if "git init" in call.script:
            return
        for place, name, subject in commits_in(text):
            if "root-commit" not in place:
                self._found.append(_Found(COMMIT, f"{line(subject, 200)} (commit {name[:9]})", row))
        if re.search(r"\b(?:gh pr|glab mr) create\b", call.script) and (made := _REQUEST.search(text)):
            title = re.search(r"""--title[ =](["'])(.+?)\1""", call.script)
            self._found.append(_Found(REQUEST, line(f"PR opened: {title[2] if title else ''} {made[0]}", 300), row))

    def noted(self, turn: Turn) -> list[Noted]:
        """The outcomes so far, with those of the turn under way."""
        found = [*self._found, *([] if turn.is_over else _of_turn(turn))]
        return [Noted(Kind.OUTCOME, each.text, None, each.pattern.on(each.row)) for each in found]


def commits_in(text: str) -> list[tuple[str, str, str]]:
    """Branch, short id and subject of each commit that `git commit` reported."""
    return _COMMIT.findall(text[-20_000:]) if "] " in text else []


def _of_turn(turn: Turn) -> list[_Found]:
    said = _best(turn.closing, turn.longest)
    if turn.edits and said.text:
        return [_Found(CLOSING, summary(said.text, _LIMIT), said.row)]
    if not turn.edits and len(turn.longest.text) >= 600 and not asks(turn.last.text):
        return [_Found(LONG, summary(turn.longest.text, _LIMIT), turn.longest.row)]
    return []


def _best(last: Said, longest: Said) -> Said:
    """The last text, unless it only leads over to something and a longer one tells more."""
    weak = last.text.endswith(":") or len(last.text) < 150
    return longest if weak and len(longest.text) > 2 * len(last.text) else last
