"""What is settled in sessions of half 2, in four languages; as in `topics`.

Owns matter, not wording.
"""

from __future__ import annotations

from tests.capture.planted.topics import Topic

__all__ = ["TOPICS"]

_EN = (
    Topic("collision checks", "a sweep along one axis", "a quadtree rebuilt each frame", "nearly all bodies crawl along the floor"),
    Topic("save files", "a tagged binary with a CRC at the end", "a pretty-printed XML tree", "consoles cap a slot at 256 KB"),
    Topic("lag compensation", "rewinding hitboxes on the server", "trusting the shooter", "cheaters edit their own client"),
    Topic("enemy behaviour", "utility scoring", "hard-wired behaviour trees", "designers want to tune numbers without a programmer"),
    Topic("battery telemetry", "a delta-coded frame every ten minutes", "raw samples over LoRa", "airtime is capped by law"),
    Topic("the boot loader handover", "a magic word in backup RAM", "a GPIO strap", "the new board has no pin to spare"),
    Topic("fixed-point scaling", "Q15 throughout the control loop", "software floats", "the interrupt must end within eight microseconds"),
    Topic("the gate driver interlock", "a hardware comparator", "a check in the main loop", "a shorted leg blows up faster than any loop runs"),
    Topic("missing survey values", "multiple imputation", "dropping incomplete rows", "elderly respondents skip the income page"),
    Topic("the drift alarm", "a population stability index per week", "a fixed accuracy floor", "labels arrive six weeks after the fact"),
    Topic("notebook hygiene", "plain scripts paired with each notebook", "committing raw notebooks", "reviewers cannot read base64 plots"),
    Topic("geodata on disk", "cloud-optimised GeoTIFF", "plain PNG tiles", "hydrologists open them in QGIS as well"),
    Topic("medication reminders", "exact alarms set by the operating system", "a background fetch", "phones doze off at night"),
    Topic("the offline outbox", "a journal replayed in order", "last write wins", "nurses edit the same chart on two tablets"),
    Topic("dark mode colours", "semantic design tokens", "hex values in widgets", "the brand team repaints twice a year"),
    Topic("deep links", "universal links with a signed payload", "a custom URL scheme", "any installed app may claim a scheme"),
    Topic("workload identity", "short-lived OIDC federation", "long-lived access keys in CI", "the last leak came from a build log"),
    Topic("state of the infrastructure code", "one state per environment and layer", "a single giant workspace", "a plan took nineteen minutes"),
    Topic("node images", "reproducible Nix closures", "golden images baked by hand", "the March outage came from an image nobody could rebuild"),
    Topic("log retention", "thirty days hot and a year in cold storage", "keeping everything hot", "the bill doubled since spring"),
    Topic("margin calls", "a netted call per counterparty", "a call per trade", "the custodian charges by message"),
    Topic("day-count fractions", "ACT/360 from the term sheet", "thirty-day months", "the counterparty disputes anything else"),
    Topic("rounding of coupons", "banker's rounding at settlement", "truncation per leg", "pennies piled up on one side of the book"),
    Topic("dependency scanning", "an SBOM signed at build time", "a nightly scan of the registry", "customers ask for proof per release"),
    Topic("token signing", "Ed25519 with a key id", "a shared HMAC secret", "verifiers sit in other companies"),
    Topic("sandboxing plugins", "a WebAssembly runtime with no imports", "a chroot jail", "plugin authors ship binaries for three platforms"),
    Topic("register allocation", "linear scan with split intervals", "graph colouring", "the JIT has two milliseconds per method"),
    Topic("type errors", "blame spans recorded during inference", "a second checking pass", "students cannot follow unification traces"),
    Topic("string interning", "a weak hash-consing table", "plain heap strings", "four symbols in five occur more than once"),
    Topic("incremental builds", "a query engine with red-green marks", "whole-module recompilation", "editors ask on every keystroke"),
    Topic("visit splitting", "event-time windows with a watermark", "processing-time windows", "trains lose reception in tunnels"),
    Topic("survey weights", "raking to the census margins", "cell weighting", "two cells in Saarland are empty"),
    Topic("departure boards", "server-sent events", "polling every five seconds", "the station displays run on 2G"),
    Topic("canned replies", "a small template grammar", "raw HTML snippets", "agents paste scripts by accident"),
    Topic("escalation timers", "deadlines stored on the ticket", "a cron sweep", "holidays shift them anyway"),
    Topic("voice mixing", "sixteen voices stolen by loudness", "an unlimited mixer", "old tablets crackle at twenty"),
)  # fmt: skip
_DE = (
    Topic("die Zellspannungen", "einen gleitenden Median", "den Mittelwert", "einzelne Ausreißer lösen sonst die Abschaltung aus"),
    Topic("den Fahrplanabgleich", "eine Differenz je Linie", "den vollständigen Neuaufbau", "nachts bleiben nur zwanzig Minuten"),
    Topic("die Schlüsselablage", "ein Hardwaremodul", "eine verschlüsselte Datei", "die Bankenaufsicht verlangt es"),
    Topic("die Spielstände", "ein Binärformat mit Prüfsumme", "lesbares XML", "die Konsole begrenzt jeden Platz"),
    Topic("die Stichprobengewichte", "Kalibrierung an den Zensus", "Zellgewichte", "manche Zellen bleiben leer"),
    Topic("die Zwischenergebnisse", "Parquet mit Partitionen je Tag", "lose CSV-Dateien", "die Abfragen lesen meist nur eine Woche"),
    Topic("die Rechtevergabe", "Rollen je Mandant", "Rechte je Person", "Vertretungen wechseln wöchentlich"),
)  # fmt: skip
_FR = (
    Topic("les rappels de prise", "des alarmes exactes du système", "une tâche de fond", "les téléphones s'endorment la nuit"),
    Topic("les collisions", "un balayage sur un axe", "un quadtree", "presque tout se déplace au sol"),
    Topic("la signature des jetons", "une clé Ed25519", "un secret partagé", "les vérificateurs sont chez des tiers"),
    Topic("les appels de marge", "un appel net par contrepartie", "un appel par opération", "le dépositaire facture au message"),
    Topic("les images des nœuds", "des constructions reproductibles", "des images faites à la main", "personne ne savait refaire celle de mars"),
    Topic("les valeurs manquantes", "l'imputation multiple", "la suppression des lignes", "les plus âgés sautent la page des revenus"),
)  # fmt: skip
_ES = (
    Topic("los recordatorios", "alarmas exactas del sistema", "una tarea en segundo plano", "los móviles se duermen de noche"),
    Topic("el registro de auditoría", "una cadena de resúmenes firmados", "una tabla corriente", "el regulador exige detectar manipulaciones"),
    Topic("las partidas guardadas", "un binario con suma de control", "un XML legible", "la consola limita el espacio"),
    Topic("los huecos de la encuesta", "la imputación múltiple", "el descarte de filas", "los mayores se saltan la página de ingresos"),
    Topic("el reparto de carga", "un anillo con nodos virtuales", "el turno rotatorio", "cada nodo tiene otra memoria"),
    Topic("la telemetría", "tramas comprimidas cada diez minutos", "muestras en bruto", "el tiempo de antena está limitado"),
)  # fmt: skip

TOPICS = {"en": _EN, "de": _DE, "fr": _FR, "es": _ES}
