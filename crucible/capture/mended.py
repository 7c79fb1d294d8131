"""Failures with resolutions: something failed, its cause was found, and it was mended.

Owns that one cause is one failure: the same command failing until it passes, also over phases, with the `[!error]` that tells of it; and what shows
that it was mended: a change after which the same command passes, another command of the same program, what an `[!error]` says, or a change
that the cause was told for.  That the same again went well, with nothing changed, is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crucible.acts.model import Deed
from crucible.capture.never import is_chance, is_of_environment
from crucible.capture.sentences import Sentence, content_words
from crucible.capture.steps import Step, commands_of
from crucible.patterns import late_pattern
from crucible.session.model import Failure, Intervention, Outcome, Prose

__all__ = ["Mended", "is_answer", "mended_in"]

_SOON = 8
"""Steps within which another command may do what the failed one was for."""
_NEAR = 4
"""Steps behind a failure, or before what mends it, within which words may be of it."""
_MANY = 32
"""Failures that are waited for at a time: the last ones."""
_TRIMS = frozenset(
    [
        "tail",
        "head",
        "grep",
        "tee",
        "cat",
        "less",
        "more",
        "sed",
        "awk",
        "sort",
        "uniq",
        "wc",
        "cut",
        "tr",
        "echo",
        "printf",
        "true",
        "cd",
    ]
)
_LOOKS = frozenset(
    [
        "ls",
        "cat",
        "find",
        "head",
        "tail",
        "rg",
        "grep",
        "ag",
        "fd",
        "cd",
        "pwd",
        "sed",
        "wc",
        "stat",
        "file",
        "tree",
        "which",
        "type",
        "env",
        "echo",
        "printf",
    ]
)
_ANSWERS = frozenset(
    [
        "diff",
        "cmp",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "which",
        "type",
        "test",
        "[",
        "[[",
        "pgrep",
        "command",
        "hash",
        "pidof",
        "false",
        "expr",
        "lsof",
        "nc",
        "jest-diff",
        "git-diff",
        "colordiff",
        "comm",
        "ls",
        "stat",
        "systemctl",
        "dpkg",
        "fuser",
        "ping",
    ]
)
"""Programs whose status is an answer."""
_ANSWERING = (("git", "diff"), ("git", "grep"), ("git", "merge-base"), ("git", "ls-files"), ("git", "show-ref"), ("git", "rev-parse"), ("git", "check-ignore"), ("git", "cat-file"), ("npm", "outdated"), ("npm", "ls"), ("pnpm", "outdated"), ("yarn", "outdated"), ("docker", "inspect"), ("brew", "list"), ("pip", "show"), ("jq", "-e"), ("gh", "auth"), ("kubectl", "diff"), ("ruff", "--diff"))  # fmt: skip
_UNKNOWN = late_pattern(
    r"\b(?:cause|reason|why|what happened)\b.{0,40}\b(?:unknown|unclear|open|mystery|not (?:known|clear|found|obvious))\b|\b(?:can't|cannot|could not|couldn't|can not|do not|don't) (?:tell|say|find|explain|see|know|reproduce|figure)\b|\bunclear\b|\bno (?:idea|explanation|clue|trace)\b|\b(?:don't|do not) understand\b|\briddle\b|\bstrange\b|\bweird\b|\bodd\b|\bparked\b|\bmystery\b|\bpuzzling\b|\bunexplained\b|\bmoving on\b|\bgoing on\b|\bgive up\b|\bgiving up\b|\bleav(?:e|ing) (?:it|that)\b|\bstays as it is\b|\bskip(?:ping)? (?:it|that|this)\b|\b(?:will|to) (?:look|come back)\b.{0,20}\blater\b|\bnot now\b|\bset aside\b"
    r"|\bunklar\b|\bkeine ahnung\b|\bweiß nicht\b|\brätsel|\bich lasse es\b|\bweiter mit anderem\b|\bpas clair\b|\baucune idée\b|\bje ne sais pas\b|\bmystère\b|\bje passe\b|不清楚|原因不明|неясно|невідом"
)
_GUESS = late_pattern(
    r"\b(?:maybe|perhaps|might|could be|possibly|probably|vielleicht|peut-être|quizás|forse|talvez|может быть|也许|もしかして)\b"
)
_CAUSE = late_pattern(
    r"\b(?:because|cause[ds]?|causing|culprit|reason|root|explains?|explanation|that's why|that is why|this is why|so that's|fault|due to|owing to|stems? from|comes? (?:down to|from)|boils down|turns out|turned out|found (?:it|the)|traced|the (?:problem|bug|issue|trouble|mistake|error|catch) (?:is|was|lies)|what happens|what happened|happens because|blame|the fix|fixed by|to fix|needs? to|has to|have to|must|should|was missing|is missing|lacks?|forgot|never|before|after|wrong|instead|points? at|points? to|diagnosis|it is|it was|since|as the|there it is|got it|aha|i see|means that|fails? (?:when|as|since)|responsible|origin|behind it|trips? over|stumbles?)\b"
    r"|\b(?:ursache|grund|liegt (?:es )?(?:an|daran)|daran|deshalb|weil|denn|schuld|gefunden|fehler (?:ist|war|liegt)|klar|erklärt|fehlt|muss)\b|\b(?:cause|raison|parce que|car|voilà|trouvé|coupable|faute|explique|vient de|dû à|à cause|manque|doit|il faut|problème)\b|\b(?:causa|culpa|porque|perché|oorzaak|przyczyna|bo|dlatego)\b|причин|потому|из-за|тому що|через те|原因|因为|由于|原来|ため|から|せい|원인|때문"
)
_ROUTINE = late_pattern(
    r"^(?:let me|i'll|i will|now|next|first|then|looking|checking|reading|opening|running|trying|adding|writing|fixing it|here goes|on to|going to|time to|ich (?:lese|sehe|öffne|schreibe)|jetzt|zuerst|je (?:lis|regarde|vais)|maintenant|d'abord)\b(?!.{0,120}(?:because|since|cause|:|weil|denn|car))"
)
_RED_FIRST = late_pattern(r"\b(?:failing test|test[- ]first|tests? first|tdd|red[- ]green|should fail|must fail|will fail|expected to fail|supposed to fail|see (?:it|that|them) fail|watch it fail|reproduc\w*|fails? as (?:it should|expected|planned))\b")  # fmt: skip
_WORD = late_pattern(r"[^\W_]+")


@dataclass(slots=True)
class Mended:
    """One cause: its first and last try, the words and the error that tell why, what mended it, and whether that is certain.

    `passed` is the step that shows it, if any did.
    """

    first: Step
    key: tuple[object, ...] = ()
    last: Step | None = None
    cause: str = ""
    told: Failure | None = None
    passed: Step | None = None
    is_certain: bool = True
    is_void: bool = False
    changed: Step | None = None
    cause_at: int = -99
    resolution: str = ""
    words: list[str] = field(default_factory=list)

    @property
    def message(self) -> str:
        """What went wrong, in one line."""
        text = self.first.result if self.first.call else (self.told.text if self.told else "")
        lines = [line.strip() for line in text[-4000:].split("\n") if line.strip()]
        return next((line for line in lines if _TELLS.search(line[:300])), lines[0] if lines else "")[:300]


_TELLS = late_pattern(
    r"(?i:error|exception|fail|fatal|panic|cannot|can't|denied|no such|refused|undefined|missing|invalid|expected|unknown|not found|❌)"
)


def mended_in(steps: Sequence[Step], said: dict[int, list[Sentence]]) -> list[Mended]:
    """The failures of a session that were mended, by cause, in order; `said` are the sentences of the steps that are prose."""
    walk = _Walk(steps, said)
    for step in steps:
        walk.see(step)
    return [one for one in walk.found if _is_kept(one)]


def _is_kept(one: Mended) -> bool:
    if one.is_void:
        return False
    is_told = one.told is not None and not one.resolution
    if not (one.passed or one.resolution or (one.changed and one.cause and not is_told)):
        return False
    told = f"{one.told.text if one.told else ''}\n{one.resolution}\n{one.cause}"
    message = one.first.result if one.first.call else ""
    return not (
        is_of_environment(message[-3000:]) or is_of_environment(told) or _is_chance(one, message, told)
    )


def _is_chance(one: Mended, message: str, told: str) -> bool:
    return is_chance(told) or (is_chance(message[-3000:]) and not (one.cause and one.passed and one.changed))


class _Walk:
    def __init__(self, steps: Sequence[Step], said: dict[int, list[Sentence]]) -> None:
        self.steps, self.said = steps, said
        self.found: list[Mended] = []
        self.open: list[Mended] = []
        self.changed = -1

    def see(self, step: Step) -> None:
        if isinstance(step.entry, Failure):
            self._tell(step, step.entry)
        elif isinstance(step.entry, Prose):
            self._say(step)
        elif step.outcome is Outcome.FAILED:
            self._fail(step)
        elif step.outcome is Outcome.OK:
            self._pass(step)

    def _fail(self, step: Step) -> None:
        key = _key_of(step)
        if is_answer(step):
            return
        same = next((one for one in reversed(self.open) if one.key == key), None)
        if same is not None:
            same.last, same.cause, same.changed = step, "", None  # what was taken for the cause was none
            same.words.clear()
            return
        one = Mended(step, key, step)
        one.is_void = self._is_red_first(step)
        self.found.append(one)
        self.open = [*self.open[1 - _MANY :], one]

    def _is_red_first(self, step: Step) -> bool:
        before = self.said.get(step.at - 1, [])[-3:]
        return any(_RED_FIRST.search(one.plain) for one in before)

    def _say(self, step: Step) -> None:
        """Words behind a failure may tell its cause."""
        if not self.open:
            return
        sentences = self.said.get(step.at, [])
        one = self.open[-1]
        at = (one.last or one.first).at
        if any(_UNKNOWN.search(each.plain) for each in sentences):
            if step.at - at <= 2:
                one.words.clear()
                self._forget(one)
            return
        one.words += [
            each.text for each in sentences if len(each.plain) >= 25 and not _ROUTINE.match(each.plain)
        ]
        for each in self.open[-3:]:
            if cause := _cause_in(sentences, each, step.at - (each.last or each.first).at):
                each.cause, each.cause_at = cause, step.at

    def _forget(self, one: Mended) -> None:
        """Nobody knows why: only the same command passing later shows that it was mended."""
        one.cause, one.changed = "", None

    def _tell(self, step: Step, entry: Failure) -> None:
        one = next((each for each in reversed(self.open) if self._is_of(each, step, entry)), None)
        one = one or next((each for each in self.found[-2:] if self._is_behind(each, step, entry)), None)
        if one is None:
            if entry.resolution:
                self.found.append(
                    Mended(step, ("told",), told=entry, resolution=entry.resolution, cause=entry.text)
                )
            return
        one.told = entry
        if entry.resolution:
            one.resolution = one.cause = entry.resolution

    def _is_of(self, one: Mended, step: Step, entry: Failure) -> bool:
        if one.told is not None:
            return False
        words = _words(entry.text)
        shared = len(words & _words(one.first.result[-3000:])) / max(1, len(words))
        distance = step.at - (one.last or one.first).at
        return distance == 1 or (distance <= 12 and shared >= 0.5)

    def _is_behind(self, one: Mended, step: Step, entry: Failure) -> bool:
        """Whether an error is told of what was mended just now."""
        return (
            one.passed is not None
            and one.told is None
            and step.at - one.passed.at <= 2
            and bool(entry.resolution)
        )

    def _pass(self, step: Step) -> None:
        if step.changes:
            self.changed = step.at
            for one in self.open[-3:]:
                if (
                    one.changed is None
                    and step.at - one.cause_at == 1
                    and one.cause_at - (one.last or one.first).at <= 2
                ):
                    one.changed = step
        if not step.script:
            return
        key = _key_of(step)
        for one in list(self.open):
            if one.key == key:
                self.open.remove(one)
                self._mend(one, step)
            elif self._does_otherwise(one, step):
                one.passed, one.is_certain = step, bool(one.cause)
                self.open.remove(one)

    def _mend(self, one: Mended, step: Step) -> None:
        """The same command passes: by a change since it last failed, else by chance."""
        last = (one.last or one.first).at
        since = [each for each in self.steps[last + 1 : step.at] if _may_mend(each)]
        if since:
            one.passed, one.changed = step, one.changed or since[-1]
        else:
            one.is_void = True

    def _does_otherwise(self, one: Mended, step: Step) -> bool:
        """Whether another command of the same program does what the failed one was for, after its cause was told."""
        last = one.last or one.first
        if not last.script or step.at - last.at > _SOON or not (one.cause or one.words) or one.is_void:
            return False
        failed, passed = commands_of(last.script), commands_of(step.script)
        if not failed or not passed:
            return False
        first = next((words for words in failed if words[0] not in _TRIMS), failed[0])
        later = next((words for words in passed if words[0] == first[0]), None)
        if later is None or (first[0] in _LOOKS and one.told is None):
            return False
        is_meant = _alike(" ".join(first), " ".join(later)) >= (0.3 if one.cause else 0.6)
        one.cause = one.cause or (one.words[-1] if is_meant else "")
        return is_meant


def _may_mend(step: Step) -> bool:
    """Whether a step may have changed what a command finds: an edit, a user's word, a command that does more than look."""
    if isinstance(step.entry, Intervention):
        return False
    if step.outcome is not Outcome.OK:
        return False
    if any(act.deed in (Deed.EDIT, Deed.WRITE, Deed.DELETE) for act in step.acts):
        return True
    return bool(step.script) and any(_does_more(words) for words in commands_of(step.script))


