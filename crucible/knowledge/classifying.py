"""What a failure is attributed to, by rules: signs in the message, the call, the telling and what mended it, weighed against each other.

Owns the weighing, how sure it is, and the words for the cause and for what would have prevented it.  The signs themselves are
tables (`place_signs`, `program_signs`, `language_signs`, `telling_signs`, `story_signs`), and what in a message is a human's is `speaking`'s.  Nothing is asked, and nothing is read
but the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from crucible.knowledge.language_signs import LANGUAGES
from crucible.knowledge.model import PREVENTABLE, Attribution, Category, FailureReport
from crucible.knowledge.place_signs import PLACES
from crucible.knowledge.program_signs import PROGRAMS
from crucible.knowledge.signs import Sign, View
from crucible.knowledge.speaking import is_program, parted
from crucible.knowledge.story_signs import STORIES
from crucible.knowledge.telling_signs import TELLINGS
from crucible.note.contain import cut, normal, normal_line
from crucible.patterns import UNSEEN, late_pattern

__all__ = ["LONGEST", "SIGNS", "SURE", "classify", "readable"]

SIGNS: tuple[Sign, ...] = (*PLACES, *PROGRAMS, *LANGUAGES, *TELLINGS, *STORIES)
"""All tables together."""

SURE = 0.6
"""Less confidence than this means “not sure”."""

LONGEST = 400
"""Code points of a cause, and of what would have prevented it."""

_READ = 4000
"""Code points of a part of a report that are looked at: its head and its tail."""

_TEMPERATURE = 1.8
"""What scores are divided by before they become chances: chosen so that what is said with 0.85 is right at least as often."""

_SUREST = 0.98
"""Rules are never surer."""

_SHORT = 160


@dataclass(frozen=True, slots=True)
class _Found:
    """A sign that a report bears, with what it is worth there."""

    says: str
    weights: Mapping[Category, float]


def classify(report: FailureReport) -> Attribution:
    """Where the failure comes from; `confidence` under `SURE` is a guess, which a report without any sign always is."""
    found = [
        *_found(_views(report)),
        *_called_again(report),
        *_of_its_tool(report),
        _Found("", {Category.KNOWLEDGE_GAP: 0.2}),
    ]
    scores = {one: sum(sign.weights.get(one, 0.0) for sign in found) for one in Category}
    best = max(Category, key=lambda one: scores[one])
    spread = sum(math.exp((score - scores[best]) / _TEMPERATURE) for score in scores.values())
    telling = max(
        (sign for sign in found if sign.says), key=lambda sign: sign.weights.get(best, 0.0), default=None
    )
    says = telling.says if telling and telling.weights.get(best, 0.0) > 0 else ""
    prevented = _preventable_with(best, report) if PREVENTABLE[best] else ""
    return Attribution(
        best, _root_cause(says or _OF_NO_SIGN[best], report), prevented, round(min(_SUREST, 1 / spread), 2)
    )


def readable(text: str, limit: int) -> str:
    """Foreign text in one line of at most `limit` code points, without what nobody sees."""
    return cut(normal_line(UNSEEN.sub("", text[: 4 * limit + 1000])), limit)


# --- the signs that a report bears -----------------------------------------------------------------------------------


def _views(report: FailureReport) -> dict[View, str]:
    """What the signs look at, each in lower case and with straight quotes."""
    words, program = parted(_without_blank_lines(_bounded(report.error)))
    told = (report.happened, report.resolution, words or ("" if is_program(program) else program))
    return {
        View.ERROR: _low(program),
        View.WORDS: _low(words),
        View.TOLD: _low(*told),
        View.STORY: _low(*told, report.context),
        View.CALL: _low(f"{report.tool} {report.call}"),
        View.MENDED: _low(report.resolution),
    }


def _low(*parts: str) -> str:
    whole = "\n".join(_without_blank_lines(_bounded(part)) for part in parts if part)
    return normal(UNSEEN.sub("", whole)).replace("’", "'").lower()


def _without_blank_lines(text: str) -> str:
    """Patterns that begin at a line would look through a run of them from each of its lines."""
    return "\n".join(line for line in normal(text).split("\n") if line.strip())


def _bounded(text: str) -> str:
    return text if len(text) <= _READ else f"{text[: _READ // 2]}\n{text[-_READ // 2 :]}"


def _found(views: Mapping[View, str]) -> Iterator[_Found]:
    """The tables' signs.  Where a human says what is wrong, a program's message beside it is half of what it is alone."""
    halved = bool(views[View.WORDS])
    for sign in SIGNS:
        if views[sign.view] and sign.pattern.search(views[sign.view]):
            yield _Found(sign.says, _half(sign) if halved and sign.view is View.ERROR else sign.weights)


def _half(sign: Sign) -> Mapping[Category, float]:
    return {one: weight / 2 for one, weight in sign.weights.items()}


_OPTION = late_pattern(r"--?[A-Za-z][\w-]*")
_OPTION_OR_QUOTE = late_pattern(r"""(?:^|\s)-{1,2}\w|["'`]""")


