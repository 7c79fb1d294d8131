"""A user's answer to the question that an agent ended with: which of the options was chosen.

Owns how options are told (a list, counted in a sentence, "A or B?"), and how an answer names one (its words, its number, its place).  An answer that puts the
question off chooses nothing.
"""

from __future__ import annotations

import re

from crucible.capture.sentences import Sentence, content_words, one_line, sentences_of
from crucible.patterns import late_pattern

__all__ = ["answer_to", "asks_to_choose"]

_READ = 4000
_LONGEST = 600
_BRIEF = 40
"""Code points of a question that only asks whether to go on."""
_ITEM = late_pattern(r"^[ \t]*(?:[-*+]|(?:option |variant |variante )?\(?[0-9a-eA-E][.):])[ \t]+(.{2,300})$")
# fmt: off
_OR = late_pattern(r",? (?:or|oder|ou|o|oppure|of|lub|czy|или|чи|або)(?: rather| else| should (?:it|we|i)(?: be)?| eher| lieber| plutôt| bien)? |(?:还是|或者?|または|それとも|아니면|또는)")
_CHOOSE = late_pattern(
    r"\b(?:(?:please |kindly |you )(?:choose|pick|decide|select|indicate|say which)|your (?:call|choice|pick|input|decision)|need(?:s|ed)? (?:your |an? )?(?:input|answer|decision)|input needed|let me know (?:which|what)|tell me which|which (?:one|of)|(?:awaiting|waiting for) your)\b"
    r"|\b(?:rückfrage|bitte (?:wähl|entscheid|auswähl|such)\w*|deine (?:wahl|entscheidung)|sag mir,? welche\w*)\b|\b(?:choisis|choisissez|à toi de choisir|à vous de choisir|ton choix|votre choix|dis-moi (?:laquelle|lequel))\b|\b(?:elige|escoge|tú decides|dime cuál)\b"
)
"""How an agent asks for a choice without a question mark."""
_COUNT = late_pattern(
    "|".join(
        rf"((?<![\w.])\(?[{sign}](?:[).:](?= )| ?=)|(?<![\w.])(?:{sign[0]}|(?:option|variante?) [{sign}]) [-–—:](?= )|\b(?:{word})(?: (?:option|variante?|choice|möglichkeit|opción|candidate)\b ?[:,=]?| ?[:,=])|\b(?:{plain})\b(?! (?:und|oder|et|ou)\b))"
        for sign, word, plain in (
            ("1a", "first|erstens|premi[eè]re?|primer[oa]|erste", "erstens|premièrement|firstly"),
            ("2b", "second|zweitens|deuxième|segund[oa]|zweite", "zweitens|deuxièmement|secondly"),
            ("3c", "third|drittens|troisième|tercer[oa]|dritte", "drittens|troisièmement|thirdly"),
            ("4d", "fourth|viertens|quatrième|cuart[oa]|vierte", "viertens|quatrièmement|fourthly"),
        )
    ),
    re.IGNORECASE,
)
"""A sign that counts an option, in the group of its number."""
_STOP = late_pattern(r"[.;!?](?: |$)|\n\n")
_GOES_ON = late_pattern(
    r"^(?:(?:is there )?(?:anything|something) else|(?:ok(?:ay)?|fine|ready) to|(?:shall|should|may|can) (?:i|we) (?:commit|push|merge|proceed|continue|go on|go ahead)\b|(?:sonst )?noch (?:etwas|was)\b|soll (?:ich|es) (?:weiter\w*|committen|pushen|mergen)\b|autre chose|on continue|je continue|algo más|continúo|sigo)"
)
"""How a question begins that asks for no choice of what is listed before it."""
_DENIED = late_pattern(r"^(?:not|anything but|everything but|nicht|bloß nicht|alles außer|alles,? nur nicht|pas|surtout pas|tout sauf|todo menos|cualquiera menos)\b")
"""How an answer begins that names what is not wanted."""
_JOINS = late_pattern(r"[ ,;]+(?:or|oder|ou|o|oppure|of|lub|или|або|and|und|et|y)$")
"""What joins an option to the next one."""
_LEADS = late_pattern(r"^.*(?::| - | — |\b(?:either|between|prefer|rather|want|use|with|entweder|zwischen|lieber|entre|soit)\b) *")
_PUTS_OFF = late_pattern(
    r"\b(?:neither|none of|not sure|no idea|no opinion|no preference|don't know|do not know|don't care|wait|sleep on it|think about|thinking about|later|postpone|not now|not yet|leave (?:it|that|this|them|\w+ \w+ as)|leave .{2,80} (?:open|as it is|for now|out|alone)|something else|first (?:ask|let|do)|ask (?:the|bob|\w+ first)|i(?:'ll| will| need to| have to| must) (?:ask|check|think|talk|see)|let me (?:ask|check|think|see|sleep)|up to you|you (?:decide|choose|pick)|whatever|skip (?:it|this|that)|^skip|^stop\b|^none\b|don't mind|that can wait|we'll see|first (?:fix|finish|make|look|read)|what would you|tell me|keep it open|park(?: it)?|hold (?:on|off)|undecided|open for now|tomorrow|next week|come back|forget (?:it|that|about)|stop here|moot|doesn't matter|can't (?:say|tell|decide)|both have|hmm+)\b"
    r"|\b(?:weiß (?:ich )?(?:noch )?nicht|keine ahnung|keine meinung|offen|warte|später|überlege|schlafe|schlafen|frag|fragen|entscheidet|entscheide (?:ich )?(?:später|morgen)|nächste woche|morgen|egal|weder|erst mal|erstmal|vorerst|noch nicht|lass das|lass es)\b|\b(?:ne sais pas|pas encore|plus tard|attends|attendez|laisse|laissons|demande|demander|demain|réfléchi\w*|aucune? (?:idée|avis|préférence)|ni l'un|peu importe|semaine prochaine|on verra|d'abord)\b"
    r"|\b(?:no sé|todavía no|más tarde|espera|non so|più tardi|aspetta|não sei|depois|weet niet|later|wacht|nie wiem|później|poczekaj)\b|не знаю|позже|подожди|потом|пізніше|不知道|以后再|等等|还没|わからない|後で|まだ|모르겠|나중에|아직"
)
_PLACES: tuple[str, ...] = (
    r"\b(?:first|former|1st|(?:option|number|no\.?|nr\.?|nummer|numéro|variante?|choice) (?:1|one|a|eins|un)|erste[nrs]?|ersteres|premi[eè]re?|primer[oa]?|prim[oa]|primeir[oa]|eerste|pierwsz\w+)\b|перв|перш|第一|一番|첫",
    r"\b(?:second|latter|2nd|(?:option|number|no\.?|nr\.?|nummer|numéro|variante?|choice) (?:2|two|b|zwei|deux)|zweite[nrs]?|letztere[nrs]?|deuxième|seconde?|segund[oa]|second[oa]|tweede|drug\w+)\b|втор|друг|第二|二番|두 번째",
    r"\b(?:third|3rd|(?:option|number|no\.?|nr\.?|nummer|numéro|variante?|choice) (?:3|three|c|drei|trois)|dritte[nrs]?|troisième|tercer[oa]?|terz[oa]|terceir[oa]|derde|trzeci\w*)\b|трет|第三|三番|세 번째",
    r"\b(?:fourth|4th|(?:option|number|no\.?|nr\.?|nummer|numéro|variante?|choice) (?:4|four|d|vier|quatre)|vierte[nrs]?|quatrième|cuart[oa]|quart[oa]|vierde|czwart\w*)\b|четв|第四|四番",
)
_LAST = late_pattern(r"\b(?:last|latter|letztere[nrs]?|letzte[nrs]?|dernière?|últim[oa]|ultim[oa]|laatste)\b|последн|最后|最後")
_NUMBERED = late_pattern(r"^(?:(?:go (?:with|for)|take|use|let's (?:do|go with|take)|option|variant|number|nr\.?|no\.?|i'd (?:go with|take|say)|i (?:choose|pick|take|prefer|vote for)|please|the|yes,?|ok,?|nimm|nehmen wir|lieber|bitte|prends?|plutôt|variante|die|das|den|der|le|la|l'|el|il) )*[\"'(#]?([1-9]|[a-eA-E])[\"')]?(?:$|[.,;:! -])")
_YES = late_pattern(r"^(?:yes|yep|yeah|sure|ja|oui|sí|si|sim|tak|да|так|是|好|はい|네)\b")
# fmt: on


