"""What is kept beside the store: symbols that are damaged are made anew by themselves, and nothing
that is flipped in the knowledge base goes unnoticed."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import unittest

from harness import SANITIZER_STATUS
from paging import PagingTest

SEED = int(os.environ.get("VCM_TEST_SEED", "20261118"))
LONG = os.environ.get("VCM_TEST_LONG") == "1"
FLIPS = 60 if LONG else 10
FATAL = {-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGFPE, SANITIZER_STATUS}


class Symbols(PagingTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.home, "symbols")
        self.data = os.path.join(self.folder, "data.mdb")
        self.repo = self.make_repo({f"m{i}.py": "".join(f"def f{i}_{j}():\n    return g{j}()\n\n"
                                                        for j in range(30)) for i in range(6)})
        self.words = ["symbols", self.repo, "--json"]
        self.right = self.vcm(*self.words, check=0).out
        self.good = os.path.join(self.tmp, "good")
        shutil.copytree(self.folder, self.good)

    def restore(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.good, self.folder)

    def change(self, at, data):
        with open(self.data, "r+b") as file:
            file.seek(at)
            file.write(data)

    def content(self):
        with open(self.data, "rb") as file:
            return file.read()

    def spoil(self):
        """Other symbols under the same checksums, wherever they are."""
        content = self.content()
        self.assertIn(b"f3_7", content)
        self.change(0, content.replace(b"f3_7", b"f3_8"))

    def run_any(self, *args):
        run = self.start(*args)
        out, err = run.communicate(timeout=120)
        return run.returncode, out.decode(), err.decode()

    def test_symbols_that_are_damaged_are_made_anew_by_the_call_that_meets_them(self):
        for words in (self.words, ["refs", "g1", self.repo, "--json"],
                      ["repo", "map", self.repo, "--json"]):
            self.restore()
            right = self.vcm(*words, check=0).out
            self.spoil()
            result = self.vcm(*words, check=0)
            self.assertEqual(result.out, right)
        self.restore()
        self.spoil()
        self.assertIn("made anew", self.vcm(*self.words, check=0).err)
        self.assertEqual(self.vcm(*self.words, check=0).err, "")

    def test_verify_tells_of_damaged_symbols_and_leaves_the_store_alone(self):
        self.map(self.repo)
        self.spoil()
        [finding] = self.vcm("verify", "--json", check=1).json()["findings"]
        self.assertEqual(finding["where"], "the symbols")
        self.assertFalse(os.path.exists(os.path.join(self.home, "store.damaged")))
        self.vcm("verify", check=0)
        self.assertEqual(self.vcm(*self.words, check=0).out, self.right)
        self.assertEqual(self.map_row(self.repo)["status"], "already_mapped")

    def test_symbols_that_kill_their_reader_are_found_by_the_next_call(self):
        for at in range(2 * 4096, len(self.content()), 4096):
            self.change(at + 16, b"\xff" * 64)
        status, _, err = self.run_any(*self.words)
        if status != 0:
            self.assertIn(status, FATAL, err)
        self.assertEqual(self.vcm(*self.words, check=0).out, self.right)

    def test_no_flip_changes_what_is_told(self):
        print(f"seed {SEED}")
        chosen = random.Random(SEED)
        size = os.path.getsize(self.data)
        for number in range(FLIPS):
            at = chosen.randrange(size)
            with self.subTest(number=number, at=at):
                self.change(at, bytes([self.content()[at] ^ 1 << chosen.randrange(8)]))
                status, out, err = self.run_any(*self.words)
                if status in FATAL:
                    status, out, err = self.run_any(*self.words)
                self.assertEqual((status, out), (0, self.right), err)
                self.restore()

    def test_verify_checks_the_symbols_of_a_damaged_store_too(self):
        self.map(self.repo)
        self.spoil()
        store = os.path.join(self.home, "store/data.mdb")
        with open(store, "r+b") as file:
            for at in range(2 * 4096, os.path.getsize(store), 4096):
                file.seek(at + 16)
                file.write(b"\xff" * 64)
        findings = self.vcm("verify", "--json", check=1).json()["findings"]
        self.assertIn("the symbols", [finding["where"] for finding in findings])
        self.assertTrue(os.path.exists(os.path.join(self.home, "store.damaged")))



class Knowledge(PagingTest):
    """Every page of the knowledge base has a checksum."""

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.home, "kb.sqlite")
        words = [f"word{i}" for i in range(400)]
        chosen = random.Random(SEED)
        for i in range(6):
            path = os.path.join(self.tmp, f"doc{i}.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"# Document {i}\n\n" + "\n\n".join(
                    " ".join(chosen.choices(words, k=60)) + "." for _ in range(12)))
            self.vcm("kb", "ingest", path, check=0)
        self.assertFalse(os.path.exists(self.file + "-wal"))
        self.questions = [["kb", "search", "word7 word9", "--json"],
                          ["kb", "search", "word100", "--json"], ["kb", "stat", "--json"]]
        self.right = [self.vcm(*words, check=0).out for words in self.questions]
        with open(self.file, "rb") as file:
            self.content = file.read()

    def write(self, content):
        with open(self.file, "wb") as file:
            file.write(content)

    def assert_told(self):
        """Whoever looks is told, or is told what is right."""
        told = False
        for words, right in zip(self.questions, self.right):
            result = self.vcm(*words)
            if result.status == 0:
                self.assertEqual(result.out, right, words)
            else:
                self.assertEqual(result.json()["error"]["code"], "STORE_CORRUPT", result)
                self.assertIn("ingest", result.out)
                told = True
        return told

    def test_no_flip_changes_what_is_found(self):
        print(f"seed {SEED}")
        chosen = random.Random(SEED)
        found = 0
        for number in range(FLIPS):
            at = chosen.randrange(len(self.content))
            with self.subTest(number=number, at=at):
                content = bytearray(self.content)
                content[at] ^= 1 << chosen.randrange(8)
                self.write(content)
                found += self.assert_told()
                self.vcm("verify", check=1)
        self.assertGreater(found, 0)

    def test_pages_that_changed_places_are_found(self):
        pages = [self.content[at:at + 4096] for at in range(0, len(self.content), 4096)]
        pages[3], pages[4] = pages[4], pages[3]
        self.write(b"".join(pages))
        [finding] = self.vcm("verify", "--json", check=1).json()["findings"]
        self.assertEqual(finding["where"], "the knowledge base")
        self.assertFalse(os.path.exists(os.path.join(self.home, "store.damaged")))
        self.write(self.content)
        self.vcm("verify", check=0)

    def make_plain(self):
        """The same knowledge base as earlier versions made it: no byte of a page is free."""
        path = self.file + ".plain"
        with contextlib.closing(sqlite3.connect(self.file)) as ours, \
                contextlib.closing(sqlite3.connect(path, isolation_level=None)) as plain:
            plain.executescript("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                                f"PRAGMA application_id = {0x76636d6b}; PRAGMA user_version = 1")
            tables = ours.execute("SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL"
                                  " AND name NOT LIKE 'search\\_%' ESCAPE '\\'").fetchall()
            for name, kind, sql in tables:
                plain.execute(sql)
                if kind == "table" and name != "search":
                    for row in ours.execute(f"SELECT * FROM {name}"):
                        plain.execute(f"INSERT INTO {name} VALUES ({','.join('?' * len(row))})", row)
            plain.execute("INSERT INTO search (search) VALUES ('rebuild')")
        os.replace(path, self.file)

    def test_a_file_without_checksums_is_read_and_gets_them_from_the_next_writer(self):
        self.make_plain()
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(21)[20], 0)
        self.right[2] = self.vcm(*self.questions[2], check=0).out
        self.assertFalse(self.assert_told())
        path = os.path.join(self.tmp, "doc0.md")
        self.vcm("kb", "ingest", path, check=0)
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(21)[20], 8)
        self.right[2] = self.vcm(*self.questions[2], check=0).out
        self.assertFalse(self.assert_told())
        self.vcm("verify", check=0)
        with open(self.file, "rb") as file:
            content = bytearray(file.read())
        content[len(content) // 2] ^= 1
        self.write(content)
        self.vcm("verify", check=1)


if __name__ == "__main__":
    unittest.main()
