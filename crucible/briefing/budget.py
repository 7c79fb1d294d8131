"""What of a briefing fits into a budget.

Owns what is left out first: the last item of the lowest rank that stands last, what has to do with the coming work after all else of its rank.
Where the work stands is no item, so it stays even where it alone is too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from crucible.briefing.model import Cut, Item, Rank, Section

__all__ = ["Fitted", "fit"]

Render = Callable[[Sequence[Section], Sequence[Cut]], str]


class Fitted(NamedTuple):
    """What is left, what is not, and the text of both."""

    sections: tuple[Section, ...]
    left_out: tuple[Cut, ...]
    text: str
    size: int


class _Place(NamedTuple):
    section: int
    item: int


def fit(
    sections: Sequence[Section],
    render: Render,
    size_of: Callable[[str], int],
    budget: int,
    fewer: Callable[[str], bool] | None = None,
) -> Fitted:
    """As many items as the budget holds; `size_of` measures the rendered text, `fewer` may ask for less of it all the same."""
    order = _order(sections)

    def fitted(count: int) -> Fitted:
        kept, left_out = _without(sections, order[:count])
        text = render(kept, left_out)
        return Fitted(kept, left_out, text, size_of(text))

    def is_good(one: Fitted) -> bool:
        return one.size <= budget and not (fewer and fewer(one.text))

    best = fitted(0)
    low, high = 0, len(order)
    if is_good(best):
        return best
    while high - low > 1:  # `low` is too much
        middle = (low + high) // 2
        best = fitted(middle)
        low, high = (low, middle) if is_good(best) else (middle, high)
    # What was left out is told, so one item less may be a longer text: then the next smaller one is looked for.
    for count in range(high, len(order) + 1):
        best = fitted(count)
        if is_good(best):
            break
    return best


def _order(sections: Sequence[Section]) -> list[_Place]:
    """Every item, the one that goes first at the front."""
    places = [_Place(n, m) for n, section in enumerate(sections) for m in range(len(section.items))]

    def key(place: _Place) -> tuple[Rank, bool, int, int]:
        item = sections[place.section].items[place.item]
        return item.rank, item.related, -place.section, -place.item

    return sorted(places, key=key)


def _without(
    sections: Sequence[Section], gone: Sequence[_Place]
) -> tuple[tuple[Section, ...], tuple[Cut, ...]]:
    lost = set(gone)
    kept: list[Section] = []
    count: Counter[Rank] = Counter()
    for n, section in enumerate(sections):
        items: list[Item] = []
        if section.more and section.items:
            count[section.items[-1].rank] += section.more
        for m, item in enumerate(section.items):
            if (n, m) in lost:
                count[item.rank] += 1
            else:
                items.append(item)
        if items:
            kept.append(section._replace(items=tuple(items)))
    return tuple(kept), tuple(
        Cut(rank.word if count[rank] > 1 else rank.name.lower(), count[rank]) for rank in sorted(count)
    )
