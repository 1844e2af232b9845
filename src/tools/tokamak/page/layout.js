// layout.js - places boxes in layers so that edges lead downwards (Sugiyama, Tagawa, Toda 1981).
"use strict";

// Layers of the nodes 0..count-1: one more than the farthest predecessor's. Nodes on a cycle come last.
function layersOf(count, edges) {
  const next = Array.from({ length: count }, () => []), waiting = new Int32Array(count);
  for (const [from, to] of edges) {
    next[from].push(to);
    ++waiting[to];
  }
  const sources = [], layer = new Int32Array(count), ready = [], done = new Uint8Array(count);
  for (let i = 0; i < count; ++i)
    if (!waiting[i]) {
      ready.push(i);
      sources.push(i);
    }
  for (let at = 0; at < ready.length; ++at) {
    done[ready[at]] = 1;
    for (const to of next[ready[at]]) {
      layer[to] = Math.max(layer[to], layer[ready[at]] + 1);
      if (!--waiting[to])
        ready.push(to);
    }
  }
  let last = 0;
  for (let i = 0; i < count; ++i)
    last = Math.max(last, done[i] ? layer[i] : 0);
  for (let i = 0; i < count; ++i)
    if (!done[i])
      layer[i] = ++last;
  // A source stands right above the first that reads it.
  for (const source of sources)
    if (next[source].length) {
      let first = Infinity;
      for (const to of next[source])
        first = Math.min(first, layer[to]);
      layer[source] = Math.max(0, first - 1);
    }
  return layer;
}

// Positions for one layer: as near to `wanted` as order and widths allow, in the sense of least squares (pool
// adjacent violators).
function placeRow(row, wanted, width, gap, x) {
  const blocks = []; // of neighbours that touch: sum of wanted offsets, number, first member
  const offset = new Float64Array(row.length);
  for (let i = 1; i < row.length; ++i)
    offset[i] = offset[i - 1] + (width[row[i - 1]] + width[row[i]]) / 2 + gap;
  for (let i = 0; i < row.length; ++i) {
    let block = { sum: wanted[row[i]] - offset[i], size: 1, first: i };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].size > block.sum / block.size) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, size: before.size + block.size, first: before.first };
    }
    blocks.push(block);
  }
  for (let b = 0; b < blocks.length; ++b) {
    const end = b + 1 < blocks.length ? blocks[b + 1].first : row.length;
    for (let i = blocks[b].first; i < end; ++i)
      x[row[i]] = blocks[b].sum / blocks[b].size + offset[i];
  }
}

// boxes: [{w, h}]; edges: [[from, to]]. Returns centres {x, y}, the extent, and for each edge the points
// between its ends that lead it around boxes.
function layeredLayout(boxes, edges, gapX, gapY) {
  const count = boxes.length, layer = layersOf(count, edges);
  const width = boxes.map((box) => box.w), rows = [];
  const place = (item, at) => (rows[at] = rows[at] || []).push(item);
  for (let i = 0; i < count; ++i)
    place(i, layer[i]);
  for (let at = 0; at < rows.length; ++at)
    rows[at] = rows[at] || [];

  // An edge over several layers gets a narrow stand-in on each. Their number is bounded, so that the time is.
  const level = Array.from(layer), before = Array.from({ length: count }, () => []);
  const after = Array.from({ length: count }, () => []), chains = [];
  let room = 20000;
  for (const [from, to] of edges) {
    const span = layer[to] - layer[from], chain = [];
    let tail = from;
    if (span > 1 && span <= room) {
      room -= span - 1;
      for (let at = layer[from] + 1; at < layer[to]; ++at) {
        const item = width.length;
        width.push(6);
        level.push(at);
        before.push([tail]);
        after.push([]);
        after[tail].push(item);
        rows[at].push(item);
        chain.push(item);
        tail = item;
      }
    }
    after[tail].push(to);
    before[to].push(tail);
    chains.push(chain);
  }

  const total = width.length, order = new Float64Array(total), key = new Float64Array(total);
  const number = (row) => row.forEach((item, i) => (order[item] = i));
  rows.forEach(number);
  const rounds = total > 8000 ? 4 : 10;
  for (let round = 0; round < rounds; ++round) {
    const down = round % 2 === 0, toward = down ? before : after;
    for (let i = 0; i < rows.length; ++i) {
      const row = rows[down ? i : rows.length - 1 - i];
      for (const item of row) {
        const near = toward[item];
        let sum = 0;
        for (const other of near)
          sum += order[other] / Math.max(1, rows[level[other]].length - 1);
        key[item] = near.length ? sum / near.length : order[item] / Math.max(1, row.length - 1);
      }
      row.sort((a, b) => key[a] - key[b] || order[a] - order[b]);
      number(row);
    }
  }

  const x = new Float64Array(total), wanted = new Float64Array(total);
  for (const row of rows)
    placeRow(row, wanted, width, gapX, x);
  for (let round = 0; round < rounds; ++round) {
    const down = round % 2 === 0, toward = down ? before : after;
    for (let i = 0; i < rows.length; ++i) {
      const row = rows[down ? i : rows.length - 1 - i];
      for (const item of row) {
        const near = toward[item].length ? toward[item] : down ? after[item] : before[item];
        let sum = 0;
        for (const other of near)
          sum += x[other];
        wanted[item] = near.length ? sum / near.length : x[item];
      }
      placeRow(row, wanted, width, gapX, x);
    }
  }

  let left = 0, right = 0, bottom = 0;
  const y = new Float64Array(total);
  for (let item = 0; item < total; ++item) {
    left = Math.min(item ? left : Infinity, x[item] - width[item] / 2);
    right = Math.max(item ? right : -Infinity, x[item] + width[item] / 2);
  }
  rows.forEach((row, at) => {
    let height = 0;
    for (const item of row)
      height = Math.max(height, item < count ? boxes[item].h : 0);
    for (const item of row)
      y[item] = bottom + height / 2;
    bottom += height + (at + 1 < rows.length ? gapY : 0);
  });
  for (let item = 0; item < total; ++item)
    x[item] -= left;
  return { x, y, width: right - left, height: bottom,
    routes: chains.map((chain) => chain.map((item) => [x[item], y[item]])) };
}
