"""Limits that the system sets for a process: every command answers, and nothing is lost."""

import os
import random
import resource
import subprocess

import harness
from paging import PagingTest

SEED = 20261118
KIB = 1024


class FileSize(PagingTest):
    """RLIMIT_FSIZE: the kernel's answer to a write beyond it is SIGXFSZ, which ends a program."""

    SIZES = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB]

    def run_limited(self, size, *args):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        run = subprocess.run([self.program, *args, "--json"], cwd=self.tmp, env=self.env,
                             stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             preexec_fn=limit, timeout=harness.TIMEOUT_SECONDS)
        result = harness.Result(args, run.returncode, run.stdout, run.stderr)
        self.assert_no_crash(result)
        return result

    def assert_full(self, result):
        self.assertEqual(result.status, 1, result)
        document = result.json()
        error = document["error"] if "error" in document else document["sources"][0]
        self.assertEqual(error["code"], "STORE_FULL", result)

    def make_large_repo(self):
        chosen = random.Random(SEED)
        return self.make_repo({f"src/f{i}.c": chosen.randbytes(6000).hex() for i in range(60)},
                              name="large")

    def test_a_map_beyond_it_is_a_full_store_and_the_rest_is_untouched(self):
        small, large = self.make_repo({"a": "a\n"}, name="small"), self.make_large_repo()
        self.map(small)
        before = self.page_ids()
        for size in self.SIZES:
            with self.subTest(size=size):
                self.assert_full(self.run_limited(size, "map", large))
                self.assertEqual(self.page_ids(), before)
                self.vcm("verify", check=0)
        self.assertEqual(self.map(large)["status"], "mapped")

    def test_a_first_map_beyond_it_leaves_a_home_that_works(self):
        large = self.make_large_repo()
        for size in self.SIZES:
            with self.subTest(size=size):
                home = os.path.join(self.tmp, f"home-{size}")
                self.assert_full(self.run_limited(size, "map", large, "--home", home))
                self.vcm("map", large, "--home", home, check=0)
                self.vcm("verify", "--home", home, check=0)

    def test_other_commands_beyond_it_answer_and_change_nothing(self):
        repo = self.make_large_repo()
        prose = self.make_repo({"notes.md": "# Notes\n\n" + "Some words about the weather. " * 9000},
                               name="prose")
        self.map(repo)
        before = self.page_ids()
        for words in (["symbols", repo], ["kb", "ingest", prose], ["gc"],
                      ["config", "set", "cache.policy", "lru"]):
            with self.subTest(words=words):
                self.assert_full(self.run_limited(1, *words))
        self.vcm("verify", check=0)
        self.assertEqual(self.page_ids(), before)

    def test_the_knowledge_base_says_so_wherever_it_meets_the_limit(self):
        """Its file, its log, and the index of the log."""
        prose = self.write_prose()
        self.vcm("kb", "ingest", os.path.join(prose, "first.md"), check=0)
        for size in [1, *self.SIZES, 40 * KIB, 100 * KIB]:
            for words in (["kb", "ingest", os.path.join(prose, "long.md")], ["kb", "ingest", "--repo", prose]):
                with self.subTest(size=size, words=words):
                    self.assert_full(self.run_limited(size, *words))
        listed = self.vcm("kb", "list", "--json", check=0).json()["documents"]
        self.assertEqual([os.path.basename(document["path"]) for document in listed], ["first.md"])
        self.vcm("verify", check=0)

    def write_prose(self):
        chosen = random.Random(SEED)
        return self.make_repo({"first.md": "# First\n", "long.md": "# Long\n\n" + "".join(
            f"Words {chosen.random()} of {chosen.random()}. " for _ in range(12000)),
            ".colony/repo_map.yaml": "schema_version: 1\nsources: []\nknowledge_routing: [{paths: [long.md]}]\n"},
            name="words")
