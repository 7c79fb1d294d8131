"""The section on knowledge: what recall is asked, and what of its answers is told.

Owns the question: at most ten words of the recent work, the most frequent first, and the fixed ones of the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache

from crucible.briefing.model import Item, Rank, Section
from crucible.briefing.quoting import Quoter
from crucible.knowledge.shelving import ItemShelf
from crucible.patterns import late_pattern
from crucible.recall.model import Hit, Kind, Question, Recall
from crucible.recall.stopping import STOP_WORDS

__all__ = ["MOST_WORDS", "Type", "keywords", "knowledge_section", "types_on"]

MOST_WORDS, MOST_ITEMS = 10, 5
_WORD = late_pattern(r"[^\W\d_][\w-]{2,40}")
_NOT_TOLD = STOP_WORDS | frozenset(
    {"add", "use", "new", "fix", "make", "made", "also", "done", "get", "set", "one"}
)
_WANTED = frozenset({"decision", "evidence", "pattern"})
"""Types of items that are told."""
_RANKS = {"decision": Rank.DECISION}
_TEXT = 220

Type = Callable[[Hit], str]
"""The type of a hit's item of knowledge, "" where nobody knows it."""


def keywords(texts: Iterable[str], most: int = MOST_WORDS) -> str:
    """The words that tell most of these texts: the most frequent ones, in the order in which they stand."""
    count: Counter[str] = Counter()
    for text in texts:
        count.update([*dict.fromkeys(word.casefold() for word in _WORD.findall(text[:2000]))])
    told = [word for word in count if word not in _NOT_TOLD and not word.startswith("cru-")]
    chosen = set(sorted(told, key=lambda word: -count[word])[:most])
    return " ".join(word for word in told if word in chosen)


def knowledge_section(
    recall: Recall,
    queries: Sequence[str],
    *,
    project: str,
    now: datetime,
    type_of: Type,
    told: Collection[str],
    quoter: Quoter,
) -> Section:
    """The best of what recall finds for each question, in turns, each once; sessions in `told` are told of elsewhere."""
    answers = [
        _ask(recall, query, project, now, type_of) for query in dict.fromkeys(queries) if query.strip()
    ]
    items: dict[str, Item] = {}
    for hit, type_ in _in_turns(answers):
        if len(items) < MOST_ITEMS and hit.event.session not in told:
            items.setdefault(hit.event.id, Item(_told(hit, type_, quoter), _RANKS.get(type_, Rank.LESSON)))
    return Section("recall", "Relevant knowledge", tuple(items.values()))


def _ask(recall: Recall, query: str, project: str, now: datetime, type_of: Type) -> list[tuple[Hit, str]]:
    question = Question(
        query,
        kinds=frozenset((Kind.KNOWLEDGE, Kind.DECISION)),
        project=project,
        limit=2 * MOST_ITEMS,
        context=0,
    )
    found = []
    for hit in recall.ask(question, now).hits:
        type_ = "decision" if hit.event.kind is Kind.DECISION else type_of(hit)
        if type_ in _WANTED or not type_:
            found.append((hit, type_))
    return found


def _in_turns(answers: Sequence[Sequence[tuple[Hit, str]]]) -> Iterator[tuple[Hit, str]]:
    for place in range(max(map(len, answers), default=0)):
        yield from (answer[place] for answer in answers if place < len(answer))


def _told(hit: Hit, type_: str, quoter: Quoter) -> str:
    event = hit.event
    title = f"{quoter.line(event.title, 120)}: " if event.title else ""
    return f"{type_ or 'knowledge'}: {title}{quoter.line(event.text, _TEXT)} ({quoter.line(event.id, 150)})"


def types_on(shelf: ItemShelf) -> Type:
    """Asks the shelf once, when the first item is found; "" for what it does not have."""

    @cache
    def known() -> dict[str, str]:
        return {path: facts.type for path, (_, facts) in shelf.shelved().items()}

    def type_of(hit: Hit) -> str:
        return known().get(hit.path, "")

    return type_of
