// tokamak.js - calls of the command under test.
'use strict';
const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const npy = require('./npy.js');

const ROOT = path.resolve(__dirname, '../..');
const COMMAND = process.env.TOKAMAK || path.join(ROOT, 'build/bin/tokamak');

/** Runs a command to its end; returns what it prints, or throws with its last line of complaint. */
function output(command, words) {
  const result = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (result.error) throw result.error;
  if (result.status !== 0) {
    const reason = result.stderr.trim().split('\n').pop() || `signal ${result.signal}`;
    throw new Error(`exit ${result.status}: ${reason}`);
  }
  return result.stdout;
}

/** Writes `inputs` into `directory`; returns the words that name them on a command line. */
function inputWords(directory, inputs) {
  return Object.entries(inputs).flatMap(([name, tensor], place) => {
    const file = path.join(directory, `input${place}.npy`);
    npy.write(file, tensor);
    return ['--input', `${name}=${file}`];
  });
}

function modelFile(testCase) {
  const file = path.join(ROOT, 'models', testCase.file);
  if (!fs.existsSync(file)) throw new Error('missing: run scripts/fetch-models and scripts/export-models');
  return file;
}

/** Calls `body` with a new directory, which is removed afterwards. */
async function withDirectory(body) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'tokamak-'));
  try {
    return await body(directory);
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

module.exports = { ROOT, COMMAND, output, inputWords, modelFile, withDirectory };
