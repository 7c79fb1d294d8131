"""Ways of doing of half 4, and code that calls an API outside; as `words_patterns`."""

from __future__ import annotations

from tests.capture.planted.words_patterns import Api

__all__ = ["APIS", "CALLS", "PRACTICES", "WIRINGS", "WORDINGS"]

PRACTICES = {
    "en": (
        ("keep the pure computation apart from the code that fetches", "report builders"), ("put a version byte in front of the payload", "anything that goes over the radio"), ("take the snapshot outside of the transaction and only write inside it", "long exports"), ("seed the generator from the test's name", "randomised tests"),
        ("make the illegal combination impossible to construct", "settings with several switches"), ("stub the clock and the network at the same seam", "tests of the scheduler"), ("dry-run against a copy and keep the diff in the ticket", "bulk edits of tenant data"), ("ship the reader a release before the writer", "changes of a wire format"),
        ("give every loop over pages an upper bound", "clients of paged endpoints"), ("cache the negative answer too, with a shorter life", "lookups that often find nothing"), ("attach the request id to the exception and not to the message", "errors that cross services"), ("start from the slowest query and delete indexes that nobody reads", "work on query speed"),
        ("bake the lookup table at build time", "code on small controllers"), ("move the lights into a pool and never allocate in the frame", "hot paths of the renderer"), ("compare against the brute-force version on tiny inputs", "clever algorithms"), ("store what the user typed and derive the rest", "forms with computed fields"),
        ("read the deprecation list before raising the pin", "framework upgrades"), ("set the budget first and fail the build when it is exceeded", "bundle sizes"), ("fold state changes into one reducer and log its inputs", "screens with many buttons"), ("wrap the vendor's type at the border and keep it out of the domain", "third-party SDKs"),
        ("let the caller own the buffer", "codec functions"), ("drain, switch, drain again", "moves from one broker to another"), ("write the inverse migration in the same commit and run it in CI", "schema work"), ("print the effective configuration at boot with secrets masked", "daemons"),
        ("label by hand for an hour before training anything", "new classification tasks"), ("hold out by site and not by row", "clinical models"), ("express the policy as data and test the table", "access rules"), ("tag resources with the owner at creation", "cloud modules"),
        ("poll with a cursor and remember the last one on disk", "feeds without push"), ("check the invariant after each step in debug builds", "mesh operations"), ("escape at output and never at input", "anything that ends up in HTML"), ("normalise to NFC before comparing", "names of people and places"),
        ("lock in the order of the primary key", "transfers between accounts"), ("pass the deadline down instead of a timeout", "call chains of three and more"), ("emit the event from the aggregate and not from the controller", "domain events"), ("show a skeleton after 200 ms and not before", "views that load data"),
        ("record once, replay in the tests, refresh monthly", "talk to hardware"), ("treat the first failure as data and stop at the third", "device polls"), ("keep the golden image small enough to review by eye", "rendering tests"), ("name the unit file after the service it waits for", "host modules"),
        ("collect all problems and report them together", "validators of uploaded files"), ("put the slow path behind an explicit call", "property getters"),
    ),
    "de": (
        ("die reine Rechnung vom Laden trennen", "Berichte"), ("den Leser eine Version vor dem Schreiber ausliefern", "Formatänderungen"), ("jeder Schleife über Seiten eine Obergrenze geben", "Abfragen mit Seiten"), ("auch die leere Antwort kurz zwischenspeichern", "Nachschlagefunktionen"),
        ("in der Reihenfolge der Schlüssel sperren", "Umbuchungen"), ("alle Mängel sammeln und zusammen melden", "Prüfungen von Uploads"), ("erst bei der Ausgabe maskieren", "HTML-Ausgaben"), ("den Zufall aus dem Testnamen säen", "Zufallstests"), ("gegen die einfache Fassung auf kleinen Eingaben vergleichen", "schnelle Algorithmen"),
    ),
    "fr": (
        ("séparer le calcul pur du chargement", "les rapports"), ("livrer le lecteur une version avant l'auteur", "les changements de format"), ("borner chaque boucle sur les pages", "les API paginées"), ("garder aussi la réponse vide en cache, mais moins longtemps", "les recherches sans résultat"),
        ("verrouiller dans l'ordre des clés", "les virements"), ("rassembler toutes les anomalies avant de répondre", "les contrôles de fichiers"), ("échapper à la sortie, jamais à l'entrée", "les pages HTML"), ("comparer avec la version naïve sur de petites entrées", "les algorithmes rapides"),
    ),
    "es": (
        ("separar el cálculo puro de la carga", "los informes"), ("publicar el lector una versión antes que el escritor", "los cambios de formato"), ("poner un tope a cada bucle de páginas", "las API paginadas"), ("guardar también la respuesta vacía, por menos tiempo", "las búsquedas sin resultado"),
        ("bloquear en el orden de las claves", "las transferencias"), ("reunir todos los fallos y mostrarlos juntos", "las validaciones de archivos"), ("escapar al mostrar, nunca al guardar", "las páginas HTML"), ("comparar con la versión ingenua en entradas pequeñas", "los algoritmos rápidos"),
    ),
}  # fmt: skip

