"""A session while it is told: who speaks and how, what was sown into it, and what is taken already.

Owns the voice, the choice of words, and how a sown thing gets its place in the note.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from crucible.note.source import Lines, Source
from crucible.session.drafts import Setting, session_of
from crucible.session.markup import render_session
from crucible.session.reading import read_session
from crucible.session.standing import Client as Standing
from crucible.session.titles import prompt_name
from crucible.vault.naming import slugify
from tests.capture.planted.books import FIFTH, FIRST, FOURTH, THIRD
from tests.capture.planted.places import lines_of
from tests.capture.planted.truth import Band, Generated, Kind, Noise, Planted, Reason
from tests.cases.planted.clients import CLIENTS
from tests.cases.planted.scribe import Made, Scribe
from tests.cases.planted.stacks import Names

__all__ = ["Plot", "keywords"]

T = TypeVar("T")
_AS_THEY_ARE = frozenset({"path", "folder", "slug", "secret", "host", "n1", "n3", "n4"})
"""Slots that are no words."""
_LATER = datetime(2027, 6, 1, tzinfo=UTC)
"""When everything was imported: long after the last session."""
_SMALL = frozenset(
    re.findall(
        r"\w+",
        """
        that this with from have does each only once every over into they them then than there when what which will would their
        after before same first last more most less must many never always both between until while where whole without also been
        gets goes keep keeps made make makes need needs take takes true used uses were works rows file files line lines code
        denn nicht eine einen einer sind wird werden jede jeder alle dass sonst eigene pour dans avec plus sont leur elle chaque
        python scripts tools tests test bench cargo pytest docker mean worst exit values value number numbers time times
        """,
    )
)
"""Words that say nothing of what something is about."""


def keywords(*texts: str) -> tuple[str, ...]:
    """The words that say something, in small letters, each once."""
    words = re.findall(r"[^\W_][\w-]{3,}", " ".join(texts).casefold())
    return tuple(dict.fromkeys(w for w in words if w not in _SMALL and not w.isdigit()))


@dataclass
class _Sown:
    """Something told from step to step, in one stretch or several; `make` gives it its place."""

    what: Kind | Reason
    form: str
    ranges: tuple[tuple[int, int], ...]
    terms: tuple[str, ...] = ()
    band: Band = Band.PRESELECTED
    language: str = "en"
    wordings: tuple[str, ...] = ()
    twins: frozenset[Kind] = frozenset()
    secret: str = ""
    unseen: bool = False
    """Terms may also stand in whole events only."""


@dataclass
class Plot:
    """All of a session while it is told."""

    rng: random.Random
    half: int | None = None
    """0 or 1: only every second wording and matter of the first book, so that some are unseen; None: all of these; 2: the third book; 3: the fourth; 4: the fifth."""
    id: str = ""
    sown: list[_Sown] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    talking: bool = False
    """A turn is under way."""

    def __post_init__(self) -> None:
        rng = self.rng
        self.book = {2: THIRD, 3: FOURTH, 4: FIFTH}.get(self.half or 0, FIRST)
        self.stack, self.client = rng.choice(self.book.stacks), rng.choice(CLIENTS)
        self.names = Names.draw(rng, self.stack)
        self.language = rng.choices([*self.book.languages], [*self.book.languages.values()])[0]
        self.voice = rng.choices(["plain", "terse", "talkative"], [55, 22, 23])[0]
        self.has_flight = rng.random() < 0.88
        start = datetime(2026, 1, 5, 8, tzinfo=UTC) + timedelta(minutes=rng.randrange(450_000))
        self.trunk = Scribe(rng, self.client, start, self.stack.project)

    # words

    def fill(self, text: str, slots: Mapping[str, str] | None = None) -> str:
        """Slots put in: the given ones, with a capital where one begins a sentence, then the session's names."""
        for name, value in (slots or {}).items():
            if name not in _AS_THEY_ARE:
                text = re.sub(rf"(^|[.!?] )<{name}>", lambda m, v=value: m[1] + v[:1].upper() + v[1:], text)  # type: ignore[misc]
            text = text.replace(f"<{name}>", value)
        return self.names.fill(text)

    def _open(self, rows: Sequence[T]) -> list[int]:
        """The places of those that this half of the words has; a table of three or less is not halved."""
        return [
            n for n in range(len(rows)) if self.half in {None, 2, 3, 4} or len(rows) < 4 or n % 2 == self.half
        ]

    def one_of(self, rows: Sequence[T]) -> T:
        """Any one."""
        return rows[self.rng.choice(self._open(rows))]

    def pick(self, what: str, rows: Sequence[T], fits: Callable[[T], bool] = lambda _: True) -> T | None:
        """One that fits and was not taken yet, None when all were."""
        free = [n for n in self._open(rows) if f"{what}:{n}" not in self.taken and fits(rows[n])]
        if not free:
            return None
        chosen = self.rng.choice(free)
        self.taken.add(f"{what}:{chosen}")
        return rows[chosen]

    def row(self, what: str, table: Mapping[str, Sequence[T]]) -> tuple[str, T] | None:
        """One in the session's language, else in English, with its language."""
        for language in dict.fromkeys((self.language, "en")):
            chosen = self.pick(f"{what}-{language}", table[language])
            if chosen is not None:
                return language, chosen
        return None

    def any_of(self, table: Mapping[str, Sequence[T]]) -> T:
        """One in the session's language."""
        return self.one_of(table[self.language])

    def voiced(self, text: str, language: str) -> str:
        """As this agent says it."""
        lowered = text[:1].lower() + text[1:] if text[1:2].islower() else text
        if self.voice == "terse":
            return lowered.removesuffix(".")
        if self.voice == "talkative" and self.rng.random() < 0.5:
            opener = self.rng.choice(self.book.openers[language])
            return opener + (text if opener.endswith(". ") else lowered)
        return text

    def utter(self, text: str, language: str) -> int:
        """Said by the agent, sometimes in the middle of a paragraph; the step."""
        told = self.voiced(text, language)
        if self.rng.random() < 0.25:
            told = f"{self.fill(self.rng.choice(self.book.before[language]))} {told}"
        if self.rng.random() < 0.2:
            told = f"{told}{'' if told[-1:] in '.!?' else '.'} {self.fill(self.rng.choice(self.book.after[language]))}"
        if self.rng.random() < 0.1:
            intro, last = self.any_of(self.book.intros), self.fill(self.any_of(self.book.after))
            told = f"{intro}\n\n- {self.fill(self.any_of(self.book.before))}\n- {told}\n- {last}"
        self.talking = True
        return self.trunk.say(told)

    def among(self, words: str, language: str) -> str:
        """A user's words, sometimes among others in a longer prompt."""
        if self.rng.random() >= 0.3:
            return words
        before, after = (
            self.fill(self.rng.choice(table[language]))
            for table in (self.book.user_before, self.book.user_after)
        )
        return f"{before} {words}{'' if words[-1:] in '.!?' else '.'} {after}"

    def mumble(self, table: Mapping[str, Sequence[str]]) -> None:
        """Something ordinary, or nothing."""
        text = self.fill(self.any_of(table))
        if text:
            self.talking = True
            self.trunk.say(text)

    # what happens

    def end_turn(self) -> None:
        """The agent is done, so that the next prompt begins a phase."""
        if self.talking:
            self.mumble(self.book.ends)
            self.trunk.answered()
        self.talking = False

    def ask(self, words: str) -> int:
        """The user's words, which begin a phase."""
        self.end_turn()
        return self.trunk.prompt(words)

    def edit(self, path: str = "", new: str = "") -> Made:
        """An ordinary change."""
        self.talking = True
        was = f"    {self.names.func}({self.names.field})"
        return self.trunk.edit(
            path or self.names.src,
            was,
            new or f"    {self.names.func}({self.names.field}, {self.rng.randrange(9)})",
        )

    def keep(self, kind: Kind, form: str, *ranges: tuple[int, int], **facts: object) -> None:
        """Something worth keeping, told by these stretches of steps; `facts` are `terms`, `band` and so on."""
        self.sown.append(_Sown(kind, form, ranges, **facts))  # type: ignore[arg-type]

    def distract(self, reason: Reason, form: str, *ranges: tuple[int, int], secret: str = "") -> None:
        """Something that is not."""
        self.sown.append(_Sown(reason, form, ranges, secret=secret))

    # what it comes to

    def begin(self, goal: str) -> None:
        """The first prompt names the session."""
        name = slugify(prompt_name(goal, 80))
        self.id = f"{self.trunk.now:%Y-%m-%d}-{name}-{self.rng.getrandbits(32):08x}"
        self.trunk.prompt(goal)

    def finish(self) -> Generated:
        """The note, the whole events and the truth."""
        draft, phases = self.trunk.fold()
        setting = Setting(
            self.id, self.trunk.source, _LATER, project=self.stack.project, client=Standing.UNKNOWN
        )
        text = render_session(session_of(draft, setting))
        session = read_session(Source(text), self.id)
        where = lines_of(self.trunk.steps, session, text, self.trunk.cwd)
        lines = text.split("\n")
        placed = [
            (sown, tuple(_span(where, *each) for each in sown.ranges), phases[sown.ranges[-1][0]])
            for sown in self.sown
        ]
        kept = self.trunk.kept(phases) if self.has_flight else ()
        return Generated(
            session, text, kept,
            tuple(_planted(sown, phase, spans, lines) for sown, spans, phase in placed if isinstance(sown.what, Kind)),
            tuple(Noise(sown.what, sown.form, phase, spans, sown.secret) for sown, spans, phase in placed if isinstance(sown.what, Reason)),
        )  # fmt: skip


def _span(where: Sequence[Lines | None], first: int, last: int) -> Lines:
    """From the first to the last line of these steps."""
    known = [lines for lines in where[first : last + 1] if lines is not None]
    return Lines(known[0].first, known[-1].end)


def _planted(sown: _Sown, phase: str, spans: tuple[Lines, ...], lines: list[str]) -> Planted:
    here = "\n".join(line for span in spans for line in lines[span.first : span.end]).casefold()
    terms = tuple(term for term in sown.terms if sown.unseen or term in here)
    kind = Kind(sown.what)
    return Planted(kind, sown.form, phase, spans, terms, sown.band, sown.language, sown.wordings, sown.twins)
