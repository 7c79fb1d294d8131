"""Records, decisions and self-corrections, told into a session."""

from __future__ import annotations

from collections.abc import Callable

from crucible.session.model import Callout, Decision
from crucible.transcript.events import PromptKind
from crucible.vault.naming import slugify
from tests.capture.planted.filler import look
from tests.capture.planted.plot import Plot, keywords
from tests.capture.planted.topics import Topic
from tests.capture.planted.truth import Band, Kind

__all__ = ["adr", "correct_self", "decide", "settle"]


def _topic(plot: Plot) -> tuple[str, Topic] | None:
    return plot.row("topic", plot.book.topics)


def _terms(topic: Topic, *more: str) -> tuple[str, ...]:
    return keywords(topic.what, topic.a, topic.b, *more)


# --- records ---------------------------------------------------------------------------------------------------------


def adr(plot: Plot) -> bool:
    """A record is written, changed, or made by the shell."""
    drawn = _topic(plot)
    if drawn is None:
        return False
    language, topic = drawn
    number = plot.rng.randrange(2, 60)
    folder = plot.one_of(plot.book.folders[language])
    slots = {
        **topic._asdict(), "slug": slugify(f"{topic.a} {topic.what}", 48), "title": f"{topic.a} for {topic.what}".replace("'", " "), "date": f"{plot.trunk.now:%Y-%m-%d}",
        "n1": str(number), "n3": f"{number:03}", "n4": f"{number:04}",
    }  # fmt: skip
    slots["path"] = plot.fill(folder, slots)
    slots["folder"] = slots["path"].rpartition("/")[0]
    announcement = plot.one_of(plot.book.announcements[language])
    first = plot.utter(plot.fill(announcement, slots), language) if announcement else None
    form, last = _record(plot, slots)
    ranges = [(last if first is None else first, last)]
    if form == "created" and plot.rng.random() < 0.2:
        look(plot)
        again = plot.trunk.edit(slots["path"], "proposed", "accepted").step
        ranges.append((again, again))
    wordings = (folder, announcement)
    plot.keep(
        Kind.ADR, form, *ranges, terms=_terms(topic, slots["slug"].replace("-", " ")),
        language=language, wordings=wordings, twins=frozenset({Kind.DECISION}),
    )  # fmt: skip
    return True


def _record(plot: Plot, slots: dict[str, str]) -> tuple[str, int]:
    """How the file came to be, and the step."""
    form = plot.rng.choices(["created", "changed", "shell"], [58, 24, 18])[0]
    path, body = slots["path"], plot.fill(plot.one_of(plot.book.bodies), slots)
    plot.talking = True
    if form == "created":
        return form, plot.trunk.write(path, body).step
    if form == "changed":
        before, after = plot.rng.choice(
            [("proposed", "accepted"), ("accepted", "superseded"), ("- none", f"- {slots['why']}")]
        )
        return form, plot.trunk.edit(path, before, after).step
    command, out = plot.one_of(plot.book.shell)
    return form, plot.trunk.shell(plot.fill(command, slots), plot.fill(out, slots)).step


# --- decisions -------------------------------------------------------------------------------------------------------


def decide(plot: Plot) -> bool:
    """The agent settles something: in a sentence, as a callout, or both."""
    drawn = _topic(plot)
    if drawn is None:
        return False
    language, topic = drawn
    form = plot.rng.choices(["prose", "bare", "callout", "both"], [48, 12, 28, 12])[0]
    steps, wordings, texts = [], [], []
    if form != "callout":
        wordings.append(plot.one_of((plot.book.bare if form == "bare" else plot.book.sentences)[language]))
        texts.append(plot.fill(wordings[-1], topic._asdict()))
        steps.append(plot.utter(texts[-1], language))
    if form in ("callout", "both"):
        wordings.append(plot.one_of(plot.book.callouts[language]))
        texts.append(plot.fill(wordings[-1], topic._asdict()))
        rationale = f"{topic.why}." if plot.rng.random() < 0.8 else None
        steps.append(plot.trunk.told(Decision(texts[-1], rationale)))
    bands = {"prose": Band.PROMPT, "bare": Band.PROPOSED}
    plot.keep(
        Kind.DECISION, form, (steps[0], steps[-1]), terms=_terms(topic, topic.why), band=bands.get(form, Band.PRESELECTED), language=language, wordings=tuple(wordings),
    )  # fmt: skip
    if plot.rng.random() < 0.5:
        plot.edit()
    return True


def settle(plot: Plot) -> bool:
    """The user settles something: of their own accord, while the agent works, or as an answer."""
    drawn = _topic(plot)
    if drawn is None:
        return False
    language, topic = drawn
    form = plot.rng.choices(["user", "user-midway", "user-answer"], [50, 20, 30])[0]
    if form == "user-answer":
        ranges, wordings = _answered(plot, language, topic)
    else:
        wordings = (plot.one_of(plot.book.users[language]),)
        words = plot.among(plot.fill(wordings[0], topic._asdict()), language)
        step = plot.ask(words) if form == "user" else plot.trunk.prompt(words, PromptKind.STEERING)
        ranges = [(step, step)]
    plot.keep(
        Kind.DECISION, form, *ranges, terms=_terms(topic, topic.why), language=language, wordings=wordings
    )
    plot.mumble(plot.book.acks)
    plot.edit()
    return True


def _answered(plot: Plot, language: str, topic: Topic) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    rng = plot.rng
    first, second = rng.sample([topic.a, topic.b], 2)
    is_first = first == topic.a
    slots = {
        **topic._asdict(),
        "first": first,
        "second": second,
        "place": "first" if is_first else "second",
        "number": "1" if is_first else "2",
    }
    question, answer = plot.one_of(plot.book.questions[language]), plot.one_of(plot.book.answers[language])
    asked = plot.trunk.say(plot.fill(question, slots))
    plot.trunk.answered()
    plot.talking = False
    said = plot.trunk.prompt(plot.fill(answer, slots))
    return [(asked, asked), (said, said)], (question, answer)


# --- self-corrections ------------------------------------------------------------------------------------------------


def correct_self(plot: Plot, between: Callable[[Plot], object] = look) -> bool:
    """A statement, something else, and the statement taken back."""
    drawn = plot.row("claim", plot.book.claims)
    if drawn is None:
        return False
    language, (wrong, right) = drawn
    slots = {"wrong": plot.fill(wrong), "right": plot.fill(right)}
    stated = plot.utter(plot.fill(plot.one_of(plot.book.statements[language]), slots), language)
    for _ in range(plot.rng.choices([1, 2, 4], [60, 30, 10])[0]):
        between(plot)
    wording = plot.one_of(plot.book.retractions[language])
    text = plot.fill(wording, slots)
    form = plot.rng.choices(["prose", "observation"], [88, 12])[0]
    is_said = form == "prose"
    taken_back = plot.utter(text, language) if is_said else plot.trunk.told(Callout("observation", "", text))
    plot.keep(
        Kind.SELF_CORRECTION, form, (stated, stated), (taken_back, taken_back), terms=keywords(slots["right"], slots["wrong"]),
        language=language, wordings=(wording,),
    )  # fmt: skip
    if plot.rng.random() < 0.5:
        plot.edit()
    return True
