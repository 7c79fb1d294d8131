"""Choose the requests worth repeating, and generalize their work: drop file names and text specific to this run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.draft_steps import (
    ANY,
    CHANGES,
    CHANGING,
    CHOSEN,
    LOOKING,
    NOISE,
    PROVING,
    Node,
    Parameter,
    Remark,
    RemarkKind,
    Stretch,
    is_merge,
    succeeded,
)
from crucible.commands.codify.parameters import (
    INPUTS,
    LOG,
    LONGEST,
    REQUEST,
    Input,
    SplitRequest,
    in_words,
    is_specific,
    name_of,
    reusable_remark,
    split_request,
    with_parameters,
)
from crucible.commands.codify.step_commands import (
    command_remarks,
    commands_name,
    generalized_check,
    is_variant,
    publishes,
)
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session import Outcome
from crucible.documents.workflow.workflow import key_of


def generalize(nodes: Sequence[Node]) -> None:
    """Keep the acts that another run can repeat, with the files that such a run changes."""
    checks = [act for node in nodes for act in node.acts() if act.deed in PROVING]
    complete = {act.what: act.deed for act in checks if succeeded(act) and generalized_check(act) == act.what}
    is_changed = False
    for node in nodes:
        text = " ".join([node.name, *(one.text for one in node.remarks)])
        for part in node.all_stretches():
            found, part.acts = part.acts, []
            for act in _unmended(found, node):
                is_changed |= act.deed in CHANGING and succeeded(act)
                if act.deed not in PROVING or (succeeded(act) and not _is_part(act, complete)):
                    part.acts.append(_generalized(act, text, is_changed=is_changed))


def _is_part(act: Act, complete: Mapping[str, Deed]) -> bool:
    """True for a check of a part or a folder if a full check of the same kind (for a build, any kind) ran too."""
    folder, _, command = act.what.rpartition(" && ")
    if folder and command in complete:
        return True
    by_others = act.deed in complete.values() or (act.deed is Deed.BUILD and bool(complete))
    return by_others and generalized_check(act) != act.what and not is_variant(act)


def _unmended(acts: Iterable[Act], node: Node) -> Iterator[Act]:
    """Yield acts, except merges that only fixed a rejected push or had a conflict, unless the user asked for them."""
    words = " ".join([node.name, *(one.text for one in node.remarks)]).casefold()
    is_asked = any(verb in words for verb in ("merge", "rebase", "pull ", "conflict"))
    is_refused = False
    for act in acts:
        is_refused |= act.outcome is Outcome.FAILED and act.command.startswith("git push")
        if is_asked or not is_merge(act) or not (is_refused or act.verdict):
            yield act


def _generalized(act: Act, text: str, *, is_changed: bool) -> Act:
    """Generalize an act: keep only reads and writes of what the step names, check results, and changes."""
    reads = (CHANGES,) if is_changed and (act.reads or act.deed in PROVING) else ()
    writes = [one for one in act.writes if one.name in text or (act.deed is Deed.EDIT and _is_top(one.name, text))]
    if act.deed in PROVING:
        writes = [*act.writes[-1:]]
        act = replace(act, what=generalized_check(act))
    elif act.deed in CHANGING and not writes:
        return replace(act, deed=Deed.EDIT, what=CHANGES.name, reads=(), writes=(CHANGES,))
    elif act.deed in CHANGING:
        return act
    return replace(act, reads=reads, writes=tuple(writes))


def _is_top(file: str, text: str) -> bool:
    """True for a text file at the project's top level, such as a changelog, if the request explains the change."""
    is_any = text.startswith((ANY, CHOSEN)) or any(f"{{{{{name}}}}}" in text for name in INPUTS)
    return not is_any and "/" not in file and not is_specific(file)


_FEW = 6
"""Maximum words of a later request that may name its step; a step with a longer one is named after its work."""


_Repeatable: TypeAlias = tuple[list[Node], tuple[Parameter, ...], str]
"""The requests that another run can repeat, their parameters and their title."""


