"""Evidence: the agent claims something, and a test or a benchmark made for that claim passed.

Owns what is a run made for a claim (no whole suite), and the words that claim before it or say behind it that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.acts.kinds import kind_of
from crucible.acts.model import Deed
from crucible.capture.corrected import takes_back
from crucible.capture.marks import mark, weigh
from crucible.capture.sentences import Sentence, content_words
from crucible.capture.steps import Step, commands_of
from crucible.capture.unsettled import is_anothers
from crucible.patterns import late_pattern
from crucible.session.model import Outcome

__all__ = ["claimed_before", "is_made_for_claim", "is_said_outright", "proven_behind"]

# fmt: off
_READS = frozenset(
    ["ls", "cat", "head", "tail", "find", "grep", "rg", "ag", "fd", "wc", "stat", "file", "pwd", "cd", "echo", "printf", "sed", "awk", "cut", "sort", "uniq", "tree", "less", "more", "tee", "which", "type", "whoami", "date", "env", "git", "gh", "glab", "svn", "hg", "mkdir", "touch", "rm", "cp", "mv", "ln", "chmod", "chown", "export", "source", "set", "unset", "true", "false", "sleep", "kill", "ps", "df", "du", "pip", "pip3", "apt", "apt-get", "brew", "curl", "wget", "ssh", "scp", "rsync", "tar", "zip", "unzip", "docker-compose", "xdg-open", "open", "code", "vim", "nano", "man", "adr", "log4brains", "diff", "cmp", "jq"]
)
"""Programs that show, fetch or move: none of them shows that a claim is true; `jq` and `git` tell what is there."""
_MANAGERS = frozenset(["npm", "pnpm", "yarn", "bun", "poetry", "uv", "composer", "bundle", "cargo", "go", "mix", "dotnet", "pdm", "hatch", "pipenv", "deno", "conda", "gem", "mvn", "gradle"])
_FETCHES = frozenset(["install", "i", "ci", "add", "remove", "rm", "update", "upgrade", "sync", "init", "link", "publish", "login", "config", "outdated", "ls", "list", "view", "info", "create", "fetch", "get", "mod", "tidy", "lock", "restore", "deps.get", "dedupe", "audit", "version", "fmt", "format", "clean", "download", "vendor", "metadata", "tree", "why", "prune"])
"""What a package manager is told to do that shows nothing."""
_NARROWS = frozenset(["-k", "-t", "-m", "-run", "--run", "-g", "--grep", "--filter", "--only", "--tests", "--select", "--testNamePattern", "-only-testing", "--match", "--spec", "-count", "--count", "--test", "--case", "--scenario", "--name"])
_WHOLE = frozenset(["test", "tests", "check", "verify", "lint", "build", "ci", "all", "spec", "specs", "unit", "suite", "qa", "validate", "typecheck", "types", "fmt", "format", "e2e", "integration", "discover", "run", "clean", "install", "./...", ".", "tests/", "test/", "spec/", "src", "src/", "--all", "--workspace", "-q", "-v", "-vv", "-x", "--quiet", "--verbose", "-s"])
_MEASURES = late_pattern(
    r"bench|perf|load|stress|soak|scale|replay|compar|round-?trip|diff|fuzz|drill|rehears|simul|explain|reconcil|measur|endur|dauer|abgleich|rapproch|probe|profil|latenc|throughput|chaos|netsplit|failover|matrix|property|propert|prove|proof|audit|trace|sweep|sampl|burst|count=|hyperfine|wrk|k6|locust|vegeta|pgbench|criterion|timeit|mutat|shadow|canary|verify_|check_|recover|restore|migrat|parity|golden|consisten|invariant|model-?check|tla|nachweis|messung|mesure|charge|essai"
)
_NUMBERS = late_pattern(r"\d")

_BELIEVES = mark(
    "believes", 2.0,
    r"\bworth (?:it|keeping|doing) only if\b|\b(?:has|have|ought) to be true\b|\b(?:next|now),? i verify\b|\b(?:said|told|promised|stated) (?:you )?that\b.{5,}\b(?:check|run|measure|test|proof)\b|\bstands or falls\b|\bonly (?:holds|works|pays) if\b",
    r"\b(?:claim(?:s|ed|ing)?|hypothes[ie]s|assumption|expectation|conjecture|thesis|theory|prediction|premise|proposition|criterion|criteria|acceptance|requirement|promise[ds]?|guarantee[ds]?|invariant|contract|to (?:be )?(?:proven|proved|shown|demonstrated|verified|confirmed|established)|(?:the|a|as) (?:proof|evidence)|prove|prov(?:e|es|ing)|proof|demonstrat(?:e|es|ing)|i (?:am |'m )?(?:right|believe|expect|suspect|predict|bet|maintain|assert|contend|say|reckon|hold)|expect(?:ed|ing)?|if (?:i am|i'm|that is|this is|it is|my reading is|we are) (?:right|correct|true)|the whole point|the question is whether|the point is|what (?:matters|counts) is|supposed to (?:hold|be)|should (?:hold|be true|now be|stay|remain|be able|survive)|must (?:hold|stay|not|never|be)|evidence (?:that|for)|want (?:it|this|that|to see|to know)|before i (?:write|state|claim|promise|say|put|document|commit)|sla|slo|target|budget|goal|demand(?:s|ed)?|require(?:s|d)?|says that|statement|postulat\w*|presum\w*|suspicion|bet|wager\w*|conviction|confident|convinced|persuaded|sure that|certain that|asserti\w+|by design|in principle|on trial|put to the test|to the test)\b",
    r"\b(?:annahme|behauptung|hypothese|these|vermutung|erwartung|erwarte|behaupte|vermute|beweis\w*|bewiesen|nachweis\w*|belegen|zu (?:beweisen|zeigen|belegen|prüfen)|zusage|kriterium|anforderung|versprechen|wenn (?:ich recht habe|das stimmt)|soll (?:gelten|halten)|muss (?:gelten|halten))\b|\b(?:hypothèse|supposition|affirmation|prévision|attente|attendu|prouver|preuve|montrer|reste à|démontrer|démonstration|voici le test|critère|exigence|promesse|si j'ai raison|je (?:parie|prétends|soutiens|suppose|m'attends|pense|crois))\b",
    r"\b(?:hipótesis|suposición|demostrar|probar|ipotesi|dimostrare|provare|hipótese|provar|hypothese|bewijzen|aantonen|hipoteza|udowodnić)\b|гипотез|доказ|утвержд|гіпотез|довести|假设|假说|证明|预期|仮説|証明|期待|가설|증명|예상",
)
_CHECKS = mark(
    "checks", 1.0,
    r"\b(?:numbers|figures|quantif\w+|data|assess\w*|examin\w*|evaluat\w*|establish\w*|ascertain\w*|assure|ensur\w*|dedicated|probe|probing|stress|put(?:ting)? .{0,20}to the test|drill|rehears\w+|simulat\w+|see (?:if|whether|that|how)|time it|timing|confirm(?:ed|ing|s)?|check(?:ing|s|ed)?|show(?:ing|s|n)?|measur(?:e|es|ing|ed|ement)|test(?:ing|s|ed)?|verify(?:ing)?|verif(?:y|ies|ied)|validat(?:e|es|ing)|a run|the run|will tell|let's see|let me (?:see|show|measure|test|check|verify|find out)|now (?:to|the|for)|benchmark|bench|experiment|trial|prove it|see whether|find out|numbers)\b",
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
    r"\breally is (?:the case|so|true)\b|\bnow (?:we|i) know\b|\b(?:exactly |just )?as (?:predicted|promised|hoped|claimed|suspected),? \w|\bmeasured (?:just now|now|again)\b|\btest result\b|\bsign(?:ed)? off on\b|\b(?:with|by) (?:the )?numbers\b|\b(?:tried|built|meant|designed) to break (?:this|it)\b|\b(?:was|were) right (?:that|about)\b|\bda la razón\b|\bon (?:le )?sait\b|\bwissen wir\b",
    r"\b(?:prove[ds]?|proven|proves|proof|confirmed|confirms|confirmation|verified|verifies|demonstrated|demonstrates|shown|shows|established|establishes|validated|validates|corroborat\w+|substantiat\w+|vindicated|qed|q\.e\.d|tested and true|is (?:now )?(?:a fact|certain|true|settled|given|evident|safe to say)|holds?(?: up| true| water| as| for| at| under| in| on| with| within| across)|held(?: up| true)?|rely on (?:it|that|this)|count on (?:it|that|this)|backed by|borne out|bears? (?:it|this|that|out)|evidence|as (?:claimed|expected|promised|predicted|hoped|suspected|supposed|required|hypothesi[sz]ed)|no errors? in the run|the (?:run|numbers|measurement|measurements|benchmark|bench|result|results|figures|data|experiment|test|trial|drill|replay|comparison)s? (?:\w+ )?(?:say|says|show|shows|prove|proves|agree|agrees|confirm|confirms|bear|bears|back|backs|tell|tells|support|supports|settle|settles|leave|leaves|speak|speaks)|beyond doubt|no doubt|without (?:a )?doubt|so it is true|it is true|turns out (?:to be )?true|turned out (?:to be )?true|claim (?:stands|holds)|checks out|measured:|result:|finding:|green light|criterion (?:is )?met|requirement (?:is )?met|within (?:the )?budget|on record now|now we know|we now know|now i know|measured|benchmarked|tested|unambiguous\w*|conclusive\w*|undeniabl\w*|indisputabl\w*|incontrovertibl\w*|irrefutabl\w*|definitive\w*|attested|certified|ascertained|reproduced|replicated|observed|witnessed|guaranteed|settle[sd]|establishe[sd]|vindicat\w+|clinche[sd]|nail(?:s|ed) it|case closed|job done on|so much is (?:clear|certain|sure)|empirical\w*|in practice|under (?:load|stress|fire)|in numbers|by (?:the )?numbers|by measurement|the figures?|hence|therefore|thus|consequently|which means|that means|meaning that|indeed|in fact|as (?:it )?(?:should|must)|passes muster|lives up|delivers|delivered|kept its promise|keeps its promise|promise (?:is )?kept|target (?:is )?(?:met|reached|hit)|met|meets|satisfie[sd]|fulfil\w*|achieved|reached|cleared|within (?:the )?(?:limits?|bounds?|target|tolerance)|no longer a (?:guess|theory|hypothesis|hope)|not (?:just )?(?:a )?(?:guess\w*|theory|hoped?|wish\w*|assumed)|hard evidence|identical|equal\w*|survives?|hold(?:s)? at|lossless|without (?:a |any )?(?:loss|lost|single|drop|error|failure|mismatch)\w*|costs? about|black and white|speaks? for (?:itself|themselves)|upheld|uphold\w*|there we have|there it is|la preuve|established|survive[sd]?|exceed\w*|on paper|green|checked|came back|came out|comes out)\b",
    r"\b(?:holds?|held|stands|true|fact|proven|confirmed|verified)(?::|$| - )|^(?:result|finding|measured|outcome|conclusion|evidence|proof|verdict): ",
    r"\b(?:bestätigt|zeigen|erbracht|bewiesen|erwiesen|nachgewiesen|belegt|belegen|gezeigt|zeigt|verifiziert|steht fest|stimmt|trifft zu|hält|gilt also|beweis|nachweis erbracht|gemessen|wie (?:behauptet|erwartet|vermutet)|verlass\w*|somit|daher|damit|also gilt|zahlen|messwerte|erfüllt|eingehalten|eindeutig|tatsächlich|gesichert|untermauer\w+)\b|\b(?:prouvé|confirmé|démontré|vérifié|établi|montre|montré|montrent|prouve|prouvent|confirme|confirment|démontre|avéré|validé|acquis|cqfd|tient|comme (?:prévu|attendu)|preuve|donc|chiffres|mesures?|mesurée?|atteste\w*|sans appel|respecté\w*|atteint\w*|effectivement|constat\w*)\b",
    r"\b(?:comprobado|demostrado|confirmado|verificado|queda claro|dimostrato|confermato|verificato|provato|comprovado|demonstrado|bewezen|bevestigd|aangetoond|udowodnione|potwierdzone)\b|доказано|подтвержд|доведено|підтвердж|证实|证明了|得到验证|已验证|実証|確認でき|証明され|입증|확인됨|증명",
)
_DEMANDS = late_pattern(r"\b(?:demand\w*|requir\w*|promis\w*|guarante\w*|criteri\w+|contract\w*|agreed|sla|slo|expects?|wants?|asks?|must|should|verlangt|fordert|versprochen|exige|demande|promis)\b")
"""What others want to hold is a claim as well."""
_GENERIC = late_pattern(
    r"\b(?!(?:this|that|the) run\b)(?:everything|all|it|the (?:fix|change|code|suite|tests?|build|file|server|app|edit|patch|script|command)|tests?|this|that|things?) (?:still |now |all )?(?:works?|pass(?:es|ed)?|is (?:fine|green|ok|correct|working)|are (?:fine|green|ok)|compiles?|builds?|runs?|did not break|didn't break|loads?|looks?)\b|\bstill green\b|\btout passe\b|\balles grün\b|\bnothing (?:failed|broke)\b|\bpassing\b"
)
"""What is said of any run."""
_WHETHER = mark(
    "whether", 1.25,
    r"\b(?:whether|wether|ob|si) \w+(?:\W+\w+){2}|\b(?:should|must|shall|ought to|has to|have to|supposed to|required to|needs to|sollte[n]?|soll|muss|müssen|doit|doivent|devrait|devraient|debe|deve|dovrebbe) (?:\w+ ){0,2}?(?:not |never |always |now |nicht |nie |immer |pas |jamais |toujours )?(?:be|stay|remain|keep|hold|survive|take|need|cost|run|fit|finish|come|give|lose|drop|scale|outlive|sein|bleiben|halten|être|rester|tenir)\b|\?$",
)
"""What is asked, or demanded, of what a run is to show."""
_UNSHOWN = late_pattern(
    r"\b(?:inconclusive|not conclusive|no (?:proof|evidence|conclusion|verdict|answer)|proves? (?:nothing|little)|(?:does|do|did)(?:n't| not) (?:prove|show|confirm|hold)|not (?:yet )?(?:proven|shown|confirmed|clear|enough|sure|significant)|can(?:not|'t) (?:tell|say|conclude)|unclear|noisy|hard to (?:say|tell)|too early|undecided|still (?:open|unclear|slow|to be)|slower than|worse than|more than i|disappoint\w*|hmm|keine aussage|nicht eindeutig|unklar|pas concluant|pas clair)\b"
)
"""That a run showed nothing, or something else than hoped."""
_QUANTITIES = late_pattern(
    r"\d[\d.,']* ?(?:ms|µs|us|ns|s|sec(?:onds?)?|min|h|hz|khz|mhz|fps|rps|qps|tps|req/s|ops|mb|kb|gb|mib|kib|gib|mo|ko|go|bytes?|%|x|w|mw|ua|µa|ma|db|°c|px|lines?|rows?|samples?|inputs?|runs?|rounds?|points?|accounts?|iterations?|cycles?|allocs?|zeilen|lignes|fois)\b|\d ?%|\b0[.,]\d+\b|\d± ?\d|±|\b\d+ (?:of|out of|von|sur|de|/) \d+\b|\b(?:0|no|zero|null|keine?|aucune?) (?:\w+ )?(?:mismatch\w*|differ\w*|lost|losses|dropped|duplicates?|doubles?|violations?|collisions?|conflicts?|leaks?|errors?|changed|repeated|executed|missing|diffs?|crashes|counterexamples?|regressions?|deadlocks?|races|gaps?|orphans?|stale|corrupt\w*|doppelt|doublons?|écarts?)\b|\bp\(?\d\d|\b(?:median|mean|worst|max|min|avg|average|stddev|ratio|rate|p50|p95|p99|speedup|throughput|latency|rss|auc|f1|rmse|accuracy)\b.{0,20}\d|\d .*\b\d"
)
_SUMMARY = late_pattern(
    r"\b\d+ (?:passed|passing|tests?|specs?|examples?|assertions?)\b(?!.{0,40}\d.{0,40}\b(?:runs?|mismatch|lost)\b)|^ok\b.{0,80}\d+\.\d+s\s*$|\btests? run: \d|\btest result: ok\b|\bbuild success|\bfinished\b.{0,40} in \d|\bbuilt in \d|\bdone in \d|\bready in \d"
)
"""What test runners and builds print at their end, which measures nothing."""
_PART = late_pattern(r"[^\W\d_]{4,}")
_HUMP = late_pattern(r"(?<=[a-zà-ÿ])(?=[A-Z])")
_EMPTY = frozenset(["bench", "tests", "test", "tools", "scrip", "pytho", "cargo", "numbe", "measu", "check", "confi", "prove", "prova", "shows", "shown", "from", "with", "that", "this", "than", "then", "have", "make", "over", "each", "every", "does", "only", "never", "still", "passe", "runs", "time", "times", "resul", "value", "after", "befor", "stays", "under", "code"])
"""Stems that every run and every claim has."""
_TURNS = late_pattern(r"^(?:i |i'|we |let |let's |ich |wir |je |nous |on (?:va|passe)|my |now |next|then |here|there)|\b(?:pattern|rule|lesson|decided|decision|chose|going with|remember|todo|fixme)\b")
_STEP = late_pattern(
    r"^(?:my (?:reading|understanding|impression) ?:|as far as i|note that|noting|good to know|for reference|i read it|from (?:the|reading) (?:code|source|docs)|reading (?:the|this)|soweit ich|so lese ich|d'après le code|je note|by the way|side note|i(?:'ll| will| am going| have| went| read|'m going| need| can now)|let me (?:read|look|open|go|add|write|fix|see the|see what|edit|update|run|start|rerun|re-run)|(?:now|next|then|first|second|finally|after that)(?:,? (?:i|we|the|for|to|let|on|comes?|up)\b)|on to|over to|going on|moving on|back to|looking at|opening|reading|writing|adding|renaming|continuing|running (?:the|it|this)|time to|ich (?:habe|lese|schreibe|gehe|mache|sehe)|jetzt (?:noch|die|der|das)?\b.{0,30}$|weiter mit|als nächstes|zunächst|je (?:lis|passe|continue|vais|l'écris)|j'ai lu|ensuite|maintenant|la suite|summary|where things|so far:|done with)\b(?!.{0,80}\b(?:whether|proof|prove|evidence|benchmark|hypothesis|claim|back up|find out|show|test|see if|guarantee|statement|beweis|nachweis|messung|preuve|hypothèse)\b)"
)
"""How a sentence begins that tells a step of the work."""
_KNOWS = late_pattern(r"(?:now (?:we|i) (?:know|can (?:say|be sure))|(?:now )?i can (?:now )?(?:say|state|confirm|sign off|report)|(?:next|now),? i (?:verify|prove|establish|demonstrate|confirm)|let me (?:prove|verify|confirm|demonstrate) that)\b")
"""How one begins that sounds like a step and tells what was, or is to be, shown."""
_NEXT = late_pattern(r"\b(?:comes next|is next|are next|goes next|has \d+ lines|have \d+ lines|hat \d+ zeilen|fait \d+ lignes|has \w+ callers|is typing|kommt als nächstes|folgt\b.{0,12}$)\b|^[^:]{0,30}: *$")
# fmt: on
_LEAST, _LEAD = 15, 32
"""Code points of a sentence that states too little, and of one that belongs to what stands beside it."""
_CLAIMED, _PROVEN = 3.0, 3.0


def is_made_for_claim(step: Step) -> bool:
    """Whether a call passed that tests or measures something in particular, and no whole suite."""
    if (
        step.outcome is not Outcome.OK
        or not step.script
        or any(act.deed in (Deed.WRITE, Deed.EDIT) for act in step.acts)
    ):
        return False
    commands = [words for words in commands_of(step.script) if not _only_reads(words)]
    return any(not _is_suite(words) for words in commands)


def _only_reads(words: Sequence[str]) -> bool:
    return words[0] in _READS or (words[0] in _MANAGERS and words[1:2] != () and words[1] in _FETCHES)


def _is_suite(words: Sequence[str]) -> bool:
    """Whether a command runs all that there is: `make test`, `pytest tests`, `go test ./...`."""
    rest = words[1:]
    if _MEASURES.search(" ".join(rest).casefold()):
        return False
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
    """How much a run looks like a measurement: by what it is called, and by the quantities that it printed."""
    measures = _MEASURES.search(step.script[:400].casefold())
    printed = step.result[:600].casefold()
    has_quantities = bool(_QUANTITIES.search(printed)) and not _SUMMARY.search(printed)
    return (1.0 if measures else 0.25) + (
        1.0 if has_quantities else 0.25 if _NUMBERS.search(printed) else 0.0
    )


def _likeness(plain: str, step: Step) -> float:
    """How much of what a sentence is about stands in the command or in what it printed."""
    about = _stems(plain)
    return min(1.0, 0.5 * len(about & _stems(f"{step.script[:400]} {step.result[:600]}")))


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _PART.findall(_HUMP.sub(" ", text).casefold())} - _EMPTY


def claimed_before(sentences: Sequence[Sentence], step: Step) -> Sentence | None:
    """The claim right before a run, by the agent's words; the last one."""
    run = _run_weight(step)
    for place in range(len(sentences) - 1, max(-1, len(sentences) - 6), -1):
        one = sentences[place]
        if (
            len(one.plain) <= _LEAST
            or _is_idle(one)
            or (is_anothers(one.plain) and not _DEMANDS.search(one.plain))
        ):
            continue
        near = [
            each.plain
            for each in sentences[max(0, place - 1) : place + 2]
            if each is not one and _is_lead(each)
        ]
        weight = _claim_weight(one, near, step)
        if weight and weight + run >= _CLAIMED:
            return one
    return None


