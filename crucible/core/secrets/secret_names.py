"""Names of secrets: `DB_PASSWORD`, `clientSecret`, `x-api-key`, `authtoken`.

Holds the words in such names and their weights.  `secret_values` judges a value by the weight of its name.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from crucible.core.patterns import late_pattern
from crucible.core.secrets.rule import CLOSE

LONGEST_NAME = 64
"""Maximum characters of a name that are examined."""


class Weight(IntEnum):
    """How likely it is that a value under a name is a secret."""

    NONE = 0
    HINT = 1
    """`key`, `cookie`, `auth`: only random-looking values."""
    TOKEN = 2
    """`token`, `signature`: values that are neither words nor identifiers."""
    SECRET = 3
    """`secret`, `api_key`, `access_token`: like `TOKEN`, but shorter values count."""
    PASSWORD = 4
    """`password`, `passphrase`: anything but a placeholder."""


def words_set(text: str) -> frozenset[str]:
    """Return the words in a text."""
    return frozenset(text.split())


_SHORT = words_set("pass pw psw pat otp sessid sessionid")
"""Words that are part of many others.  They count only before a sign, or after a hyphen and before a space."""

_LONG = words_set(
    """
    passw passphrase passcode motdepasse pwd kennwort contrase senha wachtwoord losenord passord haslo heslo jelszo salasana sifre parol pword pwrd
    adgangskode sandi secret token key auth cred cookie jwt dsn mnemonic seed salt webhook bearer psk
    """
)
_SIGNS = "=:\"'`)]|,>%_-123\\("
_BEFORE_PASS = (*"abcdefghijklmnopqrstuvwxyz0123456789_-.{(,\"'\t\n@:", "  ", ", ", "{ ", "( ", "n ")
"""Text before a `pass:` that names a password, not the verdict of a test."""


def _literals() -> dict[str, tuple[int, int]]:
    places = {word: (0, len(word)) for word in (*_LONG, "de passe", "palavra-passe", "mat khau")}
    for word in _SHORT:
        places |= {word + sign: (0, len(word)) for sign in (*_SIGNS, " =", " :", " |")}
        places[f"-{word} "] = (0, len(word) + 1)
    del places["pass:"]
    places |= {f"{before}pass:": (len(before), len(before) + 4) for before in _BEFORE_PASS}
    return places | {f"{word} ": (0, len(word)) for word in ("requirepass", "storepass", "keypass")}


NAME_LITERALS = _literals()
"""Every name of a secret contains one of these literals, in lower case.  Values: the name's span in the literal."""

_WORDS = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

