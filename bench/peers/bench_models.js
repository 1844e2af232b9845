#!/usr/bin/env node
// bench_models.js - real models, timed beside the peer in turn, so that both see the same machine.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { select, inputsOf } = require('./cases.js');
const { compare, TOLERANCE } = require('./check_models.js');
const tokamak = require('./tokamak.js');

const USAGE = `usage: bench-models [--fusion none|dominator|full] [--threads N[,N...]] [--rounds N] [--runs N] [--cpus LIST]
                    [--table FILE.md] [--chart FILE.svg] [NAME...]
Times compiled models, the same with --exact, and the peer in turn, --rounds times each, every process pinned to --cpus
(the last processors by default). Prints medians of medians, and how many times as fast as the peer the compiled model
is: the median of the rounds' ratios, and the lowest and highest. The outputs of both are compared as check-models does.
"of bound" is the time that peak and bandwidths as \`tokamak calibrate\` measured them leave to the kernels, of ours.`;

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

function parse(words) {
  const options = { fusion: 'full', threads: '1', rounds: 3, runs: 15, names: [] };
  for (let i = 0; i < words.length; i++) {
    const key = words[i].slice(2);
    if (['rounds', 'runs'].includes(key)) options[key] = Number(words[++i]);
    else if (['fusion', 'threads', 'cpus', 'table', 'chart'].includes(key)) options[key] = words[++i];
    else if (!words[i].startsWith('-')) options.names.push(words[i]);
    else {
      console.error(USAGE);
      process.exit(2);
    }
  }
  options.threads = options.threads.split(',').map(Number);
  return options;
}

/** The last processors, as many as there are threads. */
function lastProcessors(threads) {
  const last = os.cpus().length - 1;
  return `${Math.max(0, last + 1 - threads)}-${last}`;
}

/** All sides of one case: times in ms, ratios by round, {ours, exact, theirs, fast, exactFast, bound, rates, kernels, compile, error}. */
async function measure(testCase, threads, options, directory) {
  const fusion = ['--fusion', options.fusion];
  const { error } = await compare(testCase, fusion, threads, directory);
  const file = tokamak.modelFile(testCase);
  const words = [file, ...tokamak.inputWords(directory, inputsOf(testCase, 0)), '--threads', String(threads),
                 '--runs', String(options.runs)];
  const cpus = options.cpus ?? lastProcessors(threads);
  const pinned = (...command) => JSON.parse(tokamak.output('taskset', ['-c', cpus, ...command]));
  const ours = [], exact = [], theirs = [];
  let report;
  for (let round = 0; round < options.rounds; round++) {
    // Compiled each time: what a compilation takes is a column.
    report = pinned(tokamak.COMMAND, 'bench', ...words, ...fusion, '--no-cache', '--json');
    ours.push(report.median_ms);
    theirs.push(pinned(process.execPath, path.join(__dirname, 'peer.js'), ...words).median_ms);
    exact.push(pinned(tokamak.COMMAND, 'bench', ...words, ...fusion, '--exact', '--json').median_ms);
  }
  const { profile, rates_from: rates } = pinned(tokamak.COMMAND, 'bench', ...words, ...fusion, '--profile', '--json');
  const bound = profile.reduce((sum, kernel) => sum + kernel.bound_ms, 0) / threads / median(ours);
  const ratios = (times) => theirs.map((time, round) => time / times[round]);
  return { ours: median(ours), exact: median(exact), theirs: median(theirs), fast: ratios(ours), exactFast: ratios(exact),
           bound, rates, kernels: report.kernels, compile: report.compile_ms, error };
}

const ms = (value) => value.toPrecision(3);

function cellsOf(result) {
  const spread = `${Math.min(...result.fast).toFixed(2)} to ${Math.max(...result.fast).toFixed(2)}`;
  return [ms(result.ours), ms(result.theirs), `**${median(result.fast).toFixed(2)}**`, spread,
          median(result.exactFast).toFixed(2), `${Math.round(100 * result.bound)} %`, result.kernels, Math.round(result.compile), result.error.toExponential(0)];
}

function tableText(sections, options) {
  const parts = sections.map(({ threads, rows }) => `## ${threads} thread${threads > 1 ? 's' : ''}

| model | shape | Tokamak, ms | peer, ms | times as fast | lowest to highest | with --exact | of bound | kernels | compile, ms | error |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`);
  return `# Performance beside the peer

Written by \`scripts/bench-models --threads ${options.threads.join(',')} --table docs/performance.md --chart docs/performance.svg\`: fusion
\`${options.fusion}\`, batch 1, ${options.rounds} rounds of Tokamak, peer, Tokamak with \`--exact\` in turn, ${options.runs} runs each, pinned. Times are
medians of medians; "times as fast" is the peer's time over ours, the median of the rounds' ratios. The outputs of both are
compared (error: as in [models.md](models.md), at most ${TOLERANCE}). The peer is called from JavaScript, which adds up to 0.1 ms a
run: for the smallest models the ratio says little. "Of bound" is what the kernels would take at best, added up, of our time
on all threads: of each the longer of its arithmetic at the peak and its bytes at the bandwidths of their levels, as
\`tokamak calibrate\` measures them. Taps on padding count for none, and convolutions by minimal filtering with the
multiplications that are left.

![times as fast as the peer](performance.svg)

${parts.join('\n')}`;
}

async function main() {
  const options = parse(process.argv.slice(2));
  const sections = [], measured = [];
  for (const threads of options.threads) {
    const rows = [], results = [];
    const show = (...cells) => {
      rows.push(`| ${cells.join(' | ')} |`);
      console.log(rows[rows.length - 1]);
    };
    for (const testCase of select(options.names).filter(({ timed }) => timed)) {
      try {
        const result = await tokamak.withDirectory((directory) => measure(testCase, threads, options, directory));
        if (result.error > TOLERANCE) throw new Error(`outputs differ by ${result.error}`);
        results.push(result);
        measured.push({ threads, model: testCase.model, shape: testCase.label, fast: result.fast, exact: median(result.exactFast) });
        show(testCase.model, testCase.label, ...cellsOf(result));
        if (result.rates === 'defaults') console.error('bench-models: "of bound" is of default rates: run tokamak calibrate');
      } catch (error) {
        show(testCase.model, testCase.label, error.message, '', '', '', '', '', '', '', '');
        process.exitCode = 1;
      }
    }
    const showMean = (name, among) => {
      if (!among.length) return;
      const mean = (key) => geometricMean(among.map((result) => median(result[key]))).toFixed(2);
      show(name, '', '', '', `**${mean('fast')}**`, '', mean('exactFast'), '', '', '', '');
    };
    showMean('geometric mean', results);
    showMean('of those that take the peer 1 ms and more', results.filter(({ theirs }) => theirs >= 1));
    sections.push({ threads, rows });
  }
  if (options.table) fs.writeFileSync(options.table, tableText(sections, options));
  if (options.chart) {
    const script = path.join(tokamak.ROOT, 'bench/figures/performance.py');
    await tokamak.withDirectory((directory) => {
      const data = path.join(directory, 'measured.json');
      fs.writeFileSync(data, JSON.stringify(measured));
      tokamak.output('python3', [script, data, options.chart]);
    });
  }
}

main().catch((error) => {
  console.error(`bench-models: ${error.message}`);
  process.exit(1);
});