def _claim_weight(one: Sentence, near: Sequence[str], step: Step) -> float:
    """What speaks for a sentence before a run stating what that is to show."""
    found = weigh(one.plain, (_BELIEVES, _CHECKS, _STATES, _WHETHER))
    for plain in near:
        found |= weigh(plain, (_BELIEVES, _CHECKS))
    has = {*found}
    if not ({"believes", "whether"} & has or {"checks", "states"} <= has):
        return 0.0
    return sum(found.values()) + _likeness(one.plain, step)


def proven_behind(
    sentences: Sequence[Sentence], step: Step, claim: Sentence | None = None
) -> Sentence | None:
    """What is said right behind a run to hold now; the first of the first few sentences.  `claim` is what was claimed before it."""
    run = _run_weight(step)
    for place, one in enumerate(sentences[:5]):
        if (
            len(one.plain) <= _LEAST
            or one.asks
            or _is_idle(one)
            or bool(_UNSHOWN.search(one.plain))
            or is_anothers(one.plain)
        ):
            continue
        before = sentences[place - 1] if place else None
        after = sentences[place + 1] if place + 1 < len(sentences) else None
        near = [
            each.plain
            for each in (before, after)
            if each is not None and each.paragraph == one.paragraph and _is_lead(each)
        ]
        if _proof_weight(one, near, step, claim) + run >= _PROVEN:
            return one
    return None


