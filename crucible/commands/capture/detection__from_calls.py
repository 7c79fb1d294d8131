"""What calls show by themselves: a measurement that the agent states right after it, and code that calls an API outside of the project.

A measurement counts if the sentence repeats a quantity that the command printed; files that are read and suites that pass measure nothing.  The address of
such an API is a host of somebody else's that is named as one, or a path that is.  Only whole arguments tell it: a session without an event log has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from crucible.analysis.failures.moments import Moment
from crucible.analysis.tools.file_kinds import is_test_file, languages_of, type_of
from crucible.analysis.tools.tool_acts import Deed
from crucible.commands.capture.candidates import Candidate, Kind
from crucible.core.patterns import late_pattern
from crucible.documents.session.session import Prose

__all__ = ["apis_in", "proofs_in"]

_QUANTITY = late_pattern(
    r"(?<![\w.,/-])\d[\d.,_]*\d?\s?(?:%|[x×](?!\w)|(?:[nµum]s|[kKMG]i?B|B|ops|reqs?|requests|rows|MB|allocs)(?:/(?:s|sec|op|second|row))?\b)"
)
"""A number with a unit; seconds do not count, since every run prints some."""
_END = late_pattern(r"(?<=[.!?])\s+|\n+")
_MEASURES = (Deed.RUN, Deed.TEST)
_SHORTEST, _LOOKED = 20, 4000
"""Minimum code points of a sentence, and maximum of a text that is read."""


def proofs_in(moments: Sequence[Moment]) -> Iterator[Candidate]:
    """What commands proved, each with the sentence that says it."""
    for moment, behind in pairwise(moments):
        command = _measured_by(moment)
        if not command or not isinstance(behind.entry, Prose) or behind.phase != moment.phase:
            continue
        printed = _quantities(moment.result)
        said = next((one for one in _sentences(behind.entry.text) if _quantities(one) & printed), "")
        if said:
            detail = f"{command} → {moment.result[:_LOOKED]}"
            yield Candidate(Kind.EVIDENCE, 0.9, said, moment.phase, behind.line, detail, command)


def _measured_by(moment: Moment) -> str:
    """The command that a call ran successfully, "" for none."""
    return next((act.what for act in moment.acts if moment.passed and act.deed in _MEASURES), "")


def _sentences(text: str) -> Iterator[str]:
    for sentence in _END.split(text[:_LOOKED]):
        line = sentence.strip(" \t#*->")
        if len(line) >= _SHORTEST and not line.startswith("|"):
            yield line


def _quantities(text: str) -> frozenset[str]:
    """The quantities of a text, without blanks: `12 ms` is `12ms`."""
    return frozenset("".join(found.split()) for found in _QUANTITY.findall(text[:_LOOKED]))


# --- outside APIs ----------------------------------------------------------------------------------------------------

_READ = 200_000
_DATA = frozenset(("HTML", "CSS", "JSON", "TOML", "TOON", "XML", "Template", "Diff"))
_ADDRESS = late_pattern(r"\b(?:https?|wss?)://(?P<host>[\w.-]{4,200})(?::\d+)?(?P<path>/[^\s\"'`<>)\\]{0,200})?")
_OURS = late_pattern(
    r"^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^[^.]+$"
    r"|(?:^|\.)(?:test|invalid|local|localhost|internal|lan|corp|intranet|home|example(?:\.\w+)?)$"
)
"""Hosts of this machine or network, and reserved ones."""
_API = late_pattern(
    r"(?:^|[.-])(?:apis?|gateway|graph|rest|graphql|webhooks?|hooks)\d*[.-]|/(?:api|v\d+|graphql|rest)(?:/|$)"
)
_COMMENT = late_pattern(r"^\s*(?://|#(?!include)|\*|/\*|--|;|<!--|%|\"\"\"|''')")


def apis_in(moments: Sequence[Moment]) -> Iterator[Candidate]:
    """The calls of outside APIs that were added to code, one for each file and host, without secrets in the address."""
    seen: set[tuple[str, str]] = set()
    for moment in moments:
        for file, code in _lines_of(moment):
            for found in _ADDRESS.finditer(code):
                host, path = found["host"].casefold().rstrip("."), found["path"] or ""
                is_api = not _OURS.search(host) and (_API.search(host) or _API.match(path))
                if is_api and (file, host) not in seen:
                    seen.add((file, host))
                    title = f"{file.rpartition('/')[2]} calls {host}{path.partition('?')[0]}"
                    yield Candidate(Kind.PATTERN, 0.7, title, moment.phase, moment.line, code.strip(), "code")


def _lines_of(moment: Moment) -> Iterator[tuple[str, str]]:
    """Lines of code with an address that were put into a file, each with the file; of a patch also those that it leaves as they are."""
    files = [act.what for act in moment.acts if act.deed in (Deed.WRITE, Deed.EDIT) and act.what]
    if not moment.passed or not files or not moment.arguments:
        return
    file = files[0]
    for line in "\n".join(_texts(moment.arguments))[:_READ].split("\n"):
        if line.startswith(("*** ", "+++ ")):
            file = next((one for one in files if line.endswith(one)), file)
        elif "://" in line and not line.startswith("-") and _is_code(file):
            code = line.removeprefix("+")[:500]
            if not _COMMENT.match(code):
                yield file, code


def _texts(arguments: Mapping[str, object]) -> Iterator[str]:
    """All texts of a call except those that it removes."""
    for name, value in arguments.items():
        if isinstance(value, str) and not name.startswith("old"):
            yield value
        elif isinstance(value, list):
            yield from (text for one in value if isinstance(one, Mapping) for text in _texts(one))


def _is_code(file: str) -> bool:
    kind = type_of(file)
    return kind in languages_of(()) and kind not in _DATA and not is_test_file(file)
