"""Judge a value by itself: a secret, or a placeholder, a reference or a word.

`secret_names` judges the name; `assignments` finds where the name ends.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache

from crucible.core.patterns import late_pattern
from crucible.core.secrets.randomness import changes, entropy, likeness
from crucible.core.secrets.secret_names import LONGEST_NAME, PASSWORD_WORDS, Weight, is_verb, weight_of, words_set

_FILLERS = (
    words_set(
        """
    your my the a an some any test tests testing fake dummy mock sample example examples demo api key keys token
    tokens secret secrets password passwords passwd pass passphrase auth access client private public here value
    values goes change changed changeme changethis changeit me this that replace replaced with insert enter put
    placeholder default none null nil undefined user username db database foo bar baz qux string str text bytes
    number int integer bool boolean true false yes no on off required optional invalid missing hidden enabled
    disabled basic oauth oauth2 bearer plain plaintext prompt ask login env environment file keyring vault unset
    empty redacted masked removed omitted censored todo fixme tbd xxx abc new old current previous confirm
    confirmation repeat again hash hashed bcrypt sha md5 random generated generate generic in from of for to is or
    and not set get actual real account service app application server host header query param body field form json
    yaml toml type name id object array list dict map any unknown never void self super input output data config
    settings options props state store const let var return await async write read admin only real github gitlab
    openai anthropic aws google azure stripe slack license credentials credential signing session cookie jwt refresh
    bot personal webhook goes-here something whatever base hex utf latin ascii binary
    """
    )
    | PASSWORD_WORDS
)
_WORDS = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MARKS = late_pattern(
    r"""\$\{|\$\(|\$\[|\{\{|\}\}|<%|%>|\#\{|%\(\w{0,40}\)|^\$[A-Za-z_][A-Za-z0-9_]*\b(?![^/:.-])|[-_/:.]\$[A-Z_]{3,}$|^%[A-Za-z_]\w*%$|^@[A-Za-z]+@$|^__\w+__$
    |^<[a-z/!][^<>]*>?|^<[^<>]*>?$|^\#[\w-]+$|\[REDACTED|^\{[^{}]*\}$|\{[A-Za-z_][\w.()\[\]:]*\}|^\[[^\[\]]*\]$|\\(?:033|x1b|e)\[|\*{3}|\.{3}|…|•|(?i:x{4})|^-+$|^_+$|^!(?:vault|Ref|Sub|GetAtt|secret|env)
    |^(?i:changeme|change[-_ ]|your[-_ ]|my[-_](?:secret|token|api|pass|key)|replace|insert|enter[-_ ]|placeholder|dummy|example|redacted|todo|fixme|not[-_ ]a[-_ ])
    |\[\^?[a-zA-Z@0]-[a-zA-Z9]|\(\?[:=!]|a-z[A0]-[Z9]|A-Z[a0]-[z9]|\\[dwsS][+*{\]]|(?i:abcdefghijk|0123456789)
    |(?i:[-_ ]here$|example$|placeholder|[-_]your[-_]|redacted|\bchangeme\b)""",
    re.VERBOSE,
)
_REFERENCE = late_pattern(
    r"""(?:process|os|import\.meta|Deno|ENV|env|secrets|config|settings|self|this|args|opts|options|vars?|local|data|ctx|req|request|cfg|conf|params|props|state|module|steps|github|inputs|matrix|runner|needs)
    (?:\.|\[|->|::)[^\s]*$|^(?:vault|op|ssm|arn|sops|aws-ssm|awssm|keychain|file|secretsmanager|gcpsm|azurekv|akv|env|ref\+\w+)(?:://|:aws|:(?=[A-Za-z/]))""",
    re.VERBOSE,
)
_IDENTIFIER = late_pattern(r"&?[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|\?\.|->|::)[A-Za-z_$][A-Za-z0-9_$]*)*[!?]?")
_CALL = late_pattern(
    r"[A-Za-z_$][\w$.:]*[(\[{]|=>|\(\)|^\(|^!{1,2}[a-z]+(?:[.(]|$)|^&[a-z]|^\w+::\w|^new |^await |^lambda"
)
_CMDLET = late_pattern(r"[A-Z][a-z]+[A-Z]?[a-z]*-[A-Z][A-Za-z]+")
_PATH = late_pattern(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.\-@~/\\ +]*|(?:[\w.\-@]+/){2,}[\w.\-@]*|[\w\-./]+\.(?:pem|key|crt|cer|json|ya?ml|toml|txt|env|py|js|ts|md|ini|conf|cfg|p12|pfx|jks|pub|go|rs|java|html|sh|mod|sum|lock)"
)
_HASH = late_pattern(
    r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|[0-9a-f]{7,12}|[0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64}"
)
_UUID = late_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DIGEST = late_pattern(r"(?:sha(?:1|224|256|384|512)|md5|blake[23]b?|h1)[-:=_$][A-Za-z0-9+/=_-]+")
_OWN_ID = late_pattern(
    r"(?:toolu|msg|req|call|ses|resp|sess|run|thread|asst|file|chatcmpl|org|proj|user|evt|cus|sub|pi|ch|in|prod|price|acct|batch|fc|rs|item|prt|evt)_[A-Za-z0-9]{8,}|(?:req|resp|chatcmpl|call)-[A-Za-z0-9-]{8,}"
)
_PIECES = late_pattern(r"[-_./:,;@\s|#?&]+")
_NUMBERS = late_pattern("[0-9]+")
_DATE = late_pattern(r"\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d.*)?|\d[\d.:,_-]*(?:[a-zA-Z%]{1,3})?|v?\d+(?:\.\d+)+[\w.+-]*")


def is_varied(text: str) -> bool:
    """Return whether a text may be a real token: not repetitive, and without words that say it is not one."""
    return len(set(text)) >= 7 and not is_dummy(text)


_DUMMY = late_pattern(
    r"(?i)x{5}|\*{3}|\.{3}|your[-_]|example|placeholder|redacted|dummy|0{8}|changeme|1234567890123|goes[-_]here"
)


def is_dummy(text: str) -> bool:
    """Return whether a text says that it is not a real token."""
    return _DUMMY.search(text) is not None


_FORMAT = late_pattern(r"%[-+ #0]?\d{0,3}(?:\.\d{1,3})?[sdrxifvqu](?![A-Za-z0-9])")


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder: a variable, a template field, asterisks, a word such as `changeme`."""
    if value[-1:] == "?" and value[:-1].isalpha():
        return True  # "Forgotten?"
    if len(set(value)) <= 2 or _MARKS.search(value) or _REFERENCE.match(value) or _is_format(value):
        return True
    words = [word.lower() for word in _WORDS.findall(value)]
    rest = _WORDS.sub("", value)
    if _NAME.fullmatch(value) and weight_of(value) and likeness(value) > 5:
        return True
    if _SIGNED.search(rest) and any(map(str.isdigit, rest)):
        return False  # `admin123!`
    return all(word in _FILLERS for word in words) and (
        (bool(words) and len(rest) <= max(4, len(words))) or (not words and not any(c.isdigit() for c in value))
    )


_NAME = late_pattern(r"_*[A-Za-z]+(?:[_.:]+[A-Za-z]+)*")
"""A value that looks like a name may itself be the name of a secret: `challengePassword`, `OIDC_ID_TOKEN`."""


_SIGNED = late_pattern(r"[!@#$%^&*+?~]")


def _is_format(value: str) -> bool:
    """Return whether a value is a format string (`%s`, `user-%d`), not a password that happens to contain `%x`."""
    if "%" not in value or not _FORMAT.search(value):
        return False
    rest = _FORMAT.sub("", value)
    return not any(map(str.isdigit, rest)) and (rest == rest.lower() or rest == rest.upper())


def is_hash(value: str) -> bool:
    """Return whether a value is a digest, a git object, a UUID, or an id that a client generated."""
    return bool(
        _HASH.fullmatch(value) or _UUID.fullmatch(value) or _DIGEST.fullmatch(value) or _OWN_ID.fullmatch(value)
    )


def is_chance(value: str) -> bool:
    """Return whether a value looks random, not like words, numbers and digests joined by signs."""
    if len(value) < 12 or _DATE.fullmatch(value) or entropy(value) < 2.6:
        return False
    if _PATH.fullmatch(value):
        return _is_mixed(value) and likeness(value) < -10
    return is_random(value)


def is_random(value: str) -> bool:
    """Return whether a text known to be a single value looks random.  It may be shorter than for `is_chance`."""
    if len(value) < 8 or _DATE.fullmatch(value):
        return False
    return likeness(value) < 0 or _is_scattered(max(_PIECES.split(value), key=len))


def _is_scattered(piece: str) -> bool:
    """Return whether digits are scattered between letters too often for words, even words of hex digits."""
    if len(piece) < 20 or len(_NUMBERS.findall(piece)) < 3:
        return False
    return changes(piece) * (8 if _HEX.fullmatch(piece) else 4) >= len(piece)


_HEX = late_pattern("[0-9a-f]+|[0-9A-F]+")


def _is_mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)


def holds_login(value: str) -> bool:
    """Return whether a value is base64 of `user:password`, as in `Basic` and Docker's `auth`."""
    try:
        text = base64.b64decode(
            value + "=" * (-len(value) % 4),
            altchars=b"-_" if "-" in value or "_" in value else None,
            validate=True,
        ).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return ":" in text and text.isprintable()


@lru_cache(maxsize=8192)
def is_secret(value: str, weight: Weight, *, quoted: bool) -> bool:
    """Return whether a value under a name with this weight is a secret.  `quoted`: it is certainly text, not code."""
    if (
        len(value) < (4 if quoted else 5)
        or is_placeholder(value)
        or (_DATE.fullmatch(value) and weight < Weight.PASSWORD)
    ):
        return False
    if not quoted and _is_code(value, weight) and not (weight >= Weight.TOKEN and _is_seed(value)):
        return False
    if weight == Weight.PASSWORD:
        return _is_password(value, quoted=quoted)
    if " " in value or (_PATH.fullmatch(value) and not is_chance(value)) or _OWN_ID.fullmatch(value):
        return False
    if weight == Weight.HINT:
        return (is_chance(value) and len(value) >= 16 and not is_hash(value) and not _is_label(value)) or (
            len(value) >= 12 and holds_login(value)
        )
    return _is_key(value, weight)


_LABELS = late_pattern(r"[-_:/.|]+")
_LABEL = late_pattern(r"[A-Za-z]{1,20}\d{0,3}|v?\d{1,12}|[0-9a-f]{6,128}")


def _is_label(value: str) -> bool:
    """Return whether a value is a series of words, numbers and hashes, like cache keys: `linux-node-18-0123…`."""
    pieces = [piece for piece in _LABELS.split(value) if piece]
    return len(pieces) > 1 and not pieces[0].isdigit() and all(_LABEL.fullmatch(piece) for piece in pieces)


def _is_code(value: str, weight: Weight) -> bool:
    if _IDENTIFIER.fullmatch(value) and not (value[-1] == "!" and any(map(str.isdigit, value))):
        if not all(map(is_random, _MEMBERS.split(value))):
            return weight < Weight.PASSWORD or not _has_digit_inside(value) or "." in value
        return False
    return _CALL.search(value) is not None or _CMDLET.fullmatch(value) is not None


_MEMBERS = late_pattern(r"\?\.|[.!?&]|->|::")
_SEED = late_pattern(r"[A-Z2-7]{16,128}={0,6}")


def _is_seed(value: str) -> bool:
    """Return whether a value is base32, as for one-time passwords, even without a digit."""
    return _SEED.fullmatch(value) is not None and len(set(value)) >= 8


def _is_key(value: str, weight: Weight) -> bool:
    if _is_seed(value):
        return True
    if value.startswith(("http://", "https://")):
        return False
    if _is_words(value):
        return False
    if len(value) < (8 if weight == Weight.SECRET else 10) or _COUNTED.search(value):
        return False
    return likeness(value) < 0 or is_hash(value) or (weight == Weight.SECRET and any(c.isdigit() for c in value))


_COUNTED = late_pattern(r"(?i)\A[a-z_-]{0,12}(?:012345|12345|abc123|abcdef|a1b2c3)")
"""The beginning of a made-up key."""


_WORDY = late_pattern(
    r"[A-Za-z]+\d{0,2}(?:[-_./: ][A-Za-z]*\d{0,4})*|[a-z]+(?:[A-Z][a-z]+)+\d{0,2}|[A-Z][a-z]+(?:[A-Z][a-z]+)*\d{0,2}"
)


def _is_words(value: str) -> bool:
    """Return whether a value is words with at most one number: `app-config-2`, `kubernetes.io/tls`, `accessToken`."""
    return _WORDY.fullmatch(value) is not None and not is_random(value)


def _is_password(value: str, *, quoted: bool) -> bool:
    if value.startswith(("/", "~/", "./", "../")) and _PATH.fullmatch(value) and not is_chance(value):
        return False
    if value.startswith(("http://", "https://")) or _OWN_ID.fullmatch(value):
        return False
    if " " in value:
        return is_phrase(value) or any(_has_digit_inside(word) or is_chance(word) for word in value.split())
    # A capitalised or non-ASCII word is a label (`"password": "Kennwort"`); a lower-case word may be a password.
    label = value.isalpha() and (not value.isascii() or (value[1:].islower() and value[0].isupper()))
    return not label and (quoted or not value.isdigit() or len(value) > 4)


def _has_digit_inside(value: str) -> bool:
    words = _WORDS.findall(value)
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not all(w.lower() in _FILLERS for w in words)
    )


# --- next to a name by chance -------------------------------------------------------------------------------------

_VERSION = late_pattern(r"v?\d+\.\d")


def is_striking(value: str, weight: Weight) -> bool:
    """Return whether a value is not a word, as required where it may be next to a name by chance."""
    if (
        not is_secret(value, weight, quoted=False)
        or len(value) < 6
        or (value.isalpha() and not is_random(value) and not _is_seed(value))
    ):
        return False
    if is_random(value) or _is_seed(value):
        return True
    if "/" in value or _VERSION.match(value):
        return False
    kinds = sum(
        (
            any(map(str.isdigit, value)),
            any(map(str.isupper, value)),
            any(map(str.islower, value)),
            not value.isalnum(),
        )
    )
    return kinds >= (2 if any(map(str.isdigit, value)) else 3)


_CODE_WORDS = _FILLERS | words_set(
    """
    is has get on by with at up out into be was are being min max length short long too match matches mismatch rule
    weak strong strength error errors message label hint input button reset forgot update create add remove delete
    login logout sign signin signup prompt policy policies expired expires expiry must cannot should contains missing
    format text class style primary secondary btn col row icon size list item view page screen modal dialog alert
    danger warning success muted link event handler callback ref props dto bytes buffer char varchar integer encrypted
    protected based aware only first second third auto known case sensitive incorrect wrong rejected accepted failed
    okay valid provided supplied given found stored saved less free set unset never always nothing something manager
    function method module package library file path column table model schema serializer validator encoder decoder
    provider service factory builder store repository controller resource guard strategy option setting parameter
    argument attribute property element node tag mode kind code number lower upper digit letters visible toggle show
    hide eye verify check checker generator policyname pwd pw passphrase passcode word words required plain optional
    textfield textbox secure securestring script hub lab crypt directory active
    """
)
_WORDED = late_pattern(r"[A-Za-z]+(?:[-_.+#!@$%&*~^?]+[A-Za-z]+)*[-_.+#!@$%&*~^?]*")


def is_worded(value: str) -> bool:
    """Return whether a value is a password of words (`Copper-Kettle-Moon`) or random letters, not an identifier."""
    if len(value) < 8 or value.isupper() or not _WORDED.fullmatch(value) or is_placeholder(value):
        return False
    words = _WORDS.findall(value)
    if is_random(value):
        return True
    if any(word.lower() in _CODE_WORDS for word in words):
        return False
    if "-" in value:
        return all(len(word) >= 3 for word in words) and not _CMDLET.fullmatch(value)
    if "_" in value or "." in value:
        return len(words) >= 4 and all(len(word) >= 3 for word in words)
    if not value.isalnum():
        return True
    return value[0].isupper() and len(words) >= 2 and len(value) >= 3.5 * len(words)


def stands_out(value: str, weight: Weight) -> bool:
    """Return whether a value is striking or, under a password's name, is made of words not from code."""
    return is_striking(value, weight) or (weight == Weight.PASSWORD and is_worded(value))


_PHRASE = late_pattern(r"[a-z]{3,12}(?: [a-z]{3,12}){3,23}")
_OF_SENTENCES = words_set(
    """
    please are will you we they it its do does when if then between but these those there their our who what where which
    how why can may might would could has had have than about after before because while until use uses using used need
    needs make makes sure least most each every all one two characters letters digits passwords users
    """
)


def is_phrase(value: str) -> bool:
    """Return whether a value is four or more words that do not form a sentence: `copper kettle moon sparrow`."""
    if not _PHRASE.fullmatch(value):
        return False
    return not any(word in _CODE_WORDS or word in _OF_SENTENCES for word in value.split())


def is_plain_word(value: str) -> bool:
    """Return whether a word is neither from code nor a type, so it may be a password: `horsebattery`."""
    return (
        len(value) >= 6
        and value.isalpha()
        and value[1:].islower()
        and len(set(value)) > 3
        and value.lower() not in _CODE_WORDS
    )


@lru_cache(maxsize=4096)
def may_name_secret(name: str) -> bool:
    """Return whether `is_value_of` can be true for any value of `name`."""
    return weight_of(name[-LONGEST_NAME:]) != Weight.NONE or name.lower().endswith("passwords")


def is_value_of(name: str, value: str) -> bool:
    """Return whether `value`, the entire text, is a secret because of its name."""
    weight = weight_of(name[-LONGEST_NAME:])
    if name.lower().endswith("passwords") and is_striking(value, Weight.PASSWORD):
        return True
    if weight == Weight.NONE or (is_verb(name) and not is_striking(value, weight)):
        return False
    return is_secret(value, weight, quoted=True)