WORDINGS = {
    "en": (
        "Something to reuse: <do>. It applies to <where> in general.", "When you meet <where>, the thing to do is this: <do>.", "I'd recommend we always <do> with <where>.", "This generalises nicely. For <where>: <do>.", "Lesson for next time: with <where>, <do>.", "What works reliably for <where>: <do>.",
        "Let's treat this as our standard for <where>: <do>.", "A habit worth adopting for <where>: <do>.", "If there's one thing to remember about <where>, it's to <do>.", "Tip for anyone touching <where>: <do>.", "The approach I keep coming back to for <where>: <do>.", "Rule for <where> from here on: <do>.",
        "For all <where> going forward, <do>.", "That is the third time it has paid off to <do>, so make it routine for <where>.", "Recommended recipe, <where>: <do>.", "Making this our convention for <where> would save time: <do>, every time.", "In my experience with this repo, <where> go well when you <do>, and badly when you don't.",
        "A general principle for <where> emerged: <do>.", "Future <where> should follow suit: <do>.", "How we ought to treat <where> from now on: <do>.", "Worth repeating elsewhere: <do>. Think of <where>.", "Copy this for other <where>: <do>.", "Here's a small pattern that fits <where>: <do>.", "A pattern to follow for <where>: <do>.",
        "The technique transfers to all kinds of <where>: <do>.", "Best way to deal with <where>, as a rule: <do>.", "It's good practice to <do> for <where>.", "To anyone about to write <where>: <do>. It makes everything downstream simpler.", "Every time we have <where>, we should <do>.", "Let me note the method, since it applies to all <where>: <do>.",
        "Golden rule for <where>: <do>.", "I'd add this to the contributing guide, under <where>: <do>.", "Lesson learned on <where>: always <do>.", "It's always the same story with <where>, so the standard remedy: <do>.", "Do this for <where> as a matter of course: <do>.", "Proven practice for <where>: <do>.",
        "Reusable approach for <where>: <do>.", "Never skip this with <where>: <do>.", "For <where>, the reliable order of business is to <do>.", "Advice that holds for <where> across the codebase: <do>.", "This is how <where> should be done in this project, without exception: <do>.", "Good rule: <do>, whenever it's about <where>.",
    ),
    "de": ("Das lässt sich wiederverwenden, für <where> allgemein: <do>.", "Regel für <where> ab jetzt: <do>.", "Wer mit <where> zu tun hat, sollte immer so vorgehen: <do>.", "Für künftige <where> gilt dasselbe Muster: <do>.", "Lehre daraus für <where>: <do>.", "Gute Gewohnheit für <where>: <do>.", "Das gehört in die Richtlinien, Stichwort <where>: <do>.", "Für <where> hat sich gezeigt, was jedes Mal funktioniert: <do>."),
    "fr": ("À réutiliser pour <where> en général : <do>.", "Règle désormais pour <where> : <do>.", "Pour <where>, il faut toujours procéder ainsi : <do>.", "Le même schéma vaut pour <where> à l'avenir : <do>.", "Leçon à garder pour <where> : <do>.", "Bonne habitude pour <where> : <do>.", "À mettre dans le guide de contribution, pour <where> : <do>.", "Ce qui marche à chaque fois pour <where> : <do>."),
    "es": ("Para reutilizar en <where> en general: <do>.", "Regla desde ahora para <where>: <do>.", "Con <where> conviene proceder siempre así: <do>.", "El mismo patrón sirve para <where> en adelante: <do>.", "Lección para <where>: <do>.", "Buena costumbre para <where>: <do>.", "Esto debería ir a la guía de contribución, sobre <where>: <do>.", "Lo que funciona cada vez con <where>: <do>."),
}  # fmt: skip

