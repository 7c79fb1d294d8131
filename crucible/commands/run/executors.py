"""Which program runs which step, as `--with` says.

A workflow never starts a program by itself: its `@agent` is a role that the user may give to one.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crucible.clients.launch.start import command_line
from crucible.clients.registry import RESUMABLE, client_of
from crucible.commands.run.jobs import Job
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import slug
from crucible.documents.session.session import AgentRef

_NAMES = ", ".join(RESUMABLE)
_ASSIGNMENT = late_pattern(r"(@?)([\w.:/+-]+(?:@[\w.:/+-]+)?)=(.*)", 16)  # re.DOTALL


class Executor(NamedTuple):
    """A program that gets a step's prompt on standard input; `agent` is its name in notes."""

    agent: AgentRef
    words: tuple[str, ...]
    hint: str


@dataclass(frozen=True, slots=True)
class Executors:
    """The program for each step: `by_agent` by the casefolded name of the step's agent, else `default`."""

    default: Executor | None = None
    by_agent: Mapping[str, Executor] = field(default_factory=dict)

    def executor(self, job: Job) -> Executor | None:
        """The program for a step, None if none was named."""
        agent = job.step.agent
        if agent:
            for name in (str(agent), agent.name):
                if name.casefold() in self.by_agent:
                    return self.by_agent[name.casefold()]
        return self.default

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise `UsageError` if a step has no program."""
        alone = [job.step.name for job in jobs if self.executor(job) is None]
        if alone:
            names = ", ".join(f"“{name}”" for name in alone[:5]) + (" …" if len(alone) > 5 else "")
            raise UsageError(
                f"nobody is named who carries out {names}",
                f"--with {_NAMES} or a command; or agents.command in your settings",
            )

    def used(self, jobs: Sequence[Job]) -> list[Executor]:
        """The programs for these steps, each once."""
        found = {executor.words: executor for job in jobs if (executor := self.executor(job))}
        return [*found.values()]


def choose_executors(named: Sequence[str], command: str, roles: Collection[str], more: Sequence[str]) -> Executors:
    """Parse `--with CLIENT` and `--with AGENT=CLIENT`; `command` is the default of the settings.

    `roles` are the agents of the steps, with and without a version; `more` are arguments for every program.
    """
    default: Executor | None = None
    by_agent: dict[str, Executor] = {}
    known = {role.casefold() for role in roles}
    for text in named:
        part = _ASSIGNMENT.fullmatch(text.strip())
        if part:
            if part[2].casefold() not in known:
                listed = ", ".join(f"@{role}" for role in sorted(roles)[:10])
                hint = f"its agents are {listed}" if listed else "no step of it names an agent"
                raise UsageError(f"--with {text}: no step that is carried out is @{part[2]}'s", hint)
            by_agent[part[2].casefold()] = _executor(part[3], more)
        elif default:
            raise UsageError("--with names two programs for all steps", "--with AGENT=CLIENT names one for some")
        else:
            default = _executor(text, more)
    if default is None and command.strip():
        default = _executor(command, more)
    return Executors(default, by_agent)


def _executor(named: str, more: Sequence[str]) -> Executor:
    client = client_of(named.strip())
    if client:
        # The user's own arguments come last, so that they win.
        words = command_line(client, native="", prompt="", terminal=False, more=(*client.counted, *more))
        hint = f"`npm install -g {client.package}` installs it; --with takes {_NAMES}, or a command"
        return Executor(AgentRef(client.name), tuple(words), hint)
    try:
        split = tuple(shlex.split(named))
    except ValueError as error:
        raise UsageError(f"{named!r}: no command line ({error})", "quote it as for a shell") from None
    if not split:
        raise UsageError("--with: it is empty", f"name {_NAMES}, or a command line")
    program = os.path.basename(split[0])
    known = client_of(program)
    agent = AgentRef(known.name if known else slug(program, "agent") or "agent")
    return Executor(agent, (*split, *more), f"--with takes {_NAMES}, or a command line that is there")
