"""What speaks for a failure's cause: the signs that a report bears, and the features that are weighed.

Owns which parts of a report are looked at, in which form, and how a feature is named.  The signs themselves are tables (`place_signs`,
`program_signs`, `language_signs`, `telling_signs`, `story_signs`, `cause_signs`), what words are about is `concepts`', what in a message is
a human's `speaking`'s.  Nothing is read but the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from crucible.knowledge.cause_signs import CAUSES
from crucible.knowledge.concepts import pairs, sentences
from crucible.knowledge.language_signs import LANGUAGES
from crucible.knowledge.model import Category, FailureReport
from crucible.knowledge.place_signs import PLACES
from crucible.knowledge.program_signs import PROGRAMS
from crucible.knowledge.signs import Sign, View
from crucible.knowledge.speaking import is_program, parted
from crucible.knowledge.story_signs import STORIES
from crucible.knowledge.telling_signs import TELLINGS
from crucible.note.contain import normal
from crucible.patterns import UNSEEN, late_pattern

__all__ = ["SIGNS", "Evidence", "bounded", "evidence"]

SIGNS: tuple[Sign, ...] = (*PLACES, *PROGRAMS, *LANGUAGES, *TELLINGS, *STORIES, *CAUSES)
"""All tables together."""

_READ = 4000
"""Code points of a part of a report that are looked at: its head and its tail."""

_MOST_WORDS = 400
_STEM = 6
_SHORT = 160


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sign that a report bears: what it says, the categories that it speaks for, as `Sign` has them."""

    says: str
    weights: Mapping[Category, float]


def evidence(report: FailureReport) -> tuple[list[Evidence], set[str]]:
    """The signs that a report bears, and its features by name."""
    views = _views(report)
    found = list(_signs_in(views))
    named = [*_called_again(report), *_of_its_tool(report)]
    features = {
        *(f"sign {name}" for name, _ in found),
        *(
            f"sign {sign.view} {one}"
            for _, sign in found
            for one, weight in sign.weights.items()
            if weight > 0
        ),
        *(f"sign {one.says}" for one in named),
        *_of_form(report, views),
        *_of_call(report, views[View.ERROR]),
        *_of_words(report, views),
        *_of_concepts(views),
    }
    return [*(Evidence(sign.says, sign.weights) for _, sign in found), *named], features


def bounded(text: str) -> str:
    """Head and tail of a long text."""
    return text if len(text) <= _READ else f"{text[: _READ // 2]}\n{text[-_READ // 2 :]}"


# --- what is looked at -----------------------------------------------------------------------------------------------


def _views(report: FailureReport) -> dict[View, str]:
    """What the signs look at, each in lower case and with straight quotes."""
    words, program = parted(_without_blank_lines(bounded(report.error)))
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
    whole = "\n".join(_without_blank_lines(bounded(part)) for part in parts if part)
    return normal(UNSEEN.sub("", whole)).replace("’", "'").lower()


def _without_blank_lines(text: str) -> str:
    """Patterns that begin at a line would look through a run of them from each of its lines."""
    return "\n".join(line for line in normal(text).split("\n") if line.strip())


# --- signs -----------------------------------------------------------------------------------------------------------


def _signs_in(views: Mapping[View, str]) -> Iterator[tuple[int, Sign]]:
    for place, sign in enumerate(SIGNS):
        if views[sign.view] and sign.pattern.search(views[sign.view]):
            yield place, sign


_OPTION = late_pattern(r"--?[A-Za-z][\w-]*")
_OPTION_OR_QUOTE = late_pattern(r"""(?:^|\s)-{1,2}\w|["'`]""")


def _called_again(report: FailureReport) -> Iterator[Evidence]:
    """What the call says beside the message and beside what mended it."""
    call, mended = report.call.split(), report.resolution.strip(" `").split()
    if set(call) & set(_OPTION.findall(report.error[:_READ])):
        yield Evidence("the program refused an option of the call", {Category.TOOL_MISUSE: 2.0})
    if not call or not mended or call[0] != mended[0]:
        return
    if call == mended:
        yield Evidence("the very same call passed another time", {Category.EXECUTION_ERROR: 3.0})
        return
    other = " ".join(
        [*(word for word in call if word not in mended), *(word for word in mended if word not in call)]
    )
    weight = 2.5 if _OPTION_OR_QUOTE.search(other) else 0.8
    yield Evidence("the same program, called otherwise, did it", {Category.TOOL_MISUSE: weight})