_DOES = frozenset(
    [
        "npm",
        "pnpm",
        "yarn",
        "pip",
        "pip3",
        "uv",
        "poetry",
        "bundle",
        "cargo",
        "go",
        "mvn",
        "gradle",
        "apt",
        "apt-get",
        "brew",
        "mkdir",
        "touch",
        "cp",
        "mv",
        "rm",
        "chmod",
        "chown",
        "ln",
        "export",
        "docker",
        "podman",
        "kubectl",
        "createdb",
        "psql",
        "alembic",
        "make",
        "just",
        "patch",
        "git",
    ]
)
_DOES_WHAT = frozenset(
    [
        "install",
        "i",
        "ci",
        "add",
        "remove",
        "update",
        "upgrade",
        "sync",
        "migrate",
        "up",
        "down",
        "start",
        "restart",
        "stop",
        "create",
        "init",
        "apply",
        "get",
        "tidy",
        "generate",
        "build",
        "clean",
        "checkout",
        "reset",
        "restore",
        "pull",
        "merge",
        "rebase",
        "stash",
        "config",
        "set",
        "link",
        "compose",
        "upgrade",
        "fix",
        "mod",
    ]
)


def _does_more(words: Sequence[str]) -> bool:
    if words[0] in (
        "mkdir",
        "touch",
        "cp",
        "mv",
        "rm",
        "chmod",
        "chown",
        "ln",
        "export",
        "createdb",
        "patch",
    ):
        return True
    return words[0] in _DOES and any(
        word.partition("-")[0].partition(":")[0] in _DOES_WHAT for word in words[1:4]
    )


