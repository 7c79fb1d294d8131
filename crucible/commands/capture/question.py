"""Ask the user which candidates to keep: the offer, the answer, typed lines, the cost of a question, and preferences.

Numbers always mean candidates and letters always mean actions, so typing "1" cannot save by accident.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

from crucible.commands.capture.candidates import CaptureProposal
from crucible.core import files
from crucible.core.errors import UsageError, VaultError
from crucible.core.files import locked
from crucible.core.patterns import late_pattern
from crucible.core.settings.session_settings import FrictionSettings
from crucible.core.settings.toml_values import Table, file_text

_MOST_TYPED = 400
"""Maximum characters of a typed line to parse."""


class Offer(NamedTuple):
    """One question to the user.

    `task` is the task that ended, "" at a session's end. Candidates can be deferred only at a task's end.
    `left` is the remainder of the session's question budget.
    """

    session: str
    title: str
    proposals: tuple[CaptureProposal, ...]
    task: str = ""
    left: int = 0


class OfferAnswer(NamedTuple):
    """The user's answer: `chosen` candidates, optionally edited, and the keys of `skipped` and `deferred` ones.

    All other candidates have no answer yet.
    """

    chosen: tuple[CaptureProposal, ...] = ()
    skipped: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


Ask: TypeAlias = "Callable[[Offer], OfferAnswer]"
"""Asks the user; if the user leaves the question, the answer is empty."""


class TypedAction(StrEnum):
    """The action of a typed line."""

    TOGGLE = "toggle"
    SAVE = "save"
    EDIT = "edit"
    SKIP = "skip"
    PREFERENCES = "preferences"
    DEFER = "defer"
    LATER = "later"
    UNKNOWN = "unknown"


class TypedLine(NamedTuple):
    """A parsed line: the action, the indexes of the candidates, and an error."""

    act: TypedAction
    at: tuple[int, ...] = ()
    why: str = ""


_LETTERS = {
    "s": TypedAction.SAVE,
    "e": TypedAction.EDIT,
    "k": TypedAction.SKIP,
    "p": TypedAction.PREFERENCES,
    "d": TypedAction.DEFER,
    "q": TypedAction.LATER,
}
_WORDS = (
    _LETTERS
    | {act.value: act for act in _LETTERS.values()}
    | {"prefs": TypedAction.PREFERENCES, "quit": TypedAction.LATER}
)
_SPLIT = late_pattern(r"[\s,;]+")
_RANGE = late_pattern(r"(\d{1,6})(?:-(\d{1,6}))?")


def read_typed(text: str, count: int, *, deferrable: bool = False) -> TypedLine:
    """Parse a typed line for `count` candidates: numbers toggle them; `s`, `e 2`, `k`, `p`, `d` and `q` are actions."""
    words = [word for word in _SPLIT.split(text[:_MOST_TYPED].strip().strip("[]").casefold()) if word]
    if not words:
        return TypedLine(TypedAction.UNKNOWN, why="type a number to select or deselect an item, or one of the letters")
    act = _WORDS.get(words[0])
    if act is TypedAction.DEFER and not deferrable:
        return TypedLine(
            TypedAction.UNKNOWN, why="only a question at a task's end can be deferred to the session's end"
        )
    try:
        places = _places(words if act is None else words[1:], count)
    except UsageError as error:
        return TypedLine(TypedAction.UNKNOWN, why=str(error))
    if act is None:
        return TypedLine(TypedAction.TOGGLE, places)
    if act is TypedAction.EDIT:
        at = places or (0,) * (count == 1)
        return TypedLine(act, at) if len(at) == 1 else TypedLine(TypedAction.UNKNOWN, why="name one, for example: e 2")
    return TypedLine(TypedAction.UNKNOWN, why=f"{words[0]!r} takes no numbers") if places else TypedLine(act)


def parse_accept(text: str, keys: Sequence[str]) -> frozenset[int]:
    """Parse `--accept` into indexes: `all`, `none`, `1,3`, `2-4`, or keys.  Raises `UsageError`."""
    words = [word for word in _SPLIT.split(text.strip().casefold()) if word]
    if words in (["all"], ["none"]):
        return frozenset(range(len(keys)) if words == ["all"] else ())
    if not words:
        raise UsageError("--accept is empty", "give all, none, or numbers: --accept 1,3")
    found = {keys.index(word) for word in words if word in keys}
    return frozenset(found | {*_places([word for word in words if word not in keys], len(keys))})


def _places(words: Sequence[str], count: int) -> tuple[int, ...]:
    """Parse numbers and ranges into indexes without duplicates. Raises `UsageError`."""
    found: dict[int, None] = {}
    for word in words:
        match = _RANGE.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= count:
            there = f"choose from 1 to {count}" if count > 1 else "the only one is 1" if count else "there are none"
            raise UsageError(f"{word[:40]!r} is not in the list: {there}", '"cru knowledge capture" lists them')
        found.update(dict.fromkeys(range(first - 1, last)))
    return tuple(found)


MOST_PROMPTS = 3
"""Maximum prompts in a session."""

_SHORT, _MEDIUM = 30, 90
"""Maximum minutes of a short session, and of a medium one."""


class Interaction(StrEnum):
    """A kind of question."""

    CAPTURE_PROMPT = "capture_prompt"
    MID_SESSION_PROMPT = "mid_session_prompt"
    FAILURE_REVIEW = "failure_review"


COSTS: Mapping[Interaction, int] = {
    Interaction.CAPTURE_PROMPT: 1,
    Interaction.MID_SESSION_PROMPT: 2,
    Interaction.FAILURE_REVIEW: 1,
}
"""The cost of each kind of question; an interruption costs more than a question at the end."""


def cost_of(what: Iterable[Interaction]) -> int:
    """Return the total cost."""
    return sum(COSTS[one] for one in what)


class QuestionBudget(NamedTuple):
    """A session's limit, what has been spent, and the number of prompts."""

    limit: int
    spent: int = 0
    prompts: int = 0

    @property
    def left(self) -> int:
        """The remaining budget, at least 0."""
        return max(0, self.limit - self.spent)

    def allows(self, *what: Interaction) -> bool:
        """True if these questions fit into one more prompt."""
        return cost_of(what) <= self.left and self.prompts < MOST_PROMPTS

    def after(self, *prompts: Iterable[Interaction]) -> Self:
        """Return the budget after these prompts."""
        return self._replace(spent=self.spent + sum(map(cost_of, prompts)), prompts=self.prompts + len(prompts))


