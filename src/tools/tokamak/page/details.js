// details.js - what is written beside the drawing, and everything a reader can press.
"use strict";

function bytes(count) {
  if (count < 10000)
    return `${count} B`;
  if (count < 1e6)
    return `${(count / 1e3).toFixed(1)} kB`;
  return count < 1e9 ? `${(count / 1e6).toFixed(1)} MB` : `${(count / 1e9).toFixed(2)} GB`;
}

function flops(count) {
  if (count < 10000)
    return `${count}`;
  if (count < 1e6)
    return `${(count / 1e3).toFixed(1)} k`;
  return count < 1e9 ? `${(count / 1e6).toFixed(1)} M` : `${(count / 1e9).toFixed(2)} G`;
}

// An element with children; strings become text, never markup.
function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "onclick")
      made.addEventListener("click", value);
    else
      made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const link = (text, selection) => make("a", { href: `#${addressOf(selection)}`, onclick: (event) => {
  event.preventDefault();
  select(selection, true);
} }, text);
const nodeLink = (i) => link(nodes[i].name || nodes[i].operator, { type: "node", index: i });
const edgeLink = (e) => link(edges[e].value || "(value)", { type: "edge", index: e });
const swatch = (g) => make("span", { class: "swatch", style: `background: hsl(${hue(g)} 70% 80%)` });
const groupLink = (g) => make("span", {}, swatch(g), link(`${g} ${groups[g].kernel}`, { type: "group", index: g }));
const muted = (text) => make("span", { class: "muted" }, text);
const number = (text) => make("td", { class: "number" }, text);
const heading = (...words) => make("tr", {}, ...words.map((word, i) => make("th", i ? { class: "number" } : {}, word)));
const line = (name, ...values) => make("tr", {}, make("th", {}, name), make("td", {}, ...values));

// Rows beyond the first hundreds wait for a press: thousands of rows would make the page slow.
function longTable(head, rows, rowOf) {
  if (!rows.length)
    return make("p", { class: "muted" }, "none");
  const table = make("table", {}, head);
  let shown = 0;
  const more = make("button", {}, "");
  const show = (count) => {
    for (const row of rows.slice(shown, shown + count))
      table.append(rowOf(row));
    shown = Math.min(rows.length, shown + count);
    more.textContent = `Show more (${rows.length - shown} left)`;
    more.hidden = shown >= rows.length;
  };
  more.addEventListener("click", () => show(1000));
  show(300);
  return make("div", {}, table, more);
}

const trafficRows = [["kernels", "kernels", String], ["read", "bytes_read", bytes], ["written", "bytes_written", bytes],
  ["weights read", "weight_bytes", bytes], ["arithmetic (flops)", "flops", flops]];

function comparison(before, after, words) {
  const ratio = (a, b) => (a > 0 ? `${Math.round((100 * b) / a)} %` : "");
  return make("table", { class: "totals" }, heading(...words, ""),
    ...trafficRows.map(([name, key, write]) => make("tr", {}, make("th", {}, name), number(write(before[key])),
      number(write(after[key])), number(ratio(before[key], after[key])))));
}

function overview() {
  const reasons = new Map();
  for (const decision of data.decisions) {
    const sum = reasons.get(decision.reason) || { count: 0, bytes: 0, sentence: decision.sentence };
    ++sum.count;
    sum.bytes += decision.edge_bytes;
    reasons.set(decision.reason, sum);
  }
  const removed = Object.entries(data.removed);
  return [
    make("p", {}, `${counted(data.nodes, "ONNX node")} run as ${counted(groups.length, "kernel")} in ${data.waves} dispatch${data.waves === 1 ? "" : "es"} (fusion ${data.fusion}).`),
    make("h2", {}, "Totals of one run"), comparison(data.totals.unfused, data.totals.fused, ["", "unfused", "fused"]),
    make("p", { class: "muted" }, "A model of memory traffic: each kernel reads its operands and writes its results once."),
    make("h2", {}, "Decisions by reason"),
    make("table", {}, heading("reason", "edges", "bytes"),
      ...[...reasons].sort((a, b) => b[1].bytes - a[1].bytes).map(([reason, sum]) => make("tr", {},
        make("td", {}, make("b", {}, reason), ` ${sum.sentence}`), number(String(sum.count)), number(bytes(sum.bytes))))),
    make("h2", {}, `Nodes in no kernel (${removed.length})`),
    longTable(heading("node", ""), removed, ([node, why]) => make("tr", {}, make("td", {}, node), make("td", {}, why))),
  ];
}

