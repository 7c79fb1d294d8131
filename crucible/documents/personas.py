"""Personas: notes that set an agent's client, model, tools, skills and instructions.

`vault.notes.persona_notes` finds them, and checks that the user has accepted them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crucible.clients.registry import LAUNCHABLE, client_of
from crucible.core.patterns import UNSEEN, late_pattern
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter
from crucible.documents.markdown.source import Problem, Source, Span
from crucible.documents.markdown.yaml_scalars import Value

PERSONA = "persona"
"""The `type` of such a note, and the property of a session that names its persona."""
_NAME = late_pattern(r"\w[\w-]{0,63}")
_MODEL = late_pattern(r"\w[\w.:/@+\[\]-]{0,99}", re.ASCII)
# Commas separate tools in a client's option, and a leading hyphen would begin another option.
_TOOL = late_pattern(r"[A-Za-z_*][\w .:/*()?=@-]{0,99}", re.ASCII)
_SKILL = late_pattern(r"\w[\w:.-]{0,63}", re.ASCII)
_MOST = 50
"""Maximum tools, and maximum skills."""
_LONGEST = 20_000
"""Maximum code points of the instructions."""


class Persona(NamedTuple):
    """A persona: `name` is that of its file, `client` the program of a client or "".

    With problems, it must not be used.
    """

    name: str
    client: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    instructions: str = ""
    problems: tuple[Problem, ...] = ()

    def text(self, *, with_tools: bool) -> str:
        """Return the text for an agent; `with_tools` for a client without an option for tools."""
        parts = [f"# Persona: {self.name}", self.instructions]
        if self.skills:
            parts.append(f"Use these skills where they apply: {', '.join(self.skills)}.")
        if self.tools and with_tools:
            parts.append(f"Use only these tools: {', '.join(self.tools)}.")
        return "\n\n".join(filter(None, parts))


def read_persona(source: Source, name: str) -> Persona:
    """Read a note, whose file is called `name`."""
    return _Reading(source, name).persona()


class _Reading:
    def __init__(self, source: Source, name: str) -> None:
        self._source, self._name = source, name
        self._found: Frontmatter = find_frontmatter(source)
        self._values: Mapping[str, Value] = self._found.values
        self._problems = list(self._found.problems)

    def persona(self) -> Persona:
        if not _NAME.fullmatch(self._name):
            self._complain("", "the file's name may have letters, digits, _ and - only")
        if self._values.get("type") not in (None, PERSONA):
            self._complain("type", f"type is not `{PERSONA}`")
        client, model = self._client(), self._model()
        tools, skills = (tuple(self._items(key, pattern)) for key, pattern in (("tools", _TOOL), ("skills", _SKILL)))
        instructions = self._instructions()
        return Persona(self._name, client, model, tools, skills, instructions, tuple(self._problems))

    def _complain(self, key: str, message: str) -> None:
        span = self._found.keys.get(key)
        self._problems.append(Problem(PERSONA, self._source.line_of(span.start) + 1 if span else 1, message))

    def _client(self) -> str:
        value = self._values.get("client")
        client = client_of(value, LAUNCHABLE) if isinstance(value, str) else None
        if value is not None and client is None:
            self._complain("client", f"client is none of {', '.join(LAUNCHABLE)}")
        return client.program if client else ""

    def _model(self) -> str:
        value = self._values.get("model")
        if value is None:
            return ""
        if isinstance(value, str) and _MODEL.fullmatch(value):
            return value
        self._complain("model", "model is not a model's name")
        return ""

    def _items(self, key: str, pattern: re.Pattern[str]) -> Iterator[str]:
        value = self._values.get(key)
        items: Sequence[object] = value if isinstance(value, list) else [] if value is None else [value]
        if len(items) > _MOST:
            self._complain(key, f"more than {_MOST} {key}")
        for item in items[:_MOST]:
            if isinstance(item, str) and pattern.fullmatch(item):
                yield item
            else:
                self._complain(key, f"{key}: not a name: {str(item)[:60]!a}")

    def _instructions(self) -> str:
        body = Span(self._found.span.end, len(self._source.text))
        text = self._source.slice(body)
        if hidden := UNSEEN.search(text):
            line = self._source.line_of(body.start + hidden.start()) + 1
            self._problems.append(Problem(PERSONA, line, "the instructions have invisible characters"))
        if len(text) > _LONGEST:
            self._complain("", f"the instructions are longer than {_LONGEST:,} characters")
        return normal(text)
