"""Ways of doing that are worth doing again, and code that calls an API outside.

Owns matter and wording; `<do>` is what one does ("write the row first"), `<where>` where.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["APIS", "CALLS", "PRACTICES", "WIRINGS", "WORDINGS", "Api"]

PRACTICES = {
    "en": (
        ("write the outbox row in the same transaction as the entity", "handlers that publish events"), ("take the ids first and load the rows in one query", "resolvers with nested lists"),
        ("hold the clock as a parameter", "code that compares dates"), ("add the column nullable, backfill, then tighten it", "schema changes on big tables"), ("return a result value and let the edge turn it into a status", "services below the router"),
        ("parse into a frozen value at the door and never pass dicts on", "everything that reads foreign JSON"), ("record a golden file and compare bytes", "exporters"), ("put the guard into the router and not into the views", "new admin routes"),
        ("name the mutex after the field it guards", "shared state"), ("keep one goroutine as the owner and talk to it by channel", "connection pools"), ("run the pass twice and compare, which proves that it is idempotent", "compiler passes"),
        ("measure with a warm cache and with a cold one", "timing anything in <mod>"), ("copy on entry, share after that", "caches of lists"), ("use a builder with sensible defaults", "test data of <mod>"),
        ("split the job by customer and not by date", "backfills"), ("write to a temporary name and rename", "files that others read"), ("take a lease with a deadline and renew at a third of it", "singletons in the cluster"),
        ("let the database tell time", "rows that are compared across hosts"), ("debounce at the input and not at the request", "search boxes"), ("store the raw payload beside the parsed one", "webhooks"),
        ("draw the state diagram first and derive the table from it", "order workflows"), ("log the correlation id at the door only and carry it in the context", "services with fan-out"), ("feed the encoder fuzz input for a minute before merging", "binary formats"),
        ("disable the interrupt, copy, enable it", "buffers shared with an ISR"), ("keep units in the name: ttlMs, sizeBytes", "numeric settings"), ("sort by a total key before comparing", "results of set operations"),
        ("stage, test uniqueness, then merge", "incremental models"), ("freeze the vocabulary before training", "text features"), ("evaluate on the oldest slice as well", "rankers that drift"), ("pin the digest and let a bot raise it", "container images"),
        ("render the template and diff it against the live one", "changes to manifests"), ("start with read access and widen on demand", "service accounts"), ("give each fragment a budget in milliseconds", "mobile screens"),
        ("prefetch the next page once two thirds are shown", "endless lists"), ("round half to even and keep the remainder in a column", "splitting amounts"), ("book and reverse, never update", "postings"),
        ("ack after the write and make the write idempotent", "consumers"), ("resubscribe with the last cursor", "sockets that come back"), ("snapshot, apply, compare, drop the snapshot", "data repairs"),
        ("translate whole sentences with placeholders", "texts with numbers in them"), ("ask for the permission when the button is pressed", "camera and location"), ("test the contract against a recorded answer once a week", "partners' endpoints"),
    ),
    "de": (
        ("erst schreiben, dann umbenennen", "Dateien, die andere lesen"), ("die Uhr als Parameter übergeben", "Code mit Datumsvergleichen"), ("buchen und stornieren, niemals ändern", "Buchungen"), ("Spalte leer anlegen, nachfüllen, dann verschärfen", "Schemaänderungen"),
        ("die Kennungen sammeln und in einer Abfrage laden", "verschachtelte Listen"), ("den rohen Text neben dem gelesenen ablegen", "Webhooks"),
    ),
    "fr": (
        ("écrire d'abord, renommer ensuite", "les fichiers lus par d'autres"), ("passer l'horloge en paramètre", "le code qui compare des dates"), ("contrepasser, ne jamais modifier", "les écritures"), ("ajouter la colonne vide, remplir, puis durcir", "les changements de schéma"),
        ("garder la charge brute à côté", "les webhooks"),
    ),
}  # fmt: skip

WORDINGS = {
    "en": (
        "Worth doing every time we touch <where>: <do>.", "For <where> the recipe is always the same here: <do>.", "A rule of thumb came out of this for <where>: <do>.", "This worked for all three modules and will for the next: with <where>, <do>.",
        "Keep this in mind for <where>: <do>. It saved us twice today.", "General lesson on <where>: <do>.", "The house way with <where> seems to be: <do>. I follow it and recommend it for new code.", "Whoever works on <where> next should <do>.",
        "Repeatable for <where>: <do>.", "With <where>, as a habit: <do>.", "I'd make this the default for <where>: <do>.", "The same three lines solve it wherever there are <where>: <do>.", "In every case of <where> the safe order is to <do>.",
        "Note for later work on <where>: <do>, each time.", "It pays off, generally, to <do> when it comes to <where>.", "Reusable insight: for <where>, <do>.", "Convention that emerged for <where>: <do>.", "From now on, whenever there are <where>, <do>.",
        "If you ever deal with <where> again, <do>; that is what made it easy.", "Playbook for <where>: <do>.", "My takeaway for <where> is to <do>, no matter which module.", "The trick that carries over to all <where>: <do>.", "For any future <where>, <do> first.",
        "I did it the same way five times now: for <where>, <do>. That deserves to be written down.", "What all of these have in common: <where> are easy as soon as you <do>.", "As a guideline for <where>, always <do>.", "One idiom to keep for <where>: <do>.",
        "Best practice we should stick to for <where>: <do>.", "How to handle <where>, in general: <do>.", "A checklist item for <where>: <do>.", "The next person with <where> in front of them can copy this: <do>.", "Good template for <where>: <do>.",
        "There is a pattern here for <where>: <do>.", "This approach carries over to all <where>: <do>.", "A technique worth keeping for <where>: <do>.", "The method for <where> that has proven itself: <do>.", "Our strategy for <where> should always be to <do>.",
        "Useful pattern for <where>: <do>.", "Same approach each time for <where>: <do>.", "The pattern repeats in <where>: <do>.", "To avoid this class of bug in <where>, always <do>.", "Standing advice for <where>: <do>.",
    ),
    "de": ("Bewährt hat sich bei <where>: <do>.", "Merkregel für <where>: <do>.", "Immer wieder dasselbe Rezept für <where>: <do>.", "Als Faustregel gilt für <where>: <do>.", "So sollten wir es künftig bei <where> stets halten: <do>."),
    "fr": ("Règle à retenir pour <where> : <do>.", "La recette vaut pour tous <where> : <do>.", "À refaire à chaque fois pour <where> : <do>.", "Bonne pratique pour <where> : <do>."),
}  # fmt: skip


class Api(NamedTuple):
    """Somebody else's service: its name, a module's name for it, its host and a path."""

    name: str
    module: str
    host: str
    path: str


APIS = (
    Api("Stripe", "stripe_refunds", "api.stripe.com", "/v1/refunds"), Api("GitHub", "github_checks", "api.github.com", "/repos/acme/app/check-runs"), Api("OpenWeather", "openweather", "api.openweathermap.org", "/data/3.0/onecall"),
    Api("Twilio", "twilio_sms", "api.twilio.com", "/2010-04-01/Accounts"), Api("Slack", "slack_notify", "slack.com", "/api/chat.postMessage"), Api("Mapbox", "mapbox_geocode", "api.mapbox.com", "/search/geocode/v6/forward"),
    Api("ECB", "ecb_rates", "data-api.ecb.europa.eu", "/service/data/EXR"), Api("DHL", "dhl_labels", "api-eu.dhl.com", "/parcel/de/shipping/v2/orders"), Api("SendGrid", "sendgrid_mail", "api.sendgrid.com", "/v3/mail/send"),
    Api("OpenLibrary", "openlibrary", "openlibrary.org", "/api/books"), Api("Adyen", "adyen_payout", "pal-live.adyen.com", "/pal/servlet/Payout/v68/payout"), Api("Shopify", "shopify_orders", "acme.myshopify.com", "/admin/api/2026-01/orders.json"),
    Api("PagerDuty", "pagerduty_alert", "events.pagerduty.com", "/v2/enqueue"), Api("DeepL", "deepl_translate", "api.deepl.com", "/v2/translate"), Api("Overpass", "overpass_query", "overpass-api.de", "/api/interpreter"), Api("Jira", "jira_sync", "acme.atlassian.net", "/rest/api/3/search"),
)  # fmt: skip

CALLS = {
    "py": ('response = httpx.post("https://<host><path>", json=payload, timeout=10)', 'data = requests.get("https://<host><path>", params=query, timeout=5).json()', 'async with session.get("https://<host><path>") as answer:'),
    "ts": ('const res = await fetch("https://<host><path>", { method: "POST", body });', 'const { data } = await axios.get("https://<host><path>", { params });'),
    "go": ('req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://<host><path>", body)', 'resp, err := client.Get("https://<host><path>")'),
    "rust": ('let answer = client.post("https://<host><path>").json(&body).send().await?;',),
    "java": ('var request = HttpRequest.newBuilder(URI.create("https://<host><path>")).POST(body).build();',),
    "kotlin": ('val answer = client.post("https://<host><path>") { setBody(order) }',),
    "ruby": ('answer = Faraday.post("https://<host><path>", payload.to_json)', 'Net::HTTP.post(URI("https://<host><path>"), body)'),
    "php": ("$answer = $client->request('POST', 'https://<host><path>', ['json' => $body]);",),
    "ex": ('answer = Req.post!("https://<host><path>", json: body)',),
    "swift": ('let (data, _) = try await URLSession.shared.data(from: URL(string: "https://<host><path>")!)',),
}  # fmt: skip
"""By the language of a stack."""

WIRINGS = (
    "", "", "", "<api> comes next.", "Now the call to <api>.", "I'll write the client for <api>.", "Wiring up <api>.", "Here is the part that talks to <api>.", "The <api> client goes into a module of its own.", "Hooking <api> in.",
)  # fmt: skip
