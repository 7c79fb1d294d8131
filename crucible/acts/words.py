"""What a user's or an agent's words come to: a correction, a decision, mere chatter.

Owns the patterns, which are English but for a plain no.  Words that no pattern knows are never lost: they stand as what was asked.  What is taken
out of words is never said so that it could mean the opposite: where that is not sure, the exact words are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crucible.note.contain import cut, normal_line
from crucible.patterns import late_pattern

__all__ = [
    "chosen_in",
    "corrected_by",
    "forbidden_in",
    "gist",
    "is_chatter",
    "is_conceded",
    "is_correction",
    "is_question",
    "said",
    "untagged",
]

_READ = 2000
"""Code points of a text that are looked at."""
_LONGEST = 300
"""Code points of a text that are told."""

_ITEM = late_pattern(r"(?:^|\.?(?:[ \t]*\n){1,3})[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+")
_TAGS = late_pattern(r"\s*(?:\[[\w.-]{1,40}:[^\[\]\n]{0,80}\]\s*)+")
_CHATTER = late_pattern(
    r"(?:(?:ok|okay|yes|yep|yeah|sure|thanks|thank you|thx|ty|great|perfect|nice|cool|good|excellent|awesome|fine|alright|right"
    r"|please|continue|go on|go ahead|carry on|keep going|proceed|next|resume|do it|do that|do so|sounds good|looks good|lgtm"
    r"|well done|good job|very|much|so|and|then|that|works|it|now|y|👍|🙏|🎉)[\s,.!…]*){1,6}",
)
_BEGINS = (
    r"(?:(?:hm+|uh|um|oh|ah|ok|okay|well|hey|sorry|thanks?(?: you)?|great|nice|good|yes|yeah|but|and|so|now|please|pls"
    r"|(?:can|could|would|will) you(?: please)?)(?:[\s,.!…—–-]+|$)){0,4}"
)
_TAKEN_BACK = late_pattern(
    _BEGINS + r"(?:"
    r"(?:no|nope|nah|nein|нет|不对|错了|不是|不要)(?![\w'’-])(?!,? (?:problems?|worries|need|idea|hurry|rush|objections?|complaints?|questions?|further|more|errors?|changes?|pressure|thanks|thank you|one|other)\b)"
    r"|(?:wrong|falsch|incorrect)\b(?! (?:window|chat|tab|channel|terminal|thread|session)\b)"
    r"|(?:stop|halt)\b(?! (?:here|there|for (?:now|today)|when|once|after|at)\b)"
    r"|(?:undo|revert|restore)\b|(?:roll|put|take|change|turn|bring)(?: \S+){0,5}? back\b|take(?: \S+){1,4}? out again\b"
    r"|not (?:like|what|in|into|there|that|this|here|quite|so|on|with|by|for)\b"
    r"|(?:almost|not quite|nearly|close)(?:[,.!:;—–-]|$)"
    r"|(?:way |far |much )?too (?:complicated|complex|much|many|long|clever|verbose|broad|big|slow|general|specific|aggressive|fancy)\b"
    r"|(?:rather than|instead of|statt|stattdessen|au lieu de|en lugar de|en vez de)\b"
    r"|actually,? (?!(?:works?|good|great|nice|fine|yes)\b)|(?:wait|hold on)(?:[,:.!—–-]|$)"
    r"|i (?:already )?(?:said|told you|asked (?:you )?(?:for|to|not)|meant|wanted)\b"
    r"|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not (?:it\b|right|what|correct|how|the (?:right|point|idea|way|one))|incorrect)\b"
    r")"
)
"""How words begin that take something back, in small letters; what may stand before them is courtesy."""
_TAKES_BACK = late_pattern(
    r"\b(?:must|should|needs? to|has to|have to|ought to|supposed to)(?: be| use)?\b[^.!?\n]{0,160}[, (](?:not|rather than|instead of)\b"
    r"|\b(?:you (?:should|must)(?:n['’]t| not| have)|i (?:said|told you|meant|asked for)|i did(?:n['’]t| not) (?:ask|want|mean|say))\b"
    r"|\b(?:not what (?:i|we)|not how (?:i|we)|that['’]s wrong|(?:is|was|are) (?:\w+ )?wrong|undo that|revert (?:that|it|this|the))\b"
    r"|\bshould never have\b|\binstead of (?:the|a|an|what|your|this|that)\b"
    r"|^(?:(?:please|now|and|but|just),? )*(?:use|do|make|write|put|take|try|call|return|read|go|store)\b[^.!?]{1,120}\b(?:instead|rather than)\b"
    r"|\bstill (?:broken|wrong|incorrect|missing|fails?|failing|crash\w*|red|does(?:n['’]t| not)|not)\b"
    r"|(?:^|[.!,;:–—-] |\b(?:but|and|because|since) )(?:this|that|it) (?:"
    r"(?:does|did|wo|should|must)(?:n['’]t| not) (?!(?:matter|hurt|have to|need|bother|change anything)\b)|(?:breaks|broke|ignores|ignored|misses|missed|loses|lost|hides|deletes|deleted|drops|overwrites|duplicates|bypasses|leaks)\b)"
    r"|(?:^|[.!] )(?:let['’]?s not\b|(?:that|this)['’]?s? (?:is )?(?:overkill|unnecessary|backwards|the wrong)\b|put (?:it|them|that|this) back\b)"
    r"|\b(?:not|n['’]t|never) (?:a )?part of (?:the|this|my|our|what)\b|\bas (?:it|they) (?:was|were)\b"
    r"|\bother way (?:a)?round\b|\b(?:i|we)(?:['’]d| would) (?:much )?(?:rather|prefer)\b|\bunasked\b|\bnobody asked\b"
    r"|\bwe (?:never|always|already have|do(?:n['’]t| not) (?!(?:need|have) to\b))"
    r"|\bwe \w+ (?:[\w'’-]+ ){1,8}here, not\b"
    r"|\byour (?:\w+ ){1,3}?(?:is|are|was|hides?|breaks?|broke|fails?|ignores?|misses|only|does(?:n['’]t| not)|changes?|removes?|deletes?)\b"
    r"|(?:^|[.,;:!—–-] |\b(?:but|because|since) )you(?:['’]re|['’]ve| are| have)? (?:only |just |also |again |now |still )?(?!"
    r"(?:can|could|may|might|will|would|should|must|need|want|know|see|like|think|get|find|decide|choose|prefer|wish|please|do|did|had|have to|have"
    r"|(?:are |were )?(?:right|done|welcome|free|great|good|the|a|an|amazing|allowed|awesome|ready|doing|to|absolutely|correct|my|in))\b)\w"
    r"|\bstattdessen\b|\bplutôt\b|\bau lieu de\b|\ben lugar de\b",
)
"""What sentences that ask nothing say when they take something back."""
_CONCEDES = late_pattern(
    r"(?:ah|oh|oops|yes|hm+)?[,.! ]*(?:you(?:['’]re| are) (?:\w+ )?right|(?:i['’]m |i am )?(?:so |very )?sorry|(?:my )?apolog|my (?:mistake|bad|fault)|i (?:misunderst|misread|overlooked|missed|forgot)"
    r"|good (?:catch|point|call)|fair (?:point|enough)|oops\b|true,|thanks for (?:catching|the correction|pointing))"
)
"""How an agent begins its answer when it was wrong, in small letters."""
_YIELDS = late_pattern(
    r"(?:ah|oh|ok|okay|all right|yes)?[,.! ]*(?:understood|i see\b|right[,.;:!]|got it|makes sense|agreed|indeed|of course)"
)
_SETS_RIGHT = late_pattern(
    r"^(?!(?:now|next|then|also|and|great|finally)\b)[^?]*\b(?:must|should|has to|have to|needs to|ought to|cannot|can['’]t|as in the rest|like the (?:rest|others?))\b"
)
"""What corrects an agent only where its answer says so, too."""
_ASKED = late_pattern(
    r"(?:^|(?<=[.!?]) +)(?!(?:can|could|would|will) you\b|please\b)(?:[^.!?]|[.!](?=\S)|\?(?=\S| +(?-i:[a-z])))*\?+(?= +(?-i:[^a-z ])| *$)",
    re.IGNORECASE,
)
"""A sentence that asks, and does not ask for something to be done; `empty?` is a name and ends none."""
_INSTEAD = late_pattern(
    r"\b(?:can|could|would|will) you\b[^.!?]*\b(?:instead\b|as (?:it|they) (?:was|were)\b)"
)
_IMPERATIVE = late_pattern(
    r"(?:(?:^|[.!;:\n]\s*)(?:please\s+)?never|(?:^|[.!;:\n]\s*|,\s*|\b(?:and|but|please|so|also|just)\s+)(?:don['’]?t|do not))\s+"
    r"((?!you\b|we\b|they\b|i\b|be sorry|worry|mind|forget|hesitate)(?:[^.!?;\n]|[.!?;](?=[^\s.!?;])){3,160})([.!?;\n]|$)",
    re.IGNORECASE,
)
_ASKS = late_pattern(
    r"(?:(?:now|then|please|and|also|so|ok|okay)[ ,]+)*(?:(?:add|write|make|use|fix|create|implement|refactor|keep|move|rename|remove|delete"
    r"|replace|convert|try|do|go|put|let|document|extend|port|rewrite|clean|simplify|finish|continue|review|look)\b"
    r"|(?:run|build|test|check|change|update|log|read|start|commit|document)\s(?:the|a|an|it|this|that|all|my|our|your|every|each)\b)",
    re.IGNORECASE,
)
"""Words that ask for something to be done: what they forbid behind that is forbidden to who is asked."""
_TELLS = late_pattern(
    r"\b(?:if|when|whenever|unless|until|while|once|in case|as long as|because|that|which|who|whose|whom|where|those|people)\b",
    re.IGNORECASE,
)
"""Words behind which a negation is about something else, or holds only at times."""
_END = late_pattern(r"[.!?;](?=\s)|[:\n]")
_MORE = late_pattern(r",|[:;—–]|\b(?:but|rather|instead|just|only|and|or else)\b", re.IGNORECASE)
_SENTENCE = late_pattern(r"(?<=[.!?])[ \n]+|\n+")
_CHOSE = late_pattern(
    r"\s*(?:so,? |then,? |therefore,? )?(?:(?:i|we)(?:['’]ve| have)? (?:decided|chose|chosen|opted for|settled on)(?: to)?\b"
    r"|decision:|(?:i|we)(?:['’]m| am|['’]re| are) going with\b|(?:actually,? )?the better approach is(?: to)?\b)",
    re.IGNORECASE,
)
_ANSWER = late_pattern(r'"([^"\n]{1,300})"\s*=\s*"([^"\n]{1,300})"')
_CHOICE = late_pattern(r"deci[ds]|chose|opted|settled|going with|approach is", re.IGNORECASE)
_WHY = late_pattern(r",? (?:because|since) ", re.IGNORECASE)


def said(text: str, limit: int = _LONGEST) -> str:
    """Words in one line, of any length up to `limit`."""
    return cut(normal_line(text[: 4 * limit + 1000]), limit)


def gist(text: str, limit: int = _LONGEST) -> str:
    """What was written, in one line without the marks of its list items and the stop at its end."""
    items = _ITEM.sub("; ", text[: 4 * limit + 1000].strip())
    return said(items.replace(":; ", ": "), limit).removeprefix("; ").rstrip(".; ")


def untagged(text: str) -> str:
    """A text without what a client wrote before it: `[agent:clock] Is it safe?` is `Is it safe?`."""
    found = _TAGS.match(text)
    rest = text[found.end() :] if found else text
    return rest if rest.strip() else text


def is_chatter(words: str) -> bool:
    """Whether words say nothing but "go on" or "thank you"."""
    return len(words) <= 60 and bool(_CHATTER.fullmatch(words.strip().casefold()))


def is_correction(words: str) -> bool:
    """Whether words take back something that was done."""
    exact = normal_line(words[:_READ])
    text = exact.casefold()
    said_of_it = _ASKED.sub("", exact).strip().casefold() if "?" in exact else text
    if not said_of_it:
        return False
    if _TAKEN_BACK.match(text) or _TAKES_BACK.search(said_of_it) or _INSTEAD.search(said_of_it):
        return True
    return any(at == 0 for at, *_ in _imperatives(text))


def is_conceded(reply: str, words: str = "") -> bool:
    """Whether an agent's answer begins by saying that it was wrong, or that it takes in what words set right."""
    begins = reply[:80].strip().casefold()
    if _CONCEDES.match(begins):
        return True
    return bool(_YIELDS.match(begins) and _SETS_RIGHT.search(normal_line(words[:_READ]).casefold()))


