"""What of a session's texts goes into a case: whole where it is short, else the part that matters.

A case holds at most `SIDE` code points of each part before its answer and twice as many of the answer; the session's note and event log have the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import CHANGES, Moment
from crucible.commands.learn.case import CUT, CaseTurn, Role, map_texts
from crucible.commands.learn.timeline import Timeline, turns_of
from crucible.core.patterns import ANSI, late_pattern
from crucible.documents.session.session import Intervention, Outcome, Prose

SIDE = 3200
"""Code points of a part of a case."""
_SAID, _RESULT, _ARGUMENT = 700, 400, 1600
ERROR_WORDS = late_pattern(
    r"(?i)error|exception|fail|fatal|panic|cannot|denied|not found|no such|reset|unknown|undefined|missing|invalid|expected|actual|want|:\d+:"
)
_EXIT = late_pattern(r"\A\s*(?:Error:\s*)?(?:Command failed with )?exit code:? (-?\d+)\.?[ \t]*\n?", re.IGNORECASE)
_WRAPPED = late_pattern(r"</?(?:tool_use_error|error|stderr|stdout)>")
_REMINDER = late_pattern(r"(?s)<system-reminder>.*?(?:</system-reminder>|\Z)")
_NUMBERED = late_pattern(r"(?m)^[ \t]*\d+(?:→|\t)")
_AROUND = 6
"""Lines of a file that are shown before and after the lines that change."""


def shorten_middle(text: str, most: int) -> str:
    """The text, or its first two thirds and its end."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-(most // 3) :]
    return f"{head.rstrip()}\n{CUT}\n{tail.lstrip()}"


def message_of(text: str) -> str:
    """Remove colours, the client's own words and the exit code from a result."""
    bare = ANSI.sub("", text) if "\x1b" in text else text
    return _EXIT.sub("", _WRAPPED.sub("", _REMINDER.sub("", bare)), count=1).strip()


