#!/usr/bin/env node
// check_models.js - real models, compiled and in the peer, on the same inputs.
'use strict';
const fs = require('fs');
const { select, inputsOf } = require('./cases.js');
const npy = require('./npy.js');
const peer = require('./peer.js');
const tokamak = require('./tokamak.js');

const USAGE = `usage: check-models [--fusion none|dominator|full] [--threads N] [--target-cpu CPU] [--quick] [--table FILE]
                    [NAME...]
Checks max |a - b| <= 1e-4 max(1, max |b|) for each output a of the compiled model and b of the peer, and that there are
fewer kernels than nodes. NAME is a part of a model's name or of its shape. --quick: only the cases of the test suite.
--table writes the results as a Markdown table.`;
const TOLERANCE = 1e-4;

/** max |a - b| / max(1, max |b|); infinite where types or shapes differ, or only one is NaN or infinite. */
function relativeError(a, b) {
  if (a.type !== b.type || a.dims.join() !== b.dims.join()) return Infinity;
  let difference = 0, scale = 1;
  for (let i = 0; i < b.data.length; i++) {
    const x = Number(a.data[i]), y = Number(b.data[i]);
    if (Object.is(x, y) || x === y) continue;
    if (!Number.isFinite(x) || !Number.isFinite(y)) return Infinity;
    difference = Math.max(difference, Math.abs(x - y));
  }
  for (const y of b.data) if (Number.isFinite(Number(y))) scale = Math.max(scale, Math.abs(Number(y)));
  return difference / scale;
}

/** Runs all steps of a case in both: {error: the largest, nodes, kernels}. */
async function compare(testCase, words, threads, directory) {
  const file = tokamak.modelFile(testCase);
  const session = await peer.createSession(file, threads);
  let largest = 0, report;
  let handedOn = [{}, {}]; // of the compiled model, of the peer
  for (let step = 0; step < testCase.steps; step++) {
    const inputs = inputsOf(testCase, step);
    const wanted = await peer.run(session, { ...inputs, ...handedOn[1] });
    const inputWords = tokamak.inputWords(directory, { ...inputs, ...handedOn[0] });
    report = JSON.parse(
      tokamak.output(tokamak.COMMAND, ['run', file, ...words, ...inputWords, '--output-dir', directory, '--json']));
    const got = {};
    for (const name of Object.keys(wanted)) {
      got[name] = npy.read(peer.outputFile(directory, name));
      largest = Math.max(largest, relativeError(got[name], wanted[name]));
    }
    handedOn = [got, wanted].map((outputs) =>
      Object.fromEntries(Object.entries(testCase.carry).map(([input, output]) => [input, outputs[output]])));
  }
  await session.release();
  return { error: largest, nodes: report.nodes, kernels: report.kernels };
}

function parse(words) {
  const options = { fusion: 'full', threads: 2, names: [] };
  for (let i = 0; i < words.length; i++) {
    if (words[i] === '--fusion') options.fusion = words[++i];
    else if (words[i] === '--threads') options.threads = Number(words[++i]);
    else if (words[i] === '--target-cpu') options.cpu = words[++i];
    else if (words[i] === '--quick') options.quick = true;
    else if (words[i] === '--table') options.table = words[++i];
    else if (!words[i].startsWith('-')) options.names.push(words[i]);
    else {
      console.error(USAGE);
      process.exit(2);
    }
  }
  return options;
}

async function main() {
  const options = parse(process.argv.slice(2));
  const runWords = ['--fusion', options.fusion, '--threads', String(options.threads),
                    ...(options.cpu ? ['--target-cpu', options.cpu] : [])];
  const rows = [];
  let failed = 0;
  for (const testCase of select(options.names).filter(({ quick }) => quick || !options.quick)) {
    let row;
    try {
      const { error, nodes, kernels } =
        await tokamak.withDirectory((directory) => compare(testCase, runWords, options.threads, directory));
      const fewer = options.fusion === 'none' || kernels < nodes;
      row = { nodes, kernels, error: error.toExponential(1), verdict: error > TOLERANCE ? 'WRONG' : fewer ? 'ok' : 'UNFUSED' };
    } catch (error) {
      row = { nodes: '', kernels: '', error: '', verdict: error.message };
    }
    if (row.verdict !== 'ok') failed++;
    rows.push(`| ${[testCase.model, testCase.label, row.nodes, row.kernels, row.error, row.verdict].join(' | ')} |`);
    console.log(rows[rows.length - 1]);
  }
  if (options.table) {
    fs.writeFileSync(options.table, `# Real models

Written by \`scripts/check-models --table docs/models.md\`: fusion \`${options.fusion}\`, ${options.threads} threads. The error is
max |a - b| / max(1, max |b|) over all outputs (and steps) against the peer runtime, and must not exceed ${TOLERANCE}.

| model | shape | nodes | kernels | error | |
|---|---|---|---|---|---|
${rows.join('\n')}
`);
  }
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

module.exports = { compare, TOLERANCE };
if (require.main === module) {
  main().catch((error) => {
    console.error(`check-models: ${error.message}`);
    process.exit(1);
  });
}
