"use strict";
// The page of `wiretool export -f html`. Text of the wire becomes text nodes only.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
$("data").remove();
const messages = data.messages;
const places = new Map(messages.map((message, at) => [message.i, at]));
const several = new Set(messages.map((message) => message.conn)).size > 1;
const last = messages.reduce((most, message) => Math.max(most, message.t ?? 0), data.end ?? 0);
const timed = last > 0;

/** Creates an element. Texts among the children become text nodes. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
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
const clock = (t) => data.start === undefined ? duration(t)
  : new Date(data.start + t).toISOString().slice(11, 23);
const arrow = (message) => ({ c2s: "→", s2c: "←" })[message.dir] ?? "·";
const what = (message) => [message.subject ?? message.of, message.name].filter(Boolean).join(" ");
const title = (message) => [arrow(message), message.kind || "no message", what(message)].filter(Boolean).join(" ");
const SIGNS = { error: "✗", warning: "!", info: "i" };
const side = (dir) => ({ c2s: data.sides[0], s2c: data.sides[1] })[dir] ?? "unknown side";

// What belongs together: answers of requests, findings and operations of messages.
const answers = new Map(), operations = new Map(), found = messages.map(() => []);
messages.forEach((message, at) => {
  if (message.re !== undefined) answers.set(message.re, [...answers.get(message.re) ?? [], at].slice(-1000));
  if (message.op !== undefined) operations.set(message.op, (operations.get(message.op) ?? 0) + 1);
});
for (const finding of data.findings) found[places.get(finding.i)]?.push(finding);
const waits = new Set(data.waiting.map((one) => one.i));
const isOpen = (message) => waits.has(message.i);
const worst = (at) => ["error", "warning", "info"].find((level) => found[at].some((f) => f.severity === level));

// Conditions: the same language as `--where`, as far as the page has the values.

const TEXT_KEYS = {
  dir: (m) => [m.dir], kind: (m) => [m.kind], role: (m) => [m.role], subject: (m) => [m.subject], name: (m) => [m.name],
  outcome: (m) => [m.outcome ? "error" : undefined], of: (m) => [m.of], framing: (m) => [m.framing],
  protocol: (m) => [m.protocol], fault: (m) => [m.faults?.[0]], faults: (m) => m.faults ?? [],
  findings: (m) => found[places.get(m.i)].flatMap((f) => [f.rule, f.rule.split("/").pop()]),
};
TEXT_KEYS.method = TEXT_KEYS.subject;
TEXT_KEYS.finding = TEXT_KEYS.findings;
const NUMBER_KEYS = {
  index: (m) => m.i, conn: (m) => m.conn, stream: (m) => m.stream, reply_to: (m) => m.re, op: (m) => m.op,
  parent: (m) => m.parent, offset: (m) => m.at, len: (m) => m.len, latency: (m) => m.ms, time: (m) => m.t,
};
NUMBER_KEYS.latency_ms = NUMBER_KEYS.latency;
const UNITS = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 36e5, k: 1024, M: 2 ** 20, G: 2 ** 30 };

/** Returns the place of a child among the fields of a message; of repeated keys, the last. */
function childOf(fields, at, label) {
  const depth = fields[at][0];
  let child = -1;
  for (let i = at + 1; i < fields.length && fields[i][0] > depth; i++) {
    if (fields[i][0] === depth + 1 && fields[i][1] === label) child = i;
  }
  return child;
}

/** Returns the field at a path. Parts of heads have the type `p` and are no values. */
function fieldAt(message, steps) {
  const fields = message.f ?? [];
  let at = fields.findIndex((field) => field[0] === 0 && field[4] !== "p");
  for (const step of steps) if (at >= 0) at = childOf(fields, at, step);
  return fields[at];
}