const moved = (traffic) => traffic.bytes_read + traffic.bytes_written + traffic.weight_bytes;
const columns = [["group", (g) => g.id], ["wave", (g) => -g.wave], ["nodes", (g) => g.members.length], ["apart", (g) => moved(g.apart)],
  ["fused", moved], ["saved", (g) => moved(g.apart) - moved(g)], ["flops", (g) => g.flops]];
let sortedBy = 0;

function groupList() {
  const head = make("tr", {}, ...columns.map(([name], i) => make("th",
    { class: i ? "number sortable" : "sortable", "aria-sort": i !== sortedBy ? "none" : i ? "descending" : "ascending" },
    make("button", { onclick: () => { sortedBy = i; showTab("groups"); } }, name))));
  const key = columns[sortedBy][1];
  const rows = [...groups].sort((a, b) => (sortedBy ? key(b) - key(a) : key(a) - key(b)));
  const words = "Bytes moved if each operator were a kernel (apart), and by the group as one kernel (fused).";
  return [make("p", { class: "muted" }, words), longTable(head, rows, (g) => make("tr", {},
    make("td", {}, groupLink(g.id)), number(String(g.wave)), number(String(g.members.length)), number(bytes(moved(g.apart))),
    number(bytes(moved(g))), number(bytes(moved(g.apart) - moved(g))), number(flops(g.flops))))];
}

function keptApart() {
  const edgeOf = new Map();
  edges.forEach((edge, e) => {
    if (edge.decision !== null && !edgeOf.has(edge.decision))
      edgeOf.set(edge.decision, e);
  });
  const rows = data.decisions.map((decision, i) => [decision, edgeOf.get(i)]).filter(([decision]) => !decision.fused);
  rows.sort((a, b) => b[0].edge_bytes - a[0].edge_bytes);
  return [make("p", { class: "muted" }, "Neighbours that share no kernel, largest value first."),
    longTable(heading("producer \u2192 consumer", "bytes"), rows, ([decision, e]) => {
      const names = `${decision.producer} \u2192 ${decision.consumer}`;
      return make("tr", {}, make("td", {}, e === undefined ? names : link(names, { type: "edge", index: e }), make("br"),
        make("b", {}, decision.reason), decision.detail ? ` ${decision.detail}` : ""), number(bytes(decision.edge_bytes)));
    })];
}

function edgeList(title, list, end) {
  return [make("h2", {}, `${title} (${list.length})`), longTable(heading("value", "bytes"), list, (e) => make("tr", {},
    make("td", {}, edgeLink(e), muted(` ${end === "producer" ? "from" : "to"} `), nodeLink(edges[e][end])),
    number(bytes(edges[e].bytes))))];
}

function nodeDetails(i) {
  const node = nodes[i];
  const facts = [line("operator", node.operator || `graph ${node.role}`), line("result", node.type || "-")];
  if (node.role === "operator") {
    const parent = node.post_dominator;
    facts.push(line("kind", node.kind),
      line("group", node.group === null ? "none: a view or control flow" : groupLink(node.group)),
      line("post-dominator", parent === null ? "none: a root of the tree" : nodeLink(parent)),
      line("read", bytes(node.bytes_read)), line("written", bytes(node.bytes_written)),
      line("weights read", bytes(node.weight_bytes)), line("flops", flops(node.flops)));
    if (node.inside !== null)
      facts.push(line("in the body of", nodeLink(node.inside)));
  }
  return [make("h2", {}, node.name), make("table", {}, ...facts), ...edgeList("Reads", node.incoming, "producer"),
    ...edgeList("Is read by", node.outgoing, "consumer")];
}

function decisionOn(edge) {
  if (edge.decision === null)
    return [line("reason", "No candidate: an end is an input, an output, a view or control flow, or a rewrite made it.")];
  const decision = data.decisions[edge.decision];
  return [line("reason", make("b", {}, decision.reason)), line("", decision.sentence),
    line("kinds", `${nodes[edge.producer].kind} \u2192 ${nodes[edge.consumer].kind}`),
    ...(decision.detail ? [line("numbers", decision.detail)] : []), line("at stake", bytes(decision.edge_bytes))];
}

