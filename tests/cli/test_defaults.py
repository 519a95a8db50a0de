"""Each default has one home, base/defaults.h: what the program does, what its help says and what the
documents say is compared with it."""

import os
import re

import harness
import paging

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What documents and headers say, with the defaults by name.
SENTENCES = {
    "docs/repo-map.md": [
        "| `flush_threshold` | integer, 1 to 100000 | `{FLUSH_THRESHOLD}` |",
        "| `flush_token_budget` | integer, 64 to 1000000 | `{FLUSH_TOKEN_BUDGET}` |",
        "| `chunk_target_tokens` | integer, 1 to 1000000 | `{CHUNK_TARGET_TOKENS}` |",
        "| `chunk_overlap_tokens` | integer, 0 to 1000000 | `{CHUNK_OVERLAP_TOKENS}` |",
        "chunks of {CHUNK_TARGET_TOKENS} tokens with {CHUNK_OVERLAP_TOKENS} of overlap",
        "chunk_overlap_tokens ({CHUNK_OVERLAP_TOKENS} by default)"],
    "docs/repo_map.schema.json": ['"default": {FLUSH_THRESHOLD},', '"default": {FLUSH_TOKEN_BUDGET},',
                                  '"default": {CHUNK_TARGET_TOKENS},',
                                  '"default": {CHUNK_OVERLAP_TOKENS},'],
    "api/public/repo.h": ["uint64_t token_budget; /* 0 for {REPO_MAP_TOKENS:,} */",
                          "unsigned timeout_ms; /* 0 for {REPO_FETCH_SECONDS} seconds */"],
    "api/public/map.h": ["of fetching one repository; 0: {FETCH_MINUTES} minutes",
                         "of fetching the repository; 0: {FETCH_MINUTES} minutes"],
    "api/public/repo_map.h": ["of a URL; 0: {FETCH_MINUTES} minutes"],
    "api/public/store.h": ["`unused_ms`, 0 for {UNUSED_HOURS} hours"],
    "bindings/python/vcm/_knowledge.py": ["query: str, *, limit: int = {KB_LIMIT},"],
    "docs/guide.md": ["A tree may name {WALK_ENTRIES} files", "not used for {UNUSED_HOURS} hours"],
    "docs/symbols.md": ["by `vcm gc` after {UNUSED_HOURS} hours"],
    "git/README.md": ["was not touched for {UNUSED_HOURS} hours"],
}
# What help says: command, option, default.
OPTIONS = [
    ("repo map", "token-budget", "{REPO_MAP_TOKENS}"), ("symbols", "limit", "{ANSWER_ROWS}; all with --json"),
    ("pages", "limit", "{ANSWER_ROWS}; all with --json"),
    ("pages", "max-answer-tokens", "{ANSWER_TOKENS} if --limit is not given either; none with --json"),
    ("kb search", "limit", "{KB_LIMIT}"),
    ("show", "max-depth", "{TREE_DEPTH}"), ("show", "max-nodes", "{TREE_NODES}"),
    ("map", "timeout", "{FETCH_MINUTES}m"), ("repo fetch", "timeout", "{REPO_FETCH_SECONDS}s"),
    ("watch", "poll", "{POLL_SECONDS}s"), ("top", "interval", "{TOP_SECONDS}s"),
    ("gc", "clones-unused", "{UNUSED_HOURS}h"),
]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def defaults():
    return {name: int(value) for name, value in re.findall(
        r"^#define VCM_DEFAULT_(\w+) +(\d+)", read("base/defaults.h"), flags=re.MULTILINE)}


class Documents(harness.VcmTest):
    def test_documents_say_what_the_code_does(self):
        numbers, used = defaults(), set()
        for path, sentences in SENTENCES.items():
            text = " ".join(read(path).split())
            for sentence in sentences:
                used |= set(re.findall(r"\{(\w+)", sentence))
                self.assertIn(sentence.format(**numbers), text, path)
        for _, _, shown in OPTIONS:
            used |= set(re.findall(r"\{(\w+)", shown))
        self.assertEqual(used, set(numbers))

    def test_help_says_what_the_code_does(self):
        numbers = defaults()
        for command, option, shown in OPTIONS:
            text = " ".join(self.vcm(*command.split(), "--help", check=0).out.split())
            found = re.search(rf"--{option} [A-Z]+ .*?\(default: ([^)]*)\)", text)
            self.assertEqual(found and found.group(1), shown.format(**numbers), command)
        text = " ".join(self.vcm("kb", "ingest", "--help", check=0).out.split())
        self.assertIn("at most {CHUNK_TARGET_TOKENS} tokens".format(**numbers), text)

    def test_no_operation_has_a_number_of_its_own(self):
        allowed = {"fault.c": "0", "grep.c": "0", "repo_fetch.c": "1"}  # which stand in no code
        for name in sorted(os.listdir(os.path.join(ROOT, "ops"))):
            if name.endswith((".c", ".h")):
                for number in re.findall(r'default_text = "(\d+)\w*"', read("ops/" + name)):
                    self.assertEqual(allowed.get(name), number, name)


class Behaviour(paging.PagingTest):
    def test_the_configuration_and_rows_begin_with_the_defaults(self):
        numbers = defaults()
        repo = self.make_repo({".colony/repo_map.yaml": "schema_version: 1\nsources:\n"
                               "- {name: a, type: git_repo}\n- {name: b, type: literature}\n"})
        sources = self.vcm("preview", repo, "--json", check=0).json()["sources"]
        self.assertEqual(
            [(row["config"]["flush_threshold"], row["config"]["flush_token_budget"])
             for row in sources], [(numbers["FLUSH_THRESHOLD"], numbers["FLUSH_TOKEN_BUDGET"])] * 2)
        listed = {entry["key"]: entry for entry in
                  self.vcm("config", "list", "--json", check=0).json()["config"]}
        for key in ("flush_threshold", "flush_token_budget"):
            self.assertEqual(int(listed["mmap." + key]["value"]), numbers[key.upper()])
        row = self.vcm("show", repo, "--json", check=0).json()["map"]["sources"][1]
        self.assertEqual((row["chunk_target_tokens"], row["chunk_overlap_tokens"]),
                         (numbers["CHUNK_TARGET_TOKENS"], numbers["CHUNK_OVERLAP_TOKENS"]))
