"""Self-corrections: the agent takes back what it stated before, and says what holds.

Owns the marks of it.  What a failed call or a user's word made it say is no self-correction; who sees those (`detecting`) leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from crucible.capture.leanings import Told
from crucible.capture.marks import Mark, mark, weigh
from crucible.capture.sentences import Sentence, content_words
from crucible.capture.unsettled import is_hypothetical
from crucible.patterns import late_pattern

__all__ = ["Earlier", "corrected_in", "takes_back"]

Earlier = Callable[[], Iterable[frozenset[str]]]
"""The content words of each sentence that was said before."""
_FEW, _SHARED = 4, 3
"""Content words of a sentence that may be compared, and those that it shares with what it takes back."""

_ENOUGH = 2.0
# fmt: off
_SAID = r"(?:said|claimed|wrote|written|stated|asserted|assumed|believed|thought|told you|reported|noted|concluded|described|suggested|implied|maintained|guessed|announced|put down|summari[sz]ed|explained)"
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
    r"^my (?:\w+ )?(?:understanding|reading|analysis|theory|view|guess|assumption|impression|finding|conclusion|diagnosis|interpretation|hypothesis|expectation) ?:|\bi have no\b|\bfalse (?:positive|negative|alarm)s?\b|\b(?:with|in|on|to|from|at|for|into|the|an?) wrong (?:\w+ )?(?:arguments?|files?|branch|folder|directory|path|type|status|values?|format|key|port|version|order|name|test|rows?|index|encoding|place|module|import|line|result|output)\b|\bi(?:'ve)? (?:wrote|written|built|made|put together) (?:a|an|the|one|some) (?:\w+ )?(?:check|test|script|bench\w*|tool|harness|probe|run|drill)|\bno (?:explanation|idea|answer|view|opinion) (?:for|of|on|about|why|yet)\b|\b(?:i|we) (?:mis\w+|overlooked) you\b|\bwhat you (?:said|asked|meant|wanted)\b|\b(?:i|we) (?:might|may|could|can) (?:well )?be (?:wrong|mistaken|off|in error)\b|\bif (?:i|we|i'm|we're|my)\b.{0,40}\b(?:wrong|mistaken|misread|remember)\b|\bunless i\b|\bcorrect me\b|\bprove me wrong\b|\b(?:was|were|is|are) (?:right|correct)\b.{0,20}\b(?:all along|after all)\b"
    r"|\byou(?:'re| are| were) (?:\w+ )?right\b|\bas you (?:say|said|point|note)|\b(?:typo|spelling|misspell\w*|comma|whitespace|indentation|grammar|wording|tippfehler|rechtschreib\w*|faute de frappe|orthographe)\b|\bvielleicht\b|\bpeut-être\b|\bmöglich\b|\bnot wrong\b|\bwasn't wrong\b|\bnothing wrong\b"
)
_THEIRS = late_pattern(
    r"^(?:the|a|an|this|that|its|their|his|her) (?:\w+ ){0,4}?(?:page|docs?|readme|log|message|article|post|author|ticket|comment|vendor|changelog|browser|site|newspaper|paper)\b(?!.{0,40}\b(?:i|my)\b)"
)


# fmt: off
_SELF = mark("self", 0.0, r"\b(?:i|i'[a-z]+|my|me|mine|myself|ich|mein\w*|mir|mich|je|mon|ma|mes|moi)\b|\bj'|\bm'(?:étais|suis|a)|\b(?:yo|mi|mis|io|mio|mia|eu|meu|minha|ik|mijn)\b|\bя\b|\bмо[йяеё]|我|私|제가|내가")
_STATED = mark(
    "stated", 0.0,
    r"\b(?:said|say|saying|claim\w*|wrote|written|stat(?:ed|ing)|statements?|assert\w*|assum\w+|beli(?:ef|eved)|thought|told|reported|noted|conclu\w+|descri\w+|called|suggest\w*|impl(?:y|ied)|guess\w*|announc\w+|summar\w+|expla(?:ined?|nations?)|analys[ie]s|theor(?:y|ies)|views?|understanding|answer(?:ed)?|remarks?|notes?|accounts?|readings?|findings?|diagnos\w+|reports?|reasoning|dedu\w+|impression|interpretation|picture|sentences?|paragraphs?|words|comments?|hunch|premise|inferr?\w*|presum\w+|suppos\w+|suspect\w*|convinced|insist\w*|mention\w*|portray\w*|put (?:it|this|that)|maintain\w*|observ\w+|messages?|story|verdict|argu(?:ed|ments?)|took (?:it|this|that|for)|taken for|model of|mental model|hypothes[ie]s|thing about|point about)\b"
    r"|\b(?:gesagt|sagte|geschrieben|schrieb|behaupt\w+|aussagen?|angenommen|annahme\w*|dachte|gedacht|vermut\w+|notiz|notiert|gemeint|meinte|erklär\w+|beschreib\w+|beschrieben|zusammenfassung|schluss\w*|lesart|feststell\w+|festgestellt|satz|darstellung|einschätzung|eindruck|bild|glaubte|geglaubt|ging davon aus|ausgegangen|hielt)\b"
    r"|\b(?:dit|disais|écrit|écrivais|affirm\w+|supposé?\w*|supposition|hypothèse|cru|croyais|pensais|pensé|not(?:é|e|ais)|conclu\w*|décrit|annoncé|prétendu|expliqu\w+|résumé|remarque|lecture|analyse|phrase|propos|énoncé|avancé|soutenu|indiqué|constat|impression|déclar\w+)\b",
)
_WRONG = mark(
    "wrong", 1.0,
    r"\b(?:wrong(?:ly)?|false(?:ly|hood)?|untrue|mistak\w+|incorrect\w*|inaccura\w+|erroneous\w*|in error|erred|premature\w*|void|invalid|nonsense|rubbish|slip(?:ped)?|backwards?|upside down|inside out|off (?:base|the mark|target)|moot|outdated|obsolete|unfounded|baseless|misle(?:d|ading)|mis(?:read|judged?|stated?|took|taken|remembered|counted|spoke|understood|understanding|reading|represent\w*|attribut\w*|identif\w*|characteri[sz]\w*|interpret\w*|diagnos\w*|labell?ed|construed|placed|informed)|overlook\w*|mixed up|confus(?:ed|ing)|conflat\w+|swapped|hast(?:y|ily)|rash|careless\w*|sloppy|too (?:quick\w*|fast|hasty|simple|strong|broad|early|optimistic|generous|sweeping|confident|far)|oversimplif\w+|overstated|overgenerali[sz]ed|exaggerat\w+|imprecise\w*|does(?:n't| not) (?:hold|stand|survive|match|fit|add up|agree)|did(?:n't| not) (?:hold|stand|survive|match|fit|look|check|read|notice|see|account|consider)|not (?:true|right|correct|so|the case|accurate|quite right|hold|what)|(?:isn't|wasn't|aren't|weren't) (?:true|right|correct|so|the case|accurate|what)|never (?:true|right|correct|was)|failed to (?:see|notice|account|consider|spot|take|mention|read)|skimm\w+|contradict\w*|refut\w+|disprov\w+|falsif\w+|overturn\w*|debunk\w*|belie[sd]|so much for|out the window|falls apart|fell apart|collapses?|crumbles?|no longer (?:holds?|stands?|true)|not be (?:relied|trusted|believed)|apolog\w+|oversight|blunder|misconception|the (?:opposite|reverse|contrary|inverse)|opposite|other way (?:a)?round|wrong way|spoke too soon|jumped|leapt|rushed|guesswork|got ahead|stand corrected|mea culpa|fooled|deceived|tricked|fell for|blind|red herring|false lead|wild goose|wide of the mark|half (?:true|right|the (?:truth|story))|only part|only half of it)\b"
    r"|\b(?:falsch\w*|irrtum|irrtümlich\w*|irrig\w*|irre|geirrt|fehler\w*|unzutreffend\w*|unrichtig\w*|verfrüht|voreilig|vorschnell|ungenau\w*|verwechsel\w*|vertauscht|verlesen|verwechselt|übersehen|missverst\w+|missdeutet|unsinn|quatsch|hinfällig|überholt|daneben|gegenteil|umgekehrt|andersherum|andersrum|stimmt(?:e)? (?:so |aber |gar |doch |also |leider )*nicht|trifft (?:so |doch |gar )?nicht zu|(?:ist|war) (?:so |doch |gar )?nicht (?:so|richtig|wahr|korrekt)|nicht (?:haltbar|richtig|wahr|korrekt|genau genug)|zu schnell|entgegen|widerspricht|widerlegt|getäuscht|vertan|unrecht|trugschluss|verzeihung|entschuldigung|pardon)\b"
    r"|\b(?:faux|fausse(?:s|ment)?|erron\w+|inexact\w*|incorrect\w*|tort|tromp\w+|erreurs?|méprise|mépris|confondu|confusion|mal (?:lu|compris|interprété|vu)|trop vite|hâti\w+|prématuré\w*|contraire\w*|inverse\w*|à l'envers|ne tient pas|n'est pas (?:vrai|exact|juste|correct|le cas)|n'était pas (?:vrai|exact|juste|correct)|ne tenait pas|démenti\w*|contredit|infirm\w+|bévue|excuses?|désolé\w*|imprécis\w*|oublié|négligé|caduque?|invalide)\b",
)
_EARLIER = mark(
    "earlier", 0.5,
    r"\b(?:earlier|above|before|previous(?:ly)?|prior|former(?:ly)?|initial(?:ly)?|original(?:ly)?|at first|first (?:take|thought|reading|impression|guess|idea)|a (?:moment|minute|while|bit|few (?:steps|messages|turns)) (?:ago|back|before)|just now|so far|until now|up to now|last (?:message|statement|note|remark|time)|ago|back then|already said|a step ago|further up|had (?:been )?(?:said|written|claimed|assumed|thought|told|stated|noted|concluded)|used to)\b|\b(?:vorhin|oben|eben|zuvor|vorher|anfangs|zunächst|zuerst|früher|vorige[nrs]?|erste[nrs]?|bisher|ursprünglich\w*|gerade|obige[nrs]?|frühere[nrs]?|letzte[nrs]?)\b|\b(?:plus haut|tout à l'heure|avant|auparavant|précédemment|précédente?s?|d'abord|initiale?s?|initialement|au début|jusqu'ici|dernière?|premi(?:er|ère)s?|plus tôt|à l'instant)\b",
)
_UNDOES = mark(
    "undoes", 1.25,
    r"\b(?:so much for|retract\w*|withdraw\w*|recant\w*|tak(?:e|ing) (?:\w+ ){0,4}back|walk(?:ing)? (?:\w+ ){0,3}back|back(?:ing)? (?:off|out of|away from)|revis(?:e|ed|ing|ion)|correct(?:ing|ion|ions)|rectif\w+|amend(?:ing|ed|ment)?|errat(?:um|a)|scratch|strike|disregard|ignore|forget|discard|drop|undo|revoke|rescind|reverse|revers(?:ing|al)|unsay|set(?:ting)? (?:\w+ ){0,3}(?:straight|right)|put(?:ting)? (?:\w+ ){0,2}(?:straight|right)|(?:the )?record straight|set aside|clarif\w+|update my|adjust\w* my|chang\w+ my (?:mind|view)|must not be (?:relied|trusted)|please ignore|not to be (?:relied|trusted)|own up|have to admit|must admit|admit\w*|concede|turns? out|turned out|on (?:a )?(?:second|closer|another|further) (?:look|reading|thought|glance|inspection|pass)|looking (?:closer|again|more closely|twice)|re-?reading|re-?read|having (?:now )?(?:read|looked|checked)|now that i|a (?:closer|second) (?:look|reading)|checked again|i now see|now i see|i see now|realis\w+|realiz\w+|it dawns|dawned|but no\b|or so i thought)\b"
    r"|\b(?:berichtig\w+|korrigier\w+|korrektur|richtig\s?stell\w+|revidier\w*|zurück\s?nehm\w*|nehme .{0,60}zurück|ziehe .{0,60}zurück|widerruf\w*|vergiss|vergessen sie|streich\w*|genauer (?:hingesehen|gelesen|betrachtet|hingeschaut)|bei (?:genauerem|näherem|nochmaligem|erneutem|zweitem)|noch ?mal (?:gelesen|nachgesehen|hingesehen)|nachgesehen|in wahrheit|tatsächlich|in wirklichkeit|doch nicht|sondern|muss zugeben|stellt sich heraus|nachtrag|wie sich zeigt)\b"
    r"|\b(?:rectifi\w+|corrig\w+|correction|retir\w+|rétract\w+|revien\w+|revoi\w+|oublie\w*|à la relecture|en relisant|relecture|à y regarder|en y regardant|y revenant|réflexion faite|après vérification|vérification faite|en réalité|en fait|au temps pour moi|autant pour moi|je me reprends|mise au point|erratum|il s'avère|je constate|dois admettre|reconnais)\b",
)
# fmt: on
_PLAINLY = mark(
    "plainly",
    2.0,
    r"\b(?:eat (?:my words|crow|humble)|egg on my face|mea culpa|(?:contradict|correct|overrule|revise|refute|amend) myself|record straight|i should(?:n't| not) have (?:said|claimed|written|called|assumed|stated|promised|concluded|told)|(?:crept|slipped|sneaked|snuck) into (?:my|what i)|(?:walk|walking|row|rowing|roll|rolling|dial|dialing|take|taking) (?:something|that|this|it|one|all of that|part of that|my \w+|what i said) back|i made .{1,60}?\b(?:is|was|were|are|turns out|does|did|cannot|can't) ?(?:\w+ )?(?:invalid|wrong|false|void|untrue|mistaken|not|n't|incorrect|off)|(?:earlier|previous|above|prior|last) (?:\w+ )?(?:analysis|statement|claim|remark|note|conclusion|assumption|summary|message|comment) (?:is |was |hereby |now )*(?:retracted|withdrawn|revised|void|corrected|overturned|invalid|moot|superseded|wrong|false))\b|\bwhat i (?:had )?(?:called|described|took|labell?ed|presented|saw|read|sold|diagnosed|identified) (?:as |for |to be )?.{1,60}?\b(?:is|was|are|were) (?:just|only|none|not|no|nothing|actually|really|in fact|merely|simply)\b|\bi (?:\w+ ){0,2}?mis[a-z]{4,}(?:ed|t|k|ood|oke|ook|ead)\b(?! (?:the|a|an|one|that) (?:file|import|caller|comma|semicolon|test|line)\b)"
    r"|\b(?:mir (?:selbst )?widersprechen|widerspreche mir|kommando zurück|mich (?:selbst )?(?:korrigieren|berichtigen|verbessern)|hätte ich nicht (?:sagen|schreiben|behaupten)|nehme (?:das|es|alles) zurück)\b|\b(?:je me (?:corrige|reprends|contredis|dédis|ravise)|me contredire|nuancer (?:ce que|mon|ma)|je n'aurais pas dû (?:dire|écrire|affirmer)|je retire ce que|je me suis (?:emmêlé|embrouillé|trompé|mépris|fourvoyé|avancé|mélangé|égaré))\b",
)
"""Turns that take back whatever it was."""
_ERRED = mark(
    "erred",
    1.5,
    r"\bi (?:\w+ ){0,2}?(?:mis|over|under)(?:read|sold|told|led|stated|estimated|represented|spoke|quoted|cited|reported|described|judged|simplified|generali[sz]ed|reached|took|understood|informed|attributed|placed|named|labell?ed|counted|calculated|heard|remembered|construed|characteri[sz]ed|classified|dated|guided|directed)\b|\b(?:took|taken|take) (?:\w+ ){1,4}at face value\b|\bi gave (?:you )?(?:\w+ )?(?:bad|wrong|false|incorrect|the wrong|misleading|inaccurate)\b|\bi had (?:\w+ ){1,8}?(?:reversed|backwards?|inverted|swapped|upside down|wrong|mixed up|confused|flipped|turned around)\b|\bi(?:'ve| have)? got (?:\w+ ){1,5}?(?:wrong|backwards?|reversed|mixed up|upside down)\b|\bmy (?:\w+ ){1,6}?(?:was|were|is|are|turned out|proved?) (?:plainly |simply |just |quite |completely |entirely |clearly |flatly |to be |rather |badly |also |partly )?(?:wrong|false|mistaken|incorrect|off|untrue|misleading|inaccurate|flawed|unfounded|premature|hasty|backwards)\b|\bone thing i (?:got|had)\b|\bkommando zurück\b|\b(?:correction|erreur|confusion|inattention|lapsus|méprise) de ma part\b|\bje me suis \w+é\w*\b|\bich mich (?:\w+ ){0,2}?(?:geirrt|vertan|getäuscht|verlesen|verschrieben|vertippt|verzählt|verrechnet)\b|\bhabe ich (?:\w+ ){0,3}?falsch\b|\bnot so fast\b|^(?:amend|correct|revis|retract|rectif|updat)\w* (?:to |of )?(?:an?|the|my|one|what i) (?:earlier|previous|above|last|former|said)\b|\bcommand(?:e)? annulée?\b|\bback(?:ing)? (?:that|this|it) out\b"
    r"|\bi(?:'ve|'d)? (?:had |have |was |must have |seem to have |clearly |simply |plainly |just |really |evidently |obviously |apparently |completely |thoroughly |again |did |only |never ){0,3}(?:misread|misjudged|mistook|mistaken|misremembered|miscounted|misunderstood|misstated|misspoke|misinterpreted|misattributed|misidentified|mischaracteri[sz]ed|overlooked|missed|skimmed|confused|conflated|mixed|swapped|erred|slipped|blundered|goofed|botched|muddled|garbled|jumped|leapt|rushed|guessed|fooled|misled|misinformed|overstated|exaggerated|oversimplified|overgenerali[sz]ed|generali[sz]ed|failed to (?:see|notice|read|check|look|spot|account)|wrong|in error|too (?:quick|hasty|fast|rash|sure)|off the mark|not (?:look|check|read|notice)|had(?:n't| not) (?:looked|checked|read|seen|noticed)|drew|got (?:this|that|it|the))\b|\bi did(?:n't| not) (?:look|check|read|notice|see)\b|\bi had(?:n't| not) (?:looked|checked|read|seen|noticed|considered)\b"
    r"|\b(?:ich|da) (?:hatte|habe|hab|war|lag|bin)\b.{0,40}\b(?:verwechselt|vertauscht|missverstanden|missdeutet|übersehen|verlesen|verschätzt|verrechnet|vertan|geirrt|getäuscht|fehlinterpretiert|falsch|daneben|voreilig|vorschnell|im irrtum|im unrecht|zu schnell|durcheinander\w*|verdreht|überlesen|falsches|unsinn)\b|\bhatte ich .{0,40}\b(?:verwechselt|vertauscht|missverstanden|übersehen|verlesen|falsch|vertan|geirrt|verdreht|überlesen)\b"
    r"|\bje m'(?:étais|suis|y étais)\b.{0,20}\b(?:tromp|mépris|fourvoy|emmêl|avanc|embrouill|égar)\w*|\bj'(?:avais|ai)\b.{0,30}\b(?:tort|confondu|mal (?:lu|compris|vu|interprété)|inversé|mélangé|négligé|survolé|manqué|sauté|conclu trop vite|parlé trop vite|faux|oublié de (?:lire|voir|vérifier))\b|\bm'a induit en erreur\b"
    r"|\bme (?:había )?equivoqu?\w*|\bmi sono (?:sbagliat|confus)\w*|\benganei-me\b",
)
"""The speaker's own slip of understanding."""
_TOLD = mark(
    "told",
    0.5,
    r"(?<!as )(?<!like )\b(?:i|i'd|i've) (?:had |have |just |earlier |previously |first |initially |originally |still |wrongly |once |also |even |always ){0,2}(?:said|told you|claimed|wrote that|written that|stated|asserted|assumed|believed|thought that|noted that|reported that|concluded|described|suggested|implied|maintained|guessed|announced|summari[sz]ed|explained|quoted|cited|spoke as|painted|figured|reckoned|presumed|supposed|insisted|portrayed|presented|named|labell?ed|understood|expected|pictured|imagined|inferred|deduced|advertised|promised|sold)\b|\b(?:the|that|this|every|each) (?:\w+ ){1,4}i (?:had |just )?(?:gave|quoted|named|listed|mentioned|cited|told|stated|posted|drew|described|claimed|reported|put)\b|\b(?:that|this) (?:\w+ )?(?:claim|statement|assumption|conclusion|theory|belief|deduction|verdict|diagnosis)\b|\bmy (?:\w+ )?(?:point|claim|statement|assertion|assumption|conclusion|theory|belief|deduction|verdict|diagnosis|description|explanation|model|picture|understanding|reading|notes?|remark|account|summary|number|figure|count|estimate)\b"
    r"|\b(?:ich (?:hatte|habe)|hatte ich|habe ich|ich) (?:\w+ ){0,5}?(?:behauptet|gesagt|geschrieben|angenommen|gedacht|gemeint|dargestellt|beschrieben|erklärt|genannt|notiert|vermutet|geglaubt|behauptete|sagte|schrieb|dachte|meinte|glaubte|nahm|hielt|ging)\b|\bj'(?:ai|avais) (?:\w+ ){0,3}?(?:dit|écrit|affirmé|supposé|cru|pensé|noté|annoncé|décrit|présenté|prétendu|conclu|indiqué|expliqué|soutenu)\b|\bje (?:pensais|croyais|disais|supposais|affirmais)\b",
)
"""What the speaker said, in the past."""
_CONTRA = mark(
    "contra",
    0.5,
    r"\b(?:isn't|wasn't|aren't|weren't|doesn't|didn't|don't|cannot|can't|not|none|never|no longer|neither|nothing)\b|\b(?:but|yet|however|whereas|while|actually|although|though|in (?:reality|truth|fact)|instead|rather|reversed|inverted|the (?:opposite|reverse|contrary)|wrong\w*|false|mistaken|off|incorrect|bad|backwards?|misleading|too \w+|only|turns out|survives?|after all|otherwise|as the \w+ (?:shows|says|proves))\b"
    r"|\b(?:nicht|kein\w*|sondern|aber|doch|jedoch|falsch\w*|tatsächlich|wahrheit|wirklichkeit|gegenteil|umgekehrt)\b|\b(?:pas|n'est|mais|or|faux|fausse|contraire|inverse|réalité|en fait|plutôt|jamais)\b",
)
"""What stands against it."""
_MINE = mark(
    "mine",
    0.5,
    r"\b(?:my|what i|the \w+ i|that i|as i|mine|of mine|like i|where i|when i|one i|sentence with|i'd|i had|i have|i've|i) (?:\w+ ){0,2}?(?:said|claim\w*|wrote|written|stat(?:ed|ement)s?|assert\w*|assum\w+|belie\w+|thought|told|noted?s?|conclu\w+|descri\w+|suggest\w*|impl\w+|guess\w*|summar\w+|expla\w+|analys[ie]s|theor\w+|views?|understanding|answer(?:ed)?|remarks?|accounts?|readings?|findings?|diagnos\w+|reports?|reasoning|deduction|impression|interpretation|picture|sentence|paragraph|words|comment\w*|hunch|premise|model|hypothes[ie]s|message|verdict|argument|insist\w*|maintain\w*|mention\w*|put|gave)\b"
    r"|\b(?:meine[nrs]?|was ich|dass ich|wie ich) (?:\w+ ){0,3}?(?:sagte|schrieb|behauptete|meinte|annahm|dachte|gesagt|geschrieben|behauptet|gemeint|angenommen|aussage|behauptung|annahme|vermutung|notiz|darstellung|einschätzung|lesart|zusammenfassung|feststellung|schluss\w*|these|beschreibung|erklärung|bild|eindruck)\b"
    r"|\b(?:mon|ma|mes|ce que j'(?:ai|avais)|comme je l'(?:ai|avais)|ce que je) (?:\w+ ){0,2}?(?:dit|disais|écrit|écrivais|affirm\w+|suppos\w+|hypothèse|cru|croyais|pensais|not\w+|conclu\w*|décrit|annoncé|avancé|soutenu|résumé|remarque|lecture|analyse|phrase|propos|explication|description|énoncé|impression|interprétation|constat)\b",
)
"""What the speaker himself stated."""
_DENIES = late_pattern(
    r"^(?:(?:but|yet|however|in (?:truth|fact|reality)|actually|no|alas|well)[,:]? )*(?:it|that|this|they|those|he|she|there)(?:'s| is| was| are| were| does| do| did| has| have)? ?(?:not|n't|none|never|no|only|in fact|actually|false|wrong|untrue)\b|^(?:it|that|this|they) (?:isn't|wasn't|aren't|doesn't|don't|didn't)\b|^(?:the (?:code|source|opposite|truth|reverse|facts?|docs|log|data|reality|schema|test)|in (?:truth|fact|reality)|not so|wrong|false|no)\b|^(?:das|es|sie|er|dem|die) (?:ist|sind|war|stimmt|gilt|tut|hat)\b.{0,30}\bnicht\b|^(?:das|es) (?:ist|war) (?:falsch|sie nicht|es nicht)|^(?:ce|il|elle|c')\s?(?:n'est|n'était|est faux|ne)\b|^c'est (?:faux|inexact|l'inverse|le contraire)"
)
"""How a sentence begins that denies the one before it."""
_SIGNS: tuple[Mark, ...] = (
    _SELF,
    _STATED,
    _WRONG,
    _EARLIER,
    _UNDOES,
    _ERRED,
    _MINE,
    _TOLD,
    _CONTRA,
    _PLAINLY,
)