PASSWORD_WORDS = words_set(
    """
    password passwd passwort passphrase passcode pwd pass pw passwrd psw mnemonic pswd psk
    motdepasse kennwort contrasena contrasenya senha wachtwoord losenord passord haslo heslo jelszo salasana sifre
    parol parola parolj adgangskode sandi passe pword pwrd
    """
)
_GLUED = late_pattern(
    r"(?P<owner>[a-z]*?)(?P<word>password|passwd|passphrase|passcode|pwd|secret|token|credential|key|pass|pw|pat|sessid|sessionid|auth)(?P<many>s?)"
)
_PASS_OWNERS = words_set(
    """
    db database user root smtp mysql pg postgres redis admin mail email ftp sftp ssh my key keystore store
    truststore imap ldap proxy sudo http basic cert login vpn wifi bind mongo mongodb rabbitmq amqp sql sa master
    repl ansible become pki ca jks svn git docker registry server client service svc sys test dev prod app api require
    """
)
_KEY_OWNERS = words_set(
    """
    api secret private priv access encryption encrypt encrypted signing sign sig auth authentication authorization
    master service account shared ssh rsa ec ecdsa ed25519 hmac jwt crypto admin app application license licence
    subscription webhook server deploy deployment storage cookie security consumer write integration wrap recovery
    cipher aes des kms root client ingest ingestion instrumentation sas functions function host bot token gpg pgp
    pre preshared psk wg wireguard tls ssl gateway sdk rest developer dev prod management mgmt user personal org
    decryption decrypt symmetric seal unseal refresh merchant payment secretbase base sk
    """
)
_PROVIDERS = words_set(
    """
    aws gcp google azure openai anthropic claude github gitlab slack stripe twilio sendgrid mailgun npm pypi
    rubygems docker dockerhub digitalocean heroku cloudflare datadog dd newrelic sentry grafana vault terraform tf
    supabase vercel netlify linear notion airtable atlassian jira confluence bitbucket discord telegram shopify
    square paypal braintree huggingface hf replicate groq databricks postman dropbox facebook fb twitter okta
    firebase alibaba aliyun tencent tencentcloud qcloud yandex gemini mistral cohere deepseek perplexity fireworks
    together xai pinecone weaviate algolia mapbox mixpanel segment amplitude pagerduty opsgenie splunk elastic
    elasticsearch sonar snyk circleci travis buildkite codecov coveralls fastly linode vultr hetzner ovh scaleway
    zendesk intercom hubspot salesforce asana trello figma contentful plaid coinbase binance kraken razorpay adyen
    mollie klarna wandb langsmith langfuse langchain tavily serper exa brave elevenlabs deepgram assemblyai
    stability voyage rapidapi etherscan infura alchemy lark feishu wechat dingtalk line kakao naver baidu deepl
    resend postmark mailchimp sparkpost mailjet twitch spotify youtube maps flickr bugsnag rollbar honeycomb logdna
    loggly papertrail sumologic launchdarkly doppler planetscale neon upstash turso fly flyio render railway auth0
    clerk workos nexmo vonage plivo messagebird
    """
)
_META = words_set(
    """
    id ids count counts counter type types typ url uri urls name names path paths file files filename dir folder
    length len size min max minimum maximum limit limits expiry expires expire expiration exp ttl age endpoint
    method methods scheme header headers field fields input label hint prompt policy policies rotation version arn
    ref refs reference source kind format algorithm algo alg provider providers enabled disabled required optional
    error errors message msg messages index prefix suffix pattern regex regexp validator validation strength reset
    change changed created updated at date time timestamp usage used budget cost price per rate window bucket status
    valid invalid ok map list array manager class factory helper mode level column table schema state exists stdin
    is has title description desc text placeholder visibility visible form page screen view button link icon rules
    rule check checks entropy position offset start end begin line span stream kinds parser lexer iterator store
    storage cache fixture generator gen fn func function callback handler hook module package lib library ring chain
    board board stroke frame down up press code codes event events word words phrase point points pair pairs env var
    vars variable attribute attr property props section group role scope scopes audience issuer host port server
    domain region zone fingerprint thumbprint strategy backend middleware guard service services client manager mgr
    schedule controller router route config settings options opts params plugin adapter wrapper builder spec info
    data meta metadata details summary total sum avg mean ratio sizes delay timeout interval attempts retries secs
    seconds ms minutes hours days bits bytes chars quota threshold display resolver selector
    """
)
"""If a name continues with one of these, its value describes a secret but is not one: `token_count`."""

_META_BUT = frozenset({("secret", "id"), ("client", "data"), ("key", "data"), ("key", "ring"), ("secret", "data")})
_NO_TOKENS = words_set(
    """
    next page prev previous sync continuation continue cancellation cancel stop pad eos bos unk mask special max min
    total input output prompt completion cached reasoning num n per count public first last current syntax lexer
    resume cursor pagination change skip delta start end sep cls image id ids
    """
)


@lru_cache(maxsize=16384)
def weight_of(name: str) -> Weight:
    """Return the weight of a value under `name`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    for at in range(len(words) - 1, -1, -1):
        weight = _weight_at(words, at)
        if weight:
            return Weight.NONE if _is_about(words, at) else weight
    return Weight.NONE


def is_verb(name: str) -> bool:
    """Return whether `pass` is a verb: alone, or after a word for something that has no password, such as a test."""
    words = _WORDS.findall(name.lower())
    return words[-1:] == ["pass"] and not (_PASS_OWNERS | _PROVIDERS).intersection(words[-2:-1]) and name[:2] != "--"


def is_login(name: str) -> bool:
    """Return whether the value may be `user:password`: `BASIC_AUTH`, `HTTP_CREDENTIALS`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return words[-2:] in _LOGINS or words[-1:] == ["userpwd"]


def _is_about(words: list[str], at: int) -> bool:
    return any(word in _META for word in words[at + 1 :]) and tuple(words[at : at + 2]) not in _META_BUT


