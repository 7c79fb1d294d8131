"""Generalize the work of steps for another run: checks on what changed, and no files of this run only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.request_words import INPUTS, is_specific
from crucible.commands.codify.step_titles import ANY, CHANGES, CHOSEN
from crucible.commands.codify.stretches import CHANGING, PROVING, Node, is_done, merged
from crucible.commands.codify.work_lines import is_variant, whole
from crucible.documents.session.session import Outcome

__all__ = ["generalize"]


def generalize(nodes: Sequence[Node]) -> None:
    """Keep the work that another run can do, on the files that it changes."""
    checks = [act for node in nodes for act in node.acts() if act.deed in PROVING]
    complete = {act.what: act.deed for act in checks if is_done(act) and whole(act) == act.what}
    is_changed = False
    for node in nodes:
        text = " ".join([node.name, *(one.text for one in node.remarks)])
        for part in node.all_stretches():
            found, part.acts = part.acts, []
            for act in _unmended(found, node):
                is_changed |= act.deed in CHANGING and is_done(act)
                if act.deed not in PROVING or (is_done(act) and not _is_part(act, complete)):
                    part.acts.append(_generalized(act, text, is_changed=is_changed))


def _is_part(act: Act, complete: Mapping[str, Deed]) -> bool:
    """True for a check of a part of the code or of one folder if the whole was checked too; a build also counts then."""
    folder, _, command = act.what.rpartition(" && ")
    if folder and command in complete:
        return True
    by_others = act.deed in complete.values() or (act.deed is Deed.BUILD and bool(complete))
    return by_others and whole(act) != act.what and not is_variant(act)


def _unmended(acts: Iterable[Act], node: Node) -> Iterator[Act]:
    """Work without a merge that only fixed a rejected push or had a conflict, unless the user asked for it."""
    words = " ".join([node.name, *(one.text for one in node.remarks)]).casefold()
    is_asked = any(verb in words for verb in ("merge", "rebase", "pull ", "conflict"))
    is_refused = False
    for act in acts:
        is_refused |= act.outcome is Outcome.FAILED and act.command.startswith("git push")
        if is_asked or not merged(act) or not (is_refused or act.verdict):
            yield act


def _generalized(act: Act, text: str, *, is_changed: bool) -> Act:
    """An act for another run: it reads and writes what its step names, the checks' results, and changes."""
    reads = (CHANGES,) if is_changed and (act.reads or act.deed in PROVING) else ()
    writes = [one for one in act.writes if one.name in text or (act.deed is Deed.EDIT and _is_top(one.name, text))]
    if act.deed in PROVING:
        writes = [*act.writes[-1:]]
        act = replace(act, what=whole(act))
    elif act.deed in CHANGING and not writes:
        return replace(act, deed=Deed.EDIT, what=CHANGES.name, reads=(), writes=(CHANGES,))
    elif act.deed in CHANGING:
        return act
    return replace(act, reads=reads, writes=tuple(writes))


def _is_top(file: str, text: str) -> bool:
    """True for a text file at the top of the project, such as its changelog, if the step's own words explain it."""
    is_any = text.startswith((ANY, CHOSEN)) or any(f"{{{{{name}}}}}" in text for name in INPUTS)
    return not is_any and "/" not in file and not is_specific(file)
