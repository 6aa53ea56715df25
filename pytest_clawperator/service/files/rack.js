// Shows the rack: asks the service for it once, then listens to what changes.
// Whatever comes from the service is text, and is set as text.

const WORDS = {
  ready: "Ready", busy: "Busy", held: "Held", trouble: "Trouble", unauthorized: "Unauthorized",
  offline: "Offline",
};
const TOKEN = "clawperator-token";
// How soon, in ms, after something happened a picture is asked for: when it is quiet again.
const PICTURE_AFTER = 1500, FIRST_PICTURE_AFTER = 300, PICTURE_EVERY = 30_000;
// The service shows every 15 s that it lives.
const LONGEST_SILENCE = 40_000;
const RETRIES = [0, 500, 1000, 2000, 4000];

const at = (id) => document.getElementById(id);
const cards = new Map();
let revision = 0;
let clockAhead = 0;  // by how many ms the clock of the service is ahead of this one
let filter = null;
let large = null;

class TokenRefused extends Error {}

/* The token: kept by this tab alone, and sent in a header, never in an address. */

let memory = null;

function token() {
  try { return sessionStorage.getItem(TOKEN) ?? memory; } catch { return memory; }
}

function keepToken(text) {
  memory = text;
  try {
    if (text === null) sessionStorage.removeItem(TOKEN);
    else sessionStorage.setItem(TOKEN, text);
  } catch { /* a browser that keeps nothing: this page remembers it */ }
}

async function ask(path, { headers = {}, signal } = {}) {
  const known = token();
  if (known !== null) headers.authorization = `Bearer ${known}`;
  const answer = await fetch(path, {
    headers, signal, cache: "no-store", credentials: "omit", redirect: "error",
  });
  if (answer.status === 401) throw new TokenRefused();
  if (answer.status >= 400) throw new Error(await reason(answer));
  return answer;
}

async function reason(answer) {
  try { return (await answer.json()).error.message; } catch { return `status ${answer.status}`; }
}

function askForToken() {
  const was = token();
  keepToken(null);
  at("token").hidden = false;
  for (const id of ["devices", "empty", "filters", "search"]) at(id).hidden = true;
  at("wrong").textContent = was === null ? "" : "The service does not accept this token.";
  setLink("", "Waiting for the token");
  showBanner(null);
  at("secret").focus();
  return new Promise((resolve) => {
    at("token").onsubmit = (event) => {
      event.preventDefault();
      // Nothing else can be sent in a header.
      const given = at("secret").value.trim();
      if (!/^[\x21-\x7e]+$/.test(given)) {
        at("wrong").textContent = "A token has letters, digits and signs of ASCII, and no spaces.";
        return;
      }
      keepToken(given);
      at("secret").value = "";
      at("token").hidden = true;
      at("devices").hidden = at("filters").hidden = false;
      resolve();
    };
  });
}

/* The connection: it ends while the page is hidden, and comes back by itself. */

async function live() {
  let failures = 0;
  for (;;) {
    await seen();
    try {
      await listen(() => { failures = 0; });
    } catch (error) {
      if (error instanceof TokenRefused) {
        await askForToken();
        failures = 0;
        continue;
      }
      if (!document.hidden && failures > 0) showAway(error);
    }
    await pause(RETRIES[Math.min(failures++, RETRIES.length - 1)]);
  }
}

async function listen(connected) {
  const stop = new AbortController();
  const end = () => stop.abort();
  const endIfHidden = () => { if (document.hidden) end(); };
  let timer = setTimeout(end, LONGEST_SILENCE);
  document.addEventListener("visibilitychange", endIfHidden);
  try {
    const answer = await ask("/v1/rack/events", { signal: stop.signal });
    let isLoaded = false;
    for await (const [name, data] of eventsOf(answer.body)) {
      clearTimeout(timer);
      timer = setTimeout(end, LONGEST_SILENCE);
      if (!isLoaded || name === "clawperator:lost") {
        // Changes since then wait in the stream, and have higher numbers.
        load(await (await ask("/v1/rack", { signal: stop.signal })).json());
        isLoaded = true;
        connected();
        showLive();
      }
      if (name === "clawperator:rack" && data.revision > revision) change(data);
    }
  } finally {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", endIfHidden);
    end();
  }
}

async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const fields = {};
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
      }
      if (fields.event && fields.data) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function seen() {
  if (!document.hidden) return;
  await new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
  });
  await seen();
}

function setLink(kind, text) {
  at("link").className = kind;
  if (at("link").textContent !== text) at("link").textContent = text;
}

function showBanner(text) {
  at("banner").hidden = text === null;
  if (at("banner").textContent !== (text ?? "")) at("banner").textContent = text ?? "";
}

function showLive() {
  at("devices").classList.remove("old");
  setLink("live", "Live");
}

function showAway(error) {
  const isNetwork = error instanceof TypeError || error?.name === "AbortError" || !error;
  at("devices").classList.add("old");
  setLink("away", "Not connected");
  showBanner(isNetwork
    ? "The service does not answer. What you see is old; this page comes back by itself."
    : `The service cannot list its devices: ${error.message}. This page tries again by itself.`);
}