def repeatable_requests(
    title: str, nodes: Sequence[Node], parameters: Sequence[Parameter], again: Collection[str]
) -> _Repeatable:
    """Return the requests worth repeating. Nodes without user prompts are already steps and stay unchanged.

    `again` has the keys of requests that occur in several sessions.
    """
    if not any(_asked(node) for node in nodes):
        return list(nodes), tuple(parameters), title
    return _Repeater(parameters, again).made(title, nodes)


def _asked(node: Node) -> str:
    return next((one.text.strip() for one in node.remarks if one.kind is RemarkKind.ASKED), "")


class _Repeater:
    """Chooses requests. `_pending` is work that is kept only if a repeatable step follows."""

    def __init__(self, parameters: Sequence[Parameter], again: Collection[str]) -> None:
        self._parameters = parameters
        self._given: dict[str, Parameter] = {}
        self._again = again
        self._kept: list[Node] = []
        self._pending: list[Node] = []
        self._one_off: set[int] = set()
        self._lines: dict[int, set[str]] = {}
        self._last_changed: Node | None = None
        self._first: Node | None = None
        self._opening = ""
        self._is_done = False

    def made(self, title: str, nodes: Sequence[Node]) -> _Repeatable:
        self._first = next(filter(_asked, nodes))
        self._opening = _asked(self._first)
        opening = self._parted(self._first)
        later = {key_of(node.name) for node in nodes[1:]}
        for node in nodes:
            self._take(node)
        if not self._is_done:  # without finished work, the last lookups are the result
            self._kept += self._pending
        worked = [one for one in self._kept if self._lines.get(id(one)) or _worked(one)]
        self._kept = worked or self._kept
        if self._kept and self._kept[0] is not self._first:
            self._open(self._kept[0], opening)
        for node in self._kept:
            _delegate(node, is_one_off=id(node) in self._one_off)
        if not any(map(_repeats, self._kept)):
            self._kept = []
        generalize(self._kept)
        title = self._title("" if key_of(title) in later else title)
        return self._kept, (*self._parameters, *self._given.values()), title

    def _title(self, title: str) -> str:
        """Return the session's own title, unless it describes one-time work."""
        if not self._kept:
            return title
        first, *others = self._kept
        text = with_parameters(title, self._parameters)
        if id(first) not in self._one_off:
            return first.name if not text or is_specific(text) else in_words(text)
        names = [first.name, *(node.name for node in others[:2] if node.name != CHOSEN)]
        if any(act.deed in PROVING for act in first.acts()):
            names.insert(1, "check it")
        return normal_line(", ".join([names[0], *(name[:1].lower() + name[1:] for name in names[1:])]))

    def _open(self, first: Node, opening: SplitRequest) -> None:
        """Add the session's opening words to the first step, since later ones depend on them."""
        if opening.lead and not opening.lead.endswith("?") and (_asked(first) or first.name == CHOSEN):
            first.remarks.insert(0, Remark(RemarkKind.ASKED, self._with_given(opening)))
            first.name = name_of(opening.lead) or first.name
        elif first.name == CHOSEN:
            self._request(first)
        elif not self._opening.endswith("?") and 0 < len(_asked(first).split()) <= _FEW:
            self._give(REQUEST, self._opening)
            first.remarks.insert(0, Remark(RemarkKind.ASKED, f"{{{{{REQUEST.name}}}}}"))

    def _request(self, node: Node) -> None:
        """Turn a first request that cannot be repeated into a parameter."""
        self._one_off.add(id(node))
        self._give(REQUEST, self._opening)
        self._generalize(node, ANY, f"{{{{{REQUEST.name}}}}}")

    def _parted(self, node: Node) -> SplitRequest:
        return split_request(with_parameters(_asked(node), self._parameters))

    def _take(self, node: Node) -> None:
        words = self._parted(node)
        if key_of(node.name) in self._again:
            words = words._replace(lead=words.lead or node.name)
        elif node.is_late and words.lead.endswith("?"):
            words = words._replace(lead="")
        _flatten(node)
        acts = node.acts()
        before = self._last_changed
        is_changed = any(act.deed in CHANGING and succeeded(act) for act in acts)
        commands = [one for one in command_remarks(filter(succeeded, acts)) if one.kind is not RemarkKind.CHECK]
        is_handed_on = publishes(acts)
        if self._last_changed is not None:  # prompts after the first change usually refine it
            repeats = is_handed_on or (bool(words.lead) and _delegates(node))
        else:
            looks = any(one.kind is RemarkKind.LOOK for one in commands)
            is_own = node is self._first or looks or is_handed_on or _delegates(node)
            repeats = bool(words.lead) and is_own
        if not _asked(node) or key_of(node.name) in self._again or repeats:
            self._repeat(node, words, {one.text for one in commands})
        elif before is not None and not (is_changed and _ended_red(before)):
            _absorb(before, node)
            return
        elif self._kept and is_changed:
            self._one_off.add(id(node))
            self._generalize(node, CHOSEN, "")
            self._pending.append(node)
        elif not self._kept and not node.only_looked():
            self._request(node)
            self._kept.append(node)
        if is_changed:
            self._last_changed = node
        is_step = id(node) in self._lines and not _ended_red(node)
        self._is_done |= is_step and (is_changed or is_handed_on)

    def _repeat(self, node: Node, words: SplitRequest, lines: set[str]) -> None:
        keys = {key_of(one.name) for one in self._kept}
        is_known = lines and any(lines <= known for known in self._lines.values())
        if not self._pending and (key_of(node.name) in keys or is_known):
            if self._last_changed is not None:
                _absorb(self._last_changed, node)
            return
        self._lines[id(node)] = lines
        if _asked(node):
            self._worded(node, words)
        self._kept += [*self._pending, node]
        self._pending = []

    def _worded(self, node: Node, words: SplitRequest) -> None:
        """Name a request by its own words. A pasted log is replaced by the check that the words name."""
        lead, given = words.lead, words.given
        name = name_of(lead) if given or "{{" in lead else node.name
        if not lead or (self._kept and len(lead.split()) > _FEW):
            name, lead, given = commands_name(node.acts()) or (name if lead else ""), "", None
        name = name or (f"Carry out the {given.name}" if given else CHOSEN)
        reds = list(_red_at_first(node.acts()))
        if given is LOG and (check := _named_check(node, words.lead)):
            reds, given = [check], None
        for check in reds:
            node.add(Remark(RemarkKind.LOOK, check))
        if given:
            self._one_off.add(id(node))
        self._generalize(node, name, self._with_given(SplitRequest(lead, given, words.rest)))

    def _with_given(self, words: SplitRequest) -> str:
        if words.given is None:
            return words.lead.rstrip(":")
        self._give(words.given, words.rest)
        return f"{words.lead} {{{{{words.given.name}}}}}".strip()

    def _generalize(self, node: Node, name: str, asked: str) -> None:
        """Keep only the words of a step that apply to other runs."""
        others = [one for one in node.remarks if one.kind is not RemarkKind.ASKED]
        kept = (reusable_remark(one, is_one_off=id(node) in self._one_off) for one in others)
        node.remarks = [*([Remark(RemarkKind.ASKED, asked)] if asked else []), *filter(None, kept)]
        node.name = name
        node.is_late = False

    def _give(self, given: Input, value: str) -> None:
        for one in self._parameters:
            value = value.replace(f"{{{{{one.name}}}}}", one.value)
        self._given.setdefault(given.name, Parameter(given.name, given.meaning, normal_line(value) or given.name))


