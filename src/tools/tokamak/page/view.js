// view.js - the drawing: what is where, zoom, pan, and what a click hits.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.graph.nodes, edges = data.graph.edges, groups = data.groups;
const element = (id) => document.getElementById(id);
const canvas = element("canvas"), pen = canvas.getContext("2d");

for (const group of groups)
  group.members = [];
nodes.forEach((node, i) => {
  node.incoming = [];
  node.outgoing = [];
  if (node.group !== null)
    groups[node.group].members.push(i);
});
edges.forEach((edge, i) => {
  nodes[edge.producer].outgoing.push(i);
  nodes[edge.consumer].incoming.push(i);
});
const isFused = (edge) => nodes[edge.producer].group !== null && nodes[edge.producer].group === nodes[edge.consumer].group;

// Neighbouring numbers get hues far apart: steps of the golden section around the colour wheel.
const hue = (group) => (group * 222.492) % 360;
const groupFill = (node) => (node.group === null ? "#e6e9ed" : `hsl(${hue(node.group)} 70% 86%)`);
const fillOf = (node) => (node.role === "operator" ? groupFill(node) : "#ffffff");

const nodeWidth = 150, nodeHeight = 36, groupMargin = 8, groupTitle = 18;
const view = { mode: "graph", collapsed: new Set(), selected: null, matches: new Set(), scale: 1, left: 0, top: 0 };
// Of the drawing: `nodes[i]` and `groups[g]` are {x, y, w, h} (left, top) or nothing where not shown; `edges[i]` is a
// list of points.
let picture = { nodes: [], groups: [], edges: [], width: 0, height: 0 };

function layoutGraph() {
  const boxOf = new Int32Array(nodes.length), boxes = [];
  const shapes = []; // of each outer box: its group, or its node, and the inner layout
  nodes.forEach((node, i) => {
    const members = node.group === null ? [i] : groups[node.group].members;
    if (members[0] !== i) {
      boxOf[i] = boxOf[members[0]];
      return;
    }
    boxOf[i] = boxes.length;
    const shape = { group: node.group, members, inner: null };
    let box = { w: nodeWidth, h: nodeHeight };
    if (node.group !== null && members.length > 1) {
      if (view.collapsed.has(node.group)) {
        box = { w: nodeWidth + 20, h: nodeHeight + 8 };
      } else {
        const place = new Map(members.map((member, at) => [member, at]));
        const inside = [];
        for (const member of members)
          for (const e of nodes[member].outgoing)
            if (place.has(edges[e].consumer))
              inside.push([place.get(member), place.get(edges[e].consumer), e]);
        shape.inner = layeredLayout(members.map(() => ({ w: nodeWidth, h: nodeHeight })), inside, 16, 20);
        shape.inside = inside;
        box = { w: shape.inner.width + 2 * groupMargin, h: shape.inner.height + 2 * groupMargin + groupTitle };
      }
    }
    boxes.push(box);
    shapes.push(shape);
  });

  const pairs = new Map(), outer = []; // several values between two groups take one way
  edges.forEach((edge) => {
    const from = boxOf[edge.producer], to = boxOf[edge.consumer], key = from * boxes.length + to;
    if (from !== to && !pairs.has(key)) {
      pairs.set(key, outer.length);
      outer.push([from, to]);
    }
  });
  const placed = layeredLayout(boxes, outer, 28, 46);
  const result = { nodes: [], groups: [], edges: [], width: placed.width, height: placed.height };
  shapes.forEach((shape, b) => {
    const box = { x: placed.x[b] - boxes[b].w / 2, y: placed.y[b] - boxes[b].h / 2, w: boxes[b].w, h: boxes[b].h };
    if (shape.members.length > 1)
      result.groups[shape.group] = box;
    if (shape.members.length === 1)
      result.nodes[shape.members[0]] = box;
    if (!shape.inner)
      return;
    const left = box.x + groupMargin, top = box.y + groupMargin + groupTitle;
    shape.members.forEach((member, at) => {
      result.nodes[member] = { x: left + shape.inner.x[at] - nodeWidth / 2, y: top + shape.inner.y[at] - nodeHeight / 2,
        w: nodeWidth, h: nodeHeight };
    });
    shape.inside.forEach(([, , e], at) => {
      result.edges[e] = shape.inner.routes[at].map(([x, y]) => [left + x, top + y]);
    });
  });
  edges.forEach((edge, e) => {
    const from = boxOf[edge.producer], to = boxOf[edge.consumer];
    if (from !== to)
      result.edges[e] = placed.routes[pairs.get(from * boxes.length + to)];
  });
  const shown = (i) => result.nodes[i] || result.groups[nodes[i].group];
  edges.forEach((edge, e) => {
    const from = shown(edge.producer), to = shown(edge.consumer);
    if (from !== to)
      result.edges[e] = [[from.x + from.w / 2, from.y + from.h], ...(result.edges[e] || []), [to.x + to.w / 2, to.y]];
    else
      result.edges[e] = null;
  });
  return result;
}

