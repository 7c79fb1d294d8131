"""Self-corrections: the agent takes back what it stated before, and says what holds.

Owns the marks of it.  What a failed call or a user's word made it say is no self-correction; who sees those (`detecting`) leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.capture.decided import Told
from crucible.capture.marks import Mark, mark, weigh
from crucible.capture.sentences import Sentence
from crucible.patterns import late_pattern

__all__ = ["corrected_in"]

_ENOUGH = 2.0
# fmt: off
_SAID = r"(?:said|claimed|wrote|written|stated|asserted|assumed|believed|thought|told you|reported|noted|concluded|described|called|suggested|implied|maintained|took|guessed|announced|put down|summari[sz]ed|explained)"
_NOUN = r"(?:claim|statement|assertion|assumption|belief|summary|remark|note|notes|guess|reading|conclusion|description|explanation|account|analysis|theory|view|understanding|answer|point|observation|comment|finding|diagnosis|report|words|message|sentence|paragraph|reasoning|deduction|impression|hunch|interpretation|memory|line)"
_OWNS = mark(
    "owns", 2.0,
    r"\bi(?:'ve)? (?:was|am|stand|have been|had been|got|had|have)(?: \w+){0,3}? (?:wrong|mistaken|incorrect|in error|corrected|too (?:quick|hasty|fast|hasty|sure|rash)|off (?:there|here|about)|misled|confused|backwards|mixed up|it (?:wrong|backwards|the wrong way|the other way))\b|\bi (?:had|got|have) (?:that|this|it|them) (?:\w+ )?(?:wrong|backwards|mixed up|the wrong way|the other way|upside down|reversed|confused)\b",
    r"\bi (?:must |have to |need to |should |want to |hereby |do |will )?(?:retract|withdraw|recant|revoke|revise|correct|rectify|amend|take)\b(?= (?:that|this|it|my|what|myself|the (?:statement|claim|remark|above)|back|quoted))(?! (?:that|this|it|what) (?:typo|spelling|comma))(?:(?<!take)|(?= (?:that|this|it|my|what)\b.{0,60}\bback\b))|\b(?:tak(?:e|ing)|walk(?:ing)?|roll(?:ing)?) (?:that|this|it|my \w+)(?: \w+){0,3}? back\b|\b(?:take|taking|walk|walking) back (?:that|this|the|my|what)\b|\bi take back\b|\blet me (?:correct|revise|rectify|retract|take back|amend) (?:myself|that|this|my|what|it|an)\b|\bi (?:owe|have) (?:you )?(?:a|an) (?:revision|correction|apology|retraction|erratum)\b|\bcorrecting (?:myself|my|what i)\b|\b(?:correct|revise|retract|withdraw|rectify|amend) (?:an?|one of my|one|some|the) (?:earlier|previous|above|former|last|own|false|wrong)\b",
    r"\bmy (?:own )?(?:mistake|error|bad|fault|slip|misreading|misunderstanding|oversight|misconception|blunder|mix-up)\b|\b(?:mistake|error|slip|oversight) (?:of mine|on my (?:part|side)|in what i)\b|\bi (?:misread|misspoke|misremembered|miscounted|misjudged|misunderstood|misstated|misattributed|mislabel\w+|misinterpreted|overlooked|confused|conflated|mixed (?:that |this |it |them |\w+ and \w+ )?up|erred|goofed|spoke too soon|jumped to|rushed to|was too quick|overstated|understated)\b|\bspoke too soon\b|\bi (?:wrongly|mistakenly|falsely|incorrectly|erroneously|prematurely) \w+|\bi stated an error\b",
    r"\bmy (?:\w+ )?" + _NOUN + r"\b.{0,160}?\b(?:wrong|false|untrue|not true|premature|incorrect|inaccurate|mistaken|void|doesn't hold|does not hold|did not hold|didn't hold|not hold|slip|error|mistake|overturned?s?|moot|off|outdated|stale|unfounded|imprecise|misleading|too (?:\w+)|not right|not correct|not what|cannot stand|can't stand|does not stand|goes too far|went too far|contradict\w*|needs? (?:correcting|correction|revising)|no longer|falls apart|backwards)\b|\b(?:overturns?|contradicts?|disproves?|refutes?|corrects?|falsifies|invalidates|upends|undoes) (?:my|what i|that (?:claim|statement|remark|note) of mine)\b|\b(?:that|this|the) (?:\w+ )?" + _NOUN + r" of mine\b.{0,200}?\b(?:wrong|untrue|false|not|incorrect|mistaken|void|premature|error|too \w+|off|out of date)\b",
    r"\b(?:contrary to|unlike|against|other than|as opposed to|different from|not (?:quite |exactly |at all )?(?:as|what|like)) (?:what )?(?:i|my)\b(?: \w+){0,2}? ?" + _SAID + r"?|\b(?:scratch|strike|disregard|ignore|forget) (?:that|what i|my)\b.{0,30}|\bnot (?:quite |exactly )?what i (?:had )?" + _SAID + r"|^(?:a |one |small |quick )*(?:correction|erratum|errata|self-correction|rectification|retraction|mea culpa|amendment|edit)\b(?: (?:to|of|on|for|about) (?:my|what i|the (?:above|last|previous))[^:.]{0,60})? ?(?::|-|,|\.)|^(?:sorry|no|oops|whoops|wait|hm+|ah|oh)[,.!: -]+(?:no[,. ]+)?(?:that|this|it) (?:was|is|'s|isn't|wasn't) (?:wrong|false|not|incorrect|right|true|a mistake|an error|nonsense|too|me)\b|\bthat(?:'s| is| was) (?:wrong|false|not (?:right|true|correct|so))(?:,|:| of me| what i|-|;| - )|\bi (?:made|committed) (?:an? )?(?:\w+ )?(?:error|mistake|slip|blunder)\b(?: (?:above|there|earlier|here|before|when|in (?:my|what)|about|with|:|,|-)|:)|\b(?:revising|correcting|amending|retracting|withdrawing|updating|reversing) (?:my|what i)\b|\bwhat i (?:told|said|wrote|claimed|stated|noted)\b.{0,60}\b(?:needs?|wrong|false|not|isn't|doesn't|outdated|incorrect|premature|mistaken)\b|\bmy \w+ (?:did|does|do|has|have|had|would|can|could) ?(?:not|n't) (?:survive|hold|stand|stood|last|pass|match)\b|^(?:pardon|sorry|apologies|oops|hm+|no)?[,.:! -]*(?:the )?(?:wrong|other) way (?:a)?round\b|\bi (?:drew|reached|came to|jumped to) (?:a |the )?(?:wrong|false|hasty|premature|mistaken)?\s?conclusions?\b|\b(?:wrong|careless|sloppy|hasty|premature|imprecise|rash) of me\b|\bi (?:was|am|have been) under the (?:wrong |false |mistaken )?impression\b|^i stand corrected",
    r"\bmein (?:irrtum|fehler|versehen)\b|\bich (?:lag|habe mich|hatte mich|hab mich) (?:\w+ )?(?:falsch|daneben|geirrt|vertan|getäuscht|verlesen|verschrieben|verzählt)\b|\birrte? mich\b|\bich (?:muss|möchte|will|darf) (?:mich|meine\w*|das) (?:\w+ ){0,4}?(?:berichtigen|korrigieren|revidieren|zurücknehmen|richtigstellen)\b|\bich (?:nehme|ziehe) (?:\w+ ){1,6}?zurück\b|\bich (?:berichtige|korrigiere|revidiere|widerrufe) (?:mich|meine)\b|\bmeine (?:\w+ )?(?:aussage|behauptung|annahme|vermutung|einschätzung|lesart|notiz|zusammenfassung|feststellung)\b.{0,120}?\b(?:falsch|irrig|verfrüht|nicht|unzutreffend|hinfällig|ungenau|voreilig|überholt)\b|\b(?:entgegen|anders als) (?:meiner|meine|ich|von mir|oben|eben|vorhin|zuvor|behauptet|gesagt)\b|^(?:korrektur|berichtigung|richtigstellung|nachtrag)\b ?:|\bich (?:habe|hatte) (?:\w+ ){0,4}?(?:falsches|unsinn|unfug|das gegenteil)\b|\bdas gegenteil\b|^(?:falsch|schlecht|zu schnell|ungenau) (?:gelesen|verstanden|gedacht|gesagt|geschlossen|abgeschrieben)\b|\bstimmt (?:doch |so |gar )?nicht\b.{0,20}: |\bdoch nicht so, wie ich\b|\b(?:falsch|fehler|voreilig|ungenau) von mir\b|\bda lag ich\b|\bwas ich (?:\w+ ){0,4}?(?:schrieb|sagte|behauptete|geschrieben|gesagt|behauptet)\b.{0,40}\b(?:nicht|falsch)\b|\bdas war (?:ein |mein |leider )*(?:irrtum|fehler|versehen|trugschluss)\b|\bich (?:widerrufe|revidiere)\b|\bich (?:bin|war) (?:\w+ ){0,3}?(?:im irrtum|zu schnell|voreilig)\b|\bda habe ich mich\b|\bich habe (?:\w+ ){0,4}?(?:fälschlich|falsch)\b",
    r"\berreur de ma part\b|\bmon erreur\b|\bce que j'(?:ai|avais) (?:dit|écrit|affirmé)\b.{0,60}\b(?:faux|fausse|inexact|erroné|pas)\b|\bj'avais tort\b|\bj'ai (?:fait|commis) (?:une |mon )?erreur\b|\bc'était une erreur\b|\bj'ai eu tort\b|\bje (?:reviens sur|corrige|rectifie) (?:ce que|mon|ma|:)|\bma faute\b|\bje me suis (?:trompé|mépris|avancé|emballé|fourvoyé)\w*\b|\bj'(?:ai|avais) (?:\w+ ){0,3}?(?:à tort|tort|mal lu|mal compris|confondu|fait erreur|parlé trop vite)\b|\bje (?:dois |tiens à |veux )?(?:me |m')?(?:rectifier|corriger|reprendre|rétracter|rectifie|corrige|rétracte)\b(?! (?:la|une|le) )|\bje (?:retire|reviens sur|retracte|rétracte)\b|\bcontrairement à ce que j\w*|\b(?:mon|ma|mes) (?:affirmation|hypothèse|résumé|analyse|remarque|note|conclusion|lecture|supposition|réponse|description)s?\b.{0,100}\b(?:faux|fausses?|inexacte?s?|erronée?s?|ne tient pas|prématurée?s?|hâtive)\b|^(?:rectification|correction|erratum|rectificatif) ?:|\bau temps pour moi\b|\bautant pour moi\b",
    r"\bme equivoqu\w+|\bestaba equivocad\w+|\bcorrijo\b|\bme retracto\b|\brectifico\b|\bmi error\b|\bmi sono sbagliat\w+|\bmi correggo\b|\bmio errore\b|\bme enganei\b|\bmeu erro\b|\bcorrijo-me\b|\bik had het mis\b|\bmijn fout\b|\bik vergiste me\b|\bpomyliłem\b|\bpomyliłam\b|\bmój błąd\b|я ошиб|моя ошибка|беру (?:свои )?слова назад|я помил|моя помилка|我错了|我弄错|我之前(?:说|以为).{0,30}(?:不对|错)|更正|私の(?:誤り|間違い)|訂正|間違えて|제가 틀렸|정정|제 실수",
)
_HAD_SAID = mark(
    "had said", 1.0,
    r"\bi(?:'d|'ve)? (?:had |have |just |earlier |previously |first |initially |originally |still |wrongly |once |also ){0,2}" + _SAID + r"\b|\b(?:earlier|above|before|previously|at first|initially|originally|so far|a moment ago|just now)\b.{0,30}\bi\b|\bmy (?:earlier|previous|first|initial|original|former|prior|last|above) (?:\w+ )?" + _NOUN + r"\b|\bwhat i (?:had )?" + _SAID + r"\b|\bmy " + _NOUN + r" (?:above|before|earlier|that)\b",
    r"\bich (?:hatte|habe|sagte|schrieb|behauptete|nahm|dachte|ging)\b.{0,80}\b(?:gesagt|geschrieben|behauptet|angenommen|gedacht|davon aus|an,)\b|\b(?:vorhin|oben|eben|zuvor|anfangs|zunächst) (?:\w+ ){0,3}(?:gesagt|geschrieben|behauptet|angenommen|schrieb|sagte|nahm)\b|\bdass ich sagte\b|\bmeine (?:frühere|vorige|erste|obige)\b|\bj'(?:ai|avais) (?:\w+ )?(?:dit|écrit|affirmé|supposé|cru|pensé|noté)\b|\bje (?:pensais|croyais|supposais|disais)\b|\bplus haut\b",
    r"\b(?:dije|había dicho|pensaba|creía|avevo detto|pensavo|credevo|eu disse|achava|ik zei|ik dacht|myślałem|powiedziałem)\b|я (?:сказал|думал|считал|писал|утверждал)|я (?:казав|думав)|我(?:之前|刚才|前面)(?:说|写|以为|认为)|と言いました|と思って|라고 (?:했|생각)",
)
_BUT = mark(
    "but", 1.0,
    r"\b(?:but|yet|whereas|however|although|actually|in (?:truth|fact|reality)|otherwise|instead|turns? out|turned out|rather|while|on second (?:thought|look|reading)|on closer (?:look|reading|inspection)|looking (?:closer|again|more closely|at it again|once more)|having (?:read|looked|checked)|reading (?:it )?(?:again|closely|properly|more)|the (?:source|code|truth|opposite|contrary|reverse|reality) (?:says|shows|is|holds|has)|what i see now|now i see|i see now|i now see|i realise|i realize|not so|not the case|is not true|isn't true|untrue|it is not|doesn't hold|does not hold|wrong|false|mistaken|incorrect|the (?:other|wrong) way (?:a)?round|was a guess|void|properly now|the opposite|opposite|needs fixing|needs correcting|under the impression|upon rereading|upon re-reading|on rereading|rereading|re-reading|contradicts)\b|^(?:they|it|that|this|those|these|he|she) (?:are|is|was|were|does|do|did|has|have) ?(?:not|n't)\b|^(?:it|that|this|they) (?:isn't|aren't|wasn't|doesn't|don't|didn't)\b",
    r"\b(?:aber|jedoch|sondern|tatsächlich|in wahrheit|in wirklichkeit|richtig ist|stimmt (?:so )?nicht|war falsch|ist falsch|falsch|bei näherem|gegenteil|doch nicht|genauer|vielmehr|nicht so)\b|\b(?:mais|or,|en (?:fait|réalité|vérité)|au contraire|à y regarder|c'est faux|est faux|est fausse|était faux|ce n'est pas|alors que|en relisant)\b|\b(?:pero|sino|en realidad|ma |in realtà|mas|na verdade|maar|eigenlijk|ale|jednak)\b|на самом деле|но |однако|насправді|但|其实|实际上|实际|しかし|実際|하지만|사실",
)
_STARTS = mark(
    "starts", 1.0,
    r"^(?:(?:oh|ah|hm+|oops|whoops|hold on|hang on|no|well|ok|okay|right|so|sorry)[,.!: -]+){0,2}(?:wait|actually|oops|whoops|hold on|hang on|scratch that|no, wait|sorry|hm+, no|not quite|on second thought|come to think of it|strike that|never mind)\b(?! (?:open|read|look|add|go|mov|writ|runn|for|i (?:like|love)))|^(?:moment|halt|ach|stimmt nicht|doch nicht|attends|attendez|ah non|en fait|espera|aspetta|подожди|стоп|等等|等一下|待って|잠깐)\b",
)
_FLATLY = mark("flatly", 1.0, r"^(?:(?:oh|ah|well|so|hm+)[,. ]+)?actually,? no\b|^no, (?:wait|actually)\b|^wait, (?:no|that)\b|\b(?:was|were|is) (?:just |only |merely )?(?:a|my) (?:guess|assumption|hunch)\b|\bthe (?:other|wrong) way (?:a)?round\b")
_MARKS: tuple[Mark, ...] = (_OWNS, _HAD_SAID, _BUT, _STARTS, _FLATLY)
# fmt: on
_UNSURE = late_pattern(
    r"\b(?:i|we) (?:mis\w+|overlooked) you\b|\bwhat you (?:said|asked|meant|wanted)\b|\b(?:i|we) (?:might|may|could|can) (?:well )?be (?:wrong|mistaken|off|in error)\b|\bif (?:i|we|i'm|we're|my)\b.{0,40}\b(?:wrong|mistaken|misread|remember)\b|\bunless i\b|\bcorrect me\b|\bprove me wrong\b|\b(?:was|were|is|are) (?:right|correct)\b.{0,20}\b(?:all along|after all)\b"
    r"|\byou(?:'re| are| were) (?:\w+ )?right\b|\bas you (?:say|said|point|note)|\b(?:typo|spelling|misspell\w*|comma|whitespace|indentation|grammar|wording|tippfehler|rechtschreib\w*|faute de frappe|orthographe)\b|\bvielleicht\b|\bpeut-être\b|\bmöglich\b|\bnot wrong\b|\bwasn't wrong\b|\bnothing wrong\b"
)
_THEIRS = late_pattern(
    r"^(?:the|a|an|this|that|its|their|his|her) (?:\w+ ){0,4}?(?:page|docs?|readme|log|message|article|post|author|ticket|comment|vendor|changelog|browser|site|newspaper|paper)\b(?!.{0,40}\b(?:i|my)\b)"
)


def corrected_in(sentences: Sequence[Sentence]) -> Iterator[Told]:
    """What an agent takes back in its words; of neighbours in a paragraph, the first."""
    taken = (-1, -9)
    for place, one in enumerate(sentences):
        after = sentences[place + 1] if place + 1 < len(sentences) else None
        behind = after if after and after.paragraph == one.paragraph else None
        if not _takes_back(one, behind):
            continue
        is_new = taken[0] != one.paragraph or one.at - taken[1] > 1
        taken = (one.paragraph, one.at)
        if is_new:
            yield Told(one, 0.85, behind.text if behind else "")


def _takes_back(one: Sentence, behind: Sentence | None) -> bool:
    plain = one.plain
    found = weigh(plain, _MARKS)
    if not found or one.asks or _UNSURE.search(plain) or _THEIRS.match(plain):
        return False
    own = sum(found.values())
    if own >= _ENOUGH and ({"owns", "had said", "flatly"} & {*found}):
        return _says(plain, behind)
    if behind is None or behind.asks or _UNSURE.search(behind.plain):
        return False
    joined = found | weigh(behind.plain, _MARKS)
    has_said = "had said" in joined or "owns" in joined
    return own >= 1.0 and has_said and sum(joined.values()) >= _ENOUGH and "why" not in found


def _says(plain: str, behind: Sentence | None) -> bool:
    """Whether what holds is said as well: more than the bare admission."""
    return len(plain) > 40 or (behind is not None and len(behind.plain) > 8) or ":" in plain
