"""Records and pages, computed a second time.

PagingTest maps repositories with the tokenizer approx4 and checks what comes back against git's
objects: every rule of the page format is written here once more, from its description and without
a look at the program's code.
"""

import hashlib
import json
import os
import subprocess

import harness

FILE_BYTES_MAX = 32 * 1024 * 1024
BINARY_PROBE = 8000
ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
           "\t": "\\t"}
OUTCOMES = ["paged", "excluded", "ignored", "binary", "symlink", "submodule", "lfs_missing",
            "too_large", "failed"]


def stringify(text):
    """ECMAScript's JSON.stringify of a string without lone surrogates."""
    return '"' + "".join(ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c)
                         for c in text) + '"'


def serialise(path, text):
    """A record's value."""
    return f'{{"path":{stringify(path)},"text":{stringify(text)}}}'.encode()


def approx4(value):
    return (len(value) + 3) // 4


def content_hash(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()[:40]


def shown(raw_path):
    """A path as vcm shows it."""
    return raw_path.decode("utf-8", "backslashreplace")


class Entry:
    """A leaf of a tree."""

    def __init__(self, mode, blob, raw_path):
        self.mode, self.blob, self.raw_path = mode, blob, raw_path
        self.content = None

    def outcome(self):
        if self.mode == "160000":
            return "submodule"
        if self.mode == "120000":
            return "symlink"
        if self.content is None:
            return "failed"
        if len(self.content) > FILE_BYTES_MAX:
            return "too_large"
        return "binary" if b"\0" in self.content[:BINARY_PROBE] else "paged"


class PagingTest(harness.VcmTest):
    def setUp(self):
        super().setUp()
        self.make_home(self.home)

    @staticmethod
    def make_home(home, config="tokenizer: approx4\n"):
        os.mkdir(home, 0o700)
        with open(os.path.join(home, "config.yaml"), "w", encoding="utf-8") as file:
            file.write(config)

    # What vcm says

    def map(self, *args, check=0, **options):
        """The document of 'vcm map'."""
        return self.vcm("map", "--json", *args, check=check, **options).json()

    def map_row(self, *args, **options):
        """The only row of the document of 'vcm map'."""
        rows = self.map(*args, **options)["sources"]
        self.assertEqual(len(rows), 1)
        return rows[0]

    def pages(self, *args, **options):
        return self.vcm("pages", "--json", *args, check=0, **options).json()["pages"]

    def page_ids(self, *args, **options):
        return [page["page_id"] for page in self.pages(*args, **options)]

    def page(self, page_id, *args, **options):
        return self.vcm("page", page_id, "--json", *args, check=0, **options).json()

    def stat(self, **options):
        return self.vcm("stat", "--json", check=0, **options).json()

    # What git says

    def tree(self, repo, commit="HEAD"):
        """The leaves of a commit's tree with their contents, None for an object that is missing."""
        listing = subprocess.run(["git", "ls-tree", "-r", "-z", commit], cwd=repo, env=self.env,
                                 check=True, capture_output=True).stdout
        entries = []
        for line in listing.split(b"\0")[:-1]:
            about, raw_path = line.split(b"\t", 1)
            mode, _, blob = about.decode().split(" ")
            entries.append(Entry(mode, blob, raw_path))
        self._read_contents(repo, [entry for entry in entries if entry.mode != "160000"])
        return entries

    def _read_contents(self, repo, entries):
        names = "".join(entry.blob + "\n" for entry in entries).encode()
        out = subprocess.run(["git", "cat-file", "--batch"], cwd=repo, env=self.env, check=True,
                             input=names, capture_output=True).stdout
        at = 0
        for entry in entries:
            end = out.index(b"\n", at)
            head = out[at:end].split(b" ")
            at = end + 1
            if head[1] == b"missing":
                continue
            size = int(head[2])
            entry.content = out[at:at + size]
            at += size + 1

    # The comparison

    def check_mapping(self, repo, row, threshold=20, budget=4096, commit="HEAD", failed=()):
        """Every page of the row against the tree: `failed` names paths that cannot be mapped.
        Returns the listing of the pages."""
        entries = self.tree(repo, commit)
        self._check_ledger(row["coverage"], entries, failed)
        listing = self.pages("--scope", row["scope_id"])
        self.assertEqual([page["seq"] for page in listing], list(range(len(listing))))
        parts = {}
        for listed in listing:
            page = self.page(listed["page_id"], "--scope", row["scope_id"],
                             "--seq", str(listed["seq"]))
            self._check_page(listed, page, threshold, budget)
            for record in page["records"]:
                parts.setdefault(record["path"], []).append(record)
        self.assertEqual(row["pages"], len(listing))
        self.assertEqual(row["records"], sum(page["records"] for page in listing))
        self.assertEqual(row["tokens"], sum(page["tokens"] for page in listing))
        self.assertEqual(row["bytes"], sum(page["bytes"] for page in listing))
        paged = {shown(entry.raw_path): entry for entry in entries
                 if entry.outcome() == "paged" and shown(entry.raw_path) not in failed}
        self.assertEqual(sorted(parts), sorted(paged))
        for path, records in parts.items():
            self._check_file(paged[path], records)
        return listing

    def _check_ledger(self, coverage, entries, failed):
        expected = dict.fromkeys(OUTCOMES, 0)
        for entry in entries:
            outcome = "failed" if shown(entry.raw_path) in failed else entry.outcome()
            expected[outcome] += 1
        self.assertEqual(coverage, {"tracked": len(entries), **expected})
        self.assertEqual(sum(coverage[outcome] for outcome in OUTCOMES), coverage["tracked"])

    def _check_page(self, listed, page, threshold, budget):
        values = [serialise(record["path"], record["text"]) for record in page["records"]]
        for record, value in zip(page["records"], values):
            self.assertEqual(value.decode(), json.dumps(
                {"path": record["path"], "text": record["text"]}, ensure_ascii=False,
                separators=(",", ":")))
            self.assertEqual(record["record_id"], content_hash(value), record["path"])
            self.assertEqual(record["tokens"], approx4(value), record["path"])
            self.assertIsNone(record["section"])
            self.assertIsNone(record["page"])
        frame = b"".join(value + b"\n" for value in values)
        self.assertEqual(page["page_id"], content_hash(b"vcm-page 1\n", frame))
        self.assertEqual(page["bytes"], len(frame))
        self.assertEqual(page["tokens"], sum(approx4(value) for value in values))
        self.assertTrue(1 <= len(values) <= threshold, (len(values), threshold))
        self.assertLessEqual(page["tokens"], budget)
        for key in ("page_id", "scope_id", "seq", "tokens", "bytes"):
            self.assertEqual(listed[key], page[key], key)
        self.assertEqual(listed["records"], len(values))
        self.assertEqual(listed["files"],
                         list(dict.fromkeys(record["path"] for record in page["records"])))

    def _check_file(self, entry, records):
        path = shown(entry.raw_path)
        text = entry.content.decode("utf-8", "replace")
        self.assertEqual("".join(record["text"] for record in records), text, path)
        at = 0
        for number, record in enumerate(records, 1):
            part = record["text"]
            start = 1 + text.count("\n", 0, at)
            end = start + part.count("\n") - part.endswith("\n")
            self.assertEqual((record["start_line"], record["end_line"]),
                             (start, end) if part else (0, 0), f"{path} part {number}")
            self.assertEqual((record["part"], record["parts"]), (number, len(records)), path)
            self.assertEqual(record["blob"], entry.blob, path)
            self.assertEqual(record["lossy"], text.encode() != entry.content, path)
            self.assertEqual(record["path_lossy"], path.encode() != entry.raw_path, path)
            self.assertFalse(part.endswith("\r") and text[at + len(part):].startswith("\n"),
                             f"{path}: a cut inside a CRLF")
            at += len(part)
