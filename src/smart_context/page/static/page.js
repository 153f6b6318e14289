// What the page does beyond links and forms: results while one types, keys, and copying. Everything works without it.

const field = document.querySelector("#q");
const view = document.querySelector("#view");
const SETTLED = 600; // milliseconds without a letter after which the search counts as asked
let asking = null; // the request on its way; an older one is aborted, so that it never overwrites a newer answer
let settling = 0;
let shown = location.search; // of which address the results are
let isTyping = false;

const isSearch = () => location.pathname === "/" && field && view;

function address(q) {
  const params = new URLSearchParams(shown);
  params.delete("from");
  params.set("q", q);
  return "?" + params;
}

async function show(search, part) {
  asking?.abort();
  const mine = (asking = new AbortController());
  view.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch("/" + (search || "?") + "&part=" + part, { signal: mine.signal, headers: { Accept: "text/html" } });
    const text = await answer.text();
    if (asking !== mine) return;
    if (answer.status === 401 || answer.redirected) return void location.reload();
    if (answer.status === 429) return void wait(Number(answer.headers.get("Retry-After")) || 1);
    const at = results().indexOf(document.activeElement);
    view.innerHTML = text;
    if (at >= 0) (results()[at] ?? field).focus({ preventScroll: true }); // whoever has moved on to the results stays there
    document.title = (field.value.trim() ? field.value.trim() + " · " : "") + "Smart Context";
  } catch (error) {
    if (error.name !== "AbortError" && asking === mine) document.querySelector("#told").textContent = "The server does not answer.";
  } finally {
    if (asking === mine) view.removeAttribute("aria-busy");
  }
}

function wait(seconds) {
  document.querySelector("#told").textContent = `Many searches just now; going on in ${seconds} s.`;
  clearTimeout(settling);
  settling = setTimeout(settle, seconds * 1000);
}

function settle() {
  clearTimeout(settling);
  isTyping = false;
  show(shown, "all");
}

function typed() {
  const search = address(field.value.trim());
  if (search === shown) return;
  if (isTyping) history.replaceState(null, "", "/" + search);
  else history.pushState(null, "", "/" + search);
  isTyping = true;
  shown = search;
  clearTimeout(settling);
  settling = setTimeout(settle, SETTLED);
  show(search, field.value.trim() ? "typed" : "all");
}

function results() {
  return [...document.querySelectorAll(".result h2 a")];
}

function move(step) {
  const all = results();
  const next = all.indexOf(document.activeElement) + step;
  if (next < 0) field.focus();
  else if (next < all.length) {
    all[next].focus({ preventScroll: true });
    all[next].closest(".result").scrollIntoView({ block: "nearest" });
  }
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const inField = event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select");
  const act = {
    ArrowDown: () => (field && (!inField || event.target === field) && results().length ? move(1) : false),
    ArrowUp: () => (document.activeElement?.closest(".result") ? move(-1) : false),
    Escape: () => escape(inField),
    "/": () => (inField || !field ? false : (field.focus(), field.select())),
    "?": () => (inField ? false : help()),
    n: () => (inField ? false : follow("next")),
    p: () => (inField ? false : follow("prev")),
    j: () => (inField ? false : toMatch(1)),
    k: () => (inField ? false : toMatch(-1)),
  }[event.key];
  if (act && act() !== false) event.preventDefault();
}

function escape(inField) {
  const back = document.querySelector("[data-back]");
  if (back && !inField) return void back.click();
  if (!field) return false;
  if (document.activeElement === field) field.value = "";
  field.focus();
  if (isSearch()) typed();
}

function help() {
  const list = document.querySelector("#keys");
  list.open = !list.open;
  if (list.open) list.scrollIntoView({ block: "nearest" });
  list.querySelector("summary").focus({ preventScroll: true });
}

function follow(rel) {
  const link = document.querySelector(`a[rel=${rel}]`);
  if (!link) return false;
  link.click();
}

// From match to match: those of this place first, then the nearest place that has one.
const matches = [...document.querySelectorAll("#text mark")];
let match = -1;

function toMatch(step) {
  const link = document.querySelector(`[data-match="${step}"]`);
  if (!link) return false;
  const next = match < 0 && step < 0 ? -1 : match + step;
  if (matches[next]) showMatch(next);
  else if (!("onlyHere" in link.dataset)) location.assign(link.href + (step < 0 ? "#last" : "#first"));
  else if (told) told.textContent = matches.length ? "There is no further match." : "There is no match in this file's text.";
}

function showMatch(number) {
  matches[match]?.classList.remove("here");
  match = number;
  matches[match].classList.add("here");
  matches[match].scrollIntoView({ block: "center" });
  told.textContent = matches.length > 1 ? `Match ${match + 1} of ${matches.length} here` : "";
}

const told = document.querySelector("#told");
for (const link of document.querySelectorAll("[data-match]")) {
  if (matches.length > 1) link.hidden = false;
  link.addEventListener("click", (event) => (event.preventDefault(), toMatch(Number(link.dataset.match))));
}
if (matches.length && ["#first", "#last"].includes(location.hash)) showMatch(location.hash === "#last" ? matches.length - 1 : 0);

if (isSearch()) {
  field.addEventListener("input", (event) => event.isComposing || typed());
  field.addEventListener("compositionend", typed);
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    typed();
    settle();
  });
  addEventListener("popstate", () => {
    clearTimeout(settling);
    isTyping = false;
    shown = location.search;
    field.value = new URLSearchParams(shown).get("q") ?? "";
    show(shown, "all");
  });
}
addEventListener("keydown", keys);

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const chosen = String(getSelection()).trim();
    const text = chosen || document.querySelector(button.dataset.copy).innerText.trim();
    await navigator.clipboard.writeText(`${text}\n\n— ${button.dataset.source}\n`);
    document.querySelector("#told").textContent = "Copied.";
  });
}

// What changes by itself is asked for again while somebody looks at it.
async function refresh() {
  if (!document.hidden) {
    const answer = await fetch(view.dataset.refresh + "?part=1").catch(() => null);
    if (answer?.ok && !view.contains(document.activeElement)) view.innerHTML = await answer.text();
  }
  if (document.querySelector("[data-running]")) setTimeout(refresh, 2000);
}
if (view?.dataset.refresh) setTimeout(refresh, 1000);

// The budget as a slider: what gets in and what just misses, while it moves.
const live = document.querySelector("form[data-live]");
if (live) {
  const slider = live.querySelector("[data-for]");
  const number = live.elements[slider.dataset.for];
  let latest = null;
  slider.hidden = false;
  const again = async () => {
    latest?.abort();
    const mine = (latest = new AbortController());
    const params = new URLSearchParams(new FormData(live));
    history.replaceState(null, "", "/cache?" + params);
    try {
      const answer = await fetch(`/cache?${params}&part=1`, { signal: mine.signal });
      const text = await answer.text();
      if (latest === mine && answer.status !== 429) view.innerHTML = text;
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };
  slider.addEventListener("input", () => ((number.value = slider.value), again()));
  number.addEventListener("input", () => ((slider.value = number.value), again()));
  live.elements.query.addEventListener("input", again);
}
