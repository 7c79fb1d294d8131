"""Whether a failure's message is a program's or a human's.

Owns telling them apart: a user's or a reviewer's words often stand where a message is looked for, alone or behind a program's.
"""

from __future__ import annotations

import re

from crucible.patterns import late_pattern

__all__ = ["is_program", "parted"]

_WHO = (
    r"user|reviewer|review(?: comment)?|comment|product(?: owner)?|pm|customer|client|designer|changes requested|tech lead|lead|qa"
    r"|colleague|boss|maintainer|nutzer|kunde|utilisateur|usuario|cliente|usuário|用户|ユーザー"
)
_SPOKEN = late_pattern(
    rf"(?:^|[.…!]\s+)\W*(?:the )?(?:{_WHO}|[+-]1 (?:from|by) [^\n:]{{2,30}}|(?:feedback|note|message|mail|remark|word) (?:from|by|of) [^\n:]{{2,30}})"
    r"(?: (?:said|says|wrote|answered|comments?))?(?: on \S+)?: *(.{3,})",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_OPENS = late_pattern(
    r"\W*(?:no\b[,!.]|nope|not |hm+\b|ehm|um+\b|wait\b|stop\b|sorry|thanks|thank you|ok(?:ay)?[, ]|why (?:did|have|is|are|would)|please |actually|oh\b|nice|great"
    r"|that's|that is|this is(?:n't| not| now| way)?\b|bitte |you're \w+ing |can you|could you|you (?:changed|made|deleted|removed|forgot|broke|did|have|just|put|added|used|wrote|renamed|again|were|already)"
    r"|the (?:customer|client|user|designer|reviewer|team)s? (?:says?|said|wants?|complain|meant)"
    r"|nein\b|nicht |das (?:war|ist|sollte)|doch\b|non\b[, ]|ce n'est|c'est|attends|désolé|não\b|isto|isso|no,|no era|eso|esto|perdón"
    r"|违|不(?:是|对|要)|違|いや|すみません|そう|待って|等等|halt|moment)",
    re.IGNORECASE,
)
_PRONOUN = late_pattern(
    r"\b(?:i|i'm|i'd|i've|we|we're|my|our|us|me|ich|wir|mir|uns|unser\w*|je|nous|moi|notre|nos|yo|nosotros|eu|nossos?|quería|queria|o cliente)\b|j'\w+"
    r"|\byou(?:'ve)? (?:\w{3,}(?:yled|ged|ved|ced|lled|red|rted|ited|ded|ked|med|ned|ped|wed|ched|shed)|did|made|built|wrote|put|left|took|gave|ran|chose|broke|got|went)\b"
    r"|[我您]|(?:です|ます|でした|ました|ください|ません)[。、!]?",
    re.IGNORECASE,
)
_PROGRAM = late_pattern(
    r"\b[\w.]*[a-z](?:error|exception|warning)\b|^\s+at |[\w/]+\.\w{1,5}[:(]\d+|exit (?:code|status)"
    r"|^\W*(?:error|fatal|warning|fail(?:ed|ure)?|npm|bash|zsh|sh|panic|traceback|hint|erreur|fehler|err|remote)\b|^[\w./-]+: (?!.*\b(?:i|we)\b)|[{}]"
    r"|^\W*(?:task|unable to|could not|cannot|can't|permission|access|connection|timed out|timeout|command|process|edit|file|no|invalid|unknown|missing|unexpected|undefined|uncaught) [^\n]{0,60}(?:refused|failed|found|denied|exists?|expected|match|differs?|allowed|boot|open|read|write|connect|start|determine)\b"
    r"|</?tool_use_error|\b[45]\d\d\b|^\S+error",
    re.IGNORECASE | re.MULTILINE,
)


def is_program(message: str) -> bool:
    """Whether a message has the marks of a program's."""
    return bool(_PROGRAM.search(message))


def parted(message: str) -> tuple[str, str]:
    """A human's words in a message, and what a program said; either is "" where there is none."""
    spoken = _SPOKEN.search(message)
    if spoken:
        return spoken[1], message[: spoken.start()]
    if is_program(message):
        return "", message
    is_human = _OPENS.match(message) or _PRONOUN.search(message)
    return (message, "") if is_human else ("", message)
