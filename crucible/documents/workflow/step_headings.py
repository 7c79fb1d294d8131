r"""Read and write a step's heading: its name and the markers after it.

A backslash escapes a last word that would be a marker, and a name that would make its section prose: `\Summary` is a
step, `Ship it \!` is not critical.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, normal_line, slug, uncontain_line
from crucible.documents.markdown.containment_inline import TAG
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.workflow import Grade


class StepHeading(NamedTuple):
    """A parsed heading.

    `marked`: it has an agent, a channel, `!` or `?`.  `prosaic`: its name makes a section prose.  `left_over` is
    a second marker of a kind, which became part of the name; "" for none.
    """

    name: str
    agent: AgentRef | None = None
    channel: str | None = None
    grade: Grade = Grade.PLAIN
    marked: bool = False
    prosaic: bool = False
    left_over: str = ""


_AGENT = late_pattern(r"@([\w.:/+-]+)(?:@([\w.:/+-]+))?$")
_CHANNEL = late_pattern(r"#(?!\d+$)([\w.:/+-]+)$")
_GRADES = {"!": Grade.CRITICAL, "?": Grade.OPTIONAL}
_MARKS = {grade: mark for mark, grade in _GRADES.items()}
_ACTING = (late_pattern(r"\\*(?:[@#]|[!?]$)"), late_pattern(rf"\\*(?:@|#(?!{TAG})|[!?]$)"))
_BLANKS = " \t"


def read_step_heading(text: str, form: int = FORMAT) -> StepHeading:
    """Parse a heading without its hashes: a name, then once each `@agent[@version]`, `#channel`, `!` or `?`."""
    agent: AgentRef | None = None
    channel: str | None = None
    grade = Grade.PLAIN
    left_over = ""
    rest = text.strip(_BLANKS)
    while rest:
        word = _last_word(rest)
        if (found := _AGENT.match(word)) and agent is None:
            agent = AgentRef(found[1], found[2])
        elif (channel_found := _CHANNEL.match(word)) and channel is None:
            channel = channel_found[1]
        elif word in _GRADES and grade is Grade.PLAIN:
            grade = _GRADES[word]
        else:
            left_over = word if found or channel_found or word in _GRADES else ""
            break
        rest = rest[: len(rest) - len(word)].rstrip(_BLANKS)
    marked = bool(agent or channel or grade is not Grade.PLAIN)
    return StepHeading(_read_name(rest, form), agent, channel, grade, marked, _is_prosaic(rest), left_over)


def _last_word(text: str) -> str:
    """The text after the last blank."""
    at = max(text.rfind(" "), text.rfind("\t"))
    return text[at + 1 :]


def is_prose_heading(heading: StepHeading) -> bool:
    """True if it and all below it are prose: `Summary`, `Notes`, `Workflow …`, without any marker."""
    return heading.prosaic and not heading.marked


def _is_prosaic(text: str) -> bool:
    folded = text.casefold()
    return folded in {"summary", "notes", "workflow"} or folded.startswith(("workflow ", "workflow\t"))


def _read_name(text: str, form: int) -> str:
    word = _last_word(text)
    if word[:1] == "\\" and _ACTING[form - 1].match(word):
        text = f"{text[: len(text) - len(word)]}{word[1:]}"
    if text[:1] == "\\" and _is_prosaic(text.lstrip("\\")):
        text = text[1:]
    return uncontain_line(text, form=form)


def render_step_heading(
    level: int,
    name: str,
    agent: AgentRef | None = None,
    channel: str | None = None,
    grade: Grade = Grade.PLAIN,
) -> str:
    """`## Name @agent@version #channel !`; an empty name becomes `Untitled`."""
    text = contain_line(normal_line(name)) or "Untitled"
    if _is_prosaic(text.lstrip("\\")):
        text = f"\\{text}"
    word = _last_word(text)
    if _ACTING[FORMAT - 1].match(word):
        text = f"{text[: len(text) - len(word)]}\\{word}"
    parts = ["#" * level, text]
    if agent and (agent_name := slug(agent.name, "agent")):
        version = slug(agent.version, "version") if agent.version else ""
        parts.append(f"@{agent_name}@{version}" if version else f"@{agent_name}")
    if channel and (channel_name := slug(channel, "channel")):
        parts.append(f"#{channel_name}")
    if grade is not Grade.PLAIN:
        parts.append(_MARKS[grade])
    return " ".join(parts)
