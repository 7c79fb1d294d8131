"""Agents that answer as a test says: with given texts, or by a program."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from crucible.clients.client import Answer
from crucible.core.errors import AgentFailed


class Says:
    """Answers with these texts, one after the other; an exception is raised."""

    def __init__(self, *answers: str | AgentFailed, model: str = "it") -> None:
        self.answers, self.prompts = list(answers), list[str]()
        self._model = model

    def ask(self, prompt: str) -> Answer:
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, AgentFailed):
            raise answer
        return Answer(answer, self._model)


def program(tmp_path: Path, script: str) -> str:
    """The command line of a program that has the prompt in `said`."""
    path = tmp_path / "agent.py"
    path.write_text(f"import sys, json\nsaid = sys.stdin.read()\n{script}\n", encoding="utf-8")
    return shlex.join([sys.executable, str(path)])
