"""The command line that starts a client: for a session of its own, or for a new one that is given a text first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crucible.clients.client import PROMPT, SESSION, ClientProfile

LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes that Linux takes in one argument."""


class Launch(NamedTuple):
    """A command line, and what is added to the environment.  `longest` is the size in bytes of its longest addition."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    longest: int

    @property
    def fits(self) -> bool:
        """Whether the system accepts it."""
        return self.longest <= LONGEST_ARGUMENT


def start_with_context(
    client: ClientProfile, text: str, file: str, env: Mapping[str, str], more: Sequence[str] = ()
) -> Launch:
    """Start a new session with a text that is not a prompt, and which is also in `file`; an empty text adds nothing.

    `more` are the user's own arguments.  Raises `UsageError` if settings in the environment cannot be added to.
    """
    said = text.replace("\0", "").encode("utf-8", "replace").decode()
    words, added, rest = client.give_context(said, file, env, more) if said else ((), {}, more)
    longest = max((len(os.fsencode(word)) for word in (*words, *added.values())), default=0)
    return Launch((client.program, *words, *rest), added, longest)


def command_line(
    client: ClientProfile, *, native: str, prompt: str, terminal: bool, more: Sequence[str] = ()
) -> list[str]:
    """The program and its arguments.

    `native` is the id of the client's own session, "" for a new one.  In a terminal an empty `prompt` says nothing; without
    one the prompt is standard input and not here.  `more` are the user's own arguments, which come last: an option that takes
    several values would take a prompt after it for one.
    """
    if terminal:
        words = (*(client.native if native else ()), *(client.asked if prompt else ()))
    else:
        words = client.piped_native if native else client.piped
    given = {SESSION: native, PROMPT: prompt}
    return [client.program, *(given.get(word, word) for word in words), *more]