# --- work ------------------------------------------------------------------------------------------------------------


def _worked(node: Node) -> bool:
    """True if something was changed, run, checked or delegated successfully."""
    return _reports(node) or any(succeeded(act) and act.deed not in LOOKING | NOISE for act in node.acts())


def _repeats(node: Node) -> bool:
    """True if a step looks something up, checks, publishes or delegates, or changes what its own words ask for."""
    says_kind = node.name not in (ANY, CHOSEN) or _reports(node)
    is_changed = any(act.deed in CHANGING for act in node.acts())
    return (says_kind and is_changed) or _delegates(node) or any(map(bool, command_remarks(node.acts())))


def _reports(node: Node) -> bool:
    """True if some of the work was delegated."""
    return any(one.reports for one in node.walk())


def _named_check(node: Node, lead: str) -> str:
    """Return the command of the check that a request names: `make lint` for `fix lint errors`."""
    words = {key_of(word).removesuffix("s") for word in lead.split()}
    checks = (act.what for act in node.acts() if act.deed in PROVING and act.outcome is Outcome.OK)
    return next((what for what in checks if words & {key_of(word) for word in what.split()}), "")


def _delegates(node: Node) -> bool:
    """True if work was delegated to several kinds of agents, so that delegation is part of the method."""
    return len({str(one.agent) for one in node.walk() if one.reports}) > 1


