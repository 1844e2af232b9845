#!/usr/bin/env node
// peer.js - runs a model in the peer runtime (ONNX Runtime) with the command line of `tokamak run` and `bench`.
'use strict';
const fs = require('fs');
const path = require('path');
const npy = require('./npy.js');

const USAGE = `usage: peer.js MODEL.onnx --input NAME=FILE.npy... [--threads N] [--runs N] [--output-dir DIR]
Runs once, or --runs times after a warm-up, all graph optimizations on. Writes DIR/NAME.npy and prints one JSON object:
model, threads, runs, min_ms, median_ms, max_ms, outputs.`;

/** The file in which an output is stored: as the command names it. */
function outputFile(directory, name) {
  return path.join(directory, name.replace(/[^A-Za-z0-9._-]/g, '_') + '.npy');
}

/** A session of the model; the package is loaded on first use. */
function createSession(model, threads) {
  const ort = require('onnxruntime-node');
  return ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
}

/** Runs `session` on {name: {type, dims, data}}; returns the same for the outputs. */
async function run(session, inputs) {
  const { Tensor } = require('onnxruntime-node');
  const feeds = {};
  for (const name of session.inputNames) {
    if (!inputs[name]) throw new Error(`no value for input ${name}`);
    feeds[name] = new Tensor(inputs[name].type, inputs[name].data, inputs[name].dims);
  }
  const results = await session.run(feeds);
  return Object.fromEntries(
    session.outputNames.map((name) => [name, { type: results[name].type, dims: results[name].dims, data: results[name].data }]),
  );
}

function usage() {
  console.error(USAGE);
  process.exit(2);
}

async function main() {
  const options = { inputs: {}, threads: 1, runs: 1 };
  const words = process.argv.slice(2);
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === '--input') {
      const [name, file] = words[++i].split(/=(?=[^=]*$)/);
      options.inputs[name] = npy.read(file);
    } else if (word === '--threads') options.threads = Number(words[++i]);
    else if (word === '--runs') options.runs = Number(words[++i]);
    else if (word === '--output-dir') options.outputDir = words[++i];
    else if (!word.startsWith('-') && !options.model) options.model = word;
    else usage();
  }
  if (!options.model) usage();
  const session = await createSession(options.model, options.threads);
  let outputs;
  const times = [];
  for (let i = options.runs > 1 ? -3 : 0; i < options.runs; i++) {
    const start = process.hrtime.bigint();
    outputs = await run(session, options.inputs);
    if (i >= 0) times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  times.sort((a, b) => a - b);
  if (options.outputDir) {
    fs.mkdirSync(options.outputDir, { recursive: true });
    for (const [name, tensor] of Object.entries(outputs)) npy.write(outputFile(options.outputDir, name), tensor);
  }
  const report = {
    model: options.model,
    threads: options.threads,
    runs: options.runs,
    min_ms: times[0],
    median_ms: times[times.length >> 1],
    max_ms: times[times.length - 1],
    outputs: Object.entries(outputs).map(([name, { type, dims }]) => ({ name, type, shape: dims })),
  };
  console.log(JSON.stringify(report));
}

module.exports = { createSession, run, outputFile };
if (require.main === module) {
  main().catch((error) => {
    console.error(`peer: ${error.message}`);
    process.exit(1);
  });
}