def corrected_in(sentences: Sequence[Sentence], earlier: Earlier | None = None) -> Iterator[Told]:
    """What an agent takes back in its words; of neighbours in a paragraph, the first.

    `earlier` gives the content words of each thing it said before in the session, and is only asked where a sentence sounds like it.
    """
    taken = (-1, -9)
    for place, one in enumerate(sentences):
        after = sentences[place + 1] if place + 1 < len(sentences) else None
        behind = after if after and after.paragraph == one.paragraph else None
        if not _takes_back(one, behind, earlier):
            continue
        is_new = taken[0] != one.paragraph or one.at - taken[1] > 1
        taken = (one.paragraph, one.at)
        if is_new:
            yield Told(one, 0.85, behind.text if behind else "")


def takes_back(one: Sentence) -> bool:
    """Whether a sentence by itself takes back what its speaker said before."""
    return _takes_back(one, None)


def _takes_back(one: Sentence, behind: Sentence | None, earlier: Earlier | None = None) -> bool:
    plain = one.plain
    if one.asks or _UNSURE.search(plain) or _THEIRS.match(plain):
        return False
    return _by_turns(one, behind) or _by_signs(one, behind, earlier)


def _by_turns(one: Sentence, behind: Sentence | None) -> bool:
    found = weigh(one.plain, _MARKS)
    own = sum(found.values())
    if own >= _ENOUGH and ({"owns", "had said", "flatly"} & {*found}):
        return _says(one.plain, behind)
    if not found or behind is None or behind.asks or _UNSURE.search(behind.plain):
        return False
    joined = found | weigh(behind.plain, _MARKS)
    has_said = "had said" in joined or "owns" in joined
    return own >= 1.0 and has_said and sum(joined.values()) >= _ENOUGH and "why" not in found


