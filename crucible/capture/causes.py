"""The sentence that tells why something failed.

Owns the words for it, for not knowing it, and for a failure that was wanted (a test that is to be red first).
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.capture.corrected import takes_back
from crucible.capture.marks import mark
from crucible.capture.never import is_chance, is_of_environment
from crucible.capture.sentences import Sentence, content_words
from crucible.patterns import late_pattern

__all__ = ["RED_FIRST", "ROUTINE", "UNKNOWN", "cause_in"]

_NEAR = 4
"""Steps behind a failure, or before what mends it, within which words may be of it."""
_SHORT = 30
"""Code points of a sentence that tells too little by itself: "The cause is clear."."""
UNKNOWN = mark(
    "unknown",
    1.0,
    r"\b(?:cause|reason|why|what happened)\b.{0,40}\b(?:unknown|unclear|open|mystery|not (?:known|clear|found|obvious))\b|\b(?:can't|cannot|could not|couldn't|can not|do not|don't) (?:tell|say|find|explain|see|know|reproduce|figure)\b|\bunclear\b|\bno (?:idea|explanation|clue|trace)\b|\b(?:don't|do not) understand\b|\briddle\b|\bstrange\b|\bweird\b|\bodd\b|\bparked\b|\bmystery\b|\bpuzzling\b|\bunexplained\b|\bmoving on\b|\bgoing on\b|\bgive up\b|\bgiving up\b|\bleaving (?:it|that)\b|\bleave (?:it|that) (?:there|be|alone|at that|as it is|for|here|open)\b|\bstays as it is\b|\bskip(?:ping)? (?:it|that|this)\b|\b(?:will|to) (?:look|come back)\b.{0,20}\blater\b|\bnot now\b|\bset aside\b|\b(?:some(?:body|one)|whoever|a (?:colleague|maintainer|human|person)|the (?:owner|maintainer|author)s?|an expert)\b.{0,60}\b(?:has to|have to|needs? to|should|must|will have to|ought to|better|could) (?:look|check|see|take|explain|judge|investigat\w+|decide|dig|know)|\b(?:out of|no more) ideas\b|\bbeyond me\b|\beludes?\b|\bescapes me\b|\bno (?:answer|theory|hypothesis|cause|reason|lead|light|solution|luck|further|obvious|remedy)\b|\bhaven\'t (?:found|understood|figured)\b|\bhave not (?:found|understood|figured)\b|\bnot (?:yet )?(?:understood|explained|solved|resolved|clear|known)\b|\bunsolved\b|\bunresolved\b|\bunknown\b|\bstumped\b|\bbaffl\w+|\bmystif\w+|\bat a loss\b|\bfor another (?:day|time)\b|\bleft (?:as it is|open|alone|for|unexplained)\b|\bremains? (?:open|red|broken|unexplained|a )|\bwithout (?:an? )?(?:explanation|answer|cause|finding)|\bwhatever (?:it|the cause) (?:is|was)|\bpost(?:pone|poning)\b|\bdeferr(?:ed|ing)\b|\bi don\'t see why\b|\bdo not see why\b|\bfails? and (?:i|nobody)\b|\bescalat\w+|\bneeds (?:someone|somebody|more eyes|another pair)\b|\babandon\w*|\bcome back to (?:it|this)\b|\bi(?:\'ll| will) (?:note|report|file|mention|flag) (?:it|this|that)\b|\bopen(?:ing|ed)? (?:a|an) (?:ticket|issue)\b|\bnobody knows\b|\bwho knows\b|\bparking\b"
    r"|\bunklar\b|\bkeine ahnung\b|\bweiß nicht\b|\brätsel|\bich lasse es\b|\bweiter mit anderem\b|\bungeklärt\b|\bunbekannt\b|\bverstehe (?:ich )?(?:das |es )?nicht\b|\bbleibt (?:offen|so|rot|liegen)\b|\bweiß (?:ich )?(?:es )?nicht\b|\bnicht (?:herausgefunden|gefunden|klar|erklären)\b|\bspäter\b|\binexpliqué\w*|\binconnue?s?\b|\bsans explication\b|\bplus tard\b|\blaisse (?:ça|cela|tel)\b|\breste (?:ouvert|tel|rouge)\b|\bpas (?:compris|trouvé)\b|\bpas clair\b|\baucune idée\b|\bje ne sais pas\b|\bmystère\b|\bje passe\b|不清楚|原因不明|неясно|невідом",
)
_GUESS = late_pattern(
    r"\b(?:maybe|perhaps|might|could be|possibly|probably|vielleicht|peut-être|quizás|forse|talvez|может быть|也许|もしかして)\b"
)
_CAUSE = late_pattern(
    r"\b(?:because|cause[ds]?|causing|culprit|reason|root|explains?|explanation|that's why|that is why|this is why|so that's|fault|due to|owing to|stems? from|comes? (?:down to|from)|boils down|turns out|turned out|found (?:it|the)|traced|the (?:problem|bug|issue|trouble|mistake|error|catch) (?:is|was|lies)|what happens|what happened|happens because|blame|the fix|fixed by|to fix|needs? to|has to|have to|must|should|was missing|is missing|lacks?|forgot|never|before|after|wrong|instead|points? at|points? to|diagnosis|it is|it was|since|as the|there it is|got it|aha|i see|means that|fails? (?:when|as|since)|responsible|origin|behind it|trips? over|stumbles?)\b"
    r"|\b(?:ursache|grund|liegt (?:es )?(?:an|daran)|daran|deshalb|weil|denn|schuld|gefunden|fehler (?:ist|war|liegt)|klar|erklärt|fehlt|muss)\b|\b(?:cause|raison|parce que|car|voilà|trouvé|coupable|faute|explique|vient de|dû à|à cause|manque|doit|il faut|problème)\b|\b(?:causa|culpa|porque|perché|oorzaak|przyczyna|bo|dlatego)\b|причин|потому|из-за|тому що|через те|原因|因为|由于|原来|ため|から|せい|원인|때문"
)
ROUTINE = late_pattern(
    r"^(?:let me|i'll|i will|now|next|first|then|looking|checking|reading|opening|running|trying|adding|writing|fixing it|here goes|on to|going to|time to|ich (?:lese|sehe|öffne|schreibe)|jetzt|zuerst|je (?:lis|regarde|vais)|maintenant|d'abord)\b(?!.{0,120}(?:because|since|cause|:|weil|denn|car))"
)
RED_FIRST = late_pattern(r"\b(?:red|rot|rouge)\b[,.;:]? (?:then|dann|puis|ensuite|first|before|zuerst|d'abord|for now|until|bis|jusqu)|\b(?:first|zuerst|d'abord|erst|starts?|begins?|starting|goes?|going|is|be|stays?|now|still|yet|turns?|sein|werden|noch|être|soit|est|le) (?:\w+ ){0,2}?(?:red|rot|rouge)\b|\b(?:test|tests|spec|prüfung|assertion|check|essai)\b.{0,50}\b(?:before (?:the|any|there is|its|writing|i write|we)|comes? first|goes? first|fails? (?:first|now|until|till|because|since|for now|for the right|as there|while)|zuerst|vor dem|d'abord|avant)\b|\b(?:must|has to|should|will|needs to|ought to|bound to|meant to|is to|wants? to|had better|soll|muss|wird|doit|devrait|va) (?:now |first |still |of course |noch |zuerst |erst |d'abord |encore )*(?:fail|be red|break|fehlschlagen|scheitern|échouer|rot)|\b(?:fail|fehlschlagen|scheitern|échouer)\b.{0,20}\b(?:muss|soll|first|zuerst|d'abord)\b|\bfail(?:s|ing|ed)? (?:first|on purpose|deliberately|by design|for the right reason|expectedly|correctly|properly)\b|\b(?:on purpose|deliberate(?:ly)?|intentional(?:ly)?|absichtlich|exprès|wie erwartet|wie gewollt|comme prévu|comme attendu|as (?:it )?should)\b|\b(?:failing test|test[- ]first|tests? first|tdd|red[- ]green|should fail|must fail|will fail|expected to fail|supposed to fail|see (?:it|that|them) fail|watch it fail|reproduc\w*|(?:must|has to|should|will|needs to|have to|going to) (?:be red|fail)|(?:red|fail(?:s|ed)?|failing),? (?:just )?as (?:it should|expected|planned|intended|wanted|desired|it must|hoped)|red at first|good, (?:it is )?red|red[,.:] (?:as|good|now))\b")  # fmt: skip


def cause_in(sentences: Sequence[Sentence], known: frozenset[str], distance: int) -> str:
    """The sentence that tells a failure's cause; "" for none.

    `known` are the words of its message and command, `distance` the steps behind it.
    """
    best, most = "", 1.0
    for place, each in enumerate(sentences[:8]):
        weight = _cause_weight(each, known, distance)
        if weight < most or (best and weight == most) or _is_none(each):
            continue
        after = sentences[place + 1].text if place + 1 < len(sentences) and len(each.text) < _SHORT else ""
        best, most = f"{each.text} {after}".strip(), weight
    return best


def _is_none(one: Sentence) -> bool:
    """Whether a sentence tells no cause: a guess, or that it was chance or the machine."""
    return (
        one.asks
        or takes_back(one)
        or bool(_GUESS.search(one.plain))
        or is_of_environment(one.plain)
        or is_chance(one.plain)
    )


def _cause_weight(one: Sentence, known: frozenset[str], distance: int) -> float:
    if len(one.plain) < 15 or ROUTINE.match(one.plain):
        return 0.0
    shared = len(content_words(one.plain) & known)
    says = bool(_CAUSE.search(one.plain)) or ": " in one.plain
    if distance > _NEAR:
        return 1.0 if says and (shared or ":" in one.plain) else 0.0
    return (1.0 if says else 0.0) + min(1.5, 0.75 * shared) + (0.3 if len(one.plain) > 25 else 0.0)