// Roots at the top, so that a chain hangs right below the node that post-dominates it.
function layoutTree() {
  const inTree = [], place = new Map();
  nodes.forEach((node, i) => {
    if (node.role === "operator") {
      place.set(i, inTree.length);
      inTree.push(i);
    }
  });
  const links = [];
  for (const i of inTree)
    if (nodes[i].post_dominator !== null)
      links.push([place.get(nodes[i].post_dominator), place.get(i)]);
  const placed = layeredLayout(inTree.map(() => ({ w: nodeWidth, h: nodeHeight })), links, 16, 30);
  const result = { nodes: [], groups: [], edges: [], links: [], width: placed.width, height: placed.height };
  inTree.forEach((i, at) => {
    result.nodes[i] = { x: placed.x[at] - nodeWidth / 2, y: placed.y[at] - nodeHeight / 2, w: nodeWidth, h: nodeHeight };
  });
  links.forEach(([from, to], at) => {
    const a = result.nodes[inTree[from]], b = result.nodes[inTree[to]];
    result.links.push([[a.x + a.w / 2, a.y + a.h], ...placed.routes[at], [b.x + b.w / 2, b.y]]);
  });
  return result;
}

function boundsOf(points) {
  let left = Infinity, right = -Infinity;
  for (const [x] of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
  }
  return [left, points[0][1], right, points[points.length - 1][1]];
}

function relayout() {
  picture = view.mode === "tree" ? layoutTree() : layoutGraph();
  picture.bounds = picture.edges.map((points) => points && boundsOf(points));
  picture.linkBounds = (picture.links || []).map(boundsOf);
  redraw();
}

let pending = false;
function redraw() {
  if (!pending) {
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      draw();
    });
  }
}

function trace(points) {
  pen.moveTo(points[0][0], points[0][1]);
  for (let i = 1; i < points.length; ++i) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i], bend = (y1 - y0) / 2;
    pen.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  }
}

// `text` in the pen's font, cut at its front to fit `width`: exporters' names are paths, whose ends tell most.
const fittedTexts = new Map();
function fitted(text, width) {
  const key = `${pen.font} ${Math.round(width)} ${text}`;
  if (!fittedTexts.has(key)) {
    let letters = [...text], result = text;
    while (letters.length > 1 && pen.measureText(result).width > width) {
      letters = letters.slice(Math.max(1, Math.floor(letters.length / 12)));
      result = "\u2026" + letters.join("");
    }
    fittedTexts.set(key, result);
  }
  return fittedTexts.get(key);
}

function strokeEdges(which, colour, thickness, arrows = view.scale > 0.35) {
  pen.beginPath();
  for (const points of which)
    trace(points);
  pen.strokeStyle = colour;
  pen.lineWidth = thickness;
  pen.stroke();
  pen.beginPath();
  if (arrows)
    for (const points of which) {
      const [x, y] = points[points.length - 1];
      pen.moveTo(x, y);
      pen.lineTo(x - 3.5, y - 7);
      pen.lineTo(x + 3.5, y - 7);
    }
  pen.fillStyle = colour;
  pen.fill();
}

