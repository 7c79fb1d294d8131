"""Ask an agent: a client, a user's command line, or a model of the `llm` library; and parse the answer.

A client given by name can only answer.  Every program runs in an empty folder and is marked as ours in prompt and environment,
so that no hook captures it and no import takes it in.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from crucible.clients.claude_code.client import NO_FILES
from crucible.clients.launch.answering_process import MOST_BYTES, Exited, Reins, printable, run_program
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT, OWN_MARK, RESUMING_ENVIRONMENT
from crucible.clients.registry import client_of
from crucible.core.errors import AgentFailed
from crucible.core.patterns import late_pattern
from crucible.core.settings.settings import AgentSettings

_FOREIGN = (RESUMING_ENVIRONMENT, "CRU_SESSION", "CLAUDECODE")
"""Taken out of its environment: which session it would write to, and what makes Claude Code refuse to start in itself."""

_MOST = 1 << 50
"""Tokens or dollars; more is nonsense, and does not fit into a line of the flight."""

_LLM = (sys.executable, "-m", "crucible.clients.launch.llm_model")


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
    """The agent of the settings, the command before the model.  None if there is none, or inside a session that `cru` itself started."""
    if env.get(OWN_ENVIRONMENT):
        return None
    if settings.command.strip():
        return program_of(settings.command, "agents.command", env, settings.timeout_seconds)
    if settings.model.strip():
        model = settings.model.strip()
        return Program((*_LLM, model), env, settings.timeout_seconds, model)
    return None


def program_of(named: str, where: str, env: Mapping[str, str], timeout: float | None) -> Program:
    """A client by its name, which then can only answer, or a command line, split as a shell would.

    In both cases Claude Code reads no files named with `@` in the prompt.  `where` is the option or setting for the message of `AgentFailed`.
    """
    client = client_of(named.strip())
    if client is not None:
        return Program(
            (client.program, *client.asked_once, *client.asked_more(env)), {**env, **client.asked_env}, timeout
        )
    try:
        words = tuple(shlex.split(named))
    except ValueError as error:
        raise AgentFailed(f"{where}: {error}", "fix its quotes") from error
    if not words:
        raise AgentFailed(f"{where}: it is empty", "name claude, codex, opencode or a command line")
    return Program(words, {**NO_FILES, **env}, timeout)


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
        model = self.model or os.path.basename(self.words[0])
        try:
            data = run_program(
                self.words,
                given,
                own_environment(self.env),
                self.timeout_seconds,
                folder=self.folder,
                reins=self.reins,
                most=self.most,
            )
        except Exited as error:
            read_answer(error.said.decode("utf-8", "replace"), model)  # its output may give a better reason
            raise
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise AgentFailed(f"{os.path.basename(self.words[0])}: its answer is not text") from error
        answer = read_answer(text, model)
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
    if "result" in rows[-1] or rows[-1].get("type") == "result":
        return _read_result(rows[-1], model)
    if any("sessionID" in row and ("part" in row or "error" in row) for row in rows):
        return _read_parts(rows, model)
    if any(str(row.get("type")).startswith(("thread.", "turn.", "item.")) for row in rows):
        return _read_items(rows, model)
    return Answer(text, model)


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
    """Claude Code's one row.  Without an answer it has no `result`; its `subtype` says why."""
    text = row.get("result")
    if row.get("is_error") or not isinstance(text, str):
        raise _failed(model, text if isinstance(text, str) else row.get("subtype"))
    usage = row["usage"] if isinstance(row.get("usage"), dict) else {}
    return Answer(
        text,
        _told_model(row) or model,
        _dollars(row.get("total_cost_usd")),
        _count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "cache_read_input_tokens"),
    )


def _told_model(row: Mapping[str, Any]) -> str:
    """The model with the most output: a client may also use a small one."""
    told = row.get("modelUsage")
    if not isinstance(told, dict):
        named = row.get("model")
    else:
        said = {n: _count(took, "outputTokens") or 0 for n, took in told.items() if isinstance(took, dict)}
        named = max(said, key=lambda name: said[name], default=next(iter(told), ""))
    return printable(named) if isinstance(named, str) else ""


def _read_items(rows: list[dict[str, Any]], model: str) -> Answer:
    """Codex's last message, and what its turn took."""
    said = [item for row in rows if (item := _codex_message(row))]
    failed = [row for row in rows if row.get("type") in ("turn.failed", "error")]
    if any(row.get("type") == "turn.failed" for row in rows) or (failed and not said):
        raise _failed(model, failed[-1].get("error", failed[-1].get("message")))
    usage: dict[str, Any] = next((row["usage"] for row in reversed(rows) if isinstance(row.get("usage"), dict)), {})
    counts = (_count(usage, name) for name in ("input_tokens", "output_tokens", "cached_input_tokens"))
    return Answer(said[-1] if said else "", model, None, *counts)


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
    errors = [row for row in rows if row.get("type") == "error"]
    if errors and (not texts or errors[-1] is rows[-1]):
        raise _failed(model, errors[-1].get("error"))
    last = [part["text"] for part in texts if part.get("messageID") == texts[-1].get("messageID")]
    ends = [part for kind, part in parts if kind == "step_finish"]
    took = [tokens for part in ends if isinstance(tokens := part.get("tokens"), dict)]
    caches = [cache for tokens in took if isinstance(cache := tokens.get("cache"), dict)]
    fresh, read, written = _sum(took, "input"), _sum(caches, "read"), _sum(caches, "write")
    whole = None if fresh is None else fresh + (read or 0) + (written or 0)
    # OpenCode reports 0 for a model whose prices it does not know.
    cost = sum(dollars for part in ends if (dollars := _dollars(part.get("cost")))) or None
    return Answer("\n\n".join(last), model, cost, whole, _sum(took, "output", "reasoning"), read)


def _failed(model: str, told: object) -> AgentFailed:
    """The error that a client reported: a text, or an object with a message somewhere in it."""
    for name in ("data", "message", "name"):
        if isinstance(told, dict):
            told = told.get(name, told)
    why = printable(told) if isinstance(told, str) else ""
    return AgentFailed(f"{model}: it ended in an error{': ' if why else ''}{why}")


def _dollars(cost: object) -> float | None:
    return float(cost) if isinstance(cost, int | float) and _is_number(cost) else None


def _sum(rows: list[dict[str, Any]], *names: str) -> int | None:
    found = [count for row in rows if (count := _count(row, *names)) is not None]
    return sum(found) if found else None


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    """The sum of the counts that are there."""
    found = [usage[name] for name in names if isinstance(usage.get(name), int) and _is_number(usage[name])]
    return sum(found) if found else None


def _is_number(value: object) -> bool:
    """Whether it counts something: not JSON's `NaN`, `Infinity`, or an integer that nobody can keep."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST


_FENCE = late_pattern(r"^[ \t]*```+[ \t]*(?:json)?[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_LONGEST = 100_000
"""Code points of an answer that are looked at."""
_MOST_TRIES = 50


def objects_in(answer: str) -> Iterator[Mapping[str, object]]:
    """The JSON objects in an answer, those in a fence before all others; each may come twice."""
    answer = answer[:_LONGEST]
    for place in (*(found[1] for found in _FENCE.finditer(answer)), answer):
        yield from _objects(place)


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        try:
            row, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield row
        at = text.find("{", end)
