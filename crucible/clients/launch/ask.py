"""Ask an agent (a client, a user's command line, or a model of the `llm` library), and parse the answer.

A client given by name gets no tools.  Hooks and imports skip these sessions: a mark in the prompt and environment
identifies them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from crucible.clients.claude_code.client import NO_FILES
from crucible.clients.client import Answer
from crucible.clients.launch.answering_process import MOST_BYTES, Exited, Reins, run_program
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT, OWN_MARK, RESUMING_ENVIRONMENT
from crucible.clients.registry import ASKABLE, CLIENTS, client_of
from crucible.core.errors import AgentFailed
from crucible.core.patterns import late_pattern
from crucible.core.settings.settings import AgentSettings

_REMOVED_VARIABLES = (RESUMING_ENVIRONMENT, "CRU_SESSION", "CLAUDECODE")
"""Variables to remove from the environment: the session to write to, and the one that makes Claude Code refuse to start
inside itself."""

_LLM = (sys.executable, "-m", "crucible.clients.launch.llm_model")


class Asker(Protocol):
    """Anything that answers prompts."""

    def ask(self, prompt: str) -> Answer:
        """Return the answer to a prompt.  Raises `AgentFailed` if there is none."""
        ...


def asker_of(settings: AgentSettings, env: Mapping[str, str]) -> Program | None:
    """Return the configured agent: `agents.command` if set, else `agents.model`.

    None if neither is set, or inside a session that `cru` itself started.
    """
    if env.get(OWN_ENVIRONMENT):
        return None
    if settings.command.strip():
        return program_of(settings.command, "agents.command", env, settings.timeout_seconds)
    if settings.model.strip():
        model = settings.model.strip()
        return Program((*_LLM, model), env, settings.timeout_seconds, model)
    return None


def program_of(agent: str, where: str, env: Mapping[str, str], timeout: float | None) -> Program:
    """Return the program for a client's name, or for a command line split as in a shell.  A named client gets no tools.

    In both cases, Claude Code does not read files named with `@` in the prompt.  `where` is the option or setting to
    name in the message of `AgentFailed`.
    """
    client = client_of(agent.strip(), ASKABLE)
    if client is not None:
        return Program(
            (client.program, *client.asked_once, *client.asked_more(env)), {**env, **client.asked_env}, timeout
        )
    try:
        words = tuple(shlex.split(agent))
    except ValueError as error:
        raise AgentFailed(f"{where}: {error}", "fix its quotes") from error
    if not words:
        raise AgentFailed(f"{where}: the command is empty", "name claude, codex, opencode or a command line")
    return Program(words, {**NO_FILES, **env}, timeout)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that reads a prompt from standard input and prints the answer.

    `model` is used if an answer does not name its model; it defaults to the program's name.  The program runs in
    `folder`, by default an empty one, and `reins` can stop it.  With `may_be_silent`, an empty answer is not an error.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    timeout_seconds: float | None
    model: str = ""
    folder: str = ""
    reins: Reins | None = None
    most: int = MOST_BYTES
    may_be_silent: bool = False

    def ask(self, prompt: str) -> Answer:
        """Run the program and return its answer.

        Raises `AgentFailed` if the program is missing, fails, times out, or prints nothing or too much.
        """
        prompt_bytes = f"{OWN_MARK}\n{prompt}".encode("utf-8", "replace")
        model = self.model or os.path.basename(self.words[0])
        try:
            data = run_program(
                self.words,
                prompt_bytes,
                own_environment(self.env),
                self.timeout_seconds,
                folder=self.folder,
                reins=self.reins,
                most=self.most,
            )
        except Exited as error:
            read_answer(error.output.decode("utf-8", "replace"), model)  # the output may give a better reason
            raise
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise AgentFailed(f"{os.path.basename(self.words[0])}: its answer is not text") from error
        answer = read_answer(text, model)
        if not answer.text.strip() and not self.may_be_silent:
            raise AgentFailed(f"{os.path.basename(self.words[0])}: its answer is empty")
        return answer


def own_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program that we start: marked as ours, without the current session's variables."""
    kept = {name: value for name, value in env.items() if name not in _REMOVED_VARIABLES}
    return {**kept, OWN_ENVIRONMENT: "1"}


# --- reading an answer -----------------------------------------------------------------------------------------------


def read_answer(text: str, model: str) -> Answer:
    """Parse plain text, or the JSON of any client.  Raises `AgentFailed` for an answer that is an error."""
    rows = _rows(text)
    if not rows:
        return Answer(text, model)
    found = (client.read_answer(rows, model) for client in CLIENTS.values())
    return next(filter(None, found), Answer(text, model))


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects in a text that contains nothing else: one document, or one object per line."""
    if not text.lstrip().startswith("{"):
        return []
    for lines in ([text], [line for line in text.split("\n") if line.strip()]):
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            continue
        if all(isinstance(row, dict) for row in found):
            return found
    return []


_FENCE = late_pattern(r"^[ \t]*```+[ \t]*(?:json)?[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_LONGEST = 100_000
"""Maximum code points of an answer to search for objects."""
_MAX_ATTEMPTS = 50


def objects_in(answer: str) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects in an answer, those in code fences first.  Each may be yielded twice."""
    answer = answer[:_LONGEST]
    for place in (*(found[1] for found in _FENCE.finditer(answer)), answer):
        yield from _objects(place)


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MAX_ATTEMPTS):
        if at < 0:
            return
        try:
            row, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield row
        at = text.find("{", end)
