"""Decisions and lessons in free words: what an agent wrote that it decided, or that it had been wrong about.

Owns the rules.  There are few and they are careful: a sentence that is forgotten here still stands in its note, one that is taken for a decision
and is none misleads every later session.  What is asked, quoted, only thought of, or a step of the work (`I decided to run the tests`) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crucible.note.contain import normal_line, whole_fences
from crucible.patterns import late_pattern

__all__ = ["Inferred", "inferred_decisions", "inferred_lessons"]

_READ = 20_000
"""Code points of a text that are looked at, its last: what was decided is told at the end."""
_LEAST, _MOST = 3, 70
"""Words of a sentence that says something."""


class Inferred(NamedTuple):
    """What a sentence says, and why where it says so."""

    text: str
    why: str = ""


# --- sentences -------------------------------------------------------------------------------------------------------

_ITEM = late_pattern(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_LABEL = late_pattern(
    r"[ \t]*(?:#{1,6}[ \t]+(?P<heading>.+?)[ \t#]*|(?:\*\*|__)(?P<bold>[^*_\n]+?):?(?:\*\*|__):?[ \t]*)"
)
_DECISIONS = late_pattern(
    r"(?:(?:key|main|design|technical|architectur\w+|important) )?decisions?(?: (?:made|taken))?:?",
    re.IGNORECASE,
)
_END = late_pattern(r"(?<=[.!?。！？])[\"')\]*_]*[ \t]+(?=[\"'(\[*_`]*[^\W\d_a-z])|(?<=[。！？])")
_EMPHASIS = late_pattern(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")


class _Said(NamedTuple):
    """A sentence; `decided` says that it stands as an item below a heading that promises decisions."""

    text: str
    decided: bool = False


def _sentences(text: str) -> Iterator[_Said]:
    """Those of a text, without fences and quotes; a wrapped line goes on with the one before."""
    below, joined, is_item = False, list[str](), False

    def told() -> Iterator[_Said]:
        whole = normal_line(_EMPHASIS.sub("", " ".join(joined)))
        joined.clear()
        if whole and is_item and below:
            yield _Said(whole, decided=True)
        elif whole:
            yield from (_Said(one) for one in _END.split(whole) if one)

    for line in _plain_lines(text):
        label, item = _LABEL.fullmatch(line), _ITEM.match(line)
        if label or item or not line.strip():
            yield from told()
            is_item = False
        if label:
            below = bool(_DECISIONS.fullmatch(label["heading"] or label["bold"]))
        elif item:
            is_item = True
            joined.append(line[item.end() :])
        elif line.strip():
            joined.append(line.strip())
    yield from told()


def _plain_lines(text: str) -> Iterator[str]:
    lines = text[-_READ:].split("\n")
    fenced = {n for first, end in whole_fences("\n".join(lines)) for n in range(first, end)}
    for number, line in enumerate(lines):
        yield "" if number in fenced or line.lstrip().startswith((">", "|", "<")) else line


# --- decisions -------------------------------------------------------------------------------------------------------

_WHO = r"(?:we|i|the (?:user|team)|it was)(?:['’]ve| have| had| has)?(?: also| then| therefore| finally| both| all| instead)?"
_LEAD = r"(?:(?:so|then|therefore|thus|instead|finally|ultimately|in the end|after [^,]{1,80}|for [^,]{1,80}|to [^,]{1,80}),? )?"
_BUT = r"(?:over|instead of|rather than|because|since|as it|so that|for its|for the)"
# Blanks are no layout here.
_WHO, _LEAD, _BUT = (part.replace(" ", r"\ ") for part in (_WHO, _LEAD, _BUT))
_DECIDED = late_pattern(
    rf"""{_LEAD}(?:
      {_WHO}\ (?:decided|agreed|opted|settled|chosen|standardi[sz]ed)\ (?:to|on|that|against|not\ to|for|in\ favou?r\ of)\b
    | {_WHO}\ (?:chose|picked|selected)\ .*\b{_BUT}\b
    | {_WHO}\ chose\ to\b
    | {_WHO}\ (?:went|going)\ with\b
    | (?:we|i)(?:['’]ll|\ will|\ shall)\ (?:use|keep|adopt|stay\ with|stick\ with|go\ with)\ .*\b{_BUT}\b
    | (?:decided|opted|agreed)\ (?:to|on|that|against|not\ to|for)\b
    | (?:settled\ on|went\ with|standardi[sz]ed\ on)\b
    | (?:chose|picked|selected|adopted)\ .*\b{_BUT}\b
    | (?:the\ |our\ )?(?:key\ |design\ |architecture\ |architectural\ |final\ )?decision(?:\ made)?(?::|\ [—–-]|\ (?:is|was)\ to\b)
    | [^,.;:]{{1,80}}\ (?:was|were|is|are)\ (?:chosen|selected|picked|preferred)\ {_BUT}\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MARK = late_pattern(
    r"(?:the |our )?(?:key |design |architecture |architectural |final )?decision(?: made)?(?::| [—–-])\s*",
    re.IGNORECASE,
)
_UNSURE = late_pattern(
    r"\b(?:if|whether|should|could|might|may|would|maybe|perhaps|possibly|unless|undecided|not (?:yet )?decided|(?:has|have)n['’]t|nobody|never"
    r"|todo|to be decided|tbd|still)\b",
    re.IGNORECASE,
)
_STEP = late_pattern(
    r"\b(?:decided|chose|opted|agreed)(?: not)? to (?:first |just |simply |also |quickly )?(?:look|check|read|run|re-?run|try|retry|start|begin"
    r"|continue|wait|stop|ask|see|inspect|search|open|test|debug|investigate|proceed|commit|push|verify|explore|examine|review|skip|do|go|take"
    r"|find|list|grep|print|finish|leave|move on)\b",
    re.IGNORECASE,
)
_WHY = late_pattern(
    r",? (?:\((?:why: |because |since )|because |since (?!\d|then|last|yesterday|the last)|so that |[—–] (?:because |since )?)",
    re.IGNORECASE,
)
_NEEDLES = (
    "decid",
    "decision",
    "chose",
    "opted",
    "settled",
    "went with",
    "agreed",
    "picked",
    "selected",
    "adopted",
    "prefer",
    "standardi",
    "ll use",
    "will ",
    "ll keep",
    "ll go",
    "ll st",
    "ll adopt",
    "shall ",
    "going with",
)


def inferred_decisions(text: str) -> Iterator[Inferred]:
    """What the sentences of a text say was decided, in their order."""
    low = text[-_READ:].casefold()
    if not any(needle in low for needle in _NEEDLES):
        return
    for said in _sentences(text):
        if _is_said(said.text) and (said.decided or _is_decision(said.text)):
            yield _split(said.text)


def _is_said(sentence: str) -> bool:
    return _LEAST <= len(sentence[:2000].split()) <= _MOST and not sentence.rstrip("\"'*_`)] ").endswith(
        ("?", "？", ":")
    )


def _is_decision(sentence: str) -> bool:
    found = _DECIDED.match(sentence)
    return bool(found and not _UNSURE.search(sentence[: found.end()]) and not _STEP.search(sentence))


def _split(sentence: str) -> Inferred:
    mark = _MARK.match(sentence)
    text = sentence[mark.end() :] if mark else sentence
    why = _WHY.search(text, 12)
    if not why:
        return Inferred(text)
    reason = text[why.end() :].strip()
    if "(" in why[0]:
        reason = reason.rstrip(".").removesuffix(")")
    return Inferred(text[: why.start()].rstrip(" ,;") + ".", reason)


# --- lessons ---------------------------------------------------------------------------------------------------------

_WRONG = late_pattern(
    r"""(?:
      (?:actually|wait|oops|hmm|no|sorry|ah),?\ .*\b(?:i|we)\ (?:was|were)\ (?:wrong|mistaken)\b
    | .{0,80}\b(?:i|we)\ (?:was|were)\ (?:wrong|mistaken)\b
    | .{0,80}\b(?:i|we)(?:['’]d|\ had)?\ (?:wrongly|incorrectly|mistakenly)\ (?:assumed|thought|believed|used|read|concluded|took)\b
    | .{0,40}\b(?:i|we)(?:['’]d|\ had)?\ (?:misread|misunderstood|misremembered|mistook|misdiagnosed)\b
    | .{0,20}\b(?:my|our)\ (?:earlier|previous|first|initial|original)\ (?:\w+\ )?
        (?:assumption|claim|statement|answer|guess|diagnosis|approach|fix|conclusion|reading|theory)\b.{0,60}\b(?:wrong|incorrect|mistaken|false|off)\b
    | (?:that|this)\ was\ (?:wrong|incorrect|a\ mistake|my\ mistake|my\ error)\b
    | (?:my\ mistake|correction|lessons?\ learned|lesson|takeaway)\s*[:,.—–-]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LESSON_NEEDLES = (
    "wrong",
    "incorrect",
    "mistake",
    "misread",
    "misunder",
    "misrem",
    "mistook",
    "misdiag",
    "correction",
    "lesson",
    "takeaway",
    "false",
    "off",
)
_LESSON_MARK = late_pattern(
    r"(?:lessons? learned|lesson|takeaway|correction|my mistake)\s*[:,.—–-]\s*", re.IGNORECASE
)
_SHORT = 10
"""Words of a sentence that is told with the next one."""


def inferred_lessons(text: str) -> Iterator[Inferred]:
    """Where an agent says that it was wrong, with what it says next, or what it learned."""
    low = text[-_READ:].casefold()
    if not any(needle in low for needle in _LESSON_NEEDLES):
        return
    told = [said.text for said in _sentences(text)]
    for at, sentence in enumerate(told):
        found = _WRONG.match(sentence)
        if found is None or not _is_wrong(sentence, found):
            continue
        mark = _LESSON_MARK.match(sentence)
        rest = sentence[mark.end() :] if mark else sentence
        is_short = len(rest.split()) < _SHORT
        following = told[at + 1] if is_short and at + 1 < len(told) else ""
        whole = " ".join(filter(None, (rest, following)))
        if len(whole.split()) >= _LEAST and not whole.endswith(("?", "？")):
            yield Inferred(whole)


def _is_wrong(sentence: str, found: re.Match[str]) -> bool:
    return len(sentence[:2000].split()) <= _MOST and not _UNSURE.search(sentence[: found.end()])
