// Compares our token counts with npm's tiktoken, which is the authority, and with gpt-tokenizer.
//
//     node tests/tokens/compare.mjs <count_frames> [--long] [--seed N] [--part codepoints|...]
//
// Prints what it compared and the seed; exits 1 when anything differs. With --long or VCM_TEST_LONG=1
// every code point, millions of generated texts and every file of the corpus are compared.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { get_encoding } from 'tiktoken';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import { generate } from './generate.mjs';
import { departingCodePoints } from './departures.mjs';

const require = createRequire(import.meta.url);
const root = new URL('../..', import.meta.url).pathname;

const args = process.argv.slice(2);
const option = (name, fallback) =>
  args.includes(name) ? args[args.indexOf(name) + 1] : fallback;
const program = args[0];
const long = args.includes('--long') || process.env.VCM_TEST_LONG === '1';
const seed = Number(option('--seed', '20261116'));
const part = option('--part', 'all');

const CORPUS = ['/usr/include', '/usr/lib/python3', '/usr/share/perl', '/usr/share/doc',
  join(root, 'node_modules')];
const CORPUS_NAMES = /(\.(h|hpp|py|pl|pm|txt|md|js|mjs|cjs|ts|json|html|css)|\/copyright)$/;
const FILE_BYTES_MAX = 512 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;

const secondary = { o200k_base: o200k, cl100k_base: cl100k };
const asPlainText = { disallowedSpecial: new Set() };
const compared = {};
let differences = 0;

function report(encoding, other, text, expected, found) {
  differences++;
  const shown = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  console.log(`${encoding}: ${other} counts ${expected}, we count ${found}: ${shown}`);
  if (differences >= 20) finish();
}

function finish() {
  console.log(`seed ${seed}${long ? ', long' : ''}: ${JSON.stringify(compared)}`);
  console.log(differences ? 'DIFFERENT' : 'no difference');
  process.exit(differences ? 1 : 0);
}

// Counts all byte strings with our program.
function ours(encoding, frames) {
  const pieces = [];
  for (const bytes of frames) {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(bytes.length);
    pieces.push(head, bytes);
  }
  const run = spawnSync(program, [encoding, String(seed)],
    { input: Buffer.concat(pieces), maxBuffer: 1 << 30, stdio: ['pipe', 'pipe', 'inherit'] });
  if (run.status !== 0 || run.stdout.length !== 4 * frames.length) {
    console.log(`${program} failed with ${run.status ?? run.signal}, seed ${seed}`);
    process.exit(1);
  }
  return new Uint32Array(run.stdout.buffer.slice(run.stdout.byteOffset,
    run.stdout.byteOffset + run.stdout.length));
}

class Comparison {
  constructor(encoding) {
    this.encoding = encoding;
    this.authority = get_encoding(encoding);
    this.departing = departingCodePoints(encoding);
    this.frames = [];
    this.bytes = 0;
  }

  add(name, bytes) {
    this.frames.push(bytes);
    this.bytes += bytes.length;
    const counts = (compared[name] ??= { texts: 0, bytes: 0 });
    counts.texts++;
    counts.bytes += bytes.length;
    if (this.bytes > BATCH_BYTES) this.flush();
  }

  departs(text) {
    for (const character of text) if (this.departing.has(character.codePointAt(0))) return true;
    return false;
  }

  flush() {
    const counts = ours(this.encoding, this.frames);
    this.frames.forEach((bytes, i) => {
      const text = bytes.toString('utf8');
      const expected = this.authority.encode_ordinary(text).length;
      if (expected !== counts[i]) report(this.encoding, 'tiktoken', text, expected, counts[i]);
      // The second opinion is asked about fewer texts: it is there to doubt the authority.
      if (i % 4 === 0 && !this.departs(text)) {
        const second = secondary[this.encoding].countTokens(text, asPlainText);
        if (second !== counts[i]) report(this.encoding, 'gpt-tokenizer', text, second, counts[i]);
      }
    });
    this.frames = [];
    this.bytes = 0;
  }
}

// Each code point where its class moves the ends of the pieces around it.
function codePointText(codePoint) {
  const c = String.fromCodePoint(codePoint);
  const line = `${c}'s a${c}a ${c} ${c}${c}x 1${c}23A${c}B${c}b '${c}${c}\n`;
  return `${line} ${c}/${c}\r\n\t${c}  ${c}K${c}'LL`;
}

function compareCodePoints(comparison) {
  const stride = long ? 1 : 97;
  for (let codePoint = 0; codePoint < 0x110000; codePoint += codePoint < 0x800 ? 1 : stride) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    comparison.add('codepoints', Buffer.from(codePointText(codePoint)));
  }
}

function compareGenerated(comparison) {
  const texts = long ? 2000000 : 12000;
  const next = generate(seed);
  for (let i = 0; i < texts; i++) comparison.add('generated', next());
}

function* files(folder) {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (entry.isFile() && CORPUS_NAMES.test(path)) yield path;
  }
}

function compareCorpus(comparison) {
  const stride = long ? 1 : 97;
  const sizeMax = long ? FILE_BYTES_MAX : 65536;
  let budget = long ? Infinity : 2 * 1024 * 1024;
  let index = 0;
  for (const folder of CORPUS) {
    for (const path of files(folder)) {
      if (index++ % stride !== 0 || lstatSync(path).size > sizeMax) continue;
      const bytes = readFileSync(path);
      if ((budget -= bytes.length) < 0) return;
      comparison.add('corpus', bytes);
    }
  }
}

// The committed list of departures is the true one: each of them does depart.
function compareDepartures(encoding, authority) {
  const table = require('./departures.json');
  for (const [text, why] of table[encoding]) {
    const first = authority.encode_ordinary(text).length;
    const second = secondary[encoding].countTokens(text, asPlainText);
    if (first === second)
      report(encoding, `gpt-tokenizer, listed because ${why},`, text, second, first);
  }
}

console.log(`seed ${seed}, Unicode of this Node: ${process.versions.unicode}`);
for (const encoding of ['o200k_base', 'cl100k_base']) {
  const comparison = new Comparison(encoding);
  if (part === 'all' || part === 'departures') compareDepartures(encoding, comparison.authority);
  if (part === 'all' || part === 'codepoints') compareCodePoints(comparison);
  if (part === 'all' || part === 'generated') compareGenerated(comparison);
  if (part === 'all' || part === 'corpus') compareCorpus(comparison);
  comparison.flush();
}
finish();
