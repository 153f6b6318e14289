// The view of results inside an MCP client. The client, in the window around this one, sends what was found and passes calls of tools on to the
// server. Whatever comes from a file is put into the document as text, never as markup.

const $ = (selector) => document.querySelector(selector);
const told = $("#told"), list = $(".results"), field = $("#q"), search = $(".search"), more = $(".more");
const waiting = new Map(); // what was asked of the client and is not answered yet
let lastId = 0;
let asked = {}; // the arguments of the search that is shown
let mayCall = false; // whether the client passes calls of tools on

function send(message) {
  parent.postMessage({ jsonrpc: "2.0", ...message }, "*"); // a view does not know its client's origin, and tells it nothing of its own
}

function ask(method, params) {
  const id = ++lastId;
  send({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function heard(event) {
  const message = event.data;
  if (event.source !== parent || message?.jsonrpc !== "2.0") return;
  if (message.method === undefined) {
    const { resolve, reject } = waiting.get(message.id) ?? {};
    waiting.delete(message.id);
    if (message.error) reject?.(new Error(String(message.error.message ?? "The client refused.")));
    else resolve?.(message.result ?? {});
    return;
  }
  const params = message.params ?? {};
  if (message.id !== undefined) {
    const isKnown = ["ping", "ui/resource-teardown"].includes(message.method);
    send({ id: message.id, ...(isKnown ? { result: {} } : { error: { code: -32601, message: "Method not found" } }) });
  } else if (message.method === "ui/notifications/tool-input") begin(params.arguments ?? {});
  else if (message.method === "ui/notifications/tool-result") show(answerOf(params));
  else if (message.method === "ui/notifications/tool-cancelled") told.textContent = "The search was cancelled.";
  else if (message.method === "ui/notifications/host-context-changed") dress(params);
}

function dress(context) {
  if (["light", "dark"].includes(context.theme)) document.documentElement.style.colorScheme = context.theme;
}

function begin(input) {
  asked = input;
  field.value = String(input.query ?? "");
  told.textContent = "Searching…";
}

// The object of an answer: beside the text, or written in it.
function answerOf(result) {
  if (result.structuredContent) return result.structuredContent;
  try {
    return JSON.parse(result.content?.[0]?.text ?? "{}");
  } catch {
    return { error: { message: "The answer cannot be read." } };
  }
}

async function call(name, input) {
  try {
    return answerOf(await ask("tools/call", { name, arguments: input }));
  } catch (error) {
    return { error: { message: error.message } };
  }
}

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function show(answer, { isMore = false } = {}) {
  if (!isMore) list.replaceChildren();
  const items = answer.items ?? [];
  const total = answer.pagination?.total_estimate ?? items.length;
  const first = answer.pagination?.offset ?? 0;
  list.start = isMore ? list.start : first + 1;
  list.append(...items.map(entry));
  told.textContent = answer.error ? sentence(answer.error) : items.length || isMore ? count(total, first + items.length) : "Nothing found. Fewer or other words may help.";
  told.classList.toggle("bad", Boolean(answer.error));
  const notes = answer.notes ?? [];
  $(".notes").hidden = !notes.length;
  $(".notes").replaceChildren(...notes.map((note) => make("li", { dir: "auto", textContent: note })));
  more.hidden = !(mayCall && items.length && first + items.length < total);
}

const sentence = (error) => [error.message, error.details?.hint].filter(Boolean).map((part) => part[0].toUpperCase() + part.slice(1)).join(". ") + ".";
const count = (total, shown) => (total === 1 ? "One result" : total > shown ? `The best ${shown} of about ${total.toLocaleString("en")} results` : `${total} results`);

// In a name, what begins a line or turns the direction of the text is shown instead.
const line = (name) => name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`);

function entry(item) {
  const cut = item.path.lastIndexOf("/");
  const name = line(item.path.slice(cut + 1));
  const title = mayCall ? make("button", { type: "button", className: "name", textContent: name }) : make("span", { textContent: name });
  const place = make("p", { className: "place" },
    make("span", { className: "pointer", dir: "auto", textContent: line(item.pointer ?? "") || "whole file" }), " ",
    make("span", { className: "kind", textContent: item.ext.replace(/^\./, "") || "file" }), " ",
    make("time", { dateTime: item.modified, textContent: item.modified.slice(0, 10) }));
  const made = make("li", { className: "result" },
    make("h2", { dir: "auto" }, title), place,
    make("p", { className: "folder", dir: "auto", textContent: line(item.path.slice(0, cut)) || "/" }),
    make("p", { className: "snippet", dir: "auto" }, ...marked(item.snippet, item.highlights ?? [])),
    ...(item.also ? [make("p", { className: "folder", dir: "auto", textContent: `Also in ${item.also.map(line).join(", ")}` })] : []));
  if (mayCall) {
    title.setAttribute("aria-expanded", "false");
    title.addEventListener("click", () => unfold(title, made, item));
  }
  return made;
}

// Marks count characters, of which a string of JavaScript may hold two for one.
function marked(text, marks) {
  const letters = [...text];
  const parts = [];
  let at = 0;
  for (const [start, end] of [...marks].sort((a, b) => a[0] - b[0])) {
    if (start < at) continue;
    parts.push(letters.slice(at, start).join(""), make("mark", { textContent: letters.slice(start, end).join("") }));
    at = end;
  }
  return [...parts, letters.slice(at).join("")].filter((part) => part !== "");
}

async function unfold(title, made, item) {
  const open = made.querySelector(".passage");
  if (open) {
    open.remove();
    return void title.setAttribute("aria-expanded", "false");
  }
  title.setAttribute("aria-expanded", "true");
  const passage = make("div", { className: "passage" });
  made.append(passage);
  await read(passage, { path: item.path, ...(item.pointer ? { pointer: item.pointer } : {}) });
}

async function read(passage, place) {
  const found = await call("openFile", place);
  const shown = found.error ? make("p", { className: "bad", textContent: sentence(found.error) }) : make("p", { className: "prose", dir: "auto", textContent: found.preview });
  passage.append(shown);
  if (!found.next) return;
  const on = make("button", { type: "button", className: "quiet", textContent: "Read on" });
  on.addEventListener("click", () => (on.remove(), read(passage, { path: place.path, pointer: found.next })), { once: true });
  passage.append(on);
}

async function again() {
  const input = { ...asked, query: field.value.trim(), offset: 0 };
  if (!input.query) return;
  begin(input);
  const answer = await call("searchFiles", input);
  if (asked === input) show(answer);
}

async function goOn() {
  const input = { ...asked, offset: (asked.offset ?? 0) + list.childElementCount };
  const mine = asked;
  more.hidden = true;
  const answer = await call("searchFiles", input);
  if (asked === mine) show(answer, { isMore: true });
}

addEventListener("message", heard);
field.addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && again());
search.querySelector("button").addEventListener("click", again);
more.querySelector("button").addEventListener("click", goOn);

function tellSize() {
  const { width, height } = document.documentElement.getBoundingClientRect();
  send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
}

ask("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: { name: "smart-context-results", title: "Smart Context", version: "1" },
  appCapabilities: { availableDisplayModes: ["inline"] },
}).then((host) => {
  mayCall = Boolean(host.hostCapabilities?.serverTools);
  search.hidden = !mayCall;
  dress(host.hostContext ?? {});
  send({ method: "ui/notifications/initialized", params: {} });
  new ResizeObserver(tellSize).observe(document.documentElement);
}, () => (told.textContent = "The client does not show results here."));
