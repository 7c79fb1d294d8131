"""A question to a human: what is worth keeping of these.

Owns what is put to him, what he may answer, and how what he types is read; pure.  Drawing it and reading the line are the door's.

Numbers always mean candidates and letters always mean what to do: "1" ticks the first one and can never save by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from crucible.commands.capture.candidates import Proposal
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern

_MOST_TYPED = 400
"""Characters of a line that are looked at."""


class Offer(NamedTuple):
    """One question.  `task` names the task that ended, "" at a session's end; only at a task's end may an answer be put off.

    `left` is what the session's budget holds when this was asked.
    """

    session: str
    title: str
    proposals: tuple[Proposal, ...]
    task: str = ""
    left: int = 0


class Answer(NamedTuple):
    """`chosen` as they are to be kept (edited, perhaps), and the keys of those that are skipped or put off.

    What is in none of them has no answer yet.
    """

    chosen: tuple[Proposal, ...] = ()
    skipped: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


Ask: TypeAlias = "Callable[[Offer], Answer]"
"""Who asks a human.  It never raises for what he types; one who goes away has given no answer."""


class Act(StrEnum):
    """What a line that was typed asks for."""

    TOGGLE = "toggle"
    SAVE = "save"
    EDIT = "edit"
    SKIP = "skip"
    PREFERENCES = "preferences"
    DEFER = "defer"
    LATER = "later"
    UNKNOWN = "unknown"


class Typed(NamedTuple):
    """What was typed: the act, the places of the candidates it is about, from 0, and what is wrong with it."""

    act: Act
    at: tuple[int, ...] = ()
    why: str = ""


_LETTERS = {
    "s": Act.SAVE,
    "e": Act.EDIT,
    "k": Act.SKIP,
    "p": Act.PREFERENCES,
    "d": Act.DEFER,
    "q": Act.LATER,
}
_WORDS = _LETTERS | {act.value: act for act in _LETTERS.values()} | {"prefs": Act.PREFERENCES, "quit": Act.LATER}
_SPLIT = late_pattern(r"[\s,;]+")
_RANGE = late_pattern(r"(\d{1,6})(?:-(\d{1,6}))?")


def read_typed(text: str, count: int, *, deferrable: bool = False) -> Typed:
    """What a line means where `count` candidates are shown: numbers tick and untick, `s`, `e 2`, `k`, `p`, `d` and `q` act."""
    words = [word for word in _SPLIT.split(text[:_MOST_TYPED].strip().strip("[]").casefold()) if word]
    if not words:
        return Typed(Act.UNKNOWN, why="a number ticks or unticks; a letter does what its word says")
    act = _WORDS.get(words[0])
    if act is Act.DEFER and not deferrable:
        return Typed(Act.UNKNOWN, why="only at a task's end it can be put off to the session's")
    try:
        places = _places(words if act is None else words[1:], count)
    except UsageError as error:
        return Typed(Act.UNKNOWN, why=str(error))
    if act is None:
        return Typed(Act.TOGGLE, places)
    if act is Act.EDIT:
        at = places or (0,) * (count == 1)
        return Typed(act, at) if len(at) == 1 else Typed(Act.UNKNOWN, why="which one? such as `e 2`")
    return Typed(Act.UNKNOWN, why=f"{words[0]!r} takes no numbers") if places else Typed(act)


def accepted(text: str, keys: Sequence[str]) -> frozenset[int]:
    """The places of what `--accept` names among candidates with these keys: `all`, `none`, `1,3`, `2-4`, or keys; `UsageError` for what is not there."""
    words = [word for word in _SPLIT.split(text.strip().casefold()) if word]
    if words in (["all"], ["none"]):
        return frozenset(range(len(keys)) if words == ["all"] else ())
    if not words:
        raise UsageError("--accept names nothing", "all, none, or numbers: --accept 1,3")
    found = {keys.index(word) for word in words if word in keys}
    return frozenset(found | {*_places([word for word in words if word not in keys], len(keys))})


def _places(words: Sequence[str], count: int) -> tuple[int, ...]:
    """Where numbers, and ranges of them, point; each place once."""
    found: dict[int, None] = {}
    for word in words:
        match = _RANGE.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= count:
            there = f"there are 1 to {count}" if count > 1 else "there is 1" if count else "there is none"
            raise UsageError(f"{word[:40]!r} is none of them: {there}", "`cru capture` lists them")
        found.update(dict.fromkeys(range(first - 1, last)))
    return tuple(found)
