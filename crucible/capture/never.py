"""What is never proposed to be kept: faults of the environment, transient errors, secrets, one-off stories.

Owns the signs of these four, over any text.  A message that none of them knows may still be chance: that the same command went well when nothing
had changed is for who sees the calls (`mended`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from crucible.acts.needled import lowered
from crucible.capture.marks import mark
from crucible.patterns import late_pattern
from crucible.secrets import Scanner

__all__ = ["Never", "has_secret", "is_chance", "is_never", "is_of_environment", "is_story", "never_of"]

_READ = 6_000


class Never(StrEnum):
    """Why a text is not worth keeping, whatever else it says."""

    ENVIRONMENT = "environment"
    """This machine lacks it, or forbids it."""
    TRANSIENT = "transient"
    """The same again goes well."""
    SECRET = "secret"  # noqa: S105  no password
    """A secret stands in it, or was taken out of it."""
    STORY = "story"
    """Small talk, dates, jokes: nobody needs it again."""


# fmt: off
_LACKS = mark(
    "lacks", 1.0,
    r"(?m)\bcommand not found\b|: not found\s*$|\bexecutable file not found\b|\bis not recognized as (?:an internal|the name of)|\bspawn \S{1,80} enoent\b"
    r"|\bno such command\b|^(?:unknown command|fish: unknown)|\bcould ?n[o']t find (?:an? )?(?:executable|program|java|python|node|browser|compiler|sdk)\b|\bjava_home is not set\b"
    r"|\b(?:is|are) not installed\b|\bplease install\b|\bexecutable doesn't exist\b|\bnot available in this (?:sandbox|environment|container|workspace)\b"
    r"|\bno space left on device\b|\benospc\b|\bdisk quota exceeded\b|\bdisk (?:is )?full\b|\bread-only file ?system\b|\berofs\b|\btoo many open files\b|\bemfile\b"
    r"|\bout of memory\b|\boom[- ]?killed\b|\bcannot allocate memory\b|\benomem\b|\bheap out of memory\b|\b(?:exit(?:ed)?|code|status)\b.{0,20}\b137\b|^killed\b|\bmemory limit\b"
    r"|\boperation not permitted\b|\beperm\b|\binteractive authentication\b|^sudo: |\ba (?:terminal|password) is required\b|\bnot in the sudoers\b|\bmust be (?:run as )?root\b|\bare you root\b"
    r"|\b(?:denied|blocked|forbidden|prevented|rejected) by (?:the )?(?:sandbox|policy|seccomp|seatbelt|landlock|firewall|proxy|egress)\b|\bsandbox\b.{0,60}\b(?:den|block|prevent|forbid|restrict|not allow)"
    r"|/(?:opt|etc|usr|var|root|proc|sys|boot|dev|lib|mnt|srv|bin|sbin|library)\b[^:\n]{0,200}(?:: |').{0,20}permission denied|permission denied[^\n]{0,40}/(?:opt|etc|usr|var|root|proc|sys|boot|dev|lib|mnt|srv)\b|\bpermission denied \(publickey"
    r"|\bcannot connect to the docker daemon\b|\bdocker daemon\b.{0,30}\brunning\b|\bdocker\.sock\b|\bpodman\b.{0,40}\bnot running\b|\bfailed to connect to bus\b|\bbooted with systemd\b|\bmodprobe\b|\bkvm\b.{0,60}\b(?:not|no|denied|missing)\b|\bno such device\b|\bulimit\b"
    r"|\bno (?:usable )?(?:gpu|display|cuda|devices?|emulators?|simulator|adb devices|audio|camera|printer|webcam|screen)\b|\bcannot open display\b|\bunable to open (?:x )?display\b|\$display\b|\bnvidia\b.{0,60}\b(?:driver|fail|not)|\bcuda\b.{0,60}\b(?:not available|driver|no device)"
    r"|\blicen[cs]e (?:checkout|server|key|manager|expired|not)|\bno licen[cs]e\b|\blicen[cs]e\b.{0,30}\b(?:fail|expired|missing|not found|could not)"
    r"|\bcould ?n[o']t resolve (?:host|proxy|hostname)|\bnetwork is unreachable\b|\bname or service not known\b|\btemporary failure (?:in name resolution|resolving)|\benotfound\b|\beai_again\b|\benetunreach\b|\bno route to host\b|\behostunreach\b"
    r"|\bdial tcp: lookup\b|\bno such host\b|\bnodename nor servname\b|\bunknown host\b|\bunknownhostexception\b|\bfailed to resolve\b|\bgetaddrinfo\b|\bnetwork (?:access )?(?:is )?(?:disabled|not available|blocked|down)\b|\bproxy authentication required\b|\bno internet\b"
    r"|\bhostname .{0,40} could not be resolved\b|\bname resolution\b|\btunnel connection failed\b|\bunsupported (?:platform|architecture|kernel)\b|\bexec format error\b|\bkernel too old\b|\bglibc_\d|\bsystem clock\b",
)
_HERE = mark(
    "here", 1.0,
    r"\b(?:this|the|our|my) (?:machine|sandbox|environment|container|box|runner|laptop|host|vm|workspace|computer)\b(?! (?:variable|file|settings?))|\bsandbox\b|\b(?:no|without) (?:network|internet)\b|\bnot (?:installed|available|possible|allowed) here\b|\bleav(?:e|ing) (?:it|that) to ci\b"
    r"|\b(?:dieser|diese|der|die) (?:maschine|rechner|umgebung|sandkasten|sandbox|container)\b|\bbac à sable\b|\bcet environnement\b|\bcette machine\b|\besta máquina\b|\beste entorno\b|\bquesta macchina\b|沙箱|本机|サンドボックス|이 환경|песочниц|этой машин"
)
"""What is said of a call that this machine cannot make."""
_CHANCE = mark(
    "chance", 1.0,
    r"\bconnection (?:was )?(?:reset|timed? ?out|closed by|aborted|broken)\b|\beconnreset\b|\betimedout\b|\beconnaborted\b|\bsocket hang up\b|\bbroken pipe\b|\bepipe\b"
    r"|\b(?:operation|connection|request|handshake|read|gateway|i/o|network|connect)[- ](?:has )?time(?:d[- ]?|[- ]?)out\b|\bdeadline exceeded\b|\brate[- ]?limit(?!ing\b|er)|\bsecondary rate\b|\btoo many requests\b|\b(?:http|status|code|error)\W{0,4}429\b|^429\b|\bquota exceeded\b"
    r"|\b(?:error|status|code|http|returned)\b[^\n]{0,30}\b(?:500|502|503|504|520|522|524|529)\b|\b50[234] (?:bad|service|gateway|server)\b|\bbad gateway\b|\bservice (?:is )?(?:temporarily )?unavailable\b|\bgateway time-?out\b|\btemporarily unavailable\b|\boverloaded|\bat capacity\b"
    r"|\bcould not get lock\b|\bunable to (?:acquire|lock)\b|\bis (?:held|locked) by (?:another )?process\b|\bwaiting for (?:the )?(?:file )?lock\b|index\.lock\b|\banother (?:git )?process\b|\bdatabase is locked\b|\btext file busy\b|\bblocking waiting for\b|\bstate lock\b"
    r"|\bremote end hung up\b|\bearly eof\b|\bunexpected disconnect\b|\bnetwork (?:aborted|error|timeout)\b|\btls handshake\b|\bssl_error_syscall\b|\b(?:please )?try again\b|\bretry[- ]after\b|\btarget closed\b|\bpage crashed\b|\bbrowser has been closed\b|\bstream (?:disconnected|closed)\b"
    r"|\bchecksum mismatch\b.{0,40}\bdownload|\bincomplete (?:read|download)\b|\bunexpected eof while (?:reading|downloading)|\btransfer closed\b|\bprimary connection terminated\b|\bserver closed the connection\b|\bconnection refused\b"
)
_AGAIN = mark(
    "again", 1.0,
    r"\b(?:the )?same (?:command|call|thing|request|run)\b.{0,40}\b(?:again|through|went|passe[ds]|works?|worked|second|now)\b|\bflak(?:y|e[ds]?|iness)\b|\bhiccup|\bintermittent|\btransient\b|\bspurious\b|\b(?:second|third|next|2nd) (?:try|time|attempt|go|run)\b.{0,30}\b(?:passed|worked|fine|ok|through|went)\b"
    r"|\bwent through (?:on )?(?:the )?(?:second|third|next)\b|\b(?:re-?tr(?:y|ied|ying)|re-?ran|re-?run(?:ning)?|run (?:it )?again|once more|trying again)\b(?:$|.{0,30}\b(?:passed|worked|fine|ok|same|enough|help\w*|did it|again)\b)|\bno reason of ours\b|\bnot (?:our|my) (?:fault|doing)\b"
    r"|\bwent away (?:by|on) (?:it|them)sel|\bon its own\b|\bsporadisch|\bwackl?ig|\bnoch ?mal\b|\bbeim (?:zweiten|nächsten|erneuten)\b|\berneut\b.{0,30}\b(?:versuch|geh|lief|lauf)|\bencore une fois\b|\bà nouveau\b|\bréessa|\bdeuxième (?:fois|essai)\b|\botra vez\b|重试|再试|もう一度|다시 시도"
)
_STORY = mark(
    "story", 1.0,
        r"\bjok(?:e|es|ing)\b|\bpizza|\blunch\b|\bdinner\b|\bbreakfast\b|\bbarbecue\b|\bcake\b|\bcookies? (?:jar|recipe|for the team)|\bbeers?\b|\bcoffee\b|\bpub\b|\brestaurant|\bthai\b|\bsushi\b|\bburger|\bnoodles?\b|\bice cream\b|\bbirthday|\banniversary\b|\bparty\b|\bcongrat|\bchristmas|\bxmas\b|\beaster\b|\bhalloween\b"
        r"|\bnew year|\bvacations?\b|\bon holiday|\bweekend\b|\bstand-?up\b|\bretro(?:spective)?\b|\boffsite\b|\bteam (?:event|outing|dinner|lunch|trip)|\bhackathon\b|\bfriday the 13|\bhaha|\blol\b|\bfun fact\b|\bfunny\b|\btrivia\b|\banecdote\b|\bwhat a story\b|\bfavou?rite\b|\bmascot\b|\bt-?shirts?\b|\bsticker|\bplaylist\b|\bfootball\b|\bsoccer\b"
        r"|\bmovie\b|\bweather (?:is|was|today|outside)\b|\braining\b|\bsnow(?:ing)?\b (?:outside|today)|\bi (?:actually|really|quite|rather) (?:like|love|enjoy) (?:how|this|that|the)\b|\bkudos\b|\bout sick\b|\bday off\b|\bi'm off\b|\b(?:meeting|demo|call|review|release|workshop|appointment|train|flight)\b.{0,40}\b(?:on|is|was|moved|postponed|to)\b.{0,24}\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|o'clock)\b"
        r"|\bmoved to (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|one|two|three|nine|ten|eleven|noon)\b|\bby \w+ votes\b|\bcoin (?:flip|toss)|\btossed a coin\b|\bonce upon\b|\bhoroscope|\blottery\b|\bcat (?:walked|sat|jumped|is on)\b|\bmy (?:cat|dog|kid|kids|wife|husband)\b"
        r"|\bwitz\b|\bmittag|\bkuchen\b|\bkaffee|\bgeburtstag|\bfeierabend|\bweihnacht|\bostern\b|\burlaub|\bwochenende|\bfeier\b|\bausflug|\bnudeln|\bdöner|\bvorführung\b|\b(?:am|bis) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b|\bkrank\b|\bglückwunsch|\bfußball"
        r"|\bblague\b|\bdéjeuner\b|\bdîner\b|\bcafé\b|\bgâteau|\banniversaire\b|\bvacances\b|\brétro\b|\bfête\b|\bnoël\b|\bpâques\b|\bapéro|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|\bfélicitations|\bchiste\b|\bcumpleaños\b|\balmuerzo\b|\bvacaciones\b|\bcompleanno\b|\bpranzo\b|\bwtorek|笑话|生日|午饭|冗談|誕生日|ランチ|농담|생일|점심|шутк|обед|день рождения",
)
# fmt: on
_TAKEN_OUT = late_pattern(r"\[?\bREDACTED\b|<(?:secret|redacted|hidden|masked)\b|\*{6,}", re.IGNORECASE)
_NAMED_SECRET = late_pattern(
    r"\b\w*(?:passw(?:or)?d|passwd|secret|token|api_?key|access_?key|private_?key|credential|pwd)\w*\s{0,2}(?:=|:| is | lautet | est )\s{0,2}[\"']?(?=\S*\d)\S{6,}",
    re.IGNORECASE,
)
_MIXED = late_pattern(
    r"(?<!\S)[\"'(]?(?=[^\s]{0,63}[a-z])(?=[^\s]{0,63}[A-Z])(?=[^\s]{0,63}\d)(?=[^\s]{0,62}[!#$%^&?@~+*])[^\s()/{}\[\]<>,;:`\"]{10,64}[\"').,;:]{0,2}(?!\S)"
)
"""A word of small and capital letters, digits and signs is a password, whatever is said of it."""


@cache
def _scanner() -> Scanner:
    return Scanner()


def has_secret(*texts: str) -> bool:
    """Whether a secret stands in one of the texts, or was taken out of it."""
    return any(
        bool(
            _TAKEN_OUT.search(text)
            or _MIXED.search(text)
            or _NAMED_SECRET.search(text)
            or _scanner().find(text)
        )
        for text in (each[:_READ] for each in texts if each)
    )


def is_of_environment(text: str) -> bool:
    """Whether a message, or what is said of it, is of a machine that lacks something or forbids it."""
    low = _low(text)
    return _LACKS.stands_in(low) or _HERE.stands_in(low)


def is_chance(text: str) -> bool:
    """Whether a message is of what passes by itself, or says that the same again went well."""
    low = _low(text)
    return _CHANCE.stands_in(low) or _AGAIN.stands_in(low)


def is_story(text: str) -> bool:
    """Whether words are small talk."""
    return _STORY.stands_in(_low(text))


def never_of(text: str, *, is_message: bool = False) -> Never | None:
    """Why a text is never kept; None where nothing says so.

    `is_message` is for what a program said, and what is said of that: only then the words of the environment and of chance count, for a
    decision may well be about timeouts.
    """
    if has_secret(text):
        return Never.SECRET
    if is_message:
        if is_of_environment(text):
            return Never.ENVIRONMENT
        return Never.TRANSIENT if is_chance(text) else None
    return Never.STORY if is_story(text) else None


def is_never(*texts: str, is_message: bool = False) -> bool:
    """Whether one of the texts is on the list of what is never kept."""
    return any(never_of(text, is_message=is_message) is not None for text in texts if text)


def _low(text: str) -> str:
    return lowered(text[:_READ].replace("’", "'"))
