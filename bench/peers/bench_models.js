#!/usr/bin/env node
// bench_models.js - real models, timed beside the peer in turn, so that both see the same machine.
'use strict';
const fs = require('fs');
const path = require('path');
const { select, inputsOf } = require('./cases.js');
const tokamak = require('./tokamak.js');

const USAGE = `usage: bench-models [--fusion none|dominator|full] [--threads N] [--rounds N] [--runs N] [--cpus LIST]
                    [--table FILE] [NAME...]
Times compiled models and the peer alternately, --rounds times each, every process pinned to --cpus (the last processors
by default). Prints the median of the medians of both, and their ratio (above 1: the compiled model is slower).`;

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

function parse(words) {
  const options = { fusion: 'dominator', threads: 1, rounds: 3, runs: 15, names: [] };
  for (let i = 0; i < words.length; i++) {
    const key = words[i].slice(2);
    if (['threads', 'rounds', 'runs'].includes(key)) options[key] = Number(words[++i]);
    else if (['fusion', 'cpus', 'table'].includes(key)) options[key] = words[++i];
    else if (!words[i].startsWith('-')) options.names.push(words[i]);
    else {
      console.error(USAGE);
      process.exit(2);
    }
  }
  const last = require('os').cpus().length - 1;
  options.cpus ??= `${Math.max(0, last + 1 - options.threads)}-${last}`;
  return options;
}

/** Both sides of one case: {ours, theirs, kernels, compile} in ms. */
async function measure(testCase, options, directory) {
  const file = tokamak.modelFile(testCase);
  const words = [file, ...tokamak.inputWords(directory, inputsOf(testCase, 0)), '--threads', String(options.threads),
                 '--runs', String(options.runs)];
  const pinned = (...command) => JSON.parse(tokamak.output('taskset', ['-c', options.cpus, ...command]));
  const ours = [], theirs = [];
  let report;
  for (let round = 0; round < options.rounds; round++) {
    report = pinned(tokamak.COMMAND, 'bench', ...words, '--fusion', options.fusion, '--json');
    ours.push(report.median_ms);
    theirs.push(pinned(process.execPath, path.join(__dirname, 'peer.js'), ...words).median_ms);
  }
  return { ours: median(ours), theirs: median(theirs), kernels: report.kernels, compile: report.compile_ms };
}

async function main() {
  const options = parse(process.argv.slice(2));
  const rows = [];
  for (const testCase of select(options.names).filter(({ timed }) => timed)) {
    let cells;
    try {
      const result = await tokamak.withDirectory((directory) => measure(testCase, options, directory));
      const ms = (value) => value.toPrecision(3);
      cells = [ms(result.ours), ms(result.theirs), (result.ours / result.theirs).toFixed(2), result.kernels,
               Math.round(result.compile)];
    } catch (error) {
      cells = [error.message, '', '', '', ''];
    }
    rows.push(`| ${[testCase.model, testCase.label, ...cells].join(' | ')} |`);
    console.log(rows[rows.length - 1]);
  }
  if (options.table) {
    fs.writeFileSync(options.table, `# Performance beside the peer

Written by \`scripts/bench-models --table docs/performance.md\`: fusion \`${options.fusion}\`, ${options.threads} thread(s), ${options.rounds}
rounds in turn of ${options.runs} runs, median of medians. A ratio above 1 means that the compiled model is slower. The
peer is called from JavaScript, which adds up to 0.1 ms a run: for the smallest models the ratio says little.

| model | shape | Tokamak, ms | peer, ms | ratio | kernels | compile, ms |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`);
  }
}

main().catch((error) => {
  console.error(`bench-models: ${error.message}`);
  process.exit(1);
});