function edgeDetails(e) {
  const edge = edges[e], fused = isFused(edge);
  const verdict = fused ? "In one group: the value stays in registers or cache."
    : "Kept apart: the value goes through memory.";
  const facts = [line("from", nodeLink(edge.producer)), line("to", nodeLink(edge.consumer)), line("type", edge.type),
    line("bytes", bytes(edge.bytes))];
  for (const [word, end] of [["from group", edge.producer], ["to group", edge.consumer]])
    if (nodes[end].group !== null)
      facts.push(line(word, groupLink(nodes[end].group)));
  return [make("h2", {}, `Value ${edge.value}`), make("p", { class: `verdict ${fused ? "fused" : "apart"}` }, verdict),
    make("table", {}, ...facts), make("h2", {}, "Decision"), make("table", {}, ...decisionOn(edge))];
}

function groupDetails(g) {
  const group = groups[g], border = [];
  for (const member of group.members)
    for (const e of [...nodes[member].incoming, ...nodes[member].outgoing])
      if (!isFused(edges[e]))
        border.push(e);
  const reasonOf = (edge) => (edge.decision === null ? "" : ` ${data.decisions[edge.decision].reason}`);
  const parts = [make("h2", {}, swatch(g), `${g} ${group.kernel}`),
    make("p", {}, `${counted(group.members.length, "operator")}; largest kind: ${group.kind}`)];
  const others = groups.filter((other) => other.wave === group.wave && other !== group);
  if (others.length)
    parts.push(make("p", {}, "Runs in one wave with ", ...others.flatMap((other, i) => [i ? ", " : "", groupLink(other.id)])));
  if (group.members.length > 1)
    parts.push(make("button", { onclick: () => toggle(g) }, view.collapsed.has(g) ? "Expand" : "Collapse"));
  parts.push(make("h2", {}, "Bytes and flops"), comparison(group.apart, { ...group, kernels: 1 }, ["", "apart", "fused"]),
    make("h2", {}, "Operators"), longTable(heading("node", "flops"), group.members, (i) => make("tr", {},
      make("td", {}, nodeLink(i), muted(` ${nodes[i].operator}`)), number(flops(nodes[i].flops)))),
    make("h2", {}, "ONNX nodes"), make("p", {}, group.nodes.join(", ")),
    make("h2", {}, `Values at its border (${border.length})`),
    longTable(heading("value", "bytes"), border, (e) => make("tr", {},
      make("td", {}, edgeLink(e), muted(reasonOf(edges[e]))), number(bytes(edges[e].bytes)))));
  return parts;
}

function selectionDetails() {
  const selected = view.selected;
  if (!selected)
    return [make("p", { class: "muted" }, "Click a node, a group or an edge. A double click opens and closes a group.")];
  return { node: nodeDetails, edge: edgeDetails, group: groupDetails }[selected.type](selected.index);
}

const tabs = { overview, groups: groupList, apart: keptApart, selection: selectionDetails };

function showTab(name) {
  for (const tab of Object.keys(tabs))
    element(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
  element("panel").replaceChildren(...tabs[name]());
  element("panel").scrollTop = 0;
}

// The address names what is shown, so that it can be passed on.
function addressOf(selection) {
  const parts = new URLSearchParams();
  if (view.mode === "tree")
    parts.set("view", "tree");
  if (selection)
    parts.set("select", `${selection.type}-${selection.index}`);
  return parts.toString();
}

const writeAddress = () => history.replaceState(null, "", `#${addressOf(view.selected)}`);

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  setMode(address.get("view") === "tree" ? "tree" : "graph");
  const [type, index] = (address.get("select") || "").split("-");
  const list = new Map([["node", nodes], ["edge", edges], ["group", groups]]).get(type);
  if (list && list[Number(index)])
    select({ type, index: Number(index) }, true);
}

function select(selection, move) {
  view.selected = selection;
  if (move && view.mode === "tree" && selection.type !== "node")
    setMode("graph");
  showTab("selection");
  if (move)
    reveal(selection);
  writeAddress();
  redraw();
}

