"use strict";
// Search on an exported site: data files are loaded as scripts, since a page from a file may not fetch others.
(() => {
  const MOST = 50;
  const form = document.querySelector("form[data-search]"), results = document.getElementById("results");
  const box = form.querySelector("input"), [pages, depth] = form.dataset.search.split(" ").map(Number);
  const folder = new URL("search/", location.href), waiting = new Map(), loaded = new Map();

  // Each data file calls this with its name and its data.
  window.cruData = (name, data) => waiting.get(name)?.(data);
  const load = (name) => {
    if (!loaded.has(name)) {
      loaded.set(name, new Promise((resolve) => {
        const script = document.createElement("script");
        waiting.set(name, resolve);
        script.src = new URL(`${name}.js`, folder);
        script.onerror = () => resolve(null);
        document.head.append(script);
      }));
    }
    return loaded.get(name);
  };

  // As in site_search.py: words in lower case, in files by their first characters.
  const wordsOf = (text) => [...new Set(text.normalize("NFKC").toLowerCase().match(/[\p{L}\p{N}]+/gu) || [])];
  const isPlain = (character) => /[a-z0-9]/.test(character || "");
  const shardOf = (word) => {
    if (!isPlain(word[0])) return `u${(word.codePointAt(0) >> 8).toString(16)}`;
    return depth > 1 && isPlain(word[1]) ? word.slice(0, 2) : `${word[0]}_`;
  };

  // The places of a word, also as the start of longer ones: page to a map of parts to scores.
  const placesOf = async (word) => {
    const shard = await load(`words-${shardOf(word)}`), found = new Map();
    for (const [known, places] of Object.entries(shard || {})) {
      if (!known.startsWith(word)) continue;
      const score = (known === word ? 3 : 1) * Math.log(1 + pages / (places.length / 2));
      for (let at = 0; at < places.length; at += 2) {
        const parts = found.get(places[at]) || new Map();
        found.set(places[at], parts);
        parts.set(places[at + 1], Math.max(parts.get(places[at + 1]) || 0, score));
      }
    }
    return found;
  };

  // Pages with all words; a page scores by its best part, and more if its title or its head has the words.
  const rank = (found) => {
    const [first, ...rest] = found.sort((a, b) => a.size - b.size), hits = [];
    for (const page of first.keys()) {
      if (!rest.every((one) => one.has(page))) continue;
      const scores = new Map();
      for (const one of found) for (const [part, score] of one.get(page)) scores.set(part, (scores.get(part) || 0) + score);
      const [part, best] = [...scores].reduce((a, b) => (b[1] > a[1] ? b : a));
      const spread = Math.log(scores.size);
      hits.push({ page, part, score: best + spread + (scores.get(0) || 0) });
    }
    return hits.sort((a, b) => b.score - a.score || a.page - b.page);
  };

  const line = (hit, [address, title, facts, parts], word) => {
    const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
    const [anchor, label] = parts[hit.part] || ["", ""];
    link.href = `${address}#${anchor}:~:text=${encodeURIComponent(word)}`;
    link.dataset.row = "";
    link.textContent = title;
    small.textContent = facts;
    item.append(link, " ", small);
    if (hit.part && label) {
      const text = document.createElement("p");
      text.textContent = label;
      item.append(text);
    }
    return item;
  };

  const say = (text) => {
    const note = document.createElement("p");
    note.className = "dim";
    note.textContent = text;
    return note;
  };

  let asked = 0;
  const ask = async (text) => {
    const now = ++asked, words = wordsOf(text).filter((word) => word.length > 1 || !isPlain(word));
    if (!words.length) return results.replaceChildren();
    const hits = rank(await Promise.all(words.map(placesOf)));
    const shown = hits.slice(0, MOST);
    const chunks = await Promise.all(shown.map((hit) => load(`pages-${Math.floor(hit.page / 20)}`)));
    if (now !== asked) return;
    const list = document.createElement("ul");
    list.className = "found";
    shown.forEach((hit, at) => { if (chunks[at]) list.append(line(hit, chunks[at][hit.page % 20], words[0])); });
    const count = hits.length === 1 ? "1 page" : `${hits.length} pages`;
    results.replaceChildren(say(hits.length > MOST ? `${count}, the first ${MOST}:` : hits.length ? count : "No pages match."), list);
  };

  box.value = new URLSearchParams(location.search).get("q") || "";
  let pause = 0;
  form.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(ask, 120, box.value); });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(pause); ask(box.value); });
  if (box.value) ask(box.value);
})();
