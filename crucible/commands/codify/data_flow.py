"""Data flow of a draft's steps: what each takes and makes, so that every edge of the workflow leads forward.

Owns three rules.  A step takes what it reads and did not write before, and what it was handed; it makes what it writes and hands
on.  A step that makes what an earlier step took or made changes it, so it takes it too: nothing ever feeds a step before it, and
no circle can arise.  And of many files only those count that matter most: what other steps share comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crucible.analysis.tools.tool_acts import Deed
from crucible.commands.codify.draft_steps import DraftStep
from crucible.commands.codify.step_titles import Names, slug_of
from crucible.documents.workflow.workflow import Datum

__all__ = ["MOST", "InOut", "flows_of"]

MOST = 8
"""Names that a step takes or makes at most, but for those that it must take because it changes them."""


@dataclass(slots=True)
class InOut:
    """What one step takes and makes, each name once; `kept` are names that it must not lose."""

    inputs: dict[str, Datum]
    outputs: dict[str, Datum]
    kept: frozenset[str]


def flows_of(steps: Sequence[DraftStep]) -> list[InOut]:
    """For each step what it takes and makes, both empty for one that did nothing; a type stands where its name is first met."""
    found = [_raw(step) for step in steps]
    shared = Counter(key for one in found for key in {*one.inputs, *one.outputs})
    names = Names(str.casefold, "_")
    for key in shared:
        names.claim(key)
    for step, one in zip(steps, found, strict=True):
        if one.inputs and not one.outputs:
            made = names.claim(slug_of(step.name, "output"))
            one.outputs[made] = Datum(made, "Text")
    request = Datum(names.claim("request"), "Text")
    _settle(found, shared, request)
    _put_types(found)
    return found


def _raw(step: DraftStep) -> InOut:
    """What its acts read and wrote, and what it was handed and hands on."""
    inputs: dict[str, Datum] = {}
    outputs: dict[str, Datum] = {}
    for act in step.acts:
        for datum in act.reads:
            key = datum.name.casefold()
            if key not in outputs:
                inputs.setdefault(key, datum)
        for datum in act.writes:
            outputs.setdefault(datum.name.casefold(), datum)
        if act.deed is Deed.DELETE:
            outputs.pop(act.what.casefold(), None)
    for datum in step.takes:
        inputs.setdefault(datum.name.casefold(), datum)
    if step.report:
        outputs.setdefault(step.report.name.casefold(), step.report)
    handed = [*step.takes, *([step.report] if step.report else [])]
    return InOut(inputs, outputs, frozenset(datum.name.casefold() for datum in handed))


def _settle(found: Iterable[InOut], shared: Mapping[str, int], request: Datum) -> None:
    """Cut to what matters, and let who changes something take it."""
    seen: dict[str, Datum] = {}
    for one in found:
        one.outputs = dict(_most(one.outputs, one.kept, shared))
        changed = {key: datum for key, datum in one.outputs.items() if key in seen or key in one.inputs}
        must = one.kept | changed.keys()
        one.inputs = dict(_most({**one.inputs, **changed}, must, shared))
        if one.outputs and not one.inputs:
            one.inputs[request.name.casefold()] = request
        seen |= {**one.inputs, **one.outputs}


def _most(data: Mapping[str, Datum], must: Iterable[str], shared: Mapping[str, int]) -> Iterator[tuple[str, Datum]]:
    """Those that must stay and of the others those that most steps share, in their order."""
    if len(data) <= MOST:
        return iter(data.items())
    kept = {key for key in must if key in data}
    others = sorted((key for key in data if key not in kept), key=lambda key: -shared[key])
    kept.update(others[: max(0, MOST - len(kept))])
    return ((key, datum) for key, datum in data.items() if key in kept)


def _put_types(found: Iterable[InOut]) -> None:
    """A name is spelled as it was first met, and has its type there alone, which holds for all of it."""
    found = list(found)
    types: dict[str, str] = {}
    names: dict[str, str] = {}
    for one in found:
        for key, datum in (*one.inputs.items(), *one.outputs.items()):
            names.setdefault(key, datum.name)
            if datum.type:
                types.setdefault(key, datum.type)
    for one in found:
        one.inputs = {key: Datum(names[key], types.pop(key, None)) for key in one.inputs}
        one.outputs = {key: Datum(names[key], types.pop(key, None)) for key in one.outputs}