def _by_signs(one: Sentence, behind: Sentence | None, earlier: Earlier | None) -> bool:
    """Whether words for one's own statement, for wrong, for before and for taking back stand together, in whatever turn."""
    whole = f"{one.plain} {behind.plain}" if behind is not None else one.plain
    if not _SELF.stands_in(whole) and not (_STATED.stands_in(whole) and _EARLIER.stands_in(whole)):
        return _PLAINLY.stands_in(one.plain) and _says(one.plain, behind)
    found = {*weigh(one.plain, _SIGNS)}
    if not {"wrong", "undoes", "earlier", "erred", "told", "plainly"} & found or is_hypothetical(one.plain):
        return False
    is_near = behind is not None and not behind.asks and not _UNSURE.search(behind.plain)
    both = found | ({*weigh(behind.plain, _SIGNS)} if behind is not None and is_near else set())
    if "plainly" in found or _by_contrast(found, both, behind):
        return _says(one.plain, behind)
    if "erred" in both and ("erred" in found or behind is not None) and len(both - {"self", "erred"}) >= 1:
        return _says(one.plain, behind)
    if {"mine", "wrong"} <= both and bool({"mine", "wrong"} & found) and bool({"earlier", "undoes"} & both):
        return _says(one.plain, behind)
    if not {"wrong", "undoes"} & both:
        return False
    is_own = {"self", "stated"} <= both and bool({"self", "stated"} & found)
    if is_own and {"wrong", "undoes"} <= both and ({"wrong", "undoes", "earlier"} & found):
        return _says(one.plain, behind)
    if is_own and "earlier" in both and "wrong" in both:
        return _says(one.plain, behind)
    if {"self", "wrong", "undoes", "earlier"} <= both or {"stated", "wrong", "earlier", "undoes"} <= both:
        return _says(one.plain, behind)
    if (
        earlier is None
        or not ({"wrong", "undoes"} & found)
        or len({"self", "stated", "wrong", "earlier", "undoes"} & both) < 2
    ):
        return False
    about = content_words(one.plain)
    return len(about) >= _FEW and any(len(about & each) >= _SHARED for each in earlier())


def _by_contrast(found: set[str], both: set[str], behind: Sentence | None) -> bool:
    """Whether what was said before is told and then set against what is so, in the sentence or right behind it."""
    if "told" not in found or "contra" not in both:
        return False
    if "contra" in found:
        return bool({"earlier", "wrong", "undoes", "erred"} & both)
    return behind is not None and _DENIES.match(behind.plain) is not None


def _says(plain: str, behind: Sentence | None) -> bool:
    """Whether what holds is said as well: more than the bare admission."""
    return len(plain) > 40 or (behind is not None and len(behind.plain) > 8) or ":" in plain