def asks_to_choose(one: Sentence) -> bool:
    """Whether a sentence is a question, or asks for a choice without being one."""
    return one.asks or _CHOOSE.search(one.plain) is not None


def answer_to(asked: str, words: str) -> str:
    """What a user chose of the options that an agent's text ends with, with the question; "" where that asks nothing or nothing was chosen."""
    text = asked[-_READ:]
    sentences = sentences_of(text, 1)
    questions = [one for one in sentences[-4:] if asks_to_choose(one)]
    if not questions:
        return ""
    if _only_goes_on(questions[-1].plain.strip(" ¿")):
        return ""
    options = _options(text, questions[-1].text)
    answer = words.strip()[:_LONGEST]
    said = sentences_of(answer, 1)
    plain = " ".join(one.plain for one in said)
    if not said or said[0].asks or len(options) < 2 or _PUTS_OFF.search(_without(plain, options)):
        return ""
    chosen = _chosen(options, said[0].plain, answer)
    if not chosen:
        return ""
    before = [one.text for one in sentences if one.line <= questions[-1].line and ":" in one.text[-300:]]
    asks = questions[-1].text
    question = asks if len(asks) > 40 or not before else before[-1]
    return f"{one_line(chosen, 120)} ({one_line(question, 120)})"


def _only_goes_on(question: str) -> bool:
    return bool(_GOES_ON.match(question)) and len(question) < _BRIEF and not _OR.search(question)


