"""Words that settle nothing: questions, what could be, what is denied or open, and what others said elsewhere.

Owns these signs, in sentences as `sentences` makes them plain.
"""

from __future__ import annotations

from crucible.capture.marks import mark
from crucible.capture.sentences import Sentence
from crucible.patterns import late_pattern

__all__ = [
    "explains",
    "is_anothers",
    "is_dropped",
    "is_hypothetical",
    "is_open",
    "is_step",
    "is_void",
    "tells_fault",
]

# fmt: off
_COULD = mark(
    "could", 1.0,
    r"\bif (?:\w+ ){1,6}?ever\b|^if .{3,90}?,.{0,60}? would\b|^should .{3,90}? ever\b",
    r"\b(?:we|i|one|you|they|it|this|that|he|she|there) (?:also )?(?:could|might|may)(?! not (?:be|have)\b.{0,40}\b(?:so|therefore)\b)\b|\b(?:could|might|would|should|shall|may|can) (?:we|i|one|you|they|it)\b|\b(?:maybe|perhaps|possibly|conceivabl[ey]|thinkable|imaginable|hypothetical\w*|theoretically|potentially)\b"
    r"|\bwere (?:i|we|they|you|it) (?:to|ever)\b|\bhad (?:i|we|they|you|it|anyone|someone)\b|\bif (?:i|we|they|you|one|someone|somebody) (?:had|were|chose|went|picked|decided|took|opted|could|would|wanted)\b|\bwhat if\b|\bsuppos(?:e|ing)\b|\bimagine\b|\bthink(?:ing)? (?:aloud|out loud)\b|\bsome ?day\b|\bone day\b|\bin theory\b"
    r"|\bwould (?:have (?:been|to|chosen|picked|opted|gone|taken)|be (?:an? )?(?:option|alternative|possible|thinkable|too early|premature|different|nice|better))\b|\balternatives? (?:\w+ )?(?:would|could|might)\b|\bcould (?:have|be|also)\b|\bmight (?:have|be|also|want|go|pick|opt)\b|\bin another world\b|\bwho knows\b|\bfor the sake of argument\b|\bbrainstorm|\bjust an idea\b|\bin hindsight\b.{0,40}\bwould\b|\bi(?:'d| would) have (?:to|chosen|picked|preferred|gone)\b"
    r"|\bwäre|\bkönnt|\bwürde|\bhätte|\bvielleicht|\bmöglicherweise\b|\beventuell\b|\bwomöglich\b|\bvorstellen\b|\bangenommen\b|\bgesetzt den fall\b|\bwas wenn\b"
    r"|\bpourrait|\bpourrions|\bserait\b|\bseraient\b|\baurait\b|\baurions\b|\bpeut-être\b|\béventuellement\b|\bsi (?:on|nous|j')\s?(?:avai|étai|prenai|choisiss|optai)|\bsupposons\b|\bet si\b|\bimaginons\b|\bun jour\b(?! de)"
    r"|\bquizás?\b|\btal vez\b|\bpodríamos\b|\bpodría\b|\bsería\b|\bforse\b|\bpotremmo\b|\bsarebbe\b|\btalvez\b|\bpoderíamos\b|\bmisschien\b|\bzouden\b|\bmoże\b|\bmoglibyśmy\b|может быть|возможно|могли бы|если бы|можливо|也许|可能会|如果当时|かもしれ|もし|아마|만약"
)
_OPEN = mark(
    "open", 1.0,
    r"(?:\b(?:not|never|nobody|no one|nothing|none|neither|hardly)|n't)\b(?: \w+){0,3}? (?:decided?|chos(?:e|en)|choose|select(?:ed)?|picked?|settled?|opt(?:ed)?|agreed?|committed?|went|go|made up|final(?:ly)?|concluded?|sure|certain|convinced?|determined|fixed)\b|\bno (?:decision|choice|conclusion|opinion|view|preference|verdict|better|consensus|agreement|winner|clear|answer|idea|strong|pattern|evidence|proof)\b"
    r"|\bneither\b.{1,80}\bnor\b|\bneither (?:of|one)\b|\bstill (?:open|undecided|unclear|to be|under|being|debating|weighing|torn)\b|\bundecided\b|\bup in the air\b|\b(?:to be|yet to be|tbd|remains to be|has yet to)\b.{0,20}\b(?:decided|determined|chosen|settled|seen)\b|\btbd\b|\btoo early\b|\bpremature to\b|\bnot (?:an? )?(?:\w+ )?(?:decision|choice|commitment|pattern|rule|recommendation|final|proof)\b|\bpending\b.{0,30}\bdecision|\bdecision\b.{0,30}\b(?:pending|open|later|postponed|deferred|outstanding)\b"
    r"|\b(?:can't|cannot|can not) (?:say|tell|decide|choose|judge)\b|\b(?:have|had|has|am|are|is)(?:n't| not|) (?:yet )?to decide\b|\bopen question\b|\bno (?:opinion|view)\b|\bjust (?:a )?(?:sketch|draft|idea|thought)\b|\bwhichever\b|\bwhether (?:we|i|to)\b|\bdon't (?:know|care)\b|\bdo not know\b"
    r"|\bnoch (?:nicht|keine?|offen|unklar|unentschieden)\b|\bkeine?n?r? (?:entscheidung|meinung|wahl|festlegung|beweis|muster)|\bweder\b|\bunentschieden\b|\bsteht (?:noch )?(?:nicht fest|aus|offen)\b|\bnicht (?:entschieden|festgelegt|gewählt|beschlossen|sicher)\b|\bniemand\b|\bnie(?:mals)? (?:\w+ ){0,3}(?:entschieden|gewählt|beschlossen)\b|\boffen(?:lassen)?\b(?= *[.,;]?$)|\bweiß (?:ich )?(?:noch )?nicht\b|\bvorerst\b"
    r"|\brien n'(?:est|a)\b|\bpas encore\b|\baucune? (?:décision|choix|avis|préférence|preuve)|\bn'(?:est|a|ai|avons|avez|ont)\s?(?:\w+ )?pas\b.{0,24}\b(?:décid|choi|tranch|arrêt|retenu)|\bce n'est pas (?:un|une) (?:choix|décision)|\bni\b.{1,60}\bni\b|\bà décider\b|\bindécis|\bpersonne n'|\breste ouvert|\bjamais (?:décid|choi|retenu)"
    r"|\baún no\b|\btodavía no\b|\bsin decidir\b|\bnon ancora\b|\bnon abbiamo (?:ancora )?(?:deciso|scelto)\b|\bainda não\b|\bnog niet\b|\bjeszcze nie\b|ещё не|еще не|не решено|не решили|ще не|还没|尚未|没有决定|まだ決|決まっていない|아직|정하지 않"
)
_OTHERS = mark(
    "others", 1.0,
    r"\b(?:according to|as per|quoting|cited?s? (?:in|from)|citing|per the (?:docs|rfc|spec|readme|changelog)|as the (?:docs|readme|rfc|spec|manual) (?:say|put)s?)\b|\b(?:readme|docs?|documentation|changelog|release notes?|rfc|specs?|specification|standard|blog(?: post)?|article|posts?|talk|conference|keynote|podcast|video|tutorial|paper|book|manual|handbook|ticket|issue|comment|commit message|vendor|upstream|framework|library|author|maintainers?|planner|optimi[sz]er|compiler|linter|formatter|scheduler|model card|wiki|faq|forum|thread|answer|stack ?overflow|page|banner|log|message|text|label|sign|email|mail|minutes|slides?|newsletter|department|company|competitors?|customers?|client|colleagues?|bob|alice|he|she|they|someone|somebody|people|others?|google|netflix|facebook|amazon|microsoft|uber|github) "
    r"(?:\w+ ){0,5}?(?:says?|said|states?|stated|writes?|wrote|claims?|claimed|recommend(?:s|ed)?|quotes?|quoted|suggest(?:s|ed)?|reads?|announce[sd]?|reported|mentions?|mentioned|told|advertise[sd]?|describes?|explains?|cites?|cited|argues?|chose|selected|picked|decided|opted|went with|settled|prefers?|preferred|adopted|switched|tells|told|talks? about|proposes?|proposed|uses? now|now uses)\b"
    r"|\btheir (?:\w+ ){0,2}(?:project|docs?|repo|team|code|decision|choice|readme|blog|job|company|world|approach|convention)\b|\bnot (?:ours|relevant|about us|our|my|mine)\b|\b(?:another|other|different|neighbou?ring|previous|former) (?:team|department|project|company|group|division|squad|repo|job|employer)\b|\bother people's\b|\b(?:at|in) (?:his|her|their|my) (?:last|previous|old|former) (?:job|company|team|project)\b|\belsewhere\b|\bcompetit(?:ion|ors?)\b|\bminutes of\b|\bfyi\b|\bfor your information\b|\bjust so you know\b|\bi (?:read|heard) (?:that|somewhere|about|in|on)\b|\bheard that\b|\ballegedly\b|\breportedly\b|\brumou?r|\bfamously\b|\bback in (?:19|20)\d\d\b|\bdated \d"
    r"|\blaut\b|\bgemäß\b|\bzufolge\b|\b(?:steht|schreibt|schrieb|sagt|sagte|heißt es|empfiehlt|empfahl|zitiert|behauptet|meint|nutzt das framework)\b(?! (?:fest|ich|mir))|\bandere[nrs]? (?:teams?|projekte?s?|abteilung|firma)\b|\bkonkurrenz\b|\bhabe ich (?:gelesen|gehört)\b|\bdort nimmt\b|\b(?:der|das|die) (?:planer|optimierer|compiler|framework|bibliothek|hersteller|autor|autoren|vortrag|artikel|doku|dokumentation|blog)\b.{0,60}\b(?:hat|haben|nimmt|nutzt|wählt|setzt|entschied|sagt|steht)\b|\bnur zur info\b"
    r"|\bselon\b|\bd'après (?:le (?:journal|blog|changelog|fournisseur|readme|manuel|ticket)|la (?:doc|documentation|norme|rfc)|les|leur)|\b(?:dit|cite|indique|recommande|écrit|conseille|affirme|prétend|annonce) (?::|que\b|quoted)|\bautre (?:équipe|projet|service|entreprise)\b|\bconcurren|\bpour info\b|\bparaît-il\b|\ba choisi\b(?<!\bon a choisi)|\b(?:le|la|les) (?:planificateur|optimiseur|compilateur|framework|bibliothèque|fournisseur|auteur|éditeur|blog|documentation|conférence|article)s?\b.{0,60}\b(?:a|ont|utilise|préfère|dit|cite|recommande|choisit|retient)\b|\bchez (?:eux|les)\b|\bleur (?:projet|équipe|doc)"
    r"|\bsegún\b|\bsecondo (?:la|il|i|le)\b|\bsegundo (?:a|o)\b|\bvolgens\b|\bwedług\b|согласно|по словам|згідно|根据.{0,10}文档|官方文档|によると|によれば|따르면"
)
_OURS = late_pattern(r"^(?:so |then |well,? |hence |therefore |ok(?:ay)?,? )?(?:i|we|my|our|ich|wir|je|nous|on|mon|ma|notre|let's|let us)\b")
# fmt: on
_CITED = late_pattern(r"(?:^|[,.:!—-] ?)> \w")
"""A block quote that was put into a sentence."""
_VOID = late_pattern(
    r"\b(?:no action|nothing to do|don't change|do not change|(?:nothing|no code) (?:here |there )?(?:needs|has) to (?:be )?chang|no change (?:is )?needed|leave it (?:out|as|alone)|skip that|ignore (?:that|this)|just (?:a question|asking|curious|wondering|kidding)|not relevant|never mind|anyway, please|only asking|nur eine frage|egal, weiter|nur so|lass das weg|laisse de côté|simple question|juste une question|solo una pregunta)"
)
"""What is said behind words that ask for nothing."""


