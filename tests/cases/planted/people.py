"""What people want otherwise, and what is settled: corrections, decisions, and what only sounds like them."""

from __future__ import annotations

from crucible.cases.model import CaseType
from crucible.session.model import Callout, Decision, Intervention
from crucible.transcript.events import CallEnd, PromptKind
from tests.cases.planted.puzzles import edit
from tests.cases.planted.sayings import (
    CHOICES,
    CORRECTIONS,
    DECISIONS,
    FOLLOW_UPS,
    MIDWAY,
    MIDWAY_NOISE,
    PROSE_DECISIONS,
    SOUNDS_LIKE,
    Correcting,
    Deciding,
)
from tests.cases.planted.scribe import Scribe
from tests.cases.planted.sowing import Plot, Sown
from tests.cases.planted.truth import Planted

__all__ = ["ask", "correct", "decide", "follow_up", "interrupt", "refuse", "refuse_and_say", "sound", "steer"]


def _drawn(plot: Plot, what: str, options: tuple[Correcting, ...]) -> Correcting | None:
    chosen = plot.pick(what, options)
    return None if chosen is None else Correcting(*map(plot.fill, options[chosen]))


def _sow(plot: Plot, scribe: Scribe, kind: str, words: str, *steps: int, call: str = "") -> Sown:
    anchors = tuple(part for part in (words, call) if part)
    case = Planted(CaseType.CORRECTION, kind, "", (), anchors, words=words, rejected=call, verified=False)
    return plot.sow(scribe, case, *steps)


def _do_otherwise(plot: Plot, scribe: Scribe, sown: Sown, reply: str) -> None:
    """What was right."""
    scribe.say(reply)
    edit(plot, scribe)
    if not plot.dirty and plot.rng.random() < 0.5:
        stack = plot.stack
        scribe.shell(stack.suite, plot.fill(stack.ok.replace("{m}", "<m>").replace("{n}", "<n>")))
        sown.learn(verified=True)


# --- corrections -----------------------------------------------------------------------------------------------------


def correct(plot: Plot) -> bool:
    """A prompt after the work, which begins a phase."""
    said = _drawn(plot, "correction", CORRECTIONS)
    if said is None:
        return False
    step = plot.trunk.prompt(said.words)
    sown = _sow(plot, plot.trunk, said.tone, said.words, step)
    _do_otherwise(plot, plot.trunk, sown, said.reply)
    return True


def steer(plot: Plot) -> None:
    """Words while the agent works, which stand in its phase; some of them correct nothing."""
    trunk, rng = plot.trunk, plot.rng
    if rng.random() < 0.35:
        chosen = plot.pick("midway-noise", MIDWAY_NOISE)
        if chosen is not None:
            step = trunk.prompt(MIDWAY_NOISE[chosen], PromptKind.STEERING)
            plot.distract(trunk, "steering", MIDWAY_NOISE[chosen], step)
            trunk.say("Noted.")
        return
    said = _drawn(plot, "midway", MIDWAY)
    if said is None:
        return
    edit(plot, trunk)
    if rng.random() < 0.25:
        step = trunk.told(Intervention(said.words, rng.choice([None, "done otherwise"])))
    else:
        step = trunk.prompt(said.words, PromptKind.STEERING)
    _do_otherwise(plot, trunk, _sow(plot, trunk, f"midway-{said.tone}", said.words, step), said.reply)


def _refused_call(plot: Plot, feedback: str) -> tuple[int, int, str]:
    trunk, names = plot.trunk, plot.names
    chosen = plot.pick("refused", ("", "", "", "", ""))
    commands = (
        f"rm -rf build/{names.mod}",
        f"git push --force origin {names.mod}",
        f"psql -c 'TRUNCATE {names.mod}_log'",
        f"npm publish --tag {names.mod}",
        f"git checkout -- {names.src}",
    )
    command = (
        commands[chosen] if chosen is not None else f"git reset --hard HEAD~{plot.rng.randrange(100, 1000)}"
    )
    made = trunk.returned(trunk.shell_use(command), plot.client.rejects, CallEnd.REJECTED, None, feedback)
    return made.step, trunk.last, made.line


def refuse(plot: Plot) -> None:
    """A call is refused, with words (where the client has a place for them) or without any; the agent goes on otherwise."""
    said = _drawn(plot, "midway", MIDWAY) if plot.client.name in ("claude-code", "opencode") else None
    if said is not None and plot.rng.random() < 0.7:
        used, returned, line = _refused_call(plot, said.words)
        sown = _sow(plot, plot.trunk, "rejected-with-words", said.words, used, returned, call=line)
        _do_otherwise(plot, plot.trunk, sown, said.reply)
        return
    used, _, line = _refused_call(plot, "")
    sown = _sow(plot, plot.trunk, "rejected-without-words", "", used, call=line)
    _do_otherwise(
        plot,
        plot.trunk,
        sown,
        plot.rng.choice(["All right, not that. I'll do it by hand.", "Then another way."]),
    )


def refuse_and_say(plot: Plot) -> bool:
    """A call is refused, which ends the turn, and the next prompt says why: one correction."""
    said = _drawn(plot, "correction", CORRECTIONS)
    if said is None:
        return False
    used, _, line = _refused_call(plot, "")
    plot.trunk.interrupted(in_tool=True)
    step = plot.trunk.prompt(said.words)
    sown = _sow(plot, plot.trunk, "rejected-then-words", said.words, step, used, call=line)
    _do_otherwise(plot, plot.trunk, sown, said.reply)
    return True


