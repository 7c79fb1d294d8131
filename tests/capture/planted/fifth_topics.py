"""What is settled in sessions of half 4: a question, what was taken, what was not, and why, in four languages.

Owns matter, not wording; as `topics`.
"""

from __future__ import annotations

from tests.capture.planted.topics import Topic

__all__ = ["TOPICS"]

_EN = (
    Topic("the undo stack", "an inverse operation for each edit", "a full snapshot per step", "a single drawing weighs forty megabytes"),
    Topic("joint editing of notes", "Yjs", "an operational transform of our own", "nobody on the team could maintain the merge rules"),
    Topic("invoice PDFs", "WeasyPrint", "a headless Chrome", "the print service runs with 256 MB"),
    Topic("the colour theme", "a set of CSS custom properties", "a second stylesheet", "people switch to dark mode without a reload"),
    Topic("podcast transcripts", "a WebVTT file next to the audio", "a transcript table", "players can read them without us"),
    Topic("the specimen barcodes", "Code 128 with the lab prefix", "a QR code", "the centrifuge has a line scanner"),
    Topic("track occupancy", "the axle counter as the source of truth", "the GPS position", "GPS loses the train in both tunnels"),
    Topic("tariff changes", "a row with a valid-from date", "a yearly deploy", "the regulator changes them in the middle of a month"),
    Topic("vineyard weather", "an hourly pull from the station", "a streaming feed", "the mast sleeps to save its battery"),
    Topic("chess clocks", "server time with lag compensation", "the browser's timer", "browsers throttle tabs in the background"),
    Topic("the plugin boundary", "a WASM sandbox", "a shared library", "a plugin must not be able to take the host down"),
    Topic("e-mail verification", "a six-digit code", "a magic link", "company scanners open every link before the reader does"),
    Topic("the museum catalogue", "a document for each object", "a schema of forty normalised tables", "no two curators fill in the same fields"),
    Topic("picture variants", "AVIF with a JPEG fallback", "WebP alone", "the reading room still has old tablets"),
    Topic("the base image", "distroless", "Alpine", "musl resolves our internal names wrongly"),
    Topic("dependency updates", "a grouped pull request each Monday", "one pull request for each package", "reviewers stopped looking at them"),
    Topic("error types", "one enum for each crate", "a boxed trait object", "callers match on the variant they can handle"),
    Topic("the log format", "one JSON line per event with a stable set of keys", "free text", "the on-call people query by tenant"),
    Topic("test databases", "a template database cloned for each worker", "truncating between tests", "the suite drops from nine minutes to two"),
    Topic("browser tests", "component testing with a handful of journeys", "a full journey for each ticket", "the nightly run had grown to three hours"),
    Topic("the date library", "the Temporal polyfill", "Moment", "Moment mutates what it is given"),
    Topic("opening hours", "an RRULE string", "a column for each weekday", "public holidays move every year"),
    Topic("spam reports", "a weighted score with a decay", "a hard threshold of three", "rival shops report one another"),
    Topic("the donation ledger", "double entry", "a running balance", "an accountant has to sign it in January"),
    Topic("the leaderboard", "a sorted set rebuilt at midnight", "a window function at read time", "it is read a thousand times for each write"),
    Topic("physics steps", "a fixed step of 8 ms with interpolation", "the frame delta", "replays have to come out the same on every machine"),
    Topic("the save format", "FlatBuffers", "the engine's serialiser", "saves from last year must still open"),
    Topic("chunk meshing", "greedy meshing on a worker", "a face for each voxel", "the GPU was drowning in triangles"),
    Topic("bearing temperatures", "the median of five readings", "the raw value", "the inverter's switching puts spikes on the line"),
    Topic("buoy uplinks", "a compact CBOR frame", "JSON over LoRa", "the duty cycle leaves us eleven bytes a minute"),
    Topic("reminder alarms", "an exact alarm set on the device", "a push from the server", "patients are often offline when a dose is due"),
    Topic("timetable imports", "GTFS with a local override file", "scraping the operator's pages", "the pages change without notice"),
    Topic("footnotes", "a second pass over the finished tree", "numbering while parsing", "a footnote may be used before it is defined"),
    Topic("type inference", "bidirectional checking", "plain unification", "the messages point at the place people wrote"),
    Topic("click deduplication", "a Bloom filter for each hour", "an exact set", "the exact set did not fit in the executors"),
    Topic("the Terraform state", "one state for each region", "a single big state", "a plan took fourteen minutes and blocked everyone"),
    Topic("gold prices", "exact rational arithmetic", "double precision", "ounces and grams do not convert cleanly"),
    Topic("missing lab values", "a model over twenty imputed data sets", "dropping the patient", "the sickest patients miss the most values"),
    Topic("ticket assignment", "round robin within a skill group", "a free-for-all queue", "the easy tickets were always gone by nine"),
    Topic("machine rollouts", "a generation switch with an automatic way back", "upgrading in place", "two hosts stand on a mountain"),
    Topic("the choir calendar", "CalDAV", "an export by mail", "the singers want it in the phone they already have"),
    Topic("hive telemetry", "a wake-up every twenty minutes", "an open connection", "the coin cell has to last a season"),
    Topic("the contents of the bundle", "route-level splitting", "a single file", "the login page was loading the whole chart code"),
    Topic("permission checks", "a row policy inside the database", "a check in each controller", "two controllers had already forgotten one"),
    Topic("the translation memory", "fuzzy matching above eighty percent", "exact matching alone", "the legal texts differ in a number here and there"),
    Topic("outgoing webhooks", "a signed body with a timestamp", "a shared secret in the query string", "proxies write query strings into their logs"),
)  # fmt: skip
_DE = (
    Topic("den Rückgängig-Stapel", "umgekehrte Operationen", "ganze Abbilder", "eine Zeichnung wiegt vierzig Megabyte"),
    Topic("die Rechnungs-PDFs", "WeasyPrint", "ein Chrome ohne Fenster", "der Druckdienst hat nur 256 MB"),
    Topic("die Öffnungszeiten", "RRULE-Angaben", "sieben Spalten", "Feiertage verschieben sich jedes Jahr"),
    Topic("die Gleisbelegung", "Achszähler", "GPS-Positionen", "in beiden Tunneln fehlt der Empfang"),
    Topic("den Terraform-Zustand", "eine Datei je Region", "eine einzige große Datei", "ein Plan dauerte vierzehn Minuten"),
    Topic("die Bildvarianten", "AVIF mit JPEG als Rückfall", "WebP allein", "im Lesesaal stehen noch alte Tablets"),
    Topic("die Lagertemperaturen", "Mediane aus fünf Messungen", "Rohwerte", "der Umrichter streut Spitzen auf die Leitung"),
    Topic("die Probenetiketten", "Strichcodes nach Code 128", "QR-Codes", "die Zentrifuge hat nur einen Zeilenleser"),
    Topic("die Testdatenbanken", "Kopien einer Vorlage je Arbeiter", "das Leeren zwischen den Tests", "die Suite läuft damit in zwei Minuten"),
    Topic("die Rechteprüfung", "Regeln in der Datenbank", "Prüfungen in jedem Controller", "zwei Controller hatten sie schon vergessen"),
)  # fmt: skip
_FR = (
    Topic("la pile d'annulation", "des opérations inverses", "des instantanés complets", "un dessin pèse quarante mégaoctets"),
    Topic("les factures en PDF", "WeasyPrint", "un Chrome sans fenêtre", "le service d'impression n'a que 256 Mo"),
    Topic("les horaires d'ouverture", "des règles RRULE", "sept colonnes", "les jours fériés bougent chaque année"),
    Topic("l'occupation des voies", "les compteurs d'essieux", "les positions GPS", "le signal disparaît dans les deux tunnels"),
    Topic("les images", "AVIF avec un repli JPEG", "WebP seul", "la salle de lecture a de vieilles tablettes"),
    Topic("les rappels de dose", "des alarmes locales", "des notifications du serveur", "les patients sont souvent hors ligne"),
    Topic("les notes de bas de page", "une seconde passe sur l'arbre", "la numérotation pendant l'analyse", "une note peut servir avant sa définition"),
    Topic("les données manquantes", "vingt jeux de données imputés", "le retrait du patient", "les plus malades ont le plus de trous"),
    Topic("les webhooks sortants", "un corps signé et daté", "un secret dans l'adresse", "les mandataires journalisent les adresses"),
)  # fmt: skip
_ES = (
    Topic("la pila de deshacer", "operaciones inversas", "copias completas", "un dibujo pesa cuarenta megas"),
    Topic("las facturas en PDF", "WeasyPrint", "un Chrome sin ventana", "el servicio de impresión solo tiene 256 MB"),
    Topic("los horarios de apertura", "reglas RRULE", "siete columnas", "los festivos cambian cada año"),
    Topic("las imágenes del catálogo", "AVIF con respaldo en JPEG", "solo WebP", "en la sala quedan tabletas antiguas"),
    Topic("los avisos de medicación", "alarmas en el propio teléfono", "notificaciones del servidor", "los pacientes suelen estar sin conexión"),
    Topic("la telemetría de colmenas", "un despertar cada veinte minutos", "una conexión abierta", "la pila debe durar toda la temporada"),
    Topic("el marcador", "un conjunto ordenado", "una consulta con ventanas", "se lee mil veces por cada escritura"),
    Topic("los permisos", "políticas en la base de datos", "comprobaciones en cada controlador", "dos controladores ya las habían olvidado"),
    Topic("el calendario del coro", "CalDAV", "un adjunto por correo", "los cantantes lo quieren en su teléfono"),
)  # fmt: skip

TOPICS = {"en": _EN, "de": _DE, "fr": _FR, "es": _ES}
