"""How often `vcm symbols` and `vcm refs` agree with a compiler about a repository.

usage: precision.py VCM LANGUAGE REPO [--names N] [--misses KIND]

LANGUAGE is typescript, javascript, python, c or go. The compiler's view comes from scip-typescript
and scip-python (fetched with npm into a temporary directory, or found in $PRECISION_TOOLS), libclang
(python3-clang) and go/types (golang). REPO is a clone with a clean working tree, which is copied.
Prints one row: definitions, references, callers.

Compared are places: a definition by path, line and name, a reference by path, line and name with the
definition that it has. What the compiler finds outside of the repository counts against vcm when vcm
says that it is inside, and not otherwise. Local names are no symbols here.

Not told apart yet, so its figures are no proof: `const x = require()` counts as a definition
(JavaScript), keys of local structs count as bare names (Go), a struct's tag and its typedef as two (C).
"""

import argparse
import collections
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import scip

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = re.compile(r"[A-Za-z_$][\w$]*")


class Truth:
    """What a compiler knows. Places are (path, line, name); lines count from 1."""

    def __init__(self):
        self.definitions = {}                             # symbol -> set of places
        self.global_definitions = set()                   # places that others can see
        self.places = set()                               # of all definitions, local ones too
        self.references = collections.defaultdict(set)    # place -> symbols
        self.columns = {}                                 # place -> (member, call)
        self.overrides = set()                            # (place, symbol)
        self.files = set()

    def targets(self, place):
        found = set()
        for symbol in self.references.get(place, ()):
            found |= {(p, line) for p, line, _ in self.definitions.get(symbol, ())}
        return found


def shape(lines, row, start, end):
    """Whether the name stands behind a dot or an arrow, and before a bracket."""
    text = lines[row] if row < len(lines) else ""
    before = text[:start].rstrip()
    member = before.endswith(".") or before.endswith("->") or (
        not before and row > 0 and text[start - 1:start] == "." )
    return member, text[end:].lstrip().startswith("(")


def read_lines(root, path):
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")
    except OSError:
        return []


def package(symbol):
    """The package that a symbol names as its own: "scheme manager name version"."""
    return " ".join(symbol.split(" ")[:4])


def drop_undefined(truth, packages):
    """Symbols of the repository's own packages without a definition are a gap of the indexer."""
    for place, symbols in list(truth.references.items()):
        known = {s for s in symbols if s in truth.definitions or package(s) not in packages}
        if known:
            truth.references[place] = known
        else:
            del truth.references[place]


def from_scip(index, root):
    truth = Truth()
    relations, places, packages = [], {}, set()
    for path, occurrences, related in scip.read(index):
        lines = read_lines(root, path)
        truth.files.add(path)
        for place, symbol, roles in occurrences:
            row, start = place[0], place[1]
            end = place[2] if len(place) == 3 else place[3]
            if len(place) == 4 and place[2] != row:
                continue
            word = lines[row][start:end] if row < len(lines) else ""
            found = NAME.fullmatch(word.strip("'\"`"))
            if not found:
                continue
            spot = (path, row + 1, found.group())
            local = symbol.startswith("local ")
            symbol = symbol.replace("`src.", "`")  # where packages are found
            key = path + " " + symbol if local else symbol
            if roles & 1:
                truth.places.add(spot)
                inner = "typeLiteral" in symbol or "()." in symbol[:-3] or symbol.endswith("(" + word + ")")
                # Parameters are local, whatever the indexer calls them.
                if not local and not symbol.endswith(("/", "]", ")", ":")):
                    truth.definitions.setdefault(key, set()).add(spot)
                    packages.add(package(symbol))
                    if not inner:
                        truth.global_definitions.add(spot)
                places.setdefault(key, spot)
            elif not local:
                truth.references[spot].add(key)
                truth.columns[spot] = shape(lines, row, start, end)
        relations += related
    for symbol, bases in relations:
        for base in bases:
            symbol, base = symbol.replace("`src.", "`"), base.replace("`src.", "`")
            if symbol in places and base in truth.definitions and symbol.rstrip().endswith(")."):
                truth.overrides.add((places[symbol], base))
    drop_undefined(truth, packages)
    return truth


