"""Code that was written or changed and calls an API outside of the project.

Owns what the address of such an API looks like: a host of somebody else's that is named as one, or a path that is.  Only whole arguments tell it: a session
without an event log has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crucible.acts.kinds import is_test_file, languages_of, type_of
from crucible.acts.model import Deed
from crucible.acts.naming import patched_files
from crucible.capture.steps import Step
from crucible.patterns import late_pattern
from crucible.session.model import Outcome

__all__ = ["ApiCall", "api_calls_of"]

_READ = 200_000
_DATA = frozenset(("HTML", "CSS", "JSON", "TOML", "TOON", "XML", "Template", "Diff"))
_ADDRESS = late_pattern(
    r"\b(?:https?|wss?)://(?P<host>[\w.-]{4,200})(?::\d+)?(?P<path>/[^\s\"'`<>)\\]{0,200})?"
)
_OURS = late_pattern(
    r"^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^[^.]+$"
    r"|(?:^|\.)(?:test|invalid|local|localhost|internal|lan|corp|intranet|home|example(?:\.\w+)?)$"
)
"""Hosts of this machine or network, and those that are nobody's."""
_API = late_pattern(
    r"(?:^|[.-])(?:apis?|gateway|graph|rest|graphql|webhooks?|hooks)\d*[.-]|/(?:api|v\d+|graphql|rest)(?:/|$)"
)
_COMMENT = late_pattern(r"^\s*(?://|#(?!include)|\*|/\*|--|;|<!--|%|\"\"\"|''')")
_TEXTS = (
    "new_string",
    "newString",
    "new_str",
    "new_source",
    "content",
    "insert_text",
    "file_text",
    "text",
)


class ApiCall(NamedTuple):
    """A call of an API in a file: the file, the API's host, the address without what is secret in it, and the line of code."""

    file: str
    host: str
    address: str
    code: str


def api_calls_of(step: Step) -> Iterator[ApiCall]:
    """The calls of outside APIs that a call put into code, one of each file and host."""
    if step.outcome is not Outcome.OK or not step.arguments:
        return
    seen: set[tuple[str, str]] = set()
    for file, text in _put_in(step, step.arguments):
        for found in _in_code(text) if _is_code(file) else ():
            if (file, found[0]) not in seen:
                seen.add((file, found[0]))
                yield ApiCall(file, *found)


def _is_code(file: str) -> bool:
    kind = type_of(file)
    return kind in languages_of(()) and kind not in _DATA and not is_test_file(file)


def _put_in(step: Step, arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Each file that was changed with the text that was put into it."""
    patch = next(
        (text for name in ("input", "patch", "patchText") if isinstance(text := arguments.get(name), str)), ""
    )
    if patch:
        yield from _patched(patch[:_READ])
        return
    file = next((act.what for act in step.acts if act.deed in (Deed.WRITE, Deed.EDIT) and act.what), "")
    edits = arguments.get("edits")
    parts = (
        [arguments, *(edit for edit in edits if isinstance(edit, Mapping))]
        if isinstance(edits, list)
        else [arguments]
    )
    texts = (text for part in parts for name in _TEXTS if isinstance(text := part.get(name), str))
    if file:
        yield file, "\n".join((*texts, step.script))[:_READ]


def _patched(patch: str) -> Iterator[tuple[str, str]]:
    """Each file of a patch with the lines that it has afterwards: what stands around a change is changed code as well."""
    names = {one.path for one in patched_files(patch)}
    path, kept = "", list[str]()
    for line in [*patch.split("\n"), "*** End"]:
        if line.startswith(("*** ", "+++ ")):
            if path:
                yield path, "\n".join(kept)
            path, kept = next((name for name in names if line.endswith(name)), ""), []
        elif not line.startswith(("-", "@@")):
            kept.append(line.removeprefix("+"))


def _in_code(text: str) -> Iterator[tuple[str, str, str]]:
    """The host, the address and the line of each API that lines of code name."""
    for line in text.split("\n") if "://" in text else ():
        if "://" not in line or _COMMENT.match(line):
            continue
        code = line[:500]
        for found in _ADDRESS.finditer(code):
            host, path = found["host"].casefold().rstrip("."), found["path"] or ""
            if not _OURS.search(host) and (_API.search(host) or _API.match(path)):
                yield host, f"{host}{path.partition('?')[0]}", code.strip()