/* What is shown. */

function load(rack) {
  revision = 0;
  at("host").textContent = rack.service.name;
  document.title = `Rack ${rack.service.name}`;
  change({ ...rack, serials: rack.devices.map((device) => device.serial) });
}

function change(news) {
  revision = news.revision;
  clockAhead = news.now * 1000 - Date.now();
  for (const device of news.devices) {
    if (!cards.has(device.serial)) cards.set(device.serial, new Card());
    cards.get(device.serial).show(device);
  }
  const wanted = new Set(news.serials);
  for (const [serial, card] of cards) {
    if (!wanted.has(serial)) { card.remove(); cards.delete(serial); }
  }
  news.serials.forEach((serial, place) => cards.get(serial)?.put(place));
  showBanner(news.adb && `${news.adb.message} ${news.adb.hint ?? ""}`);
  showFilters();
  showAges();
}

function showFilters() {
  const counts = new Map([[null, cards.size]]);
  for (const state of Object.keys(WORDS)) {
    const count = [...cards.values()].filter((card) => card.device.state === state).length;
    if (count || filter === state) counts.set(state, count);
  }
  const group = at("filters");
  const wanted = [...counts.keys()].map((state) => state ?? "all");
  for (const button of [...group.children]) {
    if (!wanted.includes(button.dataset.state)) button.remove();
  }
  wanted.forEach((state, place) => {
    let button = [...group.children].find((one) => one.dataset.state === state);
    if (!button) {
      button = make("button", state);
      button.dataset.state = state;
      if (state !== "all") button.append(make("span", "mark"));
      button.append(make("b"), WORDS[state] ?? "All");
      button.onclick = () => { filter = state === "all" || filter === state ? null : state; showFilters(); };
    }
    if (group.children[place] !== button) group.insertBefore(button, group.children[place] ?? null);
    button.querySelector("b").textContent = counts.get(state === "all" ? null : state);
    button.setAttribute("aria-pressed", String(filter === (state === "all" ? null : state)));
  });
  let shown = 0;
  at("search").hidden = cards.size < 2;
  const words = at("search").value.toLowerCase().split(/\s+/);
  for (const card of cards.values()) {
    const { name, serial, holder, state } = card.device;
    const text = `${name} ${serial} ${holder?.who ?? ""} ${holder?.how ?? ""}`.toLowerCase();
    card.root.hidden = (filter !== null && state !== filter) || !words.every((word) => text.includes(word));
    shown += !card.root.hidden;
  }
  at("empty").hidden = shown > 0 || !at("token").hidden;
  at("empty").textContent = cards.size === 0
    ? "No device is connected to this machine. It appears here as soon as `adb devices` lists it."
    : "None of the devices is like that.";
}

