#!/usr/bin/env python3
"""vcm grep of a commit beside git grep of the same commit; ripgrep on the files for information.

usage: bench.py VCM REPO [ROUNDS]

The programs take turns; the best wall time of each counts, with the processor's time and the peak of
memory of that run. git grep and ripgrep print every line, vcm its first 50 and the complete count, with
the definitions around them. The numbers of lines must be the same.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

PATTERNS = [("literal", "strbuf_addf", []), ("literal, ignoring case", "strbuf_addf", ["-i"]),
            ("with a text in it", r"str[a-z]+_add[a-z]*\(", []),
            ("without a text", r"[a-z]+[0-9]{3}", []), ("words", r"sizeof|strlen", ["-w"])]


def run(words, place, home):
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out:
        pid = subprocess.Popen(words, cwd=place, stdout=out, env={**os.environ, "VCM_HOME": home})
        _, status, usage = os.wait4(pid.pid, 0)
        pid.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begun
        out.seek(0)
        text = out.read()
    return (seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), text


def main():
    vcm, place = os.path.realpath(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([vcm, "symbols", "--limit", "1", place], check=True, capture_output=True,
                       env={**os.environ, "VCM_HOME": home})
        print(f"{'pattern':24}{'program':10}{'lines':>8}{'ms':>8}{'CPU ms':>8}{'MiB':>6}")
        for name, pattern, options in PATTERNS:
            ways = {"git grep": ["git", "grep", "-nIP", *options, "-e", pattern, "HEAD"],
                    "vcm": [vcm, "grep", *options, "--", pattern],
                    "rg": ["rg", "-n", "--hidden", "--no-ignore", "-g", "!.git", *options, "-e",
                           pattern, "."]}
            best, lines = {}, {}
            for _ in range(rounds):
                for way, words in ways.items():
                    measured, text = run(words, place, home)
                    best[way] = min(best.get(way, measured), measured)
                    lines[way] = text.count(b"\n") if way != "vcm" else int(
                        re.search(rb"^([0-9]+) match", text, re.M).group(1))
            for way, (seconds, cpu, memory) in best.items():
                print(f"{name:24}{way:10}{lines[way]:8}{seconds * 1000:8.0f}{cpu * 1000:8.0f}"
                      f"{memory:6.0f}")
            if lines["git grep"] != lines["vcm"]:
                sys.exit(f"git grep finds {lines['git grep']} lines, vcm {lines['vcm']}")


if __name__ == "__main__":
    main()
