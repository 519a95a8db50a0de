import { helper } from './lib/helper.js';
const fs = require('fs');

/**
 * A queue.
 * @param x nothing
 */
export class Queue extends Base {
  #items = [];
  limit = 3;

  constructor(items) {
    super();
    this.size = 0;
  }

  // Adds one.
  push(item) {
    helper(item);
    this.#grow();
  }

  #grow() {}
}

export const twice = (x) => x * 2;

function start(options) {
  const queue = new Queue(options);
  queue.push(twice(2));
  return queue;
}
