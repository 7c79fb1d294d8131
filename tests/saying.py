"""An agent that answers with a given text."""

from __future__ import annotations

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
