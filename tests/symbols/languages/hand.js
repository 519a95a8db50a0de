'use strict';

import fs, { readFile as read, constants } from 'node:fs';
import * as path from 'node:path';
import { EventEmitter } from './events.js';
import './polyfill.js';

const { parse, sep: separator } = require('./parser');

/** How many entries are kept. */
export const LIMIT = 100;
const FALLBACK = LIMIT * 2, options = { retries: 3, onError(error) { report(error); } };
let opened = 0;

/**
 * Keeps what was read lately. Old entries go first.
 * @template V
 */
export class Cache extends EventEmitter {
  static #instances = 0;
  ttl = FALLBACK;
  #store = new Map();

  constructor(ttl, { clock = Date } = {}) {
    super();
    this.ttl = ttl ?? options.retries;
    Cache.#instances++;
    this.clock = clock;
  }

  get size() { return this.#store.size; }

  /* Gives the entry back, or undefined. */
  async fetch(key, ...rest) {
    const hit = this.#store.get(key);
    if (hit && !this.#isOld(hit)) return hit;
    try {
      const text = await read(path.join(separator, key), rest);
      return super.emit('read', parse(text));
    } catch (failure) {
      for (const name of Object.keys(options)) console.warn(name, failure.code, key);
      opened += 1;
    }
  }

  #isOld(entry) { return entry.time + LIMIT < this.clock.now(); }

  onClose = (event) => { this.emit('close', event); };
}

// Doubles a number.
const twice = (x) => x * 2;
export const compose = (...steps) => (input) => steps.reduce((value, step) => step(value), input);

function* walk(tree, limit = LIMIT) {
  const helper = (node) => twice(node.depth);
  function visit(node) { return helper(node) > limit ? fs : node; }
  yield visit(tree);
}

Cache.prototype.clear = function () { this.ttl = constants.F_OK; };
Cache.of = function (ttl) { return new Cache(ttl); };

walk.cases = ['a', 'b'].map((label) => { const found = label; return `${found}${opened}`; });

const Frozen = class extends Cache { fetch() { return Frozen; } };

export default function main() {
  opened = walk(separator).next().value;
  return import('./late.js');
}
export { walk, twice as double };
export { Queue } from './queue.js';
