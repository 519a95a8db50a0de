// Where gpt-tokenizer counts otherwise than tiktoken, and why. departures.json shows one text each.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const PACKAGE = 'regenerate-unicode-properties';

// JavaScript's \s has U+FEFF, which is no White_Space, and lacks U+0085, which is. The contractions
// of gpt-tokenizer are ASCII, while Unicode folds U+017F to s: seen in o200k_base only.
const LISTED = { o200k_base: [0x85, 0x17f, 0xfeff], cl100k_base: [0x85, 0xfeff] };

const CLASSES = [
  [/\p{L}/u, 'Letter'], [/\p{N}/u, 'Number'], [/\p{M}/u, 'Mark'], [/\p{Ll}/u, 'Lowercase_Letter'],
  [/[\p{Lu}\p{Lt}]/u, 'Uppercase_Letter', 'Titlecase_Letter'],
];

// Characters that this Node's Unicode version knows differently from the pinned one depart too.
function otherVersion() {
  const sets = CLASSES.map(([pattern, ...values]) => [pattern, new Set(values.flatMap((value) =>
    require(`${PACKAGE}/General_Category/${value}.js`).characters.toArray()))]);
  const found = [];
  for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    const text = String.fromCodePoint(codePoint);
    if (sets.some(([pattern, set]) => pattern.test(text) !== set.has(codePoint)))
      found.push(codePoint);
  }
  return found;
}

const versions = otherVersion();

export function departingCodePoints(encoding) {
  return new Set([...LISTED[encoding], ...versions]);
}
