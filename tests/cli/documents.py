"""The documents of this tree as tests read them: the sessions that they show, what varies in the
output of a session, and the commands, paths and links that their text names."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "style"))

import tree  # noqa: E402

ELISION = "…"
ID = re.compile(r"(?<!\w)(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{16}|[0-9a-f]{12}|[0-9a-f]{8})(?!\w)")
NAMED_ID = re.compile(r"(?<![\w/.])[0-9a-f]{6,40}(?![\w/.])")  # as a person names one: a prefix
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
VARYING = [
    (ID, "<id>"),
    (re.compile(rf"(?<![\w.])(?:{NUMBER} (?:ms|s)|\d+ m \d\d s)\b"), "<time>"),
    (re.compile(rf"(?<![\w.]){NUMBER} (?:B|KiB|MiB|GiB)\b"), "<size>"),
    (re.compile(rf"(?<![\w.]){NUMBER}(?!\w)"), "<n>"),
    (re.compile(r"\s+"), " "),
]
SOURCE_PATH = re.compile(r"[a-z_.]+(?:/[\w.-]+)*/[\w-]+\.(?:c|h|py|md|mjs|scm|json|txt)")


def paths():
    """The documents: README.md and CONTRIBUTING.md, docs/, and the README of every folder."""
    return [path for path in tree.files(ROOT, ".md")
            if path == "CONTRIBUTING.md" or path.startswith("docs/")
            or os.path.basename(path) == "README.md"]


def normal(line):
    """A line of output without what differs from run to run."""
    for pattern, word in VARYING:
        line = pattern.sub(word, line)
    return line.rstrip()


def without_blank_end(lines):
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def same_output(shown, printed):
    """Whether a document shows what was printed. One line of it may stand for any number."""
    shown = [normal(line) for line in shown]
    printed = [normal(line) for line in printed]
    if ELISION not in shown:
        return shown == printed
    at = shown.index(ELISION)
    behind = len(shown) - at - 1
    return (len(printed) >= at + behind and printed[:at] == shown[:at]
            and printed[len(printed) - behind:] == shown[at + 1:])


class Step:
    """One command of a session: its line, and the lines of its output, begin to end."""

    def __init__(self, indent, line, command):
        self.indent = indent
        self.line = line
        self.command = command
        self.begin = self.end = line + 1


class Document:
    def __init__(self, path):
        self.path = path
        self.lines = tree.read(ROOT, path).split("\n")
        self.kinds = self._kinds()

    def _kinds(self):
        """What each line is: "text", "code" (fenced or indented) or "fence"."""
        kinds, fence, blank = [], None, True
        for line in self.lines:
            mark = re.match(r" {0,3}(```+|~~~+)", line)
            if mark and fence in (None, mark[1]):
                kinds.append("fence")
                fence = None if fence else mark[1]
                continue
            indented = line.startswith("    ") and (blank or kinds[-1] == "code")
            kinds.append("code" if fence or indented else "text")
            blank = not line.strip()
        # A blank line inside an indented block is part of it.
        for at in range(len(kinds) - 2, 0, -1):
            if not self.lines[at].strip() and kinds[at] == "text":
                before = next((k for k in range(at, -1, -1) if self.lines[k].strip()), 0)
                if kinds[before] == kinds[at + 1] == "code":
                    kinds[at] = "code"
        return kinds

    def steps(self):
        """The commands that the document shows with their output, in order."""
        found, open_step = [], None
        for at, line in enumerate(self.lines):
            if self.kinds[at] != "code":
                open_step = None
                continue
            prompt = re.match(r"(\s*)\$ (.*)$", line)
            if prompt:
                open_step = Step(prompt[1], at, prompt[2])
                found.append(open_step)
            elif open_step:
                open_step.end = at + 1
        for step in found:
            while step.end > step.begin and not self.lines[step.end - 1].strip():
                step.end -= 1
        return found

    def output(self, step):
        return [line[len(step.indent):] for line in self.lines[step.begin:step.end]]

    def fences(self, language):
        """The texts of the fenced blocks of a language."""
        return [body + "\n" for body in re.findall(
            rf"^```{language}\n(.*?)\n```$", "\n".join(self.lines), flags=re.S | re.M)]

    def text(self):
        """What is not code, with the lines of a paragraph joined."""
        lines = [line if kind == "text" else "" for line, kind in zip(self.lines, self.kinds)]
        return re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(lines))

    def quoted(self):
        """What stands between backticks in the text."""
        return [re.sub(r"\s+", " ", found[1]).strip()
                for found in re.findall(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", self.text())]

    def commands(self):
        """Every command line of vcm that the document names: in backticks, or as a line of code."""
        lines = [line.strip() for line, kind in zip(self.lines, self.kinds) if kind == "code"]
        lines = [re.sub(r"^(\$ )?(\./scripts/)?vcm ", "vcm ", line.split("#")[0]) for line in lines]
        return [words for words in [*self.quoted(), *lines] if words.startswith("vcm ")]

    def links(self):
        return [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", self.text())
                if "://" not in link and not link.startswith("#")]

    def source_paths(self):
        """Files of this tree that the text names by their path."""
        return [found for quoted in self.quoted() for found in [quoted]
                if SOURCE_PATH.fullmatch(found)]

    def rename_ids(self, ids):
        """Puts new ids in the place of those that the document had, and of their beginnings."""
        def renamed(found):
            return rename(found[0], ids)
        self.lines = [NAMED_ID.sub(renamed, line) for line in self.lines]

    def write(self):
        with open(os.path.join(ROOT, self.path), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines))


def rename(word, ids):
    """The id, or the beginning of one, that stands for `word` in `ids` (shown: printed)."""
    for shown, printed in ids.items():
        if shown.startswith(word):
            return printed[:len(word)]
    return word


def learn_ids(ids, shown, printed):
    """Which printed id stands where the document shows which: line by line, in order."""
    for old, new in zip(shown, printed):
        for was, now in zip(ID.findall(old), ID.findall(new)):
            ids.setdefault(was, now)
