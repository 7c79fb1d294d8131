"""Whether a step's turn has come: by what became of those it waits for.

Owns the rules, and nothing that runs.  A conditional way holds when its condition does; where there is one, one way at least must hold.
What failed keeps back all that depends on it; what was rightly left out keeps back only who needs nothing else.  A part of a step that
was itself to be carried out goes with it: held back with what failed, left out with what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from crucible.commands.run.run_model import Fate, Job, Link
from crucible.documents.workflow.workflow import Condition

__all__ = ["Decision", "decide", "ways_of"]

_BROKEN = (Fate.FAILED, Fate.HELD)


class Decision(NamedTuple):
    """`fate` is `HELD` or `UNMET` for a step that is not carried out, with the reason; None for one that is."""

    fate: Fate | None = None
    reason: str = ""


def ways_of(job: Job, held: Mapping[str, bool]) -> dict[Condition, bool]:
    """Which conditional ways out of a job hold; `Otherwise` when none of those before it in the step does."""
    found: dict[Condition, bool] = {}
    for flows in job.conditional:
        any_before = False
        for condition in (flow.condition for flow in flows if flow.condition):
            if condition.is_otherwise:
                found[condition] = found.get(condition, False) or not any_before
            else:
                found[condition] = held.get(condition.text, False)
                any_before = any_before or found[condition]
    return found


def decide(
    job: Job,
    fates: Mapping[int, Fate],
    holds: Callable[[int, Condition], bool],
    name: Callable[[int], str],
) -> Decision | None:
    """What to do with a job, None to wait.

    `fates` has every other job of the run, None of it for one that is not over; who is not in it counts as done before.  `holds` says whether a
    condition behind a job that is done holds.
    """
    if any(fates.get(link.source) is Fate.LEFT for link in job.waits()):
        return None
    if any(fates.get(at) is Fate.LEFT for at in (*job.after, job.inside) if at is not None):
        return None
    if job.inside is not None and (around := _around(fates.get(job.inside), name(job.inside))):
        return around
    links = [link for link in job.waits() if link.source in fates]
    gated = any(link.condition for link in links)
    if gated:
        gates = [link for link in links if link.condition or link.is_bare]
        if not any(_is_open(link, fates, holds) for link in gates):
            return _shut(gates, fates, name)
    needed = [link for link in links if not link.condition and not (gated and link.is_bare)]
    broken = next((link for link in needed if fates[link.source] in _BROKEN), None)
    if broken:
        return Decision(Fate.HELD, _why(fates[broken.source], name(broken.source)))
    if needed and not gated and all(fates[link.source] is Fate.UNMET for link in needed):
        return Decision(Fate.UNMET, f"“{name(needed[-1].source)}” was left out")
    return Decision()


def _around(fate: Fate | None, name: str) -> Decision | None:
    """What becomes of a step because of the one that it is a part of; None when it goes by its own ways."""
    if fate in _BROKEN:
        return Decision(Fate.HELD, _why(fate, name))
    return Decision(Fate.UNMET, f"“{name}” was left out") if fate is Fate.UNMET else None


def _is_open(link: Link, fates: Mapping[int, Fate], holds: Callable[[int, Condition], bool]) -> bool:
    if fates[link.source] is not Fate.DONE:
        return False
    return link.condition is None or holds(link.source, link.condition)


def _shut(gates: list[Link], fates: Mapping[int, Fate], name: Callable[[int], str]) -> Decision:
    broken = next((link for link in gates if fates[link.source] in _BROKEN), None)
    if broken:
        return Decision(Fate.HELD, _why(fates[broken.source], name(broken.source)))
    return Decision(Fate.UNMET, f"no condition behind “{name(gates[-1].source)}” leads here")


def _why(fate: Fate, name: str) -> str:
    return f"“{name}” failed" if fate is Fate.FAILED else f"“{name}” was held back"
