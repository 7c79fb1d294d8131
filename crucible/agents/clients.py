"""The agent programs that `cru` can start to go on with a session, and their command lines.

Owns, for each, how a new session begins with a prompt, how one of its own is gone on with, and both without a terminal,
where the prompt is the client's standard input.  A new client is one entry of `CLIENTS`.  Running one is `launching`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["CLIENTS", "LONGEST_ARGUMENT", "ClientProgram", "client_of", "command_line"]

LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes that Linux takes in one argument."""

_SESSION, _PROMPT = "{session}", "{prompt}"


class ClientProgram(NamedTuple):
    """One client.

    `source` is its name in a note's `sources`, `program` that of its file, `package` what npm calls it.  `native` and
    `asked` are the words that name a session and say a prompt on a terminal; `piped` and `piped_native` are all the words
    where there is none, and then its own session must be told something too.  With `counted` behind them it prints its answer
    as `asking` reads it, with the tokens that it took.
    """

    source: str
    title: str
    program: str
    package: str
    native: tuple[str, ...]
    asked: tuple[str, ...]
    piped: tuple[str, ...]
    piped_native: tuple[str, ...]
    counted: tuple[str, ...] = ()


CLIENTS: Mapping[str, ClientProgram] = MappingProxyType(
    {
        "claude": ClientProgram(
            "claude-code",
            "Claude Code",
            "claude",
            "@anthropic-ai/claude-code",
            native=("--resume", _SESSION),
            asked=(_PROMPT,),
            piped=("-p",),
            piped_native=("-p", "--resume", _SESSION),
            counted=("--output-format", "json"),
        ),
        "codex": ClientProgram(
            "codex",
            "Codex",
            "codex",
            "@openai/codex",
            native=("resume", _SESSION),
            asked=(_PROMPT,),
            piped=("exec", "-"),
            piped_native=("exec", "resume", _SESSION, "-"),
            counted=("--json",),
        ),
        "opencode": ClientProgram(
            "opencode",
            "OpenCode",
            "opencode",
            "opencode-ai",
            native=("--session", _SESSION),
            asked=("--prompt", _PROMPT),
            piped=("run",),
            piped_native=("run", "--session", _SESSION),
            counted=("--format", "json"),
        ),
    }
)
"""By the name that a user calls them."""


def client_of(name: str) -> ClientProgram | None:
    """The client that a user, or a note's `sources`, calls so."""
    named = (each for key, each in CLIENTS.items() if name in (key, each.source))
    return next(named, None)


def command_line(
    client: ClientProgram, *, native: str, prompt: str, terminal: bool, more: Sequence[str] = ()
) -> list[str]:
    """The program and its arguments.

    `native` is the id of its own session, "" for a new one; on a terminal an empty `prompt` says nothing, without one the
    prompt is standard input and not here.  `more` are the user's own arguments: the last ones, since an option that takes
    several values would take a prompt behind it for one.
    """
    if terminal:
        words = (*(client.native if native else ()), *(client.asked if prompt else ()))
    else:
        words = client.piped_native if native else client.piped
    given = {_SESSION: native, _PROMPT: prompt}
    return [client.program, *(given.get(word, word) for word in words), *more]
