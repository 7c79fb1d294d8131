"use strict";
// The behaviour of the pages: levels of detail, folding, keys, live growth, instant search.
// Without it every page can be read; nothing is fetched from another origin.
const root = document.documentElement;
const page = document.body;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector, within = document) => within.querySelector(selector);
const saved = (key, value) => {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch { /* a page from a file may have no storage */ }
  return null;
};

// --- the bar, which a narrow window cuts

const section = one(".top [aria-current]");
const bar = section && section.parentElement;
if (bar) bar.scrollLeft = section.offsetLeft + section.offsetWidth + 24 - bar.offsetLeft - bar.offsetWidth;

// --- theme and level

const setTheme = (theme) => { root.dataset.theme = theme; saved("cru-theme", theme); };
if (saved("cru-theme")) root.dataset.theme = saved("cru-theme");
const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

const levels = all("[data-set-level]");
const setLevel = (level) => {
  if (!levels.some((button) => button.dataset.setLevel === level)) return;
  page.dataset.level = level;
  saved("cru-level", level);
  levels.forEach((button) => button.setAttribute("aria-pressed", button.dataset.setLevel === level));
};
all("[data-for-script]").forEach((element) => { element.hidden = false; });
// A link to one entry shows it, whatever level was chosen before.
if (saved("cru-level") && !location.hash) setLevel(saved("cru-level"));

// --- moving

const visible = (element) => element.getClientRects().length > 0;
let current = null;
const goTo = (element) => {
  if (!element) return;
  if (current) current.classList.remove("current");
  current = element;
  current.classList.add("current");
  element.scrollIntoView({ block: "start" });
  history.replaceState(null, "", `#${element.id}`);
};
const step = (selector, direction) => {
  const places = all(selector).filter((element) => element.id && visible(element));
  const at = current && places.includes(current)
    ? places.indexOf(current) + direction
    : direction > 0
      ? places.findIndex((element) => element.getBoundingClientRect().top > 90)
      : places.findLastIndex((element) => element.getBoundingClientRect().top < 40);
  goTo(places[at]);
};
const rows = "[data-row]";
const stepRow = (direction) => {
  const links = all(rows).filter(visible);
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (direction > 0 ? 0 : links.length - 1) : at + direction];
  if (next) next.focus();
};

// --- folding

// A call's id is its list's with a number; most calls are never linked to, so the page does not contain them.
const nameCalls = (within = document) => all("ul.calls", within).forEach((list) =>
  [...list.children].forEach((item, at) => { item.id = `${list.id}-${at + 1}`; }));
nameCalls();

const detailAddress = page.dataset.detail;
const addMore = (item) => {
  if (one("button.more", item) || one("details", item)) return;
  const button = document.createElement("button");
  button.className = "more";
  button.type = "button";
  button.textContent = "▸";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", "Show details");
  item.prepend(button);
};
const addAllMore = () => { nameCalls(); if (detailAddress) all(".calls > li").forEach(addMore); };
const toggleCall = async (button, open) => {
  const item = button.parentElement;
  let box = one(":scope > .detail", item);
  if (!box) {
    if (open === false) return;
    box = document.createElement("div");
    box.className = "detail";
    const answer = await fetch(`${detailAddress}${item.id}`).catch(() => null);
    box.innerHTML = answer && answer.ok ? await answer.text() : "<p class=facts>The details cannot be loaded.</p>";
    item.append(box);
    box.hidden = true;
  }
  box.hidden = open === undefined ? !box.hidden : !open;
  button.textContent = box.hidden ? "▸" : "▾";
  button.setAttribute("aria-expanded", String(!box.hidden));
};
let unfolded = false;
const unfoldAll = async () => {
  unfolded = !unfolded;
  all("main details").forEach((element) => { element.open = unfolded; });
  for (const button of all("button.more").slice(0, 200)) await toggleCall(button, unfolded);
};
addAllMore();

// --- links to entries

const openAround = (element) => {
  for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
const showTarget = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  openAround(target);
  if (!visible(target)) setLevel("full");
  target.scrollIntoView({ block: "start" });
};
addEventListener("hashchange", showTarget);
document.addEventListener("pointerover", (event) => {
  const entry = event.target.closest?.('main [id^="e"], main section[id]');
  if (!entry || one(":scope > .anchor", entry)) return;
  const link = document.createElement("a");
  link.className = "anchor";
  link.href = `#${entry.id}`;
  link.title = "Link to this entry";
  link.setAttribute("aria-label", `Link to entry ${entry.id}`);
  link.textContent = "#";
  entry.prepend(link);
});

// --- the phase in view is marked in the list

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    all("#outline [aria-current]").forEach((link) => link.removeAttribute("aria-current"));
    const link = one(`#outline a[href="#${CSS.escape(entry.target.id)}"]`) || one(`#outline a[href="#${entry.target.id}"]`);
    if (link) {
      link.setAttribute("aria-current", "true");
      const box = link.closest(".outline");
      const place = link.getBoundingClientRect(), frame = box.getBoundingClientRect();
      if (place.top < frame.top || place.bottom > frame.bottom) box.scrollTop += place.top - frame.top - 60;
    }
  }
}, { rootMargin: "-20% 0px -75% 0px" });
const observePhases = () => all("#phases > section").forEach((phase) => seen.observe(phase));
observePhases();
if (matchMedia("(max-width: 60rem)").matches) all(".outline").forEach((element) => { element.open = false; });

