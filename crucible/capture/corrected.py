"""Self-corrections: the agent takes back what it stated before, and says what holds.

Owns from where on a sentence is one; how much it leans there is `leanings`' to say.  What a failed call or a user's word made it say is no
self-correction; who sees those (`detecting`) leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from crucible.capture.leanings import Leaning, Told, leanings
from crucible.capture.sentences import Sentence, content_words
from crucible.capture.unsettled import is_void
from crucible.patterns import late_pattern

__all__ = ["Earlier", "corrected_in", "takes_back"]

Earlier = Callable[[], Iterable[frozenset[str]]]
"""The content words of each sentence that was said before."""
_FEW, _SHARED = 4, 3
"""Content words of a sentence that may be compared, and those that it shares with what it takes back."""
_MOST = 0.6
"""The share of an earlier statement's content words that say it again."""
_ENOUGH, _PLAIN, _DOUBTFUL, _SAID_AGAIN = 0.45, 0.75, 0.3, 0.1
"""Chances from which on a sentence takes something back: by itself; without a mark of that, or where something speaks against it; where it is about what
was said before; where it says that again and something stands against it."""
_BEARS = frozenset(
    f"back {name}"
    for name in ("owns", "had said", "flatly", "wrong", "undoes", "erred", "mine", "told", "plainly")
)
"""Marks of which one is borne by nearly everything that takes something back."""
_AGAINST = frozenset({"could", "open", "others", "dropped", "back unsure", "back theirs"})
"""Marks of what takes nothing back."""
_DENIES = late_pattern(
    r"\b(?:not|no longer|never|neither|wrong\w*|false\w*|untrue|invalid|mistaken|incorrect\w*|withdraw\w*|retract\w*|contrary|void|revis\w+|amend\w*|correction|scratch|disregard|turns? out|rather|whereas|but)\b|n't\b"
    r"|\b(?:nicht|kein\w*|falsch\w*|sondern|aber|doch|irrtum|zurück\w*|berichtig\w*|korrektur)\b|\b(?:pas|plus|faux|fausse|mais|contraire|erreur|rectifi\w*|corrig\w*)\b|\b(?:no|falso|sino|pero|error|corrijo|rectifico)\b"
)
"""Words that stand against a statement."""


def corrected_in(leanings: Sequence[Leaning], earlier: Earlier | None = None) -> Iterator[Told]:
    """What an agent takes back in its words; of neighbours in a paragraph, the first.

    `earlier` gives the content words of each thing it said before in the session, and is only asked where a sentence is doubtful.
    """
    taken = (-1, -9)
    for one in leanings:
        said = one.sentence
        if not _takes_back(one, earlier) or not _says(said.plain, one.behind):
            continue
        is_new = taken[0] != said.paragraph or said.at - taken[1] > 1
        taken = (said.paragraph, said.at)
        if is_new:
            yield Told(said, 0.85, one.behind.text if one.behind else "")


def takes_back(one: Sentence) -> bool:
    """Whether a sentence by itself takes back what its speaker said before."""
    return _takes_back(leanings([one])[0], None)


def _takes_back(one: Leaning, earlier: Earlier | None) -> bool:
    chance = one.chances.back
    if earlier is not None and chance >= _SAID_AGAIN and _denies(one) and _says_again(one.sentence, earlier):
        return True
    if is_void(one.sentence) or chance < max(one.chances.choice, one.chances.way, _DOUBTFUL):
        return False
    if not _BEARS & one.marks or _AGAINST & one.marks:
        return chance >= _PLAIN
    return chance >= _ENOUGH or (earlier is not None and _is_about(one.sentence, earlier))


def _denies(one: Leaning) -> bool:
    """Whether a sentence, or how the one behind it begins, stands against something."""
    behind = one.behind.plain[:40] if one.behind else ""
    return bool(_DENIES.search(one.sentence.plain) or _DENIES.search(behind))


def _says_again(one: Sentence, earlier: Earlier) -> bool:
    """Whether a sentence holds most of what one said before; also one that asks, for who quotes himself often does."""
    about = content_words(one.text)
    return any(len(each) >= _SHARED and len(about & each) >= _MOST * len(each) for each in earlier())


def _is_about(one: Sentence, earlier: Earlier) -> bool:
    about = content_words(one.plain)
    return len(about) >= _FEW and any(len(about & each) >= _SHARED for each in earlier())


def _says(plain: str, behind: Sentence | None) -> bool:
    """Whether what holds is said as well: more than the bare admission."""
    return len(plain) > 40 or (behind is not None and len(behind.plain) > 8) or ":" in plain
