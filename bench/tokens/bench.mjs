// Counts tokens with vcm and with the tokenizers of npm in one run, and prints the ratios.
//
//     cmake --preset release -DVCM_BENCH=ON && ninja -C build/release bench_tokens
//     node bench/tokens/bench.mjs [build/release/bench/tokens/bench_tokens] [--quick]
//
// Texts: source (C headers, Python, JavaScript) and prose (documentation), as installed here. Each
// contestant counts the same files, each file at once, in the same rounds; the best round counts,
// because the machine may be busy. Then: both cores, time against length, and a 1 GB file.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync,
  writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { get_encoding } from 'tiktoken';
import Tokenizer from 'ai-tokenizer';

const root = new URL('../..', import.meta.url).pathname;
const quick = process.argv.includes('--quick');
const program = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ??
  join(root, 'build/release/bench/tokens/bench_tokens');
const ROUNDS = quick ? 2 : 5;
const SECONDS = quick ? 0.3 : 1;
const GROUP_BYTES = quick ? 1e6 : 4e6;
const GROUPS = {
  source: [['/usr/include', /\.h$/], ['/usr/lib/python3', /\.py$/],
    [join(root, 'node_modules/gpt-tokenizer/src'), /\.ts$/]],
  prose: [['/usr/share/doc', /\.(txt|md|rst)$|README|NEWS/]],
};

function* filesUnder(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesUnder(path);
    else if (entry.isFile()) yield path;
  }
}

// Files of 4 to 256 KB, spread evenly over each folder.
function choose(sources) {
  const chosen = [];
  for (const [folder, names] of sources) {
    const found = [...filesUnder(folder)].filter((path) => names.test(path) && !/\.gz$/.test(path) &&
      statSync(path).size >= 4096 && statSync(path).size <= 262144);
    const bytes = found.reduce((sum, path) => sum + statSync(path).size, 0);
    const stride = Math.max(1, Math.floor(bytes / GROUP_BYTES));
    chosen.push(...found.filter((_, i) => i % stride === 0));
  }
  return chosen;
}

const contestants = {
  'gpt-tokenizer': async (encoding) => {
    const { countTokens } = await import(`gpt-tokenizer/encoding/${encoding}`);
    const plain = { disallowedSpecial: new Set() };
    return (text) => countTokens(text, plain);
  },
  'ai-tokenizer': async (encoding) => {
    const tokenizer = new Tokenizer(await import(`ai-tokenizer/encoding/${encoding}`));
    return (text) => tokenizer.count(text);
  },
  'tiktoken (wasm)': async (encoding) => {
    const tokenizer = get_encoding(encoding);
    return (text) => tokenizer.encode_ordinary(text).length;
  },
};

function ours(...args) {
  return JSON.parse(execFileSync(program, args.map(String), { encoding: 'utf8' }));
}

function oursSpeed(encoding, threads, paths) {
  const { bytes, passes, seconds, tokens } = ours('count', encoding, threads, SECONDS, ...paths);
  return { speed: (bytes * passes) / seconds / 1e6, tokens };
}

function theirsSpeed(count, texts, bytes) {
  const start = process.hrtime.bigint();
  let tokens = 0;
  for (const text of texts) tokens += count(text);
  return { speed: bytes / Number(process.hrtime.bigint() - start) * 1e3, tokens };
}

async function compareSpeeds(encoding, group, paths) {
  const texts = paths.map((path) => readFileSync(path, 'utf8'));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const best = { vcm: { speed: 0 } };
  const counts = new Map();
  for (const name of Object.keys(contestants)) {
    counts.set(name, await contestants[name](encoding));
    best[name] = { speed: 0 };
  }
  const keep = (name, result) => {
    if (result.speed > best[name].speed) best[name] = result;
  };
  for (let round = 0; round < ROUNDS; round++) {
    keep('vcm', oursSpeed(encoding, 1, paths));
    for (const [name, count] of counts) keep(name, theirsSpeed(count, texts, bytes));
  }
  const both = { speed: 0 };
  for (let round = 0; round < ROUNDS; round++)
    both.speed = Math.max(both.speed, oursSpeed(encoding, cpus().length, paths).speed);

  console.log(`\n${encoding}, ${group}: ${paths.length} files, ${(bytes / 1e6).toFixed(1)} MB`);
  for (const [name, { speed, tokens }] of Object.entries(best)) {
    const ratio = (best.vcm.speed / speed).toFixed(1);
    console.log(`  ${name.padEnd(16)} ${speed.toFixed(1).padStart(7)} MB/s  ${tokens} tokens` +
      (name === 'vcm' ? '' : `  vcm is ${ratio} times as fast`));
  }
  console.log(`  vcm, ${cpus().length} threads   ${both.speed.toFixed(1).padStart(6)} MB/s  ` +
    `${(both.speed / best.vcm.speed).toFixed(2)} times one`);
}

function compareLengths(folder) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let state = 1;
  const base64 = () => alphabet[(state = (state * 48271) % 2147483647) % 64];
  const makers = { a: () => 'a', space: () => ' ', newline: () => '\n', base64, letters: () => {
    let c = base64();
    while (!/[a-z]/.test(c)) c = base64();
    return c;
  } };
  console.log('\nmilliseconds for 1, 2 and 4 MB of one kind, o200k_base');
  for (const [name, next] of Object.entries(makers)) {
    const times = [1, 2, 4].map((megabytes) => {
      const path = join(folder, 'run');
      writeFileSync(path, Array.from({ length: megabytes * 1e6 }, next).join(''));
      let best = Infinity;
      for (let round = 0; round < ROUNDS; round++)
        best = Math.min(best, ours('stream', 'o200k_base', path).seconds * 1e3);
      return best;
    });
    console.log(`  ${name.padEnd(8)} ${times.map((time) => time.toFixed(1).padStart(8)).join('')}` +
      `   4 MB take ${(times[2] / times[0]).toFixed(2)} times as long as 1 MB`);
  }
}

function countGigabyte(folder, paths) {
  const path = join(folder, 'gigabyte');
  const text = Buffer.concat(paths.map((each) => readFileSync(each)));
  const fd = openSync(path, 'w');
  let size = 0;
  while (size < 1e9) size += writeSync(fd, text);
  closeSync(fd);
  const { bytes, tokens, seconds, peak_kib: peak } = ours('stream', 'o200k_base', path);
  console.log(`\na file of ${(bytes / 1e9).toFixed(2)} GB: ${tokens} tokens in ` +
    `${seconds.toFixed(1)} s, peak memory ${(peak / 1024).toFixed(1)} MiB`);
}

console.log(`${cpus().length} x ${cpus()[0].model}, Node ${process.versions.node}`);
const chosen = Object.fromEntries(Object.entries(GROUPS).map(([name, from]) => [name, choose(from)]));
for (const encoding of ['o200k_base', 'cl100k_base'])
  for (const [group, paths] of Object.entries(chosen)) await compareSpeeds(encoding, group, paths);
const folder = mkdtempSync(join(tmpdir(), 'vcm-bench-'));
try {
  compareLengths(folder);
  if (!quick) countGigabyte(folder, chosen.source);
} finally {
  rmSync(folder, { recursive: true });
}
