"""The section on knowledge: what recall is asked, and what of its answers is told.

Owns the question: at most ten words of the recent work, the most frequent first, and the fixed ones of the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from functools import cache
from itertools import chain, zip_longest

from crucible.commands.briefing.briefing_parts import Item, Rank, Section
from crucible.commands.briefing.facts import Fact
from crucible.commands.briefing.quoting import Quoter
from crucible.commands.briefing.sections import is_useful
from crucible.core.patterns import late_pattern
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.recall import Hit, Kind, Question, Recall
from crucible.search.stop_words import STOP_WORDS

MOST_WORDS, MOST_ITEMS = 10, 5
_WORD = late_pattern(r"[^\W\d_][\w-]{2,40}")
_NOT_TOLD = STOP_WORDS | frozenset({"add", "use", "new", "fix", "make", "made", "also", "done", "get", "set", "one"})
_WANTED = frozenset({"decision", "evidence", "pattern"})
"""Types of items that are told."""
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
    questions: Iterable[Question],
    now: datetime,
    *,
    type_of: Type,
    told: Collection[str],
    quoter: Quoter,
) -> Section:
    """The best of what recall finds for each question, in turns, each once; not of sessions in `told`."""
    answers = (recall.ask(question, now).hits for question in questions)
    items: dict[str, Item] = {}
    for hit in filter(None, chain.from_iterable(zip_longest(*answers))):
        event = hit.event
        type_ = "decision" if event.kind is Kind.DECISION else type_of(hit)
        if event.kind is Kind.DECISION and not is_useful(Fact(type_, event.text, event.session, why=event.text)):
            continue
        if len(items) < MOST_ITEMS and event.session not in told and (not type_ or type_ in _WANTED):
            title = f"{quoter.line(event.title, 120)}: " if event.title else ""
            text = f"{type_ or 'knowledge'}: {title}{quoter.line(event.text, _TEXT)} ({quoter.line(event.id, 150)})"
            rank = Rank.DECISION if type_ == "decision" else Rank.LESSON
            items.setdefault(event.id, Item(text, rank))
    return Section("recall", "Relevant knowledge", tuple(items.values()))


def question_of(query: str, project: str) -> Question:
    """What recall is asked for a query."""
    kinds = frozenset((Kind.KNOWLEDGE, Kind.DECISION))
    return Question(query, kinds=kinds, project=project, limit=2 * MOST_ITEMS, context=0)


def types_on(shelf: ItemShelf) -> Type:
    """Asks the shelf once, when the first item is found; "" for what it does not have."""

    @cache
    def known() -> dict[str, str]:
        return {path: facts.type for path, (_, facts) in shelf.shelved().items()}

    def type_of(hit: Hit) -> str:
        return known().get(hit.path, "")

    return type_of
