// Counts tokens with vcm and with the tokenizers of npm in one run, and prints the ratios.
//
//     cmake --preset release -DVCM_BENCH=ON && ninja -C build/release bench_tokens
//     node bench/tokens/bench.mjs [build/release/bench/tokens/bench_tokens] [--quick]
//
// Texts: source (C headers, Python, TypeScript) and prose (documentation), as installed here. Each
// contestant has a process of its own for each encoding and group, counts the same files, each file
// at once, in some rounds; the best round counts, because the machine may be busy.
// Then: all cores, time against length, and a 1 GB file.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync,
  writeFileSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const quick = process.argv.includes('--quick');
const program = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ??
  join(root, 'build/release/bench/tokens/bench_tokens');
const ROUNDS = quick ? 2 : 4;
const SECONDS = quick ? 0.3 : 1;
const GROUP_BYTES = quick ? 1e6 : 8e6; // of each folder
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
    const found = [...filesUnder(folder)].filter((path) => names.test(path) &&
      !path.endsWith('.gz') && statSync(path).size >= 4096 && statSync(path).size <= 262144);
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
    const { default: Tokenizer } = await import('ai-tokenizer');
    const tokenizer = new Tokenizer(await import(`ai-tokenizer/encoding/${encoding}`));
    return (text) => tokenizer.count(text);
  },
  'tiktoken (wasm)': async (encoding) => {
    const { get_encoding } = await import('tiktoken');
    const tokenizer = get_encoding(encoding);
    return (text) => tokenizer.encode_ordinary(text).length;
  },
};

function ours(...args) {
  return JSON.parse(execFileSync(program, args.map(String), { encoding: 'utf8' }));
}

function best(results) {
  return results.reduce((a, b) => (a.speed > b.speed ? a : b));
}

function rounds(run) {
  return best(Array.from({ length: ROUNDS }, run));
}

function oursSpeed(encoding, threads, paths) {
  return rounds(() => {
    const { bytes, passes, seconds, tokens } = ours('count', encoding, threads, SECONDS, ...paths);
    return { speed: (bytes * passes) / seconds / 1e6, tokens };
  });
}

// The part of this script that runs in a process of its own.
async function runPeer(name, encoding, group) {
  const paths = choose(GROUPS[group]);
  const texts = paths.map((path) => readFileSync(path, 'utf8'));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const count = await contestants[name](encoding);
  console.log(JSON.stringify(rounds(() => {
    const start = process.hrtime.bigint();
    let tokens = 0;
    for (const text of texts) tokens += count(text);
    return { speed: bytes / Number(process.hrtime.bigint() - start) * 1e3, tokens };
  })));
}

function theirsSpeed(name, encoding, group) {
  const args = [new URL(import.meta.url).pathname, '--peer', name, encoding, group];
  if (quick) args.push('--quick');
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

function compareSpeeds(encoding, group, paths) {
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const one = oursSpeed(encoding, 1, paths);
  const all = oursSpeed(encoding, cpus().length, paths);
  const line = (name, speed, rest) =>
    console.log(`  ${name.padEnd(16)} ${speed.toFixed(1).padStart(6)} MB/s  ${rest}`);
  console.log(`\n${encoding}, ${group}: ${paths.length} files, ${(bytes / 1e6).toFixed(1)} MB`);
  line('vcm', one.speed, `${one.tokens} tokens`);
  line(`vcm, ${cpus().length} threads`, all.speed,
    `${(all.speed / one.speed).toFixed(2)} times one`);
  for (const name of Object.keys(contestants)) {
    const { speed, tokens } = theirsSpeed(name, encoding, group);
    line(name, speed, `${tokens} tokens; vcm is ${(one.speed / speed).toFixed(1)} times as fast`);
  }
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
      return 1e3 / rounds(() => ({ speed: 1 / ours('stream', 'o200k_base', path).seconds })).speed;
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

function main() {
  console.log(`${cpus().length} x ${cpus()[0].model}, Node ${process.versions.node}`);
  const chosen = {};
  for (const [name, from] of Object.entries(GROUPS)) chosen[name] = choose(from);
  for (const encoding of ['o200k_base', 'cl100k_base'])
    for (const [group, paths] of Object.entries(chosen)) compareSpeeds(encoding, group, paths);
  const folder = mkdtempSync(join(tmpdir(), 'vcm-bench-'));
  try {
    compareLengths(folder);
    if (!quick) countGigabyte(folder, chosen.source);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const peer = process.argv.indexOf('--peer');
if (peer > 0) await runPeer(...process.argv.slice(peer + 1, peer + 4));
else main();
