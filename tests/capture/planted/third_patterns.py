"""Ways of doing that are worth doing again, and code that calls an API outside, in half 2; as in `words_patterns`."""

from __future__ import annotations

from tests.capture.planted.words_patterns import Api

__all__ = ["APIS", "CALLS", "PRACTICES", "WIRINGS", "WORDINGS"]

PRACTICES = {
    "en": (
        ("seed every random source from the match id", "replays"), ("pool the objects at level load", "projectiles and particles"), ("interpolate on the client and simulate on the server", "anything that moves over the network"), ("bake the lookup table at compile time", "trigonometry on the microcontroller"),
        ("double-buffer and swap in the vertical blank", "displays without tearing"), ("debounce in software with a five-sample vote", "mechanical switches"), ("assert the frame layout with static size checks", "structs that go over the wire"), ("plot the residuals before trusting the score", "regressions"),
        ("keep the holdout on another disk", "model selection"), ("reproject once at ingestion", "layers from different agencies"), ("write the query plan into the review", "slow reports"), ("show a skeleton first and fill it later", "screens that load from the network"), ("schedule the next alarm when the present one fires", "recurring reminders"),
        ("derive widget keys from the record id", "reorderable lists"), ("tag resources with the owning team at creation", "cloud accounts"), ("plan against a throwaway workspace", "module upgrades"), ("rotate by adding the new key first and removing the old one a week later", "signing keys"), ("compare in constant time", "tokens and digests"),
        ("deny by default and list what may pass", "egress rules"), ("post both legs in one transaction", "transfers between books"), ("store the rate with the amount", "converted figures"), ("lower in small passes that each have a printer", "intermediate representations"), ("number the nodes once and use side tables", "syntax trees"),
        ("shrink the failing program automatically before reading it", "miscompilations"), ("emit an event with the old and the new value", "changes to tickets"), ("cut the feed into one fixture per stop", "timetable parsers"), ("bootstrap the confidence interval by cluster", "survey estimates"), ("pin nixpkgs by revision and bump it alone", "host configurations"),
    ),
    "de": (
        ("die neue Version neben der alten laufen lassen und vergleichen", "Rechenkerne"), ("den Zufall aus der Spielnummer ableiten", "Wiederholungen"), ("beide Buchungszeilen in einer Transaktion schreiben", "Umbuchungen"), ("zuerst alles sperren und dann einzeln freigeben", "Netzregeln"),
    ),
    "fr": (
        ("comparer en temps constant", "les jetons"), ("stocker le taux à côté du montant", "les conversions"), ("reprojeter une seule fois à l'entrée", "les couches géographiques"), ("tout interdire puis ouvrir au cas par cas", "les règles réseau"),
    ),
    "es": (
        ("guardar el tipo de cambio junto al importe", "las conversiones"), ("derivar el azar del número de partida", "las repeticiones"), ("comparar en tiempo constante", "los tokens"), ("cerrar todo y abrir caso por caso", "las reglas de red"),
    ),
}  # fmt: skip

WORDINGS = {
    "en": (
        "pattern (<where>): <do>", "Lesson for <where>: <do>.", "Tip for whoever comes after me: in the case of <where>, <do>.", "<where>: always <do>. Holds for every module here.", "What works reliably with <where> is to <do>; let us repeat it.", "It has become our custom to <do> for <where>, and it should remain so.",
        "Learned today, useful tomorrow: with <where>, <do>.", "For <where> I recommend as a rule to <do>.", "When you meet <where>, <do>. Every time.", "A reusable way for <where>: <do>.", "It is a good practice, in case of <where>, to <do>.", "Rule: <where> => <do>", "The proven way of dealing with <where> is to <do>.",
        "Worth remembering when <where> come up again: <do>.", "I have now seen it in four places, so it deserves a name: with <where> you <do>.", "General principle for <where>: <do>.", "Let this be the standard recipe for <where>: <do>.", "To be reused for <where>: <do>.", "A technique that generalises: for <where>, <do>.", "Every team handling <where> should <do>; it spared us a lot of trouble.",
        "Next time there are <where>, remember to <do>.", "The approach that has always served us with <where> is to <do>.", "A maxim for <where>: <do>.", "Recommended practice, <where>: <do>.", "Our pattern for <where> from today: <do>.",
    ),
    "de": ("Regel für <where>: <do>.", "Fürs nächste Mal bei <where>: <do>.", "Das Muster für <where> ist immer gleich: <do>.", "Grundsätzlich gilt für <where>: <do>."),
    "fr": ("Leçon pour <where> : <do>.", "La prochaine fois, pour <where> : <do>.", "Règle générale pour <where> : toujours <do>."),
    "es": ("Regla para <where>: <do>.", "Buena práctica para <where>: <do>.", "Para la próxima vez con <where>: <do>."),
}  # fmt: skip

