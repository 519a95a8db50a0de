"""Damage that kills whoever reads the store: the next command that writes finds out, and map heals."""

import os
import random
import shutil
import signal
import unittest

from harness import SANITIZER_STATUS
from paging import PagingTest

SEED = int(os.environ.get("VCM_TEST_SEED", "20261118"))
LONG = os.environ.get("VCM_TEST_LONG") == "1"
FLIPS = 250 if LONG else 12
PAGE = 4096
LEAF = 2
FATAL = {-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGFPE, SANITIZER_STATUS}


class CrashTest(PagingTest):
    def setUp(self):
        super().setUp()
        self.store = os.path.join(self.home, "store")
        self.data = os.path.join(self.store, "data.mdb")
        self.marker = os.path.join(self.home, "store.damaged")
        chosen = random.Random(SEED)
        self.repos = [self.make_repo({f"{name}/f{i}": f"{name} {i} {chosen.random()}\n" * 100
                                      for i in range(8)}, name=name) for name in ("one", "two")]
        for repo, scope in zip(self.repos, ("first", "second")):
            self.map(repo, "--scope", scope, "--flush-token-budget", "2000")
        self.right = self.listing()

    def listing(self):
        return [(page["scope_id"], page["seq"], page["page_id"]) for page in self.pages()]

    def leaves(self):
        """Where leaf pages of LMDB's trees are in the file, and the places of their nodes."""
        with open(self.data, "rb") as file:
            content = file.read()
        for at in range(2 * PAGE, len(content) - PAGE + 1, PAGE):
            number, _, flags, lower, _ = (int.from_bytes(content[at + a:at + b], "little")
                                          for a, b in ((0, 8), (8, 10), (10, 12), (12, 14), (14, 16)))
            if number == at // PAGE and flags == LEAF and 16 < lower < PAGE:
                pointers = range(at + 16, at + lower, 2)
                yield at, [at + int.from_bytes(content[p:p + 2], "little") for p in pointers]

    def spoil(self):
        """Every value is said to reach far beyond the end of the file."""
        spots = [node for _, nodes in self.leaves() for node in nodes]
        with open(self.data, "r+b") as file:
            for node in spots:
                file.seek(node + 2)
                file.write(b"\xff\x0f")

    def run_any(self, *args):
        """The status of a vcm that may crash, and what it said."""
        run = self.start(*args)
        out, err = run.communicate(timeout=120)
        return run.returncode, out.decode() + err.decode()

    def assert_dies(self, *args):
        status, said = self.run_any(*args)
        self.assertIn(status, FATAL, said)


class Crashes(CrashTest):
    def test_map_heals_what_killed_a_reader(self):
        self.spoil()
        self.assert_dies("pages")
        self.assert_dies("pages")
        result = self.vcm("map", self.repos[0], "--scope", "first", "--flush-token-budget", "2000",
                          check=0)
        self.assertIn("set aside", result.err)
        self.assertEqual(self.listing(), self.right)
        self.vcm("verify", check=0)

    def test_other_writers_say_what_to_do(self):
        page = self.right[0][2]
        self.spoil()
        self.assert_dies("stat")
        for words in (["gc"], ["unmap", "first"], ["pin", page], ["pin", "first"],
                      ["evict", "--all"], ["evict", page], ["lock", page, "--ttl", "1m"], ["unlock", page],
                      ["config", "set", "cache.capacity", "1GiB"]):
            error = self.vcm(*words, "--json", check=1).json()["error"]
            self.assertEqual(error["code"], "STORE_CORRUPT", words)
            self.assertIn("vcm map", error["message"])
            self.assertTrue(os.path.exists(self.marker))
        self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
        self.assertEqual(self.listing(), self.right)

    def test_a_writer_that_died_itself_is_found_out_as_well(self):
        self.spoil()
        self.assert_dies("evict", "--all")
        self.map(self.repos[1], "--scope", "second", "--flush-token-budget", "2000")
        self.assertEqual(self.listing(), self.right)

    def test_a_reader_that_was_killed_costs_a_check_and_nothing_else(self):
        run = self.start("top", "--interval", "50ms", "--json")
        run.stdout.read(1)
        run.kill()
        run.wait()
        log = self.vcm("map", self.repos[0], "--scope", "first", "--flush-token-budget", "2000",
                       "--verbose", "--json", check=0)
        self.assertIn("died", log.err)
        self.assertEqual(log.json()["status"], "already_mapped")
        log = self.vcm("evict", "--all", "--verbose", check=0)
        self.assertNotIn("died", log.err)

    def test_gc_says_that_the_store_is_damaged(self):
        with open(self.data, "rb") as file:
            at = file.read().rfind(b'{"path":')
        with open(self.data, "r+b") as file:
            file.seek(at + 30)
            file.write(b"\0\0\0")
        error = self.vcm("gc", "--json", check=1).json()["error"]
        self.assertEqual(error["code"], "STORE_CORRUPT")
        self.assertIn("vcm map", error["message"])
        self.assertTrue(os.path.exists(self.marker))


class Flips(CrashTest):
    def flip(self, chosen):
        """One bit of a tree page: of its header, its pointers or its nodes."""
        at, nodes = chosen.choice(list(self.leaves()))
        spot = chosen.choice([at + chosen.randrange(8, 16), at + 16 + chosen.randrange(2 * len(nodes)),
                              chosen.choice(nodes) + chosen.randrange(8),
                              chosen.choice(nodes) + 8 + chosen.randrange(20)])
        with open(self.data, "r+b") as file:
            file.seek(spot)
            byte = file.read(1)[0]
            file.seek(spot)
            file.write(bytes([byte ^ 1 << chosen.randrange(8)]))

    def test_whatever_is_flipped_map_heals_after_a_crash_and_nothing_known_is_not_found(self):
        print(f"seed {SEED}")
        chosen = random.Random(SEED)
        good = os.path.join(self.tmp, "good")
        shutil.copytree(self.home, good)
        for number in range(FLIPS):
            with self.subTest(number=number):
                self.flip(chosen)
                try:
                    self.use_and_heal()
                finally:
                    shutil.rmtree(self.home)
                    shutil.copytree(good, self.home)

    def use_and_heal(self):
        died = False
        for words in (["stat"], ["pages"], ["page", self.right[-1][2]], ["scopes"],
                      ["pages", "--scope", "second"], ["find", "one/f1"]):
            status, said = self.run_any(*words, "--json")
            died = died or status in FATAL
            if status == 1:
                self.assertIn("STORE_CORRUPT", said, words)
        if died:
            status, said = self.run_any("gc", "--json")
            self.assertEqual(status, 1, said)
        if died or os.path.exists(self.marker):
            self.map(self.repos[0], "--scope", "first", "--flush-token-budget", "2000")
            self.assertEqual(self.listing(), self.right)
            self.vcm("verify", check=0)


if __name__ == "__main__":
    unittest.main()
