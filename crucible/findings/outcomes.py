"""Outcomes: what the agent said at the end of a turn in which it changed files; commits; pull requests.

Each result is reported once: a commit whose subject repeats the closing text becomes part of that outcome.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crucible.findings.calls import Call
from crucible.findings.sources import Pattern
from crucible.findings.story import NOTHING, Said, Turn
from crucible.findings.texts import line, summary
from crucible.patterns import late_pattern
from crucible.session.findings import Kind, Source
from crucible.session.model import Noted

__all__ = ["Outcomes", "commits_in"]

CLOSING = Pattern("closing text after edits", Source.SUMMARY, 46, 49)
COMMIT = Pattern("commit", Source.COMMIT, 36, 36)
REQUEST = Pattern("pull request", Source.COMMIT, 8, 8)

_LIMIT = 650
_MOST = 30
_SAME = 0.6
"""The share of a commit's words that must be in the closing text for both to be one outcome."""
_CREATES = late_pattern(r"\b(?:gh pr|glab mr) create\b")
_TITLED = late_pattern(r"""--title[ =](["'])(.+?)\1""")
_COMMIT = late_pattern(r"^\[([^\]\n]+?) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_REQUEST = late_pattern(r"^https://\S+/(?:pull|merge_requests)/\d+[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Found:
    pattern: Pattern
    text: str
    row: str
    details: str | None = None


class Outcomes:
    """Outcomes of one session; those of the current turn are kept apart, since more may follow."""

    def __init__(self) -> None:
        self._found: list[_Found] = []
        self._commits: list[_Found] = []

    def ended(self, turn: Turn) -> None:
        """End a turn."""
        self._found.extend(self._of_turn(turn))
        self._commits = []

    def returned(self, call: Call, text: str, row: str) -> None:
        """Take the output of a shell command that succeeded."""
        if "git init" in call.script:
            return
        for place, name, subject in commits_in(text):
            if "root-commit" not in place and len(self._commits) < _MOST:
                self._commits.append(_Found(COMMIT, f"{line(subject, 200)} (commit {name[:9]})", row))
        if _CREATES.search(call.script) and (made := _REQUEST.search(text)):
            title = _TITLED.search(call.script)
            self._commits.append(
                _Found(REQUEST, line(f"PR opened: {title[2] if title else ''} {made[0]}", 300), row)
            )

    def noted(self, turn: Turn) -> list[Noted]:
        """The outcomes so far, including those of the current turn."""
        found = (*self._found, *self._of_turn(turn))
        return [Noted(Kind.OUTCOME, each.text, each.details, each.pattern.on(each.row)) for each in found]

    def _of_turn(self, turn: Turn) -> list[_Found]:
        """The closing text, and the commits that it does not cover."""
        said = _closing(turn)
        if not said.text:
            return self._commits
        told = summary(said.text, _LIMIT)
        known = _words(told)
        same = [
            each for each in self._commits if len(known & _words(each.text)) >= _SAME * len(_words(each.text))
        ]
        details = "; ".join(each.text for each in same) or None
        return [
            _Found(CLOSING, told, said.row, details),
            *(each for each in self._commits if each not in same),
        ]


def commits_in(text: str) -> list[tuple[str, str, str]]:
    """Branch, short id and subject of each commit that `git commit` reported."""
    return _COMMIT.findall(text[-20_000:]) if "] " in text else []


def _closing(turn: Turn) -> Said:
    """The last text after the last edit; the longest one instead if the last only introduces a call."""
    last, longest = turn.closing, turn.longest
    if not turn.edits:
        return NOTHING
    weak = turn.worked or last.text.endswith(":") or len(last.text) < 150
    if weak and len(longest.text) > 2 * len(last.text):
        return longest
    return NOTHING if turn.worked and last.text.endswith(":") else last


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.casefold()))
