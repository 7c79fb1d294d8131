"""Failures with what mended them, ways of doing, and evidence, told into a session."""

from __future__ import annotations

from crucible.session.model import Callout, Failure
from tests.capture.planted.filler import follow_up, look
from tests.capture.planted.plot import Plot, keywords
from tests.capture.planted.truth import Band, Kind
from tests.capture.planted.words_failures import Failing
from tests.capture.planted.words_patterns import Api

__all__ = ["call_api", "draw", "fail", "lone", "practise", "prove"]


# --- failures --------------------------------------------------------------------------------------------------------


def draw(plot: Plot) -> tuple[str, Failing] | None:
    """A failure that this session's language knows and that was not told yet: its cause as it is worded, and with names put in."""
    chosen = plot.pick(
        "failing", plot.book.failures, lambda one: not one.stacks or plot.stack.key in one.stacks.split()
    )
    if chosen is None:
        return None
    texts = (chosen.command, chosen.out, chosen.cause, chosen.passes, chosen.instead)
    command, out, cause, passes, instead = map(plot.fill, texts)
    return chosen.cause, Failing(chosen.stacks, command, out, cause, passes, instead, chosen.code)


def fail(plot: Plot) -> bool:
    """A command fails and is mended: at once, after some tries, by another command, later, or without being run again."""
    drawn = draw(plot)
    if drawn is None:
        return False
    cause, failing = drawn
    plot.talking = True
    rng, language = plot.rng, plot.language
    form = (
        "another-command"
        if failing.instead
        else rng.choices(["mended", "callout", "later", "unchecked"], [52, 20, 18, 10])[0]
    )
    first = plot.trunk.shell(failing.command, failing.out, failing.code).step
    end = first
    if form in ("mended", "callout"):
        _try(plot, failing)
    if form == "later":
        for beat in rng.choices([look, follow_up], [80, 20], k=rng.randrange(1, 4)):
            beat(plot)
    start = len(plot.trunk.steps)
    wording = plot.one_of(plot.book.causes[language])
    said = plot.fill(wording, {"cause": failing.cause})
    if form == "callout" or (failing.instead and rng.random() < 0.25):
        wording = "[!error]"
        plot.trunk.told(Failure(failing.out.strip().split("\n")[-1].strip()[:160], f"{failing.cause}."))
    else:
        plot.utter(said, language)
    last = _mend(plot, failing, form)
    ranges = [(first, end), (start, last)] if form == "later" else [(first, last)]
    band = Band.PROMPT if form == "unchecked" else Band.PRESELECTED
    plot.keep(
        Kind.FAILURE, form, *ranges, terms=keywords(failing.command, failing.out, failing.cause, failing.instead), band=band, language=language,
        wordings=(wording, cause),
    )  # fmt: skip
    return True


def _try(plot: Plot, failing: Failing) -> None:
    """What did not help."""
    for _ in range(plot.rng.choices([0, 1, 2], [68, 22, 10])[0]):
        plot.trunk.say(plot.any_of(plot.book.guesses))
        plot.edit()
        plot.trunk.shell(failing.command, failing.out, failing.code)


def _mend(plot: Plot, failing: Failing, form: str) -> int:
    """What did; the last step."""
    if failing.instead:
        return plot.trunk.shell(failing.instead, failing.passes).step
    changed = plot.edit().step
    return changed if form == "unchecked" else plot.trunk.shell(failing.command, failing.passes).step


def lone(plot: Plot) -> bool:
    """An `[!error]` with its resolution that no failed call goes before."""
    chosen = plot.pick("lone", plot.book.lone)
    if chosen is None:
        return False
    text, resolution = map(plot.fill, chosen)
    step = plot.trunk.told(Failure(text, f"{resolution}."))
    plot.keep(
        Kind.FAILURE,
        "callout-only",
        (step, step),
        terms=keywords(text, resolution),
        band=Band.PROMPT,
        wordings=(chosen[0],),
    )
    return True


# --- ways of doing ---------------------------------------------------------------------------------------------------


def practise(plot: Plot) -> bool:
    """What is worth doing again, in a sentence or as an observation."""
    drawn = plot.row("practice", plot.book.practices)
    if drawn is None:
        return False
    language, (do, where) = drawn
    slots = {"do": plot.fill(do), "where": plot.fill(where)}
    wording = plot.one_of(plot.book.wordings[language])
    text = plot.fill(wording, slots)
    form = plot.rng.choices(["prose", "observation"], [80, 20])[0]
    step = (
        plot.utter(text, language) if form == "prose" else plot.trunk.told(Callout("observation", "", text))
    )
    plot.keep(
        Kind.PATTERN,
        form,
        (step, step),
        terms=keywords(slots["do"], slots["where"]),
        band=Band.PROMPT,
        language=language,
        wordings=(wording,),
    )
    return True


def call_api(plot: Plot) -> bool:
    """Code that calls an API outside, which whole events tell."""
    api = plot.pick("api", plot.book.apis) if plot.has_flight and plot.stack.key in plot.book.calls else None
    if api is None:
        return False
    wiring = plot.one_of(plot.book.wirings)
    first = plot.trunk.say(plot.fill(wiring, {"api": api.name})) if wiring else None
    last = _code(plot, api)
    plot.keep(
        Kind.PATTERN, "api", (last if first is None else first, last), terms=tuple(dict.fromkeys((api.name.casefold(), *api.module.split("_")))),
        band=Band.PROMPT, wordings=(api.name, wiring), unseen=True,
    )  # fmt: skip
    return True


def _code(plot: Plot, api: Api) -> int:
    """A file is written, or a line put into one."""
    plot.talking = True
    call = plot.fill(plot.one_of(plot.book.calls[plot.stack.key]), {"host": api.host, "path": api.path})
    path = plot.stack.source.format(mod=api.module)
    if plot.rng.random() < 0.65:
        before = [f"line {n} of {plot.names.mod}" for n in range(plot.rng.randrange(3, 30))]
        return plot.trunk.write(path, "\n".join([*before, f"    {call}", "    done"])).step
    return plot.edit(path, f"    {plot.names.func}\n    {call}").step


# --- evidence --------------------------------------------------------------------------------------------------------


def prove(plot: Plot) -> bool:
    """A claim, the run that was made for it, and what that shows."""
    drawn = plot.row("proof", plot.book.proofs)
    if drawn is None:
        return False
    language, row = drawn
    claim, command, out = map(plot.fill, row)
    form = plot.rng.choices(["claimed-and-proven", "proven", "claimed", "milestone"], [48, 26, 12, 14])[0]
    steps, wordings = [], []
    if form in ("claimed-and-proven", "claimed"):
        wordings.append(plot.one_of(plot.book.claimed[language]))
        steps.append(plot.utter(plot.fill(wordings[-1], {"claim": claim}), language))
    plot.talking = True
    steps.append(plot.trunk.shell(command, out).step)
    if form != "claimed":
        wordings.append(plot.one_of(plot.book.proven[language]))
        text = plot.fill(wordings[-1], {"claim": claim})
        steps.append(
            plot.trunk.told(Callout("milestone", "", text))
            if form == "milestone"
            else plot.utter(text, language)
        )
    plot.keep(
        Kind.EVIDENCE,
        form,
        (steps[0], steps[-1]),
        terms=keywords(claim, command),
        language=language,
        wordings=tuple(wordings),
    )
    return True