function make(name, kind, text) {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  if (text !== undefined) node.textContent = text;
  return node;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

class Card {
  constructor() {
    this.root = at("card").content.firstElementChild.cloneNode(true);
    this.part = (name) => this.root.querySelector(`.${name}`);
    this.device = { state: null };
    this.isInView = false;
    this.isDue = false;
    this.etag = null;
    this.pictureAt = null;
    this.part("screen").onclick = () => this.enlarge();
    views.observe(this.root);
  }

  show(device) {
    const before = this.device;
    this.device = device;
    this.root.className = `device ${device.state}`;
    this.root.firstElementChild.setAttribute("aria-label", `${device.name}, ${device.serial}`);
    this.part("screen").setAttribute("aria-label", `Enlarge the picture of ${device.name}`);
    setText(this.part("name"), device.name);
    this.part("about").replaceChildren(
      make("bdi", "serial", device.serial), ...device.about.map((text) => make("span", "", text)));
    setText(this.part("word"), wordOf(device));
    this.showMore(device);
    this.part("problem").hidden = device.problem === null;
    setText(this.part("code"), device.problem?.code ?? "");
    setText(this.part("message"), device.problem?.message ?? "");
    setText(this.part("hint"), device.problem?.hint ?? "");
    if (JSON.stringify(before.executions) !== JSON.stringify(device.executions)) {
      const open = new Set([...this.part("runs").querySelectorAll("details[open]")]
        .map((one) => one.dataset.run));
      this.part("runs").replaceChildren(...device.executions.map((run) => row(run, open)));
    }
    const isBad = ["trouble", "unauthorized", "offline"].includes(device.state);
    if (before.state && before.state !== device.state && isBad) {
      at("said").textContent = `${device.name}: ${wordOf(device)}`;
    }
    this.changedAt = (Date.now() + clockAhead) / 1000;
    this.tries = 0;
    this.want(this.etag === null ? FIRST_PICTURE_AFTER : PICTURE_AFTER);
  }

  showMore(device) {
    const more = this.part("more");
    more.replaceChildren();
    if (device.running) more.append(actionsOf(device.running));
    else if (device.holder) {
      more.append(`by ${device.holder.who}`);
      if (device.holder.since !== null) more.append(", since ", ageOf(device.holder.since));
      if (device.holder.how) more.append(make("span", "how", device.holder.how));
    } else if (device.goneAt !== null) more.append("not connected any more, ", ageOf(device.goneAt));
    else if (device.adbState === "unauthorized") more.append("accept “Allow USB debugging?” on its screen");
    else if (device.adbState !== "device" && device.adbState !== device.state) more.append(device.adbState);
  }

  put(place) {
    const list = at("devices");
    if (list.children[place] !== this.root) list.insertBefore(this.root, list.children[place] ?? null);
  }

  remove() {
    views.unobserve(this.root);
    clearTimeout(this.timer);
    this.root.remove();
    if (large === this) at("large").close();
    if (this.url) URL.revokeObjectURL(this.url);
  }

  see(isInView) {
    this.isInView = isInView;
    if (isInView && this.isDue) this.want(0);
  }

  /* Asks for a picture after some ms, if the device can be seen; the service decides whether
     one is taken. */
  want(after) {
    this.isDue = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), after);
  }

  async refresh() {
    if (!this.isInView || document.hidden || this.isAsking || this.device.state === "offline") return;
    this.isDue = false;
    this.isAsking = true;
    try {
      const headers = this.etag === null ? {} : { "if-none-match": this.etag };
      const path = `/v1/rack/picture?serial=${encodeURIComponent(this.device.serial)}`;
      const answer = await ask(path, { headers });
      if (answer.status === 200) this.showPicture(await answer.blob(), answer.headers.get("etag"));
    } catch { /* shown by the connection's own state */ } finally {
      this.isAsking = false;
      // It was not quiet yet, or the device was not known.
      const isOld = this.pictureAt === null || this.pictureAt < this.changedAt;
      if (isOld && ["ready", "trouble"].includes(this.device.state) && this.tries++ < 3) this.isDue = true;
      if (this.isDue) this.want(PICTURE_AFTER);
      else this.timer = setTimeout(() => { this.isDue = true; this.refresh(); }, PICTURE_EVERY);
    }
  }

  showPicture(blob, etag) {
    const former = this.url;
    this.url = URL.createObjectURL(blob);
    this.etag = etag;
    this.pictureAt = Number.parseFloat(etag.slice(1));
    const picture = this.part("screen").firstElementChild;
    picture.onload = () => { if (former) URL.revokeObjectURL(former); };
    picture.src = this.url;
    picture.alt = `Screen of ${this.device.name}`;
    picture.hidden = false;
    this.part("blank").hidden = true;
    this.part("screen").disabled = false;
    this.part("age").dataset.at = this.pictureAt;
    if (large === this) at("large-picture").src = this.url;
    showAges();
  }

  enlarge() {
    large = this;
    setText(at("large-name"), this.device.name);
    at("large-picture").src = this.url;
    at("large-picture").alt = `Screen of ${this.device.name}`;
    at("large-age").dataset.at = this.pictureAt;
    showAges();
    at("large").showModal();
  }
}

function wordOf(device) {
  return device.state === "trouble" && device.problem?.isOperator ? "Operator trouble" : WORDS[device.state];
}

const actionsOf = (run) =>
  run.actions.join(", ") + (run.moreActions ? ` and ${run.moreActions} more` : "");

function row(run, open) {
  const item = make("li", run.ok ? "run" : "run failed");
  const sign = make("span", "sign", run.ok ? "✓" : "✗");
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", run.ok ? "succeeded" : "failed");
  const took = run.elapsedMs < 1000 ? `${run.elapsedMs} ms` : `${(run.elapsedMs / 1000).toFixed(1)} s`;
  const when = make("span", "when", `${took}, `);
  when.append(ageOf(run.at));
  const what = make("bdi", "what", actionsOf(run));
  what.title = `${actionsOf(run)} (${run.commandId})`;
  item.append(sign, what, when);
  if (!run.ok) {
    const more = make("details");
    more.dataset.run = `${run.commandId} ${run.at}`;
    more.open = open.has(more.dataset.run);
    more.append(make("summary", "code", run.code), make("bdi", "", run.message ?? ""));
    item.append(more);
  }
  return item;
}

/* Times, which pass. */

function ageOf(seconds) {
  const node = make("time");
  node.dataset.at = seconds;
  node.dateTime = new Date(seconds * 1000).toISOString();
  node.textContent = age(seconds);
  return node;
}

function age(at) {
  const seconds = Math.max(0, (Date.now() + clockAhead) / 1000 - at);
  if (seconds < 2) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

function showAges() {
  for (const node of document.querySelectorAll("[data-at]")) setText(node, age(Number(node.dataset.at)));
}

const views = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    for (const card of cards.values()) {
      if (card.root === entry.target) card.see(entry.isIntersecting);
    }
  }
}, { rootMargin: "100px" });

document.addEventListener("visibilitychange", () => {
  for (const card of cards.values()) if (card.isDue) card.want(0);
});
at("large").addEventListener("close", () => { large = null; });
at("search").addEventListener("input", showFilters);
setInterval(showAges, 1000);
live();
