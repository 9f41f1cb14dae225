"use strict";
// The page of `wiretool export -f html`. Text of the wire becomes text nodes only.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
$("data").remove();
const messages = data.messages;
const places = new Map(messages.map((message, at) => [message.i, at]));
const several = new Set(messages.map((message) => `${message.src} ${message.conn}`)).size > 1;
const last = messages.reduce((most, message) => Math.max(most, message.t ?? 0), 0);
const timed = last > 0;

/** Creates an element. Texts among the children become text nodes. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child || typeof child === "string"));
  return element;
}
const link = (text, action) => make("button", { type: "button", class: "link", onclick: action }, text);
const many = (n, one, more = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;
const say = (text) => { $("said").textContent = text; };

/** Returns a duration as wiretool shows it: `850 ns`, `3.4 ms`, `2 min 5 s`. */
function duration(ms) {
  if (ms < 0) return "-" + duration(-ms);
  if (ms === 0) return "0 ms";
  const ns = Math.round(ms * 1e6);
  if (ns < 1000) return `${ns} ns`;
  if (ns >= 6e10) return `${Math.floor(ns / 6e10)} min ${Math.floor(ns / 1e9) % 60} s`;
  const [unit, name] = ns < 999950 ? [1e3, "µs"] : ns < 999950000 ? [1e6, "ms"] : [1e9, "s"];
  return `${Math.round(ns / unit * 10) / 10} ${name}`;
}
const clock = (t) => new Date(data.start + t).toISOString().slice(11, 23);
const arrow = (message) => ({ c2s: "→", s2c: "←" })[message.dir] ?? "·";
const connOf = (message) => message.conn === undefined ? "" : `c${message.conn}`;
const what = ({ subject, of, name }) => [subject ?? of, name === (subject ?? of) ? "" : name].filter(Boolean).join(" ");
const title = (message) => [arrow(message), message.kind || "no message", what(message)].filter(Boolean).join(" ");
const SIGNS = { error: "✗", warning: "!", info: "i" }, MAX_LISTED = 200, MAX_PRINTED = 500;

// What belongs together: answers of requests, findings and operations of messages.
const answers = new Map(), operations = new Map(), found = messages.map(() => []);
messages.forEach((message, at) => {
  const own = answers.get(message.re);
  if (message.re !== undefined) answers.set(message.re, { n: (own?.n ?? 0) + 1, last: at, failed: message.failed || own?.failed });
  if (message.op !== undefined) operations.set(message.op, (operations.get(message.op) ?? 0) + 1);
});
for (const finding of data.findings) found[places.get(finding.i)]?.push(finding);
const waits = new Set(data.waiting.map((one) => one.i));
const isOpen = (message) => waits.has(message.i);
const worst = (at) => ["error", "warning", "info"].find((level) => found[at].some((f) => f.severity === level));

// Conditions: the same language as `--where`, as far as the page has the values.
const TEXT_KEYS = {
  dir: (m) => [m.dir], kind: (m) => [m.kind], role: (m) => [m.role], name: (m) => [m.name],
  subject: (m, isOfAnswers) => isOfAnswers ? [m.subject, m.of] : [m.subject],
  outcome: (m) => [m.outcome ? "error" : undefined], of: (m) => [m.of], framing: (m) => [m.framing],
  protocol: (m) => [m.protocol], src: (m) => [m.src], who: (m) => [m.who], link: (m) => [m.link],
  fault: (m) => [m.faults?.[0]], faults: (m) => m.faults ?? [],
  findings: (m) => found[places.get(m.i)].flatMap((f) => [f.rule, f.rule.split("/").pop()]),
};
TEXT_KEYS.method = TEXT_KEYS.subject;
TEXT_KEYS.finding = TEXT_KEYS.findings;
const NUMBER_KEYS = {
  index: (m) => m.i, conn: (m) => m.conn, stream: (m) => m.stream, reply_to: (m) => m.re, op: (m) => m.op,
  parent: (m) => m.parent, offset: (m) => m.at, len: (m) => m.len, latency: (m) => m.ms, time: (m) => m.t,
};
NUMBER_KEYS.latency_ms = NUMBER_KEYS.latency;
const TIMES = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 36e5 };
const SIZES = { k: 1024, m: 2 ** 20, g: 2 ** 30 };

/** Returns the place of a child among the fields of a message; of repeated keys, the last. */
function childOf(fields, at, label) {
  const end = endOf(fields, at), depth = fields[at][0] + 1;
  return fields.findLastIndex((field, i) => i > at && i < end && field[0] === depth && field[1] === label);
}

/** Returns the field at a path. The outermost value has no label; parts of heads have one. */
function fieldAt(message, steps) {
  const fields = message.f ?? [];
  let at = fields.findIndex((field) => field[0] === 0 && field[1] === "");
  for (const step of steps) if (at >= 0) at = childOf(fields, at, step);
  return fields[at];
}

/** A condition as a test of messages: reads `any := all (or all)*`, `all := not (and? not)*`, `not := not not | (any) | one`. */
class Condition {
  constructor(text) {
    [this.text, this.at] = [text, 0];
    this.test = this.any();
    // Requests have no latency, and answers no subject: it is that of the request.
    this.isOfAnswers = this.test.wantsAnswers;
    if (this.rest() !== "") this.fail("the end of the condition");
  }

  rest() {
    this.at += this.text.slice(this.at).match(/^\s*/)[0].length;
    return this.text.slice(this.at);
  }

  take(pattern) {
    const taken = this.rest().match(pattern)?.[0];
    this.at += taken?.length ?? 0;
    return taken;
  }

  fail(wanted, hint = "", at = this.at) {
    const got = this.text.slice(at).match(/^\s*(\S*)/)[1] || "the end";
    throw new SyntaxError(`column ${at + 1}: wanted ${wanted}, got ${got}${hint && "; " + hint}`);
  }

  any() {
    const parts = [this.all()];
    while (this.take(/^(\|\||or\b)/i)) parts.push(this.all());
    return parts.length === 1 ? parts[0] : (m) => parts.some((part) => part(m));
  }

