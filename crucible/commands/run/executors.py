"""Who carries a step out: whom the user named, and nobody else.

Owns reading `--with`, and that nothing a workflow says starts a program: its `@agent` is a part, which the user may give to somebody.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crucible.clients.launch.programs import CLIENTS, client_of, command_line
from crucible.commands.run.jobs import Job
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import slug
from crucible.documents.session.session import AgentRef

_NAMES = ", ".join(CLIENTS)
_ASSIGNMENT = late_pattern(r"(@?)([\w.:/+-]+(?:@[\w.:/+-]+)?)=(.*)", 16)  # re.DOTALL


class Executor(NamedTuple):
    """A program that is started for a step, told its prompt on standard input; `agent` is its name in a note."""

    agent: AgentRef
    words: tuple[str, ...]
    hint: str


@dataclass(frozen=True, slots=True)
class Executors:
    """Who carries out which steps: `parts` by the name of the step's agent, `everybody` else; None for nobody."""

    everybody: Executor | None = None
    parts: Mapping[str, Executor] = field(default_factory=dict)

    def player(self, job: Job) -> Executor | None:
        """Who carries a step out."""
        agent = job.step.agent
        if agent:
            for name in (str(agent), agent.name):
                if name.casefold() in self.parts:
                    return self.parts[name.casefold()]
        return self.everybody

    def check(self, jobs: Sequence[Job]) -> None:
        """`UsageError` when somebody is missing."""
        alone = [job.step.name for job in jobs if self.player(job) is None]
        if alone:
            names = ", ".join(f"“{name}”" for name in alone[:5]) + (" …" if len(alone) > 5 else "")
            raise UsageError(
                f"nobody is named who carries out {names}",
                f"--with {_NAMES} or a command; or agents.command in your settings",
            )

    def players(self, jobs: Sequence[Job]) -> list[Executor]:
        """Everybody who carries something out, each once."""
        found = {player.words: player for job in jobs if (player := self.player(job))}
        return [*found.values()]


def choose_executors(named: Sequence[str], command: str, roles: Collection[str], more: Sequence[str]) -> Executors:
    """What `--with CLIENT` and `--with AGENT=CLIENT` say; `command` is the settings' for whom they do not name.

    `roles` are the agents of the steps that are carried out, with and without a version; `more` arguments for every program.
    """
    everybody: Executor | None = None
    parts: dict[str, Executor] = {}
    known = {role.casefold() for role in roles}
    for text in named:
        part = _ASSIGNMENT.fullmatch(text.strip())
        if part:
            if part[2].casefold() not in known:
                listed = ", ".join(f"@{role}" for role in sorted(roles)[:10])
                hint = f"its agents are {listed}" if listed else "no step of it names an agent"
                raise UsageError(f"--with {text}: no step that is carried out is @{part[2]}'s", hint)
            parts[part[2].casefold()] = _executor(part[3], more)
        elif everybody:
            raise UsageError("--with names two programs for all steps", "--with AGENT=CLIENT names one for some")
        else:
            everybody = _executor(text, more)
    if everybody is None and command.strip():
        everybody = _executor(command, more)
    return Executors(everybody, parts)


def _executor(named: str, more: Sequence[str]) -> Executor:
    client = client_of(named.strip())
    if client:
        # The tokens are not worth more than what the user asks the client for: that stands last.
        words = command_line(client, native="", prompt="", terminal=False, more=(*client.counted, *more))
        hint = f"`npm install -g {client.package}` installs it; --with takes {_NAMES}, or a command"
        return Executor(AgentRef(client.source), tuple(words), hint)
    try:
        split = tuple(shlex.split(named))
    except ValueError as error:
        raise UsageError(f"{named!r}: no command line ({error})", "quote it as for a shell") from None
    if not split:
        raise UsageError("--with: it is empty", f"name {_NAMES}, or a command line")
    program = os.path.basename(split[0])
    known = client_of(program)
    agent = AgentRef(known.source if known else slug(program, "agent") or "agent")
    return Executor(agent, (*split, *more), f"--with takes {_NAMES}, or a command line that is there")