def budget_of(minutes: float | None, settings: FrictionSettings) -> QuestionBudget:
    """Return the budget for a session's length; an unknown length counts as short."""
    if minutes is None or minutes < _SHORT:
        return QuestionBudget(settings.short_session)
    return QuestionBudget(settings.medium_session if minutes < _MEDIUM else settings.long_session)


_CONFIG = ".crucible/config.toml"
_HEAD = re.compile(r"(?m)^\ufeff?[ \t]*\[[ \t]*capture[ \t]*\][^\n]*(?:\n|\Z)")
_END = re.compile(r"\Z")
_DOTTED = re.compile(r"(?m)^capture\.[^\n]*(?:\n|\Z)")


def set_preference(root: Path, key: str, value: bool | float) -> bool:
    """Set `capture.KEY` in `.crucible/config.toml`; returns whether the file changed. Comments and order are kept.

    Raises `VaultError` if the file is not TOML or cannot be written, `NoteChanged` if another program saved it.
    """
    path = files.inside(root, root / _CONFIG)
    with locked(root, path):
        exists, text = path.exists(), file_text(path) or ""
        changed = _with(text, path, key, value)
        if changed == text:
            return False
        if exists:
            files.write_atomic(path, changed.encode(), expected=text.encode())
        else:
            files.create_exclusive(path, changed.encode())
    return True


def _with(text: str, path: Path, key: str, value: bool | float) -> str:
    """Return the text with the key set. Raises `VaultError` if it is not TOML, or if no edit sets only this key."""
    before = Table(text, path).values
    capture = before.get("capture", {})
    if isinstance(capture, dict):
        if capture.get(key) == value:
            return text
        for changed in _ways(text, key, json.dumps(value)):
            with suppress(VaultError):
                if Table(changed, path).values == {**before, "capture": {**capture, key: value}}:
                    return changed
    raise VaultError(f"{_CONFIG}: capture.{key} cannot be set in it", "edit it by hand")


def _ways(text: str, key: str, value: str) -> Iterator[str]:
    """Yield versions of the text that may set the key: by replacing its value or adding a line.

    A new key goes directly after the header, so that it cannot end up in a later table.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    for found in re.finditer(rf"(?m)^([ \t]*(?:capture\.)?{key}[ \t]*=[ \t]*)[^\s#]+", text):
        yield text[: found.start()] + found[1] + value + text[found.end() :]
    line = f"{key} = {value}{end}"
    heads = ((_HEAD, ""), (_DOTTED, "capture."), (_END, f"[capture]{end}"))
    for at, more in ((found.end(), more) for head, more in heads for found in head.finditer(text)):
        yield text[:at] + ("" if at == 0 or text[at - 1] == "\n" else end) + more + line + text[at:]
