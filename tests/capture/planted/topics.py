"""What is settled in sessions: a question, what was taken, what was not, and why, in three languages.

Owns matter, not wording: `a` and `b` are what fits after "take", `why` is a clause.  None of it has a word that detectors look for.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TOPICS", "Topic"]


class Topic(NamedTuple):
    """`what` is the question, `a` the answer, `b` the other one."""

    what: str
    a: str
    b: str
    why: str


_EN = (
    Topic("the job queue", "a Postgres table with SKIP LOCKED", "Redis streams", "there is one service less to run"),
    Topic("idempotency keys", "a unique index per tenant", "a check in the handler", "two pods race otherwise"),
    Topic("image thumbnails", "lazy rendering on first view", "a nightly batch", "nine out of ten are never looked at"),
    Topic("feature flags", "a typed enum in the repo", "the hosted flag service", "every flag is reviewed that way"),
    Topic("money amounts", "integer cents", "floats with rounding", "sums have to match the bank to the cent"),
    Topic("the search index", "trigram columns", "a separate Elastic cluster", "the catalogue has only forty thousand rows"),
    Topic("session cookies", "SameSite=Lax with a short lifetime", "bearer tokens in local storage", "scripts cannot read them"),
    Topic("audit rows", "an append-only table", "soft deletes", "auditors ask who changed what and when"),
    Topic("the mobile cache", "SQLite with a version column", "one JSON blob", "partial reads stay quick"),
    Topic("retries towards the bank", "full jitter with a ceiling of thirty seconds", "a constant pause", "a constant pause brings all clients back at once"),
    Topic("time zones", "UTC in storage and the user's zone at the edge", "local time everywhere", "reports cross midnight in three countries"),
    Topic("the CSV import", "streaming row by row", "loading the sheet whole", "the biggest customer sends two gigabytes"),
    Topic("password hashes", "argon2id", "bcrypt", "the length limit of bcrypt cuts passphrases"),
    Topic("the public identifiers", "ULIDs", "serial numbers", "they do not tell how many orders there are"),
    Topic("pagination", "keyset cursors", "offset and limit", "rows move while people scroll"),
    Topic("the event format", "CloudEvents with a schema id", "bare JSON", "three teams read these topics"),
    Topic("sensor readings", "hourly buckets in one row", "a row for each sample", "the table grows sixty times slower"),
    Topic("the build cache", "content hashes of inputs", "timestamps", "checkouts touch every file"),
    Topic("translations", "ICU messages", "string concatenation", "Polish has four plural forms"),
    Topic("the state machine of an order", "an explicit transition table", "booleans on the row", "seven of the sixteen combinations are nonsense"),
    Topic("log shipping", "a sidecar with a disk buffer", "direct HTTP from the app", "the app must not stall when the collector does"),
    Topic("the parser", "a hand-written recursive descent", "a generated LALR grammar", "messages for the user get far clearer"),
    Topic("memory for AST nodes", "an arena with indices", "reference counting", "the tree is freed all at once"),
    Topic("firmware updates", "two slots with a rollback", "writing in place", "devices lose power in the middle"),
    Topic("the UART driver", "DMA with a ring of 256 bytes", "an interrupt for each byte", "at 921600 baud the core does nothing else"),
    Topic("map tiles", "vector tiles", "raster tiles", "the offline bundle shrinks to a tenth"),
    Topic("push messages", "a topic per city", "one token at a time", "the provider throttles single sends"),
    Topic("model checkpoints", "safetensors", "pickle", "loading one must not run code"),
    Topic("the train and test split", "a split by customer", "a random split", "the same customer leaks into both otherwise"),
    Topic("feature scaling", "quantile transforms", "z-scores", "revenue has a very long tail"),
    Topic("late arriving orders", "a three-day lookback in the incremental model", "full refreshes", "a refresh costs four hours of warehouse time"),
    Topic("slowly changing customers", "type two rows with validity ranges", "overwriting", "finance wants last year's segments"),
    Topic("ingress certificates", "DNS challenges", "HTTP challenges", "half of the hosts are not reachable from outside"),
    Topic("secrets in the cluster", "sealed manifests in git", "a wiki page", "rotation leaves a trace that way"),
    Topic("the rollout", "canaries at five percent", "blue and green", "a second full fleet does not fit the quota"),
    Topic("presence tracking", "a CRDT over the node mesh", "a central registry", "a netsplit must not log everyone out"),
    Topic("message acks", "cumulative acks every second", "an ack for each message", "phones wake up the radio less often"),
    Topic("seat reservations", "a hold with an expiry of eight minutes", "locking the row until payment", "abandoned carts block the hall otherwise"),
    Topic("mail templates", "MJML rendered at build time", "hand-written tables", "nobody here can test Outlook"),
    Topic("currency rates", "the rate of the posting date", "today's rate", "closed months must not move"),
    Topic("month end closing", "a snapshot table", "recomputing on demand", "the auditors compare it with the printout"),
    Topic("the loan calendar", "business days from the branch table", "plain weekdays", "three branches open on Sunday"),
    Topic("barcode decoding", "the on-device decoder", "the cloud endpoint", "the cellar has no reception"),
    Topic("elevation smoothing", "a Savitzky-Golay filter", "a moving average", "the average flattens short climbs"),
    Topic("the HTTP client", "one shared pool", "a client for each request", "sockets pile up in TIME_WAIT"),
    Topic("configuration", "a single typed file read at start", "environment lookups all over", "typos show up before traffic does"),
    Topic("the public API", "versions in the path", "a version header", "partners paste URLs into tickets"),
    Topic("file uploads", "presigned links straight to the bucket", "a proxy through the app", "the pods have half a gigabyte of memory"),
    Topic("rate limiting", "token buckets at the edge", "counters in the app", "the app should never see that traffic"),
    Topic("the lock around renewals", "an advisory lock", "a lock file on NFS", "NFS forgets locks on failover"),
)  # fmt: skip
_DE = (
    Topic("die Warteschlange", "eine Tabelle in Postgres", "RabbitMQ", "das Team betreibt schon genug Dienste"),
    Topic("die Beträge", "ganze Cent", "Gleitkommazahlen", "die Summen müssen auf den Cent stimmen"),
    Topic("die Suche", "Trigramme in der Datenbank", "einen eigenen Cluster", "der Katalog ist klein"),
    Topic("die Kennungen nach außen", "ULIDs", "laufende Nummern", "sie verraten keine Bestellmengen"),
    Topic("den Import", "zeilenweises Lesen", "das Laden der ganzen Datei", "die größte Datei hat zwei Gigabyte"),
    Topic("die Aktualisierung der Geräte", "zwei Speicherbereiche", "das Überschreiben", "der Strom kann mittendrin ausfallen"),
    Topic("die Wiederholungen", "exponentielle Pausen mit Streuung", "feste Pausen", "sonst kommen alle Clients zugleich zurück"),
    Topic("die Zeitangaben", "UTC in der Datenbank", "Ortszeit", "die Berichte laufen über Mitternacht"),
    Topic("das Blättern", "Cursor über den Schlüssel", "Offset und Limit", "Zeilen verschieben sich beim Scrollen"),
    Topic("die Zertifikate", "DNS-Challenges", "HTTP-Challenges", "die Hälfte der Hosts ist von außen nicht erreichbar"),
    Topic("den Rollout", "einen Canary mit fünf Prozent", "Blue-Green", "eine zweite Flotte passt nicht ins Kontingent"),
    Topic("die Kassenbuchungen", "eine Tabelle nur zum Anhängen", "weiches Löschen", "die Prüfer fragen nach jeder Änderung"),
)  # fmt: skip
_FR = (
    Topic("la file d'attente", "une table Postgres", "Kafka", "l'équipe n'a personne pour exploiter un courtier"),
    Topic("les montants", "des centimes entiers", "des flottants", "les totaux doivent tomber juste"),
    Topic("la recherche", "un index trigramme", "un cluster séparé", "le catalogue est petit"),
    Topic("les identifiants publics", "des ULID", "des numéros de série", "ils ne trahissent pas le volume des ventes"),
    Topic("la pagination", "des curseurs par clé", "offset et limit", "les lignes bougent pendant le défilement"),
    Topic("l'import CSV", "la lecture en flux", "le chargement complet", "le plus gros fichier pèse deux gigaoctets"),
    Topic("les fuseaux horaires", "UTC en base", "l'heure locale", "les rapports passent minuit"),
    Topic("le déploiement", "un canari à cinq pour cent", "deux flottes complètes", "le quota ne suffit pas"),
    Topic("les mots de passe", "argon2id", "bcrypt", "bcrypt coupe les longues phrases"),
)  # fmt: skip

TOPICS = {"en": _EN, "de": _DE, "fr": _FR}