function drawBox(box, fill, border, thickness) {
  pen.beginPath();
  if (view.scale > 0.3)
    pen.roundRect(box.x, box.y, box.w, box.h, 5);
  else
    pen.rect(box.x, box.y, box.w, box.h);
  pen.fillStyle = fill;
  pen.fill();
  pen.strokeStyle = border;
  pen.lineWidth = thickness;
  pen.stroke();
}

function draw() {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  if (!nodes.length) {
    pen.fillStyle = "#5a6675";
    pen.font = "15px sans-serif";
    pen.fillText("The graph is empty.", 20, 34);
    return;
  }
  const scale = ratio * view.scale;
  pen.setTransform(scale, 0, 0, scale, -view.left * scale, -view.top * scale);
  const right = view.left + w / view.scale, bottom = view.top + h / view.scale;
  const seen = (box) => box && box.x < right && box.x + box.w > view.left && box.y < bottom && box.y + box.h > view.top;
  const seenBounds = (b) => b && b[0] < right && b[2] > view.left && b[1] < bottom && b[3] > view.top;
  const selected = view.selected, readable = view.scale > 0.45, thin = Math.max(1.2, 0.5 / view.scale);

  picture.groups.forEach((box, g) => {
    if (!seen(box))
      return;
    const chosen = selected && selected.type === "group" && selected.index === g;
    const collapsed = view.collapsed.has(g);
    drawBox(box, `hsl(${hue(g)} 70% ${collapsed ? 84 : 95}%)`, chosen ? "#c2410c" : `hsl(${hue(g)} 45% 55%)`,
      chosen ? 3 : thin);
  });

  const inside = [], apart = [], chosen = [];
  picture.edges.forEach((points, e) => {
    if (!points || !seenBounds(picture.bounds[e]))
      return;
    if (selected && ((selected.type === "edge" && selected.index === e) ||
        (selected.type === "node" && (edges[e].producer === selected.index || edges[e].consumer === selected.index))))
      chosen.push(points);
    else
      (isFused(edges[e]) ? inside : apart).push(points);
  });
  strokeEdges(apart, "#8793a1", thin);
  strokeEdges(inside, "#2e7d32", Math.max(2, thin));
  strokeEdges(chosen, "#c2410c", Math.max(2.5, 1.5 / view.scale));
  strokeEdges((picture.links || []).filter((_, i) => seenBounds(picture.linkBounds[i])), "#8793a1", thin, false);

  picture.groups.forEach((box, g) => {
    if (!readable || !seen(box))
      return;
    const collapsed = view.collapsed.has(g);
    pen.fillStyle = "#1c2430";
    pen.font = "600 11px sans-serif";
    const number = `${collapsed ? "\u25b8" : "\u25be"} ${g} `;
    const room = box.w - 12 - pen.measureText(number).width;
    pen.fillText(number + fitted(groups[g].kernel, room), box.x + 6, box.y + (collapsed ? 18 : 15));
    if (collapsed) {
      pen.font = "10px sans-serif";
      pen.fillText(`${groups[g].members.length} nodes`, box.x + 19, box.y + 33);
    }
  });

  picture.nodes.forEach((box, i) => {
    if (!seen(box))
      return;
    const node = nodes[i], hit = view.matches.has(i);
    const isChosen = selected && selected.type === "node" && selected.index === i;
    drawBox(box, hit ? "#ffe14d" : fillOf(node), isChosen ? "#c2410c" : hit ? "#9a7b00" : "#6b7785",
      isChosen || hit ? 3 : 1);
    if (!readable)
      return;
    pen.fillStyle = "#1c2430";
    pen.font = "600 11px sans-serif";
    pen.fillText(fitted(node.operator || node.role, box.w - 12), box.x + 6, box.y + 15);
    pen.font = "10px sans-serif";
    pen.fillText(fitted(node.name, box.w - 12), box.x + 6, box.y + 29);
  });
}

