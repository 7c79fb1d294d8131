"""What of a session is worth doing again: its requests without what was only said and done this one time.

A request that names nothing of the code repeats as it is worded; a text that was pasted into it becomes a parameter.  Any other request
that changed files is `{{request}}`: what is kept of it is how such work is checked, reviewed and handed on.  What follows the last step that
repeats is talk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.acts.model import Act, Deed
from crucible.codify.lines import commands_name, hands_on, lines_of
from crucible.codify.model import Remark, RemarkKind
from crucible.codify.parameters import Parameter, filled, in_words
from crucible.codify.stretches import CHANGING, LOOKING, NOISE, PROVING, Node, Stretch
from crucible.codify.titling import CHANGES
from crucible.codify.wording import LOG, LONGEST, REQUEST, Input, Words, held, is_specific, name_of, parted
from crucible.note.contain import normal_line
from crucible.patterns import late_pattern
from crucible.session.model import AgentRef, Outcome
from crucible.workflow.model import key_of

__all__ = ["Repeated", "repeated"]

_FEW = 6
"""Words of a later request that may name its step; longer ones are talk, and what they do names it."""
_PART = late_pattern(r"(?:-run|-k|--filter|--test)\b|[^-].*::|(?!\./\.\.\.)[^-=]*/|[\w-]+\.\w+\Z")
_ANY = "Carry out the request"
_CHOSEN = "Make the changes that the user chooses"


class Repeated(NamedTuple):
    """A session's requests as another run would have them, and what that is called."""

    nodes: list[Node]
    parameters: tuple[Parameter, ...]
    title: str


def repeated(
    title: str, nodes: Sequence[Node], parameters: Sequence[Parameter], again: Collection[str]
) -> Repeated:
    """The requests worth doing again; of nodes without a user's words, which somebody wrote down as steps, nothing is changed.

    `again` are the keys of requests that several sessions have.
    """
    if not any(_asked(node) for node in nodes):
        return Repeated(list(nodes), tuple(parameters), title)
    return _Repeater(parameters, again).made(title, nodes)


def _asked(node: Node) -> str:
    return next((one.text.strip() for one in node.remarks if one.kind is RemarkKind.ASKED), "")


