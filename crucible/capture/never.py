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
    r"(?m)\bcommand not found\b|: not found\s*$|\bexecutable file not found\b|\bis not recognized as (?:an internal|the name of)|\bspawn \S{1,80} enoent\b",
    r"(?m)\bno such command\b|^(?:unknown command|fish: unknown)|\bcould ?n[o']t find (?:an? )?(?:executable|program|java|python|node|browser|compiler|sdk)\b|\bjava_home is not set\b",
    r"(?m)\b(?:is|are) not installed\b|\bplease install\b|\bexecutable doesn't exist\b|\bnot available in this (?:sandbox|environment|container|workspace)\b",
    r"(?m)\bno space left on device\b|\benospc\b|\bdisk quota exceeded\b|\bdisk (?:is )?full\b|\bread-only file ?system\b|\berofs\b|\btoo many open files\b|\bemfile\b",
    r"(?m)\bout of memory\b|\boom[- ]?killed\b|\bcannot allocate memory\b|\benomem\b|\bheap out of memory\b|\b(?:exit(?:ed)?|code|status)\b.{0,20}\b137\b|^killed\b|\bmemory limit\b",
    r"(?m)\boperation not permitted\b|\beperm\b|\binteractive authentication\b|^sudo: |\ba (?:terminal|password) is required\b|\bnot in the sudoers\b|\bmust be (?:run as )?root\b|\bare you root\b",
    r"(?m)\b(?:denied|blocked|forbidden|prevented|rejected) by (?:the )?(?:sandbox|policy|seccomp|seatbelt|landlock|firewall|proxy|egress)\b|\bsandbox\b.{0,60}\b(?:den|block|prevent|forbid|restrict|not allow)",
    r"(?m)/(?:opt|etc|usr|var|root|proc|sys|boot|dev|lib|mnt|srv|bin|sbin|library)\b[^:\n]{0,200}(?:: |').{0,20}permission denied|permission denied[^\n]{0,40}/(?:opt|etc|usr|var|root|proc|sys|boot|dev|lib|mnt|srv)\b|\bpermission denied \(publickey",
    r"(?m)\bcannot connect to the docker daemon\b|\bdocker daemon\b.{0,30}\brunning\b|\bdocker\.sock\b|\bpodman\b.{0,40}\bnot running\b|\bfailed to connect to bus\b|\bbooted with systemd\b|\bmodprobe\b|\bkvm\b.{0,60}\b(?:not|no|denied|missing)\b|\bno such device\b|\bulimit\b",
    r"(?m)\bno (?:usable )?(?:gpu|display|cuda|devices?|emulators?|simulator|adb devices|audio|camera|printer|webcam|screen)\b|\bcannot open display\b|\bunable to open (?:x )?display\b|\$display\b|\bnvidia\b.{0,60}\b(?:driver|fail|not)|\bcuda\b.{0,60}\b(?:not available|driver|no device)",
    r"(?m)\blicen[cs]e (?:checkout|server|key|manager|expired|not)|\bno licen[cs]e\b|\blicen[cs]e\b.{0,30}\b(?:fail|expired|missing|not found|could not)",
    r"(?m)\bcould ?n[o']t resolve (?:host|proxy|hostname)|\bnetwork is unreachable\b|\bname or service not known\b|\btemporary failure (?:in name resolution|resolving)|\benotfound\b|\beai_again\b|\benetunreach\b|\bno route to host\b|\behostunreach\b",
    r"(?m)\bdial tcp: lookup\b|\bno such host\b|\bnodename nor servname\b|\bunknown host\b|\bunknownhostexception\b|\bfailed to resolve\b|\bgetaddrinfo\b|\bnetwork (?:access )?(?:is )?(?:disabled|not available|blocked|down)\b|\bproxy authentication required\b|\bno internet\b",
    r"(?m)\bhostname .{0,40} could not be resolved\b|\bname resolution\b|\btunnel connection failed\b|\bunsupported (?:platform|architecture|kernel)\b|\bexec format error\b|\bkernel too old\b|\bglibc_\d|\bsystem clock\b|\bcertificate (?:has expired|verify failed|is not (?:yet )?(?:valid|trusted)|signed by unknown)|\bself[- ]signed certificate\b|\bunable to get (?:local )?issuer\b|\bcert_\w+|\bx509:|\bproxy\b.{0,40}\b(?:40[37]|refus|den|requir|connect)|\b407\b|\bnot in (?:your |the )?\$?path\b|\bno module named pip\b|\bcannot find (?:the )?(?:binary|executable|program|tool|command)\b|\brequires? (?:xcode|docker|sudo|root|a gpu|cuda|admin\w*|elevat\w+|windows|macos|java \d)|\bnot supported on this (?:platform|os|system|machine|architecture)\b|\bunable to locate (?:package|executable)\b|\bcredentials? (?:not found|could not be|are missing|helper)|\bunable to locate credentials\b|\bnot logged in\b|\blogin required\b|\bauthentication required\b|\b(?:no|missing) (?:aws|gcp|azure|kube\w*|cloud) (?:credentials|config)|\bcurrent-context is not set\b|\bunable to connect to the server\b|\bcould ?n[o']t connect to (?:server|the server|display|host)|\bconnection to .{0,40} could not be (?:made|established)|\binode|\bno inodes\b|(?m:^make: \S{1,60}: no such file or directory)|\bdaemon socket\b|\b(?:unable|failed|not able) to (?:connect to|reach|contact)\b.{0,40}\bsocket\b|\bfailed to start\b.{0,20}$|\bxvfb\b|\bfile watchers\b|\bfile system (?:is )?full\b|\bcannot fork\b|\bfork: retry\b|\bresource (?:limit|exhausted)\b|\bseccomp\b|\bapparmor\b|\bselinux\b|\bcgroup\b|\bptrace\b|\bcap_[a-z]+|\bmissing x server\b|\bno protocol specified\b|\bno usable sandbox\b|\bfuse: device not found\b|\bno tty\b|\bnot a tty\b|\binappropriate ioctl\b|\bno space\b|\bblocked-by-allowlist\b|\bnot (?:on|in) (?:the )?allow-?list\b",
)
_HERE = mark(
    "here", 1.0,
    r"\b(?:this|the|our|my) (?:machine|sandbox|environment|container|box|runner|laptop|host|vm|workspace|computer)\b(?! (?:variable|file|settings?))|\bsandbox\b|\b(?:no|without) (?:network|internet)\b|\bnot (?:installed|available|possible|allowed) here\b|\bleav(?:e|ing) (?:it|that) to ci\b",
    r"(?m)\b(?:dieser|diese|der|die) (?:maschine|rechner|umgebung|sandkasten|sandbox|container)\b|\bbac à sable\b|\bcet environnement\b|\bcette machine\b|\besta máquina\b|\beste entorno\b|\bquesta macchina\b|沙箱|本机|サンドボックス|이 환경|песочниц|этой машин"
)
"""What is said of a call that this machine cannot make."""
_CHANCE = mark(
    "chance", 1.0,
    r"\bconnection (?:was )?(?:reset|timed? ?out|closed by|aborted|broken)\b|\beconnreset\b|\betimedout\b|\beconnaborted\b|\bsocket hang up\b|\bsocket (?:error|exception|timed out)\b|\bbroken pipe\b|\bepipe\b",
    r"(?m)\b(?:operation|connection|request|handshake|read|gateway|i/o|network|connect)[- ](?:has )?time(?:d[- ]?|[- ]?)out\b|\bdeadline exceeded\b|\brate[- ]?limit(?!ing\b|er)|\bsecondary rate\b|\btoo many requests\b|\b(?:http|status|code|error)\W{0,4}429\b|^429\b|\bquota exceeded\b",
    r"(?m)\b(?:error|status|code|http|returned)\b[^\n]{0,30}\b(?:500|502|503|504|520|522|524|529)\b|\b50[234] (?:bad|service|gateway|server)\b|\bbad gateway\b|\bservice (?:is )?(?:temporarily )?unavailable\b|\bgateway time-?out\b|\btemporarily unavailable\b|\boverloaded|\bat capacity\b",
    r"(?m)\bcould not get lock\b|\bunable to (?:acquire|lock)\b|\bis (?:held|locked) by (?:another )?process\b|\bwaiting for (?:the )?(?:file )?lock\b|index\.lock\b|\banother (?:git )?process\b|\bdatabase is locked\b|\btext file busy\b|\bblocking waiting for\b|\bstate lock\b",
    r"(?m)\bremote end hung up\b|\bearly eof\b|\bunexpected disconnect\b|\bnetwork (?:aborted|error|timeout)\b|\btls handshake\b|\bssl_error_syscall\b|\b(?:please )?try again\b|\bretry[- ]after\b|\btarget closed\b|\bpage crashed\b|\bbrowser has been closed\b|\bstream (?:disconnected|closed)\b",
    r"(?m)\bchecksum mismatch\b.{0,40}\bdownload|\bincomplete (?:read|download)\b|\bunexpected eof while (?:reading|downloading)|\btransfer closed\b|\bprimary connection terminated\b|\bserver closed the connection\b|\bconnection refused\b|\bcould not (?:lock|be locked)\b|\bwaiting (?:for|to) (?:another|lock|acquire|the (?:startup )?lock)\b|\beconnrefused\b|\bfailed to connect to\b|\bcould not connect\b|\bconnection to (?:the )?(?:server|host|database)\b.{0,80}\b(?:failed|refused|lost)|\bpull rate\b|\btoomanyrequests\b|\bsocket ?timeout\w*|\btls recv\b|\bnetwork timeout\b|\bhiccup\w*|\bblip\b|\bhttp error 5\d\d\b|\beaddrinuse\b|\baddress (?:is )?already in use\b|\bport \d+ is (?:already )?(?:in use|allocated|taken)\b|\bport is already allocated\b|\b(?:device|resource|file|target|server|service|system) (?:is )?(?:too )?busy\b|\bebusy\b|\betxtbsy\b|\beagain\b|\bresource temporarily\b|\bdeadlock (?:found|detected)\b.{0,60}\btry|\block wait timeout\b|\bcould not (?:obtain|acquire|get) (?:a |the )?(?:lock|lease|advisory)|\block (?:is )?(?:already )?(?:held|taken)\b|\bresource is locked\b|\banother (?:instance|process|operation|deploy\w*|apply|update|install\w*) (?:is )?(?:\w+ )?(?:running|in progress|holds)\b|\boperation (?:is )?(?:already )?in progress\b|\bthrottl(?:ed|ing)\b|\brequest limit\b|\bslow ?down\b|\btoo many (?:connections|clients|attempts)\b|\bremaining connection slots\b|\bquota (?:has been |was )?exceeded\b|\bexceeded (?:your |the )?(?:\w+ )?quota\b|\busage limit\b|\bretry (?:later|in|after|your)\b|\bserver (?:is )?(?:busy|overloaded|unavailable|misbehaving|error|hung up)\b|\binternal server error\b|\bunexpected http status: 5\d\d|\b(?:http|status|error|code|returned|got)[^\n]{0,20}\b5\d\d\b|\bunder maintenance\b|\bmaintenance (?:mode|window)\b|\bupstream (?:connect|request|timed|prematurely)|\bpremature (?:close|end|eof)\b|\bconnection (?:was )?(?:lost|dropped|closed|interrupted|terminated|unexpectedly)\b|\brecv failure\b|\bsend failure\b|\bhttp/2 stream\b|\bstream error\b|\brpc failed\b|\bssl[: ].{0,40}\b(?:eof|timeout|reset|syscall)|\btimed? ?out (?:waiting|after|while|connecting|reading|fetching|trying)\b|\bwaiting for .{0,60}\btimed out\b|\btimeout (?:awaiting|waiting|exceeded|was reached|while|expired|error)\b|\btimeouterror\b.{0,60}\b(?:wait|navigat|fetch|connect|request|download)|\b\d+ flaky\b|\bflaky\b|\bsession (?:not created|deleted)\b|\bchrome not reachable\b|\bemulator\b.{0,40}\b(?:offline|not respond|hang)|\bspot instance\b|\bpreempt\w+|\bevicted\b|\bnode (?:was )?(?:lost|drained)\b"
)
_AGAIN = mark(
    "again", 1.0,
    r"\b(?:the )?same (?:command|call|thing|request|run)\b.{0,40}\b(?:again|through|went|passe[ds]|works?|worked|second|now)\b|\bflak(?:y|e[ds]?|iness)\b|\bhiccup|\bintermittent|\btransient\b|\bspurious\b|\b(?:second|third|next|2nd) (?:try|time|attempt|go|run)\b.{0,30}\b(?:passed|worked|fine|ok|through|went)\b",
    r"(?m)\bwent through (?:on )?(?:the )?(?:second|third|next)\b|\b(?:re-?tr(?:y|ied|ying)|re-?ran|re-?run(?:ning)?|run (?:it )?again|once more|trying again)\b(?:$|.{0,30}\b(?:passed|worked|fine|ok|same|enough|help\w*|did it|again)\b)|\bsame (?:command|call|thing|request|run|test|job)s?\b.{0,30}\bagain\b|\bonce more\b|\bone more (?:time|try|go)\b|\b(?:try|trying|run|running|repeat\w*|start(?:ing)?|send(?:ing)?|fetch\w*|push\w*|do|doing) (?:it|that|this|them|the \w+) (?:\w+ )?again\b|\b(?:another|a second|a third|one more|a fresh|the next) (?:go|try|shot|attempt|run|round|time|chance|pass)\b|\bblip\b|\bglitch\w*|\bretr(?:y|ies|ied|ying) (?:it|that|this|once|after|with|in|the|now|until|helps|did)\b|\bdig(?:ging)?\b.{0,10}$|\bback ?off\b|\bwait(?:ing)? (?:a |for )?(?:moment|minute|bit|while|few|it out)\b|\bpass(?:es|ed)? on retry\b|\bno reason of ours\b|\bnot (?:our|my) (?:fault|doing)\b",
    r"(?m)\bwent away (?:by|on) (?:it|them)sel|\bon its own\b|\bsporadisch|\bwackl?ig|\bnoch ?mal\b|\bbeim (?:zweiten|nächsten|erneuten)\b|\berneut\b.{0,30}\b(?:versuch|geh|lief|lauf)|\bencore une fois\b|\bà nouveau\b|\bréessa|\bdeuxième (?:fois|essai)\b|\botra vez\b|重试|再试|もう一度|다시 시도"
)
_STORY = mark(
    "story", 1.0,
        r"(?m)\b(?:about|like) the weather\b|\bsnow(?:s|ed|ing|fall)? (?:after all|already|again|here|all)\b|\bit(?:'s| is) (?:only |just |already )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\btime flies\b|\b(?:hamster|kitten|puppy|goldfish)\b|\bmy (?:son|daughter|kids?|wife|husband|dog|cat|mum|mom|dad|neighbou?r)\b|\b(?:la météo|il neige|il pleut|mon fils|ma fille|mes enfants|mon chien|mon chat|mi hij[oa]|mi perro|el tiempo que hace|das wetter|es schneit|es regnet|mein(?:e)? (?:sohn|tochter|hund|katze|kinder))\b",
        r"\bjok(?:e|es|ing)\b|\bpizza|\blunch\b|\bdinner\b|\bbreakfast\b|\bbarbecue\b|\bcake\b|\bcookies? (?:jar|recipe|for the team)|\bbeers?\b|\bcoffee\b|\bpub\b|\brestaurant|\bthai\b|\bsushi\b|\bburger|\bnoodles?\b|\bice cream\b|\bbirthday|\banniversary\b|\bparty\b|\bcongrat|\bchristmas|\bxmas\b|\beaster\b|\bhalloween\b",
        r"(?m)\bnew year|\bvacations?\b|\bon holiday|\bweekend\b|\bstand-?up\b|\bretro(?:spective)?\b|\boffsite\b|\bteam (?:event|outing|dinner|lunch|trip)|\bhackathon\b|\bfriday the 13|\bhaha|\blol\b|\bfun fact\b|\bfunny\b|\btrivia\b|\banecdote\b|\bwhat a story\b|\bfavou?rite\b|\bmascot\b|\bt-?shirts?\b|\bsticker|\bplaylist\b|\bfootball\b|\bsoccer\b",
        r"(?m)\bmovie\b|\bweather (?:is|was|today|outside)\b|\braining\b|\bsnow(?:ing)?\b (?:outside|today)|\bi (?:actually|really|quite|rather) (?:like|love|enjoy) (?:how|this|that|the)\b|\bkudos\b|\bout sick\b|\bday off\b|\bi'm off\b|\b(?:meeting|demo|call|review|release|workshop|appointment|train|flight)\b.{0,40}\b(?:on|is|was|moved|postponed|to)\b.{0,24}\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|o'clock)\b",
        r"(?m)\bmoved to (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|one|two|three|nine|ten|eleven|noon)\b|\bby \w+ votes\b|\bcoin (?:flip|toss)|\btossed a coin\b|\bonce upon\b|\bsense of humou?r\b|\bhere be dragons\b|\bamus\w+|\bhilarious\b|\bironic\w*|\bwhoever (?:wrote|named|committed|came up)\b|\bwho(?:ever)? (?:named|names) (?:a|the|this|that)\b|\bpoetic\b|\bnostalgi\w*|\bthrowback\b|\blimerick\b|\bhaiku\b|\btraffic jam\b|\bsunny\b|\bsunshine\b|\bworld cup\b|\bolympi\w+|\bski(?:ing)? trip|\bcroissant|\bdonut|\bdoughnut|\bespresso\b|\bramen\b|\bbarista\b|\bcongrats\b|\bcheers to\b|\bfarewell\b|\bleaving (?:drinks|do|party)|\bpotluck\b|\bsecret santa\b|\bnewborn\b|\bpuppy\b|\bkitten\b|\bgood (?:morning|evening|night|weekend)\b|\bhappy (?:monday|friday|new|holidays)\b|\btgif\b|\bhoroscope|\blottery\b|\bcat (?:walked|sat|jumped|is on)\b|\bmy (?:cat|dog|kid|kids|wife|husband)\b",
        r"(?m)\bwitz\b|\bmittag|\bkuchen\b|\bkaffee|\bgeburtstag|\bfeierabend|\bweihnacht|\bostern\b|\burlaub|\bwochenende|\bfeier\b|\bausflug|\bnudeln|\bdöner|\bvorführung\b|\b(?:am|bis) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b|\bkrank\b|\bglückwunsch|\bfußball",
        r"(?m)\bblague\b|\bdéjeuner\b|\bdîner\b|\bcafé\b|\bgâteau|\banniversaire\b|\bvacances\b|\brétro\b|\bfête\b|\bnoël\b|\bpâques\b|\bapéro|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|\bfélicitations|\bchiste\b|\bcumpleaños\b|\balmuerzo\b|\bvacaciones\b|\bcompleanno\b|\bpranzo\b|\bwtorek|笑话|生日|午饭|冗談|誕生日|ランチ|농담|생일|점심|шутк|обед|день рождения",
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
