// cases.js - the real models, with the shapes at which they are checked and timed.
'use strict';
const { arrayOf } = require('./npy.js');

/** Uniform in [0, 1), from a seed (mulberry32). */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function tensor(type, dims, element) {
  const data = new (arrayOf(type))(dims.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; i++) data[i] = element(i);
  return { type, dims, data };
}

const gaussian = (random, scale) => () =>
  scale * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const normal = (dims, scale = 1) => (random) => tensor('float32', dims, gaussian(random, scale));
/** Light pages with rows of dark strokes, so that a text detector has something to find. */
const page = ([batch, channels, height, width]) => (random) => {
  const ink = new Uint8Array(height * width);
  for (let top = 16; top + 24 < height; top += 48)
    for (let left = 16; left + 16 < width - 16; left += 14)
      for (let y = top; y < top + 20; y++)
        for (let x = left; x < left + 3 + Math.floor(random() * 6); x++) ink[y * width + x] = 1;
  const noise = gaussian(random, 0.05);
  const plane = height * width;
  return tensor('float32', [batch, channels, height, width], (i) => (ink[i % plane] ? -1.8 : 2) + noise());
};
const zeros = (dims) => () => tensor('float32', dims, () => 0);
const integer = (value) => () => tensor('int64', [], () => BigInt(value));
const tokens = (dims, words) => (random) => tensor('int64', dims, () => BigInt(Math.floor(random() * words)));
/** Ones, and zeros for the last quarter of each row: padding. */
const mask = (dims) => () =>
  tensor('int64', dims, (i) => (i % dims[1] < dims[1] - Math.floor(dims[1] / 4) ? 1n : 0n));

/**
 * A case: model file, label, inputs (name -> function of a random generator); `steps` chained runs in which outputs become
 * inputs by `carry`; `quick`: part of the test suite; `timed`: part of the benchmark.
 */
const CASES = [];
function add(model, label, inputs, more = {}) {
  CASES.push({ model, file: model + '.onnx', label, inputs, steps: 1, carry: {}, ...more });
}

const det = 'ch_PP-OCRv4_det_infer', rec = 'ch_PP-OCRv4_rec_infer', cls = 'ch_ppocr_mobile_v2.0_cls_infer';
add(det, '1x3x640x640', { x: page([1, 3, 640, 640]) }, { timed: true });
add(det, '1x3x320x480', { x: page([1, 3, 320, 480]) });
add(rec, '1x3x48x320', { x: normal([1, 3, 48, 320]) }, { timed: true });
add(rec, '1x3x48x100', { x: normal([1, 3, 48, 100]) }, { quick: true });
add(cls, '1x3x48x192', { x: normal([1, 3, 48, 192]) }, { quick: true, timed: true });
for (const [side, size] of [['back', 256], ['front', 128]])
  add(`face_detection_${side}_${size}x${size}_barracuda`, `1x${size}x${size}x3`, { 'input:0': normal([1, size, size, 3]) },
      { quick: true, timed: true });

// Ten steps of speech detection: the state of one is the input of the next.
for (const rate of [16000, 8000]) {
  const samples = rate === 16000 ? 576 : 288; // a frame and the end of the one before
  add('silero_vad_v5', `${rate} Hz, 10 steps`,
      { input: normal([1, samples], 0.1), state: zeros([2, 1, 128]), sr: integer(rate) },
      { steps: 10, carry: { state: 'stateN' }, quick: true, timed: true });
}
for (const rate of [16000, 8000])
  add('silero_vad_legacy', `${rate} Hz, 10 steps`,
      { input: normal([1, rate === 16000 ? 512 : 256], 0.1), sr: integer(rate), h: zeros([2, 1, 64]), c: zeros([2, 1, 64]) },
      { steps: 10, carry: { h: 'hn', c: 'cn' }, quick: true, timed: true });

for (const model of ['resnet50', 'resnet18', 'mobilenet_v2', 'mobilenet_v3_large', 'densenet121', 'efficientnet_b0',
                     'squeezenet1_1', 'googlenet', 'inception_v3', 'vit_b_16']) {
  const size = model === 'inception_v3' ? 299 : 224;
  for (const batch of [1, 3])
    add(model, `${batch}x3x${size}x${size}`, { x: normal([batch, 3, size, size]) }, { timed: batch === 1 });
}
for (const batch of [1, 3])
  for (const length of [1, 7, 128])
    add('bert_small', `${batch}x${length}`,
        { ids: tokens([batch, length], 8000), mask: mask([batch, length]) }, { timed: batch === 1 && length === 128 });
for (const model of ['lstm', 'gru', 'rnn'])
  for (const batch of [1, 3])
    add(model, `50x${batch}x40`, { x: normal([50, batch, 40]) }, { timed: batch === 1 });

/** The inputs of step `step` of a case, without what the step before hands on. */
function inputsOf(testCase, step) {
  const inputs = {};
  Object.entries(testCase.inputs).forEach(([name, make], place) => {
    inputs[name] = make(generator(1000 * step + place + 1));
  });
  return inputs;
}

/** The cases whose model or label a word of `names` is part of; all for no words. */
function select(names) {
  const chosen = CASES.filter(({ model, label }) => !names.length || names.some((n) => `${model} ${label}`.includes(n)));
  for (const name of names)
    if (!CASES.some(({ model, label }) => `${model} ${label}`.includes(name))) throw new Error(`no case named '${name}'`);
  return chosen;
}

module.exports = { select, inputsOf };
