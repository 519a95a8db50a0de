// Tells the structure of Markdown texts, with a parser that others wrote (commonmark, the reference of
// CommonMark).
//
// usage: node structure.js < FILE
//
// FILE is a JSON list of texts. Prints a JSON list with, for each text, its blocks in order: {"type", "level",
// "info", "text"}; a code span in a text stands between two U+0001, which no text that is read has.
"use strict";

const fs = require("fs");
const commonmark = require("commonmark");

function textOf(block) {
  if (block.literal !== null && block.firstChild === null) return block.literal;
  let text = "";
  for (let node = block.firstChild; node; node = node.next) {
    if (node.type === "text") text += node.literal;
    else if (node.type === "code") text += `\u0001${node.literal}\u0001`;
    else text += `<${node.type}>`;
  }
  return text;
}

function blocksOf(text) {
  const blocks = [];
  for (let block = new commonmark.Parser().parse(text).firstChild; block; block = block.next)
    blocks.push({ type: block.type, level: block.level, info: block.info, text: textOf(block) });
  return blocks;
}

const texts = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(blocksOf)));