_STEPS = late_pattern(
    r"^i (?:can't|cannot|won't|couldn't|could not|was unable)\b|\btests? (?:first|before the code)\b|^(?:i|we) (?:chose|picked|selected|used|took) (?:a|the|an) (?:wrong|bad|poor)\b|^(?:i(?:'ve| have|'ll| will|'m)?|we(?:'ll| will|'ve| have)?|let me|let's) (?:just )?(?:decided? to |going to |first |now |also |then |want to |need to |have to )*(?:open|look|read|check|see|list|show|run|re-?run|search|grep|find|inspect|view|try|start|stop|wait|rename|reformat|fix|pick up|commit|push|(?:use|using) (?:the )?(?:code|grep|rg|sed|awk|cat|find|ls|curl|git|jq|bash|read|glob|task|a? ?subagents?))\b(?!.{0,120}\b(?:instead of|rather than|over the|and not)\b)"
)
"""The next step of the work, whatever words it is told in."""
_EXPLAINS = late_pattern(
    r"(?:(?:so|and|aha|ah)[,.! ]+)?(?:(?:that|this|which|it)(?:'s| is| was)? (?:why|explains?|fail(?:s|ed)|because|comes from|comes down)|found(?: it)?\b|the (?:culprit|cause|reason|root|bug|problem|fault|fix follows|output points)\b|root cause|what happens\b|diagnosis|cause:|culprit:)|(?:trouvé|voilà pourquoi|la cause|le coupable|la raison)\b|(?:gefunden|daran liegt|die ursache|der grund|das erklärt|der fehler)\b"
)
"""How a sentence begins that tells why something failed."""
_FAULT = late_pattern(
    r"\b(?:fail\w*|errors?|bugs?|broke\w*|crash\w*|wrong|missing|exception|returns?|returned|expect\w*|raises?|throws?|warns?|warning|lacks?|undefined|null|none|mismatch|stale|passes|passed)\b|\b(?:fehl\w*|fehler|kaputt|falsch|liefert)\b|\b(?:échou\w*|erreur|faux|manque|renvoie)\b"
)


