"""What must not be proposed, told into a session."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence

from crucible.session.model import Callout, Decision, Failure
from crucible.transcript.events import CallEnd
from tests.capture.planted.plot import Plot
from tests.capture.planted.proving import draw
from tests.capture.planted.truth import Reason
from tests.cases.planted.refusals import Refused

__all__ = ["DISTRACTIONS"]


def _slots(plot: Plot, language: str) -> dict[str, str]:
    """A question that is not settled in this session, as far as there are any left."""
    drawn = plot.row("topic", plot.book.topics)
    return (drawn[1] if drawn else plot.one_of(plot.book.topics[language]))._asdict()


def _said(reason: Reason) -> Callable[[Plot], bool]:
    def said(plot: Plot) -> bool:
        drawn = plot.row(f"prose-{reason}", plot.book.prose[reason])
        if drawn is None:
            return False
        language, wording = drawn
        text = plot.fill(wording, _slots(plot, language))
        if reason in (Reason.STORY, Reason.QUOTED) and plot.rng.random() < 0.1:
            step, form = plot.trunk.told(Callout("observation", "", text)), "observation"
        elif reason is Reason.NEGATED and plot.rng.random() < 0.08:
            step, form = plot.trunk.told(Decision(text)), "callout"
        else:
            step, form = plot.utter(text, language), "prose"
        plot.distract(reason, form, (step, step))
        if reason is Reason.ROUTINE:
            plot.edit()
        return True

    return said


def _asked(reason: Reason) -> Callable[[Plot], bool]:
    def asked(plot: Plot) -> bool:
        drawn = plot.row(f"prompt-{reason}", plot.book.prompts[reason])
        if drawn is None:
            return False
        step = plot.ask(plot.fill(drawn[1], _slots(plot, drawn[0])))
        plot.distract(reason, "prompt", (step, step))
        plot.mumble(plot.book.noted)
        return True

    return asked


def _put_off(plot: Plot) -> bool:
    """The agent asks, and the user does not settle it."""
    drawn = plot.row("topic", plot.book.topics)
    if drawn is None:
        return False
    language, topic = drawn
    slots = {**topic._asdict(), "first": topic.b, "second": topic.a}
    asked = plot.trunk.say(plot.fill(plot.one_of(plot.book.questions[language]), slots))
    plot.talking = True
    said = plot.ask(plot.fill(plot.one_of(plot.book.put_off[language]), slots))
    plot.distract(Reason.NEGATED, "put-off", (asked, asked), (said, said))
    plot.mumble(plot.book.noted)
    return True


# --- calls -----------------------------------------------------------------------------------------------------------


def _refused(plot: Plot, what: str, rows: Sequence[Refused]) -> Refused | None:
    one = plot.pick(what, rows)
    plot.talking = True
    return one and Refused(
        one.kind,
        plot.fill(one.command),
        plot.fill(one.out),
        one.code,
        plot.fill(one.instead),
        plot.fill(one.then),
    )


def _comment(plot: Plot, out: str, comments: Sequence[str], resolution: str) -> int:
    """A word on what failed, as a callout or a sentence; the last step."""
    if plot.rng.random() < 0.2:
        return plot.trunk.told(Failure(out.strip().split("\n")[-1][:160] or "no output", resolution))
    said = plot.fill(plot.one_of(comments))
    return plot.trunk.say(said) if said else plot.trunk.last


def _environment(plot: Plot) -> bool:
    one = _refused(plot, "environment", plot.book.environment)
    if one is None:
        return False
    first = plot.trunk.shell(one.command, one.out, one.code).step
    last = _comment(plot, one.out, plot.book.after_environment, plot.book.left_out)
    if one.instead:
        last = plot.trunk.shell(one.instead, one.then).step
    plot.distract(Reason.ENVIRONMENT, one.kind, (first, last))
    return True


def _transient(plot: Plot) -> bool:
    one = _refused(plot, "transient", plot.book.transient)
    if one is None:
        return False
    first = plot.trunk.shell(one.command, one.out, one.code).step
    if plot.rng.random() < 0.2:
        plot.trunk.shell(one.command, one.out, one.code)
    _comment(plot, one.out, plot.book.after_transient, plot.book.repeated)
    plot.distract(Reason.TRANSIENT, one.kind, (first, plot.trunk.shell(one.command, one.then).step))
    return True


def _expected(plot: Plot) -> bool:
    one = _refused(plot, "expected", plot.book.expected)
    if one is None:
        return False
    is_red = one.kind == "red"
    first = plot.trunk.say(plot.fill(plot.one_of(plot.book.first_red)) if is_red else plot.book.anything)
    last = plot.trunk.shell(one.command, one.out, one.code).step
    if is_red:
        plot.edit()
        last = plot.trunk.shell(one.command, one.then).step
    plot.distract(Reason.EXPECTED, one.kind, (first, last))
    return True


def _unresolved(plot: Plot) -> bool:
    drawn = draw(plot)
    if drawn is None:
        return False
    _, failing = drawn
    plot.talking = True
    first = plot.trunk.shell(failing.command, failing.out, failing.code).step
    if plot.rng.random() < 0.3:
        last = plot.trunk.told(Failure(failing.out.strip().split("\n")[-1][:160]))
    else:
        last = plot.trunk.say(plot.fill(plot.one_of(plot.book.given_up)))
    plot.distract(Reason.UNRESOLVED, "left", (first, last))
    return True


def _suite(plot: Plot) -> bool:
    plot.talking = True
    first = plot.trunk.shell(plot.stack.suite, plot.fill(plot.stack.ok.replace("{m}", "<m>"))).step
    said, form, last = plot.one_of(plot.book.after_suite), "suite", first
    if said and plot.rng.random() < 0.25:
        form, last = "milestone", plot.trunk.told(Callout("milestone", "", said))
    elif said:
        last = plot.trunk.say(said)
    plot.distract(Reason.ORDINARY_TEST, form, (first, last))
    return True


def _mention(plot: Plot) -> bool:
    plot.talking = True
    form = plot.rng.choice(["looked-up", "written", "address", "refused"])
    if form == "looked-up":
        command, out = plot.one_of(plot.book.mentions)
        step = plot.trunk.shell(plot.fill(command), plot.fill(out)).step
    elif form == "written":
        step = plot.trunk.write(*plot.one_of(plot.book.writes)).step
    elif form == "refused" and plot.client.writer:
        name, key = plot.client.writer
        used = plot.trunk.used(name, {key: plot.fill(plot.book.refused), "content": "# Draft"})
        step = plot.trunk.returned(used, plot.client.rejects, CallEnd.REJECTED).step
    else:
        form, step = "address", plot.edit(new=plot.fill(plot.one_of(plot.book.places))).step
    plot.distract(Reason.MENTION, form, (step, step))
    return True


# --- secrets ---------------------------------------------------------------------------------------------------------


def _made_up(plot: Plot) -> tuple[str, str]:
    """Something secret and itself; or the mark of one that was taken out, and nothing."""
    letters = string.ascii_letters + string.digits
    chance = "".join(plot.rng.choices(letters, k=36))
    made = plot.rng.choice(
        [
            "gh" + "p_" + chance,
            "sk-" + "ant-api03-" + chance,
            "AKIA" + chance[:16].upper(),
            f"{chance[:6]}!{chance[6:14]}#7",
            "xox" + "b-" + chance,
            "",
        ]
    )
    return (
        (made, made)
        if made
        else (
            plot.rng.choice(["[REDACTED:github-token]", "[REDACTED:password]", "[REDACTED:generic-api-key]"]),
            "",
        )
    )


def _secret(plot: Plot) -> bool:
    drawn = plot.pick("secret", plot.book.secret_callouts)
    if drawn is None:
        return False
    told, secret = _made_up(plot)
    text = plot.fill(drawn[0], {"secret": told}) if not drawn[0].startswith("<") else told
    form = plot.rng.choices(["callout", "prose", "prompt"], [50, 30, 20])[0]
    if form == "callout":
        step = plot.trunk.told(Decision(text, drawn[1]))
    else:
        step = plot.trunk.say(text) if form == "prose" else plot.ask(text)
    plot.talking = form != "prompt"
    plot.distract(Reason.SECRET, form, (step, step), secret=secret)
    return True


DISTRACTIONS: tuple[tuple[int, Callable[[Plot], bool]], ...] = (
    (12, _environment), (12, _transient), (7, _secret), (8, _said(Reason.STORY)), (3, _asked(Reason.STORY)), (8, _said(Reason.QUOTED)), (2, _asked(Reason.QUOTED)),
    (8, _said(Reason.HYPOTHETICAL)), (3, _asked(Reason.HYPOTHETICAL)), (8, _said(Reason.NEGATED)), (3, _asked(Reason.NEGATED)), (3, _put_off), (9, _said(Reason.ROUTINE)),
    (4, _said(Reason.MENTION)), (7, _mention), (9, _suite), (5, _expected), (5, _unresolved),
)  # fmt: skip
"""How often, and what; each says whether it had anything left to tell."""
