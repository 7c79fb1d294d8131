"""A heading's text as a name and its markers.  `markup` writes them.

A name whose last word looks like a marker, and a title whose last word is all `#`, were written with a backslash before
that word.
"""

from __future__ import annotations

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.active_markup import TAG
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import uncontain_line
from crucible.documents.session.session import AgentRef

_AGENT = late_pattern(r"@([\w.:/+-]+)(?:@([\w.:/+-]+))?$")
_CHANNEL = late_pattern(r"#(?!\d+$)([\w.:/+-]+)$")


def read_heading(text: str, form: int = FORMAT) -> tuple[str, AgentRef | None, str | None]:
    """A phase's name and its trailing markers `@agent[@version]` and `#channel`, in any order, each once."""
    agent: AgentRef | None = None
    channel: str | None = None
    rest = text.rstrip(" \t")
    while rest:
        head, _, word = rest.rpartition(" ")
        if word[:1] == "@" and agent is None and (found := _AGENT.match(word)):
            agent = AgentRef(found[1], found[2])
        elif word[:1] == "#" and channel is None and (found := _CHANNEL.match(word)):
            channel = found[1]
        else:
            break
        rest = head.rstrip(" \t")
    return _read_name(rest, form), agent, channel


_WORD = (late_pattern(r"\\*[@#]"), late_pattern(rf"\\*(?:@|#(?!{TAG}))"))


def protected(text: str, form: int) -> str:
    """A contained name, with a backslash before its last word if that would be read as a marker."""
    head, blank, word = text.rpartition(" ")
    return f"{head}{blank}\\{word}" if _WORD[form - 1].match(word) else text


def _read_name(text: str, form: int) -> str:
    """A name whose last word looks like a marker was written with a backslash before that word."""
    head, blank, word = text.rpartition(" ")
    if word[:1] == "\\" and _WORD[form - 1].match(word):
        text = f"{head}{blank}{word[1:]}"
    return uncontain_line(text, form=form)


_ALL_HASHES = late_pattern(r"\\+#+$")


def read_title(text: str, form: int = FORMAT) -> str:
    """A title whose last word is all `#` was written with a backslash before that word."""
    head, blank, word = text.rpartition(" ")
    return uncontain_line(f"{head}{blank}{word[1:]}" if _ALL_HASHES.match(word) else text, form=form)