// Distance of a point from a drawn curve, sampled.
function distance(points, x, y) {
  let nearest = Infinity;
  for (let i = 1; i < points.length; ++i) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i];
    for (let step = 0; step <= 24; ++step) {
      // The Bezier curve that `trace` draws, whose bends lie at half height: 3 s s t + 3 s t t = 3 s t.
      const t = step / 24, s = 1 - t, dx = x0 + (x1 - x0) * t * t * (3 - 2 * t) - x;
      const dy = s * s * s * y0 + 1.5 * s * t * (y0 + y1) + t * t * t * y1 - y;
      nearest = Math.min(nearest, Math.hypot(dx, dy));
    }
  }
  return nearest;
}

// What lies at a point of the canvas: a node before an edge before the group around it.
function hitAt(px, py) {
  const x = view.left + px / view.scale, y = view.top + py / view.scale;
  const within = (box) => box && x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
  const node = picture.nodes.findIndex(within);
  if (node >= 0)
    return { type: "node", index: node };
  const reach = 7 / view.scale;
  let best = null, nearest = reach;
  picture.bounds.forEach((b, e) => {
    if (!b || x < b[0] - reach || x > b[2] + reach || y < b[1] - reach || y > b[3] + reach)
      return;
    const far = distance(picture.edges[e], x, y);
    if (far < nearest) {
      nearest = far;
      best = { type: "edge", index: e };
    }
  });
  if (best)
    return best;
  const group = picture.groups.findIndex(within);
  return group >= 0 ? { type: "group", index: group } : null;
}

function boxOfNode(i) {
  return picture.nodes[i] || picture.groups[nodes[i].group];
}

function boxOfSelection(selection) {
  if (selection.type === "node")
    return boxOfNode(selection.index);
  if (selection.type === "group")
    return picture.groups[selection.index] || boxOfNode(groups[selection.index].members[0]);
  const bounds = picture.bounds[selection.index];
  return bounds ? { x: bounds[0], y: bounds[1], w: bounds[2] - bounds[0], h: Math.min(bounds[3] - bounds[1], 400) }
    : boxOfNode(edges[selection.index].producer);
}

// Moves the view so that the selection is in its middle and can be read.
function reveal(selection) {
  const box = boxOfSelection(selection);
  if (!box)
    return;
  view.scale = Math.min(1.5, Math.max(view.scale, 0.8));
  view.left = box.x + box.w / 2 - canvas.clientWidth / view.scale / 2;
  view.top = box.y + box.h / 2 - canvas.clientHeight / view.scale / 2;
  redraw();
}

function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  const scale = Math.min(4, Math.max(view.scale * factor, smallestScale()));
  view.left += px / view.scale - px / scale;
  view.top += py / view.scale - py / scale;
  view.scale = scale;
  redraw();
}

const wholeScale = () => Math.min(canvas.clientWidth / (picture.width + 40), canvas.clientHeight / (picture.height + 40));
const smallestScale = () => Math.min(1, wholeScale()) / 2;

function fit() {
  view.scale = Math.min(1.2, Math.max(wholeScale(), 1e-4));
  view.left = picture.width / 2 - canvas.clientWidth / view.scale / 2;
  view.top = picture.height / 2 - canvas.clientHeight / view.scale / 2;
  redraw();
}

// The top of the graph at a scale at which names can be read.
function showStart() {
  if (wholeScale() >= 0.5) {
    fit();
    return;
  }
  view.scale = Math.min(1, Math.max(0.6, canvas.clientWidth / (picture.width + 40)));
  const first = picture.nodes.find((box) => box && box.y < 60) || { x: picture.width / 2, w: 0 };
  view.left = first.x + first.w / 2 - canvas.clientWidth / view.scale / 2;
  view.top = -20;
  redraw();
}