def _proof_weight(one: Sentence, near: Sequence[str], step: Step, claim: Sentence | None) -> float:
    """What speaks for a sentence behind a run stating what that showed."""
    found = weigh(one.plain, (_PROVES, _AGREES))
    for plain in near:
        found |= weigh(plain, (_PROVES, _AGREES))
    again = len(content_words(one.plain) & content_words(claim.plain)) if claim is not None else 0
    said = max(found.values(), default=0.0)
    says = len(content_words(one.plain)) >= 3
    return (
        said
        + _likeness(one.plain, step)
        + (min(1.5, 0.75 * again))
        + (0.5 if says and not _TURNS.search(one.plain) else 0.0)
    )


def is_said_outright(one: Sentence) -> bool:
    """Whether a sentence has a word of its own for having been shown, or for being shown next."""
    return _PROVES.stands_in(one.plain) and not _TURNS.search(one.plain)


def _is_lead(one: Sentence) -> bool:
    """Whether a sentence is too short to state anything but what its neighbour states: "Confirmed."."""
    return len(one.plain) <= _LEAD and not one.asks


def _is_idle(one: Sentence) -> bool:
    """Whether a sentence says what is said of any run, or tells the next step."""
    if takes_back(one):
        return True
    is_step = _STEP.match(one.plain) is not None and _KNOWS.match(one.plain) is None
    return is_step or bool(_GENERIC.search(one.plain) or _NEXT.search(one.plain))