def _weight_at(words: list[str], at: int) -> Weight:
    word = words[at]
    owner = words[at - 1] if at else ""
    glued = _GLUED.fullmatch(word)
    if glued and glued["owner"] and not _is_glued(glued["owner"], glued["word"]):
        return Weight.NONE
    if glued:
        word, owner = glued["word"], glued["owner"] or owner
        if glued["many"]:
            return Weight.NONE if owner in _NO_TOKENS else _weight_of_many(word, owner)
    if word == "pass" and any(map(str.isalpha, words[at + 1 :])):
        return Weight.NONE  # a verb: `pass_zero`, `passThrough`
    if word == "passe" and owner not in {"de", "palavra"}:
        return Weight.NONE
    if word in PASSWORD_WORDS:
        return Weight.PASSWORD
    return _weight_of_word(word, owner, words)


_LOGINS = [
    [kind, what]
    for kind in ("basic", "http", "proxy", "registry", "admin")
    for what in ("auth", "credentials", "creds")
]

_MANY = {
    "token": Weight.TOKEN,
    "key": Weight.HINT,
    "credential": Weight.HINT,
    "secret": Weight.TOKEN,
    "password": Weight.TOKEN,
    "passwd": Weight.TOKEN,
    "passphrase": Weight.TOKEN,
}


def _weight_of_many(word: str, owner: str) -> Weight:
    if word == "key" and (owner in _KEY_OWNERS or owner in _PROVIDERS):
        return Weight.TOKEN
    return _MANY.get(word, Weight.NONE)


def _is_glued(owner: str, word: str) -> bool:
    if word == "key":
        return owner in _KEY_OWNERS or owner in _PROVIDERS or owner.endswith(("api", "secret", "access", "auth"))
    if word in {"pass", "pw"}:
        return owner in _PASS_OWNERS or owner in _PROVIDERS
    if word in {"pat", "auth", "sessid", "sessionid"}:
        return (word, owner) in _GLUED_SHORT
    return True


_GLUED_SHORT = frozenset(
    {
        ("auth", "o"),
        ("auth", "master"),
        ("sessid", "php"),
        ("sessionid", "j"),
        ("auth", "http"),
    }
)


def _weight_of_word(word: str, owner: str, words: list[str]) -> Weight:
    if word == "secret":
        return Weight.SECRET
    if word in {"credential", "credentials"}:
        return Weight.SECRET
    if word == "token":
        if owner in _NO_TOKENS or "public" in words:
            return Weight.NONE
        return Weight.SECRET if owner in _TOKEN_OWNERS or owner in _PROVIDERS else Weight.TOKEN
    if word == "key":
        if owner in _NO_KEYS or "public" in words:
            return Weight.NONE
        return Weight.SECRET if owner in _KEY_OWNERS or owner in _PROVIDERS else Weight.HINT
    if word == "seed" and owner in {"totp", "otp", "mfa", "hotp"}:
        return Weight.SECRET
    return _LESSER.get(word, Weight.NONE)


_TOKEN_OWNERS = words_set(
    """
    access auth authentication refresh bearer bot api personal session id oauth service secret user admin deploy ci
    runner registration webhook integration client app verification reset private security device push jwt sas sts
    publish registry npm project root job agent login
    """
)
_NO_KEYS = words_set(
    """
    public publishable primary foreign partition sort cache idempotency row unique composite natural surrogate index
    hot shortcut arrow enter tab react i18n translation dict json object map
    """
)
_LESSER = {
    "auth": Weight.HINT,
    "authorization": Weight.HINT,
    "authentication": Weight.HINT,
    "cred": Weight.TOKEN,
    "creds": Weight.TOKEN,
    "sessid": Weight.HINT,
    "sessionid": Weight.HINT,
    "cookie": Weight.HINT,
    "jwt": Weight.TOKEN,
    "pat": Weight.TOKEN,
    "dsn": Weight.HINT,
    "seed": Weight.HINT,
    "salt": Weight.HINT,
    "otp": Weight.TOKEN,
    "totp": Weight.TOKEN,
    "hotp": Weight.TOKEN,
    "bearer": Weight.TOKEN,
    "webhook": Weight.HINT,
}


_PIPE = late_pattern(r"[ \t]*\|[ \t]*[A-Za-z]")