def _called_again(report: FailureReport) -> Iterator[_Found]:
    """What the call says beside the message and beside what mended it."""
    call, mended = report.call.split(), report.resolution.strip(" `").split()
    if set(call) & set(_OPTION.findall(report.error[:_READ])):
        yield _Found("the program refused an option of the call", {Category.TOOL_MISUSE: 2.0})
    if not call or not mended or call[0] != mended[0]:
        return
    if call == mended:
        yield _Found("the very same call passed another time", {Category.EXECUTION_ERROR: 3.0})
        return
    other = " ".join(
        [*(word for word in call if word not in mended), *(word for word in mended if word not in call)]
    )
    weight = 2.5 if _OPTION_OR_QUOTE.search(other) else 0.8
    yield _Found("the same program, called otherwise, did it", {Category.TOOL_MISUSE: weight})


_FILE_TOOLS = frozenset(
    "read read_file readfile view view_image notebookread open_file read_many_files write write_file edit multiedit replace edit_file notebookedit str_replace".split()  # noqa: SIM905
)
"""Clients' tools that take a file, their names in lower case."""
_SHELLS = frozenset(
    "bash shell sh zsh powershell exec_command run_shell_command shell_command local_shell execute_command run_command run_in_terminal terminal".split()  # noqa: SIM905
)
_NOT_THERE = late_pattern(
    r"\W*(?:error:? )?(?:file|path|directory|the file|the path)\b[^\n]{0,200}?\b(?:not found|(?:does not|doesn't) exist|no such file)"
    r"|\W*(?:error:? )?(?:enoent|no such file)",
    re.IGNORECASE,
)


def _of_its_tool(report: FailureReport) -> Iterator[_Found]:
    """What a client's own message says: a file that was to be read or changed is not where it was looked for, and nobody had looked."""
    if report.tool.casefold() in _FILE_TOOLS and _NOT_THERE.match(report.error[:_SHORT]):
        yield _Found("a file or folder is not where it was taken to be", {Category.CONTEXT_MISSING: 2.0})


# --- in words --------------------------------------------------------------------------------------------------------

_OF_NO_SIGN: Mapping[Category, str] = {
    Category.REQUIREMENTS_AMBIG: "the wish was understood otherwise than it was meant",
    Category.KNOWLEDGE_GAP: "how this works was not known",
    Category.TOOL_MISUSE: "the tool was not called as it has to be",
    Category.CONTEXT_MISSING: "what was there was not looked at",
    Category.EXECUTION_ERROR: "chance, or the machine",
    Category.EXTERNAL_DEP: "something outside did not work",
}
_TELLING = late_pattern(
    r"error|exception|fatal|fail|denied|not |no |unknown|invalid|cannot|can't|unexpected|killed|timed",
    re.IGNORECASE,
)
_FILE = late_pattern(
    r"(?<![\w/.-])(?:[\w.-]+/)*(?:README|CONTRIBUTING|CHANGELOG|AGENTS|CLAUDE|GEMINI|Makefile|Dockerfile|justfile|\.env[\w.]*|\.nvmrc|[\w-]+"
    r"\.(?:md|toml|json|ya?ml|lock|cfg|ini|txt|rst|py|tsx?|jsx?|go|rs|rb|java|kt|sql|sh|c|h|cpp|cs|php|swift|gradle|xml))\b(?:\.md)?"
)


def _root_cause(says: str, report: FailureReport) -> str:
    """`says`, the line of the message that tells most, and the call."""
    cause = f"{says}: “{_telling_line(report.error)}”"
    if report.call.strip():
        cause += f", at “{readable(report.call, _SHORT // 2)}”"
    if report.happened.strip():
        cause += f" ({readable(report.happened, _SHORT).rstrip('.')})"
    return cut(cause, LONGEST)


def _telling_line(error: str) -> str:
    lines = [line for line in _bounded(error).split("\n") if line.strip()]
    told = [line for line in lines if _TELLING.search(line)]
    return readable((told or lines or [""])[0], _SHORT)


def _preventable_with(category: Category, report: FailureReport) -> str:
    """What would have had to be known or looked at."""
    mended = readable(report.resolution, _SHORT * 2)
    if category is Category.CONTEXT_MISSING:
        return _to_look_at(report, mended)
    if category is Category.TOOL_MISUSE:
        program = readable(_called(report), 40) or "the tool"
        how = (
            mended
            or f"its help, read before the call, says what it takes; not “{_telling_line(report.error)}”"
        )
        return f"knowing how {program} is called: {how}"
    return (
        f"knowing: {mended}"
        if mended
        else f"a note of what “{_telling_line(report.error)}” means and what to do instead"
    )


def _called(report: FailureReport) -> str:
    """What was called: of a shell the first program behind `cd` and settings, else the tool, since its words are what it was given."""
    if report.tool and report.tool.casefold() not in _SHELLS:
        return report.tool
    words = [word for word in _BEFORE_IT.sub("", report.call[:_READ]).split() if not _SET.match(word)]
    return (words or [report.tool])[0]


_BEFORE_IT = late_pattern(r"^\s*(?:(?:cd|export|source|set)\s[^\n;&]*(?:&&|;|\n)\s*)+")
_SET = late_pattern(r"[A-Za-z_]\w*=")


def _to_look_at(report: FailureReport, mended: str) -> str:
    told = "\n".join(_bounded(part) for part in (report.happened, report.context, report.resolution))
    files = list(dict.fromkeys(_FILE.findall(told)))[:3]
    if files:
        return f"having read {readable(', '.join(files), _SHORT)}" + (f": {mended}" if mended else "")
    if mended:
        return f"having looked first: {mended}"
    return "a look at the files, the directory and what was said before, first"