def _without(plain: str, options: list[str]) -> str:
    """An answer without the options that it repeats, whose words say nothing of what it does."""
    for option in options:
        plain = plain.replace(option.casefold(), " ")
    return plain.strip()


def _options(text: str, question: str) -> list[str]:
    items = [found[1].strip() for line in text.split("\n")[-30:] if (found := _ITEM.match(line))]
    items = items if len(items) >= 2 else _counted(text[-_LONGEST:])
    if len(items) >= 2:
        return items[-6:]
    parts = _OR.split(question.rstrip("? ？"))
    if len(parts) < 2:
        before = next(
            (one.text for one in reversed(sentences_of(text, 1)) if len(_OR.split(one.text)) > 1), ""
        )
        parts = _OR.split(before.rstrip(".? ？"))
    if len(parts) < 2:
        return []
    parts[0] = _LEADS.sub("", parts[0]) or parts[0]
    return [part.strip(" .,") for part in parts if part.strip(" .,")][-6:]


def _counted(text: str) -> list[str]:
    """Options that are counted within a sentence, from the first on; the last of such counts."""
    marks: list[re.Match[str]] = []
    for mark in _COUNT.finditer(text):
        number = next(at for at, each in enumerate(mark.groups()) if each is not None) + 1
        if number == 1:
            marks = []
        if number == len(marks) + 1:
            marks.append(mark)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [_STOP.split(text[mark.end() : end], 1)[0] for mark, end in zip(marks, ends, strict=False)]
    bare = [_JOINS.sub("", part.rstrip(" .,;:|/").lstrip(" .,;:|")) for part in parts]
    return [part for part in bare if part]


def _chosen(options: list[str], plain: str, answer: str) -> str:
    """The option that an answer names: by its own words, else by its number or place."""
    told = content_words(answer)
    shares = [len(told & content_words(option)) / max(1, len(content_words(option))) for option in options]
    best = max(shares)
    if _DENIED.match(_without(plain, options)):
        return ""
    if best > 0 and shares.count(best) == 1:
        return f"{options[shares.index(best)]}: {answer}"
    if found := _NUMBERED.match(plain):
        place = "123456789".find(found[1]) if found[1].isdigit() else "abcde".find(found[1].casefold())
        if 0 <= place < len(options):
            return f"{options[place]}: {answer}"
    if len(plain) < 200:
        if _LAST.search(plain):
            return f"{options[-1]}: {answer}"
        for place, pattern in enumerate(_COMPILED[: len(options)]):
            if pattern.search(plain[:80]):
                return f"{options[place]}: {answer}"
    if best > 0:
        return answer
    return ""


_COMPILED = tuple(late_pattern(pattern) for pattern in _PLACES)
