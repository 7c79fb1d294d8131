"""What a report's story says to the questions that tell causes apart: who changed, what was there to be read, would the same pass again.

Owns the shapes of such sentences, whatever they are about.  They are weaker than the other tables' words, and several together decide.
"""

from __future__ import annotations

from crucible.knowledge.signs import Sign, View, signs

__all__ = ["CAUSES"]

_WISHER = (
    r"(?:user|customer|client|author|designer?|design|finance|accounting|legal|sales|support|marketing|product(?: owner)?|po|pm|qa|tester|reviewer"
    r"|boss|editor|owner|lead|stakeholders?|requester|reporter|dba|professor|teacher|studio|producer|kunde|nutzer|auftraggeber|cliente|usuario)"
)
_ORDER = r"(?:ticket|order|request|story|spec|brief|issue|task|wish|sentence|instruction|prompt|mail|description|requirement|criteri\w+|card)"

_WISH = signs(
    View.STORY,
    (
        "R3",
        "two people read the same wish in two ways",
        (
            rf"\bi (?:took|read|counted|chose|picked|used|built|made|understood|assumed|went|decided|treated|had)\b[^\n]{{0,110}}\b(?:they|he|she|{_WISHER}) (?:\w+ )?(?:take|took|count|mean|meant|want|expect|read|had|has|thought|thinks|uses)"
            rf"|{_WISHER}(?:'s \w+)? (?:took|read|understood|counts?|means?|meant|thought of|had thought|imagined|expects?|expected|wants?|wanted|wished)\b"
            r"|(?:can|could|may|might) (?:be (?:read|understood|taken)|mean)|either (?:reading|way) (?:is|was|fits)|open to"
        ),
    ),
    (
        "R2.5",
        "the wish left open what was needed to fulfil it",
        (
            rf"{_ORDER}s? (?:just|only|merely|simply|gives|gave|asks|asked|calls|called|speaks|talks|mentions?|names?|has no|had no|did not|didn't|does not|doesn't|never)\b"
            r"|(?:in what|which|what) (?:unit|currency|language|time ?zone|format|order|platform|period|version of it|environment|audience)\b"
            r"|left (?:it |that )?(?:to me|to interpretation)|not a word (?:on|of|about)|without saying (?:which|what|whether|how|where|for whom)|no (?:definition|threshold|number|unit) (?:was )?(?:given|stated|named|in)"
        ),
    ),
    (
        "R4",
        "the wishes exclude each other",
        (
            r"neither gives way|both (?:\w+ )?(?:are|were) (?:mandatory|required|binding|must)|at odds|exclude (?:each|one an)other|one of the two (?:\w+ )?(?:is|has|must)|each (?:approved|accepted|signed)\b|rejected both|two (?:papers|reviewers|documents|sheets|sections|leads|departments)|cannot (?:both|be had together)|irreconcilab|mutually incompatible|opposite (?:demand|wish|direction)"
            r"|(?:one|first|former) (?:wants?|demands?|asks?|requires?|says)\b[^\n]{0,80}(?:the )?(?:other|second|latter)"
        ),
    ),
    (
        "R2.5",
        "it was the wisher who settled what was to be done",
        (
            rf"(?:says|said|decided|settled|clarified|answered|according to) (?:by )?(?:the )?{_WISHER}\b|{_WISHER} (?:decided|settled|clarified|answered|confirmed|picked|chose|says|said)"
            r"|(?:definition|rule|wording|meaning|threshold|scope) (?:was )?(?:agreed|settled|fixed|clarified|written)|agreed (?:on|in a|that|upon)|met and|asked (?:for the|him|her|them which|them what|back)|next time (?:i )?ask"
        ),
    ),
)

_SAID = signs(
    View.WORDS,
    (
        "R1.5",
        "a human said that it was to be otherwise",
        (
            r"[?!]{2,}|\b(?:i|we) (?:said|say|asked|asked for|told you to|was talking|were talking|speak|spoke|am talking|need|needed)\b|\b(?:is|are|does|do|did)(?:n't| not) (?:the same|mean|equal|['\"“«]|an? )"
            r"|\b(?:undo|revert|put (?:it|that|them) back|too (?:much|many|far|technical|long|short|big))\b|\b(?:only|just|solo|nur|seulement|apenas|solamente|somente)\b|\bnot\b[^\n]{0,40}$|, not "
        ),
    ),
    (
        "C4 R-2",
        "it had been said or decided before",
        (
            r"\b(?:hours?|minutes|days?|weeks?|messages?) ago\b|scroll (?:up|back)|please (?:search|look|check|read|see)\b|look (?:at|in|into|before)\b|duplicates? of|see (?:the )?(?:\w+/|\w+\.\w{2,4}\b)|(?:said|told|wrote|agreed|decided)[^\n]{0,40}(?:already|before|earlier|ago|yesterday|last|twice|at the (?:start|beginning|top))"
        ),
    ),
)