def is_question(words: str) -> bool:
    """Whether words do nothing but ask."""
    text = normal_line(words[:_READ])
    return text.endswith(("?", "？")) and not _ASKED.sub("", text).strip()


def forbidden_in(words: str) -> list[str]:
    """What words say plainly not to do, each to follow `Do not: `."""
    return [said(clause) for _, clause, is_plain in _imperatives(words[:_READ]) if is_plain]


def corrected_by(words: str) -> list[str]:
    """What a correction says not to do; where that cannot be said safely, its exact words in quotes."""
    return forbidden_in(words) or [f'repeat what was corrected: "{said(words)}"']


def _imperatives(words: str) -> Iterator[tuple[int, str, bool]]:
    """Clauses behind `don't`: where each begins, its text, and whether it means the same when it stands alone."""
    for found in _IMPERATIVE.finditer(words):
        if found[2] != "?":
            is_plain = not _MORE.search(found[1]) and _is_asked(words, found)
            yield found.start(), found[1].strip(), is_plain


def _is_asked(words: str, found: re.Match[str]) -> bool:
    """Whether a negation opens a sentence, or stands behind what asks for something without an if."""
    if found.start() == 0 or found[0][0] in ".!;\n":
        return True
    before = _END.split(words[: found.start()])[-1].strip()
    if _TELLS.search(before):
        return False
    return found[0][0] == ":" or "please" in found[0].casefold() or bool(_ASKS.match(before))


def chosen_in(prose: str) -> Iterator[tuple[str, str]]:
    """Sentences of an agent that tell a choice, and the reason that they give, "" for none."""
    text = prose[:_READ]
    if not _CHOICE.search(text):
        return
    for sentence in _SENTENCE.split(text):
        begins = _CHOSE.match(sentence)
        if begins and not sentence.rstrip().endswith("?"):
            why = _WHY.search(sentence, begins.end())
            what = gist(sentence[begins.end() : why.start() if why else len(sentence)])
            if what:
                yield what, gist(sentence[why.end() :]) if why else ""


def answers_in(asked: str, result: str) -> list[str]:
    """What a user chose when an agent asked: each question and its answer, or the whole result where its form is not known."""
    pairs = [f"{said(question)} {said(answer)}" for question, answer in _ANSWER.findall(result[: 4 * _READ])]
    if pairs or not result.strip():
        return pairs
    return [gist(f"{asked.strip()} {result}")]