def tools():
    """The directory with the indexers of npm; made when there is none."""
    place = os.environ.get("PRECISION_TOOLS")
    if not place:
        place = tempfile.mkdtemp(prefix="precision-tools-")
        subprocess.run(["npm", "install", "--silent", "--prefix", place, "@sourcegraph/scip-typescript",
                        "@sourcegraph/scip-python"], check=True)
    return os.path.join(place, "node_modules", ".bin")


def run_typescript(root, javascript):
    config = os.path.join(root, "tsconfig.json")
    if javascript or not os.path.exists(config):
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"compilerOptions": {"allowJs": True, "checkJs": False, "target": "es2022",
                                           "module": "commonjs" if javascript else "esnext",
                                           "moduleResolution": "node", "skipLibCheck": True,
                                           "jsx": "preserve"},
                       "exclude": ["node_modules"]}, file)
    index = os.path.join(root, "index.scip")
    subprocess.run([os.path.join(tools(), "scip-typescript"), "index", "--output", index],
                   cwd=root, check=True, stdout=subprocess.DEVNULL)
    return from_scip(index, root)


def run_python(root):
    index = os.path.join(root, "index.scip")
    environment = os.path.join(root, "environment.json")
    with open(environment, "w", encoding="utf-8") as file:
        json.dump([], file)
    subprocess.run([os.path.join(tools(), "scip-python"), "index", "--project-name", "measured",
                    "--project-version", "1", "--environment", environment, "--output", index],
                   cwd=root, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return from_scip(index, root)


def run_lines(root, command):
    """A program that prints definitions, references and overrides as lines of JSON."""
    truth = Truth()
    result = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE)
    for line in result.stdout.decode().splitlines():
        kind, path, row, name, symbol, extra = json.loads(line)
        spot = (path, row, name)
        truth.files.add(path)
        if kind == "def":
            truth.places.add(spot)
            if symbol:
                truth.definitions.setdefault(symbol, set()).add(spot)
                truth.global_definitions.add(spot)
        elif kind == "ref":
            truth.references[spot].add(symbol)
            truth.columns[spot] = tuple(extra)
        else:
            truth.overrides.add((spot, symbol))
    return truth


def run_go(root):
    program = os.path.join(tempfile.mkdtemp(prefix="precision-go-"), "types")
    subprocess.run(["go", "build", "-o", program, os.path.join(HERE, "types.go")], check=True,
                   env={**os.environ, "GO111MODULE": "off"})
    return run_lines(root, [program, root])


def run_c(root):
    return run_lines(root, ["/usr/bin/python3", os.path.join(HERE, "clang_types.py"), root])


COMPILERS = {"typescript": lambda root: run_typescript(root, False),
             "javascript": lambda root: run_typescript(root, True),
             "python": run_python, "go": run_go, "c": run_c}
ENDINGS = {"typescript": (".ts", ".tsx", ".mts", ".cts"), "javascript": (".js", ".mjs", ".cjs", ".jsx"),
           "python": (".py", ".pyi"), "go": (".go",), "c": (".c", ".h")}
LOCAL_KINDS = {"field"}


class Vcm:
    def __init__(self, program, repo):
        self.program, self.repo = program, repo
        self.home = tempfile.mkdtemp(prefix="precision-home-")

    def run(self, *args):
        result = subprocess.run([self.program, *args, self.repo, "--limit", "10000000", "--json"], check=True,
                                stdout=subprocess.PIPE, env={**os.environ, "VCM_HOME": self.home})
        return json.loads(result.stdout)

    def close(self):
        shutil.rmtree(self.home)


def split_id(symbol_id):
    """(path, line) of a symbol_id."""
    path, line = symbol_id.split("#")[0].rsplit(":", 1)
    return path, int(line)


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