// Lays out again with `anchor`, a node, kept where it is on the screen.
function relayoutAround(anchor) {
  const before = boxOfNode(anchor), left = before ? before.x - view.left : 0, top = before ? before.y - view.top : 0;
  relayout();
  const after = boxOfNode(anchor);
  if (before && after) {
    view.left = after.x - left;
    view.top = after.y - top;
  }
}

function toggle(g) {
  if (!view.collapsed.delete(g))
    view.collapsed.add(g);
  relayoutAround(groups[g].members[0]);
  if (view.selected)
    showTab("selection");
}

function setMode(mode) {
  view.mode = mode;
  element("show-graph").setAttribute("aria-pressed", String(mode === "graph"));
  element("show-tree").setAttribute("aria-pressed", String(mode === "tree"));
  relayout();
  showStart();
  writeAddress();
}

let found = [], foundAt = -1;
function search() {
  const words = element("search").value.trim().toLowerCase();
  found = [];
  if (words)
    nodes.forEach((node, i) => {
      if (node.name.toLowerCase().includes(words) || node.operator.toLowerCase().includes(words))
        found.push(i);
    });
  view.matches = new Set(found);
  foundAt = -1;
  element("found").textContent = words ? `${found.length} found` : "";
  redraw();
}

function nextFound(step) {
  if (view.mode === "tree")
    found = found.filter((i) => nodes[i].role === "operator");
  if (!found.length)
    return;
  foundAt = (foundAt + step + found.length) % found.length;
  element("found").textContent = `${foundAt + 1} of ${found.length}`;
  select({ type: "node", index: found[foundAt] }, true);
}

function point(event) {
  const frame = canvas.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
}

let drag = null;
canvas.addEventListener("pointerdown", (event) => {
  drag = { x: event.clientX, y: event.clientY, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!drag)
    return;
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(dx, dy) < 4)
    return;
  drag = { x: event.clientX, y: event.clientY, moved: true };
  canvas.classList.add("dragging");
  view.left -= dx / view.scale;
  view.top -= dy / view.scale;
  redraw();
});
canvas.addEventListener("pointerup", (event) => {
  canvas.classList.remove("dragging");
  const hit = drag && !drag.moved ? hitAt(...point(event)) : null;
  drag = null;
  if (hit)
    select(hit, false);
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("dblclick", (event) => {
  const hit = hitAt(...point(event));
  const g = !hit ? undefined : hit.type === "group" ? hit.index : hit.type === "node" ? nodes[hit.index].group : undefined;
  if (view.mode === "graph" && Number.isInteger(g) && groups[g].members.length > 1)
    toggle(g);
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...point(event));
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const step = 60 / view.scale;
  const action = { "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), "0": fit,
    ArrowLeft: () => { view.left -= step; }, ArrowRight: () => { view.left += step; },
    ArrowUp: () => { view.top -= step; }, ArrowDown: () => { view.top += step; } }[event.key];
  if (action && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    action();
    redraw();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== element("search")) {
    event.preventDefault();
    element("search").focus();
  }
});
element("search").addEventListener("input", search);
element("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter")
    nextFound(event.shiftKey ? -1 : 1);
});
element("show-graph").addEventListener("click", () => setMode("graph"));
element("show-tree").addEventListener("click", () => setMode("tree"));
element("collapse").addEventListener("click", () => {
  view.collapsed = new Set(groups.filter((g) => g.members.length > 1).map((g) => g.id));
  setMode("graph");
});
element("expand").addEventListener("click", () => {
  view.collapsed.clear();
  setMode("graph");
});
element("closer").addEventListener("click", () => zoom(1.3));
element("farther").addEventListener("click", () => zoom(1 / 1.3));
element("fit").addEventListener("click", fit);
for (const tab of Object.keys(tabs))
  element(`tab-${tab}`).addEventListener("click", () => showTab(tab));
new ResizeObserver(redraw).observe(canvas);

function start() {
  document.title = `${data.model} - tokamak explain`;
  element("title").textContent = `${data.model}: ${counted(data.nodes, "node")} as ${counted(groups.length, "kernel")}`;
  showTab("overview");
  readAddress();
  window.addEventListener("hashchange", readAddress);
  document.documentElement.dataset.ready = "true";
}
start();
