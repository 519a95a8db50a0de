#!/usr/bin/env python3
"""Compares vcm-extract with pdftotext: processor time, and how much of the text is there.

usage: bench.py VCM_EXTRACT PDF...

Recall counts words of pdftotext's output that are in ours too, each as often as it occurs; 5-grams are
runs of five words. Ligatures are resolved in both, control characters (of fonts for formulas that say
nothing of their characters) are spaces, and running heads are taken out of pdftotext's output: lines
among the first three and last three of a page that are, numbers aside, on at least three pages; a
number alone is one only if it grows with the pages, for tables and listings have numbers, too. Needs
poppler-utils.
"""

import collections
import os
import re
import resource
import subprocess
import sys

LIGATURES = str.maketrans({"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi",
                           "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
                           **{code: " " for code in range(32) if chr(code) not in "\t\n\f\r"}})
MAGIC = b"vcm-document 1\n"


def run(command, path):
    """Output and processor seconds of a program that reads the file, or None when it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path, "rb") as file:
        done = subprocess.run(command, stdin=file, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (done.stdout if done.returncode == 0 else None), seconds


def text_of(document):
    """The text in what vcm-extract wrote: behind the magic and a flag, with its length."""
    at, length, shift = len(MAGIC) + 1, 0, 0
    while True:
        byte = document[at]
        at, length, shift = at + 1, length | (byte & 127) << shift, shift + 7
        if byte < 128:
            return document[at:at + length].decode()


def without_running_lines(text):
    """pdftotext's output without what repeats at the edges of pages."""
    pages = [page.split("\n") for page in text.split("\f")]
    seen = collections.Counter()
    edges = []
    for number, page in enumerate(pages):
        filled = [i for i, line in enumerate(page) if line.strip()]
        edge = {i: re.sub(r"\d+|\b[ivxlc]+\b", "#", page[i].strip())
                for i in filled[:3] + filled[-3:]}
        edge = {i: f"{key}{int(page[i]) - number}" if key == "#" and page[i].strip().isdecimal() else key
                for i, key in edge.items()}
        edges.append(edge)
        seen.update(set(edge.values()))
    kept = []
    for page, edge in zip(pages, edges):
        running = {i for i, key in edge.items() if seen[key] >= 3}
        kept += [line for i, line in enumerate(page) if i not in running]
    return "\n".join(kept)


def overlap(ours, theirs, size):
    def grams(words):
        return collections.Counter(tuple(words[i:i + size]) for i in range(len(words) - size + 1))
    ours, theirs = grams(ours), grams(theirs)
    return sum((ours & theirs).values()), sum(theirs.values())


def main(program, paths):
    sums = collections.Counter()
    print(f"{'document':30} {'words':>8} {'recall':>8} {'5-grams':>8} {'time':>8}")
    for path in paths:
        theirs, their_time = run(["pdftotext", "-", "-"], path)
        ours, our_time = run([program], path)
        if theirs is None or ours is None:
            print(f"{os.path.basename(path):30} cannot be read")
            continue
        wanted = without_running_lines(theirs.decode("utf-8", "replace").translate(LIGATURES))
        wanted, found = wanted.split(), text_of(ours).split()
        words, word_count = overlap(found, wanted, 1)
        grams, gram_count = overlap(found, wanted, 5)
        sums.update(words=words, word_count=word_count, grams=grams, gram_count=gram_count,
                    our_time=our_time, their_time=their_time)
        print(f"{os.path.basename(path):30} {word_count:8} {words / max(1, word_count):8.4f} "
              f"{grams / max(1, gram_count):8.4f} {our_time / max(0.01, their_time):8.2f}")
    print(f"{'all':30} {sums['word_count']:8} {sums['words'] / max(1, sums['word_count']):8.4f} "
          f"{sums['grams'] / max(1, sums['gram_count']):8.4f} "
          f"{sums['our_time'] / max(0.01, sums['their_time']):8.2f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
