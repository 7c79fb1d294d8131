"""What is settled in sessions of half 3, and the records of it; as in `topics` and `words_adrs`.

Owns matter, and the wording of records.
"""

from __future__ import annotations

from tests.capture.planted.topics import Topic

__all__ = ["ANNOUNCEMENTS", "BODIES", "FOLDERS", "SHELL", "TOPICS"]

_EN = (
    Topic("seat maps", "one vector file per hall", "an image with clickable areas", "ushers zoom in on cheap phones"),
    Topic("parcel tracking", "a push from the carrier", "a crawl of their site", "carriers block crawlers within an hour"),
    Topic("recipe scaling", "rational numbers", "doubles", "cooks notice 0.333 of an egg"),
    Topic("the crane's limit switches", "two channels that must agree", "a single normally-open contact", "the inspector wants a broken wire to stop the hoist"),
    Topic("library loans", "an append-only ledger", "a status column", "librarians ask who had the book before"),
    Topic("thumbnails", "generation at upload", "generation on first view", "the front page shows two hundred at once"),
    Topic("choir rehearsal dates", "an iCalendar feed", "a weekly mail", "singers live by their phone calendars"),
    Topic("the plugin manifest", "TOML with a schema", "a Lua table", "editors complete keys from a schema"),
    Topic("greenhouse readings", "a ring of hourly means", "every raw sample", "the card holds eight megabytes"),
    Topic("tenant separation", "one schema per tenant", "a tenant column", "two customers signed a contract about it"),
    Topic("speech transcripts", "diffs against the machine's draft", "full rewrites", "editors touch one word in thirty"),
    Topic("the spell checker", "a trie in a memory-mapped file", "a hash set on the heap", "start-up has to stay below fifty milliseconds"),
    Topic("invoice numbers", "a gapless counter per year", "random identifiers", "the tax office objects to gaps"),
    Topic("ferry timetables", "GTFS exports", "scraped HTML", "the operator changes its pages each season"),
    Topic("undo in the editor", "inverse operations", "snapshots of the document", "drawings reach forty megabytes"),
    Topic("robot maps", "octrees", "a flat voxel grid", "most of a warehouse is air"),
    Topic("user avatars", "content-addressed blobs", "names with a counter", "proxies hold on to old pictures for days"),
    Topic("the feature toggles", "a file in the repository", "a hosted service", "the ships sail without a connection"),
    Topic("pharmacy labels", "ZPL sent straight to the printer", "PDF via the driver", "the driver blurs the barcodes"),
    Topic("mesh smoothing", "Taubin's method", "Laplacian averaging", "ears shrink otherwise"),
    Topic("address search", "trigram lookup", "exact prefixes", "half the street names arrive misspelt"),
    Topic("the build matrix", "two compilers and one system", "all nine combinations", "runners cost more than the office"),
)  # fmt: skip
_DE = (
    Topic("die Sitzpläne", "Vektordateien je Saal", "Bilder mit Klickflächen", "das Personal zoomt auf kleinen Geräten"),
    Topic("die Rechnungsnummern", "einen lückenlosen Zähler", "zufällige Kennungen", "das Finanzamt beanstandet Lücken"),
    Topic("die Ausleihen", "ein fortlaufendes Journal", "eine Statusspalte", "man fragt oft nach dem Vorbesitzer"),
    Topic("die Adresssuche", "Trigramme", "exakte Präfixe", "viele Straßennamen kommen falsch geschrieben an"),
    Topic("die Mandantentrennung", "eigene Schemata", "eine Mandantenspalte", "zwei Verträge verlangen es"),
)  # fmt: skip
_FR = (
    Topic("les plans de salle", "un fichier vectoriel par salle", "une image cliquable", "les ouvreurs zooment sur de petits écrans"),
    Topic("les numéros de facture", "un compteur sans trou", "des identifiants aléatoires", "le fisc refuse les trous"),
    Topic("les emprunts", "un journal en ajout seul", "une colonne d'état", "on demande souvent qui avait le livre"),
    Topic("la recherche d'adresses", "des trigrammes", "des préfixes exacts", "bien des noms de rue sont mal écrits"),
    Topic("les vignettes", "une génération à l'envoi", "une génération à l'affichage", "l'accueil en montre deux cents"),
)  # fmt: skip
TOPICS = {"en": _EN, "de": _DE, "fr": _FR}

FOLDERS = {
    "en": (
        "docs/adr/<n4>-<slug>.md", "design/adr/<n3>-<slug>.md", "docs/dev/adr/ADR-<n4>-<slug>.md", "meta/decisions/<n4>-<slug>.md", "services/<mod>/docs/adr/<n4>-<slug>.md", "docs/adr/<date>-<slug>.md",
        "doc/adr/adr-<n3>-<slug>.rst", "internal/architecture/decisions/<n4>-<slug>.md", "docs/adr/active/<n3>-<slug>.md", "crates/<mod>/adr/<n4>-<slug>.md",
    ),
    "de": ("docs/adr/<n4>-<slug>.md", "unterlagen/adr/<n3>-<slug>.md", "doku/architektur/adr/<n4>-<slug>.md"),
    "fr": ("docs/adr/<n4>-<slug>.md", "documents/adr/<n3>-<slug>.md", "doc/conception/adr/<n4>-<slug>.md"),
}  # fmt: skip
ANNOUNCEMENTS = {
    "en": (
        "", "", "adr <n1> / <what> / write", "Time for a page on <what>, the next person will thank us.", "Per process, entry <n1> concerning <what> is being filed.", "Popping <what> into the record folder, number <n1>.", "Number <n1> in the series covers <what>.", "log entry for <what>, context first then outcome",
        "The record about <what> is hereby updated.", "I'd like <what> on paper while it is fresh.", "<what>: going into the records, so it survives us both.",
    ),
    "de": ("", "Eintrag <n1> im Architekturbuch: <what>.", "Das kommt gleich zu den Akten: <what>.", "adr <n1>, <what>, wird abgelegt"),
    "fr": ("", "Entrée <n1> au registre d'architecture : <what>.", "Je consigne ceci sans attendre : <what>.", "adr <n1>, <what>, au dossier"),
}  # fmt: skip
BODIES = (
    "# <n1> - <title>\n\nDate: <date>\nStatus: accepted\n\n## Where we stood\n\n<b> was on the table for <what>.\n\n## What we do\n\n<a>.\n\n## Grounds\n\n<why>.",
    "---\nid: <n4>\nstate: accepted\n---\n\n# <what>\n\nTaken: <a>\nLeft: <b>\nGrounds: <why>",
    "# <title>\n\n> accepted on <date>\n\n1. Situation: <why>.\n2. Answer: <a>.\n3. Not taken: <b>.",
)
SHELL = (
    ("install -m 644 /tmp/record.md '<path>'", ""),
    ("log4brains adr new --quiet '<title>' && cp draft.md '<path>'", "<path>"),
    ("cat <<'EOF' > '<path>'\n# <n1> <title>\n\naccepted\nEOF", ""),
    ("sed -i '' 's/^state: draft/state: accepted/' '<path>'", ""),
)
