"use strict";
// What comes from devices and clients is text, and never anything else.
const byId = (id) => document.getElementById(id);
const cards = new Map();
const SHOWN_RUNS = 5, FEW = 2, MANY = 12, AT_ONCE = 3;
const EVERY = 2000;  // holders and connections change without an event
const PICTURE_AGE = 1500;
let token = sessionStorage.getItem("token") || "";
if (location.hash.startsWith("#token=")) {
  token = decodeURIComponent(location.hash.slice(7));
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname);
}

async function ask(path, options = {}) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  return fetch(path, { headers, cache: "no-store", ...options });
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === "";
}

function stateOf(device) {
  if (device.state !== "device") return ["away", device.state || "in no known state"];
  if (device.problem) return ["bad", "in trouble"];
  if (device.running) return ["busy", "runs an execution"];
  if (device.lease || device.holder) return ["busy", "in use"];
  return ["free", "free"];
}

function ago(seconds) {
  const passed = Math.max(0, Date.now() / 1000 - seconds);
  if (passed < 60) return `${Math.round(passed)} s ago`;
  return passed < 3600 ? `${Math.round(passed / 60)} min ago` : `${Math.round(passed / 3600)} h ago`;
}

function holderOf(device) {
  if (device.lease) return `held by ${device.lease.owner}`;
  return device.holder ? `held by ${device.holder}` : "";
}

function aboutOf(device) {
  const info = device.info || {};
  const name = [info.manufacturer, info.model].filter(Boolean).join(" ");
  const android = info.release ? `Android ${info.release}, API ${info.api_level}` : "";
  const operator = info.operator_version ? `Operator ${info.operator_version}` : "";
  return [name, android, operator].filter(Boolean).join(" · ");
}

function lineOf(run) {
  const line = document.createElement("li");
  const failed = run.status !== "success";
  line.className = failed ? "failed" : "";
  const what = run.actions.join(", ");
  line.textContent = `${failed ? "✗" : "✓"} ${what} ${run.code ? `${run.code} ` : ""}· ` +
    `${run.elapsedMs} ms, ${ago(run.at)}`;
  return line;
}

function cardOf(serial) {
  if (!cards.has(serial)) {
    const card = byId("card").content.firstElementChild.cloneNode(true);
    card.dataset.serial = serial;
    cards.set(serial, { card, taken: 0, url: null, device: null });
    byId("devices").append(card);
  }
  return cards.get(serial);
}

function show(device) {
  const entry = cardOf(device.serial), card = entry.card;
  const part = (name) => card.querySelector(name);
  entry.device = device;
  const [kind, word] = stateOf(device);
  put(part("h2"), device.serial);
  put(part(".model"), aboutOf(device));
  put(part(".state"), word);
  part(".state").className = `state ${kind}`;
  put(part(".holder"), holderOf(device));
  put(part(".running"), device.running ? `command ${device.running}` : "");
  const problem = device.problem;
  put(part(".problem"), problem ? `${problem.code}: ${problem.message} ${problem.hint || ""}` : "");
  part(".past").replaceChildren(...(device.executions || []).slice(0, SHOWN_RUNS).map(lineOf));
  if (device.state !== "device") lack(entry, `no picture: it is ${device.state}`);
}

function lack(entry, why) {
  const image = entry.card.querySelector("img");
  put(entry.card.querySelector(".lack"), why);
  image.hidden = true;
}

async function photograph(entry) {
  const serial = encodeURIComponent(entry.device.serial);
  entry.taken = Date.now();
  let answer;
  try {
    answer = await ask(`/v1/devices/${serial}/screen.jpg?width=${cards.size > FEW ? 240 : 576}`);
  } catch {
    return;  // the next look at the devices tells
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    lack(entry, `no picture: ${told.error ? told.error.message : answer.status}`);
    return;
  }
  const url = URL.createObjectURL(await answer.blob());
  const image = entry.card.querySelector("img");
  image.src = url;
  image.alt = `Screen of ${entry.device.serial}`;
  image.hidden = false;
  put(entry.card.querySelector(".lack"), "");
  if (entry.url) URL.revokeObjectURL(entry.url);
  entry.url = url;
}

function isSeen(card) {
  const box = card.getBoundingClientRect();
  return !card.hidden && box.bottom > 0 && box.top < innerHeight;
}

async function photographer() {
  for (;;) {
    const due = [...cards.values()]
      .filter((one) => one.device && one.device.state === "device" && isSeen(one.card))
      .filter((one) => Date.now() - one.taken > PICTURE_AGE)
      .sort((one, other) => one.taken - other.taken)[0];
    if (due && !document.hidden) await photograph(due);
    else await new Promise((done) => setTimeout(done, 200));
  }
}

function filter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  for (const { card } of cards.values()) {
    card.hidden = wanted !== "" && !card.textContent.toLowerCase().includes(wanted);
  }
}

function summarise(devices) {
  const count = { free: 0, busy: 0, bad: 0, away: 0 };
  for (const device of devices) count[stateOf(device)[0]] += 1;
  const words = [`${devices.length} device${devices.length === 1 ? "" : "s"}`,
    `${count.free} free`, `${count.busy} in use`];
  if (count.bad) words.push(`${count.bad} in trouble`);
  if (count.away) words.push(`${count.away} not usable`);
  put(byId("summary"), words.join(" · "));
}

async function look() {
  let answer;
  try {
    answer = await ask("/v1/devices");
  } catch {
    put(byId("summary"), "the service does not answer; it is asked again");
    return;
  }
  byId("ask").hidden = answer.status !== 401;
  const told = await answer.json().catch(() => ({}));
  if (!told.ok) {
    put(byId("summary"), told.error ? `${told.error.code}: ${told.error.message}` : "no answer");
    return;
  }
  const seen = new Set(told.devices.map((device) => device.serial));
  for (const [serial, { card, url }] of cards) {
    if (!seen.has(serial)) { card.remove(); cards.delete(serial); if (url) URL.revokeObjectURL(url); }
  }
  byId("devices").classList.toggle("few", seen.size <= FEW);
  byId("devices").classList.toggle("many", seen.size > MANY);
  told.devices.forEach(show);
  byId("none").hidden = told.devices.length > 0;
  summarise(told.devices);
  filter();
}

async function watch() {
  for (;;) {
    if (!document.hidden) await look();
    await new Promise((done) => setTimeout(done, EVERY));
  }
}

byId("filter").addEventListener("input", filter);
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  sessionStorage.setItem("token", token);
  look();
});
watch();
for (let number = 0; number < AT_ONCE; number += 1) photographer();
