"""Tell words from random text: how much more likely a text is as a word or identifier than as random characters.

The model consists of a table of letter pairs, and one of changes between lower case, upper case and digits.  Both were
counted over the distinct words in the Python standard library, installed packages and npm.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import pairwise

_PAIRS = (
    "?988?=9C:E=687F:E675;>>><B"  # a
    "6::;6;@?7:B5=>7=E99=7BC@:A"  # b
    "6>;=6=C6:G89>A5=D9<6:ABE=G"  # c
    "7;<93<>A5AA9>>8>C:9=:@A@=G"  # d
    "9=87;:<B?DA9:6?;=568@;>8=E"  # e
    "7<;;77AA4HD8?>6?D9::8EAC<H"  # f
    "9@=?3?;97JG9<89=F78;9@AD=?"  # g
    "4B@>4?D@6K@<<?5?G9<8:BBC<D"  # h
    ";;89:;9GCJ@8947;C:77D;G=I;"  # i
    "6B==4>BD9@>?@>6;A@5?6A;K@K"  # j
    "8>=;2=;>6AA:?;;<A=6<;@;H=E"  # k
    "7?>94>@C5F@7A@6>I@:9:>CD9D"  # l
    "4:>=4@BD7G@<:?76CA9=:ACE=F"  # m
    "8@877:6A9B<=?;8<D@75<;CF?D"  # n
    "<;98@=<C<A<884:8G5:98;:>BC"  # o
    "5A>=5@@<9G@7?A69?6;89@AB:H"  # p
    ">@;<==?B?FB8=<@<=:9=1>@DEF"  # q
    "6?:;4>;D7I<;:<6>E988;=AG;J"  # r
    ":A9?5?@97F=<>?88@?748@?D:G"  # s
    "6A;>4>B85HD<>@7<E79:;B?C8A"  # t
    ":9:;8;;D9JD785=8K676ACHAFC"  # u
    "4@=B2A@C5PG@>@:AJ?<>?CCCAG"  # v
    "5@><6?@85F>;@76>E78=AC?AII"  # w
    ";=7<5<A>7IO<;?=5B>;4@@C;:A"  # x
    ";<;<9>=B:DF896;3O<77A?<A?>"  # y
    "7@@?2>F>6L@<<?9=D=:==L?F;<"  # z
    "887888;;9?>:9;:8@9799<<;BA"  # the start of a word
)
"""For each previous letter (a to z, then the start of a word), each letter's surprise: half bits above `0`."""

_COST = [[(ord(sign) - 48) / 2 for sign in _PAIRS[at : at + 26]] for at in range(0, len(_PAIRS), 26)]
_START, _LOWER, _UPPER, _DIGIT = range(4)
_CHANGE = ((18.2, 1.0, 1.6, 2.6), (3.0, 0.3, 4.2, 6.2), (2.9, 1.4, 1.2, 3.7), (2.2, 3.5, 1.9, 1.2))
"""Bits of surprise, by the kind of a character and of the next one."""

_CHANCE = 5.95
"""Bits of surprise of a random character out of 62."""

_OF_DIGIT = 3.32
_LONGEST = 128


@lru_cache(maxsize=8192)
def likeness(text: str) -> float:
    """Return the bits in favour of words; below 0, random text is more likely.  Other characters start a new word."""
    total, kind, last = 0.0, _START, 26
    text = text[:_LONGEST]
    for sign in text.lower() if text.isupper() else text:
        if sign.isdigit():
            total += _CHANCE - _CHANGE[kind][_DIGIT] - _OF_DIGIT
            kind, last = _DIGIT, 26
        elif "a" <= sign <= "z" or "A" <= sign <= "Z":
            now = _LOWER if sign >= "a" else _UPPER
            letter = ord(sign.lower()) - 97
            before = 26 if kind == _LOWER and now == _UPPER else last  # a capital starts a word
            total += _CHANCE - _CHANGE[kind][now] - _COST[before][letter]
            kind, last = now, letter
        else:
            kind, last = _START, 26
    return total


def entropy(text: str) -> float:
    """Return the entropy in bits per character, from the text's own character frequencies."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if total else 0.0


def changes(text: str) -> int:
    """Count how often the kind of character changes: lower, upper, digit, other."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() else "o" for c in text]
    return sum(a != b for a, b in pairwise(kinds))