class Condition {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.test = this.any();
    if (this.rest() !== "") this.fail("the end of the condition");
  }

  rest() {
    this.at += this.text.slice(this.at).match(/^\s*/)[0].length;
    return this.text.slice(this.at);
  }

  take(pattern) {
    const taken = this.rest().match(pattern)?.[0];
    if (taken !== undefined) this.at += taken.length;
    return taken;
  }

  fail(wanted, hint = "") {
    const got = this.rest().match(/^(\s*\S+)?/)[0] || "the end";
    throw new SyntaxError(`column ${this.at + 1}: wanted ${wanted}, got ${got}${hint && "; " + hint}`);
  }

  any() {
    const parts = [this.all()];
    while (this.take(/^(\|\||or\b)/i)) parts.push(this.all());
    return (m) => parts.some((part) => part(m));
  }

  all() {
    const parts = [this.not()];
    for (;;) {
      const more = this.take(/^(&&|and\b)/i);
      if (!more && /^($|\)|\|\||or\b)/i.test(this.rest())) return (m) => parts.every((part) => part(m));
      parts.push(this.not());
    }
  }

  not() {
    if (this.take(/^(!|not\b)/i)) {
      const inner = this.not();
      return (m) => !inner(m);
    }
    if (!this.take(/^\(/)) return this.one();
    const inner = this.any();
    if (!this.take(/^\)/)) this.fail("a closing parenthesis");
    return inner;
  }

  /** Reads a key, an operator and values. */
  one() {
    const start = this.rest();
    let key, steps;
    if (/^(\.|message[.[])/.test(start)) {
      this.take(/^message/);
      steps = this.path();
    } else {
      key = this.take(/^[A-Za-z_]+/);
      const isKnown = key in TEXT_KEYS || key in NUMBER_KEYS || key === "id";
      if (!isKnown) {
        this.at = this.text.length - start.length;
        this.fail("a key", `keys are ${[...Object.keys(TEXT_KEYS), ...Object.keys(NUMBER_KEYS), "id"].join(" ")}`
          + (key ? `; fields of the message begin with a dot: .${key}` : ""));
      }
    }
    const sign = this.take(/^(=~|!=|!~|<=|>=|==|=|~|<|>)/);
    const isNumber = key in NUMBER_KEYS;
    if (!sign) return this.compare(key, steps, "there", []);
    if (isNumber && sign.includes("~")) this.fail("=, !=, <, <=, > or >= after a number");
    if (key in TEXT_KEYS && /[<>]/.test(sign)) this.fail("=, !=, ~ or !~ after text", `${key} has no order`);
    const values = [];
    do values.push(sign.includes("~") ? this.pattern() : this.value(key)); while (this.take(/^,/));
    const plain = sign.replace("!", "").replace("=~", "~").replace("==", "=");
    const test = this.compare(key, steps, plain, values);
    return sign.startsWith("!") ? (m) => !test(m) : test;
  }

  path() {
    const steps = [];
    for (;;) {
      const rest = this.text.slice(this.at);
      const step = rest.match(/^(?:\.([\w$@:/-]+)|\.?"((?:[^"\\]|\\.)*)"|\.?\["((?:[^"\\]|\\.)*)"\]|(\[\d+\]))/);
      if (!step) break;
      this.at += step[0].length;
      steps.push(step[1] ?? step[4] ?? (step[2] ?? step[3]).replace(/\\(.)/g, "$1"));
    }
    if (steps.length === 0) this.take(/^\./);
    return steps;
  }

  word() {
    const rest = this.rest();
    const quoted = rest.match(/^"((?:[^"\\]|\\.)*)"|^'((?:[^'\\]|\\.)*)'/);
    if (quoted) {
      this.at += quoted[0].length;
      return { text: (quoted[1] ?? quoted[2]).replace(/\\(["'\\])/g, "$1"), quoted: true };
    }
    const text = this.take(/^[^\s=~<>!(),|&"']+/);
    return text === undefined ? this.fail("a value") : { text };
  }

  value(key) {
    const start = this.at;
    const value = this.word();
    if (!(key in NUMBER_KEYS)) return value;
    const [, number, unit] = value.text.match(/^(-?(?:0x[\da-f]+|\d*\.?\d+))([a-zµ]*)$/i) ?? [];
    const isTime = ["latency", "latency_ms", "time"].includes(key);
    const sized = unit?.replace(/i?b$/i, "").replace(/^[kmg]$/i, (c) => c.toLowerCase() === "k" ? "k" : c.toUpperCase());
    const factor = !unit ? 1 : UNITS[isTime ? unit : ["offset", "len"].includes(key) ? sized : ""];
    if (number === undefined || factor === undefined) {
      this.at = start;
      this.fail(isTime ? "a duration such as 10ms" : "a number");
    }
    return { number: Number(number) * factor };
  }

  pattern() {
    const regex = this.rest().match(/^\/((?:[^/\\]|\\.)*)\//);
    if (regex) {
      try {
        const compiled = new RegExp(regex[1], "u");
        this.at += regex[0].length;
        return (text) => compiled.test(text);
      } catch {
        this.fail("a regular expression");
      }
    }
    const { text } = this.word();
    if (!text.includes("*")) return (value) => value.includes(text);
    const parts = text.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, "\\$&"));
    const glob = new RegExp(`^${parts.join("[^]*?")}$`, "u");
    return (value) => glob.test(value);
  }

  compare(key, steps, sign, values) {
    const order = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
    if (key in NUMBER_KEYS) {
      const fits = order[sign] ?? ((a, b) => Math.abs(a - b) < 1e-9);
      return (m) => {
        const value = NUMBER_KEYS[key](m);
        return value !== undefined && (sign === "there" || values.some((v) => fits(value, v.number)));
      };
    }
    const same = (text, wanted) => sign === "there" || (sign === "~" ? wanted(text) : text === wanted.text);
    const text = (list) => list.some((value) => value !== undefined && value !== ""
      && (sign === "there" || values.some((wanted) => same(value, wanted))));
    if (key in TEXT_KEYS) return (m) => text(TEXT_KEYS[key](m));
    const numbers = (value, wanted) => value.trim() !== "" && order[sign](Number(value), Number(wanted.text));
    if (key === "id") {
      return (m) => m.id !== undefined && (order[sign]
        ? numbers(m.id, values[0]) : text([m.id, m.id.replace(/^"(.*)"$/, "$1")]));
    }
    return (m) => {
      const field = fieldAt(m, steps);
      if (!field) return false;
      const [type, value] = [field[4], field[5]];
      if (sign === "there") return value !== "null" && value !== "false";
      if (order[sign]) return type === "n" && numbers(value, values[0]);
      if (sign === "~") return values.some((wanted) => wanted(value));
      return values.some((wanted) => type === "n"
        ? !wanted.quoted && (value === wanted.text || (wanted.text !== "" && Number(value) === Number(wanted.text)))
        : type === "b" ? value.replace(/^0x/, "") === wanted.text.replace(/^0x/, "").toLowerCase() : value === wanted.text);
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
    if (!(error instanceof SyntaxError)) throw error;
    if (/[=~<>!(|]/.test(text)) throw error;
  }
  const plain = text.replace(/^["']|["']$/g, "").toLowerCase();
  return (message) => haystack(message).includes(plain);
}

// The state of the page, and the list. Only the rows that show exist.

const only = { findings: false, open: false, conn: undefined, op: undefined };
let shown = messages.map((_, at) => at), passes = messages.map(() => true);
let selected = -1, test, lastTest, timeMode = 0, focused = "";
const list = $("list"), rows = $("rows");

const rowHeight = () => list.clientWidth <= 560 ? 46 : 27;

function timeOf(at) {
  const t = messages[at].t;
  if (t === undefined) return "";
  if (timeMode === 0) return clock(t);
  const before = messages[at - 1]?.t;
  return timeMode === 1 && before !== undefined ? "+" + duration(t - before) : duration(t);
}

function row(at, n, height) {
  const message = messages[at], level = worst(at);
  const cell = (name, ...content) => make("span", { class: name }, ...content);
  const isMinor = !["request", "response", "error"].includes(message.role);
  const wait = isOpen(message) ? "no answer" : message.ms === undefined ? "" : duration(message.ms);
  const element = make("div", {
    class: `row ${message.dir ?? ""} ${isMinor ? "other" : ""}`, role: "option", id: `row${at}`,
    "aria-selected": at === selected, "aria-posinset": n + 1, "aria-setsize": shown.length,
  },
  cell(`mark ${level ?? ""}`, level ? make("span", { "aria-hidden": "true" }, SIGNS[level]) : "",
    level ? make("span", { class: "hidden" }, level) : ""),
  cell("number", String(message.i)), cell("at", timeOf(at)),
  cell("conn", several && message.conn !== undefined ? `c${message.conn}` : ""),
  cell("arrow", arrow(message)), cell(`kind ${message.failed ? "failed" : ""}`, message.kind + (message.guess ? "?" : "")),
  cell("what", make("bdi", { class: "subject" }, what(message)), " ",
    make("bdi", { class: message.failed ? "failed" : "brief" }, message.brief ?? "")),
  cell("id", message.id ?? ""), cell(`wait ${isOpen(message) ? "warning" : ""}`, wait));
  element.style.transform = `translateY(${n * height}px)`;
  element.dataset.at = at;
  return element;
}

function drawRows() {
  const height = rowHeight();
  list.style.setProperty("--row", `${height}px`);
  rows.style.height = `${shown.length * height}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 4);
  const end = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 4);
  rows.replaceChildren(...shown.slice(first, end).map((at, n) => row(at, first + n, height)));
  if (shown.length === 0) rows.append(make("p", { class: "none" }, messages.length ? "No message matches." : "No messages."));
  const isThere = selected >= 0 && $(`row${selected}`);
  if (isThere) list.setAttribute("aria-activedescendant", `row${selected}`);
  else list.removeAttribute("aria-activedescendant");
}

function reveal() {
  const n = shown.indexOf(selected), height = rowHeight();
  if (n < 0) return;
  const [top, view] = [n * height, list.clientHeight];
  if (top < list.scrollTop + height || top > list.scrollTop + view - 2 * height) {
    const isNear = Math.abs(top - list.scrollTop - view / 2) < view;
    list.scrollTop = !isNear ? top - view / 3 : top < list.scrollTop + height ? top - height : top - view + 2 * height;
  }
}

/** Applies the conditions: what is typed, and the buttons. */
function filter() {
  const input = $("where");
  try {
    test = reader(input.value);
    $("where-error").textContent = "";
    input.removeAttribute("aria-invalid");
  } catch (error) {
    $("where-error").textContent = error.message;
    input.setAttribute("aria-invalid", "true");
    return;
  }
  lastTest = test ?? lastTest;
  passes = messages.map((message, at) => (!test || test(message)) && (!only.findings || found[at].length > 0)
    && (!only.open || isOpen(message)) && (only.conn === undefined || message.conn === only.conn)
    && (only.op === undefined || message.op === only.op || message.parent === only.op));
  shown = messages.map((_, at) => at).filter((at) => passes[at]);
  for (const name of ["findings", "open", "conn", "op"]) {
    $(`only-${name}`).setAttribute("aria-pressed", only[name] !== undefined && only[name] !== false);
  }
  $("count").textContent = shown.length === messages.length ? many(messages.length, "message")
    : `${shown.length.toLocaleString("en")} of ${many(messages.length, "message")}`;
  reveal();
  drawRows();
  drawLanes();
}

function clear() {
  Object.assign(only, { findings: false, open: false, conn: undefined, op: undefined });
  $("where").value = "";
  filter();
}

function toggle(name, value) {
  if (value === undefined) return say("The selected message has none.");
  only[name] = only[name] === undefined || only[name] === false ? value : typeof value === "boolean" ? false : undefined;
  filter();
}

function select(at, tab = "message") {
  const message = messages[at];
  if (!message) return;
  selected = at;
  if (!passes[at]) clear();
  $("only-conn").disabled = message.conn === undefined;
  $("only-op").disabled = message.op === undefined;
  history.replaceState(null, "", `#m${message.i}`);
  reveal();
  drawRows();
  drawLanes();
  drawMessage();
  if (tab) openTab(tab);
}

/** Selects the next message after the selected one that fits, or the one before it. */
function step(by, fits) {
  for (let at = selected < 0 ? (by > 0 ? 0 : messages.length - 1) : selected + by; messages[at]; at += by) {
    if (fits(at)) return select(at);
  }
  return say("There is no further one.");
}

function move(by) {
  const n = shown.indexOf(selected);
  const to = n < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, n + by));
  if (shown.length) select(shown[to]);
}

function openHash() {
  const at = places.get(Number(location.hash.match(/^#m(\d+)$/)?.[1] ?? NaN));
  if (at !== undefined && at !== selected) select(at);
  return at !== undefined;
}

// The message: its fields as a tree beside its bytes.

let tree, hex, marked = -1;

function bytesOf(message) {
  const text = atob(message.b ?? "");
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

/** Returns the place after the last field inside of a field. */
function endOf(fields, at) {
  let end = at + 1;
  while (end < fields.length && fields[end][0] > fields[at][0]) end++;
  return end;
}

function node(field, at, fields) {
  const [depth, label, , len, type, value, note] = field;
  const shownValue = type === "s" ? `"${value}"` : value;
  const isParent = type === "c" && fields[at + 1]?.[0] > depth;
  const element = make("div", {
    class: "node", role: "treeitem", tabindex: at === 0 ? 0 : -1, "aria-level": depth + 1, "aria-selected": "false",
    "aria-expanded": isParent ? "true" : undefined,
  }, label ? make("bdi", { class: "label" }, label) : "", make("bdi", { class: type }, shownValue),
  field[9] ? make("span", { class: "note" }, `(${many(len, "byte")}, shortened)`) : "",
  note ? make("span", { class: "note" }, `= ${note}`) : "");
  element.style.setProperty("--depth", Math.min(depth, 24));
  element.dataset.f = at;
  return element;
}

/** Draws bytes in rows. Each run of bytes of one field is an element of its own. */
function drawHex(message, perRow) {
  const bytes = bytesOf(message), fields = message.f ?? [];
  const owner = new Int32Array(bytes.length).fill(-1), isKey = new Uint8Array(bytes.length);
  const isHidden = new Uint8Array(bytes.length);
  fields.forEach((field, at) => {
    owner.fill(at, field[2], field[2] + field[3]);
    isKey.fill(0, field[2], field[2] + field[3]);
    if (field[8] > 0) {
      owner.fill(at, field[7], field[7] + field[8]);
      isKey.fill(1, field[7], field[7] + field[8]);
    }
  });
  for (const [start, len] of message.h ?? []) isHidden.fill(1, start, start + len);
  const pieces = message.places ?? [[0, message.at]];
  const offset = (at) => {
    const piece = pieces.findLast(([start]) => start <= at) ?? [0, 0];
    return (piece[1] + at - piece[0]).toString(16).padStart(6, "0");
  };
  const lines = [];
  for (let start = 0; start < bytes.length; start += perRow) {
    const hx = make("span", {}), as = make("span", { class: "as" }), end = Math.min(start + perRow, bytes.length);
    for (let at = start; at < end;) {
      let stop = at + 1;
      while (stop < end && owner[stop] === owner[at] && isKey[stop] === isKey[at] && isHidden[stop] === isHidden[at]) stop++;
      const run = [...bytes.subarray(at, stop)];
      const type = isHidden[at] ? "x" : isKey[at] ? "k" : owner[at] < 0 ? "z" : fields[owner[at]][4];
      const f = owner[at];
      const hexes = run.map((b) => isHidden[at] ? "••" : b.toString(16).padStart(2, "0")).join(" ");
      const chars = run.map((b) => isHidden[at] ? "•" : b > 31 && b < 127 ? String.fromCharCode(b) : "·").join("");
      for (const [parent, text] of [[hx, hexes], [as, chars]]) {
        const element = make("i", { class: type }, text);
        element.dataset.f = f;
        parent.append(element);
      }
      hx.append(" ");
      at = stop;
    }
    hx.append("   ".repeat(perRow - (end - start)));
    lines.push(make("div", {}, make("span", { class: "off" }, offset(start)), hx, as));
  }
  return lines;
}

/** Marks a field and its bytes. */
function mark(at) {
  if (at === marked) return;
  marked = at;
  const fields = messages[selected]?.f ?? [], field = fields[at];
  for (const element of document.querySelectorAll(".on")) element.classList.remove("on");
  const line = $("field");
  if (!field) { line.textContent = ""; return; }
  const end = endOf(fields, at);
  for (const element of hex.querySelectorAll("i")) {
    const f = Number(element.dataset.f);
    if (f >= at && f < end) element.classList.add("on");
  }
  tree.children[at]?.classList.add("on");
  line.textContent = `${pathOf(fields, at) || "the message"}: ${many(field[3], "byte")} at ${messages[selected].packed
    ? "inflated " : ""}${(messages[selected].places?.[0]?.[1] ?? messages[selected].at) + field[2]}`;
}

function pathOf(fields, at) {
  let path = "", depth = fields[at][0] + 1;
  for (let i = at; i >= 0 && depth > 0; i--) {
    if (fields[i][0] >= depth) continue;
    depth = fields[i][0];
    const label = fields[i][1];
    if (label) path = path && !path.startsWith("[") ? `${label}.${path}` : label + path;
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
    const element = tree.children[i];
    element.hidden = !isOpen;
    if (isOpen && element.getAttribute("aria-expanded") === "false") {
      i = endOf(fields, i) - 1;
    }
  }
}

function treeKey(event) {
  const at = Number(event.target.dataset?.f);
  if (Number.isNaN(at) || event.ctrlKey || event.metaKey || event.altKey) return;
  const next = (by) => {
    let to = at + by;
    while (tree.children[to]?.hidden) to += by;
    focusNode(to);
  };
  const state = event.target.getAttribute("aria-expanded"), fields = messages[selected].f;
  const actions = {
    ArrowDown: () => next(1), ArrowUp: () => next(-1), j: () => next(1), k: () => next(-1),
    Home: () => focusNode(0), End: () => focusNode(tree.children.length - 1),
    ArrowRight: () => state === "false" ? fold(at, true) : state && next(1),
    ArrowLeft: () => state === "true" ? fold(at, false)
      : focusNode(fields.findLastIndex((field, i) => i < at && field[0] < fields[at][0])),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  actions[event.key]();
}

function drawMessage() {
  const panel = $("panel-message"), message = messages[selected];
  marked = -1;
  panel.scrollTop = 0;
  if (!message) return panel.replaceChildren(make("p", { class: "dim" }, "Select a message."));
  const facts = [message.protocol, message.framing, message.role, several && message.conn !== undefined && `c${message.conn}`,
    message.stream !== undefined && `stream ${message.stream}`, message.src,
    `${many(message.len, "byte")} at ${message.at}`, message.t !== undefined && clock(message.t),
    message.ms !== undefined && `after ${duration(message.ms)}`].filter(Boolean).join(" · ");
  const steps = make("div", { class: "steps" });
  const add = (text, action) => steps.append(make("button", { type: "button", onclick: action }, text));
  if (places.has(message.re)) add(`Request #${message.re}`, () => select(places.get(message.re)));
  const own = answers.get(message.i) ?? [];
  if (own.length) add(own.length > 1 ? `Last of ${own.length} answers` : `Answer #${messages[own[0]].i}`, () => select(own.at(-1)));
  if (operations.get(message.op) > 1 && only.op === undefined) {
    add(`Operation #${message.op}: ${many(operations.get(message.op), "message")}`, () => toggle("op", message.op));
  }
  add("Copy link", () => copy(location.href, "link"));
  add("Copy bytes", copyHex);
  const shownFields = message.f ?? [];
  tree = make("div", { class: "tree", role: "tree", "aria-label": "Fields" }, ...shownFields.map(node));
  hex = make("div", { class: "hex", role: "img", "aria-label": "Bytes; the fields are in the tree" });
  const both = make("div", { class: "both" }, ...(shownFields.length ? [tree] : []), hex);
  const isCut = (message.size ?? 0) > (message.b ? bytesOf(message).length : 0);
  panel.replaceChildren(
    make("div", { class: "head" }, make("h3", {}, make("span", { class: "dim" }, `#${message.i} `),
      make("bdi", {}, title(message))), message.id === undefined ? "" : make("bdi", { class: "mono dim" }, `id ${message.id}`),
    message.failed && message.brief ? make("bdi", { class: "mono error" }, message.brief) : ""),
    make("p", { class: "facts" }, facts), steps, ...found[selected].map(said),
    ...(message.left ? [make("p", { class: "said warning" }, make("span", {}, "Its fields and bytes are left out: the page is full."))] : []),
    make("p", { class: "field", id: "field" }), both,
    ...(isCut && !message.left ? [make("p", { class: "dim" }, `${many(message.size, "byte")} in all; the rest is left out.`)] : []));
  // Rows of 16 bytes if they fit.
  const width = both.clientWidth || panel.clientWidth;
  hex.append(...drawHex(message, width >= 960 || (width >= 540 && width < 592) ? 16 : 8));
  const point = (event) => mark(Number(event.target.closest?.("[data-f]")?.dataset.f ?? -1));
  both.addEventListener("pointerover", point);
  both.addEventListener("pointerleave", () => mark(Number(tree.contains(document.activeElement) ? document.activeElement.dataset.f : -1)));
  tree.addEventListener("focusin", point);
  tree.addEventListener("keydown", treeKey);
  tree.addEventListener("click", (event) => {
    const element = event.target.closest("[data-f]");
    if (element) focusNode(Number(element.dataset.f));
  });
  hex.addEventListener("click", (event) => focusNode(Number(event.target.dataset?.f)));
}

function said(finding) {
  return make("p", { class: `said ${finding.severity}` }, make("b", {}, `${SIGNS[finding.severity]} ${finding.rule} `),
    make("bdi", {}, finding.text));
}

async function copy(text, name) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${name}.`);
  } catch {
    say("The browser does not allow to copy.");
  }
  $("pointed").textContent = $("said").textContent;
}

function copyHex() {
  if (messages[selected]) copy([...bytesOf(messages[selected])].map((b) => b.toString(16).padStart(2, "0")).join(" "), "bytes as hex");
}

// Findings and latency.

function drawFindings() {
  const panel = $("panel-findings"), groups = new Map();
  for (const finding of data.findings) groups.set(finding.rule, [...groups.get(finding.rule) ?? [], finding]);
  const level = (list) => ["error", "warning", "info"].indexOf(list[0].severity);
  const sorted = [...groups].sort((a, b) => level(a[1]) - level(b[1]));
  const go = (i, name) => places.has(i) ? link(name, () => select(places.get(i))) : make("span", {}, name);
  const waiting = data.waiting.map((one) => make("li", {}, go(one.i, `#${one.i}`), make("bdi", {}, one.text)));
  const parts = waiting.length === 0 ? [] : [make("section", { class: "finding" },
    make("h3", {}, `${many(data.waits ?? waiting.length, "message waits", "messages wait")} for an answer`), make("ul", {}, ...waiting))];
  for (const [rule, list] of sorted) {
    const about = data.rules[rule] ?? {}, { severity } = list[0];
    parts.push(make("section", { class: "finding" },
      make("h3", { class: severity }, `${SIGNS[severity]} ${rule} `, make("span", { class: "badge" }, String(list.length))),
      make("p", { class: "follows" }, about.clause ?? ""), make("p", { class: "why" }, (about.why ?? []).join("\n")),
      make("ul", {}, ...list.slice(0, 200).map((finding) => make("li", {}, finding.i === undefined ? ""
        : go(finding.i, `#${finding.i}`), make("bdi", {}, finding.text),
      finding.see === undefined ? "" : make("span", {}, " (see "), finding.see === undefined ? "" : go(finding.see, `#${finding.see}`),
      finding.see === undefined ? "" : ")"))),
      list.length > 200 ? make("p", { class: "dim" }, `and ${list.length - 200} more`) : ""));
  }
  panel.replaceChildren(...(parts.length ? parts : [make("p", { class: "dim" }, "No rule is broken, and nothing waits for an answer.")]));
}

const latencies = new Map();
for (const message of messages) {
  if (message.ms === undefined) continue;
  const request = messages[places.get(message.re)];
  const key = JSON.stringify([request?.subject ?? message.of ?? message.subject ?? "", request?.name ?? message.name ?? ""]);
  if (!latencies.has(key)) latencies.set(key, []);
  latencies.get(key).push([Math.max(message.ms, 0), places.get(message.i)]);
}
const MAX_SUBJECTS = 60;
const subjects = [...latencies].map(([key, values]) => {
  const sorted = values.map(([ms]) => ms).sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
  return { names: JSON.parse(key), values, p50: at(.5), p95: at(.95), most: sorted.at(-1), least: sorted[0] };
}).sort((a, b) => b.p95 - a.p95);
const bounds = [Math.max(1e-4, Math.min(...subjects.map((s) => s.least || 1e-3)) / 1.5), Math.max(...subjects.map((s) => s.most), 1e-3) * 1.5];
const logPlace = (ms) => Math.log(Math.max(ms, bounds[0]) / bounds[0]) / Math.log(bounds[1] / bounds[0]);

function quoted(text) { return /^[\w./:#-]+$/.test(text) ? text : JSON.stringify(text); }

function drawLatency() {
  const panel = $("panel-latency");
  if (subjects.length === 0) return panel.replaceChildren(make("p", { class: "dim" }, "No answer has a latency."));
  const head = [["Subject", ""], ["n", "right"], ["p50", "right"], ["p95", "right more"], ["max", "right"]];
  const body = subjects.slice(0, MAX_SUBJECTS).map((one) => {
    const [subject, name] = one.names, label = [subject, name].filter(Boolean).join(" ") || "(no subject)";
    const wanted = [subject && `(subject=${quoted(subject)} or of=${quoted(subject)})`, name && `name=${quoted(name)}`];
    const use = () => { $("where").value = wanted.filter(Boolean).join(" "); filter(); };
    const strip = make("canvas", { role: "img", "aria-label": `${label}: from ${duration(one.least)} to ${duration(one.most)}` });
    strip.addEventListener("click", (event) => {
      const x = event.offsetX / strip.clientWidth;
      const near = one.values.reduce((a, b) => Math.abs(logPlace(a[0]) - x) <= Math.abs(logPlace(b[0]) - x) ? a : b);
      select(near[1]);
    });
    one.strip = strip;
    const numbers = [String(one.values.length), duration(one.p50), duration(one.p95), duration(one.most)];
    return make("tr", {}, make("td", {}, link(make("bdi", {}, label), use)),
      ...numbers.map((text, i) => make("td", { class: i === 2 ? "right more" : "right" }, text)), make("td", { class: "strip" }, strip));
  });
  const axis = `${duration(bounds[0] * 1.5)} to ${duration(bounds[1] / 1.5)}, logarithmic`;
  panel.replaceChildren(make("table", {}, make("thead", {}, make("tr", {},
    ...head.map(([text, name]) => make("th", { scope: "col", class: name }, text)), make("th", { scope: "col", class: "strip" }, axis))),
  make("tbody", {}, ...body)), subjects.length > MAX_SUBJECTS
    ? make("p", { class: "dim" }, `and ${subjects.length - MAX_SUBJECTS} faster subjects`) : "");
  drawStrips();
}

function drawStrips() {
  if ($("panel-latency").hidden) return;
  for (const one of subjects.slice(0, MAX_SUBJECTS)) {
    const [ink, width, height] = brush(one.strip, 22);
    ink.fillStyle = colour("--soft");
    ink.fillRect(0, height / 2 - 3, width, 6);
    ink.globalAlpha = Math.max(.15, Math.min(.8, 12 / one.values.length));
    for (const [ms, at] of one.values) {
      ink.fillStyle = colour(messages[at].failed ? "--error" : "--bar");
      ink.beginPath();
      ink.arc(4 + logPlace(ms) * (width - 8), height / 2, 3.5, 0, 7);
      ink.fill();
    }
    ink.globalAlpha = 1;
    ink.fillStyle = colour("--ink");
    ink.fillRect(4 + logPlace(one.p50) * (width - 8) - 1, 3, 2, height - 6);
  }
}

// The picture: time to the right, a lane for each side of each connection.

const MAX_LANES = 64, MAX_ROWS = 6, ROW = 10, AXIS = 20;
let colours = new Map(), range, hits = [], dragged;
const place = (at) => timed ? messages[at].t ?? 0 : at;
const end = timed ? last : Math.max(messages.length - 1, 1);
const fullRange = [-end * .01, end * 1.01];
range = fullRange;

function colour(name) {
  if (!colours.has(name)) {
    const probe = make("span", {});
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    colours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(name);
}

/** Prepares a canvas for its size on the screen. */
function brush(canvas, height) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth || canvas.parentElement.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const ink = canvas.getContext("2d");
  ink.scale(scale, scale);
  return [ink, width, height];
}

// Lanes, and the row of each bar in its lane, so that bars do not cover each other.
const lanes = [];
{
  const byKey = new Map(), conns = new Map();
  const lane = (message, dir) => byKey.get(`${message.conn} ${dir}`);
  messages.forEach((message, at) => {
    if (!conns.has(message.conn)) {
      conns.set(message.conn, true);
      const name = several && message.conn !== undefined ? `c${message.conn} ` : "";
      for (const dir of message.dir ? ["c2s", "s2c"] : [""]) {
        const one = { name: name + (dir ? side(dir) : "messages"), items: [], ends: [] };
        byKey.set(`${message.conn} ${dir}`, one);
        lanes.push(one);
      }
    }
    const own = lane(message, message.dir ?? "") ?? lane(message, "c2s") ?? lane(message, "");
    const replies = answers.get(message.i);
    const isBar = replies !== undefined || isOpen(message);
    const from = place(at), to = replies ? place(replies.at(-1)) : isOpen(message) ? end : from;
    let level = 0;
    if (isBar) {
      level = own.ends.findIndex((taken) => taken <= from);
      if (level < 0) level = Math.min(own.ends.length, MAX_ROWS - 1);
      own.ends[level] = Math.max(to, own.ends[level] ?? 0);
    }
    const failed = message.failed || replies?.some((reply) => messages[reply].failed);
    own.items.push({ at, from, to, level, isBar, failed });
  });
}

function ticksOf(from, to, most) {
  const raw = (to - from) / most, power = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const ticks = [];
  for (let at = Math.ceil(from / unit) * unit; at <= to; at += unit) ticks.push(Math.abs(at) < unit / 1e6 ? 0 : at);
  return ticks;
}

function drawLanes() {
  const canvas = $("lanes-canvas"), drawn = lanes.slice(0, MAX_LANES);
  const heights = drawn.map((lane) => 13 + Math.max(1, lane.ends.length) * ROW + 5);
  const [ink, width, height] = brush(canvas, heights.reduce((a, b) => a + b, 0) + AXIS + (lanes.length > MAX_LANES ? 16 : 0));
  const gutter = width < 600 ? 74 : Math.min(150, 20 + 7 * Math.max(...drawn.map((lane) => lane.name.length), 6));
  const right = width - 14, scale = (right - gutter) / (range[1] - range[0]);
  const x = (value) => gutter + (value - range[0]) * scale;
  hits = [];
  ink.font = "11px system-ui, sans-serif";
  ink.textBaseline = "middle";
  for (const tick of ticksOf(range[0], range[1], Math.max(2, Math.floor((right - gutter) / 90)))) {
    if (tick < 0) continue;
    ink.fillStyle = colour("--rule");
    ink.fillRect(Math.round(x(tick)), 0, 1, height - AXIS);
    ink.fillStyle = colour("--dim");
    ink.textAlign = x(tick) > right - 24 ? "right" : "center";
    ink.fillText(timed ? duration(tick) : `#${messages[Math.round(tick)]?.i ?? ""}`, x(tick), height - AXIS / 2);
  }
  ink.textAlign = "left";
  let top = 0;
  drawn.forEach((lane, n) => {
    if (n > 0) {
      ink.fillStyle = colour("--rule");
      ink.fillRect(0, top, width, 1);
    }
    drawLane(ink, lane, top, x, [gutter, right]);
    ink.fillStyle = colour("--panel");
    ink.fillRect(0, top + 1, gutter - 6, heights[n] - 2);
    ink.fillStyle = colour("--dim");
    ink.fillText(shorten(ink, lane.name, gutter - 20), 12, top + heights[n] / 2 + 2);
    top += heights[n];
  });
  if (lanes.length > MAX_LANES) ink.fillText(`${lanes.length - MAX_LANES} more lanes are not drawn`, 12, top + 8);
  if (dragged?.to !== undefined) {
    ink.fillStyle = colour("--link");
    ink.globalAlpha = .15;
    ink.fillRect(Math.min(dragged.from, dragged.to), 0, Math.abs(dragged.to - dragged.from), height - AXIS);
    ink.globalAlpha = 1;
  }
  dragged && Object.assign(dragged, { gutter, scale });
  Object.assign(canvas, { gutter, scaleX: scale });
}

function shorten(ink, text, width) {
  let cut = text;
  while (cut && ink.measureText(cut).width > width) cut = cut.replace(/…?$/u, "").slice(0, -1) + "…";
  return cut;
}

function drawLane(ink, lane, top, x, [left, right]) {
  const selectedItem = lane.items.find((item) => item.at === selected);
  for (const item of lane.items) {
    const [from, to] = [x(item.from), x(item.to)];
    if (to < left - 3 || from > right + 3) continue;
    const y = top + 13 + item.level * ROW, message = messages[item.at], isOpenBar = isOpen(message);
    const [at, size] = item.isBar ? [from, Math.max(to - from, 4)] : [from - 1, 2.5];
    ink.globalAlpha = passes[item.at] ? 1 : .15;
    ink.fillStyle = colour(item.failed ? "--error" : isOpenBar ? "--warning" : item.isBar ? "--bar" : "--tick");
    if (isOpenBar) for (let part = at; part < Math.min(at + size, right); part += 6) ink.fillRect(part, y, 4, ROW - 3);
    else if (item.isBar) { ink.beginPath(); ink.roundRect(at, y, size, ROW - 3, 2); ink.fill(); } else ink.fillRect(at, y, size, ROW - 3);
    hits.push([at, at + size, y - 1, y + ROW - 1, item.at]);
    const level = worst(item.at);
    if (level) {
      ink.fillStyle = colour(`--${level}`);
      ink.beginPath();
      const middle = top + 7;
      if (level === "error") { ink.moveTo(from - 5, middle - 4); ink.lineTo(from + 5, middle - 4); ink.lineTo(from, middle + 5); }
      else if (level === "warning") { ink.moveTo(from, middle - 5); ink.lineTo(from + 5, middle); ink.lineTo(from, middle + 5); ink.lineTo(from - 5, middle); }
      else ink.arc(from, middle, 3, 0, 7);
      ink.fill();
      hits.push([from - 5, from + 5, top, top + 12, item.at]);
    }
  }
  ink.globalAlpha = 1;
  if (selectedItem) {
    const [from, to, y] = [x(selectedItem.from), x(selectedItem.to), top + 13 + selectedItem.level * ROW];
    ink.strokeStyle = colour("--ink");
    ink.lineWidth = 1.5;
    ink.strokeRect(from - 2.5, y - 2, Math.max(to - from, 4) + 4, ROW + 1);
  }
}

function hitAt(px, py) {
  let best = -1, near = 7;
  for (const [from, to, top, bottom, at] of hits) {
    if (py < top - 4 || py > bottom + 4) continue;
    const away = px < from ? from - px : px > to ? px - to : 0;
    const total = away + (py < top ? top - py : py > bottom ? py - bottom : 0);
    if (total < near || (total === near && to - from < 12)) [best, near] = [at, total];
  }
  return best;
}

function zoom(factor, shift = 0) {
  const [from, to] = range, size = (to - from) * factor, selectedAt = selected >= 0 ? place(selected) : (from + to) / 2;
  const centre = factor < 1 && selectedAt > from && selectedAt < to ? selectedAt : (from + to) / 2;
  setRange(centre - size / 2 + (to - from) * shift, centre + size / 2 + (to - from) * shift);
}

function setRange(from, to) {
  const size = Math.min(Math.max(to - from, end / 1e6), fullRange[1] - fullRange[0]);
  const start = Math.min(Math.max(from, fullRange[0]), fullRange[1] - size);
  range = [start, start + size];
  drawLanes();
}

function startPicture() {
  const canvas = $("lanes-canvas");
  canvas.setAttribute("aria-label", `${many(lanes.length, "lane")} over ${timed ? duration(last) : "the order of messages"}, `
    + "a bar for each request; the messages are in the list");
  canvas.addEventListener("pointerdown", (event) => { if (event.button === 0) dragged = { from: event.offsetX }; });
  canvas.addEventListener("pointermove", (event) => {
    const at = hitAt(event.offsetX, event.offsetY), message = messages[at];
    canvas.style.cursor = at >= 0 ? "pointer" : "";
    $("pointed").textContent = message ? `#${message.i} ${title(message)}${message.t === undefined ? "" : "  " + clock(message.t)}`
      + `${found[at].map((f) => `  ${SIGNS[f.severity]} ${f.rule}`).join("")}` : "";
    if (dragged && event.pointerType === "mouse") { dragged.to = event.offsetX; drawLanes(); }
  });
  addEventListener("pointerup", (event) => {
    if (!dragged) return;
    const { from, to, gutter, scale } = dragged;
    dragged = undefined;
    if (to !== undefined && Math.abs(to - from) > 6) {
      const value = (px) => range[0] + (px - gutter) / scale;
      return setRange(value(Math.min(from, to)), value(Math.max(from, to)));
    }
    const at = event.target === canvas ? hitAt(event.offsetX, event.offsetY) : -1;
    if (at >= 0) select(at); else drawLanes();
  });
  canvas.addEventListener("dblclick", () => setRange(...fullRange));
  for (const [id, action] of Object.entries({
    earlier: () => zoom(1, -.4), later: () => zoom(1, .4), closer: () => zoom(.4), wider: () => zoom(2.5),
    whole: () => setRange(...fullRange),
  })) $(id).addEventListener("click", action);
}

// Tabs, keys, theme, print.

const TABS = ["message", "findings", "latency"];

function openTab(name) {
  for (const tab of TABS) {
    const isThis = tab === name;
    $(`tab-${tab}`).setAttribute("aria-selected", isThis);
    $(`tab-${tab}`).tabIndex = isThis ? 0 : -1;
    $(`panel-${tab}`).hidden = !isThis;
  }
  if (name === "latency") drawStrips();
  if (name === "message" && focused !== name) drawMessage();
  focused = name;
}

const isFlow = () => getComputedStyle(document.body).display !== "flex";

/** On a small screen, the details are below the list. */
function showDetails() {
  if (isFlow()) $("side").scrollIntoView({ block: "start" });
}

const pageRows = () => Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
const KEYS = [
  ["?", "These keys", () => $("keys").showModal()],
  ["Escape", "Back, and in the end all messages again", () => { clear(); list.focus(); }],
  ["j", "Next message; also ↓", () => move(1)], ["k", "Message before; also ↑", () => move(-1)],
  ["PageDown", "A page down", () => move(pageRows())], ["PageUp", "A page up", () => move(-pageRows())],
  ["g", "First message", () => move(-Infinity)], ["G", "Last message", () => move(Infinity)],
  ["Enter", "To the tree; arrows move in it and fold", () => { openTab("message"); showDetails(); focusNode(0); }],
  ["/", "A condition or text", () => $("where").focus()],
  ["n", "Next match of the last condition", () => step(1, (at) => lastTest?.(messages[at]))],
  ["N", "Match before", () => step(-1, (at) => lastTest?.(messages[at]))],
  ["f", "Next finding", () => step(1, (at) => found[at].length > 0)],
  ["F", "Finding before", () => step(-1, (at) => found[at].length > 0)],
  ["r", "The request of an answer, or the last answer", () => {
    const message = messages[selected] ?? {};
    const to = message.re !== undefined ? places.get(message.re) : answers.get(message.i)?.at(-1);
    if (to === undefined) say("There is none."); else select(to);
  }],
  ["o", "Requests without an answer only", () => toggle("open", true)],
  ["c", "Only this connection", () => toggle("conn", messages[selected]?.conn)],
  ["i", "Only this operation", () => toggle("op", messages[selected]?.op)],
  ["s", "Latency by subject", () => openTab("latency")],
  ["t", "Time of day, since the line before, since the start", () => { timeMode = (timeMode + 1) % 3; drawRows(); }],
  ["W", "Wrap or cut long values", () => tree?.classList.toggle("cut")],
  ["y", "Copy the bytes as hex", copyHex],
];
const SAME = { ArrowDown: "j", ArrowUp: "k", Home: "g", End: "G" };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const target = event.target, isTyping = target instanceof HTMLInputElement;
  if (isTyping && event.key === "Escape") { if (target.value) clear(); list.focus(); return; }
  if (isTyping && (event.key === "Enter" || event.key === "ArrowDown")) { event.preventDefault(); list.focus(); move(0); return; }
  const isInList = target === list || target === document.body;
  if (isTyping || (!isInList && (event.key in SAME || /^(Enter|Page)/.test(event.key)))) return;
  if (event.key.length === 1 && !$("keys-on").checked) return;
  const action = KEYS.find(([key]) => key === (SAME[event.key] ?? event.key))?.[2];
  if (!action) return;
  event.preventDefault();
  action();
});

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  redraw();
}

function redraw() {
  colours = new Map();
  drawRows();
  drawLanes();
  drawStrips();
}

const PRINTED = 500;
addEventListener("beforeprint", () => {
  document.documentElement.dataset.before = document.documentElement.dataset.theme ?? "";
  setTheme("light");
  for (const tab of TABS) $(`panel-${tab}`).hidden = false;
  drawStrips();
  rows.style.height = "auto";
  rows.replaceChildren(...shown.slice(0, PRINTED).map((at, n) => row(at, n, 0)),
    make("p", {}, shown.length > PRINTED ? `and ${many(shown.length - PRINTED, "more message", "more messages")}` : ""));
});
addEventListener("afterprint", () => {
  const before = document.documentElement.dataset.before;
  openTab(focused);
  if (before) setTheme(before); else { delete document.documentElement.dataset.theme; startTheme(); redraw(); }
});

const darkQuery = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (darkQuery.matches ? "dark" : "light")) === "dark";
function startTheme() { $("theme").textContent = isDark() ? "Light" : "Dark"; }

function start() {
  document.title = `${data.title} · wiretool`;
  $("title").textContent = data.title;
  const count = (level) => data.findings.filter((finding) => finding.severity === level).length;
  const facts = [data.protocol, many(messages.length + data.more, "message"), timed && duration(last),
    count("error") && make("span", { class: "error" }, many(count("error"), "error")),
    count("warning") && make("span", { class: "warning" }, many(count("warning"), "warning")),
    data.waiting.length && make("span", { class: "warning" }, `${data.waits ?? data.waiting.length} without an answer`),
    data.masked ? "secrets are masked" : "with secrets"].filter(Boolean);
  $("summary").append(...facts.map((fact) => typeof fact === "string" ? make("span", {}, fact) : fact));
  $("notes").append(...data.notes.map((note) => make("li", {}, note)));
  $("notes").hidden = data.notes.length === 0;
  $("tab-findings").append(make("span", { class: "badge" }, String(data.findings.length)));
  $("key-list").append(...KEYS.flatMap(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)]));
  if (several) list.style.setProperty("--conn", "4.5ch");
  if (!timed) list.style.setProperty("--time", "0");
  startTheme();
  startPicture();
  drawFindings();
  drawLatency();
  drawMessage();
  openTab(data.findings.length || data.waiting.length ? "findings" : "message");
  filter();
  if (!openHash() && messages.length) { selected = -1; openTab(focused); }
  let typing;
  $("where").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(filter, messages.length > 2000 ? 120 : 0);
  });
  $("only-findings").addEventListener("click", () => toggle("findings", true));
  $("only-open").addEventListener("click", () => toggle("open", true));
  $("only-conn").addEventListener("click", () => toggle("conn", messages[selected]?.conn));
  $("only-op").addEventListener("click", () => toggle("op", messages[selected]?.op));
  $("only-conn").disabled = $("only-op").disabled = selected < 0;
  list.addEventListener("scroll", drawRows, { passive: true });
  list.addEventListener("click", (event) => {
    const at = event.target.closest(".row")?.dataset.at;
    if (at !== undefined) { select(Number(at)); showDetails(); }
  });
  TABS.forEach((tab, n) => {
    $(`tab-${tab}`).addEventListener("click", () => openTab(tab));
    $(`tab-${tab}`).addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = TABS[(n + by + TABS.length) % TABS.length];
      openTab(next);
      $(`tab-${next}`).focus();
    });
  });
  $("help").addEventListener("click", () => $("keys").showModal());
  $("close").addEventListener("click", () => $("keys").close());
  $("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  darkQuery.addEventListener("change", () => { startTheme(); redraw(); });
  addEventListener("hashchange", openHash);
  let width = innerWidth;
  addEventListener("resize", () => {
    redraw();
    if (width !== innerWidth && focused === "message") drawMessage();
    width = innerWidth;
  });
  document.documentElement.dataset.ready = Math.round(performance.now());
}
start();
