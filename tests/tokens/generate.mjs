// Seeded texts that lean on everything the splitting patterns tell apart.

function randomOf(seed) {
  let state = (seed >>> 0) || 1;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

// [from, to] of code points: ASCII, Latin, Greek, Cyrillic (cased), titlecase, modifier letters,
// marks, numbers, scripts without case, Hangul, Han, symbols, emoji, fullwidth, spaces, astral.
const RANGES = [
  [0x20, 0x7e], [0x20, 0x7e], [0x41, 0x5a], [0x61, 0x7a], [0xa0, 0x17f], [0x1c4, 0x1cc],
  [0x2b0, 0x2ff], [0x300, 0x36f], [0x370, 0x4ff], [0x590, 0x6ff], [0x900, 0x97f], [0xe00, 0xe7f],
  [0x10a0, 0x10ff], [0x1780, 0x17ff], [0x1e00, 0x1fff], [0x2000, 0x206f], [0x2070, 0x218f],
  [0x2200, 0x27bf], [0x2c00, 0x2dff], [0x3000, 0x30ff], [0x4e00, 0x9fff], [0xa640, 0xa7ff],
  [0xac00, 0xd7a3], [0xf900, 0xffff], [0x10000, 0x107ff], [0x10d40, 0x10e7f], [0x11000, 0x11fff],
  [0x1d400, 0x1d7ff], [0x1e900, 0x1e95f], [0x1f000, 0x1faff], [0x20000, 0x2a6df],
  [0xe0000, 0xe01ef], [0, 0x1f], [0x7f, 0x9f], [0x80, 0x10ffff],
];
const SPACES = [' ', ' ', ' ', '\n', '\r', '\r\n', '\t', '\v', '\f', '\u0085', '\u00a0', '\u1680',
  '\u2003', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\ufeff', '\u200b', '\u180e'];
const CONTRACTIONS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'l", "'r", "'v", "'", "'\u017f",
  "\u2019s", "'S\u0301", "''s", "'lL", "'Re", "'vE", "'\u212a"];
const SEQUENCES = ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\u{1f1e9}\u{1f1ea}',
  '\u{1f44d}\u{1f3fd}',
  '\u2764\ufe0f', 'e\u0301', 'A\u030a\u0301', '\u0915\u094d\u0937', '\uac01', '\u1100\u1161',
  '<|endoftext|>', '<|endofprompt|>', '<|fim_prefix|>', '://', '/*', '*/\n', '//\n', '\r\n\r\n',
  '{"path":"a/b.c","text":"', '\\n', '\\"', '==', '--', '__', '->', '();', '\u0130', '\u0131',
  '\u01c5', '\u02b0', '\u3042', '\u30fb', '\u2163', '\u00bd'];
// One of the few tokens in which a capital follows a caseless letter: it shows where U* gives back.
const TURNS = ['', '\u5728', 'le', "'s"].map((end) => `\u4e9a\u6d32AV${end}`);
const WORDS = ['the', 'Count', 'HTTP', 'XMLHttpRequest', 'iPhone', 'snake_case', 'don', 'WE', 'I',
  'i', 'self', 'return', 'int', 'O\u2019Neill', 'na\u00efve', '\u00c9cole', '\u4f60\u597d',
  '\u041f\u0440\u0438\u0432\u0435\u0442', 'stra\u00dfe', 'STRASSE',
  '\u0927\u0928', '\u0e44\u0e17\u0e22',
  ...TURNS.map((turn) => ` ${turn}`)];
const CASELESS = ['\u3042', '\u02b0', '\u0301'];
const ENDS = ['', '', 'a', "'s", "'", '\n', '\r\n//', ' ', '1', '!', "'rE", "'r", "'v\u00e9",
  ...TURNS];
const INVALID = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xe2, 0x82],
  [0xf4, 0x90, 0x80, 0x80], [0x80], [0xc3], [0xf0, 0x80, 0x80, 0xaf], [0xe0, 0x9f, 0xbf]];

export function generate(seed) {
  const random = randomOf(seed);
  const pick = (list) => list[random(list.length)];

  function character(range = pick(RANGES)) {
    const codePoint = range[0] + random(range[1] - range[0] + 1);
    return String.fromCodePoint(codePoint >= 0xd800 && codePoint < 0xe000 ? 0xe000 : codePoint);
  }

  function changeCase(text) {
    const way = random(4);
    if (way === 0) return text.toUpperCase();
    if (way === 1) return text.toLowerCase();
    return text;
  }

  // Runs that are split far from their end: over the size at which we count in a stream, rarely.
  function longRun() {
    const kind = random(6);
    const length = 1 + random(random(10) === 0 ? 3000 : 60);
    let text = kind === 4 ? pick([' ', '!', '\u0301', '\t', '', '\n']) : '';
    const fixed = random(3) === 0 ? character() : null;
    for (let i = 0; i < length; i++) {
      if (fixed) text += fixed;
      else if (kind === 0) text += pick(SPACES);
      else if (kind === 1) text += random(200) ? pick([' ', '\t', '\u3000']) : pick(['\n', '\r']);
      else if (kind === 2) text += random(9) ? character([0x41, 0x5a]) : pick(CASELESS);
      else if (kind === 3) text += random(300) ? character([0x61, 0x7a]) : 'Z';
      else if (kind === 4) text += pick(['A', '\u01c5', '\u3042', '\u0301', 'B', 'C']);
      else text += pick(['!', '/', '=', '\u0301', '-', '.', '#', '\u2014']);
    }
    return text + pick(ENDS);
  }

  function part() {
    switch (random(12)) {
      case 0: return character();
      case 1: return character() + character();
      case 2: return pick(SPACES).repeat(1 + random(4));
      case 3: return changeCase(pick(CONTRACTIONS));
      case 4: return String(random(10 ** (1 + random(8))));
      case 5: return pick(SEQUENCES);
      case 6: return character([0x300, 0x36f]).repeat(1 + random(3));
      case 7: return random(12) === 0 ? longRun() : pick(SPACES);
      case 8: return pick(SPACES) + pick(SPACES) + pick(SPACES);
      default: return changeCase(pick(WORDS));
    }
  }

  return () => {
    const parts = [];
    const count = 1 + random(14);
    const broken = random(8) === 0;
    for (let i = 0; i < count; i++) {
      if (broken && random(3) === 0) parts.push(Buffer.from(pick(INVALID)));
      parts.push(Buffer.from(part()));
    }
    return Buffer.concat(parts);
  };
}
