"""How a client is told something at the start of a new session that is no prompt: nobody's words, and no turn of its own.

Owns the words and the environment for it.  Claude Code adds to its system prompt, Codex to its developer instructions, OpenCode reads a file of
instructions.  Gemini CLI has no such way: it is told by its first prompt.  Of several such options a client obeys the last one alone, so what the user says
with his own stands behind ours in one.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from crucible.clients.launch.programs import CLIENTS, LONGEST_ARGUMENT
from crucible.core.errors import UsageError

_INLINE = "OPENCODE_CONFIG_CONTENT"
_DEVELOPER = "developer_instructions="


class Beginner(NamedTuple):
    """A client: what a user and a note's `sources` call it, its program, what npm calls it, and whether it is told by a prompt."""

    name: str
    source: str
    program: str
    package: str
    prompted: bool = False


BEGINNERS: Mapping[str, Beginner] = {
    **{name: Beginner(name, one.source, one.program, one.package) for name, one in CLIENTS.items()},
    "gemini": Beginner("gemini", "gemini", "gemini", "@google/gemini-cli", prompted=True),
}
"""By the name that a user calls them."""


class Beginning(NamedTuple):
    """A command line, and what is added to the environment.  `longest` is the size in bytes of the longest argument or value of it."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    longest: int

    @property
    def fits(self) -> bool:
        """Whether the system takes it."""
        return self.longest <= LONGEST_ARGUMENT


def beginner_of(name: str) -> Beginner | None:
    """The client that a user, or a note's `sources`, calls so."""
    return next((one for one in BEGINNERS.values() if name in (one.name, one.source)), None)


def begin(one: Beginner, text: str, file: str, env: Mapping[str, str], more: Sequence[str] = ()) -> Beginning:
    """How the client is started with a text, which stands in `file`, too; `more` are the user's own arguments.  An empty text says nothing.

    Raises `UsageError` where settings in the environment cannot be added to.
    """
    said = text.replace("\0", "").encode("utf-8", "replace").decode()
    words: tuple[str, ...] = ()
    added: dict[str, str] = {}
    if said:
        match one.name:
            case "claude":
                own, more = _own(more, ("--append-system-prompt",))
                words = ("--append-system-prompt", _both(said, own))
            case "codex":
                own, more = _own(more, ("-c", "--config"), _DEVELOPER)
                words = ("-c", f"{_DEVELOPER}{_toml(_both(said, _text_of(own)))}")
            case "opencode":
                added[_INLINE] = _with_instructions(env.get(_INLINE, ""), file)
            case _:
                words = ("-i", said)
    command = (one.program, *words, *more)
    longest = max((len(os.fsencode(word)) for word in (*words, *added.values())), default=0)
    return Beginning(command, added, longest)


def _own(more: Sequence[str], names: Collection[str], key: str = "") -> tuple[str, tuple[str, ...]]:
    """What the user says with such an option, whose value begins with `key`, "" for nothing; and his other arguments."""
    end = more.index("--") if "--" in more else len(more)
    told, rest, at = "", list[str](), 0
    while at < end:
        name, joint, value = more[at].partition("=")
        value = value if joint else "".join(more[at + 1 : min(at + 2, end)])
        is_own = name in names and bool(value) and value.startswith(key)
        if is_own:
            told = value[len(key) :]
        else:
            rest.append(more[at])
        at += 2 if is_own and not joint else 1
    return told, (*rest, *more[end:])


def _text_of(value: str) -> str:
    """What Codex takes a value for: TOML, or what is none as it stands."""
    try:
        found = tomllib.loads(f"x = {value.strip()}")["x"]
    except ValueError:
        return value
    return found if isinstance(found, str) else value


def _both(said: str, own: str) -> str:
    return f"{said}\n{own}" if own else said


def _toml(text: str) -> str:
    """A string of TOML: that of JSON, which escapes all that TOML wants escaped but one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_instructions(known: str, file: str) -> str:
    """The settings that stand in the environment already, with one file of instructions more."""
    try:
        settings = json.loads(known) if known.strip() else {}
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):  # what it allows and forbids must not be lost
        raise UsageError(f"{_INLINE}: no JSON object, so no briefing can be added", "mend it, or unset it")
    there = settings.get("instructions")
    return json.dumps({**settings, "instructions": [*(there if isinstance(there, list) else []), file]})
