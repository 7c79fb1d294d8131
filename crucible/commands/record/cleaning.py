"""Texts on their way into a note: without secrets, counted by rule.

Owns that nothing is written when the scanner cannot run.  What a secret is, is `crucible.core.secrets`'.
"""

from __future__ import annotations

from collections import Counter

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import PRIVATE, hide_private, unscanned
from crucible.documents.markdown.containment import cut, normal, normal_line, slug
from crucible.documents.session.session import AgentRef

_LINE_END = late_pattern(r"[ \t]*\n[ \t]*")


class Cleaning:
    """The texts of one write; `counts` grows with each."""

    def __init__(self, redact: Redact) -> None:
        self.redact = redact
        self.counts: Counter[str] = Counter()

    def text(self, given: str) -> str:
        """The text without its secrets.

        What a note leaves out (a terminal's colours, control characters) may part a secret, and whole it would come out:
        such a text is looked at in its normal form too, and stands in that when there was something in it.  `UsageError`
        for what is no text.
        """
        check_text(given)
        text = self._once(given)
        plain = normal(text)
        if plain == text:
            return text
        clean = self._once(plain)
        return text if clean == plain else clean

    def _once(self, given: str) -> str:
        try:
            text, found = self.redact(given)
        except Exception as error:
            raise unscanned(error) from error
        self.counts.update(found)
        return text

    def block(self, given: str) -> str:
        """The same in the normal form of a text of several lines."""
        return normal(self.text(given))

    def words(self, given: str) -> str:
        """A user's own words as a block, without the parts marked as private."""
        check_text(given)
        shown, hidden = hide_private(given)
        self.counts.update({PRIVATE: len(hidden)} if hidden else {})
        return self.block(shown)

    def optional(self, given: str | None) -> str | None:
        """The same, where nothing was said None."""
        return (self.block(given) or None) if given else None

    def line(self, given: str, limit: int = 0) -> str:
        """One line, its line ends as `⏎`; with a limit at most so many code points, cut when nothing secret is left."""
        text = normal_line(_LINE_END.sub("⏎", normal(self.text(given)).strip(" \t\n")))
        return cut(text, limit) if limit else text

    def agent(self, given: str) -> AgentRef | None:
        """`name` or `name@version`; None for an empty one."""
        check_text(given)
        return agent_of(self.text(given)) if given.strip() else None

    def word(self, given: str | None, kind: str) -> str | None:
        """A model's or channel's name, as it can stand in a note."""
        return (slug(self.text(given), "channel" if kind == "channel" else "model") or None) if given else None


def check_text(given: object) -> None:
    """`UsageError` for what is no text: a program may hand in anything."""
    if not isinstance(given, str):
        raise UsageError(f"{given!r:.60} is no text, but {type(given).__name__}", "hand in a str, str(…) of it perhaps")


def agent_of(text: str) -> AgentRef:
    """A name and a version that a heading can hold."""
    found = AgentRef.parse(normal_line(text).removeprefix("@"))
    return AgentRef(slug(found.name, "agent") or "agent", slug(found.version or "", "version") or None)