def _key_of(step: Step) -> tuple[object, ...]:
    if not step.script:
        return ("tool", step.call.call if step.call else "")
    commands = commands_of(step.script)
    kept = tuple(words for words in commands if words[0] not in _TRIMS) or commands
    return ("shell", *kept) if kept else ("shell", step.script.strip())


def is_answer(step: Step) -> bool:
    """Whether a status other than 0 was only the answer: `grep` found nothing."""
    if not step.script:
        return True  # what a file tool refuses is the next try's to mend
    commands = commands_of(step.script)
    return bool(commands) and (
        commands[-1][0] in _ANSWERS or commands[-1][:2] in _ANSWERING or commands[0][:2] in _ANSWERING
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text[:3000].casefold()) if len(word) > 2)


def _alike(one: str, other: str) -> float:
    first, second = set(_WORD.findall(one.casefold())), set(_WORD.findall(other.casefold()))
    return len(first & second) / max(1, len(first | second))


def _cause_in(sentences: Sequence[Sentence], one: Mended, distance: int) -> str:
    """The sentence that tells a failure's cause; "" for none."""
    best, most = "", 0.0
    known = content_words(f"{one.first.result[-2000:]} {one.first.script[:500]}")
    for each in sentences[:8]:
        if each.asks or _GUESS.search(each.plain) or is_of_environment(each.plain) or is_chance(each.plain):
            continue
        weight = _cause_weight(each, known, distance)
        if weight > most:
            best, most = each.text, weight
    return best if most >= 1.0 else ""


def _cause_weight(one: Sentence, known: frozenset[str], distance: int) -> float:
    if len(one.plain) < 15 or _ROUTINE.match(one.plain):
        return 0.0
    shared = len(content_words(one.plain) & known)
    says = bool(_CAUSE.search(one.plain)) or ": " in one.plain
    if distance > _NEAR:
        return 1.0 if says and (shared or ":" in one.plain) else 0.0
    return (1.0 if says else 0.0) + min(1.5, 0.75 * shared) + (0.3 if len(one.plain) > 25 else 0.0)