  all() {
    const parts = [this.not()];
    while (this.take(/^(&&|and\b)/i) || !/^($|\)|\|\||or\b)/i.test(this.rest())) parts.push(this.not());
    return Object.assign((m) => parts.every((part) => part(m)), { wantsAnswers: parts.some((part) => part.wantsAnswers) });
  }

  not() {
    if (this.take(/^(!|not\b)/i)) {
      const inner = this.not();
      return (m) => !inner(m);
    }
    if (!this.take(/^\(/)) return this.one();
    const inner = this.any();
    return this.take(/^\)/) ? inner : this.fail("a closing parenthesis");
  }

  /** Reads a key, an operator and values. */
  one() {
    const start = (this.rest(), this.at);
    const steps = this.take(/^(?=\.|message(?![A-Za-z_]))(message)?/) === undefined ? undefined : this.path();
    const key = steps ? undefined : this.take(/^[A-Za-z_]+/) ?? "";
    if (!steps && !(key in TEXT_KEYS || key in NUMBER_KEYS || key === "id")) {
      const keys = `keys are ${[...Object.keys(TEXT_KEYS), ...Object.keys(NUMBER_KEYS), "id"].join(" ")}`;
      this.fail("a key", key ? `${keys}; fields of the message begin with a dot: .${key}` : keys, start);
    }
    const sign = this.take(/^(=~|!=|!~|<=|>=|==|=|~|<|>)/);
    const isNot = sign?.startsWith("!"), wantsAnswers = !isNot && ["latency", "latency_ms", "reply_to"].includes(key);
    if (key in NUMBER_KEYS && sign?.includes("~")) this.fail("=, !=, <, <=, > or >= after a number");
    if (key in TEXT_KEYS && /[<>]/.test(sign)) this.fail("=, !=, ~ or !~ after text", `${key} has no order`);
    const values = [];
    if (sign) do values.push(sign.includes("~") ? this.pattern() : this.value(key)); while (this.take(/^,/));
    const test = this.compare(key, steps, sign?.replace("!", "").replace("=~", "~").replace("==", "="), values);
    return Object.assign(isNot ? (m) => !test(m) : (m) => test(m), { wantsAnswers });
  }

  path() {
    const steps = [];
    const next = () => this.text.slice(this.at)
      .match(/^(?:\.([\w$@:/-]+)|\.?"((?:[^"\\]|\\.)*)"|\.?\["((?:[^"\\]|\\.)*)"\]|\.?(\[\d+\]))/);
    for (let step = next(); step; step = next()) {
      this.at += step[0].length;
      steps.push(step[1] ?? step[4] ?? (step[2] ?? step[3]).replace(/\\(.)/g, "$1"));
    }
    if (steps.length === 0) this.take(/^\./);
    return steps;
  }

  word() {
    const quoted = this.take(/^("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/);
    if (quoted) return { text: quoted.slice(1, -1).replace(/\\(["'\\])/g, "$1"), quoted: true };
    const text = this.take(/^[^\s=~<>!(),|&"']+/);
    return text === undefined ? this.fail("a value") : { text };
  }

  value(key) {
    const start = this.at, value = this.word();
    if (!(key in NUMBER_KEYS)) return value;
    if (key === "time" && value.text.includes(":")) {
      const day = value.text.includes("T") ? "" : new Date(data.start).toISOString().slice(0, 11);
      const at = Date.parse(`${day}${value.text}${day && "Z"}`);
      return isNaN(at) ? this.fail("a time such as 12:00:00 or 2026-01-31T12:00:00Z", "", start) : { number: at - data.start };
    }
    const [, number, unit] = value.text.match(/^(-?(?:0x[\da-f]+|\d*\.?\d+))([a-zµ]*)$/i) ?? [];
    const isTime = ["latency", "latency_ms", "time"].includes(key), isSize = ["offset", "len"].includes(key);
    const hasUnit = key !== "latency" || Number(number) === 0;
    const factor = unit === "" && hasUnit ? 1 : isTime ? TIMES[unit] : isSize ? SIZES[unit?.replace(/i?b$/i, "").toLowerCase()] : undefined;
    if (factor === undefined) this.fail(isTime ? "a duration such as 10ms or 1s" : "a number", "", start);
    return { number: Number(number) * factor };
  }

  /** Reads a pattern: part of a text, a text with `*`, or a regular expression between slashes. */
  pattern() {
    const regex = this.take(/^\/((?:[^/\\]|\\.)*)\//);
    const text = regex ? undefined : this.word().text;
    if (text !== undefined && !text.includes("*")) return (value) => value.includes(text);
    const escaped = text?.replace(/[.+?^${}()|[\]\\/]/g, "\\$&").replaceAll("*", "[^]*?");
    try {
      const compiled = new RegExp(regex ? regex.slice(1, -1) : `^${escaped}$`, "u");
      return (value) => compiled.test(value);
    } catch {
      return this.fail("a regular expression", "", this.at - regex.length);
    }
  }

  /** Returns the test of a key or a path. Without a sign, it asks whether the value exists. */
  compare(key, steps, sign, values) {
    const order = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b }[sign];
    const isThere = sign === undefined;
    if (key in NUMBER_KEYS) {
      const fits = order ?? ((a, b) => Math.abs(a - b) < 1e-9);
      return (m) => NUMBER_KEYS[key](m) !== undefined && (isThere || values.some((v) => fits(NUMBER_KEYS[key](m), v.number)));
    }
    const text = (list) => list.some((found) => found !== undefined && found !== ""
      && (isThere || values.some((wanted) => sign === "~" ? wanted(found) : found === wanted.text)));
    if (key in TEXT_KEYS) return (m) => text(TEXT_KEYS[key](m, this.isOfAnswers));
    const ordered = (value) => value.trim() !== "" && order(Number(value), Number(values[0].text));
    if (key === "id") {
      return (m) => m.id !== undefined && (order ? ordered(m.id) : text([m.id, m.id.replace(/^"(.*)"$/, "$1")]));
    }
    const isWhole = (number) => /^-?\d+$/.test(number);
    const isEqual = (type, value, wanted) => type === "c" ? value === { "{}": "{0}", "[]": "[0]" }[wanted.text] : type === "n" ? !wanted.quoted && (value === wanted.text
      || (!(isWhole(value) && isWhole(wanted.text)) && Number(value) === Number(wanted.text)))
      : type === "b" ? value.replace(/^0x/, "") === wanted.text.replace(/^0x/, "").toLowerCase() : value === wanted.text;
    return (m) => {
      const [, , , , type, value] = fieldAt(m, steps) ?? [];
      if (type === undefined) return false;
      if (isThere) return value !== "null" && value !== "false";
      if (order) return type === "n" && ordered(value);
      return sign === "~" ? text([value]) : values.some((wanted) => isEqual(type, value, wanted));
    };
  }
}

/** Returns the text of a message that is searched, in lower case. */
function haystack(message) {
  message.hay ??= [what(message), message.kind, message.role, message.id, message.of, message.brief,
    ...(message.f ?? []).map((field) => `${field[1]} ${field[5]}`)].join("\n").toLowerCase();
  return message.hay;
}

/** Returns a test for what was typed: a condition, or text that is searched. */
function reader(typed) {
  const text = typed.trim();
  if (text === "") return undefined;
  const isQuoted = /^["']/.test(text);
  try {
    if (!isQuoted) return new Condition(text).test;
  } catch (error) {
    if (!(error instanceof SyntaxError) || /[=~<>!(|]/.test(text)) throw error;
  }
  const plain = text.replace(/^["']|["']$/g, "").toLowerCase();
  return (message) => haystack(message).includes(plain);
}

// The state of the page, and the list. Only the rows that show exist.
const only = { findings: undefined, open: undefined, conn: undefined, op: undefined };
let shown = messages.map((_, at) => at), passes = messages.map(() => true);
let selected = -1, test, lastTest, timeMode = 0, tabOpen = "", isPrinting = false, themeBefore;
const list = $("list"), rows = $("rows");
const isNarrow = () => list.clientWidth <= 560;
const rowHeight = () => isNarrow() ? 46 : 27;

function timeOf(at) {
  const t = messages[at].t, before = messages[at - 1]?.t;
  if (t === undefined || timeMode === 0) return t === undefined ? "" : clock(t);
  return timeMode === 1 && before !== undefined ? "+" + duration(t - before) : duration(t);
}

function row(at, n, height) {
  const message = messages[at], level = worst(at);
  const cell = (name, ...content) => make("span", { class: name }, ...content);
  const isMain = ["request", "response", "error"].includes(message.role);
  const wait = isOpen(message) ? "no answer" : message.ms === undefined ? "" : duration(message.ms);
  const element = make("div", {
    class: `row ${message.dir ?? ""} ${isMain ? "" : "other"}`, role: "option", id: `row${at}`, "data-at": at,
    "aria-selected": at === selected, "aria-posinset": n + 1, "aria-setsize": shown.length,
  }, cell(`mark ${level ?? ""}`, level && make("span", { "aria-hidden": "true" }, SIGNS[level]),
    level && make("span", { class: "hidden" }, level)),
  cell("number", String(message.i)), cell("at", timeOf(at)), cell("conn", several ? connOf(message) : ""),
  cell("arrow", arrow(message)), cell(`kind ${message.failed ? "failed" : ""}`, message.kind + (message.guess ? "?" : "")),
  cell("what", make("bdi", { class: "subject" }, what(message) || (isNarrow() ? message.kind : "")), " ",
    make("bdi", { class: message.failed ? "failed" : "brief" }, message.brief ?? "")),
  cell("id", message.id ?? ""), cell(`wait ${isOpen(message) ? "warning" : ""}`, wait));
  element.style.transform = `translateY(${n * height}px)`;
  return element;
}

function drawRows() {
  const height = rowHeight(), top = isPrinting ? 0 : Math.max(0, Math.floor(list.scrollTop / height) - 4);
  const end = isPrinting ? MAX_PRINTED : Math.ceil((list.scrollTop + list.clientHeight) / height) + 4;
  list.style.setProperty("--row", `${height}px`);
  rows.style.height = `${shown.length * height}px`;
  rows.replaceChildren(...shown.slice(top, end).map((at, n) => row(at, top + n, height)));
  const rest = shown.length === 0 ? "No messages." : isPrinting && shown.length > end && `and ${shown.length - end} more`;
  if (rest) rows.append(make("p", { class: "none", role: "option" }, rest));
  if ($(`row${selected}`)) list.setAttribute("aria-activedescendant", `row${selected}`);
  else list.removeAttribute("aria-activedescendant");
}

/** Scrolls the list so that the selected message shows. */
function reveal() {
  const n = shown.indexOf(selected), height = rowHeight(), [top, view] = [n * height, list.clientHeight];
  if (n < 0 || (top >= list.scrollTop + height && top <= list.scrollTop + view - 2 * height)) return;
  const isNear = Math.abs(top - list.scrollTop - view / 2) < view, isAbove = top < list.scrollTop + height;
  list.scrollTop = !isNear ? top - view / 3 : isAbove ? top - height : top - view + 2 * height;
}

/** Applies the conditions: what is typed, and the buttons. */
function filter() {
  let problem = "";
  try {
    test = reader($("where").value);
  } catch (error) {
    problem = error.message;
  }
  $("where-error").textContent = problem;
  $("where").setAttribute("aria-invalid", problem !== "");
  if (problem) return;
  lastTest = test ?? lastTest;
  passes = messages.map((message, at) => (!test || test(message)) && (!only.findings || found[at].length > 0)
    && (!only.open || isOpen(message)) && (only.conn === undefined || message.conn === only.conn)
    && (only.op === undefined || message.op === only.op || message.parent === only.op));
  shown = messages.map((_, at) => at).filter((at) => passes[at]);
  for (const name in only) $(`only-${name}`).setAttribute("aria-pressed", only[name] !== undefined);
  const all = many(messages.length, "message");
  $("count").textContent = shown.length === messages.length ? all : `${shown.length.toLocaleString("en")} of ${all}`;
  reveal();
  drawRows();
  drawLanes();
}

function clear() {
  for (const name in only) only[name] = undefined;
  $("where").value = "";
  filter();
}

function toggle(name, value = messages[selected]?.[name]) {
  if (value === undefined) return say("Select a message that has one.");
  only[name] = only[name] === undefined ? value : undefined;
  filter();
}

function select(at) {
  const message = messages[at];
  if (!message) return;
  selected = at;
  if (!passes[at]) clear();
  for (const name of ["conn", "op"]) $(`only-${name}`).disabled = message[name] === undefined;
  history.replaceState(null, "", `#m${message.i}`);
  reveal();
  drawRows();
  drawLanes();
  openTab("message");
  drawMessage();
}

/** Selects the next message after the selected one that fits, or the one before it. */
function step(by, fits) {
  for (let at = selected < 0 && by < 0 ? messages.length - 1 : selected + by; messages[at]; at += by) if (fits(at)) return select(at);
  say("There is no further one.");
}

function move(by) {
  const n = shown.indexOf(selected);
  select(shown[n < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, n + by))]);
}

function openHash() {
  const at = places.get(Number(location.hash.match(/^#m(\d+)$/)?.[1] ?? NaN));
  if (at !== selected) select(at);
}

// The message: its fields as a tree beside its bytes.
let tree, hex, marked = -1;
const bytesOf = (message) => Uint8Array.from(atob(message.b ?? ""), (c) => c.charCodeAt(0));
const hexOf = (byte) => byte.toString(16).padStart(2, "0");
const baseOf = (message) => message.places?.[0]?.[1] ?? message.at;

/** Returns the place after the last field inside of a field. */
function endOf(fields, at) {
  const end = fields.findIndex((field, i) => i > at && field[0] <= fields[at][0]);
  return end < 0 ? fields.length : end;
}

function node(field, at, fields) {
  const [depth, label, , len, type, value, note] = field;
  const element = make("div", {
    class: "node", role: "treeitem", tabindex: at === 0 ? 0 : -1, "data-f": at, "aria-level": depth + 1,
    "aria-selected": "false", "aria-expanded": type === "c" && fields[at + 1]?.[0] > depth ? "true" : undefined,
  }, label && make("bdi", { class: "label" }, label), make("bdi", { class: type }, type === "s" ? `"${value}"` : value),
  field[9] && make("span", { class: "note" }, `(${many(len, "byte")}, shortened)`),
  note && make("span", { class: "note" }, `= ${note}`));
  element.style.setProperty("--depth", Math.min(depth, 24));
  return element;
}

/** Draws bytes in rows. Each run of bytes of one field is an element of its own. */
function drawHex(message, perRow) {
  const bytes = bytesOf(message), fields = message.f ?? [], pieces = message.places ?? [[0, message.at]];
  const owner = new Int32Array(bytes.length).fill(-1), types = new Array(bytes.length).fill("z");
  fields.forEach(([, , start, len, type, , , key, keyLen], at) => {
    for (const [from, size, name] of [[start, len, type], [key ?? 0, keyLen ?? 0, "k"]]) {
      owner.fill(at, from, from + size);
      types.fill(name, from, from + size);
    }
  });
  for (const [start, len] of message.h ?? []) types.fill("x", start, start + len);
  const lines = [];
  for (let start = 0; start < bytes.length; start += perRow) {
    const end = Math.min(start + perRow, bytes.length), piece = pieces.findLast(([from]) => from <= start) ?? [0, 0];
    const line = [make("span", {}), make("span", { class: "as" })];
    for (let at = start, stop; at < end; at = stop) {
      for (stop = at + 1; stop < end && owner[stop] === owner[at] && types[stop] === types[at];) stop++;
      const run = [...bytes.subarray(at, stop)], isHidden = types[at] === "x";
      const chars = run.map((b) => isHidden ? "•" : b > 31 && b < 127 ? String.fromCharCode(b) : "·").join("");
      const texts = [run.map((b) => isHidden ? "••" : hexOf(b)).join(" "), chars];
      texts.forEach((text, i) => line[i].append(make("i", { class: types[at], "data-f": owner[at] }, text), i ? "" : " "));
    }
    line[0].append("   ".repeat(perRow - (end - start)));
    const offset = (piece[1] + start - piece[0]).toString(16).padStart(6, "0");
    lines.push(make("div", {}, make("span", { class: "off" }, offset), ...line));
  }
  return lines;
}

/** Marks a field and its bytes. */
function mark(at) {
  if (at === marked) return;
  marked = at;
  const message = messages[selected], fields = message?.f ?? [], end = fields[at] ? endOf(fields, at) : -1;
  for (const element of document.querySelectorAll(".on")) element.classList.remove("on");
  for (const element of hex.querySelectorAll("i")) {
    element.classList.toggle("on", element.dataset.f >= at && element.dataset.f < end);
  }
  tree.children[at]?.classList.add("on");
  const inside = message?.packed ? "inflated " : "", name = fields[at] && (pathOf(fields, at) || "the message");
  $("field").textContent = name ? `${name}: ${many(fields[at][3], "byte")} at ${inside}${baseOf(message) + fields[at][2]}` : "";
}

function pathOf(fields, at) {
  let path = "", depth = fields[at][0] + 1;
  for (let i = at; i >= 0 && depth > 0; i--) {
    if (fields[i][0] >= depth) continue;
    depth = fields[i][0];
    path = fields[i][1] + (path && fields[i][1] && !path.startsWith("[") ? "." : "") + path;
  }
  return path;
}

function focusNode(at) {
  const element = tree?.children[at];
  if (!element) return;
  for (const other of tree.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
  element.tabIndex = 0;
  element.focus();
}

/** Folds or unfolds a field. What is inside of a folded field stays hidden. */
function fold(at, isOpen) {
  const fields = messages[selected].f;
  tree.children[at].setAttribute("aria-expanded", isOpen);
  for (let i = at + 1, end = endOf(fields, at); i < end; i++) {
    tree.children[i].hidden = !isOpen;
    if (isOpen && tree.children[i].getAttribute("aria-expanded") === "false") i = endOf(fields, i) - 1;
  }
}

function treeKey(event) {
  const at = Number(event.target.dataset.f), fields = messages[selected].f;
  const state = event.target.getAttribute("aria-expanded");
  const next = (by) => {
    let to = at + by;
    while (tree.children[to]?.hidden) to += by;
    focusNode(to);
  };
  const parent = () => fields.findLastIndex((field, i) => i < at && field[0] < fields[at][0]);
  const action = {
    ArrowDown: () => next(1), ArrowUp: () => next(-1), Home: () => focusNode(0), End: () => focusNode(fields.length - 1),
    ArrowRight: () => state === "false" ? fold(at, true) : state && next(1),
    ArrowLeft: () => state === "true" ? fold(at, false) : focusNode(parent()),
  }[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

function drawMessage() {
  const panel = $("panel-message"), message = messages[selected];
  marked = -1;
  panel.scrollTop = 0;
  if (!message) return panel.replaceChildren(make("p", { class: "dim" }, "Select a message."));
  const facts = [message.protocol, message.framing, message.role, connOf(message), message.stream !== undefined
    && `stream ${message.stream}`, message.src, `${many(message.len, "byte")} at ${message.at}`,
  message.t !== undefined && clock(message.t), message.ms !== undefined && `after ${duration(message.ms)}`];
  const buttons = make("div", { class: "steps" }), own = answers.get(message.i), parts = operations.get(message.op);
  const add = (text, action) => buttons.append(make("button", { type: "button", onclick: action }, text));
  if (places.has(message.re)) add(`Request #${message.re}`, () => select(places.get(message.re)));
  if (own) add(own.n > 1 ? `Last of ${own.n} answers` : `Answer #${messages[own.last].i}`, () => select(own.last));
  if (parts > 1) add(`Operation #${message.op}: ${many(parts, "message")}`, () => toggle("op"));
  add("Copy link", () => copy(location.href, "link"));
  add("Copy bytes", copyHex);
  tree = make("div", { class: "tree", role: "tree", "aria-label": "Fields" }, ...(message.f ?? []).map(node));
  hex = make("div", { class: "hex", role: "img", "aria-label": "Bytes; the fields are in the tree" });
  const both = make("div", { class: "both" }, message.f?.length && tree, hex), rest = message.size - bytesOf(message).length;
  panel.replaceChildren(make("div", { class: "head" },
    make("h3", {}, make("span", { class: "dim" }, `#${message.i} `), make("bdi", {}, title(message))),
    message.id && make("bdi", { class: "mono dim" }, `id ${message.id}`),
    message.failed && message.brief && make("bdi", { class: "mono error" }, message.brief)),
  make("p", { class: "facts" }, facts.filter(Boolean).join(" · ")), buttons, ...found[selected].map((finding) => make("p",
    { class: `said ${finding.severity}` }, make("b", {}, `${SIGNS[finding.severity]} ${finding.rule} `), make("bdi", {}, finding.text))),
  make("p", { class: "field", id: "field" }, message.left ? "Its fields and bytes are left out: the page is full." : ""), both,
  make("p", { class: "dim" }, rest > 0 ? `${many(rest, "further byte")} not shown` : ""));
  // Rows of 16 bytes if they fit.
  const width = both.clientWidth;
  hex.append(...drawHex(message, width >= 960 || (width >= 540 && width < 592) ? 16 : 8));
  const placeOf = (element) => Number(element?.closest?.("[data-f]")?.dataset.f ?? -1);
  both.addEventListener("pointerover", (event) => mark(placeOf(event.target)));
  both.addEventListener("pointerleave", () => mark(placeOf(document.activeElement)));
  both.addEventListener("click", (event) => focusNode(placeOf(event.target)));
  tree.addEventListener("focusin", (event) => mark(placeOf(event.target)));
  tree.addEventListener("keydown", treeKey);
}

async function copy(text, name) {
  const done = () => say(`Copied: ${name}.`), refused = () => say("The browser does not allow to copy.");
  await navigator.clipboard.writeText(text).then(done, refused);
}

function copyHex() {
  if (messages[selected]) copy([...bytesOf(messages[selected])].map(hexOf).join(" "), "bytes as hex");
}

// Findings and latency.
function drawFindings() {
  const groups = Map.groupBy(data.findings, (finding) => finding.rule);
  const level = ([, [first]]) => Object.keys(SIGNS).indexOf(first.severity);
  const go = (i) => i !== undefined && (places.has(i) ? link(`#${i}`, () => select(places.get(i))) : make("span", {}, `#${i} `));
  const section = (name, head, ...rest) => make("section", { class: "finding" }, make("h3", { class: name }, ...head), ...rest);
  const parts = [...groups].sort((a, b) => level(a) - level(b)).map(([rule, all]) => section(all[0].severity,
    [`${SIGNS[all[0].severity]} ${rule} `, make("span", { class: "badge" }, String(all.length))],
    make("p", { class: "follows" }, data.rules[rule]?.clause ?? ""),
    make("p", { class: "why" }, (data.rules[rule]?.why ?? []).join("\n")),
    make("ul", {}, ...all.slice(0, MAX_LISTED).map((one) => make("li", {}, go(one.i), make("bdi", {}, one.text),
      ...(one.see === undefined ? [] : [" (see ", go(one.see), ")"])))),
    all.length > MAX_LISTED && make("p", { class: "dim" }, `and ${all.length - MAX_LISTED} more`)));
  if (data.waits > 0) {
    parts.unshift(section("", [`${many(data.waits, "message waits", "messages wait")} for an answer`],
      make("ul", {}, ...data.waiting.map((one) => make("li", {}, go(one.i), make("bdi", {}, one.text))))));
  }
  const none = make("p", { class: "dim" }, "No rule is broken, and no message waits for an answer.");
  $("panel-findings").replaceChildren(...(parts.length ? parts : [none]));
}

const answered = messages.map((_, at) => at).filter((at) => messages[at].ms !== undefined);
const namesOf = (at) => {
  const message = messages[at], request = messages[places.get(message.re)] ?? { subject: message.of };
  return [request.subject ?? "", request.name ?? message.name ?? "", request.subject ? "" : request.kind ?? message.kind];
};
const msOf = (at) => Math.max(messages[at].ms, 0);
const subjects = [...Map.groupBy(answered, (at) => JSON.stringify(namesOf(at)))].map(([key, all]) => {
  const sorted = all.map(msOf).sort((a, b) => a - b);
  const at = (part) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
  return { names: JSON.parse(key), all, least: sorted[0], p50: at(.5), p95: at(.95), most: at(1) };
}).sort((a, b) => b.p95 - a.p95);
const bounds = [Math.min(...subjects.map((one) => one.least || 1e-3), 1e6), Math.max(...subjects.map((one) => one.most), 1e-2)];
const logPlace = (ms) => Math.log(Math.max(ms, bounds[0]) / bounds[0]) / Math.log(bounds[1] / bounds[0] || 1) || 0;
const quoted = (text) => /^[\w./:#-]+$/.test(text) ? text : JSON.stringify(text);

function drawLatency() {
  const cells = [["Subject", ""], ["n", "right"], ["p50", "right"], ["p95", "right more"], ["max", "right"],
    [`${duration(bounds[0])} to ${duration(bounds[1])}, logarithmic`, "strip"]];
  const body = subjects.slice(0, MAX_LISTED).map((one) => {
    const [subject, name, kind] = one.names, label = [subject, name === subject ? "" : name, kind].filter(Boolean).join(" ");
    const wanted = [subject && `(subject=${quoted(subject)} or of=${quoted(subject)})`, name && `name=${quoted(name)}`,
      kind && `kind=${quoted(kind)}`].filter(Boolean).join(" ");
    const use = () => { $("where").value = wanted; filter(); };
    one.strip = make("canvas", { role: "img", "aria-label": `from ${duration(one.least)} to ${duration(one.most)}`,
      onclick: (event) => {
        const away = (at) => Math.abs(logPlace(msOf(at)) - event.offsetX / one.strip.clientWidth);
        select(one.all.reduce((a, b) => away(a) <= away(b) ? a : b));
      } });
    const content = [link(make("bdi", {}, label), use), String(one.all.length), duration(one.p50), duration(one.p95),
      duration(one.most), one.strip];
    return make("tr", {}, ...content.map((part, i) => make("td", { class: cells[i][1] }, part)));
  });
  const head = make("tr", {}, ...cells.map(([text, name]) => make("th", { scope: "col", class: name }, text)));
  $("panel-latency").replaceChildren(subjects.length ? make("table", {}, make("thead", {}, head), make("tbody", {}, ...body))
    : make("p", { class: "dim" }, "No answer has a latency."),
  subjects.length > MAX_LISTED ? `and ${subjects.length - MAX_LISTED} faster subjects` : "");
}

function drawStrips() {
  if ($("panel-latency").hidden) return;
  for (const one of subjects.slice(0, MAX_LISTED)) {
    const [ink, width] = brush(one.strip, 22), x = (ms) => 5 + logPlace(ms) * (width - 10);
    ink.fillStyle = colour("--soft");
    ink.fillRect(0, 8, width, 6);
    ink.globalAlpha = Math.max(.15, Math.min(.8, 12 / one.all.length));
    for (const at of one.all) {
      ink.fillStyle = colour(messages[at].failed ? "--error" : "--bar");
      ink.beginPath();
      ink.arc(x(msOf(at)), 11, 3.5, 0, 7);
      ink.fill();
    }
    ink.globalAlpha = 1;
    ink.fillStyle = colour("--ink");
    ink.fillRect(x(one.p50) - 1, 3, 2, 16);
  }
}

// The picture: time to the right, a lane for each side of each connection.
const MAX_LANES = 64, MAX_ROWS = 6, ROW = 10, AXIS = 20;
const place = (at) => timed ? messages[at].t ?? 0 : at;
const end = timed ? last : Math.max(messages.length - 1, 1), fullRange = [-end * .01, end * 1.01];
let colours = new Map(), range = fullRange, hits = [], dragged, scaleX = [0, 1];

/** Returns a colour of the style as a canvas takes it. */
function colour(name) {
  if (!colours.has(name)) {
    const probe = document.body.appendChild(make("span", {}));
    probe.style.color = `var(${name})`;
    colours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(name);
}

/** Prepares a canvas for its size on the screen. */
function brush(canvas, height) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth, ink = canvas.getContext("2d");
  canvas.style.height = `${height}px`;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  ink.scale(scale, scale);
  ink.font = "11px system-ui, sans-serif";
  ink.textBaseline = "middle";
  return [ink, width];
}

// Lanes, and the row of each bar in its lane, so that bars do not cover each other.
const lanes = new Map();
const keyOf = (message, dir) => JSON.stringify([message.src, message.conn, dir]);
messages.forEach((message, at) => {
  const dirs = message.dir ? ["c2s", "s2c"] : [""];
  for (const dir of lanes.has(keyOf(message, message.dir ?? "")) ? [] : dirs) {
    const sides = data.sides[message.src ?? ""] ?? data.sides[""] ?? ["client", "server"];
    const name = [several && (connOf(message) || message.src), dir ? sides[dirs.indexOf(dir)] : "messages"];
    lanes.set(keyOf(message, dir), { name: name.filter(Boolean).join(" "), items: [], ends: [] });
  }
  const lane = lanes.get(keyOf(message, message.dir ?? "")), own = answers.get(message.i), from = place(at);
  const isBar = own !== undefined || isOpen(message), to = isOpen(message) ? end : own ? place(own.last) : from;
  const free = isBar ? lane.ends.findIndex((taken) => taken <= from) : 0;
  const level = free < 0 ? Math.min(lane.ends.length, MAX_ROWS - 1) : free;
  if (isBar) lane.ends[level] = Math.max(to, lane.ends[level] ?? 0);
  lane.items.push({ at, from, to, level, isBar, failed: message.failed || own?.failed });
});

function drawAxis(ink, x, [left, right], height) {
  const raw = (range[1] - range[0]) / Math.max(2, Math.floor((right - left) / 90)), power = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw && (timed || n >= 1)) ?? 1;
  for (let n = Math.max(0, Math.ceil(range[0] / unit)); n * unit <= range[1]; n++) {
    const text = timed ? duration(n * unit) : `#${messages[Math.round(n * unit)]?.i ?? ""}`;
    ink.fillStyle = colour("--rule");
    ink.fillRect(Math.round(x(n * unit)), AXIS, 1, height - AXIS);
    ink.fillStyle = colour("--dim");
    ink.textAlign = x(n * unit) > right - 24 ? "right" : "center";
    ink.fillText(text, x(n * unit), AXIS / 2 + 1);
  }
  ink.textAlign = "left";
}

function drawLanes() {
  const drawn = [...lanes.values()].slice(0, MAX_LANES), more = lanes.size - drawn.length;
  const heights = drawn.map((lane) => 18 + Math.max(1, lane.ends.length) * ROW);
  const height = heights.reduce((a, b) => a + b, AXIS + (more > 0 ? 20 : 0)), [ink, width] = brush($("lanes-canvas"), height);
  const left = width < 600 ? 74 : Math.min(150, 20 + 7 * Math.max(...drawn.map((lane) => lane.name.length), 6));
  const right = width - 14, scale = (right - left) / (range[1] - range[0]), x = (value) => left + (value - range[0]) * scale;
  [hits, scaleX] = [[], [left, scale]];
  drawAxis(ink, x, [left, right], height);
  let top = AXIS;
  drawn.forEach((lane, n) => {
    ink.fillStyle = colour("--rule");
    ink.fillRect(0, top, width, 1);
    drawLane(ink, lane, top, x, [left, right]);
    ink.fillStyle = colour("--panel");
    ink.fillRect(0, top + 1, left - 6, heights[n] - 1);
    ink.fillStyle = colour("--dim");
    ink.fillText(shorten(ink, lane.name, left - 20), 12, top + heights[n] / 2 + 2);
    top += heights[n];
  });
  if (more > 0) ink.fillText(`${many(more, "more lane")} not drawn; zooming does not show them`, 12, top + 10);
  if (dragged?.to === undefined) return;
  ink.globalAlpha = .15;
  ink.fillStyle = colour("--link");
  ink.fillRect(Math.min(dragged.from, dragged.to), 0, Math.abs(dragged.to - dragged.from), height);
}

function shorten(ink, text, width) {
  let cut = text;
  while (cut.length > 1 && ink.measureText(cut).width > width) cut = cut.replace(/.…?$/u, "…");
  return cut;
}

const SHAPES = { error: [-5, -4, 5, -4, 0, 5], warning: [0, -5, 5, 0, 0, 5, -5, 0], info: [-3, -3, 3, -3, 3, 3, -3, 3] };

function drawLane(ink, lane, top, x, [left, right]) {
  for (const item of lane.items) {
    const [from, to, y] = [x(item.from), x(item.to), top + 13 + item.level * ROW];
    if (to < left - 3 || from > right + 3) continue;
    const [at, size] = item.isBar ? [from, Math.max(to - from, 4)] : [from - 1, 2.5];
    const isWaiting = isOpen(messages[item.at]), level = worst(item.at);
    ink.globalAlpha = passes[item.at] ? 1 : .15;
    ink.fillStyle = colour(item.failed ? "--error" : isWaiting ? "--warning" : item.isBar ? "--bar" : "--tick");
    ink.beginPath();
    if (isWaiting) for (let part = at; part < Math.min(at + size, right); part += 6) ink.rect(part, y, 4, ROW - 3);
    else ink.roundRect(at, y, size, ROW - 3, item.isBar ? 2 : 0);
    ink.fill();
    hits.push([at, at + size, y - 1, y + ROW - 1, item.at]);
    if (level) {
      ink.fillStyle = colour(`--${level}`);
      ink.beginPath();
      SHAPES[level].forEach((dx, n, all) => n % 2 || ink.lineTo(from + dx, top + 7 + all[n + 1]));
      ink.fill();
      hits.push([from - 5, from + 5, top, top + 12, item.at]);
    }
    ink.globalAlpha = 1;
    ink.strokeStyle = colour("--ink");
    ink.lineWidth = 1.5;
    if (item.at === selected) ink.strokeRect(at - 2.5, y - 2, size + 5, ROW + 1);
  }
}

/** Returns the message that is drawn nearest to a point, at most 7 pixels away. */
function hitAt(px, py) {
  let best = -1, near = 7;
  for (const [from, to, top, bottom, at] of hits) {
    const away = Math.max(from - px, px - to, 0) + Math.max(top - py, py - bottom, 0);
    if (away < near || (away === near && to - from < 12)) [best, near] = [at, away];
  }
  return best;
}

function setRange(from, to) {
  const size = Math.min(Math.max(to - from, end / 1e6), fullRange[1] - fullRange[0]);
  const start = Math.min(Math.max(from, fullRange[0]), fullRange[1] - size);
  range = [start, start + size];
  drawLanes();
}

function zoom(factor, shift = 0) {
  const [from, to] = range, half = (to - from) * factor / 2, own = selected < 0 ? NaN : place(selected);
  const middle = (factor < 1 && own > from && own < to ? own : (from + to) / 2) + (to - from) * shift;
  setRange(middle - half, middle + half);
}

function startPicture() {
  const canvas = $("lanes-canvas"), whole = () => setRange(...fullRange);
  canvas.setAttribute("aria-label", `${many(lanes.size, "lane")} over ${timed ? duration(last) : "the order of messages"}, `
    + "a bar for each request; the list has the same messages");
  canvas.addEventListener("pointerdown", (event) => { if (event.button === 0) dragged = { from: event.offsetX }; });
  canvas.addEventListener("pointermove", (event) => {
    const at = hitAt(event.offsetX, event.offsetY), message = messages[at];
    canvas.style.cursor = at >= 0 ? "pointer" : "";
    $("pointed").textContent = message ? [`#${message.i} ${title(message)}`, message.t !== undefined && clock(message.t),
      ...found[at].map((f) => `${SIGNS[f.severity]} ${f.rule}`)].filter(Boolean).join("  ") : "";
    if (dragged && event.pointerType === "mouse") { dragged.to = event.offsetX; drawLanes(); }
  });
  addEventListener("pointerup", (event) => {
    if (!dragged) return;
    const { from, to } = dragged, value = (px) => range[0] + (px - scaleX[0]) / scaleX[1];
    dragged = undefined;
    if (Math.abs(to - from) > 6) return setRange(value(Math.min(from, to)), value(Math.max(from, to)));
    const at = event.target === canvas ? hitAt(event.offsetX, event.offsetY) : -1;
    if (at >= 0) select(at); else drawLanes();
  });
  canvas.addEventListener("dblclick", whole);
  onClick({ earlier: () => zoom(1, -.4), later: () => zoom(1, .4), closer: () => zoom(.4), wider: () => zoom(2.5), whole });
}

// Tabs, keys, theme, print.
const TABS = ["message", "findings", "latency"];
const onClick = (actions) => { for (const id in actions) $(id).addEventListener("click", actions[id]); };

function openTab(name) {
  for (const tab of TABS) {
    $(`tab-${tab}`).setAttribute("aria-selected", tab === name);
    $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    $(`panel-${tab}`).hidden = tab !== name;
  }
  tabOpen = name;
  drawStrips();
}

/** On a small screen, the details are below the list. */
function show(id) {
  if (getComputedStyle(document.body).display !== "flex") $(id).scrollIntoView({ block: "start" });
}

const page = () => Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
const relatedOf = ({ re, i }) => places.get(re) ?? answers.get(i)?.last;
const KEYS = [
  ["?", "These keys", () => $("keys").showModal()],
  ["Escape", "Back to the list, and in the end all messages", () => document.activeElement === list ? clear() : list.focus()],
  ["j", "Next message; also ↓", () => move(1)], ["k", "Message before; also ↑", () => move(-1)],
  ["PageDown", "A page down", () => move(page())], ["PageUp", "A page up", () => move(-page())],
  ["g", "First message", () => move(-Infinity)], ["G", "Last message", () => move(Infinity)],
  ["Enter", "To the tree; arrows move in it and fold", () => { openTab("message"); show("side"); focusNode(0); }],
  ["/", "A condition or text", () => $("where").focus()],
  ["n", "Next match of the last condition", () => step(1, (at) => lastTest?.(messages[at]))],
  ["N", "Match before", () => step(-1, (at) => lastTest?.(messages[at]))],
  ["f", "Next finding", () => step(1, (at) => found[at].length > 0)],
  ["F", "Finding before", () => step(-1, (at) => found[at].length > 0)],
  ["r", "The request of an answer, or the last answer", () => select(relatedOf(messages[selected] ?? {}))],
  ["o", "Requests without an answer only", () => toggle("open", true)],
  ["c", "Only this connection", () => toggle("conn")], ["i", "Only this operation", () => toggle("op")],
  ["s", "Latency by subject", () => openTab("latency")],
  ["t", "Time of day, since the line before, since the start", () => { timeMode = (timeMode + 1) % 3; drawRows(); }],
  ["W", "Wrap or cut long values", () => tree?.classList.toggle("cut")], ["y", "Copy the bytes as hex", copyHex],
];
const SAME = { ArrowDown: "j", ArrowUp: "k", Home: "g", End: "G" };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const { key, target } = event, isTyping = target === $("where"), isPlain = target === list || target === document.body;
  if (isTyping ? !/^(Escape|Enter|ArrowDown)$/.test(key) : !isPlain && (key in SAME || /^(Enter|Page)/.test(key))) return;
  if (key.length === 1 && !$("keys-on").checked) return;
  const action = KEYS.find(([name]) => name === (SAME[key] ?? key))?.[2];
  if (!action) return;
  event.preventDefault();
  if (isTyping && key !== "Escape") { list.focus(); move(0); } else action();
});

function redraw() {
  colours = new Map();
  $("theme").textContent = isDark() ? "Light" : "Dark";
  drawRows();
  drawLanes();
  drawStrips();
}

const root = document.documentElement, darkQuery = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ?? (darkQuery.matches ? "dark" : "light")) === "dark";
function setTheme(name) {
  if (name) root.dataset.theme = name; else delete root.dataset.theme;
  redraw();
}

addEventListener("beforeprint", () => {
  [isPrinting, themeBefore] = [true, root.dataset.theme];
  for (const tab of TABS) $(`panel-${tab}`).hidden = false;
  setTheme("light");
});
addEventListener("afterprint", () => { isPrinting = false; openTab(tabOpen); setTheme(themeBefore); });

function start() {
  const count = (level) => data.findings.filter((finding) => finding.severity === level).length;
  const fact = (text, name = "") => text && make("span", { class: name }, text);
  document.title = `${data.title} · wiretool`;
  $("title").textContent = data.title;
  $("summary").append(...[fact(data.protocol), fact(many(messages.length + data.more, "message")), timed && fact(duration(last)),
    count("error") && fact(many(count("error"), "error"), "error"),
    count("warning") && fact(many(count("warning"), "warning"), "warning"),
    data.waits && fact(`${data.waits} without an answer`, "warning"),
    fact(data.masked ? "secrets are masked" : "secrets are shown")].filter(Boolean));
  $("notes").append(...data.notes.map((note) => make("li", {}, note)));
  [$("notes").hidden, $("picture").hidden] = [data.notes.length === 0, messages.length === 0];
  $("tab-findings").append(make("span", { class: "badge" }, String(data.findings.length)));
  $("key-list").append(...KEYS.flatMap(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)]));
  if (several) list.style.setProperty("--conn", "4.5ch");
  if (!timed) list.style.setProperty("--time", "0");
  drawFindings();
  drawLatency();
  drawMessage();
  startPicture();
  filter();
  openTab(data.findings.length || data.waits ? "findings" : "message");
  redraw();
  openHash();
  let typing;
  $("where").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(filter, messages.length > 2000 ? 120 : 0);
  });
  list.addEventListener("scroll", drawRows, { passive: true });
  list.addEventListener("click", (event) => {
    const row = event.target.closest("[data-at]");
    if (row) { select(Number(row.dataset.at)); show("side"); }
  });
  TABS.forEach((tab, n) => $(`tab-${tab}`).addEventListener("keydown", (event) => {
    const next = TABS[(n + ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0) + TABS.length) % TABS.length];
    if (next !== tab) { openTab(next); $(`tab-${next}`).focus(); }
  }));
  onClick({
    "only-findings": () => toggle("findings", true), "only-open": () => toggle("open", true), "only-conn": () => toggle("conn"),
    "only-op": () => toggle("op"), "tab-message": () => openTab("message"), "tab-findings": () => openTab("findings"),
    "tab-latency": () => openTab("latency"), back: () => { show("messages"); list.focus(); }, help: () => $("keys").showModal(),
    close: () => $("keys").close(), theme: () => setTheme(isDark() ? "light" : "dark"),
  });
  darkQuery.addEventListener("change", redraw);
  addEventListener("hashchange", openHash);
  let width = innerWidth;
  addEventListener("resize", () => {
    redraw();
    if (width !== innerWidth && !root.matches(":has(:focus[data-f])")) drawMessage();
    width = innerWidth;
  });
  root.dataset.ready = Math.round(performance.now());
}
start();