_AGAIN = signs(
    View.TOLD,
    (
        "X2.5",
        "it was chance: the same thing passed another time",
        (
            r"(?:plug|start|boot|switch|open|turn|mount|load|connect)\w* (?:it |them )?(?:in |on |up )?(?:again|anew)|dropped off|caught up|(?:next|second|third) (?:go|run|try|attempt|build|round)\b|ran through|went (?:green|through)"
            r"|\b\d+ (?:of|in|out of) \d+\b|(?:about|roughly|once) (?:every|in) \w+ (?:run|time|try|build)|(?:had been|was) (?:cancel|abort|kill|interrupt|suspend|left)\w*|nothing (?:else )?(?:was )?changed|no change (?:to|in|of|needed)|not reproduc|never again|vanished|went away"
        ),
    ),
)

_CHANGED = signs(
    View.TOLD,
    (
        "E3",
        "something outside changed while our side stayed as it was",
        (
            r"(?:came|went) (?:in|out|up|live) (?:over ?night|yesterday|today|this morning|last night|on \w+day)|unannounced|no (?:notice|warning)|(?:other|two|three|several|all) (?:teams|projects|customers|people|colleagues|users|repositories|companies|apps)\b[^\n]{0,40}(?:get|got|see|saw|have|had|report|hit|same)"
            r"|\bwe (?:did not|didn't|have not|haven't|had not|hadn't) (?:change|touch)|(?:untouched|unchanged|not (?:been )?(?:touched|changed)|not a line)\b[^\n]{0,30}(?:since|for|in|by)|our (?:\w+ ){1,3}(?:has|was|is|had|did|were|have)(?:n't| not) (?:been )?(?:touch|chang)"
            r"|(?:no|nobody|nothing) (?:had |has |was |been )*(?:commit|merged|deployed|pushed)|no commit of|(?:run|ran|worked|fetched|loaded|built) (?:it )?(?:unchanged|every (?:day|night|week)|each (?:day|night|time))|asked them|hotline|on the phone|thumbs|open issue|issue (?:is )?open|issue tracker of|(?:everyone|everybody) (?:else )?(?:has|gets|sees)|worldwide|for all (?:customers|users)|(?:since|until) (?:\w+ )?(?:o'clock|morning|noon|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday|the first)"
        ),
    ),
)

_CALLED = signs(
    View.STORY,
    (
        "T2.5",
        "the tool was not called as it has to be",
        (
            r"(?:nobody|no ?one|no human|none) (?:is |was |sits )?(?:at the keyboard|to (?:press|type|answer|pick|choose))|(?:serves?|runs?|stays|listens?|watches) (?:on )?until|not have waited|in the background\b|background(?:ed)?\b|by hand\b"
            r"|(?:asks|asked|prompts?|prompted) (?:me|for|whether|back|questions)|(?:takes?|took|wants?|wanted|expects?) (?:it |them )?(?:as|one|two|a single|exactly|no|the) (?:\w+ )?(?:argument|parameter|file|path|value|name|pattern|flag|string|array|number|line)"
            r"|(?:argument|flag|option|switch|parameter)s?\b"
        ),
    ),
)

_MENDED = signs(
    View.MENDED,
    (
        "T2.5",
        "",
        r"^\W*(?:with |added? )?`?--?[a-z]|here-?doc|background|quoted|escap|without -|^\W*(?:absolute|full) path",
    ),
    (
        "K1.5",
        "",
        r"\bnow (?:written|in|a line|there is)|line (?:in|added)|\bwrapp?ed\b|moved (?:in)?to \w+\.|first$|annotat",
    ),
    ("R1.5", "", r"\bask(?:ed|s)?\b|agreed|clarified|ticket|said|says|confirmed"),
    (
        "C1.5",
        "",
        r"\bused\b|\bread (?:anew|again|it|the)|existing|right (?:directory|folder|branch|name|path)|use-context|activate",
    ),
    ("X1.5", "", r"\bagain\b|anew|wiped|unlock|restart|reboot|freed|killed?\b|lock"),
    (
        "E1.5",
        "",
        r"other (?:zone|region|mirror|provider)|next day|waited|half an hour|they\b|pinned|went through|\bback up\b",
    ),
)

CAUSES: tuple[Sign, ...] = (*_WISH, *_SAID, *_AGAIN, *_CHANGED, *_CALLED, *_MENDED)
"""All of them; a report may bear several, which are weighed against each other."""
