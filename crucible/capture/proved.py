"""Evidence: the agent claims something, and a test or a benchmark made for that claim passed.

Owns what is a run made for a claim (no whole suite), and the words that claim before it or say behind it that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.acts.kinds import kind_of
from crucible.acts.model import Deed
from crucible.capture.marks import mark, weigh
from crucible.capture.sentences import Sentence
from crucible.capture.steps import Step, commands_of
from crucible.capture.unsettled import is_anothers, is_open
from crucible.patterns import late_pattern
from crucible.session.model import Outcome

__all__ = ["claimed_before", "is_made_for_claim", "proven_behind"]

# fmt: off
_READS = frozenset(
    ["ls", "cat", "head", "tail", "find", "grep", "rg", "ag", "fd", "wc", "stat", "file", "pwd", "cd", "echo", "printf", "sed", "awk", "cut", "sort", "uniq", "tree", "less", "more", "tee", "which", "type", "whoami", "date", "env", "git", "gh", "glab", "svn", "hg", "mkdir", "touch", "rm", "cp", "mv", "ln", "chmod", "chown", "export", "source", "set", "unset", "true", "false", "sleep", "kill", "ps", "df", "du", "pip", "pip3", "npm", "pnpm", "yarn", "bun", "poetry", "uv", "apt", "apt-get", "brew", "curl", "wget", "ssh", "scp", "rsync", "tar", "zip", "unzip", "docker-compose", "xdg-open", "open", "code", "vim", "nano", "man", "adr", "log4brains", "diff", "cmp", "jq"]
)
"""Programs that show, fetch or move: none of them shows that a claim is true; `jq` and `git` tell what is there."""
_NARROWS = frozenset(["-k", "-t", "-m", "-run", "--run", "-g", "--grep", "--filter", "--only", "--tests", "--select", "--testNamePattern", "-only-testing", "--match", "--spec", "-count", "--count", "--test", "--case", "--scenario", "--name"])
_WHOLE = frozenset(["test", "tests", "check", "verify", "lint", "build", "ci", "all", "spec", "specs", "unit", "suite", "qa", "validate", "typecheck", "types", "fmt", "format", "e2e", "integration", "discover", "run", "clean", "install", "./...", ".", "tests/", "test/", "spec/", "src", "src/", "--all", "--workspace", "-q", "-v", "-vv", "-x", "--quiet", "--verbose", "-s"])
_MEASURES = late_pattern(
    r"bench|perf|load|stress|soak|scale|replay|compar|round-?trip|diff|fuzz|drill|rehears|simul|explain|reconcil|measur|endur|dauer|abgleich|rapproch|probe|profil|latenc|throughput|chaos|netsplit|failover|matrix|property|propert|prove|proof|audit|trace|sweep|sampl|burst|count=|hyperfine|wrk|k6|locust|vegeta|pgbench|criterion|timeit|mutat|shadow|canary|verify_|check_|recover|restore|migrat|parity|golden|consisten|invariant|model-?check|tla|nachweis|messung|mesure|charge|essai"
)
_NUMBERS = late_pattern(r"\d")

_BELIEVES = mark(
    "believes", 2.0,
    r"\b(?:claim(?:s|ed|ing)?|hypothes[ie]s|assumption|expectation|conjecture|thesis|theory|prediction|premise|proposition|criterion|criteria|acceptance|requirement|promise[ds]?|guarantee[ds]?|invariant|contract|to (?:be )?(?:proven|proved|shown|demonstrated|verified|confirmed|established)|(?:the|a|as) (?:proof|evidence)|prove|prov(?:e|es|ing)|proof|demonstrat(?:e|es|ing)|i (?:am |'m )?(?:right|believe|expect|suspect|predict|bet|maintain|assert|contend|say|reckon|hold)|expect(?:ed|ing)?|if (?:i am|i'm|that is|this is|it is|my reading is|we are) (?:right|correct|true)|the whole point|the question is whether|the point is|what (?:matters|counts) is|supposed to (?:hold|be)|should (?:hold|be true|now be|stay|remain|be able|survive)|must (?:hold|stay|not|never|be)|evidence (?:that|for)|want (?:it|this|that|to see|to know)|before i (?:write|state|claim|promise|say|put|document|commit)|sla|slo|target|budget|goal|on trial|put to the test|to the test)\b",
    r"\b(?:annahme|behauptung|hypothese|these|vermutung|erwartung|erwarte|behaupte|vermute|beweis\w*|bewiesen|nachweis\w*|belegen|zu (?:beweisen|zeigen|belegen|prüfen)|zusage|kriterium|anforderung|versprechen|wenn (?:ich recht habe|das stimmt)|soll (?:gelten|halten)|muss (?:gelten|halten))\b|\b(?:hypothèse|supposition|affirmation|prévision|attente|attendu|prouver|preuve|démontrer|démonstration|voici le test|critère|exigence|promesse|si j'ai raison|je (?:parie|prétends|soutiens|suppose|m'attends|pense|crois))\b",
    r"\b(?:hipótesis|suposición|demostrar|probar|ipotesi|dimostrare|provare|hipótese|provar|hypothese|bewijzen|aantonen|hipoteza|udowodnić)\b|гипотез|доказ|утвержд|гіпотез|довести|假设|假说|证明|预期|仮説|証明|期待|가설|증명|예상",
)
_CHECKS = mark(
    "checks", 1.0,
    r"\b(?:confirm(?:ed|ing|s)?|check(?:ing|s|ed)?|show(?:ing|s|n)?|measur(?:e|es|ing|ed|ement)|test(?:ing|s|ed)?|verify(?:ing)?|verif(?:y|ies|ied)|validat(?:e|es|ing)|a run|the run|will tell|let's see|let me (?:see|show|measure|test|check|verify|find out)|now (?:to|the|for)|benchmark|bench|experiment|trial|prove it|see whether|find out|numbers)\b",
    r"\b(?:ich (?:messe|prüfe|zeige|teste|weise)|messe|messung|prüfung|probe|test|jetzt der|der test)\b|\b(?:je (?:mesure|vérifie|teste|montre)|mesure|vérifions|mesurons|essai|épreuve)\b|\b(?:mido|compruebo|misuro|verifico|meço|meten|mierzę)\b|измер|провер|перевір|测量|测试|验证|測定|検証|確認|측정|검증|확인",
)
_STATES = mark("states", 1.0, r"\b(?:that|whether|if|dass|ob|que|si|che|dat|że) \w+(?:\W+\w+){2}|\w: \w+(?:\W+\w+){2}|^(?:do|does|is|are|did|will|can|has|have) .{10,}\?$|; (?:here|now|this)\b|что|чи |是否|か(?:どうか)?")
"""A clause that may be true or false."""
_AGREES = mark(
    "agrees", 1.25,
    r"\b(?:pass(?:ed|es)?|green|checked|settles|settled|measured|numbers|figures|yes|indeed|done|true|good|fine|success\w*|there it is|there we go|there you have it|stands|works out|it is so|as (?:measured|shown|tested|claimed|seen))\b.{0,30}(?:: \w|, so \w| that \w|, which)|\b(?:as (?:measured|shown|tested|seen|the (?:run|numbers|output|result|measurement|benchmark|drill|test)\w* \w+))\b|[.;] ?(?:checked|measured|tested|shown|done)\.?$|^so,? (?:the |a |an |it |we |now )?.{15,}(?:, as |, by |, with )|^(?!.{0,60}\b(?:way|rules?|patterns?|how|lesson|techniques?|idiom|recipe|habit|keep|always|every|each|cause|culprit|reason|next|todo|note|remember|decision|choice|plan|step|files?|muster|regel|rezept|règle|recette)\b)\w+(?: \w+){0,4}: \w+(?:\W+\w+){2}",
)
_PROVES = mark(
    "proves", 2.0,
    r"\b(?:prove[ds]?|proven|proves|proof|confirmed|confirms|confirmation|verified|verifies|demonstrated|demonstrates|shown|shows|established|establishes|validated|validates|corroborat\w+|substantiat\w+|vindicated|qed|q\.e\.d|tested and true|is (?:now )?(?:a fact|certain|true|settled|given|evident|safe to say)|holds?(?: up| true| water| as| for| at| under| in| on| with| within| across)|held(?: up| true)?|rely on (?:it|that|this)|count on (?:it|that|this)|backed by|borne out|bears? (?:it|this|that|out)|evidence|as (?:claimed|expected|promised|predicted|hoped|suspected|supposed|required|hypothesi[sz]ed)|no errors? in the run|the (?:run|numbers|measurement|measurements|benchmark|bench|result|results|figures|data|experiment|test|trial|drill|replay|comparison)s? (?:\w+ )?(?:say|says|show|shows|prove|proves|agree|agrees|confirm|confirms|bear|bears|back|backs|tell|tells|support|supports|settle|settles|leave|leaves|speak|speaks)|beyond doubt|no doubt|without (?:a )?doubt|so it is true|it is true|turns out (?:to be )?true|turned out (?:to be )?true|claim (?:stands|holds)|checks out|measured:|result:|finding:|green light|criterion (?:is )?met|requirement (?:is )?met|within (?:the )?budget|on record now|now we know|we now know|now i know)\b",
    r"\b(?:holds?|held|stands|true|fact|proven|confirmed|verified)(?::|$| - )|^(?:result|finding|measured|outcome|conclusion|evidence|proof|verdict): ",
    r"\b(?:bestätigt|zeigen|erbracht|bewiesen|erwiesen|nachgewiesen|belegt|belegen|gezeigt|zeigt|verifiziert|steht fest|stimmt|trifft zu|hält|gilt also|beweis|nachweis erbracht|gemessen|wie (?:behauptet|erwartet|vermutet)|verlass)\b|\b(?:prouvé|confirmé|démontré|vérifié|établi|montre|montré|montrent|prouve|prouvent|confirme|confirment|démontre|avéré|validé|acquis|cqfd|tient|comme (?:prévu|attendu)|preuve)\b",
    r"\b(?:comprobado|demostrado|confirmado|verificado|queda claro|dimostrato|confermato|verificato|provato|comprovado|demonstrado|bewezen|bevestigd|aangetoond|udowodnione|potwierdzone)\b|доказано|подтвержд|доведено|підтвердж|证实|证明了|得到验证|已验证|実証|確認でき|証明され|입증|확인됨|증명",
)
_GENERIC = late_pattern(
    r"\b(?:everything|all|it|the (?:fix|change|code|suite|tests?|build|file|server|app|edit|patch|script|command)|tests?|this|that|things?) (?:still |now |all )?(?:works?|pass(?:es|ed)?|is (?:fine|green|ok|correct|working)|are (?:fine|green|ok)|compiles?|builds?|runs?|did not break|didn't break|loads?|looks?)\b|\bstill green\b|\btout passe\b|\balles grün\b|\bnothing (?:failed|broke)\b|\bpassing\b"
)
"""What is said of any run."""
# fmt: on


def is_made_for_claim(step: Step) -> bool:
    """Whether a call passed that tests or measures something in particular, and no whole suite."""
    if (
        step.outcome is not Outcome.OK
        or not step.script
        or any(act.deed in (Deed.WRITE, Deed.EDIT) for act in step.acts)
    ):
        return False
    commands = [words for words in commands_of(step.script) if words[0] not in _READS]
    return any(not _is_suite(words) for words in commands)


def _is_suite(words: Sequence[str]) -> bool:
    """Whether a command runs all that there is: `make test`, `pytest tests`, `go test ./...`."""
    rest = words[1:]
    if any(word.partition("=")[0] in _NARROWS or word.startswith("-D") for word in rest):
        return False
    plain = [word for word in rest if word not in _WHOLE and not word.startswith("-")]
    if kind_of(words) is not None:
        return all("/" not in word and "." not in word and ":" not in word for word in plain)
    return (
        words[0]
        in ("make", "just", "npm", "gradle", "./gradlew", "mvn", "task", "rake", "invoke", "tox", "nox")
        and not plain
    )


def _run_weight(step: Step) -> float:
    measures = _MEASURES.search(step.script[:400].casefold())
    return (1.0 if measures else 0.25) + (0.5 if _NUMBERS.search(step.result[:400]) else 0.0)


def claimed_before(sentences: Sequence[Sentence], step: Step) -> Sentence | None:
    """The claim right before a run, by the agent's words; the last one."""
    for place in range(len(sentences) - 1, max(-1, len(sentences) - 6), -1):
        one = sentences[place]
        if _GENERIC.search(one.plain) or is_anothers(one.plain):
            continue
        found = weigh(one.plain, (_BELIEVES, _CHECKS, _STATES))
        behind = sentences[place + 1].plain if place + 1 < len(sentences) else ""
        found |= weigh(behind, (_CHECKS,)) if behind else {}
        is_claim = "believes" in found or {"checks", "states"} <= {*found}
        if is_claim and sum(found.values()) + _run_weight(step) >= 3.25 and len(one.plain) > 20:
            return one
    return None


def proven_behind(sentences: Sequence[Sentence], step: Step) -> Sentence | None:
    """What is said right behind a run to hold now; the first of the first few sentences."""
    for one in sentences[:4]:
        if one.asks or _GENERIC.search(one.plain) or is_open(one.plain) or is_anothers(one.plain):
            continue
        found = weigh(one.plain, (_PROVES, _AGREES))
        if found and max(found.values()) + _run_weight(step) >= 2.75 and len(one.plain) > 15:
            return one
    return None