def is_piped(text: str, first: int, stop: int) -> bool:
    """Return whether the name is part of a template expression: `{{ .Values.password | quote }}`."""
    if not _PIPE.match(text, stop):
        return False
    opened = text.rfind("{{", max(0, first - 160), first)
    return opened >= 0 and text.find("}}", opened, first) < 0


def is_named(text: str, start: int, end: int) -> bool:
    """Return whether a value may follow the name that contains this literal.

    A fast check: most names have no value.
    """
    if _GIVEN.match(text, end):
        return True
    before = text[max(0, start - 40) : start]
    if text[end - 1].isupper() or ("-" in before and before[before.rfind(" ") + 1 :].startswith("-")):
        return _BEHIND.match(text, end) is not None
    linked = " as " in before or " is " in before or " for " in before or " was " in before
    return linked and _SAID_OF.search(before) is not None


_NEXT_LINE = (
    r"(?=[^\n]{0,200}[,;|\t]|[ \t]*[^\s]{6,512}[ \t]*(?:\r?\n|\\|\Z)|[^\n]{0,160}[ \t>\"'`](?=[^\s]*[\d!@#$%^&*+~?-])[^\s]{5,512}[^\s)\]}.,:][ \t]*(?:\r?\n|\\|\Z)"
    r"|\s{0,200}(?:[\"'`<{\[]|-[ \t]))"
)
"""Text on the next line: a table row, one word, text that ends with a non-word, a string or a list."""
_GIVEN = late_pattern(
    r"[A-Za-z0-9_-]{0,48}+"
    + CLOSE
    + r"(?:[ \t]{0,16}(?:[=:|?&%<>\\{[]|\((?!\d+(?:\.\d+)?[ ]?[a-z%]{0,2}\))|\.\.|->|\r?\n(?:[^\n]{0,40}\r?\n)?"
    + _NEXT_LINE
    + r"|[!+]=|,[ \t]*(?:\\*[\"'`]|\w{1,20}=|with:)|[,;](?=\S))|\Z"
    r"|[\"'\])/i]{0,5}(?:,[ \t]*\\*[\"'`]|(?:\.[A-Za-z_]{2,20}(?:\(\))?){1,4}(?:\(| [a-z=])|\)[ \t]*[:=({\r\n])"
    r"|[ \t]{1,40}(?:(?:is|was|to|equals|est|es|ist|lautet|for|has|be|changed|set|reset|updated|rotated|value|content|provided|supplied|given|used|sent"
    r"|found|received|rejected|with|eq|should|and|return|send|or)\b|(?!(?:[a-z]{1,24}|[A-Z]{2,12})(?:[.,:;)]|[ \t]+(?![=\t ])|\r?\n|\Z)|\(\d+(?:\.\d+)?[ ]?[a-z%]{0,2}\))[^ \t.,;)*]))"
)
_BEHIND = late_pattern(r"[A-Za-z0-9_-]{0,48}+[ \t]{1,40}[^\s-]")
_SAID_OF = late_pattern(r" (?:as|is|for|was)(?: [A-Za-z-]{1,12}){0,4} [A-Za-z_-]*\Z")


def is_pass(text: str, first: int, stop: int) -> bool:
    """Return whether `pass` names a password: it must be assigned a value that is not a count."""
    found = _PASSED.match(text, stop)
    if found is None or _COUNT.match(text, found.end()) or _ONE_WORD.match(text, found.end()):
        return False
    if found["sign"] == "=":
        return True
    if text[first : first + 1].isupper() and text[first:stop].isupper():
        return False
    return _FIELD.search(text, max(0, first - 40), first) is not None


_PASSED = late_pattern(r"\\{0,8}[\"']?[\])]?[ \t]{0,4}(?P<sign>=|:|=>)(?![=:])[ \t]{0,4}")
_COUNT = late_pattern(
    r"\\{0,8}[\"'`]?(?:[\d.,/%~ ]+[a-z%]{0,2}|true|false|null|None|\$|[A-Z]|\[)\\{0,8}(?:[\"'`,;)}\]\s]|\Z)"
)
_ONE_WORD = late_pattern(r"\\{0,8}[\"'`][a-z]{1,24}\\{0,8}[\"'`]")
_FIELD = late_pattern(r"(?:[{,(]|\A|\n|\\n|[\"'])[ \t]*(?:[+>-][ \t]*)?\\{0,8}[\"':]?\Z")
