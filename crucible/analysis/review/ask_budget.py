"""How much text from elsewhere a prompt may show: the user's `agents.budget_tokens`, counted with the user's tokenizer."""

from __future__ import annotations

from typing import NamedTuple

from crucible.core.settings.settings import AgentSettings
from crucible.core.tokens import Counter, Estimate, counter_of
from crucible.documents.markdown.quoting import shorten

_WIDEST = 16
"""The most code points that a token may have; longer texts are cut before they are counted."""


class Budget(NamedTuple):
    """The tokens of records, sessions and descriptions that one prompt may show."""

    tokens: int = AgentSettings().budget_tokens
    counter: Counter = Estimate()

    def fit(self, text: str, parts: int = 1) -> str:
        """The text, or its head and tail, within the budget, or within one of `parts` equal shares of it.  Redact first: half a secret is not found."""
        most = max(1, self.tokens // max(1, parts))
        limit = min(len(text), most * _WIDEST)
        while (count := self.counter.count(found := shorten(text, limit))) > most:
            limit = min(limit - 1, limit * most // count)
            if limit <= 0:
                return ""
        return found


BUDGET = Budget()
"""The default budget."""


def budget_of(settings: AgentSettings) -> Budget:
    """The user's budget.  Raises `CrucibleError` if the tokenizer cannot be loaded."""
    return Budget(settings.budget_tokens, counter_of(settings.tokenizer))