class Score:
    def __init__(self):
        self.counts = collections.Counter()
        self.misses = collections.defaultdict(list)

    def add(self, kind, right, what=None):
        self.counts[kind] += 1
        self.counts[kind, True] += bool(right)
        if not right and what:
            self.misses[kind].append(what)

    def show(self, kind):
        return percent(self.counts[kind, True], self.counts[kind])


def score_definitions(score, truth, symbols):
    found = {(s["file_path"], s["line"], s["name"]) for s in symbols}
    for place in truth.global_definitions:
        score.add("definitions found", place in found, place)
    for symbol in symbols:
        place = (symbol["file_path"], symbol["line"], symbol["name"])
        if symbol["file_path"] in truth.files:
            score.add("definitions right", place in truth.places, (place, symbol["kind"]))


def score_references(score, truth, vcm, names):
    for name in names:
        found = vcm.run("refs", name)["references"]
        targets, listed = collections.defaultdict(set), set()
        for ref in found:
            place = (ref["file_path"], ref["line"], ref["to_name"])
            listed.add(place)
            if ref["kind"] in ("override", "implementation") and not ref["excerpt"]:
                continue
            if ref["target"]:
                targets[place].add(split_id(ref["target"]))
        overriding = {((r["file_path"], r["line"], r["to_name"]), split_id(r["target"]))
                      for r in found if r["kind"] in ("override", "implementation") and r["target"]}
        for place, target in targets.items():
            if place in truth.references and place not in truth.places:
                score.add("resolved right", target & truth.targets(place), (place, target, truth.targets(place)))
        calls = collections.defaultdict(set)
        for place in truth.by_name.get(name, ()):
            wanted = truth.targets(place)
            if not wanted:
                continue
            member, call = truth.columns[place]
            right = targets.get(place, set()) & wanted
            score.add("members" if member else "bare names", right, (place, targets.get(place), wanted))
            if call:
                score.add("callers", right, place)
                score.add("callers or possible", right or place in listed, place)
        for place, base in truth.overrides:
            if place[2] == name:
                bases = {(p, line) for p, line, _ in truth.definitions[base]}
                score.add("overrides", any((place, b) in overriding for b in bases), (place, bases))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("vcm")
    parser.add_argument("language", choices=sorted(COMPILERS))
    parser.add_argument("repo")
    parser.add_argument("--names", type=int, default=400, help="names whose references are compared")
    parser.add_argument("--misses", help="print what one column got wrong")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="precision-")
    copy = os.path.join(work, "copy")
    try:
        subprocess.run(["git", "clone", "-q", os.path.abspath(options.repo), copy], check=True)
        truth = COMPILERS[options.language](copy)
        endings = ENDINGS[options.language]
        truth.files = {path for path in truth.files if path.endswith(endings)}
        truth.references = {place: symbols for place, symbols in truth.references.items()
                            if place[0] in truth.files}
        truth.global_definitions = {p for p in truth.global_definitions if p[0] in truth.files}
        truth.by_name = collections.defaultdict(list)
        for place in truth.references:
            truth.by_name[place[2]].append(place)
        vcm = Vcm(os.path.abspath(options.vcm), os.path.abspath(options.repo))
        score = Score()
        symbols = vcm.run("symbols")["symbols"]
        score_definitions(score, truth, symbols)
        wanted = sorted({place[2] for place in truth.global_definitions} & set(truth.by_name))
        random.Random(int(hashlib.sha256(b"precision").hexdigest()[:8], 16)).shuffle(wanted)
        score_references(score, truth, vcm, wanted[:options.names])
        vcm.close()
        columns = ("definitions found", "definitions right", "resolved right", "bare names", "members", "callers",
                   "callers or possible", "overrides")
        for column in columns:
            print(f"{column:20} {score.show(column):8} of {score.counts[column]}")
        for miss in score.misses.get(options.misses, ())[:400]:
            print(miss)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