class _Repeater:
    """`pending` is work that only counts if something that repeats comes after it: else it is talk at the end."""

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

    def made(self, title: str, nodes: Sequence[Node]) -> Repeated:
        self._first = next(filter(_asked, nodes))
        self._opening = _asked(self._first)
        opening = self._parted(self._first)
        later = {key_of(node.name) for node in nodes[1:]}
        for node in nodes:
            self._take(node)
        if not self._is_done:  # what was looked at first was the reason for it
            self._kept += self._pending
        worked = [one for one in self._kept if self._lines.get(id(one)) or _worked(one)]
        self._kept = worked or self._kept
        if self._kept and self._kept[0] is not self._first:
            self._open(self._kept[0], opening)
        is_changed = False
        for node in self._kept:
            is_changed = _without_files(node, is_changed=is_changed)
        if all(
            node.name in (_ANY, _CHOSEN) and not _reports(node) and not any(map(bool, lines_of(_acts(node))))
            for node in self._kept
        ):
            self._kept = []
        return Repeated(
            self._kept,
            (*self._parameters, *self._given.values()),
            self._title("" if key_of(title) in later else title),
        )

    def _title(self, title: str) -> str:
        """The session's own, unless it names what was done this one time."""
        if not self._kept:
            return title
        first, *others = self._kept
        text = filled(title, self._parameters)
        if id(first) not in self._one_off:
            return first.name if not text or is_specific(text) else in_words(text)
        names = [first.name, *(node.name for node in others[:2] if node.name != _CHOSEN)]
        if any(act.deed in PROVING for act in _acts(first)):
            names.insert(1, "check it")
        return normal_line(", ".join([names[0], *(name[:1].lower() + name[1:] for name in names[1:])]))

    def _open(self, first: Node, opening: Words) -> None:
        """The first words of a session say what later ones mean."""
        if opening.lead and not opening.lead.endswith("?") and (_asked(first) or first.name == _CHOSEN):
            first.remarks.insert(0, Remark(RemarkKind.ASKED, opening.lead))
            first.name = name_of(opening.lead) or first.name
        elif first.name == _CHOSEN:
            self._request(first)

    def _request(self, node: Node) -> None:
        """Any request may stand at the beginning."""
        self._one_off.add(id(node))
        self._give(REQUEST, self._opening)
        self._generalize(node, _ANY, f"{{{{{REQUEST.name}}}}}")

    def _is_reply(self, node: Node) -> bool:
        """Whether a request is what was decided: the next run decides anew."""
        decided = [one.text for one in node.remarks if one.kind is RemarkKind.DECIDED]
        return any(text.endswith(_asked(node)) for text in decided)

    def _parted(self, node: Node) -> Words:
        return parted(filled(_asked(node), self._parameters))

    def _take(self, node: Node) -> None:
        words = self._parted(node)
        if key_of(node.name) in self._again:
            words = words._replace(lead=words.lead or node.name)
        elif self._is_reply(node) or (node.is_late and words.lead.endswith("?")):
            words = words._replace(lead="")
        _flatten(node)
        acts = _acts(node)
        is_changed = any(act.deed in CHANGING and _passed(act) for act in acts)
        told = [one for one in lines_of(filter(_passed, acts)) if one.kind is not RemarkKind.CHECK]
        is_handed_on = hands_on(acts)
        if self._last_changed is not None:  # from here on, talk only adds to what was made
            repeats = is_handed_on or (bool(words.lead) and _reports(node))
        else:
            looks = any(one.kind is RemarkKind.LOOK for one in told)
            is_own = node is self._first or looks or is_handed_on or _reports(node)
            repeats = bool(words.lead) and is_own
        if not _asked(node) or key_of(node.name) in self._again or repeats:
            self._repeat(node, words, {one.text for one in told})
        elif self._last_changed is not None:
            _absorb(self._last_changed, node)
            return
        elif self._kept and is_changed:
            self._one_off.add(id(node))
            self._generalize(node, _CHOSEN, "")
            self._pending.append(node)
        elif not self._kept and not node.only_looked():
            self._request(node)
            self._kept.append(node)
        if is_changed:
            self._last_changed = node
        self._is_done |= id(node) in self._lines and (is_changed or is_handed_on)

    def _repeat(self, node: Node, words: Words, lines: set[str]) -> None:
        keys = {key_of(one.name) for one in self._kept}
        if key_of(node.name) in keys or (lines and any(lines <= known for known in self._lines.values())):
            return
        self._lines[id(node)] = lines
        if _asked(node):
            self._worded(node, words)
        self._kept += [*self._pending, node]
        self._pending = []

    def _worded(self, node: Node, words: Words) -> None:
        """A request in its own words; a pasted log is what the check prints that the words name."""
        lead, given = words.lead, words.given
        name = name_of(lead) if given or "{{" in lead else node.name
        if not lead or (self._kept and len(lead.split()) > _FEW):
            name, lead, given = commands_name(_acts(node)) or (name if lead else ""), "", None
        name = name or (f"Carry out the {given.name}" if given else _CHOSEN)
        reds = list(_red_at_first(_acts(node)))
        if given is LOG and (check := _named_check(node, words.lead)):
            reds, given = [check], None
        for check in reds:
            node.hear(Remark(RemarkKind.LOOK, check))
        if given:
            self._one_off.add(id(node))
            self._give(given, words.rest)
        lead = lead if given else lead.rstrip(":")
        self._generalize(node, name, " ".join(filter(None, (lead, f"{{{{{given.name}}}}}" if given else ""))))

    def _generalize(self, node: Node, name: str, asked: str) -> None:
        """Leave of a step's words only those that hold for another run."""
        told = [one for one in node.remarks if one.kind is not RemarkKind.ASKED]
        kept = (held(one, is_one_off=id(node) in self._one_off) for one in told)
        node.remarks = [*([Remark(RemarkKind.ASKED, asked)] if asked else []), *filter(None, kept)]
        node.name = name
        node.is_late = False

    def _give(self, given: Input, value: str) -> None:
        self._given.setdefault(
            given.name, Parameter(given.name, given.meaning, normal_line(value) or given.name)
        )


# --- work ------------------------------------------------------------------------------------------------------------


def _acts(node: Node) -> list[Act]:
    return [act for one in node.walk() for part in one.stretches() for act in part.acts]


def _worked(node: Node) -> bool:
    """True if something was changed, run, checked or delegated with success."""
    return _reports(node) or any(_passed(act) and act.deed not in LOOKING | NOISE for act in _acts(node))


def _reports(node: Node) -> bool:
    """True if some of its work was delegated."""
    return any(one.reports for one in node.walk())


def _named_check(node: Node, lead: str) -> str:
    """The command of a check that a request names, as `fix lint errors` does `make lint`."""
    words = {key_of(word).removesuffix("s") for word in lead.split()}
    checks = (act.what for act in _acts(node) if act.deed in PROVING and act.outcome is Outcome.OK)
    return next((what for what in checks if words & {key_of(word) for word in what.split()}), "")