def _ended_red(node: Node) -> bool:
    """True if work was published although the last check had failed; a fix follows later."""
    acts = node.acts()
    last = next((act for act in reversed(acts) if act.deed in PROVING), None)
    return last is not None and last.outcome is Outcome.FAILED and publishes(acts)


def _flatten(node: Node) -> None:
    """Merge the parts of an agent's task list into the request's own work."""
    node.parts = _joined(_opened(node))


def _opened(node: Node) -> Iterator[Stretch | Node]:
    for part in node.parts:
        if isinstance(part, Node) and not part.reports:
            for remark in part.remarks:
                node.add(remark)
            yield from _opened(part)
        else:
            yield part


def _joined(parts: Iterable[Stretch | Node]) -> list[Stretch | Node]:
    joined: list[Stretch | Node] = []
    for part in parts:
        if isinstance(part, Stretch) and joined and isinstance(last := joined[-1], Stretch):
            last.take(part)
        else:
            joined.append(part)
    return joined


def _delegate(node: Node, *, is_one_off: bool) -> None:
    """Keep subagents whose step names a kind of work. The work of the others becomes the request's own."""
    can_tell = not is_one_off or _delegates(node)
    parts: list[Stretch | Node] = []
    for part in node.parts:
        if isinstance(part, Stretch):
            parts.append(part)
        elif _says_its_kind(part, can_tell=can_tell):
            part.parts = _joined(part.all_stretches())
            parts.append(part)
        else:
            parts += part.all_stretches()
    node.parts = _joined(parts)


def _says_its_kind(part: Node, *, can_tell: bool) -> bool:
    """True if a task names a kind of work and no code; the title of its note may replace the task."""
    if is_specific(part.name) or is_specific(_asked(part)) or len(_asked(part)) > LONGEST:
        part.name, part.remarks = part.about if can_tell else "", []
    return bool(name_of(part.name)) and not is_specific(part.name)


def _absorb(before: Node, node: Node) -> None:
    """Merge a request that continues a step into that step: its checks and its corrections of commands."""
    before.run = before.run.plus(node.run)
    for one in filter(None, (reusable_remark(one, is_one_off=True) for one in node.remarks)):
        if one.kind is RemarkKind.CONSTRAINT:
            before.add(one)
    for stretch in node.stretches():
        stretch.acts = [act for act in stretch.acts if act.deed in CHANGING | PROVING]
        home = next((one for one in before.stretches() if publishes(one.acts)), None)
        if home is None:
            before.parts.append(stretch)
        else:  # checks come before a commit and a push
            at = next(at for at, act in enumerate(home.acts) if publishes([act]))
            home.acts[at:at] = stretch.acts
            home.is_critical |= stretch.is_critical
    _flatten(before)


def _red_at_first(acts: Iterable[Act]) -> Iterator[str]:
    """Yield the checks that failed before any change; their output shows what to fix."""
    for act in acts:
        if act.deed in CHANGING and succeeded(act):
            return
        if act.deed in PROVING and act.outcome is Outcome.FAILED:
            yield generalized_check(act)
