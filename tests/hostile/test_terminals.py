"""Names and texts of others on a terminal: none of them controls it, hides behind another order of
writing, or forges a line of the output."""

import os
import re

import harness
from repo_map import MAP, map_of

CSI, OVERRIDE = "\u009b31m", "\u202e"
FORGED = "FORGED"

# Control characters but for the ends of lines and tabs, C1, separators, and controls of direction.
HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e"
                     "\u2066-\u2069]")

NAMES = [f"line\n{FORGED}", f"return\r{FORGED}", "escape\x1b[31m", f"c1{CSI}", f"bidi{OVERRIDE}cba",
         f"osc\u009d0;{FORGED}\u009c", "isolate\u2067", f"separator\u2028{FORGED}", "tab\tname"]

CODE = (f"def first{{}}(a):\n    '''A {CSI} and {OVERRIDE} doc.'''\n    return second{{}}(a)\n\n"
        f"def second{{}}(a):\n    x = '{CSI}{OVERRIDE}'  # {CSI}\n    return x\n")
PROSE = f"# Title {CSI} {OVERRIDE}\n\nThe weather \x1b[31m{CSI} is {OVERRIDE} fine.\n"


class Terminals(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.env["NO_COLOR"] = "1"
        files = {MAP: map_of("name: code, type: git_repo, exclude_globs: ['*.md']",
                             routes=["paths: ['**/*.md']"])}
        for number, name in enumerate(NAMES):
            files[f"src/{name}/{name}.py"] = CODE.replace("{}", str(number))
            files[f"docs/{name}.md"] = PROSE
            files[f"broken/{name}.dat"] = b"\0binary"
            files[f"lfs/{name}"] = ("version https://git-lfs.github.com/spec/v1\n"
                                    f"oid sha256:{number:064x}\nsize 12\n")
        self.repo = self.make_repo(files, name="hostile")
        self.vcm("map", self.repo, "--scope", "hostile")

    def assert_tame(self, *words, tty=False, **options):
        result = self.vcm(*words, tty=tty, **options)
        self.assert_no_crash(result)
        for text in (result.out, result.err):
            text = text.replace("\r\n", "\n") if tty else text
            found = HOSTILE.search(text)
            if found:
                self.fail(f"{words}: {found.group()!r} in "
                          f"{text[max(0, found.start() - 60):found.end() + 60]!r}")
            forged = [line for line in text.splitlines() if line.lstrip().startswith(FORGED)]
            self.assertEqual(forged, [], words)
        return result

    def test_what_lists_files(self):
        for words in (["map", self.repo, "--scope", "hostile"], ["coverage", "hostile:code"],
                      ["coverage", "hostile:code", "--reason", "binary"], ["pages"], ["scopes"],
                      ["check", self.repo], ["preview", self.repo], ["show", self.repo],
                      ["show", self.repo, "--tree"], ["lfs", "status", self.repo],
                      ["verify"], ["stat"], ["doctor"]):
            self.assert_tame(*words)

    def test_what_finds_files(self):
        for name in NAMES:
            self.assert_tame("find", f"src/{name}/{name}.py")
            self.assert_tame("find", f"nowhere/{name}")
            self.assert_tame("map", os.path.join(self.tmp, name))
            self.assert_tame("symbols", os.path.join(self.tmp, name))
            self.assert_tame("page", name)
            self.assert_tame("config", "set", name, name)
            self.assert_tame("kb", "ingest", name)

    def test_what_shows_symbols(self):
        for words in (["symbols", self.repo, "--limit", "100"], ["refs", "second1", self.repo],
                      ["repo", "map", self.repo, "--token-budget", "8000"],
                      ["repo", "fetch", f"file://{self.repo}"]):
            result = self.assert_tame(*words)
            self.assertNotEqual(result.out, "")

    def test_what_shows_documents(self):
        for words in (["kb", "list"], ["kb", "search", "weather"], ["kb", "stat"],
                      ["kb", "ingest", os.path.join(self.repo, "docs")]):
            self.assert_tame(*words)
        for hit in self.vcm("kb", "search", "weather", "--json", check=0).json()["hits"]:
            self.assert_tame("kb", "show", hit["chunk_id"])

    def test_pages_on_a_terminal(self):
        for page in self.vcm("pages", "--json", check=0).json()["pages"]:
            for form in ("text", "markdown", "xml"):
                self.assert_tame("page", page["page_id"], "--format", form, tty=True)
        self.assert_tame("show", self.repo, "--raw", tty=True)

    def test_the_map_of_a_repository_has_no_forged_block_in_json_either(self):
        text = self.vcm("repo", "map", self.repo, "--token-budget", "8000", "--json",
                        check=0).json()["map"]
        blocks = [line for line in text.splitlines() if line.startswith(FORGED)]
        self.assertEqual(blocks, [])
        self.assertIn(f'"src/line\\n{FORGED}/line\\n{FORGED}.py":', text)