def _flatten(node: Node) -> None:
    """Parts that an agent's task list made are the request's own work; subagents that did the same kind of work are one."""
    parts: list[Stretch | Node] = []
    seen: dict[tuple[str, AgentRef | None], Node] = {}
    for part in _opened(node):
        if isinstance(part, Node):
            if is_specific(part.name) or is_specific(_asked(part)) or len(_asked(part)) > LONGEST:
                part.name = "Delegated work"
                part.remarks = [Remark(RemarkKind.ASKED, "{{task}}")]
            first = seen.setdefault((key_of(part.name), part.agent), part)
            if first is part:
                parts.append(part)
            else:
                first.whole.add(part.whole)
                first.parts += part.parts
                _flatten(first)
        elif parts and isinstance(last := parts[-1], Stretch):
            last.take(part)
        else:
            parts.append(part)
    node.parts = parts


def _opened(node: Node) -> Iterator[Stretch | Node]:
    for part in node.parts:
        if isinstance(part, Node) and not part.reports:
            for remark in part.remarks:
                node.hear(remark)
            yield from _opened(part)
        else:
            yield part


def _absorb(before: Node, node: Node) -> None:
    """The checks of what goes on with a step are its own, and the corrections of commands."""
    before.whole.add(node.whole)
    for one in filter(None, (held(one, is_one_off=True) for one in node.remarks)):
        if one.kind is RemarkKind.CONSTRAINT:
            before.hear(one)
    for stretch in node.stretches():
        stretch.acts = [act for act in stretch.acts if act.deed in CHANGING | PROVING]
        home = next((one for one in before.stretches() if hands_on(one.acts)), None)
        if home is None:
            before.parts.append(stretch)
        else:  # what is committed and pushed is checked first
            at = next(at for at, act in enumerate(home.acts) if hands_on([act]))
            home.acts[at:at] = stretch.acts
            home.is_critical |= stretch.is_critical
    _flatten(before)


def _without_files(node: Node, *, is_changed: bool) -> bool:
    """Files that a step changed are `changes`, but for those that its words name; checks run over what changed.

    True if there are changes after it, as there may be before it.
    """
    text = " ".join(one.text for one in node.remarks)
    acts = [act for act in _acts(node) if act.deed in PROVING and _passed(act)]
    whole = {act.deed for act in acts if _whole(act) == act.what}
    for part in node.parts:
        if isinstance(part, Node):
            is_changed = _without_files(part, is_changed=is_changed)
            continue
        found, part.acts = part.acts, []
        for act in found:
            is_changed |= act.deed in CHANGING and _passed(act)
            is_kept = _passed(act) and (act.deed not in whole or _whole(act) == act.what)
            if act.deed not in PROVING or is_kept:
                part.acts.append(_generalized(act, text, is_changed=is_changed))
    return is_changed


def _passed(act: Act) -> bool:
    return act.outcome is Outcome.OK


def _red_at_first(acts: Iterable[Act]) -> Iterator[str]:
    """The checks that failed before anything was changed: what they print is what is to be fixed."""
    for act in acts:
        if act.deed in CHANGING and _passed(act):
            return
        if act.deed in PROVING and act.outcome is Outcome.FAILED:
            yield _whole(act)


def _whole(act: Act) -> str:
    """A check with `{{tests}}` for the tests and files that it was given."""
    words = act.what.rpartition("&& ")[2].split()
    at = next((at for at, word in enumerate(words) if at and _PART.match(word)), None)
    if at and words[at - 1][:1] == "-":
        at -= 1
    given = "{{tests}}" if act.deed is Deed.TEST else "{{files}}"
    return act.what if at is None else " ".join([*words[:at], given])


def _generalized(act: Act, text: str, *, is_changed: bool) -> Act:
    """An act of another run: it reads and writes what the words of its step name, what checks give, and changes."""
    reads = [datum for datum in act.reads if datum.name in text]
    is_edit = act.deed is Deed.EDIT
    writes = [one for one in act.writes if one.name in text or (is_edit and _is_top(one.name))]
    if act.deed in PROVING:
        writes = [*act.writes[-1:]]
        act = replace(act, what=_whole(act))
    elif act.deed in CHANGING and not writes:
        return replace(act, deed=Deed.EDIT, what=CHANGES.name, reads=(), writes=(CHANGES,))
    elif act.deed in CHANGING:
        return act
    if is_changed and (act.reads or act.deed in PROVING):
        reads.append(CHANGES)
    return replace(act, reads=tuple(reads), writes=tuple(writes))


def _is_top(file: str) -> bool:
    """True for a text at the top of the project, such as its changelog: every run has those."""
    return "/" not in file and not is_specific(file)
