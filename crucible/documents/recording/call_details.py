"""Diffs of edits and outputs of calls as folded callouts, if the setting `details` asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from enum import StrEnum

from crucible.documents.markdown.containment import normal
from crucible.documents.recording.command_output import printed
from crucible.documents.session.session import Callout, Outcome

TOOL = "tool"
"""The kind of callout; its title is the call."""


class Details(StrEnum):
    """What a note shows of calls in addition to their lines."""

    NONE = "none"
    DIFFS = "diffs"
    ALL = "all"


_LIMIT = 4000
"""Maximum code points of a diff or an output in a note; a longer one loses its middle."""
_COMPARED = 2000
"""Texts with more lines are not compared line by line."""
_PAIRS = (("old_string", "new_string"), ("oldString", "newString"))
_PATCHES = ("patchText", "patch", "input")
_CONTENTS = ("content", "file_text")
_PATHS = ("file_path", "filePath", "path")


def detail_of(
    details: Details, call: str, arguments: Mapping[str, object], text: str, outcome: Outcome
) -> Callout | None:
    """The callout of a call with the result `text`; None if there is nothing to show.  `call` is the line of the call."""
    diff = "\n".join(_diff(arguments)) if outcome is Outcome.OK else ""
    if diff:
        return Callout(TOOL, call, _fence("diff", diff), fold="-")
    output = normal(printed(text).text) if details is Details.ALL and outcome is not Outcome.REJECTED else ""
    return Callout(TOOL, call, _fence("text", output), fold="-") if output.strip() else None


def _diff(arguments: Mapping[str, object]) -> Iterator[str]:
    """What a call changed, according to its arguments: two texts, several pairs of texts, a patch, or a whole file."""
    edits = arguments.get("edits")
    for one in (arguments, *(edits if isinstance(edits, list) else ())):
        for pair in _PAIRS if isinstance(one, Mapping) else ():
            old, new = one.get(pair[0]), one.get(pair[1])
            if isinstance(old, str) and isinstance(new, str):
                yield from _changed(old, new)
    for key in _PATCHES:
        patch = arguments.get(key)
        if isinstance(patch, str) and patch.lstrip().startswith("*** Begin Patch"):
            yield from patch.strip("\n").split("\n")[1:-1]
    if any(isinstance(arguments.get(key), str) for key in _PATHS):
        written = next((arguments[key] for key in _CONTENTS if isinstance(arguments.get(key), str)), "")
        yield from (f"+{line}" for line in _lines(str(written)))


def _changed(old: str, new: str) -> Sequence[str]:
    before, after = _lines(old), _lines(new)
    if max(len(before), len(after)) > _COMPARED:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    return list(unified_diff(before, after, n=2, lineterm=""))[2:]


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n") if text else []


def _fence(language: str, text: str) -> str:
    """Put a text into a fence that is longer than any fence in it."""
    text = normal(text)
    if len(text) > _LIMIT:
        left_out = len(text) - _LIMIT
        text = f"{text[: _LIMIT // 2]}\n… {left_out} characters …\n{text[-_LIMIT // 2 :]}"
    marks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return normal(f"{marks}{language}\n{text}\n{marks}")
