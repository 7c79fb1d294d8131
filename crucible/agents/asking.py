"""Asking a model to write something: a command of the user's, or a model of the `llm` library.

Owns what is started, in which surroundings, and how an answer is read.  Nobody is asked whom the user did not configure.
What we start is marked as our own twice, in its prompt and in its environment, so that no hook captures it and no import
takes it in; it runs in an empty folder, so that no project's instructions reach it.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from crucible.agents.marks import OWN_ENVIRONMENT, OWN_MARK, RESUMING_ENVIRONMENT
from crucible.agents.running import MOST_BYTES, Reins, run_program
from crucible.errors import AgentFailed
from crucible.settings import AgentSettings

__all__ = ["Answer", "Asker", "Program", "asker_of", "own_environment", "read_answer", "split_command"]

_FOREIGN = (RESUMING_ENVIRONMENT, "CRU_SESSION", "CLAUDECODE")
"""Taken out of its environment: which session it would write to, and what makes Claude Code refuse to start in itself."""

_MOST = 1 << 50
"""Tokens or dollars; more is nonsense, and does not fit into a line of the flight."""

_LLM = (sys.executable, "-m", "crucible.agents.answering")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered, by which model, and what it took: dollars and tokens, None where that was not said.

    `tokens_cached` of `tokens_in` were read from a cache.
    """

    text: str
    model: str = ""
    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = field(default=None, compare=False)

    @property
    def tokens_used(self) -> int | None:
        """Sent afresh or said; None where neither was told."""
        if self.tokens_in is None and self.tokens_out is None:
            return None
        return max(0, (self.tokens_in or 0) - (self.tokens_cached or 0)) + (self.tokens_out or 0)


class Asker(Protocol):
    """Who may be asked.  `ask` raises `AgentFailed` when no answer comes."""

    def ask(self, prompt: str) -> Answer:
        """The answer to a prompt."""
        ...


def asker_of(settings: AgentSettings, env: Mapping[str, str]) -> Program | None:
    """Who the user configured, the command before the model; None for nobody, and inside of a session that we started ourselves."""
    if env.get(OWN_ENVIRONMENT):
        return None
    if settings.command.strip():
        return Program(split_command(settings.command, "agents.command"), env, settings.timeout_seconds)
    if settings.model.strip():
        model = settings.model.strip()
        return Program((*_LLM, model), env, settings.timeout_seconds, model)
    return None


def split_command(command: str, where: str) -> tuple[str, ...]:
    """A command's words as a shell would split them; `where` it was given is for the message of `AgentFailed`."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise AgentFailed(f"{where}: {error}", "mend its quotes") from error


@dataclass(frozen=True, slots=True)
class Program:
    """A program that reads a prompt from its standard input and prints the answer.

    `model` is told for an answer that does not name its own, else the program's name.  It runs in `folder`, by default an
    empty one; `reins` may end it; one that `may_be_silent` need not say anything when it ends well.
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
        """The answer; `AgentFailed` for a program that is not there, fails, says nothing, too much, or nothing in time."""
        given = f"{OWN_MARK}\n{prompt}".encode("utf-8", "replace")
        data = run_program(
            self.words,
            given,
            own_environment(self.env),
            self.timeout_seconds,
            folder=self.folder,
            reins=self.reins,
            most=self.most,
        )
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise AgentFailed(f"{self.words[0]}: its answer is no text") from error
        answer = read_answer(text, self.model or os.path.basename(self.words[0]))
        if not answer.text.strip() and not self.may_be_silent:
            raise AgentFailed(f"{os.path.basename(self.words[0])}: it answered nothing")
        return answer


def own_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The surroundings of what we start ourselves: marked as ours, and without what belongs to the session around us."""
    kept = {name: value for name, value in env.items() if name not in _FOREIGN}
    return {**kept, OWN_ENVIRONMENT: "1"}


# --- reading an answer -----------------------------------------------------------------------------------------------


def read_answer(text: str, model: str) -> Answer:
    """Plain text, or what a client prints as JSON; `AgentFailed` for an answer that says it is an error.

    Known are `claude -p --output-format json`, `codex exec --json`, `opencode run --format json` and our own `answering`.
    """
    rows = _rows(text)
    if not rows:
        return Answer(text, model)
    if "result" in rows[-1]:
        return _read_result(rows[-1], model)
    if any("sessionID" in row and isinstance(row.get("part"), dict) for row in rows):
        return _read_parts(rows, model)
    said = [item for row in rows if (item := _codex_message(row))]
    if not said:
        return Answer(text, model)
    usage: dict[str, Any] = next(
        (row["usage"] for row in reversed(rows) if isinstance(row.get("usage"), dict)), {}
    )
    counts = (_count(usage, name) for name in ("input_tokens", "output_tokens", "cached_input_tokens"))
    return Answer(said[-1], model, None, *counts)


def _rows(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a text that holds nothing else: one document, or one a line."""
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


def _read_result(row: Mapping[str, Any], model: str) -> Answer:
    text = row["result"]
    if row.get("is_error") or not isinstance(text, str):
        raise AgentFailed(f"{model}: it ended in an error: {_printable(str(text))}")
    usage = row["usage"] if isinstance(row.get("usage"), dict) else {}
    cost = row.get("total_cost_usd")
    told = row.get("modelUsage")
    named = next(iter(told), "") if isinstance(told, dict) else row.get("model")
    return Answer(
        text,
        _printable(named) or model if isinstance(named, str) else model,
        float(cost) if isinstance(cost, int | float) and _is_number(cost) else None,
        _count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "cache_read_input_tokens"),
    )


def _codex_message(row: Mapping[str, Any]) -> str:
    item = row.get("item")
    if row.get("type") != "item.completed" or not isinstance(item, dict):
        return ""
    text = item.get("text")
    return text if item.get("type") == "agent_message" and isinstance(text, str) else ""


def _read_parts(rows: list[dict[str, Any]], model: str) -> Answer:
    """The texts of OpenCode's last message, and what all of its steps took."""
    parts = [(row.get("type"), part) for row in rows if isinstance(part := row.get("part"), dict)]
    texts = [part for kind, part in parts if kind == "text" and isinstance(part.get("text"), str)]
    if not texts and any(row.get("type") == "error" for row in rows):
        raise AgentFailed(f"{model}: it ended in an error")
    last = [part["text"] for part in texts if part.get("messageID") == texts[-1].get("messageID")]
    took = [
        tokens
        for kind, part in parts
        if kind == "step_finish" and isinstance(tokens := part.get("tokens"), dict)
    ]
    caches = [cache for tokens in took if isinstance(cache := tokens.get("cache"), dict)]
    fresh, said = (_sum(took, name) for name in ("input", "output"))
    read, written = (_sum(caches, name) for name in ("read", "write"))
    whole = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Answer("\n\n".join(last), model, None, whole, said, read)


def _sum(rows: list[dict[str, Any]], name: str) -> int | None:
    found = [count for row in rows if (count := _count(row, name)) is not None]
    return sum(found) if found else None


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    """The sum of the counts that are there."""
    found = [usage[name] for name in names if isinstance(usage.get(name), int) and _is_number(usage[name])]
    return sum(found) if found else None


def _is_number(value: object) -> bool:
    """Whether it counts something: not JSON's `NaN`, `Infinity`, or an integer that nobody can keep."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST


def _printable(text: str) -> str:
    """Foreign words as they may stand in a line of ours."""
    return "".join(c if c.isprintable() else " " for c in text[:200]).strip()