_FILE_TOOLS = frozenset(
    "read read_file readfile view view_image notebookread open_file read_many_files write write_file edit multiedit replace edit_file notebookedit str_replace".split()  # noqa: SIM905
)
"""Clients' tools that take a file, their names in lower case."""
_NOT_THERE = late_pattern(
    r"\W*(?:error:? )?(?:file|path|directory|the file|the path)\b[^\n]{0,200}?\b(?:not found|(?:does not|doesn't) exist|no such file)"
    r"|\W*(?:error:? )?(?:enoent|no such file)",
    re.IGNORECASE,
)


def _of_its_tool(report: FailureReport) -> Iterator[Evidence]:
    """What a client's own message says: a file that was to be read or changed is not where it was looked for, and nobody had looked."""
    if report.tool.casefold() in _FILE_TOOLS and _NOT_THERE.match(report.error[:_SHORT]):
        yield Evidence("a file or folder is not where it was taken to be", {Category.CONTEXT_MISSING: 2.0})


# --- features --------------------------------------------------------------------------------------------------------


def _of_form(report: FailureReport, views: Mapping[View, str]) -> Iterator[str]:
    """Which parts a report has, and whether a human speaks in its message."""
    told = "".join("x" if part else "-" for part in (report.happened, report.call, report.resolution))
    yield f"form {told}"
    if views[View.WORDS]:
        yield "form human"


_QUOTED = late_pattern(r"[\"'`‘’“”«»<>]([^\"'`‘’“”«»<>\n]{1,60})[\"'`‘’“”«»<>]")
_ODD = late_pattern(r"[:=\\;|&$*?{}()]|--")
_BEFORE_THE_PROGRAM = late_pattern(r"^(?:cd|&&|sudo|npx|[a-z_]+=\S*)$")
_OPTION_FIRST = late_pattern(r"\W*-")
_GOING_FIRST = late_pattern(r"\W*(?:cd|source|\.) ")
_FEW = 3


def _of_call(report: FailureReport, error: str) -> Iterator[str]:
    """How the call, the message and what mended it belong together."""
    call, mended = _low(report.call).split()[:_MOST_WORDS], _low(report.resolution)
    quoted = set(_QUOTED.findall(error))
    named = [word.strip("\"'") for word in call[1:] if word.strip("\"'") in quoted]
    if named:
        yield "call argument named"
    if any(_ODD.search(word) for word in named):
        yield "call odd argument named"
    if any(word.startswith("-") and word.split("=")[0] in error for word in call[1:]):
        yield "call option named"
    programs = [word for word in call if not _BEFORE_THE_PROGRAM.match(word)]
    if programs and error.lstrip().startswith(programs[0].rsplit("/", 1)[-1]):
        yield "call program speaks"
    if report.tool and error.lstrip("<> ").startswith(report.tool.lower()):
        yield "call tool speaks"
    if mended:
        yield from _of_mending(call, programs, mended)


def _of_mending(call: list[str], programs: list[str], mended: str) -> Iterator[str]:
    words = mended.split()[:_MOST_WORDS]
    if programs and programs[0] in words:
        yield "mended by the same program"
    if _OPTION_FIRST.match(mended):
        yield "mended by an option"
    if _GOING_FIRST.match(mended):
        yield "mended by going there"
    if len(words) <= _FEW:
        yield "mended in a word"
    if any(len(word) > _FEW and word in call for word in words):
        yield "mended alike"


_WORD = late_pattern(r"[^\W\d_](?:[^\W_]|')+|\b\d{3}\b|[\u3040-\u30ff\u4e00-\u9fa5]")


def _of_words(report: FailureReport, views: Mapping[View, str]) -> Iterator[str]:
    """Beginnings of words, wherever they stand."""
    for text in (views[View.ERROR], views[View.TOLD], _low(report.context), views[View.CALL]):
        for word in _WORD.findall(text)[:_MOST_WORDS]:
            yield f"word {word[:_STEM]}"


def _of_concepts(views: Mapping[View, str]) -> Iterator[str]:
    """What is spoken of, near each other in the message and the telling, and together in the telling."""
    for view in (View.ERROR, View.TOLD, View.WORDS):
        rows = sentences(views[view])
        for row in rows:
            yield from (f"about {view} {one}" for one in row)
            yield from (f"about {view} {one} {two}" for one, two in pairs(row))
        if view is View.TOLD:
            told = sorted({one for row in rows for one in row})
            yield from (
                f"about both {one} {two}" for place, one in enumerate(told) for two in told[place + 1 :]
            )