def is_step(plain: str) -> bool:
    """Whether a sentence tells the next step of the work, whatever words it is told in."""
    return _STEPS.match(plain) is not None


def explains(plain: str) -> bool:
    """Whether a sentence begins like one that tells why something failed."""
    return _EXPLAINS.match(plain) is not None


def tells_fault(plain: str) -> bool:
    """Whether a sentence has words for what went wrong."""
    return _FAULT.search(plain) is not None


def is_dropped(plain: str) -> bool:
    """Whether a sentence says that nothing is to be done about something."""
    return _VOID.search(plain) is not None


def is_hypothetical(plain: str) -> bool:
    """Whether a sentence tells what could be, or could have been."""
    return _COULD.stands_in(plain)


def is_open(plain: str) -> bool:
    """Whether a sentence says that nothing was settled, found or shown."""
    return _OPEN.stands_in(plain)


def is_anothers(plain: str) -> bool:
    """Whether a sentence tells what others said or settled, elsewhere."""
    return _OTHERS.stands_in(plain) and not (_OURS.match(plain) and not _ELSEWHERE.search(plain))


_ELSEWHERE = late_pattern(
    r"\bnot (?:ours|relevant)\b|\btheir (?:own )?(?:project|docs?|team|repo|code|company|job|decision|world|blog|readme)\b|\bfyi\b|\bi (?:read|heard)\b|\bjust so you know\b|\bpour info\b|\b(?:gelesen|gehört)\b|\bparaît-il\b|\bother (?:team|department|project)\b"
)


def is_void(sentence: Sentence) -> bool:
    """Whether a sentence settles nothing, whatever words stand in it: a question, or what somebody else is quoted with."""
    return sentence.asks or _CITED.search(sentence.text) is not None