APIS = (
    Api("Discord", "discord_webhook", "discord.com", "/api/v10/channels/42/messages"), Api("Steam", "steam_achievements", "partner.steam-api.com", "/ISteamUserStats/SetUserStatsForGame/v1"), Api("OpenAQ", "openaq_readings", "api.openaq.org", "/v3/locations"), Api("GBIF", "gbif_species", "api.gbif.org", "/v1/species/match"),
    Api("VirusTotal", "virustotal_lookup", "www.virustotal.com", "/api/v3/files"), Api("NVD", "nvd_feed", "services.nvd.nist.gov", "/rest/json/cves/2.0"), Api("Firebase", "firebase_push", "fcm.googleapis.com", "/v1/projects/medalarm/messages:send"), Api("OpenFDA", "openfda_labels", "api.fda.gov", "/drug/label.json"),
    Api("Coinbase", "coinbase_quotes", "api.exchange.coinbase.com", "/products/XAU-USD/ticker"), Api("Zendesk", "zendesk_import", "acme.zendesk.com", "/api/v2/tickets.json"), Api("Entur", "entur_departures", "api.entur.io", "/journey-planner/v3/graphql"), Api("Cloudflare", "cloudflare_dns", "api.cloudflare.com", "/client/v4/zones"),
)  # fmt: skip

CALLS = {
    "py": ('reply = urllib3.request("POST", "https://<host><path>", json=body)', 'async with aiohttp.ClientSession() as s, s.post("https://<host><path>", json=body) as reply:', 'reply = httpx.Client(base_url="https://<host>").get("<path>", params=wanted)'),
    "cs": ('var reply = await http.PostAsJsonAsync("https://<host><path>", body);', 'using var request = UnityWebRequest.Get("https://<host><path>");'),
    "cpp": ('auto reply = cpr::Post(cpr::Url{"https://<host><path>"}, cpr::Body{body});', 'curl_easy_setopt(handle, CURLOPT_URL, "https://<host><path>");'),
    "dart": ("final reply = await http.post(Uri.parse('https://<host><path>'), body: jsonEncode(body));", "final reply = await dio.get('https://<host><path>');"),
    "js": ("const reply = await fetch('https://<host><path>', { headers });", "const { body } = await got.post('https://<host><path>', { json });"),
    "hs": ('reply <- httpLBS (parseRequest_ "POST https://<host><path>")',),
    "scala": ('val reply = basicRequest.post(uri"https://<host><path>").body(json).send(backend)',),
    "clj": ('(http/post "https://<host><path>" {:body (json/encode order)})',),
    "r": ('reply <- httr2::request("https://<host><path>") |> httr2::req_perform()',),
    "vue": ("const reply = await fetch(`https://<host><path>`, { method: 'PUT', body })", "await axios.post('https://<host><path>', ticket)"),
}  # fmt: skip

WIRINGS = (
    "", "", "", "<api> client, first cut.", "Next the adapter towards <api>.", "This file asks <api> for its data.", "Connecting to <api>.", "Request to <api> goes here.",
)  # fmt: skip