def interrupt(plot: Plot) -> bool:
    """The user stops the agent; what is said then corrects it, or only sends it on."""
    trunk, rng = plot.trunk, plot.rng
    trunk.say(plot.fill("Next come all callers of <func>."))
    if rng.random() < 0.5:
        command = plot.fill("make all-<mod>")
        used = trunk.shell_use(command)
        made = trunk.returned(used, "[Request interrupted by user for tool use]", CallEnd.INTERRUPTED)
        plot.distract(trunk, "interrupted", made.line, made.step)
    trunk.interrupted(in_tool=rng.random() < 0.5)
    said = _drawn(plot, "correction", CORRECTIONS) if rng.random() < 0.75 else None
    if said is None:
        words = rng.choice(["continue", "sorry, wrong window. go on", "ok go on please"])
        plot.distract(trunk, "follow-up", words, trunk.prompt(words))
        trunk.say("Going on.")
        edit(plot, trunk)
        return True
    step = trunk.prompt(said.words)
    _do_otherwise(plot, trunk, _sow(plot, trunk, f"interrupted-{said.tone}", said.words, step), said.reply)
    return True


def follow_up(plot: Plot) -> None:
    """A later prompt that corrects nothing."""
    chosen = plot.pick("follow-up", FOLLOW_UPS)
    words = plot.fill(FOLLOW_UPS[chosen]) if chosen is not None else "continue"
    plot.distract(plot.trunk, "follow-up", words, plot.trunk.prompt(words))


# --- decisions -------------------------------------------------------------------------------------------------------


def _choice(plot: Plot) -> Deciding | None:
    chosen = plot.pick("choice", CHOICES)
    return None if chosen is None else CHOICES[chosen]


def _worded(template: str, one: Deciding) -> str:
    text = template.format(**one._asdict())
    return text[:1].upper() + text[1:]


def decide(plot: Plot, scribe: Scribe) -> None:
    """The agent's own choice: a callout, a sentence, or both, which are one."""
    one = _choice(plot)
    if one is None:
        return
    rng = plot.rng
    form = rng.choices(["prose", "callout", "both"], [55, 33, 12])[0]
    steps: list[int] = []
    anchors: list[str] = []
    is_said = form != "callout"
    if is_said:
        sentence = _worded(rng.choice(PROSE_DECISIONS), one)
        before = rng.choice(
            ["", "", "Two ways lead there. ", "I read the callers. ", "The failure is reproduced. "]
        )
        after = rng.choice(["", "", " Writing it now.", f" {plot.fill('<func>')} changes accordingly."])
        steps.append(scribe.say(f"{before}{sentence}{after}"))
        anchors.append(sentence)
    if form != "prose":
        text = plot.fill(_worded(rng.choice(DECISIONS), one))
        rationale = f"{one.why}." if rng.random() < 0.85 else None
        steps.append(scribe.told(Decision(text, rationale)))
        anchors.append(text)
    options = (one.choice, one.over) if any(one.over in anchor for anchor in anchors) else ()
    why = one.why if is_said or rationale else ""
    case = Planted(
        CaseType.DECISION, form, "", (), tuple(anchors), options=options, choice=one.choice, rationale=why
    )
    plot.sow(scribe, case, *steps)
    if rng.random() < 0.8:
        edit(plot, scribe)


def ask(plot: Plot) -> bool:
    """The user chooses among options that the agent named."""
    one = _choice(plot)
    if one is None:
        return False
    trunk, rng = plot.trunk, plot.rng
    case = Planted(
        CaseType.DECISION, "user-choice", "", (), (), options=(one.choice, one.over), choice=one.choice
    )
    if plot.client.name == "claude-code" and rng.random() < 0.5:
        question = plot.fill("How should <func> do it?")
        options = [{"label": one.over, "description": ""}, {"label": one.choice, "description": one.why}]
        given = {
            "questions": [{"question": question, "header": "Way", "options": options, "multiSelect": False}]
        }
        said = f'User has answered your questions: "{question}"="{one.choice}". You can now continue with the user\'s answers in mind.'
        made = trunk.use("AskUserQuestion", given, said)
        sown = plot.sow(trunk, case, made.step)
        sown.learn(anchors=(made.line,), kind="user-answer")
    else:
        first, second = rng.sample([one.choice, one.over], 2)
        trunk.say(
            f"There are two ways:\n\n1. {first}\n2. {second}\n\nWhich one do you want?"
            if rng.random() < 0.6
            else f"I can do this with {first} or with {second}. Which do you prefer?"
        )
        trunk.answered()
        place = "first" if first == one.choice else "second"
        words = rng.choice(
            [
                f"{one.choice} please",
                f"the {place} one",
                f"Let's take {one.choice}, {one.why}.",
                f"Option {1 if place == 'first' else 2}.",
            ]
        )
        step = trunk.prompt(words)
        sown = plot.sow(trunk, case, step)
        reason = one.why if one.why in words else ""
        sown.learn(anchors=(words,), rationale=reason)
    trunk.say(rng.choice(["Good, doing that.", "Fine.", f"Good, {one.choice} it is."]))
    edit(plot, trunk)
    return True


def sound(plot: Plot, scribe: Scribe) -> None:
    """Words of failing, choosing and rejecting that mean nothing of the kind."""
    chosen = plot.pick("sounds", SOUNDS_LIKE)
    if chosen is not None:
        text = plot.fill(SOUNDS_LIKE[chosen])
        kind = plot.rng.choices(["prose", "milestone", "observation"], [80, 10, 10])[0]
        step = scribe.say(text) if kind == "prose" else scribe.told(Callout(kind, "", text))
        plot.distract(scribe, kind, text, step)