def error_excerpt(text: str, most: int = SIDE // 2) -> str:
    """A failing output, or the lines of it that report a problem, each with its neighbours; the last ones if there are too many."""
    if len(text) <= most:
        return text
    lines = text[-20_000:].split("\n")
    near = {at + step for at, line in enumerate(lines) if ERROR_WORDS.search(line[:400]) for step in (-1, 0, 1)}
    shown = [line[:400] for at, line in enumerate(lines) if at in near] or lines
    sizes = accumulate(len(line) + 1 for line in reversed(shown))
    fits = sum(size <= most for size in sizes)
    return "\n".join([CUT, *shown[len(shown) - fits :]])


def shorten_turns(moments: Iterable[Moment], most: int = SIDE, longest: int = _ARGUMENT) -> tuple[CaseTurn, ...]:
    """The turns of some moments, each shortened, and of those the last ones that fit; an argument has up to `longest` code points."""
    turns = [_shortened(turn, longest) for turn in turns_of(map(_acknowledged, moments))]
    kept: list[CaseTurn] = []
    for turn in reversed(turns):
        most -= _size(turn)
        if most < 0 and kept:
            break
        kept.insert(0, turn)
    while kept and kept[0].role is Role.TOOL:
        del kept[0]
    return tuple(kept)


def with_prose_before(timeline: Timeline, moments: Iterable[Moment]) -> list[Moment]:
    """The moments in order, each with what the agent said right before it."""
    found: dict[int, Moment] = {}
    for moment in moments:
        before = timeline.moments[max(0, moment.at - 1)]
        found |= {before.at: before} if isinstance(before.entry, Prose) else {}
        found[moment.at] = moment
    return list(found.values())


def _acknowledged(moment: Moment) -> Moment:
    """A change without the excerpt of the new file that a client sends back, a refused call without the client's sentence."""
    if moment.outcome is Outcome.REJECTED:
        return replace(moment, result="")
    return replace(moment, result=moment.result.partition("\n")[0][:120]) if moment.changed else moment


def _shortened(turn: CaseTurn, longest: int) -> CaseTurn:
    text = (
        shorten_middle(message_of(turn.text), _RESULT)
        if turn.role is Role.TOOL
        else shorten_middle(turn.text, max(_SAID, longest // 2))
    )
    return replace(turn, text=text, calls=map_texts(turn.calls, lambda given, _: shorten_middle(given, longest)))


def _size(turn: CaseTurn) -> int:
    return len(turn.text) + sum(len(str(call.arguments)) for call in turn.calls)


def request_of(timeline: Timeline, at: int, besides: Collection[int] = ()) -> str:
    """The user's request at a moment: the last sentence, and shorter prompts after it; for a slash command, its expansion.

    The words at `besides` do not count.
    """
    told: list[str] = []
    for moment in reversed(timeline.moments[:at]):
        if not isinstance(moment.entry, Intervention) or moment.at in besides:
            continue
        words = moment.entry.words
        told.insert(0, "\n\n".join(filter(None, (words, shorten_middle(moment.expansion, SIDE // 8)))))
        if len(words.split()) >= SENTENCE or words.startswith("/"):
            break
    else:
        goal = _first_goal(timeline, at, besides)
        told = [goal, *(one for one in told if one not in goal)]
    return shorten_middle("\n\n".join([told[0], *told[-1:]] if len(told) > 1 else told), SIDE // 4)


def _first_goal(timeline: Timeline, at: int, besides: Collection[int]) -> str:
    """The goal of the moment's phase; if that is what `besides` says, of the one before it."""
    words = {entry.words for one in besides if isinstance(entry := timeline.moments[one].entry, Intervention)}
    goals = (timeline.goal_of(one.phase) for one in reversed(timeline.moments[:at] or timeline.moments[:1]))
    return next((goal for goal in goals if goal not in words), "")


SENTENCE = 6
"""Least words of a request that can be understood alone."""


# --- files ------------------------------------------------------------------------------------------------------------


def files_before(earlier: Sequence[Moment], changes: Iterable[Moment], most: int = SIDE) -> str:
    """The part of each file that the changes replaced, as it was, under its name; "" if no call shows it."""
    parts: list[str] = []
    for moment in changes:
        path = next((act.what for act in moment.acts if act.deed in CHANGES), "")
        for old in _replaced(moment.arguments or {}) or _whole(earlier, path):
            part = f"{path}:\n{shorten_middle(_with_context(earlier, path, old), _ARGUMENT)}"
            most -= len(part)
            if part not in parts and (most >= 0 or not parts):
                parts.append(part)
    return "\n\n".join(parts)


def _whole(earlier: Sequence[Moment], path: str) -> list[str]:
    """A file that was written as a whole, as it was last read or written before."""
    for moment in reversed(earlier):
        if any(act.what == path for act in moment.acts) and moment.outcome is Outcome.OK:
            if moment.arguments is None:
                continue
            written = moment.arguments.get("content")
            text = written if isinstance(written, str) else _NUMBERED.sub("", message_of(moment.result))
            return [text] if text.strip() else []
    return []


def _replaced(arguments: Mapping[str, object]) -> list[str]:
    """The old text of an edit, of each edit of several, or of each hunk of a patch."""
    found = [one for name, one in arguments.items() if name in ("old_string", "oldString") and isinstance(one, str)]
    for several in (arguments.get("edits"), arguments.get("changes")):
        for each in several if isinstance(several, list) else ():
            found += _replaced(each) if isinstance(each, Mapping) else []
    for patch in (one for one in arguments.values() if isinstance(one, str) and one.startswith("*** Begin Patch")):
        for hunk in re.split(r"(?m)^(?:@@.*|\*\*\* .*)$", patch):
            old = "\n".join(line[1:] for line in hunk.strip("\n").split("\n") if line[:1] in ("-", " "))
            found += [old] if old.strip() else []
    return [one for one in found if one.strip()]


def _with_context(earlier: Sequence[Moment], path: str, old: str) -> str:
    """The old text with the lines around it, from the last time that the file was read."""
    for moment in reversed(earlier):
        if any(act.deed is Deed.READ and act.what == path for act in moment.acts):
            text = _NUMBERED.sub("", message_of(moment.result))
            before, found, after = text.partition(old)
            if found:
                return "\n".join(
                    [
                        *before.split("\n")[-_AROUND:-1],
                        before.split("\n")[-1] + old + after.split("\n")[0],
                        *after.split("\n")[1:_AROUND],
                    ]
                )
    return old