// --- help

const help = () => {
  let box = one("dialog");
  if (!box) {
    box = document.createElement("dialog");
    box.setAttribute("aria-label", "Keyboard shortcuts");
    const keys = [["j k", "next, previous prompt or row"], ["n p", "next, previous phase"], ["1 2 3", "level: user, talk, full"],
      ["o", "unfold or fold everything"], ["t", "light or dark"], ["/", "search"], ["g", "to the top"], ["?", "this list"]];
    const list = document.createElement("dl");
    for (const [key, text] of keys) {
      const term = document.createElement("dt"), what = document.createElement("dd");
      for (const part of key.split(" ")) { const k = document.createElement("kbd"); k.textContent = part; term.append(k, " "); }
      what.textContent = text;
      list.append(term, what);
    }
    const close = document.createElement("button");
    close.textContent = "Close";
    close.addEventListener("click", () => box.close());
    box.append(list, close);
    document.body.append(box);
  }
  box.showModal();
};

// --- buttons and keys

const deeds = { next: () => step(".user", 1), previous: () => step(".user", -1), unfold: unfoldAll, help };
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  if (button.dataset.setLevel) setLevel(button.dataset.setLevel);
  else if (button.dataset.do) deeds[button.dataset.do]();
  else if (button.classList.contains("more")) toggleCall(button);
});
const isSession = Boolean(one("main.session"));
const keys = {
  j: () => (isSession ? step(".user", 1) : stepRow(1)),
  k: () => (isSession ? step(".user", -1) : stepRow(-1)),
  n: () => step("#phases section", 1),
  p: () => step("#phases section", -1),
  1: () => setLevel("user"),
  2: () => setLevel("talk"),
  3: () => setLevel("full"),
  o: unfoldAll,
  t: () => setTheme(isDark() ? "light" : "dark"),
  g: () => scrollTo(0, 0),
  "?": help,
  "/": () => one("input[type=search]")?.focus(),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, textarea, select") || one("dialog[open]")) return;
  const deed = keys[event.key];
  if (deed) { event.preventDefault(); deed(); }
});

// --- live growth: the parts that changed are replaced, and the scroll position stays

const known = new Map();
const replace = (old, now) => {
  if (!old || !now) return;
  const text = now.innerHTML;
  if (known.get(old.id) === text) return;
  known.set(old.id, text);
  old.innerHTML = text;
};
const grow = async () => {
  const phases = all("#phases > section");
  const last = phases.at(-1);
  const first = last ? last.id.replace("phase-", "") : "0";
  const answer = await fetch(`${location.pathname}?first=${first}`).catch(() => null);
  if (!answer || !answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const follows = innerHeight + scrollY >= document.body.scrollHeight - 40;
  for (const id of ["head", "outline", "glance", "preamble", "summary"]) replace(document.getElementById(id), fresh.getElementById(id));
  for (const phase of all("#phases > section", fresh)) {
    const old = document.getElementById(phase.id);
    if (!old) one("#phases").append(phase);
    else {
      const open = new Set(all("details[open]", old).map((element) => element.closest("[id]").id));
      if (known.get(phase.id) !== phase.innerHTML) {
        known.set(phase.id, phase.innerHTML);
        old.replaceWith(phase);
        open.forEach((id) => all(`[id="${id}"]`).forEach((element) => { const box = element.matches("details") ? element : one("details", element); if (box) box.open = true; }));
      }
    }
  }
  const count = document.getElementById("phase-count");
  if (count) count.textContent = all("#phases > section").length;
  addAllMore();
  observePhases();
  if (follows) scrollTo(0, document.body.scrollHeight);
  if (!fresh.getElementById("is-live")?.dataset.live) stopLive();
};
let stream = null;
const stopLive = () => {
  stream?.close();
  all(".live").forEach((element) => { element.textContent = "ended"; element.className = "dim"; });
};
// --- the rest of a long session

const loadRest = async () => {
  const rest = document.getElementById("rest");
  let next = Number(one("[data-next]")?.dataset.next);
  while (next) {
    const answer = await fetch(`${location.pathname}?first=${next}&last=${next + 399}`).catch(() => null);
    if (!answer || !answer.ok) return;
    const more = new DOMParser().parseFromString(await answer.text(), "text/html");
    one("#phases").append(...all("#phases > section", more));
    next = Number(more.getElementById("rest")?.dataset.next);
  }
  rest?.remove();
  addAllMore();
  observePhases();
};
let busy = loadRest().then(showTarget);

if (page.dataset.events) {
  stream = new EventSource(page.dataset.events);
  stream.addEventListener("changed", () => { busy = busy.then(grow); });
  addEventListener("pagehide", () => stream.close());
}

// --- instant search and filters

const filters = one("form[data-instant]");
if (filters) {
  let waiting = 0;
  const ask = async () => {
    const query = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
    const address = `${filters.getAttribute("action")}?${query}`;
    const answer = await fetch(address, { headers: { "X-Part": "results" } }).catch(() => null);
    if (!answer || !answer.ok) return;
    one("#results").innerHTML = await answer.text();
    history.replaceState(null, "", address);
  };
  filters.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 150); });
  filters.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); ask(); });
}