APIS = (
    Api("Mollie", "mollie_payments", "api.mollie.com", "/v2/payments"), Api("Notion", "notion_pages", "api.notion.com", "/v1/pages"), Api("Mastodon", "mastodon_status", "mastodon.social", "/api/v1/statuses"), Api("Mailgun", "mailgun_sender", "api.mailgun.net", "/v3/messages"),
    Api("Airtable", "airtable_rows", "api.airtable.com", "/v0/appCatalogue/Objects"), Api("Linear", "linear_issues", "api.linear.app", "/graphql"), Api("GitLab", "gitlab_pipelines", "gitlab.com", "/api/v4/projects"), Api("Wikidata", "wikidata_lookup", "query.wikidata.org", "/sparql"),
    Api("Intercom", "intercom_notes", "api.intercom.io", "/conversations"), Api("Datadog", "datadog_series", "api.datadoghq.eu", "/api/v2/series"), Api("Telegram", "telegram_bot", "api.telegram.org", "/bot/sendMessage"), Api("Fastly", "fastly_purge", "api.fastly.com", "/service/purge_all"),
    Api("Nominatim", "nominatim_geocoder", "nominatim.openstreetmap.org", "/search"), Api("Klarna", "klarna_orders", "api.klarna.com", "/checkout/v3/orders"), Api("Transloadit", "transloadit_jobs", "api2.transloadit.com", "/assemblies"), Api("Entsoe", "entsoe_prices", "web-api.tp.entsoe.eu", "/api"),
)  # fmt: skip

CALLS = {
    "py": ('reply = await client.post("https://<host><path>", json=body)', 'r = requests.post("https://<host><path>", headers=headers, json=body, timeout=15)', 'raw = urllib.request.urlopen("https://<host><path>", timeout=20).read()'),
    "cs": ('using var reply = await _http.PostAsJsonAsync("https://<host><path>", body, ct);', 'var json = await httpClient.GetStringAsync("https://<host><path>");'),
    "cpp": ('auto r = cpr::Post(cpr::Url{"https://<host><path>"}, cpr::Payload{{"id", id}});', 'curl_easy_setopt(easy.get(), CURLOPT_URL, "https://<host><path>");'),
    "dart": ("final reply = await http.post(Uri.parse('https://<host><path>'), body: body);", "final answer = await _dio.get<Map>('https://<host><path>');"),
    "js": ('const reply = await fetch("https://<host><path>", { headers, signal });', 'const { body } = await got.post("https://<host><path>", { json });'),
    "vue": ("const reply = await $fetch('https://<host><path>', { method: 'POST', body })", "const { data } = await axios.post('https://<host><path>', form)"),
    "hs": ('reply <- httpJSON =<< parseRequest "POST https://<host><path>"',),
    "scala": ('val sent = quickRequest.post(uri"https://<host><path>").body(event).send()',),
    "clj": ('(http/post "https://<host><path>" {:body (json/write-str m) :as :json})',),
    "r": ('reply <- request("https://<host><path>") |> req_body_json(body) |> req_perform()', 'reply <- httr::GET("https://<host><path>", query = q)'),
    "ml": ('Cohttp_lwt_unix.Client.get (Uri.of_string "https://<host><path>") >>= fun (_, body) ->',),
}  # fmt: skip

WIRINGS = (
    "", "", "", "Adding the <api> integration.", "Below is the request to <api>.", "Now <api>.", "Connecting this to <api>.", "<api> gets a small client.", "A thin wrapper around <api>.", "Sending it off to <api>.",
)  # fmt: skip
